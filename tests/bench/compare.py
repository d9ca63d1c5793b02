#!/usr/bin/python3
"""Compares Google Benchmark programs, or what they measured before.

usage: compare.py OLD NEW [--filter=REGEX] [--rounds=N] [--seconds=S] [--threshold=PERCENT]
                  [--save=FILE]

OLD and NEW are benchmark programs, folders of them, or JSON files that an earlier run saved. Programs
take turns at each benchmark, --rounds times, so that what else the machine does hits both alike; the
figure is the least CPU time. Prints the ratio NEW / OLD of each benchmark that both have.

--save writes what was measured of NEW, as a baseline for later.

Exits with 0 where no ratio is above the threshold, 1 where one is, 2 where something could not be run
or read. Figures of two machines, or of one that is busy, are not worth comparing: a baseline tells
which machine it is of, and a note is printed where that is another.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import platform
import re
import subprocess
import sys

Times = dict[str, float]  # nanoseconds of CPU, by program and benchmark


class Failure(Exception):
    """Something that could not be run or read, in words for the user."""


def machine() -> str:
    """What tells machines apart that differ in speed."""
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def programs(path: pathlib.Path) -> dict[str, pathlib.Path]:
    """The benchmark programs at a path, by name."""
    if path.is_dir():
        found = {entry.name: entry for entry in sorted(path.iterdir())
                 if entry.name.endswith("_bench") and entry.is_file()}
        if not found:
            raise Failure(f"{path}: no file there is named *_bench")
        return found
    if not path.is_file():
        raise Failure(f"{path}: no such file")
    return {path.name: path}


_UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def call(program: pathlib.Path, *options: str) -> str:
    """What a program prints."""
    try:
        done = subprocess.run([str(program.absolute()), *options], capture_output=True, text=True,
                              check=False)
    except OSError as error:
        raise Failure(f"{program}: {error.strerror}") from error
    if done.returncode != 0:
        raise Failure(f"{program}: exit code {done.returncode}\n{done.stderr.strip()}")
    return done.stdout


def benchmarks(program: pathlib.Path, expression: str) -> list[str]:
    """The names of a program's benchmarks that the expression finds."""
    options = [f"--benchmark_filter={expression}"] if expression else []
    listed = call(program, "--benchmark_list_tests", *options)
    return [line for line in listed.splitlines() if line and not line.startswith("Failed to match")]


def run(program: pathlib.Path, benchmark: str, seconds: float) -> float:
    """The CPU time of one benchmark, once; infinite where it reports an error."""
    # Not re.escape(): POSIX expressions, as the library has them, know no escaped space.
    exact = re.sub(r"[][(){}.*+?^$|\\]", r"\\\g<0>", benchmark)
    text = call(program, f"--benchmark_filter=^{exact}$", "--benchmark_format=json",
                f"--benchmark_min_time={seconds}")
    if not text.startswith("{"):
        raise Failure(f"{program}: {benchmark}: it was not run: {text.strip()}")
    times = [result["cpu_time"] * _UNITS[result["time_unit"]]
             for result in json.loads(text)["benchmarks"]
             if result.get("run_type", "iteration") == "iteration" and "error_message" not in result]
    return min(times, default=math.inf)


def read(path: pathlib.Path) -> Times:
    """A baseline that --save wrote."""
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        times = {str(key): float(value) for key, value in saved["nanoseconds"].items()}
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise Failure(f"{path}: not a baseline: {error}") from error
    if saved.get("machine") != machine():
        print(f"note: {path} is of another machine: {saved.get('machine')}", file=sys.stderr)
    return times


def measure(sides: list[pathlib.Path], expression: str, rounds: int, seconds: float) -> list[Times]:
    """The times of each side. The programs take turns at each benchmark: a machine is calm or busy
    for seconds at a time, and that must not fall to one side alone."""
    times: list[Times] = [read(side) if side.suffix == ".json" else {} for side in sides]
    found = [{} if side.suffix == ".json" else programs(side) for side in sides]
    for name in sorted(set().union(*found)):
        has = [set(benchmarks(side[name], expression)) if name in side else set() for side in found]
        for benchmark in sorted(set().union(*has)):
            key = f"{name.removesuffix('_bench')}: {benchmark}"
            for turn in range(rounds):
                # Who begins alternates, too.
                order = range(len(sides)) if turn % 2 == 0 else reversed(range(len(sides)))
                for side in order:
                    if benchmark in has[side]:
                        time = run(found[side][name], benchmark, seconds)
                        times[side][key] = min(time, times[side].get(key, math.inf))
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=pathlib.Path, help="program, folder of programs, or baseline (.json)")
    parser.add_argument("new", type=pathlib.Path, help="the same")
    parser.add_argument("--filter", default="", help="benchmarks whose name this regex finds")
    parser.add_argument("--rounds", type=int, default=8, help="runs of each benchmark (8)")
    parser.add_argument("--seconds", type=float, default=0.1, help="that a run takes at least (0.1)")
    parser.add_argument("--threshold", type=float, default=5.0,
                        help="a benchmark is slower beyond so many percent (5)")
    parser.add_argument("--save", type=pathlib.Path, help="write the times of NEW as a baseline")
    arguments = parser.parse_args()
    try:
        old, new = measure([arguments.old, arguments.new], arguments.filter, arguments.rounds,
                           arguments.seconds)
    except Failure as failure:
        print(f"compare: {failure}", file=sys.stderr)
        return 2
    both = sorted(old.keys() & new.keys())
    if not both:
        print("compare: the two have no benchmark in common", file=sys.stderr)
        return 2
    limit = 1 + arguments.threshold / 100
    slower = 0
    for key in both:
        ratio = new[key] / old[key] if old[key] else 1.0
        mark = "slower" if ratio > limit else "faster" if ratio < 1 / limit else ""
        slower += ratio > limit
        print(f"{ratio:6.3f}  {old[key]:14.1f} ns {new[key]:14.1f} ns  {key}  {mark}".rstrip())
    mean = math.exp(sum(math.log(new[key] / old[key]) for key in both if old[key] and new[key])
                    / len(both))
    print(f"{mean:6.3f}  geometric mean of {len(both)} benchmarks; {slower} slower by more than "
          f"{arguments.threshold:g} %")
    if arguments.save:
        arguments.save.write_text(
            json.dumps({"machine": machine(), "nanoseconds": new}, indent=1) + "\n", encoding="utf-8")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
