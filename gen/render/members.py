"""What a language sees of each container: its members, and the fields at their places.

The IR has the items of a container as the description nests them. A back end wants `members`, the
declarations; `leaves`, each field at its place, with nested structures and small groups written
out; and `loops`, the larger groups. The view of C++ is in members of those names, that of C in
members with the prefix c_.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ir import Ir, Unsupported, places
from languages import C, Cpp, Language

# Groups of more leaves than this are loops in generated code; smaller ones are written out.
_MOST_UNROLLED = 16
_USUAL_ADDRESS_BITS = 48  # as usual_space in runtime/pack/kinds.h
_END = 1 << 32  # a bit that no container has

# What a leaf has as its field has it.
_OF_FIELD = ("type", "frac", "shift", "minus", "log2", "groups", "align", "min", "max", "nonzero",
             "multiple", "clamp", "access", "overlap", "avoid")


@dataclass(frozen=True)
class _Frame:
    """Where items are: in which structures and groups."""

    path: str = ""  # prefix for members
    name: str = ""  # the same in names of the description
    index: str = ""  # "[2]" of the unnamed groups around, which follows the member
    bit: int = 0


@dataclass(frozen=True)
class _Array:
    """The groups around a member that make it an array."""

    bit: int = 0  # where the first item of all of them starts
    dims: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()  # bits from one item to the next

    def within(self, group: Ir, count: int) -> "_Array":
        """Inside a group of `count` items; 0: of one that makes no array."""
        if count == 0:
            return replace(self, bit=self.bit + group["bit"])
        return _Array(self.bit + group["bit"], (*self.dims, count),
                      (*self.strides, group["width"]))

    def place(self, item: Ir) -> str:
        """Where an item is, as manuals write it: dword, highest and lowest bit."""
        bit, width = self.bit + item["bit"], item["width"]
        low = bit % 32
        high = f"{low + width - 1}:" if width > 1 else ""
        strides = "".join(", then every " + (f"{stride} bits" if stride > 1 else "bit")
                          for stride in self.strides)
        return f"DW{bit // 32} {high}{low}{strides}"


class View:
    """Containers as one language sees them."""

    def __init__(self, language: Language, ir: Ir) -> None:
        self.language = language
        self.address_bits: int = ir["address_bits"]
        self.structs: dict[str, Ir] = {one["name"]: one for one in ir["containers"]}

    # -- Members ---------------------------------------------------------------------------------

    def members(self, container: Ir, items: list[Ir], at: _Array = _Array()) -> list[Ir]:
        """Declarations, in the order of the description. at: the groups around that are arrays."""
        found: list[Ir] = []
        for described in items:
            item = self.language.seen(described)
            if item["kind"] == "field" and self.language.has_member(item):
                dims = list(at.dims)
                found.append({
                    "name": item["name"], "doc": item["doc"], "unit": item["unit"],
                    "id": item[self.language.key], "type": self.language.type_of(item),
                    "dims": dims, "default": self.language.default_of(container, item, dims),
                    "place": at.place(item)})
            elif item["kind"] == "group":
                found += self._group(container, item, at)
        return found

    def _group(self, container: Ir, group: Ir, at: _Array) -> list[Ir]:
        count = self.language.items_in(group)
        if count == 0:
            return []
        # One item of a tail is not an array.
        inner = at.within(group, 0 if group["tail"] and count == 1 else count)
        if not self.language.nests(group):
            return self.members(container, group["items"], inner)
        name = group[self.language.key]
        # The type is declared in place; its name must differ from the member's. Its members count
        # bits from the start of an item.
        return [{"name": group["name"], "doc": group["doc"], "id": name, "type": name + "_item",
                 "dims": list(inner.dims), "default": None,
                 "place": inner.place({"bit": 0, "width": group["width"]}),
                 "members": self.members(container, group["items"])}]

    # -- Leaves ----------------------------------------------------------------------------------

    def _count_leaves(self, items: list[Ir]) -> int:
        """Leaves that one item of `items` comes to when all is written out."""
        count = 0
        for item in items:
            if item["kind"] == "group":
                count += 0 if item["tail"] else item["count"] * self._count_leaves(item["items"])
            elif item["kind"] == "field":
                count += (self._count_leaves(self.structs[item["of"]]["items"])
                          if item["type"] == "struct" else 1)
        return count

    def _enter(self, group: Ir, frame: _Frame, index: str, number: int) -> _Frame:
        bit = frame.bit + group["bit"] + number * group["width"]
        if not self.language.nests(group):
            return replace(frame, bit=bit, index=frame.index + index)
        return _Frame(f"{frame.path}{group[self.language.key]}{frame.index}{index}.",
                      f"{frame.name}{group['name']}{frame.index}{index}.", "", bit)

    def _walk(self, items: list[Ir], frame: _Frame) -> Iterator[tuple[Ir, _Frame]]:
        """Fields that are not structures and groups that are loops, with where they are."""
        for described in items:
            item = self.language.seen(described)
            if item["kind"] == "field":
                here = _Frame(frame.path + item[self.language.key] + frame.index,
                              frame.name + item["name"] + frame.index, "",
                              frame.bit + item["bit"])
                if item["type"] == "struct":
                    yield from self._walk(
                        self.structs[item["of"]]["items"],
                        replace(here, path=here.path + ".", name=here.name + "."))
                else:
                    yield item, here
            elif item["kind"] == "group":
                count = self.language.items_in(item)
                if count * self._count_leaves(item["items"]) > _MOST_UNROLLED:
                    yield item, frame
                    continue
                for number in range(count):
                    index = "" if item["tail"] and count == 1 else f"[{number}]"
                    yield from self._walk(item["items"], self._enter(item, frame, index, number))

    def _leaf(self, container: Ir, field: Ir, at: _Frame, end: int, in_loop: bool) -> Ir:
        width = min(field["width"], end - at.bit)
        leaf: Ir = {key: field[key] for key in _OF_FIELD}
        last = at.bit + field["width"]
        beyond = not in_loop and last > container["bytes"] * 8
        leaf.update(
            name=at.name, path=at.path, bit=at.bit, width=width,
            value_type=self.language.type_of(field),
            address_bits=(self.address_bits if field["type"] == "address"
                          else _USUAL_ADDRESS_BITS),
            present_bytes=(last + 31) // 32 * 4 if beyond else 0,
            places=[] if in_loop else places(at.bit, width))
        return leaf

    def leaves(self, container: Ir, items: list[Ir], end: int, frame: _Frame = _Frame(),
               depth: int = 0) -> tuple[list[Ir], list[Ir]]:
        """Leaves and loops in bit order. What begins at the bit `end` or later is left out."""
        leaves: list[Ir] = []
        loops: list[Ir] = []
        for item, at in self._walk(items, frame):
            if item["kind"] == "field":
                if self.language.has_member(item) and at.bit < end:
                    leaves.append(self._leaf(container, item, at, end, depth > 0))
                continue
            start = at.bit + item["bit"]
            if start >= end:
                continue
            index = f"i{depth}"
            inner, nested = self.leaves(
                container, item["items"], _END,
                replace(self._enter(item, at, f"[{index}]", 0), bit=0), depth + 1)
            # Of the last item a part may exist.
            count = min(self.language.items_in(item), -(-(end - start) // item["width"]))
            loops.append({"index": index, "count": count, "bit": start, "stride": item["width"],
                          "leaves": inner, "loops": nested})
        leaves.sort(key=lambda leaf: leaf["bit"])
        return leaves, loops


# -- What is fixed ---------------------------------------------------------------------------------


def _fixed(structs: dict[str, Ir], items: list[Ir], base: int) -> Iterator[tuple[Ir, int]]:
    """Forced fields and reserved runs with their bits, through structures and groups."""
    for item in items:
        bit = base + item["bit"]
        if item["kind"] == "group":
            for number in range(0 if item["tail"] else item["count"]):
                yield from _fixed(structs, item["items"], bit + number * item["width"])
        elif item["kind"] == "reserved" or item["forced"] is not None:
            yield item, bit
        elif item["type"] == "struct":
            yield from _fixed(structs, structs[item["of"]]["items"], bit)


def fixed(structs: dict[str, Ir], container: Ir) -> dict[str, Any]:
    """Bits whose value is known: `forced` fields and `reserved` runs, in bit order, and the same
    by words."""
    found = sorted(_fixed(structs, container["items"], 0), key=lambda one: one[1])
    words = (container["max_bytes"] + 3) // 4
    forced: list[Ir] = []
    reserved: list[Ir] = []
    ones_mask, ones, zeros = [0] * words, [0] * words, [0] * words
    for item, bit in found:
        at = places(bit, item["width"])
        run: Ir = {"name": item["name"], "bit": bit, "width": item["width"], "places": at}
        if item["kind"] == "field":
            forced.append(dict(run, value=item["forced"]))
            value = int(item["forced"], 16)
        else:
            reserved.append(dict(run, must=item["must"]))
            value = (1 << item["width"]) - 1 if item["must"] else 0
        for place in at:
            word = place["word"]
            if word >= words:
                continue
            low = (1 << place["width"]) - 1
            if item["kind"] == "reserved" and not item["must"]:
                zeros[word] |= low << place["lsb"]
                continue
            ones_mask[word] |= low << place["lsb"]
            ones[word] |= (value >> place["from"] & low) << place["lsb"]
    return {
        "forced": forced, "reserved": reserved,
        "forced_words": [{"word": w, "mask": hex(mask), "value": hex(ones[w])}
                         for w, mask in enumerate(ones_mask) if mask],
        "zero_words": [{"word": w, "mask": hex(mask)} for w, mask in enumerate(zeros) if mask],
    }


# -- Containers ------------------------------------------------------------------------------------


def fields(items: list[Ir]) -> Iterator[Ir]:
    """All fields, those of groups among them."""
    for item in items:
        if item["kind"] == "group":
            yield from fields(item["items"])
        elif item["kind"] == "field":
            yield item


def _constants(language: Language, container: Ir) -> list[Ir]:
    """Values that fields list, which are constants of their container."""
    found: dict[str, Ir] = {}
    for field in fields(container["items"]):
        for value in field["values"]:
            found.setdefault(value["cpp"], {
                "cpp": value["cpp"], "type": language.type_of(field), "value": value["value"],
                "doc": value["doc"]})
    return list(found.values())


def _positions(language: Language, container: Ir, items: list[Ir], base: int,
               found: dict[str, Ir]) -> dict[str, Ir]:
    """Where C says that fields are, in a group those of the first item."""
    for described in items:
        item = language.seen(described)
        if item["kind"] == "group":
            _positions(language, container, item["items"], base + item["bit"], found)
        elif item["kind"] == "field":
            name = f"{container['c']}_{item['c']}"
            found.setdefault(name, {
                "name": item["name"], "c": name, "start": base + item["bit"],
                "bits": item["in_c"].get("bits") or item["width"]})
    return found


def _bits_in_c(container: Ir, tail: Ir | None) -> int:
    """Up to where C packs members. What lies beyond <T>_length, of a longer variant or of a tail
    that users of genxml know as members, is packed as far as the length field counts it."""
    byte_unit = container["unit"] == "byte"
    longest = container["max_bytes"] * 8
    bits = max(longest if byte_unit or container["variable"] else container["bytes"] * 8,
               container["in_c"].get("dwords", 0) * 32)
    if container["length"] is None or byte_unit:
        return int(bits)
    if tail is not None:
        longest = max(longest, tail["bit"] + tail["in_c"]["count"] * tail["width"])
    return int(max(bits, longest))


def _body(view: View, container: Ir) -> Ir:
    """What a container and the item of a tail have in common."""
    leaves, loops = view.leaves(container, container["items"], container["max_bytes"] * 8)
    return {
        "words": (container["max_bytes"] + 3) // 4,
        "constants": _constants(view.language, container),
        "members": view.members(container, container["items"]),
        "leaves": leaves, "loops": loops,
        **fixed(view.structs, container),
    }


def _tail(view: View, container: Ir, tail: Ir | None) -> Ir | None:
    if tail is None:
        return None
    named = tail if tail["name"] else tail["items"][0]
    out: Ir = {"name": named["name"], "id": named["cpp"], "start_bit": tail["bit"],
               "item_bytes": tail["width"] // 8, "max": tail["most"] or None,
               "struct": None, "item": None}
    only = tail["items"][0] if len(tail["items"]) == 1 else None
    if only and only["kind"] == "field" and only["type"] == "struct" and only["bit"] == 0:
        out["struct"] = view.structs[only["of"]]["cpp"]
    else:
        # The item as a container of its own, declared inside its packet.
        size = tail["width"] // 8
        item: Ir = {"cpp": "item", "unit": container["unit"], "bytes": size, "max_bytes": size,
                    "doc": tail["doc"], "items": tail["items"], "variable": False, "length": None,
                    "in_c": {}}
        out["item"] = item | _body(view, item)
    return out


def _clauses(when: list[list[Ir]] | None) -> list[list[Ir]] | None:
    return when and [[dict(term, path=term["cpp"]) for term in clause] for clause in when]


def _repeat(repeat: Ir | None) -> Ir | None:
    return repeat and dict(repeat, path=repeat["field"] and repeat["field"]["cpp"])


def divide(ir: Ir, parts: dict[str, list[str]]) -> None:
    """Finds for each container the part that it belongs to: the one whose engines alone have it."""
    if not parts:
        return
    known = {one["name"] for one in ir["engines"]}
    by_name = {one["name"]: one for one in ir["containers"]}
    for name, engines in parts.items():
        for engine in engines:
            if engine not in known:
                raise Unsupported(f"part {name}: there is no engine {engine!r}; there are "
                                  + ", ".join(sorted(known)))
    users: dict[str, set[str]] = {}

    def of(engines: list[str]) -> str:
        whole = set(engines) >= known
        return next((name for name, own in parts.items()
                     if engines and not whole and set(engines) <= set(own)), "common")

    def hold(items: list[Ir], part: str) -> None:
        for item in items:
            if "items" in item:
                hold(item["items"], part)
            elif item.get("type") == "struct":
                use(item["of"], part)

    def use(name: str, part: str) -> None:
        if part in users.setdefault(name, set()):
            return
        users[name].add(part)
        hold_all(by_name[name], part)

    def hold_all(container: Ir, part: str) -> None:
        hold(container["items"], part)
        for one in container["parts"]:
            use(one["struct"], part)

    for container in ir["containers"]:
        if container["kind"] != "struct":
            hold_all(container, of(container["engines"]))
    ir["parts"] = list(parts)
    ir["part_of"] = {}
    for container in ir["containers"]:
        found = users.get(container["name"], {"common"}) if container["kind"] == "struct" else {
            of(container["engines"])}
        ir["part_of"][container["cpp"]] = next(iter(found)) if len(found) == 1 else "common"


def add_views(ir: Ir) -> None:
    """Gives each container what C++ and C see of it."""
    cpp, c = View(Cpp(ir), ir), View(C(ir), ir)
    c_values: set[tuple[str, str]] = set()
    views: list[Ir] = []
    for container in ir["containers"]:
        tail = next((one for one in reversed(container["items"])
                     if one["kind"] == "group" and one["tail"]), None)
        in_c, is_register = container["in_c"], container["kind"] == "register"
        counts_dwords = container["unit"] != "byte" and not container["variable"]
        leaves, loops = c.leaves(container, container["items"], _bits_in_c(container, tail))
        out = _body(cpp, container)
        out.update(
            c_length=in_c.get("dwords", container["bytes"] // 4 if counts_dwords else None),
            c_offset=in_c.get("offset", container["register_offset"]) if is_register else None,
            c_values=[], c_members=c.members(container, container["items"]),
            c_leaves=leaves, c_loops=loops,
            positions=list(_positions(c.language, container, container["items"], 0, {}).values()),
            tail=_tail(cpp, container, tail),
            variants=[dict(one, when=_clauses(one["when"])) for one in container["variants"]],
            parts=[dict(one, id=one["cpp"], struct=cpp.structs[one["struct"]]["cpp"],
                        bytes=cpp.structs[one["struct"]]["bytes"], when=_clauses(one["when"]),
                        repeat=_repeat(one["repeat"])) for one in container["parts"]],
            pad=container["pad"] and dict(container["pad"],
                                          when=_clauses(container["pad"]["when"])))
        for field in fields(container["items"]):
            for value in field["values"]:
                # Once in each part: their headers can be had alone.
                key = (ir.get("part_of", {}).get(container["cpp"], ""), value["c"])
                if key not in c_values:
                    c_values.add(key)
                    out["c_values"].append({"c": value["c"], "value": value["value"]})
        views.append(out)
    for container, out in zip(ir["containers"], views):
        container.update(out)
