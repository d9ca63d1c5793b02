#!/usr/bin/python3
"""Prints the IR of one generation as C++, C, names and embedded tables.

    render.py --ir gfx9.json --cpp gfx9.h --c gfx9_pack.h --names gfx9_names.h
              --tables gfx9.tables --embed gfx9_tables.cc --symbol gfx9_tables

Every output is optional. Outputs are written whole or not at all, and depend on nothing but the
inputs. --list-outputs prints what would be written, --depfile what was read, in make's syntax.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import jinja2  # noqa: E402

import cpp  # noqa: E402
import text  # noqa: E402

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"


def environment() -> jinja2.Environment:
    """Jinja2 with the filters that the templates use."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    env.filters["doc_comment"] = lambda value, indent: text.paragraph(
        "///", text.comment_safe(value), indent)
    env.filters["cpp_type"] = cpp.type_name
    env.filters["cpp_default"] = cpp.default
    env.filters["condition"] = lambda clauses: cpp.condition(clauses, "ps_p.")
    env.filters["quote"] = text.quote
    env.filters["basename"] = os.path.basename
    return env


def guard(*words: str) -> str:
    """An include guard."""
    return "PACKSMITH_" + re.sub(r"[^A-Za-z0-9]+", "_", "_".join(words)).upper() + "_"


def render_cpp(env: jinja2.Environment, ir: cpp.Ir) -> str:
    """The C++ header."""
    containers = [cpp.prepare(c) for c in ir["containers"]]
    return env.get_template("header.h.jinja").render(
        ir=ir, containers=containers, example=cpp.example(containers),
        guard=guard(ir["generation"], "H"))


def write(path: Path, content: str) -> None:
    """Whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent or Path("."), prefix=path.name + ".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            out.write(content)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--ir", type=Path, required=True)
    parser.add_argument("--cpp", type=Path, help="C++ header to write")
    parser.add_argument("--depfile", type=Path)
    parser.add_argument("--list-outputs", action="store_true")
    options = parser.parse_args(arguments)
    outputs = [path for path in (options.cpp,) if path]
    if options.list_outputs:
        print(*outputs, sep="\n")
        return 0
    env = environment()
    ir: dict[str, Any] = json.loads(options.ir.read_text(encoding="utf-8"))
    if ir.get("ir") != 1:
        print(f"{options.ir}: not an IR of version 1; was it made by another packgen?",
              file=sys.stderr)
        return 1
    try:
        made: list[tuple[Path, str]] = []
        if options.cpp:
            made.append((options.cpp, render_cpp(env, ir)))
    except cpp.Unsupported as problem:
        print(f"{options.ir}: {problem}", file=sys.stderr)
        return 1
    for path, content in made:
        write(path, content)
    if options.depfile:
        read = [options.ir, *sorted(TEMPLATES.glob("*.jinja"))]
        write(options.depfile, " ".join(map(str, outputs)) + ": " + " ".join(map(str, read)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
