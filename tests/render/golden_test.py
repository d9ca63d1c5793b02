#!/usr/bin/python3
"""Compares the headers that are made of golden.xml with those in golden/.

golden_test.py --refresh, which is what `./bazelw run //tests/render:refresh` runs, makes what is
generated now the new goldens.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path("tests/render")
# Golden, and what the build makes.
HEADERS = {
    "golden.h": "golden_cpp/packsmith/golden.h",
    "golden_names.h": "golden_cpp/packsmith/golden_names.h",
    "golden_relations.h": "golden_cpp/packsmith/golden_relations.h",
    "golden_codes.h": "golden_cpp/packsmith/golden_codes.h",
    "c/golden_codes.h": "golden_c/packsmith/c/golden_codes.h",
    "c/golden_pack.h": "golden_c/packsmith/c/golden_pack.h",
    "c/golden_bits.h": "golden_c/packsmith/c/golden_bits.h",
}
REMEDY = """
The generated headers changed. If they are meant to, make them the new goldens, and review the diff:
    ./bazelw run //tests/render:refresh
"""
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-O1"]


def worked_example(header: str, comment: str) -> tuple[str, str]:
    """The code in a header's first comment: (#include lines, statements)."""
    lines = []
    for line in header.split("\n"):
        if line.startswith(("#ifndef", " * Per type", " * Per record")):
            break
        if line.startswith(comment + "   "):
            lines.append(line[len(comment):].strip())
    includes = [line for line in lines if line.startswith("#include")]
    return "\n".join(includes), "\n".join(line for line in lines if line not in includes)


class GoldenTest(unittest.TestCase):
    def test_headers_are_the_golden_ones(self) -> None:
        for golden, generated in HEADERS.items():
            with self.subTest(golden):
                old = (HERE / "golden" / golden).read_text(encoding="utf-8")
                new = (HERE / generated).read_text(encoding="utf-8")
                diff = "".join(difflib.unified_diff(
                    old.splitlines(keepends=True), new.splitlines(keepends=True),
                    f"tests/render/golden/{golden}", "generated"))
                if diff:
                    self.fail("\n" + diff + REMEDY)

    def test_every_golden_is_generated(self) -> None:
        found = {path.relative_to(HERE / "golden").as_posix()
                 for path in (HERE / "golden").rglob("*") if not path.is_dir()}
        self.assertEqual(found, set(HEADERS))

    def test_lines_have_at_most_100_columns(self) -> None:
        for generated in HEADERS.values():
            for number, line in enumerate((HERE / generated).read_text("utf-8").split("\n"), 1):
                self.assertLessEqual(len(line), 100, f"{generated}:{number}: {line}")
                self.assertEqual(line, line.rstrip(), f"{generated}:{number}")


    def test_members_say_the_place_that_ps_layout_has(self) -> None:
        compared = 0
        header = (HERE / HEADERS["golden.h"]).read_text("utf-8")
        for struct in re.findall(r"^struct \w+ \{\n.*?^\};$", header, re.MULTILINE | re.DOTALL):
            shown = {name: (int(bit), int(width)) for name, bit, width in re.findall(
                r"ps_v\.\w+\(ps_p\.(\w+), (\d+), (\d+),", struct)}
            for name, word, high, low in re.findall(
                    r"^  [\w:]+ (\w+) = .*;  // DW(\d+) (?:(\d+):)?(\d+)$", struct, re.MULTILINE):
                if name in shown:
                    place = 32 * int(word) + int(low), int(high or low) - int(low) + 1
                    self.assertEqual(shown[name], place, f"{name} in {struct[:40]}")
                    compared += 1
        self.assertGreater(compared, 25)

    def test_arrays_say_the_distance_of_their_elements(self) -> None:
        header = (HERE / HEADERS["golden.h"]).read_text("utf-8")
        for line in ("float half[2] = {};  // DW1 15:0, then every 16 bits",
                     "bool enable[32] = {};  // DW18 0, then every bit",
                     "target_item target[2] = {};  // DW19 63:0, then every 64 bits"):
            self.assertIn(f"  {line}\n", header)


class ExampleTest(unittest.TestCase):
    """What a header shows in its first comment does what it says."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        include = self.folder / "include/packsmith"
        (include / "c").mkdir(parents=True)
        for name in ("pack.h", "names.h"):
            shutil.copy(Path("runtime/pack") / name, include / name)
        for generated in HEADERS.values():
            shutil.copy(HERE / generated, self.folder / "include" / generated.split("/", 1)[1])
        shutil.copy("tests/pack/m1_c/packsmith/c/m1_pack.h", include / "c")
        shutil.copy("tests/pack/m1_cpp/packsmith/m1.h", include)
        self.addCleanup(shutil.rmtree, self.folder)

    def run_example(self, compiler: list[str], name: str, text: str) -> None:
        """Compiles a program that must exit with 0."""
        (self.folder / name).write_text(text, encoding="utf-8")
        made = subprocess.run(
            [*compiler, *WARNINGS, "-Iinclude", "-o", "program", name], cwd=self.folder,
            capture_output=True, text=True, check=False)
        self.assertEqual(made.returncode, 0, text + made.stderr)
        done = subprocess.run([self.folder / "program"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, text + done.stderr)

    def test_the_cpp_example_packs_and_unpacks(self) -> None:
        for generation in ("golden", "m1"):
            header = (self.folder / f"include/packsmith/{generation}.h").read_text("utf-8")
            includes, statements = worked_example(header, "//")
            self.assertIn("using namespace", statements)
            self.assertIn("packed(", statements)
            statements = statements.replace("if (packsmith", "int wrong = 0;\nif (packsmith")
            statements = statements.replace("nothing was written\n}", "\nwrong = 1;\n}")
            self.run_example(["g++", "-std=c++20"], "example.cc",
                             f"{includes}\nint main() {{\n{statements}\n(void)fixed;\n"
                             "return wrong;\n}\n")

    def test_the_c_example_packs(self) -> None:
        for generation in ("golden", "m1"):
            header = (self.folder / f"include/packsmith/c/{generation}_pack.h").read_text("utf-8")
            includes, statements = worked_example(header, " *")
            self.assertIn("_pack(", statements)
            self.run_example(["gcc", "-std=c11"], "example.c",
                             f"#include <stddef.h>\n{includes}\n"
                             f"int main(void) {{\n{statements}\nreturn 0;\n}}\n")


def refresh() -> int:
    """Makes what is generated now the new goldens."""
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if not workspace:
        print("run me as: ./bazelw run //tests/render:refresh", file=sys.stderr)
        return 2
    for golden, generated in HEADERS.items():
        target = Path(workspace) / HERE / "golden" / golden
        new = (HERE / generated).read_bytes()
        if target.is_file() and target.read_bytes() == new:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(new)
        print(f"wrote {target.relative_to(workspace)}")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--refresh"]:
        sys.exit(refresh())
    unittest.main()
