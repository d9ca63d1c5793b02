"""Programs that are installed on machines of which little is known."""

load("@rules_cc//cc:defs.bzl", "cc_binary")

def shipped_binary(name, deps, highway = False, **kwargs):
    """A cc_binary with archives instead of the system's shared libraries.

    Such a program starts without looking for some fifty libraries and resolving their symbols, and
    runs where these are not installed. The C library alone is shared.

    Args:
      name: The program.
      deps: What it is linked with.
      highway: Whether Highway is among these. Debian has no archive of it; the shared library needs
        the shared C++ library, and no program should have two of these.
      **kwargs: All else that cc_binary takes.
    """
    archives = ["@packsmith_archives"]
    if not highway:
        archives.append("@packsmith_archives//:standard_library")
    cc_binary(
        name = name,
        # Archives come first: what they define is not looked for in the libraries that deps name.
        deps = archives + deps,
        **kwargs
    )
