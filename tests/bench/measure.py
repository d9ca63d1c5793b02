"""Runs Google Benchmark programs, and reads what they print."""

from __future__ import annotations

import json
import pathlib
import platform
import re
import subprocess

Times = dict[str, float]  # nanoseconds of processor time, by benchmark


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


def benchmarks(program: pathlib.Path, expression: str = "") -> list[str]:
    """The names of a program's benchmarks that the expression finds."""
    options = [f"--benchmark_filter={expression}"] if expression else []
    listed = call(program, "--benchmark_list_tests", *options)
    return [line for line in listed.splitlines() if line and not line.startswith("Failed to match")]


def exactly(names: list[str]) -> str:
    """An expression that finds these benchmarks and no others."""
    # Not re.escape(): POSIX expressions, as the library has them, know no escaped space.
    return "^(" + "|".join(re.sub(r"[][(){}.*+?^$|\\]", r"\\\g<0>", name) for name in names) + ")$"


def run(program: pathlib.Path, names: list[str], repetitions: int, seconds: float) -> Times:
    """The least times of these benchmarks, which take turns. Those that end in an error have none."""
    text = call(program, f"--benchmark_filter={exactly(names)}", "--benchmark_format=json",
                f"--benchmark_min_time={seconds}", f"--benchmark_repetitions={repetitions}",
                "--benchmark_enable_random_interleaving=true")
    return times(text, str(program))


_UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def times(text: str, what: str) -> Times:
    """The least time of each benchmark, from the library's JSON."""
    least: Times = {}
    try:
        for one in json.loads(text)["benchmarks"]:
            if one.get("run_type", "iteration") != "iteration" or one.get("error_occurred"):
                continue
            time = one["cpu_time"] * _UNITS[one["time_unit"]]
            least[one["name"]] = min(time, least.get(one["name"], time))
    except (ValueError, KeyError, TypeError) as error:
        raise Failure(f"{what}: not the output of a benchmark program: {error}") from error
    return least
