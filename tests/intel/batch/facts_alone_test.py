#!/usr/bin/python3
"""The generation is a column of the table of facts, and is compared nowhere else."""

import pathlib
import re
import unittest

FOLDERS = ("runtime/intel/batch", "runtime/intel/binding", "runtime/intel/compute",
           "runtime/intel/driver", "runtime/intel/shader", "runtime/intel/state")
# The table itself, and the look-up of a generation's column by its number.
TABLE = ("runtime/intel/device/generation_facts.h", "runtime/intel/batch/generation.h")
NUMBER = r"(?:\bkVersion|\bversion_x10|\bversion)\b(?:\(\))?"
LADDER = re.compile(rf"{NUMBER}\s*(?:[<>]=?|[=!]=)|(?:[<>]=?|[=!]=)\s*[\w.:>()-]*{NUMBER}"
                    rf"|switch\s*\([\w.:]*{NUMBER}")


def code(text: str) -> str:
    """Without comments."""
    return re.sub(r"//[^\n]*", "", text)


class FactsTest(unittest.TestCase):
    def test_code_asks_for_facts_and_never_for_a_number(self) -> None:
        looked_at = 0
        for folder in FOLDERS:
            for path in sorted(pathlib.Path(folder).iterdir()):
                if path.suffix not in (".h", ".cc") or str(path) in TABLE:
                    continue
                looked_at += 1
                for number, line in enumerate(code(path.read_text()).splitlines(), 1):
                    with self.subTest(place=f"{path}:{number}"):
                        self.assertIsNone(LADDER.search(line), line.strip())
        self.assertGreater(looked_at, 50)

    def test_it_knows_a_ladder(self) -> None:
        for line in ("if constexpr (Gen::kVersion >= 120) {", "constexpr bool x = 90 < v.version;",
                     "r.a = Gen::kFacts.version_x10 == 80;", "switch (Gen::kVersion) {",
                     "if (device.version != 110) return;"):
            self.assertIsNotNone(LADDER.search(line), line)
        for line in ("FactsOf(device.version).l3", "device.version = 90;", "kVersion = version_x10;"):
            self.assertIsNone(LADDER.search(line), line)


if __name__ == "__main__":
    unittest.main()
