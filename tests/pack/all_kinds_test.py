#!/usr/bin/python3
"""No kind of member is forgotten: not by a visitor, which would not compile, nor by these tests."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ["TEST_SRCDIR"]) / os.environ["TEST_WORKSPACE"]
KINDS_H = (ROOT / "runtime/pack/kinds.h").read_text(encoding="utf-8")
VISIT_H = (ROOT / "runtime/pack/visit.h").read_text(encoding="utf-8")
GENERATED = ROOT / "tests/pack/kinds_cpp/packsmith/kinds.h"
# Packets of kinds.xml that have a member of every kind among them.
PACKETS = ("INTEGERS", "REALS", "POINTERS", "ENCODED", "RANGES")


def structs_of(namespace: str) -> list[str]:
    """The structs that kinds.h has in a namespace."""
    start = KINDS_H.index(f"\nnamespace {namespace} {{")
    end = KINDS_H.index(f"}}  // namespace {namespace}")
    return re.findall(r"^struct (\w+)", KINDS_H[start:end], re.MULTILINE)


KINDS, RULES = structs_of("kinds"), structs_of("rules")


def visitor(name: str, kinds: list[str]) -> str:
    """A visitor with an overload for each of these kinds."""
    overloads = "".join(
        f"  constexpr void member(const packsmith::bits::kinds::{kind}&, const auto&, unsigned,\n"
        "                        unsigned, const char*) {}\n" for kind in kinds)
    return f"struct {name} : packsmith::bits::visitor<{name}> {{\n{overloads}}};\n"


def walk(name: str) -> str:
    """Shows all packets to a visitor."""
    calls = "".join(f"  packsmith::kinds::{packet} {packet};\n"
                    f"  packsmith::kinds::{packet}::ps_layout({packet}, v);\n" for packet in PACKETS)
    return f"void f({name} v) {{\n{calls}}}\n"


class AllKinds(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "packsmith").mkdir()
        shutil.copy(ROOT / "runtime/pack/pack.h", self.folder / "packsmith")
        shutil.copy(GENERATED, self.folder / "packsmith")

    def compile(self, text: str) -> str:
        """What the compiler says."""
        source = self.folder / "visitor.cc"
        source.write_text('#include "packsmith/kinds.h"\n' + text, encoding="utf-8")
        done = subprocess.run(
            ["g++", "-std=c++20", "-Wall", "-Wextra", "-fsyntax-only", f"-I{self.folder}",
             str(source)], capture_output=True, text=True, check=False)
        return done.stderr

    def test_a_visitor_that_takes_all_kinds_compiles(self) -> None:
        self.assertGreater(len(KINDS), 12)
        self.assertEqual(self.compile(visitor("Whole", KINDS) + walk("Whole")), "")

    def test_a_visitor_that_forgets_a_kind_does_not_compile(self) -> None:
        names = {kind: f"Forgets_{kind}" for kind in KINDS}
        errors = self.compile("".join(
            visitor(name, [one for one in KINDS if one != kind]) + walk(name)
            for kind, name in names.items()))
        for kind, name in names.items():
            with self.subTest(kind):
                self.assertRegex(errors, rf"error: no matching function for call to .{name}::member"
                                         rf"\(packsmith::bits::kinds::{kind}")

    def test_every_kind_and_rule_has_its_method_which_tests_call(self) -> None:
        generated = GENERATED.read_text(encoding="utf-8")
        for name in KINDS + RULES:
            with self.subTest(name):
                self.assertRegex(VISIT_H, rf"constexpr void {name}\(")
                self.assertRegex(VISIT_H, rf"(kinds|rules)::{name}\b")
                self.assertIn(f"ps_v.{name}(", generated, "no field of kinds.xml is of this kind")

    def test_every_kind_is_shown_to_every_visitor(self) -> None:
        text = (ROOT / "tests/pack/visitors_test.cc").read_text(encoding="utf-8")
        for kind in KINDS:
            self.assertIn(f"kinds::{kind} ", text, "visitors_test.cc has no case of this kind")


if __name__ == "__main__":
    unittest.main()
