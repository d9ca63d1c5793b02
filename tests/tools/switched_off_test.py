#!/usr/bin/python3
"""What a packet points to does not count if another packet has switched off its reader."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fixtures import END, ProgramTest, core, words  # noqa: E402

ProgramTest.program = os.path.abspath(sys.argv.pop(1))
GFX6 = {"family": "intel", "generation": "gfx6"}
GFX125 = {"family": "intel", "generation": "gfx125"}
MESH = {"control": 0x78770001, "shader": (0x787A0006, 0x1000, 0, 0, 0, 0, 0, 0)}
TASK = {"control": 0x787C0001, "shader": (0x787D0005, 0x1000, 0, 0, 0, 0, 0)}
WM = (0x78140007, 0, 0, 0, 0)  # and its last four dwords
TABLES = (0x78011002, 0, 0, 0x340)  # 3DSTATE_BINDING_TABLE_POINTERS, of the pixel shader
DISPATCH = 1 << 19


class SwitchedOffTest(ProgramTest):
    def followed(self, device: dict[str, object], *packets: int) -> list[str]:
        """The packets whose offsets count: their base was never set."""
        dump = self.file("a.core", core(device, words(*packets, END)))
        done = self.run_it("--format=jsonl", dump)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        return [record["name"] for record in records if record["type"] == "packet"
                for fault in record.get("faults", []) if fault["kind"] == "unmapped"]

    def test_programs_of_meshes_and_tasks(self) -> None:
        for packets, name in ((MESH, "3DSTATE_MESH_SHADER"), (TASK, "3DSTATE_TASK_SHADER")):
            on = (packets["control"], 1 << 31, 0)
            off = (packets["control"], 0, 0)
            shader = packets["shader"]
            self.assertEqual(self.followed(GFX125, *on, *shader), [name])
            self.assertEqual(self.followed(GFX125, *off, *shader), [])
            self.assertEqual(self.followed(GFX125, *on, *off, *shader), [])

    def test_binding_tables_of_pixel_shaders_without_threads(self) -> None:
        on, off = (*WM, DISPATCH, 0, 0, 0), (*WM, 0, 0, 0, 0)
        name = "3DSTATE_BINDING_TABLE_POINTERS"
        self.assertEqual(self.followed(GFX6, *TABLES), [name])
        self.assertEqual(self.followed(GFX6, *on, *TABLES), [name])
        self.assertEqual(self.followed(GFX6, *off, *TABLES), [])
        self.assertEqual(self.followed(GFX6, *TABLES, *off), [], "the draw's count applies")


if __name__ == "__main__":
    unittest.main()
