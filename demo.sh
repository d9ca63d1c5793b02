#!/bin/sh
# The demo: a packet typed by hand, then the state of one draw from a real driver's submissions.

# `bazel run` starts this in the folder of the files; otherwise they are next to the script.
[ -x tools/unpack ] || cd "$0.runfiles"/*/ || exit 1
unpack=tools/unpack
captures=tests/data/captures/skl-gl-basic

cat <<'TEXT'
A GPU reads packets: runs of 32-bit words whose bits say which state to set and what to draw.
packsmith knows the packets from a description in XML (here xml/intel/gfx9.xml). These are words
from a log, and what `unpack` prints for them (05000000 ends the batch):

  $ echo 7b000005 00000000 00000003 00000000 00000001 00000000 00000000 05000000 > words.txt
  $ unpack --hide-zero --gen=gfx9 words.txt
TEXT
echo 7b000005 00000000 00000003 00000000 00000001 00000000 00000000 05000000 |
  $unpack --hide-zero --gen=gfx9 - |
  awk '/^0x/ { shown = 1 } /^$/ { shown = 0 } shown { print "  " $0 }'

cat <<'TEXT'

Next, four submissions of a real driver (Mesa's iris, Skylake), captured while a small OpenGL ES
program drew triangles. Each file holds the GPU's memory, so that pointers can be followed. This is
part of the state that the first textured triangle, in the fourth submission, depends on:

  $ unpack --hide-zero 00.core.zst 01.core.zst 02.core.zst 03.core.zst
TEXT
output=$($unpack --hide-zero $captures/00.core.zst $captures/01.core.zst $captures/02.core.zst \
  $captures/03.core.zst)
echo "$output" | awk '
  /^submission/ { submissions++ }
  submissions < 4 { next }
  /^submission/ { print "  " $0; print "  ..." }
  /^0x/ {
    textured = textured || $2 == "3DSTATE_SAMPLER_STATE_POINTERS_PS"
    shown = $2 ~ /^3DSTATE_(SAMPLER_STATE_POINTERS_PS|PS_BLEND|VERTEX_BUFFERS)$/
    if ($2 == "3DPRIMITIVE" && textured) {
      shown = last = 1
    } else if (last) {
      exit
    }
    cut = shown && !was_shown && textured && $2 != "3DSTATE_SAMPLER_STATE_POINTERS_PS"
    if (cut) print "  ..."
    was_shown = shown
  }
  shown && textured { print "  " $0 }
'
echo "  ..."
echo "$output" | tail -n 1 | sed 's/^/  /'

cat <<'TEXT'

To decode your own dumps, run `./bazelw build //:unpack`, then bazel-bin/tools/unpack FILE...
(--help says more; --format=jsonl is for jq.) C++ and C headers that pack these packets are made
from the same XML: gen/README.md says how.
TEXT
