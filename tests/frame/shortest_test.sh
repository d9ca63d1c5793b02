#!/bin/bash
# What docs/runtime.md begins with, read by unpack: the store leads to the buffer that is meant.
set -euo pipefail
program=$1
unpack=$2
"$program" "$TEST_TMPDIR/job-"
text=$("$unpack" "$TEST_TMPDIR/job-1.core" --strict --fail-on=fault)
for line in \
  'Address  *0x[0-9a-f]*  in answer+0x0' \
  'Immediate Data  *42' \
  'all of it decoded'; do
  grep -q -- "$line" <<<"$text" || {
    printf 'no line has: %s\n%s\n' "$line" "$text"
    exit 1
  }
done
