#!/usr/bin/python3
"""Writes compile_commands.json: how Bazel compiles each source, for clangd and clang-tidy.

usage: compile_commands.py [TARGET...]   (//...)

Generated headers exist after the targets have been built. Exits with 0, or with 2
if Bazel failed.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import checkout

# Options of gcc that clang does not know.
_GCC_ONLY = ("-fno-canonical-system-headers", "-Wunused-but-set-parameter", "-Wno-free-nonheap-object",
             "-Wno-restrict")


def bazel(*arguments: str) -> str:
    """What Bazel prints; exits if it fails."""
    done = subprocess.run(["./bazelw", *arguments], cwd=checkout.root(), stdout=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(2)
    return done.stdout


def source_of(arguments: list[str]) -> str | None:
    """The file that a command compiles."""
    for option, value in zip(arguments, arguments[1:]):
        if option == "-c":
            return value
    return None


def main() -> int:
    targets = " + ".join(sys.argv[1:]) or "//..."
    execution_root = bazel("info", "--noshow_progress", "execution_root").strip()
    answer = json.loads(bazel("aquery", "--noshow_progress", "--output=jsonproto",
                              "--include_artifacts=false", "--define=sources=apart",
                              f'mnemonic("CppCompile", {targets})'))
    commands: dict[str, dict[str, object]] = {}
    for action in answer.get("actions", []):
        arguments = [argument for argument in action["arguments"] if argument not in _GCC_ONLY]
        source = source_of(arguments)
        # Headers that are compiled by themselves, and tools that are built for the build, come last.
        if source is None or (source in commands and "/host/" in " ".join(arguments)):
            continue
        file = checkout.root() / source
        commands[source] = {
            "directory": execution_root,
            "file": str(file if file.exists() else pathlib.Path(execution_root) / source),
            "arguments": arguments,
        }
    target = checkout.root() / "compile_commands.json"
    draft = target.with_suffix(".json.new")
    draft.write_text(json.dumps(list(commands.values()), indent=1) + "\n", encoding="utf-8")
    os.replace(draft, target)
    print(f"{target}: {len(commands)} sources")
    return 0


if __name__ == "__main__":
    sys.exit(main())
