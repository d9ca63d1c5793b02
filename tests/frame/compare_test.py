#!/usr/bin/python3
"""The tables of docs/runtime.md: which packets the frame emits, and which a real driver does that
draws and computes the same. Says what a table should be where it is not."""

import os
import pathlib
import sys
import tempfile
import unittest
from collections.abc import Iterator

from program import GENERATIONS, capture, records, run

FRAME, UNPACK = (os.path.abspath(path) for path in sys.argv[1:3])
PAGE = pathlib.Path("docs/runtime.md")
DRAW = "3DPRIMITIVE"
# Of the captures: the first one of what the frame draws, and the slots of the driver's contexts.
DRIVERS_DRAW, DRAWING_SLOT, COMPUTING_SLOT = 13, 0, 1

Emitted = tuple[dict, str]


def emitted(unpack_arguments: list[str]) -> Iterator[Emitted]:
    """Each packet, with its submission; loads of registers with the register's name."""
    decoded = records(UNPACK, *unpack_arguments)
    registers: dict[int, str] = {}
    for record in decoded:
        if "register" in record and "parent" in record:
            registers[record["parent"]] = record.get("name", record["register"])
    submission: dict = {}
    for record in decoded:
        if record["type"] == "submission":
            submission = record
        elif record["type"] == "packet":
            register = registers.get(record["id"])
            yield submission, record["name"] + (f" {register}" if register else "")


def drivers_draw(platform: str) -> set[str]:
    names: set[str] = set()
    draws = 0
    for submission, name in emitted(capture(f"{platform}-gl-basic")):
        if submission["slot"] != DRAWING_SLOT:
            continue
        names.add(name)
        draws += name == DRAW
        if draws == DRIVERS_DRAW:
            return names
    raise AssertionError(f"{platform}: {draws} draws")


def drivers_dispatch(platform: str) -> set[str]:
    computing = [(submission["index"], name)
                 for submission, name in emitted(capture(f"{platform}-gl-compute"))
                 if submission["slot"] == COMPUTING_SLOT]
    return {name for index, name in computing if index == computing[0][0]}


def table(frames: list[set[str]], drivers: list[set[str]]) -> dict[str, list[str]]:
    """Rows of the packets that only one emits on some generation, and how many both emit."""
    rows = {"in both": [str(len(a & b)) for a, b in zip(frames, drivers)]}
    for name in sorted(set().union(*frames, *drivers)):
        cells = [("both" if name in b else "frame") if name in a else "driver" if name in b else ""
                 for a, b in zip(frames, drivers)]
        if {"frame", "driver"} & set(cells):
            rows[name] = cells
    return rows


def tables_of_page() -> list[dict[str, list[str]]]:
    tables: list[dict[str, list[str]]] = []
    rows: dict[str, list[str]] | None = None
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().strip("`") for cell in line.split("|")[1:-1]]
        if cells[:2] == ["packet", "gfx9"]:
            rows = {}
            tables.append(rows)
        elif not cells:
            rows = None
        elif rows is not None and set(cells[0]) != {"-"}:
            rows[cells[0]] = cells[1:]
    return tables


class CompareTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        draws, dispatches = [], []
        with tempfile.TemporaryDirectory() as directory:
            for generation in GENERATIONS:
                core = os.path.join(directory, f"{generation}.core")
                run(FRAME, generation, core)
                names = [name for _, name in emitted([core])]
                behind = names.index(DRAW) + 1
                draws.append(set(names[:behind]))
                dispatches.append(set(names[behind:]))
        platforms = GENERATIONS.values()
        cls.expected = [table(draws, [drivers_draw(p) for p in platforms]),
                        table(dispatches, [drivers_dispatch(p) for p in platforms])]
        cls.shown = tables_of_page()

    def test_the_tables_are_those_of_the_captures_and_the_frame(self) -> None:
        self.maxDiff = None
        self.assertEqual(len(self.shown), len(self.expected))
        for expected, shown in zip(self.expected, self.shown):
            self.assertEqual({name: cells[:-1] for name, cells in shown.items()}, expected)

    def test_each_difference_has_a_reason(self) -> None:
        for shown in self.shown:
            for name, cells in shown.items():
                self.assertTrue(cells[-1] or name == "in both", name)

    def test_most_is_the_same(self) -> None:
        for count in self.expected[0]["in both"]:
            self.assertGreater(int(count), len(self.expected[0]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
