#!/usr/bin/python3
"""Debian's own drivers, unmodified, find the GPUs of packsmith-mock.

A program that is not installed counts as a test that was skipped.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

MOCK = os.path.abspath(sys.argv.pop(1))


class DriversTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder.name,
                            "XDG_RUNTIME_DIR": folder.name, "MESA_SHADER_CACHE_DISABLE": "1"}

    def run_on(self, device: str, *command: str, file: str = "",
               **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs a program; skips the test if it, or the file that it needs, is not there."""
        if shutil.which(command[0], path=self.environment["PATH"]) is None:
            self.skipTest(f"{command[0]} is not installed")
        if file and not os.path.exists(file):
            self.skipTest(f"{file} is not installed")
        return subprocess.run([MOCK, f"--device={device}", "--", *command], capture_output=True,
                              text=True, check=False, timeout=120,
                              env={**self.environment, **environment})

    def test_libdrm_lists_the_devices(self) -> None:
        done = self.run_on("skl,dg2", "drmdevice")
        self.assertEqual(done.returncode, 0)
        self.assertIn("--- Devices reported 2 ---", done.stdout)
        for node in ("card0", "renderD128", "card1", "renderD129"):
            self.assertIn(f"--- Opening device node /dev/dri/{node} ---", done.stdout)

    def test_vulkan_drivers_of_each_generation(self) -> None:
        for device, name in (("ivb", "IVB"), ("hsw", "HSW"), ("bdw", "BDW"), ("skl", "SKL"),
                             ("icl", "ICL"), ("tgl", "TGL"), ("dg2:i915", "DG2")):
            with self.subTest(device):
                done = self.run_on(device, "vulkaninfo", "--summary",
                                   file="/usr/lib/x86_64-linux-gnu/libvulkan_intel.so")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, rf"deviceName += .*\({name}[ )]")

    def test_gl_drivers_of_each_generation(self) -> None:
        for device, driver in (("brw", "crocus"), ("ilk", "crocus"), ("snb", "crocus"),
                               ("hsw", "crocus"), ("bdw", "iris"), ("skl", "iris"),
                               ("icl", "iris"), ("tgl", "iris"), ("dg2:i915", "iris")):
            with self.subTest(device):
                done = self.run_on(device, "eglinfo",
                                   file=f"/usr/lib/x86_64-linux-gnu/dri/{driver}_dri.so")
                # Platforms of display servers fail, and with them the program.
                surfaceless = done.stdout.partition("Surfaceless platform:")[2]
                self.assertIn(f"EGL driver name: {driver}", surfaceless.partition("platform:")[0])

    def test_opencl_driver(self) -> None:
        for device, name in (("skl", "0x1912"), ("tgl", "0x9a49"), ("dg2:i915", "0x56a0")):
            with self.subTest(device):
                done = self.run_on(device, "clinfo", file="/etc/OpenCL/vendors/intel.icd")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(re.search(rf"Device Name +Intel.*\[{name}\]", done.stdout))

    def test_media_drivers(self) -> None:
        for device, driver in (("snb", "i965"), ("hsw", "i965"), ("skl", "iHD"), ("tgl", "iHD")):
            with self.subTest(device):
                done = self.run_on(device, "vainfo", "--display", "drm",
                                   file=f"/usr/lib/x86_64-linux-gnu/dri/{driver}_drv_video.so",
                                   LIBVA_DRIVER_NAME=driver)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertGreater(done.stdout.count("VAEntrypoint"), 5)


if __name__ == "__main__":
    unittest.main()
