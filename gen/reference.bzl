"""The reference site: static pages for all that is described.

    load("@packsmith//gen:reference.bzl", "packsmith_reference")

    packsmith_reference(name = "reference")  # what is built in
    packsmith_reference(
        name = "mine",
        descriptions = [":old_description", ":new_description"],  # of packsmith_library
    )

makes a folder of the target's name; index.html is where to start. Pages need no server.
"""

load(":packsmith.bzl", "PacksmithInfo")

def _reference_impl(ctx):
    root = ctx.actions.declare_directory(ctx.label.name)
    tables = [description[PacksmithInfo].tables for description in ctx.attr.descriptions]
    lines = {}
    for name, option in {"descriptions": "--describe=*", "generations": "--list"}.items():
        lines[name] = ctx.actions.declare_file("%s_%s.jsonl" % (ctx.label.name, name))
        ctx.actions.run(
            executable = ctx.executable._unpack,
            arguments = [option, "--format=jsonl", "--output=" + lines[name].path] +
                        ["--tables=" + file.path for file in tables],
            inputs = tables,
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
        "descriptions": attr.label_list(
            providers = [PacksmithInfo],
            doc = "Instead of those that are built in, the oldest generation first.",
        ),
        # Of the target configuration: it is built for the user anyway, and need not be built twice.
        "_unpack": attr.label(
            default = Label("//tools:unpack"),
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
