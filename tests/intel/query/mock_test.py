#!/usr/bin/python3
"""The example of docs/queries.md on a mock kernel: its results, and its job with PACKSMITH_DEBUG=bat."""

import os
import subprocess
import sys
import unittest

MOCK, PROGRAM = sys.argv.pop(1), sys.argv.pop(1)


def run(debug: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [MOCK, "--device=skl", "--run", "--", PROGRAM, "--device=/dev/dri/renderD128"],
        env=dict(os.environ, PACKSMITH_DEBUG=debug), capture_output=True, text=True, check=False)


class MockTest(unittest.TestCase):
    def test_results_are_read_by_the_cpu(self) -> None:
        done = run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("vertices 12, primitives 4\n", done.stdout)
        self.assertIn("time passed\n", done.stdout)
        self.assertIn("reports are a pair\n", done.stdout)

    def test_jobs_are_shown_and_waited_for(self) -> None:
        done = run("bat,sync,capture,nocache,noslab")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("vertices 12, primitives 4\n", done.stdout)
        self.assertIn("job for engine render", done.stderr)
        self.assertIn("MI_REPORT_PERF_COUNT", done.stderr)


if __name__ == "__main__":
    unittest.main()
