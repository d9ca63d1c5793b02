"""C++ expressions for what the IR says. The template prints them; nothing is derived there."""

from collections.abc import Iterator
from typing import Any

from text import call, hexadecimal, join, quote

Ir = dict[str, Any]

# How ps_layout names the access that the description states.
_ACCESS = {
    "read": "bits::reads",
    "write": "bits::writes",
    "readwrite": "bits::reads_writes",
    "none": "bits::no_access",
}
_CODE = ("minus", "shift", "log2", "groups", "align")
_QUALIFIED = {"address": "packsmith::address"}


class Unsupported(Exception):
    """The IR asks for something that this back end cannot express."""


def type_name(name: str) -> str:
    """A type of the IR as the header spells it."""
    return _QUALIFIED.get(name, name)


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


def _shifted(text: str, by: int) -> str:
    return f"{text} << {by}" if by else text


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
    if kind == "ufixed":
        return f"bits::ufixed({member}, {leaf['frac']})", False
    if kind == "sfixed":
        return f"bits::sfixed({member}, {leaf['frac']}, {width})", False
    if kind == "address":
        return f"({member}.gpu >> {leaf['shift']})" if leaf["shift"] else f"{member}.gpu", True
    if kind == "offset":
        wide = leaf["value_type"] == "uint64_t"
        return (f"({member} >> {leaf['shift']})" if leaf["shift"] else member), wide
    raise Unsupported(f"{leaf['name']}: type {kind}")


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
        return _shifted(f"bits::cut({member}, {low + shift}, {width})", lsb)
    if kind == "offset" and not _encoding(leaf) and low == 0 and lsb == shift:
        if leaf["value_type"] == "uint32_t":
            return member
        if fills:
            return f"uint32_t({member})"
    if kind == "offset" and not whole and not _encoding(leaf):
        return _shifted(f"bits::cut({member}, {low + shift}, {width})", lsb)
    if kind == "int" and whole and fills and leaf["value_type"] == "int32_t":
        return _shifted(f"uint32_t({member})", lsb)
    if kind == "bool" and lsb == 31:
        return f"uint32_t{{{member}}} << 31"
    text, wide = raw(leaf, path)
    if wide:
        return _shifted(f"bits::cut({text}, {low}, {width})", lsb)
    if low:
        text = f"({text} >> {low})" if lsb else f"{text} >> {low}"
    return _shifted(text, lsb)


def row(leaf: Ir, path: str, bit: str) -> list[tuple[str, list[str]]]:
    """A leaf in ps_layout: calls of the visitor, as (method, arguments)."""
    member, name = "ps_p." + path, quote(path)
    place = [member, bit, str(leaf["width"]), name]
    code = _encoding(leaf)
    kind = leaf["type"]
    if code:
        parts = [f".{key} = {'true' if key == 'log2' else code[key]}" for key in _CODE
                 if key in code]
        calls = [("coded", place + [f"bits::code{{{', '.join(parts)}}}"])]
    elif kind in ("ufixed", "sfixed"):
        calls = [(kind, place + [str(leaf["frac"])])]
    elif kind == "address":
        calls = [(kind, place + [str(leaf["shift"]), _ACCESS[leaf["access"]]])]
    elif kind == "offset":
        calls = [(kind, place + [str(leaf["shift"])])]
    else:
        method = {"uint": "uint", "enum": "uint", "int": "sint", "bool": "flag", "float": "real",
                  "half": "half"}[kind]
        calls = [(method, place)]
    if leaf["nonzero"]:
        calls.append(("nonzero", [member, name]))
    if leaf["min"] is not None or leaf["max"] is not None:
        calls.append(("range", [member, name, *_bounds(leaf)]))
    if leaf["multiple"]:
        calls.append(("multiple", [member, name, str(leaf["multiple"])]))
    return calls


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
        if kind in ("float", "double"):
            return text
        return text + ("ll" if text.startswith("-") else "ull" if int(text) > 0x7fffffff else "")

    return [literal(leaf["min"], lowest), literal(leaf["max"], highest)]


def _bit_text(bit: int, strides: list[tuple[str, int]]) -> str:
    parts = [f"{stride} * {index}" if stride != 1 else index for index, stride in strides]
    if bit or not parts:
        parts.insert(0, str(bit))
    return " + ".join(parts)


class _Words:
    """Collects what is ORed into each word."""

    def __init__(self, count: int) -> None:
        self.constants = [0] * count
        self.terms: list[list[str]] = [[] for _ in range(count)]

    def expression(self, word: int) -> list[str]:
        constant = self.constants[word]
        terms = self.terms[word]
        if constant:
            return [f"0x{constant:08x}", *terms]
        return terms or ["0"]

    def used(self, word: int) -> bool:
        return bool(self.constants[word] or self.terms[word])


def _regular(loop: Ir, base: int) -> bool:
    """Whether every item starts at a word and keeps to its own words."""
    if loop["stride"] % 32 or (base + loop["bit"]) % 32:
        return False
    limit = loop["stride"]
    covered: set[int] = set()
    for inner in loop.get("loops", ()):
        end = inner["bit"] + inner["count"] * inner["stride"]
        if not _regular(inner, 0) or end > limit:
            return False
        words = set(range(inner["bit"] // 32, end // 32))
        if covered & words:
            return False
        covered |= words
    for leaf in loop["leaves"]:
        if leaf["bit"] + leaf["width"] > limit:
            return False
        if covered & set(range(leaf["bit"] // 32, (leaf["bit"] + leaf["width"] - 1) // 32 + 1)):
            return False
    return True


def _places(bit: int, width: int) -> Iterator[Ir]:
    low = 0
    while low < width:
        here = min(32 - (bit + low) % 32, width - low)
        yield {"word": (bit + low) // 32, "lsb": (bit + low) % 32, "from": low, "width": here}
        low += here


class Body:
    """The statements of one container's pack and ps_layout."""

    def __init__(self, container: Ir) -> None:
        self.container = container
        self.byte_unit = container["unit"] == "byte"
        self.bytes: int = container["bytes"]
        self.max_bytes: int = container["max_bytes"]
        tail = container["tail"]
        if tail is not None:
            start = tail["start_bit"] // 8
            if tail["start_bit"] % 32 or start < self.bytes or tail["item_bytes"] % 4:
                raise Unsupported(f"{container['name']}: the tail does not follow in whole dwords")
            self.bytes = self.max_bytes = start
        self.word_count = (self.max_bytes + 3) // 4
        self.fixed = not (container["variants"] or container["parts"] or tail)

    # -- pack ------------------------------------------------------------------------------------

    def _store(self, word: str, terms: list[str], indent: int, size: int = 4) -> str:
        if not self.byte_unit:
            return join(f"ps_dw[{word}] = ", terms, " | ", ";", indent)
        offset = f" + {4 * int(word)}" if word.isdigit() and word != "0" else ""
        if not word.isdigit():
            offset = f" + 4 * ({word})"
        end = ");" if size == 4 else f", {size});"
        return join(f"bits::store(ps_to{offset}, ", terms, " | ", end, indent)

    def pack(self, indent: int) -> str:
        """Statements that write the fixed part and what a variant adds."""
        container = self.container
        words = _Words(self.word_count)
        for forced in container["forced_words"]:
            words.constants[forced["word"]] |= int(forced["value"], 16)
        length = container["length"]
        if length is not None:
            if self.fixed:
                value = self.bytes // length["unit_bytes"] - length["bias"]
                words.constants[length["bit"] // 32] |= value << length["bit"] % 32
            else:
                text = f"(ps_n - {length['bias']})"
                words.terms[length["bit"] // 32].append(_shifted(text, length["bit"] % 32))
        for leaf in container["leaves"]:
            for place in leaf["places"]:
                words.terms[place["word"]].append(term(leaf, leaf["path"], place))
        looped: set[int] = set()
        direct = True
        for loop in container["loops"]:
            end = loop["bit"] + loop["count"] * loop["stride"]
            own = set(range(loop["bit"] // 32, (end + 31) // 32))
            if not _regular(loop, 0) or own & looped or any(map(words.used, own)):
                direct = False
            looped |= own
        if self.byte_unit and self.max_bytes % 4 and self.word_count - 1 in looped:
            direct = False
        lines: list[str] = []
        if direct:
            lines += self._direct(words, looped, indent)
        else:
            lines += self._gathered(words, indent)
        return "\n".join(lines)

    def _size_of(self, word: int, end: int) -> int:
        return min(4, end - 4 * word)

    def _direct(self, words: _Words, looped: set[int], indent: int) -> list[str]:
        lines: list[str] = []
        sizes = sorted({self.bytes, *(v["bytes"] for v in self.container["variants"])})
        start = 0
        for end in sizes:
            inside = indent
            if start:
                unit = f"ps_n > {start}" if self.byte_unit else f"ps_n > {start // 4}"
                lines.append(" " * indent + f"if ({unit}) {{")
                inside += 2
            for word in range((start + 3) // 4, (end + 3) // 4):
                if word not in looped:
                    lines.append(self._store(str(word), words.expression(word), inside,
                                             self._size_of(word, end)))
            for loop in self.container["loops"]:
                if start <= loop["bit"] // 8 < end:
                    lines += self._loop(loop, [], 0, inside)
            if start:
                lines.append(" " * indent + "}")
            start = end
        return lines

    def _loop(self, loop: Ir, strides: list[tuple[str, int]], base: int, indent: int) -> list[str]:
        """A loop whose items are whole words."""
        index = loop["index"]
        base += loop["bit"]
        strides = [*strides, (index, loop["stride"])]
        item = _Words(loop["stride"] // 32)
        for leaf in loop["leaves"]:
            for place in _places(leaf["bit"], leaf["width"]):
                item.terms[place["word"]].append(term(leaf, leaf["path"], place))
        inner: set[int] = set()
        for nested in loop.get("loops", ()):
            first = nested["bit"] // 32
            inner |= set(range(first, first + nested["count"] * nested["stride"] // 32))
        lines = [" " * indent + f"for (unsigned {index} = 0; {index} < {loop['count']}; ++{index}) {{"]
        for word in range(len(item.terms)):
            if word not in inner:
                place = _bit_text(base // 32 + word, [(i, s // 32) for i, s in strides])
                lines.append(self._store(place, item.expression(word), indent + 2))
        for nested in loop.get("loops", ()):
            lines += self._loop(nested, strides, base, indent + 2)
        lines.append(" " * indent + "}")
        return lines

    def _gathered(self, words: _Words, indent: int) -> list[str]:
        """Items that share words: put together in an array, then copied."""
        pad = " " * indent
        lines = [pad + f"uint32_t ps_w[{self.word_count}] = {{}};"]
        for word in range(self.word_count):
            if words.used(word):
                lines.append(join(f"ps_w[{word}] = ", words.expression(word), " | ", ";", indent))
        for loop in self.container["loops"]:
            lines += self._put(loop, [], 0, indent)
        size = str(self.word_count) if self.fixed or not self.container["variants"] else (
            "(ps_n + 3) / 4" if self.byte_unit else "ps_n")
        loop_head = f"for (unsigned ps_i = 0; ps_i < {size}; ++ps_i) "
        if not self.byte_unit:
            return [*lines, pad + loop_head + "ps_dw[ps_i] = ps_w[ps_i];"]
        bytes_text = "ps_n" if self.container["variants"] else str(self.bytes)
        lines.append(pad + f"for (unsigned ps_i = 0; ps_i < {bytes_text}; ++ps_i) {{")
        lines.append(pad + "  ps_to[ps_i] = uint8_t(ps_w[ps_i / 4] >> ps_i % 4 * 8);")
        return [*lines, pad + "}"]

    def _put(self, loop: Ir, strides: list[tuple[str, int]], base: int, indent: int) -> list[str]:
        index = loop["index"]
        base += loop["bit"]
        strides = [*strides, (index, loop["stride"])]
        lines = [" " * indent + f"for (unsigned {index} = 0; {index} < {loop['count']}; ++{index}) {{"]
        for leaf in loop["leaves"]:
            text, _ = raw(leaf, leaf["path"])
            bit = _bit_text(base + leaf["bit"], strides)
            lines.append(call("bits::put", ["ps_w", bit, str(leaf["width"]), text], ";", indent + 2))
        for nested in loop.get("loops", ()):
            lines += self._put(nested, strides, base, indent + 2)
        return [*lines, " " * indent + "}"]

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
            value = (1 << reserved["width"]) - 1 if reserved["must"] else 0
            arguments = [str(reserved["bit"]), str(reserved["width"]), hexadecimal(value),
                         quote(reserved["name"] or "reserved")]
            entries.append((reserved["bit"], [call("ps_v.reserved", arguments, ";", indent)]))
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
        for leaf in loop["leaves"]:
            lines += self._row(leaf, _bit_text(base + leaf["bit"], strides), indent + 2)
        for nested in loop.get("loops", ()):
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


def prepare(container: Ir) -> Ir:
    """What the template prints of a container."""
    body = Body(container)
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
    )
    made["once"] = [p for p in made["parts"] if not p["count"]]
    made["repeated"] = [p for p in made["parts"] if p["count"]]
    made["span_parameters"] = "".join(
        f", packsmith::span<const {p['struct']}> ps_{p['id']} = {{}}" for p in made["repeated"])
    tail = container["tail"]
    if tail is not None:
        size = tail["item_bytes"] // 4
        length = container["length"]
        most = None
        if length is not None:
            most = ((1 << length["width"]) - 1 + length["bias"] - body.bytes // 4) // size
        made["tail"] = dict(tail, size=size, max_items=most)
        if tail["struct"] is None:
            made["item"] = prepare(tail["item"])
    return made


def _describe(container: Ir) -> str:
    sentences = [container["doc"]] if container["doc"] else []
    if container["cpp"] != container["name"] and container["cpp"] != "item":
        sentences.insert(0, container["name"] + (":" if container["doc"] else "."))
    if container["source"]:
        sentences.append(f"[{container['source']}]")
    return " ".join(sentences)


def _part(part: Ir, index: int, unit: int) -> Ir:
    repeat = part["repeat"]
    count = name = None
    if isinstance(repeat, dict):
        name = repeat["path"]
        count = f"ps_p.{name}"
        if repeat.get("multiply", 1) != 1:
            count = f"{count} * {repeat['multiply']}"
        if repeat.get("add", 0):
            count = f"({count} + {repeat['add']})"
    elif repeat:
        name, count = repeat, f"ps_p.{repeat}"
    note = f"{part['name']}, a part that follows"
    if part["when"]:
        note += " if " + condition(part["when"], "")
    return dict(part, index=index, size=part["bytes"] // unit, count=count, count_name=name,
                note=note + ".")


def example(containers: list[Ir]) -> Ir | None:
    """The packet of the header's worked example: a small one with something to set."""
    best = None
    for container in containers:
        plain = [m for m in container["members"] if m["type"] == "uint32_t" and not m["dims"]]
        if container["tail"] is not None or container["parts"] or not plain:
            continue
        rank = (container["kind"] != "packet", container["size"] < 3, container["size"])
        if best is None or rank < best[0]:
            extent = ("max_" if container["variants"] else "") + (
                "size" if container["bytes_unit"] else "length")
            best = (rank, dict(cpp=container["cpp"], word=container["word"], extent=extent,
                               member=f".{plain[0]['id']} = 1"))
    return best[1] if best else None
