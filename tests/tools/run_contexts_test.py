#!/usr/bin/python3
"""unpack --run of a dump that has the context image of what hangs."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fixtures import END  # noqa: E402

UNPACK = os.path.abspath(sys.argv.pop(1))

# 3DPRIMITIVE with Indirect Parameter Enable; 3DSTATE_DRAWING_RECTANGLE.
INDIRECT_DRAW = [0x7B000405, 0, 3, 0, 1, 0, 0]
RECTANGLE = [0x79000002, 0x00020001, 0x00200010, 0]


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


def error_state(image: list[int] | None) -> bytes:
    """Of a Skylake that hangs in a batch with one draw."""
    text = (
        "GPU HANG: ecode 9:1:0x85dffffb, in test [1]\nKernel: 6.1.0\nPlatform: SKYLAKE\n"
        "PCI ID: 0x1912\nrcs0 command stream:\n  HEAD: 0x0 [0x0]\n"
        "rcs0 (submitted by test [1]) --- batch = 0x00000000 00400000\n"
        f"~{ascii85(INDIRECT_DRAW + [END])}\n")
    if image is not None:
        text += f"rcs0 --- HW context = 0x00000000 00200000\n~{ascii85([0] * 1024 + image)}\n"
    return text.encode()


def good_image() -> list[int]:
    """The vertex count and the instance count of indirect draws, and a packet of state."""
    pairs = [(0x2244, 0x90009), (0x2434, 42), (0x2438, 7)]
    image = [0, 0x11001000 | 2 * len(pairs) - 1]
    for offset, value in pairs:
        image += [offset, value]
    return image + RECTANGLE + [END] + [0] * 16


class RunContexts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_unpack(self, dump: bytes, *options: str) -> subprocess.CompletedProcess:
        path = os.path.join(self.folder, "hang.error")
        with open(path, "wb") as file:
            file.write(dump)
        return subprocess.run([UNPACK, "--run", *options, path], capture_output=True, check=False,
                              env={"PATH": "/bin:/usr/bin"})

    def test_a_draw_has_the_registers_and_the_state_of_the_image(self):
        done = self.run_unpack(error_state(good_image()))
        self.assertEqual(done.returncode, 0, done.stderr)
        text = done.stdout.decode()
        self.assertIn("starts from the context image at 0x201000: registers 3, packets that set "
                      "state 1\n", text)
        self.assertIn("draw 1: count 42, first 0, instances 7", text)
        # Nothing else: no field of the image is new for the draw.
        self.assertNotIn("new state", text)
        one = self.run_unpack(error_state(good_image()), "--draw=1")
        self.assertIn("3DSTATE_DRAWING_RECTANGLE", one.stdout.decode())

    def test_json_has_a_record_of_the_image(self):
        done = self.run_unpack(error_state(good_image()), "--format=jsonl")
        self.assertEqual(done.returncode, 0, done.stderr)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([r for r in records if r["type"] == "context"],
                         [{"type": "context", "engine": "rcs0", "space": 1, "address": 0x201000,
                           "registers": 3, "packets": 1}])
        draw = [r for r in records if r["type"] == "draw"][0]
        self.assertEqual(draw["state"], ["3DSTATE_DRAWING_RECTANGLE"])

    def test_without_an_image_registers_are_zero(self):
        done = self.run_unpack(error_state(None))
        text = done.stdout.decode()
        self.assertNotIn("context image", text)
        self.assertIn("draw 1: count 0,", text)

    def test_an_image_that_is_none_is_reported_and_the_batch_is_executed(self):
        done = self.run_unpack(error_state([END, 0, 0]))
        text = done.stdout.decode()
        self.assertIn("draw 1: count 0,", text)
        self.assertIn("approximate, 1 times: the context image cannot be read", text)


if __name__ == "__main__":
    unittest.main()
