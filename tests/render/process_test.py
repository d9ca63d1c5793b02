#!/usr/bin/python3
"""packgen and render.py as ordinary programs: what they read, write, print and return."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path.cwd()
PACKGEN = ROOT / "gen/packgen/packgen"
RENDER = ROOT / "gen/render/render.py"
DESCRIPTIONS = {
    "golden": ROOT / "tests/render/golden.xml",
    "m1": ROOT / "tests/mini/mini.xml",
    "gfx9": ROOT / "xml/intel/gfx9.xml",
}
PRINTED = ("--cpp", "--names", "--relations", "--c", "--c-bits", "--embed", "--embed-header")

# A description in three files, two of which have names that make's syntax must mark.
BASE = """\
<packsmith family="acme" generation="rocket1" title="Rocket 1">
  <stream name="commands"/>
  <include file="clear #1.xml"/>
</packsmith>
"""
CLEAR = """\
<packsmith>
  <packet name="CLEAR" dwords="2">
    <doc>Fills the render target.</doc>
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="0x10"/>
    <field name="Color" dword="1" bits="31:0" type="uint"/>
  </packet>
</packsmith>
"""
NEXT = """\
<packsmith generation="rocket2" extends="old $5/base.xml" title="Rocket 2"/>
"""
INPUTS = ["next.xml", "old $5/base.xml", "old $5/clear #1.xml"]


def make_words(line: str) -> list[str]:
    """The words of a make rule."""
    words = line.replace("\\ ", "\0").replace("\\#", "#").replace("$$", "$").split()
    return [word.replace("\0", " ") for word in words]


class InFolder(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR")))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def rockets(self) -> None:
        self.write("next.xml", NEXT)
        self.write("old $5/base.xml", BASE)
        self.write("old $5/clear #1.xml", CLEAR)

    def call(self, *command: object, cwd: Path | None = None,
             **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in command], cwd=cwd or self.folder, capture_output=True, text=True,
            env={**os.environ, **environment}, check=False)

    def packgen(self, *arguments: object, **kwargs) -> subprocess.CompletedProcess[str]:
        return self.call(PACKGEN, *arguments, **kwargs)

    def render(self, *arguments: object, **kwargs) -> subprocess.CompletedProcess[str]:
        return self.call(sys.executable, RENDER, *arguments, **kwargs)

    def files(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}

    def assert_exit(self, done: subprocess.CompletedProcess[str], code: int) -> None:
        self.assertEqual(done.returncode, code, f"{shlex.join(done.args)}\n{done.stderr}")
        self.assertNotIn("Traceback", done.stderr)
        if code:
            self.assertNotEqual(done.stderr, "")


class Determinism(InFolder):
    """The bytes of outputs depend on nothing but the bytes of inputs."""

    def everything(self, source: Path, out: Path, cwd: Path, **environment: str) -> dict[str, bytes]:
        out.mkdir()
        self.assert_exit(self.packgen("--no-warnings", source, f"--ir={out}/x.json",
                                      f"--tables={out}/x.tables", cwd=cwd, **environment), 0)
        options = [word for option in PRINTED for word in (option, out / f"x{option}")]
        self.assert_exit(self.render("--ir", out / "x.json", "--tables", out / "x.tables",
                                     "--symbol", "x", *options, cwd=cwd, **environment), 0)
        return {path.name: path.read_bytes() for path in sorted(out.iterdir())}

    def test_nothing_but_inputs_matters(self) -> None:
        for generation, source in DESCRIPTIONS.items():
            with self.subTest(generation):
                # Relative paths, which the IR keeps.
                here = source.parent
                first = self.everything(Path(source.name), self.folder / f"{generation}1", here,
                                        PYTHONHASHSEED="1", LANG="C", LC_ALL="C", TZ="UTC")
                self.assertEqual(len(first), 2 + len(PRINTED))
                second = self.everything(Path(source.name), self.folder / f"{generation}2", here,
                                         PYTHONHASHSEED="2", LANG="C.UTF-8", LC_ALL="C.UTF-8",
                                         TZ="Asia/Tokyo")
                self.assertEqual(first.keys(), second.keys())
                for name in first:
                    self.assertTrue(first[name] == second[name], f"{generation}: {name} differs")

    def test_headers_do_not_depend_on_the_working_directory(self) -> None:
        for generation, source in DESCRIPTIONS.items():
            with self.subTest(generation):
                first = self.everything(Path(source.name), self.folder / f"{generation}1",
                                        source.parent)
                second = self.everything(source.relative_to(ROOT), self.folder / f"{generation}2",
                                         ROOT)
                for name in first.keys() - {"x.json"}:  # which names the files as they were given
                    self.assertTrue(first[name] == second[name], f"{generation}: {name} differs")


class Overwriting(InFolder):
    """No output takes the place of an input."""

    def test_packgen_spares_descriptions_and_those_that_they_extend(self) -> None:
        self.rockets()
        (self.folder / "link").symlink_to("old $5/base.xml")
        os.link(self.folder / "next.xml", self.folder / "hard")
        for output in ("next.xml", "old $5/base.xml", "old $5/clear #1.xml", "link", "hard"):
            for option in ("--ir", "--tables"):
                done = self.packgen("next.xml", f"{option}={output}")
                self.assert_exit(done, 2)
                self.assertIn("overwritten", done.stderr)
        self.assertEqual((self.folder / "next.xml").read_text(encoding="utf-8"), NEXT)
        self.assertEqual((self.folder / "old $5/base.xml").read_text(encoding="utf-8"), BASE)

    def test_render_spares_the_ir_and_the_tables(self) -> None:
        self.rockets()
        self.assert_exit(self.packgen("next.xml", "--ir=x.json", "--tables=x.tables"), 0)
        before = (self.folder / "x.json").read_bytes()
        os.link(self.folder / "x.json", self.folder / "hard.h")
        for words in (["--cpp", "x.json"], ["--c", "hard.h"], ["--depfile", "x.json"],
                      ["--tables", "x.tables", "--symbol", "x", "--embed", "x.tables"]):
            done = self.render("--ir", "x.json", *words)
            self.assert_exit(done, 2)
            self.assertIn("overwritten", done.stderr)
        self.assertEqual((self.folder / "x.json").read_bytes(), before)

    def test_a_misspelt_option_of_packgen_gets_a_suggestion(self) -> None:
        done = self.packgen("next.xml", "--table=x")
        self.assert_exit(done, 2)
        self.assertIn("did you mean --tables", done.stderr)


class Packgen(InFolder):
    def test_inputs_are_listed_with_the_paths_they_were_reached_by(self) -> None:
        self.rockets()
        done = self.packgen("next.xml", "--list-inputs")
        self.assert_exit(done, 0)
        self.assertEqual(done.stdout.splitlines(), INPUTS)
        self.assertEqual(self.files(), {"next.xml", "old $5"})

    def test_outputs_are_listed_without_reading_or_writing(self) -> None:
        done = self.packgen("missing.xml", "--ir=a.json", "--tables=b.tables", "--depfile=c.d",
                            "--list-outputs")
        self.assert_exit(done, 0)
        self.assertEqual(done.stdout.splitlines(), ["a.json", "b.tables", "c.d"])
        self.assertEqual(self.files(), set())

    def test_the_depfile_is_a_make_rule_of_outputs_and_inputs(self) -> None:
        self.rockets()
        self.assert_exit(self.packgen("next.xml", "--ir=out $1.json", "--tables=out.tables",
                                      "--depfile=out.d"), 0)
        rule = (self.folder / "out.d").read_text("utf-8")
        self.assertEqual(rule.count("\n"), 1)
        outputs, inputs = rule.split(": ")
        self.assertEqual(make_words(outputs), ["out $1.json", "out.tables"])
        self.assertEqual(make_words(inputs), INPUTS)

    @unittest.skipUnless(shutil.which("make"), "this machine has no make")
    def test_make_understands_the_depfile(self) -> None:
        self.rockets()
        self.write("Makefile", f"out.json: next.xml\n\t@{PACKGEN} next.xml --ir=$@ --depfile=out.d\n"
                               "-include out.d\n")
        self.assert_exit(self.call("make"), 0)
        self.assertIn("up to date", self.call("make").stdout)
        os.utime(self.folder / "out.json", (1e9, 1e9))
        for name in INPUTS:
            os.utime(self.folder / name, (1e9, 1e9))
        self.assertIn("up to date", self.call("make").stdout)
        os.utime(self.folder / INPUTS[-1])
        self.assertNotIn("up to date", self.call("make").stdout)

    def test_what_is_not_beside_its_file_is_looked_for_in_the_path(self) -> None:
        self.rockets()
        self.write("mine/next.xml", NEXT.replace("old $5/base.xml", "lib/base.xml"))
        os.rename(self.folder / "old $5", self.folder / "lib")
        self.assert_exit(self.packgen("mine/next.xml"), 1)
        done = self.packgen("--path=missing", "--path", ".", "mine/next.xml", "--list-inputs",
                            "--ir=x.json", "--depfile=x.d")
        self.assert_exit(done, 0)
        inputs = ["mine/next.xml", "./lib/base.xml", "./lib/clear #1.xml"]
        self.assertEqual(done.stdout.splitlines(), inputs)
        rule = (self.folder / "x.d").read_text("utf-8")
        self.assertEqual(make_words(rule.split(": ")[1]), inputs)
        self.write("lib/base.xml", BASE.replace("stream", "strem"))
        self.assertIn("./lib/base.xml:2:", self.packgen("--path=.", "mine/next.xml").stderr)

    def test_a_file_beside_comes_before_one_in_the_path(self) -> None:
        self.rockets()
        self.write("other/old $5/base.xml", "<bad/>")
        self.assert_exit(self.packgen("--path=other", "next.xml"), 0)

    def test_without_outputs_it_checks(self) -> None:
        self.rockets()
        self.assert_exit(self.packgen("next.xml"), 0)
        self.write("bad.xml", NEXT.replace("rocket2", "9 lives?"))
        self.assert_exit(self.packgen("bad.xml"), 1)

    def test_bad_xml_is_exit_code_1_and_leaves_old_outputs(self) -> None:
        self.write("bad.xml", BASE)  # includes what is not there
        self.write("a.json", "old")
        self.write("a.tables", "old")
        self.assert_exit(self.packgen("bad.xml", "--ir=a.json", "--tables=a.tables",
                                      "--depfile=a.d"), 1)
        self.assertEqual((self.folder / "a.json").read_text(), "old")
        self.assertEqual((self.folder / "a.tables").read_text(), "old")
        self.assertEqual(self.files(), {"bad.xml", "a.json", "a.tables"})

    def test_an_output_that_cannot_be_written_is_exit_code_1_and_nothing_is_written(self) -> None:
        self.rockets()
        self.write("a.json", "old")
        for target in ("--tables=no/such/folder/a.tables", "--tables=old $5",
                       "--depfile=no/such/folder/a.d"):
            done = self.packgen("next.xml", "--ir=a.json", target)
            self.assert_exit(done, 1)
            self.assertIn(target.split("=")[1].split("/")[-1], done.stderr)
            self.assertEqual((self.folder / "a.json").read_text(), "old")
            self.assertEqual(self.files(), {"next.xml", "old $5", "a.json"})

    def test_several_descriptions_become_what_each_becomes_alone(self) -> None:
        self.rockets()
        self.write("other.one.xml", NEXT)
        self.write("no ending", NEXT)
        inputs = ("next.xml", "other.one.xml", "no ending")
        (self.folder / "all").mkdir()
        outputs = [f"--{kind}=all/" for kind in ("ir", "tables", "depfile")]
        self.assert_exit(self.packgen(*inputs, *outputs), 0)
        listed = self.packgen(*inputs, *outputs, "--list-outputs").stdout.splitlines()
        self.assertEqual(listed, [f"all/{name}.{ending}"
                                  for name in ("next", "other.one", "no ending")
                                  for ending in ("json", "tables", "d")])
        for name, file in zip(inputs, listed[::3]):
            self.assert_exit(self.packgen(name, "--ir=alone"), 0)
            self.assertEqual((self.folder / file).read_text(),
                             (self.folder / "alone").read_text())
        self.assertEqual({str(path.relative_to(self.folder))
                          for path in (self.folder / "all").iterdir()}, set(listed))
        self.assertEqual(self.packgen(*inputs, "--list-inputs").stdout.splitlines(),
                         [*INPUTS, "other.one.xml", "no ending"])

    def test_of_several_descriptions_with_errors_all_are_shown_and_nothing_is_written(self) -> None:
        self.rockets()
        self.write("bad.xml", BASE)
        self.write("derived.xml", '<packsmith generation="derived" extends="bad.xml"/>')
        done = self.packgen("next.xml", "bad.xml", "derived.xml", "missing.xml", "--ir=./")
        self.assert_exit(done, 1)
        self.assertEqual(done.stderr.count("bad.xml:"), 1)  # once, though two have it
        for name in ("bad.xml", "derived.xml", "missing.xml"):
            self.assertIn(f"error in {name}, nothing was written", done.stderr)
        self.assertEqual(self.files(), {"next.xml", "old $5", "bad.xml", "derived.xml"})

    def test_a_missing_description_is_exit_code_1(self) -> None:
        done = self.packgen("missing.xml", "--ir=a.json")
        self.assert_exit(done, 1)
        self.assertIn("missing.xml", done.stderr)
        self.assertEqual(self.files(), set())

    def test_wrong_usage_is_exit_code_2(self) -> None:
        self.assert_exit(self.packgen(), 2)
        self.assert_exit(self.packgen("a.xml", "--no-such-option"), 2)
        self.assert_exit(self.packgen("a.xml", "b.xml", "--ir=a.json"), 2)
        self.assert_exit(self.packgen("a.xml", "b/a.xml", "--ir=./"), 2)
        self.assert_exit(self.packgen("a.xml", "--depfile=a.d"), 2)

    def test_help_is_exit_code_0(self) -> None:
        done = self.packgen("--help")
        self.assert_exit(done, 0)
        self.assertIn("--depfile", done.stdout)


class Parts(InFolder):
    """Headers of some engines, of Gfx9."""

    SECTION = re.compile(r"^#ifndef (\w+_SECTION_)\n.*?^#endif  // \1$", re.MULTILINE | re.DOTALL)
    STRUCT = re.compile(r"^struct (\w+) \{$", re.MULTILINE)

    def setUp(self) -> None:
        super().setUp()
        self.ir = self.folder / "gfx9.json"
        self.run_good(PACKGEN, DESCRIPTIONS["gfx9"], f"--ir={self.ir}", "--no-warnings")

    def run_good(self, *command: object) -> None:
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_each_type_is_in_one_section_and_parts_have_the_text_of_the_whole(self) -> None:
        out = {name: self.folder / f"{name}.h" for name in ("whole", "render", "video", "plain")}
        parts = ["--part=render=render", "--part=video=video,video-enhance"]
        self.run_good(sys.executable, RENDER, "--ir", self.ir, "--cpp", out["whole"], *parts,
                      f"--cpp-part=render={out['render']}", f"--cpp-part=video={out['video']}")
        self.run_good(sys.executable, RENDER, "--ir", self.ir, "--cpp", out["plain"])
        text = {name: path.read_text(encoding="utf-8") for name, path in out.items()}
        types = {name: self.STRUCT.findall(one) for name, one in text.items()}
        self.assertEqual(sorted(types["whole"]), sorted(types["plain"]))
        sections = {match[1]: match[0] for match in self.SECTION.finditer(text["whole"])}
        self.assertEqual(len(sections), 3)
        for name in ("render", "video"):
            own = [match[0] for match in self.SECTION.finditer(text[name])]
            self.assertEqual(own, [sections["PACKSMITH_GFX9_COMMON_SECTION_"],
                                   sections[f"PACKSMITH_GFX9_{name.upper()}_SECTION_"]])
            self.assertNotIn("generation", types[name])
        video, render = set(types["video"]), set(types["render"])
        self.assertLess({"VEBOX_STATE", "HCP_PIC_STATE", "VDENC_PICTURE", "MI_NOOP"}, video)
        self.assertLess({"_3DPRIMITIVE", "PIPE_CONTROL", "MI_NOOP"}, render)
        self.assertFalse({"VEBOX_STATE", "HCP_PIC_STATE", "VDENC_PICTURE"} & render)
        self.assertFalse({"_3DPRIMITIVE", "PIPE_CONTROL"} & video)

    def test_wrong_parts_are_errors_and_nothing_is_written(self) -> None:
        out = self.folder / "out.h"
        for code, said, *options in (
                (2, "--part=video", "--part=video", f"--cpp={out}"),
                (2, "common", "--part=common=video", f"--cpp={out}"),
                (2, "no --part has this name", f"--cpp-part=video={out}"),
                (1, "there is no engine 'vidoe'", "--part=video=vidoe", f"--cpp={out}")):
            result = subprocess.run([sys.executable, str(RENDER), "--ir", str(self.ir), *options],
                                    capture_output=True, text=True)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(said, result.stderr)
            self.assertFalse(out.exists())


class Render(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.rockets()
        self.assert_exit(self.packgen("next.xml", "--ir=x.json", "--tables=x.tables"), 0)
        self.before = self.files()

    def test_outputs_are_listed_without_writing(self) -> None:
        done = self.render("--ir", "missing", "--cpp", "a.h", "--c", "b.h", "--depfile", "c.d",
                           "--list-outputs")
        self.assert_exit(done, 0)
        self.assertEqual(done.stdout.splitlines(), ["a.h", "b.h", "c.d"])
        self.assertEqual(self.render("--ir", "missing", "--list-outputs").stdout, "")
        self.assertEqual(self.files(), self.before)

    def test_the_depfile_names_what_was_read(self) -> None:
        self.assert_exit(self.render("--ir", "x.json", "--cpp", "a b.h", "--depfile", "a.d"), 0)
        outputs, inputs = (self.folder / "a.d").read_text("utf-8").split(": ")
        self.assertEqual(make_words(outputs), ["a b.h"])
        read = make_words(inputs)
        self.assertEqual(read[0], "x.json")
        names = {Path(path).name for path in read}
        self.assertLessEqual({"header.h.jinja", "cpp.py", "render.py"}, names)
        for path in read:
            self.assertTrue((self.folder / path).is_file(), path)

    def test_an_output_that_cannot_be_written_is_exit_code_1_and_nothing_is_written(self) -> None:
        self.write("a.h", "old")
        for target in ("no/such/folder/b.h", "old $5"):
            done = self.render("--ir", "x.json", "--cpp", "a.h", "--names", target)
            self.assert_exit(done, 1)
            self.assertIn(target, done.stderr)
            self.assertEqual((self.folder / "a.h").read_text(), "old")
            self.assertEqual(self.files(), self.before | {"a.h"})

    def test_a_bad_ir_is_exit_code_1_and_leaves_old_outputs(self) -> None:
        self.write("a.h", "old")
        for name, text in (("cut.json", '{"ir": 2,'), ("old.json", '{"ir": 1}'), ("list.json", "[]")):
            self.write(name, text)
            done = self.render("--ir", name, "--cpp", "a.h")
            self.assert_exit(done, 1)
            self.assertIn(name, done.stderr)
        self.assert_exit(self.render("--ir", "missing.json", "--cpp", "a.h"), 1)
        self.assert_exit(self.render("--ir", "x.json", "--embed", "a.h", "--tables", "missing",
                                     "--symbol", "x"), 1)
        self.assertEqual((self.folder / "a.h").read_text(), "old")

    def test_what_a_link_leads_to_is_replaced(self) -> None:
        self.write("real.h", "old")
        (self.folder / "link.h").symlink_to("real.h")
        self.assert_exit(self.render("--ir", "x.json", "--cpp", "link.h"), 0)
        self.assertTrue((self.folder / "link.h").is_symlink())
        self.assertIn("struct CLEAR", (self.folder / "real.h").read_text("utf-8"))

    def test_a_device_stays_one(self) -> None:
        self.assert_exit(self.render("--ir", "x.json", "--cpp", "/dev/null"), 0)
        self.assertTrue(Path("/dev/null").is_char_device())

    def test_a_name_that_a_template_misspells_is_an_error(self) -> None:
        for name in ("render", "templates"):
            shutil.copytree(ROOT / "gen" / name, self.folder / "gen" / name)
        before = self.files()
        for template, option in (("header.h.jinja", "--cpp"), ("pack_c.h.jinja", "--c"),
                                 ("names.h.jinja", "--names"), ("bits_c.h.jinja", "--c-bits")):
            with self.subTest(template):
                path = self.folder / "gen/templates" / template
                good = path.read_text("utf-8")
                path.write_text(good + "{{ ir.tilte }}\n", encoding="utf-8")
                done = self.call(sys.executable, "gen/render/render.py", "--ir", "x.json",
                                 option, "a.h")
                path.write_text(good, encoding="utf-8")
                self.assert_exit(done, 1)
                self.assertIn("tilte", done.stderr)
                self.assertIn(f"{template}:{good.count(chr(10)) + 1}", done.stderr)
                self.assertEqual(self.files(), before)

    def test_wrong_usage_is_exit_code_2(self) -> None:
        self.assert_exit(self.render(), 2)
        self.assert_exit(self.render("--cpp", "a.h"), 2)
        self.assert_exit(self.render("--ir", "x.json", "--no-such-option"), 2)
        self.assert_exit(self.render("--ir", "x.json", "--embed", "a.cc"), 2)
        self.assert_exit(self.render("--ir", "x.json", "--embed-header", "a.h"), 2)


if __name__ == "__main__":
    unittest.main()
