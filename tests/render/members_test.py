#!/usr/bin/python3
"""What C++ and C see of containers: types, defaults, leaves at their places, fixed words."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, "gen/render")
sys.dont_write_bytecode = True

from ir import Ir, read  # noqa: E402
from members import add_views  # noqa: E402

PACKGEN = Path.cwd() / "gen/packgen/packgen"


def views(body: str) -> Ir:
    """Containers of a description, by name."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        source, made = Path(folder) / "a.xml", Path(folder) / "a.json"
        source.write_text('<packsmith family="f" generation="g" unit="dword"><stream name="s"/>'
                          f"{body}</packsmith>", encoding="utf-8")
        subprocess.run([PACKGEN, "--no-warnings", source, f"--ir={made}"], check=True)
        ir = read(made)
    add_views(ir)
    return {one["name"]: one for one in ir["containers"]}


def struct(fields: str, before: str = "") -> Ir:
    """A structure of four dwords."""
    return dict(views(f'{before}<struct name="A" dwords="4">{fields}</struct>')["A"])


def by_name(all_of: list[Ir], key: str) -> dict[str, Any]:
    """One member of each."""
    return {one["name"]: one[key] for one in all_of}


class MembersTest(unittest.TestCase):
    def test_places_are_words_and_bits(self) -> None:
        leaf = struct('<field name="f" dword="0" bits="40:28" type="uint"/>')["leaves"][0]
        self.assertEqual(leaf["places"], [{"word": 0, "lsb": 28, "from": 0, "width": 4},
                                          {"word": 1, "lsb": 0, "from": 4, "width": 9}])

    def test_leaves_are_in_bit_order_and_members_as_described(self) -> None:
        a = struct('<field name="b" dword="1" bits="0" type="bool"/>'
                   '<field name="a" dword="0" bits="0" type="bool"/>')
        self.assertEqual([leaf["name"] for leaf in a["leaves"]], ["a", "b"])
        self.assertEqual([member["name"] for member in a["members"]], ["b", "a"])

    def test_defaults_of_encoded_fields_are_what_zero_bits_mean(self) -> None:
        a = struct('<field name="plain" dword="0" bits="3:0" type="uint"/>'
                   '<field name="minus" dword="0" bits="7:4" type="uint" minus="1"/>'
                   '<field name="log2" dword="0" bits="11:8" type="uint" log2="true"/>'
                   '<field name="groups" dword="0" bits="15:12" type="uint" groups="8"/>'
                   '<field name="given" dword="0" bits="19:16" type="uint" minus="1" default="7"/>'
                   '<field name="signed" dword="0" bits="23:20" type="int" default="-3"/>'
                   '<field name="bool" dword="0" bits="24" type="bool" default="1"/>'
                   '<field name="fixed" dword="1" bits="7:0" type="u4.4" default="1.5"/>'
                   '<field name="float" dword="2" bits="31:0" type="float"/>')
        self.assertEqual(by_name(a["members"], "default"), {
            "plain": "0", "minus": "1", "log2": "1", "groups": "128", "given": "7",
            "signed": "-3", "bool": "true", "fixed": "1.5f", "float": "0.0f"})
        self.assertEqual(by_name(a["c_members"], "default"), {
            "plain": None, "minus": "1", "log2": "1", "groups": "128", "given": "7",
            "signed": "-3", "bool": "1", "fixed": "1.5", "float": None})

    def test_members_are_as_wide_as_their_values(self) -> None:
        a = struct('<field name="u32" dword="0" bits="31:0" type="uint"/>'
                   '<field name="shifted" dword="1" bits="27:0" type="uint" shift="7"/>'
                   '<field name="biased" dword="2" bits="31:0" type="uint" minus="1"/>'
                   '<field name="i32" dword="3" bits="31:0" type="int"/>')
        self.assertEqual(by_name(a["members"], "type"), {
            "u32": "uint32_t", "shifted": "uint64_t", "biased": "uint64_t", "i32": "int32_t"})

    def test_enumerations_and_structures_are_types(self) -> None:
        a = struct('<field name="e" dword="0" bits="3:0" type="My Enum" default="B"/>'
                   '<field name="u" dword="0" bits="7:4" type="My Enum"/>'
                   '<field name="n" dword="1" bits="31:0" type="N"/>',
                   '<enum name="My Enum" prefix="ME"><value name="A" value="1"/>'
                   '<value name="B" value="2" avoid="true"/></enum><struct name="N" dwords="1">'
                   '<field name="x" dword="0" bits="31:0" type="float"/></struct>')
        self.assertEqual(by_name(a["members"], "type"),
                         {"e": "My_Enum", "u": "My_Enum", "n": "N"})
        self.assertEqual(by_name(a["members"], "default"), {
            "e": "My_Enum::B", "u": "static_cast<My_Enum>(0)", "n": "{}"})
        self.assertEqual(by_name(a["leaves"], "path"), {"e": "e", "u": "u", "n.x": "n.x"})
        self.assertEqual(by_name(a["leaves"], "bit")["n.x"], 32)
        self.assertEqual(by_name(a["leaves"], "avoid")["e"], [2])

    def test_opcodes_and_lengths_are_members_in_c_alone(self) -> None:
        a = views('<packet name="A" dwords="4" length="Len" bias="2"><doc>.</doc>'
                  '<field name="Op" dword="0" bits="31:24" type="uint" forced="0x7a"/>'
                  '<field name="Len" dword="0" bits="7:0" type="uint"/>'
                  '<field name="x" dword="1" bits="31:0" type="uint"/>'
                  '<reserved dword="2" bits="3:0" must="one"/><reserved dword="2" bits="7:4"/>'
                  "</packet>")["A"]
        self.assertEqual([member["name"] for member in a["members"]], ["x"])
        self.assertEqual(by_name(a["c_members"], "default"), {"Op": "122", "Len": "2", "x": None})
        self.assertEqual(a["c_length"], 4)
        self.assertEqual(a["forced_words"], [
            {"word": 0, "mask": "0xff000000", "value": "0x7a000000"},
            {"word": 2, "mask": "0xf", "value": "0xf"}])
        self.assertEqual(a["zero_words"], [{"word": 2, "mask": "0xf0"}])

    def test_lengths_of_byte_records_count_bytes(self) -> None:
        a = views('<packet name="A" bytes="6" length="Len" bias="1"><doc>.</doc>'
                  '<field name="Op" dword="0" bits="7:0" type="uint" forced="1"/>'
                  '<field name="Len" dword="0" bits="15:8" type="uint"/></packet>')["A"]
        self.assertEqual(by_name(a["c_members"], "default"), {"Op": "1", "Len": "5"})

    def test_small_groups_are_written_out_and_large_ones_are_loops(self) -> None:
        a = struct('<group count="4" dword="0" size="8">'
                   '<field name="small" dword="0" bits="7:0" type="uint"/></group>'
                   '<group name="large" count="24" dword="1" size="4">'
                   '<field name="x" dword="0" bits="3:0" type="uint"/></group>')
        self.assertEqual([leaf["path"] for leaf in a["leaves"]],
                         [f"small[{i}]" for i in range(4)])
        self.assertEqual(by_name(a["members"], "dims"), {"small": [4], "large": [24]})
        loop = a["loops"][0]
        self.assertEqual((loop["count"], loop["stride"], loop["bit"]), (24, 4, 32))
        self.assertEqual(loop["leaves"][0]["path"], "large[i0].x")
        self.assertEqual(a["c_loops"][0]["leaves"][0]["path"], "x[i0]")

    def test_listed_values_are_constants(self) -> None:
        a = struct('<field name="Mode" dword="0" bits="7:0" type="uint" prefix="MODE">'
                   '<value name="8 wide" value="8"><doc>Eight.</doc></value></field>')
        self.assertEqual(a["constants"], [
            {"cpp": "MODE_8_WIDE", "type": "uint32_t", "value": 8, "doc": "Eight."}])
        self.assertEqual(a["c_values"], [{"c": "MODE_8wide", "value": 8}])

    def test_published_interfaces_decide_what_c_says(self) -> None:
        a = views('<packet name="A" dwords="2" c-dwords="3"><doc>.</doc>'
                  '<field name="Op" dword="0" bits="31:24" type="uint" forced="1" '
                  'c-default="none"/>'
                  '<field name="o" dword="1" bits="31:4" type="offset" c-type="uint" c-bits="30"/>'
                  "</packet>")["A"]
        self.assertEqual(a["c_length"], 3)
        self.assertEqual(by_name(a["c_members"], "default"), {"Op": None, "o": None})
        self.assertEqual(by_name(a["c_members"], "type")["o"], "uint32_t")
        self.assertEqual(by_name(a["c_leaves"], "shift")["o"], 0)
        self.assertEqual(by_name(a["positions"], "bits"), {"Op": 8, "o": 30})

    def test_what_only_a_variant_has_needs_its_bytes(self) -> None:
        a = views('<packet name="A" dwords="1"><doc>.</doc>'
                  '<field name="Op" dword="0" bits="31:24" type="uint" forced="1"/>'
                  '<field name="m" dword="0" bits="1:0" type="uint"/>'
                  '<field name="late" dword="2" bits="31:0" type="uint"/>'
                  '<variant dwords="3" when="m=1"/></packet>')["A"]
        self.assertEqual(by_name(a["leaves"], "present_bytes"), {"m": 0, "late": 12})

    def test_the_item_of_a_tail_is_a_structure_or_a_type_of_its_own(self) -> None:
        both = views('<struct name="N" dwords="1">'
                     '<field name="x" dword="0" bits="31:0" type="uint"/></struct>'
                     '<struct name="One" dwords="1"><group count="tail" dword="1" size="32">'
                     '<field name="n" dword="0" bits="31:0" type="N"/></group></struct>'
                     '<struct name="Own" dwords="1">'
                     '<group name="entries" count="tail" dword="1" size="64">'
                     '<field name="x" dword="1" bits="31:0" type="uint"/></group></struct>')
        one, own = both["One"]["tail"], both["Own"]["tail"]
        self.assertEqual((one["id"], one["struct"], one["item"]), ("n", "N", None))
        self.assertEqual((one["start_bit"], one["item_bytes"]), (32, 4))
        self.assertEqual((own["id"], own["struct"], own["item"]["bytes"]), ("entries", None, 8))
        self.assertEqual(own["item"]["leaves"][0]["path"], "x")


if __name__ == "__main__":
    unittest.main()
