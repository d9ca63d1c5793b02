#!/usr/bin/python3
"""The program that docs/sim.md shows prints the vertices of a draw of a real capture."""

import os
import subprocess
import sys
import unittest

PROGRAM, DUMP = (os.path.abspath(path) for path in sys.argv[1:3])


class Example(unittest.TestCase):

    def run_it(self, draw: int) -> subprocess.CompletedProcess:
        return subprocess.run([PROGRAM, DUMP, str(draw)], capture_output=True, check=False)

    def test_the_vertices_of_a_draw(self) -> None:
        done = self.run_it(12)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout.decode().splitlines(),
                         ["vertex 0: -0.5 -0.5 0.1 1 0 0 0 1", "vertex 1: 0.5 -0.5 0.2 1 1 0 0 1",
                          "vertex 2: 0.5 0.5 0.3 1 1 1 0 1", "vertex 3: -0.5 0.5 0.4 1 0 1 0 1"])

    def test_a_draw_that_is_not_there(self) -> None:
        done = self.run_it(1000)
        self.assertEqual((done.returncode, done.stdout), (1, b""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
