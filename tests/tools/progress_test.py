#!/usr/bin/python3
"""The line that says how far a program is."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fixtures import END, ProgramTest, core, words  # noqa: E402

ProgramTest.program = os.path.abspath(sys.argv.pop(1))
PACK = os.path.abspath(sys.argv.pop(1))
GFX9 = {"family": "intel", "generation": "gfx9"}
WIPE = b"\r\x1b[K"


class ProgressTest(ProgramTest):
    """Programs that read from a pipe wait as long as these tests want."""

    def start(self, *command: str, stdout: int = subprocess.DEVNULL, term: str = "vt100") -> None:
        try:
            self.terminal, child = pty.openpty()
        except OSError as error:
            self.skipTest(f"no terminal can be had here: {error}")
        self.addCleanup(os.close, self.terminal)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE,
                                        stdout=child if stdout == -100 else stdout, stderr=child,
                                        env={"PATH": "/bin:/usr/bin", "TERM": term})
        self.addCleanup(self.process.kill)
        os.close(child)

    def shown(self, seconds: float, until: bytes = b"\0") -> bytes:
        """What appears on the terminal in that time, or until something does."""
        text = b""
        end = time.monotonic() + seconds
        while until not in text and time.monotonic() < end:
            if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
                break
            try:
                piece = os.read(self.terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
        return text

    def finish(self, content: bytes) -> bytes:
        self.process.stdin.write(content)
        self.process.stdin.close()
        text = self.shown(60)
        self.assertEqual(self.process.wait(), 0)
        return text

    def test_it_appears_after_a_second_and_is_wiped(self) -> None:
        began = time.monotonic()
        self.start(self.program, "-")
        text = self.shown(60, b"reading -")
        self.assertIn(WIPE + b"unpack: reading -", text)
        self.assertGreater(time.monotonic() - began, 1)
        self.assertIn(b" s", self.shown(60, b"2 s"))
        text = self.finish(core(GFX9, words(END)))
        self.assertTrue(text.endswith(WIPE), text)

    def test_work_of_less_than_a_second_shows_nothing(self) -> None:
        self.start(self.program, self.file("a.core", core(GFX9, words(END))))
        self.assertEqual(self.finish(b""), b"")

    def test_a_message_is_on_a_line_of_its_own(self) -> None:
        self.start(self.program, "-")
        self.shown(60, b"reading -")
        self.process.stdin.close()
        text = self.shown(60)
        self.assertRegex(text.replace(b"\r\n", b"\n"), rb"\r\x1b\[Kunpack: <stdin>[^\r]*\n")

    def test_output_on_the_terminal_comes_instead(self) -> None:
        self.start(self.program, "--no-pager", "--color=never", "-", stdout=-100)
        self.shown(60, b"reading -")
        text = self.finish(core(GFX9, words(END)))
        self.assertIn(WIPE + b"device", text)
        self.assertNotIn(b"\x1b", text[text.index(b"device"):])

    def test_no_terminal_or_a_dumb_one_gets_nothing(self) -> None:
        self.start(self.program, "-", term="dumb")
        self.assertEqual(self.shown(1.5), b"")
        self.finish(core(GFX9, words(END)))
        with subprocess.Popen([self.program, "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, env={"TERM": "vt100"}) as process:
            time.sleep(1.5)
            self.assertEqual(process.communicate(core(GFX9, words(END)))[1], b"")

    def test_pack_and_triage_have_one(self) -> None:
        self.start(PACK, "--gen=gfx9", "--format=bytes", "-o", self.path("out"), "-")
        self.assertIn(b"pack: reading -", self.shown(60, b"reading -"))
        self.assertTrue(self.finish(b"MI_NOOP\n").endswith(WIPE))
        os.mkfifo(self.path("dump"))
        self.start(self.program, "triage", self.path("dump"))
        self.assertIn(b"unpack triage: 0 of 1 files", self.shown(60, b"files"))
        self.process.send_signal(signal.SIGKILL)

    def test_lint_and_diff_have_one(self) -> None:
        dump = self.file("a.core", core(GFX9, words(END)))
        for verb, files in (("lint", ["-"]), ("diff", [dump, "-"])):
            self.start(self.program, verb, *files)
            self.assertIn(b"unpack %s: reading -" % verb.encode(), self.shown(60, b"reading -"))
            self.assertTrue(self.finish(core(GFX9, words(END))).endswith(WIPE))


if __name__ == "__main__":
    unittest.main()
