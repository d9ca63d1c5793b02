"""C expressions for what the IR says, in the interface that genxml's users know."""

import re

import text
from body import Body, Term, exemplary, pieces, shifted
from ir import Ir, Unsupported
from text import COLUMNS, join, quote

# Values that one call of ps_G_1, ps_G_2 … packs: see PS_PACKERS in pack.h.
MOST = 10

_CODE = ("minus", "shift", "log2", "groups", "align")


def _encoding(leaf: Ir) -> dict[str, int]:
    if not (leaf["minus"] or leaf["shift"] or leaf["log2"] or leaf["groups"] or leaf["align"]):
        return {}
    parts = {key: int(leaf[key]) for key in _CODE if leaf[key]}
    if leaf["type"] in ("address", "offset") and parts.keys() <= {"shift"}:
        return {}
    return parts


def _at(leaf: Ir) -> str:
    """A field's place as pack.h's functions for one value take it: the last two digits are its
    width."""
    return f"0x{leaf['bit'] << 8 | leaf['width']:x}"


def checks_itself(leaf: Ir, byte_unit: bool) -> bool:
    """Whether the term that packs a leaf also asserts that its value fits."""
    if byte_unit or _encoding(leaf) or not leaf["places"]:
        return False
    if leaf["type"] == "offset":
        return leaf["bit"] % 32 == leaf["shift"]
    if len(leaf["places"]) != 1:
        return False
    if leaf["places"][0]["width"] != leaf["width"]:
        return False
    if leaf["type"] in ("ufixed", "sfixed"):
        return leaf["width"] <= 32 and not leaf["clamp"]
    return (leaf["type"] in ("uint", "enum", "int") and leaf["width"] < 32
            and leaf["value_type"] not in ("uint64_t", "int64_t"))


class _Face:
    """Body's questions, answered for C."""

    destination = "dw"
    bytes_to = "to"
    array = "ps_w"
    put = "ps_put"
    store = "ps_store"

    def __init__(self, byte_unit: bool, called: str = "", where: int = 0,
                 opcode: tuple[int, int] | None = None) -> None:
        self.byte_unit = byte_unit
        self.opcode = opcode
        self.called = called  # how the functions begin that check
        self.where = where  # in the names that assertions use
        self.addresses: dict[int, list[str]] = {}  # members that begin in a word

    def raw(self, leaf: Ir, path: str) -> str:
        """All bits of a leaf, as an unsigned expression."""
        value = "v->" + path
        kind, width = leaf["type"], leaf["width"]
        code = _encoding(leaf)
        if kind == "enum" or (code and kind == "bool"):
            value = f"(uint32_t){value}"
        if code:
            if "align" in code:
                value = f"ps_align({value}, {code['align']})"
            if "minus" in code:
                value = f"({value} - {code['minus']})"
            if "shift" in code:
                value = f"({value} >> {code['shift']})"
            if "log2" in code:
                value = f"ps_log2({value})"
            elif "groups" in code:
                value = f"ps_groups({value}, {code['groups']}, {width})"
            return value
        if kind in ("uint", "bool", "enum"):
            return value
        if kind == "int":
            if checks_itself(leaf, self.byte_unit):
                return f"{self.called}_sint({self.where}, {value}, {_at(leaf)})"
            wide = "_wide" if width > 32 else ""
            return f"ps_twos{wide}({value}, {width})"
        if kind == "float":
            return f"ps_float({value})"
        if kind == "half":
            return f"ps_half({value})"
        if kind == "ufixed":
            if checks_itself(leaf, self.byte_unit):
                return (f"{self.called}_ufixed({self.where}, {value}, {_at(leaf)}, "
                        f"{leaf['frac']})")
            if leaf["clamp"]:
                value = f"ps_clamp({value}, {text.literal(leaf['max'])}f)"
            return f"ps_ufixed({value}, {leaf['frac']})"
        if kind == "sfixed":
            if checks_itself(leaf, self.byte_unit):
                return (f"{self.called}_sfixed({self.where}, {value}, {_at(leaf)}, "
                        f"{leaf['frac']})")
            return f"ps_sfixed({value}, {leaf['frac']}, {width})"
        if kind in ("offset", "address"):
            return f"({value} >> {leaf['shift']})" if leaf["shift"] else value
        raise Unsupported(f"{leaf['name']}: type {kind}")

    def term(self, leaf: Ir, path: str, place: Ir, bit: int) -> Term | None:
        """What a leaf adds to one word."""
        kind, shift = leaf["type"], leaf["shift"]
        low, lsb, width = place["from"], place["lsb"], place["width"]
        fills = lsb + width == 32
        if kind == "address" and not self.byte_unit and bit % 32 == shift:
            return self._address_term(path, place, bit)
        if kind == "offset" and not _encoding(leaf) and bit % 32 == shift:
            value = "v->" + path
            if low == 0 and checks_itself(leaf, self.byte_unit):
                return Term(f"{self.called}_offset({self.where}, {value}, {_at(leaf)}, {shift})")
            if low == 0:
                return Term(f"(uint32_t){value}")
            return Term(f"(uint32_t)({value} >> {low + shift})")
        wide = leaf["value_type"] in ("uint64_t", "int64_t", "__gen_address_type")
        if low >= (64 if wide else 32):
            return None  # the member has no such bits
        if kind == "int" and fills and low == 0 and width == leaf["width"] and not wide:
            return Term(shifted(f"(uint32_t)v->{path}", lsb))
        if kind == "bool" and not self.byte_unit and not _encoding(leaf) and width == leaf["width"]:
            # A flag always fits, but a value of a call is less to compile than a shift and an or.
            term = Term(shifted(f"(uint32_t)v->{path}", lsb))
            term.plain = ("v->" + path, leaf["bit"] // 32, width << 5 | lsb)
            return term
        if kind == "bool" and lsb == 31:
            return Term(f"(uint32_t)v->{path} << 31")
        text = self.raw(leaf, path)
        if kind in ("uint", "enum") and checks_itself(leaf, self.byte_unit):
            term = Term(shifted(text, lsb))
            flag = (0x800 if leaf["nonzero"] else
                    0x400 if (leaf["bit"], leaf["width"]) == self.opcode else 0)
            term.plain = ("v->" + path, leaf["bit"] // 32, flag | width << 5 | lsb)
            return term
        if low:
            text = f"({text} >> {low})"
        if wide or "align" in _encoding(leaf):
            text = f"(uint32_t){text}"
        return Term(shifted(text, lsb))

    def gather(self, terms: list[Term]) -> list[Term]:
        """Unsigned values are packed and checked some at a time: less for the compiler to read."""
        plain = [term.plain for term in terms if term.plain is not None]
        out: list[Term] = []
        for first in range(0, len(plain), MOST):
            some = plain[first:first + MOST]
            arguments = ", ".join(value for value, _, _ in some)
            places = [f"{place:03x}" for _, _, place in some]
            at = ", ".join("0x" + "".join(places[i:i + 5]) for i in range(0, len(places), 5))
            where = f"0x{some[0][1]:x}{self.where:05x}" if some[0][1] else str(self.where)
            out.append(Term(f"{self.called}_{len(some)}({where}, {arguments}, {at})"))
        return out + [term for term in terms if term.plain is None]

    def _address_term(self, path: str, place: Ir, bit: int) -> Term:
        views = self.addresses.setdefault(bit // 32, [])
        if path not in views:
            views.append(path)
        name = f"address{bit // 32}" + "_view" * views.index(path)
        if place["from"] == 0:
            term = Term(f"(uint32_t){name}")
            term.address = path
            return term
        above = place["from"] + bit % 32
        text = f"(uint32_t)({name} >> {above})"
        if place["lsb"] + place["width"] < 32:
            text += f" & 0x{(1 << place['width']) - 1:x}"
        return Term(f"({text})" if " & " in text else text)

    def combine(self, word: str, special: list[Term], others: list[str],
                indent: int) -> list[str]:
        """The addresses, with what else their dword holds, as the driver's hook makes them."""
        if len(special) == 1:
            return self._combine(word, special[0], "", others, indent)
        # Views of the same dword: one is set. Which, the addresses tell: the others make no call.
        lines: list[str] = []
        if others:
            name = "others" + special[0].removeprefix("(uint32_t)address")
            lines.append(join(f"const uint32_t {name} = ", others, " | ", ";", indent))
            others = [name]
        first, *rest = (f"v->{term.address}" for term in special)
        set_elsewhere = " && ".join(f"ps_is_null({path})" for path in rest)
        set_elsewhere = f"!({set_elsewhere})" if len(rest) > 1 else f"!{set_elsewhere}"
        conditions = [f"ps_is_null({first}) && {set_elsewhere}",
                      *(f"ps_is_null({path})" for path in rest)]
        for term, condition in zip(special, conditions):
            lines += self._combine(word, term, f" {condition} ? 0 :", others, indent)
        return lines

    @staticmethod
    def _combine(word: str, term: Term, condition: str, terms: list[str],
                 indent: int) -> list[str]:
        pad = " " * indent
        name = term.removeprefix("(uint32_t)")
        head = f"{pad}const uint64_t {name} ={condition}"
        arguments = [f"&dw[{word}]", f"v->{term.address}"]
        others = " | ".join(terms) or "0"
        line = f"{head} ps_combine({', '.join([*arguments, others])});"
        if len(line) <= COLUMNS:
            return [line]
        lines = [head]
        text = f"{pad}    ps_combine({', '.join(arguments)},"
        pieces = others.split(" | ")
        for position, piece in enumerate(pieces):
            piece += ");" if position + 1 == len(pieces) else " |"
            if len(text) + 1 + len(piece) > COLUMNS:
                lines.append(text)
                text = pad + " " * 14 + " "
            text += ("" if text.endswith(" ") else " ") + piece
        return [*lines, text]


def _checks(owner: str, leaf: Ir, path: str, byte_unit: bool) -> list[str]:
    """What debug builds assert of a leaf beyond what its term does. owner: the type, as C has it."""
    value, name = "v->" + path, quote(f"{owner}.{path}")
    kind, width = leaf["type"], leaf["width"]
    code = _encoding(leaf)
    out: list[str] = []

    def expect(condition: str) -> None:
        text = condition.replace("v->", owner + ".")
        out.append(f"ps_expect({condition}, {quote(text)})")

    if code:
        if code.get("minus"):
            expect(f"{value} >= {code['minus']}")
        if code.get("shift"):
            minus = f" - {code['minus']}" if code.get("minus") else ""
            expect(f"(({value}{minus}) & {(1 << code['shift']) - 1}) == 0")
        if "log2" in code:
            expect(f"ps_is_power_of_two({value})")
        elif "groups" in code:
            expect(f"{value} <= {code['groups'] << width}u")
        elif width < 64:
            out.append(f"ps_fits({_Face(byte_unit).raw(leaf, path)}, {width}, {name})")
    elif checks_itself(leaf, byte_unit):
        pass
    elif kind in ("uint", "enum"):
        # A 64-bit member with few bits: the rest of its field is after what pack writes.
        cut = kind == "uint" and leaf["value_type"] == "uint64_t" and width <= 33
        if width < (64 if leaf["value_type"] == "uint64_t" else 32) and not cut:
            out.append(f"ps_fits({value}, {width}, {name})")
    elif kind == "int":
        if width < (64 if leaf["value_type"] == "int64_t" else 32):
            out.append(f"ps_fits_signed({value}, {width}, {name})")
    elif kind == "ufixed" and not leaf["clamp"]:
        out.append(f"ps_fits_fixed({value}, {leaf['frac']}, 0, {(1 << width) - 1}.0, {name})")
    elif kind == "sfixed":
        half = 1 << (width - 1)
        out.append(f"ps_fits_fixed({value}, {leaf['frac']}, -{half}.0, {half - 1}.0, {name})")
    elif kind == "offset" or (kind == "address" and byte_unit):
        out.append(f"ps_fits_offset({value}, {leaf['shift']}, {width}, {name})")
    elif kind not in ("bool", "float", "half", "ufixed", "address"):
        raise Unsupported(f"{leaf['name']}: type {kind}")
    if leaf["nonzero"] and kind != "address" and not (
            kind in ("uint", "enum") and checks_itself(leaf, byte_unit)):
        expect(f"{value} != 0")
    for avoided in leaf.get("avoid", ()):
        expect(f"{value} != {avoided}")
    return out


def _checks_of(owner: str, leaves: list[Ir], loops: list[Ir], byte_unit: bool,
               indent: int) -> list[str]:
    pad = " " * indent
    lines = [f"{pad}{check};" for leaf in leaves
             for check in _checks(owner, leaf, leaf["path"], byte_unit)]
    for loop in loops:
        inside = _checks_of(owner, loop["leaves"], loop["loops"], byte_unit, indent + 2)
        if inside:
            index = loop["index"]
            head = f"for (unsigned {index} = 0; {index} < {loop['count']}; ++{index}) {{"
            lines += [pad + head, *inside, pad + "}"]
    return lines


def _checks_beyond(owner: str, leaves: list[Ir], loops: list[Ir], bits: int) -> list[str]:
    """The same of what lies beyond the first bits, and is packed if the length counts it."""
    lines: list[str] = []
    for leaf in leaves:
        if leaf["bit"] >= bits:
            last = (leaf["bit"] + leaf["width"] - 1) // 32
            lines += [f"  if (ps_n > {last}) {check};"
                      for check in _checks(owner, leaf, leaf["path"], False)]
    for loop in loops:
        if loop["bit"] >= bits:
            inside = _checks_of(owner, [], [loop], False, 4)
            if inside:
                lines += [f"  if (ps_n > {loop['bit'] // 32}) {{", *inside, "  }"]
    return lines


def _items_check(container: Ir) -> list[str]:
    """Asserts that the length field counts no more items than a tail may have."""
    tail, length = container["tail"], container["length"]
    if tail is None or tail["max"] is None or length is None or container["unit"] == "byte":
        return []
    most = (tail["start_bit"] // 32 + tail["max"] * tail["item_bytes"] // 4) - length["bias"]
    text = f"{container['c']}.{length['c']} <= {most}"
    return [f"  ps_expect(v->{length['c']} <= {most}, {quote(text)});"]


def _opcode(container: Ir) -> tuple[int, int] | None:
    """Where the field is that tells whether T_header was forgotten: the last one of the opcode
    that is not zero."""
    if container["kind"] != "packet" or container["unit"] == "byte":
        return None
    initialised = {m["name"] for m in container["c_members"] if m["default"] is not None}
    places = [(f["bit"], f["width"]) for f in container["forced"]
              if int(f["value"], 16) and f["bit"] < 32 and f["name"] in initialised]
    return max(places, default=None)


def names(container: Ir) -> str:
    """What assertions call the members that check themselves: the type's name, then each member's
    place, as pack.h's functions take it, and name."""
    if container["unit"] == "byte":
        return ""
    out = [container["c"]]

    def collect(leaves: list[Ir], loops: list[Ir]) -> None:
        for leaf in leaves:
            if checks_itself(leaf, False):
                out.append(f"{leaf['bit'] << 8 | leaf['width'] & 63:x} {leaf['path']}")
        for loop in loops:
            collect(loop["leaves"], loop["loops"])

    collect(container["c_leaves"], container["c_loops"])
    return " ".join(out) + ";"


def _end(leaves: list[Ir], loops: list[Ir]) -> int:
    """The bytes up to where members reach, in whole dwords."""
    bits = max([0, *(leaf["bit"] + leaf["width"] for leaf in leaves),
                *(loop["bit"] + loop["count"] * loop["stride"] for loop in loops)])
    return (bits + 31) // 32 * 4


def _unpack(leaves: list[Ir], loops: list[Ir], strides: list[tuple[str, int]], base: int,
            indent: int) -> list[str]:
    """Reads members from bytes: records of bytes only."""
    pad = " " * indent
    lines: list[str] = []
    for leaf in leaves:
        bit = " + ".join([str(base + leaf["bit"]), *(f"{s} * {i}" for i, s in strides)])
        got = f"ps_get(bytes, size, {bit}, {leaf['width']})"
        lines.append(f"{pad}v->{leaf['path']} = {_decoded(leaf, got)};")
    for loop in loops:
        index = loop["index"]
        lines.append(f"{pad}for (unsigned {index} = 0; {index} < {loop['count']}; ++{index}) {{")
        lines += _unpack(loop["leaves"], loop["loops"], [*strides, (index, loop["stride"])],
                         base + loop["bit"], indent + 2)
        lines.append(pad + "}")
    return lines


def _decoded(leaf: Ir, got: str) -> str:
    kind, width = leaf["type"], leaf["width"]
    code = _encoding(leaf)
    if code:
        if "log2" in code:
            got = f"1ull << {got}"
        elif "groups" in code:
            got = f"ps_ungroup({got}, {code['groups']}, {width})"
        if "shift" in code:
            got = f"({got} << {code['shift']})"
        if "minus" in code:
            got = f"{got} + {code['minus']}"
        return f"({_c_type(leaf)})({got})"
    if kind == "bool":
        return f"{got} != 0"
    if kind == "int":
        return f"({_c_type(leaf)})ps_signed({got}, {width})"
    if kind == "float":
        return f"ps_to_float((uint32_t){got})"
    if kind == "half":
        return f"ps_from_half((uint32_t){got})"
    if kind == "ufixed":
        return f"(float)((double){got} / {1 << leaf['frac']}.0)"
    if kind == "sfixed":
        return f"(float)((double)ps_signed({got}, {width}) / {1 << leaf['frac']}.0)"
    if kind in ("address", "offset"):
        return f"{got} << {leaf['shift']}" if leaf["shift"] else got
    if kind not in ("uint", "enum"):
        raise Unsupported(f"{leaf['name']}: type {kind}")
    return f"({_c_type(leaf)}){got}"


def _c_type(leaf: Ir) -> str:
    return "uint64_t" if leaf["value_type"] == "__gen_address_type" else leaf["value_type"]


def _undescribed(leaves: list[Ir], loops: list[Ir], container: Ir, size: int) -> list[Ir]:
    """Runs of bits that nothing describes, as places."""
    free = bytearray(b"\x01" * (size * 8))

    def take(some: list[Ir], nested: list[Ir], base: int) -> None:
        for leaf in some:
            at = base + leaf["bit"]
            free[at:at + leaf["width"]] = bytes(len(free[at:at + leaf["width"]]))
        for loop in nested:
            for i in range(loop["count"]):
                take(loop["leaves"], loop["loops"], base + loop["bit"] + i * loop["stride"])

    take(leaves, loops, 0)
    take([*container["forced"], *container["reserved"]], [], 0)
    return [{"bit": run.start(), "width": run.end() - run.start()}
            for run in re.finditer(rb"\x01+", free)]


_PRINTED = {"uint32_t": ("%u", "(unsigned)"), "int32_t": ("%d", "(int)"),
            "uint64_t": ("0x%llx", "(unsigned long long)"), "int64_t": ("%lld", "(long long)"),
            "float": ("%g", "(double)"), "double": ("%g", "")}


def _printing(members: list[Ir]) -> list[str]:
    """Statements that print members, one a line."""
    lines: list[str] = []
    for member in members:
        indices = [f"ps_i{i}" for i in range(len(member["dims"]))]
        pad = "  "
        for index, count in zip(indices, member["dims"]):
            lines.append(f"{pad}for (unsigned {index} = 0; {index} < {count}; ++{index}) {{")
            pad += "  "
        value = "v->" + member["id"] + "".join(f"[{index}]" for index in indices)
        label = quote(member["name"]).strip('"').replace("%", "%%") + "[%u]" * len(indices)
        where = "".join(f", {index}" for index in indices)
        kind = member["type"]
        if kind.startswith("struct "):
            lines += [f'{pad}fprintf(file, "%*s{label}:\\n", (int)indent, ""{where});',
                      f"{pad}{kind.removeprefix('struct ')}_print(file, &{value}, indent + 2);"]
        elif kind.startswith("enum "):
            lines += [f"{pad}ps_name = {kind.removeprefix('enum ')}_as_str({value});",
                      f'{pad}fprintf(file, "%*s{label}: %s (%u)\\n", (int)indent, ""{where}, '
                      f'ps_name != 0 ? ps_name : "unknown", (unsigned){value});']
        elif kind == "bool":
            lines.append(f'{pad}fprintf(file, "%*s{label}: %s\\n", (int)indent, ""{where}, '
                         f'{value} ? "true" : "false");')
        else:
            form, cast = _PRINTED[kind]
            lines.append(f'{pad}fprintf(file, "%*s{label}: {form}\\n", (int)indent, ""{where}, '
                         f"{cast}{value});")
        for _ in indices:
            pad = pad[2:]
            lines.append(pad + "}")
    if any(member["type"].startswith("enum ") for member in members):
        lines.insert(0, "  const char *ps_name;")
    return lines


def prepare(container: Ir, called: str, where: int) -> Ir:
    """What the template prints of a container. called: how the generation's functions begin that
    check; where: the type's place among its names."""
    byte_unit = container["unit"] == "byte"
    owner = container["c"]
    size = container["bytes"] if container["c_length"] is None else container["c_length"] * 4
    leaves, loops = container["c_leaves"], container["c_loops"]
    full = max(_end(leaves, loops), container["max_bytes"])
    # Fields beyond <T>_length are packed as far as the caller's length field counts their dwords.
    counted = not byte_unit and container["length"] is not None and full > size
    if not counted:
        full = size
        leaves = [leaf for leaf in leaves if leaf["bit"] < size * 8]
        loops = [dict(loop, count=min(loop["count"],
                                      -(-(size * 8 - loop["bit"]) // loop["stride"])))
                 for loop in loops if loop["bit"] < size * 8]
    if byte_unit:
        leaves = [leaf for leaf in leaves if not _forced(leaf, container)]
    body = Body(_Face(byte_unit, called, where, _opcode(container)), leaves, loops, [size, full],
                byte_unit, counted)
    if byte_unit:
        # Opcodes are not members of these.
        for forced in container["forced_words"]:
            body.constant(forced["word"], int(forced["value"], 16))
    else:
        for reserved in container["reserved"]:
            for place in reserved["places"] if reserved["must"] else ():
                if place["word"] * 4 >= full:
                    continue
                body.constant(place["word"], ((1 << place["width"]) - 1) << place["lsb"])
    try:
        pack = body.statements(2)
    except Unsupported as problem:
        raise Unsupported(f"{container['name']}: {problem}") from problem
    members = [dict(m, type="uint64_t") if byte_unit and m["type"] == "__gen_address_type" else m
               for m in container["c_members"]]
    if byte_unit:
        members = [m for m in members if _is_member(m, container)]
    made = dict(container)
    made.update(
        bytes_unit=byte_unit,
        members=members,
        defaults=[m for m in members if m["default"] is not None],
        pack=pack,
        counted=container["length"] if counted else None,
        checks=[*_checks_of(owner, [leaf for leaf in leaves if leaf["bit"] < size * 8],
                            [loop for loop in loops if loop["bit"] < size * 8], byte_unit, 2),
                *_checks_beyond(owner, leaves, loops, size * 8), *_items_check(container)],
        text=text.summary(container),
        width=max((len(m["type"]) for m in members), default=0),
    )
    if byte_unit:
        made["unpack"] = _unpack(leaves, loops, [], 0, 2)
        made["reserved"] = [dict(run, bit=bit, width=width) for run in container["reserved"]
                            for bit, width in pieces(run)]
        made["undescribed"] = _undescribed(leaves, loops, container, size)
        made["printing"] = _printing(members)
        made["packed_name"] = container["c"].lower() + "_packed"
    return made


def _forced(leaf: Ir, container: Ir) -> bool:
    return any(f["bit"] == leaf["bit"] and f["width"] == leaf["width"]
               for f in container["forced"])


def _is_member(member: Ir, container: Ir) -> bool:
    return not any(f["name"] == member["name"] for f in container["forced"])


def positions(containers: list[Ir]) -> list[Ir]:
    """Containers with the macros of their fields' places."""
    return [c for c in containers if c["positions"] or c["c_length"] is not None]


def outline(ir: Ir) -> Ir:
    """A generation's lengths and positions, by names that other generations have, too."""
    prefix = ir["c_prefix"]

    def common(name: str) -> str:
        name = name.removeprefix(prefix)
        return name[1:] if name[1:2].isalpha() else name

    values: dict[str, int] = {}
    for container in positions(ir["containers"]):
        if container["c_length"] is not None:
            values[common(container["c"]) + "_length"] = container["c_length"]
        for place in container["positions"]:
            values[common(place["c"]) + "_start"] = place["start"]
            values[common(place["c"]) + "_bits"] = place["bits"]
    return {"family": ir["family"], "generation": ir["generation"],
            "version_x10": ir["version_x10"], "c_prefix": prefix, "values": values}


def example(containers: list[Ir], block: bool) -> Ir | None:
    """The packet of the header's worked example; block: a record of bytes."""
    for container in sorted(containers, key=lambda c: (c["kind"] != "packet", c["bytes"])):
        good = exemplary(container, container["c_leaves"])
        plain = [m for m in container["members"] if m["id"] in good and m["default"] is None]
        if plain and (container["bytes_unit"] if block else
                      container["defaults"] and container["c_length"]):
            return dict(c=container["c"], member=plain[0]["id"])
    return None
