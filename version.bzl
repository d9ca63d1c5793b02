"""The version of all that is installed. MODULE.bazel, which can load nothing, repeats it."""

VERSION = "0.1.0"
