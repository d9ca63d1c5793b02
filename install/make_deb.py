#!/usr/bin/python3
"""Makes a Debian package of everything that is installed.

    make_deb.py FILE.deb

The same installation makes the same bytes: all files have the date of the version. Programs are
stripped of names that only a debugger reads.
"""

import calendar
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from email.utils import formatdate
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(sys.argv[0] + ".runfiles").resolve()
ROOT = next((folder for folder in (*sorted(HERE.glob("*/")), Path.cwd())
             if (folder / "install/manifest.json").is_file()), Path.cwd())
sys.path.insert(0, str(ROOT / "install"))
import install  # noqa: E402

# Debian's places, where they are not the same below /usr.
MOVED = {
    "share/zsh/site-functions": "share/zsh/vendor-completions",
}
# What Debian has in another form.
LEFT_OUT = ("share/doc/packsmith/LICENSE",)


def run(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
    if done.returncode != 0:
        raise install.Failure(f"{command[0]}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def package_of(library: Path) -> str:
    """The installed package that has a shared library."""
    for path in (library, library.resolve(), Path(str(library).removeprefix("/usr"))):
        done = subprocess.run(["dpkg-query", "-S", str(path)], capture_output=True, text=True,
                              check=False)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    raise install.Failure(f"no package has {library}")


def dependencies(programs: list[Path]) -> list[str]:
    """The packages of the shared libraries that programs need, the C library's with a version."""
    packages: set[str] = set()
    newest = (2, 0)
    for program in programs:
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", program))
        found = dict(re.findall(r"^\s*(\S+) => (/\S+)", run("ldd", program), re.MULTILINE))
        for name in needed:
            if not name.startswith("ld-linux"):
                packages.add(package_of(Path(found[name])))
        for major, minor in re.findall(r"GLIBC_(\d+)\.(\d+)", run("readelf", "-V", program)):
            newest = max(newest, (int(major), int(minor)))
    packages.discard("libc6")
    return [f"libc6 (>= {newest[0]}.{newest[1]})", *sorted(packages)]


def stage(folder: Path, manifest: dict[str, object]) -> list[Path]:
    """Installs below `folder`, as Debian wants it. Returns programs and shared libraries."""
    usr = folder / "usr"
    install.install(ROOT, manifest, usr)
    for name in LEFT_OUT:
        (usr / name).unlink()
    for old, new in MOVED.items():
        (usr / new).parent.mkdir(parents=True, exist_ok=True)
        (usr / old).rename(usr / new)
    binaries = []
    for path in sorted(usr.rglob("*")):
        if not path.is_file():
            continue
        if is_elf(path):
            run("strip", "--strip-unneeded", "--remove-section=.comment", path)
            binaries.append(path)
        elif path.suffix == ".a":
            run("strip", "--strip-debug", "--enable-deterministic-archives", path)
        elif path.parent.name == "man1":
            path.with_suffix(".1.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
            path.unlink()
        elif path.read_bytes().startswith(b"#!"):
            path.chmod(0o755)
    return binaries


def write(path: Path, text: str, compress: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode()
    path.write_bytes(gzip.compress(data, 9, mtime=0) if compress else data)


def make(deb: Path) -> None:
    manifest = json.loads((ROOT / install.MANIFEST).read_text(encoding="utf-8"))
    texts = {name: (ROOT / f"install/debian/{name}").read_text(encoding="utf-8")
             for name in ("control", "copyright", "changelog", "lintian-overrides")}
    version: str = manifest["version"]
    epoch = calendar.timegm(time.strptime(manifest["date"], "%Y-%m-%d"))
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "packsmith"
        binaries = stage(folder, manifest)
        doc = folder / "usr/share/doc/packsmith"
        license_text = "\n".join(f" {line}" if line else " ." for line in
                                 (ROOT / "LICENSE").read_text(encoding="utf-8").rstrip().split("\n"))
        write(doc / "copyright", texts["copyright"].replace("@LICENSE@", license_text))
        write(doc / "changelog.gz", texts["changelog"].replace("@VERSION@", version)
              .replace("@DATE@", formatdate(epoch)), compress=True)
        write(folder / "usr/share/lintian/overrides/packsmith", texts["lintian-overrides"])
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        size = sum((path.stat().st_size + 1023) // 1024 for path in files) + len(
            [path for path in folder.rglob("*") if path.is_dir()])
        write(folder / "DEBIAN/md5sums", "".join(
            f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n"
            for path in files))
        write(folder / "DEBIAN/control", texts["control"]
              .replace("@VERSION@", version)
              .replace("@ARCHITECTURE@", run("dpkg", "--print-architecture").strip())
              .replace("@SIZE@", str(size))
              .replace("@DEPENDS@", ", ".join(dependencies(binaries))))
        for path in [folder, *folder.rglob("*")]:
            if path.is_dir() or path.parent.name == "DEBIAN":
                path.chmod(0o755 if path.is_dir() else 0o644)
            elif not os.access(path, os.X_OK):
                path.chmod(0o644)
            os.utime(path, (epoch, epoch))
        os.environ["SOURCE_DATE_EPOCH"] = str(epoch)
        made = Path(work) / "made.deb"
        run("dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--threads-max=1", "--build", folder,
            made)
        shutil.copyfile(made, deb)


def main() -> int:
    if len(sys.argv) != 2:
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    try:
        make(Path(sys.argv[1]))
    except install.Failure as failure:
        print(f"make_deb: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
