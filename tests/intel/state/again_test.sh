#!/bin/bash
# The second of the four draws of docs/state.md's program has nothing new to emit.
set -euo pipefail
"$1" "$TEST_TMPDIR/job.core"
packets=$("$2" "$TEST_TMPDIR/job.core" | grep -oE '^0x[0-9a-f]+ +[A-Z0-9_]+' | awk '{print $2}')
grep -A1 -x 3DPRIMITIVE <<<"$packets" | sed -n 2p | grep -qx 3DPRIMITIVE || {
  printf 'the second draw is not behind the first:\n%s\n' "$packets"
  exit 1
}
