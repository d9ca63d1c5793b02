"""The generations that batches of all kinds are built for, for tests that are run for each.

A test includes generations.h and is run for all in one program, or it includes tested.h and is a
program for each.
"""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")
load("//xml:generations.bzl", "BATCHES", "TYPES")

# With --define=generations=few, as sanitizers have it: instrumented code takes minutes to compile.
FEW = [
    "gfx9",
    "gfx12",
    "gfx125",
    "xe2",
]

def generation_list(name, folder, **kwargs):
    """A library with the header <name>.h.

    It includes the headers of `folder` ("runtime/intel/batch") for all generations (or FEW), and has
    PACKSMITH_EACH_GENERATION(DO), which is DO(type, namespace) for each of them, and
    PACKSMITH_GENERATIONS(Prefix), which is their types' names after a prefix, with commas. If these
    are not all, it has PACKSMITH_FEW_GENERATIONS.

    Args:
      name: of the library.
      folder: with a library and a header for each generation.
      **kwargs: as for all libraries.
    """
    guard = "PACKSMITH_%s_%s_H_" % (native.package_name().replace("/", "_").upper(), name.upper())
    commands, libraries = {}, {}
    for condition, generations in {
        "//conditions:default": BATCHES,
        "//tests/intel/batch:few_generations": FEW,
    }.items():
        lines = ["#ifndef " + guard, "#define " + guard]
        if generations == FEW:
            lines.append("#define PACKSMITH_FEW_GENERATIONS")
        lines += ['#include "%s/%s.h"' % (folder, generation) for generation in generations]
        lines += [
            "#define PACKSMITH_EACH_GENERATION(DO) " +
            " ".join(["DO(%s, %s)" % (TYPES[generation], generation) for generation in generations]),
            "#define PACKSMITH_GENERATIONS(Prefix) " +
            ", ".join(["Prefix##" + TYPES[generation] for generation in generations]),
            "#endif",
        ]
        commands[condition] = "cat > $@ <<'END'\n%s\nEND" % "\n".join(lines)
        libraries[condition] = ["//%s:%s" % (folder, generation) for generation in generations]
    native.genrule(
        name = name + "_header",
        testonly = True,
        outs = [name + ".h"],
        cmd = select(commands),
    )
    cc_library(
        name = name,
        testonly = True,
        hdrs = [name + ".h"],
        deps = select(libraries),
        **kwargs
    )

def generation_tests(name, srcs, deps, size = "small", folder = "runtime/intel/state", generations = BATCHES, **kwargs):
    """A program for each generation, <name>_gfx9_test and so on: no compiler must handle all at once.

    A source includes tests/intel/batch/tested.h, and its suites are of the type `Generations`, which is
    one generation. All but those of Gfx9 and Gfx7.5 have the tag "every-generation".

    Args:
      name: of the tests.
      srcs: sources, the same for each.
      deps: of each, besides the generation's own library.
      size: of each.
      folder: with a library and a header for each generation.
      generations: names of those that have what is tested; BATCHES of xml/generations.bzl by default.
      **kwargs: as for all tests.
    """
    for generation in generations:
        cc_test(
            name = "%s_%s_test" % (name, generation),
            size = size,
            srcs = srcs,
            local_defines = [
                "PACKSMITH_TESTED=" + TYPES[generation],
                "PACKSMITH_TESTED_HEADER=\\\"%s/%s.h\\\"" % (folder, generation),
            ],
            tags = [] if generation in ["gfx75", "gfx9"] else ["every-generation"],
            deps = deps + [
                "//tests/intel/batch:tested",
                "//%s:%s" % (folder, generation),
                "@com_google_googletest//:gtest_main",
            ],
            **kwargs
        )
