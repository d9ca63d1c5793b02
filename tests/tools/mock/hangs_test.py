#!/usr/bin/python3
"""The dumps that packsmith-mock makes of seeded hangs get the verdicts of their causes.

Each batch is executed by the simulator; the dump is what a program finds in sysfs afterwards. The
table of docs/hang.md is what `unpack --hang` says now.
"""

import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

MOCK, CLIENT, PACK, UNPACK, PAGE = (os.path.abspath(sys.argv.pop(1)) for _ in range(5))

# Device, driver, description.
COLUMNS = [("skl", "i915", "gfx9"), ("tgl", "i915", "gfx12"), ("dg2", "xe", "gfx125"),
           ("bmg", "xe", "xe2")]
NOT_IN_SUCH_A_DUMP = "not in such a dump"

# As hang_client places them. Batches begin with a store, and what follows `.align 128` is at STOP.
STOP, SECOND = 0x800080, 0xA00000
STORE = "MI_STORE_DATA_IMM Address=0x400040 Immediate_Data=1\n"
END = "MI_BATCH_BUFFER_END\n"
DRAW = STORE + "3DPRIMITIVE\n.align 128\nPIPE_CONTROL\n" + END
WAIT = ("MI_SEMAPHORE_WAIT Compare_Operation=raw(4) Wait_Mode=raw(1) Semaphore_Data_Dword=7 "
        "Semaphore_Address=0x400000\n")
JUMP = "MI_BATCH_BUFFER_START Address_Space_Indicator=raw(1) Batch_Buffer_Start_Address="
EVENT = {"gfx9": "MI_WAIT_FOR_EVENT Display_Plane_1_A_Vertical_Blank_Wait_Enable=true\n",
         "": "MI_WAIT_FOR_EVENT_2 Display_Pipe_Vertical_Blank_Wait_Enable=1\n"}


@dataclasses.dataclass
class Seed:
    name: str
    expected: str | dict[str, str]  # the verdict, or that of each device; "none": there is none
    batch: str | dict[str, str]  # by description; "": of the others
    hang_at: str = ""  # empty: it hangs by itself
    second: str = ""
    drivers: str = "i915 xe"  # whose dumps can show it
    ends: bool = True  # False: it waits, or runs, until the kernel's patience ends


SEEDS = [
    # i915's address spaces have a scratch page, which takes such a store.
    Seed("store to what is not mapped", {"dg2": "cat-error", "bmg": "page-fault"},
         STORE + "MI_STORE_DATA_IMM Address=0x7fff0000 Immediate_Data=1\n" + END, drivers="xe"),
    Seed("jump to what is not mapped",
         {"skl": "batch-missing", "tgl": "batch-missing", "dg2": "cat-error", "bmg": "page-fault"},
         STORE + JUMP + "0x7fff0000\n"),
    Seed("semaphore that nobody writes", "semaphore-wait", STORE + WAIT + END, ends=False),
    Seed("semaphore written after the wait", "semaphore-wait",
         STORE + WAIT + "MI_STORE_DATA_IMM Address=0x400000 Immediate_Data=7\n" + END, ends=False),
    Seed("display event", "event-wait",
         {gen: STORE + ".align 128\n" + wait + END for gen, wait in EVENT.items()},
         f"1@{STOP:#x}"),
    Seed("endless loop", "endless-loop", STORE + "begin: MI_NOOP\nMI_NOOP\n" + JUMP + "begin\n",
         ends=False),
    Seed("loop until a value in memory", "endless-loop",
         "begin: " + STORE + "MI_CONDITIONAL_BATCH_BUFFER_END Compare_Data_Dword=7 "
         "Compare_Address=0x400100\n" + JUMP + "begin\n", ends=False),
    Seed("unknown command", "unknown-command", STORE + ".dword 0xe0000001\n" + END),
    Seed("reserved bits set", "reserved-bits",
         STORE + ".align 128\nMI_STORE_DATA_IMM Address=0x400040 Immediate_Data=1 DW1[1]=1\n" + END,
         f"1@{STOP:#x}"),
    Seed("shader that does not end", "shader", DRAW, f"1:shader@{STOP:#x}"),
    Seed("clipper that does not finish", "pipeline", DRAW, f"1:CL@{STOP:#x}"),
    Seed("job never started", "never-started", STORE + END, "1:not-started"),
    Seed("context does not yield", "preemption-timeout", DRAW, f"1:not-yielding@{STOP:#x}"),
    Seed("reset because of another queue", "reset-by-other", STORE + END, "1:reset-by-other",
         drivers="xe"),
    Seed("registers read after the reset", "already-reset", STORE + END, "1:reset"),
    Seed("batch not saved", "batch-missing", STORE + JUMP + f"{SECOND:#x}\n",
         f"1@{SECOND:#x}", second="PIPE_CONTROL\n" + END),
    Seed("nothing wrong, at the first command", "none", STORE + END, "1"),
    Seed("nothing wrong, in the middle", "none", STORE + ".align 128\n" + STORE + END,
         f"1@{STOP:#x}"),
    Seed("nothing wrong, after a draw", "none", DRAW, f"1@{STOP:#x}"),
]


def run(*arguments: str) -> str:
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class HangsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def assemble(self, folder: pathlib.Path, name: str, text: str, generation: str,
                 address: int) -> str:
        source, bytes_of_it = folder / f"{name}.asm", folder / f"{name}.bin"
        source.write_text(f".gen {generation}\n.org {address:#x}\n{text}", encoding="ascii")
        run(PACK, "--format=bytes", str(source), "-o", str(bytes_of_it))
        return str(bytes_of_it)

    def report(self, seed: Seed, device: str, driver: str, generation: str) -> str:
        """What unpack says about the dump that the mock makes of a seeded hang."""
        batch = seed.batch
        if isinstance(batch, dict):
            batch = batch.get(generation, batch[""])
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        files = [self.assemble(folder, "batch", batch, generation, 0x800000)]
        if seed.second:
            files.append(self.assemble(folder, "second", seed.second, generation, SECOND))
        dump, log = folder / "dump", folder / "log"
        # Others must not hang only because the machine is slow.
        patience = [] if seed.ends else ["--patience=1"]
        hang = [f"--hang-at={seed.hang_at}"] if seed.hang_at else []
        run(MOCK, f"--device={device}:{driver}", "--run", *patience, *hang,
            f"--kernel-log={log}", "--", CLIENT, driver, str(dump), *files)
        dmesg = [f"--dmesg={log}"] if seed.expected == "preemption-timeout" else []
        done = subprocess.run([UNPACK, "--hang", *dmesg, str(dump)], capture_output=True, text=True,
                              check=False, timeout=120)
        # 1: something of the dump could not be decoded, as the unknown command.
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.stdout

    def test_seeded_hangs_get_the_verdicts_of_their_causes(self) -> None:
        table = "| hang | " + " | ".join(f"{device}, {driver}" for device, driver, _ in COLUMNS)
        table += " |\n" + "|---" * (len(COLUMNS) + 1) + "|\n"
        # Some wait until the kernel's patience ends.
        with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:
            reports = {(seed.name, column[0]): pool.submit(self.report, seed, *column)
                       for seed in SEEDS for column in COLUMNS if column[1] in seed.drivers}
        for seed in SEEDS:
            cells = []
            for device, driver, _ in COLUMNS:
                if driver not in seed.drivers:
                    cells.append(NOT_IN_SUCH_A_DUMP)
                    continue
                with self.subTest(seed=seed.name, device=device):
                    report = reports[seed.name, device].result()
                    found = re.match(r"verdict  (?:(none)|([a-z-]+) \(confidence: ([a-z]+)\))",
                                     report)
                    assert found is not None, report
                    expected = seed.expected
                    if isinstance(expected, dict):
                        expected = expected[device]
                    self.assertEqual(found[1] or found[2], expected, report)
                    cells.append("none" if found[1] else f"{found[2]}, {found[3]}")
            table += f"| {seed.name} | " + " | ".join(cells) + " |\n"
        self.assertIn(table, pathlib.Path(PAGE).read_text(encoding="utf-8"), table)

    def test_the_report_names_the_unit_that_was_seeded(self) -> None:
        seed, = (one for one in SEEDS if one.expected == "pipeline")
        for column in COLUMNS:
            with self.subTest(column[0]):
                self.assertIn("  suspect   CL, the last busy unit of the pipeline; VF",
                              self.report(seed, *column))

    def test_a_submission_that_does_not_reach_the_place_does_not_hang(self) -> None:
        batch = self.assemble(self.folder, "batch", STORE + END, "gfx9", 0x800000)
        done = subprocess.run(
            [MOCK, "--device=skl", "--run", "--hang-at=1@0x800100", "--", CLIENT, "i915",
             str(self.folder / "dump"), batch, "", "1"],
            capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("does not hang as asked for: its batch does not reach 0x800100", done.stderr)

    def test_a_hang_that_there_was_not_is_said(self) -> None:
        done = subprocess.run([MOCK, "--device=skl", "--hang-at=3:shader", "--", "true"],
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--hang-at: submission 3 did not hang: there were only 0", done.stderr)

    def test_a_kind_that_the_gpu_does_not_have_is_said(self) -> None:
        batch = self.assemble(self.folder, "batch", STORE + END, "gfx9", 0x800000)
        done = subprocess.run(
            [MOCK, "--device=skl,bmg", "--hang-at=1:reset-by-other", "--", CLIENT, "i915",
             str(self.folder / "dump"), batch],
            capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("submission 1 hangs without what was asked for: reset-by-other is a hang of "
                      "xe", done.stderr)

    def test_what_is_no_hang_is_refused(self) -> None:
        for value, why in (("0", "a number from 1 on"), ("x", "a number from 1 on"),
                           ("1@", "the address"), ("1:", "the kind is missing"),
                           ("1:WM", "WM is neither a kind of hang"),
                           ("1:not-started@0x800000", "has no address"),
                           ("1:reset-by-other", "reset-by-other is a hang of xe"),
                           ("2,1,2:shader", "submission 2 can hang only once")):
            with self.subTest(value):
                done = subprocess.run([MOCK, "--device=skl", f"--hang-at={value}", "--", "true"],
                                      capture_output=True, text=True, check=False, timeout=60)
                self.assertEqual(done.returncode, 2)
                self.assertIn(why, done.stderr)


if __name__ == "__main__":
    unittest.main()
