#!/usr/bin/python3
"""Programs that speak to a kernel driver themselves: xe and asahi, of which Debian has no client."""

import os
import sys
import tempfile

import clients

XE, ASAHI = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))

# Which entry of the tables of page attributes memory of the process is bound with.
XE_GPUS = {"tgl:xe": 0, "adlp:xe": 0, "dg2:xe": 0, "mtl:xe": 3, "lnl": 1, "bmg": 1, "ptl": 1}
ASAHI_GPUS = ("g13g", "g13d", "g14g", "g14d")


class InterfacesTest(clients.ClientTest):
    """The programs check themselves what the GPU has written."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def good(self, done: clients.Run, *parts: str) -> None:
        self.assert_good(done)
        for part in parts:
            self.assertIn(f"{part}: good\n", done.stdout)

    def test_xe_executes_what_queues_submit(self) -> None:
        for gpu, attributes in XE_GPUS.items():
            with self.subTest(gpu):
                done = clients.run(self.folder, gpu, XE, str(attributes))
                self.good(done, "stores", "user fence", "timeline", "semaphore", "times", "binds",
                          "fault")
                # The last part stores to where nothing is.
                self.assertEqual(done.stderr.count("the GPU hung"), 1)
                self.assert_decoded(done, frozenset({("MI_STORE_DATA_IMM", "unmapped")}))

    def test_asahi_signals_and_writes_times(self) -> None:
        for gpu in ASAHI_GPUS:
            with self.subTest(gpu):
                done = clients.run(self.folder, gpu, ASAHI)
                self.good(done, "parameters", "times", "timeline")
                self.assert_decoded(done)

    def test_programs_for_another_driver_are_refused(self) -> None:
        for gpu, program in (("g13g", XE), ("tgl:i915", XE), ("lnl", ASAHI)):
            with self.subTest(gpu):
                done = clients.run(self.folder, gpu, program, "0")
                self.assertEqual(done.returncode, 1)
                self.assertIn("IsDriver", done.stderr)


if __name__ == "__main__":
    clients.main()
