"""Which package's libraries use which others, as the build sees it."""

ArrowsInfo = provider(
    doc = "The edges between a target's packages.",
    fields = {"edges": "depset of strings: a target, and one that it depends on"},
)

_ATTRIBUTES = ["deps", "srcs", "hdrs", "actual"]

def _arrows_aspect_impl(target, ctx):
    below = []
    edges = []
    for name in _ATTRIBUTES:
        value = getattr(ctx.rule.attr, name, None)
        for dep in value if type(value) == "list" else [value] if value else []:
            if type(dep) != "Target":
                continue
            if not dep.label.workspace_name:
                edges.append("//%s:%s //%s:%s" % (
                    target.label.package,
                    target.label.name,
                    dep.label.package,
                    dep.label.name,
                ))
            if ArrowsInfo in dep:
                below.append(dep[ArrowsInfo].edges)
    return [ArrowsInfo(edges = depset(edges, transitive = below))]

_arrows_aspect = aspect(
    implementation = _arrows_aspect_impl,
    attr_aspects = _ATTRIBUTES,
)

def _arrows_impl(ctx):
    edges = depset(transitive = [dep[ArrowsInfo].edges for dep in ctx.attr.deps])
    file = ctx.actions.declare_file(ctx.label.name + ".txt")
    ctx.actions.write(file, "".join([edge + "\n" for edge in sorted(edges.to_list())]))
    return [DefaultInfo(files = depset([file]), runfiles = ctx.runfiles([file]))]

arrows = rule(
    implementation = _arrows_impl,
    doc = "Writes NAME.txt: a line for each dependency of `deps`, direct or not, between targets of this repository.",
    attrs = {"deps": attr.label_list(mandatory = True, aspects = [_arrows_aspect])},
)
