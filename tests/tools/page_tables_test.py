#!/usr/bin/python3
"""unpack --page-tables."""

import os
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fixtures import END, core, note, words  # noqa: E402

UNPACK = os.path.abspath(sys.argv.pop(1))

IMAGE, PHYSICAL = 0x201000, 3
PRESENT, WRITABLE = 1, 2


def image(pdps: list[int]) -> bytes:
    """The registers of a context image of Skylake's render engine."""
    pairs = [(0x2244, 0x90009), (0x2034, 0)]
    for i, pdp in enumerate(pdps):
        pairs += [(0x2270 + 8 * i, pdp & 0xFFFFFFFF), (0x2274 + 8 * i, pdp >> 32)]
    values = [0, 0x11001000 | 2 * len(pairs) - 1]
    for pair in pairs:
        values += pair
    return words(*values, END)


def table(entries: dict[int, int]) -> bytes:
    values = [0] * 512
    for index, entry in entries.items():
        values[index] = entry
    return struct.pack("<512Q", *values)


def dump(pdps: list[int], tables: dict[int, bytes], physical: bool = True,
         engine: str = "rcs0") -> bytes:
    """A GPU core dump with a context image, and tables by their physical addresses."""
    notes = note(0x50530001, {"generation": "gfx9"}) + note(0x50530002, {
        "index": 0, "engine": engine, "space": 1, "batch_address": IMAGE,
        "batch_length": len(image(pdps)), "kind": "context image"})
    if physical:
        notes += note(0x50530004, {"physical": PHYSICAL})
    segments = [(1, IMAGE, image(pdps))] + [(PHYSICAL, at, data) for at, data in tables.items()]
    begin = 64 + 56 * (1 + len(segments))
    out = b"\x7fELF\2\1\1" + b"\0" * 9 + struct.pack(
        "<HHIQQQIHHHHHH", 4, 205, 1, 0, 64, 0, 0, 64, 56, 1 + len(segments), 0, 0, 0)
    out += struct.pack("<IIQQQQQQ", 4, 0, begin, 0, 0, len(notes), len(notes), 4)
    data = notes
    for space, address, content in segments:
        out += struct.pack("<IIQQQQQQ", 1, 6, begin + len(data), address, space, len(content),
                           len(content), 4)
        data += content
    return out + data


def four_levels() -> dict[int, bytes]:
    """Three pages at 0x7000_0000_0000, of which the last one can only be read, and a large one."""
    both = PRESENT | WRITABLE
    return {
        0x10000: table({0xE0: 0x11000 | both}),
        0x11000: table({0: 0x12000 | both}),
        0x12000: table({0: 0x13000 | both, 2: 0x40000000 | both | 1 << 7}),
        0x13000: table({0: 0x80000000 | both, 1: 0x80001000 | both, 2: 0x80002000 | PRESENT}),
    }


class PageTables(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "a.core")

    def show(self, content: bytes) -> subprocess.CompletedProcess:
        with open(self.path, "wb") as file:
            file.write(content)
        return subprocess.run([UNPACK, "--page-tables", self.path], capture_output=True,
                              check=False, env={"PATH": "/bin:/usr/bin"})

    def test_ranges_of_a_context_are_shown_with_their_flags(self) -> None:
        done = self.show(dump([0x10000], four_levels()))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            done.stdout.decode(),
            "context image  engine rcs0, at 0x201000, page tables of four levels from 0x10000\n"
            "0x700000000000..0x700000002000  0x80000000, pages of 4 KiB\n"
            "0x700000002000..0x700000003000  0x80002000, pages of 4 KiB, read-only\n"
            "0x700000400000..0x700000600000  0x40000000, pages of 2048 KiB\n"
            "tables: 4\n")

    def test_three_levels_begin_with_four_directories(self) -> None:
        both = PRESENT | WRITABLE
        done = self.show(dump([0x10000, 0x11000, 0, 0], {
            0x10000: table({0: 0x12000 | both}), 0x11000: table({}),
            0x12000: table({5: 0x80000000 | both})}))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("page tables of three levels from 0x10000, 0x11000, 0x0, 0x0\n"
                      "0x000000005000..0x000000006000  0x80000000, pages of 4 KiB\n",
                      done.stdout.decode())

    def test_tables_that_are_not_in_the_dump_are_counted(self) -> None:
        tables = four_levels()
        del tables[0x13000]
        done = self.show(dump([0x10000], tables))
        self.assertEqual(done.returncode, 1)
        self.assertIn("pages of 2048 KiB\ntables: 4, not in memory: 1\n", done.stdout.decode())
        self.assertIn(b"the page tables could not be read whole", done.stderr)

    def test_tables_that_point_to_themselves_end(self) -> None:
        done = self.show(dump([0x10000], {
            0x10000: table({i: 0x10000 | PRESENT for i in range(512)})}))
        self.assertEqual(done.returncode, 1)
        self.assertIn("tables: 1, entries that point to a table above them: 512\n",
                      done.stdout.decode())

    def test_a_dump_without_physical_memory_has_no_tables(self) -> None:
        done = self.show(dump([0x10000], {}, physical=False))
        self.assertEqual(done.returncode, 1)
        self.assertIn("page tables of four levels from 0x10000\n", done.stdout.decode())
        self.assertIn(b"does not have the page tables: it has no memory by physical address",
                      done.stderr)

    def test_an_image_without_tables_is_named(self) -> None:
        done = self.show(dump([], {}))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"at 0x201000: the image names no page tables", done.stderr)

    def test_a_dump_without_an_image_has_no_tables(self) -> None:
        done = self.show(core({"generation": "gfx9"}, words(END)))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"there is no context image, which says where page tables are", done.stderr)

    def test_names_of_engines_are_harmless(self) -> None:
        done = self.show(dump([0x10000], four_levels(), engine="a\x1bb"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(b"\x1b", done.stdout)


if __name__ == "__main__":
    unittest.main()
