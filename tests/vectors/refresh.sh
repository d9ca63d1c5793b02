#!/bin/sh
# Makes the committed files of vectors again, after a description changed on purpose:
# ./bazelw run //tests/vectors:refresh
#
#   refresh.sh MAKE_VECTORS GENERATION.xml VECTORS.jsonl.zst …
set -e
make=$1
shift
while [ $# -gt 0 ]; do
  "$make" "$1" "$BUILD_WORKSPACE_DIRECTORY/tests/vectors/$2"
  shift 2
done
