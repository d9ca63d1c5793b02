#!/bin/bash
# Runs a program of the documentation, and lets unpack read the job that it writes: no pointer may
# lead nowhere, and some line must look like each of those given.
#
#   job_test.sh PROGRAM UNPACK ARGUMENT CORE LINE...
#     ARGUMENT  what the program gets, a path; CORE is the core dump that it writes then
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
    printf 'no line has: %s\n%s\n' "$line" "$text"
    exit 1
  }
done
