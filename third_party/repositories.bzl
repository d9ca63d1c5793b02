"""Repositories for a build that has no network, for this workspace and for workspaces that use it.

Another repository writes in its WORKSPACE

    local_repository(name = "packsmith", path = "...")
    load("@packsmith//third_party:repositories.bzl", "packsmith_bazel_tools", "packsmith_dependencies")
    packsmith_bazel_tools()   # leave out if Bazel may download its own tools
    packsmith_dependencies()  # leave out what the workspace already has
"""

load("//third_party:archives.bzl", "archives_repository")
load("//third_party/abseil:system_abseil.bzl", "system_abseil")

def _overlay_repository_impl(repository_ctx):
    for label, path in repository_ctx.attr.files.items():
        repository_ctx.symlink(label, path)

overlay_repository = repository_rule(
    implementation = _overlay_repository_impl,
    attrs = {"files": attr.label_keyed_string_dict(
        allow_files = True,
        doc = "Files of this repository, and the path that each has in the new one.",
    )},
    doc = "A repository made of files that lie in third_party/.",
    local = True,
)

def _maybe(rule, name, **kwargs):
    if not native.existing_rule(name):
        rule(name = name, **kwargs)

def packsmith_bazel_tools():
    """What Bazel 4's own prelude would fetch: from Debian's packages, and two stubs."""
    _maybe(native.local_repository, "platforms", path = "/usr/share/bazel/platforms")
    _maybe(native.local_repository, "rules_java", path = "/usr/share/bazel/rules/java")
    _maybe(native.local_repository, "rules_proto", path = "/usr/share/bazel/rules/proto")
    _maybe(native.local_repository, "bazel_skylib", path = "/usr/share/bazel/tools/skylib")

    # Debian's rules_cc does not load under Debian's Bazel.
    _maybe(
        overlay_repository,
        "rules_cc",
        files = {
            Label("//third_party/rules_cc:abseil.hh"): "cc/abseil.hh",
            Label("//third_party/rules_cc:cc.BUILD"): "cc/BUILD.bazel",
            Label("//third_party/rules_cc:defs.bzl"): "cc/defs.bzl",
            Label("//third_party/rules_cc:benchmark.hh"): "cc/benchmark.hh",
            Label("//third_party/rules_cc:googletest.hh"): "cc/googletest.hh",
            Label("//third_party/rules_cc:joined.bzl"): "cc/joined.bzl",
            Label("//third_party/rules_cc:precompiled.bzl"): "cc/precompiled.bzl",
        },
    )
    _maybe(
        overlay_repository,
        "rules_shell",
        files = {
            Label("//third_party/rules_shell:shell.BUILD"): "shell/BUILD.bazel",
            Label("//third_party/rules_shell:sh_binary.bzl"): "shell/sh_binary.bzl",
            Label("//third_party/rules_shell:sh_library.bzl"): "shell/sh_library.bzl",
            Label("//third_party/rules_shell:sh_test.bzl"): "shell/sh_test.bzl",
        },
    )
    _maybe(
        overlay_repository,
        "remote_coverage_tools",
        files = {Label("//third_party/remote_coverage_tools:tools.BUILD"): "BUILD.bazel"},
    )

def packsmith_dependencies():
    """The libraries that packsmith links, as installed in the system."""
    _maybe(system_abseil, "com_google_absl")
    _maybe(
        archives_repository,
        "packsmith_archives",
        libraries = ["absl", "pugixml", "elf", "zstd", "z"],
    )
    for name in [
        "cli11",
        "com_github_google_benchmark",
        "com_google_googletest",
        "highway",
        "libelf",
        "pugixml",
        "rapidjson",
        "zlib",
        "zstd",
    ]:
        _maybe(
            overlay_repository,
            name,
            files = {Label("//third_party/system:%s.BUILD" % name): "BUILD.bazel"},
        )
