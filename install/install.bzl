"""What is installed, collected from the targets themselves.

packsmith_runtime gathers a set of cc_library targets into one static archive and one set of headers;
packsmith_manifest lists all installed files for install.py.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_LINK_STATIC_LIBRARY_ACTION_NAME")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

# This repository's name in the workspace that builds it.
_HERE = Label("//install").workspace_name

# What pkg-config calls the libraries of third_party. None: headers only, used in sources only.
_PKG_CONFIG = {
    "cli11": None,
    "highway": "libhwy",
    "libelf": "libelf",
    "pugixml": "pugixml",
    "rapidjson": None,
    # Only what precompiles headers of the others.
    "rules_cc": None,
    "zlib": "zlib",
    "zstd": "libzstd",
}

RuntimeInfo = provider(
    doc = "Libraries of this repository, and what they depend on.",
    fields = {
        "headers": "depset of public headers",
        "linker_inputs": "depset of LinkerInput",
        "compilation_contexts": "depset of CompilationContext",
        "modules": "depset of pkg-config modules of the system's libraries",
    },
)

def _module(label):
    """The pkg-config module of a library from elsewhere, or None if it has none."""
    name = label.workspace_name
    if "absl" in name or "abseil" in name:
        return label.name if label.name.startswith("absl_") else "absl_" + label.name
    if name not in _PKG_CONFIG:
        fail("install/install.bzl does not know what pkg-config calls %s" % label)
    return _PKG_CONFIG[name]

def _runtime_aspect_impl(target, ctx):
    if target.label.workspace_name != _HERE:
        module = _module(target.label)
        return [RuntimeInfo(
            headers = depset(),
            linker_inputs = depset(),
            compilation_contexts = depset(),
            modules = depset([module] if module else []),
        )]
    headers = []
    for header in getattr(ctx.rule.attr, "hdrs", []):
        headers.extend(header.files.to_list())
    below = [
        dep[RuntimeInfo]
        for attribute in ("deps", "srcs")
        for dep in getattr(ctx.rule.attr, attribute, [])
        if RuntimeInfo in dep
    ]
    linker_inputs = []
    compilation_contexts = []
    if CcInfo in target:
        linker_inputs.append(target[CcInfo].linking_context.linker_inputs)
        compilation_contexts.append(target[CcInfo].compilation_context)
    return [RuntimeInfo(
        headers = depset(headers, transitive = [info.headers for info in below]),
        linker_inputs = depset(transitive = linker_inputs + [info.linker_inputs for info in below]),
        compilation_contexts = depset(
            compilation_contexts,
            transitive = [info.compilation_contexts for info in below],
        ),
        modules = depset(transitive = [info.modules for info in below]),
    )]

_runtime_aspect = aspect(
    implementation = _runtime_aspect_impl,
    attr_aspects = ["deps", "srcs"],
)

def _generated(path):
    """What users write after #include "packsmith/ for a generated header."""
    return path[path.rindex("/packsmith/") + len("/packsmith/"):]

def _installed_header(file):
    """What users write after #include "packsmith/."""
    path = file.short_path
    if path.startswith("../"):
        path = path.split("/", 2)[2]
    for room in ["runtime/pack/", "runtime/rebuild/"]:
        if path.startswith(room):
            return path[len(room):]
    if path.startswith("runtime/"):
        return path
    return _generated(path)

def _archive(ctx, linker_inputs):
    objects = []
    for linker_input in linker_inputs:
        if linker_input.owner.workspace_name != _HERE:
            continue
        for library in linker_input.libraries:
            objects.extend(library.pic_objects or library.objects or [])
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    archive = ctx.actions.declare_file("libpacksmith.a")

    # q: several folders may have a source of the same name, and r would keep only one of them.
    arguments = ctx.actions.args()
    arguments.add("qcsD")
    arguments.add(archive)
    arguments.add_all(objects, uniquify = True)
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = CPP_LINK_STATIC_LIBRARY_ACTION_NAME,
        ),
        arguments = [arguments],
        inputs = depset(objects, transitive = [toolchain.all_files]),
        outputs = [archive],
        mnemonic = "PacksmithArchive",
        progress_message = "Archiving the runtime",
    )
    return archive

def _runtime_impl(ctx):
    infos = [dep[RuntimeInfo] for dep in ctx.attr.deps]
    headers = depset(transitive = [info.headers for info in infos]).to_list()
    linker_inputs = depset(transitive = [info.linker_inputs for info in infos])

    # For Bazel's users: the same #include lines as for those of the installed library.
    folder = ctx.label.name + "_include"
    links = []
    for header in headers:
        name = _installed_header(header)
        if name.startswith("runtime/"):
            link = ctx.actions.declare_file("%s/packsmith/%s" % (folder, name))
            ctx.actions.symlink(output = link, target_file = header)
            links.append(link)
    root = "/".join([
        part
        for part in [ctx.bin_dir.path, ctx.label.workspace_root, ctx.label.package, folder]
        if part
    ])
    own = CcInfo(
        compilation_context = cc_common.create_compilation_context(
            headers = depset(links),
            system_includes = depset([root]),
        ),
        linking_context = cc_common.create_linking_context(linker_inputs = linker_inputs),
    )
    theirs = depset(transitive = [info.compilation_contexts for info in infos]).to_list()
    return [
        DefaultInfo(files = depset([_archive(ctx, linker_inputs.to_list())])),
        RuntimeInfo(
            headers = depset(headers),
            linker_inputs = linker_inputs,
            compilation_contexts = depset(theirs),
            modules = depset(transitive = [info.modules for info in infos]),
        ),
        cc_common.merge_cc_infos(
            cc_infos = [own] + [CcInfo(compilation_context = context) for context in theirs],
        ),
    ]

packsmith_runtime = rule(
    implementation = _runtime_impl,
    attrs = {
        "deps": attr.label_list(
            aspects = [_runtime_aspect],
            doc = "cc_library targets, or filegroups of them.",
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    doc = "Libraries as one: an archive to install, and a C++ library for Bazel's own rules.",
)

def _entry(file, to, kind = "data"):
    return struct(to = to, source = file, kind = kind)

def _manifest_impl(ctx):
    files = []
    runtime = ctx.attr.runtime[RuntimeInfo]
    for header in runtime.headers.to_list():
        name = _installed_header(header)
        files.append(_entry(header, "include/packsmith/" + name, "header"))
        if name.endswith("_tables.h") and "/" not in name:
            generation = name[:-len("_tables.h")]
            if generation not in ctx.attr.generations + ctx.attr.firmware:
                fail("%s is built in, but is not listed in xml/generations.bzl" % generation)
    for target in ctx.attr.headers:
        for header in target.files.to_list():
            name = _generated(header.short_path)
            files.append(_entry(header, "include/packsmith/" + name, "header"))
    for archive in ctx.files.runtime:
        files.append(_entry(archive, "lib/" + archive.basename))
    for target in ctx.attr.programs:
        program = target[DefaultInfo].files_to_run.executable
        files.append(_entry(program, "bin/" + program.basename, "program"))

    # Paths from that folder on: xml/intel/gfx9.xml, render/render.py.
    for target, folders in ctx.attr.shared.items():
        for file in target.files.to_list():
            path = "/" + file.short_path
            at = max([path.rfind("/%s/" % folder) for folder in folders.split(" ")])
            if at < 0:
                fail("%s is in none of these folders: %s" % (file.short_path, folders))
            files.append(_entry(file, "share/packsmith" + path[at:]))
    for target, to in ctx.attr.templates.items():
        for file in target.files.to_list():
            kind = "program template" if to.startswith("bin/") else "template"
            files.append(_entry(file, to, kind))
    for target, to in ctx.attr.others.items():
        for file in target.files.to_list():
            files.append(_entry(file, to))

    for folder in ctx.files.folders:
        files.append(_entry(folder, "", "folder"))

    manifest = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(manifest, json.encode(struct(
        version = ctx.attr.version,
        date = ctx.attr.date,
        compilation_mode = ctx.var["COMPILATION_MODE"],
        modules = sorted(runtime.modules.to_list()),
        generations = ctx.attr.generations,
        files = [
            struct(to = file.to, source = file.source.short_path, kind = file.kind)
            for file in files
        ],
    )))
    return [DefaultInfo(
        files = depset([manifest]),
        runfiles = ctx.runfiles(files = [manifest] + [file.source for file in files]),
    )]

packsmith_manifest = rule(
    implementation = _manifest_impl,
    attrs = {
        "runtime": attr.label(providers = [RuntimeInfo], doc = "The library."),
        "generations": attr.string_list(doc = "Names of generations whose headers are listed."),
        "firmware": attr.string_list(
            doc = "Descriptions that are built in and are no generation's.",
        ),
        "headers": attr.label_list(doc = "Generated headers, .../packsmith/<name>."),
        "programs": attr.label_list(doc = "For bin/."),
        "shared": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "For share/packsmith: files, and the folders, separated by spaces, below which " +
                  "their paths are kept.",
        ),
        "templates": attr.label_keyed_string_dict(
            allow_files = True,
            doc = "Files with @NAMES@ that install.py fills in, and their destinations.",
        ),
        "others": attr.label_keyed_string_dict(allow_files = True, doc = "And their destinations."),
        "folders": attr.label_list(doc = "Folders whose files keep their paths in them."),
        "version": attr.string(mandatory = True),
        "date": attr.string(mandatory = True),
    },
    doc = "Lists what is installed, and adds it to the runfiles.",
)
