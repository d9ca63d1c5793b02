#!/usr/bin/python3
"""Programs under the tracer on top of the mock: the tracer records what the mock itself records."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MOCK, TRACE, I915, XE, SAME, UNPACK = (os.path.abspath(sys.argv.pop(1)) for _ in range(6))


def run(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, capture_output=True, text=True, check=False,
                          timeout=120, **more)  # type: ignore[call-overload]


class FolderTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.own = os.path.join(folder.name, "mock")
        self.traced = os.path.join(folder.name, "trace")
        self.other = os.path.join(folder.name, "other")

    def record(self, device: str, *client: str) -> None:
        done = run(MOCK, f"--device={device}", f"--record={self.own}", "--",
                   TRACE, f"--record={self.traced}", "--", *client)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "good\n", ""))

    def index(self) -> list[dict[str, object]]:
        with open(os.path.join(self.traced, "index.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        return [line for line in lines if line["type"] == "submission"]


class SameTest(FolderTest):
    def same(self, submissions: int, *options: str) -> None:
        done = run(SAME, self.own, self.traced, *options)
        self.assertEqual((done.stdout, done.returncode),
                         (f"{submissions} submissions, 0 different\n", 0))

    def test_i915(self) -> None:
        for device in ("tgl", "skl"):
            with self.subTest(device):
                self.record(device, I915, "submissions")
                self.same(11)
                for path in (self.own, self.traced):
                    subprocess.run(["rm", "-r", path], check=True)

    def test_xe(self) -> None:
        self.record("tgl:xe", XE)
        self.same(8)

    def test_relocations(self) -> None:
        for device in ("hsw", "skl"):
            with self.subTest(device):
                self.record(device, I915, "relocations")
                self.same(3)
                for path in (self.own, self.traced):
                    subprocess.run(["rm", "-r", path], check=True)

    def test_one_file_in_several_processes_and_a_buffer_of_two_files(self) -> None:
        self.record("tgl", I915, "shared")
        self.same(7)

    def test_two_devices(self) -> None:
        self.record("tgl,skl", I915, "two-devices")
        self.same(22)

    def test_threads(self) -> None:
        self.record("tgl", I915, "threads")
        self.same(100, "--any-order")

    def test_unpack_reads_the_record(self) -> None:
        self.record("tgl", I915, "submissions")
        done = run(UNPACK, self.traced)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("MI_BATCH_BUFFER_END"), 11)

    def test_the_index_names_the_program(self) -> None:
        self.record("tgl", I915, "submissions")
        index = self.index()
        self.assertEqual({line["process"] for line in index}, {"i915_client"})
        self.assertEqual([line["number"] for line in index], list(range(1, 12)))


class ProgramTest(FolderTest):
    def test_it_is_not_disturbed(self) -> None:
        self.record("tgl", I915, "undisturbed")
        self.assertEqual(len(self.index()), 2)

    def test_it_goes_on_when_the_recorder_dies(self) -> None:
        out = os.path.join(os.path.dirname(self.own), "out")
        done = run(MOCK, "--device=tgl", "--", TRACE, f"--record={self.traced}", "--",
                   I915, "survives", out)
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)
        end = time.monotonic() + 30
        while not os.path.exists(out) or os.path.getsize(out) == 0:
            self.assertLess(time.monotonic(), end, done.stderr)
            time.sleep(0.01)
        # What was recorded until then can be read.
        self.assertEqual(len(self.index()), 1)
        self.assertEqual(run(UNPACK, self.traced).stdout.count("MI_BATCH_BUFFER_END"), 1)

    def test_one_without_a_gpu_runs_as_ever(self) -> None:
        done = run(TRACE, f"--record={self.traced}", "--summary", "--", "sh", "-c",
                   "echo out; exit 3")
        self.assertEqual((done.returncode, done.stdout), (3, "out\n"))
        self.assertEqual(done.stderr, "packsmith-trace: 0 device files, 0 submissions; recorded 0: "
                         f"0 bytes of memory in {self.size()} bytes\n")

    def size(self) -> int:
        return sum(os.stat(os.path.join(self.traced, name)).st_blocks * 512
                   if name == "memory" else os.path.getsize(os.path.join(self.traced, name))
                   for name in os.listdir(self.traced))


class OptionsTest(FolderTest):
    def test_only_some_submissions(self) -> None:
        done = run(MOCK, "--device=tgl", "--", TRACE, f"--record={self.traced}",
                   "--only=engine=copy", "--", I915, "submissions")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([line["number"] for line in self.index()], [4])

    def test_from_a_submission_on(self) -> None:
        self.record("tgl", I915, "submissions")
        done = run(MOCK, "--device=tgl", f"--record={self.other}", "--only=from=9,count=2", "--",
                   I915, "submissions")
        self.assertEqual(done.returncode, 0)
        late = os.path.join(os.path.dirname(self.own), "late")
        done = run(MOCK, "--device=tgl", "--", TRACE, f"--record={late}",
                   "--only=from=9,count=2", "--", I915, "submissions")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(run(SAME, self.other, late).stdout, "2 submissions, 0 different\n")

    def test_wrong_usage_is_2_with_the_remedy(self) -> None:
        for arguments, complaint in (
                ([f"--record={self.traced}"],
                 "no program is given: packsmith-trace --record=DIR -- APP [ARGS...]"),
                (["--", "true"], "--record is required: the folder for the record"),
                (["true"], "the program and its arguments come after --: packsmith-trace … -- "
                 "true")):
            done = run(TRACE, *arguments)
            self.assertEqual((done.returncode, done.stderr), (2, f"packsmith-trace: {complaint}\n"))
        done = run(TRACE, "--recrod=x", "--", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("packsmith-trace --help lists the options", done.stderr)

    def test_help_has_every_option(self) -> None:
        done = run(TRACE, "--help")
        self.assertEqual(done.returncode, 0)
        for option in ("--record=DIR", "--only=", "--trigger=", "--record-limit=", "--linger=",
                       "--summary"):
            self.assertIn(option, done.stdout)

    def test_a_program_that_is_not_found_is_127(self) -> None:
        done = run(TRACE, f"--record={self.traced}", "--", "/no/such/program")
        self.assertEqual(done.returncode, 127)
        self.assertEqual(done.stderr,
                         "packsmith-trace: /no/such/program: No such file or directory\n")


if __name__ == "__main__":
    unittest.main()
