"""Bzlmod's way to the libraries that are the system's in either world. Not loaded by WORKSPACE."""

load("//third_party:archives.bzl", "archives_repository")
load("//third_party:repositories.bzl", "overlay_repository")

def _system_impl(_module_ctx):
    overlay_repository(
        name = "libelf",
        files = {Label("//third_party/system:libelf.BUILD"): "BUILD.bazel"},
    )

    # What Bazel itself builds of sources is linked as archives without further ado.
    archives_repository(name = "packsmith_archives", libraries = [])

system = module_extension(implementation = _system_impl)
