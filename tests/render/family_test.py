#!/usr/bin/python3
"""family.py: what C headers say of several generations at once, compiled and asked."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path.cwd()
FAMILY = ROOT / "gen/render/family.py"

# The invented Acme 1, 1.5 and 3. SIGNAL moved, was gone, and came back; only the last has WAIT.
GENERATIONS = {
    "acme1": (10, "ACME1", {"CLEAR_length": 2, "CLEAR_Color_start": 32, "CLEAR_Color_bits": 32,
                            "_3D_DRAW_Count_start": 0, "_3D_DRAW_Count_bits": 8,
                            "SIGNAL_length": 4}),
    "acme15": (15, "ACME15", {"CLEAR_length": 3, "CLEAR_Color_start": 64, "CLEAR_Color_bits": 32,
                              "_3D_DRAW_Count_start": 0, "_3D_DRAW_Count_bits": 8}),
    "acme3": (30, "ACME3", {"CLEAR_length": 3, "CLEAR_Color_start": 64, "CLEAR_Color_bits": 16,
                            "SIGNAL_length": 5, "WAIT_length": 1}),
}


def outline(name: str, **other: object) -> dict[str, object]:
    """What render.py --positions writes."""
    version, prefix, values = GENERATIONS[name]
    return {"family": "acme", "generation": name, "version_x10": version, "c_prefix": prefix,
            "values": values, **other}


class Family(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.folder)
        self.headers = self.folder / "packsmith/c"
        self.headers.mkdir(parents=True)
        for name, (_, prefix, values) in GENERATIONS.items():
            (self.headers / f"{name}_bits.h").write_text(
                "".join(f"#define {prefix}_{one} {value}\n" for one, value in values.items()))
            (self.headers / f"{name}_pack.h").write_text(
                f"enum {{ {prefix}_3D_DRAW = {len(name)} }};\n")

    def made(self, *outlines: dict[str, object]) -> subprocess.CompletedProcess[str]:
        paths = []
        for number, one in enumerate(outlines):
            paths.append(self.folder / f"{number}.json")
            paths[-1].write_text(json.dumps(one))
        return subprocess.run(
            ["/usr/bin/python3", FAMILY, "--bits", self.headers / "acme_bits.h",
             "--pack", self.headers / "acme_pack.h", *paths],
            capture_output=True, text=True, check=False)

    def expect_refused(self, why: str, *outlines: dict[str, object]) -> None:
        result = self.made(*outlines)
        self.assertEqual(result.returncode, 1)
        self.assertIn(why, result.stderr)
        self.assertFalse((self.headers / "acme_bits.h").exists())
        self.assertFalse((self.headers / "acme_pack.h").exists())

    def run_c(self, source: str, language: str = "c") -> str:
        """The output of a program, compiled without a warning."""
        path = self.folder / f"program.{language}"
        path.write_text(source)
        compiler = ["gcc", "-std=c11"] if language == "c" else ["g++", "-std=c++20"]
        subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", f"-I{self.folder}", path, "-o",
                        self.folder / "program"], check=True)
        return subprocess.run([self.folder / "program"], check=True, capture_output=True,
                              text=True).stdout

    def make_all(self, *order: str) -> None:
        result = self.made(*(outline(name) for name in order or GENERATIONS))
        self.assertEqual(result.returncode, 0, result.stderr)

    ASK = """
        struct device { int verx10; };
        #include "packsmith/c/acme_bits.h"
        #include <stdio.h>
        int main(void) {
          static const int versions[] = {9, 10, 15, 30, 31};
          for (unsigned i = 0; i < 5; ++i) {
            const struct device device = {versions[i]}, *d = &device;
            printf("%d: %u %u %u %u %u %u\\n", d->verx10, CLEAR_length(d), CLEAR_Color_start(d),
                   CLEAR_Color_bits(d), _3D_DRAW_Count_bits(d), SIGNAL_length(d), WAIT_length(d));
          }
        }"""
    ANSWER = ("9: 0 0 0 0 0 0\n10: 2 32 32 8 4 0\n15: 3 64 32 8 0 0\n30: 3 64 16 0 5 1\n"
              "31: 3 64 16 0 5 1\n")

    def test_a_device_is_answered_for_its_generation_and_0_where_that_lacks_the_field(self) -> None:
        self.make_all()
        self.assertEqual(self.run_c(self.ASK), self.ANSWER)
        self.assertEqual(self.run_c(self.ASK, "cc"), self.ANSWER)

    def test_generations_are_told_apart_by_version_whatever_the_order_of_the_inputs(self) -> None:
        self.make_all()
        first = (self.headers / "acme_bits.h").read_text()
        self.make_all("acme3", "acme1", "acme15")
        self.assertEqual((self.headers / "acme_bits.h").read_text(), first)

    def test_constants_of_each_generation_come_along(self) -> None:
        self.make_all()
        self.assertEqual(self.run_c("""
            #include "packsmith/c/acme_bits.h"
            #include <stdio.h>
            int main(void) { printf("%d %d\\n", ACME1_CLEAR_Color_start, ACME3_CLEAR_Color_bits); }
            """), "32 16\n")

    def test_a_driver_may_keep_the_version_where_it_likes(self) -> None:
        self.make_all()
        self.assertEqual(self.run_c("""
            #define PACKSMITH_VERX10(device) (device).info->version
            #include "packsmith/c/acme_bits.h"
            #include <stdio.h>
            struct info { unsigned version; };
            struct driver { const struct info *info; };
            int main(void) {
              const struct info info = {15};
              const struct driver driver = {&info};
              printf("%u\\n", CLEAR_Color_start(driver));
            }"""), "64\n")

    def test_one_source_is_compiled_for_the_generation_that_is_asked_for(self) -> None:
        self.make_all()
        for name, (version, _, _) in GENERATIONS.items():
            self.assertEqual(self.run_c(f"""
                #define GFX_VERx10 {version}
                #include "packsmith/c/acme_pack.h"
                #include <stdio.h>
                static int genX(answer)(void) {{ return GENX(3D_DRAW); }}
                int main(void) {{
                  printf("%d %d\\n", {name}_answer(), GFX_VER);
                }}"""), f"{len(name)} {version // 10}\n")

    def test_a_source_may_ask_which_fields_its_generation_has(self) -> None:
        self.make_all()
        for beside in (False, True):
            if beside:  # without folders, as some drivers copy headers
                for header in self.headers.iterdir():
                    shutil.copy(header, self.folder)
                shutil.rmtree(self.headers)
            for name, (version, _, values) in GENERATIONS.items():
                self.assertEqual(self.run_c(f"""
                    #define GFX_VERx10 {version}
                    #define PACKSMITH_WANT_BITS
                    #include "{'' if beside else 'packsmith/c/'}acme_pack.h"
                    #include <stdio.h>
                    int main(void) {{
                    #if GENX(SIGNAL_length)
                      printf("SIGNAL ");
                    #endif
                      printf("%d\\n", GENX(CLEAR_Color_bits));
                    }}"""), ("SIGNAL " if "SIGNAL_length" in values else "")
                    + f"{values['CLEAR_Color_bits']}\n")

    def test_what_is_no_generation_does_not_compile(self) -> None:
        self.make_all()
        for define, why in (("", "Define GFX_VERx10"), ("#define GFX_VERx10 20", "No generation")):
            path = self.folder / "bad.c"
            path.write_text(f'{define}\n#include "packsmith/c/acme_pack.h"\n')
            result = subprocess.run(["gcc", f"-I{self.folder}", "-c", path, "-o", os.devnull],
                                    capture_output=True, text=True, check=False)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(why, result.stderr)

    def test_generations_without_a_version_two_of_one_and_two_families_are_refused(self) -> None:
        self.expect_refused("acme1 has no version", outline("acme1", version_x10=0))
        self.expect_refused("have the same version", outline("acme1"), outline("acme3", version_x10=10))
        self.expect_refused("are not of one family", outline("acme1"), outline("acme3", family="other"))

    def test_what_is_no_outline_is_refused(self) -> None:
        self.expect_refused("not what render.py --positions writes", {"ir": 1})
        result = subprocess.run(
            ["/usr/bin/python3", FAMILY, "--bits", "b", "--pack", "p", self.folder / "none.json"],
            capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("No such file", result.stderr)


if __name__ == "__main__":
    unittest.main()
