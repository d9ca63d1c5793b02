"""Phrases that the project's English does without, as far as a machine can find them.

Each entry is what a line must not hold, as a regular expression, and what to write instead. The
list has only what is wrong wherever it stands; the rest is a reader's judgement.
"""

WORDS: list[tuple[str, str]] = [
    (r"\b[Ww]hoever\b", "callers, readers, users: say who"),
    (r"\btruths\b", "booleans"),
    (r"\bso many\b", "N, or the number"),
    (r"\bis said to\b(?! be)", "is reported to"),
    (r"\bis no (?:number|value|address|name|well-formed|valid|member|field|packet)\b",
     "is not a ..., or must be ..."),
    (r"\bheirs?\b", "derived"),
    (r"\bfound out wrongly\b", "if detection guesses wrong"),
    (r"\bis to be (?:at least|at most|a multiple)\b", "must be"),
    (r"\bcolor(?:s|ed)?\b(?=[^`\"']*$)", "colour, outside code"),
]

# Where the words are held: what users read.
PROSE = (".md",)
