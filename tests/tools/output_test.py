#!/usr/bin/python3
"""Where unpack's text goes, what it may contain, and where it ends."""

import json
import os
import pathlib
import resource
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fixtures import END, ProgramTest, core, on_terminal, words  # noqa: E402

ProgramTest.program = os.path.abspath(sys.argv.pop(1))
CAPTURE = os.path.abspath("tests/data/captures/skl-gl-basic/00.core.zst")
GFX9 = {"family": "intel", "generation": "gfx9"}
# Right-to-left override, isolate, zero width space, line separator, a tag, soft hyphen.
HIDDEN = ["\u202e", "\u2066", "\u200b", "\u2028", "\U000e0041", "\u00ad"]


class PagerTest(ProgramTest):
    def paged(self, *arguments: str, pager: str) -> str:
        """What appears on a terminal."""
        shown, exit_code = on_terminal(self.program, *arguments, TERM="xterm", NO_COLOR="1",
                                       PAGER=pager)
        self.assertEqual(exit_code, 0)
        return shown.decode().replace("\r\n", "\n")

    def test_without_a_pager_the_text_is_shown_all_the_same(self) -> None:
        small = self.file("a.core", core(GFX9, words(END)))
        for dump in (small, CAPTURE):
            wanted = self.run_it(dump).stdout.decode()
            for pager in ("no-such-pager", "/", "exit 127", "no-such-pager -R | cat >&2; exit 126"):
                self.assertEqual(self.paged(dump, pager=pager), wanted, pager)
        self.assertGreater(len(wanted), 1 << 17)  # more than a pipe holds
        self.assertIn("gfx9", self.paged("--list", pager="no-such-pager"))

    def test_a_pager_that_is_left_gets_nothing_more(self) -> None:
        self.assertEqual(self.paged(CAPTURE, pager="head -c 6").strip(), "device")


class HiddenCharactersTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.names = [f"a{character}b" for character in HIDDEN]
        buffers = [{"space": 0, "address": "0x1000", "size": 4096, "name": self.names[0]}]
        device = {**GFX9, "driver": "".join(self.names), "platform": "caf\u00e9"}
        self.dump = self.file("a.core", core(device, words(END), buffers=buffers))

    def test_text_shows_them_as_escapes(self) -> None:
        shown = self.run_it(self.dump).stdout.decode()
        for character in HIDDEN:
            self.assertNotIn(character, shown)
        for escape in (r"a\u202eb", r"a\u2066b", r"a\u200bb", r"a\u2028b", r"a\U000e0041b",
                       r"a\u00adb"):
            self.assertIn(escape, shown)
        self.assertIn("caf\u00e9", shown)

    def test_json_has_escapes_that_mean_the_same(self) -> None:
        written = self.run_it("--format=jsonl", self.dump).stdout.decode()
        for character in HIDDEN:
            self.assertNotIn(character, written)
        device = next(r for r in map(json.loads, written.splitlines()) if r["type"] == "device")
        self.assertEqual(device["driver"], "".join(self.names))
        self.assertEqual(device["platform"], "caf\u00e9")

    def test_so_does_the_report_about_a_hang(self) -> None:
        with open("tests/data/hang/skl-gl-basic.error", "rb") as file:
            content = file.read()
        odd = content.replace(b"rcs0 command stream:\n",
                              "News: a\u202eb\nrcs0 command stream:\n".encode(), 1)
        error = self.file("error", odd)
        for form in ("text", "jsonl"):
            shown = self.run_it(f"--format={form}", error).stdout.decode()
            self.assertNotIn("\u202e", shown)
            self.assertIn(r"a\u202eb", shown)

    def test_so_does_the_title_of_a_description(self) -> None:
        xml = self.file("gpu.xml", """<packsmith family="f" generation="g" title="a\u202eb">
          <stream name="s"/>
          <packet name="END" dwords="1">
            <field name="Op" dword="0" bits="31:24" type="uint" forced="2"/>
            <flow kind="end"/>
          </packet>
        </packsmith>""".encode())
        shown = self.run_it(f"--xml={xml}", self.file("b", words(0x02000000))).stdout.decode()
        self.assertTrue(shown.startswith(r"device  a\u202eb"), shown)

    def test_messages_show_them_as_escapes(self) -> None:
        said = self.run_it(self.path("no\u202esuch")).stderr.decode()
        self.assertIn(r"no\u202esuch", said)


class BoundsTest(ProgramTest):
    def test_input_without_an_end_is_bounded_and_the_option_named(self) -> None:
        for arguments in (["/dev/zero"], ["--gen=gfx9", "/dev/zero"]):
            done = self.run_it("--max-input=1M", *arguments)
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertIn(b"/dev/zero: more than 1048576 bytes", done.stderr)
            self.assertIn(b"--max-input", done.stderr)

    def test_no_memory_for_more_of_it_is_a_message(self) -> None:
        if any(mark in pathlib.Path(self.program).read_bytes()
               for mark in (b"__asan_init", b"__tsan_init")):
            self.skipTest("a program with sanitizers needs more addresses than the limit leaves")
        limit = 512 << 20
        done = self.run_it("/dev/zero", preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_AS, (limit, limit)))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"/dev/zero: no memory", done.stderr)

    def test_a_limit_of_input_can_be_raised(self) -> None:
        batch = words(*[0] * 1023, END)
        self.assertEqual(self.run_it("--gen=gfx9", "--max-input=4095", "-", stdin=batch).returncode,
                         1)
        self.assertEqual(self.run_it("--gen=gfx9", "--max-input=4K", "-", stdin=batch).returncode, 0)

    def test_limits_of_decoding_name_their_option_and_can_be_raised(self) -> None:
        # Twenty calls, one inside the other: each batch starts the next and ends.
        batches = []
        for i in range(20):
            batches.append(f"{0x1000 * (i + 1):x}: 18c00101 {0x1000 * (i + 2):08x} 00000000 05000000")
        batches.append("15000: 05000000")
        path = self.file("b.hex", "\n".join(batches).encode())
        done = self.run_it("--gen=gfx9", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"--max-calls=N", done.stderr)
        self.assertEqual(self.run_it("--gen=gfx9", "--max-calls=30", path).returncode, 0)

        path = self.file("long", words(*[0] * 99, END))
        done = self.run_it("--gen=gfx9", "--max-packets=50", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"--max-packets=N", done.stderr)
        self.assertEqual(self.run_it("--gen=gfx9", "--max-packets=100", path).returncode, 0)

        done = self.run_it("--max-structs=5", CAPTURE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"--max-structs=N", done.stderr)
        self.assertEqual(self.run_it("--max-structs=5000", CAPTURE).returncode, 0)

        # Stores to two places; the second one may not be remembered.
        stores = self.file("stores", words(0x10000002, 0x9000, 0, 7, 0x10000002, 0x9004, 0, 8, END))
        self.assertEqual(self.run_it("--gen=gfx9", stores).returncode, 0)
        done = self.run_it("--gen=gfx9", "--max-stores=1", stores)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"--max-stores=N", done.stderr)
        self.assertEqual(self.run_it("--gen=gfx9", "--max-stores=2", stores).returncode, 0)
        for wrong in ("--max-packets=0", "--max-code=0", "--max-stores=0", "--max-calls=257",
                      "--max-pointers=65", "--max-input=0"):
            self.refused(wrong, CAPTURE)

    def test_a_program_that_is_cut_is_a_note_and_may_be_longer(self) -> None:
        done = self.run_it("--max-code=16", CAPTURE)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b" is cut after 16 bytes; unpack --max-code=N allows more", done.stdout)
        self.assertNotIn(b"--max-code", self.run_it("--max-code=1000000", CAPTURE).stdout)


class DisassemblerTest(ProgramTest):
    def test_the_message_of_one_that_fails_is_seen_without_the_text(self) -> None:
        place = self.path("out.txt")
        done = self.run_it("--disassembler=echo 'no such chip' >&2; exit 3", "-o", place, CAPTURE)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertIn(b"ended with exit code 3, and printed: no such chip", done.stderr)
        done = self.run_it("--disassembler=no-such-program", "-o", place, CAPTURE)
        self.assertIn(b"not found", done.stderr)
        self.assertEqual(self.run_it("--disassembler=true", "-o", place, CAPTURE).stderr, b"")


if __name__ == "__main__":
    unittest.main()
