#!/usr/bin/python3
"""Intel's OpenCL driver (NEO) on simulated GPUs."""

import tempfile

import clients


def setUpModule() -> None:
    clients.driver("/etc/OpenCL/vendors/intel.icd")


class OnOneGpu:
    """The program runs once on each GPU; each test looks at a part of what it did."""

    DEVICE = ""
    FAULTS: frozenset[tuple[str, str]] = frozenset()
    PROBLEM = "no problem"

    folder: tempfile.TemporaryDirectory[str]
    done: clients.Run

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        client = clients.compiled("opencl_client.c", "CL/cl.h", "-lOpenCL")
        cls.done = clients.run(cls.folder.name, cls.DEVICE, client)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def test_work_completes_and_has_times(self) -> None:
        self.assertIn("times: good\n", self.done.stdout, self.done.stderr)  # type: ignore[attr-defined]

    def test_buffers_are_written_and_read(self) -> None:
        # By the CPU, and on Gfx12.5 by the copy engine.
        self.assertIn("write and read: good\n", self.done.stdout)  # type: ignore[attr-defined]

    def test_what_needs_kernels_is_said_once_and_writes_nothing(self) -> None:
        # This driver fills and copies buffers by kernels.
        self.assertIn("copy not done, fill not done\n", self.done.stdout)  # type: ignore[attr-defined]
        said = self.done.stderr.count("dispatches need shaders, which are not executed")
        self.assertEqual(said, 1)  # type: ignore[attr-defined]

    def test_the_program_succeeds_and_the_kernel_has_no_objection(self) -> None:
        self.assert_good(self.done)  # type: ignore[attr-defined]

    def test_everything_submitted_is_known_to_the_decoder(self) -> None:
        self.assert_decoded(self.done, self.FAULTS, self.PROBLEM)  # type: ignore[attr-defined]

    def test_clinfo_shows_the_gpu(self) -> None:
        done = clients.run(self.folder.name, self.DEVICE, clients.program("clinfo"))
        self.assert_good(done)  # type: ignore[attr-defined]
        self.assertIn("Intel(R) OpenCL HD Graphics", done.stdout)  # type: ignore[attr-defined]
        self.assertRegex(done.stdout, r"Number of devices +1\n")  # type: ignore[attr-defined]


class Gfx8Test(OnOneGpu, clients.ClientTest):
    DEVICE = "bdw"


class Gfx9Test(OnOneGpu, clients.ClientTest):
    DEVICE = "skl"


class Gfx11Test(OnOneGpu, clients.ClientTest):
    DEVICE = "icl"
    # The handler of exceptions, which this driver does not list among a job's buffers.
    FAULTS = frozenset({("STATE_SIP", "unmapped")})


class Gfx12Test(OnOneGpu, clients.ClientTest):
    DEVICE = "tgl"


class Gfx125Test(OnOneGpu, clients.ClientTest):
    DEVICE = "dg2"
    # This driver lets one batch run into the one that follows it, but tells the kernel the first one's
    # length.
    PROBLEM = "the stream continues at 0x[0-9a-f]+, where the batch ends"

    def test_the_copy_engine_copies(self) -> None:
        copies = [record for record in self.done.records
                  if record["type"] == "packet" and record["name"] == "XY_BLOCK_COPY_BLT"]
        self.assertGreater(len(copies), 0)


if __name__ == "__main__":
    clients.main()
