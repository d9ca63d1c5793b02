#!/usr/bin/python3
"""The links of docs/agx.md into the reference point to pages that are generated."""

import re
import sys
import unittest
from pathlib import Path

PAGE = Path(sys.argv.pop(1))
REFERENCE = Path(sys.argv.pop(1))
PREFIX = "../bazel-bin/docs/reference/"


class LinksTest(unittest.TestCase):
    def test_each_link_has_a_page(self) -> None:
        links = set(re.findall(r"\]\(" + re.escape(PREFIX) + r"([^)]+)\)",
                               PAGE.read_text(encoding="utf-8")))
        self.assertGreater(len(links), 40)
        for link in sorted(links):
            with self.subTest(link=link):
                self.assertTrue((REFERENCE / link).is_file())

    def test_each_block_of_the_streams_is_on_the_page(self) -> None:
        text = PAGE.read_text(encoding="utf-8")
        for page in sorted((REFERENCE / "agx" / "packet").glob("*.html")):
            with self.subTest(block=page.stem):
                self.assertTrue(f"{PREFIX}agx/packet/{page.name})" in text)


if __name__ == "__main__":
    unittest.main()
