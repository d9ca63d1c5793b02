"""Compares descriptions with what other drivers define: position, width and kind of every field.

Definitions come from drivers.tsv.xz (see derive.py), descriptions from the IR that packgen writes.
A difference is a value: its class, what it is about, in which generation, of whose definition.
"""

import collections
import dataclasses
import fnmatch
import json
import lzma
import re

# The generations of the drivers' definitions that are not named alike, by driver.
GENERATIONS = {
    "mesa": {"gfx20": "xe2", "gfx125_rt": "gfx125", "gfx20_rt": "xe2"},
    "ihd": {"g8": "gfx8", "g9": "gfx9", "g10": None, "g11": "gfx11", "g12": "gfx12",
            "xe_xpm": "gfx125", "xe_hpm": "gfx125"},
    "neo": {"gen8": "gfx8", "gen9": "gfx9", "gen11": "gfx11", "gen12lp": "gfx12",
            "xe_hpg": "gfx125", "xe_hpc": "gfx125", "xe2_hpg": "xe2"},
}
ARRAY = re.compile(r"(\d+)\*(\d+)@(\d+)")
MOST_ITEMS = 1024


@dataclasses.dataclass(frozen=True)
class Leaf:
    """A field with nested structures and arrays written out; bits count from bit 0 of dword 0."""

    name: str
    first: int
    last: int
    kind: str  # "float", "address", or "bits"

    def shares(self, other):
        return self.first <= other.last and other.first <= self.last

    def holds(self, other):
        return self.first <= other.first and other.last <= self.last


@dataclasses.dataclass
class Definition:
    """A packet or structure as one driver, or packsmith, defines it."""

    name: str
    kind: str  # "packet" or "struct"
    dwords: int | None  # the longest; None: variable
    bias: int | None
    mask: int
    value: int
    engines: frozenset
    fields: list
    source: str = ""
    aliases: tuple = ()
    others: frozenset = frozenset()  # lengths that it may have besides `dwords`

    def may_have(self, dwords):
        """Whether a packet of this length is what is defined."""
        return not self.dwords or dwords == self.dwords or dwords in self.others


@dataclasses.dataclass(frozen=True)
class Difference:
    """One that needs a reason."""

    cls: str
    container: str
    field: str  # of the other driver's; "-" if it has none there
    here: str  # of packsmith's; "-" if it has none there
    bits: str  # the other's position, or packsmith's if there is no other
    generation: str
    source: str  # driver/generation/platform
    agree: str = ""  # drivers whose definition of that generation has the fields as packsmith has

    @property
    def full_class(self):
        return self.cls + (", as others" if self.agree else "")

    def __str__(self):
        return "\t".join([self.generation, self.full_class, self.container, self.field, self.here,
                          self.bits, self.source, self.agree])


def plain(name):
    """Names of the same thing are spelled differently: Foo_Bar, FOO BAR."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def kind_of(type_name):
    if type_name in ("address", "offset"):
        return "address"
    return "float" if type_name in ("float", "half") else "bits"


def same_kind(here, other):
    """Drivers for media and compute have addresses as plain integers."""
    return here == other or "float" not in (here, other)


def engines_of(text):
    """A driver's words for engines, as packsmith names them."""
    names = {"blitter": "blitter", "engine": "", "video-enhance": "video-enhance"}
    return frozenset(filter(None, (names.get(one, one) for one in text.split("|"))))


# --- what others define


def written_out(name, first, last, kind):
    """A field of the table: its array, if any, item by item."""
    *arrays, name = name.split(" ") if ARRAY.match(name) else [name]
    bases = [(0, "")]
    for array in arrays:
        count, size, start = map(int, ARRAY.fullmatch(array).groups())
        count = max(1, min(count, MOST_ITEMS))
        bases = [(base + start + i * size, f"{index}[{i}]" if count > 1 else index)
                 for base, index in bases for i in range(count)]
    return [Leaf(name + index, base + first, base + last, kind) for base, index in bases]


def read_drivers(path):
    """{generation: [Definition]} of all drivers, one for each source."""
    found = collections.defaultdict(list)
    now = []
    for line in lzma.open(path, "rt", encoding="utf-8"):
        sort, name, *cells = line.rstrip("\n").split("\t")
        if sort == "F":
            first, last, kind, _ = cells
            # Mesa's names have blanks, and arrays are separated by them too.
            arrays = " ".join(m.group() for m in ARRAY.finditer(name))
            rest = ARRAY.sub("", name).strip().replace(" ", "_")
            leaves = written_out(f"{arrays} {rest}".strip(), int(first), int(last), kind_of(kind))
            now.extend(leaves)
            continue
        kind, sources, dwords, bias, mask, value, _, engine = cells
        now = []
        for source in sources.split(" "):
            driver, gen, _ = source.split("/")
            generation = GENERATIONS[driver].get(gen, gen)
            if generation is None:
                continue
            found[generation].append(Definition(
                name, "packet" if kind == "instruction" else "struct",
                int(dwords) if dwords.isdigit() and int(dwords) else None,
                int(bias) if bias else None, int(mask or "0", 16), int(value or "0", 16),
                engines_of(engine), now, source))
    return found


# --- what packsmith describes


class Description:
    """The packets and structures of one generation's IR."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.ir = json.load(file)
        self.usual = self.ir["usual_item"]
        self.by_name = {c["name"]: c for c in self.ir["containers"]}
        self.definitions = [self.definition(c) for c in self.ir["containers"]
                            if c["kind"] != "register"]
        self.named = collections.defaultdict(list)
        self.opcodes = collections.defaultdict(list)
        for one in self.definitions:
            for name in (one.name, *one.aliases):
                self.named[plain(name)].append(one)
            if one.kind == "packet":
                self.opcodes[one.value & 0xffff0000].append(one)

    def leaves(self, items, base=0, prefix="", index=""):
        for item in items:
            kind = item.get("kind", self.usual["kind"])
            first = base + item["bit"]
            if kind == "group":
                count = max(1, min(item["count"], MOST_ITEMS))
                for i in range(count):
                    yield from self.leaves(item["items"], first + i * item["width"],
                                           prefix + (item["name"] + "." if item["name"] else ""),
                                           index + (f"[{i}]" if count > 1 else ""))
            elif kind == "field":
                if item.get("type") == "struct":
                    yield from self.leaves(self.by_name[item["of"]]["items"], first,
                                           prefix + item["name"] + ".", index)
                else:
                    yield Leaf(prefix + item["name"] + index, first, first + item["width"] - 1,
                               kind_of(item["type"]))

    def definition(self, c):
        identify = c.get("identify") or {}
        engines = c.get("engines") or []
        size = None if c["variable"] else c["max_bytes"] // 4
        others = {c["bytes"] // 4, *(one["bytes"] // 4 for one in c["variants"])}
        for tail in c["items"]:
            if size and tail.get("tail"):
                most = tail["most"] or MOST_ITEMS
                others |= {size + i * tail["width"] // 32 for i in range(most + 1)}
        return Definition(c["name"], c["kind"], size, c.get("length_bias"),
                          int(str(identify.get("mask", "0")), 0),
                          int(str(identify.get("value", "0")), 0),
                          frozenset(engines), list(self.leaves(c["items"])),
                          aliases=tuple(c.get("aliases", ())), others=frozenset(others))

    def counterpart(self, other):
        """What the driver's container is here; None if it is not described."""
        for one in self.named[plain(other.name)]:
            if one.kind == other.kind:
                return one
        if other.kind == "struct" or not other.mask:
            return None
        for one in self.opcodes[other.value & 0xffff0000]:
            both = one.mask & other.mask
            if both & 0xffff0000 and (one.value ^ other.value) & both == 0 and (
                    not one.engines or not other.engines or one.engines & other.engines):
                return one
        return None


# --- the comparison


class Index:
    """The fields of a container by place."""

    def __init__(self, leaves):
        self.exact = collections.defaultdict(list)
        self.by_dword = collections.defaultdict(list)
        for leaf in leaves:
            self.exact[leaf.first, leaf.last].append(leaf)
            for dword in range(leaf.first // 32, leaf.last // 32 + 1):
                self.by_dword[dword].append(leaf)

    def near(self, leaf):
        """Those that share bits with it."""
        return list(dict.fromkeys(
            one for dword in range(leaf.first // 32, leaf.last // 32 + 1)
            for one in self.by_dword[dword] if one.shares(leaf)))


def size_difference(here, other):
    if other.dwords and not here.may_have(other.dwords):
        return f"{here.dwords} here, {other.dwords} there"
    return None


def bit_mask(leaves, first, last):
    """Those of the bits first to last that the fields have."""
    bits = 0
    for leaf in leaves:
        low, high = max(leaf.first, first), min(leaf.last, last)
        if low <= high:
            bits |= ((1 << (high - low + 1)) - 1) << (low - first)
    return bits


def all_bits(first, last):
    return (1 << (last - first + 1)) - 1


def classify(field, near, here, there):
    """The class of a difference, for a field that no field here equals.

    near: the fields here that share bits with it. there: the other driver's fields that share bits
    with those.
    """
    if not near:
        if here.dwords and field.first >= here.dwords * 32:
            return "beyond its length"
        return "only there"
    if all(field.holds(one) for one in near):
        if bit_mask(near, field.first, field.last) == all_bits(field.first, field.last):
            return "finer here"
        return "address extent" if near[0].kind == "address" else "wider there"
    outer = next((one for one in near if one.holds(field)), None)
    if outer is not None:
        if bit_mask(there, outer.first, outer.last) == all_bits(outer.first, outer.last):
            return "finer there"
        return "address extent" if outer.kind == "address" else "narrower there"
    # An address in two parts, the upper of which has more bits.
    if all(one.kind == "address" for one in near) and field.first % 32 == 0:
        return "address extent"
    return "boundaries cross"


def compare(here, other, generation):
    """Yields Differences, and None for each field that agrees."""
    def differ(cls, field, mine, bits):
        return Difference(cls, here.name, field, mine, bits, generation, other.source)

    size = size_difference(here, other)
    if size:
        yield differ("length", "-", "-", size)
    both = here.mask & other.mask
    if other.mask and (here.value ^ other.value) & both:
        yield differ("opcode", "-", "-", f"{here.value:#x} here, {other.value:#x} there")
    fields, others = Index(here.fields), Index(other.fields)
    known = set()
    for field in other.fields:
        if (field.first, field.last) in known:
            continue
        known.add((field.first, field.last))
        bits = f"{field.first}-{field.last}"
        # Bits of the opcode are compared as one number.
        if field.last < 32 and not all_bits(field.first, field.last) << field.first & ~both:
            yield None
            continue
        same = fields.exact.get((field.first, field.last))
        if same:
            if any(same_kind(one.kind, field.kind) for one in same):
                yield None
            else:
                yield differ("kind", field.name, f"{same[0].name}@{bits} {same[0].kind}", bits)
            continue
        near = fields.near(field)
        there = [two for one in near for two in others.near(one)]
        names = " ".join(dict.fromkeys(f"{one.name}@{one.first}-{one.last}" for one in near[:3]))
        yield differ(classify(field, near, here, there), field.name, names or "-", bits)
    for leaf in here.fields:
        bits = f"{leaf.first}-{leaf.last}"
        if (leaf.first, leaf.last) in known or (other.dwords and
                                                leaf.first >= other.dwords * 32):
            continue
        known.add((leaf.first, leaf.last))
        if not others.near(leaf):
            yield differ("only here", "-", f"{leaf.name}@{bits}", bits)


def without_counterparts(descriptions, drivers):
    """What drivers define and no description has: "generation<tab>source<tab>name", in order."""
    found = set()
    for generation, path in descriptions.items():
        description = Description(path)
        found |= {f"{generation}\t{one.source}\t{one.name}" for one in drivers.get(generation, [])
                  if one.fields and description.counterpart(one) is None}
    return sorted(found)


def compare_all(descriptions, drivers):
    """([Difference], number of fields that agree, containers compared) of all generations."""
    differences, agreed, compared = [], 0, 0
    for generation, path in descriptions.items():
        description = Description(path)
        found = []
        exact = collections.defaultdict(dict)  # container -> source -> places of fields
        for other in drivers.get(generation, []):
            here = description.counterpart(other)
            if here is None or not other.fields:
                continue
            compared += 1
            exact[here.name][other.source] = {f"{one.first}-{one.last}" for one in other.fields}
            for one in compare(here, other, generation):
                if one is None:
                    agreed += 1
                else:
                    found.append(one)
        for one in found:
            places = re.findall(r"@(\d+-\d+)", one.here)
            sources = sorted(source for source, has in exact[one.container].items()
                             if places and has.issuperset(places) and source != one.source)
            differences.append(dataclasses.replace(one, agree=" ".join(sources)))
    return differences, agreed, compared


# --- the reasons


@dataclasses.dataclass
class Reason:
    """A line of differences.tsv: what it covers, and how many there are."""

    number: int  # of the line
    count: int
    classes: re.Pattern
    containers: re.Pattern
    fields: re.Pattern
    generations: re.Pattern
    reason: str

    def covers(self, one):
        about = one.field if one.field != "-" else one.here.split("@")[0]
        return bool(self.containers.match(one.container) and self.classes.match(one.full_class)
                    and self.fields.match(about) and self.generations.match(one.generation))


def alternatives(text):
    """Of "A*|B": what matches one of the patterns as a whole."""
    return re.compile("|".join(fnmatch.translate(one) for one in text.split("|")))


COLUMNS = "count", "class", "container", "field", "generations", "reason"


def read_reasons(text):
    reasons = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) != len(COLUMNS) or not cells[0].isdigit() or not cells[-1]:
            raise ValueError(f"differences.tsv:{number}: not a line of {', '.join(COLUMNS)}")
        count, *patterns, reason = cells
        reasons.append(Reason(number, int(count), *map(alternatives, patterns), reason))
    return reasons


def explain(differences, reasons):
    """({line: [Difference]}, [Difference without a reason]); the first line that covers wins."""
    covered = {one.number: [] for one in reasons}
    without = []
    for difference in differences:
        reason = next((one for one in reasons if one.covers(difference)), None)
        if reason is None:
            without.append(difference)
        else:
            covered[reason.number].append(difference)
    return covered, without


def read_known(path):
    """The lines of known.tsv.xz: each difference, and each definition without a counterpart."""
    return lzma.open(path, "rt", encoding="utf-8").read().splitlines()


def write_known(path, lines):
    with lzma.open(path, "wt", preset=9, encoding="utf-8", newline="\n") as file:
        file.write("".join(line + "\n" for line in lines))


def known_lines(differences, missing):
    return sorted(map(str, differences)) + [f"no counterpart\t{one}" for one in missing]


def changes(known, now):
    """What came ("+ …") and what went ("- …"), the same line twice counted twice."""
    before, after = collections.Counter(known), collections.Counter(now)
    return ([f"+ {one}" for one in sorted((after - before).elements())] +
            [f"- {one}" for one in sorted((before - after).elements())])


def recount(text, covered):
    """The text with the counts that there are, without the lines that cover nothing."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        if number not in covered:
            lines.append(line)
        elif covered[number]:
            lines.append("\t".join([str(len(covered[number])), *line.split("\t")[1:]]))
    return "\n".join(lines) + "\n"
