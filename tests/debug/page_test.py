#!/usr/bin/python3
"""docs/debug.md lists the switches of runtime/base/debug.cc, and no others."""

import pathlib
import re
import unittest


class PageTest(unittest.TestCase):
    def test_the_table_has_each_switch(self) -> None:
        code = pathlib.Path("runtime/base/debug.cc").read_text()
        known = re.findall(r'\{"(\w+)", DebugSwitch::', code)
        page = pathlib.Path("docs/debug.md").read_text()
        listed = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
        self.assertGreater(len(known), 3)
        self.assertEqual(listed, known)


if __name__ == "__main__":
    unittest.main()
