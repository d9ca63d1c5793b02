#!/usr/bin/python3
"""Puts pack.h together: join_parts.py PART... > pack.h

Parts are headers that include each other as "runtime/pack/NAME.h"; these lines are left out, so that
the whole can be copied anywhere. The parts of C++ come in the order of what they include; those in a
folder c/ are for C. A part keeps its include guard: the whole and its parts can be in one program.
"""

import re
import sys
from pathlib import Path

_INCLUDE_OF_PART = re.compile(r'#include "runtime/pack/([\w/]+\.h)"\n')
_CPP = "#if defined(__cplusplus) && __cplusplus > 201703L"
_C = "#if !defined(__cplusplus) || defined(PACKSMITH_WANT_C)"


def join(parts: list[tuple[str, str]]) -> str:
    """The whole header. parts: names, as in #include lines after runtime/pack/, and contents."""
    bodies: dict[bool, list[str]] = {False: [], True: []}
    seen: set[str] = set()
    for name, text in parts:
        missing = set(_INCLUDE_OF_PART.findall(text)) - seen
        if missing:
            raise ValueError(f"{name} comes before {', '.join(sorted(missing))}, which it includes")
        seen.add(name)
        text = _INCLUDE_OF_PART.sub("", text)
        bodies[name.startswith("c/")].append(re.sub(r"\n{3,}", "\n\n", text).strip("\n"))
    # What the first part says before its guard is what the whole says.
    top, _, rest = bodies[False][0].partition("\n\n#ifndef ")
    bodies[False][0] = "#ifndef " + rest
    return "\n\n".join([
        top + "\n//\n// This file is put together from the parts in runtime/pack. Do not edit.",
        _CPP, *bodies[False], "#endif  // C++20", _C, *bodies[True], "#endif  // C"]) + "\n"


def main(paths: list[str]) -> int:
    parts = []
    for path in paths:
        name = path.rpartition("runtime/pack/")[2]
        parts.append((name, Path(path).read_text(encoding="utf-8")))
    sys.stdout.write(join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
