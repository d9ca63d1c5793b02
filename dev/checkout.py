"""The checkout that the maintainers' programs work on: its files, and those that changed."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterable


def root() -> pathlib.Path:
    """The checkout: the one that `bazel run` was called in, or that of this file."""
    given = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    return pathlib.Path(given) if given else pathlib.Path(__file__).resolve().parent.parent


def git(*arguments: str) -> str:
    """What git prints. Exits with git's error message if it fails."""
    done = subprocess.run(["git", *arguments], cwd=root(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout


def every_file() -> list[str]:
    """All files that git tracks, and new ones that it does not ignore."""
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return sorted(path for path in set(listed) if path and (root() / path).is_file())


def base() -> str:
    """The commit that changes are counted from: where this branch left the one that it follows, or
    main; the last commit on main itself."""
    for upstream in ("@{upstream}", "origin/main", "main"):
        done = subprocess.run(["git", "merge-base", "HEAD", upstream], cwd=root(),
                              capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
    return "HEAD"


def changed_files(since: str | None = None) -> list[str]:
    """Files that differ from a commit, base() by default, and new ones."""
    listed = git("diff", "-z", "--name-only", "--diff-filter=d", since or base()).split("\0")
    listed += git("ls-files", "-z", "--others", "--exclude-standard").split("\0")
    return sorted(path for path in set(listed) if path and (root() / path).is_file())


def cxx(paths: Iterable[str]) -> list[str]:
    """The project's C and C++ files; the driver that embeds a header keeps a style of its own."""
    return [path for path in paths if path.endswith((".h", ".cc", ".c"))
            and not path.startswith("docs/examples/embedding/")]


def build_files(paths: Iterable[str]) -> list[str]:
    """What buildifier formats."""
    return [path for path in paths
            if os.path.basename(path) in ("BUILD", "WORKSPACE", "MODULE.bazel") or
            path.endswith((".bzl", ".BUILD"))]


def program(name: str, *others: str) -> str | None:
    """The path of a program: the first of its names in the PATH, or in npm's folder of this machine."""
    for each in (name, *others):
        found = shutil.which(each) or shutil.which(each, path="/usr/local/bin:/usr/bin:/bin")
        if found:
            return found
    kept = pathlib.Path.home() / ".cache" / "packsmith" / "node_modules" / ".bin" / name
    return str(kept) if kept.exists() else None
