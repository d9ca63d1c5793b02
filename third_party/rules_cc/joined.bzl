"""Sources of a target that are compiled as one."""

def _impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".cc")
    ctx.actions.run_shell(
        # Messages and debuggers name the sources, not the file that they are joined in.
        command = """for source in "${@:2}"; do
            printf '#line 1 "%s"\\n' "$source"; cat "$source"; echo
        done >"$1" """,
        arguments = [out.path] + [file.path for file in ctx.files.srcs],
        inputs = ctx.files.srcs,
        outputs = [out],
        mnemonic = "JoinSources",
        progress_message = "Joining sources of %s" % ctx.label,
    )
    return [DefaultInfo(files = depset([out]))]

joined_sources = rule(
    implementation = _impl,
    attrs = {"srcs": attr.label_list(allow_files = [".cc"], mandatory = True)},
    doc = "NAME.cc, which has the text of all `srcs`.",
)
