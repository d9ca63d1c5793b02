#!/bin/bash
# Runs a program of the documentation, and decodes the job that it writes with unpack: every pointer
# must be resolved, and each pattern must match a line.
#
#   job_test.sh PROGRAM UNPACK ARGUMENT CORE LINE...
#     ARGUMENT  the program's argument, a path; CORE is the core dump that it then writes
#     LINE      a pattern of grep
set -euo pipefail
program=$1
unpack=$2
argument=$TEST_TMPDIR/$3
core=$TEST_TMPDIR/$4
shift 4
"$program" "$argument"
text=$("$unpack" "$core" --strict --fail-on=fault)
for line in "$@" 'all of it decoded'; do
  grep -q -- "$line" <<<"$text" || {
    printf 'no line matches: %s\n%s\n' "$line" "$text"
    exit 1
  }
done
