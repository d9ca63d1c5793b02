"""What goes with installed programs: manual pages, completions, a Debian package."""

def _manuals_impl(ctx):
    folder = ctx.actions.declare_directory(ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add(folder.path)
    arguments.add("--version=" + ctx.attr.version)
    arguments.add(ctx.file.renderer, format = "--renderer=%s")
    programs = [target[DefaultInfo].files_to_run for target in ctx.attr.programs]
    arguments.add_all([program.executable for program in programs])
    ctx.actions.run(
        executable = ctx.executable._writer,
        arguments = [arguments],
        inputs = depset([ctx.file.renderer], transitive = [ctx.attr.templates[DefaultInfo].files]),
        tools = programs,
        outputs = [folder],
        use_default_shell_env = True,
        mnemonic = "PacksmithManuals",
        progress_message = "Writing manual pages and completions",
    )
    return [DefaultInfo(files = depset([folder]))]

# The programs run on the machine that builds, as they are installed.
packsmith_manuals = rule(
    implementation = _manuals_impl,
    attrs = {
        "programs": attr.label_list(doc = "That parse their command line with runtime/base/program."),
        "renderer": attr.label(
            allow_single_file = True,
            doc = "render.py, whose options are those of packrender.",
        ),
        "templates": attr.label(doc = "What it needs."),
        "version": attr.string(mandatory = True),
        "_writer": attr.label(
            default = "//install:write_manuals",
            executable = True,
            cfg = "exec",
        ),
    },
    doc = "A folder of manual pages and completions, with the paths of an installation.",
)

def _deb_impl(ctx):
    deb = ctx.actions.declare_file(ctx.label.name + ".deb")
    ctx.actions.run(
        executable = ctx.executable.maker,
        arguments = [deb.path],
        outputs = [deb],
        tools = [ctx.attr.maker[DefaultInfo].files_to_run],
        use_default_shell_env = True,
        mnemonic = "PacksmithDeb",
        progress_message = "Making the Debian package",
        # What it depends on is looked up in the machine's list of packages.
        execution_requirements = {"no-remote": "1", "no-cache": "1"},
    )

    # Native rules take from `data` what is in the runfiles of its targets, not their files.
    return [DefaultInfo(files = depset([deb]), runfiles = ctx.runfiles(files = [deb]))]

packsmith_deb = rule(
    implementation = _deb_impl,
    attrs = {
        "maker": attr.label(executable = True, cfg = "target", doc = "make_deb.py with what it packs."),
    },
    doc = "A Debian package of the whole installation.",
)
