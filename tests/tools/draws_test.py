#!/usr/bin/python3
"""unpack's lists of draws and of uses agree with the records of real captures.

What is expected is put together here, from the records of the packets as they come: the last packet
of a kind is what a draw finds set.
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


def field(record, name):
    return next(f for f in record["fields"] if f["name"] == name)


def surfaces(records):
    return {field(r, "Surface Base Address")["value"] for r in records
            if r.get("name") == "RENDER_SURFACE_STATE"
            and field(r, "Surface Type").get("enum") != "SURFTYPE_NULL"}


class Bindings:
    """What each draw or dispatch finds by the records, by the names of one family's packets."""

    def __init__(self, capture, pixel_shader, tables, topology):
        self.draws, self.dispatches = {}, {}
        last, children, context = {}, {}, None
        for record in lines(*cores(capture)):
            if record["type"] == "submission":
                context = record["context"], record["slot"]
            if record["type"] in ("struct", "data"):
                children.setdefault(record["parent"], []).append(record)
            if record["type"] != "packet":
                continue
            state = last.setdefault(context, {})
            work = self.draws if "draw" in record else self.dispatches
            if "draw" not in record and "dispatch" not in record:
                state[record["name"]] = record
                continue
            number = record.get("draw", record.get("dispatch"))
            work[number] = {"record": record, "state": dict(state)}
        self.children = children
        for work in self.draws.values():
            state = work["state"]
            work["topology"] = field(state.get(topology, work["record"]),
                                     "Primitive Topology Type")["enum"]
            work["pixel"] = {r["address"] for r in self.below(state.get(pixel_shader))
                             if r.get("stage") == "pixel"}
            work["surfaces"] = surfaces(self.below(state.get(tables)))

    def below(self, record):
        if record is None:
            return
        for child in self.children.get(record["id"], []):
            yield child
            yield from self.below(child)


FAMILIES = {
    "skl-gl-basic": ("3DSTATE_PS", "3DSTATE_BINDING_TABLE_POINTERS_PS", "3DSTATE_VF_TOPOLOGY"),
    "dg2-gl-basic": ("3DSTATE_PS", "3DSTATE_BINDING_TABLE_POINTERS_PS", "3DSTATE_VF_TOPOLOGY"),
    "ivb-gl-basic": ("3DSTATE_PS", "3DSTATE_BINDING_TABLE_POINTERS_PS", ""),
    "snb-gl-basic": ("3DSTATE_WM", "", ""),
}


def addresses(line, *kinds, stage="pixel"):
    return {s["address"] for kind in kinds for s in line[kind] if s.get("stage") == stage}


class DrawsTest(unittest.TestCase):
    maxDiff = None

    def test_each_draw_of_each_generation_is_listed_with_what_its_packets_say(self):
        for capture, names in FAMILIES.items():
            with self.subTest(capture):
                bindings = Bindings(capture, *names)
                listed = {line["draw"]: line for line in lines("--draws", *cores(capture))
                          if line["type"] == "draw"}
                self.assertEqual(sorted(listed), sorted(bindings.draws))
                for number, line in listed.items():
                    expected = bindings.draws[number]
                    record = expected["record"]
                    self.assertEqual(
                        (line["submission"], line["address"], line["name"], line["topology"]),
                        (record["submission"], record["address"], record["name"],
                         expected["topology"]))
                    self.assertEqual(line["count"],
                                     field(record, "Vertex Count Per Instance")["value"])
                    self.assertEqual(line["instances"], field(record, "Instance Count")["value"])
                    self.assertEqual(
                        {s["address"] for s in line["shaders"] if s["stage"] == "pixel"},
                        expected["pixel"], number)
                    if names[1]:
                        self.assertEqual(
                            addresses(line, "targets", "textures", "surfaces"),
                            expected["surfaces"], number)

    def test_programs_of_stages_that_are_off_are_not_listed(self):
        # Mesa sets the packets of tasks and meshes for every draw, most of them to nothing.
        stages = {s["stage"] for line in lines("--draws", *cores("dg2-gl-basic"))
                  for s in line.get("shaders", [])}
        self.assertEqual(stages & {"mesh", "task"}, set())
        self.assertIn("pixel", stages)

    def test_drivers_put_the_render_target_first_and_the_list_finds_it_there(self):
        # Mesa's drivers for OpenGL do: a pixel shader renders to the first element of its table.
        for capture in ("i965-gl-basic", "ilk-gl-basic", "snb-gl-basic", "ivb-gl-basic",
                        "skl-gl-basic", "icl-gl-basic", "tgl-gl-basic", "dg2-gl-basic"):
            with self.subTest(capture):
                for line in lines("--draws", *cores(capture)):
                    bound = [s["index"] for s in line["targets"] if s.get("stage") == "pixel"]
                    self.assertIn(bound, ([], [0]), line["draw"])
                    textures = [s["index"] for s in line["textures"] if s.get("stage") == "pixel"]
                    self.assertNotIn(0, textures, line["draw"])

    def test_a_draw_that_keeps_its_table_is_listed_with_it(self):
        # On Skylake draw 13 comes with no table of its own: draw 12 has set it.
        names = FAMILIES["skl-gl-basic"]
        bindings = Bindings("skl-gl-basic", *names)
        kept = [n for n in bindings.draws if n > 1 and
                bindings.draws[n]["state"][names[1]] is bindings.draws[n - 1]["state"][names[1]]]
        self.assertIn(13, kept)
        line = next(x for x in lines("--draws", *cores("skl-gl-basic")) if x["draw"] == 13)
        self.assertNotEqual(line["textures"], [])
        # Its records agree when it is decoded alone.
        records = [r for r in lines("--draw=13", *cores("skl-gl-basic")) if r.get("draw") == 13]
        self.assertEqual(surfaces(records), bindings.draws[13]["surfaces"])
        tables = [r for r in records if r.get("name") == names[1]]
        self.assertEqual([(r["bound"], r["address"]) for r in tables],
                         [(True, bindings.draws[13]["state"][names[1]]["address"])])

    def test_uses_of_a_texture_are_the_draws_whose_tables_have_it(self):
        bindings = Bindings("skl-gl-basic", *FAMILIES["skl-gl-basic"])
        texture = "0xfffeffc40000"
        expected = {n for n, draw in bindings.draws.items() if texture in draw["surfaces"]}
        self.assertNotEqual(expected, set())
        uses = [u for u in lines(f"--uses={texture}", *cores("skl-gl-basic"))
                if u["leads_to"] == texture and u["path"]]
        self.assertEqual({n for u in uses for n in u["draws"]}, expected)
        for use in uses:
            self.assertEqual(use["packet"], "3DSTATE_BINDING_TABLE_POINTERS_PS")
            self.assertEqual(use["path"][-1], "RENDER_SURFACE_STATE")

    def test_a_dispatch_is_listed_with_its_groups_and_its_kernel_only(self):
        listed = [x for x in lines("--draws", *cores("bdw-vk-compute"))
                  if x["type"] == "dispatch"]
        walkers = [r for r in lines(*cores("bdw-vk-compute")) if r.get("name") == "GPGPU_WALKER"]
        self.assertEqual(
            [(x["dispatch"], x["address"], x["groups"]) for x in listed],
            [(n + 1, r["address"], [field(r, f"Thread Group ID {d} Dimension")["value"]
                                    for d in "XYZ"]) for n, r in enumerate(walkers)])
        for line in listed:
            self.assertEqual([s["stage"] for s in line["shaders"]], ["compute"])

    def test_dispatch_shows_one_dispatch_and_what_it_finds(self):
        records = lines("--dispatch=4", *cores("bdw-vk-compute"))
        works = [r for r in records if "dispatch" in r and "bound" not in r
                 and r["type"] == "packet"]
        self.assertEqual([(r["name"], r["dispatch"]) for r in works], [("GPGPU_WALKER", 4)])
        # Its descriptors were loaded for the dispatch before.
        bound = {r["name"]: r for r in records if r.get("bound")}
        self.assertIn("MEDIA_INTERFACE_DESCRIPTOR_LOAD", bound)
        stages = {r.get("stage") for r in records if r["type"] == "data" and "dispatch" in r}
        self.assertIn("compute", stages)

    def test_what_does_not_go_together_is_wrong_usage(self):
        core = cores("skl-gl-basic")[0]
        for arguments in (["--draws", "--draw=1"], ["--draws", "--format=stats"],
                          ["--uses=texture"], ["--uses=0x1000", "--filter=3DSTATE_PS"],
                          ["--dispatch=1"], ["--dispatch=0"], ["--draws", "--follow=none"]):
            done = run(*arguments, core)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(done.stdout, b"", arguments)


if __name__ == "__main__":
    unittest.main()
