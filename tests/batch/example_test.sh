#!/bin/bash
# The job of docs/batch.md's program, read by unpack: each pointer leads to what the program wrote.
set -euo pipefail
batch=$1
unpack=$2
core=$TEST_TMPDIR/job.core
"$batch" "$core"
text=$("$unpack" "$core" --fail-on=fault)
for line in \
  'Buffer Starting Address 0x300000000  in vertices+0x0' \
  'in callee+0x0' \
  'Render Target Cache Flush Enable *true' \
  '3DPRIMITIVE' \
  'all of it decoded'; do
  grep -q -- "$line" <<<"$text" || {
    printf 'no line has: %s\n%s\n' "$line" "$text"
    exit 1
  }
done
