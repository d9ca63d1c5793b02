"""From an XML description to libraries.

    load("@packsmith//gen:packsmith.bzl", "packsmith_library")

    packsmith_library(
        name = "gfx9",           # the generation, as the XML says
        src = "gfx9.xml",
        deps = ["gfx8.xml"],     # what it extends or includes, if anything
        parts = {"video": ["video", "video-enhance"]},  # engines whose headers can be had alone
    )

A file names what it extends by a path relative to itself, or to the root of the other's repository:

    packsmith_library(
        name = "mine",
        src = "mine.xml",        # <packsmith generation="mine" extends="xml/intel/gfx9.xml">
        deps = ["@packsmith//xml/intel:gfx9_description"],
    )

makes

    :gfx9          #include "packsmith/gfx9.h"         C++20
    :gfx9_c        #include "packsmith/c/gfx9_pack.h"  C11 and OpenCL C; c/gfx9_bits.h, c/gfx9_codes.h
    :gfx9_names    #include "packsmith/gfx9_names.h"   names and printing, for C++
    :gfx9_codes    #include "packsmith/gfx9_codes.h"   what formats and the like are called, for C++
    :gfx9_relations #include "packsmith/gfx9_relations.h"  which packets depend on which, for C++
    :gfx9_tables   #include "packsmith/gfx9_tables.h"  the decode tables, embedded
    :gfx9_spelling                                     what C++ and C call all of it, embedded
    :gfx9_headers                                      all of these headers as files
    :gfx9_video    #include "packsmith/gfx9_video.h"   what only these engines have, and what all have
    :gfx9_video_c  #include "packsmith/c/gfx9_video_pack.h"
    :gfx9_description                                  the IR and the tables as files

What C drivers that are compiled for several generations include is made of all of them:

    packsmith_family(
        name = "intel",
        generations = ["gfx8", "gfx9"],
    )

makes

    :intel_c       #include "packsmith/c/intel_pack.h"  the packets of GFX_VERx10
                   #include "packsmith/c/intel_bits.h"  positions of fields, by device
    :intel_headers                                      both as files
"""

load("@rules_cc//cc:defs.bzl", "cc_library")

PacksmithInfo = provider(
    doc = "What a description comes to.",
    fields = {
        "ir": "the resolved description, JSON",
        "tables": "the decode tables",
        "sources": "depset of the XML files",
    },
)

def _root(file):
    """The folder that labels of a file's repository count from."""
    parts = [part for part in [file.root.path, file.owner.workspace_root] if part]
    return "/".join(parts) or "."

def _description_impl(ctx):
    ir = ctx.actions.declare_file(ctx.label.name + ".json")
    tables = ctx.actions.declare_file(ctx.label.name + ".tables")
    sources = depset(
        [ctx.file.src],
        transitive = [dep[DefaultInfo].files for dep in ctx.attr.deps if PacksmithInfo not in dep] +
                     [dep[PacksmithInfo].sources for dep in ctx.attr.deps if PacksmithInfo in dep],
    )
    arguments = ctx.actions.args()
    arguments.add(ir, format = "--ir=%s")
    arguments.add(tables, format = "--tables=%s")
    arguments.add("--no-warnings")
    arguments.add_all(
        sources,
        map_each = _root,
        format_each = "--path=%s",
        uniquify = True,
    )
    arguments.add(ctx.file.src)
    ctx.actions.run(
        executable = ctx.executable._packgen,
        arguments = [arguments],
        inputs = sources,
        outputs = [ir, tables],
        mnemonic = "Packgen",
        progress_message = "Reading %s" % ctx.file.src.short_path,
    )
    return [
        DefaultInfo(files = depset([ir, tables])),
        OutputGroupInfo(ir = depset([ir]), tables = depset([tables])),
        PacksmithInfo(ir = ir, tables = tables, sources = sources),
    ]

packsmith_description = rule(
    implementation = _description_impl,
    attrs = {
        "src": attr.label(
            allow_single_file = [".xml"],
            mandatory = True,
            doc = "The description.",
        ),
        "deps": attr.label_list(
            # Not [".xml"]: descriptions are targets that make other files.
            allow_files = True,
            doc = "What it extends or includes: XML files, or other packsmith_description targets.",
        ),
        "_packgen": attr.label(
            default = Label("//gen/packgen"),
            executable = True,
            cfg = "exec",
        ),
    },
    doc = "Reads and checks an XML description: <name>.json (the IR) and <name>.tables.",
)

# Attribute of packsmith_render, option of render.py.
_OUTPUTS = {
    "cpp": "--cpp",
    "names": "--names",
    "relations": "--relations",
    "codes": "--codes",
    "c": "--c",
    "c_bits": "--c-bits",
    "c_codes": "--c-codes",
    "positions": "--positions",
    "spelling": "--spelling",
    "embed": "--embed",
    "embed_header": "--embed-header",
}

def _render_impl(ctx):
    info = ctx.attr.description[PacksmithInfo]
    arguments = ctx.actions.args()
    arguments.add(ctx.file._main)
    arguments.add("--ir", info.ir)
    inputs = [info.ir] + ctx.files._render
    outputs = []
    for attribute, option in _OUTPUTS.items():
        output = getattr(ctx.outputs, attribute)
        if output:
            arguments.add(option, output)
            outputs.append(output)
    for part, engines in ctx.attr.parts.items():
        arguments.add("--part", "%s=%s" % (part, ",".join(engines)))
    for option, files in [("--cpp-part", ctx.outputs.parts_cpp), ("--c-part", ctx.outputs.parts_c)]:
        for part, file in zip(ctx.attr.parts, files):
            arguments.add(option, file, format = part + "=%s")
            outputs.append(file)
    if ctx.outputs.embed:
        arguments.add("--tables", info.tables)
        arguments.add("--symbol", ctx.attr.symbol)
        inputs.append(info.tables)

    # By name: python3-jinja2 belongs to the system's interpreter.
    ctx.actions.run(
        executable = "/usr/bin/python3",
        arguments = [arguments],
        inputs = inputs,
        outputs = outputs,
        mnemonic = "PacksmithRender",
        progress_message = "Generating from %s" % ctx.attr.description.label,
    )

    # The headers. The others have names by which rules ask for them.
    others = [
        ctx.outputs.positions,
        ctx.outputs.spelling,
        ctx.outputs.embed,
        ctx.outputs.embed_header,
    ]
    files = [file for file in outputs if file not in others]
    return [DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files = files))]

packsmith_render = rule(
    implementation = _render_impl,
    attrs = dict(
        {name: attr.output(doc = "File for render.py's " + option) for name, option in _OUTPUTS.items()},
        description = attr.label(
            providers = [PacksmithInfo],
            mandatory = True,
        ),
        parts = attr.string_list_dict(doc = "Engines of each part whose headers can be had alone."),
        parts_c = attr.output_list(doc = "C headers of the parts, in their order."),
        parts_cpp = attr.output_list(doc = "C++ headers of the parts, in their order."),
        symbol = attr.string(doc = "Name of the embedded tables."),
        _render = attr.label(default = Label("//gen:render")),
        _main = attr.label(
            default = Label("//gen:render/render.py"),
            allow_single_file = True,
        ),
    ),
    doc = "Prints a description as source files.",
)

def packsmith_library(
        name,
        src,
        deps = [],
        generation = None,
        parts = {},
        visibility = None,
        **kwargs):
    """Libraries of one generation.

    Args:
      name: of the C++ library; the others append to it.
      src: the XML.
      deps: XML files or packsmith_description targets that it extends.
      generation: as the XML says, if that is not the name. It names the headers.
      parts: names of parts, and of each the engines whose packets can be had alone.
      visibility: of all targets.
      **kwargs: for all targets: tags, testonly.
    """
    generation = generation or name
    description = name + "_description"
    packsmith_description(
        name = description,
        src = src,
        deps = deps,
        visibility = visibility,
        **kwargs
    )

    cpp = name + "_cpp/packsmith/%s.h" % generation
    names = name + "_cpp/packsmith/%s_names.h" % generation
    relations = name + "_cpp/packsmith/%s_relations.h" % generation
    codes = name + "_cpp/packsmith/%s_codes.h" % generation
    c = name + "_c/packsmith/c/%s_pack.h" % generation
    bits = name + "_c/packsmith/c/%s_bits.h" % generation
    c_codes = name + "_c/packsmith/c/%s_codes.h" % generation
    embedded = name + "_embedded/packsmith/%s_tables" % generation
    parts_cpp = {part: name + "_cpp/packsmith/%s_%s.h" % (generation, part) for part in parts}
    parts_c = {part: name + "_c/packsmith/c/%s_%s_pack.h" % (generation, part) for part in parts}

    # All in one: reading the IR is a good part of it.
    packsmith_render(
        name = name + "_headers",
        description = description,
        cpp = cpp,
        names = names,
        relations = relations,
        codes = codes,
        c = c,
        c_bits = bits,
        c_codes = c_codes,
        embed = embedded + ".cc",
        embed_header = embedded + ".h",
        parts = parts,
        parts_c = parts_c.values(),
        parts_cpp = parts_cpp.values(),
        positions = name + "_positions.json",
        spelling = name + "_spelling.cc",
        symbol = generation + "_tables",
        visibility = visibility,
        **kwargs
    )
    cc_library(
        name = name,
        hdrs = [cpp],
        strip_include_prefix = name + "_cpp",
        visibility = visibility,
        deps = [Label("//runtime/pack")],
        **kwargs
    )
    cc_library(
        name = name + "_names",
        hdrs = [names],
        strip_include_prefix = name + "_cpp",
        visibility = visibility,
        deps = [":" + name, Label("//runtime/pack:names")],
        **kwargs
    )
    cc_library(
        name = name + "_relations",
        hdrs = [relations],
        strip_include_prefix = name + "_cpp",
        visibility = visibility,
        deps = [":" + name, Label("//runtime/pack:relations")],
        **kwargs
    )
    cc_library(
        name = name + "_codes",
        hdrs = [codes],
        strip_include_prefix = name + "_cpp",
        visibility = visibility,
        **kwargs
    )
    cc_library(
        name = name + "_c",
        hdrs = [c, bits, c_codes],
        strip_include_prefix = name + "_c",
        visibility = visibility,
        deps = [Label("//runtime/pack")],
        **kwargs
    )

    for part in parts:
        cc_library(
            name = "%s_%s" % (name, part),
            hdrs = [parts_cpp[part]],
            strip_include_prefix = name + "_cpp",
            visibility = visibility,
            deps = [Label("//runtime/pack")],
            **kwargs
        )
        cc_library(
            name = "%s_%s_c" % (name, part),
            hdrs = [parts_c[part]],
            strip_include_prefix = name + "_c",
            visibility = visibility,
            deps = [Label("//runtime/pack")],
            **kwargs
        )

    cc_library(
        name = name + "_tables",
        srcs = [embedded + ".cc"],
        hdrs = [embedded + ".h"],
        strip_include_prefix = name + "_embedded",
        visibility = visibility,
        deps = [Label("//runtime/tables")],
        **kwargs
    )
    cc_library(
        name = name + "_spelling",
        srcs = [name + "_spelling.cc"],
        visibility = visibility,
        deps = [Label("//runtime/tables")],
        **kwargs
    )

def _family_impl(ctx):
    arguments = ctx.actions.args()
    arguments.add(ctx.file._main)
    arguments.add("--bits", ctx.outputs.bits)
    arguments.add("--pack", ctx.outputs.pack)
    arguments.add_all(ctx.files.positions)
    outputs = [ctx.outputs.bits, ctx.outputs.pack]
    ctx.actions.run(
        executable = "/usr/bin/python3",
        arguments = [arguments],
        inputs = ctx.files.positions + ctx.files._render,
        outputs = outputs,
        mnemonic = "PacksmithFamily",
        progress_message = "Generating what %s has in common" % ctx.label,
    )
    return [DefaultInfo(files = depset(outputs), runfiles = ctx.runfiles(files = outputs))]

_family = rule(
    implementation = _family_impl,
    attrs = {
        "bits": attr.output(mandatory = True),
        "pack": attr.output(mandatory = True),
        "positions": attr.label_list(allow_files = [".json"], mandatory = True),
        "_render": attr.label(default = Label("//gen:render")),
        "_main": attr.label(
            default = Label("//gen:render/family.py"),
            allow_single_file = True,
        ),
    },
)

def packsmith_family(name, generations, visibility = None, **kwargs):
    """C headers for several generations at once.

    Args:
      name: of the family, as the XML says. It names the headers.
      generations: names of packsmith_library targets, of this package or others ("//xml/intel:gfx9").
        Their descriptions say their version.
      visibility: of all targets.
      **kwargs: for all targets: tags, testonly.
    """
    bits = name + "_family/packsmith/c/%s_bits.h" % name
    pack = name + "_family/packsmith/c/%s_pack.h" % name
    labels = [one if ":" in one else ":" + one for one in generations]
    _family(
        name = name + "_headers",
        bits = bits,
        pack = pack,
        positions = [label + "_positions.json" for label in labels],
        visibility = visibility,
        **kwargs
    )
    cc_library(
        name = name + "_c",
        hdrs = [bits, pack],
        strip_include_prefix = name + "_family",
        visibility = visibility,
        deps = [label + "_c" for label in labels],
        **kwargs
    )
