#!/bin/bash
# The job of docs/state.md's program, read by unpack: each pointer leads to what the program wrote, and
# of four draws the second finds nothing new to emit.
set -euo pipefail
state=$1
unpack=$2
core=$TEST_TMPDIR/job.core
"$state" "$core"
text=$("$unpack" "$core" --fail-on=fault)
for line in \
  'L3CNTLREG' \
  'VS Number of URB Entries *1856' \
  'in constants+0x20' \
  'Cull Mode *3 (BACK)' \
  'all of it decoded'; do
  grep -q -- "$line" <<<"$text" || {
    printf 'no line has: %s\n%s\n' "$line" "$text"
    exit 1
  }
done
packets=$(grep -oE '^0x[0-9a-f]+ +[A-Z0-9_]+' <<<"$text" | awk '{print $2}')
grep -A1 -x 3DPRIMITIVE <<<"$packets" | sed -n 2p | grep -qx 3DPRIMITIVE || {
  printf 'the second draw is not behind the first:\n%s\n' "$packets"
  exit 1
}
