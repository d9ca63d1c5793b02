#!/usr/bin/python3
"""Descriptions against the definitions of Mesa, of Intel's media driver and its compute driver.

  definitions_test.py [--refresh] DESCRIPTION.json ...

--refresh writes the counts of differences.tsv again, takes out lines that cover nothing, lists what
came and what went, and differences without a reason; known.tsv.xz then has what there is.
"""

import copy
import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import definitions  # noqa: E402

HERE = pathlib.Path("tests/definitions")
DESCRIPTIONS = {pathlib.Path(path).name.removesuffix("_description.json"): path
                for path in sys.argv[1:] if path.endswith(".json")}


def made(fields, **more):
    """A definition with fields (first, last) or (first, last, kind)."""
    leaves = [definitions.Leaf(f"f{i}", *one[:2], one[2] if len(one) > 2 else "bits")
              for i, one in enumerate(fields)]
    values = {"kind": "packet", "dwords": 2, "bias": 2, "mask": 0, "value": 0,
              "engines": frozenset(), "source": "ihd/g9/x"} | more
    return definitions.Definition("P", fields=leaves, **values)


def classes(here, other):
    return [one and one.cls for one in definitions.compare(here, other, "gfx9")]


class Classes(unittest.TestCase):
    """Each class, by the smallest definitions that have it."""

    def test_fields_agree(self):
        self.assertEqual(classes(made([(0, 7), (8, 8)]), made([(0, 7), (8, 8)])), [None, None])

    def test_a_float_is_not_an_integer(self):
        self.assertEqual(classes(made([(0, 31)]), made([(0, 31, "float")])), ["kind"])
        self.assertEqual(classes(made([(0, 31, "address")]), made([(0, 31)])), [None])

    def test_another_width(self):
        self.assertEqual(classes(made([(0, 7)]), made([(0, 6)])), ["narrower there"])
        self.assertEqual(classes(made([(0, 7)]), made([(0, 8)])), ["wider there"])

    def test_a_field_that_moved(self):
        self.assertEqual(classes(made([(0, 7)]), made([(8, 15)])), ["only there", "only here"])
        self.assertEqual(classes(made([(0, 7)]), made([(4, 11)])), ["boundaries cross"])

    def test_the_same_bits_in_other_parts(self):
        self.assertEqual(classes(made([(0, 7)]), made([(0, 3), (4, 7)])), ["finer there"] * 2)
        self.assertEqual(classes(made([(0, 3), (4, 7)]), made([(0, 7)])), ["finer here"])

    def test_addresses_may_have_another_end(self):
        self.assertEqual(classes(made([(6, 63, "address")]), made([(6, 47)])), ["address extent"])

    def test_another_length(self):
        self.assertEqual(classes(made([]), made([], dwords=3)), ["length"])
        self.assertEqual(classes(made([]), made([(64, 95)])), ["beyond its length"])
        self.assertEqual(classes(made([], dwords=None), made([(64, 95)])), ["only there"])

    def test_a_packet_may_have_several_lengths(self):
        here = made([], dwords=4, others=frozenset({2, 3}))
        for dwords, expected in (2, []), (4, []), (5, ["length"]):
            self.assertEqual(classes(here, made([], dwords=dwords)), expected)

    def test_lengths_are_those_of_variants_and_tails(self):
        description = definitions.Description(DESCRIPTIONS["gfx12"])
        for name, lengths in ("MI_ATOMIC", {3, 11}), ("MI_SEMAPHORE_WAIT", {4, 5}):
            found = description.definition(description.by_name[name])
            self.assertEqual({n for n in range(32) if found.may_have(n)}, lengths)

    def test_opcodes_are_compared_as_one_number(self):
        here = made([(24, 31)], mask=0xff000000, value=0x10000000)
        same = made([(24, 27), (28, 31)], mask=0xff000000, value=0x10000000)
        other = made([(24, 27), (28, 31)], mask=0xff000000, value=0x20000000)
        self.assertEqual(classes(here, same), [None, None])
        self.assertEqual(classes(here, other), ["opcode", None, None])

    def test_arrays_are_written_out(self):
        leaves = definitions.written_out("2*8@32 Item", 0, 7, "bits")
        self.assertEqual([(one.name, one.first, one.last) for one in leaves],
                         [("Item[0]", 32, 39), ("Item[1]", 40, 47)])
        inner = definitions.written_out("2*64@0 4*16@32 Item", 0, 15, "bits")
        self.assertEqual([one.first for one in inner], [32, 48, 64, 80, 96, 112, 128, 144])


class Reasons(unittest.TestCase):
    """The file of differences itself."""

    LINE = "1\tonly there\tP\t*\tgfx9\twhy"

    def difference(self, cls="only there", container="P"):
        return definitions.Difference(cls, container, "f", "-", "0-7", "gfx9", "ihd/g9/x")

    def test_one_without_a_reason_is_told(self):
        for other in self.difference("wider there"), self.difference(container="Q"):
            covered, without = definitions.explain([self.difference(), other],
                                                   definitions.read_reasons(self.LINE))
            self.assertEqual(covered, {1: [self.difference()]})
            self.assertEqual(without, [other])

    def test_a_line_needs_all_columns(self):
        for bad in "1\tonly there\tP\t*\tgfx9\t", "x\tonly there\tP\t*\tgfx9\twhy", "1\tP":
            with self.assertRaises(ValueError):
                definitions.read_reasons(bad)

    def test_no_reason_is_open(self):
        text = (HERE / "differences.tsv").read_text(encoding="utf-8")
        self.assertEqual([f"differences.tsv:{one.number}: {one.reason}"
                          for one in definitions.read_reasons(text) if "OPEN" in one.reason], [])

    def test_one_that_takes_the_place_of_another_is_told(self):
        before = [str(self.difference()), str(self.difference(container="Q"))]
        after = [str(self.difference()), str(self.difference(container="R"))]
        self.assertEqual([one.split("\t")[0] + one.split("\t")[2]
                          for one in definitions.changes(before, after)],
                         ["+ gfx9R", "- gfx9Q"])
        self.assertEqual(definitions.changes(before, before[::-1]), [])

    def test_recounting_takes_out_what_is_stale(self):
        self.assertEqual(definitions.recount("# head\n" + self.LINE, {2: []}), "# head\n")
        self.assertEqual(definitions.recount(self.LINE, {1: [1, 2]}),
                         self.LINE.replace("1", "2", 1) + "\n")


class Descriptions(unittest.TestCase):
    """What is described of Intel's generations."""

    @classmethod
    def setUpClass(cls):
        cls.drivers = definitions.read_drivers(HERE / "drivers.tsv.xz")
        cls.differences, cls.agreed, cls.compared = definitions.compare_all(DESCRIPTIONS,
                                                                            cls.drivers)
        cls.missing = definitions.without_counterparts(DESCRIPTIONS, cls.drivers)

    def test_every_difference_has_a_reason_and_every_reason_differences(self):
        text = (HERE / "differences.tsv").read_text(encoding="utf-8")
        reasons = definitions.read_reasons(text)
        covered, without = definitions.explain(self.differences, reasons)
        told = [f"differences.tsv:{one.number} counts {one.count}, there are "
                f"{len(covered[one.number])}: {one.reason}"
                for one in reasons if one.count != len(covered[one.number])]
        told += [f"no reason: {one}" for one in without[:50]]
        self.assertFalse(told, "\n".join(
            [*told, "mend the description, or give a reason and run //tests/definitions:refresh"]))

    def test_the_differences_are_those_that_reasons_were_given_for(self):
        """Counts alone would let a new difference take the place of one that was mended."""
        told = definitions.changes(definitions.read_known(HERE / "known.tsv.xz"),
                                   definitions.known_lines(self.differences, self.missing))
        self.assertFalse(told, "\n".join(
            [*told[:50], f"{len(told)} changes: read them, then run //tests/definitions:refresh"]))

    def test_most_fields_agree(self):
        """A wrong match of names or opcodes would make differences disappear with agreement."""
        self.assertGreater(self.compared, 3700)
        self.assertLess(len({one.split("\t")[2] for one in self.missing}), 20)
        self.assertGreater(self.agreed, 130000)
        self.assertGreater(self.agreed, 7 * len(self.differences))

    def test_all_generations_have_definitions(self):
        for generation in DESCRIPTIONS:
            self.assertTrue(self.drivers[generation], generation)
        for driver in "mesa", "ihd", "neo":
            sources = {one.source.split("/")[0] for one in self.drivers["gfx12"]}
            self.assertIn(driver, sources)

    def test_a_field_that_moves_is_found(self):
        """In gfx9's PIPE_CONTROL as it is described, one bit is moved by one."""
        with open(DESCRIPTIONS["gfx9"], encoding="utf-8") as file:
            ir = json.load(file)
        before = self.of_gfx9(ir)
        wrong = copy.deepcopy(ir)
        packet = next(c for c in wrong["containers"] if c["name"] == "PIPE_CONTROL")
        field = next(one for one in packet["items"] if one["name"] == "Depth Stall Enable")
        field["bit"] += 16
        new = self.of_gfx9(wrong) - before
        self.assertTrue(new)
        _, without = definitions.explain(
            sorted(new, key=str),
            definitions.read_reasons((HERE / "differences.tsv").read_text(encoding="utf-8")))
        self.assertTrue(any("DepthStallEnable" in one.field for one in new), new)
        self.assertTrue(without)

    def of_gfx9(self, ir):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(ir, file)
            file.flush()
            mine = {"gfx9": [one for one in self.drivers["gfx9"] if one.name == "PIPE_CONTROL"]}
            return set(definitions.compare_all({"gfx9": file.name}, mine)[0])


def refresh():
    folder = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / HERE
    drivers = definitions.read_drivers(folder / "drivers.tsv.xz")
    differences, agreed, compared = definitions.compare_all(DESCRIPTIONS, drivers)
    path = folder / "differences.tsv"
    text = path.read_text(encoding="utf-8")
    covered, without = definitions.explain(differences, definitions.read_reasons(text))
    path.write_text(definitions.recount(text, covered), encoding="utf-8")
    now = definitions.known_lines(differences, definitions.without_counterparts(DESCRIPTIONS, drivers))
    known = folder / "known.tsv.xz"
    for one in definitions.changes(definitions.read_known(known) if known.exists() else [], now)[:500]:
        print(one)
    definitions.write_known(known, now)
    for one in without:
        print(f"no reason: {one}")
    print(f"{compared} definitions: {agreed} fields agree, {len(differences)} differences, "
          f"{len(without)} without a reason")
    return 1 if without else 0


if __name__ == "__main__":
    if "--refresh" in sys.argv:
        sys.exit(refresh())
    unittest.main(argv=sys.argv[:1])
