#!/usr/bin/python3
"""packsmith-mock's options."""

import os
import subprocess
import sys
import unittest

MOCK = os.path.abspath(sys.argv.pop(1))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([MOCK, *arguments], capture_output=True, text=True, check=False,
                          timeout=60)


class UsageTest(unittest.TestCase):
    def refused(self, *arguments: str) -> str:
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertTrue(done.stderr.startswith("packsmith-mock: "))
        return done.stderr

    def test_a_program_is_required(self) -> None:
        self.assertIn("-- APP", self.refused("--device=tgl"))
        self.assertIn("-- APP", self.refused("--device=tgl", "--"))

    def test_the_program_comes_after_two_dashes(self) -> None:
        self.assertIn("-- true", self.refused("--device=tgl", "true"))

    def test_a_device_is_required(self) -> None:
        self.assertIn("--list", self.refused("--", "true"))

    def test_a_misspelt_device_gets_a_suggestion(self) -> None:
        self.assertIn("tgl", self.refused("--device=tgll", "--", "true"))

    def test_an_interface_that_the_device_does_not_have(self) -> None:
        self.assertIn("lnl cannot have the interface of i915; it can have that of xe",
                      self.refused("--device=lnl:i915", "--", "true"))
        self.assertIn("skl cannot have the interface of xe",
                      self.refused("--device=skl", "--kernel=xe", "--", "true"))

    def test_a_misspelt_option_gets_a_suggestion(self) -> None:
        self.assertIn("--device", self.refused("--devise=tgl", "--", "true"))

    def test_options_of_the_program_are_left_alone(self) -> None:
        done = run("--device=lnl", "--", "echo", "--device=x", "--", "--help")
        self.assertEqual((done.returncode, done.stdout), (0, "--device=x -- --help\n"))


class DevicesTest(unittest.TestCase):
    def test_the_list_has_names_ids_and_interfaces(self) -> None:
        done = run("--list")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"(?m)^lnl +xe +Lunar Lake: .*64a0")

    def test_the_device_has_the_id_that_was_asked_for(self) -> None:
        for name, device in (("lnl", "64a0"), ("8086:64b0", "64b0"), ("0x9a40:xe", "9a40")):
            done = run(f"--device={name}", "--kernel=xe", "--", "cat",
                       "/sys/class/drm/renderD128/device/device")
            self.assertEqual((done.stdout, done.stderr), (f"0x{device}\n", ""))

    def test_apples_gpus_have_the_interface_of_linux_unless_the_old_one_is_asked_for(self) -> None:
        # GET_PARAMS of 24 and of 32 bytes; the old one begins with its version.
        new = ("import array, fcntl, struct; f = open('/dev/dri/renderD128', 'r+b', 0);"
               " to = array.array('I', [0] * 200); at = to.buffer_info()[0];")
        calls = {"m1": "fcntl.ioctl(f, 0x40186440, struct.pack('IIQQ', 0, 0, at, 800));"
                       " print(to[2])",
                 "m1:asahi-24": "fcntl.ioctl(f, 0xc0206440, struct.pack('QIIQQ', 0, 0, 0, at, 800));"
                                 " print(hex(to[0]))"}
        for device, expected in (("m1", "13\n"), ("m1:asahi-24", "0xdeadbeef\n")):
            done = run(f"--device={device}", "--", sys.executable, "-c", new + calls[device])
            self.assertEqual((done.returncode, done.stdout), (0, expected), done.stderr)

    def test_several_devices_have_nodes_each(self) -> None:
        for arguments in (["--device=lnl,bmg"], ["--device=lnl", "--device=bmg"]):
            done = run(*arguments, "--", "ls", "/dev/dri")
            self.assertEqual(done.stdout.split(),
                             ["by-path", "card0", "card1", "renderD128", "renderD129"])


if __name__ == "__main__":
    unittest.main()
