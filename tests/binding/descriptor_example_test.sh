#!/bin/bash
# The job of docs/descriptors.md's program, read by unpack: each entry of the table leads to what was
# written to the set.
set -euo pipefail
descriptors=$1
unpack=$2
core=$TEST_TMPDIR/job.core
"$descriptors" "$core"
text=$("$unpack" "$core" --fail-on=fault)
for line in \
  'BINDING_TABLE_STATE\[6\]' \
  'Surface Base Address .* in target+0x0' \
  'Surface Base Address .* in texture+0x0' \
  'Surface Base Address .* in constants+0x400$' \
  'Surface Base Address .* in constants+0xc00$' \
  'SAMPLER_STATE\[3\]' \
  'all of it decoded'; do
  grep -q -- "$line" <<<"$text" || {
    printf 'no line has: %s\n%s\n' "$line" "$text"
    exit 1
  }
done
