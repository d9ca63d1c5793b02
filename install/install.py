#!/usr/bin/python3
"""Installs packsmith for users who build without Bazel.

    ./bazelw run --config=opt //:install -- PREFIX

puts headers, the runtime library, programs and descriptions under PREFIX, which may be relative to
the folder of the call. DESTDIR=/stage in the environment puts everything under /stage/PREFIX. The
installation may be moved: no file in it contains PREFIX.

All files are first written next to their destinations and then renamed, so that a full disk or a
missing permission leaves an earlier installation unchanged.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

MANIFEST = "install/manifest.json"
INCLUDE = re.compile(rb'^(\s*#\s*include\s+")(runtime/)', re.MULTILINE)
PLACEHOLDER = re.compile(r"@([A-Z]+)@")


class Failure(Exception):
    """An error that the user can correct."""


def runfiles() -> Path:
    """The folder of the files to install."""
    here = Path.cwd()
    beside = sorted(Path(sys.argv[0] + ".runfiles").resolve().glob("*/"))
    for place in [here, *beside]:
        for folder in (place, place / "external/packsmith", place.parent / "packsmith"):
            if (folder / MANIFEST).is_file():
                return folder
    raise Failure(f"{MANIFEST} is not here: start this with ./bazelw run --config=opt //:install")


def substitutions(manifest: dict[str, Any]) -> dict[str, str]:
    """The placeholders of templates, and their values."""
    modules: list[str] = manifest["modules"]
    major, minor, *_ = manifest["version"].split(".")
    return {
        "VERSION": manifest["version"],
        "MAJOR": major,
        "MINOR": minor,
        "MODULES": " ".join(modules),
        "ABSL": " ".join(m.removeprefix("absl_") for m in modules if m.startswith("absl_")),
        "OTHERS": " ".join(m for m in modules if not m.startswith("absl_")),
    }


def content(source: Path, kind: str, values: dict[str, str]) -> bytes:
    """A file as it is installed."""
    data = source.read_bytes()
    if kind == "header":
        # Inside this repository headers are named from its root; outside, "runtime/" is too common
        # a name.
        return INCLUDE.sub(rb"\1packsmith/\2", data)
    if kind.endswith("template"):
        return PLACEHOLDER.sub(lambda match: values[match[1]], data.decode()).encode()
    return data


def contents(root: Path, file: dict[str, str]) -> list[dict[str, str]]:
    """A file, or the files of a folder."""
    if file["kind"] != "folder":
        return [file]
    folder = root / file["source"]
    return [{"to": str(path.relative_to(folder)), "source": str(path.relative_to(root)),
             "kind": "data"} for path in sorted(folder.rglob("*")) if path.is_file()]


def make_folders(folder: Path, made: list[Path]) -> None:
    """Creates a folder and its parents, and notes which ones were created."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir()
        made.append(one)


def install(root: Path, manifest: dict[str, Any], prefix: Path) -> int:
    """Writes everything or nothing. Returns the number of files."""
    values = substitutions(manifest)
    made: list[Path] = []
    written: list[tuple[str, Path]] = []
    listed = [one for file in manifest["files"] for one in contents(root, file)]
    # A name may be listed twice, for example by two generations that share a file.
    files = {file["to"]: file for file in listed}
    done = False
    try:
        for to, file in files.items():
            target = prefix / to
            # The file's own mode and the umask do not matter.
            program = file["kind"].startswith("program")
            data = content(root / file["source"], file["kind"], values)
            make_folders(target.parent, made)
            if target.is_dir():
                raise Failure(f"{target} is a folder, but a file of that name must be installed")
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=".packsmith-")
            written.append((name, target))
            with os.fdopen(handle, "wb") as out:
                out.write(data)
                os.fchmod(out.fileno(), 0o755 if program else 0o644)
        done = True
        for name, target in written:
            try:
                os.replace(name, target)
            except OSError as error:
                done = False
                raise Failure(f"{target}: {error.strerror}; files before it are new, others are "
                              "unchanged. Correct that and install again") from error
    finally:
        if not done:
            for name, _ in written:
                Path(name).unlink(missing_ok=True)
            for folder in reversed(made):
                try:
                    folder.rmdir()
                except OSError:
                    pass
    return len(files)


def destination(prefix: str) -> Path:
    """PREFIX under DESTDIR, absolute."""
    caller = Path(os.environ.get("BUILD_WORKING_DIRECTORY") or os.getcwd())
    absolute = Path(os.path.normpath(caller / prefix))
    destdir = os.environ.get("DESTDIR")
    return caller / destdir / absolute.relative_to("/") if destdir else absolute


class PrintVersion(argparse.Action):
    """Prints the version that would be installed."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        try:
            manifest = json.loads((runfiles() / MANIFEST).read_text(encoding="utf-8"))
        except Failure as failure:
            parser.error(str(failure))
        print(f"install {manifest['version']}")
        parser.exit()


def main() -> int:
    lines = (__doc__ or "").splitlines()
    parser = argparse.ArgumentParser(
        prog="install", description=lines[0], epilog="\n".join(lines[1:]),
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action=PrintVersion, nargs=0,
                        help="print the version that would be installed, and exit")
    parser.add_argument("prefix", metavar="PREFIX", help="/usr/local, $HOME/.local, a new folder")
    options = parser.parse_args()
    if not options.prefix:
        parser.error("PREFIX is empty")
    try:
        prefix = destination(options.prefix)
        root = runfiles()
        manifest = json.loads((root / MANIFEST).read_text(encoding="utf-8"))
        count = install(root, manifest, prefix)
    except Failure as failure:
        print(f"install: {failure}", file=sys.stderr)
        return 1
    except OSError as error:
        name = error.filename2 or error.filename
        where = f"{name}: " if name else ""
        print(f"install: {where}{error.strerror}. Nothing was installed; is PREFIX a folder that "
              "you may write to?", file=sys.stderr)
        return 1
    print(f"installed {count} files of packsmith {manifest['version']} in {prefix}")
    if manifest["compilation_mode"] != "opt":
        print("install: these builds are not optimised; for optimised ones: "
              "./bazelw run --config=opt //:install", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
