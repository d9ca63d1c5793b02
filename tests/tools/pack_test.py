#!/usr/bin/python3
"""pack, and what unpack shows of its output."""

import os
import subprocess
import sys
import tempfile
import unittest

PACK, UNPACK = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
CAPTURE = os.path.abspath("tests/data/captures/skl-gl-basic/01.core.zst")
TEXT = """.gen skl
.org 0x1000
begin: MI_STORE_DATA_IMM Address=value Immediate_Data=count
MI_BATCH_BUFFER_END
value: .dword 0
count = 3
"""


def run(program: str, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *arguments], input=text, capture_output=True, text=True,
                          check=False)


class PackTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = directory.name

    def path(self, name: str, content: str | None = None) -> str:
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
        return path

    def bytes_of(self, name: str) -> bytes:
        with open(self.path(name), "rb") as file:
            return file.read()

    def packed(self, *arguments: str, text: str = "") -> None:
        done = run(PACK, *arguments, text=text)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def refused(self, *arguments: str, text: str = "", code: int = 2) -> str:
        done = run(PACK, *arguments, text=text)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_a_dump_of_a_text_is_decoded(self) -> None:
        core = self.path("a.core")
        self.packed(self.path("a.asm", TEXT), "-o", core)
        done = run(UNPACK, "--format=names", core)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("MI_STORE_DATA_IMM", done.stdout)

    def test_bytes_are_written_alone(self) -> None:
        self.packed("--format=bytes", "-o", self.path("a.bin"), "-", text=TEXT)
        self.assertEqual(self.bytes_of("a.bin").hex(),
                         "02000010" "14100000" "00000000" "03000000" "00000005" "00000000")
        self.packed("-D", "count=0x10", "--address=4096", "--format=bytes", "-o",
                    self.path("a.bin"), "-", text=TEXT)
        self.assertEqual(self.bytes_of("a.bin")[12:16].hex(), "10000000")
        gaps = TEXT + ".skip 4\n.byte 1\n"
        self.assertIn("--format=core", self.refused("--format=bytes", "-", text=gaps, code=1))

    def test_a_capture_comes_back_from_the_short_form(self) -> None:
        text, core = self.path("a.asm"), self.path("a.core")
        self.assertEqual(run(UNPACK, "--convert=asm", "-o", text, CAPTURE).returncode, 0)
        self.packed(text, "-o", core)
        before, after = (run(UNPACK, "--format=jsonl", dump).stdout for dump in (CAPTURE, core))
        self.assertGreater(len(before), 10000)
        self.assertEqual(before, after)

    def test_records_can_be_edited(self) -> None:
        records = run(UNPACK, "--format=jsonl", CAPTURE.replace("01.", "04.")).stdout
        core = self.path("a.core")
        self.packed("-", "-o", core, text=records)
        solid = '"name":"Back Face Fill Mode","bits":[36,35],"value":0,"enum":"SOLID"'
        self.assertIn(solid, records)
        edited = records.replace(solid, solid.replace("SOLID", "WIREFRAME"))
        self.packed("-", "-o", core, text=edited)
        shown = run(UNPACK, "--format=jsonl", core).stdout
        self.assertIn(solid.replace('0,"enum":"SOLID"', '1,"enum":"WIREFRAME"'), shown)
        self.assertNotIn(solid, shown)

    def test_files_are_searched_beside_the_text_and_in_folders(self) -> None:
        os.mkdir(self.path("inner"))
        self.path("inner/names.asm", "one = 1\n")
        self.path("bytes.bin", "abcd")
        text = self.path("a.asm", '.include "names.asm"\n.dword one\n.file "bytes.bin"\n')
        out = self.path("a.out")
        self.packed("-I", self.path("inner"), "--format=bytes", text, "-o", out)
        self.assertEqual(self.bytes_of("a.out"), b"\1\0\0\0abcd")
        self.assertIn('a.asm:1:10: error: "names.asm" is neither', self.refused(text, code=1))
        self.assertIn("overwritten", self.refused("-I", self.path("inner"), text, "-o",
                                                  self.path("bytes.bin")))

    def test_errors_leave_no_file(self) -> None:
        out = self.path("a.core")
        message = self.refused("-", "-o", out, text=".gen skl\nMI_NOP\n", code=1)
        self.assertEqual(message.splitlines()[1:], ["  MI_NOP", "  ^"])
        self.assertTrue(message.startswith("<stdin>:2:1: error: "), message)
        self.assertFalse(os.path.exists(out))

    def test_wrong_usage(self) -> None:
        self.assertIn("exactly one file", self.refused())
        self.assertIn("--format", self.refused("--formt=core", "-"))
        self.assertIn("NAME=VALUE", self.refused("-D", "x", "-"))
        self.assertIn("--address", self.refused("--address=x", "-"))
        self.assertIn("nowhere", self.refused(self.path("nowhere"), code=1))


if __name__ == "__main__":
    unittest.main()
