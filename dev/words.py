"""Phrases that the project's English does without, as far as a machine can find them.

Each entry is what a line must not hold, as a regular expression, and what to write instead. The
list has only what is wrong wherever it stands; the rest is a reader's judgement.
"""

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
    (r"\bcolor(?:s|ed)?\b(?=[^`\"']*$)", "colour, outside code"),
]

# Where the words are held: what users read.
PROSE = (".md",)
