#!/bin/sh
# same_test.sh EXPECTED PROGRAM...: each program prints the contents of EXPECTED.
expected=$1
shift
code=0
for program; do
  echo "$program"
  "$program" | diff -u "$expected" - || code=1
done
exit $code
