#!/usr/bin/python3
"""The code on docs/generated-code.md is that of the programs that tests build and run."""

import os
import re
import textwrap
import unittest
from pathlib import Path

ROOT = Path(os.environ["TEST_SRCDIR"]) / os.environ["TEST_WORKSPACE"]
PROGRAMS = {
    "cpp": "docs/examples/generated_code/generated_code.cc",
    "c": "docs/examples/generated_code/generated_code.c",
}


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


class Page(unittest.TestCase):

    def test_each_block_is_the_part_of_the_program_that_has_its_name(self) -> None:
        blocks = re.findall(r"^```(\w+) ([\w-]+)\n(.*?)^```$", read("docs/generated-code.md"),
                            re.MULTILINE | re.DOTALL)
        shown = {(language, name): text for language, name, text in blocks}
        self.assertEqual(len(shown), len(blocks), "two blocks have one name")
        parts = {}
        for language, path in PROGRAMS.items():
            for name, text in re.findall(r"^ *// Page: ([\w-]+)\n(.*?)^ *// End$", read(path),
                                         re.MULTILINE | re.DOTALL):
                parts[language, name] = textwrap.dedent(text)
        self.assertEqual(sorted(shown), sorted(parts))
        for key, text in parts.items():
            with self.subTest(block=key):
                self.assertEqual(shown[key], text)

    def test_no_code_stands_outside_of_named_blocks(self) -> None:
        fences = re.findall(r"^```(.*)$", read("docs/generated-code.md"), re.MULTILINE)
        for opening in fences[::2]:
            self.assertRegex(opening, r"^(c|cpp) [\w-]+$")


if __name__ == "__main__":
    unittest.main()
