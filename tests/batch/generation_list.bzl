"""A header with all generations that a batch is built for, for tests that are run for each."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//xml:generations.bzl", "TYPES")

def generation_list(name, folder, **kwargs):
    """A library with the header <name>.h.

    It includes the headers of `folder` ("runtime/batch") for all generations, and has
    PACKSMITH_EACH_GENERATION(DO), which is DO(type, namespace) for each of them, and
    PACKSMITH_GENERATIONS(Prefix), which is their types' names behind a prefix, with commas.

    Args:
      name: of the library.
      folder: with a library and a header for each generation.
      **kwargs: as for all libraries.
    """
    guard = "PACKSMITH_%s_%s_H_" % (native.package_name().replace("/", "_").upper(), name.upper())
    lines = ["#ifndef " + guard, "#define " + guard]
    lines += ['#include "%s/%s.h"' % (folder, generation) for generation in TYPES]
    lines += [
        "#define PACKSMITH_EACH_GENERATION(DO) " +
        " ".join(["DO(%s, %s)" % (type, generation) for generation, type in TYPES.items()]),
        "#define PACKSMITH_GENERATIONS(Prefix) " +
        ", ".join(["Prefix##" + type for type in TYPES.values()]),
        "#endif",
    ]
    native.genrule(
        name = name + "_header",
        testonly = True,
        outs = [name + ".h"],
        cmd = "cat > $@ <<'END'\n%s\nEND" % "\n".join(lines),
    )
    cc_library(
        name = name,
        testonly = True,
        hdrs = [name + ".h"],
        deps = ["//%s:%s" % (folder, generation) for generation in TYPES],
        **kwargs
    )
