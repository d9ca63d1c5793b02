#!/bin/bash
# The job of docs/memory.md's program, read by unpack: each pointer leads to what the program wrote.
set -euo pipefail
memory=$1
unpack=$2
core=$TEST_TMPDIR/job.core
"$memory" "$core"
text=$("$unpack" "$core" --fail-on=fault)
for line in \
  'Buffer Starting Address 0x300000000  in vertices+0x0' \
  '3f800000' \
  'CC_VIEWPORT' \
  'Maximum Depth *1$' \
  'MI_BATCH_BUFFER_END'; do
  grep -q -- "$line" <<<"$text" || {
    printf 'no line has: %s\n%s\n' "$line" "$text"
    exit 1
  }
done
