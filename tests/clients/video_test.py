#!/usr/bin/python3
"""Intel's video drivers on simulated GPUs: i965-va-driver and intel-media-va-driver (iHD)."""

import functools
import os
import subprocess
import tempfile

import clients

FOLDER = "/usr/lib/x86_64-linux-gnu/dri"
NODE = "/dev/dri/renderD128"
# How Debian's ffmpeg makes films without a GPU.
FILMS = {
    "mpeg2": ("m2v", "mpeg2video"),
    "h264": ("mp4", "libx264"),
    "hevc": ("mkv", "libx265"),
    "vp9": ("webm", "libvpx-vp9"),
    "jpeg": ("avi", "mjpeg"),
}

# Shorter forms of packets: drivers leave out what newer GPUs have added.
SHORT = frozenset((name, "beyond-length") for name in (
    "HCP_PIC_STATE", "HCP_PIPE_BUF_ADDR_STATE", "HCP_PIPE_MODE_SELECT", "HCP_SLICE_STATE",
    "HCP_VP9_PIC_STATE", "HCP_VP9_SEGMENT_STATE", "MFD_AVC_BSD_OBJECT", "MFX_AVC_IMG_STATE",
    "MFX_PIPE_BUF_ADDR_STATE", "MFX_QM_STATE", "MI_FLUSH_DW", "PIPE_CONTROL",
    "VDENC_PIPE_BUF_ADDR_STATE", "VDENC_PIPE_MODE_SELECT", "VDENC_WALKER_STATE",
    "VDENC_WEIGHTSOFFSETS_STATE"))
# Buffers that are not in memory: their attributes say that the address is one of the engine's own storage.
OWN_STORAGE = frozenset((name, "unmapped") for name in (
    "HCP_PIPE_BUF_ADDR_STATE", "MFX_BSP_BUF_BASE_ADDR_STATE", "MFX_PIPE_BUF_ADDR_STATE",
    "VDENC_PIPE_BUF_ADDR_STATE"))


@functools.cache
def film(codec: str) -> str:
    """A film of five frames."""
    ending, encoder = FILMS[codec]
    path = os.path.join(clients.MADE.name, f"{codec}.{ending}")
    subprocess.run([clients.program("ffmpeg"), "-loglevel", "error", "-f", "lavfi", "-i",
                    "testsrc=size=320x240:rate=5:duration=1", "-pix_fmt",
                    "yuvj420p" if codec == "jpeg" else "yuv420p", "-c:v", encoder, path],
                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return path


class OnOneGpu:
    """Films that were made without a GPU are decoded by the GPU's driver, and encoded again. Engines for
    video are not simulated: nobody looks at the frames."""

    DEVICE = ""
    DRIVER = ""
    DECODES: tuple[str, ...] = ()
    # Old GPUs decode with shaders on the engine for 3D.
    VIDEO_ENGINE = True

    folder: tempfile.TemporaryDirectory[str]

    @classmethod
    def setUpClass(cls) -> None:
        clients.driver(f"{FOLDER}/{cls.DRIVER}_drv_video.so")
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def run_video(cls, *command: str) -> clients.Run:
        return clients.run(cls.folder.name, cls.DEVICE, *command, LIBVA_DRIVER_NAME=cls.DRIVER)

    @classmethod
    def run_ffmpeg(cls, codec: str, *more: str) -> clients.Run:
        # Frames stay on the GPU.
        return cls.run_video(clients.program("ffmpeg"), "-nostdin", "-loglevel", "warning", "-hwaccel",
                             "vaapi", "-hwaccel_device", NODE, "-hwaccel_output_format", "vaapi", "-i",
                             film(codec), *more, "-f", "null", "-")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def check(self, done: clients.Run) -> None:
        self.assert_good(done)  # type: ignore[attr-defined]
        self.assertNotIn("hung", done.stderr)  # type: ignore[attr-defined]
        said = done.stderr.count("what only video engines do is not executed")
        self.assertEqual(said, 1 if self.VIDEO_ENGINE else 0)  # type: ignore[attr-defined]
        self.assertNotIn(" 0 submissions", done.stderr)  # type: ignore[attr-defined]
        self.assert_decoded(done, SHORT | OWN_STORAGE)  # type: ignore[attr-defined]

    def test_vainfo_lists_what_the_driver_can_do(self) -> None:
        done = self.run_video(clients.program("vainfo"), "--display", "drm", "--device", NODE)
        self.assert_good(done)  # type: ignore[attr-defined]
        self.assertIn("VAProfileMPEG2Main", done.stdout)  # type: ignore[attr-defined]

    def test_films_are_decoded_by_packets_that_are_known(self) -> None:
        for codec in self.DECODES:
            with self.subTest(codec):  # type: ignore[attr-defined]
                self.check(self.run_ffmpeg(codec))


class OnOneGpuThatEncodes(OnOneGpu):
    """Debian's drivers have no encoder for the others: its shaders are not free."""

    ENCODES: tuple[str, ...] = ()  # ffmpeg's names

    def test_films_are_encoded_by_packets_that_are_known(self) -> None:
        for encoder in self.ENCODES:
            with self.subTest(encoder):  # type: ignore[attr-defined]
                self.check(self.run_ffmpeg("mpeg2", "-c:v", f"{encoder}_vaapi"))


class Gfx45Test(OnOneGpu, clients.ClientTest):
    DEVICE = "ctg"
    DRIVER = "i965"
    DECODES = ("mpeg2",)
    VIDEO_ENGINE = False


class Gfx5Test(OnOneGpu, clients.ClientTest):
    DEVICE = "ilk"
    DRIVER = "i965"
    DECODES = ("mpeg2",)
    VIDEO_ENGINE = False


class Gfx6Test(OnOneGpu, clients.ClientTest):
    DEVICE = "snb"
    DRIVER = "i965"
    DECODES = ("mpeg2", "h264")


class Gfx7Test(OnOneGpu, clients.ClientTest):
    DEVICE = "ivb"
    DRIVER = "i965"
    DECODES = ("mpeg2", "h264", "jpeg")


class Gfx8Test(OnOneGpu, clients.ClientTest):
    DEVICE = "bdw"
    DRIVER = "iHD"
    DECODES = ("mpeg2", "h264")


class Gfx9OldDriverTest(OnOneGpuThatEncodes, clients.ClientTest):
    DEVICE = "kbl"
    DRIVER = "i965"
    DECODES = ("mpeg2", "h264", "hevc", "vp9")
    ENCODES = ("mjpeg",)


class Gfx9Test(OnOneGpuThatEncodes, clients.ClientTest):
    DEVICE = "skl"
    DRIVER = "iHD"
    DECODES = ("mpeg2", "h264", "jpeg")
    ENCODES = ("h264", "mjpeg")


class Gfx11Test(OnOneGpuThatEncodes, clients.ClientTest):
    DEVICE = "icl"
    DRIVER = "iHD"
    DECODES = ("hevc",)
    ENCODES = ("h264",)


class Gfx12Test(OnOneGpuThatEncodes, clients.ClientTest):
    DEVICE = "tgl"
    DRIVER = "iHD"
    DECODES = ("mpeg2", "vp9")
    ENCODES = ("h264",)


class Gfx125Test(OnOneGpuThatEncodes, clients.ClientTest):
    DEVICE = "dg2"
    DRIVER = "iHD"
    DECODES = ("h264", "hevc", "vp9")
    ENCODES = ("mjpeg",)


if __name__ == "__main__":
    clients.main()
