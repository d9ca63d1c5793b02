#!/usr/bin/python3
"""The checks that a reviewer need not make by eye.

Checks changed files (see format.py), or all files with --all, except `includes`, which only checks
what changed: all sources, compiled one by one, take longer than all other checks together.

  format   clang-format would change nothing
  build    buildifier would change nothing, and has no warning
  includes C++ sources of changed targets compile one by one; builds join them, and precompile headers,
           so that a source that lacks an #include compiles until it is optimised
  tidy     clang-tidy has no warning (.clang-tidy); needs compile_commands.json, which it makes
  links    every relative link of a Markdown page points to a file, and every #fragment to a heading
  words    phrases of the glossary (words.py) in pages, comments, messages and descriptions
  columns  descriptions have no line over 120 columns, but for one long attribute
  python   Python files compile and have no line over 110 columns

Exits with 0 if nothing was found, 1 if something was, 2 if a check could not be made.
"""

from __future__ import annotations

import argparse
import ast
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable

import checkout
import words


class Missing(Exception):
    """A program that a check needs is not installed."""


def need(name: str, *others: str) -> str:
    found = checkout.program(name, *others)
    if found is None:
        raise Missing(f"{name} is missing; ./bazelw run //:lint installs it")
    return found


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=checkout.root(), capture_output=True, text=True, check=False)


def formatted(paths: list[str]) -> list[str]:
    files = checkout.cxx(paths)
    if not files:
        return []
    done = run([need("clang-format-14", "clang-format"), "--dry-run", "-Werror", *files])
    lines = [line for line in done.stderr.splitlines() if "error:" in line]
    seen: dict[str, str] = {}
    for line in lines:
        seen.setdefault(line.split(":")[0], line.split(": error")[0] + ": not formatted")
    return list(seen.values())


def build_files(paths: list[str]) -> list[str]:
    files = checkout.build_files(paths)
    if not files:
        return []
    # Docstrings of private macros and of files are left to reviewers.
    options = ["-mode=check", "-lint=warn", "-warnings=-module-docstring,-function-docstring,"
               "-function-docstring-args,-native-cc-binary,-native-cc-library,-native-cc-test,"
               "-native-cc-info,-native-cc-common,"
               "-function-docstring-header,-unnamed-macro,-bzl-visibility"]
    done = run([need("buildifier"), *options, *files])
    return [line for line in done.stderr.splitlines() if line.strip()]


def tidy(paths: list[str]) -> list[str]:
    sources = [path for path in checkout.cxx(paths) if path.endswith(".cc")]
    if not sources:
        return []
    program = need("clang-tidy-14", "clang-tidy")
    database = checkout.root() / "compile_commands.json"
    if not database.exists():
        done = run([sys.executable, str(pathlib.Path(__file__).with_name("compile_commands.py"))])
        if done.returncode != 0:
            raise Missing(f"compile_commands.json could not be made: {done.stderr.strip()}")
    found = []
    for source in sources:
        done = run([program, "--quiet", "-p", str(checkout.root()), source])
        found += [line for line in done.stdout.splitlines() if re.search(r": (warning|error): ", line)]
    return sorted(set(found))


# The options that compile a target's sources, link nothing, and leave the usual build as it is.
_APART = ["--define=sources=apart", "--platform_suffix=-apart", "--symlink_prefix=/",
          "--output_groups=compilation_outputs"]


def includes(paths: list[str]) -> list[str]:
    files = " ".join(f'"{path}"' for path in checkout.cxx(paths) if not path.endswith(".c"))
    if not files:
        return []
    # Not what is only built by name, with options of its own.
    users = f"same_pkg_direct_rdeps(set({files}))"
    done = run(["./bazelw", "query", "--noshow_progress", "--keep_going",
                f'kind("cc_(library|binary|test) rule", {users}) '
                f'except attr(tags, "[\\[ ]manual[,\\]]", {users})'])
    # 3: some files belong to no target.
    if done.returncode not in (0, 3):
        raise Missing(f"Bazel cannot say which targets have changed: {done.stderr.strip()}")
    targets = sorted(done.stdout.split())
    if not targets:
        return []
    done = run(["./bazelw", "build", "--noshow_progress", "--keep_going", *_APART, "--", *targets])
    found = {line for line in done.stderr.splitlines() if re.search(r":\d+:\d+: (fatal )?error: ", line)}
    if done.returncode != 0 and not found:
        raise Missing(f"Bazel did not compile {' '.join(targets)}: {done.stderr.strip()}")
    return sorted(found)


_LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(text: str) -> set[str]:
    """The fragments of a page's headings."""
    found = set()
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        heading = re.match(r"#+ (.*)", line)
        if heading and not fenced:
            plain = re.sub(r"[`*]|\]\([^)]*\)", "", heading.group(1)).lower()
            found.add(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return found


def links(paths: list[str]) -> list[str]:
    # A changed page may lose what another one links to, so all pages are checked.
    del paths
    root = checkout.root()
    pages = [path for path in checkout.every_file() if path.endswith(".md")]
    found = []
    for page in pages:
        fenced = False
        for number, line in enumerate((root / page).read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("```"):
                fenced = not fenced
            if fenced:
                continue
            for match in _LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                target, _, fragment = match.group(1).partition("#")
                if "://" in target or target.startswith("mailto:"):
                    continue
                file = root / os.path.normpath(os.path.join(os.path.dirname(page), target)) \
                    if target else root / page
                if "bazel-bin" in file.parts:
                    continue  # made by the build: //tests/reference checks those
                if not file.exists():
                    found.append(f"{page}:{number}: {match.group(1)} does not point to a file")
                elif fragment and file.suffix == ".md" and \
                        fragment not in anchors(file.read_text(encoding="utf-8")):
                    found.append(f"{page}:{number}: {match.group(1)}: no heading has this name")
    return found


def worded(paths: list[str]) -> list[str]:
    found = []
    for path in paths:
        if not words.has_prose(path):
            continue
        text = (checkout.root() / path).read_text(encoding="utf-8")
        phrases = words.WORDS + (words.WORDS_OF_PAGES if path.endswith(words.PAGES) else [])
        for number, line in words.prose(path, text):
            for expression, better in phrases:
                match = re.search(expression, line)
                if match:
                    found.append(f"{path}:{number}: \"{match.group(0)}\": {better}")
    return found


def columns(paths: list[str]) -> list[str]:
    found = []
    for path in paths:
        if not (path.startswith("xml/") and path.endswith(".xml")):
            continue
        text = (checkout.root() / path).read_text(encoding="utf-8")
        # A drawing, or an attribute alone in its line, cannot be broken.
        found += [f"{path}:{number}: {len(line)} columns"
                  for number, line in enumerate(text.splitlines(), 1)
                  if len(line) > 120 and "──" not in line and
                  not re.fullmatch(r' *[\w-]+="[^"]*"[/?]?>?', line)]
    return found


def python(paths: list[str]) -> list[str]:
    found = []
    for path in paths:
        file = checkout.root() / path
        if not path.endswith(".py"):
            continue
        text = file.read_text(encoding="utf-8")
        try:
            tree = ast.parse(text)
        except SyntaxError as error:
            found.append(f"{path}:{error.lineno}: {error.msg}")
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > 110:
                found.append(f"{path}:{number}: {len(line)} columns")
            if line.rstrip() != line or "\t" in line:
                found.append(f"{path}:{number}: trailing blanks, or a tab")
        imported = {(alias.asname or alias.name).split(".")[0]: node.lineno
                    for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))
                    and getattr(node, "module", "") != "__future__" for alias in node.names}
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        exported = set(re.findall(r"\w+", text.partition("__all__")[2].partition("]")[0]))
        for name, number in imported.items():
            # Names in string annotations count, too.
            if name not in used and name not in exported and not re.search(
                    rf"[\"'\[ ]{name}\.", text):
                found.append(f"{path}:{number}: {name} is imported but not used")
    return found


CHECKS: dict[str, Callable[[list[str]], list[str]]] = {
    "format": formatted,
    "build": build_files,
    "links": links,
    "words": worded,
    "columns": columns,
    "python": python,
    "includes": includes,
    "tidy": tidy,
}

# Those that --all does not extend to every file.
CHANGED_ONLY = {"includes"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                     epilog="\n".join(__doc__.splitlines()[2:]),
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true",
                        help="every file, not only changed ones; not for includes")
    parser.add_argument("--since", metavar="COMMIT", help="changed files are those that differ from COMMIT")
    parser.add_argument("--check", action="append", choices=CHECKS, metavar="NAME",
                        help="run this check; may be given several times (default: all)")
    parser.add_argument("--skip", action="append", choices=CHECKS, metavar="NAME", default=[],
                        help="skip this check; may be given several times")
    parser.add_argument("files", nargs="*", help="check these files, relative to the checkout")
    arguments = parser.parse_args()
    code = 0
    for name in arguments.check or CHECKS:
        if name in arguments.skip:
            continue
        every = arguments.all and name not in CHANGED_ONLY
        try:
            found = CHECKS[name](arguments.files or (
                checkout.every_file() if every else checkout.changed_files(arguments.since)))
        except Missing as missing:
            print(f"lint: {name}: {missing}", file=sys.stderr)
            code = 2
            continue
        for line in found:
            print(line)
        print(f"{name}: {len(found) or 'nothing'} found", file=sys.stderr)
        if found and code == 0:
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
