#!/bin/bash
# The job of docs/binding.md's program, read by unpack: each table leads to what was bound.
set -euo pipefail
binding=$1
unpack=$2
core=$TEST_TMPDIR/job.core
"$binding" "$core"
text=$("$unpack" "$core" --fail-on=fault)
for line in \
  'Surface State Base Address .* in binding tables+0x0' \
  'BINDING_TABLE_STATE\[3\]' \
  'Surface Base Address .* in texture+0x0' \
  'Surface Base Address .* in target+0x0' \
  'Surface Base Address .* in constants+0x0' \
  '(SURFTYPE_NULL)' \
  'SAMPLER_STATE\[1\]' \
  'Border Color Float Red *1$' \
  'all of it decoded'; do
  grep -q -- "$line" <<<"$text" || {
    printf 'no line has: %s\n%s\n' "$line" "$text"
    exit 1
  }
done
