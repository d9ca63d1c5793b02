#!/usr/bin/python3
"""unpack --query agrees with the records of captures, and the recipes of its page run."""

import csv
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import unittest

import fixtures
from fixtures import END, ProgramTest, words

UNPACK = os.path.abspath(sys.argv.pop(1))
ProgramTest.program = UNPACK
PAGE = pathlib.Path("docs/dump-queries.md").absolute()
CAPTURE = pathlib.Path("tests/data/captures/skl-gl-basic").absolute()
CORES = sorted(str(path) for path in CAPTURE.glob("*.core.zst"))
TOPOLOGY = "3DSTATE_VF_TOPOLOGY.Primitive Topology Type"


class QueryTest(ProgramTest):
    def lines(self, *arguments: str) -> list[dict]:
        done = self.run_it("--format=jsonl", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def topologies(self) -> dict[int, str]:
        """By the draw: what its packets say, in the order in which they come."""
        last, found = None, {}
        for record in self.lines(*CORES):
            if record.get("name") == "3DSTATE_VF_TOPOLOGY":
                last = next(f["enum"] for f in record["fields"]
                            if f["name"] == "Primitive Topology Type")
            if record["type"] == "packet" and "draw" in record:
                found[record["draw"]] = last
        return found

    def test_each_draw_has_the_value_that_its_packets_set(self) -> None:
        expected = self.topologies()
        self.assertGreater(len(set(expected.values())), 1)
        values = self.lines("--query", TOPOLOGY, *CORES)
        self.assertEqual({line["draw"]: line["enum"] for line in values}, expected)
        self.assertEqual(len(values), len(expected))
        for line in values:
            self.assertEqual((line["type"], line["record"], line["field"]),
                             ("value", "3DSTATE_VF_TOPOLOGY", "Primitive Topology Type"))

    def test_a_name_that_no_field_has_is_refused(self) -> None:
        for arguments in ("--query=Kernel Start Pinter",), ("--query=*", "--where=Vertx Count=3"):
            done = self.run_it(*arguments, *CORES)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(b"has no field with that name", done.stderr)
            self.assertIn(b"did you mean", done.stderr.lower())

    def test_booleans_are_asked_for_by_words_and_by_numbers(self) -> None:
        for number, word in ("1", "true"), ("0", "false"):
            self.assertEqual(self.lines("--query", TOPOLOGY, f"--where=3DSTATE_VS.Enable={number}", *CORES),
                             self.lines("--query", TOPOLOGY, f"--where=3DSTATE_VS.Enable={word}", *CORES))
        self.assertTrue(self.lines("--query", TOPOLOGY, "--where=3DSTATE_VS.Enable=1", *CORES))

    def test_changes(self) -> None:
        expected = self.topologies()
        changes = {line["draw"]: line["enum"]
                   for line in self.lines("--query", TOPOLOGY, "--changes", *CORES)}
        self.assertEqual(changes, {draw: value for draw, value in expected.items()
                                   if value != expected.get(draw - 1)})

    def test_where(self) -> None:
        expected = self.topologies()
        value = expected[1]
        for wanted in (value, value.lower(), value[:-2] + "*"):
            lines = self.lines("--query", "Vertex Count Per Instance",
                               f"--where={TOPOLOGY}={wanted}", *CORES)
            self.assertEqual({line["draw"] for line in lines},
                             {draw for draw, other in expected.items() if other == value})
        # By its number, and both conditions.
        self.assertEqual(self.lines(f"--where={TOPOLOGY}=0xf", f"--where={TOPOLOGY}=6", *CORES), [])
        self.assertEqual({line["enum"] for line in self.lines(f"--where={TOPOLOGY}=0xf", *CORES)},
                         {"RECTLIST"})

    def test_structures_are_those_that_the_draw_finds(self) -> None:
        seen = {(line["draw"], line["value"])
                for line in self.lines("--query=Surface Base Address", *CORES)}
        listed = {(line["draw"], surface["address"])
                  for line in self.lines("--draws", *CORES) if line["type"] == "draw"
                  for kind in ("targets", "textures", "surfaces") for surface in line[kind]}
        self.assertNotEqual(listed, set())
        self.assertLessEqual(listed, seen)

    def test_csv(self) -> None:
        done = self.run_it("--query=*Base Address", "--format=csv", *CORES)
        rows = list(csv.DictReader(done.stdout.decode().splitlines()))
        lines = self.lines("--query=*Base Address", *CORES)
        self.assertEqual(len(rows), len(lines))
        for row, line in zip(rows, lines):
            self.assertEqual(row, {
                "kind": "draw", "number": str(line["draw"]),
                "submission": str(line["submission"]), "address": line["address"],
                "record": line["record"], "field": line["field"], "value": line["value"],
                "name": line.get("enum", "")})

    def test_csv_has_one_heading_also_without_values_and_of_several_gpus(self) -> None:
        heading = "kind,number,submission,address,record,field,value,name"
        none = self.run_it(f"--where={TOPOLOGY}=0xff", "--format=csv", *CORES)
        self.assertEqual((none.returncode, none.stdout.decode()), (0, heading + "\n"))
        others = sorted(str(path) for path in CAPTURE.parent.glob("tgl-gl-basic/*.core.zst"))
        both = self.run_it(f"--query={TOPOLOGY}", "--format=csv", *CORES, *others)
        lines = both.stdout.decode().splitlines()
        self.assertEqual((lines[0], lines.count(heading)), (heading, 1))
        rows = [line for capture in (CORES, others) for line in self.run_it(
            f"--query={TOPOLOGY}", "--format=csv", *capture).stdout.decode().splitlines()[1:]]
        # Draws are counted on.
        self.assertEqual([row.split(",")[2:] for row in lines[1:]],
                         [row.split(",")[2:] for row in rows])
        self.assertGreater(int(lines[-1].split(",")[1]), int(rows[-1].split(",")[1]))

    def test_state_of_all_kinds_of_work(self) -> None:
        # No draw alone reads STATE_BASE_ADDRESS.
        core = self.file("a.core", fixtures.core(
            {"family": "intel", "generation": "gfx9"},
            words(0x69040300, 0x7b000005, 0, 3, 0, 1, 0, 0, 0x69040302,
                  0x7b000005, 0, 3, 0, 1, 0, 0, END)))
        values = [(line["draw"], line["value"])
                  for line in self.lines("--query=PIPELINE_SELECT.Pipeline Selection", core)]
        self.assertEqual(values, [(1, "0"), (2, "2")])

    def test_wrong_usage(self) -> None:
        self.assertIn("FIELD=VALUE", self.refused("--query=a", "--where=b", CORES[0]))
        self.assertIn("--changes is for --query", self.refused("--changes", CORES[0]))
        self.assertIn("--format=csv is for", self.refused("--format=csv", CORES[0]))
        self.assertIn("--query", self.refused("--query=a", "--draws", CORES[0]))
        self.assertIn("--where", self.refused("--where=a=b", "--draw=1", CORES[0]))
        self.assertIn("--format=stats", self.refused("--query=a", "--format=stats", CORES[0]))
        self.assertIn("names of fields", self.refused("--query=,", CORES[0]))

    def recipes(self) -> list[str]:
        recipes = re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text(encoding="utf-8"),
                             re.MULTILINE | re.DOTALL)
        self.assertGreater(len(recipes), 3)
        return recipes

    def results(self, records: list[str]) -> list[list[tuple]]:
        """What the recipes that ask something find."""
        connection = sqlite3.connect(":memory:")
        self.addCleanup(connection.close)
        results = []
        for recipe in self.recipes():
            # What begins with a point is sqlite's shell's.
            before, shell, after = recipe.partition(".mode tabs\n.import /tmp/records.jsonl line\n")
            for statement in before.split(";"):
                result = connection.execute(statement).fetchall() if statement.strip() else None
                if result:
                    results.append(result)
            if shell:
                connection.executemany("INSERT INTO line VALUES (?)", [(r,) for r in records])
                connection.executescript(after)
        self.assertEqual(len(results), len(self.recipes()) - 1)
        return results

    def test_the_recipes_of_the_page(self) -> None:
        records = self.run_it("--format=jsonl", *CORES).stdout.decode().splitlines()
        packets = [json.loads(line) for line in records]
        names = [p["name"] for p in packets if p["type"] == "packet"]
        top = sorted(set(names), key=lambda name: (-names.count(name), name))[:3]
        self.assertEqual(self.results(records)[0], [(name, names.count(name)) for name in top])

    def test_the_recipes_of_the_page_in_the_shell_of_sqlite(self) -> None:
        if shutil.which("sqlite3") is None:
            self.skipTest("sqlite3 is not installed")
        records = self.run_it("--format=jsonl", *CORES).stdout
        text = "".join(self.recipes()).replace("/tmp/records.jsonl",
                                               self.file("records.jsonl", records))
        done = subprocess.run(["sqlite3", "-batch", "-bail", ":memory:"], input=text, text=True,
                              capture_output=True, check=False,
                              env={"PATH": os.environ["PATH"], "HOME": self.folder})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        expected = [["" if cell is None else str(cell) for cell in row]
                    for result in self.results(records.decode().splitlines()) for row in result]
        self.assertEqual([line.split("\t") for line in done.stdout.splitlines()], expected)

    def test_the_examples_of_the_page(self) -> None:
        page = PAGE.read_text(encoding="utf-8")
        text = self.run_it("--query", TOPOLOGY, "--changes", CORES[0]).stdout.decode()
        self.assertIn("```\n" + text + "```\n", page)
        text = self.run_it("--where=Surface Format=R8G8B8A8_UINT", "--format=csv",
                           CORES[0]).stdout.decode()
        self.assertIn("```\n" + "".join(text.splitlines(True)[:3]) + "```\n", page)


if __name__ == "__main__":
    unittest.main()
