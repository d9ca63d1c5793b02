#!/usr/bin/python3
"""unpack --describe prints the files of golden/ for the miniature GPU."""

import difflib
import os
import pathlib
import subprocess
import sys

GOLDEN = pathlib.Path("tests/describe/golden")
# A packet with variants, pointers and stores; one that repeats; a structure with nested values; a
# register; one field.
MINI = "--xml=tests/mini/mini.xml"
# A packet with parts, a header with parts that repeat, a group, jumps, a table, values, one field.
SAMPLES = ("Draw", "State Header", "Viewport", "Link", "Input Table", "Primitive", "Set State.State")


def main() -> int:
    different = False
    for name in SAMPLES:
        file = name.replace(" ", "_") + ".txt"
        text = subprocess.run(
            [sys.argv[1], MINI, f"--describe={name}"],
            stdout=subprocess.PIPE, check=True, text=True,
        ).stdout
        if "--refresh" in sys.argv:
            place = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / GOLDEN / file
            place.parent.mkdir(exist_ok=True)
            place.write_text(text, encoding="utf-8")
            continue
        golden = (GOLDEN / file).read_text(encoding="utf-8").splitlines(keepends=True)
        lines = text.splitlines(keepends=True)
        differences = list(difflib.unified_diff(golden, lines, str(GOLDEN / file), "unpack"))
        sys.stdout.writelines(differences)
        different |= bool(differences)
    if different:
        print("If this is intended: ./bazelw run //tests/describe:refresh")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
