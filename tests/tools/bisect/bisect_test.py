#!/usr/bin/python3
"""packsmith-bisect with commands whose answers are known."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BISECT, UNPACK = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
CAPTURE = os.path.abspath("tests/data/captures/skl-gl-basic/01.core.zst")
DRAWS = os.path.abspath("tests/data/captures/skl-gl-basic/02.core.zst")


def run(*arguments: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    return subprocess.run([BISECT, *arguments], capture_output=True, text=True, check=False,
                          timeout=timeout)


class Bisect(unittest.TestCase):
    """The smallest dump, the limits, and commands that misbehave."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.output = os.path.join(self.folder, "small.core")
        os.environ["TMPDIR"] = os.path.join(self.folder, "tmp")
        os.mkdir(os.environ["TMPDIR"])

    def tearDown(self) -> None:
        # Candidates are gone.
        self.assertEqual(os.listdir(os.environ["TMPDIR"]), [])

    def names(self, path: str) -> list[str]:
        shown = subprocess.run([UNPACK, "--format=names", "--no-offsets", "--follow=batches", path],
                               capture_output=True, text=True, check=True)
        return [line.strip() for line in shown.stdout.splitlines() if line.strip()]

    def script(self, text: str) -> str:
        path = os.path.join(self.folder, "ask.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return path

    def test_keeps_what_the_command_needs(self) -> None:
        done = run("-o", self.output, DRAWS, "--", "sh", "-c", f'"{UNPACK}" --format=names '
                   '--follow=batches {} | grep -q "3DPRIMITIVE$"')
        self.assertEqual(done.returncode, 0, done.stderr)
        first, *kept = done.stdout.splitlines()
        self.assertRegex(first, r"^1 of \d+ packets are left; none of them can be left out$")
        self.assertEqual(len(kept), 1)
        self.assertTrue(kept[0].endswith("  3DPRIMITIVE"), kept)
        names = self.names(self.output)
        self.assertEqual(sum(name.endswith("3DPRIMITIVE") for name in names), 1)
        self.assertFalse(any("3DSTATE" in name for name in names))
        self.assertRegex(done.stderr.splitlines()[0], r"^run 1: (\d+) of \1 packets: yes$")

    def test_the_same_answers_give_the_same_dump(self) -> None:
        # Yes for the first one, then an answer that depends on the candidate's bytes; the file's
        # name is the last argument.
        first = os.path.join(self.folder, "first")
        ask = self.script(f'test -e {first} || exec touch {first}\n'
                          'test $(( $(cksum < "$1" | cut -d" " -f1) % 3 )) -ne 1\n')
        results = []
        for _ in range(2):
            done = run("--max-runs=20", "-o", self.output, CAPTURE, "--", ask)
            self.assertEqual(done.returncode, 0, done.stderr)
            os.remove(first)
            with open(self.output, "rb") as file:
                results.append((done.stdout, done.stderr, file.read()))
        self.assertEqual(results[0], results[1])

    def test_limits_write_the_smallest_so_far(self) -> None:
        done = run("--max-runs=3", "-o", self.output, CAPTURE, "--", "true")
        self.assertEqual(done.returncode, 0)
        # All; none; then nothing is left to ask.
        self.assertIn("0 of", done.stdout)
        slow = self.script("sleep 0.2\n")
        done = run("--seconds=0.1", "-o", self.output, CAPTURE, "--", slow)
        self.assertEqual(done.returncode, 0)
        self.assertIn("--seconds=0.1 are over", done.stderr)
        self.assertTrue(os.path.exists(self.output))

    def test_a_command_that_says_no_at_once_writes_nothing(self) -> None:
        done = run("-o", self.output, CAPTURE, "--", "false")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the command says no for", done.stderr)
        self.assertFalse(os.path.exists(self.output))

    def test_a_command_that_cannot_be_started_is_an_error(self) -> None:
        done = run("-o", self.output, CAPTURE, "--", "/no/such/program")
        self.assertEqual(done.returncode, 1)
        self.assertIn('"/no/such/program" cannot be started: No such file', done.stderr)
        self.assertFalse(os.path.exists(self.output))

    def test_crashes_and_hangs_are_no(self) -> None:
        # The whole dump says yes; then it crashes, hangs with a child that hangs, or says no.
        state = os.path.join(self.folder, "state")
        ask = self.script(f'echo >> {state}\ncase $(wc -l < {state}) in\n1) exit 0;;\n'
                          '2) kill -SEGV $$;;\n3) sleep 1000 & wait;;\n*) exit 7;;\nesac\n')
        done = run("--timeout=0.5", "--max-runs=4", "-o", self.output, CAPTURE, "--", ask)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.splitlines()
        self.assertIn("no (killed by a signal)", lines[1])
        self.assertIn("no (timeout)", lines[2])
        self.assertTrue(lines[3].endswith(": no"), lines[3])

    def test_interrupting_it_keeps_the_smallest_so_far(self) -> None:
        ready = os.path.join(self.folder, "ready")
        ask = self.script(f'if test -e {ready}.1; then touch {ready}; sleep 1000; fi\n'
                          f'touch {ready}.1\n')
        with subprocess.Popen([BISECT, "--timeout=500", "-o", self.output, CAPTURE, "--", ask],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while not os.path.exists(ready) and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn("interrupted; the smallest dump until now is written", errors)
        self.assertRegex(output, r"^(\d+) of \1 packets are left\n")
        self.assertTrue(os.path.exists(self.output))

    def test_what_the_command_prints_is_shown_if_asked(self) -> None:
        for option, shown in (("--show", True), ("--max-runs=9", False)):
            done = run(option, "-o", self.output, CAPTURE, "--", "echo", "heard: {}")
            self.assertEqual(done.returncode, 0)
            self.assertEqual("heard: /" in done.stderr, shown)

    def test_wrong_usage(self) -> None:
        for arguments, text in ((["-o", "x", CAPTURE], "a command must follow --"),
                                ([CAPTURE, "--", "true"], "--output=FILE must be given"),
                                (["-o", "x", "--", "true"], "a dump must be given"),
                                (["-o", CAPTURE, CAPTURE, "--", "true"], "overwritten"),
                                (["--seconds=0", "-o", "x", CAPTURE, "--", "true"], "--seconds")):
            with self.subTest(arguments):
                done = run(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
