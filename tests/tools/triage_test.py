#!/usr/bin/python3
"""`unpack triage`: many dumps of hangs, in groups of one cause."""

import gzip
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter
from typing import Any

UNPACK = os.path.abspath(sys.argv[1])
MAKE_FLEET = os.path.abspath(sys.argv[2])
COUNT = 18


def triage(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([UNPACK, "triage", *map(str, arguments)], capture_output=True, text=True,
                          check=False)
    if done.returncode != code:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr}{done.stdout}")
    return done


def records(*arguments: object, code: int = 0) -> list[dict[str, Any]]:
    out = triage("--format=jsonl", *arguments, code=code).stdout
    return [json.loads(line) for line in out.splitlines()]


def make_fleet(folder: pathlib.Path, *arguments: str) -> None:
    subprocess.run([sys.executable, MAKE_FLEET, *arguments, str(folder)], check=True)


def cause(path: str) -> str:
    return os.path.basename(path).partition("-")[0]


class TriageTest(unittest.TestCase):
    made: pathlib.Path  # one fleet for all tests, of which each has a copy

    @classmethod
    def setUpClass(cls) -> None:
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.made = pathlib.Path(holder.name)
        make_fleet(cls.made, f"--count={COUNT}")

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.fleet = self.folder / "fleet"
        shutil.copytree(self.made, self.fleet)

    def test_groups_are_the_causes(self) -> None:
        lines = records(self.fleet)
        dumps = [one for one in lines if one["type"] == "dump"]
        groups = [one for one in lines if one["type"] == "group"]
        self.assertEqual(len(dumps), COUNT)
        causes = Counter((one["group"], cause(one["path"])) for one in dumps)
        self.assertEqual(len(causes), 4, causes)
        self.assertEqual(len(groups), 4)
        # ecodes are of no use for that: nearly every dump has its own.
        self.assertGreater(len({one["ecode"] for one in dumps}), 10)
        for group in groups:
            own = [one for one in dumps if one["group"] == group["group"]]
            self.assertEqual(group["count"], len(own))
            self.assertEqual(group["first"], min(one["time"] for one in own))
            self.assertEqual(group["last"], max(one["time"] for one in own))
            self.assertIn(group["example"], [one["path"] for one in own])
        # The order does not depend on threads.
        self.assertEqual(lines, records("--jobs=1", self.fleet))
        self.assertEqual(lines, records("--jobs=7", self.fleet))

    def test_fewer_fields_make_fewer_groups(self) -> None:
        groups = [one for one in records("--by=verdict", self.fleet) if one["type"] == "group"]
        self.assertEqual([one["verdict"] for one in groups], ["page-fault", "shader"])
        self.assertNotIn("command", groups[0])
        self.assertIn("generation, engine, reason", triage("--by=x", self.fleet, code=2).stderr)

    def test_known_issues_are_named(self) -> None:
        known = self.folder / "known.txt"
        known.write_text("[kern-1]\ntitle = Flush hangs\nurl = https://example.org/1\n"
                         "command = PIPE_CONTROL\nkernel = < 6.5\n", encoding="ascii")
        for one in records(f"--known={known}", self.fleet):
            if one["type"] == "dump":
                wanted = ["kern-1"] if cause(one["path"]) == "flush" else []
                self.assertEqual(one["issues"], wanted)
        text = triage(f"--known={known}", self.fleet).stdout
        self.assertEqual(text.count("known       kern-1: Flush hangs, https://example.org/1\n"), 1)
        page = triage("--format=markdown", f"--known={known}", self.fleet).stdout
        self.assertIn("kern-1: Flush hangs https://example.org/1", page)
        known.write_text("[kern-1]\nboard = x\n", encoding="ascii")
        self.assertIn("known.txt:2: ", triage(f"--known={known}", self.fleet, code=2).stderr)

    def test_state_is_read_instead_of_dumps(self) -> None:
        state = self.fleet / "state.jsonl"
        first = triage(f"--state={state}", self.fleet).stdout
        written = state.read_bytes()
        self.assertEqual(len(written.splitlines()), COUNT)
        # Contents that change without notice show whether a file is read again.
        one = sorted(self.fleet.glob("*/flush*"))[0]
        about = one.stat()
        one.write_bytes(b"\0" * about.st_size)
        os.utime(one, ns=(about.st_atime_ns, about.st_mtime_ns))
        self.assertEqual(triage(f"--state={state}", self.fleet).stdout, first)
        self.assertEqual(state.read_bytes(), written)
        # A changed file is read, and a new one.
        os.utime(one, ns=(about.st_atime_ns, about.st_mtime_ns + 1))
        make_fleet(self.fleet / "more", "--count=3", "--seed=2")
        lines = records(f"--state={state}", self.fleet)
        self.assertEqual(sum(line.get("outcome") == "hang" for line in lines), COUNT + 2)
        self.assertEqual(len(state.read_bytes().splitlines()), COUNT + 4)

    def test_a_run_that_was_killed_goes_on(self) -> None:
        make_fleet(self.fleet, "--count=100")
        state = self.folder / "state.jsonl"
        with subprocess.Popen([UNPACK, "triage", "--jobs=2", f"--state={state}", self.fleet],
                              stdout=subprocess.DEVNULL) as run:
            while not state.exists() or state.stat().st_size < 3000:
                time.sleep(0.001)
            run.send_signal(signal.SIGKILL)
        kept = state.read_bytes()
        whole = kept[:kept.rfind(b"\n") + 1]
        self.assertGreater(whole.count(b"\n"), 0)
        out = triage(f"--state={state}", self.fleet).stdout
        self.assertEqual(out, triage(self.fleet).stdout)
        self.assertTrue(state.read_bytes().startswith(whole))
        self.assertEqual(len(state.read_bytes().splitlines()),
                         len([one for one in self.fleet.rglob("*") if one.is_file()]))

    def test_damaged_dumps_are_listed_and_not_fatal(self) -> None:
        a, b, c, d = sorted(self.fleet.glob("*/*"))[:4]
        a.write_bytes(gzip.compress(a.read_bytes())[:3000])
        b.write_bytes(b"\x28\xb5\x2f\xfd damaged")
        c.write_bytes(b"")
        d.write_bytes(d.read_bytes()[:20000])
        (self.fleet / "README").write_text("Dumps of last week.\n", encoding="ascii")
        (self.fleet / ".hidden").write_bytes(b"\x28\xb5\x2f\xfd damaged")
        os.mkfifo(self.fleet / "pipe")
        text = triage(self.fleet, code=1).stdout
        self.assertIn("; 2 dumps could not be read; 1 other file\n", text)
        for path in (a, b, c):
            self.assertIn(f"    {path}: ", text)
        self.assertNotIn("README", text)
        self.assertNotIn("hidden", text)
        outcomes = {one["path"]: one["outcome"] for one in records(self.fleet, code=1)
                    if one["type"] == "dump"}
        self.assertEqual(outcomes[str(b)], "unreadable")
        self.assertEqual(outcomes[str(a)], "hang")
        self.assertEqual(outcomes[str(self.fleet / "README")], "other")
        # A file that is named must be a dump.
        text = triage(self.fleet / "README", code=1).stdout
        self.assertIn("1 dump could not be read", text)
        self.assertIn("No such file", triage(self.folder / "missing", code=1).stdout)

    def test_wrong_usage(self) -> None:
        self.assertIn("no dump or folder", triage(code=2).stderr)
        self.assertIn("--format", triage("--format=xml", self.fleet, code=2).stderr)
        other = self.folder / "notes.txt"
        other.write_text("my notes\n", encoding="ascii")
        self.assertIn("notes.txt:1 is not a line", triage(f"--state={other}", self.fleet, code=2).stderr)
        self.assertEqual(other.read_text(encoding="ascii"), "my notes\n")
        dump = sorted(self.fleet.glob("*/*"))[0]
        before = dump.read_bytes()
        triage(f"--state={dump}", self.fleet, code=2)
        triage(f"--output={dump}", dump, code=2)
        self.assertEqual(dump.read_bytes(), before)
        shown = triage("--help").stdout
        self.assertIn("unpack triage", shown)
        self.assertLessEqual(max(map(len, shown.splitlines())), 100)

    def test_the_largest_groups_are_shown(self) -> None:
        text = triage("--top=1", self.fleet).stdout
        self.assertEqual(text.count("    example "), 1)
        self.assertIn("not shown: 3 groups with ", text)

    def test_memory_does_not_grow_with_dumps(self) -> None:
        def peak(folder: pathlib.Path) -> int:
            # A sanitizer keeps what is freed, up to a limit.
            options = os.environ.get("ASAN_OPTIONS", "")
            environment = {**os.environ, "ASAN_OPTIONS": f"{options}:quarantine_size_mb=1:"
                           "thread_local_quarantine_size_kb=64"}
            with subprocess.Popen([UNPACK, "triage", "--jobs=2", str(folder)], env=environment,
                                  stdout=subprocess.DEVNULL) as run:
                _, status, usage = os.wait4(run.pid, 0)
                run.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(run.returncode, 0)
            return usage.ru_maxrss
        few, many = self.folder / "few", self.folder / "many"
        for folder, count in ((few, 4), (many, 40)):
            make_fleet(folder, f"--count={count}", "--size=300000")
        self.assertLess(peak(many), peak(few) + 12000, "KiB")

    def test_lines_go_into_a_database(self) -> None:
        with sqlite3.connect(":memory:") as base:
            base.execute("create table lines (line text)")
            out = triage("--format=jsonl", self.fleet).stdout
            base.executemany("insert into lines values (?)", [(one,) for one in out.splitlines()])
            rows = base.execute(
                "select json_extract(line, '$.command'), count(*) from lines "
                "where json_extract(line, '$.type') = 'dump' group by 1 order by 2 desc").fetchall()
        self.assertEqual(sum(count for _, count in rows), COUNT)
        self.assertEqual(rows[0][0], "PIPE_CONTROL")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
