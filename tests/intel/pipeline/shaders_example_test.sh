#!/bin/sh
# Usage: shaders_example_test.sh PROGRAM PAGE: what the program prints is on the page, as a comment.
set -eu
"$1" | sed 's|^|// |' > "$TEST_TMPDIR/printed"
[ -s "$TEST_TMPDIR/printed" ]
first=$(head -n 1 "$TEST_TMPDIR/printed")
grep -F -x -A "$(($(wc -l < "$TEST_TMPDIR/printed") - 1))" "$first" "$2" | diff - "$TEST_TMPDIR/printed"
