"""Phrases that the project's prose avoids, where a program can find them.

Each entry is a regular expression that no line may match, and what to write instead. The list has
only phrases that are wrong everywhere; the rest is a reader's judgement.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

WORDS: list[tuple[str, str]] = [
    (r"\b[Ww]hoever\b", "callers, readers, users: say who"),
    (r"\btruths\b", "booleans"),
    (r"\bso many\b", "N, or the number"),
    (r"\bis said to\b(?! be)", "is reported to"),
    (r"(?<!\b[Tt]here )\b(?:is|are) no (?:numbers?|values?|address(?:es)?|names?|well-formed|valid|members?"
     r"|fields?|packets?|descriptors?|structures?|integers?|pointers?|faults?|tests?|plain|power|limit)\b",
     "is not a ..., or must be ..."),
    (r"\b[Bb]ehind\b", "after"),
    (r"\bleads? (?:to|elsewhere|nowhere)\b", "points to"),
    (r"\bstands? (?:in|at|beside|side by side)\b", "is in, is at, is next to"),
    (r"\b(?:is|are) said (?:in|by|of|once|to be)\b", "says, gives: name the subject"),
    (r"\b(?:is|are) to be\b", "must be"),
    (r"\b[Nn]obody (?:has|knows|says|described|describes)\b", "name the subject, or use the passive"),
    (r"\b(?:in|out)side of\b", "inside, outside"),
    (r"\btold so\b", "is an error, is reported"),
    (r"\b(?:has|have) to (?:lie|stand)\b", "must be"),
    (r"\bheirs?\b", "derived"),
    (r"\bfound out wrongly\b", "if detection guesses wrong"),
]

# The same for pages alone: in sources the other spelling is that of names and of options.
WORDS_OF_PAGES: list[tuple[str, str]] = [
    (r"\bcolor(?:s|ed)?\b(?=[^`\"']*$)", "colour, outside code"),
]

# The files in which words are checked.
PAGES = (".md",)
SOURCES = (".h", ".cc", ".c", ".h.in", ".jinja")
SCRIPTS = (".py", ".bzl", "BUILD")
DESCRIPTIONS = (".xml",)
EXEMPT = ("dev/words.py", "third_party/", "tests/data/")

_CXX = re.compile(r"""//(?P<comment>.*)|"(?P<text>(?:[^"\\]|\\.)*)"|'(?:[^'\\]|\\.)*'""")


def _of_page(text: str) -> Iterator[tuple[int, str]]:
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        if not fenced:
            yield number, re.sub(r"\]\([^)]*\)", "", line)


def _of_source(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("#"):
            yield number, " ".join(found["comment"] or found["text"] or "" for found in _CXX.finditer(line))


def _of_script(text: str) -> Iterator[tuple[int, str]]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING):
                for number, line in enumerate(token.string.splitlines(), token.start[0]):
                    yield number, line
    except (tokenize.TokenError, SyntaxError):
        return  # that it is not a program is for other checks to say


def _of_description(text: str) -> Iterator[tuple[int, str]]:
    # Attributes have names of the manual, conditions and the like.
    for number, line in enumerate(text.splitlines(), 1):
        yield number, re.sub(r'="[^"]*"', "", line)


def has_prose(path: str) -> bool:
    if path.endswith(DESCRIPTIONS):
        return path.startswith("xml/")  # those of tests are made up
    return path.endswith(PAGES + SOURCES + SCRIPTS) and not path.startswith(EXEMPT)


def prose(path: str, text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a file, line by line, without what is quoted as code: pages outside fenced
    blocks, comments and string literals of sources, comments and texts of descriptions."""
    lines = (_of_page(text) if path.endswith(PAGES) else
             _of_source(text) if path.endswith(SOURCES) else
             _of_description(text) if path.endswith(DESCRIPTIONS) else _of_script(text))
    for number, line in lines:
        yield number, re.sub(r"`[^`]*`", "", line)
