#!/usr/bin/python3
"""Prints the IR of one generation as C++, C, names and embedded tables.

    render.py --ir gfx9.json --cpp gfx9.h --c gfx9_pack.h --c-bits gfx9_bits.h
              --names gfx9_names.h --relations gfx9_relations.h --codes gfx9_codes.h
              --c-codes c/gfx9_codes.h --positions gfx9_positions.json
              --spelling gfx9_spelling.cc
              --part video=video,video-enhance
              --cpp-part video=gfx9_video.h --c-part video=c/gfx9_video_pack.h
              --tables gfx9.tables --symbol gfx9_tables
              --embed gfx9_tables.cc --embed-header gfx9_tables.h

Every output is optional. Outputs are written whole or not at all, and depend on nothing but the
inputs. --list-outputs prints what would be written, --depfile what was read, in make's syntax.
Exit codes: 0 good, 1 an input is bad or an output cannot be written, 2 wrong usage.
"""

import argparse
import array
import errno
import itertools
import json
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import jinja2  # noqa: E402

import c  # noqa: E402
import cpp  # noqa: E402
import members  # noqa: E402
import spelling  # noqa: E402
import text  # noqa: E402
from ir import Unsupported, read  # noqa: E402

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"


class Environment(jinja2.Environment):
    """Looks for what follows a point in a dictionary first: nearly all is in one."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


def environment() -> jinja2.Environment:
    """Jinja2 with the filters that the templates use."""
    env = Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    env.filters["doc_comment"] = lambda value, indent: text.paragraph(
        "///", text.comment_safe(value), indent)
    env.filters["c_comment"] = lambda value, indent=0: text.block(
        " *", text.comment_safe(value), indent)
    env.filters["banner"] = lambda value, prefix: text.paragraph(prefix, text.comment_safe(value))
    env.filters["described"] = text.described
    env.filters["cpp_declaration"] = cpp.declaration
    env.filters["condition"] = lambda clauses: cpp.condition(clauses, "ps_p.")
    env.filters["quote"] = text.quote
    env.filters["basename"] = os.path.basename
    return env


def guard(*words: str) -> str:
    """An include guard."""
    return "PACKSMITH_" + re.sub(r"[^A-Za-z0-9]+", "_", "_".join(words)).upper() + "_"


def made(ir: cpp.Ir) -> str:
    """Where a file comes from."""
    files = ", ".join(os.path.basename(path) for path in ir["inputs"])
    return f"Made by packsmith from {files}. Do not edit."


def holds(part: str) -> str:
    """What a header has, for its first line."""
    return f"what the {part} engines have" if part else "packets, descriptors and registers"


def sections(ir: cpp.Ir, containers: list[cpp.Ir]) -> list[cpp.Ir]:
    """The containers in order, those that only engines of one part have by themselves.

    A structure belongs to those that hold it. What several parts have is common to all, and first.
    """
    if not ir.get("parts"):
        return [{"name": "common", "guarded": False, "containers": containers}]
    return [{"name": name, "guarded": True,
             "containers": [one for one in containers if ir["part_of"][one["cpp"]] == name]}
            for name in ["common", *ir["parts"]]]


def render_cpp(env: jinja2.Environment, ir: cpp.Ir, part: str = "") -> str:
    """The C++ header, or that of one part, with what it shares with the others."""
    if "cpp_sections" not in ir:
        ir["cpp_sections"] = [
            dict(section, containers=[cpp.prepare(c) for c in section["containers"]],
                 guard=section["guarded"] and guard(ir["generation"], section["name"], "SECTION"))
            for section in sections(ir, cpp.in_order(ir["containers"]))]
    chosen = [s for s in ir["cpp_sections"] if not part or s["name"] in ("common", part)]
    containers = [c for section in chosen for c in section["containers"]]
    header = "_".join(filter(None, [ir["generation"], part]))
    return text.fold(env.get_template("header.h.jinja").render(
        ir=ir, sections=chosen, containers=containers, made=made(ir), whole=not part,
        example=cpp.example(chosen[-1]["containers"] if part else containers), header=header,
        holds=holds(part), guard=guard(header, "H")))


def render_c(env: jinja2.Environment, ir: cpp.Ir, part: str = "") -> str:
    """The C header, or that of one part, with what it shares with the others."""
    prefix = ir["c_prefix"]

    def prefixed(name: str) -> str:
        return name if name.startswith(prefix + "_") else prefix + ("" if name.startswith("_")
                                                                    else "_") + name

    types = {one["c"] for one in (*ir["enums"], *ir["containers"])}

    def prefixed_value(name: str) -> str:
        name = prefixed(name)
        return name + "_value" if name in types else name

    def c_default(member: cpp.Ir) -> str:
        # C++ takes no integer for an enumeration.
        cast = f"({member['type']})" if member["type"].startswith("enum ") else ""
        return cast + text.literal(member["default"])

    if "c_sections" not in ir:
        ir["c_sections"] = [
            c_section(ir, section) for section in sections(ir, ir["containers"])]
    chosen = [s for s in ir["c_sections"] if not part or s["name"] in ("common", part)]
    containers = [one for section in chosen for one in section["containers"]]
    named = chosen[-1]["containers"] if part else containers
    header = "_".join(filter(None, [ir["generation"], part]))
    return text.fold(env.get_template("pack_c.h.jinja").render(
        ir=ir, sections=chosen, containers=containers, prefixed=prefixed,
        prefixed_value=prefixed_value, c_default=c_default,
        ones=lambda width: hex((1 << width) - 1), made=made(ir), header=header, holds=holds(part),
        example=None if ir["unit"] == "byte" else c.example(named, block=False),
        block_example=c.example(named, block=True) if ir["unit"] == "byte" else None,
        dwords=not all(one["bytes_unit"] for one in containers),
        records=any(one["bytes_unit"] for one in containers),
        guard=guard(header, "PACK_H")))


def c_section(ir: cpp.Ir, section: cpp.Ir) -> cpp.Ir:
    """What the template prints of a section in C."""
    # What assertions call members: one text, of which each type knows its part.
    called = "_".join(["ps", ir["namespace"]] + [section["name"]] * (section["name"] != "common"))
    names = [c.names(one) for one in section["containers"]]
    starts = itertools.accumulate(map(len, names), initial=0)
    return dict(section, called=called, names=text.pieces("".join(names), text.COLUMNS - 7),
                guard=section["guarded"] and guard("C", ir["generation"], section["name"],
                                                   "SECTION"),
                containers=[c.prepare(one, called, start)
                            for one, start in zip(section["containers"], starts)])


def render_bits(env: jinja2.Environment, ir: cpp.Ir) -> str:
    """Positions of fields, for C."""
    return env.get_template("bits_c.h.jinja").render(
        ir=ir, containers=c.positions(ir["containers"]), made=made(ir),
        guard=guard(ir["generation"], "BITS_H"))


def render_names(env: jinja2.Environment, ir: cpp.Ir) -> str:
    """Names, for C++."""
    def distinct(values: list[cpp.Ir]) -> list[cpp.Ir]:
        return list({v["value"]: v for v in reversed(values)}.values())[::-1]

    return text.fold(env.get_template("names.h.jinja").render(
        ir=ir, containers=[cpp.names(one) for one in ir["containers"]], distinct=distinct,
        made=made(ir), guard=guard(ir["generation"], "NAMES_H")))


def render_relations(env: jinja2.Environment, ir: cpp.Ir) -> str:
    """What packets do to each other, for C++."""
    types = {one["name"]: one["cpp"] for one in ir["containers"] if one["kind"] == "packet"}
    containers = [
        dict(one, **{kind: [types[r["packet"]] for r in one["relations"] if r["kind"] == kind]
                     for kind in ("commits", "requires", "invalidates")})
        for one in ir["containers"] if one.get("relations")]
    return text.fold(env.get_template("relations.h.jinja").render(
        ir=ir, containers=containers, made=made(ir), guard=guard(ir["generation"], "RELATIONS_H")))


def render_codes(env: jinja2.Environment, ir: cpp.Ir) -> str:
    """What values of members are called that are plain numbers, for C++."""
    return text.fold(env.get_template("codes.h.jinja").render(
        ir=ir, made=made(ir), guard=guard(ir["generation"], "CODES_H")))


def render_c_codes(env: jinja2.Environment, ir: cpp.Ir) -> str:
    """The same for C."""
    return text.fold(env.get_template("codes_c.h.jinja").render(
        ir=ir, made=made(ir), guard=guard("C", ir["generation"], "CODES_H")))


def render_positions(_: jinja2.Environment, ir: cpp.Ir) -> str:
    """What family.py wants to know of a generation."""
    return json.dumps(c.outline(ir), separators=(",", ":")) + "\n"


def lines_of(content: bytes) -> list[str]:
    """Lines of 64-bit words."""
    words = [f"0x{word:x}," for word in array.array("Q", content + bytes(-len(content) % 8))]
    return [" ".join(words[at:at + 5]) for at in range(0, len(words), 5)]


def render_embedded(env: jinja2.Environment, symbol: str, tables: bytes) -> str:
    """The tables as a C++ source file."""
    return env.get_template("embed.cc.jinja").render(symbol=symbol, lines=lines_of(tables),
                                                     size=len(tables))


def render_spelling(env: jinja2.Environment, ir: cpp.Ir) -> str:
    """The names of C++ and C as a C++ source file, for programs that write sources."""
    content = spelling.compressed(ir)
    return env.get_template("spelling.cc.jinja").render(
        symbol=ir["generation"] + "_spelling", lines=lines_of(content), size=len(content))


def render_embedded_header(env: jinja2.Environment, symbol: str) -> str:
    """Declares what render_embedded defines."""
    return env.get_template("embed.h.jinja").render(symbol=symbol, guard=guard(symbol, "H"))


def part_outputs(options: argparse.Namespace) -> list[tuple[Path, Callable[..., str]]]:
    """The headers of parts, with what prints them."""
    def printer(render: Callable[..., str], part: str) -> Callable[..., str]:
        return lambda env, ir: render(env, ir, part)

    return [(Path(path), printer(render, part))
            for given, render in ((options.cpp_part, render_cpp), (options.c_part, render_c))
            for part, path in (one.split("=", 1) for one in given)]


def escaped(path: Path) -> str:
    """A path as make reads it."""
    return str(path).replace(" ", "\\ ").replace("#", "\\#").replace("$", "$$")


def write(contents: list[tuple[Path, str]]) -> None:
    """Files that appear whole, and all of them or (unless a rename fails) none.

    Devices and pipes are written directly.
    """
    umask = os.umask(0)
    os.umask(umask)
    renames: list[tuple[str, Path]] = []
    direct: list[tuple[Path, str]] = []
    try:
        for path, content in contents:
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            if path.exists() and not path.is_file():
                direct.append((path, content))
                continue
            path = Path(os.path.realpath(path))  # replace the target of a link, not the link
            try:
                handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".")
            except OSError as error:  # would name the temporary file
                raise OSError(error.errno, error.strerror, str(path)) from error
            renames.append((name, path))
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
                out.write(content)
            os.chmod(name, 0o666 & ~umask)
        for path, content in direct:
            path.write_text(content, encoding="utf-8")
        while renames:
            os.replace(*renames[0])
            renames.pop(0)
    finally:
        for name, _ in renames:
            os.unlink(name)


def place(error: BaseException) -> str:
    """The innermost line of a template that an error comes from."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if frame.filename.endswith(".jinja")]
    if isinstance(error, jinja2.TemplateSyntaxError):
        return f"{error.filename}:{error.lineno}"
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else str(TEMPLATES)


def failed(message: str) -> int:
    """Says what is wrong. Nothing was written."""
    print(f"render.py: {message}", file=sys.stderr)
    return 1


def make_parser() -> argparse.ArgumentParser:
    """The options, of which the manual page is made, too."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--ir", type=Path, help="what packgen wrote; embedding tables needs none")
    parser.add_argument("--cpp", type=Path, help="C++ header to write")
    parser.add_argument("--c", type=Path, help="C header to write")
    parser.add_argument("--part", action="append", default=[], metavar="NAME=ENGINE,…",
                        help="engines whose packets can be had alone; may be repeated")
    parser.add_argument("--cpp-part", action="append", default=[], metavar="NAME=PATH",
                        help="C++ header of a part to write; may be repeated")
    parser.add_argument("--c-part", action="append", default=[], metavar="NAME=PATH",
                        help="the same for C")
    parser.add_argument("--c-bits", type=Path, help="C header with the positions of fields to write")
    parser.add_argument("--names", type=Path, help="C++ header with names to write")
    parser.add_argument("--relations", type=Path,
                        help="C++ header with the relations of packets to write")
    parser.add_argument("--codes", type=Path,
                        help="C++ header with the values of plain numbers to write")
    parser.add_argument("--c-codes", type=Path, help="the same for C")
    parser.add_argument("--positions", type=Path, help="positions to write, for family.py")
    parser.add_argument("--spelling", type=Path,
                        help="C++ source to write that holds the names of C++ and C")
    parser.add_argument("--tables", type=Path, help="decode tables to embed")
    parser.add_argument("--embed", type=Path, help="C++ source that holds the tables, to write")
    parser.add_argument("--embed-header", type=Path, help="header that declares them, to write")
    parser.add_argument("--symbol", help="name of the embedded tables")
    parser.add_argument("--depfile", type=Path, help="what was read, as a rule of make, to write")
    parser.add_argument("--list-outputs", action="store_true",
                        help="print what would be written, and exit")
    return parser


def main(arguments: list[str]) -> int:
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.embed and not (options.tables and options.symbol):
        parser.error("--embed needs --tables and --symbol")
    if options.embed_header and not options.symbol:
        parser.error("--embed-header needs --symbol")
    printers: list[tuple[Path | None, Callable[[jinja2.Environment, cpp.Ir], str]]] = [
        (options.cpp, render_cpp),
        (options.c, render_c),
        (options.c_bits, render_bits),
        (options.names, render_names),
        (options.relations, render_relations),
        (options.codes, render_codes),
        (options.c_codes, render_c_codes),
        (options.positions, render_positions),
        (options.spelling, render_spelling),
        (options.embed, lambda env, _: render_embedded(env, options.symbol,
                                                       options.tables.read_bytes())),
        (options.embed_header, lambda env, _: render_embedded_header(env, options.symbol)),
    ]
    parts = dict(one.split("=", 1) for one in options.part if "=" in one)
    for one in options.part:
        if not re.fullmatch(r"[a-z][a-z0-9]*=[^,=]+(,[^,=]+)*", one) or one.startswith("common="):
            parser.error(f"--part={one}: a name in lower case, =, and engines separated by commas")
    for one in [*options.cpp_part, *options.c_part]:
        if one.split("=")[0] not in parts or "=" not in one:
            parser.error(f"{one}: no --part has this name")
    printers += part_outputs(options)
    outputs = [path for path, _ in printers if path]
    for path in [*outputs, *filter(None, [options.depfile])]:
        for source in filter(None, [options.ir, options.tables]):
            if path.exists() and source.exists() and path.is_file() and path.samefile(source):
                parser.error(f"{path} is the same file as the input {source}, which would be "
                             "overwritten; write to another file")
    embeds_only = outputs and all(path in (options.embed, options.embed_header) for path in outputs)
    if not options.ir and not embeds_only:
        parser.error("--ir is missing")
    if options.list_outputs:
        for path in [*outputs, *filter(None, [options.depfile])]:
            print(path)
        return 0
    try:
        ir = read(options.ir) if options.ir else {}
        if ir:
            members.divide(ir, {name: one.split(",") for name, one in parts.items()})
            members.add_views(ir)
        env = environment()
        contents = [(path, render(env, ir)) for path, render in printers if path]
        if options.depfile:
            inputs = [*filter(None, [options.ir, options.tables]), *sorted(TEMPLATES.glob("*.jinja")),
                    *sorted(Path(__file__).resolve().parent.glob("*.py"))]
            rule = f"{' '.join(map(escaped, outputs))}: {' '.join(map(escaped, inputs))}\n"
            contents.append((options.depfile, rule))
        write(contents)
    except OSError as error:
        return failed(f"{error.filename}: {error.strerror}")
    except Unsupported as problem:
        return failed(f"{options.ir}: {problem}")
    except jinja2.TemplateError as error:
        return failed(f"{place(error)}: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
