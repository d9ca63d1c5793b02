#!/usr/bin/python3
"""unpack --convert, and what it writes read again."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

UNPACK = os.path.abspath(sys.argv.pop(1))
CAPTURES = "tests/data/captures"


def unpack(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([UNPACK, *arguments], capture_output=True, text=True, check=False)


class Convert(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def decoded(self, *files: str) -> str:
        """All packets with all that they point to, without what no recording holds."""
        result = unpack("--no-offsets", "--follow=all", *files)
        self.assertEqual(result.returncode, 0, result.stderr)
        text = re.sub(r"  in bo\d+\+0x[0-9a-f]+", "", result.stdout)
        text = re.sub(r"(?m)^submission .*|^device .*|(?<=batch, ).*(?=:)", "", text)
        return text

    def test_a_run_is_decoded_the_same_from_a_recording(self) -> None:
        for name in ("ilk-gl-basic", "skl-gl-basic", "dg2-gl-compute"):
            with self.subTest(name):
                recording = self.path(name + ".aub")
                result = unpack("--convert=aub", "-o", recording, f"{CAPTURES}/{name}")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("what aub cannot hold was left out: buffers: names and extents; ",
                              result.stderr)
                self.assertEqual(self.decoded(recording), self.decoded(f"{CAPTURES}/{name}"))

    def test_a_recording_becomes_a_core_and_a_core_a_hang_dump(self) -> None:
        recording, core = self.path("run.aub"), self.path("run.core")
        capture = f"{CAPTURES}/skl-gl-basic/00.core.zst"
        self.assertEqual(unpack("--convert=aub", "-o", recording, capture).returncode, 0)
        self.assertEqual(unpack("--convert=elf", "-o", core, recording).returncode, 0)
        self.assertEqual(self.decoded(core), self.decoded(capture))
        for form in ("hang-dump", "hang-dump-v1"):
            dump = self.path(form)
            result = unpack(f"--convert={form}", "-o", dump, core)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("the GPU (read it with --gen)", result.stderr)
            self.assertEqual(self.decoded("--gen=skl", dump), self.decoded(capture))

    def test_a_hang_becomes_a_core_with_the_memory_that_was_compressed(self) -> None:
        core = self.path("hang.core")
        hang = "tests/data/hang/skl-gl-basic.error"
        result = unpack("--convert=elf", "-o", core, hang)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("all that the i915 error state has beyond memory and batches", result.stderr)
        names = "--format=names", "--no-offsets", "--filter=3DPRIMITIVE,RENDER_SURFACE_STATE"
        self.assertEqual(unpack(*names, core).stdout, unpack(*names, hang).stdout)
        self.assertIn("RENDER_SURFACE_STATE", unpack("--filter=*SURFACE*", core).stdout)

    def test_page_tables_of_a_recording_are_shown(self) -> None:
        recording = self.path("run.aub")
        capture = f"{CAPTURES}/skl-gl-basic/00.core.zst"
        self.assertEqual(unpack("--convert=aub", "-o", recording, capture).returncode, 0)
        tables = unpack("--page-tables", recording)
        self.assertEqual(tables.returncode, 0, tables.stderr)
        self.assertRegex(tables.stdout,
                         r"context image  engine render, at 0x[0-9a-f]+, page tables of four levels")
        self.assertRegex(tables.stdout, r"0xfffefffee000\.\.0x[0-9a-f]+  0x[0-9a-f]+, pages of 4 KiB")
        images = unpack("--contexts", recording)
        self.assertEqual(images.returncode, 0, images.stderr)
        self.assertIn("RING_BUFFER_TAIL", images.stdout)

    def test_several_dumps_are_for_recordings_of_one_gpu(self) -> None:
        capture = f"{CAPTURES}/skl-gl-basic"
        result = unpack("--convert=elf", "-o", self.path("x"), capture)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--convert=elf takes one dump; only --convert=aub can hold several",
                      result.stderr)
        result = unpack("--convert=aub", "-o", self.path("x"), f"{capture}/00.core.zst",
                        f"{CAPTURES}/tgl-gl-basic/00.core.zst")
        self.assertEqual(result.returncode, 1)
        self.assertIn("is from another GPU than the file before it", result.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_what_cannot_be_converted_leaves_no_file(self) -> None:
        with open(self.path("empty.aub"), "wb") as file:
            file.write(bytes.fromhex("04000ef7 01000000 000c0000 00000000 00000000"))
        result = unpack("--convert=hang-dump", "-o", self.path("x"), self.path("empty.aub"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("the recording has no submission to an engine", result.stderr)
        self.assertIn("a hang dump needs a batch", result.stderr)
        self.assertFalse(os.path.exists(self.path("x")))

    def test_wrong_usage(self) -> None:
        capture = f"{CAPTURES}/skl-gl-basic/00.core.zst"
        for arguments, message in (
                (("--convert=aub",), "--convert needs --output=FILE"),
                (("--convert=aub", "-o", "x", "--hide-zero"), "--convert and --hide-zero"),
                (("--convert=dmp", "-o", "x"), "hang-dump")):
            result = unpack(*arguments, capture)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(message, result.stderr)


if __name__ == "__main__":
    unittest.main()
