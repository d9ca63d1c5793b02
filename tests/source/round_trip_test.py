#!/usr/bin/python3
"""Programs of unpack --format=cpp and --format=c, compiled and run: they make the captures again.

    round_trip_test.py UNPACK [--every | FILE...]

With --every, all committed captures in both languages; with files, these; otherwise a few of the
committed captures. `--include=DIR` is the folder of the headers for files.
"""

import glob
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from typing import Any

UNPACK = os.path.abspath(sys.argv.pop(1))
CPP = [os.environ.get("CXX", "g++"), "-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror"]
C = [os.environ.get("CC", "gcc"), "-std=c11", "-O0", "-Wall", "-Wextra", "-Werror",
     "-Wno-override-init", "-Wno-initializer-overrides", "-Wno-missing-field-initializers",
     "-Wno-missing-braces", "-Wno-unused-function"]

# Of each family of generations one, the small ones: (capture, languages).
CAPTURES = [
    ("tests/data/captures/i965-gl-basic/00.core.zst", ("cpp",)),
    ("tests/data/captures/ilk-gl-basic/00.core.zst", ("c",)),
    ("tests/data/captures/snb-gl-basic/00.core.zst", ("cpp",)),
    ("tests/data/captures/ivb-gl-basic/00.core.zst", ("c",)),
    ("tests/data/captures/hsw-vk-compute/01.core.zst", ("cpp",)),
    ("tests/data/captures/bdw-vk-compute/01.core.zst", ("c",)),
    ("tests/data/captures/skl-gl-basic/00.core.zst", ("c",)),
    ("tests/data/captures/skl-gl-basic/02.core.zst", ("cpp", "c")),
    ("tests/data/captures/icl-gl-basic/02.core.zst", ("cpp",)),
    ("tests/data/captures/tgl-gl-basic/02.core.zst", ("c",)),
    ("tests/data/captures/dg2-gl-compute/02.core.zst", ("cpp",)),
    ("tests/agx/data/frame.core", ("cpp", "c")),
]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def core(path: str) -> tuple[dict[tuple[int, int], tuple[int, bytes]], list[Any]]:
    """A core's memory, by space and address: the size, and the bytes without zeros at the end; and
    its notes."""
    with open(path, "rb") as file:
        data = file.read()
    offset, = struct.unpack_from("<Q", data, 32)
    count, = struct.unpack_from("<H", data, 56)
    memory: dict[tuple[int, int], tuple[int, bytes]] = {}
    notes: list[Any] = []
    for i in range(count):
        kind, _, at, address, space, stored, size, _ = struct.unpack_from(
            "<IIQQQQQQ", data, offset + i * 56)
        if kind == 1:
            memory[space, address] = (size, data[at:at + stored].rstrip(b"\0"))
            continue
        end = at + stored
        while at < end:
            name, length, note = struct.unpack_from("<III", data, at)
            at += 12 + (name + 3) // 4 * 4
            notes.append((note, json.loads(data[at:at + length])))
            at += (length + 3) // 4 * 4
    return memory, notes


# Bazel runs parts of a large test beside each other.
SHARD, SHARDS = (int(os.environ.get(name, default)) for name, default in (
    ("TEST_SHARD_INDEX", "0"), ("TEST_TOTAL_SHARDS", "1")))
only_once = unittest.skipIf(SHARD != 0, "the first part of the test does this")


class RoundTrip(unittest.TestCase):
    """Every capture comes back."""

    include = ""

    def again(self, path: str, language: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "program." + ("cc" if language == "cpp" else "c"))
            program, made = os.path.join(folder, "program"), os.path.join(folder, "made.core")
            written = run(UNPACK, f"--format={language}", "-o", source, path)
            self.assertEqual((written.returncode, written.stderr), (0, ""))
            compiled = run(*(CPP if language == "cpp" else C), "-I", self.include, source, "-o",
                           program)
            self.assertEqual(compiled.returncode, 0, compiled.stderr[:4000])
            done = run(program, made)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            before = os.path.join(folder, "before.core")
            self.assertEqual(run(UNPACK, "--convert=elf", "-o", before, path).returncode, 0)
            memory, notes = core(made)
            expected, expected_notes = core(before)
            self.assertEqual(memory.keys(), expected.keys())
            for place, content in expected.items():
                self.assertTrue(memory[place] == content, f"{place[0]}, 0x{place[1]:x}")
            self.assertEqual(notes, expected_notes)
            # A program is of packets, not of numbers.
            if language == "cpp":
                with open(source, encoding="utf-8") as file:
                    text = file.read()
                records = [json.loads(line) for line in run(
                    UNPACK, "--format=jsonl", path).stdout.splitlines()]
                packets = len({record["address"] for record in records
                               if record["type"] == "packet"})
                self.assertGreaterEqual(text.count("b.put"), packets)

    def test_captures_come_back_from_their_programs(self) -> None:
        if status := os.environ.get("TEST_SHARD_STATUS_FILE"):
            with open(status, "w", encoding="utf-8"):
                pass
        for path, languages in CAPTURES[SHARD::SHARDS]:
            for language in languages:
                with self.subTest(path, language=language):
                    self.again(path, language)

    @only_once
    def test_large_memory_may_be_in_files(self) -> None:
        path = "tests/data/captures/ivb-gl-basic/02.core.zst"
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "program.cc")
            written = run(UNPACK, "--format=c", "--data=" + os.path.join(folder, "data"), "-o",
                          source, path)
            self.assertEqual((written.returncode, written.stderr), (0, ""))
            with open(source, encoding="utf-8") as file:
                text = file.read()
            files = sorted(os.listdir(os.path.join(folder, "data")))
            self.assertTrue(files)
            for name in files:
                size = os.path.getsize(os.path.join(folder, "data", name))
                self.assertIn(f'ps_file(b, "{name}", {size});', text)

    @only_once
    def test_options_that_do_not_apply_are_refused(self) -> None:
        path = CAPTURES[0][0]
        for arguments in (["--format=cpp", "--draws"], ["--format=text", "--data=/tmp"],
                          ["--format=c", "--hide-zero"]):
            with self.subTest(arguments):
                refused = run(UNPACK, *arguments, path)
                self.assertEqual(refused.returncode, 2)
                self.assertIn("--", refused.stderr)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as include_folder:
        if "--every" in sys.argv:
            sys.argv.remove("--every")
            every = sorted(glob.glob("tests/data/captures/*/*.core.zst") +
                           glob.glob("tests/agx/data/*.core"))
            assert len(every) > 50, every
            CAPTURES = [(path, ("cpp", "c")) for path in every]
        given = [one.removeprefix("--include=") for one in sys.argv[1:]
                 if one.startswith("--include=")]
        if given:
            RoundTrip.include = given[0]
            CAPTURES = [(one, ("cpp", "c")) for one in sys.argv[1:] if not one.startswith("--")]
            del sys.argv[1:]
        else:
            import headers
            RoundTrip.include = headers.collect(include_folder)
        unittest.main()
