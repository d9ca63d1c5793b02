#!/usr/bin/python3
"""packsmith/rebuild.h: what programs that have been edited run into."""

import os
import subprocess
import tempfile
import unittest

import headers

CXX = [os.environ.get("CXX", "g++"), "-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror"]
TEXT = """
#include "packsmith/gfx9.h"
#include "packsmith/rebuild.h"
using namespace packsmith::gfx9;
static void fill(packsmith::rebuild::buffer b) {
%s
}
int main(int argc, char** argv) {
  ps_capture capture = {};
  fill(packsmith::rebuild::buffer(ps_add(&capture, 0, 0x1000, 64)));
  ps_add(&capture, 0, %s, 64);
  return ps_main(&capture, argc, argv);
}
"""


class Rebuild(unittest.TestCase):
    """Errors of programs have places, and nothing is written."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.include = headers.collect(self.folder)

    def run_program(self, body: str, other: str = "0x2000",
                    output: str = "made.core") -> subprocess.CompletedProcess[str]:
        source = os.path.join(self.folder, "program.cc")
        with open(source, "w", encoding="utf-8") as file:
            file.write(TEXT % (body, other))
        program = os.path.join(self.folder, "program")
        subprocess.run([*CXX, "-I", self.include, source, "-o", program], check=True)
        return subprocess.run([program, output], cwd=self.folder, capture_output=True, text=True,
                              check=False)

    def test_errors_have_places_and_leave_no_file(self) -> None:
        body = """
          b.put(MI_NOOP{.identification_number = 1u << 22});
          b.put(PIPE_CONTROL{});
          b.at(8);
          b.at(60);
          b.put(PIPE_CONTROL{});
          b.file("missing.bin", 4);
        """
        done = self.run_program(body, "0x1020")
        self.assertEqual(done.returncode, 1)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 5, done.stderr)
        self.assertIn("buffer at 0x1000, offset 0x0: ", lines[0])
        self.assertIn("identification_number", lines[0])
        self.assertIn("what comes before offset 0x8 is 20 bytes too long", lines[1])
        self.assertIn("24 bytes at offset 0x3c exceed its size, 0x40", lines[2])
        self.assertIn("missing.bin: No such file", lines[3])
        self.assertIn("0x1000 and 0x1020 overlap", lines[4])
        self.assertFalse(os.path.exists(os.path.join(self.folder, "made.core")))

    def test_a_folder_that_is_missing_is_an_error(self) -> None:
        done = self.run_program("(void)b;", output="missing/made.core")
        self.assertEqual(done.returncode, 1)
        self.assertIn("missing/made.core: No such file", done.stderr)


if __name__ == "__main__":
    unittest.main()
