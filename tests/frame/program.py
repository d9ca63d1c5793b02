"""The example program's cores and the captures, as unpack reads them."""

import json
import pathlib
import struct
import subprocess

GENERATIONS = {"gfx9": "skl", "gfx11": "icl", "gfx12": "tgl", "gfx125": "dg2"}
CAPTURES = pathlib.Path("tests/data/captures")
BUFFERS_NOTE = 0x50530003


def run(*arguments: str) -> str:
    done = subprocess.run(arguments, capture_output=True, check=False, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def records(unpack: str, *arguments: str) -> list[dict]:
    return [json.loads(line) for line in run(unpack, "--format=jsonl", *arguments).splitlines()]


def capture(name: str) -> list[str]:
    return sorted(str(path) for path in (CAPTURES / name).glob("*.core.zst"))


class Core:
    """The memory of a core dump, and the buffers in it."""

    def __init__(self, path: pathlib.Path) -> None:
        self.data = path.read_bytes()
        self.segments: list[tuple[int, int, int]] = []  # address, offset in the file, bytes
        self.buffers: list[dict] = []
        offset, = struct.unpack_from("<Q", self.data, 0x20)
        size, count = struct.unpack_from("<HH", self.data, 0x36)
        for i in range(count):
            kind, _, at, address, _, bytes_ = struct.unpack_from("<IIQQQQ", self.data,
                                                                 offset + i * size)
            if kind == 1:
                self.segments.append((address, at, bytes_))
            elif kind == 4:
                self._read_notes(at, at + bytes_)

    def _read_notes(self, at: int, end: int) -> None:
        while at < end:
            name, text, kind = struct.unpack_from("<III", self.data, at)
            begin = at + 12 + (name + 3 & ~3)
            if kind == BUFFERS_NOTE:
                self.buffers += json.loads(self.data[begin:begin + text])
            at = begin + (text + 3 & ~3)

    def buffer_at(self, address: int, size: int = 1) -> str | None:
        """The buffer that all of these bytes are in."""
        for buffer in self.buffers:
            begin = number(buffer["address"])
            if begin <= address and address + size <= begin + number(buffer["size"]):
                return buffer["name"]
        return None

    def address_of(self, name: str) -> int:
        return next(number(b["address"]) for b in self.buffers if b["name"] == name)

    def read(self, address: int, size: int) -> bytes:
        for begin, at, length in self.segments:
            if begin <= address < begin + length:
                return self.data[at + address - begin:at + address - begin + size]
        return b""


def number(value: int | str) -> int:
    return int(value, 0) if isinstance(value, str) else value


def fields(record: dict) -> dict:
    return {field["name"]: field["value"] for field in record["fields"]}
