"""The system's abseil under the labels of abseil's own BUILD files."""

# Directory in abseil's source -> targets there. Every name is that of a pkg-config module
# absl_<name>, unless the module is named otherwise after the colon.
_PACKAGES = {
    "absl/algorithm": ["algorithm", "container:algorithm_container"],
    "absl/base": [
        "base",
        "config",
        "core_headers",
        "dynamic_annotations",
        "endian",
        "log_severity",
        "prefetch",
    ],
    "absl/cleanup": ["cleanup"],
    "absl/container": [
        "btree",
        "fixed_array",
        "flat_hash_map",
        "flat_hash_set",
        "inlined_vector",
        "node_hash_map",
        "node_hash_set",
    ],
    "absl/debugging": ["failure_signal_handler", "leak_check", "stacktrace", "symbolize"],
    "absl/functional": ["any_invocable", "bind_front", "function_ref"],
    "absl/hash": ["hash"],
    "absl/memory": ["memory"],
    "absl/meta": ["type_traits"],
    "absl/numeric": ["bits", "int128"],
    "absl/random": [
        "bit_gen_ref:random_bit_gen_ref",
        "distributions:random_distributions",
        "random:random_random",
        "seed_sequences:random_seed_sequences",
    ],
    "absl/status": ["status", "statusor"],
    "absl/strings": ["cord", "str_format", "strings"],
    "absl/synchronization": ["synchronization"],
    "absl/time": ["time"],
    "absl/types": [
        "any",
        "bad_optional_access",
        "compare",
        "optional",
        "span",
        "variant",
    ],
    "absl/utility": ["utility"],
}

def _find_pkgconfig(repository_ctx):
    """The folder that holds abseil's pkg-config modules."""
    folders = ["/usr/lib/pkgconfig", "/usr/lib64/pkgconfig", "/usr/local/lib/pkgconfig"]
    for entry in repository_ctx.path("/usr/lib").readdir():
        folders.append("%s/pkgconfig" % entry)
    for folder in folders:
        if repository_ctx.path(folder + "/absl_base.pc").exists:
            return repository_ctx.path(folder)
    fail("abseil is not installed: no absl_base.pc in %s. Install libabsl-dev." % folders)

def _module(content):
    """Requirements and linker flags of one pkg-config module."""
    requires = []
    flags = []
    for line in content.split("\n"):
        if line.startswith("Requires:"):
            for requirement in line[len("Requires:"):].split(","):
                requires.append(requirement.strip().split(" ")[0])
        elif line.startswith("Libs:"):
            flags = [flag for flag in line.split(" ")[1:] if flag.startswith("-l")]
    return struct(requires = [name for name in requires if name], flags = flags)

def _impl(repository_ctx):
    # One target for each module, in one package; the public labels are aliases of these.
    modules = [
        "load(\"@rules_cc//cc:defs.bzl\", \"cc_library\")",
        "package(default_visibility = [\"//visibility:public\"])",
    ]
    known = {}
    for path in _find_pkgconfig(repository_ctx).readdir():
        if not path.basename.startswith("absl_") or not path.basename.endswith(".pc"):
            continue
        name = path.basename[:-len(".pc")]
        module = _module(repository_ctx.read(path))

        # The shared libraries: Debian's static ones are not position-independent, so a preload
        # library cannot contain them. No --as-needed: where Bazel makes a shared library of each
        # cc_library, the program that loads them must link everything that they need.
        modules.append("cc_library(name = %r, linkopts = %r, deps = %r)" % (
            name,
            module.flags,
            [":" + requirement for requirement in module.requires],
        ))
        known[name] = True
    repository_ctx.file("system/BUILD.bazel", "\n".join(modules) + "\n")

    for folder, targets in _PACKAGES.items():
        lines = ['package(default_visibility = ["//visibility:public"])']
        for target in targets:
            name, _, module = target.partition(":")
            module = "absl_" + (module or name)
            if module in known:
                lines.append("alias(name = %r, actual = %r)" % (name, "//system:" + module))
        repository_ctx.file(folder + "/BUILD.bazel", "\n".join(lines) + "\n")

system_abseil = repository_rule(
    implementation = _impl,
    doc = "Makes @com_google_absl//absl/... of the pkg-config modules of an installed abseil.",
    local = True,
)
