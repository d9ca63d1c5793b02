#!/usr/bin/python3
"""What all programs answer alike: the version, manual pages, completions."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

PROGRAMS = [Path(program).resolve() for program in sys.argv[1:]]
del sys.argv[1:]
DESCRIBED = {"unpack", "pack", "packsmith-bisect", "packsmith-mock"}


def run(*command: str | Path, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, **more)


def commands() -> list[list[str]]:
    """Each program, and each subcommand."""
    every = []
    for program in PROGRAMS:
        every.append([str(program)])
        every += [[str(program), verb] for verb in run(program, "--verbs").stdout.split()]
    return every


class Terminal:
    """A program on a terminal, which is typed at."""

    def __init__(self, command: list[str], **environment: str) -> None:
        try:
            self.parent, child = pty.openpty()
        except OSError as error:
            raise unittest.SkipTest(f"no terminal can be had here: {error}") from error
        self.process = subprocess.Popen(command, stdin=child, stdout=child, stderr=child,
                                        start_new_session=True,
                                        env={"PATH": "/bin:/usr/bin", "TERM": "vt100",
                                             **environment})
        os.close(child)
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self.parent, text.encode())

    def expect(self, pattern: str) -> bool:
        """Waits until what was shown since the last call matches."""
        end = time.monotonic() + 60
        while not re.search(pattern, self.shown):
            ready = select.select([self.parent], [], [], max(0, end - time.monotonic()))[0]
            try:
                piece = os.read(self.parent, 65536) if ready else b""
            except OSError:
                piece = b""
            if not piece:
                return False
            self.shown += piece.decode(errors="replace")
        self.shown = ""
        return True

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.parent)


class VersionTest(unittest.TestCase):
    def test_programs_with_descriptions_have_the_same_digest_each_time(self) -> None:
        digests = set()
        for program in PROGRAMS:
            lines = {run(program, "--version").stdout for _ in range(2)}
            self.assertEqual(len(lines), 1, lines)
            match = re.fullmatch(r"\S+ [0-9.]+(?: \(descriptions ([0-9a-f]{16})\))?\n", lines.pop())
            self.assertIsNotNone(match, program)
            self.assertEqual(match[1] is not None, program.name in DESCRIBED, program)
            if match[1]:
                digests.add(match[1])
        self.assertEqual(len(digests), 1)


class ManualTest(unittest.TestCase):
    def test_every_page_has_the_sections_that_readers_expect(self) -> None:
        for command in commands():
            done = run(*command, "--help-man")
            self.assertEqual(done.returncode, 0, (command, done.stderr))
            sections = re.findall(r"^\.SH (.*)$", done.stdout, re.MULTILINE)
            self.assertEqual(sections[:4], ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"]
                             if len(command) > 1 or "COMMANDS" not in sections else
                             ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS"])
            self.assertIn('"EXIT STATUS"', sections, command)
            name = "\\-".join([Path(command[0]).name.replace("-", "\\-"), *command[1:]])
            self.assertRegex(done.stdout, rf"\n\.SH NAME\n{re.escape(name)} \\- [a-zA-Z]")

    def test_every_option_of_help_is_on_the_page(self) -> None:
        for command in commands():
            page = run(*command, "--help-man").stdout.replace("\\-", "-")
            options = re.findall(r"^  (?:-\w, )?(--[\w-]+)", run(*command, "--help").stdout,
                                 re.MULTILINE)
            self.assertGreater(len(options), 3, command)
            for option in options:
                self.assertRegex(page, rf'(?m)^\.B ".*{option}\b', command)

    def test_man_has_nothing_to_complain_about(self) -> None:
        if shutil.which("man") is None or shutil.which("groff") is None:
            self.skipTest("man-db and groff are not installed")
        for command in commands():
            page = run(*command, "--help-man").stdout
            done = run("man", "--warnings=w", "-E", "UTF-8", "-l", "-Tutf8", "-Z", "-", input=page,
                       env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80", "MANROFFSEQ": ""})
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
            self.assertGreater(len(done.stdout), 1000)


class CompletionTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def script(self, program: Path, shell: str, name: str = "") -> Path:
        done = run(program, f"--completions={shell}")
        self.assertEqual(done.returncode, 0, done.stderr)
        path = self.folder / (name or f"{program.name}.{shell}")
        path.write_text(done.stdout)
        return path

    def program(self, name: str) -> Path:
        return next(program for program in PROGRAMS if program.name == name)

    def test_every_script_is_one_for_its_shell(self) -> None:
        checked = 0
        for shell, check in (("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")):
            if shutil.which(shell) is None:
                print(f"{shell} is not installed: its scripts are not checked")
                continue
            for program in PROGRAMS:
                done = run(shell, check, self.script(program, shell),
                           env={**os.environ, "HOME": str(self.folder)})
                self.assertEqual((done.returncode, done.stderr), (0, ""), (shell, program))
                checked += 1
        self.assertGreaterEqual(checked, len(PROGRAMS))

    def test_an_unknown_shell_is_refused(self) -> None:
        done = run(PROGRAMS[0], "--completions=cmd")
        self.assertEqual(done.returncode, 2)
        self.assertIn("bash, zsh, fish", done.stderr)

    def complete(self, program: str, *words: str) -> list[str]:
        """What bash offers for the last of the words, which it splits at =."""
        script = self.script(self.program(program), "bash")
        function = "_" + program.replace("-", "_")
        line = " ".join(f"'{word}'" for word in words)
        done = run("bash", "--norc", "-c",
                   f"source {script}; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
                   f'{function}; printf "%s\\n" "${{COMPREPLY[@]}}"', cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_options_values_files_and_subcommands(self) -> None:
        (self.folder / "hang.core").touch()
        (self.folder / "kernels").mkdir()
        self.assertEqual(self.complete("unpack", "unpack", "--page"), ["--page-tables"])
        self.assertEqual(self.complete("unpack", "unpack", "--draw-v"), ["--draw-vertices="])
        self.assertEqual(self.complete("unpack", "unpack", "--format", "=", "j"), ["jsonl"])
        self.assertEqual(self.complete("unpack", "unpack", "--color", "="),
                         ["auto", "always", "never"])
        self.assertEqual(self.complete("unpack", "unpack", "--format", "st"), ["stats"])
        self.assertEqual(self.complete("unpack", "unpack", "ha"), ["hang.core"])
        self.assertEqual(self.complete("unpack", "unpack", "--kernels", "=", ""), ["kernels"])
        self.assertEqual(self.complete("unpack", "unpack", "tr"), ["triage"])
        self.assertEqual(self.complete("unpack", "unpack", "diff", "--side"), ["--side-by-side"])
        self.assertEqual(self.complete("unpack", "unpack", "triage", "--format", "=", "m"),
                         ["markdown"])
        self.assertIn("hang.core", self.complete("packsmith-mock", "packsmith-mock", "--", "hang"))

    def test_bash_completes_at_its_prompt(self) -> None:
        script = self.script(self.program("unpack"), "bash")
        terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], PS1="ready> ",
                            HOME=str(self.folder), INPUTRC="/dev/null")
        self.addCleanup(terminal.close)
        terminal.type(f"bind 'set enable-bracketed-paste off'; source {script}; echo so''urced\n")
        self.assertTrue(terminal.expect("sourced\r\n"), terminal.shown)
        terminal.type("unpack --page-t\t")
        self.assertTrue(terminal.expect("--page-tables "), terminal.shown)
        terminal.type("--form\tj\t")
        self.assertTrue(terminal.expect("--format=jsonl "), terminal.shown)

    def test_zsh_completes_options_and_subcommands(self) -> None:
        if shutil.which("zsh") is None:
            self.skipTest("zsh is not installed")
        self.script(self.program("unpack"), "zsh", "_unpack")
        (self.folder / "hang.core").touch()
        terminal = Terminal(["zsh", "-f", "-i"], HOME=str(self.folder), PS1="ready> ")
        self.addCleanup(terminal.close)
        # What zsh draws depends on how fast it is typed at. What it starts does not: a function that
        # prints its words.
        terminal.type(f"cd {self.folder}; fpath=($PWD $fpath); autoload -U compinit; "
                      "compinit -u -D; unpack() { print -r -- 'words'\"<$*>\" }; echo so''urced\n")
        self.assertTrue(terminal.expect("sourced\r\n"), terminal.shown)
        for typed, words in (
                ("--page-t\t", "--page-tables"),
                ("--format=j\t", "--format=jsonl"),
                ("ha\t", "hang.core"),
                ("tri\t", "triage"),
                ("tri\t--to\t3", "triage --top=3"),
                ("triage --format=m\t", "triage --format=markdown"),
                ("diff ha\t--side\t", "diff hang.core --side-by-side"),
                # It is an option of a subcommand, and of no other.
                ("--side\t", "--side")):
            terminal.type(f"unpack {typed}\n")
            self.assertTrue(terminal.expect(f"words<{re.escape(words)}>\r\n"),
                            (typed, terminal.shown))

    def test_fish_completes_options_and_subcommands(self) -> None:
        if shutil.which("fish") is None:
            self.skipTest("fish is not installed")
        script = self.script(self.program("unpack"), "fish")

        def complete(line: str) -> str:
            done = run("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'",
                       cwd=self.folder, env={**os.environ, "HOME": str(self.folder)})
            self.assertEqual(done.stderr, "")
            return done.stdout

        self.assertRegex(complete("unpack --page"), r"(?m)^--page-tables\t")
        self.assertRegex(complete("unpack --format=j"), r"(?m)^--format=jsonl\b")
        self.assertRegex(complete("unpack di"), r"(?m)^diff\t")
        self.assertRegex(complete("unpack diff --side"), r"(?m)^--side-by-side\t")
        self.assertNotIn("--side-by-side", complete("unpack --s"))


if __name__ == "__main__":
    unittest.main()
