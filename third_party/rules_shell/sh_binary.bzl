"""sh_binary for Bazel 4, where it is native."""

sh_binary = native.sh_binary
