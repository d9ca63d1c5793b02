#!/usr/bin/python3
"""Compares benchmarks: with the recorded baseline, or two builds with each other.

usage: compare.py baseline PROGRAM...   what is slower than baseline.tsv, by ratios to yardsticks
       compare.py record PROGRAM...     measures, and writes baseline.tsv
       compare.py builds OLD NEW        two builds in turns, by times: for one change on one machine

PROGRAM: a benchmark program, a folder of them, or Google Benchmark's JSON of one (NAME_bench.json).
OLD, NEW: a program, a folder of them, or a file that `builds --save` wrote.

Exits with 0 where nothing is slower than tolerated, 1 where something is, 2 where something could
not be run or read, or where baseline.tsv is of other benchmarks than the programs have.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import re
import sys

import baseline
import measure
from measure import Failure, Times

HERE = pathlib.Path(__file__).resolve().parent
# How often what seems slower is measured again before it counts.
SECOND_LOOKS = 3


def name_of(path: pathlib.Path) -> str:
    return path.name.removesuffix(".json").removesuffix("_bench")


def sources(paths: list[pathlib.Path]) -> list[pathlib.Path]:
    """The programs and JSON files that the arguments name."""
    found: list[pathlib.Path] = []
    for path in paths:
        found += [path] if path.suffix == ".json" else measure.programs(path).values()
    return found


class Source:
    """A program, or what one has measured before."""

    def __init__(self, path: pathlib.Path, rules: list[baseline.Rule], options: argparse.Namespace):
        self.path, self.rules, self.options = path, rules, options
        self.name = name_of(path)
        self.saved: Times | None = None
        if path.suffix == ".json":
            try:
                self.saved = measure.times(path.read_text(encoding="utf-8"), str(path))
            except OSError as error:
                raise Failure(f"{path}: {error.strerror}") from error
        self.names = list(self.saved) if self.saved is not None else measure.benchmarks(path)
        if options.filter:
            self.names = [name for name in self.names if options.filter.search(name)]
        self.times: Times = {}

    def measure(self, names: list[str]) -> None:
        """Adds a measurement of these benchmarks and of their yardsticks."""
        wanted = baseline.wanted(self.rules, self.name, names)
        if not wanted:
            return
        if self.saved is not None:
            found = {name: time for name, time in self.saved.items() if name in wanted}
        else:
            found = measure.run(self.path, sorted(wanted), self.options.repetitions,
                                self.options.seconds)
        for name, time in found.items():
            self.times[name] = min(time, self.times.get(name, time))

    def ratios(self) -> dict[baseline.Key, baseline.Ratio]:
        return baseline.ratios(self.rules, self.name, self.times, set(self.names))


def open_sources(options: argparse.Namespace) -> list[Source]:
    if options.mode not in ("", "opt"):
        raise Failure("these programs are not optimised: run this with --config=opt")
    rules = baseline.read_rules(options.yardsticks)
    return [Source(path, rules, options) for path in sources(options.programs)]


def with_baseline(options: argparse.Namespace) -> int:
    recorded = baseline.read(options.baseline)
    result: list[baseline.Change] = []
    for source in open_sources(options):
        old = {key: ratio for key, ratio in recorded.items() if key[0] == source.name
               and (not options.filter or options.filter.search(key[1]))}
        source.measure(source.names)
        for _ in range(SECOND_LOOKS):
            changes = baseline.changes(old, source.ratios(), options.tolerance)
            slower = [change.key[1] for change in changes if change.is_slower]
            if not slower or source.saved is not None:
                break
            source.measure(slower)
        result += baseline.changes(old, source.ratios(), options.tolerance)
    if not result:
        raise Failure("no benchmark was compared")
    print(baseline.table(result))
    slower = sum(change.is_slower for change in result)
    trouble = sum(change.is_trouble for change in result)
    print(f"{len(result)} benchmarks; {slower} slower by more than a factor of "
          f"{options.tolerance:g} or over a limit")
    if trouble:
        print(f"compare: {trouble} benchmarks are not those of {options.baseline.name}: record it "
              "again", file=sys.stderr)
    return baseline.exit_code(result)


def record(options: argparse.Namespace) -> int:
    try:
        recorded = baseline.read(options.baseline) if options.baseline.exists() else {}
    except Failure as failure:
        raise Failure(f"{failure}: mend the row, or delete the file and record all") from failure
    for source in open_sources(options):
        source.measure(source.names)
        new = source.ratios()
        if not options.filter:
            recorded = {key: ratio for key, ratio in recorded.items() if key[0] != source.name}
        recorded.update(new)
        print(f"{source.name}: {len(new)} ratios")
        for (_, benchmark), ratio in new.items():
            if ratio.limit is not None and ratio.value > ratio.limit:
                print(f"  {benchmark}: {ratio.value:.4g} is over its limit of {ratio.limit:g}")
    options.baseline.write_text(baseline.text_of(recorded, measure.machine()), encoding="utf-8")
    return 0


# --- Two builds ---


def read_times(path: pathlib.Path) -> Times:
    """Times that --save wrote."""
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        times = {str(key): float(value) for key, value in saved["nanoseconds"].items()}
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise Failure(f"{path}: not a file of --save: {error}") from error
    if saved.get("machine") != measure.machine():
        print(f"note: {path} is of another machine: {saved.get('machine')}", file=sys.stderr)
    return times


def measure_in_turns(sides: list[pathlib.Path], expression: str, rounds: int,
                     seconds: float) -> list[Times]:
    """The times of each side. The programs take turns at each benchmark: a machine is calm or busy
    for seconds at a time, and that must not fall to one side alone."""
    times: list[Times] = [read_times(side) if side.suffix == ".json" else {} for side in sides]
    found = [{} if side.suffix == ".json" else measure.programs(side) for side in sides]
    for name in sorted(set().union(*found)):
        has = [set(measure.benchmarks(side[name], expression)) if name in side else set()
               for side in found]
        for benchmark in sorted(set().union(*has)):
            key = f"{name.removesuffix('_bench')}: {benchmark}"
            for turn in range(rounds):
                # Who begins alternates, too.
                order = range(len(sides)) if turn % 2 == 0 else reversed(range(len(sides)))
                for side in order:
                    if benchmark not in has[side]:
                        continue
                    one = measure.run(found[side][name], [benchmark], 1, seconds)
                    time = min(one.values(), default=math.inf)
                    times[side][key] = min(time, times[side].get(key, math.inf))
    return times


def two_builds(options: argparse.Namespace) -> int:
    old, new = measure_in_turns([options.old, options.new], options.filter, options.rounds,
                                options.seconds)
    both = sorted(key for key in old.keys() & new.keys()
                  if 0 < old[key] < math.inf and 0 < new[key] < math.inf)
    if not both:
        raise Failure("the two have no benchmark in common")
    slower = 0
    for key in both:
        ratio = new[key] / old[key]
        mark = ("slower" if ratio > options.tolerance else
                "faster" if ratio * options.tolerance < 1 else "")
        slower += mark == "slower"
        print(f"{ratio:6.3f}  {old[key]:14.1f} ns {new[key]:14.1f} ns  {key}  {mark}".rstrip())
    mean = math.exp(sum(math.log(new[key] / old[key]) for key in both) / len(both))
    print(f"{mean:6.3f}  geometric mean of {len(both)} benchmarks; {slower} slower by more than a "
          f"factor of {options.tolerance:g}")
    if options.save:
        finite = {key: time for key, time in new.items() if time < math.inf}
        options.save.write_text(
            json.dumps({"machine": measure.machine(), "nanoseconds": finite}, indent=1) + "\n",
            encoding="utf-8")
    return 1 if slower else 0


def factor(text: str) -> float:
    value = float(text)
    if not 1 <= value < math.inf:
        raise ValueError(text)
    return value


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="baseline | record | builds")
    # bazel run starts programs among the files that they need; the checkout is elsewhere.
    checkout = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    folder = pathlib.Path(checkout) / "tests/bench" if checkout else HERE
    for name, function in (("baseline", with_baseline), ("record", record)):
        command = commands.add_parser(name)
        command.set_defaults(function=function)
        command.add_argument("programs", nargs="+", type=pathlib.Path)
        command.add_argument("--filter", type=re.compile, default=None,
                             help="benchmarks whose name this expression finds")
        command.add_argument("--repetitions", type=int, default=7,
                             help="of each benchmark, of which the least counts (7)")
        command.add_argument("--seconds", type=float, default=0.03,
                             help="that a repetition takes at least (0.03)")
        command.add_argument("--baseline", type=pathlib.Path, default=folder / "baseline.tsv")
        command.add_argument("--yardsticks", type=pathlib.Path, default=folder / "yardsticks.tsv")
        command.add_argument("--mode", default="", help=argparse.SUPPRESS)  # Bazel's
        if name == "baseline":
            command.add_argument("--tolerance", type=factor, default=1.25,
                                 help="a ratio may grow by this factor (1.25)")
    command = commands.add_parser("builds")
    command.set_defaults(function=two_builds)
    command.add_argument("old", type=pathlib.Path)
    command.add_argument("new", type=pathlib.Path)
    command.add_argument("--filter", default="",
                         help="benchmarks whose name this expression finds")
    command.add_argument("--rounds", type=int, default=8, help="runs of each benchmark (8)")
    command.add_argument("--seconds", type=float, default=0.1,
                         help="that a run takes at least (0.1)")
    command.add_argument("--tolerance", type=factor, default=1.05,
                         help="a time may grow by this factor (1.05)")
    command.add_argument("--save", type=pathlib.Path, help="write the times of NEW")
    options = parser.parse_args()
    try:
        return options.function(options)
    except Failure as failure:
        print(f"compare: {failure}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
