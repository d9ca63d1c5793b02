#!/usr/bin/python3
"""docs/examples/triangle and driver, for every generation: decoded, and run on mock kernels."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

TRIANGLE, DRIVER, PARTS, EXTRAS, MOCK, UNPACK, SOURCE = (
    os.path.abspath(sys.argv.pop(1)) for _ in range(7))
GENERATIONS = ("gfx8", "gfx9", "gfx11", "gfx12", "gfx125", "xe2", "xe3")
NODE = "/dev/dri/renderD128"
DEVICES = {"bdw": "gfx8", "skl": "gfx9", "icl": "gfx11", "tgl": "gfx12", "tgl:xe": "gfx12",
           "dg2:i915": "gfx125", "dg2:xe": "gfx125", "lnl": "xe2", "ptl": "xe3"}
CORNERS = [[[0.0, -0.5]], [[0.5, 0.5]], [[-0.5, 0.5]]]


def run(*arguments: str, code: int = 0) -> str:
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != code:
        raise AssertionError(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout + done.stderr


def records(*arguments: str) -> list[dict]:
    text = run(UNPACK, "--format=jsonl", *arguments)
    return [json.loads(line) for line in text.splitlines()]


class ExamplesTest(unittest.TestCase):
    def check(self, found: list[dict], draws: int, dispatches: int) -> None:
        summary = found[-1]
        self.assertEqual({k: summary[k] for k in ("draws", "dispatches", "unknown_dwords",
                                                  "problems", "faults")},
                         {"draws": draws, "dispatches": dispatches, "unknown_dwords": 0,
                          "problems": 0, "faults": {}})
        for record in found[:-1]:
            self.assertNotIn("undescribed", record)
            self.assertNotIn("faults", record)

    def test_a_triangle_decodes_and_its_draw_has_all_that_the_xml_requires(self) -> None:
        for generation in GENERATIONS:
            with self.subTest(generation), tempfile.TemporaryDirectory() as folder:
                core = f"{folder}/core"
                run(TRIANGLE, generation, core)
                found = records(core, "--strict", "--fail-on=fault")
                self.check(found, 1, 0)
                packets = [r for r in found if r["type"] == "packet"]
                names = [packet["name"] for packet in packets]
                draw = names.index("3DPRIMITIVE")
                vertices = [r["values"] for r in found if r.get("values")]
                self.assertIn(CORNERS, vertices)
                relations = {d["name"]: d.get("relations", [])
                             for d in records("--describe=*", f"--gen={generation}")
                             if d["type"] == "description" and d["kind"] == "packet"}
                required = 0
                for name in set(names[:draw + 1]):
                    for relation in relations[name]:
                        # From Xe2 on there is no pipeline to select.
                        if relation["kind"] != "requires" or (
                                relation["packet"] == "PIPELINE_SELECT"
                                and generation.startswith("xe")):
                            continue
                        required += 1
                        # Stages without constants may share a packet.
                        other = relation["packet"]
                        if other.startswith("3DSTATE_CONSTANT_") and other not in names[:draw]:
                            other = "3DSTATE_CONSTANT_ALL"
                        self.assertIn(other, names[:draw], f"{name} requires it")
                self.assertGreater(required, 10)

    def test_a_triangle_from_nothing_takes_less_than_100_lines(self) -> None:
        with open(SOURCE, encoding="utf-8") as file:
            source = file.read()
        self.assertLess(len(source.splitlines()), 100)
        self.assertNotIn("typename", source)
        self.assertNotIn("template", source)

    def test_a_frame_decodes(self) -> None:
        for generation in GENERATIONS:
            with self.subTest(generation), tempfile.TemporaryDirectory() as folder:
                run(DRIVER, generation, f"{folder}/upload", f"{folder}/frame")
                self.check(records(f"{folder}/upload", "--strict", "--fail-on=fault"), 0, 0)
                self.check(records(f"{folder}/frame", "--strict", "--fail-on=fault"), 1, 1)

    def test_both_run_on_mock_kernels(self) -> None:
        for device, generation in DEVICES.items():
            with self.subTest(device), tempfile.TemporaryDirectory() as folder:
                command = (MOCK, f"--device={device}", "--run", "--warnings", "--summary")
                said = run(*command, f"--record={folder}/triangle", "--", TRIANGLE, generation,
                           f"--device={NODE}")
                self.assertIn("1 submissions, 0 warnings", said)
                said = run(*command, f"--record={folder}/driver", "--", DRIVER, generation,
                           f"--device={NODE}")
                self.assertIn("texel ff0000ff", said)  # the copy engine has written it
                self.assertIn("2 submissions, 0 warnings", said)
                for name in ("triangle", "driver"):
                    shown = run(UNPACK, "--strict", "--fail-on=fault", f"{folder}/{name}")
                    self.assertIn("; all of it decoded", shown)

    def test_other_generations_are_refused(self) -> None:
        self.assertIn("gfx125", run(TRIANGLE, "gfx7", "core", code=2))

    def test_the_parts_decode_and_their_draws_see_what_was_asked(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            cores = [f"{folder}/fill", f"{folder}/frame"]
            run(PARTS, *cores)
            fill, frame = (records(core, "--strict", "--fail-on=fault") for core in cores)
        self.check(fill, 0, 0)
        self.check(frame, 8, 0)
        self.assertIn("XY_FAST_COLOR_BLT", [r.get("name") for r in fill])
        names = [r["name"] for r in frame if r["type"] == "packet"]
        draws = ("3DPRIMITIVE", "3DPRIMITIVE_EXTENDED", "3DMESH_3D")
        self.assertEqual([name for name in names if name in draws],
                         ["3DPRIMITIVE"] * 4 + ["3DPRIMITIVE_EXTENDED"] * 3 + ["3DMESH_3D"])
        self.assertLess(names.index("3DSTATE_SO_DECL_LIST"), names.index("3DPRIMITIVE"))
        # A clear and a resolve before the draws, each with a packet that ends it.
        self.assertGreaterEqual(names[:names.index("3DPRIMITIVE")].count("3DSTATE_WM_HZ_OP"), 4)

    def test_the_extras_decode(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            cores = [f"{folder}/{name}" for name in ("frame", "first", "second")]
            run(EXTRAS, *cores)
            frame, *passes = (records(core, "--strict", "--fail-on=fault") for core in cores)
        self.check(frame, 4, 1)
        names = [r["name"] for r in frame if r["type"] == "packet"]
        self.assertLess(names.index("3DSTATE_SLICE_TABLE_STATE_POINTERS"),
                        names.index("3DPRIMITIVE"))
        for counted in passes:
            self.check(counted, 1, 0)
            names = [r["name"] for r in counted if r["type"] == "packet"]
            draw = names.index("3DPRIMITIVE")
            self.assertEqual(names[:draw].count("MI_REPORT_PERF_COUNT"), 1)
            self.assertEqual(names[draw:].count("MI_REPORT_PERF_COUNT"), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
