#!/usr/bin/python3
"""unpack --describe and --list as a program."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

UNPACK = os.path.abspath(sys.argv.pop(1))
MINI = "--xml=tests/mini/mini.xml"


def run(*arguments):
    environment = {"PATH": os.environ.get("PATH", "/bin:/usr/bin")}
    return subprocess.run([UNPACK, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          env=environment, check=False)


class DescribeTest(unittest.TestCase):
    def test_the_generation_is_found_by_any_of_its_names(self):
        texts = {run("--describe=3DSTATE_VS", f"--gen={name}").stdout for name in
                 ("gfx9", "9", "SKL")}
        self.assertEqual(len(texts), 1)
        self.assertIn(b"Kernel Start Pointer", texts.pop())

    def test_masked_registers_and_bases_that_stand_for_others_say_so(self):
        self.assertIn(b"mask bit in 31:16 is 1", run("--describe=GT_MODE", "--gen=gfx9").stdout)
        self.assertIn(b"until set     the base surface state applies",
                      run("--describe=binding table pool", "--gen=gfx9").stdout)
        self.assertIn(b"until set     offsets are relative to address 0",
                      run("--describe=programs", "--gen=g13").stdout)

    def test_a_wrong_name_is_wrong_usage_and_close_ones_are_named(self):
        done = run("--describe=3DSTATE_VZ")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"3DSTATE_VS", done.stderr)

    def test_wrong_usage_is_exit_code_2(self):
        for wrong in (["--describe="], ["--describe=MI_NOOP", "--list"], ["--list", "a.core"],
                      ["--describe=MI_NOOP", "a.core"], ["--describe=MI_NOOP", "--format=stats"],
                      ["--describe=MI_NOOP", "--gen=gfx99"], ["--list", "--gen=gfx99"]):
            done = run(*wrong)
            self.assertEqual((done.returncode, done.stdout), (2, b""), wrong)
            self.assertTrue(done.stderr.startswith(b"unpack: "), wrong)

    def test_a_description_of_ones_own(self):
        done = run("--describe=Draw", MINI)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"Index buffer present", done.stdout)
        self.assertEqual(run("--describe=3DSTATE_VS", MINI).returncode, 2)
        self.assertEqual(run("--describe=Draw", "--xml=nothing.xml").returncode, 1)

    def test_tables_that_are_none_are_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "t.tables")
            for content in (b"", b"PCKT", b"\0" * 4096):
                with open(file, "wb") as out:
                    out.write(content)
                done = run("--list", f"--tables={file}")
                self.assertEqual((done.returncode, done.stdout), (1, b""))
                self.assertIn(b"decode tables", done.stderr)
            done = run("--list", f"--tables={folder}/none")
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"none", done.stderr)

    def test_several_descriptions_of_ones_own_have_a_history(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, name) for name in ("one.xml", "two.xml")]
            for file, text in zip(files, (
                    '<packsmith family="f" generation="one"><stream name="s"/><struct name="A" '
                    'dwords="1"><field name="X" dword="0" bits="3:0" type="uint"/></struct>'
                    '</packsmith>',
                    '<packsmith generation="two" extends="one.xml"><struct name="A" dwords="1">'
                    '<field name="X" dword="0" bits="4:1" type="uint"/></struct></packsmith>')):
                with open(file, "w", encoding="utf-8") as out:
                    out.write(text)
            own = [f"--xml={file}" for file in files]
            self.assertIn(b"~ X: from dword 0, bits 3:0 to dword 0, bits 4:1",
                          run("--describe=A", *own).stdout)
            self.assertIn(b"3:0", run("--describe=A", "--gen=one", *own).stdout)
            self.assertEqual(run("--describe=A", "--gen=gfx9", *own).returncode, 2)
            self.assertEqual(run(*own, "dump").returncode, 2)

    def test_json_lines_say_what_the_text_says(self):
        done = run("--describe=3DSTATE_VS", "--gen=gfx9", "--format=jsonl")
        record, = map(json.loads, done.stdout.splitlines())
        self.assertEqual(record["type"], "description")
        self.assertIn("gfx9", record["generations"])
        fields = {field["name"]: field for field in record["fields"] if "name" in field}
        self.assertEqual(fields["Kernel Start Pointer"]["bits"], [95, 38])

    def test_json_lines_carry_the_words_of_the_text(self):
        def words(text):
            return " ".join(text.split())

        def said(items):
            for item in items:
                if "facts" in item:
                    yield item["facts"]
                for sentence in item.get("sentences", []):
                    yield "".join(one if isinstance(one, str) else one["name"] for one in sentence)
                yield from said(item.get("items", []))

        text = words(run("--describe=*", "--color=never", MINI).stdout.decode())
        records = map(json.loads, run("--describe=*", "--format=jsonl", MINI).stdout.splitlines())
        found = [one for record in records for one in said([record, *record.get("fields", [])])]
        self.assertGreater(len(found), 50)
        for one in found:
            self.assertIn(words(one), text)
        link = json.loads(run("--describe=Link", "--format=jsonl", MINI).stdout.splitlines()[0])
        named = [piece for field in link["fields"] for sentence in field.get("sentences", [])
                 for piece in sentence if isinstance(piece, dict)]
        self.assertIn({"kind": "stream", "name": "draw control"}, named)

    def test_everything_at_once_is_good_json_lines(self):
        done = run("--describe=*", "--format=jsonl", MINI)
        names = [json.loads(line)["name"] for line in done.stdout.splitlines()]
        self.assertIn("Draw", names)
        self.assertIn("Compare", names)

    def test_lists(self):
        generations = run("--list").stdout.decode()
        self.assertIn("gfx9  Intel Gfx9", generations)
        self.assertIn("render (rcs", generations)
        self.assertNotIn("3DSTATE_VS", generations)
        names = run("--list", "--gen=gfx9").stdout.decode()
        for name in ("3DSTATE_VS", "SAMPLER_STATE", "L3CNTLREG", "SURFACE_FORMAT"):
            self.assertIn(f"\n  {name} ", names)
        lines = run("--list", "--format=jsonl").stdout.splitlines()
        records = {record["name"]: record for record in map(json.loads, lines)}
        self.assertIn("skl", records["gfx9"]["aliases"])
        self.assertGreater(records["gfx9"]["counts"]["packet"], 50)


if __name__ == "__main__":
    unittest.main()
