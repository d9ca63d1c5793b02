"""A library for each generation that a folder of the runtime supports: gfx9, with gfx9.h."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("//xml:generations.bzl", "BATCHES", "TYPES")

def _generation_header_impl(ctx):
    path = ctx.outputs.out.short_path
    if path.startswith("../"):  # of another repository
        path = path.split("/", 2)[2]
    guard = "PACKSMITH_%s_" % path.upper().replace("/", "_").replace(".", "_")
    ctx.actions.expand_template(
        template = ctx.file.template,
        output = ctx.outputs.out,
        substitutions = {
            "@GENERATION@": ctx.attr.generation,
            "@GUARD@": guard,
            "@TYPE@": TYPES[ctx.attr.generation],
        },
    )

_generation_header = rule(
    implementation = _generation_header_impl,
    attrs = {
        "generation": attr.string(mandatory = True, doc = "As in xml/generations.bzl."),
        "out": attr.output(mandatory = True),
        "template": attr.label(
            allow_single_file = True,
            mandatory = True,
            doc = "The header, with @GENERATION@ (gfx9), @TYPE@ (Gfx9) and @GUARD@.",
        ),
    },
    doc = "A generation's header or source, made from a template.",
)

def generation_sources(template, suffix = ""):
    """A source for each generation: <generation><suffix>.cc.

    Args:
      template: of the source, see the rule above.
      suffix: of the names.
    """
    for name in BATCHES:
        _generation_header(
            name = name + suffix + "_source",
            out = name + suffix + ".cc",
            generation = name,
            template = template,
            visibility = ["//visibility:private"],
        )

def generation_libraries(template, deps, generations = BATCHES, source = None):
    """A cc_library for each of some generations.

    Args:
      template: of the header <generation>.h, see the rule above.
      deps: of each; "{generation}" stands for the generation.
      generations: names, of xml/generations.bzl.
      source: a template of the source <generation>.cc, for what is compiled once.
    """
    for name in generations:
        _generation_header(
            name = name + "_header",
            out = name + ".h",
            generation = name,
            template = template,
            visibility = ["//visibility:private"],
        )
        if source:
            _generation_header(
                name = name + "_source",
                out = name + ".cc",
                generation = name,
                template = source,
                visibility = ["//visibility:private"],
            )
        cc_library(
            name = name,
            srcs = [name + ".cc"] if source else [],
            hdrs = [name + ".h"],
            deps = [dep.format(generation = name) for dep in deps],
        )
