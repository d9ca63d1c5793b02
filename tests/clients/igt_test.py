#!/usr/bin/python3
"""The benchmarks of IGT (Debian's intel-gpu-tools) on simulated GPUs: what they measure is the mock."""

import os
import tempfile

import clients

FOLDER = "/usr/libexec/igt-gpu-tools/benchmarks"


def setUpModule() -> None:
    clients.driver(FOLDER)


class IgtTest(clients.ClientTest):
    """Each benchmark runs for as short as it can."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def benchmark(self, gpu: str, name: str, *arguments: str) -> clients.Run:
        done = clients.run(self.folder, gpu, clients.driver(os.path.join(FOLDER, name)), *arguments,
                           most=20)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^ *[0-9.]+(s elapsed.*)?$")
        self.assertNotIn("hung", done.stderr)
        return done

    def test_empty_batches_are_executed(self) -> None:
        for gpu in ("hsw", "dg2"):
            with self.subTest(gpu):
                done = self.benchmark(gpu, "gem_exec_nop", "-r", "1")
                self.assert_good(done)
                self.assert_decoded(done)

    def test_contexts_submit_empty_batches(self) -> None:
        done = self.benchmark("skl", "gem_exec_ctx", "-r", "1")
        self.assert_good(done)
        self.assert_decoded(done)

    def test_batches_are_relocated_or_placed(self) -> None:
        for gpu in ("ilk", "skl", "dg2"):
            with self.subTest(gpu):
                done = self.benchmark(gpu, "gem_exec_reloc")
                self.assert_good(done)
                self.assert_decoded(done)

    def test_objects_are_created_and_written(self) -> None:
        self.assert_good(self.benchmark("skl", "gem_create", "-s", "4096", "-r", "1"))
        self.assert_good(self.benchmark("skl", "gem_prw", "-r", "1"))

    def test_objects_are_not_busy_when_their_batch_has_ended(self) -> None:
        self.assert_good(self.benchmark("tgl", "gem_busy", "-I"))

    def test_objects_are_busy_until_the_program_ends_their_batch(self) -> None:
        # The batch starts itself again. The benchmark says that it needs no relocation, but has a
        # relocation whose target is another object than it presumes.
        done = self.benchmark("skl", "gem_busy", "-s")
        self.assertIn("NO_RELOC, but a relocation at 0x400 presumes", done.stderr)
        self.assertIn(" 2 submissions, 1 warnings", done.stderr)
        self.assert_decoded(done)

    def test_workloads_end_by_the_time_that_batches_read(self) -> None:
        for gpu in ("bdw", "skl", "icl", "tgl"):
            with self.subTest(gpu):
                done = self.benchmark(gpu, "gem_wsim", "-w", "1.RCS.2000.0.0,1.VCS.1000.-1.1", "-r",
                                      "2")
                self.assert_good(done)
                self.assert_decoded(done)


if __name__ == "__main__":
    clients.main()
