#!/usr/bin/python3
"""unpack --payloads agrees with the packets of real captures.

Mesa's compilers let constants, and then URB data, begin at the start register that the packet of a
stage states: that is where the list must have them.
"""

import functools
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import fixtures  # noqa: E402
from fixtures import cores  # noqa: E402

UNPACK = os.path.abspath(sys.argv.pop(1))
run = functools.partial(fixtures.run, UNPACK)
lines = functools.partial(fixtures.lines, UNPACK)
GL = ("skl-gl-basic", "icl-gl-basic", "tgl-gl-basic", "dg2-gl-basic")
COMPUTE = ("bdw-vk-compute", "skl-gl-compute", "icl-gl-compute", "tgl-gl-compute",
           "dg2-gl-compute")


def value(record, name):
    return next(f["value"] for f in record["fields"] if f["name"] == name)


def states(capture):
    """The last packet of each name, and the structures, at each draw and dispatch."""
    last, structures, context, found = {}, {}, None, {}
    for record in lines(*cores(capture)):
        if record["type"] == "submission":
            context = record["context"], record["slot"]
        if record["type"] == "struct":
            structures[record["name"]] = record
        if record["type"] != "packet":
            continue
        state = last.setdefault(context, {})
        for work in ("draw", "dispatch"):
            if work in record:
                found[work, record[work]] = {**state, **structures, "work": record}
        state[record["name"]] = record
    return found


def at(kernel, register):
    return next(p for p in kernel["parts"]
                if p["first"] <= register < p["first"] + p["count"])


class PayloadsTest(unittest.TestCase):
    maxDiff = None

    def listed(self, capture, work):
        return {(work, line[work]): line for line in lines("--payloads", *cores(capture))
                if line["type"] == work}

    def test_each_draw_has_the_kernels_that_its_packets_enable(self):
        for capture in GL:
            with self.subTest(capture):
                expected = states(capture)
                listed = self.listed(capture, "draw")
                self.assertEqual(listed.keys(), expected.keys())
                for number, line in listed.items():
                    state = expected[number]
                    self.assertEqual((line["address"], line["name"]),
                                     (state["work"]["address"], state["work"]["name"]))
                    stages = {k["stage"] for k in line["kernels"]}
                    self.assertEqual("vertex shader" in stages,
                                     bool(value(state["3DSTATE_VS"], "Enable")), number)
                    widths = sorted(k["simd"] for k in line["kernels"]
                                    if k["stage"] == "fragment shader")
                    pixels = state["3DSTATE_PS"]
                    self.assertEqual(widths, [
                        n for n in (8, 16, 32) if value(pixels, f"{n} Pixel Dispatch Enable")
                        and value(state["3DSTATE_PS_EXTRA"], "Pixel Shader Valid")], number)

    def test_constants_and_inputs_begin_at_the_packets_start_register(self):
        compared = 0
        for capture in GL:
            expected = states(capture)
            for number, line in self.listed(capture, "draw").items():
                state = expected[number]
                for kernel in line["kernels"]:
                    self.assertNotIn("error", kernel, (capture, number))
                    self.assertEqual(kernel["parts"][0]["first"], 0)
                    self.assertIn("thread header", kernel["parts"][0]["holds"])
                    if kernel["stage"] == "vertex shader":
                        start = value(state["3DSTATE_VS"],
                                      "Dispatch GRF Start Register For URB Data")
                    else:
                        pixels = state["3DSTATE_PS"]
                        alone = sum(value(pixels, f"{n} Pixel Dispatch Enable")
                                    for n in (8, 16, 32)) == 1
                        slot = 0 if alone or kernel["simd"] == 8 else 2
                        start = value(
                            pixels,
                            f"Dispatch GRF Start Register For Constant/Setup Data {slot}")
                    if kernel["registers"] <= start:
                        continue  # it reads nothing
                    part = at(kernel, start)
                    self.assertEqual(part["first"], start, (capture, number))
                    self.assertRegex(part["holds"],
                                     "push constants|vertex element 0|planes of attribute")
                    compared += 1
        self.assertGreater(compared, 50)

    def test_a_dispatch_has_the_constants_of_its_descriptor(self):
        for capture in COMPUTE:
            with self.subTest(capture):
                expected = states(capture)
                listed = self.listed(capture, "dispatch")
                self.assertNotEqual(listed, {})
                for number, line in listed.items():
                    self.assertEqual([k["stage"] for k in line["kernels"]], ["compute shader"])
                    kernel = line["kernels"][0]
                    self.assertEqual(kernel["parts"][0],
                                     {"first": 0, "count": 1, "holds": "thread header"})
                    counts = {p["holds"]: p["count"] for p in kernel["parts"]}
                    if line["name"] != "GPGPU_WALKER":
                        continue
                    descriptor = expected[number]["INTERFACE_DESCRIPTOR_DATA"]
                    self.assertEqual(
                        (counts.get("constants that all threads share", 0),
                         counts.get("constants of the thread", 0)),
                        (value(descriptor, "Cross-Thread Constant Data Read Length"),
                         value(descriptor, "Constant URB Entry Read Length")))

    def test_text_repeats_nothing(self):
        text = run("--payloads", *cores("skl-gl-basic")).stdout.decode()
        self.assertIn("  vertex shader, kernel 0x", text)
        self.assertIn("    r0       thread header\n", text)
        works = [line for line in text.splitlines() if line.startswith("draw ")]
        self.assertEqual(len(works), len(self.listed("skl-gl-basic", "draw")))
        repeated = [line for line in works if "  as draw " in line]
        self.assertGreater(len(repeated), 0)
        self.assertLess(len(repeated), len(works))

    def test_generations_whose_payloads_are_not_described_say_so(self):
        done = run("--payloads", *cores("ivb-gl-basic"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"thread payloads of gfx7 are not described; those of gfx8, gfx9",
                      done.stdout)

    def test_what_does_not_go_together_is_wrong_usage(self):
        core = cores("skl-gl-basic")[0]
        for arguments in (["--draws"], ["--draw=1"], ["--format=stats"], ["--hide-zero"],
                          ["--filter=3DSTATE_PS"], ["--follow=none"]):
            done = run("--payloads", *arguments, core)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(done.stdout, b"", arguments)


if __name__ == "__main__":
    unittest.main()
