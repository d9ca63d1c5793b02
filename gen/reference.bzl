"""The reference site: static pages for all that is described.

    load("@packsmith//gen:reference.bzl", "packsmith_reference")

    packsmith_reference(name = "reference")                        # what is built in
    packsmith_reference(name = "mine", xml = ["old.xml", "new.xml"])  # descriptions of one's own

makes a folder of the target's name; index.html is where to start. Pages need no server.
"""

def _reference_impl(ctx):
    root = ctx.actions.declare_directory(ctx.label.name)
    description = ["--xml=" + file.path for file in ctx.files.xml]
    lines = {}
    for name, option in {"descriptions": "--describe=*", "generations": "--list"}.items():
        lines[name] = ctx.actions.declare_file("%s_%s.jsonl" % (ctx.label.name, name))
        ctx.actions.run(
            executable = ctx.executable._unpack,
            arguments = [option, "--format=jsonl", "--output=" + lines[name].path] + description,
            inputs = ctx.files.xml + ctx.files.deps,
            outputs = [lines[name]],
            mnemonic = "PacksmithDescribe",
        )

    # By name: python3-jinja2 belongs to the system's interpreter.
    ctx.actions.run(
        executable = "/usr/bin/python3",
        arguments = [
            ctx.file._main.path,
            "--descriptions=" + lines["descriptions"].path,
            "--generations=" + lines["generations"].path,
            "--output=" + root.path,
        ],
        inputs = lines.values() + ctx.files._render,
        outputs = [root],
        mnemonic = "PacksmithReference",
        progress_message = "Writing the reference pages of %s" % ctx.label,
    )
    return [DefaultInfo(files = depset([root]), runfiles = ctx.runfiles(files = [root]))]

packsmith_reference = rule(
    implementation = _reference_impl,
    attrs = {
        "xml": attr.label_list(
            allow_files = [".xml"],
            doc = "Descriptions instead of those that are built in, the oldest generation first.",
        ),
        "deps": attr.label_list(
            allow_files = [".xml"],
            doc = "What it extends or includes.",
        ),
        # Of the target configuration: it is built for the user anyway, and need not be built twice.
        "_unpack": attr.label(
            default = Label("//runtime/cli:unpack"),
            executable = True,
            cfg = "target",
        ),
        "_render": attr.label(default = Label("//gen:reference")),
        "_main": attr.label(
            default = Label("//gen:render/reference.py"),
            allow_single_file = True,
        ),
    },
    doc = "Writes the reference pages.",
)
