"""The system's libraries as archives, for programs that are shipped."""

def _abseil(repository_ctx):
    """Names of the libraries that abseil consists of."""
    for folder in ["/usr/lib"] + repository_ctx.path("/usr/lib").readdir():
        folder = repository_ctx.path(folder)
        if folder.get_child("libabsl_base.a").exists:
            return sorted([
                path.basename[len("lib"):-len(".a")]
                for path in folder.readdir()
                if path.basename.startswith("libabsl_") and path.basename.endswith(".a")
            ])
    fail("abseil is not installed: no libabsl_base.a below /usr/lib. Install libabsl-dev.")

def _impl(repository_ctx):
    names = []
    for library in repository_ctx.attr.libraries:
        names.extend(_abseil(repository_ctx) if library == "absl" else [library])
    standard_library = ["-l:libstdc++.a", "-static-libgcc"] if names else []
    repository_ctx.template(
        "BUILD.bazel",
        Label("//third_party/system:archives.BUILD"),
        substitutions = {
            "ARCHIVES": repr(["-l:lib%s.a" % name for name in names]),
            "STANDARD_LIBRARY": repr(standard_library),
        },
    )

archives_repository = repository_rule(
    implementation = _impl,
    attrs = {
        "libraries": attr.string_list(doc = "Names as linkers know them; absl: all of abseil's."),
    },
    doc = "@packsmith_archives: what programs are linked with instead of the system's shared libraries.",
    local = True,
)
