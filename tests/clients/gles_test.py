#!/usr/bin/python3
"""Mesa's OpenGL drivers on simulated GPUs: crocus (Gfx4 to Gfx7.5) and iris (Gfx8 to Gfx12.5)."""

import tempfile

import clients

DRIVERS = ("/usr/lib/x86_64-linux-gnu/dri/crocus_dri.so", "/usr/lib/x86_64-linux-gnu/dri/iris_dri.so")


def setUpModule() -> None:
    for path in DRIVERS:
        clients.driver(path)


class OnOneGpu:
    """The program runs once on each GPU; each test looks at a part of what it did."""

    DEVICE = ""
    FAULTS: frozenset[tuple[str, str]] = frozenset()
    TIMES = True

    folder: tempfile.TemporaryDirectory[str]
    done: clients.Run

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        client = clients.compiled("gles_client.c", "GLES3/gl31.h", "-lEGL", "-lGLESv2")
        clients.driver("/usr/include/EGL/egl.h")
        cls.done = clients.run(cls.folder.name, cls.DEVICE, client, INTEL_DEBUG="bat")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def good(self, part: str) -> None:
        self.assertIn(f"{part}: good\n", self.done.stdout, self.done.stderr[-2000:])

    def test_the_driver_is_mesas(self) -> None:
        self.assertRegex(self.done.stdout, r"^Mesa .*OpenGL ES")
        self.assertNotIn("llvmpipe", self.done.stdout)

    def test_what_is_cleared_and_drawn_can_be_read(self) -> None:
        self.good("draw")

    def test_timestamps_pass_as_the_cpus_time_does(self) -> None:
        if not self.TIMES:
            self.assertIn("times: none\n", self.done.stdout)
            self.skipTest("the driver lacks it for this GPU")
        self.good("times")

    def test_fences_signal(self) -> None:
        if not self.TIMES:
            self.skipTest("the driver lacks it for this GPU")
        self.good("fence")

    def test_programs_succeed_and_the_kernel_has_no_objection(self) -> None:
        self.assert_good(self.done)  # type: ignore[attr-defined]

    def test_everything_submitted_is_known_to_the_decoder(self) -> None:
        self.assert_decoded(self.done, self.FAULTS)  # type: ignore[attr-defined]

    def test_packets_have_the_names_that_the_driver_gives_them(self) -> None:
        self.assert_decoded_as_by_the_driver(self.done)  # type: ignore[attr-defined]


class Gfx4Test(OnOneGpu, clients.ClientTest):
    DEVICE = "brw"
    TIMES = False


class Gfx45Test(OnOneGpu, clients.ClientTest):
    DEVICE = "g4x"
    TIMES = False


class Gfx5Test(OnOneGpu, clients.ClientTest):
    DEVICE = "ilk"
    TIMES = False


class Gfx6Test(OnOneGpu, clients.ClientTest):
    DEVICE = "snb"


class Gfx7Test(OnOneGpu, clients.ClientTest):
    DEVICE = "ivb"


class Gfx75Test(OnOneGpu, clients.ClientTest):
    DEVICE = "hsw"
    # This driver repeats a pointer at the start of a batch, before it sets the base that the pointer
    # counts from; the old base's memory does not belong to the new batch.
    FAULTS = frozenset({("3DSTATE_CC_STATE_POINTERS", "unmapped")})


class Gfx8Test(OnOneGpu, clients.ClientTest):
    DEVICE = "bdw"


class Gfx9Test(OnOneGpu, clients.ClientTest):
    DEVICE = "skl"


class Gfx11Test(OnOneGpu, clients.ClientTest):
    DEVICE = "icl"


class Gfx12Test(OnOneGpu, clients.ClientTest):
    DEVICE = "tgl"


class Gfx125Test(OnOneGpu, clients.ClientTest):
    DEVICE = "dg2"
    # The short form of a packet that has got longer.
    FAULTS = frozenset({("3DSTATE_3D_MODE", "beyond-length")})


if __name__ == "__main__":
    clients.main()
