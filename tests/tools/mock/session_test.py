#!/usr/bin/python3
"""What packsmith-mock's options do with a program's submissions."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

MOCK, CLIENT, UNPACK = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)


class SessionTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.record = os.path.join(folder.name, "run")

    def client(self, options: list[str], *arguments: str,
               device: str = "skl") -> subprocess.CompletedProcess[str]:
        done = run(MOCK, f"--device={device}", *options, "--", CLIENT, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def numbers(self) -> list[int]:
        with open(os.path.join(self.record, "index.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        dropped = [line["number"] for line in lines if line["type"] == "dropped"]
        return [line["number"] for line in lines
                if line["type"] == "submission" and line["number"] not in dropped]

    def test_without_run_submissions_complete_without_effect(self) -> None:
        done = self.client([], "2")
        self.assertEqual((done.stdout, done.stderr), ("0\n0\nactive 0, pending 0\n", ""))

    def test_run_executes_submissions(self) -> None:
        for device in ("bdw", "skl", "icl", "tgl"):
            with self.subTest(device):
                done = self.client(["--run"], "3", device=device)
                self.assertEqual(done.stdout, "1\n2\n3\nactive 0, pending 0\n")

    def test_hang_at_hangs_the_submission_that_it_names(self) -> None:
        for options in (["--hang-at=2"], ["--run", "--hang-at=2"]):
            with self.subTest(options):
                done = self.client(options, "4")
                before = "1" if "--run" in options else "0"
                lines = done.stdout.splitlines()
                self.assertEqual(lines[0], before)
                self.assertEqual(lines[-1], "active 1, pending 0")
                self.assertRegex(done.stderr, "the GPU hung; clients find the report at .*/error")

    def test_the_report_of_a_hang_is_one_that_unpack_reads(self) -> None:
        report = os.path.join(self.folder, "error")
        done = run(MOCK, "--device=skl", "--hang-at=1", "--", "sh", "-c",
                   f"{CLIENT} 1; cat /sys/class/drm/card0/error > {report}")
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = run(UNPACK, report)
        self.assertIn("MI_STORE_DATA_IMM", shown.stdout)

    def test_the_kernels_log_is_a_file(self) -> None:
        log = os.path.join(self.folder, "log")
        self.client(["--hang-at=1", f"--kernel-log={log}"], "1")
        with open(log, encoding="utf-8") as file:
            self.assertIn("context reset due to GPU hang", file.read())

    def test_a_log_that_cannot_be_written_is_an_error_with_its_name(self) -> None:
        done = run(MOCK, "--device=skl", "--hang-at=1", "--kernel-log=/dev/full", "--", CLIENT, "1")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "--kernel-log: .*/dev/full")
        missing = os.path.join(self.folder, "missing", "log")
        done = run(MOCK, "--device=skl", f"--kernel-log={missing}", "--", CLIENT, "1")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(missing, done.stderr)

    def test_warnings_name_a_store_to_what_is_not_mapped(self) -> None:
        done = self.client(["--warnings", "--summary"], "2", "0x123456000")
        self.assertRegex(done.stderr, r"warning: submission 2 \(session_client\[\d+\], [a-z0-9]+\): "
                         r"MI_STORE_DATA_IMM at 0x800000 points to 0x123456000, which is not mapped")
        self.assertIn("2 submissions, 1 warnings", done.stderr)

    def test_warnings_are_not_shown_unless_asked_for(self) -> None:
        self.assertEqual(self.client([], "2", "0x123456000").stderr, "")

    def test_unpack_shows_each_submission(self) -> None:
        done = self.client(["--unpack=hide-zero"], "3")
        self.assertEqual(done.stderr.count("MI_STORE_DATA_IMM"), 3)
        shown = os.path.join(self.folder, "shown")
        done = self.client(["--unpack", f"--unpack-file={shown}"], "3")
        self.assertEqual(done.stderr, "")
        with open(shown, encoding="utf-8") as file:
            self.assertEqual(file.read().count("MI_STORE_DATA_IMM"), 3)

    def test_record_has_each_submission(self) -> None:
        self.client(["--run", f"--record={self.record}"], "3")
        self.assertEqual(self.numbers(), [1, 2, 3])
        self.assertEqual(run(UNPACK, self.record).stdout.count("MI_STORE_DATA_IMM"), 3)

    def test_a_record_of_some_submissions(self) -> None:
        self.client([f"--record={self.record}", "--only=from=2,count=1"], "3")
        self.assertEqual(self.numbers(), [2])

    def test_keep_hung_keeps_what_hung_and_what_it_follows(self) -> None:
        self.client(["--hang-at=3", f"--record={self.record}", "--keep=hung"], "3")
        self.assertEqual(self.numbers(), [2, 3])

    def test_a_program_that_is_killed_leaves_a_record_that_can_be_read(self) -> None:
        done = run(MOCK, "--device=skl", "--run", f"--record={self.record}", "--",
                   CLIENT, "2", "0x400000", "die")
        self.assertEqual((done.returncode, done.stderr), (128 + 9, ""))
        self.assertEqual(self.numbers(), [1, 2])
        shown = run(UNPACK, self.record)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertEqual(shown.stdout.count("MI_STORE_DATA_IMM"), 2)

    def test_all_parts_of_the_mock_at_once(self) -> None:
        done = self.client(["--run", "--warnings", "--summary", "--unpack=hide-zero",
                            f"--record={self.record}", "--hang-at=3"], "3")
        self.assertTrue(done.stdout.startswith("1\n2\n"))
        self.assertEqual(self.numbers(), [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
