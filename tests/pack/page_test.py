#!/usr/bin/python3
"""The code on a page of docs/ is that of the programs that tests build and run.

Arguments: the page, and `language=program` for each program that its blocks are of; before them
--partly if the page has other blocks, too: only those with a name are compared.
"""

import os
import re
import sys
import textwrap
import unittest
from pathlib import Path

ROOT = Path(os.environ["TEST_SRCDIR"]) / os.environ["TEST_WORKSPACE"]
PARTLY = "--partly" in sys.argv
if PARTLY:
    sys.argv.remove("--partly")
PAGE = sys.argv[1]
# Language and program.
PROGRAMS = [argument.split("=", 1) for argument in sys.argv[2:]]
LANGUAGES = {language for language, _ in PROGRAMS}


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


class Page(unittest.TestCase):

    def test_each_block_is_the_part_of_the_program_that_has_its_name(self) -> None:
        blocks = re.findall(r"^```(\w+) ([\w-]+)\n(.*?)^```$", read(PAGE),
                            re.MULTILINE | re.DOTALL)
        shown = {(language, name): text for language, name, text in blocks}
        self.assertEqual(len(shown), len(blocks), "two blocks have one name")
        parts = {}
        for language, path in PROGRAMS:
            for name, text in re.findall(r"^ *// Page: ([\w-]+)\n(.*?)^ *// End$", read(path),
                                         re.MULTILINE | re.DOTALL):
                parts[language, name] = textwrap.dedent(text)
        self.assertEqual(sorted(shown), sorted(parts))
        for key, text in parts.items():
            with self.subTest(block=key):
                self.assertEqual(shown[key], text)

    @unittest.skipIf(PARTLY, "the page has other blocks")
    def test_no_code_stands_outside_of_named_blocks(self) -> None:
        fences = re.findall(r"^```(.*)$", read(PAGE), re.MULTILINE)
        for opening in fences[::2]:
            if not opening.startswith("sh"):  # those run
                self.assertRegex(opening, rf"^({'|'.join(sorted(LANGUAGES))}) [\w-]+$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
