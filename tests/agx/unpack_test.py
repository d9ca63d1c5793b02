#!/usr/bin/python3
"""unpack on dumps and streams of AGX."""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

UNPACK = os.path.abspath(sys.argv.pop(1))
DATA = os.path.abspath("tests/agx/data")
TERMINATE = struct.pack("<8I", 6 << 29, *[0] * 7)


def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environment = {"PATH": os.environ.get("PATH", "/bin:/usr/bin")}
    return subprocess.run([UNPACK, *arguments], input=stdin, capture_output=True, env=environment,
                          check=False)


def records(*arguments: str, stdin: bytes = b"") -> list[dict]:
    return [json.loads(line)
            for line in run("--format=jsonl", *arguments, stdin=stdin).stdout.splitlines()]


def records_of_packets(*arguments: str) -> list[dict]:
    """Those of the control stream, without the records of programs."""
    return [record for record in records(*arguments)
            if record["type"] == "packet" and not record["name"].startswith("USC")]


def core(notes: list[tuple[int, object]], segments: list[tuple[int, bytes]]) -> bytes:
    """A GPU core dump, made without the project's own writer."""
    blob = b""
    for kind, content in notes:
        text = json.dumps(content).encode()
        blob += struct.pack("<III", 10, len(text), kind) + b"packsmith\0\0\0"
        blob += text + b"\0" * (-len(text) % 4)
    count = 1 + len(segments)
    offset = 64 + 56 * count
    headers = struct.pack("<IIQQQQQQ", 4, 0, offset, 0, 0, len(blob), 0, 4)
    body = blob
    for address, content in segments:
        headers += struct.pack("<IIQQQQQQ", 1, 4, offset + len(body), address, 0, len(content),
                               len(content), 1)
        body += content
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 4, 0, 1, 0, 64, 0, 0, 64, 56,
                                                     count, 0, 0, 0)
    return head + headers + body


class AgxTest(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def file(self, content: bytes) -> str:
        path = os.path.join(self.directory.name, "input")
        with open(path, "wb") as file:
            file.write(content)
        return path

    def test_a_frame_is_decoded_whole(self) -> None:
        done = run(f"{DATA}/frame.core")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = done.stdout.decode()
        for name in ("PPP Header", "Extended sampler", "CF binding header", "USC Preshader", "PBE",
                     "Apple G13 (M1 family)", "chip id 0x8103", "VDM Stream Terminate"):
            self.assertIn(name, text)
        self.assertNotIn("fault:", text)

    def test_records_are_json(self) -> None:
        all_records = records(f"{DATA}/frame.core")
        self.assertEqual(all_records[0]["generation"], "agx_g13")
        self.assertEqual(all_records[1]["chip_id"], "0x8103")
        shader = next(r for r in all_records if r.get("name") == "USC Shader")
        self.assertEqual(len(bytes.fromhex(shader["bytes"])), 6)
        border = next(r for r in all_records if r.get("name") == "Extended sampler")
        fields = {f["name"]: f for f in border["fields"]}
        self.assertEqual(fields["Sampler.Border colour"]["enum"], "Custom")
        self.assertEqual(fields["Border.Channel 0"]["value"], 0x3f800000)

    def test_a_dump_of_the_compute_engine_begins_with_its_own_stream(self) -> None:
        done = run(f"{DATA}/compute.core")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"CDM Launch Word 0", done.stdout)
        self.assertIn(b"3 dispatches", done.stdout)

    def test_chip_ids_say_the_generation(self) -> None:
        for chip, generation in ((0x8103, "agx_g13"), (0x6002, "agx_g13"), (0x8112, "agx_g14"),
                                 (0x6020, "agx_g14x"), (0x6022, "agx_g14x")):
            dump = core([(0x50530001, {"family": "agx", "chip_id": hex(chip)}),
                         (0x50530002, {"batch_address": "0x1000", "stream": "vdm"})],
                        [(0x1000, TERMINATE)])
            found = records(self.file(dump))
            self.assertEqual(found[0]["generation"], generation)
            self.assertIn("VDM Stream Terminate", [r.get("name") for r in found])

    def test_a_draw_comes_with_all_state_that_is_in_force(self) -> None:
        def ppp(record: int, words: int) -> bytes:
            return struct.pack("<2I", words << 8, record)

        def vertex_shader() -> bytes:
            return struct.pack("<4I", 2 << 29 | 6, 0, 0x3000, 0)

        def restart_index() -> bytes:
            return struct.pack("<2I", 2 << 29 | 1, 0xffff)

        draw = struct.pack("<3I", 3 << 29 | 3 << 22, 3, 1)
        w_clamp, cull = 1 << 16, 1 << 21
        records = {0x2000: struct.pack("<2I", w_clamp, 0), 0x2010: struct.pack("<2I", cull, 0),
                   0x2020: struct.pack("<3I", w_clamp | cull, 0, 0)}
        stream = (ppp(0x2000, 2) + vertex_shader() + restart_index() + ppp(0x2010, 2) + draw + draw +
                  ppp(0x2020, 3) + vertex_shader() + draw + draw + TERMINATE)
        memory = bytearray(stream.ljust(0x2000, b"\0") + b"\x88\0")
        for address, record in records.items():
            memory[address - 0x1000:address - 0x1000 + len(record)] = record
        dump = core([(0x50530001, {"family": "agx"}), (0x50530002, {"batch_address": "0x1000"})],
                    [(0x1000, bytes(memory))])
        shown = {}
        for number in (2, 4):
            shown[number] = [
                int(record["address"], 16) - 0x1000
                for record in records_of_packets(self.file(dump), f"--draw={number}")]
        # The second draw, and below it both PPP records and both states, since neither replaces the
        # other one.
        self.assertEqual(shown[2], [52, 0, 8, 24, 32])
        # The fourth: a record that has both parts, a new shader, and the oldest index.
        self.assertEqual(shown[4], [100, 24, 64, 72])

    def test_the_family_alone_is_enough(self) -> None:
        dump = core([(0x50530001, {"family": "agx"}), (0x50530002, {"batch_address": "0x1000"})],
                    [(0x1000, TERMINATE)])
        self.assertEqual(records(self.file(dump))[0]["generation"], "agx_g13")

    def test_a_chip_that_nobody_knows_is_said(self) -> None:
        dump = core([(0x50530001, {"family": "agx", "chip_id": "0x9999"}),
                     (0x50530002, {"batch_address": "0x1000"})], [(0x1000, TERMINATE)])
        done = run(self.file(dump))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"0x9999", done.stderr)
        self.assertEqual(run("--gen=g13", self.file(dump)).returncode, 0)

    def test_raw_streams_are_named(self) -> None:
        barrier = struct.pack("<I", 3 << 29)
        for stream, content, name in (
                ("vdm", TERMINATE, "VDM Stream Terminate"),
                ("cdm", barrier + struct.pack("<II", 2 << 29, 0), "CDM Stream Terminate"),
                ("usc", b"\x8d\x01\0\0\x0d\0\0\0\0\0\x88\0", "USC No Preshader")):
            found = records("--gen=g13", f"--stream={stream}", self.file(content))
            self.assertIn(name, [r.get("name") for r in found])

    def test_an_engine_has_a_stream_of_its_own(self) -> None:
        found = records("--gen=g13", "--engine=compute", self.file(struct.pack("<II", 2 << 29, 0)))
        self.assertIn("CDM Stream Terminate", [r.get("name") for r in found])

    def test_structures_are_decoded_without_a_stream(self) -> None:
        textures = struct.pack("<6I", 2, 0, 0, 0, 0, 0) * 3
        found = [r for r in records("--gen=g13", "--stream=Texture", self.file(textures))
                 if r["type"] == "struct"]
        self.assertEqual([r["index"] for r in found], [0, 1, 2])

    def test_a_stream_that_is_not_there_is_wrong_usage(self) -> None:
        done = run("--gen=g13", "--stream=Textur", self.file(TERMINATE))
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"no stream or structure", done.stderr)
        self.assertIn(b"did you mean Texture", done.stderr)

    def test_unknown_bits_in_a_packet_are_said(self) -> None:
        barrier = self.file(struct.pack("<I", 1 << 29 | 1 << 7) + TERMINATE)
        self.assertEqual(run("--gen=g13", "--stream=vdm", barrier).returncode, 0)
        done = run("--gen=g13", "--stream=vdm", "--strict", barrier)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"bits 7:7 are set, and not described: 0x1", done.stdout)
        self.assertIn(b"VDM Stream Terminate", done.stdout)

    def test_older_names_are_found(self) -> None:
        done = run("--gen=g13", "--describe=Bind Vertex Pipeline")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"VDM State", done.stdout)


if __name__ == "__main__":
    unittest.main()
