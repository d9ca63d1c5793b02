#!/usr/bin/python3
"""docs/examples/submission on mock kernels that execute what is submitted."""

import os
import subprocess
import sys
import tempfile
import unittest

EXAMPLE, MOCK, UNPACK = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
NODE = "--device=/dev/dri/renderD128"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)


class ExampleTest(unittest.TestCase):
    def test_results_are_in_memory_and_what_was_submitted_decodes(self) -> None:
        for device in ("bdw", "skl", "icl", "tgl", "tgl:xe", "dg2:i915", "dg2:xe", "mtl:xe", "lnl",
                       "bmg", "ptl"):
            with self.subTest(device), tempfile.TemporaryDirectory() as folder:
                done = run(MOCK, f"--device={device}", "--run", "--warnings", "--summary",
                           f"--record={folder}/run", "--", EXAMPLE, NODE)
                self.assertEqual((done.returncode, done.stdout),
                                 (0, "done 1, stored 42, copied 42, value 1\n"), done.stderr)
                self.assertIn("2 submissions, 0 warnings", done.stderr)
                shown = run(UNPACK, "--strict", f"{folder}/run")
                self.assertEqual((shown.returncode, shown.stderr), (0, ""))
                for packet in ("MI_STORE_DATA_IMM", "MI_FLUSH_DW", "MI_SEMAPHORE_WAIT",
                               "MI_COPY_MEM_MEM"):
                    self.assertEqual(shown.stdout.count(f"{packet} "), 1, packet)

    def test_the_first_gpu_can_be_named(self) -> None:
        # Of generation gfx9; the second one is not opened.
        with tempfile.TemporaryDirectory() as folder:
            done = run(MOCK, "--device=skl,tgl", "--run", "--warnings", "--summary",
                       f"--record={folder}/run", "--", EXAMPLE, "--device=first")
            self.assertEqual((done.returncode, done.stdout),
                             (0, "done 1, stored 42, copied 42, value 1\n"), done.stderr)
            shown = run(UNPACK, "--strict", f"{folder}/run")
            self.assertIn("platform skl", shown.stdout)

    def test_words_of_memory_that_a_kernel_may_move_are_listed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            done = run(MOCK, "--device=hsw", "--run", "--warnings", "--summary",
                       f"--record={folder}/run", "--", EXAMPLE, NODE)
            self.assertEqual((done.returncode, done.stdout),
                             (0, "done 1, stored 42, signalled 1\n"), done.stderr)
            self.assertIn("1 submissions, 0 warnings", done.stderr)
            shown = run(UNPACK, "--strict", f"{folder}/run")
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))

    def test_without_execution_jobs_are_done_at_once(self) -> None:
        done = run(MOCK, "--device=skl", "--", EXAMPLE, NODE)
        self.assertEqual((done.returncode, done.stdout),
                         (0, "done 1, stored 0, copied 0, value 0\n"))

    def test_a_hang_is_an_error_that_says_where_the_report_is(self) -> None:
        for device, report in (("skl", "error"), ("lnl", "devcoredump/data")):
            with self.subTest(device):
                done = run(MOCK, f"--device={device}", "--hang-at=2", "--", EXAMPLE, NODE)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr,
                                 f"job .*render.*failed: .*the kernel reports it in .*/{report}")

    def test_the_host_needs_no_kernel(self) -> None:
        done = run(EXAMPLE, "--device=host")
        self.assertEqual((done.returncode, done.stdout),
                         (0, "done 1, stored 0, copied 0, value 0\n"))

    def test_a_node_that_cannot_be_opened_is_an_error(self) -> None:
        done = run(EXAMPLE, "--device=/dev/null")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/dev/null is not a GPU's node", done.stderr)

    def test_other_arguments_are_wrong_usage(self) -> None:
        for arguments in ((), ("host",), ("--device=",), ("--device=host", "more")):
            done = run(EXAMPLE, *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("usage: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
