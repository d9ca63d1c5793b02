#!/usr/bin/python3
"""packsmith-mock's options for submissions, with a program that needs no driver."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

MOCK, UNPACK, CLIENT = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
INSIDE, NOWHERE = "0x100000", "0x700000"


def run(*options: str, client: tuple[str, ...] = ("1", INSIDE),
        device: str = "skl") -> subprocess.CompletedProcess[str]:
    return subprocess.run([MOCK, f"--device={device}", *options, "--", sys.executable, CLIENT,
                           *client], capture_output=True, text=True, check=False, timeout=60)


class SessionTest(unittest.TestCase):
    def test_submissions_are_executed_only_if_asked_for(self) -> None:
        for options, value in (((), "0x0"), (("--run",), "0x600d")):
            done = run(*options)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{value} 0\n", ""))

    def test_a_pointer_to_nothing_is_a_warning_once(self) -> None:
        done = run("--warnings", "--summary", client=("3", NOWHERE))
        warning, summary = done.stderr.splitlines()
        self.assertRegex(warning, r"^packsmith-mock: warning: submission 1 \(.*\[\d+\], render\): "
                         r"MI_STORE_DATA_IMM at 0x200000 points to 0x700000, which is not mapped$")
        self.assertTrue(summary.endswith(" 3 submissions, 1 warnings"), summary)
        self.assertEqual(run("--warnings").stderr, "")
        self.assertEqual(run(client=("1", NOWHERE)).stderr, "")

    def test_a_hang_is_counted_and_reported(self) -> None:
        done = run("--hang-at=2", client=("3", INSIDE))
        self.assertEqual((done.returncode, done.stdout), (0, "0x0 1\n"))
        self.assertIn("the GPU hung; clients find the report at", done.stderr)

    def test_a_program_that_is_killed_leaves_a_record_that_can_be_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            record = os.path.join(folder, "run")
            done = run(f"--record={record}", "--run", client=("2", INSIDE, "9"))
            self.assertEqual((done.returncode, done.stderr), (128 + 9, ""))
            with open(os.path.join(record, "index.jsonl"), encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
            self.assertEqual([line["type"] for line in lines],
                             ["run", "submission", "outcome", "submission", "outcome", "end"])
            shown = subprocess.run([UNPACK, record], capture_output=True, text=True, check=False)
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))
            self.assertEqual(shown.stdout.count("MI_STORE_DATA_IMM"), 2)


if __name__ == "__main__":
    unittest.main()
