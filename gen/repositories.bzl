"""What a workspace that uses packsmith needs, in one call.

    local_repository(name = "packsmith", path = "...")
    load("@packsmith//gen:repositories.bzl", "packsmith_repositories")
    packsmith_repositories()
"""

load(
    "//third_party:repositories.bzl",
    "packsmith_bazel_tools",
    "packsmith_dependencies",
)

def packsmith_repositories(bazel_tools = True):
    """The libraries that the generator and the runtime link, as installed in the system.

    Repositories that the workspace has already are left alone.

    Args:
      bazel_tools: also what an old Bazel would fetch for itself (platforms, rules_cc, ...).
    """
    if bazel_tools:
        packsmith_bazel_tools()
    packsmith_dependencies()
