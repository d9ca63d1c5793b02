"""Laying out generated text: lines of at most 100 columns."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

COLUMNS = 100


def hexadecimal(value: int) -> str:
    """Small numbers as people write them, the others as bit patterns."""
    return str(value) if 0 <= value < 10 else f"0x{value:x}"


def literal(value: str) -> str:
    """A default as C and C++ read it: the outermost integers need help, the rest is as it is."""
    try:
        number = int(value, 0)
    except ValueError:
        return value
    if number >= 1 << 63:
        return value + "u"
    return "(-9223372036854775807 - 1)" if number == -(1 << 63) else value


def join(head: str, terms: Sequence[str], separator: str, tail: str, indent: int) -> str:
    """head + terms + tail, broken after separators and aligned after head.

    `head` starts at column `indent`; separators keep their trailing space at a break.
    """
    line = " " * indent + head
    start = len(line)
    lines: list[str] = []
    widest = max(map(len, terms), default=0) + len(separator.rstrip())
    if start + widest > COLUMNS and head.endswith("= "):
        lines.append(line.rstrip())
        start = indent + 4
        line = " " * start
    for position, term in enumerate(terms):
        last = position + 1 == len(terms)
        piece = term + (tail if last else separator.rstrip())
        gap = "" if line.endswith("(") or len(line) == start else " "
        if len(line) > start and len(line) + len(gap) + len(piece) > COLUMNS:
            lines.append(line)
            line = " " * start
            gap = ""
        line += gap + piece
    lines.append(line if terms else line + tail)
    return "\n".join(lines)


def call(head: str, arguments: Sequence[str], tail: str, indent: int) -> str:
    """A call whose arguments continue after its parenthesis, where they fit, else below."""
    line = " " * indent + head + "(" + ", ".join(arguments) + ")" + tail
    if len(line) <= COLUMNS:
        return line
    text = join(head + "(", arguments, ", ", ")" + tail, indent)
    if max(map(len, text.split("\n"))) <= COLUMNS:
        return text
    return " " * indent + head + "(\n" + join("", arguments, ", ", ")" + tail, indent + 4)


def paragraph(prefix: str, text: str, indent: int = 0) -> str:
    """Words of `text` in lines that begin with `prefix`; empty for empty text."""
    lead = " " * indent + prefix
    lines: list[str] = []
    line = lead
    for word in text.split():
        if line != lead and len(line) + 1 + len(word) > COLUMNS:
            lines.append(line)
            line = lead
        line += " " + word
    if line != lead:
        lines.append(line)
    return "\n".join(lines)


def bare(expression: str) -> str:
    """An expression without the brackets around all of it."""
    if not expression.startswith("("):
        return expression
    depth = 0
    for at, character in enumerate(expression):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return expression[1:-1] if at + 1 == len(expression) else expression
    return expression


_MARKED = re.compile(r'["\\]|\?\?')


def quote(text: str) -> str:
    """A string literal for C and C++."""
    if text.isascii() and text.isprintable() and not _MARKED.search(text):
        return f'"{text}"'
    out = ['"']
    for byte in text.encode("utf-8"):
        character = chr(byte)
        if character in '"\\':
            out.append("\\" + character)
        elif 32 <= byte < 127 and not (character == "?" and out[-1] == "?"):
            out.append(character)
        else:
            out.append(f"\\{byte:03o}")
    return "".join(out) + '"'


def pieces(words: str, most: int) -> list[str]:
    """Text of short words, cut after blanks into pieces of at most `most` characters."""
    out: list[str] = []
    for word in re.findall(r"\S+\s?", words):
        if out and len(out[-1]) + len(word) <= most:
            out[-1] += word
        else:
            out.append(word)
    return out


def comment_safe(text: str) -> str:
    """Text that cannot end a C comment, nor continue a line comment."""
    return text.replace("*/", "* /").replace("\\\n", "\n").rstrip("\\")


def block(prefix: str, text: str, indent: int = 0) -> str:
    """The same as a C comment: /* one line */, or several of which the last ends it."""
    body = paragraph(prefix, text, indent)
    lead = " " * indent
    if not body:
        return ""
    body = lead + "/*" + body[len(lead + prefix):]
    if len(body.split("\n")[-1]) + 3 > COLUMNS:
        return body + "\n" + lead + prefix + "/"
    return body + " */"


def summary(container: Mapping[str, Any]) -> str:
    """What a type's comment says: its doc, and where it is written."""
    source = f"[{container['source']}]" if container["source"] else ""
    return " ".join(filter(None, (container["doc"], source)))


def described(member: Mapping[str, Any]) -> str:
    """What a member's comment says: its doc, and what it counts."""
    unit = f"Unit: {member['unit']}." if member.get("unit") else ""
    return " ".join(filter(None, (member["doc"], unit)))


# Where a long line of code may be broken, the best first.
_BREAKS = (") return ", " && ", " || ", ", ", " | ", " ? ", " = ")


def _column(line: str, cut: int, rest: int) -> int:
    """The column of what follows a cut: after the bracket that is open, else `rest`."""
    open_at: list[int] = []
    quoted = False
    for at, character in enumerate(line[:cut]):
        if character == '"' and line[at - 1] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif character in "([{":
            open_at.append(at)
        elif character in ")]}" and open_at:
            open_at.pop()
    if line.lstrip().startswith("template <") and not open_at and ">" not in line[:cut]:
        open_at.append(line.index("<"))
    column = open_at[-1] + 1 if open_at else rest
    fits = column + max(map(len, line[cut:].split(", "))) <= COLUMNS
    return column if fits else min(column, rest)


def _fold_line(line: str, continued: bool = False) -> list[str]:
    if len(line) <= COLUMNS or line.lstrip().startswith(("//", "#", "*", "/*")):
        return [line]
    pad = len(line) - len(line.lstrip())
    quoted = [False] * len(line)
    inside = False
    for at, character in enumerate(line):
        quoted[at] = inside or character == '"'
        if character == '"' and line[at - 1] != "\\":
            inside = not inside
    for separator in _BREAKS:
        cut = 0
        at = line.find(separator, pad + 1)
        while at != -1:
            after = at + (1 if separator == ") return " else len(separator.rstrip()))
            if after <= COLUMNS and not quoted[at]:
                cut = after
            at = line.find(separator, at + 1)
        if cut > pad + 20:
            column = _column(line, cut, pad if continued else pad + 4)
            return [line[:cut], *_fold_line(" " * column + line[cut:].lstrip(), True)]
    return [line]


def fold(content: str) -> str:
    """Breaks lines of code that came out too long, and leaves one empty line where there are many."""
    lines: list[str] = []
    for line in content.split("\n"):
        if len(line) > COLUMNS:
            lines += _fold_line(line)
        elif line or not lines or lines[-1]:
            lines.append(line)
    return "\n".join(lines)
