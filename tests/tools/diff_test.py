#!/usr/bin/python3
"""unpack diff finds changes that were made to real captures, and nothing else."""

import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import unittest

import fixtures
from fixtures import END, ProgramTest, words

UNPACK, PACK = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
ProgramTest.program = UNPACK
DATA = pathlib.Path("tests/data").absolute()
SKL = str(DATA / "captures/skl-gl-basic/00.core.zst")
DG2 = str(DATA / "captures/dg2-gl-basic/00.core.zst")
HANG = str(DATA / "hang/skl-gl-basic.error")

# Packets whose fields do not decide what other packets point to.
PLAIN = {"PIPE_CONTROL", "3DSTATE_CLIP", "3DSTATE_RASTER", "3DSTATE_SF", "3DSTATE_WM",
         "3DSTATE_PS_BLEND", "3DSTATE_SAMPLE_MASK", "3DSTATE_WM_DEPTH_STENCIL", "3DSTATE_SBE",
         "3DSTATE_URB_VS", "3DSTATE_URB_GS", "3DSTATE_DRAWING_RECTANGLE"}


class Core:
    """A GPU core dump whose memory can be changed."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self.bytes = bytearray(file.read())
        begin, = struct.unpack_from("<Q", self.bytes, 32)
        count, = struct.unpack_from("<H", self.bytes, 56)
        self.loads = []
        for i in range(count):
            kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", self.bytes,
                                                                   begin + i * 56)
            if kind == 1:
                self.loads.append((address, size, offset))

    def place(self, address: int) -> int:
        """Where the byte at an address is in the file."""
        for begin, size, offset in self.loads:
            if begin <= address < begin + size:
                return offset + address - begin
        raise KeyError(hex(address))

    def end(self, address: int) -> int:
        """Where the bytes of that run of memory end in the file."""
        return next(offset + size for begin, size, offset in self.loads
                    if begin <= address < begin + size)

    def flip(self, address: int, bit: int) -> None:
        self.bytes[self.place(address + bit // 8)] ^= 1 << bit % 8

    def write(self, address: int, content: bytes) -> None:
        place = self.place(address)
        self.bytes[place:place + len(content)] = content

    def remove(self, address: int, size: int) -> None:
        """What comes later moves there; zeros come at the end."""
        place, end = self.place(address), self.end(address)
        self.bytes[place:end] = self.bytes[place + size:end] + bytes(size)


class DiffTest(ProgramTest):
    def uncompressed(self, capture: str) -> str:
        path = self.path("a.core")
        done = self.run_it("--convert=elf", "-o", path, capture)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def saved(self, core: Core) -> str:
        return self.file("b.core", bytes(core.bytes))

    def records(self, path: str) -> list[dict]:
        done = self.run_it("--format=jsonl", path)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def diff(self, *arguments: str, code: int) -> list[dict]:
        """The differences; the summary is checked to count them."""
        done = self.run_it("diff", "--format=jsonl", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        *lines, summary = [json.loads(line) for line in done.stdout.splitlines()]
        for kind in ("changed", "removed", "added"):
            self.assertEqual(summary[kind], sum(line["type"] == kind for line in lines))
        return lines

    def test_what_is_the_same_has_no_text(self) -> None:
        for capture in (SKL, DG2):
            done = self.run_it("diff", capture, self.uncompressed(capture))
            self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)

    def test_changed_fields_are_found_and_nothing_else(self) -> None:
        for capture in (SKL, DG2):
            path = self.uncompressed(capture)
            packets = [r for r in self.records(path)
                       if r["type"] == "packet" and r["name"] in PLAIN]
            self.assertGreater(len(packets), 100)
            for seed in range(8):
                chance = random.Random(seed)
                core, expected = Core(path), {}
                for packet in chance.sample(packets, 3):
                    field = chance.choice([f for f in packet["fields"]
                                           if not isinstance(f["value"], str)
                                           and f["name"] != "DWord Length"])
                    core.flip(int(packet["address"], 16), field["bits"][1])
                    expected[packet["address"]] = (packet["name"], field["name"])
                found = {}
                for line in self.diff(path, self.saved(core), code=1):
                    self.assertEqual(line["type"], "changed")
                    self.assertEqual(line["a"]["address"], line["b"]["address"])
                    change, = line["changes"]
                    self.assertNotEqual(change["a"], change["b"])
                    found[line["a"]["address"]] = (line["name"], change["field"])
                self.assertEqual(found, expected)

    def test_removed_and_added_packets(self) -> None:
        path = self.uncompressed(SKL)
        packets = [r for r in self.records(path) if r["type"] == "packet" and r["name"] in PLAIN]
        for seed in range(8):
            packet = random.Random(seed).choice(packets)
            core = Core(path)
            core.remove(int(packet["address"], 16), 4 * len(packet["dwords"]))
            shorter = self.saved(core)
            # Of several equal packets in a row, any may be the one.
            equal = {p["address"] for p in packets if p["dwords"] == packet["dwords"]}
            line, = self.diff(path, shorter, code=1)
            self.assertEqual((line["type"], line["name"]), ("removed", packet["name"]))
            self.assertIn(line["a"]["address"], equal)
            self.assertNotIn("b", line)
            line, = self.diff(shorter, path, code=1)
            self.assertEqual((line["type"], line["name"]), ("added", packet["name"]))

    def test_a_structure_is_compared_where_a_pointer_leads(self) -> None:
        path = self.uncompressed(SKL)
        records = {r["id"]: r for r in self.records(path) if "id" in r}
        blend = next(r for r in records.values() if r.get("name") == "BLEND_STATE")
        pointer = records[blend["parent"]]
        field = next(f for f in blend["fields"] if f["name"] == "Alpha To Coverage Enable")
        core = Core(path)
        core.flip(int(blend["address"], 16), field["bits"][1])
        line, = self.diff(path, self.saved(core), code=1)
        self.assertEqual(line["a"]["address"], pointer["address"])
        self.assertEqual(line["changes"], [
            {"path": ["Blend State Pointer", "BLEND_STATE"], "field": "Alpha To Coverage Enable",
             "a": "false", "b": "true"}])

    def test_the_place_of_a_structure_does_not_count(self) -> None:
        path = self.uncompressed(SKL)
        records = {r["id"]: r for r in self.records(path) if "id" in r}
        blends = [r for r in records.values() if r.get("name") == "BLEND_STATE"]
        first = blends[0]
        pointer = records[first["parent"]]
        same = next(r for r in blends
                    if r["dwords"] == first["dwords"] and r["address"] != first["address"])
        other = next(r for r in blends if r["dwords"] != first["dwords"])
        for target, expected in ((same, 0), (other, 1)):
            core = Core(path)
            moved = (int(pointer["dwords"][1], 16) + int(target["address"], 16) -
                     int(first["address"], 16))
            core.write(int(pointer["address"], 16) + 4, words(moved))
            lines = self.diff(path, self.saved(core), code=expected)
            self.assertEqual(len(lines), expected)
            for line in lines:
                self.assertEqual(line["a"]["address"], pointer["address"])
                self.assertEqual({tuple(c["path"]) for c in line["changes"]},
                                 {("Blend State Pointer", "BLEND_STATE")})

    def test_an_address_without_memory_is_compared_by_its_place(self) -> None:
        path = self.uncompressed(SKL)
        packet = next(r for r in self.records(path) if r.get("name") == "PIPE_CONTROL"
                      and any(f["name"] == "Address" and f["value"] != "0x0"
                              for f in r["fields"]))
        field = next(f for f in packet["fields"] if f["name"] == "Address")
        core = Core(path)
        core.flip(int(packet["address"], 16), field["bits"][1] + 3)
        line, = self.diff(path, self.saved(core), code=1)
        self.assertEqual(line["a"]["address"], packet["address"])
        self.assertEqual([c["field"] for c in line["changes"]], ["Address"])

    def two_draws(self) -> str:
        topology = 0x784b0000
        draw = [0x7b000005, 0, 3, 0, 1, 0, 0]
        return self.file("draws.core", fixtures.core(
            {"family": "intel", "generation": "gfx9"},
            words(0x784d0000, 0,  # 3DSTATE_PS_BLEND
                  topology, 4, *draw, 0x784e0002, 0, 0, 0, *draw, topology, 15, *draw, END)))

    def test_two_draws_of_a_dump(self) -> None:
        path = self.two_draws()
        lines = self.diff("--draw=1,3", path, code=1)
        self.assertEqual({(line["type"], line["name"]) for line in lines},
                         {("changed", "3DSTATE_VF_TOPOLOGY"),
                          ("added", "3DSTATE_WM_DEPTH_STENCIL")})
        topology = next(line for line in lines if line["name"] == "3DSTATE_VF_TOPOLOGY")
        self.assertEqual(topology["changes"][0]["a"], "4 (TRILIST)")
        self.assertEqual(topology["changes"][0]["b"], "15 (RECTLIST)")
        line, = self.diff("--draw=2,3", path, code=1)
        self.assertEqual(line["name"], "3DSTATE_VF_TOPOLOGY")
        self.assertEqual(self.diff("--draw=2", path, path, code=0), [])

    def test_draws_of_a_capture(self) -> None:
        self.assertEqual(self.diff("--draw=3", SKL, self.uncompressed(SKL), code=0), [])
        lines = {line["name"]: line for line in self.diff("--draw=1,4", SKL, code=1)}
        self.assertIn({"path": ["Pointer to PS Binding Table", "BINDING_TABLE_STATE[0]",
                                "Surface State Pointer", "RENDER_SURFACE_STATE"],
                       "field": "Surface Format", "a": "203 (R8G8B8A8_UINT)",
                       "b": "199 (R8G8B8A8_UNORM)"},
                      lines["3DSTATE_BINDING_TABLE_POINTERS_PS"]["changes"])
        self.assertNotIn("3DSTATE_CLIP", lines)

    def two_dispatches(self) -> str:
        walker = [0x7105000d, *[0] * 14]

        def state(threads: int) -> list[int]:  # MEDIA_VFE_STATE
            return [0x70000007, 0, 0, threads << 16, 0, 0, 0, 0, 0]

        return self.file("dispatches.core", fixtures.core(
            {"family": "intel", "generation": "gfx9"},
            words(*state(7), *walker, *walker, *state(15), *walker, END)))

    def test_two_dispatches_of_a_dump(self) -> None:
        path = self.two_dispatches()
        line, = self.diff("--dispatch=1,3", path, code=1)
        self.assertEqual((line["type"], line["name"]), ("changed", "MEDIA_VFE_STATE"))
        change, = line["changes"]
        self.assertEqual((change["field"], change["a"], change["b"]),
                         ("Maximum Number of Threads", "7", "15"))
        self.assertEqual(self.diff("--dispatch=1,2", path, code=0), [])
        self.assertEqual(self.diff("--dispatch=3", path, path, code=0), [])
        line, = self.diff("--dispatch=3,2", path, path, code=1)
        self.assertEqual((line["changes"][0]["a"], line["changes"][0]["b"]), ("15", "7"))
        text = self.run_it("diff", "--dispatch=1,3", "--color=never", path).stdout.decode()
        self.assertIn("dispatches.core, dispatch 1\n", text)
        self.assertIn("dispatches.core, dispatch 3\n", text)

    def test_dispatches_of_a_run(self) -> None:
        run = str(DATA / "captures/skl-gl-compute")
        self.assertEqual(self.diff("--dispatch=2", run, run, code=0), [])
        lines = self.diff("--dispatch=1,2", run, code=1)
        self.assertIn("MEDIA_INTERFACE_DESCRIPTOR_LOAD", {line["name"] for line in lines})

    # How far the memory of a capture is moved.
    DISTANCE = 0x10000000

    def moved(self, capture: str) -> str:
        """A capture of iris, whose memory above 4 GiB is elsewhere: `pack` makes it of its text
        with other addresses. Kernels stay, since they count from 0, which is no place."""
        path = self.path("capture.asm")
        done = self.run_it("--convert=asm", "-o", path, capture)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = self.read("capture.asm").decode().splitlines()
        # Lines with addresses, and their units.
        units = ((r"Address|^\.org |^\.buffer ", 1),
                 (r'"Auxiliary Surface Base Address"=raw', 1 << 12),
                 (r'"Constant Body\.Buffer\[\d\]"=raw', 1 << 5))
        for i, line in enumerate(lines):
            unit = next((unit for pattern, unit in reversed(units) if re.search(pattern, line)), 0)
            if unit != 0:
                lines[i] = re.sub(r"\b0x[0-9a-f]{9,}\b", lambda found, unit=unit: hex(
                    int(found[0], 16) + self.DISTANCE // unit & (1 << 64) - 1), line)
        source, made = self.file("moved.asm", "\n".join(lines).encode()), self.path("moved.core")
        done = subprocess.run([PACK, source, "-o", made], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return made

    def test_the_place_of_all_memory_does_not_count(self) -> None:
        moved = self.moved(SKL)
        here, there = ([int(record["address"], 16) for record in self.records(path)
                        if record["type"] == "packet"] for path in (SKL, moved))
        self.assertEqual(there, [address + self.DISTANCE for address in here])
        self.assertEqual(self.diff(SKL, moved, code=0), [])
        self.assertEqual(self.diff("--draw=3", SKL, moved, code=0), [])
        # One bit more, and that is all.
        packet = next(record for record in self.records(moved) if record["type"] == "packet"
                      and record["name"] == "3DSTATE_SAMPLE_MASK")
        core = Core(moved)
        core.flip(int(packet["address"], 16), 32)
        line, = self.diff(SKL, self.saved(core), code=1)
        self.assertEqual(line["name"], "3DSTATE_SAMPLE_MASK")
        self.assertNotEqual(line["a"]["address"], line["b"]["address"])

    def folder_of(self, name: str) -> str:
        """A copy of a run, uncompressed."""
        os.mkdir(self.path(name))
        for number in range(5):
            capture = str(DATA / f"captures/skl-gl-basic/{number:02}.core.zst")
            done = self.run_it("--convert=elf", "-o", self.path(f"{name}/{number:02}.core"),
                               capture)
            self.assertEqual(done.returncode, 0, done.stderr)
        return self.path(name)

    def test_folders_are_runs_whose_submissions_correspond(self) -> None:
        run, copy = str(DATA / "captures/skl-gl-basic"), self.folder_of("copy")
        self.assertEqual(self.diff(run, copy, code=0), [])
        third = os.path.join(copy, "03.core")
        packet = next(record for record in self.records(third)
                      if record["type"] == "packet" and record["name"] == "3DSTATE_SAMPLE_MASK")
        core = Core(third)
        core.flip(int(packet["address"], 16), 32)
        self.file("copy/03.core", bytes(core.bytes))
        line, = self.diff(run, copy, code=1)
        self.assertEqual((line["name"], line["a"]["submission"], line["b"]["submission"]),
                         ("3DSTATE_SAMPLE_MASK", 3, 3))
        os.remove(os.path.join(copy, "04.core"))
        *_, last = [line for line in self.diff(run, copy, code=1) if line["type"] != "changed"]
        self.assertEqual((last["type"], last["a"]["submission"]), ("removed", 4))
        self.assertNotIn("added", {line["type"] for line in self.diff(run, copy, code=1)})

    def test_a_folder_is_not_a_dump_of_one_of_its_submissions(self) -> None:
        folder = self.folder_of("copy")
        lines = self.diff(folder, os.path.join(folder, "00.core"), code=1)
        self.assertEqual({line["type"] for line in lines}, {"removed"})
        self.assertEqual({line["a"]["submission"] for line in lines}, {1, 2, 3, 4})
        os.mkdir(self.path("empty"))
        self.refused("diff", folder, self.path("empty"))

    def test_registers_of_two_hangs(self) -> None:
        with open(HANG, encoding="utf-8") as file:
            text = file.read()
        place = text.index("FAULT_TLB_DATA1: 0x0000000f")
        other = self.file("b.error", (text[:place] + text[place:].replace(
            "0x0000000f", "0x0000000e", 1)).encode())
        done = self.run_it("diff", "--format=jsonl", HANG, HANG)
        code = done.returncode  # 2 if the dump itself is damaged
        self.assertIn(code, (0, 2), done.stderr)
        done = self.run_it("diff", "--format=jsonl", HANG, other)
        *lines, _ = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(done.returncode, 1 if code == 0 else 2)
        self.assertEqual([(line["type"], line["of"]) for line in lines], [("changed", "register")])

    def test_why_and_where_two_hangs_stopped(self) -> None:
        with open(HANG, encoding="utf-8") as file:
            text = file.read()
        first = text.splitlines(True)[0]
        self.assertTrue(first.startswith("GPU HANG: ecode"))
        other = self.file("b.error", text.replace("[1234]", "[4321]", 1).encode())
        done = self.run_it("diff", "--format=jsonl", HANG, other)
        *lines, _ = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual({line["of"] for line in lines}, {"fact"})
        for line in lines:
            self.assertEqual(line["type"], "changed")
            self.assertNotEqual(line["a"], line["b"])
        for options in ((), ("--side-by-side",)):
            shown = self.run_it("diff", *options, HANG, other).stdout.decode()
            self.assertIn("4321", shown)
            self.assertIn("\nhang\n", shown)

    def test_text(self) -> None:
        path = self.two_draws()
        done = self.run_it("diff", "--draw=2,3", "--color=never", path)
        text = done.stdout.decode()
        self.assertIn("~ 3DSTATE_VF_TOPOLOGY", text)
        self.assertIn("    Primitive Topology Type  4 (TRILIST) -> 15 (RECTLIST)\n", text)
        self.assertIn("1 changed, 0 removed, 0 added", text)
        self.assertNotIn("\033", text)
        colored = self.run_it("diff", "--draw=2,3", "--color=always", path).stdout.decode()
        self.assertIn("\033[", colored)
        beside = self.run_it("diff", "--draw=2,3", "--side-by-side", "--width=60", path).stdout
        lines = beside.decode().splitlines()
        self.assertLessEqual(max(map(len, lines)), 60)
        self.assertTrue(any(line[28:31] == " | " for line in lines), lines)

    def test_descriptions(self) -> None:
        done = self.run_it("diff", "--descriptions", "gfx9", "gfx9")
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)
        done = self.run_it("diff", "--descriptions", "--format=jsonl", "gfx75", "gfx8")
        self.assertEqual(done.returncode, 1, done.stderr)
        lines = {(line["kind"], line["name"]): line
                 for line in map(json.loads, done.stdout.splitlines())}
        moved = next(c for c in lines["struct", "RENDER_SURFACE_STATE"]["changes"]
                     if c.get("field") == "Surface Base Address" and c["what"] == "moved")
        self.assertEqual(moved["from"], "dword 1, bits 31:0")
        self.assertEqual(lines["packet", "3DSTATE_VF_TOPOLOGY"]["type"], "added")
        text = self.run_it("diff", "--descriptions", "gfx75", "gfx8").stdout.decode()
        self.assertIn("+ packet 3DSTATE_VF_TOPOLOGY\n", text)

    def test_wrong_usage_and_unreadable_files_are_trouble(self) -> None:
        self.assertIn("two inputs", self.refused("diff", SKL))
        self.assertIn("two inputs", self.refused("diff"))
        self.assertIn("3 or 3,7", self.refused("diff", "--draw=0,2", SKL))
        self.assertIn("3 or 3,7", self.refused("diff", "--draw=1,2,3", SKL))
        self.assertIn("no draw 999", self.refused("diff", "--draw=1,999", SKL))
        self.assertIn("two draws", self.refused("diff", "--draw=3", SKL))
        dispatches = self.two_dispatches()
        self.assertIn("two dispatches", self.refused("diff", "--dispatch=3", dispatches))
        self.assertIn("no dispatch 4; it has 3", self.refused("diff", "--dispatch=1,4", dispatches))
        self.assertIn("no draw 1; it has 0", self.refused("diff", "--draw=1,2", dispatches))
        self.assertIn("--dispatch=0: give one number or two",
                      self.refused("diff", "--dispatch=0", dispatches))
        self.assertIn("do not go together",
                      self.refused("diff", "--draw=1,2", "--dispatch=1,2", dispatches))
        self.assertIn("--side-by-side",
                      self.refused("diff", "--side-by-side", "--format=jsonl", SKL, SKL))
        self.assertIn("--draw", self.refused("diff", "--descriptions", "--draw=1", "gfx8", "gfx9"))
        self.refused("diff", "--descriptions", "gfx8", "gfx999")
        self.refused("diff", SKL, self.path("missing.core"))
        self.refused("diff", SKL, self.file("empty.core"))
        copy = self.file("copy.core", pathlib.Path(SKL).read_bytes())
        self.refused("diff", "-o", copy, SKL, copy)
        help_text = subprocess.run([UNPACK, "diff", "--help"], capture_output=True, check=True)
        self.assertIn(b"unpack diff", help_text.stdout)


if __name__ == "__main__":
    unittest.main()
