#!/usr/bin/python3
"""Intel's video drivers on simulated GPUs: i965-va-driver and intel-media-va-driver (iHD)."""

import os
import subprocess
import tempfile

import clients

FOLDER = "/usr/lib/x86_64-linux-gnu/dri"
NODE = "/dev/dri/renderD128"


class OnOneGpu:
    """A film of ten frames, made without a GPU, is decoded by the GPU's driver. Engines for video are not
    simulated: nobody looks at the frames."""

    DEVICE = ""
    DRIVER = ""
    FAULTS: frozenset[tuple[str, str]] = frozenset()

    folder: tempfile.TemporaryDirectory[str]
    done: clients.Run

    @classmethod
    def setUpClass(cls) -> None:
        clients.driver(f"{FOLDER}/{cls.DRIVER}_drv_video.so")
        ffmpeg = clients.program("ffmpeg")
        cls.folder = tempfile.TemporaryDirectory()
        film = os.path.join(cls.folder.name, "film.m2v")
        subprocess.run([ffmpeg, "-loglevel", "error", "-f", "lavfi", "-i",
                        "testsrc=size=320x240:rate=5:duration=2", "-c:v", "mpeg2video", film],
                       stdin=subprocess.DEVNULL, check=True)
        cls.done = cls.run_video(ffmpeg, "-nostdin", "-loglevel", "warning", "-hwaccel", "vaapi",
                                 "-hwaccel_device", NODE, "-i", film, "-f", "null", "-")

    @classmethod
    def run_video(cls, *command: str) -> clients.Run:
        return clients.run(cls.folder.name, cls.DEVICE, *command, LIBVA_DRIVER_NAME=cls.DRIVER)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def test_vainfo_lists_what_the_driver_can_do(self) -> None:
        done = self.run_video(clients.program("vainfo"), "--display", "drm", "--device", NODE)
        self.assert_good(done)  # type: ignore[attr-defined]
        self.assertIn("VAProfileMPEG2Main", done.stdout)  # type: ignore[attr-defined]

    def test_a_film_is_decoded(self) -> None:
        self.assert_good(self.done)  # type: ignore[attr-defined]
        said = self.done.stderr.count("what only video engines do is not executed")
        self.assertEqual(said, 1)  # type: ignore[attr-defined]

    def test_everything_submitted_is_known_to_the_decoder(self) -> None:
        self.assert_decoded(self.done, self.FAULTS)  # type: ignore[attr-defined]


class Gfx7Test(OnOneGpu, clients.ClientTest):
    DEVICE = "ivb"
    DRIVER = "i965"
    # Shorter forms: of the matrices, and of a flush that writes a dword.
    FAULTS = frozenset({("MFX_QM_STATE", "beyond-length"), ("PIPE_CONTROL", "beyond-length")})


class Gfx9Test(OnOneGpu, clients.ClientTest):
    DEVICE = "skl"
    DRIVER = "iHD"
    # The shorter form of a flush, which writes a dword.
    FAULTS = frozenset({("MI_FLUSH_DW", "beyond-length")})


class Gfx12Test(OnOneGpu, clients.ClientTest):
    DEVICE = "tgl"
    DRIVER = "iHD"
    FAULTS = frozenset({("MI_FLUSH_DW", "beyond-length")})


if __name__ == "__main__":
    clients.main()
