#!/usr/bin/python3
"""unpack refuses wrong arguments with a reason and a suggestion."""

import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fixtures import END, ProgramTest, core, words  # noqa: E402

ProgramTest.program = os.path.abspath(sys.argv.pop(1))
GFX9 = {"family": "intel", "generation": "gfx9"}
XML = b"""<packsmith family="f" generation="g" extends="base.xml"/>"""
BASE = b"""<packsmith family="f" generation="base">
  <stream name="s"/>
  <packet name="END" dwords="1">
    <field name="Op" dword="0" bits="31:24" type="uint" forced="2"/>
    <flow kind="end"/>
  </packet>
</packsmith>"""


class OverwritingTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.content = core(GFX9, words(END))
        self.dump = self.file("a.core", self.content)

    def assert_spared(self, *arguments: str, **more: object) -> None:
        self.assertIn("overwritten", self.refused(*arguments, **more))
        self.assertEqual(self.read("a.core"), self.content)

    def test_the_input_is_no_output_whatever_its_name(self) -> None:
        os.symlink("a.core", self.path("symbolic"))
        os.link(self.dump, self.path("hard"))
        os.symlink("symbolic", self.path("twice"))
        for name in ("a.core", "symbolic", "hard", "twice", "./a.core"):
            for form in ("text", "jsonl", "stats", "names"):
                self.assert_spared("-o", self.path(name), f"--format={form}", self.dump)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.core", "hard", "symbolic", "twice"])

    def test_nor_through_a_descriptor(self) -> None:
        with open(self.dump, "rb") as file:
            self.assert_spared("-o", f"/proc/self/fd/{file.fileno()}", self.dump,
                               pass_fds=[file.fileno()])
            self.assert_spared("-o", self.dump, f"/dev/fd/{file.fileno()}",
                               pass_fds=[file.fileno()])

    def test_nor_as_standard_input_or_output(self) -> None:
        with open(self.dump, "rb") as dump:
            done = subprocess.run([self.program, "-o", self.dump, "-"], stdin=dump,
                                  capture_output=True, check=False)
        self.assertEqual(done.returncode, 2)
        with open(self.dump, "ab") as dump:
            done = subprocess.run([self.program, self.dump], stdout=dump, stderr=subprocess.PIPE,
                                  check=False)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(self.read("a.core"), self.content)

    def test_nor_one_of_several_or_of_a_folder(self) -> None:
        other = self.file("b.core", self.content)
        self.assert_spared("-o", other, self.dump, other)
        self.assert_spared("-o", self.dump, self.folder)

    def test_a_device_is_no_file_that_could_be_lost(self) -> None:
        self.assertEqual(self.run_it("--gen=gfx9", "-o", "/dev/null", self.dump).returncode, 0)

    def test_descriptions_are_spared_too_and_those_that_they_extend(self) -> None:
        self.file("base.xml", BASE)
        xml = self.file("g.xml", XML)
        batch = self.file("b", words(0x02000000))
        self.assertEqual(self.run_it(f"--xml={xml}", batch).returncode, 0)
        for name in ("g.xml", "base.xml"):
            for rest in ([batch], ["--describe=END"], ["--list"]):
                self.refused(f"--xml={xml}", "-o", self.path(name), *rest)
        self.assertEqual((self.read("g.xml"), self.read("base.xml")), (XML, BASE))

    def test_kernels_do_not_replace_the_input(self) -> None:
        captures = "tests/data/captures/skl-gl-basic/00.core.zst"
        kernels = self.path("kernels")
        self.assertEqual(self.run_it(f"--kernels={kernels}", captures).returncode, 0)
        name = sorted(os.listdir(kernels))[0]
        with open(captures, "rb") as file:
            content = file.read()
        dump = self.file(os.path.join("kernels", name), content)
        done = self.run_it(f"--kernels={kernels}", dump)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"overwritten", done.stderr)
        self.assertEqual(self.read(os.path.join("kernels", name)), content)


class NamesTest(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.dump = self.file("a.core", core(GFX9, words(END)))
        self.batch = self.file("batch", words(END))

    def test_a_name_that_nothing_has_is_refused_with_what_is_close(self) -> None:
        for arguments, close in (
                (["--filter=3DPRIMITIV"], "3DPRIMITIVE"),
                (["--filter=MI_NOOP,*PRIMITIV"], "3DPRIMITIVE"),
                (["--filter=vertex bufer"], "vertex buffer"),
                (["--engine=rendr"], "render"),
                (["--stream=BLEND_STAT"], "BLEND_STATE"),
                (["--gen=gxf9"], "gfx9"),
                (["--gen=slk"], "skl"),
                (["--format=txt"], "text"),
                (["--follow=batchs"], "batches"),
                (["--color=allways"], "always"),
                (["--input=elv"], "elf"),
                (["--fail-on=unmaped"], "unmapped")):
            for more in ([], ["--format=stats"], ["--format=jsonl"]):
                if "--format=txt" in arguments and more:
                    continue
                if more and arguments[0].startswith("--fail-on"):
                    continue
                said = self.refused(*arguments, *more, self.dump, self.batch)
                self.assertRegex(said, rf"did you mean [^?]*\b{re.escape(close)}\b", arguments)

    def test_a_name_that_nothing_is_close_to_is_refused_too(self) -> None:
        self.assertIn("--list --gen=gfx9", self.refused("--filter=weather", self.dump))
        self.assertIn("--list --gen=gfx9", self.refused("--filter=wea*er", self.dump))

    def test_names_that_there_are_pass(self) -> None:
        for name in ("3DPRIMITIVE", "3dprim*", "vertex buffer", "BLEND_STATE", "L3CNTLREG",
                     "unknown", "*"):
            done = self.run_it(f"--filter={name}", self.dump)
            self.assertEqual(done.returncode, 0, (name, done.stderr))
        for engine in ("render", "rcs0", "blitter"):
            done = self.run_it(f"--engine={engine}", "--gen=gfx9", self.batch)
            self.assertEqual(done.returncode, 0, engine)

    def test_a_name_is_good_if_one_of_the_files_can_have_it(self) -> None:
        newer = self.file("b.core", core({"family": "intel", "generation": "gfx125"}, words(END)))
        self.assertEqual(self.run_it("--filter=CFE_STATE", self.dump, newer).returncode, 0)
        self.refused("--filter=CFE_STATE", self.dump)

    def test_registers_of_a_dump_may_be_named_as_the_dump_does(self) -> None:
        hang = "tests/data/hang/skl-gl-basic.error"
        self.assertEqual(self.run_it("--filter=NEW_REGISTER", hang).returncode, 0)

    def test_a_misspelt_option_is_refused_with_what_is_close(self) -> None:
        self.assertIn("no option --fil; did you mean --filter", self.refused("--fil=x", self.dump))
        self.assertIn("did you mean --format", self.refused("--frmat=text", self.dump))
        self.assertIn("no option --weather;", self.refused("--weather", self.dump))


class CombinationsTest(ProgramTest):
    def test_options_that_would_be_ignored_are_refused(self) -> None:
        dump = self.file("a.core", core(GFX9, words(END)))
        for arguments in (["--list", "--draw=3"], ["--describe=MI_NOOP", "--filter=MI_NOOP"],
                          ["--list", "--strict"], ["--describe=MI_NOOP", "--engine=render"],
                          ["--hang", "--draw=1", dump], ["--contexts", "--draw=1", dump],
                          ["--contexts", "--format=jsonl", dump], ["--hang", "--hide-zero", dump],
                          ["--page-tables", "--draw=1", dump], ["--page-tables", "--run", dump],
                          ["--page-tables", "--contexts", dump],
                          ["--hang", "--kernels=k", dump], ["--hide-zero", "--format=jsonl", dump],
                          ["--no-offsets", "--format=stats", dump],
                          ["--hang", "--format=html", dump], ["--strict", "--format=html", dump],
                          ["--disassembler=cat", "--format=names", dump],
                          ["--kernels=k", "--follow=none", dump]):
            said = self.refused(*arguments)
            self.assertIn("do not go together", said, arguments)
            self.assertIn(arguments[0].split("=")[0], said)
        self.assertEqual(os.listdir(self.folder), ["a.core"])

    def test_a_description_and_another_generation_are_refused(self) -> None:
        xml = self.file("g.xml", BASE)
        batch = self.file("b", words(0x02000000))
        self.assertIn("do not go together", self.refused(f"--xml={xml}", "--gen=gfx9", batch))
        self.assertEqual(self.run_it(f"--xml={xml}", "--gen=base", batch).returncode, 0)

    def test_what_is_said_of_a_bare_batch_is_refused_where_there_is_none(self) -> None:
        dump = self.file("a.core", core(GFX9, words(END)))
        batch = self.file("b", words(END))
        for option in ("--engine=render", "--stream=BLEND_STATE", "--address=0x1000"):
            self.assertIn("bare batch", self.refused(option, dump))
            self.assertIn("bare batch", self.refused(option, dump, dump))
            self.assertEqual(self.run_it(option, dump, batch).returncode, 0)
        self.assertEqual(self.run_it("--address=0x1000..0x2000", dump).returncode, 0)


if __name__ == "__main__":
    unittest.main()
