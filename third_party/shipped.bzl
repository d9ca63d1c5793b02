"""Programs that are installed on other machines."""

load("@rules_cc//cc:defs.bzl", "cc_binary")

def shipped_binary(name, deps, highway = False, tags = [], **kwargs):
    """A cc_binary with archives instead of the system's shared libraries.

    Such a program starts without searching for some fifty libraries and resolving their symbols,
    and runs where they are not installed. Only the C library is shared.

    Args:
      name: The program's name.
      deps: The libraries that it is linked with.
      highway: Whether Highway is one of these. Debian has no archive of it; its shared library
        needs the shared C++ library, of which no program should have two.
      tags: As of cc_binary.
      **kwargs: Other arguments of cc_binary.
    """
    archives = ["@packsmith_archives"]
    if not highway:
        archives.append("@packsmith_archives//:standard_library")
    cc_binary(
        name = name,
        # Archives come first: their symbols are not searched for in the libraries that deps name.
        deps = archives + deps,
        # Which archives are linked depends on the linker.
        tags = tags + ["shipped"],
        **kwargs
    )
