"""Statements that write a container word by word; what C++ and C have in common."""

from typing import Protocol

from ir import Ir, Unsupported, places
from text import call, join

# Words of zeros from which on a loop is less to read than a statement each.
ZEROS = 8


class Term(str):
    """What a field adds to a word. `address`: the field's value is made by a hook that wants to know
    the word's place and its other bits; the term itself names the result."""

    address: str | None = None
    # A whole unsigned value: how it is written, its word, and its place there.
    plain: tuple[str, int, int] | None = None


class Face(Protocol):
    """How a language spells a field's bits."""

    destination: str  # the words that are written
    bytes_to: str  # the bytes that are written, for records of bytes
    array: str  # a local array of words
    put: str  # ORs a value into such an array
    store: str  # writes up to four bytes

    def term(self, leaf: Ir, path: str, place: Ir, bit: int) -> Term | None:
        """What a leaf adds to one word; None if nothing. bit: where the leaf starts."""

    def raw(self, leaf: Ir, path: str) -> str:
        """All bits of a leaf."""

    def gather(self, terms: list[Term]) -> list[Term]:
        """The terms of one word, some of them joined."""

    def combine(self, word: str, special: list[Term], others: list[str],
                indent: int) -> list[str]:
        """Declares what the address terms of a word name; others: the other terms of that word."""


def shifted(text: str, by: int) -> str:
    """text << by."""
    return f"{text} << {by}" if by else text


def bit_text(bit: int, strides: list[tuple[str, int]]) -> str:
    """A position within loops: 32 + 16 * i0."""
    parts = [f"{stride} * {index}" if stride != 1 else index for index, stride in strides]
    if bit or not parts:
        parts.insert(0, str(bit))
    return " + ".join(parts)


def pieces(run: Ir) -> list[tuple[int, int]]:
    """A run of bits, which may be long, as (bit, width) of at most 64 bits each."""
    bit, end = run["bit"], run["bit"] + run["width"]
    return [(at, min(64, end - at)) for at in range(bit, end, 64)]


def exemplary(container: Ir, leaves: list[Ir]) -> set[str]:
    """Members of which a worked example can say `= 1`, and all else may stay as it is; by path."""
    if any(leaf["nonzero"] for leaf in container["leaves"]):
        return set()

    def takes_one(leaf: Ir) -> bool:
        if leaf["type"] != "uint" or leaf["overlap"] or 1 in leaf["avoid"]:
            return False
        encoded = any(leaf[key] for key in ("minus", "shift", "log2", "groups", "align"))
        in_range = int(leaf["min"] or 0) <= 1 <= int(leaf["max"] or 1)
        return in_range and not encoded and leaf["multiple"] < 2

    return {leaf["path"] for leaf in leaves if takes_one(leaf)}


class Words:
    """Collects what is ORed into each word."""

    def __init__(self, count: int) -> None:
        self.constants = [0] * count
        self.terms: list[list[Term]] = [[] for _ in range(count)]

    def add(self, word: int, term: Term | None) -> None:
        """A term more. Bits beyond the last word are dropped."""
        if term is not None and word < len(self.terms):
            self.terms[word].append(term)

    def used(self, word: int) -> bool:
        """Whether anything but zero can come out."""
        return bool(self.constants[word] or self.terms[word])


def _regular(loop: Ir, base: int) -> bool:
    """Whether every item starts at a word and keeps to its own words."""
    if loop["stride"] % 32 or (base + loop["bit"]) % 32:
        return False
    limit = loop["stride"]
    covered: set[int] = set()
    for inner in loop["loops"]:
        end = inner["bit"] + inner["count"] * inner["stride"]
        words = set(range(inner["bit"] // 32, end // 32))
        if not _regular(inner, 0) or end > limit or covered & words:
            return False
        covered |= words
    for leaf in loop["leaves"]:
        end = leaf["bit"] + leaf["width"]
        if end > limit or covered & set(range(leaf["bit"] // 32, (end - 1) // 32 + 1)):
            return False
    return True


def _has_address(loop: Ir) -> bool:
    return any(leaf["type"] == "address" for leaf in loop["leaves"]) or any(
        map(_has_address, loop["loops"]))


class Body:
    """The statements that write `size` bytes, and up to `sizes[-1]` where there are variants.

    counted: of what lies beyond sizes[0], each dword is written if the packet's length, ps_n, counts
    it; an address only if all of its dwords are counted.
    """

    def __init__(self, face: Face, leaves: list[Ir], loops: list[Ir], sizes: list[int],
                 byte_unit: bool, counted: bool = False) -> None:
        self.face = face
        self.leaves = leaves
        self.loops = loops
        self.sizes = sorted(set(sizes))
        self.byte_unit = byte_unit
        self.counted = counted
        self.words = Words((self.sizes[-1] + 3) // 4)

    def constant(self, word: int, value: int) -> None:
        """Bits that are always set."""
        if word < len(self.words.constants):
            self.words.constants[word] |= value

    def statements(self, indent: int) -> str:
        """All of it."""
        words = self.words
        for leaf in self.leaves:
            for place in leaf["places"]:
                words.add(place["word"], self.face.term(leaf, leaf["path"], place, leaf["bit"]))
        return "\n".join(self._lines(indent))

    def _is_counted(self, loop: Ir) -> bool:
        """Whether items lie where the packet's length decides what is written."""
        return self.counted and loop["bit"] + loop["count"] * loop["stride"] > 8 * self.sizes[0]

    def _shared(self) -> list[tuple[set[int], list[Ir]]]:
        """Words that several items share, or items and fields: with the loops that write them."""
        count = len(self.words.terms)
        shared: list[tuple[set[int], list[Ir]]] = []
        for loop in self.loops:
            end = loop["bit"] + loop["count"] * loop["stride"]
            own = set(range(loop["bit"] // 32, min(count, (end + 31) // 32)))
            partial = self.byte_unit and self.sizes[-1] % 4 and count - 1 in own
            if self._is_counted(loop):
                if _has_address(loop):
                    raise Unsupported("addresses in items that the packet's length counts")
            elif _regular(loop, 0) and not partial and not any(map(self.words.used, own)):
                continue
            loops = [loop]
            for other in [region for region in shared if region[0] & own]:
                shared.remove(other)
                own |= other[0]
                loops = other[1] + loops
            shared.append((own, loops))
        return shared

    def _store(self, place: str, constant: int, terms: list[Term], indent: int,
               size: int = 4, condition: str = "") -> list[str]:
        """One word. condition: what precedes the statement; none where there is an address."""
        lines: list[str] = []
        terms = self.face.gather(terms)
        texts: list[str] = [f"0x{constant:08x}"] if constant else []
        special = [term for term in terms if term.address is not None]
        if special:
            others = texts + [term for term in terms if term.address is None]
            lines += self.face.combine(place, special, others, indent)
            texts = list(special)
        else:
            texts += terms
        texts = texts or ["0"]
        if not self.byte_unit:
            lines.append(join(f"{condition}{self.face.destination}[{place}] = ", texts, " | ", ";",
                              indent))
            return lines
        offset = "" if place == "0" else f" + {4 * int(place)}" if place.isdigit() else (
            f" + 4 * ({place})")
        lines.append(join(f"{self.face.store}({self.face.bytes_to}{offset}, ", texts, " | ",
                          f", {size});", indent))
        return lines

    def _end_of_zeros(self, word: int, last: int, elsewhere: set[int]) -> int:
        """Where the words end that begin with this one and in which nothing is."""
        while word < last and word not in elsewhere and not self.words.used(word):
            word += 1
        return word

    def _counted(self, elsewhere: set[int], indent: int) -> list[str]:
        """The words beyond the shortest form, each under its condition."""
        lines: list[str] = []
        word, last = self.sizes[0] // 4, self.sizes[-1] // 4
        # Words that end within an address.
        inside = {place["word"] for leaf in self.leaves if leaf["type"] == "address"
                  for place in leaf["places"][:-1]}
        while word < last:
            if word in elsewhere:
                word += 1
                continue
            zeros = self._end_of_zeros(word, last, elsewhere)
            if zeros - word >= ZEROS:
                lines.append(" " * indent + f"for (unsigned ps_i = {word}; ps_i < {zeros} && "
                             f"ps_i < ps_n; ++ps_i) {self.face.destination}[ps_i] = 0;")
                word = zeros
                continue
            first = word
            while word in inside and word + 1 < last:
                word += 1
            condition = f"if (ps_n > {word}) "
            if any(term.address is not None for at in range(first, word + 1)
                   for term in self.words.terms[at]):
                lines.append(" " * indent + condition + "{")
                for at in range(first, word + 1):
                    lines += self._store(str(at), self.words.constants[at], self.words.terms[at],
                                         indent + 2)
                lines.append(" " * indent + "}")
            else:
                lines += self._store(str(word), self.words.constants[word], self.words.terms[word],
                                     indent, condition=condition)
            word += 1
        return lines

    def _lines(self, indent: int) -> list[str]:
        shared = self._shared()
        gathered = [loop for _, loops in shared for loop in loops]
        elsewhere: set[int] = set().union(*(words for words, _ in shared))
        for loop in self.loops:
            if loop not in gathered:
                end = loop["bit"] + loop["count"] * loop["stride"]
                own = set(range(loop["bit"] // 32, end // 32))
                if own & elsewhere:
                    raise Unsupported("loops that overlap")
                elsewhere |= own
        lines: list[str] = []
        start = 0
        for end in self.sizes:
            inside = indent
            if start and self.counted:
                lines += self._counted(elsewhere, indent)
                for words, loops in shared:
                    if min(words) * 4 >= start:
                        lines += self._gathered(min(words), max(words) + 1, end, loops, indent)
                break
            if start:
                lines.append(" " * indent
                             + f"if (ps_n > {start if self.byte_unit else start // 4}) {{")
                inside += 2
            first, last = (start + 3) // 4, (end + 3) // 4
            for word in range(first, last):
                if word in elsewhere or word < first:
                    continue
                first = self._end_of_zeros(word, last, elsewhere)
                if first - word >= ZEROS and not self.byte_unit:
                    lines.append(" " * inside + f"for (unsigned ps_i = {word}; ps_i < {first}; "
                                 f"++ps_i) {self.face.destination}[ps_i] = 0;")
                    continue
                first = word
                lines += self._store(str(word), self.words.constants[word],
                                     self.words.terms[word], inside, min(4, end - 4 * word))
            for loop in self.loops:
                if loop not in gathered and start <= loop["bit"] // 8 < end:
                    lines += self._loop(loop, [], 0, inside)
            for words, loops in shared:
                if start <= 4 * min(words) < end:
                    lines += self._gathered(min(words), max(words) + 1, end, loops, inside)
            if start:
                lines.append(" " * indent + "}")
            start = end
        return lines

    @staticmethod
    def _for(loop: Ir, indent: int) -> str:
        index = loop["index"]
        return (" " * indent
                + f"for (unsigned {index} = 0; {index} < {loop['count']}; ++{index}) {{")

    def _loop(self, loop: Ir, strides: list[tuple[str, int]], base: int,
              indent: int) -> list[str]:
        """A loop whose items are whole words."""
        base += loop["bit"]
        strides = [*strides, (loop["index"], loop["stride"])]
        item = Words(loop["stride"] // 32)
        for leaf in loop["leaves"]:
            for place in places(leaf["bit"], leaf["width"]):
                item.add(place["word"], self.face.term(leaf, leaf["path"], place, leaf["bit"]))
        inner: set[int] = set()
        for nested in loop["loops"]:
            first = nested["bit"] // 32
            inner |= set(range(first, first + nested["count"] * nested["stride"] // 32))
        lines = [self._for(loop, indent)]
        for word in range(len(item.terms)):
            if word not in inner:
                place = bit_text(base // 32 + word, [(i, s // 32) for i, s in strides])
                lines += self._store(place, 0, item.terms[word], indent + 2)
        for nested in loop["loops"]:
            lines += self._loop(nested, strides, base, indent + 2)
        return [*lines, " " * indent + "}"]

    def _gathered(self, first: int, last: int, end: int, loops: list[Ir],
                  indent: int) -> list[str]:
        """Items that share words: put together in an array, then copied."""
        array, count = self.face.array, last - first
        inside = indent + 2
        pad = " " * inside
        lines = [" " * indent + "{", pad + f"uint32_t {array}[{count}] = {{0}};"]
        for word in range(first, last):
            terms = self.face.gather(self.words.terms[word])
            constant = self.words.constants[word]
            if any(term.address is not None for term in terms):
                raise Unsupported("an address in a dword that items share")
            if self.words.used(word):
                texts = [f"0x{constant:08x}", *terms] if constant else list(terms)
                lines.append(join(f"{array}[{word - first}] = ", texts, " | ", ";", inside))
        for loop in loops:
            lines += self._put(loop, [], -32 * first, inside)
        kept = self.sizes[0] // 4
        if count == 1 and not self.byte_unit and not (self.counted and last > kept):
            lines.append(pad + f"{self.face.destination}[{first}] = {array}[0];")
            return [*lines, " " * indent + "}"]
        plus = f"{4 * first} + " if first and self.byte_unit else f"{first} + " if first else ""
        size = min(4 * count, end - 4 * first) if self.byte_unit else count
        if self.counted and last > kept:
            least = f"ps_n < {kept} ? {kept} : " if first < kept else ""
            most = f"ps_n > {last} ? {last} : {least}ps_n"
            lines.append(pad + f"const unsigned ps_end = {most};")
            lines.append(pad + f"for (unsigned ps_i = {first}; ps_i < ps_end; ++ps_i) {{")
            lines.append(pad + f"  {self.face.destination}[ps_i] = {array}[ps_i - {first}];")
            return [*lines, pad + "}", " " * indent + "}"]
        lines.append(pad + f"for (unsigned ps_i = 0; ps_i < {size}; ++ps_i) {{")
        if self.byte_unit:
            lines.append(pad + f"  {self.face.bytes_to}[{plus}ps_i] = "
                         f"(uint8_t)({array}[ps_i / 4] >> ps_i % 4 * 8);")
        else:
            lines.append(pad + f"  {self.face.destination}[{plus}ps_i] = {array}[ps_i];")
        return [*lines, pad + "}", " " * indent + "}"]

    def _put(self, loop: Ir, strides: list[tuple[str, int]], base: int, indent: int) -> list[str]:
        base += loop["bit"]
        strides = [*strides, (loop["index"], loop["stride"])]
        lines = [self._for(loop, indent)]
        for leaf in loop["leaves"]:
            bit = bit_text(base + leaf["bit"], strides)
            lines.append(call(self.face.put, [self.face.array, bit, str(leaf["width"]),
                                              self.face.raw(leaf, leaf["path"])], ";", indent + 2))
        for nested in loop["loops"]:
            lines += self._put(nested, strides, base, indent + 2)
        return [*lines, " " * indent + "}"]
