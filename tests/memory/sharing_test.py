#!/usr/bin/python3
"""docs/examples/sharing on mock kernels that execute what two processes submit."""

import os
import subprocess
import sys
import tempfile
import unittest

EXAMPLE, MOCK, UNPACK = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
NODE = "/dev/dri/renderD128"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)


class SharingTest(unittest.TestCase):
    def test_each_process_sees_what_the_other_one_wrote(self) -> None:
        for device in ("skl", "tgl", "tgl:xe", "dg2:i915", "dg2:xe", "lnl", "bmg"):
            with self.subTest(device), tempfile.TemporaryDirectory() as folder:
                done = run(MOCK, f"--device={device}", "--run", "--warnings", "--summary",
                           f"--record={folder}/run", "--", EXAMPLE, NODE)
                self.assertEqual((done.returncode, done.stdout),
                                 (0, "done 1, stored 42, copied 42\n"), done.stderr)
                self.assertIn("2 submissions, 0 warnings", done.stderr)
                shown = run(UNPACK, "--strict", "--fail-on=fault", f"{folder}/run")
                self.assertEqual((shown.returncode, shown.stderr), (0, ""))
                self.assertIn("; all of it decoded", shown.stdout)

    def test_a_process_whose_partner_ends_early_does_not_wait(self) -> None:
        done = run(EXAMPLE, "/dev/null")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/dev/null is not a GPU's node", done.stderr)


if __name__ == "__main__":
    unittest.main()
