#!/bin/bash
# The frame of docs/agx.md's program, decoded by unpack: each pointer points to what was written.
set -euo pipefail
agx=$1
unpack=$2
"$agx" "$TEST_TMPDIR/render.core" "$TEST_TMPDIR/compute.core"

# expect CORE LINE...: no fault, and a line that has each of these.
expect() {
  local core=$1 text
  shift
  text=$("$unpack" "$core" --fail-on=fault)
  for line in "$@"; do
    grep -q -- "$line" <<<"$text" || {
      printf 'no line matches: %s\n%s\n' "$line" "$text"
      exit 1
    }
  done
}

# count CORE NUMBER NAME: exactly NUMBER records of this name.
count() {
  local found
  found=$("$unpack" --format=jsonl "$1" | grep -c "\"name\":\"$3\"")
  [ "$found" -eq "$2" ] || {
    echo "$1 has $found records called $3, not $2"
    exit 1
  }
}

expect "$TEST_TMPDIR/render.core" \
  'Apple G13' \
  'programs from 0x1100000000 on' \
  '3 draws, 0 dispatches; all of it decoded' \
  'in vdm+0x0' \
  'in checkerboard+0x0' \
  'VDM Stream Terminate'
count "$TEST_TMPDIR/render.core" 3 'PPP Header'
count "$TEST_TMPDIR/render.core" 3 'CF binding header'
count "$TEST_TMPDIR/render.core" 6 'USC Shader'
count "$TEST_TMPDIR/render.core" 1 'Texture'
count "$TEST_TMPDIR/render.core" 1 'Sampler'
expect "$TEST_TMPDIR/compute.core" '0 draws, 1 dispatch; all of it decoded' 'CDM Stream Terminate'

# The varyings of the draws, as the hardware finds them: material and colour, then texture
# coordinates and normals of 16 bits, with Z.
draws=$("$unpack" --format=jsonl "$TEST_TMPDIR/render.core" | python3 -c '
import json, sys
for line in sys.stdin:
    record = json.loads(line)
    if record.get("name") != "PPP Header":
        continue
    fields = {f["name"]: f["value"] for f in record["fields"]}
    print(*[fields[f"Varying counts {bits}.{how}"] for bits in (32, 16)
            for how in ("Smooth", "Flat", "Linear")],
          fields["Output select.Frag coord Z"], fields["Output size.Count"])
')
diff <(printf '0 0 0 0 0 0 False 4\n3 1 0 0 0 0 False 8\n2 0 0 2 0 0 True 8\n') <(echo "$draws")
