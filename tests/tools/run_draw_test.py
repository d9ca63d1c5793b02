#!/usr/bin/python3
"""unpack --run --draw=N and --dispatch=N: what one draw or dispatch sees, when it is executed."""

import json
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fixtures import END, ProgramTest, core, cores, words  # noqa: E402

UNPACK = os.path.abspath(sys.argv.pop(1))
GFX9 = {"family": "intel", "generation": "gfx9"}
BATCH = 0x1000
# From the manual's tables of Gfx9.
POINTS, TRIANGLES, STRIP = 1, 4, 5
R32G32_FLOAT, R32_UINT = 0x85, 0xD7
SOURCE, ZERO, ONE = 1, 2, 3


def floats(*values: float) -> list[int]:
    return list(struct.unpack(f"<{len(values)}I", struct.pack(f"<{len(values)}f", *values)))


class Batch:
    """A batch of Gfx9 with data after it, in one piece of memory."""

    def __init__(self) -> None:
        self.packets: list[int] = []
        self.data: list[int] = []

    ROOM = 0x1000  # of packets, in bytes

    def put(self, *values: int) -> int:
        """Data, at a multiple of 64 bytes. Returns its address."""
        self.data += [0] * (-len(self.data) % 16)
        address = BATCH + self.ROOM + 4 * len(self.data)
        self.data += values
        return address

    def add(self, *values: int) -> None:
        self.packets += values

    def bases(self, dynamic: int, surface: int | None = None) -> None:
        packet = [0x61010011] + [0] * 18
        packet[6] = dynamic | 1
        if surface is not None:
            packet[4] = surface | 1
        self.add(*packet)

    def buffer(self, address: int, pitch: int, size: int) -> None:
        self.add(0x78080003, 1 << 14 | pitch, address & 0xFFFFFFFF, address >> 32, size)

    def elements(self, *elements: tuple[int, int, tuple[int, int, int, int]]) -> None:
        self.add(0x78090000 | 2 * len(elements) - 1)
        for form, offset, parts in elements:
            self.add(1 << 25 | form << 16 | offset,
                     parts[0] << 28 | parts[1] << 24 | parts[2] << 20 | parts[3] << 16)

    def indices(self, address: int, size: int, form: int = 2) -> None:
        self.add(0x780A0003, form << 8, address & 0xFFFFFFFF, address >> 32, size)

    def store(self, address: int, value: int) -> None:
        self.add(0x10000002, address, 0, value)

    def draw(self, topology: int, count: int, first: int = 0, instances: int = 1,
             indexed: bool = False, bias: int = 0) -> None:
        self.add(0x784B0000, topology)
        self.add(0x7B000005, 0x100 if indexed else 0, count, first, instances, 0,
                 bias & 0xFFFFFFFF)

    def core(self) -> bytes:
        packets = self.packets + [END]
        assert 4 * len(packets) <= self.ROOM
        packets += [0] * (self.ROOM // 4 - len(packets))
        return core(GFX9, words(*packets, *self.data))


def two_draws() -> Batch:
    """Between the draws, memory and state change."""
    batch = Batch()
    vertices = batch.put(*floats(1, 2, 3, 4, 5, 6))
    viewport = batch.put(*floats(0.25, 0.5))
    batch.bases(BATCH)
    batch.add(0x78230000, viewport - BATCH)  # 3DSTATE_VIEWPORT_STATE_POINTERS_CC
    batch.buffer(vertices, 8, 24)
    batch.elements((R32G32_FLOAT, 0, (SOURCE, SOURCE, ZERO, ONE)))
    batch.draw(TRIANGLES, 3)
    batch.store(vertices + 8, *floats(30))
    batch.store(viewport + 4, *floats(0.75))
    batch.draw(POINTS, 2, first=1)
    # What comes later changes nothing.
    batch.store(vertices + 8, *floats(99))
    batch.draw(STRIP, 1)
    return batch


class RunDraw(ProgramTest):
    program = UNPACK

    def lines(self, *arguments: str) -> list[dict]:
        done = self.run_it("--run", "--format=jsonl", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def named(self, records: list[dict], name: str) -> list[dict]:
        return [record for record in records if record.get("name") == name]

    def value(self, record: dict, field: str):
        return next(one["value"] for one in record["fields"] if one["name"] == field)

    def of_type(self, records: list[dict], kind: str) -> list[dict]:
        return [record for record in records if record["type"] == kind]

    def test_a_draw_sees_memory_and_state_of_its_moment(self) -> None:
        path = self.file("core", two_draws().core())
        for number, deepest, count, shown in (
                (1, 0.5, 3, [[1, 2, 0, 1], [3, 4, 0, 1], [5, 6, 0, 1]]),
                (2, 0.75, 2, [[30, 4, 0, 1], [5, 6, 0, 1]])):
            records = self.lines(f"--draw={number}", path)
            draw, = self.of_type(records, "draw")
            self.assertEqual(draw["number"], number)
            self.assertEqual(draw["parameters"]["count"], count)
            viewport, = self.named(records, "CC_VIEWPORT")
            self.assertEqual(self.value(viewport, "Maximum Depth"), deepest)
            pointer, = self.named(records, "3DSTATE_VIEWPORT_STATE_POINTERS_CC")
            self.assertEqual(viewport["parent"], pointer["id"])
            packet, = self.named(records, "3DPRIMITIVE")
            self.assertEqual((packet["draw"], pointer["parent"]), (number, packet["id"]))
            topology, = self.named(records, "3DSTATE_VF_TOPOLOGY")
            self.assertEqual(self.value(topology, "Primitive Topology Type"),
                             TRIANGLES if number == 1 else POINTS)
            self.assertEqual([vertex["elements"][0] for vertex in self.of_type(records, "vertex")],
                             shown)
            self.assertEqual([one["kind"] for one in self.of_type(records, "primitive")],
                             ["triangle"] if number == 1 else ["point", "point"])

    def test_text_says_the_same(self) -> None:
        path = self.file("core", two_draws().core())
        done = self.run_it("--run", "--draw=2", "--hide-zero", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = done.stdout.decode()
        for part in ("draw 2  0x", "3DPRIMITIVE  7 dwords  draw 2",
                     "3DSTATE_VIEWPORT_STATE_POINTERS_CC  2 dwords  bound, from submission 0",
                     "    0x000000002040  CC_VIEWPORT[0]  2 dwords",
                     "Maximum Depth                                 0.75",
                     "vertices: 2 in each of 1 instance, 4 dwords each\n"
                     "  element 0  dwords 0 to 3  data, data, 0, 1.0; R32G32_FLOAT from buffer 0 at "
                     "0x2000 + 0, 8 bytes a row\n"
                     "  vertex 0  row 1, VertexID 0, InstanceID 0, PrimitiveID 0\n"
                     "    element 0  30, 4, 0, 1\n",
                     "primitives: 2\n  point 0  vertices 0\n  point 1  vertices 1\n"):
            self.assertIn(part, text)
        self.assertNotIn("draw 1 ", text)
        self.assertNotIn("Minimum Depth                                 0 ", text)

    def test_indices_restarts_instances_and_integers(self) -> None:
        batch = Batch()
        buffer = batch.put(7, 8, 0xFFFFFFF9, 10)
        indices = batch.put(0, 1, 2, 0xFFFFFFFF, 1, 2, 3)
        batch.add(0x780C0100, 0xFFFFFFFF)  # 3DSTATE_VF with a cut index
        batch.buffer(buffer, 4, 12)
        batch.elements((R32_UINT, 0, (SOURCE, ZERO, ZERO, ZERO)))
        batch.indices(indices, 28)
        batch.draw(STRIP, 7, instances=2, indexed=True)
        path = self.file("core", batch.core())
        records = self.lines("--draw=1", "--draw-vertices=9", path)
        vertices = self.of_type(records, "vertex")
        self.assertEqual([vertex["restart"] for vertex in vertices],
                         [False] * 3 + [True] + [False] * 5)
        self.assertEqual([vertex["elements"][0][0] for vertex in vertices if not vertex["restart"]],
                         [7, 8, 0xFFFFFFF9, 8, 0xFFFFFFF9, 0, 7, 8])
        self.assertEqual(vertices[8]["instance"], 1)
        end, = self.of_type(records, "vertices")
        self.assertEqual((end["shown"], end["left"]), (9, 5))
        self.assertEqual((end["vertices"], end["primitives"]), (12, 4))
        self.assertEqual(end["elements_outside"], 1)
        primitives = self.of_type(records, "primitive")
        self.assertEqual([one["vertices"] for one in primitives], [[0, 1, 2], [4, 5, 6]])
        text = self.run_it("--run", "--draw=1", "--draw-vertices=2", path).stdout.decode()
        self.assertIn("  and 12 more vertices; --draw-vertices=N shows more\n", text)
        self.assertIn("  vertex 1 of instance 0  row 1, VertexID 1", text)
        self.assertIn("  and 4 more primitives;", text)
        none = self.run_it("--run", "--draw=1", "--draw-vertices=0", path).stdout.decode()
        self.assertIn("vertices: 7 in each of 2 instances", none)
        self.assertNotIn("  vertex 0", none)

    def test_parameters_from_registers_are_the_resolved_ones(self) -> None:
        batch = Batch()
        buffer = batch.put(*floats(1, 2, 3, 4))
        batch.buffer(buffer, 4, 16)
        batch.elements((R32G32_FLOAT, 0, (SOURCE, ZERO, ZERO, ZERO)))
        batch.add(0x784B0000, POINTS)
        for register, value in ((0x2430, 1), (0x2434, 2), (0x2438, 1), (0x243C, 0), (0x2440, 0)):
            batch.add(0x11000001, register, value)
        batch.add(0x7B000405, 0, 0, 0, 0, 0, 0)  # Indirect Parameter Enable
        records = self.lines("--draw=1", self.file("core", batch.core()))
        draw, = self.of_type(records, "draw")
        self.assertEqual((draw["parameters"]["count"], draw["parameters"]["first"]), (2, 1))
        packet, = self.named(records, "3DPRIMITIVE")
        self.assertEqual(self.value(packet, "Vertex Count Per Instance"), 2)
        self.assertEqual([vertex["elements"][0][0] for vertex in self.of_type(records, "vertex")],
                         [2, 3])

    def test_hostile_pointers_are_faults_and_the_rest_is_shown(self) -> None:
        batch = Batch()
        batch.bases(0xFFFFF000, surface=0xFFFFF000)
        batch.add(0x78230000, 0xFFFFFFE0)
        batch.add(0x782A0000, 0xFFE0)  # binding table of pixel shaders
        batch.buffer(0xFFFFFFFFFFF0, 2047, 0xFFFFFFFF)
        batch.elements((R32G32_FLOAT, 2047, (SOURCE, SOURCE, SOURCE, SOURCE)))
        batch.indices(0xFFFFFFFFFFF0, 0xFFFFFFFF)
        batch.draw(STRIP, 0xFFFFFFFF, first=0xFFFFFFFF, instances=0xFFFFFFFF, indexed=True,
                   bias=-1)
        path = self.file("core", batch.core())
        records = self.lines("--draw=1", "--draw-vertices=3", path)
        viewport, = self.named(records, "3DSTATE_VIEWPORT_STATE_POINTERS_CC")
        self.assertEqual([fault["kind"] for fault in viewport["faults"]], ["unmapped"])
        end, = self.of_type(records, "vertices")
        self.assertEqual((end["shown"], end["left"]), (3, 0xFFFFFFFF * 0xFFFFFFFF - 3))
        text = self.run_it("--run", "--draw=1", path)
        self.assertEqual(text.returncode, 0)
        self.assertIn(b"  outside their buffers, zeros: 64 elements\n"
                      b"  outside the index buffer, zeros: 64 indices\n", text.stdout)

    def test_vertices_that_the_dump_lacks_are_counted(self) -> None:
        batch = Batch()
        batch.buffer(0x900000, 8, 800)
        batch.elements((R32G32_FLOAT, 0, (SOURCE, SOURCE, ZERO, ONE)))
        batch.draw(POINTS, 5)
        text = self.run_it("--run", "--draw=1", self.file("core", batch.core())).stdout.decode()
        self.assertIn("  not in the dump, taken as zeros: 5 values, the first at 0x900000\n", text)

    def test_formats_that_vertices_cannot_have_are_said(self) -> None:
        batch = Batch()
        batch.buffer(batch.put(1, 2), 4, 8)
        batch.elements((0x1FE, 0, (SOURCE, SOURCE, SOURCE, SOURCE)))
        batch.draw(POINTS, 1)
        path = self.file("core", batch.core())
        text = self.run_it("--run", "--draw=1", path).stdout.decode()
        self.assertIn("the vertices are not known: vertex element 0 of 3DPRIMITIVE has format 510",
                      text)
        problem, = self.of_type(self.lines("--draw=1", path), "problem")
        self.assertEqual((problem["kind"], problem["draw"]), ("vertices", 1))

    def test_what_is_not_there_is_not_found(self) -> None:
        path = self.file("core", two_draws().core())
        self.assertEqual(self.run_it("--run", "--draw=4", path).returncode, 1)
        self.assertEqual(self.run_it("--run", "--dispatch=1", path).returncode, 1)

    def test_combinations(self) -> None:
        path = self.file("core", two_draws().core())
        self.assertIn("--draw-vertices is for --run", self.refused("--draw-vertices=3", path))
        self.assertIn("--draw-vertices is for --run --draw=N",
                      self.refused("--run", "--draw-vertices=3", path))
        self.assertIn("--run and --hide-zero do not go together, except with --draw=N",
                      self.refused("--run", "--hide-zero", path))

    def test_the_state_of_later_dumps_includes_that_of_earlier_ones(self) -> None:
        first, second = two_draws(), Batch()
        second.put(*floats(8, 9, 10, 11, 12, 13))
        second.draw(POINTS, 2)
        records = self.lines("--draw=4", self.file("0.core", first.core()),
                             self.file("1.core", second.core()))
        # Bytes that differ from those of the first dump count, and the first dump's state.
        self.assertEqual([vertex["elements"][0] for vertex in self.of_type(records, "vertex")],
                         [[8, 9, 0, 1], [10, 11, 0, 1]])

    def test_vertices_of_a_capture_are_those_that_the_decoder_finds(self) -> None:
        files = cores("skl-gl-basic")
        done = self.run_it("--format=jsonl", *files)
        decoded = [json.loads(line) for line in done.stdout.splitlines()]
        compared = 0
        for number in (1, 3, 12, 15, 16, 17, 18, 43):
            rows = {}  # by element and row
            for record in decoded:
                if record["type"] != "data" or record.get("draw") != number:
                    continue
                if record["format"] != "typed" or "slot" not in record:
                    continue
                for i, values in enumerate(record["values"]):
                    for element, value in zip(record["elements"], values):
                        stride = record.get("stride", 0)
                        rows[element["number"], record["first"] + i if stride else None] = value
            records = self.lines(f"--draw={number}", *files)
            numbers = [one["element"] for one in self.of_type(records, "vertex_element")]
            sources = {one["element"]: one["components"]
                       for one in self.of_type(records, "vertex_element")}
            for vertex in self.of_type(records, "vertex"):
                for element, values in zip(numbers, vertex["elements"]):
                    expected = rows.get((element, vertex["row"]), rows.get((element, None)))
                    if expected is None:
                        continue
                    for source, value, other in zip(sources[element], values, expected):
                        if source == "data":
                            self.assertEqual(value, other, (number, vertex["number"], element))
                            compared += 1
        self.assertGreater(compared, 100)

    def test_every_draw_of_captures_resolves_its_state(self) -> None:
        for capture, draws in (("skl-gl-basic", (1, 12, 13, 19, 30)), ("ilk-gl-basic", (1, 12)),
                               ("dg2-gl-basic", (2, 12))):
            for number in draws:
                records = self.lines(f"--draw={number}", *cores(capture))
                faults = [record for record in records[:-1]
                          if any(fault["kind"] == "unmapped" for fault in record.get("faults", []))]
                self.assertEqual(faults, [], (capture, number))
                self.assertEqual(self.of_type(records, "problem"), [], (capture, number))
                self.assertTrue(self.named(records, "RENDER_SURFACE_STATE"), (capture, number))
                self.assertTrue(self.of_type(records, "vertex"), (capture, number))
                self.assertTrue(self.of_type(records, "primitive"), (capture, number))

    def test_a_dispatch_shows_its_descriptor_and_what_that_points_to(self) -> None:
        records = self.lines("--dispatch=1", *cores("bdw-vk-compute"))
        walker, = self.named(records, "GPGPU_WALKER")
        self.assertEqual(walker["dispatch"], 1)
        load, = self.named(records, "MEDIA_INTERFACE_DESCRIPTOR_LOAD")
        descriptor, = self.named(records, "INTERFACE_DESCRIPTOR_DATA")
        self.assertEqual((load["parent"], descriptor["parent"]), (walker["id"], load["id"]))
        below = [record for record in records if record.get("parent") == descriptor["id"]]
        self.assertEqual({record["name"] for record in below},
                         {"kernel", "SAMPLER_STATE", "BINDING_TABLE_STATE"})
        self.assertEqual(len(self.named(records, "BINDING_TABLE_STATE")), 7)
        self.assertEqual(len(self.named(records, "RENDER_SURFACE_STATE")), 6)
        self.assertEqual(self.of_type(records, "vertex"), [])
        self.assertFalse([record for record in records[:-1] if record.get("faults")])
        dispatch, = self.of_type(records, "dispatch")
        self.assertEqual(dispatch["parameters"],
                         {"groups x": 7, "groups y": 5, "groups z": 2})


if __name__ == "__main__":
    unittest.main()
