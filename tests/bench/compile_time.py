#!/usr/bin/python3
"""What including a generated header costs: ./bazelw run //tests/bench:compile_time

Compiles a file that includes nothing but the Gfx9 header, of all engines or of the render engine
alone, and one that includes nothing but pack.h; prints the difference beside its limit. With
--installed=PREFIX, an installation, also a draw on its headers (draw.cc), all of it, without and
with optimisation. The processor's time (user and system) of the whole compiler run, the least of
ten: on a machine that does other things, too, the least is what is closest to the truth. Exits with
1 if a limit is passed.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

REPETITIONS = 10
# Language, compiler, options, header, limit in seconds. No options: what a debug build does, with
# assertions.
CASES = (
    ("C", "c", ["gcc", "-std=c11"], "packsmith/c/gfx9_pack.h", 0.03),
    ("C++", "cc", ["g++", "-std=c++20"], "packsmith/gfx9.h", 0.15),
    # What a render driver includes: the video engines' packets are about half of the whole.
    ("C", "c", ["gcc", "-std=c11"], "packsmith/c/gfx9_render_pack.h", 0.015),
    ("C++", "cc", ["g++", "-std=c++20"], "packsmith/gfx9_render.h", 0.1),
)
# All of draw.cc, in seconds.
DRAW_LIMIT = 2.0


def seconds(command: list[str]) -> float:
    """The least of some runs."""
    least = float("inf")
    for _ in range(REPETITIONS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


def draw_is_slow(root: Path, installed: str) -> bool:
    """Compiles a draw on an installation's headers."""
    failed = False
    for option in ("-O0", "-O2"):
        time = seconds(["g++", "-std=c++20", option, f"-I{installed}/include", "-c",
                        str(root / "tests/bench/draw.cc"), "-o", os.devnull])
        failed |= time > DRAW_LIMIT
        slow = ": TOO SLOW" if time > DRAW_LIMIT else ""
        print(f"draw {option} {time:.3f} s, limit {DRAW_LIMIT:.3f} s{slow}")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description="Times the compiler on generated headers.")
    parser.add_argument("--installed", metavar="PREFIX",
                        help="also compile a draw on the headers of this installation")
    options = parser.parse_args()
    root = Path.cwd()  # bazel run starts programs among the files that they need
    folders = [root / "xml/intel/gfx9_cpp", root / "xml/intel/gfx9_c"]
    if not all(folder.is_dir() for folder in folders):
        print("run this as ./bazelw run //tests/bench:compile_time", file=sys.stderr)
        return 2
    failed = False
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "packsmith").mkdir()
        (folder / "packsmith/pack.h").symlink_to((root / "runtime/pack/pack.h").resolve())
        flags = [f"-I{one}" for one in [folder, *folders]]
        for language, suffix, compiler, header, limit in CASES:
            times = []
            for name in ("packsmith/pack.h", header):
                source = folder / f"include.{suffix}"
                source.write_text(f'#include "{name}"\n', encoding="utf-8")
                times.append(seconds([*compiler, *flags, "-c", str(source), "-o", os.devnull]))
            net = times[1] - times[0]
            failed |= net > limit
            slow = ": TOO SLOW" if net > limit else ""
            print(f"{language:4} {header}: {net:.3f} s, limit {limit:.3f} s{slow}"
                  f"   ({times[1]:.3f} s less {times[0]:.3f} s for pack.h)")
    if options.installed:
        failed |= draw_is_slow(root, options.installed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
