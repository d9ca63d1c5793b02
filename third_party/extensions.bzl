"""The system's libraries as Bzlmod modules. WORKSPACE does not load this file."""

load("//third_party:archives.bzl", "archives_repository")
load("//third_party:repositories.bzl", "overlay_repository")

def _system_impl(_module_ctx):
    overlay_repository(
        name = "libelf",
        files = {Label("//third_party/system:libelf.BUILD"): "BUILD.bazel"},
    )

    # Libraries that Bazel builds from source are linked as archives anyway.
    archives_repository(name = "packsmith_archives", libraries = [])

system = module_extension(implementation = _system_impl)
