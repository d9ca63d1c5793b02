"""Drawings of dwords: a row for each, the highest bit left, as manuals draw packets."""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any, NamedTuple

Json = dict[str, Any]

LABEL = 52  # pixels in front of a row, for its number
COLUMN = 27  # of one bit
ROW = 30
RULER = 18
# Pixels of characters of names. Readers have other fonts; this is one of the widest.
NARROW, WIDE, CAPITAL, OTHER = 4.4, 10.4, 8.2, 7.1


class Piece(NamedTuple):
    """What a dword has of a field, group, reserved run, or of nothing (item is None)."""

    low: int
    high: int
    item: Json | None
    others: tuple[Json, ...] = ()  # views of the same bits, which are not drawn


class Row(NamedTuple):
    """Dwords that look the same."""

    first: int
    last: int
    pieces: list[Piece]


def span(item: Json, bits: int) -> tuple[int, int]:
    """First bit of an item and the first after it, all repetitions of a group included."""
    high, low = item["bits"]
    count = item.get("count")
    if count is None:
        return low, high + 1
    # A tail is drawn as one dword after the fixed part: its length is not known.
    return low, max(bits, low + 32) if count == "tail" else low + (high + 1 - low) * count


def rows_of(items: Sequence[Json], bits: int) -> list[Row]:
    """Everything in `bits` bits; of several views of the same bits the first."""
    ends = [span(item, bits) for item in items]
    bits = max([bits, *(end for _, end in ends)])
    dwords: list[list[Piece]] = [[] for _ in range((bits + 31) // 32)]
    for item, (low, end) in zip(items, ends):
        wanted = [(dword, Piece(max(low, dword * 32) % 32, (min(end, dword * 32 + 32) - 1) % 32,
                                item)) for dword in range(low // 32, (end + 31) // 32)]
        hidden = False
        for dword, piece in wanted:
            for number, there in enumerate(dwords[dword]):
                if there.high >= piece.low and there.low <= piece.high:
                    dwords[dword][number] = there._replace(others=(*there.others, item))
                    hidden = True
        if not hidden:
            for dword, piece in wanted:
                dwords[dword].append(piece)
    rows: list[Row] = []
    for dword, pieces in enumerate(dwords):
        width = min(32, bits - dword * 32)
        filled: list[Piece] = []
        at = 0
        for piece in sorted(pieces, key=lambda one: one.low):
            if piece.low > at:
                filled.append(Piece(at, piece.low - 1, None))
            filled.append(piece)
            at = piece.high + 1
        if at < width:
            filled.append(Piece(at, width - 1, None))
        # Many dwords of one thing are one row.
        if rows and len(filled) == 1 and filled[0].high == 31 and \
                len(rows[-1].pieces) == 1 and rows[-1].pieces[0].item is filled[0].item and \
                rows[-1].pieces[0].low == 0 and rows[-1].pieces[0].others == filled[0].others:
            rows[-1] = rows[-1]._replace(last=dword)
        else:
            rows.append(Row(dword, dword, filled))
    return rows


def pixels(text: str) -> float:
    """How wide text is, about."""
    return sum(NARROW if c in " .,:;'|!()[]ijlftrI1-" else WIDE if c in "mwMW@…×" else
               CAPITAL if c.isupper() else OTHER for c in text)


def beginning(text: str, room: float) -> str:
    """As much of text as there is room for."""
    while text and pixels(text) > room:
        text = text[:-1]
    return text


def fitted(name: str, bits: int) -> str:
    """A name, or what of it fits a number of bits: its beginning, or initials."""
    room = bits * COLUMN - 4
    if pixels(name) <= room:
        return name
    start = beginning(name, room - WIDE).rstrip()
    if len(start) >= 7:
        return start + "…"
    words = name.replace("_", " ").replace("-", " ").split()
    initials = beginning("".join(word[0] for word in words), room)
    if len(words) > 1:
        return initials
    return start + "…" if len(start) > 1 else beginning(name, room)


def name_of(item: Json) -> str:
    """Its own, or for a group without one that of the only thing in it."""
    if "name" in item or "count" not in item:
        return str(item.get("name", ""))
    inner = item["items"]
    return str(inner[0].get("name", "items")) if len(inner) == 1 else "items"


def kind_of(item: Json | None) -> str:
    """What the colour of an item says."""
    if item is None:
        return "gap"
    if "must" in item:
        return "reserved"
    if "count" in item:
        return "group"
    if "forced" in item or "length" in item:
        return "forced"
    if "of" in item:
        return str(item["of"])
    if "values" in item or "names" in item:
        return "enum"
    kind = item["type"]
    if kind in ("address", "offset", "bool"):
        return str(kind)
    return "number" if kind in ("uint", "int") else "real"


def title_of(item: Json | None) -> str:
    """What a pointing finger is told."""
    if item is None:
        return "not described"
    high, low = item["bits"]
    place = f"bit {low % 32}" if high == low else f"bits {high - low + low % 32}:{low % 32}"
    name = item.get("name", "")
    if "must" in item:
        return f"{name + ': ' if name else ''}reserved, must be {item['must']}, {place}"
    if "count" in item:
        times = "to the end" if item["count"] == "tail" else f"{item['count']} times"
        return f"{name or 'group'}, {times}"
    return f"{name}: {item['type']}, {place}"


def draw(items: Sequence[Json], bits: int, title: str, link: Callable[[Json], str],
         changed: Callable[[Json], bool]) -> str:
    """The drawing as SVG. `link` gives the id of the place that explains an item."""
    rows = rows_of(items, bits)
    columns = 32 if len(rows) > 1 or not rows else rows[0].pieces[-1].high + 1
    width, height = LABEL + columns * COLUMN + 2, RULER + len(rows) * ROW + 2
    parts = [f'<svg class="layout" viewBox="0 0 {width} {height}" '
             f'style="min-width:{width * 0.95:.0f}px;max-width:{width}px" '
             f'role="img" aria-label="{escape(title)}">']
    for bit in range(columns):
        x = LABEL + (columns - 1 - bit) * COLUMN + COLUMN // 2
        parts.append(f'<text class="r" x="{x}" y="12">{bit}</text>')
    for number, row in enumerate(rows):
        y = RULER + number * ROW
        label = str(row.first) if row.first == row.last else f"{row.first}–{row.last}"
        parts.append(f'<text class="d" x="{LABEL - 8}" y="{y + 19}">{label}</text>')
        for piece in reversed(row.pieces):
            x = LABEL + (columns - 1 - piece.high) * COLUMN
            size = piece.high - piece.low + 1
            mark = " changed" if piece.item is not None and changed(piece.item) else ""
            box = f'<rect class="k-{kind_of(piece.item)}{mark}" x="{x}" y="{y}" ' \
                  f'width="{size * COLUMN}" height="{ROW}"/>'
            hints = [title_of(one) for one in (piece.item, *piece.others)]
            hint = f"<title>{escape(' | '.join(hints), quote=False)}</title>"
            if piece.item is None:
                parts.append(f"<g>{hint}{box}</g>")
                continue
            name = name_of(piece.item)
            if piece.item.get("must") is not None and not name:
                name = "MBZ" if piece.item["must"] == "zero" else "MBO"
            for other in piece.others:
                name += " / " + name_of(other)
            if "count" in piece.item:
                name += " × n" if piece.item["count"] == "tail" else f" × {piece.item['count']}"
            text = f'<text x="{x + size * COLUMN / 2:g}" y="{y + 19}">' \
                   f'{escape(fitted(name, size), quote=False)}</text>'
            target = link(piece.item)
            # Reserved runs are explained by their hint.
            parts.append(f'<a href="#{target}">{hint}{box}{text}</a>' if target
                         else f"<g>{hint}{box}{text}</g>")
    parts.append("</svg>")
    return "".join(parts)
