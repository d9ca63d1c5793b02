#!/usr/bin/python3
"""The programs of docs/examples on mock kernels of each driver: what they submit is taken without a
warning and decodes, and what the command streamer alone makes is in memory."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

MOCK, UNPACK, *PROGRAMS = (os.path.abspath(path) for path in sys.argv[1:])
# By the end of the path: shortest, batch, ...
PROGRAM = {os.path.basename(path): path for path in PROGRAMS}
NODE = "/dev/dri/renderD128"
GFX12_DEVICES = ("tgl", "tgl:xe", "adlp", "adlp:xe")
GFX125_DEVICES = ("dg2:i915", "dg2:xe", "mtl:i915", "mtl:xe")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)


class DevicesTest(unittest.TestCase):
    def run_on(self, device: str, program: str, *arguments: str, submissions: int = 1) -> str:
        """What the program prints."""
        with self.subTest(device=device, program=program), \
                tempfile.TemporaryDirectory() as folder:
            done = run(MOCK, f"--device={device}", "--run", "--warnings", "--summary",
                       f"--record={folder}/run", "--", PROGRAM[program], *arguments,
                       f"--device={NODE}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f" {submissions} submissions, 0 warnings", done.stderr)
            # Draws in a ring are many packets.
            shown = run(UNPACK, "--strict", "--fail-on=fault", "--max-packets=200000",
                        f"{folder}/run")
            self.assertEqual((shown.returncode, shown.stderr), (0, ""), shown.stdout[-2000:])
            self.assertIn("; all of it decoded", shown.stdout)
            return done.stdout
        return ""

    def test_the_shortest_program_stores_its_answer(self) -> None:
        for device in ("skl", "kbl", "glk"):
            self.assertEqual(self.run_on(device, "shortest"), "answer 42\n")

    def test_what_a_batch_computes_copies_and_calls_is_in_memory(self) -> None:
        # 10 * 48 + 16, and 10 > 8; of two indirect draws' arguments the last ones.
        self.assertEqual(self.run_on("skl", "batch"),
                         "computed 496, greater 1, called 7, indirect 6, progress 1\n")

    def test_state_tables_and_descriptors_are_taken(self) -> None:
        for program in ("binding", "compute", "indirect", "memory", "packets", "pipeline", "state"):
            self.run_on("skl", program)
        for device in GFX125_DEVICES:
            self.run_on(device, "descriptors")

    def test_queries_are_read_back(self) -> None:
        self.assertEqual(self.run_on("skl", "queries"),
                         "vertices 12, primitives 4\ntime passed\nreports are a pair\n")

    def test_the_parts_of_a_driver_are_taken(self) -> None:
        for device in ("lnl", "bmg"):
            self.run_on(device, "parts", submissions=2)
        for device in GFX125_DEVICES:
            self.run_on(device, "extras", submissions=3)

    def test_a_frame_of_each_generation_has_the_counts_and_times_of_its_draw(self) -> None:
        devices = {"gfx8": ("bdw",), "chv": ("chv",), "gfx9": ("skl",), "gfx11": ("icl",),
                   "gfx12": GFX12_DEVICES, "gfx125": GFX125_DEVICES, "xe2": ("lnl", "bmg"),
                   "xe3": ("ptl", "wcl")}
        for generation, names in devices.items():
            for device in names:
                *uses, counters = self.run_on(device, "main", generation).splitlines()
                self.assertIn("writes queries", uses)
                # Three instances of six indices.
                found = re.fullmatch(r"fetched 18, copied 18, ticks (\d+)", counters)
                assert found is not None, counters
                # It takes some time, and less than a minute at 20 MHz.
                self.assertTrue(0 < int(found[1]) < 60 * 20_000_000, counters)

    def test_what_draws_of_a_number_in_memory_fetch_is_read_back_through_each_driver(self) -> None:
        # Two of three draws: 3 and 2 * 6 vertices of triangles.
        devices = {"gfx8": ("bdw",), "gfx9": ("skl",), "gfx11": ("icl",), "gfx12": GFX12_DEVICES,
                   "gfx125": GFX125_DEVICES, "xe2": ("lnl", "bmg"), "xe3": ("ptl", "wcl")}
        for generation, names in devices.items():
            for device in names:
                self.assertEqual(self.run_on(device, "count", generation),
                                 "vertices 15, primitives 5, copied 15 and 5\n")

    def test_without_execution_nothing_is_counted(self) -> None:
        for device, generation in (("skl", "gfx9"), ("tgl:xe", "gfx12"), ("lnl", "xe2")):
            with self.subTest(device):
                done = run(MOCK, f"--device={device}", "--", PROGRAM["count"], generation,
                           f"--device={NODE}")
                self.assertEqual((done.returncode, done.stdout),
                                 (0, "vertices 0, primitives 0, copied 0 and 0\n"), done.stderr)

    def test_a_frame_for_apples_gpus_is_taken_and_its_fences_signal(self) -> None:
        for device in ("m1", "m1-max"):
            *lines, rest = self.run_on(device, "agx", submissions=2).split("\n")
            self.assertEqual((len(lines), rest), (3, ""))
            times = []
            for work, line in zip(("vertices", "fragments", "compute"), lines):
                found = re.fullmatch(rf"{work} began (\d+), ended (\d+)", line)
                assert found is not None, line
                times += [int(found[1]), int(found[2])]
            # The pass's stages, and the dispatch that waits for it.
            self.assertGreater(times[0], 0)
            self.assertEqual(times, sorted(times))

    def test_the_render_pass_of_apples_frame_has_its_programs_of_tiles(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            done = run(MOCK, "--device=m1", "--warnings", f"--record={folder}/run", "--",
                       PROGRAM["agx"], f"--device={NODE}")
            self.assertEqual(done.returncode, 0, done.stderr)
            shown = run(UNPACK, "--strict", "--fail-on=fault", f"{folder}/run")
            self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        # The vertices, the programs that clear, store, load and store, and the dispatch.
        self.assertIn("overview  6 submissions", shown.stdout)
        self.assertEqual(shown.stdout.count("  PBE[0]  "), 2)
        self.assertEqual(shown.stdout.count("  USC Uniform  "), 5)

    def test_apples_frame_on_a_host_is_its_streams(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            done = run(PROGRAM["agx"], "--device=host", f"{folder}/a.core", f"{folder}/b.core")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            self.assertEqual(sorted(os.listdir(folder)), ["a.core", "b.core"])

    def test_a_gpu_of_another_generation_is_an_error(self) -> None:
        for device, program in (("tgl", "batch"), ("skl", "descriptors"), ("skl", "agx")):
            done = run(MOCK, f"--device={device}", "--", PROGRAM[program], f"--device={NODE}")
            self.assertEqual(done.returncode, 1)
            self.assertIn(NODE, done.stderr)

    def test_the_first_gpu_of_the_programs_generation_is_found(self) -> None:
        done = run(MOCK, "--device=tgl,icl,skl", "--run", "--warnings", "--", PROGRAM["shortest"],
                   "--device=first")
        self.assertEqual((done.returncode, done.stdout), (0, "answer 42\n"), done.stderr)
        done = run(MOCK, "--device=tgl,icl", "--", PROGRAM["shortest"], "--device=first")
        self.assertEqual(done.returncode, 1)
        self.assertIn("renderD129: ", done.stderr)

    def test_arguments_that_do_not_go_together_are_wrong_usage(self) -> None:
        for arguments in ((), ("--device=host",), ("--device=", "job.core"), ("--devise=host",),
                          (f"--device={NODE}", "job.core"), ("a.core", "b.core")):
            done = run(PROGRAM["batch"], *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("usage: ", done.stderr)

    def test_the_host_can_be_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            done = run(PROGRAM["memory"], "--device=host", f"{folder}/job.core")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(os.listdir(folder), ["job.core"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
