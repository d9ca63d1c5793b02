#!/usr/bin/python3
"""Formats C++ and BUILD files: changed ones, or all.

Changed files are those that differ from the commit at which this branch left its upstream (or main),
and new ones. Exits with 0 if everything is formatted now, 2 if a formatter is missing or failed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

import checkout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every file, not only changed ones")
    parser.add_argument("--since", metavar="COMMIT", help="changed files are those that differ from COMMIT")
    arguments = parser.parse_args()
    paths = checkout.every_file() if arguments.all else checkout.changed_files(arguments.since)
    failed = False
    for what, files, program, options in (
            ("C and C++ files", checkout.cxx(paths),
             checkout.program("clang-format-14", "clang-format"), ["-i"]),
            ("BUILD files", checkout.build_files(paths), checkout.program("buildifier"), ["-lint=off"]),
    ):
        if not files:
            continue
        if program is None:
            print(f"format: {len(files)} {what} not formatted: the program is missing; "
                  "./bazelw run //:format installs it", file=sys.stderr)
            failed = True
            continue
        for first in range(0, len(files), 200):
            done = subprocess.run([program, *options, *files[first:first + 200]], cwd=checkout.root(),
                                  check=False)
            failed = failed or done.returncode != 0
        print(f"{len(files)} {what} formatted")
    return 2 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
