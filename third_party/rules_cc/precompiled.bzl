"""Headers in the form in which gcc has parsed them."""

# Options of all C++ sources that are compiled without optimisation. gcc takes a precompiled header only
# with the options that it was made with.
UNSHIPPED = ["-fno-exceptions"]

def _impl(ctx):
    # What `-include` finds where the precompiled form does not fit (another compiler, other options):
    # nothing, so that the source's own includes count.
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    ctx.actions.write(header, "// See precompiled.bzl.\n")
    headers = [header]
    toolchain = ctx.attr._cc_toolchain[cc_common.CcToolchainInfo]

    # Nor with --define=sources=apart, which shows what a source does not include itself.
    if (toolchain.compiler_executable.endswith("gcc") and
        ctx.var["COMPILATION_MODE"] == "fastbuild" and ctx.var.get("sources") != "apart"):
        headers.append(_precompile(ctx, toolchain))
    return [
        DefaultInfo(files = depset(headers)),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset(headers),
            quote_includes = depset([header.root.path + "/" + ctx.label.workspace_root]),
        )),
    ]

def _precompile(ctx, toolchain):
    out = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = ctx.file.header.path,
        output_file = out.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + UNSHIPPED,
        use_pic = True,
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = "c++-compile",
        ),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = "c++-compile",
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = "c++-compile",
            variables = variables,
        ),
        inputs = depset([ctx.file.header] + ctx.files.includes, transitive = [toolchain.all_files]),
        outputs = [out],
        mnemonic = "CppPrecompile",
    )
    return out

precompiled_header = rule(
    implementation = _impl,
    attrs = {
        "header": attr.label(
            allow_single_file = [".hh"],
            doc = "Includes what is to be precompiled: headers of the system.",
        ),
        "includes": attr.label_list(allow_files = True, doc = "What the header includes in quotes."),
        "_cc_toolchain": attr.label(default = Label("@bazel_tools//tools/cpp:current_cc_toolchain")),
    },
    doc = "A header NAME.h for the option -include, and where gcc builds without optimisation, its precompiled form.",
    fragments = ["cpp"],
)
