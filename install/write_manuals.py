#!/usr/bin/python3
"""Writes manual pages and completions of programs, with the paths of an installation.

    write_manuals.py FOLDER --version=V --renderer=render.py PROGRAM...

Each program makes its own, and those of its subcommands: `--help-man`, `--completions`, `--verbs`.
packrender, which is a script around the renderer, has its options in argparse.
"""

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path

PAGES = "share/man/man1"
COMPLETIONS = {
    "bash": "share/bash-completion/completions/{}",
    "zsh": "share/zsh/site-functions/_{}",
    "fish": "share/fish/vendor_completions.d/{}.fish",
}


def output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def escaped(text: str) -> str:
    """Text in which roff interprets nothing."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    text = "".join(c if ord(c) < 128 else f"\\[u{ord(c):04X}]" for c in text)
    return "\\&" + text if text.startswith(".") else text


def renderer_page(path: Path, version: str) -> str:
    """The page of packrender, in the form of those that programs print."""
    spec = importlib.util.spec_from_file_location("render", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    parser: argparse.ArgumentParser = module.make_parser()
    description = (parser.description or "").rstrip(".")
    lines = [
        f'.TH "PACKRENDER" "1" "" "packsmith {escaped(version)}" "packsmith"', ".nh", ".ad l",
        ".SH NAME", f"packrender \\- {escaped(description[:1].lower() + description[1:])}",
        ".SH SYNOPSIS", '.B "packrender [options]"', ".SH DESCRIPTION", escaped(description + "."),
        "Every output is optional. Outputs are written whole or not at all.", ".SH OPTIONS"]
    for action in parser._actions:  # pylint: disable=protected-access
        value = ""
        if action.nargs != 0:
            value = "=" + (action.metavar if isinstance(action.metavar, str) else "FILE")
        names = ", ".join(name + value if name.startswith("--") else name
                          for name in action.option_strings)
        lines += [".TP", f'.B "{escaped(names)}"', escaped(action.help or "")]
    lines += [".SH \"EXIT STATUS\"",
              "0 good; 1 an input is bad or an output cannot be written; 2 wrong usage.",
              ".SH \"SEE ALSO\"", ".BR packgen (1)"]
    return "\n".join(lines) + "\n"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--renderer", type=Path, required=True)
    parser.add_argument("programs", type=Path, nargs="+")
    options = parser.parse_args()
    folder: Path = options.folder
    for program in options.programs:
        command = str(program.resolve())
        write(folder / PAGES / f"{program.name}.1", output(command, "--help-man"))
        for verb in output(command, "--verbs").split():
            write(folder / PAGES / f"{program.name}-{verb}.1", output(command, verb, "--help-man"))
        for shell, path in COMPLETIONS.items():
            write(folder / path.format(program.name), output(command, f"--completions={shell}"))
    sys.dont_write_bytecode = True
    write(folder / PAGES / "packrender.1", renderer_page(options.renderer, options.version))


if __name__ == "__main__":
    main()
