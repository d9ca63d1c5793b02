#!/usr/bin/python3
"""The steps of docs/embedding.md: the programs of docs/examples/embedding built without Bazel."""

import os
import re
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, os.path.join(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"],
                                "tests/install"))
import installed  # noqa: E402
from installed import ROOT, folder, install, run  # noqa: E402

DOCS = ROOT / "docs"
EXAMPLES = DOCS / "examples/embedding"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
# Warnings of stricter projects: headers must compile with them.
STRICT = [*WARNINGS, "-Wpedantic", "-Wconversion", "-Wsign-conversion"]
COMMANDS = ("7a000004 00100020 00000000 00000000 00000000 00000000 "
            "10000002 00200008 00000000 0000002a 05000000\n")


class Embedding(installed.TestCase):
    """All tests use one installation, which was moved after it was made."""

    prefix: Path
    flags: dict[str, str]

    @classmethod
    def setUpClass(cls) -> None:
        first = folder() / "first"
        result = install(first)
        assert result.returncode == 0, result.stderr
        cls.prefix = folder() / "moved"
        shutil.move(first, cls.prefix)
        cls.flags = installed.flags(cls.prefix)

    def setUp(self) -> None:
        for tool in ("gcc", "g++", "make", "pkg-config", "cmake", "meson", "ninja"):
            self.assertIsNotNone(shutil.which(tool), f"{tool} is missing: run ./bazelw once")
        self.project = folder() / "project"
        shutil.copytree(EXAMPLES, self.project)

    def expect_programs(self, place: Path) -> None:
        """The three programs do what they should."""
        self.assertEqual(self.good(run([place / "c_driver"])), COMMANDS)
        self.assertEqual(self.good(run([place / "cpp_driver"])), COMMANDS)
        shown = self.good(run([place / "decode_batch"]))
        self.assertIn("MI_STORE_DATA_IMM", shown)
        self.assertRegex(shown, r"Immediate Data +42\n")

    def copy_headers(self, *names: str) -> Path:
        """A folder with these headers and no others."""
        place = self.project / "third_party"
        for name in names:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.prefix / "include" / name, place / name)
        return place

    def test_a_c_driver_needs_two_copied_headers(self) -> None:
        place = self.copy_headers("packsmith/pack.h", "packsmith/c/gfx9_pack.h")
        self.good(run(["gcc", "-std=c11", *WARNINGS, f"-I{place}", "c_driver.c", "-o", "c_driver"],
                      cwd=self.project))
        self.assertEqual(self.good(run([self.project / "c_driver"])), COMMANDS)

    def test_a_cpp_driver_needs_two_copied_headers(self) -> None:
        place = self.copy_headers("packsmith/pack.h", "packsmith/gfx9.h")
        self.good(run(["g++", "-std=c++20", *WARNINGS, f"-I{place}", "cpp_driver.cc",
                       "-o", "cpp_driver"], cwd=self.project))
        self.assertEqual(self.good(run([self.project / "cpp_driver"])), COMMANDS)

    def test_two_headers_side_by_side_do_as_well(self) -> None:
        place = folder()
        for header, compiler, source in (
                ("gfx9.h", ["g++", "-std=c++20"], "cpp_driver.cc"),
                ("c/gfx9_pack.h", ["gcc", "-std=c11"], "c_driver.c")):
            name = Path(header).name
            shutil.copy(self.prefix / "include/packsmith" / header, place)
            shutil.copy(self.prefix / "include/packsmith/pack.h", place)
            text = (EXAMPLES / source).read_text()
            (place / source).write_text(text.replace(f"packsmith/{header}", name))
            self.good(run([*compiler, *WARNINGS, source, "-o", "driver"], cwd=place))
            self.assertEqual(self.good(run([place / "driver"])), COMMANDS)

    def test_one_source_for_several_generations(self) -> None:
        copied = self.copy_headers(*(f"packsmith/{name}" for name in (
            "pack.h", "c/intel_pack.h", "c/gfx45_pack.h", "c/gfx9_pack.h", "c/xe2_pack.h")))
        source = self.project / "source.c"
        source.write_text('#include "packsmith/c/intel_pack.h"\n'
                          "unsigned genX(dwords)(void) { return GENX(3DPRIMITIVE_length); }\n")
        for version in (45, 90, 200):
            for include in (self.prefix / "include", copied):
                self.good(run(["gcc", "-std=c11", *WARNINGS, f"-DGFX_VERx10={version}",
                               f"-I{include}", "-c", source, "-o", os.devnull]))
        beside = folder()
        for header in (copied / "packsmith/c").iterdir():
            shutil.copy(header, beside)
        shutil.copy(copied / "packsmith/pack.h", beside)
        (beside / "source.c").write_text(source.read_text().replace("packsmith/c/", ""))
        self.good(run(["gcc", "-std=c11", *WARNINGS, "-DGFX_VERx10=90", "-c", "source.c", "-o",
                       os.devnull], cwd=beside))

    def test_the_kernel_of_generated_draws_in_opencl_c_and_as_a_function(self) -> None:
        include = self.prefix / "include"
        kernel = include / "packsmith/runtime/intel/generated_draws/kernel.cl"
        for version in (80, 300):
            self.good(run(["clang-14", "-x", "cl", "-cl-std=CL1.2", "-target", "spir64", "-emit-llvm",
                           *WARNINGS, f"-I{include}", f"-DGFX_VERx10={version}", "-c", kernel, "-o",
                           os.devnull]))
        source = self.project / "generate.c"
        source.write_text(
            '#include "packsmith/runtime/intel/generated_draws/generator.h"\n'
            "#include <stdio.h>\n"
            "int main(void) {\n"
            '  printf("%u\\n", packsmith_find_draw_generator("xe3")->slot_dwords(0));\n'
            "}\n")
        self.good(run(["gcc", "-std=c11", *WARNINGS, *self.flags["CFLAGS"].split(), f"-I{include}",
                       source, self.prefix / "lib/libpacksmith.a", "-o", "generate"],
                      cwd=self.project))
        self.assertEqual(self.good(run([self.project / "generate"])), "10\n")

    def test_make_with_pkg_config(self) -> None:
        self.good(run(["make", f"-j{os.cpu_count()}"], cwd=self.project, **self.flags,
                      PKG_CONFIG_PATH=f"{self.prefix}/lib/pkgconfig"))
        self.expect_programs(self.project)

    def test_the_shortest_driver_on_the_runtime(self) -> None:
        flags = self.good(run(["pkg-config", "--cflags", "--libs", "packsmith"],
                              PKG_CONFIG_PATH=f"{self.prefix}/lib/pkgconfig")).split()
        self.good(run(["g++", "-std=c++20", *STRICT, *self.flags["CXXFLAGS"].split(),
                       DOCS / "examples/frame/shortest.cc", *flags, "-o", "shortest"],
                      cwd=self.project))
        self.good(run(["./shortest", "job-"], cwd=self.project))
        shown = self.good(run([self.prefix / "bin/unpack", "job-000001.core", "--fail-on=fault"],
                              cwd=self.project))
        self.assertRegex(shown, r"Address +0x[0-9a-f]+  in answer")

    def test_headers_alone_need_no_library_for_pkg_config(self) -> None:
        where = f"{self.prefix}/lib/pkgconfig"
        command = ["pkg-config", "--cflags", "--libs", "packsmith-headers"]
        only_ours = {"PKG_CONFIG_LIBDIR": where}
        self.assertRegex(self.good(run(command, **only_ours)).strip(), r"^-I\S+$")

    def test_cmake(self) -> None:
        self.good(run(["cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={self.prefix}"],
                      cwd=self.project, **self.flags))
        self.good(run(["cmake", "--build", "build", "-j", str(os.cpu_count())], cwd=self.project))
        self.expect_programs(self.project / "build")

    def test_cmake_for_a_project_in_c_alone_needs_no_abseil(self) -> None:
        (self.project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\n"
            "project(alone LANGUAGES C)\n"
            "find_package(packsmith 0.1 REQUIRED COMPONENTS pack)\n"
            "add_executable(c_driver c_driver.c)\n"
            "target_link_libraries(c_driver PRIVATE packsmith::pack)\n")
        self.good(run(["cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                       "-DCMAKE_DISABLE_FIND_PACKAGE_absl=ON"], cwd=self.project))
        self.good(run(["cmake", "--build", "build"], cwd=self.project))
        self.assertEqual(self.good(run([self.project / "build/c_driver"])), COMMANDS)

    def test_cmake_says_which_libraries_are_missing(self) -> None:
        for package in ("absl", "PkgConfig"):
            result = run(["cmake", "-S", ".", "-B", package,
                          f"-DCMAKE_PREFIX_PATH={self.prefix}",
                          f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON"], cwd=self.project)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn("packsmith::runtime needs libraries", " ".join(result.stderr.split()))

    def test_cmake_refuses_other_versions_and_components(self) -> None:
        for wanted in ("0.2 REQUIRED", "1.0 REQUIRED", "REQUIRED COMPONENTS paint"):
            (self.project / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.22)\n"
                "project(refused LANGUAGES C)\n"
                f"find_package(packsmith {wanted})\n")
            result = run(["cmake", "-S", ".", "-B", "build",
                          f"-DCMAKE_PREFIX_PATH={self.prefix}"], cwd=self.project)
            self.assertNotEqual(result.returncode, 0, wanted)
            self.assertIn("packsmith", result.stderr)

    def test_meson(self) -> None:
        self.good(run(["meson", "setup", "build"], cwd=self.project, **self.flags,
                      PKG_CONFIG_PATH=f"{self.prefix}/lib/pkgconfig"))
        self.good(run(["meson", "compile", "-C", "build"], cwd=self.project))
        self.expect_programs(self.project / "build")

    def test_all_installed_headers_compile_in_one_file(self) -> None:
        include = self.prefix / "include"
        names = [str(path.relative_to(include)) for path in sorted(include.rglob("*.h"))
                 if "/c/" not in str(path)]
        source = self.project / "all.cc"
        source.write_text("".join(f'#include "{name}"\n' for name in names))
        result = run(["g++", "-std=c++20", *STRICT, "-fsyntax-only", f"-I{include}", source])
        self.good(result)
        self.assertEqual(result.stderr, "")


class Page(installed.TestCase):
    """Files that docs/embedding.md shows are those that the tests above have built."""

    # A paragraph that links to the file and ends with a colon, and the block below it.
    SHOWN = re.compile(r"\]\((?P<path>[^()\n]+)\)(?:(?!\n\n).)*:\n\n```\w+\n(?P<text>.*?)^```$",
                       re.MULTILINE | re.DOTALL)

    def test_what_the_page_shows_of_a_file_is_in_the_file(self) -> None:
        page = (DOCS / "embedding.md").read_text(encoding="utf-8")
        shown = {match["path"] for match in self.SHOWN.finditer(page)}
        self.assertIn("../tests/outside/WORKSPACE", shown)
        for match in self.SHOWN.finditer(page):
            content = (DOCS / match["path"]).read_text(encoding="utf-8")
            self.assertIn(match["text"], content, match["path"])
            # Programs are shown in part, the few lines for a build system as a whole.
            if not match["path"].endswith((".c", ".cc", "BUILD", "WORKSPACE")):
                self.assertEqual(match["text"], content, match["path"])
        for path in sorted(EXAMPLES.iterdir()):
            self.assertIn(f"examples/embedding/{path.name}", shown)


if __name__ == "__main__":
    unittest.main()
