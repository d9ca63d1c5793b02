#!/usr/bin/python3
"""unpack with several dumps in one call, and its reasons for exit code 1."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fixtures import END, UNKNOWN, ProgramTest, core, words  # noqa: E402

ProgramTest.program = os.path.abspath(sys.argv.pop(1))
GFX9 = {"family": "intel", "generation": "gfx9", "pci_id": "0x1912"}
GFX125 = {"family": "intel", "generation": "gfx125", "pci_id": "0x56a0"}
CFE_STATE = words(0x72000004, 0, 0, 0, 0, 0, END)  # which Gfx9 has not
DRAW = words(0x7B000005, 0, 0, 0, 0, 0, 0, END)
RESERVED = words(0x784F0000, 0x40000000, END)  # bit 62 of 3DSTATE_PS_EXTRA


class SeveralTest(ProgramTest):
    def records(self, *arguments: str) -> list[dict]:
        return [json.loads(line) for line in
                self.run_it("--format=jsonl", *arguments).stdout.splitlines()]

    def setUp(self) -> None:
        super().setUp()
        self.old = self.file("old.core", core(GFX9, DRAW))
        self.new = self.file("new.core", core(GFX125, CFE_STATE))

    def test_each_dump_is_decoded_with_the_tables_of_its_own_gpu(self) -> None:
        for form in ("text", "jsonl", "stats", "names"):
            done = self.run_it(f"--format={form}", self.old, self.new)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertIn(b"CFE_STATE", done.stdout)
            self.assertIn(b"3DPRIMITIVE", done.stdout)
            self.assertIn(b"Gfx12.5" if form != "jsonl" else b"gfx125", done.stdout)
            self.assertIn(b"new.core is from another GPU", done.stderr)
        shown = self.run_it(self.old, self.new).stdout.decode()
        self.assertLess(shown.index("PCI id 0x1912"), shown.index("PCI id 0x56a0"))
        self.assertEqual(shown.count("\nsummary  "), 2)

    def test_a_generation_that_is_asked_for_is_for_all_of_them(self) -> None:
        done = self.run_it("--gen=gfx9", self.old, self.new)
        self.assertEqual(done.returncode, 1)
        self.assertNotIn(b"CFE_STATE", done.stdout)

    def test_ids_go_on_from_gpu_to_gpu(self) -> None:
        records = self.records(self.old, self.new, self.old)
        ids = [record["id"] for record in records if "id" in record]
        self.assertEqual(ids, list(range(len(ids))))
        self.assertEqual([r["generation"] for r in records if r["type"] == "schema"],
                         ["gfx9", "gfx125", "gfx9"])

    def test_a_dump_that_names_no_gpu_is_of_that_before_it(self) -> None:
        batch = self.file("b", CFE_STATE)
        done = self.run_it(self.old, self.new, batch)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(b"  CFE_STATE"), 2)

    def test_a_dump_of_an_unknown_gpu_is_named_and_the_others_are_shown(self) -> None:
        odd = self.file("odd.core", core({"pci_id": "0xffff"}, words(END)))
        for order in ([odd, self.old], [self.old, odd, self.new]):
            for form in ("text", "jsonl"):
                done = self.run_it(f"--format={form}", *order)
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"odd.core: ", done.stderr)
                self.assertEqual(done.stderr.count(b"0xffff"), 1)
                self.assertIn(b"3DPRIMITIVE", done.stdout)

    def test_draws_are_counted_over_all_gpus(self) -> None:
        other = self.file("other.core", core(GFX125, words(0x7B000005, 1, 2, 3, 4, 5, 6, END)))
        shown = self.run_it("--draw=2", self.old, other).stdout.decode()
        self.assertIn("Gfx12.5", shown)
        self.assertNotIn("Gfx9", shown)
        self.assertEqual(shown.count("3DPRIMITIVE  7 dwords"), 1)
        self.assertIn("there are only 2 draws", self.refused("--draw=3", self.old, other))

    def test_state_is_not_taken_over_from_another_gpu(self) -> None:
        other = {**GFX9, "pci_id": "0x5916"}
        paths = [self.file("a.core", core(GFX9, words(END))),
                 self.file("b.core", core(other, words(END)))]
        shown = self.run_it(*paths).stdout.decode()
        self.assertIn("PCI id 0x1912", shown)
        self.assertIn("PCI id 0x5916", shown)

    def test_a_family_alone_is_no_generation(self) -> None:
        done = self.run_it(self.file("f.core", core({"family": "intel"}, words(END))))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"family intel, but does not say which", done.stderr)

    def test_indices_that_go_back_are_noted(self) -> None:
        paths = [self.file(f"job-{i}.core", core(GFX9, words(END), index=i)) for i in (1, 2, 10)]
        self.assertEqual(self.run_it(*paths).stderr, b"")
        done = self.run_it(paths[0], paths[2], paths[1])
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"job-2.core begins with submission 2", done.stderr)
        self.assertIn(b"\nnote: ", done.stdout)
        notes = [r for r in self.records(paths[2], paths[1]) if r["type"] == "remark"]
        self.assertEqual(len(notes), 1)
        # A folder's dumps are in the order of their numbers.
        os.remove(self.old)
        os.remove(self.new)
        done = self.run_it(self.folder)
        self.assertEqual(done.stderr, b"")
        self.assertIn(b"3 submissions", done.stdout)


class ReasonsTest(ProgramTest):
    def test_what_strict_counts_is_said_with_a_number_and_a_place(self) -> None:
        dump = self.file("a.core", core(GFX9, RESERVED + RESERVED))
        batch = self.file("b", words(0x784F0000, 0x40000000, 0x784F0000, 0x40000000, END))
        for arguments in (["--strict", "--gen=gfx9", batch], ["--strict", dump, batch]):
            done = self.run_it(*arguments)
            self.assertEqual(done.returncode, 1)
            last = done.stdout.decode().splitlines()[-1]
            self.assertIn("exit code 1: ", last)
            self.assertRegex(last, r"[23] faults \(reserved\), the first in 3DSTATE_PS_EXTRA at 0x")
            self.assertIn(last, done.stderr.decode())

    def test_bits_that_nobody_describes_are_a_reason_of_strict_alone(self) -> None:
        # Bit 31 of the second dword of 3DSTATE_INDEX_BUFFER.
        batch = self.file("b", words(0, 0x780A0003, 0x80000000, 0, 0, 0, END))
        shown = self.run_it("--gen=gfx9", "--strict", batch)
        self.assertEqual(shown.returncode, 1)
        self.assertRegex(shown.stderr.decode(),
                         r"exit code 1: .*1 run of bits that are set and not described, in "
                         r"3DSTATE_INDEX_BUFFER at 0x4")
        self.assertEqual(self.run_it("--gen=gfx9", batch).stderr, b"")

    def test_unknown_dwords_and_problems_are_named_in_every_format(self) -> None:
        dump = self.file("a.core", core(GFX9, words(0, UNKNOWN, 0)))
        for form in ("text", "jsonl", "stats", "names"):
            done = self.run_it(f"--format={form}", dump)
            self.assertEqual(done.returncode, 1)
            said = done.stderr.decode()
            self.assertIn("1 problem: the stream continues at", said)
            self.assertIn("1 unknown dword, at 0x1004", said)

    def test_json_has_a_record_for_each_reason_before_the_summary(self) -> None:
        batch = self.file("b", words(0, UNKNOWN, 0x784F0000, 0x40000000, END))
        done = self.run_it("--gen=gfx9", "--fail-on=reserved", "--format=jsonl", batch)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([r["type"] for r in records[-3:]], ["failure", "failure", "summary"])
        self.assertEqual(records[-3], {"type": "failure", "kind": "unknown", "count": 1,
                                       "first": {"space": 0, "address": "0x4"}})
        self.assertEqual(records[-2], {"type": "failure", "kind": "reserved", "count": 1,
                                       "first": {"name": "3DSTATE_PS_EXTRA", "space": 0,
                                                 "address": "0x8"}})

    def test_good_input_gets_no_such_line(self) -> None:
        done = self.run_it("--strict", "--gen=gfx9", self.file("b", words(END)))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertNotIn(b"exit code", done.stdout)


if __name__ == "__main__":
    unittest.main()
