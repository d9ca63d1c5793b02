"""What C++ and C make of a field: its type, its default, and what C knows as something else.

A third language is a class here, and its names: gen/model/names.h spells those of C++ and C,
because descriptions whose names collide there are refused.
"""

from ir import Ir, Unsupported

# Types of the IR whose values are fractions.
REAL = ("float", "half", "ufixed", "sfixed")


def ones(width: int) -> int:
    """`width` ones, at most 64."""
    return (1 << min(width, 64)) - 1


def exceeds_32_bits(field: Ir) -> bool:
    """Whether a value of an unsigned field can be larger than 32 bits hold."""
    width, shift = field["width"], field["shift"]
    if width + shift > 32:
        return True
    if field["log2"]:
        return bool(width > 5)
    most = (ones(width) + 1) * field["groups"] if field["groups"] else (
        (ones(width) << shift) + field["minus"])
    return bool(most > 0xffffffff)


def initial(field: Ir) -> int:
    """The default of an integer; without one, what raw zero decodes to."""
    if field["default"] is not None:
        return int(field["default"])
    if field["log2"]:
        return 1
    if field["groups"]:
        return int((ones(field["width"]) + 1) * field["groups"])
    return int(field["minus"])


class Language:
    """What the members of a container are in one language."""

    key = ""  # of names in the IR

    def __init__(self, ir: Ir) -> None:
        self.types: dict[str, Ir] = {one["name"]: one
                                     for one in (*ir["enums"], *ir["codes"], *ir["containers"])}
        self.byte_unit: bool = ir["unit"] == "byte"

    def seen(self, item: Ir) -> Ir:
        """An item as this language has it."""
        return item

    def items_in(self, group: Ir) -> int:
        """How many items of a group are members."""
        raise NotImplementedError

    def nests(self, group: Ir) -> bool:
        """Whether the items of a group are members of a type of their own."""
        raise NotImplementedError

    def has_member(self, field: Ir) -> bool:
        """Whether callers set the field."""
        raise NotImplementedError

    def type_of(self, field: Ir) -> str:
        """The type of a member."""
        raise NotImplementedError

    def default_of(self, container: Ir, field: Ir, dims: list[int]) -> str | None:
        """What initialises a member, or each element of an array; None: nothing."""
        raise NotImplementedError


class Cpp(Language):
    """C++: opcodes and lengths are not members; arrays of groups are arrays of structures."""

    key = "cpp"

    def items_in(self, group: Ir) -> int:
        return 0 if group["tail"] else int(group["count"])

    def nests(self, group: Ir) -> bool:
        return bool(group["name"])

    def has_member(self, field: Ir) -> bool:
        return field["forced"] is None and not field["is_length"]

    def type_of(self, field: Ir) -> str:
        kind, width = field["type"], field["width"]
        if kind in ("bool", "address"):
            return str(kind)
        if kind == "int":
            return "int64_t" if width > 32 else "int32_t"
        if kind in ("float", "half"):
            return "float"
        if kind in ("ufixed", "sfixed"):
            return "double" if width > 24 else "float"
        if kind in ("enum", "struct"):
            return str(self.types[field["of"]]["cpp"])
        if kind not in ("uint", "offset"):
            raise Unsupported(f"{field['name']}: type {kind}")
        return "uint64_t" if exceeds_32_bits(field) else "uint32_t"

    def default_of(self, container: Ir, field: Ir, dims: list[int]) -> str | None:
        kind = field["type"]
        if kind == "struct":
            return "{}"
        if kind in REAL:
            text = field["default"] or "0.0"
            return text if self.type_of(field) == "double" else text + "f"
        value = initial(field)
        if kind == "bool":
            return "true" if value else "false"
        if kind != "enum":
            return str(value)
        enum = self.types[field["of"]]
        for one in enum["values"]:
            if one["value"] == value:
                return f"{enum['cpp']}::{one['cpp']}"
        return f"static_cast<{enum['cpp']}>({value})"


class C(Language):
    """C, with the interface that users of genxml know: opcodes and lengths are members."""

    key = "c"

    def seen(self, item: Ir) -> Ir:
        published = item.get("in_c")
        if not published:
            return item
        if published.get("is_whole"):
            count = published["count"] if item["tail"] else item["count"]
            return dict(item["items"][0], bit=item["bit"], width=item["width"] * count)
        if published.get("is_uint"):
            return dict(item, type="uint", shift=0)
        return item

    def items_in(self, group: Ir) -> int:
        return int(group["in_c"]["count"] if group["tail"] else group["count"])

    def nests(self, group: Ir) -> bool:
        return False

    def has_member(self, field: Ir) -> bool:
        return True

    def type_of(self, field: Ir) -> str:
        kind, width = field["type"], field["width"]
        if kind == "bool":
            return "bool"
        if kind == "int":
            return "int64_t" if width > 33 else "int32_t"
        if kind in REAL:
            return "float"
        if kind == "address":
            return "__gen_address_type"
        if kind == "offset":
            return "uint64_t"
        if kind in ("enum", "struct"):
            return f"{kind} {self.types[field['of']]['c']}"
        if kind != "uint":
            raise Unsupported(f"{field['name']}: type {kind}")
        # The interface that C drivers know widens a member where its last bit lies more than 32
        # bits after its first. It has no shifted integers.
        shifted = self.byte_unit or field["shift"] != 0
        wide = width > 33 or (shifted and exceeds_32_bits(field))
        return "uint64_t" if wide else "uint32_t"

    def default_of(self, container: Ir, field: Ir, dims: list[int]) -> str | None:
        if dims or field["in_c"].get("has_no_default"):
            return None
        if field["forced"] is not None:
            return str(int(field["forced"], 16))
        if field["default"] is not None:
            return str(field["default"])
        if field["is_length"] and not container["variable"]:
            unit = 1 if container["unit"] == "byte" else 4
            length = container["in_c"].get("dwords", container["bytes"] // unit)
            return str((length - container["length"]["bias"]) & 0xffffffff)
        encoded = field["log2"] or field["groups"] or field["minus"]
        return str(initial(field)) if encoded else None
