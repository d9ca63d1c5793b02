#!/bin/sh
# The demo selects lines of unpack's text: this fails when the text changes and the demo does not.
output=$(./demo.sh) || { echo "demo.sh: exit code $?"; exit 1; }
echo "$output"

code=0
expect() {
  # -e: a pattern may begin with a dash.
  if ! echo "$output" | grep -qe "$1"; then
    echo "missing: $1"
    code=1
  fi
}
expect '^  0x0*  3DPRIMITIVE'
expect 'Vertex Count Per Instance  *3$'
expect '^  submission '
expect '^    0x[0-9a-f]*  SAMPLER_STATE\[0\]'
expect 'Source Blend Factor  *3 (SRC_ALPHA)'
expect '^    0x[0-9a-f]*  vertex buffer, 80 bytes'
expect '^  0xfffefffee[0-9a-f]*  3DPRIMITIVE'
expect '^  summary  4 submissions, .* 0 unknown dwords'

lines=$(echo "$output" | wc -l)
if [ "$lines" -gt 80 ]; then
  echo "$lines lines: more than a screen"
  code=1
fi
exit $code
