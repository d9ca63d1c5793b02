#!/bin/sh
# Makes the committed files of vectors again, after a description changed on purpose.
set -e
cd "$(dirname "$0")/../.."
./bazelw build //tests/vectors:make_vectors
make=$(./bazelw info bazel-bin)/tests/vectors/make_vectors
"$make" xml/intel/gfx9.xml tests/vectors/gfx9.jsonl.zst
"$make" xml/agx/g13.xml tests/vectors/agx_g13.jsonl.zst
"$make" tests/mini/mini.xml tests/vectors/m1.jsonl.zst
"$make" tests/pack/kinds.xml tests/vectors/kinds.jsonl.zst
"$make" tests/pack/odd.xml tests/vectors/odd.jsonl.zst
"$make" tests/pack/odd_bytes.xml tests/vectors/odd_bytes.jsonl.zst
