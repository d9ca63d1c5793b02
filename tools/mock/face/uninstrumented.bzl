"""Files that are built without sanitizers, whatever the rest of the build is built with."""

_OPTIONS = [
    "//command_line_option:copt",
    "//command_line_option:linkopt",
]

def _without_sanitizers_impl(settings, _attr):
    return {
        option: [value for value in settings[option] if "sanitize" not in value]
        for option in _OPTIONS
    }

_without_sanitizers = transition(
    implementation = _without_sanitizers_impl,
    inputs = _OPTIONS,
    outputs = _OPTIONS,
)

def _uninstrumented_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.run_shell(
        inputs = ctx.files.src,
        outputs = [output],
        command = "cp \"$1\" \"$2\"",
        arguments = [ctx.files.src[0].path, output.path],
    )
    return DefaultInfo(
        files = depset([output]),
        runfiles = ctx.runfiles(files = [output]),
    )

uninstrumented = rule(
    doc = "A copy of a file, by the name of the target.",
    implementation = _uninstrumented_impl,
    attrs = {
        "src": attr.label(
            mandatory = True,
            cfg = _without_sanitizers,
            doc = "What is built.",
        ),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
