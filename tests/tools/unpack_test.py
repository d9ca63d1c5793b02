#!/usr/bin/python3
"""unpack as a program."""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fixtures import END, UNKNOWN, on_terminal, words  # noqa: E402

UNPACK = os.path.abspath(sys.argv.pop(1))
CAPTURES = pathlib.Path("tests/data/captures/skl-gl-basic").absolute()
CORES = sorted(str(p) for p in CAPTURES.glob("*.core.zst"))
HANG = str(pathlib.Path("tests/data/hang/skl-gl-basic.error").absolute())


def run(*arguments, stdin=b"", env=None):
    environment = {"PATH": os.environ.get("PATH", "/bin:/usr/bin"), **(env or {})}
    return subprocess.run(
        [UNPACK, *arguments], input=stdin, capture_output=True, env=environment, check=False
    )


def text(*arguments, **more):
    return run(*arguments, **more).stdout.decode()


def null_state(generation: str) -> list[int]:
    """A batch that sets all 3D state to nothing and the bases to its own start, address 0: in shape
    what the i915 driver submits to a new context of Gfx8 and Gfx9."""
    later = generation == "gfx9"

    def zeros(opcode: int, dwords: int) -> list[int]:
        return [opcode << 16 | dwords - 2, *[0] * (dwords - 1)]

    batch = [0x7A000004, 0x01000000, 0, 0, 0, 0]  # PIPE_CONTROL
    batch += [0x69040300 if later else 0x69040000]  # PIPELINE_SELECT
    batch += zeros(0x7900, 4)  # 3DSTATE_DRAWING_RECTANGLE
    # STATE_BASE_ADDRESS: all bases and sizes modified, all MOCS zero.
    batch += [0x6101000E + 3 * later, 1, 0, 0, *[1, 0] * 4, *[1] * 4, *[1, 0, 0] * later]
    for opcode in range(0x7826, 0x7830):  # 3DSTATE_BINDING_TABLE_POINTERS_…, 3DSTATE_SAMPLER_…
        batch += zeros(opcode, 2)
    for opcode in (0x7815, 0x7816, 0x7817, 0x7819, 0x781A):  # 3DSTATE_CONSTANT_…
        batch += zeros(opcode, 11)
    for opcode, dwords in (
        (0x7810, 9), (0x781B, 9), (0x781C, 4), (0x781D, 11 if later else 9), (0x7811, 10),  # stages
        (0x7812, 4), (0x7813, 4), (0x7850, 5), (0x781F, 6 if later else 4), (0x7851, 11),
        (0x7814, 2), (0x7820, 12), (0x784F, 2), (0x784D, 2), (0x784E, 4 if later else 3),
        (0x7821, 2), (0x7823, 2), (0x780F, 2), (0x780E, 2), (0x7824, 2),  # states in memory
        (0x7806, 5), (0x7807, 5), (0x7804, 3), (0x7808, 5), (0x7809, 3), (0x780A, 5),  # buffers
        (0x780C, 2), (0x7849, 3), (0x784A, 2), (0x781E, 5), (0x7918, 8), (0x7919, 4), (0x791A, 4),
    ):
        batch += zeros(opcode, dwords)
    batch += [0x78050006, 7 << 29, *[0] * 6]  # 3DSTATE_DEPTH_BUFFER without a surface
    batch += [0x784B0000, 4]  # 3DSTATE_VF_TOPOLOGY
    return [*batch, *zeros(0x7B00, 7), END]


class UnpackTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def file(self, name, content=b""):
        path = os.path.join(self.directory.name, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def hang(self, old=b"", new=b"", prefix=b"", mark=b""):
        """The fixture with something replaced, and something before it and before each line."""
        with open(HANG, "rb") as file:
            content = file.read()
        self.assertIn(old, content)
        lines = content.replace(old, new).splitlines(keepends=True)
        return self.file("error", mark + b"".join(prefix + line for line in lines))

    def test_an_unknown_pci_id_is_no_reason_to_say_nothing(self):
        known = text("--hang", HANG)
        for platform, by in ((b"SKYLAKE", b'platform "skylake"'), (b"NOVELTY", b"generation 9")):
            path = self.hang(
                b"Platform: skl\nPCI ID: 0x1912\n",
                b"Platform: " + platform + b"\nPCI ID: 0xfffe\n",
            )
            done = run("--hang", path)
            self.assertEqual(done.returncode, 0)
            self.assertIn(b"PCI id 0xfffe; decoded as gfx9, since the input says " + by, done.stderr)
            self.assertIn(b"last draw  3DPRIMITIVE", done.stdout)
            self.assertEqual(done.stdout.count(b"\n"), known.count("\n"))

    def test_without_any_pci_id_the_error_code_names_the_generation(self):
        done = run("--hang", self.hang(b"PCI ID: 0x1912\n", b""))
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"the input has no PCI id; decoded as gfx9", done.stderr)

    def test_an_unknown_gpu_is_named_with_the_remedy(self):
        path = self.file("error", b"rcs0 command stream:\n  HEAD: 0x0\n")
        done = run(path)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"of the family intel, but does not say which", done.stderr)
        self.assertIn(b"--gen=gfx9", done.stderr)

    def test_a_hang_out_of_a_kernel_log_reads_like_the_file(self):
        for more in (
            {"prefix": b"[  123.456789] "},
            {"prefix": b"Nov 22 14:00:00 host kernel: i915 0000:00:02.0: [drm] "},
            {"mark": b"\xef\xbb\xbf"},
        ):
            done = run("--hang", self.hang(**more))
            self.assertEqual(done.returncode, 0, more)
            self.assertEqual(done.stdout.decode(), text("--hang", HANG), more)

    def test_exit_code_is_0_where_all_is_decoded(self):
        self.assertEqual(run(*CORES).returncode, 0)

    def test_exit_code_is_1_where_dwords_are_unknown(self):
        batch = self.file("b", words(UNKNOWN, END))
        self.assertEqual(run("--gen=gfx9", batch).returncode, 1)
        self.assertEqual(run("--gen=gfx9", "--format=stats", batch).returncode, 1)

    def test_exit_code_is_1_where_a_file_is_missing_and_the_others_are_shown(self):
        done = run("nothing.core", CORES[0])
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"nothing.core", done.stderr)
        self.assertIn(b"3DPRIMITIVE", done.stdout)

    def test_exit_code_is_1_where_a_dump_is_of_a_generation_that_nobody_knows(self):
        error = self.file("error", b"GPU HANG: ecode 99\nPCI ID: 0xffff\n")
        done = run(error)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"0xffff", done.stderr)
        self.assertEqual(run("--gen=gfx99", error).returncode, 2)

    def test_exit_code_is_2_for_wrong_usage_and_the_message_names_it(self):
        for wrong in (["--frmat=text", CORES[0]], [], ["--format=xml", CORES[0]],
                      ["--address=zz", CORES[0]], ["--address=5..2", CORES[0]],
                      ["--draw=0", CORES[0]], ["--draw=1000", CORES[0]],
                      ["--fail-on=weather", CORES[0]], ["--gen=gfx99", CORES[0]],
                      ["--format=stats", "--fail-on=fault", CORES[0]]):
            done = run(*wrong)
            self.assertEqual(done.returncode, 2, wrong)
            self.assertTrue(done.stderr.startswith(b"unpack: "), wrong)
            self.assertEqual(done.stdout, b"", wrong)

    def test_fail_on_makes_faults_count(self):
        # Bit 62 of 3DSTATE_PS_EXTRA is reserved.
        batch = self.file("b", words(0x784F0000, 0x40000000, END))
        self.assertEqual(run("--gen=gfx9", batch).returncode, 0)
        self.assertEqual(run("--gen=gfx9", "--fail-on=reserved", batch).returncode, 1)
        self.assertEqual(run("--gen=gfx9", "--fail-on=range,fault", batch).returncode, 1)
        self.assertEqual(run("--gen=gfx9", "--fail-on=range", batch).returncode, 0)
        self.assertEqual(run("--gen=gfx9", "--strict", batch).returncode, 1)

    def test_a_hang_is_told_first_then_what_there_is(self):
        lines = text(HANG).splitlines()
        starts = [next(i for i, line in enumerate(lines) if line.startswith(start))
                  for start in ("device", "hang", "engine rcs0", "overview",
                                "the dump also says", "registers of",
                                "submission 0", "summary")]
        self.assertEqual(starts, sorted(starts))

    def test_lines_that_nobody_knows_are_shown(self):
        with open(HANG, "rb") as file:
            content = file.read()
        news = self.file("error", content.replace(
            b"rcs0 command stream:\n", b"News: 7\nrcs0 command stream:\n  gossip: some words\n", 1))
        lines = text(news).splitlines()
        self.assertIn("the dump also says", lines)
        self.assertIn("  News: 7", lines)
        self.assertIn("    gossip: some words", lines)
        facts = [json.loads(line) for line in text("--format=jsonl", news).splitlines()
                 if '"fact"' in line]
        self.assertIn({"type": "fact", "key": "News", "value": "7"}, facts)
        self.assertIn({"type": "fact", "section": "rcs0 command stream", "key": "gossip",
                       "value": "some words"}, facts)

    def test_who_asks_for_a_part_of_a_dump_gets_no_report(self):
        for part in ("--draw=3", "--filter=3DPRIMITIVE", "--address=0xfffefffeee00..0xfffefffeef00"):
            self.assertNotIn("\nhang  ", text(part, HANG))
            self.assertNotIn('"hang"', text(part, "--format=jsonl", HANG))
            self.assertIn("\noverview  ", text(part, HANG))

    def test_hang_shows_only_the_report(self):
        done = run("--hang", HANG)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"<- ACTHD+0x14, IPEHR", done.stdout)
        self.assertNotIn(b"summary", done.stdout)
        records = [json.loads(line)
                   for line in text("--hang", "--format=jsonl", HANG).splitlines()]
        self.assertEqual([record["type"] for record in records], ["hang"])

    def test_the_verdict_comes_first_and_is_in_the_record(self):
        self.assertTrue(text("--hang", HANG).startswith("verdict  page-fault (confidence: high)"))
        record = json.loads(text("--hang", "--format=jsonl", HANG))
        verdict = record["verdicts"][0]
        self.assertEqual((verdict["kind"], verdict["confidence"]), ("page-fault", "high"))
        self.assertEqual(verdict["address"], "0xfffeff900000")
        self.assertTrue(verdict["evidence"] and verdict["alternative"])

    def test_a_kernel_log_is_evidence(self):
        log = self.file("dmesg", b"[ 5.0] i915 0000:00:02.0: [drm] Resetting rcs0 for preemption "
                                 b"time out\n")
        for arguments in (["--hang"], []):
            self.assertNotIn("preemption-timeout", text(*arguments, HANG))
            self.assertIn("preemption-timeout (confidence: high)",
                          text(*arguments, "--dmesg=" + log, HANG))
        shown = text("--hang", "--dmesg=" + log, HANG)
        self.assertIn("  log       kernel log, line 1: Resetting rcs0 for preemption time out",
                      shown)
        for arguments in (["--hang"], []):
            shown = text(*arguments, "--dmesg=" + log, "--device=0000:03:00.0", HANG)
            self.assertNotIn("preemption-timeout", shown)
        done = run("--hang", "--dmesg=/nonexistent", HANG)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"/nonexistent", done.stderr)

    def test_a_dump_of_xe_is_reported(self):
        path = self.file("devcoredump", b"**** Xe Device Coredump ****\n"
                         b"Reason: Timedout job - seqno=7, lrc_seqno=7, guc_id=5, flags=0x0\n"
                         b"kernel: 6.17.0\nPCI ID: 0x4908\n"
                         b"**** GuC Log ****\nGuC version: 70.5.1 (wanted 70.5.1)\n"
                         b"**** Contexts ****\nGuC ID: 5\n\tName: rcs5\n"
                         b"\tHW Context Desc: 0x00506000\n\tStart seqno: (memory) 6\n"
                         b"\tSeqno: (memory) 6\n\tSchedule State: 0x203\n")
        shown = text("--hang", path)
        self.assertTrue(shown.startswith("verdict  never-started (confidence: high), rcs5"), shown)
        self.assertIn("warning  The GuC firmware is 70.5.1.", shown)
        self.assertIn("state: registered, enabled, banned", " ".join(shown.split()))
        record = json.loads(text("--hang", "--format=jsonl", path))
        self.assertEqual(record["guc_version"], "70.5.1")
        self.assertTrue(record["contexts"][0]["at_fault"])

    def test_a_code_is_ranked_without_a_dump(self):
        for code in ("12:1:85dffffb", "9:0:0x85dffffb", "12:rcs0:85dffffb",
                     "GPU HANG: ecode 12:1:85dffffb, in Xorg [902]"):
            shown = text("--ecode=" + code)
            self.assertEqual(shown.splitlines()[3].split()[:2], ["0.0", "PIPE_CONTROL"], code)
            self.assertIn("This is a guess", shown)
        # Compute is an engine of its own from 12.5 on.
        self.assertIn("Gfx12.5", text("--ecode=12:10:85dffffb").splitlines()[0])
        for code in ("", "12:1", "nonsense"):
            done = run("--ecode=" + code)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"--ecode", done.stderr)
        self.assertEqual(run("--ecode=5:10:12345678").returncode, 2)  # no generation has it
        self.assertEqual(run("--ecode=12:1:85dffffb", HANG).returncode, 2)
        self.assertEqual(run("--ecode=12:1:85dffffb", "--hang").returncode, 2)

    def test_hang_of_an_input_that_knows_of_none_is_exit_code_1(self):
        done = run("--hang", CORES[0])
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, b"")
        self.assertEqual(run("--hang", "--format=stats", HANG).returncode, 2)

    def test_the_page_about_hangs_shows_what_the_program_says(self):
        with open("docs/hang.md", encoding="utf-8") as page:
            shown = page.read().split("```\n\n```\n", 1)[1].split("```", 1)[0]
        self.assertTrue(text("--hang", HANG).startswith(shown), shown)

    def test_the_hang_is_a_record_before_registers_and_submissions(self):
        types = [json.loads(line)["type"] for line in text("--format=jsonl", HANG).splitlines()]
        self.assertEqual(types[:3], ["schema", "device", "hang"])
        self.assertLess(types.index("register"), types.index("submission"))
        self.assertEqual(types.count("hang"), 1)

    def test_ids_count_what_is_written(self):
        ids = [record["id"] for record in map(json.loads, text("--format=jsonl", HANG).splitlines())
               if "id" in record]
        self.assertEqual(ids, list(range(len(ids))))

    def test_what_turns_out_damaged_is_a_problem_and_exit_code_1(self):
        with open(HANG, "rb") as file:
            content = file.read()
        at = content.index(b"--- batch = ")
        at = content.index(b":", at) + 20
        damaged = self.file("error", content[:at] + b"|" + content[at:])
        for arguments in ([], ["--format=jsonl"], ["--format=stats"]):
            done = run(*arguments, damaged)
            self.assertEqual(done.returncode, 1, arguments)
        self.assertIn("problem: input, byte", text(damaged))
        done = run("--hang", damaged)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"input, byte", done.stderr)
        self.assertIn(b"engine rcs0", done.stdout)

    def test_a_directory_stands_for_the_dump_in_it(self):
        with open(HANG, "rb") as file:
            self.file("error", file.read())
        self.file("uevent", b"MAJOR=226\n")
        self.assertEqual(text(self.directory.name), text(HANG))
        with tempfile.TemporaryDirectory() as empty:
            done = run(empty)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"has no dump", done.stderr)
        self.assertEqual(text("--format=stats", str(CAPTURES)), text("--format=stats", *CORES))

    def test_continue_past_end_shows_what_lies_behind_a_batch(self):
        batch = self.file("b", words(END, 0x01000000))
        self.assertNotIn("MI_USER_INTERRUPT", text("--gen=gfx9", batch))
        done = run("--gen=gfx9", "--continue-past-end", batch)
        self.assertIn(b"MI_USER_INTERRUPT", done.stdout)
        self.assertEqual(done.returncode, 0)

    def test_words_without_an_end_are_good(self):
        for batch in (self.file("b", words(0, 0)), self.file("b.hex", b"00000000 00000000")):
            done = run("--gen=gfx9", "--strict", batch)
            self.assertEqual(done.returncode, 0)
            self.assertIn(b"the words end at 0x8 without a packet that ends the batch", done.stdout)
            self.assertIn(b" 0 problems", done.stdout)
            self.assertEqual(run("--gen=gfx9", "--format=stats", batch).returncode, 0)

    def test_words_that_end_inside_of_a_packet_are_exit_code_1(self):
        self.assertEqual(run("--gen=gfx9", self.file("b", words(0x78050002, 0))).returncode, 1)

    def test_a_state_of_nothing_has_no_faults(self):
        for generation in ("gfx8", "gfx9"):
            batch = self.file("null", words(*null_state(generation)))
            done = run(f"--gen={generation}", "--strict", batch)
            self.assertEqual(done.returncode, 0, generation)
            self.assertIn(b" 0 unknown dwords, 0 problems, no faults", done.stdout)

    def test_a_table_without_a_count_ends_at_an_entry_of_zeros(self):
        gpu = self.file("gpu.xml", b"""<packsmith family="f" generation="g">
          <stream name="s"/>
          <struct name="Entry" dwords="1">
            <field name="Value" dword="0" bits="31:0" type="uint"/>
          </struct>
          <packet name="TABLE" dwords="3">
            <field name="Op" dword="0" bits="31:24" type="uint" forced="1"/>
            <field name="At" dword="1" bits="47:2" type="address">
              <points to="Entry" until="zero" limit="3" access="read"/>
            </field>
          </packet>
          <packet name="END" dwords="1">
            <field name="Op" dword="0" bits="31:24" type="uint" forced="2"/>
            <flow kind="end"/>
          </packet>
        </packsmith>""")
        for table, found in (([7, 8, 0, 9], 2), ([7, 8, 9, 10], 3), ([0, 7], 0)):
            batch = ["1000:", *(f"{x:08x}" for x in (0x01000000, 0x2000, 0, 0x02000000)), "\n2000:",
                     *(f"{x:08x}" for x in table)]
            path = self.file("batch.hex", " ".join(batch).encode())
            records = [json.loads(line) for line in text(f"--xml={gpu}", "--format=jsonl",
                                                         path).splitlines()]
            entries = [(r["index"], r["fields"][0]["value"]) for r in records
                       if r["type"] == "struct"]
            self.assertEqual(entries, list(enumerate(table))[:found])

    def test_the_example_of_help_that_needs_no_file_works(self):
        lines = text("--help").splitlines()
        words_of, program = next(line for line in lines if line.startswith("  echo ")).split("|")
        done = run(*program.split()[1:], stdin=words_of.split("echo", 1)[1].encode())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_help_begins_with_examples_and_names_every_format_of_input(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        help_text = done.stdout.decode()
        self.assertLess(help_text.index("Examples:"), help_text.index("--format=FORMAT"))
        self.assertIn("elf", help_text)
        self.assertNotIn("@", help_text)
        self.assertLessEqual(max(len(line) for line in help_text.splitlines()), 100)

    def test_the_text_begins_with_what_the_dumps_have_in_all(self):
        lines = text(*CORES).splitlines()
        self.assertTrue(lines[0].startswith("device  Intel Gfx9"))
        self.assertIn("5 submissions", lines[1])
        self.assertIn("all of it decoded", lines[1])
        summary = lines[-1]
        for what in ("939 packets", "44 draws"):
            self.assertIn(what, lines[1])
            self.assertIn(what, summary)

    def test_the_overview_says_what_is_not_decoded_and_where(self):
        batch = self.file("b", words(END, END))
        self.assertIn("all of it decoded", text("--gen=gfx9", batch))
        batch = self.file("b", words(0, UNKNOWN, END))
        line = text("--gen=gfx9", "--address=0x1000", batch).splitlines()[1]
        self.assertIn("not decoded: 1 dword, first at 0x1004", line)

    def test_filter_takes_globs_in_any_case_and_shows_what_they_lead_to(self):
        shown = text("--filter=3dstate_blend_*pointers,MI_ARB_CHECK", CORES[0])
        packets = [line for line in shown.splitlines() if line.startswith("0x")]
        self.assertTrue(packets)
        for line in packets:
            self.assertIn("3DSTATE_BLEND_STATE_POINTERS", line)
        self.assertIn("  BLEND_STATE  ", shown)

    def test_filter_finds_structures_of_packets_that_are_not_shown(self):
        shown = text("--filter=BLEND_STATE", CORES[0])
        self.assertIn("  BLEND_STATE  ", shown)
        self.assertNotIn("3DSTATE_BLEND_STATE_POINTERS", shown)

    def test_filter_works_in_every_format(self):
        names = text("--format=names", "--filter=3DPRIMITIVE", "--no-offsets", CORES[0])
        self.assertEqual(names.count("3DPRIMITIVE\n"), 12)
        self.assertEqual(len(names.splitlines()), 13)
        stats = text("--format=stats", "--filter=3DPRIMITIVE", CORES[0])
        self.assertEqual(stats.splitlines()[1].split()[0], "12")
        records = [json.loads(line) for line in text(
            "--format=jsonl", "--filter=3DPRIMITIVE", CORES[0]).splitlines()]
        self.assertEqual(sum(r["type"] == "packet" for r in records), 12)

    def test_address_range_shows_what_lies_there(self):
        batch = self.file("b", words(0, 0, 0x7A000004, 0, 0, 0, 0, 0, END))
        shown = text("--gen=gfx9", "--address=0x4..0xc", "--hide-zero", batch)
        self.assertIn("0x000000000008  PIPE_CONTROL", shown)
        self.assertIn("0x000000000004  MI_NOOP", shown)
        self.assertNotIn("MI_BATCH_BUFFER_END", shown)

    def test_a_single_address_is_where_a_bare_batch_lies(self):
        batch = self.file("b", words(END))
        self.assertIn("0x000000001000  MI_BATCH_BUFFER_END",
                      text("--gen=gfx9", "--address=0x1000", batch))

    def test_draw_shows_one_draw_and_the_last_of_each_state_before_it(self):
        shown = text("--draw=2", *CORES).splitlines()
        packets = [line.split()[1] for line in shown if line.startswith("0x")]
        self.assertEqual(packets.count("3DPRIMITIVE"), 1)
        self.assertEqual(packets[-1], "3DPRIMITIVE")
        # What came before it is below it.
        draw = next(i for i, line in enumerate(shown) if "  draw 2" in line)
        bound = [line.split()[1] for line in shown[draw:] if "  bound, from submission 0" in line]
        # The last one sets only the base of surface states, the first one the others.
        self.assertEqual(bound.count("STATE_BASE_ADDRESS"), 2)
        self.assertEqual(bound.count("3DSTATE_WM_HZ_OP"), 1)
        self.assertNotIn("3DPRIMITIVE", bound)
        self.assertEqual(sum(line.startswith("submission ") for line in shown), 1)

    def test_equal_packets_of_one_dword_are_shown_once(self):
        batch = self.file("b", words(0, 0, 0, END))
        shown = text("--gen=gfx9", batch)
        self.assertIn("MI_NOOP  1 dword, 3 times, the last at 0x8", shown)
        self.assertEqual(shown.count("MI_NOOP"), 1)

    def test_no_offsets_gives_the_same_text_wherever_a_batch_lay(self):
        batch = self.file("b", words(0, 0, 0x7A000004, 0, 0, 0, 0, 0, UNKNOWN, END))
        for form in ("text", "names"):
            one, other = (text("--gen=gfx9", "--no-offsets", f"--format={form}",
                               f"--address={place}", batch) for place in ("0x1000", "0x22000"))
            self.assertEqual(one, other)
            self.assertIn("PIPE_CONTROL", one)

    def test_addresses_name_the_buffer_that_holds_them(self):
        self.assertRegex(text(CORES[0]), r"Address +0xfffefffff060  in bo3\+0x60\n")

    def test_standard_input_is_read_as_any_file(self):
        with open(CORES[0], "rb") as file:
            content = file.read()
        self.assertEqual(run("-", stdin=content).stdout, run(CORES[0]).stdout)

    def test_a_pipe_among_several_inputs_is_read_once(self):
        read, write = os.pipe()
        with os.fdopen(write, "wb") as file:
            file.write(words(END))
        done = subprocess.run(
            [UNPACK, "--gen=gfx9", f"/dev/fd/{read}", self.file("b", words(END))],
            capture_output=True, pass_fds=[read], check=False)
        os.close(read)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"2 packets", done.stdout)

    def test_output_appears_whole_or_not_at_all(self):
        place = os.path.join(self.directory.name, "out.txt")
        self.assertEqual(run(f"--output={place}", CORES[0]).stdout, b"")
        with open(place, "rb") as file:
            self.assertEqual(file.read(), run(CORES[0]).stdout)
        place = os.path.join(self.directory.name, "none.txt")
        self.assertNotEqual(run("-o", place, "nothing.core").returncode, 0)
        self.assertFalse(os.path.exists(place))

    def test_a_reader_that_goes_away_is_no_error(self):
        process = subprocess.Popen([UNPACK, *CORES], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdout.read(10)
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        self.assertEqual(process.wait(), 0)

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([UNPACK, CORES[0]], stdout=full, stderr=subprocess.PIPE,
                                  check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output", done.stderr)

    def test_colours_come_on_a_terminal_unless_somebody_says_no(self):
        def shown(*arguments, **env):
            return on_terminal(UNPACK, *arguments, self.file("b", words(END)), **env)[0]

        self.assertIn(b"\x1b[", shown("--gen=gfx9", "--no-pager", TERM="xterm"))
        self.assertNotIn(b"\x1b", shown("--gen=gfx9", "--no-pager", TERM="dumb"))
        self.assertNotIn(b"\x1b", shown("--gen=gfx9", "--no-pager", TERM="xterm", NO_COLOR="1"))
        self.assertNotIn(b"\x1b", run("--gen=gfx9", self.file("b", words(END))).stdout)
        self.assertIn(b"\x1b", run("--gen=gfx9", "--color=always",
                                   self.file("b", words(END))).stdout)
        self.assertIn(b"paged: device", shown("--gen=gfx9", TERM="xterm", NO_COLOR="1",
                                              PAGER="sed 's/.*device/paged: device/'"))

    def test_kernels_are_written_once_each(self):
        place = os.path.join(self.directory.name, "kernels")
        self.assertEqual(run(f"--kernels={place}", *CORES).returncode, 0)
        names = sorted(os.listdir(place))
        self.assertIn("pixel-0xffffb000-simd8.bin", names)
        self.assertEqual(os.path.getsize(os.path.join(place, "pixel-0xffffb000-simd8.bin")), 152)

    def test_a_disassemblers_words_stand_below_the_kernel(self):
        shown = text("--disassembler=echo 'size:' $(wc -c < {}); false", CORES[0])
        self.assertIn("      size: 152\n", shown)
        self.assertIn("ended with exit code 1", shown)

    def test_follow_says_which_pointers_are_followed(self):
        everything, batches = text(CORES[0]), text("--follow=batches", CORES[0])
        self.assertIn("BLEND_STATE  17", everything)
        self.assertNotIn("BLEND_STATE  17", batches)
        self.assertNotIn("BLEND_STATE  17", text("--follow=none", CORES[0]))

    def test_a_core_of_two_gigabytes_needs_little_memory(self):
        note = b"packsmith\0\0\0"
        def entry(kind, value):
            content = json.dumps(value).encode()
            return (struct.pack("<3I", 10, len(content), kind) + note + content +
                    b"\0" * (-len(content) % 4))
        notes = (entry(0x50530001, {"family": "intel", "generation": "gfx9"}) +
                 entry(0x50530002, {"index": 0, "engine": "render", "space": 0,
                                    "batch_address": "0x1000", "batch_length": 64}))
        size = 2 << 30
        batch = words(*[0] * 15, END)
        begin = 64 + 3 * 56
        header = b"\x7fELF\2\1\1" + b"\0" * 9 + struct.pack(
            "<HHIQQQIHHHHHH", 4, 205, 1, 0, 64, 0, 0, 64, 56, 3, 0, 0, 0)
        page = 1 << 16
        headers = struct.pack("<IIQQQQQQ", 4, 0, begin, 0, 0, len(notes), len(notes), 4)
        headers += struct.pack("<IIQQQQQQ", 1, 6, begin + len(notes), 0x1000, 0, len(batch),
                               len(batch), 4)
        headers += struct.pack("<IIQQQQQQ", 1, 6, page, 0x100000000, 0, size, size, 4)
        path = self.file("big.core", header + headers + notes + batch)
        os.truncate(path, page + size)
        for form in ("text", "stats", "jsonl"):
            process = subprocess.Popen([UNPACK, f"--format={form}", path],
                                       stdout=subprocess.PIPE)
            shown = process.stdout.read()
            process.stdout.close()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = status
            self.assertEqual(status, 0, shown)
            self.assertIn(b"MI_BATCH_BUFFER_END", shown)
            self.assertLess(usage.ru_maxrss, 100 * 1024)  # KiB


if __name__ == "__main__":
    unittest.main()
