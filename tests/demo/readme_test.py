#!/usr/bin/python3
"""What README.md shows of unpack is what unpack prints, line for line and in that order; the C++ is
an example's that is compiled."""

import pathlib
import re
import shlex
import subprocess
import sys
import unittest

README, UNPACK, EXAMPLE = (pathlib.Path(argument) for argument in sys.argv[1:4])


class ReadmeTest(unittest.TestCase):
    def setUp(self) -> None:
        self.blocks = re.findall(r"^```(\w*)\n(.*?)^```$", README.read_text(encoding="utf-8"),
                                 re.MULTILINE | re.DOTALL)

    def test_what_it_shows_of_unpack_is_printed(self) -> None:
        shown = [body for _, body in self.blocks if body.startswith("$ unpack ")]
        self.assertEqual(len(shown), 2)
        for body in shown:
            command, *lines = body.splitlines()
            with self.subTest(command=command):
                done = subprocess.run([str(UNPACK), *shlex.split(command)[2:]], capture_output=True,
                                      text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                printed = iter(done.stdout.splitlines())
                for line in lines:
                    self.assertIn(line, printed, "not printed, or not in this order")

    def test_its_cpp_is_that_of_an_example(self) -> None:
        shown = [body for language, body in self.blocks if language == "cpp"]
        self.assertEqual(len(shown), 1)
        compiled = [line.strip() for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]
        for line in filter(None, map(str.strip, shown[0].splitlines())):
            self.assertIn(line, compiled)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
