#!/usr/bin/python3
"""Writes the tables by which tests reach the members of generated types.

    bind.py --cpp DESCRIPTION.json… OUT…
    bind.py --c DESCRIPTION.json OUT

With several outputs the C++ types are shared out among them, for compilers that run side by side.
C++ types are those of the first description. Their code is made from the description alone, so a
type that one of the other descriptions has in just the same way is left to that one's test.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, "gen/render")

from ir import Ir, read  # noqa: E402
from members import add_views  # noqa: E402


def quote(text: str) -> str:
    """A string literal."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def expand(leaves: list[Ir], loops: list[Ir], base: int = 0,
           indices: dict[str, int] | None = None) -> Iterator[Ir]:
    """Each leaf once, with loops written out."""
    indices = indices or {}

    def numbered(text: str) -> str:
        return re.sub(r"\[(i\d+)\]", lambda m: f"[{indices[m[1]]}]", text)

    for leaf in leaves:
        yield dict(leaf, name=numbered(leaf["name"]), path=numbered(leaf["path"]),
                   bit=base + leaf["bit"])
    for loop in loops:
        for i in range(loop["count"]):
            yield from expand(loop["leaves"], loop["loops"],
                              base + loop["bit"] + i * loop["stride"],
                              {**indices, loop["index"]: i})


# -- C++ -------------------------------------------------------------------------------------------

# What C++ code does not depend on: the C names have the generation's prefix.
_NOT_IN_CPP = {"aliases", "c", "doc", "file", "in_c", "line", "relations", "source"}


def fingerprints(ir: Ir) -> dict[str, str]:
    """For each container, by its name in C++, what its code is made from.

    That is its own part of the IR and, since it may nest them, that of all that it names.
    """
    named: dict[str, Ir] = {}
    for one in (*ir["enums"], *ir["containers"]):
        named[one["name"]] = named[one["cpp"]] = one

    def visit(value: Ir | list | str | int | None, found: dict[str, Ir]) -> Ir | list | str | int:
        if isinstance(value, dict):
            return {key: visit(v, found) for key, v in value.items() if key not in _NOT_IN_CPP}
        if isinstance(value, list):
            return [visit(v, found) for v in value]
        if isinstance(value, str) and value in named and named[value]["cpp"] not in found:
            one = named[value]
            found[one["cpp"]] = {}
            found[one["cpp"]] = visit(one, found)
        return value

    whole = [ir["family"], ir["unit"], ir["address_bits"], ir["usual_item"]]
    result: dict[str, str] = {}
    for container in ir["containers"]:
        found: dict[str, Ir] = {}
        own = visit(container, found)
        result[container["cpp"]] = json.dumps([whole, own, found], sort_keys=True)
    return result


def cpp_members(container: Ir, type_name: str, part: Ir | None = None) -> list[str]:
    """Rows for the members of a container, or of the part of a packet."""
    prefix = part["id"] + "." if part else ""
    return [f"BINDING_MEMBER({quote(part['name'] if part else '')}, {quote(leaf['name'])}, "
            f"{type_name}, {prefix}{leaf['path']}, {leaf['bit']}, {leaf['width']}),"
            for leaf in expand(container["leaves"], container["loops"])]


def cpp(ir: Ir, elsewhere: set[str], shard: int, shards: int) -> str:
    """The bindings of every shards-th type that is not tested elsewhere."""
    space = f"packsmith::{ir['namespace']}"
    by_name = {c["cpp"]: c for c in ir["containers"]}
    out = ["// Made by bind.py.", f'#include "packsmith/{ir["generation"]}.h"',
           f'#include "packsmith/{ir["generation"]}_names.h"',
           '#include "tests/vectors/binding_cpp.h"', "", "namespace packsmith::vectors {",
           "namespace {"]
    types: list[str] = []
    here = [c for c in ir["containers"] if c["cpp"] not in elsewhere]
    for number, container in enumerate(here):
        if number % shards != shard:
            continue
        this = f"T{number}"
        word = "uint8_t" if container["unit"] == "byte" else "uint32_t"
        out.append(f"using {this} = {space}::{container['cpp']};")
        rows = cpp_members(container, this)
        lists: list[tuple[str, str, str, Ir, str]] = []  # part, type, alias, container, reader
        for part in container["parts"]:
            if part["repeat"] is None:
                rows += cpp_members(by_name[part["struct"]], this, part)
            else:
                lists.append((part["name"], f"{space}::{part['struct']}", f"{this}_{len(lists)}",
                              by_name[part["struct"]], part["id"]))
        tail = container["tail"]
        if tail is not None:
            item = f"{space}::{tail['struct']}" if tail["struct"] else f"{this}::item"
            lists.append(("", item, f"{this}_{len(lists)}",
                          tail["item"] or by_name[tail["struct"]], "items"))
        out += [f"const Member members{number}[] = {{", *rows, "};"] if rows else []
        texts = []
        for part_name, item, alias, what, reader in lists:
            out.append(f"using {alias} = {item};")
            out += [f"const Member members_of_{alias}[] = {{", *cpp_members(what, alias), "};"]
            texts.append(
                f"{{{quote(part_name)}, sizeof({alias}), members_of_{alias}, "
                f"sizeof(members_of_{alias}) / sizeof(Member), &Functions<{alias}>::Construct,\n"
                f"[](const void* from, unsigned words, void* to, unsigned room) {{ return "
                f"CopyItems({this}::{reader}(static_cast<const {word}*>(from), words), "
                f"static_cast<{alias}*>(to), room); }}}}")
        arguments = ", ".join([this, *(alias for _, _, alias, _, _ in lists)])
        members = f"{{std::begin(members{number}), std::end(members{number})}}" if rows else "{}"
        types.append(f"TypeOf<{arguments}>({quote(container['name'])}, {members}, "
                     f"{{{', '.join(texts)}}}),")
    out += ["}  // namespace", "", f"std::vector<Type> Shard{shard}() {{", "return {", *types, "};",
            "}"]
    if shard == 0:
        out += [f"std::vector<Type> Shard{i}();" for i in range(1, shards)]
        out += ["const std::vector<Type>& BoundTypes() {",
                "static const auto& types = *[] {", "auto* all = new std::vector<Type>;"]
        out += [f"for (const Type& type : Shard{i}()) all->push_back(type);"
                for i in range(shards)]
        out += ["return all;", "}();", "return types;", "}"]
        skipped = [c for c in ir["containers"] if c["cpp"] in elsewhere]
        out += [f"static_assert(sizeof(WordOf<{space}::{c['cpp']}>) * "
                f"bits::unit<{space}::{c['cpp']}>::size == {c['bytes']});" for c in skipped]
        out += ["const std::vector<std::string>& TypesTestedElsewhere() {",
                "static const auto& names = *new std::vector<std::string>{",
                *(quote(c["name"]) + "," for c in skipped), "};", "return names;", "}"]
    return "\n".join([*out, "}  // namespace packsmith::vectors", ""])


# -- C ---------------------------------------------------------------------------------------------

_C_HEAD = """\
/* Made by bind.py. */
#include "packsmith/c/{generation}_pack.h"

#include "packsmith/c/{generation}_bits.h"
#include "tests/vectors/binding.h"

#define KIND(x) _Generic((x), bool: BINDING_BOOL, uint32_t: BINDING_U32, uint64_t: BINDING_U64, \\
  int32_t: BINDING_I32, int64_t: BINDING_I64, float: BINDING_FLOAT, double: BINDING_DOUBLE)
#define MEMBER(name, T, path, bit, width) \\
  {{"", name, #path, bit, width, offsetof(struct T, path), KIND(((struct T *)0)->path)}},
"""


def macro(name: str) -> list[str]:
    """A macro's value, or -1 if it is not defined."""
    return [f"#ifdef {name}", f"  {name},", "#else", "  -1,", "#endif"]


def c(ir: Ir) -> str:
    """The bindings of all C types, positions and values."""
    out = [_C_HEAD.format(generation=ir["generation"])]
    types: list[str] = []
    positions: list[str] = []
    values: list[str] = []

    types_of_c = {one["c"] for one in (*ir["enums"], *ir["containers"])}

    def value(plain: str, number: int, is_macro: bool) -> None:
        prefixed = ir["c_prefix"] + ("" if plain.startswith("_") else "_") + plain
        if prefixed in types_of_c:
            prefixed += "_value"
        # Names of descriptions that count bytes have the prefix already.
        for name in (plain,) if ir["unit"] == "byte" else (plain, prefixed):
            row = f"  {{{quote(name)}, {name}, {number}}},"
            values.extend([f"#ifdef {name}", row, "#endif"] if is_macro and name == plain
                          else [row])

    for enum in ir["enums"]:
        for v in enum["values"]:
            value(v["c"], v["value"], False)
    for number, container in enumerate(ir["containers"]):
        name, is_bytes = container["c"], container["unit"] == "byte"
        opcodes = {(f["bit"], f["width"]) for f in container["forced"]}
        bits = 8 * max(container["bytes"], 4 * (container["c_length"] or 0))
        # What lies beyond is packed where a length field can count it.
        counted = container["length"] is not None and not is_bytes
        rows = [leaf for leaf in expand(container["c_leaves"], container["c_loops"])
                if (counted or leaf["bit"] < bits)
                and not (is_bytes and (leaf["bit"], leaf["width"]) in opcodes)]
        if rows:
            out.append(f"static const struct binding_member members{number}[] = {{")
            out += [f"  MEMBER({quote(r['name'])}, {name}, {r['path']}, {r['bit']}, {r['width']})"
                    for r in rows]
            out.append("};")
        out.append(f"#ifdef {name}_header\n"
                   f"static const struct {name} header{number} = {{ {name}_header }};\n#endif")
        data = "" if is_bytes else "0, "
        out.append(f"static void pack{number}(void* dst, const void* values) {{ "
                   f"{name}_pack({data}dst, values); }}")
        if is_bytes:
            out.append(f"static int unpack{number}(const uint8_t* bytes, void* values) {{ "
                       f"return {name}_unpack(0, bytes, values); }}")
        types += [f"  {{{quote(container['name'])}, sizeof(struct {name}),",
                  *macro(f"{name}_LENGTH" if is_bytes else f"{name}_length"),
                  *macro(f"{name}_length_bias"), *macro(f"{name}_num"),
                  f"#ifdef {name}_header", f"  &header{number},", "#else", "  0,", "#endif",
                  f"  {f'members{number}' if rows else 0}, {len(rows)}, pack{number}, "
                  f"{f'unpack{number}' if is_bytes else 0}}},"]
        for p in container["positions"]:
            positions.append(f"  {{{quote(container['name'])}, {quote(p['name'])}, "
                             f"{p['c']}_start, {p['c']}_bits}},")
        for v in container["c_values"]:
            value(v["c"], v["value"], ir["unit"] == "byte")
    out += ["static const struct binding_c_type types[] = {", *types, "};",
            "static const struct binding_c_position positions[] = {", *positions, "};",
            "static const struct binding_c_value values[] = {", *values, "};",
            "const struct binding_c bound_c = {types, sizeof(types) / sizeof(types[0]), positions,",
            "  sizeof(positions) / sizeof(positions[0]), values, "
            "sizeof(values) / sizeof(values[0])};", ""]
    return "\n".join(out)


def main(arguments: list[str]) -> None:
    """Writes the tables; the module's docstring describes the arguments."""
    language, *paths = arguments
    outputs = [path for path in paths if path.endswith((".cc", ".c"))]
    ir, *others = (read(Path(path)) for path in paths if path.endswith(".json"))
    same = {one for other in others for one in fingerprints(other).items()}
    elsewhere = {name for name, made_from in fingerprints(ir).items() if (name, made_from) in same}
    add_views(ir)
    for shard, output in enumerate(outputs):
        text = cpp(ir, elsewhere, shard, len(outputs)) if language == "--cpp" else c(ir)
        Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
