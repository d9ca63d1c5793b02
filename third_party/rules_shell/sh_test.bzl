"""sh_test for Bazel 4, where it is native."""

sh_test = native.sh_test
