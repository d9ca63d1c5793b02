#!/usr/bin/python3
"""The rooms depend on each other only as docs/architecture.md allows."""

import pathlib
import re
import sys
import unittest

PAGE = pathlib.Path(sys.argv[1])
EDGES = pathlib.Path(sys.argv[2])

# What records drivers' calls needs programs around it.
OF_PROGRAMS_ALONE = {"runtime/capture/records", "runtime/capture/trace"}


def rooms(page: str) -> dict[str, set[str]]:
    """The table's rows: a room, and the rooms that it may depend on, in the order of the page."""
    found: dict[str, set[str]] = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        name = re.fullmatch(r"`([\w/]+?)/?`", cells[0])
        if line.startswith("|") and len(cells) == 3 and name:
            found[name.group(1)] = set(re.findall(r"`([\w/]+?)/?`", cells[2]))
    return found


def arrows(table: dict[str, set[str]], edges: str) -> dict[tuple[str, str], str]:
    """The dependencies between rooms, and an edge that is an example of each."""
    found: dict[tuple[str, str], str] = {}
    for line in edges.splitlines():
        ends = [room(table, label) for label in line.split()]
        if ends[0] != ends[1]:
            found.setdefault((ends[0], ends[1]), line)
    return found


def room(table: dict[str, set[str]], label: str) -> str:
    """The room of a target: the longest one that its package begins with; "" if there is none."""
    package = label.removeprefix("//").partition(":")[0]
    while package and package not in table:
        package = package.rpartition("/")[0]
    return package


class ArrowsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.table = rooms(PAGE.read_text(encoding="utf-8"))
        self.edges = EDGES.read_text(encoding="utf-8")
        self.arrows = arrows(self.table, self.edges)
        # //runtime itself only gathers the libraries.
        self.arrows = {(a, b): edge for (a, b), edge in self.arrows.items()
                       if not edge.startswith("//runtime:runtime ")}

    def test_there_are_rooms_and_arrows(self) -> None:
        self.assertGreater(len(self.table), 15)
        self.assertGreater(len(self.arrows), 30)

    def test_every_package_has_a_room(self) -> None:
        for ends, edge in self.arrows.items():
            self.assertNotIn("", ends, f"{edge}: docs/architecture.md has no row for the package")

    def test_every_dependency_is_one_that_the_table_allows(self) -> None:
        for (a, b), edge in self.arrows.items():
            self.assertIn(b, self.table.get(a, set()),
                          f"{edge}: docs/architecture.md does not let {a} depend on {b}")

    def test_every_dependency_in_the_table_is_there(self) -> None:
        for a, allowed in self.table.items():
            for b in allowed:
                self.assertIn((a, b), self.arrows, f"docs/architecture.md: {a} does not use {b}")

    def test_the_library_has_every_room_of_the_runtime(self) -> None:
        uses: dict[str, set[str]] = {}
        for line in self.edges.splitlines():
            user, used = line.split()
            uses.setdefault(user, set()).add(used)
        reached, open_ends = set(), ["//runtime:runtime"]
        while open_ends:
            target = open_ends.pop()
            if target not in reached:
                reached.add(target)
                open_ends += uses.get(target, ())
        there = {room(self.table, target) for target in reached}
        for name in self.table:
            if name.startswith("runtime/") and name not in OF_PROGRAMS_ALONE:
                self.assertIn(name, there, f"//runtime does not have {name}: add its libraries to "
                                           "runtime/BUILD")
        self.assertFalse(OF_PROGRAMS_ALONE & there)

    def test_a_room_stands_below_those_that_it_depends_on(self) -> None:
        order = list(self.table)
        for a, allowed in self.table.items():
            for b in allowed:
                self.assertIn(b, order, f"docs/architecture.md: {a} names {b}, which has no row")
                self.assertLess(order.index(b), order.index(a),
                                f"docs/architecture.md: {a} depends on {b}, which stands below it")


class ReadingTest(unittest.TestCase):
    """The parser itself, so that the test cannot pass by finding nothing."""

    TABLE = rooms("| folder | what | may depend on |\n|---|---|---|\n| `a` | x | – |\n"
                  "| `a/b` | y | `a` |\n| `c/` | z | `a`, `a/b` |\n")

    def test_rows_are_read(self) -> None:
        self.assertEqual(self.TABLE, {"a": set(), "a/b": {"a"}, "c": {"a", "a/b"}})

    def test_a_package_is_in_the_nearest_room(self) -> None:
        self.assertEqual(room(self.TABLE, "//a/b/d:e"), "a/b")
        self.assertEqual(room(self.TABLE, "//a/d:e"), "a")
        self.assertEqual(room(self.TABLE, "//d:e"), "")

    def test_edges_between_rooms_are_arrows(self) -> None:
        self.assertEqual(arrows(self.TABLE, "//a:x //a:y\n//c:x //a/b/d:y\n"),
                         {("c", "a/b"): "//c:x //a/b/d:y"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
