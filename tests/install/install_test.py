#!/usr/bin/python3
"""The installer: what it writes, where, and what it does not touch."""

import json
import os
import re
import resource
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, os.path.join(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"],
                                "tests/install"))
import installed  # noqa: E402
from installed import ROOT, files, folder, install, run  # noqa: E402


class Installed(installed.TestCase):
    """What is there: all tests read one installation."""

    prefix: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.prefix = folder() / "usr"
        result = install(cls.prefix)
        assert result.returncode == 0, result.stderr

    def test_every_generation_has_its_headers(self) -> None:
        prefix = self.prefix
        have = files(prefix / "include/packsmith")
        generations = json.loads((ROOT / "install/manifest.json").read_text())["generations"]
        self.assertIn("gfx9", generations)
        for name in generations:
            for header in (f"{name}.h", f"{name}_names.h", f"{name}_relations.h",
                           f"{name}_codes.h", f"{name}_tables.h", f"c/{name}_pack.h",
                           f"c/{name}_bits.h", f"c/{name}_codes.h"):
                self.assertIn(header, have)
        for header in ("c/intel_pack.h", "c/intel_bits.h", "gfx6_video.h", "gfx125_render.h",
                       "gfx9_video.h", "gfx9_blitter.h", "c/gfx9_video_pack.h"):
            self.assertIn(header, have)
        self.assertNotIn("gfx5_video.h", have)
        # Only what unpack has built in.
        message = run([prefix / "bin/unpack", "--gen=?", os.devnull]).stderr
        self.assertEqual(set(re.findall(r"(\w+) \(also ", message)), set(generations), message)

    def test_all_programs_say_the_version_that_pkg_config_says(self) -> None:
        prefix = self.prefix
        module = (prefix / "lib/pkgconfig/packsmith.pc").read_text()
        version = re.search(r"^Version: (.*)$", module, re.MULTILINE)[1]
        programs = sorted(path.name for path in (prefix / "bin").iterdir())
        self.assertIn("packrender", programs)
        for name in programs:
            said = self.good(run([prefix / "bin" / name, "--version"]))
            self.assertEqual(re.sub(r" \(descriptions [0-9a-f]{16}\)", "", said),
                             f"{name} {version}\n")
        self.assertEqual(self.good(install("--version")), f"install {version}\n")

    def test_all_programs_and_subcommands_have_pages_and_completions(self) -> None:
        prefix = self.prefix
        have = files(prefix)
        for program in sorted(path.name for path in (prefix / "bin").iterdir()):
            page = have[f"share/man/man1/{program}.1"].decode()
            # What a page refers to exists.
            for other in re.findall(r"^\.BR ([\w\\-]+) \(1\)", page, re.MULTILINE):
                self.assertIn(f"share/man/man1/{other.replace(chr(92), '')}.1", have)
            if program == "packrender":
                continue
            for path in (f"share/bash-completion/completions/{program}",
                         f"share/zsh/site-functions/_{program}",
                         f"share/fish/vendor_completions.d/{program}.fish"):
                self.assertIn(program, have[path].decode())
        self.assertIn("share/man/man1/unpack-diff.1", have)
        self.assertIn("share/man/man1/unpack-triage.1", have)

    def test_other_parts_are_there(self) -> None:
        prefix = self.prefix
        have = files(prefix)
        for name in ("include/packsmith/pack.h", "include/packsmith/names.h",
                     "include/packsmith/runtime/decode/decoder.h", "lib/libpacksmith.a",
                     "lib/pkgconfig/packsmith.pc", "lib/cmake/packsmith/packsmithConfig.cmake",
                     "share/packsmith/xml/packsmith.rng", "share/packsmith/xml/intel/gfx9.xml",
                     "share/doc/packsmith/LICENSE"):
            self.assertIn(name, have)
        for name in have:
            mode = (prefix / name).stat().st_mode & 0o777
            self.assertEqual(mode, 0o755 if name.startswith("bin/") else 0o644, name)

    def test_programs_need_no_library_that_a_machine_could_lack(self) -> None:
        prefix = self.prefix
        if installed.flags(prefix)["LDFLAGS"]:
            self.skipTest("programs with sanitizers take shared libraries")
        # The C library, and the dependencies of Highway's shared library, which has no archive.
        libc = r"libc\.so\.6|libm\.so\.6|ld-linux-.*"
        highway = r"|libhwy\.so\.1|libstdc\+\+\.so\.6|libgcc_s\.so\.1"
        for name, most in (("unpack", libc), ("packgen", libc), ("pack", libc),
                           ("imglayout", libc + highway)):
            said = self.good(run(["readelf", "--dynamic", prefix / "bin" / name]))
            needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said)
            self.assertIn("libc.so.6", needed, said)
            for library in needed:
                self.assertRegex(library, f"^(?:{most})$", name)

    def test_programs_find_their_preload_libraries(self) -> None:
        prefix = self.prefix
        run_folder = folder() / "run"
        shown = self.good(run([prefix / "bin/packsmith-mock", "--device=tgl", "--",
                               prefix / "bin/packsmith-trace", f"--record={run_folder}", "--",
                               "ls", "/dev/dri"]))
        self.assertIn("renderD128", shown)
        self.assertTrue((run_folder / "index.jsonl").exists())

    def test_nothing_knows_where_it_was_installed_or_built(self) -> None:
        prefix = self.prefix
        for name, content in files(prefix).items():
            # (A failing assertNotIn would print the whole file.)
            self.assertFalse(str(prefix).encode() in content, name)
            if not name.startswith(("bin/", "lib/lib", "lib/packsmith/lib")):
                self.assertFalse(b"bazel-out" in content, name)
                self.assertIsNone(re.search(rb"@[A-Z]+@", content), name)

    def test_headers_name_each_other_as_they_lie(self) -> None:
        prefix = self.prefix
        have = files(prefix / "include")
        for name, content in have.items():
            for included in re.findall(rb'^\s*#\s*include\s+"(.*)"', content, re.MULTILINE):
                path = included.decode()
                beside = os.path.normpath(os.path.join(os.path.dirname(name), path))
                if not path.startswith(("absl/", "pack.h", "../")) and beside not in have:
                    self.assertIn(path, have, name)


class Installer(installed.TestCase):
    """Each test installs into a folder of its own."""

    def test_a_relative_prefix_is_relative_to_the_caller(self) -> None:
        caller = folder()
        self.good(install("some/where", cwd=caller))
        self.assertTrue((caller / "some/where/include/packsmith/pack.h").is_file())
        self.assertEqual(os.listdir(caller), ["some"])

    def test_destdir_is_put_before_the_prefix(self) -> None:
        stage = folder()
        self.good(install("/opt/packsmith", DESTDIR=str(stage)))
        self.assertTrue((stage / "opt/packsmith/include/packsmith/pack.h").is_file())
        caller = folder()
        self.good(install("/opt/packsmith", cwd=caller, DESTDIR="stage"))
        self.assertTrue((caller / "stage/opt/packsmith/include/packsmith/pack.h").is_file())

    def test_without_a_prefix_it_says_how_it_is_used(self) -> None:
        for arguments in ([], [""]):
            result = run([installed.INSTALL, *arguments], cwd=ROOT)
            self.assertEqual(result.returncode, 2)
            self.assertIn("PREFIX", result.stderr)

    def test_a_second_installation_replaces_the_first(self) -> None:
        prefix = folder()
        self.good(install(prefix))
        before = files(prefix)
        for name in before:
            (prefix / name).write_bytes(b"old")
        (prefix / "include/packsmith/mine.h").write_bytes(b"not packsmith's")
        self.good(install(prefix))
        self.assertEqual(files(prefix), {**before, "include/packsmith/mine.h": b"not packsmith's"})

    def test_a_full_disk_leaves_everything_as_it_was(self) -> None:
        # Writing past this many bytes of one file fails, as on a full disk.
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        empty = folder()
        result = install(empty / "usr", preexec_fn=limit)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertRegex(result.stderr, "^install: .*File too large. Nothing was installed")
        self.assertEqual(os.listdir(empty), [])

        prefix = folder()
        (prefix / "include/packsmith").mkdir(parents=True)
        (prefix / "include/packsmith/pack.h").write_text("earlier")
        self.assertEqual(install(prefix, preexec_fn=limit).returncode, 1)
        self.assertEqual(files(prefix), {"include/packsmith/pack.h": b"earlier"})
        self.assertEqual(os.listdir(prefix), ["include"])

    def test_a_file_in_the_way_of_a_folder_is_named(self) -> None:
        place = folder()
        (place / "lib").write_text("a file")
        result = install(place)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(str(place / "lib"), result.stderr)
        self.assertEqual(files(place), {"lib": b"a file"})
        self.assertEqual(os.listdir(place), ["lib"])

    def test_a_folder_in_the_way_of_a_file_is_named(self) -> None:
        place = folder()
        (place / "bin/unpack").mkdir(parents=True)
        result = install(place)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(str(place / "bin/unpack"), result.stderr)
        self.assertEqual(files(place), {})

    def test_installed_programs_make_the_installed_headers(self) -> None:
        prefix = folder()
        self.good(install(prefix))
        moved = folder() / "elsewhere"
        shutil.move(prefix, moved)
        out = folder()
        for xml in sorted((moved / "share/packsmith/xml").glob("*/*.xml")):
            name = xml.stem
            include = moved / "include/packsmith"
            # gfx9_video.h is a part of what gfx9.xml describes, which includes gfx9_video.xml.
            if not (include / f"{name}_names.h").exists():
                continue
            self.good(run([moved / "bin/packgen", "--no-warnings", xml, f"--ir={out}/ir.json"]))
            # Parts are made together: the whole header has a section for each.
            engines = {one["name"] for one in json.loads((out / "ir.json").read_text())["engines"]}
            parts = {part: engines & both for part, both in (
                ("blitter", {"blitter"}), ("render", {"render", "compute"}),
                ("video", {"video", "video-enhance"}))
                if (include / f"{name}_{part}.h").exists()}
            options = [option for part, both in parts.items() for option in (
                f"--part={part}={','.join(sorted(both))}", f"--cpp-part={part}={out}/{part}.h",
                f"--c-part={part}={out}/{part}_c.h")]
            self.good(run([moved / "bin/packrender", "--ir", out / "ir.json", *options,
                           "--cpp", out / "cpp.h", "--names", out / "names.h",
                           "--relations", out / "relations.h",
                           "--codes", out / "codes.h", "--c-codes", out / "c_codes.h",
                           "--c", out / "c.h", "--c-bits", out / "bits.h"]))
            for made, path in (("cpp.h", f"{name}.h"), ("names.h", f"{name}_names.h"),
                               ("relations.h", f"{name}_relations.h"),
                               ("codes.h", f"{name}_codes.h"), ("c_codes.h", f"c/{name}_codes.h"),
                               ("c.h", f"c/{name}_pack.h"), ("bits.h", f"c/{name}_bits.h"),
                               *((f"{part}.h", f"{name}_{part}.h") for part in parts),
                               *((f"{part}_c.h", f"c/{name}_{part}_pack.h") for part in parts)):
                self.assertEqual((out / made).read_bytes(), (include / path).read_bytes(), path)


if __name__ == "__main__":
    unittest.main()
