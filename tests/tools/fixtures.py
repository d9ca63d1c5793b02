"""Small inputs for unpack, made by hand, and functions that run it."""

import json
import os
import pathlib
import pty
import struct
import subprocess
import tempfile
import unittest
from collections.abc import Sequence
from typing import Any

CAPTURES = pathlib.Path("tests/data/captures").absolute()

END = 0x05000000  # MI_BATCH_BUFFER_END
UNKNOWN = 0xE0000001


def words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def note(kind: int, value: object) -> bytes:
    name = b"packsmith\0\0\0"
    content = json.dumps(value).encode()
    return (struct.pack("<3I", 10, len(content), kind) + name + content +
            b"\0" * (-len(content) % 4))


def core(device: dict[str, object], batch: bytes, index: int = 0,
         buffers: Sequence[dict[str, object]] = (), complete: bool = False) -> bytes:
    """A GPU core dump with one submission, whose batch is at 0x1000.

    complete: the dump says that it has all memory that the submission may use.
    """
    notes = note(0x50530001, device) + note(0x50530002, {
        "index": index, "engine": "render", "space": 0, "batch_address": "0x1000",
        "batch_length": len(batch)})
    for buffer in buffers:
        notes += note(0x50530003, buffer)
    if complete:
        notes += note(0x50530004, {"complete": 1})
    begin = 64 + 2 * 56
    header = b"\x7fELF\2\1\1" + b"\0" * 9 + struct.pack(
        "<HHIQQQIHHHHHH", 4, 205, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    header += struct.pack("<IIQQQQQQ", 4, 0, begin, 0, 0, len(notes), len(notes), 4)
    header += struct.pack("<IIQQQQQQ", 1, 6, begin + len(notes), 0x1000, 0, len(batch),
                          len(batch), 4)
    return header + notes + batch


def cores(capture: str) -> list[str]:
    """The dumps of a capture of tests/data."""
    return sorted(str(path) for path in (CAPTURES / capture).glob("*.core.zst"))


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([program, *arguments], capture_output=True, check=False)


def lines(program: str, *arguments: str) -> list[dict[str, Any]]:
    """What it writes as JSON lines."""
    return [json.loads(line) for line in run(program, "--format=jsonl", *arguments).stdout.splitlines()]


def on_terminal(program: str, *arguments: str, **environment: str) -> tuple[bytes, int]:
    """What a program shows on a terminal, and its exit code. Skips the test where no terminal can
    be had."""
    try:
        parent, child = pty.openpty()
    except OSError as error:
        raise unittest.SkipTest(f"no terminal can be had here: {error}") from error
    shown = b""
    try:
        with subprocess.Popen([program, *arguments], stdout=child, stderr=subprocess.DEVNULL,
                              env={"PATH": "/bin:/usr/bin", **environment}) as process:
            os.close(child)
            while True:
                try:
                    piece = os.read(parent, 65536)
                except OSError:  # the end of a terminal that has no writer any more
                    break
                if not piece:
                    break
                shown += piece
    finally:
        os.close(parent)
    return shown, process.returncode


class ProgramTest(unittest.TestCase):
    """Tests of a program, with a folder for its files."""

    program = ""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = directory.name

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def file(self, name: str, content: bytes = b"") -> str:
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def read(self, name: str) -> bytes:
        with open(self.path(name), "rb") as file:
            return file.read()

    def run_it(self, *arguments: str, stdin: bytes = b"",
               **more: object) -> subprocess.CompletedProcess:
        environment = {"PATH": os.environ.get("PATH", "/bin:/usr/bin")}
        return subprocess.run([self.program, *arguments], input=stdin, capture_output=True,
                              env=environment, check=False, **more)

    def refused(self, *arguments: str, stdin: bytes = b"", **more: object) -> str:
        """The message for wrong usage, which prints nothing else."""
        done = self.run_it(*arguments, stdin=stdin, **more)
        self.assertEqual(done.returncode, 2, (arguments, done.stderr))
        self.assertEqual(done.stdout, b"", arguments)
        return done.stderr.decode()
