"""C++ expressions for what the IR says. The template prints them; nothing is derived there."""

import re

from body import Body, Term, bit_text, exemplary, pieces, shifted
from ir import Ir, Unsupported
from text import COLUMNS, call, hexadecimal, quote, summary
from text import literal as number

# How ps_layout names the access that the description states.
_ACCESS = {
    "read": "bits::reads",
    "write": "bits::writes",
    "readwrite": "bits::reads_writes",
    "none": "bits::no_access",
}
_USUAL_SPACE = 48  # usual_space in runtime/pack/kinds.h
_INDEX = re.compile(r"\[(?:ps_)?(i\d+)\]")
_CODE = ("minus", "shift", "log2", "groups", "align")
_QUALIFIED = {"address": "packsmith::address"}
# Types of the IR, and what kinds.h calls those that need to know nothing but the field's width.
_KINDS = {"uint": "uint", "enum": "uint", "int": "sint", "bool": "flag", "float": "real",
          "half": "half"}


def type_name(name: str) -> str:
    """A type of the IR as the header spells it."""
    return _QUALIFIED.get(name, name)


def default(member: Ir) -> str:
    """What follows the = of a member."""
    value = member["default"]
    if value is None or (member["type"] == "address" and value == "0"):
        value = "{}"
    value = number(value)
    if not member["dims"] or value in ("{}", "0", "false", "0.0f", "0.0"):
        return "{}" if member["dims"] else value
    for dimension in reversed(member["dims"]):
        value = "{" + ", ".join([value] * dimension) + "}"
    return value


def declaration(member: Ir, indent: int) -> str:
    """A member, and where it is: after it, or before one that is too long."""
    dims = "".join(f"[{one}]" for one in member["dims"])
    line = f"{' ' * indent}{type_name(member['type'])} {member['id']}{dims} = {default(member)};"
    place = f"// {member['place']}"
    whole = f"{line}  {place}"
    return whole if len(whole) <= COLUMNS else f"{' ' * indent}{place}\n{line}"


def _encoding(leaf: Ir) -> dict[str, int]:
    """Parts of the encoding beyond what the field's type implies."""
    parts = {key: int(leaf[key]) for key in _CODE if leaf.get(key)}
    if leaf["type"] in ("address", "offset"):
        parts.pop("shift", None)
    if parts and leaf["type"] not in ("uint", "offset", "enum"):
        raise Unsupported(f"{leaf['name']}: {leaf['type']} with {', '.join(parts)}")
    if leaf["type"] == "offset" and parts:
        parts = {key: int(leaf[key]) for key in _CODE if leaf.get(key)}
    return parts


def _encoded(leaf: Ir, member: str, code: dict[str, int]) -> tuple[str, bool]:
    """The raw value of an encoded field, and whether the expression is 64 bits wide."""
    wide = leaf["value_type"] == "uint64_t"
    text = f"uint32_t({member})" if leaf["type"] == "enum" else member
    if "align" in code:
        text, wide = f"bits::align_up({text}, {code['align']})", True
    if "minus" in code:
        text = f"({text} - {code['minus']})"
    if "shift" in code:
        text = f"({text} >> {code['shift']})"
    if "log2" in code:
        text, wide = f"bits::log2({text})", False
    elif "groups" in code:
        text, wide = f"bits::groups({text}, {code['groups']}, {leaf['width']})", False
    return text, wide


def raw(leaf: Ir, path: str) -> tuple[str, bool]:
    """The bits of a leaf as an unsigned expression, and whether it is 64 bits wide."""
    member = "ps_p." + path
    kind, width = leaf["type"], leaf["width"]
    code = _encoding(leaf)
    if code:
        return _encoded(leaf, member, code)
    if kind == "uint":
        return member, leaf["value_type"] == "uint64_t"
    if kind == "bool":
        return member, False
    if kind == "enum":
        return f"uint32_t({member})", False
    if kind == "int":
        return f"bits::twos({member}, {width})", leaf["value_type"] == "int64_t"
    if kind == "float":
        return f"bits::real({member})", leaf["value_type"] == "double"
    if kind == "half":
        return f"bits::half({member})", False
    if kind == "ufixed" and not leaf["clamp"]:
        return f"bits::ufixed({member}, {leaf['frac']})", False
    if kind == "sfixed":
        return f"bits::sfixed({member}, {leaf['frac']}, {width})", False
    if kind == "address":
        return f"({member}.gpu >> {leaf['shift']})" if leaf["shift"] else f"{member}.gpu", True
    if kind == "offset":
        wide = leaf["value_type"] == "uint64_t"
        return (f"({member} >> {leaf['shift']})" if leaf["shift"] else member), wide
    # The others are not so frequent that a shorter text is worth a line here.
    name, parameters = _kind(leaf)
    text = f"bits::kinds::{name}{{{', '.join(parameters)}}}.encode({member}, {width})"
    return (text, True) if width > 32 else (f"uint32_t({text})", False)


def term(leaf: Ir, path: str, place: Ir) -> str:
    """What a leaf adds to one word."""
    member = "ps_p." + path
    kind, shift = leaf["type"], leaf["shift"]
    low, lsb, width = place["from"], place["lsb"], place["width"]
    fills = lsb + width == 32  # what is above falls off by itself
    whole = width == leaf["width"]
    if kind == "address":
        if low == 0 and lsb == shift and fills:
            return f"uint32_t({member}.gpu)"
        return shifted(f"bits::cut({member}, {low + shift}, {width})", lsb)
    if kind == "offset" and not _encoding(leaf) and low == 0 and lsb == shift:
        if leaf["value_type"] == "uint32_t":
            return member
        if fills:
            return f"uint32_t({member})"
    if kind == "offset" and not whole and not _encoding(leaf):
        return shifted(f"bits::cut({member}, {low + shift}, {width})", lsb)
    if kind == "int" and whole and fills and leaf["value_type"] == "int32_t":
        return shifted(f"uint32_t({member})", lsb)
    if kind == "bool" and lsb == 31:
        return f"uint32_t{{{member}}} << 31"
    text, wide = raw(leaf, path)
    if wide:
        return shifted(f"bits::cut({text}, {low}, {width})", lsb)
    if low:
        text = f"({text} >> {low})" if lsb else f"{text} >> {low}"
    return shifted(text, lsb)


def _kind(leaf: Ir) -> tuple[str, list[str]]:
    """The kind of runtime/pack/kinds.h that a leaf is, and what that has to know of the field."""
    code = _encoding(leaf)
    if code:
        parts = [f".{key} = {'true' if key == 'log2' else code[key]}" for key in _CODE
                 if key in code]
        return "coded", [f"bits::code{{{', '.join(parts)}}}"]
    kind = leaf["type"]
    if leaf["clamp"]:
        return "clamped", [str(leaf["frac"]), number(leaf["max"])]
    if kind in ("ufixed", "sfixed"):
        return kind, [str(leaf["frac"])]
    if kind == "address":
        space = leaf["address_bits"]
        return kind, [str(leaf["shift"]), _ACCESS[leaf["access"]]] + (
            [str(space)] if space != _USUAL_SPACE else [])
    if kind == "offset":
        return kind, [str(leaf["shift"])]
    if kind in ("uint", "enum"):
        limits = _limits(leaf)
        if limits is not None:
            return "bounded", limits
        if leaf["nonzero"] and leaf["width"] <= 32:
            return "positive", []
    if kind not in _KINDS:
        raise Unsupported(f"{leaf['name']}: type {kind}")
    return _KINDS[kind], []


def row(leaf: Ir, path: str, bit: str) -> list[tuple[str, list[str]]]:
    """A leaf in ps_layout: calls of the visitor, as (method, arguments)."""
    member, name = "ps_p." + path, quote(_INDEX.sub("[]", path))
    kind, parameters = _kind(leaf)
    calls = [(kind, [member, bit, str(min(64, leaf["width"])), name, *parameters])]
    if kind == "clamped":
        return calls
    if kind not in ("bounded", "positive"):
        if leaf["nonzero"]:
            calls.append(("nonzero", [member, name]))
        if leaf["min"] is not None or leaf["max"] is not None:
            calls.append(("range", [member, name, *_bounds(leaf)]))
    return calls + _multiple(leaf, member, name)


def _multiple(leaf: Ir, member: str, name: str) -> list[tuple[str, list[str]]]:
    return [("multiple", [member, name, str(leaf["multiple"])])] if leaf["multiple"] else []


def _limits(leaf: Ir) -> list[str] | None:
    """The bounds of an unsigned member, within what its field can hold."""
    if (leaf["min"] is None and leaf["max"] is None) or leaf["nonzero"] or leaf["width"] > 32:
        return None
    low = 0 if leaf["min"] is None else int(leaf["min"])
    high = (1 << leaf["width"]) - 1
    if leaf["max"] is not None:
        high = min(high, int(leaf["max"]))
    if low < 0 or low > high:
        return None
    return [hexadecimal(low), hexadecimal(high)]


def _bounds(leaf: Ir) -> list[str]:
    kind = leaf["value_type"]
    lowest = {"int32_t": "INT32_MIN", "int64_t": "INT64_MIN"}.get(kind, "0")
    highest = {"int32_t": "INT32_MAX", "int64_t": "INT64_MAX", "uint32_t": "UINT32_MAX"}.get(
        kind, "UINT64_MAX")
    if kind in ("float", "double"):
        lowest, highest = "-__builtin_huge_val()", "__builtin_huge_val()"

    def literal(text: str | int | float | None, default: str) -> str:
        if text is None:
            return default
        text = str(text)
        if kind in ("float", "double") or text == str(-(1 << 63)):
            return number(text)
        return text + ("ll" if text.startswith("-") else "ull" if int(text) > 0x7fffffff else "")

    return [literal(leaf["min"], lowest), literal(leaf["max"], highest)]


class _Face:
    """Body's questions, answered for C++."""

    destination = "ps_dw"
    bytes_to = "ps_to"
    array = "ps_w"
    put = "bits::put"
    store = "bits::store"

    def term(self, leaf: Ir, path: str, place: Ir, bit: int) -> Term | None:
        """What a leaf adds to one word. No member has more than 64 bits."""
        del bit
        if place["from"] >= 64:
            return None
        return Term(term(leaf, path, place))

    def raw(self, leaf: Ir, path: str) -> str:
        """All bits of a leaf."""
        return raw(leaf, path)[0]

    def gather(self, terms: list[Term]) -> list[Term]:
        """Each for itself."""
        return terms

    def combine(self, word: str, special: list[Term], others: list[str],
                indent: int) -> list[str]:
        """Addresses are ordinary terms."""
        raise NotImplementedError


class Packet:
    """The statements of one container's pack and ps_layout."""

    def __init__(self, container: Ir) -> None:
        self.container = container
        self.byte_unit = container["unit"] == "byte"
        self.bytes: int = container["bytes"]
        self.max_bytes: int = container["max_bytes"]
        tail = container["tail"]
        if tail is not None:
            start = tail["start_bit"] // 8
            if start < self.bytes or (not self.byte_unit and (
                    tail["start_bit"] % 32 or tail["item_bytes"] % 4)):
                raise Unsupported(f"{container['name']}: the tail does not follow in whole dwords")
            self.bytes = self.max_bytes = start
        self.fixed = not (container["variants"] or container["parts"] or tail)
        # What bits::pack writes through ps_layout. The others get statements of their own.
        self.plain = self.fixed and not self.byte_unit and not container["loops"] and (
            container["length"] is None or container["length"]["bit"] < 32)

    def first(self) -> str:
        """What the length field adds to the first dword."""
        length = self.container["length"]
        if length is None:
            return "0"
        value = self.bytes // length["unit_bytes"] - length["bias"]
        return hexadecimal(value << length["bit"])

    def pack(self, indent: int) -> str:
        """Statements that write the fixed part and what a variant adds."""
        container = self.container
        sizes = [self.bytes, *(v["bytes"] for v in container["variants"])]
        body = Body(_Face(), container["leaves"], container["loops"], sizes, self.byte_unit)
        for forced in container["forced_words"]:
            body.constant(forced["word"], int(forced["value"], 16))
        length = container["length"]
        if length is not None:
            word, lsb = length["bit"] // 32, length["bit"] % 32
            if self.fixed:
                body.constant(word, (self.bytes // length["unit_bytes"] - length["bias"]) << lsb)
            else:
                value = f"(ps_n - {length['bias']})"
                if self.bytes < length["unit_bytes"] * length["bias"]:
                    # No items: an error, unless checks are off.
                    value = f"({value} & 0x{(1 << length['width']) - 1:x})"
                body.words.add(word, Term(shifted(value, lsb)))
        try:
            return body.statements(indent)
        except Unsupported as problem:
            raise Unsupported(f"{container['name']}: {problem}") from problem

    # -- ps_layout -------------------------------------------------------------------------------

    def layout(self, indent: int) -> str:
        """Calls of the visitor, in bit order."""
        container = self.container
        entries: list[tuple[int, list[str]]] = []
        for leaf in container["leaves"]:
            entries.append((leaf["bit"], self._row(leaf, str(leaf["bit"]), indent)))
        for loop in container["loops"]:
            entries.append((loop["bit"], self._layout_loop(loop, [], 0, indent)))
        for forced in container["forced"]:
            value = int(forced["value"], 16)
            arguments = [str(forced["bit"]), str(forced["width"]), hexadecimal(value),
                         quote(forced["name"])]
            entries.append((forced["bit"], [call("ps_v.forced", arguments, ";", indent)]))
        for reserved in container["reserved"]:
            for bit, width in pieces(reserved):
                value = (1 << width) - 1 if reserved["must"] else 0
                arguments = [str(bit), str(width), hexadecimal(value),
                             quote(reserved["name"] or "reserved")]
                entries.append((bit, [call("ps_v.reserved", arguments, ";", indent)]))
        entries.sort(key=lambda entry: entry[0])
        return "\n".join(line for _, lines in entries for line in lines)

    def _row(self, leaf: Ir, bit: str, indent: int) -> list[str]:
        return [call(f"ps_v.{method}", arguments, ";", indent)
                for method, arguments in row(leaf, leaf["path"], bit)]

    def _layout_loop(self, loop: Ir, strides: list[tuple[str, int]], base: int,
                     indent: int) -> list[str]:
        index = loop["index"]
        base += loop["bit"]
        strides = [*strides, (index, loop["stride"])]
        lines = [" " * indent + f"for (unsigned {index} = 0; {index} < {loop['count']}; ++{index}) {{"]
        lines.append(" " * (indent + 2) + f"ps_v.index({index});")
        for leaf in loop["leaves"]:
            lines += self._row(leaf, bit_text(base + leaf["bit"], strides), indent + 2)
        for nested in loop["loops"]:
            lines += self._layout_loop(nested, strides, base, indent + 2)
        return [*lines, " " * indent + "}"]

    def needs_parameter(self) -> tuple[bool, bool]:
        """Whether ps_layout uses the packet, and the visitor at all."""
        container = self.container
        members = bool(container["leaves"] or container["loops"])
        return members, members or bool(container["forced"] or container["reserved"])


def condition(clauses: list[list[Ir]], prefix: str) -> str:
    """A condition over members."""
    alternatives = []
    for clause in clauses:
        tests = []
        for test in clause:
            member = prefix + test["path"]
            if test["type"] == "bool":
                truth = bool(int(test["value"])) == (test["op"] == "eq")
                tests.append(member if truth else "!" + member)
            else:
                if test["type"] == "enum":
                    member = f"uint32_t({member})"
                tests.append(f"{member} {'==' if test['op'] == 'eq' else '!='} {test['value']}")
        text = " && ".join(tests) or "true"
        alternatives.append(f"({text})" if len(clauses) > 1 and len(tests) > 1 else text)
    return " || ".join(alternatives) or "true"


# What the item of a tail does not say of itself.
_ITEM: Ir = {
    "kind": "struct",
    "name": "item",
    "source": "",
    "length": None,
    "length_bias": None,
    "register_offset": None,
    "identify": None,
    "variants": [],
    "parts": [],
    "pad": None,
    "tail": None,
}


def _private(loop: Ir) -> Ir:
    """A loop whose index no member can be called."""
    return dict(
        loop,
        index="ps_" + loop["index"],
        leaves=[dict(leaf, path=_INDEX.sub(r"[ps_\1]", leaf["path"])) for leaf in loop["leaves"]],
        loops=[_private(nested) for nested in loop["loops"]])


def prepare(container: Ir) -> Ir:
    """What the template prints of a container."""
    container = dict(container, loops=[_private(loop) for loop in container["loops"]])
    body = Packet(container)
    unit = 1 if body.byte_unit else 4
    uses_packet, uses_visitor = body.needs_parameter()
    made = dict(container)
    made.update(
        body=body,
        bytes_unit=body.byte_unit,
        size=body.bytes // unit,
        max_size=body.max_bytes // unit,
        units="bytes" if body.byte_unit else "dwords",
        word="uint8_t" if body.byte_unit else "uint32_t",
        to="ps_to" if body.byte_unit else "ps_dw",
        names_packet=uses_packet,
        names_visitor=uses_visitor,
        text=_describe(container),
        item=None,
        variants=[dict(v, size=v["bytes"] // unit) for v in sorted(
            container["variants"], key=lambda v: -v["bytes"])],
        parts=[_part(p, i, unit) for i, p in enumerate(container["parts"])],
        pad=container["pad"] and dict(container["pad"], size=container["pad"]["to"] // unit),
    )
    made["once"] = [p for p in made["parts"] if not p["count"]]
    made["repeated"] = [p for p in made["parts"] if p["count"]]
    made["span_parameters"] = "".join(
        f", packsmith::span<const {p['struct']}> ps_{p['id']} = {{}}" for p in made["repeated"])
    tail = container["tail"]
    if tail is not None:
        size = tail["item_bytes"] // unit
        length = container["length"]
        most = None
        if length is not None:
            most = (((1 << length["width"]) - 1 + length["bias"]) * unit - body.bytes) // (
                tail["item_bytes"])
        if tail["max"] is not None:
            most = tail["max"] if most is None else min(most, tail["max"])
        least = 0
        if length is not None:
            least = -(-max(0, length["bias"] * unit - body.bytes) // tail["item_bytes"])
        made["tail"] = dict(tail, size=size, max_items=most, min_items=least)
        if tail["struct"] is None:
            made["item"] = prepare(_ITEM | tail["item"])
    return made


def _describe(container: Ir) -> str:
    text = summary(container)
    if container["cpp"] == container["name"] or container["cpp"] == "item":
        return text
    return f"{container['name']}: {text}" if text else container["name"] + "."


def _part(part: Ir, index: int, unit: int) -> Ir:
    repeat = part["repeat"]
    count = name = None
    if isinstance(repeat, dict):
        name = repeat["path"] or part["name"]
        count = f"ps_p.{name}" if repeat["path"] else "0"
        if repeat.get("power"):
            count = f"(1u << ({count} & 31))"
        if repeat.get("multiply", 1) != 1:
            count = f"{count} * {repeat['multiply']}"
        if repeat.get("add", 0):
            count = f"({count} + {repeat['add']})"
    elif repeat:
        name, count = repeat, f"ps_p.{repeat}"
    note = f"{part['name']}, a part that follows"
    if part["when"]:
        note += " if " + condition(part["when"], "")
    size = part["bytes"] // unit
    return dict(part, index=index, size=size, count=count, count_name=name, note=note + ".",
                total=f"{count} * {size}" if count else str(size))


def example(containers: list[Ir]) -> Ir | None:
    """The packet of the header's worked example: a small one with something to set."""
    best = None
    for container in containers:
        good = exemplary(container, container["leaves"])
        plain = [m for m in container["members"] if m["id"] in good and m["default"] == "0"]
        if container["tail"] is not None or container["parts"] or not plain:
            continue
        rank = (container["kind"] != "packet", bool(container["variants"]), container["size"] < 3,
                container["size"])
        if best is None or rank < best[0]:
            extent = ("max_" if container["variants"] else "") + (
                "size" if container["bytes_unit"] else "length")
            best = (rank, dict(cpp=container["cpp"], word=container["word"], extent=extent,
                               member=f".{plain[0]['id']} = 1"))
    return best[1] if best else None


def in_order(containers: list[Ir]) -> list[Ir]:
    """Each type after those that it holds or takes."""
    by_name = {container["cpp"]: container for container in containers}
    done: dict[str, Ir] = {}

    def visit(container: Ir) -> None:
        if container["cpp"] in done:
            return
        tail = container["tail"] or {}
        needed = [m["type"] for m in container["members"]]
        needed += [p["struct"] for p in container["parts"]] + [tail.get("struct")]
        needed += [m["type"] for m in (tail.get("item") or {}).get("members", ())]
        for name in needed:
            if name in by_name and name != container["cpp"]:
                visit(by_name[name])
        done[container["cpp"]] = container

    for container in containers:
        visit(container)
    return list(done.values())


def names(container: Ir) -> Ir:
    """Members as C++ writes them and as the manual does."""
    fields: list[Ir] = []

    def collect(leaves: list[Ir], loops: list[Ir]) -> None:
        for one in sorted([*leaves, *loops], key=lambda each: each["bit"]):
            if "leaves" in one:
                collect(one["leaves"], one["loops"])
            else:
                fields.append(dict(path=_INDEX.sub("[]", one["path"]),
                                   name=_INDEX.sub("[]", one["name"])))

    collect(container["leaves"], container["loops"])
    return dict(container, fields=fields)
