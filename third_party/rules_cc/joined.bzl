"""Sources of a target that are compiled as one."""

# Messages and debuggers name the sources, not the file that they are joined in. A test's source is a
# single unnamed namespace. There it is given one of its own, so that two of them may use a name for
# two things. Other sources use their names outside of it too, and stay as they are.
_JOIN = r"""
function finish(  i, alone) {
    alone = opened == 1 && closed == 1 && !after
    for (i = 1; i <= lines; i++) {
        if (alone && i == first) line[i] = "namespace { namespace joined_" sources " {"
        if (alone && i == last) line[i] = "} }  // namespace"
        print line[i]
    }
    print ""
    lines = opened = closed = after = 0
}
FNR == 1 {
    if (NR > 1) finish()
    sources++
    printf "#line 1 \"%s\"\n", FILENAME
}
{ line[++lines] = $0 }
/^namespace [{]$/ { opened++; first = lines; next }
/^[}]  \/\/ namespace$/ { closed++; last = lines; next }
closed && !/^[}]  \/\/ namespace [a-z:]+$/ && !/^$/ { after = 1 }
END { finish() }
"""

def _impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".cc")
    ctx.actions.run_shell(
        command = 'program=$1 out=$2; shift 2; awk "$program" "$@" >"$out"',
        arguments = [_JOIN, out.path] + [file.path for file in ctx.files.srcs],
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
