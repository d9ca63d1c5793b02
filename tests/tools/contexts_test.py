#!/usr/bin/python3
"""unpack --contexts."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fixtures import END, core, words  # noqa: E402

UNPACK = os.path.abspath(sys.argv.pop(1))


def ascii85(values: list[int]) -> str:
    """Dwords as kernels write them into error states, not compressed."""
    text = ""
    for value in values:
        if value == 0:
            text += "z"
            continue
        digits = ""
        for _ in range(5):
            digits = chr(33 + value % 85) + digits
            value //= 85
        text += digits
    return text


def error_state(head: int, engine: str = "rcs0", base: int = 0x2000) -> bytes:
    """Of a Skylake: one engine with a context image of five registers."""
    pairs = [(0x244, 0x90009), (0x34, head), (0x30, 0x280), (0x38, 0x100000), (0x3C, 0x3001)]
    image = [0, 0x11001000 | 2 * len(pairs) - 1]
    for offset, value in pairs:
        image += [base + offset, value]
    image += [END] + [0] * 16
    return (
        "GPU HANG: ecode 9:1:0x85dffffb, in test [1]\nKernel: 6.1.0\nPlatform: SKYLAKE\n"
        f"PCI ID: 0x1912\n{engine} command stream:\n  HEAD: 0x0 [0x0]\n"
        f"{engine} --- HW context = 0x00000000 00200000\n~{ascii85([0] * 1024 + image)}\n"
    ).encode()


class Contexts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def show(self, *dumps: bytes) -> subprocess.CompletedProcess:
        paths = []
        for i, dump in enumerate(dumps):
            paths.append(os.path.join(self.folder, f"{i}.error"))
            with open(paths[-1], "wb") as file:
                file.write(dump)
        return subprocess.run([UNPACK, "--contexts", *paths], capture_output=True, check=False,
                              env={"PATH": "/bin:/usr/bin"})

    def test_registers_of_an_image_are_shown_with_their_fields(self):
        done = self.show(error_state(0x10))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            done.stdout.decode(),
            "context image  engine rcs0, at 0x201000, registers: 5\n"
            "    CTX_CONTEXT_CONTROL                  0x00090009  Engine Context Restore Inhibit, "
            "Inhibit Synchronous Context Switch, Mask 0x9\n"
            "    RING_BUFFER_HEAD                     0x00000010  Head Offset 0x10\n"
            "    RING_BUFFER_TAIL                     0x00000280  Tail Offset 0x280\n"
            "    RING_BUFFER_START                    0x00100000  Starting Address 0x100000\n"
            "    RCS_RING_BUFFER_CTL                  0x00003001  Ring Buffer Enable, "
            "Buffer Length (in pages - 1) 0x3\n")

    def test_the_next_image_of_an_engine_is_compared(self):
        done = self.show(error_state(0x10), error_state(0x40))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.decode().endswith(
            "differences from the one at 0x201000: 1\n"
            "RING_BUFFER_HEAD                     0x00000010 -> 0x00000040\n"
            "    Head Offset                      0x10 -> 0x40\n"), done.stdout)

    def test_registers_of_another_engine_have_names(self):
        done = self.show(error_state(0x10, "bcs0", 0x22000))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("    RING_BUFFER_START                    0x00100000", done.stdout.decode())

    def test_a_dump_without_an_image_is_an_error(self):
        done = self.show(core({"generation": "gfx9"}, words(END)))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"has no context image", done.stderr)


if __name__ == "__main__":
    unittest.main()
