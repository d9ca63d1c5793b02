#!/usr/bin/python3
"""docs/examples/resubmit: what a dump has is submitted to mock kernels as it is.

    resubmit_test.py RESUBMIT MOCK UNPACK
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

RESUBMIT, MOCK, UNPACK = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))
NODE = "/dev/dri/renderD128"
# Devices, with the drivers that their names choose, and captures of their generation.
DEVICES = [
    ("skl", "i915", "skl-gl-basic"),
    ("icl", "i915", "icl-gl-basic"),
    ("tgl:i915", "i915", "tgl-gl-basic"),
    ("dg2:i915", "i915", "dg2-gl-basic"),
    ("tgl:xe", "xe", "tgl-gl-basic"),
    ("dg2:xe", "xe", "dg2-gl-basic"),
]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def capture(name: str) -> str:
    return f"tests/data/captures/{name}/00.core.zst"


def packets(dump: str) -> list[tuple[str, str]]:
    """The packets of a dump, or of a folder of them, with their addresses."""
    records = [json.loads(line) for line in run(UNPACK, "--format=jsonl", dump).stdout.splitlines()]
    return [(record["address"], record["name"]) for record in records if record["type"] == "packet"]


class ResubmitTest(unittest.TestCase):
    def test_the_host_takes_a_dump_of_any_generation(self) -> None:
        for name in ("snb-gl-basic", "skl-gl-basic", "dg2-gl-basic"):
            with self.subTest(name):
                done = run(RESUBMIT, "--device=host", capture(name))
                self.assertEqual((done.returncode, done.stdout),
                                 (0, "submission 0 on render: done\n"), done.stderr)

    def test_kernels_get_the_same_packets_at_the_same_addresses(self) -> None:
        for device, driver, name in DEVICES:
            with self.subTest(device), tempfile.TemporaryDirectory() as folder:
                done = run(MOCK, f"--device={device}", "--summary", f"--record={folder}/run", "--",
                           RESUBMIT, f"--device={NODE}", capture(name))
                self.assertEqual((done.returncode, done.stdout),
                                 (0, "submission 0 on render: done\n"), done.stderr)
                self.assertIn(" 1 submissions, ", done.stderr)
                expected = packets(capture(name))
                self.assertGreater(len(expected), 100)
                self.assertEqual(packets(f"{folder}/run"), expected)
                shown = run(UNPACK, "--format=jsonl", f"{folder}/run").stdout.splitlines()
                recorded = next(one for one in map(json.loads, shown) if one["type"] == "device")
                self.assertEqual(recorded["uapi"], driver)

    def test_the_simulator_runs_what_was_submitted(self) -> None:
        for device, _, name in DEVICES:
            with self.subTest(device):
                done = run(MOCK, f"--device={device}", "--run", "--warnings", "--summary", "--",
                           RESUBMIT, f"--device={NODE}", capture(name))
                self.assertEqual((done.returncode, done.stdout),
                                 (0, "submission 0 on render: done\n"), done.stderr)
                self.assertIn(" 1 submissions, 0 warnings", done.stderr)
                self.assertRegex(done.stderr, r"executed 1 submission, \d{3,} commands")

    def test_a_gpu_of_another_generation_is_an_error(self) -> None:
        done = run(MOCK, "--device=tgl", "--summary", "--", RESUBMIT, f"--device={NODE}",
                   capture("skl-gl-basic"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(NODE, done.stderr)
        self.assertIn(" 0 submissions, ", done.stderr)

    def test_a_hang_is_an_error_that_names_the_kernels_report(self) -> None:
        for device, name in (("skl", "skl-gl-basic"), ("tgl:xe", "tgl-gl-basic")):
            with self.subTest(device):
                done = run(MOCK, f"--device={device}", "--hang-at=1", "--summary", "--", RESUBMIT,
                           f"--device={NODE}", capture(name))
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, "job 1 .*failed: .*the kernel reports it in /sys/")
                self.assertIn(" 1 submissions, ", done.stderr)

    def test_wrong_usage_is_refused(self) -> None:
        for arguments in ((), ("--device=host",), ("--device=", capture("skl-gl-basic")),
                          ("host", capture("skl-gl-basic"))):
            done = run(RESUBMIT, *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("usage: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
