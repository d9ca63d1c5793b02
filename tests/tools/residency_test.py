#!/usr/bin/python3
"""Memory that a job may not use is a fault, if the dump states that it has all that it may use."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fixtures import END, ProgramTest, core, words  # noqa: E402

ProgramTest.program = os.path.abspath(sys.argv.pop(1))
GFX9 = {"family": "intel", "generation": "gfx9"}
STORE = 0x10000002  # MI_STORE_DATA_IMM
NAMED = {"address": "0x20000", "size": 4096, "name": "result (not resident)"}


class ResidencyTest(ProgramTest):
    def stores_to(self, address: int, complete: bool) -> str:
        return self.file("job.core", core(GFX9, words(STORE, address, 0, 42, END), 0, [NAMED],
                                          complete))

    def test_a_store_to_what_is_not_resident_is_a_fault(self) -> None:
        dump = self.stores_to(0x20010, complete=True)
        for option in ("--strict", "--fail-on=fault", "--fail-on=unmapped"):
            done = self.run_it(option, dump)
            self.assertEqual(done.returncode, 1, (option, done.stdout))
            self.assertIn(b'fault: unmapped, bits 79:34: Address points to 0x20010, in '
                          b'"result (not resident)", which the job may not use: ', done.stdout)
        done = self.run_it("--format=jsonl", dump)
        self.assertEqual(done.returncode, 0)
        faults = [(record["name"], fault["kind"])
                  for record in map(json.loads, done.stdout.splitlines())
                  for fault in record.get("faults", []) if "name" in record]
        self.assertEqual(faults, [("MI_STORE_DATA_IMM", "unmapped")])

    def test_and_none_where_the_dump_may_lack_memory(self) -> None:
        done = self.run_it("--strict", self.stores_to(0x20010, complete=False))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(b"result (not resident)+0x10", done.stdout)

    def test_nor_where_the_memory_is_there(self) -> None:
        done = self.run_it("--strict", self.stores_to(0x1000, complete=True))
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
