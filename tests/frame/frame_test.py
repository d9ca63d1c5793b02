#!/usr/bin/python3
"""The frame of docs/runtime.md, as unpack decodes it: complete, and without faults."""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from program import Core, fields, number, records, run

FRAME, UNPACK = (os.path.abspath(path) for path in sys.argv[1:3])
VERTICES = [[[-0.5, -0.5, 0.25], [0, 0]], [[0.5, -0.5, 0.25], [1, 0]],
            [[-0.5, 0.5, 0.25], [0, 1]], [[0.5, 0.5, 0.25], [1, 1]]]
INSTANCES = [[[-0.25, 0, 0, 1]], [[0, 0, 0.125, 0.75]], [[0.25, 0, 0.25, 0.5]]]
INDICES = [0, 1, 2, 2, 1, 3]
TEXTURE_SIZE, RED, WHITE = 64, 0xFF0000FF, 0xFFFFFFFF
# Which buffer each pointer must point to.
MEANT = {
    "vertex buffer": {"vertices", "instances"},
    "index buffer": {"indices"},
    "constants": {"transform", "dynamic"},
    "indirect data": {"dynamic"},
    "kernel": {"kernels"},
    "RENDER_SURFACE_STATE": {"surfaces"},
    "BINDING_TABLE_STATE": {"binding tables"},
}
# Packets that take effect at once, whatever the GPU still does.
NOT_PIPELINED = {"PIPELINE_SELECT", "STATE_BASE_ADDRESS", "3DSTATE_BINDING_TABLE_POOL_ALLOC",
                 "MEDIA_VFE_STATE"}
# Those of them after which addresses change their meaning: contents of caches are of no use.
BASES = {"STATE_BASE_ADDRESS", "3DSTATE_BINDING_TABLE_POOL_ALLOC"}

# The fields of 3DSTATE_CONSTANT_ALL for the stages whose packets it replaces.
CONSTANTS = {f"3DSTATE_CONSTANT_{stage}": f"{name} Shader Update Enable" for stage, name in
             (("VS", "Vertex"), ("HS", "Hull"), ("DS", "Domain"), ("GS", "Geometry"),
              ("PS", "Pixel"))}


class Frame:
    """What the program emits for one generation, decoded."""

    def __init__(self, generation: str, directory: str) -> None:
        path = pathlib.Path(directory) / f"{generation}.core"
        uses = [line.split(maxsplit=1) for line in run(FRAME, generation, str(path)).splitlines()
                if line.startswith(("reads", "writes"))]
        self.uses = {name for _, name in uses}
        self.written = {name for how, name in uses if how == "writes"}
        self.listed = len(uses)
        self.core = Core(path)
        self.records = records(UNPACK, str(path), "--strict", "--fail-on=fault")
        self.packets = [r for r in self.records if r["type"] == "packet"]
        self.names = [packet["name"] for packet in self.packets]
        self.draw = self.names.index("3DPRIMITIVE")
        self.relations = {
            d["name"]: d.get("relations", [])
            for d in records(UNPACK, "--describe=*", f"--gen={generation}")
            if d["type"] == "description" and d["kind"] == "packet"
        }

    def related(self, name: str, kind: str) -> list[str]:
        return [r["packet"] for r in self.relations[name] if r["kind"] == kind]

    def sets(self, place: int, name: str) -> bool:
        """Whether the packet there is one of these, or the equivalent for several stages."""
        packet = self.packets[place]
        return packet["name"] == name or (
            packet["name"] == "3DSTATE_CONSTANT_ALL" and name in CONSTANTS
            and fields(packet)[CONSTANTS[name]])

    def last(self, name: str, before: int) -> int:
        """The position of the last such packet; -1 if there is none."""
        return max((i for i in range(before) if self.sets(i, name)), default=-1)

    def led_to(self, packet: dict) -> list[dict]:
        ids, found = {packet["id"]}, []
        for record in self.records:
            if record.get("parent") in ids:
                ids.add(record["id"])
                found.append(record)
        return found

    def packet(self, name: str) -> dict:
        return next(p for p in self.packets if p["name"] == name)

    def walker(self) -> int:
        return next(i for i, name in enumerate(self.names) if name.endswith("_WALKER"))

    def pipe_controls(self, begin: int, end: int) -> list[dict]:
        return [fields(packet) for packet in self.packets[begin:end]
                if packet["name"] == "PIPE_CONTROL"]

    def just_before(self, place: int) -> list[dict]:
        """The flushes that lead up to a packet, and nothing between."""
        begin = place
        while begin > 0 and self.names[begin - 1] in NOT_PIPELINED - BASES | {"PIPE_CONTROL"}:
            begin -= 1
        return self.pipe_controls(begin, place)


class FrameTests:
    """Of one generation; the class that has it is below."""

    generation = ""
    # From Xe2 on there is nothing to select.
    selects = True
    frame: Frame

    @classmethod
    def setUpClass(cls) -> None:
        with tempfile.TemporaryDirectory() as directory:
            cls.frame = Frame(cls.generation, directory)

    def test_all_of_it_is_decoded_and_nothing_is_wrong(self) -> None:
        frame = self.frame
        summary = frame.records[-1]
        self.assertEqual(
            {k: summary[k] for k in ("submissions", "draws", "dispatches", "unknown_dwords",
                                     "problems", "faults")},
            {"submissions": 1, "draws": 1, "dispatches": 1, "unknown_dwords": 0,
             "problems": 0, "faults": {}})
        # Reserved bits are faults; --strict finds others that are not described.
        for record in frame.records[:-1]:
            self.assertNotIn("undescribed", record)
            self.assertNotIn("faults", record)

    def test_every_pointer_leads_into_a_buffer_that_is_meant(self) -> None:
        frame = self.frame
        reached = [r for r in frame.records if r["type"] in ("struct", "data")
                   and "register" not in r]
        self.assertGreater(len(reached), 20)
        for record in reached:
            size = record.get("size", 4 * len(record["dwords"]))
            name = frame.core.buffer_at(number(record["address"]), size)
            self.assertIsNotNone(name, record)
            self.assertIn(name, MEANT.get(record["name"], {"dynamic"}), record)
        for packet in frame.packets:
            self.assertEqual(frame.core.buffer_at(number(packet["address"])), "batch")

    def test_surfaces_and_targets_are_the_buffers_of_that_name(self) -> None:
        frame = self.frame
        def surfaces(packet: dict) -> list[str | None]:
            return [frame.core.buffer_at(number(fields(r)["Surface Base Address"]))
                    for r in frame.led_to(packet) if r["name"] == "RENDER_SURFACE_STATE"]
        self.assertEqual(surfaces(frame.packet("3DSTATE_BINDING_TABLE_POINTERS_PS")),
                         ["target", "texture"])
        dispatch = next(p for p in frame.packets if p["name"] in (
            "MEDIA_INTERFACE_DESCRIPTOR_LOAD", "COMPUTE_WALKER"))
        self.assertEqual(surfaces(dispatch), ["target", "counts"])
        depth = fields(frame.packet("3DSTATE_DEPTH_BUFFER"))
        self.assertEqual(number(depth["Surface Base Address"]), frame.core.address_of("depth"))

    def test_every_buffer_that_a_pointer_leads_to_is_part_of_the_job(self) -> None:
        frame = self.frame
        addresses = {number(r["address"]) for r in frame.records if "address" in r}
        for record in frame.records:
            addresses |= {
                number(field["value"]) for field in record.get("fields", [])
                if field["name"] in ("Surface Base Address", "Buffer Starting Address", "Address")}
        reached = {frame.core.buffer_at(address) for address in addresses - {0}}
        self.assertEqual(frame.uses, reached)
        self.assertEqual(frame.listed, len(frame.uses))
        self.assertEqual(frame.written, {"target", "depth", "counts", "queries", "scratch"})

    def test_what_a_packet_requires_comes_before_the_draw(self) -> None:
        frame = self.frame
        required = 0
        for name in set(frame.names[:frame.draw + 1]):
            for other in frame.related(name, "requires"):
                if other == "PIPELINE_SELECT" and not self.selects:
                    continue
                required += 1
                self.assertGreaterEqual(frame.last(other, frame.draw), 0, f"{name}: {other}")
        self.assertGreater(required, 10)

    def test_what_takes_effect_by_another_packet_has_that_packet_behind_it(self) -> None:
        frame = self.frame
        commits = [(name, other) for name in frame.relations
                   for other in frame.related(name, "commits")]
        # On Gfx8 all take effect at once.
        self.assertEqual(len(commits) == 0, self.generation == "gfx8")
        for committing, name in commits:
            place = frame.last(name, frame.draw)
            self.assertGreaterEqual(place, 0, name)
            self.assertGreater(frame.last(committing, frame.draw), place, name)

    def test_nothing_that_the_draw_has_was_invalidated_since(self) -> None:
        frame = self.frame
        for place, name in enumerate(frame.names[:frame.draw]):
            for other in frame.related(name, "invalidates"):
                if other.startswith("3DSTATE_") and other in frame.names[:frame.draw]:
                    self.assertGreater(frame.last(other, frame.draw), place, f"{name}: {other}")

    def test_the_draw_reads_the_vertices_that_were_written(self) -> None:
        frame = self.frame
        draw = frame.packet("3DPRIMITIVE")
        read = frame.led_to(draw)
        indices, vertices, instances = read
        self.assertEqual([row[0][0] for row in indices["values"]], INDICES)
        self.assertEqual(vertices["values"], VERTICES)
        self.assertEqual(instances["values"], INSTANCES)
        self.assertEqual(instances["step"], 1)
        values = fields(draw)
        self.assertEqual(values["Vertex Count Per Instance"], len(INDICES))
        self.assertEqual(values["Instance Count"], len(INSTANCES))

    def test_constants_and_texels_are_what_was_written(self) -> None:
        frame = self.frame
        packet = frame.packets[frame.last("3DSTATE_CONSTANT_VS", frame.draw)]
        constants, = frame.led_to(packet)
        identity = struct.pack("<16f", *(float(i % 5 == 0) for i in range(16)))
        address = number(constants["address"])
        self.assertEqual(frame.core.read(address, constants["size"]), identity)
        texels = frame.core.read(frame.core.address_of("texture"), 4 * TEXTURE_SIZE**2)
        counts = {color: struct.unpack(f"<{TEXTURE_SIZE**2}I", texels).count(color)
                  for color in (RED, WHITE)}
        self.assertEqual(counts, {RED: TEXTURE_SIZE**2 // 2, WHITE: TEXTURE_SIZE**2 // 2})

    def test_each_element_of_a_vertex_says_whether_instances_step_it(self) -> None:
        frame = self.frame
        steps = {}
        for packet in frame.packets[:frame.draw]:
            if packet["name"] == "3DSTATE_VF_INSTANCING":
                values = fields(packet)
                steps[values["Vertex Element Index"]] = (
                    values["Instancing Enable"] and values["Instance Data Step Rate"])
        self.assertEqual(steps, {0: False, 1: False, 2: 1})

    def test_each_command_runs_on_its_pipeline(self) -> None:
        frame = self.frame
        self.assertEqual("PIPELINE_SELECT" in frame.names, self.selects)
        if not self.selects:
            return
        for command, pipeline in ((frame.draw, "3D"), (frame.walker(), "GPGPU"),
                                  (len(frame.names), "3D")):
            selection = frame.packets[frame.last("PIPELINE_SELECT", command)]["fields"]
            self.assertIn(pipeline, [field.get("enum") for field in selection])

    def test_the_dispatch_has_threads_that_the_selection_has_not_taken_away(self) -> None:
        frame = self.frame
        place = max(frame.last(name, frame.walker()) for name in ("MEDIA_VFE_STATE", "CFE_STATE"))
        self.assertGreater(place, frame.last("PIPELINE_SELECT", frame.walker()))
        self.assertGreater(fields(frame.packets[place])["Maximum Number of Threads"], 0)

    def test_what_is_not_pipelined_waits(self) -> None:
        frame = self.frame
        places = [i for i, name in enumerate(frame.names) if name in NOT_PIPELINED]
        self.assertGreater(len(places), 3 if self.selects else 1)
        for place in places:
            self.assertTrue(any(f["Command Streamer Stall Enable"]
                                for f in frame.just_before(place)), frame.packets[place])

    def test_caches_forget_what_other_bases_led_to(self) -> None:
        frame = self.frame
        for place, name in enumerate(frame.names):
            if name not in BASES:
                continue
            self.assertEqual(frame.names[place + 1], "PIPE_CONTROL")
            behind = fields(frame.packets[place + 1])
            for cache in ("Texture", "State"):
                self.assertTrue(behind[f"{cache} Cache Invalidation Enable"], name)

    def test_the_cpu_finds_in_memory_what_was_drawn_and_counted(self) -> None:
        frame = self.frame
        # A flush is over when the command streamer has waited for the write after it.
        over = [f for f in frame.pipe_controls(frame.walker(), len(frame.names))
                if f["Command Streamer Stall Enable"] and f["Post Sync Operation"]]
        for cache in ("Render Target Cache Flush Enable", "DC Flush Enable"):
            self.assertTrue(any(f[cache] for f in over), cache)
        self.assertEqual(frame.names[-1], "MI_BATCH_BUFFER_END")

    def test_the_dispatch_covers_the_target_and_has_its_arguments(self) -> None:
        frame = self.frame
        walker = frame.packets[frame.walker()]
        values = {name.split(".")[-1]: value for name, value in fields(walker).items()}
        groups = [values[f"Thread Group ID {axis} Dimension"] for axis in "XYZ"]
        self.assertEqual(groups, [256 // 8, 128 // 8, 1])
        arguments = [r for r in frame.records if r["type"] == "data" and (
            r["name"] == "indirect data" or
            r["name"] == "constants" and frame.core.buffer_at(number(r["address"])) == "dynamic")]
        self.assertEqual(len(arguments), 1)
        self.assertEqual([int(word, 16) for word in arguments[0]["dwords"][:2]], [256, 128])

    def test_the_target_is_flushed_between_the_draw_and_the_shader_that_samples_it(self) -> None:
        frame = self.frame
        pipes = [(i, fields(frame.packets[i])) for i in range(frame.draw, frame.walker())
                 if frame.names[i] == "PIPE_CONTROL"]
        flushed = [i for i, f in pipes if f["Render Target Cache Flush Enable"]]
        forgotten = [i for i, f in pipes if f["Texture Cache Invalidation Enable"]]
        self.assertLess(flushed[0], forgotten[-1])


class Gfx8Test(FrameTests, unittest.TestCase):
    generation = "gfx8"


class Gfx9Test(FrameTests, unittest.TestCase):
    generation = "gfx9"


class Gfx11Test(FrameTests, unittest.TestCase):
    generation = "gfx11"


class Gfx12Test(FrameTests, unittest.TestCase):
    generation = "gfx12"


class Gfx125Test(FrameTests, unittest.TestCase):
    generation = "gfx125"


class Xe2Test(FrameTests, unittest.TestCase):
    generation = "xe2"
    selects = False


class Xe3Test(FrameTests, unittest.TestCase):
    generation = "xe3"
    selects = False


class ProgramTest(unittest.TestCase):
    def test_other_arguments_are_wrong_usage(self) -> None:
        for arguments in ([], ["gfx9"], ["gfx3", "core"]):
            done = subprocess.run([FRAME, *arguments], capture_output=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"usage", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
