#!/usr/bin/python3
"""The beginning of unpack's text for a real capture equals the file in golden/."""

import difflib
import os
import pathlib
import subprocess
import sys

CAPTURE = "tests/data/captures/skl-gl-basic/00.core.zst"
LINES = 200
GOLDEN = pathlib.Path("tests/tools/golden/skl-gl-basic.txt")


def main() -> int:
    text = subprocess.run(
        [sys.argv[1], CAPTURE], stdout=subprocess.PIPE, check=True, text=True
    ).stdout
    lines = text.splitlines(keepends=True)[:LINES]
    if "--refresh" in sys.argv:
        place = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / GOLDEN
        place.parent.mkdir(exist_ok=True)
        place.write_text("".join(lines), encoding="utf-8")
        print(f"{place}: {len(lines)} lines")
        return 0
    golden = GOLDEN.read_text(encoding="utf-8").splitlines(keepends=True)
    differences = list(difflib.unified_diff(golden, lines, str(GOLDEN), "unpack"))
    sys.stdout.writelines(differences)
    if differences:
        print("If this is intended: ./bazelw run //tests/tools:refresh")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
