"""sh_library for Bazel 4, where it is native."""

sh_library = native.sh_library
