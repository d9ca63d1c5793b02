"""C++ toolchains for other kinds of machines than the build machine.

The compilers are Debian's cross compilers. The libraries are those of Debian's packages for the
other machine, unpacked in one folder for each kind of machine: .ci/machines puts them there and
names the folder that holds these folders in the environment, as PACKSMITH_MACHINES.
"""

# Debian's name of an architecture -> its names for Bazel's --cpu and the compilers, and compiler
# flags.
MACHINES = {
    "arm64": struct(cpu = "aarch64", triplet = "aarch64-linux-gnu", flags = []),
    # Files of 2 GiB and more can be opened with 64-bit offsets only.
    "i386": struct(
        cpu = "i686",
        triplet = "i686-linux-gnu",
        flags = ["-D_FILE_OFFSET_BITS=64"],
    ),
}

_HEAD = """\
load("@local_config_cc//:cc_toolchain_config.bzl", "cc_toolchain_config")

package(default_visibility = ["//visibility:public"])

filegroup(name = "nothing")

cc_toolchain_suite(
    name = "toolchain",
    toolchains = {suite},
)
"""

_TOOLCHAIN = """
cc_toolchain(
    name = "{name}",
    all_files = ":nothing",
    compiler_files = ":nothing",
    dwp_files = ":nothing",
    linker_files = ":nothing",
    objcopy_files = ":nothing",
    strip_files = ":nothing",
    supports_param_files = 1,
    toolchain_config = ":{name}_config",
    toolchain_identifier = "{name}",
)

cc_toolchain_config(
    name = "{name}_config",
    abi_libc_version = "local",
    abi_version = "local",
    builtin_sysroot = "{root}",
    compile_flags = {flags} + ["-Wall", "-fno-omit-frame-pointer"],
    compiler = "compiler",
    cpu = "{cpu}",
    cxx_builtin_include_directories = [
        "/usr/lib/gcc-cross/{triplet}",
        "/usr/{triplet}/include",
        "{root}/usr/include",
    ],
    host_system_name = "local",
    link_flags = [
        # What the C library's own linker scripts leave to be found.
        "-Wl,-rpath-link={root}/lib/{libraries}:{root}/usr/lib/{libraries}",
    ],
    link_libs = ["-lstdc++", "-lm"],
    opt_compile_flags = ["-g0", "-O2", "-DNDEBUG", "-ffunction-sections", "-fdata-sections"],
    opt_link_flags = ["-Wl,--gc-sections"],
    target_libc = "local",
    target_system_name = "{triplet}",
    tool_paths = {tools},
    toolchain_identifier = "{name}",
    unfiltered_compile_flags = [
        "-fno-canonical-system-headers",
        "-Wno-builtin-macro-redefined",
        "-D__DATE__=\\"redacted\\"",
        "-D__TIMESTAMP__=\\"redacted\\"",
        "-D__TIME__=\\"redacted\\"",
    ],
)
"""

# llvm-cov and dwp are required, but never called.
_TOOLS = [
    "ar",
    "cpp",
    "dwp",
    "gcc",
    "gcov",
    "ld",
    "llvm-cov",
    "nm",
    "objcopy",
    "objdump",
    "strip",
]

def _impl(repository_ctx):
    folder = repository_ctx.os.environ.get("PACKSMITH_MACHINES")
    if not folder:
        fail("PACKSMITH_MACHINES is not set: programs for other machines are built by .ci/machines")
    suite = {}
    toolchains = []
    for name, machine in MACHINES.items():
        suite[machine.cpu] = ":" + name
        suite[machine.cpu + "|compiler"] = ":" + name
        toolchains.append(_TOOLCHAIN.format(
            name = name,
            cpu = machine.cpu,
            triplet = machine.triplet,
            # For i386, the compiler's name is i686.
            libraries = machine.triplet.replace("i686", "i386"),
            root = "%s/%s" % (folder, name),
            flags = repr(machine.flags),
            tools = repr({
                tool: "/usr/bin/%s-%s" % (machine.triplet, tool)
                for tool in _TOOLS
            }),
        ))
    repository_ctx.file("BUILD.bazel", _HEAD.format(suite = repr(suite)) + "".join(toolchains))

machines_repository = repository_rule(
    implementation = _impl,
    doc = "@machines//:toolchain, for --crosstool_top: a toolchain for each of MACHINES.",
    environ = ["PACKSMITH_MACHINES"],
    local = True,
)
