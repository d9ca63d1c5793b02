"""The source files of rooms, for tests that read them."""

_SourcesInfo = provider(
    doc = "Files of a target and of those that it depends on.",
    fields = {"files": "depset of Files"},
)

_ATTRIBUTES = ["actual", "deps", "srcs"]

def _sources_aspect_impl(target, ctx):
    own = []
    if target.label.package.startswith("runtime/intel/"):
        own = getattr(ctx.rule.files, "srcs", []) + getattr(ctx.rule.files, "hdrs", [])
    below = []
    for name in _ATTRIBUTES:
        value = getattr(ctx.rule.attr, name, None)
        for dep in value if type(value) == "list" else [value] if value else []:
            if type(dep) == "Target" and _SourcesInfo in dep:
                below.append(dep[_SourcesInfo].files)
    return [_SourcesInfo(files = depset([file for file in own if file.is_source], transitive = below))]

_sources_aspect = aspect(
    implementation = _sources_aspect_impl,
    attr_aspects = _ATTRIBUTES,
)

def _intel_sources_impl(ctx):
    files = depset(transitive = [dep[_SourcesInfo].files for dep in ctx.attr.deps])
    return [DefaultInfo(files = files, runfiles = ctx.runfiles(transitive_files = files))]

intel_sources = rule(
    implementation = _intel_sources_impl,
    doc = "Sources and headers in runtime/intel of all that `deps` depend on.",
    attrs = {"deps": attr.label_list(mandatory = True, aspects = [_sources_aspect])},
)
