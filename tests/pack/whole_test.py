#!/usr/bin/python3
"""pack.h is one file that can be copied anywhere; its parts compile by themselves, too."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ["TEST_SRCDIR"]) / os.environ["TEST_WORKSPACE"]
PACK = ROOT / "runtime/pack"
sys.path.insert(0, str(PACK))
import join_parts  # noqa: E402 (found by the line above)

WARNINGS = ["-Wall", "-Wextra", "-Werror"]
CPP = (["g++", "-std=c++20"], ["g++", "-std=c++20", "-O2"], ["clang++-14", "-std=c++20"])
C = (["gcc", "-std=c11", "-pedantic"], ["clang-14", "-std=c11"], ["g++", "-DPACKSMITH_WANT_C"])
OPENCL = ["clang-14", "-x", "cl", "-cl-std=CL1.2", "-target", "spir64", "-emit-llvm"]


class Whole(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.folder)

    def expect_clean(self, command: list[str], name: str, text: str, include: Path) -> None:
        source = self.folder / name
        source.write_text(text, encoding="utf-8")
        with self.subTest(command=command, text=text):
            done = subprocess.run(
                [*command, *WARNINGS, f"-I{include}", "-c", str(source), "-o", os.devnull],
                capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr[:4000]), (0, ""))

    def test_pack_h_compiles_alone(self) -> None:
        shutil.copy(PACK / "pack.h", self.folder)
        for command in CPP:
            self.expect_clean(command, "alone.cc", '#include "pack.h"\n#include "pack.h"\n'
                              "static_assert(packsmith::address(1).gpu == 1);\n", self.folder)
        for command in C:
            self.expect_clean(command, "alone.c", '#include "pack.h"\n#include "pack.h"\n'
                              "uint64_t f(void);\nuint64_t f(void) { return ps_mask(3); }\n",
                              self.folder)
        self.expect_clean(OPENCL, "alone.cl", '#include "pack.h"\n', self.folder)

    def test_pack_h_includes_nothing_of_packsmith(self) -> None:
        text = (PACK / "pack.h").read_text(encoding="utf-8")
        self.assertTrue(text.startswith("// packsmith/pack.h: "), text[:80])
        self.assertEqual(re.findall(r'^#include ".*"$', text, re.MULTILINE), [])

    def test_each_part_compiles_alone_and_beside_the_whole(self) -> None:
        parts = [path.relative_to(PACK) for path in PACK.rglob("*.h")
                 if path.name not in ("pack.h", "names.h", "relations.h")]
        self.assertGreater(len(parts), 4)
        for part in parts:
            command = C[0] if part.parts[0] == "c" else CPP[0]
            suffix = "c" if part.parts[0] == "c" else "cc"
            include = f'#include "runtime/pack/{part}"\n'
            self.expect_clean(command, f"part.{suffix}", include, ROOT)
            self.expect_clean(command, f"both.{suffix}", include + '#include "runtime/pack/pack.h"\n',
                              ROOT)

    def test_a_part_before_what_it_includes_is_refused(self) -> None:
        core = ("core.h", "// Top.\n\n#ifndef A\n#endif\n")
        kinds = ("kinds.h", '#ifndef B\n#include "runtime/pack/core.h"\n#endif\n')
        self.assertIn("#ifndef B\n#endif", join_parts.join([core, kinds]))
        with self.assertRaisesRegex(ValueError, "kinds.h comes before core.h"):
            join_parts.join([kinds, core])


if __name__ == "__main__":
    unittest.main()
