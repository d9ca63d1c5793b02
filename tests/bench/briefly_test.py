#!/usr/bin/python3
"""A benchmark program runs: each of its benchmarks does its work once, without an error.

Arguments: the program; and a regular expression of what takes too long for a test. Of each
benchmark that has several arguments, one is left at least.
"""

import json
import os
import re
import subprocess
import sys
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
TOO_LONG = sys.argv.pop(1) if len(sys.argv) > 1 else ""


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, check=False, text=True)


class BrieflyTest(unittest.TestCase):
    def test_all_that_does_not_take_too_long_runs(self) -> None:
        names = run("--benchmark_list_tests").stdout.splitlines()
        left_out = [name for name in names if TOO_LONG and re.search(TOO_LONG, name)]
        self.assertNotEqual(names, left_out)
        if TOO_LONG:
            self.assertNotEqual(left_out, [], f"{TOO_LONG} is none of {names}")
        options = ["--benchmark_min_time=1e-9", "--benchmark_format=json"]
        if TOO_LONG:
            options.append(f"--benchmark_filter=-{TOO_LONG}")
        done = run(*options)
        self.assertEqual(done.returncode, 0, done.stderr)
        ran = json.loads(done.stdout)["benchmarks"]
        self.assertEqual([one["name"] for one in ran if one.get("error_occurred")], [], done.stdout)
        self.assertEqual(len({one["name"] for one in ran}), len(names) - len(left_out))


if __name__ == "__main__":
    unittest.main()
