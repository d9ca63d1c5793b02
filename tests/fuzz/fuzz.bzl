"""Fuzz targets: one harness, run over a corpus by every `bazel test`, and by libFuzzer on demand."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")

def fuzz_test(name, srcs, deps = [], corpus = [], size = "medium", tags = [], **kwargs):
    """Declares a harness that defines `LLVMFuzzerTestOneInput`.

    Makes two targets:
      <name>            a test: every file of the corpus, its beginnings, and altered copies of it go
                        through the harness. The alterations are the same in every run.
      <name>_libfuzzer  a program for `bazel build --config=fuzz`; tagged manual.

    Args:
      name: of the test.
      srcs: the harness.
      deps: what it calls.
      corpus: files to begin with, at least one.
      size: of the test.
      tags: of the test.
      **kwargs: for the test, such as `timeout`.
    """
    cc_library(
        name = name + "_harness",
        testonly = True,
        srcs = srcs,
        tags = tags,
        visibility = ["//visibility:private"],
        deps = deps,
        # Only main refers to it.
        alwayslink = True,
    )
    native.filegroup(
        name = name + "_corpus",
        testonly = True,
        srcs = corpus,
        visibility = ["//visibility:private"],
    )
    cc_test(
        name = name,
        size = size,
        args = ["$(rootpaths :%s_corpus)" % name],
        data = [":%s_corpus" % name],
        tags = tags,
        deps = [
            ":%s_harness" % name,
            "//tests/fuzz:corpus_main",
        ],
        **kwargs
    )
    cc_binary(
        name = name + "_libfuzzer",
        testonly = True,
        linkopts = ["-fsanitize=fuzzer"],
        tags = tags + ["manual"],
        visibility = ["//visibility:private"],
        deps = [":%s_harness" % name],
    )
