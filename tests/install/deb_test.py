#!/usr/bin/python3
"""The Debian package, and the program without shared libraries."""

import gzip
import os
import re
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, os.path.join(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"],
                                "tests/install"))
import installed  # noqa: E402
from installed import ROOT, files, folder, run  # noqa: E402

DEB = ROOT / "install/packsmith.deb"
STATIC = ROOT / "tools/unpack_static"
CAPTURE = ROOT / "tests/data/captures/skl-gl-basic/00.core.zst"
MAKE = ROOT / "install/make_deb"


class DebTest(installed.TestCase):
    """All tests read one unpacked package."""

    root: Path

    @classmethod
    def setUpClass(cls) -> None:
        if shutil.which("dpkg-deb") is None:
            raise unittest.SkipTest("dpkg-deb is not installed: this is not a Debian system")
        cls.root = folder() / "root"
        result = run(["dpkg-deb", "-x", DEB, cls.root])
        assert result.returncode == 0, result.stderr

    def test_all_programs_run_from_it(self) -> None:
        programs = sorted(path.name for path in (self.root / "usr/bin").iterdir())
        self.assertLessEqual({"unpack", "pack", "packgen", "packrender", "imglayout",
                              "packsmith-bisect", "packsmith-collect", "packsmith-mock",
                              "packsmith-trace"}, set(programs))
        control = self.good(run(["dpkg-deb", "-f", DEB, "Version"])).strip()
        for name in programs:
            self.assertRegex(self.good(run([self.root / "usr/bin" / name, "--version"])),
                             rf"^{name} {re.escape(control)}( \(descriptions \w+\))?\n$")
        self.assertIn("3DPRIMITIVE", self.good(run([self.root / "usr/bin/unpack", CAPTURE])))
        shown = self.good(run([self.root / "usr/bin/packsmith-mock", "--device=tgl", "--",
                               "ls", "/dev/dri"]))
        self.assertIn("renderD128", shown)

    def test_every_program_has_a_page_and_what_debian_requires(self) -> None:
        have = files(self.root)
        for path in (self.root / "usr/bin").iterdir():
            page = have[f"usr/share/man/man1/{path.name}.1.gz"]
            self.assertIn(b"\n.SH NAME\n", gzip.decompress(page))
        for name in ("usr/share/doc/packsmith/copyright", "usr/share/doc/packsmith/changelog.gz",
                     "usr/share/bash-completion/completions/unpack",
                     "usr/share/zsh/vendor-completions/_unpack",
                     "usr/share/fish/vendor_completions.d/unpack.fish",
                     "usr/share/packsmith/xml/intel/gfx9.xml", "usr/lib/libpacksmith.a"):
            self.assertIn(name, have)
        self.assertIn(b"Permission is hereby granted", have["usr/share/doc/packsmith/copyright"])

    def test_its_dependencies_are_those_of_the_programs(self) -> None:
        depends = self.good(run(["dpkg-deb", "-f", DEB, "Depends"]))
        self.assertRegex(depends, r"libc6 \(>= 2\.\d+\)")
        self.assertIn("python3-jinja2", depends)
        self.assertIn("libhwy", depends)
        for library in ("libabsl", "libelf", "libzstd", "libpugixml"):
            self.assertNotIn(library, depends)

    def test_the_same_installation_makes_the_same_bytes(self) -> None:
        # Both are made here: the machine's packages, which Depends names, may be others than those
        # that were there when the build made its one.
        made = [folder() / name for name in ("once.deb", "again.deb")]
        for path in made:
            self.good(run([MAKE, path], cwd=ROOT))
        self.assertTrue(made[0].read_bytes() == made[1].read_bytes())
        listed = self.good(run(["dpkg-deb", "-c", DEB]))
        self.assertEqual({line.split()[1] for line in listed.splitlines()}, {"root/root"})

    def test_its_maintainer_is_nobody_who_could_be_written_to_by_mistake(self) -> None:
        # RFC 2606 keeps .invalid for addresses that are none. Lintian takes it for a host.
        maintainer = self.good(run(["dpkg-deb", "-f", DEB, "Maintainer"])).strip()
        self.assertRegex(maintainer, r"^The packsmith authors <\S+@\S+\.invalid>$")
        changelog = gzip.decompress(files(self.root)["usr/share/doc/packsmith/changelog.gz"])
        self.assertIn(f"\n -- {maintainer}  ", changelog.decode())

    def test_lintian_accepts_it(self) -> None:
        if shutil.which("lintian") is None:
            self.skipTest("lintian is not installed: nothing has looked at the package")
        result = run(["lintian", "--fail-on=error,warning", "--tag-display-limit=0",
                      "--allow-root", DEB], LC_ALL="C.UTF-8")
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)


class StaticTest(installed.TestCase):
    def test_it_needs_no_shared_library_and_decodes(self) -> None:
        said = run(["ldd", STATIC], LC_ALL="C")
        self.assertRegex(said.stdout + said.stderr, "not a dynamic executable|statically linked")
        self.assertNotIn("(NEEDED)", self.good(run(["readelf", "-d", STATIC])))
        shown = self.good(run([STATIC, CAPTURE]))
        self.assertIn("device  Intel Gfx9", shown)
        self.assertIn("3DPRIMITIVE", shown)
        self.assertIn("gfx9", self.good(run([STATIC, "--list"])))


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says what was skipped, and why
