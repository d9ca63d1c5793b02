#!/usr/bin/python3
"""imglayout as a program."""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
import zlib

IMGLAYOUT = os.path.abspath(sys.argv.pop(1))
RGBA = "--pixel-format=R8G8B8A8_UNORM"


def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess:
    # Under a sanitizer, too, there may be less memory than requested.
    options = os.environ.get("ASAN_OPTIONS", "") + ":allocator_may_return_null=1"
    environment = {**os.environ, "ASAN_OPTIONS": options}
    return subprocess.run([IMGLAYOUT, *arguments], input=stdin, capture_output=True, check=False,
                          env=environment)


def batch(*descriptions: object) -> list[dict]:
    lines = "".join((d if isinstance(d, str) else json.dumps(d)) + "\n" for d in descriptions)
    done = run("--batch", stdin=lines.encode())
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def image(**more: object) -> dict:
    base = {"layout": "agx-twiddled", "format": "R8G8B8A8_UNORM", "width_px": 64, "height_px": 64}
    return {**base, **more}


class ImglayoutTest(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, name: str, content: bytes | None = None) -> str:
        path = os.path.join(self.directory.name, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        return path

    def read(self, name: str) -> bytes:
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_the_input_is_not_overwritten(self) -> None:
        rows = bytes(range(256)) * 64
        raw = self.path("rows.raw", rows)
        os.symlink("rows.raw", self.path("link"))
        os.link(raw, self.path("hard"))
        for name in ("rows.raw", "link", "hard"):
            for verb in ("tile", "untile"):
                done = run(verb, "agx-linear", RGBA, "--size=64x64", raw, self.path(name))
                self.assertEqual(done.returncode, 2)
                self.assertIn(b"overwritten", done.stderr)
        self.assertEqual(self.read("rows.raw"), rows)

    def test_two_drawings_do_not_share_a_file(self) -> None:
        place = self.path("x")
        done = run("agx", RGBA, "--size=16x16", f"--svg={place}", f"--png={place}")
        self.assertEqual(done.returncode, 2)
        self.assertFalse(os.path.exists(place))

    def test_misspelt_words_get_a_suggestion(self) -> None:
        for arguments, meant in ((["agx-twidled", RGBA], "agx-twiddled"),
                                 (["agx", "--pixel-format=R8G8B8A8_UNOR"], "R8G8B8A8_UNORM"),
                                 (["agx", RGBA, "--dim=cub"], "cube"),
                                 (["agx", RGBA, "--usage=writable"], "writeable"),
                                 (["agx", RGBA, "--format=jsn"], "json"),
                                 (["agx", RGBA, "--pixelformat=x"], "--pixel-format")):
            done = run(*arguments, "--size=16x16")
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(b"did you mean", done.stderr, arguments)
            self.assertIn(meant.encode(), done.stderr.split(b"did you mean")[1])

    def test_intel_levels_begin_within_tiles(self) -> None:
        arguments = ["intel-y", "--pixel-format=R8_UNORM", "--size=100x50", "--levels=3"]
        self.assertIn("from (52, 20) of a tile on", run(*arguments).stdout.decode())
        said = json.loads(run(*arguments, "--align=16x8", "--format=json").stdout)
        self.assertEqual((said["levels"][2]["x_el"], said["levels"][2]["y_el"]), (64, 24))
        self.assertNotIn("x_el", said["levels"][0])
        line = image(layout="intel-y", format="R8_UNORM", width_px=100, height_px=50, levels=3,
                     align_w_el=16, align_h_el=8)
        self.assertEqual(batch(line), [said])
        wrong = run(*arguments, "--align=16")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("--align=16 must be a pair", wrong.stderr.decode())

    def test_json_has_sizes_levels_and_metadata(self) -> None:
        done = run("agx", "--compressed", RGBA, "--size=64x64", "--levels=full", "--format=json")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        self.assertEqual([level["offset_B"] for level in said["levels"]],
                         [0, 16384, 20480, 21504, 21760, 21888, 22016])
        self.assertEqual(said["levels"][1], {"level": 1, "offset_B": 16384, "size_B": 4096,
                                             "tile_w_el": 32, "tile_h_el": 32, "pitch_el": 32,
                                             "tile_row_stride_B": 4096})
        self.assertEqual(said["metadata"], {"offset_B": 22144, "layer_stride_B": 384,
                                            "level_offsets_B": [0, 128, 256]})
        self.assertEqual(said["layer_stride_B"], 22144)
        self.assertEqual(said["size_B"], 22144 + 384)

    def test_text_shows_the_same_levels(self) -> None:
        text = run("agx", RGBA, "--size=64x64", "--levels=2").stdout.decode()
        self.assertRegex(text, r"\n +1 +16384 +4096 +32x32 +32x32 +32\n")
        self.assertIn("y5 x5 y4 x4 y3 x3 y2 x2 y1 x1 y0 x0", text)

    def test_batch_answers_in_order_and_goes_on_after_errors(self) -> None:
        said = batch(image(), "no json", image(format="R9"), image(width_px=128))
        self.assertEqual(said[0]["size_B"], 16384)
        self.assertIn("column", said[1]["error"])
        self.assertIn("no format 'R9'", said[2]["error"])
        self.assertEqual(said[3]["size_B"], 32768)

    def test_batch_answers_before_it_is_asked_again(self) -> None:
        with subprocess.Popen([IMGLAYOUT, "--batch"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as program:
            for width in (64, 128):
                program.stdin.write(json.dumps(image(width_px=width)).encode() + b"\n")
                program.stdin.flush()
                self.assertEqual(json.loads(program.stdout.readline())["size_B"], width * 256)
            program.stdin.close()
            self.assertEqual(program.wait(), 0)

    def test_batch_knows_all_members(self) -> None:
        said = batch(
            image(layers=6, dim="cube", usage=["renderable"], levels=2, samples=1, stride_B=0),
            image(layers=4, levels=7, dim="3d", usage=["writeable", "renderable"]),
            image(layout="agx-linear", stride_B=512),
            image(layout="intel-x", bit6_swizzle=True),
        )
        self.assertEqual(said[0]["layer_stride_B"], 32768)
        self.assertEqual(len(said[1]["levels"]), 7)
        self.assertEqual(said[2]["size_B"], 512 * 64)
        self.assertEqual(said[3]["levels"][0]["tile_w_el"], 128)

    def test_batch_says_where_slices_lie_if_levels_differ_in_that(self) -> None:
        said, = batch(image(layout="u-interleaved", format="R8_UNORM", width_px=64, height_px=32,
                            layers=5, levels=3, dim="3d"))
        self.assertEqual(said["layer_stride_B"], 0)
        self.assertEqual([(level["offset_B"], level["layers"], level["layer_stride_B"])
                          for level in said["levels"]],
                         [(0, 5, 2048), (10240, 2, 512), (11264, 1, 256)])

    def test_batch_says_what_is_wrong_with_a_description(self) -> None:
        for wrong, why in (
            (image(width_px=-1), "width_px must be an integer"),
            (image(levels=1.5), "levels must be an integer"),
            (image(stride_B="x"), "stride_B must be an integer"),
            (image(usage="renderable"), "usage must be an array"),
            (image(usage=[1]), "usage must be an array"),
            (image(usage=["x"]), "no usage 'x'"),
            (image(usage=["renderable\0"]), "no usage 'renderable\0'"),
            (image(dim="4d"), "no dim '4d'"),
            (image(layout="agx"[:2]), "no layout 'ag'"),
            (image(bit6_swizzle=1), "bit6_swizzle must be true or false"),
            (image(color=1), "no member 'color'"),
            ({"layout": "agx-linear"}, "must have layout, format, width_px and height_px"),
            ([], "a description must be a JSON object"),
            ("[" * 100000, "column"),
        ):
            self.assertIn(why, batch(wrong)[0]["error"])

    def test_batch_answers_in_utf8_to_what_is_not(self) -> None:
        done = run("--batch", stdin=b'{"layout":"\xff","format":"R8_UNORM"}\n')
        self.assertIn("Invalid encoding", json.loads(done.stdout)["error"])

    def test_files_come_back_as_they_were(self) -> None:
        rows = os.urandom(100 * 30 * 4)
        options = ("agx", RGBA, "--size=200x60", "--levels=full", "--layers=2", "--level=1",
                   "--layer=1")
        rows_file, image_file = self.path("rows", rows), self.path("image")
        self.assertEqual(run("tile", *options, rows_file, image_file).returncode, 0)
        said = json.loads(run("agx", RGBA, "--size=200x60", "--levels=full", "--layers=2",
                              "--format=json").stdout)
        tiled = self.read("image")
        self.assertEqual(len(tiled), said["size_B"])
        start = said["layer_stride_B"] + said["levels"][1]["offset_B"]
        self.assertEqual(tiled[start:start + 8], rows[:8])
        self.assertEqual(tiled[start + 8:start + 16], rows[400:408])
        self.assertEqual(run("untile", *options, image_file, self.path("back")).returncode, 0)
        self.assertEqual(self.read("back"), rows)

    def test_files_of_another_size_are_errors_and_nothing_is_written(self) -> None:
        done = run("tile", "agx", RGBA, "--size=4x4", self.path("rows", b"x"), self.path("image"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"has 1 B; the rows of the level have 64", done.stderr)
        self.assertFalse(os.path.exists(self.path("image")))
        done = run("untile", "agx", RGBA, "--size=4x4", self.path("missing"), self.path("rows"))
        self.assertEqual(done.returncode, 1)

    def test_samples_and_mip_tails_are_the_same_by_either_way(self) -> None:
        arguments = ["intel-y", RGBA, "--size=64x64", "--samples=4"]
        self.assertIn("each sample of a layer in 16384 B of its own",
                      run(*arguments).stdout.decode())
        slices = json.loads(run(*arguments, "--format=json").stdout)
        self.assertEqual(slices["sample_stride_B"], 16384)
        mixed = json.loads(run(*arguments, "--interleave-samples", "--format=json").stdout)
        self.assertNotIn("sample_stride_B", mixed)
        line = image(layout="intel-y", samples=4)
        self.assertEqual(batch(line, {**line, "interleave_samples": True}), [slices, mixed])

        arguments = ["intel-tile64", RGBA, "--size=64x64", "--levels=7"]
        tail = json.loads(run(*arguments, "--mip-tail=0", "--format=json").stdout)
        self.assertEqual(tail["size_B"], 65536)
        line = image(layout="intel-tile64", levels=7)
        self.assertEqual(batch({**line, "mip_tail_level": 0}), [tail])
        self.assertEqual(batch(line)[0]["size_B"], 12 * 65536)

    def test_tiles_of_3d_images_may_be_several_layers_deep(self) -> None:
        arguments = ["intel-tile64", RGBA, "--size=32x32", "--dim=3d", "--layers=17"]
        self.assertIn("17 layers, each 16 of 65536 B", run(*arguments).stdout.decode())
        said = json.loads(run(*arguments, "--format=json").stdout)
        self.assertEqual(said["size_B"], 2 * 65536)
        self.assertEqual(said["levels"][0]["tile_d_el"], 16)

    def test_every_layout_can_be_drawn(self) -> None:
        names = batch(image(layout="?"))[0]["error"].split("known layouts: ")[1].split(", ")
        self.assertIn("intel-tile64-xe2", names)
        for name in names:
            pixels = "--pixel-format=S8_UINT" if name == "intel-w" else RGBA
            done = run(name, pixels, "--size=40x40", "--svg=" + self.path("svg"),
                       "--png=" + self.path("png"))
            self.assertEqual(done.returncode, 0, done.stderr)
            root = xml.etree.ElementTree.fromstring(self.read("svg"))
            points = [point for line in root.findall("{http://www.w3.org/2000/svg}polyline")
                      for point in line.get("points").split()]
            tile = batch(image(layout=name, width_px=40, height_px=40,
                               format=pixels.split("=")[1]))[0]["levels"][0]
            elements = tile["tile_w_el"] * tile["tile_h_el"]
            # Each is once on the line, and what ends a colour begins the next.
            self.assertEqual(len(set(points)), elements if elements > 1 else 0, name)

    def test_what_is_no_number_is_told(self) -> None:
        for text in ("-5", "18446744073709551616", "", "4.5", "0x10"):
            done = run("intel-linear", RGBA, "--size=4x4", "--stride=" + text)
            self.assertEqual(done.returncode, 2, text)
            self.assertIn(f"'{text}' is not an integer" if text else "--stride",
                          done.stderr.decode())

    def test_an_image_larger_than_memory_is_told(self) -> None:
        # It is larger than the address space, but its smallest level is not.
        done = run("tile", "agx", "--pixel-format=R32G32B32A32_UINT", "--size=16384x16384",
                   "--layers=16384", "--samples=4", "--levels=full", "--level=14",
                   self.path("rows", b"x" * 64), self.path("image"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("not enough memory for the ", done.stderr.decode())
        self.assertFalse(os.path.exists(self.path("image")))

    def test_what_is_no_string_is_told(self) -> None:
        for key in ("layout", "format", "dim"):
            self.assertEqual(batch(image(**{key: 1})), [{"error": key + " must be a string"}])

    def test_drawings_are_svg_and_png(self) -> None:
        done = run("u-interleaved", "--pixel-format=R8_UNORM", "--size=16x16",
                   "--svg=" + self.path("svg"), "--png=" + self.path("png"))
        self.assertEqual(done.returncode, 0, done.stderr)
        root = xml.etree.ElementTree.fromstring(self.read("svg"))
        lines = root.findall("{http://www.w3.org/2000/svg}polyline")
        points = [p for line in lines for p in line.get("points").split()]
        # Each step of the line begins where the one before it ends.
        self.assertEqual(len(set(points)), 256)
        png = self.read("png")
        self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
        at, data = 8, b""
        while at < len(png):
            size, name = struct.unpack(">I4s", png[at:at + 8])
            chunk = png[at + 8:at + 8 + size]
            (crc,) = struct.unpack(">I", png[at + 8 + size:at + 12 + size])
            self.assertEqual(crc, zlib.crc32(name + chunk))
            if name == b"IHDR":
                width, height = struct.unpack(">II", chunk[:8])
            if name == b"IDAT":
                data += chunk
            at += 12 + size
        self.assertEqual(len(zlib.decompress(data)), height * (1 + 3 * width))

    def test_wrong_usage_is_2_and_says_why(self) -> None:
        for arguments, why in (
            ((), "one layout must be given"),
            (("agx",), "no format was given"),
            (("agx", RGBA), "must be a size"),
            (("agx", RGBA, "--size=3"), "must be a size"),
            (("agx", RGBA, "--size=0x3"), "at least 1 px"),
            (("agx", RGBA, "--size=4x4", "--levels=4"), "at most 3, not 4"),
            (("agx", RGBA, "--size=4x4", "--levels=all"), "must be a number or full"),
            (("agx", RGBA, "--size=4x4", "--level=1"), "counted from 0"),
            (("agx", RGBA, "--size=4x4", "--usage=x"), "no usage"),
            (("agx", RGBA, "--size=4x4", "--dim=1d"), "no dim"),
            (("bgx", RGBA, "--size=4x4"), "no layout 'bgx'"),
            (("intel-x", RGBA, "--size=4x4", "--compressed"), "is for agx"),
            (("tile", "agx", RGBA, "--size=4x4"), "takes a layout and two files"),
            (("tile", "agx", RGBA, "--size=4x4", "--svg=x", "in", "out"), "tile draws nothing"),
            (("agx", RGBA, "--size=4x4", "--layer=0"), "for tile and untile"),
            (("--batch", "agx"), "takes no other argument"),
            (("--what",), "--help"),
        ):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(why, done.stderr.decode())

    def test_help_is_good(self) -> None:
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"imglayout LAYOUT [options]", done.stdout)


if __name__ == "__main__":
    unittest.main()
