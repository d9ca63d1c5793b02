"""The version of all that is installed. MODULE.bazel, which can load nothing, repeats it."""

VERSION = "0.1.0"

# The date of that version, which packages of it have.
DATE = "2026-11-27"
