#!/usr/bin/python3
"""All programs print the same version, which is defined in one place."""

import re
import subprocess
import sys
import unittest
from pathlib import Path

PROGRAMS = sys.argv[1:]
del sys.argv[1:]
NUMBER = re.compile(r'^\s*(?:VERSION|version) = "([0-9.]+)"', re.MULTILINE)


def written(path: str) -> str:
    found = NUMBER.search(Path(path).read_text(encoding="utf-8"))
    assert found, path
    return found[1]


class VersionTest(unittest.TestCase):
    def test_every_program_says_its_name_and_the_version(self) -> None:
        self.assertGreaterEqual(len(PROGRAMS), 3)
        for program in PROGRAMS:
            done = subprocess.run([program, "--version"], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, program)
            said = re.sub(r" \(descriptions [0-9a-f]{16}\)$", "", done.stdout.rstrip("\n"))
            self.assertEqual(said, f"{Path(program).name} {written('version.bzl')}")
            self.assertEqual(done.stderr, "")

    def test_the_module_says_the_same(self) -> None:
        self.assertEqual(written("MODULE.bazel"), written("version.bzl"))


if __name__ == "__main__":
    unittest.main()
