"""rules_cc for Bazel 4, where the rules are native: BUILD files load them as newer Bazel requires.

Sources that include abseil, GoogleTest or Google Benchmark get the headers of these in a form that gcc
has parsed already (precompiled.bzl), and sources of one target are compiled together (joined.bzl). Both save
more than half of the time of a build. What is not shipped is compiled without exceptions, which only
CLI11 throws: a twelfth.
"""

load(":joined.bzl", "joined_sources")
load(":precompiled.bzl", "UNSHIPPED")

# Sources that are compiled as one. More would save little, and would delay who changes one of them.
_FEWEST = 3
_MOST = 14

def _with_joined(kwargs):
    """Has sources compiled together, where there are many.

    Names in unnamed namespaces must therefore differ within a target; those of tests may be the same.
    A source that needs options of its own, or has such a name, stays alone by a tag of the target:
    "apart:source.cc". By "parts:2" sources that take long become two files to compile.
    """
    srcs = kwargs.get("srcs", [])
    if type(srcs) != "list":
        return kwargs
    apart = [tag[len("apart:"):] for tag in kwargs.get("tags", []) if tag.startswith("apart:")]
    apart += kwargs.get("textual_hdrs", [])
    together = [src for src in srcs if src.endswith(".cc") and src not in apart]
    if len(together) < _FEWEST:
        return kwargs
    parts = max(
        [(len(together) + _MOST - 1) // _MOST] +
        [int(tag[len("parts:"):]) for tag in kwargs.get("tags", []) if tag.startswith("parts:")],
    )
    joined = []
    for i in range(parts):
        name = kwargs["name"] + "_joined" + ("_%d" % (i + 1) if parts > 1 else "")
        joined_sources(
            name = name,
            srcs = together[i * len(together) // parts:(i + 1) * len(together) // parts],
            testonly = kwargs.get("testonly", False),
            visibility = ["//visibility:private"],
        )
        joined.append(":" + name)
    return dict(kwargs, srcs = select({
        "@rules_cc//cc:sources_joined": joined + [src for src in srcs if src not in together],
        "@rules_cc//cc:sources_apart": srcs,
        "//conditions:default": srcs,
    }))

def _with_precompiled(kwargs):
    """Adds UNSHIPPED, and the precompiled headers of the libraries that are among the `deps`."""
    deps = kwargs.get("deps", [])
    copts = kwargs.get("copts", [])
    if type(deps) != "list" or type(copts) != "list":
        return kwargs
    repositories = [str(dep).partition("//")[0] for dep in deps]
    if "@cli11" not in repositories:
        copts = copts + select({
            "@rules_cc//cc:sources_joined": UNSHIPPED,
            "//conditions:default": [],
        })
    if "@com_google_googletest" in repositories:
        name = "googletest"
    elif "@com_github_google_benchmark" in repositories:
        name = "benchmark"
    elif "@com_google_absl" in repositories:
        name = "abseil"
    else:
        return dict(kwargs, copts = copts)
    return dict(
        kwargs,
        deps = deps + ["@rules_cc//cc:precompiled_" + name],
        copts = copts + ["-include", "cc/precompiled_%s.h" % name],
    )

def _with_linker(kwargs):
    """Has a program without the tag "shipped" linked by mold, where the workspace asks for it."""
    if "shipped" in kwargs.get("tags", []):
        return kwargs
    return dict(kwargs, linkopts = kwargs.get("linkopts", []) + select({
        "@rules_cc//cc:linked_by_mold": ["-fuse-ld=mold"],
        "//conditions:default": [],
    }))

def cc_binary(**kwargs):
    native.cc_binary(**_with_linker(_with_joined(_with_precompiled(kwargs))))

def cc_library(**kwargs):
    native.cc_library(**_with_joined(_with_precompiled(kwargs)))

def cc_test(**kwargs):
    native.cc_test(**_with_linker(_with_joined(_with_precompiled(kwargs))))

cc_import = native.cc_import
cc_proto_library = native.cc_proto_library
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
fdo_prefetch_hints = native.fdo_prefetch_hints
fdo_profile = native.fdo_profile
objc_import = native.objc_import
objc_library = native.objc_library

# Bazel's own tools load these two from rules_cc.
cc_flags_supplier = None
compiler_flag = None
