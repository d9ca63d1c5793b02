#!/usr/bin/python3
"""Generated headers alone, in every language and compiler that they support; and what must not compile."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ["TEST_SRCDIR"]) / os.environ["TEST_WORKSPACE"]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
# The directory of each generation's headers.
INTEL = {path.name.removesuffix("_cpp"): path.parent for path in ROOT.glob("xml/intel/*_cpp")}
ALL = {"kinds": ROOT / "tests/pack", "m1": ROOT / "tests/pack", **INTEL}
# Those with which everything is tried.
GENERATIONS = {name: ALL[name] for name in ("kinds", "m1", "gfx9")}
COMPILERS = {"gcc": "g++", "clang-14": "clang++-14"}
C_DEFINES = ([], ["-DNDEBUG"], ["-DPACKSMITH_REPACK", "-DPACKSMITH_PREFIXED_VALUES"])


class Compile(unittest.TestCase):
    """One temporary folder with the headers as a user has them."""

    def setUp(self) -> None:
        for compiler in [*COMPILERS, *COMPILERS.values()]:
            self.assertIsNotNone(shutil.which(compiler), f"{compiler} is missing: run ./bazelw once")
        self.folder = Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        include = self.folder / "include/packsmith/c"
        include.mkdir(parents=True)
        for name in ("pack.h", "names.h", "relations.h"):
            shutil.copy(ROOT / "runtime/pack" / name, include.parent)
        for generation, place in ALL.items():
            for name in (f"{generation}.h", f"{generation}_names.h", f"{generation}_relations.h",
                         f"{generation}_codes.h"):
                shutil.copy(place / f"{generation}_cpp/packsmith" / name, include.parent)
            for name in (f"{generation}_pack.h", f"{generation}_bits.h", f"{generation}_codes.h"):
                shutil.copy(place / f"{generation}_c/packsmith/c" / name, include)

    def compile(self, command: list[str], name: str, text: str,
                paths: tuple[str, ...] = ("include",)) -> subprocess.CompletedProcess[str]:
        source = self.folder / name
        source.write_text(text, encoding="utf-8")
        flags = [f"-I{self.folder / path}" for path in paths]
        return subprocess.run([*command, *flags, "-c", str(source), "-o", os.devnull],
                              capture_output=True, text=True, check=False)

    def expect_clean(self, command: list[str], name: str, text: str, **kwargs) -> None:
        with self.subTest(command=command, text=text):
            result = self.compile(command, name, text, **kwargs)
            self.assertEqual(result.returncode, 0, result.stderr[:4000])
            self.assertEqual(result.stderr, "")

    def test_c_headers_compile_alone_as_c11(self) -> None:
        for compiler in COMPILERS:
            for generation in GENERATIONS:
                for defines in C_DEFINES:
                    self.expect_clean([compiler, "-std=c11", "-pedantic", *WARNINGS, *defines], "c.c",
                                      f'#include "packsmith/c/{generation}_pack.h"\n')

    def test_headers_of_every_generation_compile_alone_and_together(self) -> None:
        self.assertGreater(len(INTEL), 12)
        for generation in INTEL:
            self.expect_clean(["gcc", "-std=c11", "-pedantic", *WARNINGS], "c.c",
                              f'#include "packsmith/c/{generation}_pack.h"\n')
        every = "".join(f'#include "packsmith/c/{generation}_pack.h"\n' for generation in INTEL)
        self.expect_clean(["clang-14", "-std=c11", *WARNINGS, "-DPACKSMITH_PREFIXED_VALUES"], "c.c",
                          every)
        names = "".join(f'#include "packsmith/{generation}_names.h"\n' for generation in INTEL)
        for compiler in COMPILERS.values():
            self.expect_clean([compiler, "-std=c++20", *WARNINGS], "cpp.cc", names)

    def test_codes_of_every_generation_have_names_in_every_language(self) -> None:
        codes = "".join(f'#include "packsmith/c/{generation}_codes.h"\n' for generation in INTEL)
        unorm = "GFX9_SURFACE_FORMAT_R8G8B8A8_UNORM == 0xc7"
        for compiler in COMPILERS:
            self.expect_clean([compiler, "-std=c11", "-pedantic", *WARNINGS], "codes.c",
                              codes + f'_Static_assert({unorm}, "");\n')
        self.expect_clean(["clang-14", "-x", "cl", "-cl-std=CL1.2", *WARNINGS], "codes.cl", codes)
        names = "".join(f'#include "packsmith/{generation}_codes.h"\n' for generation in INTEL)
        for compiler in COMPILERS.values():
            self.expect_clean(
                [compiler, "-std=c++20", *WARNINGS], "codes.cc",
                codes + names + '#include "packsmith/gfx9.h"\n'
                f"static_assert({unorm});\n"
                "using namespace packsmith::gfx9;\n"
                "constexpr VERTEX_ELEMENT_STATE v = {\n"
                "    .source_element_format = SURFACE_FORMAT::R32G32B32_FLOAT};\n"
                "static_assert(v.source_element_format == 0x40);\n")

    def test_c_has_the_members_that_users_of_genxml_set_though_they_lie_beyond_the_length(self) -> None:
        self.expect_clean(
            ["gcc", "-std=c11", *WARNINGS], "beyond.c",
            '#include "packsmith/c/gfx9_pack.h"\n'
            "void f(uint32_t *dw) {\n"
            "  struct GFX9_MI_STORE_DATA_INDEX a = {GFX9_MI_STORE_DATA_INDEX_header, .DataDWord1 = 1};\n"
            "  struct GFX9_MFC_AVC_PAK_OBJECT b = {.VDEncModeInlineData = {1, [11] = 2}};\n"
            "  struct GFX9_MFX_PIPE_BUF_ADDR_STATE c = {.SliceSizeStreamOutDataDestinationAddress = 0};\n"
            "  (void)b; (void)c;\n"
            "  GFX9_MI_STORE_DATA_INDEX_pack(0, dw, &a);\n"
            "}\n")

    def test_c_headers_compile_alone_as_cpp(self) -> None:
        for compiler in COMPILERS.values():
            for generation in GENERATIONS:
                for standard in ("-std=c++17", "-std=c++20"):
                    self.expect_clean([compiler, standard, *WARNINGS], "c.cc",
                                      f'#include "packsmith/c/{generation}_pack.h"\n')

    def test_c_headers_compile_as_opencl_c(self) -> None:
        for generation in GENERATIONS:
            for standard in ("CL1.2", "CL2.0", "CL3.0"):
                self.expect_clean(
                    ["clang-14", "-x", "cl", f"-cl-std={standard}", "-target", "spir64",
                     "-emit-llvm", "-DPACKSMITH_REPACK", *WARNINGS], "c.cl",
                    f'#include "packsmith/c/{generation}_pack.h"\n')

    def test_an_opencl_kernel_packs_into_global_memory(self) -> None:
        self.expect_clean(
            ["clang-14", "-x", "cl", "-cl-std=CL1.2", "-target", "spir64", "-emit-llvm", *WARNINGS],
            "kernel.cl",
            '#include "packsmith/c/kinds_pack.h"\n'
            "kernel void k(global uint *out) {\n"
            "  struct KINDS_POINTERS v = { KINDS_POINTERS_header };\n"
            "  v.Base = 0x1000;\n"
            "  KINDS_POINTERS_pack(out, &v);\n"
            "}\n")

    def test_positions_come_twice_without_harm(self) -> None:
        for generation in GENERATIONS:
            self.expect_clean(["gcc", "-std=c11", *WARNINGS], "c.c",
                              f'#include "packsmith/c/{generation}_bits.h"\n'
                              f'#include "packsmith/c/{generation}_pack.h"\n'
                              f'#include "packsmith/c/{generation}_bits.h"\n')

    def test_two_generations_share_a_file_when_values_are_prefixed(self) -> None:
        self.expect_clean(["gcc", "-std=c11", "-DPACKSMITH_PREFIXED_VALUES", *WARNINGS], "c.c",
                          '#include "packsmith/c/gfx9_pack.h"\n#include "packsmith/c/m1_pack.h"\n'
                          '#include "packsmith/c/kinds_pack.h"\n')

    def test_c_and_cpp_headers_share_a_file_in_either_order(self) -> None:
        cpp = '#include "packsmith/gfx9.h"\n'
        c = '#include "packsmith/c/gfx9_pack.h"\n'
        self.expect_clean(["g++", "-std=c++20", *WARNINGS], "both.cc", cpp + c)
        prefixed = "#define PACKSMITH_PREFIXED_VALUES\n"
        self.expect_clean(["g++", "-std=c++20", *WARNINGS], "both.cc", prefixed + c + cpp)

    def test_agx_style_block_packs_at_its_end(self) -> None:
        self.expect_clean(["gcc", "-std=c11", *WARNINGS], "block.c",
                          '#include "packsmith/c/m1_pack.h"\n'
                          "void f(unsigned char *to);\n"
                          "void f(unsigned char *to) { m1_pack(to, " + self.an_m1_struct() +
                          ", cfg) { (void)cfg; } }\n")

    def test_agx_style_block_gives_cpp_no_warnings(self) -> None:
        for compiler in COMPILERS.values():
            for standard in ("-std=c++17", "-std=c++20"):
                self.expect_clean([compiler, standard, *WARNINGS], "block.cc",
                                  '#include "packsmith/c/m1_pack.h"\n'
                                  "void f(unsigned char *to);\n"
                                  "void f(unsigned char *to) {\n" + "".join(
                                      f"  m1_pack(to, {name}, cfg) {{ (void)cfg; }}\n"
                                      for name in self.m1_records()) + "}\n")

    @staticmethod
    def m1_records() -> list[str]:
        text = (GENERATIONS["m1"] / "m1_c/packsmith/c/m1_pack.h").read_text(encoding="utf-8")
        names = re.findall(r"^#define M1_(\w+)_LENGTH ", text, re.MULTILINE)
        assert len(names) > 5
        return names

    @staticmethod
    def an_m1_struct() -> str:
        text = (GENERATIONS["m1"] / "m1_c/packsmith/c/m1_pack.h").read_text(encoding="utf-8")
        at = text.index("#define M1_", text.index("_LENGTH ") - 100)
        return text[at:].split("_LENGTH")[0].split("#define M1_")[1]

    def test_cpp_headers_compile_alone(self) -> None:
        for compiler in COMPILERS.values():
            for generation in GENERATIONS:
                self.expect_clean([compiler, "-std=c++20", "-pedantic", "-Wshadow", *WARNINGS],
                                  "h.cc", f'#include "packsmith/{generation}.h"\n')
                self.expect_clean([compiler, "-std=c++20", *WARNINGS], "n.cc",
                                  f'#include "packsmith/{generation}_names.h"\n')
                self.expect_clean([compiler, "-std=c++20", *WARNINGS], "r.cc",
                                  f'#include "packsmith/{generation}_relations.h"\n')

    def test_headers_find_pack_h_beside_them(self) -> None:
        flat = self.folder / "flat"
        flat.mkdir()
        for name in ("pack.h", "kinds.h", "c/kinds_pack.h"):
            shutil.copy(self.folder / "include/packsmith" / name, flat)
        self.expect_clean(["g++", "-std=c++20", *WARNINGS], "flat.cc", '#include "kinds.h"\n',
                          paths=("flat",))
        self.expect_clean(["gcc", "-std=c11", *WARNINGS], "flat.c", '#include "kinds_pack.h"\n',
                          paths=("flat",))

    def test_optimised_code_has_no_warnings(self) -> None:
        use = ('#include "packsmith/gfx9.h"\n'
               "packsmith::error f(const packsmith::gfx9::_3DSTATE_VS& p, uint32_t* d);\n"
               "packsmith::error f(const packsmith::gfx9::_3DSTATE_VS& p, uint32_t* d) {\n"
               "  return p.pack(d);\n}\n")
        for compiler in COMPILERS.values():
            self.expect_clean([compiler, "-std=c++20", "-O2", *WARNINGS], "o.cc", use)

    def test_a_constant_that_does_not_fit_is_a_compile_error_at_its_line(self) -> None:
        text = ('#include "packsmith/kinds.h"\n'
                "using namespace packsmith::kinds;\n"
                "constexpr auto good = packed(INTEGERS{.small = 15});\n"
                "constexpr auto bad = packed(INTEGERS{.small = 16});\n")
        for compiler in COMPILERS.values():
            with self.subTest(compiler=compiler):
                result = self.compile([compiler, "-std=c++20"], "bad.cc", text)
                self.assertNotEqual(result.returncode, 0)
                self.assertIn("value_does_not_fit", result.stderr)
                self.assertIn("bad.cc:4:", result.stderr)
                self.assertNotIn("bad.cc:3:", result.stderr)

    def test_an_error_that_is_dropped_is_a_warning(self) -> None:
        integers = "packsmith::kinds::INTEGERS{}"
        for call in (f"{integers}.pack(d)", f"{integers}.check()",
                     "packsmith::kinds::INTEGERS::verify(d)", f"packed({integers})"):
            for compiler in COMPILERS.values():
                with self.subTest(call=call, compiler=compiler):
                    text = '#include "packsmith/kinds.h"\nvoid f(uint32_t* d);\n'
                    body = "void f([[maybe_unused]] uint32_t* d) { %s; }\n"
                    command = [compiler, "-std=c++20", "-fsyntax-only", *WARNINGS]
                    result = self.compile(command, "dropped.cc", text + body % call)
                    self.assertNotEqual(result.returncode, 0)
                    self.assertRegex(result.stderr, r"dropped\.cc:3:.*(nodiscard|Wunused-result)")
                    self.expect_clean(command, "kept.cc", text + body % f"(void){call}")

    def test_a_misspelt_member_is_a_compile_error(self) -> None:
        for compiler in COMPILERS.values():
            result = self.compile([compiler, "-std=c++20"], "bad.cc",
                                  '#include "packsmith/kinds.h"\n'
                                  "packsmith::kinds::INTEGERS p{.smal = 1};\n")
            self.assertNotEqual(result.returncode, 0)
            self.assertIn("smal", result.stderr)


if __name__ == "__main__":
    unittest.main()
