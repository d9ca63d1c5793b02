#!/usr/bin/python3
"""What including a generated header costs: ./bazelw run //tests/bench:compile_time

Compiles a file that includes nothing but a generation's header, of all engines or of one alone, and
one that includes nothing but pack.h; prints the difference beside its limit. With
--installed=PREFIX, an installation, also programs on its headers, all of them: the shortest one of
docs/runtime.md, and a draw (draw.cc) without and with optimisation, beside what abseil's StatusOr
alone takes; with --headers too, each header of its runtime alone. The processor's time (user and
system) of the whole compiler run, the least of ten: on a machine that does other things, too, the
least is what is closest to the truth. Exits with 1 if a limit is passed.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

REPETITIONS = 10
# Language, file ending, compiler and options. No optimisation: what a debug build does, with assertions.
C = ("C", "c", ["gcc", "-std=c11"])
CPP = ("C++", "cc", ["g++", "-std=c++20"])
# Language, header, limit in seconds. What a render driver includes follows the whole: of later generations
# the video engines' packets are more than half.
CASES = (
    (C, "packsmith/c/gfx9_pack.h", 0.03),
    (CPP, "packsmith/gfx9.h", 0.15),
    (C, "packsmith/c/gfx9_render_pack.h", 0.015),
    (CPP, "packsmith/gfx9_render.h", 0.1),
    (C, "packsmith/c/gfx125_pack.h", 0.055),
    (CPP, "packsmith/gfx125.h", 0.22),
    (C, "packsmith/c/gfx125_render_pack.h", 0.025),
    (CPP, "packsmith/gfx125_render.h", 0.12),
)
GENERATIONS = ("gfx9", "gfx125")
# On the headers of an installation: source, option, limit in seconds.
PROGRAMS = (
    ("docs/examples/frame/shortest.cc", "-O0", 1.0),
    ("tests/bench/draw.cc", "-O0", 2.0),
    ("tests/bench/draw.cc", "-O2", 2.0),
)
# The first of these again, with what it includes compiled before: docs/embedding.md, "A faster build".
PRECOMPILED_LIMIT = 0.6
# What every program includes that has errors as values; and the limit for a header of the runtime, as
# a multiple of it.
STATUS = "absl/status/statusor.h"
HEADER_LIMIT = 2.0


def seconds(command: list[str]) -> float:
    """The least of some runs."""
    least = float("inf")
    for _ in range(REPETITIONS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


def gcc_on(installed: str, *options: str) -> list[str]:
    """The command that compiles on an installation's headers."""
    return ["g++", "-std=c++20", f"-I{installed}/include", *options]


def seconds_on(installed: str, source: str, *options: str) -> float:
    """What g++ takes for a source on an installation's headers; without optimisation by default."""
    return seconds(gcc_on(installed, *options, "-c", source, "-o", os.devnull))


def header_alone(folder: Path, installed: str, header: str) -> float:
    """What g++ takes for a source that includes one header."""
    source = folder / "header.cc"
    source.write_text(f"#include <{header}>\n", encoding="utf-8")
    return seconds_on(installed, str(source))


def precompiled(folder: Path, installed: str, source: Path) -> float:
    """What g++ takes for a source whose headers have been compiled."""
    header = folder / "driver.h"
    lines = source.read_text(encoding="utf-8").splitlines()
    header.write_text("".join(f"{line}\n" for line in lines if line.startswith("#include")),
                      encoding="utf-8")
    subprocess.run(gcc_on(installed, "-x", "c++-header", str(header), "-o", f"{header}.gch"),
                   check=True)
    return seconds_on(installed, str(source), "-Winvalid-pch", "-Werror", "-include", str(header))


def programs_are_slow(root: Path, folder: Path, installed: str, status: float) -> bool:
    """Compiles programs on an installation's headers. status: what STATUS alone takes."""
    failed = False
    print(f"{STATUS} alone {status:.3f} s: every program below includes it")
    for source, option, limit in PROGRAMS:
        time = seconds_on(installed, str(root / source), option)
        failed |= time > limit
        slow = ": TOO SLOW" if time > limit else ""
        print(f"{Path(source).name} {option} {time:.3f} s, limit {limit:.3f} s{slow}")
    source = root / PROGRAMS[0][0]
    time = precompiled(folder, installed, source)
    failed |= time > PRECOMPILED_LIMIT
    slow = ": TOO SLOW" if time > PRECOMPILED_LIMIT else ""
    print(f"{source.name}, headers precompiled {time:.3f} s, limit {PRECOMPILED_LIMIT:.3f} s{slow}")
    return failed


def headers_are_slow(folder: Path, installed: str, status: float) -> bool:
    """Compiles each header of an installation's runtime by itself. status: as above."""
    include = Path(installed) / "include"
    failed = False
    for header in sorted((include / "packsmith/runtime").rglob("*.h")):
        ratio = header_alone(folder, installed, str(header.relative_to(include))) / status
        if ratio <= HEADER_LIMIT:
            continue
        failed = True
        print(f"{header.relative_to(include)} takes {ratio:.1f} times as long as {STATUS}, "
              f"limit {HEADER_LIMIT:.1f}: TOO SLOW")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description="Times the compiler on generated headers.")
    parser.add_argument("--installed", metavar="PREFIX",
                        help="also compile programs on the headers of this installation")
    parser.add_argument("--headers", action="store_true",
                        help="with --installed: also compile each of these headers alone")
    options = parser.parse_args()
    root = Path.cwd()  # bazel run starts programs among the files that they need
    folders = [root / f"xml/intel/{generation}_{language}"
               for generation in GENERATIONS for language in ("cpp", "c")]
    if not all(folder.is_dir() for folder in folders):
        print("run this as ./bazelw run //tests/bench:compile_time", file=sys.stderr)
        return 2
    failed = False
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "packsmith").mkdir()
        (folder / "packsmith/pack.h").symlink_to((root / "runtime/pack/pack.h").resolve())
        flags = [f"-I{one}" for one in [folder, *folders]]
        for (language, suffix, compiler), header, limit in CASES:
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
            status = header_alone(folder, options.installed, STATUS)
            failed |= programs_are_slow(root, folder, options.installed, status)
            if options.headers:
                failed |= headers_are_slow(folder, options.installed, status)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
