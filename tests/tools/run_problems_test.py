#!/usr/bin/python3
"""What unpack --run says of problems, where there are many."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fixtures import END, core, words  # noqa: E402

UNPACK = os.path.abspath(sys.argv.pop(1))
STORES = 1200


class RunProblems(unittest.TestCase):
    def run_stores(self, *options: str) -> str:
        """Runs a batch of stores, each to another page that does not exist."""
        batch = b"".join(words(0x10000002, 0x900000 + 0x1000 * i, 0, i) for i in range(STORES))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.core")
            with open(path, "wb") as file:
                file.write(core({"generation": "gfx9"}, batch + words(END)))
            return subprocess.run([UNPACK, "--run", *options, path], capture_output=True, check=True,
                                  text=True, env={"PATH": "/bin:/usr/bin"}).stdout

    def test_of_many_different_ones_the_first_are_listed_and_all_are_counted(self) -> None:
        lines = [line for line in self.run_stores().splitlines()
                 if line.startswith("approximate, ")]
        self.assertEqual(len(lines), 1001)
        self.assertEqual(sum(int(line.split()[1]) for line in lines), STORES)
        self.assertIn(f"approximate, {STORES - 1000} times: further problems, which are not listed",
                      lines)

    def test_as_json_the_first_have_a_record(self) -> None:
        records = [json.loads(line) for line in self.run_stores("--format=jsonl").splitlines()]
        self.assertEqual(sum(record["type"] == "problem" for record in records), 1001)
        self.assertEqual(records[-1]["approximate"], STORES)

    def test_a_run_may_be_limited_in_time(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.core")
            with open(path, "wb") as file:
                # A jump to itself.
                file.write(core({"generation": "gfx9"}, words(0x18800101, 0x1000, 0)))
            done = subprocess.run(
                [UNPACK, "--run", "--max-commands=1000000000000", "--max-seconds=1", path],
                capture_output=True, check=False, text=True, env={"PATH": "/bin:/usr/bin"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("! stopped at", done.stdout)
        self.assertIn("1 seconds have passed (--max-seconds)", done.stdout)


if __name__ == "__main__":
    unittest.main()
