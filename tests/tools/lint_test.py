#!/usr/bin/python3
"""unpack lint as a program: exit codes, formats, options; the alarms on real captures."""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from fixtures import END, ProgramTest, core, words

UNPACK = os.path.abspath(sys.argv.pop(1))
ProgramTest.program = UNPACK
DOCS = pathlib.Path("docs/lint.md").absolute()
SKL = {"family": "intel", "verx10": 90, "platform": "skl"}


def pipe_control(*bits: int) -> bytes:
    return words(0x7A000004, sum(1 << bit for bit in bits), 0, 0, 0, 0)


STALL = pipe_control(20)
# An invalidation of translations without a stall.
ERROR = pipe_control(18)


class LintTest(ProgramTest):
    def lint(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([UNPACK, "lint", *arguments], capture_output=True, text=True,
                              check=False)

    def test_a_batch_that_breaks_no_rule_gives_0(self) -> None:
        done = self.lint("--fail-on=note", self.file("a.core", core(SKL, STALL + words(END))))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "0 errors, 0 warnings, 0 notes\n")

    def test_fail_on_chooses_which_alarms_count(self) -> None:
        note = self.file("note.core", core(SKL, words(END)))
        error = self.file("error.core", core(SKL, ERROR + words(END)))
        for least, of_note, of_error in (("note", 1, 1), ("warning", 0, 1), ("error", 0, 1),
                                         ("never", 0, 0)):
            self.assertEqual(self.lint(f"--fail-on={least}", note).returncode, of_note, least)
            self.assertEqual(self.lint(f"--fail-on={least}", error).returncode, of_error, least)
        self.assertEqual(self.lint(error).returncode, 1)
        self.assertEqual(self.lint(note).returncode, 0)

    def test_wrong_usage_and_unreadable_input_give_2(self) -> None:
        good = self.file("a.core", core(SKL, STALL + words(END)))
        for arguments in ([], ["--fail-on=fatal", good], ["--without=L999", good],
                          ["--format=html", good], ["--platform=DG2", good], ["--rules", good],
                          ["--rules", "--format=sarif"], ["--gen=gfx99", good],
                          ["--history=none", good], [self.path("missing.core")]):
            done = self.lint(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertNotEqual(done.stderr, "", arguments)

    def test_rules_can_be_turned_off_one_by_one_and_by_kind(self) -> None:
        error = self.file("error.core", core(SKL, ERROR + words(END)))
        self.assertIn("L711 error", self.lint(error).stdout)
        for without in ("--without=L711", "--without=L7", "--without=L601,L711"):
            done = self.lint(without, error)
            self.assertNotIn("L711", done.stdout)
            self.assertEqual(done.returncode, 0)

    def test_text_says_number_severity_place_why_and_source(self) -> None:
        error = self.file("error.core", core(SKL, STALL + ERROR + words(END)))
        text = self.lint(error).stdout
        self.assertIn("error.core: L711 error: PIPE_CONTROL > TLB Invalidate (bit 18 of dword 1)",
                      text)
        self.assertIn("at 0x1018, batch + 0x18, submission 0 (render)", text)
        self.assertIn("why: An invalidation of translations needs a stall", text)
        self.assertIn("source: PRM", text)

    def test_json_lines_are_objects_with_the_same(self) -> None:
        error = self.file("error.core", core(SKL, ERROR + words(END)))
        lines = [json.loads(line)
                 for line in self.lint("--format=jsonl", error).stdout.splitlines()]
        self.assertEqual([line["type"] for line in lines], ["alarm", "summary"])
        alarm, summary = lines
        self.assertEqual((alarm["rule"], alarm["severity"], alarm["address"], alarm["record"],
                          alarm["field"], alarm["bit"], alarm["width"]),
                         ("L711", "error", "0x1000", "PIPE_CONTROL", "TLB Invalidate", 50, 1))
        self.assertTrue(alarm["why"] and alarm["source"] and alarm["file"])
        self.assertEqual((summary["errors"], summary["by_rule"]), (1, {"L711": 1}))

    def test_sarif_has_what_version_2_1_0_requires(self) -> None:
        error = self.file("a b.core", core(SKL, ERROR + ERROR + words(END)))
        log = json.loads(self.lint("--format=sarif", error).stdout)
        self.assertEqual(log["version"], "2.1.0")
        run, = log["runs"]
        driver = run["tool"]["driver"]
        self.assertEqual(driver["name"], "unpack lint")
        ids = [rule["id"] for rule in driver["rules"]]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertGreaterEqual(len(ids), 25)
        for rule in driver["rules"]:
            self.assertTrue(rule["shortDescription"]["text"] and rule["fullDescription"]["text"])
            self.assertIn(rule["defaultConfiguration"]["level"], ("note", "warning", "error"))
        self.assertEqual([one["ruleId"] for one in run["results"]], ["L711", "L711"])
        for one in run["results"]:
            self.assertEqual(ids[one["ruleIndex"]], one["ruleId"])
            self.assertIn(one["level"], ("note", "warning", "error"))
            self.assertTrue(one["message"]["text"])
            place = one["locations"][0]["physicalLocation"]
            self.assertTrue(place["artifactLocation"]["uri"].endswith("/a%20b.core"))
            self.assertGreaterEqual(place["address"]["absoluteAddress"], 0x1000)
        self.assertTrue(run["invocations"][0]["executionSuccessful"])

    def test_an_empty_report_is_valid_sarif(self) -> None:
        log = json.loads(self.lint("--format=sarif", self.path("missing.core")).stdout)
        self.assertEqual(log["runs"][0]["results"], [])
        self.assertFalse(log["runs"][0]["invocations"][0]["executionSuccessful"])

    def test_more_alarms_than_wanted_are_counted(self) -> None:
        error = self.file("error.core", core(SKL, ERROR * 5 + words(END)))
        text = self.lint("--most=2", error).stdout
        self.assertEqual(text.count("L711"), 2)
        self.assertIn("5 errors, 0 warnings, 0 notes; 3 of them are not listed", text)

    def test_the_output_is_a_file_if_that_is_wanted(self) -> None:
        error = self.file("error.core", core(SKL, ERROR + words(END)))
        report = self.path("report.sarif")
        done = self.lint("--format=sarif", "-o", report, error)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(json.loads(pathlib.Path(report).read_text())["version"], "2.1.0")
        self.assertEqual(self.lint("-o", error, error).returncode, 2)

    def test_rules_lists_what_the_page_lists(self) -> None:
        lines = [json.loads(line)
                 for line in self.lint("--rules", "--format=jsonl").stdout.splitlines()]
        listed = {line["rule"]: line["severity"] for line in lines}
        text = self.lint("--rules").stdout
        rows = dict(re.findall(r"^\| (L\d+) \| (error|warning|note) \|", DOCS.read_text(), re.MULTILINE))
        self.assertEqual(rows, listed)
        for line in lines:
            self.assertIn(line["rule"], text)
            self.assertTrue(line["title"] and line["why"] and line["source"], line["rule"])

    def test_the_page_argues_for_the_rules_that_give_alarms_on_captures(self) -> None:
        table, argued = DOCS.read_text().split("\n## What real drivers' batches do\n")
        counts = re.findall(r"^\| (L\d+) \|.* \| (\d+|–) \|$", table, re.MULTILINE)
        self.assertGreater(len(counts), 25)
        alarms = {rule for rule, count in counts if count not in ("0", "–")}
        self.assertEqual(set(re.findall(r"^\| (L\d+) \|", argued, re.MULTILINE)), alarms)

    def test_pointers_that_leave_their_zone_are_errors_if_zones_are_given(self) -> None:
        # 3DSTATE_CC_STATE_POINTERS, after a dynamic state base at the batch.
        base = words(0x61010011, 0, 0, 0, 0, 0, 0x1001, 0, *[0] * 11)
        batch = STALL + base + words(0x780E0000, 0x41, END)
        dump = self.file("a.core", core(SKL, batch + bytes(256)))
        inside = self.file("inside.txt", b"0x1000 0x2000 batch and states\n")
        outside = self.file("outside.txt", b"0x1000 0x1040 batch\n0x2000 0x3000 b: dynamic state\n")
        self.assertNotIn("L206", self.lint(dump).stdout)
        self.assertNotIn("L206", self.lint(f"--zones={inside}", dump).stdout)
        found = self.lint(f"--zones={outside}", dump)
        self.assertEqual(found.returncode, 1, found.stderr)
        self.assertIn("L206 error: 3DSTATE_CC_STATE_POINTERS > Color Calc State Pointer",
                      found.stdout)
        self.assertIn("0x1040 is in no zone", found.stdout)

    def test_bad_zones_are_refused_with_their_line(self) -> None:
        dump = self.file("a.core", core(SKL, STALL + words(END)))
        zones = self.file("zones.txt", b"0x1000 0x2000 a\n0x1800 0x3000 b\n")
        bases = self.file("bases.txt", b"0x1000 0x2000 a\n0x2000 0x3000 b: dynamic stat\n")
        for name, text in ((zones, "zones.txt, line 2: the zones \"b\" and \"a\" overlap"),
                           (bases, "bases.txt, line 2: no description has a base \"dynamic stat\"; "
                            "did you mean dynamic state?"),
                           (self.path("none.txt"), "none.txt")):
            done = self.lint(f"--zones={name}", dump)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(text, done.stderr)
        good = self.file("good.txt", b"0x1000 0x2000 a\n")
        done = self.lint(f"--zones={good}", "-o", good, dump)
        self.assertEqual((done.returncode, self.read("good.txt")), (2, b"0x1000 0x2000 a\n"))


if __name__ == "__main__":
    unittest.main()
