#!/usr/bin/python3
"""Mesa's Vulkan drivers on simulated GPUs: hasvk (Gfx7, Gfx8) and anv (Gfx9 to Gfx12.5)."""

import functools
import os
import subprocess
import tempfile

import clients

DRIVERS = "/usr/share/vulkan/icd.d/intel_icd.x86_64.json", \
    "/usr/share/vulkan/icd.d/intel_hasvk_icd.x86_64.json"
SHADERS = ("triangle.vert", "triangle.frag", "numbers.comp")

# What this driver submits that hardware reads otherwise, or not: before its first work it sets up the
# state of a context by a submission whose buffers are the batch alone, so that what this points to is
# not there; and it sends the short form of a packet that has got longer.
ALONE = frozenset({("3DSTATE_CPS_POINTERS", "unmapped")})
DG2 = ALONE | {("3DSTATE_SLICE_TABLE_STATE_POINTERS", "unmapped"), ("3DSTATE_BTD", "unmapped"),
               ("3DSTATE_3D_MODE", "beyond-length")}


def setUpModule() -> None:
    for path in DRIVERS:
        clients.driver(path)


@functools.cache
def shaders() -> list[str]:
    """Files of SPIR-V."""
    files = []
    for source in SHADERS:
        files.append(os.path.join(clients.MADE.name, f"{source}.spv"))
        subprocess.run([clients.program("glslangValidator"), "-V", os.path.join(clients.HERE, source),
                        "-o", files[-1]], check=True, stdout=subprocess.DEVNULL)
    return files


class OnOneGpu:
    """The programs run once on each GPU; each test looks at a part of what they did."""

    DEVICE = ""
    FAULTS: frozenset[tuple[str, str]] = frozenset()
    # What Gfx7's driver lacks: waiting for events, and without arithmetic in the command streamer (IVB)
    # copies of query results and conditional rendering too.
    WAITS = True
    CALCULATES = True

    folder: tempfile.TemporaryDirectory[str]
    plain: clients.Run
    shaders: clients.Run

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        plain = clients.compiled("vulkan_client.c", "vulkan/vulkan.h", "-lvulkan")
        with_shaders = clients.compiled("vulkan_shaders.c", "vulkan/vulkan.h", "-lvulkan")
        tests = ["timestamps", "events", "timeline", "transfers"]
        if cls.WAITS:
            tests.append("host-event")
        if cls.CALCULATES:
            tests.append("query-copy")
        cls.plain = cls.run_vulkan(plain, *tests)
        cls.shaders = cls.run_vulkan(with_shaders, *shaders(), INTEL_DEBUG="bat")

    @classmethod
    def run_vulkan(cls, *command: str, **environment: str) -> clients.Run:
        return clients.run(cls.folder.name, cls.DEVICE, *command, VK_ICD_FILENAMES=":".join(DRIVERS),
                           ANV_QUEUE_OVERRIDE="gc=2", **environment)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def good(self, done: clients.Run, *parts: str) -> None:
        for part in parts:
            self.assertIn(f"{part}: good\n", done.stdout, done.stderr)

    def lacks(self, wanted: bool) -> None:
        if not wanted:
            self.skipTest("the driver lacks it for this GPU")

    def test_timestamps_pass_as_the_cpus_time_does(self) -> None:
        self.good(self.plain, "timestamps")

    def test_the_gpu_sets_and_resets_events(self) -> None:
        self.good(self.plain, "events")

    def test_the_gpu_waits_for_an_event_that_the_cpu_sets(self) -> None:
        self.lacks(self.WAITS)
        self.good(self.plain, "host-event")

    def test_the_gpu_copies_query_results_that_are_available(self) -> None:
        self.lacks(self.CALCULATES)
        self.good(self.plain, "query-copy")

    def test_queues_wait_for_each_other_and_the_cpu_with_a_timeline(self) -> None:
        self.good(self.plain, "timeline")

    def test_what_needs_shaders_is_said_once_and_writes_nothing(self) -> None:
        # This driver fills, updates and copies buffers by draws.
        self.assertIn("fill not done, update not done, copy not done\n", self.plain.stdout)
        self.assertEqual(self.plain.stderr.count("draws need shaders, which are not executed"), 1)

    def test_draws_are_counted(self) -> None:
        self.good(self.shaders, "draw")

    def test_draws_take_their_numbers_from_memory(self) -> None:
        self.good(self.shaders, "indirect", "indirect twice", "indexed indirect", "counted")

    def test_draws_depend_on_conditions_in_memory(self) -> None:
        self.lacks(self.CALCULATES)
        self.good(self.shaders, "if zero", "if one", "if not zero", "if not one", "if written")

    def test_dispatches_finish(self) -> None:
        self.good(self.shaders, "dispatch")

    def test_a_dispatch_takes_its_groups_from_memory(self) -> None:
        shown = subprocess.run([clients.UNPACK, "--run", self.shaders.folder], capture_output=True,
                               text=True, check=False).stdout
        self.assertIn("dispatch 1: groups x 4, groups y 3, groups z 2\n", shown)
        self.assertIn("dispatch 2: groups x 5, groups y 7, groups z 11\n", shown)
        self.assertIn("\nall of it exactly\n", shown)

    def test_programs_succeed_and_the_kernel_has_no_objection(self) -> None:
        for done in (self.plain, self.shaders):
            self.assert_good(done)  # type: ignore[attr-defined]

    def test_everything_submitted_is_known_to_the_decoder(self) -> None:
        for done in (self.plain, self.shaders):
            self.assert_decoded(done, self.FAULTS)  # type: ignore[attr-defined]

    def test_packets_have_the_names_that_the_driver_gives_them(self) -> None:
        self.assert_decoded_as_by_the_driver(self.shaders)  # type: ignore[attr-defined]

    def test_vulkaninfo_shows_the_gpu(self) -> None:
        done = self.run_vulkan(clients.program("vulkaninfo"))
        self.assert_good(done)  # type: ignore[attr-defined]
        self.assertRegex(done.stdout, r"deviceName += Intel\(R\)")
        self.assert_decoded(done, self.FAULTS)  # type: ignore[attr-defined]


class Gfx7Test(OnOneGpu, clients.ClientTest):
    DEVICE = "ivb"
    WAITS = False
    CALCULATES = False


class Gfx75Test(OnOneGpu, clients.ClientTest):
    DEVICE = "hsw"
    WAITS = False


class Gfx8Test(OnOneGpu, clients.ClientTest):
    DEVICE = "bdw"


class Gfx9Test(OnOneGpu, clients.ClientTest):
    DEVICE = "skl"


class Gfx11Test(OnOneGpu, clients.ClientTest):
    DEVICE = "icl"


class Gfx12Test(OnOneGpu, clients.ClientTest):
    DEVICE = "tgl"
    FAULTS = ALONE


class Gfx125Test(OnOneGpu, clients.ClientTest):
    DEVICE = "dg2"
    FAULTS = DG2


if __name__ == "__main__":
    clients.main()
