#!/usr/bin/python3
"""unpack with the folder of a recorded run, made by hand as docs/recording.md describes it."""

import json
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import unittest  # noqa: E402

from fixtures import END, ProgramTest, note, words  # noqa: E402

ProgramTest.program = os.path.abspath(sys.argv.pop(1))
GFX9 = {"family": "intel", "generation": "gfx9", "pci_id": "0x1912"}
PAGE = 4096
RUN = "0123abc"
BATCH = 0x10000
# MI_STORE_DATA_IMM, 4 dwords: address, then the value
STORE = 0x10000002


def paged_core(number: int, runs: list[tuple[int, int]], run: str = RUN) -> bytes:
    """A core with one segment of 3 pages at BATCH, which consists of `runs` of pages."""
    notes = (note(0x50530001, GFX9) +
             note(0x50530002, {"index": number, "engine": "render", "batch_address": hex(BATCH),
                               "batch_length": 3 * PAGE}) +
             note(0x50530005, {"run": run}))
    begin = 64 + 2 * 56
    pages = b"".join(struct.pack("<2I", *one) for one in runs)
    header = b"\x7fELF\2\1\1" + b"\0" * 9 + struct.pack(
        "<HHIQQQIHHHHHH", 4, 205, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    header += struct.pack("<IIQQQQQQ", 4, 0, begin, 0, 0, len(notes), len(notes), 4)
    header += struct.pack("<IIQQQQQQ", 0x65053001, 6, begin + len(notes), BATCH, 0, len(pages),
                          3 * PAGE, 4)
    return header + notes + pages


def page(content: bytes) -> bytes:
    return content + b"\0" * (PAGE - len(content))


class RecordedTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        # Pages 1 and 2: a batch whose first page is full of no-operations; 3: its last page; 4:
        # a batch that ends at once.
        self.file("memory", page(f"packsmith memory of run {RUN}\n".encode()) +
                  page(words(STORE, 0x2000, 0, 7)) + page(words(STORE, 0x2000, 0, 8)) +
                  page(words(STORE, 0x2000, 0, 9, END)) + page(words(END)))
        self.cores = {1: [(3, 1)], 2: [(1, 4), (2, 0)], 3: [(1, 0), (1, 2), (1, 3)]}
        for number, runs in self.cores.items():
            self.file(f"{number:06}.core", paged_core(number, runs))
        self.lines: list[dict[str, object]] = [{"type": "run", "run": RUN}]
        for number in self.cores:
            self.lines.append({"type": "submission", "number": number,
                               "file": f"{number:06}.core"})
        self.write_index()

    def write_index(self, more: bytes = b"") -> None:
        self.file("index.jsonl",
                  b"".join(json.dumps(line).encode() + b"\n" for line in self.lines) + more)

    def stores(self, *arguments: str) -> tuple[list[list[int]], int, str]:
        """The values that each submission stores, the exit code and the messages."""
        done = self.run_it("--format=jsonl", *arguments)
        found: list[list[int]] = []
        for line in done.stdout.splitlines():
            record = json.loads(line)
            if record["type"] == "submission":
                found.append([])
            if record["type"] == "packet" and record["name"] == "MI_STORE_DATA_IMM":
                found[-1].append(int(record["dwords"][3], 16))
        return found, done.returncode, done.stderr.decode()

    ALL = [[7, 8, 9], [], [8, 9]]

    def test_a_folder_has_its_submissions_in_order(self) -> None:
        self.assertEqual(self.stores(self.folder), (self.ALL, 0, ""))

    def test_one_submission_is_read_with_the_memory_of_its_folder(self) -> None:
        self.assertEqual(self.stores(self.path("000003.core")), ([[8, 9]], 0, ""))
        done = self.run_it("000003.core", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(b"  MI_STORE_DATA_IMM"), 2)

    def test_a_core_that_the_index_lacks_is_read_too(self) -> None:
        self.lines.pop()
        self.write_index()
        self.assertEqual(self.stores(self.folder), (self.ALL, 0, ""))
        os.remove(self.path("index.jsonl"))
        self.assertEqual(self.stores(self.folder), (self.ALL, 0, ""))

    def test_what_was_thrown_away_is_no_problem(self) -> None:
        self.lines.append({"type": "dropped", "number": 1, "reason": "limit"})
        self.write_index()
        os.remove(self.path("000001.core"))
        self.assertEqual(self.stores(self.folder), (self.ALL[1:], 0, ""))

    def test_a_missing_file_is_named_and_the_others_are_shown(self) -> None:
        os.remove(self.path("000002.core"))
        stores, code, messages = self.stores(self.folder)
        self.assertEqual((stores, code), ([[7, 8, 9], [8, 9]], 1))
        self.assertIn("000002.core", messages)

    def test_an_index_that_is_cut_off_is_a_problem_and_nothing_is_lost(self) -> None:
        self.write_index(b'{"type":"submission","number":4,"fi')
        stores, code, messages = self.stores(self.folder)
        self.assertEqual((stores, code), (self.ALL, 1))
        self.assertIn("index.jsonl, line 5: the last line is cut off", messages)
        for options in (["--run"], ["--draws"], ["--contexts"]):
            done = self.run_it(*options, self.folder)
            self.assertEqual(done.returncode, 1, options)
            self.assertIn(b"is cut off", done.stderr)

    def test_files_elsewhere_are_refused(self) -> None:
        secret = self.file("secret", b"not a core")
        for name in ("../secret", secret, "secret", "sub/000009.core"):
            self.lines[1:] = [{"type": "submission", "number": 9, "file": name}]
            self.write_index()
            stores, code, messages = self.stores(self.folder)
            self.assertEqual((stores, code), (self.ALL, 1))
            self.assertIn("cannot be in the file", messages)

    def test_memory_of_another_run_is_refused(self) -> None:
        self.file("000001.core", paged_core(1, [(3, 1)], run="other"))
        stores, code, messages = self.stores(self.folder)
        self.assertEqual((stores, code), ([[], [], [8, 9]], 1))
        self.assertIn("this core of run", messages)

    def test_missing_memory_is_a_problem_of_each_core(self) -> None:
        os.remove(self.path("memory"))
        stores, code, messages = self.stores(self.folder)
        self.assertEqual((stores, code), ([[], [], []], 1))
        self.assertIn("memory", messages)

    def test_a_core_from_a_pipe_says_where_its_memory_is(self) -> None:
        done = self.run_it("-", stdin=self.read("000001.core"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'in the file "memory" of the folder of this core', done.stderr)

    def test_what_the_index_says_about_a_submission_is_shown_with_it(self) -> None:
        self.lines[3].update({"process": "cube\x1b", "pid": 7, "warnings": ["odd"]})
        self.lines += [{"type": "outcome", "number": 2, "outcome": "completed"},
                       {"type": "outcome", "number": 3, "outcome": "hung", "detail": "reset"}]
        self.write_index()
        done = self.run_it("--format=jsonl", self.folder)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        remarks = [r for r in records if r["type"] == "remark"]
        self.assertEqual([r["text"] for r in remarks],
                         ["submission 3 of cube\x1b [7]: hung: reset; warning: odd"])
        before = records[:records.index(remarks[0])]
        self.assertEqual(len([r for r in before if r["type"] == "submission"]), 2)
        self.assertEqual(done.returncode, 0)
        text = self.run_it(self.folder).stdout
        self.assertIn(b"submission 3 of cube\\x1b [7]: hung: reset", text)
        self.assertNotIn(b"\x1b", text)

    def test_the_record_is_not_overwritten(self) -> None:
        for name in ("memory", "index.jsonl", "000001.core"):
            before = self.read(name)
            self.refused("-o", self.path(name), self.folder)
            self.assertEqual(self.read(name), before)


if __name__ == "__main__":
    unittest.main()
