#!/usr/bin/python3
"""unpack --redact: nothing of what a dump must not tell is left, and its structure is."""

import base64
import json
import os
import re
import struct
import sys
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fixtures import END, ProgramTest, core, words  # noqa: E402

ProgramTest.program = os.path.abspath(sys.argv.pop(1))
CAPTURES = "tests/data/captures/skl-gl-basic"
HANG = "tests/data/hang/skl-gl-basic.error"
# Data of the capture's second draw: vertices, and constants of all vertices.
VERTICES, ATTRIBUTES = 0xFFFEFFA00080, 0xFFFEFFA000C0
SHADER = 0xFFFF7000
SECRETS = {VERTICES: struct.pack("<3f", 31415.5, 27182.75, 16180.25),
           ATTRIBUTES: struct.pack("<3f", 14142.125, 17320.5, 22360.625)}
NUMBERS = (b"31415.5", b"27182.75", b"14142.125", b"17320.5")
NAME = b"hush"


class Redacted(ProgramTest):
    def good(self, *arguments: str) -> bytes:
        done = self.run_it(*arguments)
        self.assertEqual(done.returncode, 0, (arguments, done.stderr))
        return done.stdout

    def assert_gone(self, shown: bytes, *secrets: bytes) -> None:
        for secret in secrets:
            # (A failing assertNotIn would print everything.)
            self.assertFalse(secret in shown, secret)
            for size in (4, 8):
                for part in (secret[i:i + size] for i in range(0, len(secret) - size + 1, size)):
                    number = int.from_bytes(part, "little")
                    self.assertFalse(b"%x" % number in shown, part)


class CaptureTest(Redacted):
    def setUp(self) -> None:
        super().setUp()
        self.plain = self.path("plain.core")
        self.good("--convert=elf", "-o", self.plain, f"{CAPTURES}/00.core.zst")
        content = bytearray(self.read("plain.core"))
        self.shader = b""
        headers, count = struct.unpack_from("<Q", content, 32)[0], struct.unpack_from(
            "<H", content, 56)[0]
        for i in range(count):
            kind, _, offset, address, _, size = struct.unpack_from(
                "<IIQQQQ", content, headers + 56 * i)
            for at, secret in SECRETS.items():
                if kind == 1 and address <= at < address + size:
                    begin = offset + at - address
                    content[begin:begin + len(secret)] = secret
            if kind == 1 and address <= SHADER < address + size:
                self.shader = bytes(content[offset + SHADER - address:][:64])
        self.assertGreater(content.count(b'"bo13"'), 0)
        self.content = bytes(content).replace(b'"bo13"', b'"hush"').replace(b'"bo7"', b'"shh"')
        self.file("plain.core", self.content)

    def test_the_secrets_are_there_without_it(self) -> None:
        for secret in (*SECRETS.values(), NAME, self.shader):
            self.assertIn(secret, self.content)
        self.assertNotEqual(self.shader.count(0), 64)
        text = self.good(self.plain)
        for number in NUMBERS:
            self.assertIn(number, text)
        self.assertIn(NAME, text)

    def test_no_output_has_them(self) -> None:
        for arguments in ([], ["--format=jsonl"], ["--format=markdown"], ["--format=markdown",
                          "--draw=2"], ["--format=stats"], ["--draws"], ["--draw=2"],
                          ["--uses=0xfffeffa00080"], ["--query=Surface Format"]):
            shown = self.good("--redact", *arguments, self.plain)
            self.assertGreater(len(shown), 20, arguments)
            self.assert_gone(shown, *SECRETS.values())
            for secret in (*NUMBERS, NAME, b"shh", self.shader[:16], self.plain.encode()):
                self.assertFalse(secret in shown, (arguments, secret))

    def test_no_converted_dump_has_them(self) -> None:
        formats = self.run_it("--convert=x", "-o", self.path("x"), self.plain).stderr.decode()
        names = formats[formats.index("one of ") + 7:].split(";")[0].split(", ")
        self.assertIn("elf", names)
        for name in names:
            self.good("--redact", f"--convert={name}", "-o", self.path("shared"), self.plain)
            shared = self.read("shared")
            for secret in (*SECRETS.values(), NAME, b"shh", self.shader[:16],
                           self.plain.encode()):
                self.assertFalse(secret in shared, (name, secret))

    def test_packets_and_addresses_stay(self) -> None:
        self.good("--redact", "--convert=elf", "-o", self.path("shared.core"), self.plain)
        shared = self.path("shared.core")
        self.assertEqual(self.good("--format=names", shared),
                         self.good("--format=names", self.plain))
        self.assertEqual(self.good("--redact", shared).count(b"\n"),
                         self.good("--redact", self.plain).count(b"\n"))

        def structure(path: str) -> list[tuple[object, ...]]:
            records = [json.loads(line) for line in
                       self.good("--format=jsonl", path).decode().splitlines()]
            return [(record["name"], record["address"], record.get("dwords"))
                    for record in records if record["type"] in ("packet", "struct")]

        before, after = structure(self.plain), structure(shared)
        self.assertGreater(len(before), 700)
        self.assertEqual(after, before)

    def test_a_run_of_several_dumps_keeps_its_state(self) -> None:
        files = [f"{CAPTURES}/0{i}.core.zst" for i in range(5)]
        self.assertEqual(self.good("--redact", "--format=names", *files),
                         self.good("--format=names", *files))
        # In the wrong order, which a note says without the names of the files.
        shown = self.good("--redact", files[3], files[0])
        self.assertIn(b"file 2 begins with submission 0", shown)
        self.assertNotIn(b".core.zst", shown)

    def test_what_would_show_it_anyway_is_refused(self) -> None:
        for option in (f"--kernels={self.path('k')}", "--disassembler=cat", f"--dmesg={HANG}",
                       "--run", "--contexts", "--page-tables"):
            self.assertIn("do not go together", self.refused("--redact", option, self.plain))


    def page(self, *arguments: str) -> bytes:
        """A page for a browser, with what it holds compressed instead of that."""
        shown = self.good("--format=html", *arguments)
        held = re.compile(rb'<script type="application/x-packsmith">([^<]*)</script>')
        content = zlib.decompress(b"".join(base64.b64decode(part) for part in held.findall(shown)))
        self.assertGreater(len(content), 10_000)
        return held.sub(b"", shown) + content

    def test_no_page_has_them(self) -> None:
        # That they would be found: bytes are in the page as they are in memory.
        name = os.path.basename(self.plain).encode()
        page = self.page(self.plain)
        for secret in (*SECRETS.values(), NAME, name, self.shader[:16]):
            self.assertTrue(secret in page, secret)
        for arguments in ([], ["--draw=2"]):
            page = self.page("--redact", *arguments, self.plain)
            for secret in (*SECRETS.values(), NAME, b"shh", name, self.shader[:16], *NUMBERS):
                self.assertFalse(secret in page, (arguments, secret))
            self.assertTrue(b"3DPRIMITIVE" in page)


class UnknownTest(Redacted):
    def test_dwords_that_are_no_commands_are_gone(self) -> None:
        secret = b"a secret in the batch after its end and in an unknown packet"
        batch = words(0xE0000001) + secret + words(0, END)
        dump = self.file("a.core", core({"family": "intel", "generation": "gfx9"}, batch))
        self.good("--redact", "--convert=elf", "-o", self.path("b.core"), dump)
        self.assertFalse(b"secret" in self.read("b.core"))

    def test_problems_do_not_quote_the_input(self) -> None:
        content = core({"family": "intel", "generation": "gfx9"}, words(END),
                       buffers=[{"name": "hush", "space": 0, "address": "hush", "size": "hush"}])
        done = self.run_it("--redact", self.file("a.core", content))
        self.assertNotIn(NAME, done.stdout)


class HangTest(Redacted):
    def setUp(self) -> None:
        super().setUp()
        with open(HANG, "rb") as file:
            content = file.read()
        self.plain = self.file("error", content.replace(b"gl-basic", b"hush-app").replace(
            b"6.1.0-9-amd64", b"6.1.0-hush-9"))

    def test_names_of_processes_and_kernels_are_gone(self) -> None:
        self.assertIn(NAME, self.run_it("--hang", self.plain).stdout)
        for arguments in ([], ["--format=jsonl"], ["--format=markdown"], ["--hang"],
                          ["--hang", "--format=jsonl"]):
            shown = self.run_it("--redact", *arguments, self.plain).stdout
            self.assertGreater(len(shown), 1000, arguments)
            self.assertFalse(NAME in shown, arguments)
        shown = self.run_it("--redact", self.plain).stdout
        self.assertIn(b"6.1.0", shown)
        self.assertIn(b"process 1", shown)

    def test_the_verdict_is_the_same(self) -> None:
        def verdicts(*arguments: str) -> list[object]:
            lines = self.run_it("--hang", "--format=jsonl", *arguments, self.plain).stdout
            found = []
            for line in lines.decode().splitlines():
                found += json.loads(line).get("verdicts", [])
            return [(one["kind"], one["confidence"], one.get("address")) for one in found]

        self.assertNotEqual(verdicts(), [])
        self.assertEqual(verdicts("--redact"), verdicts())


if __name__ == "__main__":
    unittest.main()
