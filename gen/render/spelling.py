"""How C++ and C spell what decode tables have by the manual's names: types, members, values.

Programs that write sources for the generated headers (unpack --format=cpp) have this beside the
tables. Keys are short, because all generations are in one program:

    containers  NAME: {cpp, c, h, by, cb, m, cm, tail, parts}; h 1: C has <c>_header; by 1: it is
                measured in bytes; cb: the bytes whose members C packs, without it those that the
                length field counts
    m, cm       members of C++ and of C in the order of their declarations:
      n         the member
      b, w      bits from the start of what it is declared in, for arrays of the first element
      d         [[count, bits from one to the next], ...], of arrays
      s         the structure whose members it has
      m         its own members
      t         u, i, b (bool), f (float), h (half), q (unsigned fixed), s (signed fixed),
                a (address), o (offset), e (enumeration)
      of        the enumeration
      y         C: the type of an enumeration's member
      z, k, l, g, f     encodings: shift, minus, log2, groups, fraction bits
      i         the default, if it is not zero
      lo, hi, nz, mu        what pack checks: least, most, not zero, a multiple
      al, cl    what pack rounds up to; it clamps to hi
      v         names of values that the field lists: [[value, name], ...]
    tail        {b, w, min, max, cpp, c, m}: the items that follow a packet in C++
    parts       [{n, s, r}]: n the member or parameter; r 1: an array that is a parameter of pack
    enums       NAME: {cpp, v: [[value, C++, C], ...]}
    codes       the same of values of members that are plain numbers
"""

import json
import zlib
from typing import Any

import cpp
from ir import Ir
from languages import REAL, C, Cpp, Language, initial

_LETTERS = {"uint": "u", "int": "i", "bool": "b", "float": "f", "half": "h", "ufixed": "q",
            "sfixed": "s", "address": "a", "offset": "o", "enum": "e"}
_NUMBERS = {"k": "minus", "g": "groups", "f": "frac", "al": "align", "mu": "multiple"}


class _Speller:
    """Members of containers in one language."""

    def __init__(self, language: Language, ir: Ir, values: dict[str, int]) -> None:
        self.language = language
        self.in_c = isinstance(language, C)
        self.prefix = str(ir["c_prefix"])
        self.values = values  # of C, by name: those whose name has one value
        self.types = {one["c"] for one in (*ir["enums"], *ir["containers"])}

    def value(self, name: str) -> str:
        """A value's name with the generation's prefix, as the C header prints it."""
        if not name.startswith(self.prefix + "_"):
            name = self.prefix + ("" if name.startswith("_") else "_") + name
        return name + "_value" if name in self.types else name

    def members(self, container: Ir, items: list[Ir], base: int = 0,
                dims: tuple[tuple[int, int], ...] = ()) -> list[Ir]:
        """As members.View.members has them, with their bits."""
        found: list[Ir] = []
        for described in items:
            item = self.language.seen(described)
            if item["kind"] == "field" and self._has_member(container, item):
                found.append(self._field(container, item, base, dims))
            elif item["kind"] == "group":
                count = self.language.items_in(item)
                if count == 0:
                    continue
                single = item["tail"] and count == 1
                inner = dims if single else (*dims, (count, item["width"]))
                if not self.language.nests(item):
                    found += self.members(container, item["items"], base + item["bit"], inner)
                    continue
                found.append({"n": item[self.language.key], "b": base + item["bit"],
                              "w": item["width"], "m": self.members(container, item["items"])})
                if inner:
                    found[-1]["d"] = [list(one) for one in inner]
        return found

    def _has_member(self, container: Ir, item: Ir) -> bool:
        if self.in_c and container["unit"] == "byte":
            # Opcodes of records of bytes are not members.
            return not any(one["name"] == item["name"] for one in container["forced"])
        return self.language.has_member(item)

    def _field(self, container: Ir, item: Ir, base: int, dims: tuple[tuple[int, int], ...]) -> Ir:
        out: Ir = {"n": item[self.language.key], "b": base + item["bit"], "w": item["width"]}
        if dims:
            out["d"] = [list(one) for one in dims]
        if item["type"] == "struct":
            out["s"] = item["of"]
            return out
        out["t"] = _LETTERS[item["type"]]
        if item["type"] == "enum":
            out["of"] = item["of"]
            if self.in_c:
                out["y"] = self.language.type_of(item)
        if item["shift"]:
            out["z"] = item["shift"]
        out.update({key: item[name] for key, name in _NUMBERS.items() if item[name]})
        if item["log2"]:
            out["l"] = 1
        if item["nonzero"]:
            out["nz"] = 1
        if item["clamp"]:
            out["cl"] = 1
        for key, name in (("lo", "min"), ("hi", "max")):
            if item[name] is not None:
                out[key] = str(item[name])
        default = self._default(container, item, dims)
        if default:
            out["i"] = default
        values = [[one["value"], self.value(one["c"]) if self.in_c else one["cpp"]]
                  for one in item["values"]
                  if not self.in_c or self.values.get(one["c"]) == one["value"]]
        if values:
            out["v"] = values
        return out

    def _default(self, container: Ir, item: Ir, dims: tuple[tuple[int, int], ...]) -> str:
        if self.in_c:
            # Structures of dwords have no initialisers.
            if container["unit"] != "byte" and container["kind"] != "packet":
                return ""
            text = self.language.default_of(container, item, [one for one, _ in dims])
        elif item["type"] in REAL:
            text = item["default"]
        else:
            text = str(initial(item))
        return "" if text is None or float(text) == 0 else str(text)


def _c_values(ir: Ir) -> dict[str, int]:
    """Values of C that fields list, by their names; not those that several values share."""
    found: dict[str, int] = {}
    shared: set[str] = set()

    def collect(items: list[Ir]) -> None:
        for item in items:
            if "items" in item:
                collect(item["items"])
                continue
            for one in item.get("values", ()):
                if found.setdefault(one["c"], one["value"]) != one["value"]:
                    shared.add(one["c"])

    for container in ir["containers"]:
        collect(container["items"])
    return {name: value for name, value in found.items() if name not in shared}


def spelled(ir: Ir) -> dict[str, Any]:
    """All of it, of an IR that members.add_views has completed."""
    in_cpp = _Speller(Cpp(ir), ir, {})
    in_c = _Speller(C(ir), ir, _c_values(ir))
    names = {one["cpp"]: one["name"] for one in ir["containers"]}

    def enums(kind: str) -> dict[str, Any]:
        def c_name(enum: Ir, value: Ir) -> str:
            return f"{enum['c']}_{value['c']}" if kind == "codes" else in_c.value(value["c"])

        return {one["name"]: {"cpp": one["cpp"],
                              "v": [[v["value"], v["cpp"], c_name(one, v)] for v in one["values"]]}
                for one in ir[kind]}

    def tail(container: Ir) -> Ir | None:
        made = cpp.prepare(container)["tail"]
        if made is None:
            return None
        group = next(one for one in reversed(container["items"])
                     if one["kind"] == "group" and one["tail"])
        out: Ir = {"b": group["bit"], "w": group["width"], "min": made["min_items"],
                   "max": made["max_items"] or 0}
        if made["struct"] is not None:
            out["s"] = group["items"][0]["of"]
        else:
            out.update(cpp=container["cpp"] + "::item",
                       m=in_cpp.members(container, group["items"]))
        return out

    containers: dict[str, Any] = {}
    for one in ir["containers"]:
        in_bytes = one["unit"] == "byte"
        defaults = [m for m in one["c_members"] if m["default"] is not None]
        out = {"cpp": one["cpp"], "c": one["c"],
               "m": in_cpp.members(one, one["items"]), "cm": in_c.members(one, one["items"])}
        if in_bytes or (one["kind"] == "packet" and defaults):
            out["h"] = 1
        if in_bytes:
            out["by"] = 1
        if in_bytes or one["length"] is None:
            out["cb"] = one["bytes"] if one["c_length"] is None else one["c_length"] * 4
        end = tail(one)
        if end:
            out["tail"] = end
        if one["parts"]:
            out["parts"] = [dict({"n": part["cpp"], "s": names[part["struct"]]},
                                 **({"r": 1} if part["repeat"] else {}))
                            for part in one["parts"]]
        containers[one["name"]] = out
    return {"spelling": 1, "generation": ir["generation"], "namespace": ir["namespace"],
            "address_bits": ir["address_bits"],
            "digest": ir["digest"], "enums": enums("enums"), "codes": enums("codes"),
            "containers": containers}


def compressed(ir: Ir) -> bytes:
    """The same as a program has it: the size of the text in eight bytes, then its zlib stream."""
    text = json.dumps(spelled(ir), separators=(",", ":"), ensure_ascii=True).encode()
    return len(text).to_bytes(8, "little") + zlib.compress(text, 9)
