"""Ratios of benchmarks to yardsticks: a recorded baseline, and what has changed since.

A ratio is the time of a benchmark divided by that of its yardstick, another benchmark of the same
program in the same run, so that it means the same on a slower machine. yardsticks.tsv, written by
hand, names the yardsticks and states limits; baseline.tsv, written by `compare.py record`, has the
ratios.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re

from measure import Failure, Times

Key = tuple[str, str]  # program without _bench, benchmark


@dataclasses.dataclass(frozen=True)
class Rule:
    """The yardstick of all benchmarks of a program whose whole name an expression matches."""
    program: str
    names: re.Pattern[str]
    yardstick: str  # may refer to groups of the expression; "-": these are not compared
    limit: float | None  # what the project promises of the ratio


@dataclasses.dataclass(frozen=True)
class Ratio:
    """A benchmark's time divided by its yardstick's."""
    yardstick: str
    value: float
    limit: float | None = None


@dataclasses.dataclass(frozen=True)
class Change:
    """A benchmark beside its baseline."""
    key: Key
    old: Ratio | None
    new: Ratio | None
    # "", "faster", "slower", "over the limit", "over the limit, as in the baseline", "new",
    # "missing" or "other yardstick"
    verdict: str

    @property
    def is_slower(self) -> bool:
        return self.verdict in ("slower", "over the limit")

    @property
    def is_trouble(self) -> bool:
        return self.verdict in ("new", "missing", "other yardstick")


def _rows(path: pathlib.Path, columns: list[str]) -> list[tuple[str, list[str]]]:
    """The rows of a file, with their places; # begins a comment line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{path}: {getattr(error, 'strerror', error)}") from error
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) != len(columns) or not all(cells):
            raise Failure(f"{path}:{number}: expected {len(columns)} columns separated by tabs: "
                          f"{', '.join(columns)}")
        rows.append((f"{path}:{number}", cells))
    return rows


def _positive(where: str, what: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < float("inf"):
        raise Failure(f"{where}: {what} must be a number above 0, not \"{text}\"")
    return value


def read_rules(path: pathlib.Path) -> list[Rule]:
    """The rules, in order: the first that matches counts."""
    rules = []
    for where, cells in _rows(path, ["program", "benchmarks", "yardstick", "limit"]):
        program, names, yardstick, limit = cells
        try:
            rules.append(Rule(program, re.compile(names), yardstick,
                              None if limit == "-" else _positive(where, "limit", limit)))
        except re.error as error:
            raise Failure(f"{where}: {names}: {error}") from error
    return rules


def read(path: pathlib.Path) -> dict[Key, Ratio]:
    """A recorded baseline."""
    ratios: dict[Key, Ratio] = {}
    for where, cells in _rows(path, ["program", "benchmark", "yardstick", "ratio"]):
        program, benchmark, yardstick, ratio = cells
        if (program, benchmark) in ratios:
            raise Failure(f"{where}: {program}: {benchmark} has a row already")
        ratios[program, benchmark] = Ratio(yardstick, _positive(where, "ratio", ratio))
    return ratios


def text_of(ratios: dict[Key, Ratio], machine: str) -> str:
    """A baseline's text."""
    lines = ["# Written by ./bazelw run --config=opt //tests/bench:record; README.md explains it.",
             f"# Last recorded on: {machine}",
             "# program\tbenchmark\tyardstick\tratio"]
    lines += [f"{program}\t{benchmark}\t{ratio.yardstick}\t{ratio.value:.4g}"
              for (program, benchmark), ratio in sorted(ratios.items())]
    return "\n".join(lines) + "\n"


def yardstick_of(rules: list[Rule], program: str, benchmark: str) -> tuple[str, float | None] | None:
    """A benchmark's yardstick and limit; None where it is not compared."""
    for rule in rules:
        match = rule.names.fullmatch(benchmark) if rule.program == program else None
        if match:
            return None if rule.yardstick == "-" else (match.expand(rule.yardstick), rule.limit)
    raise Failure(f"{program}: {benchmark}: no yardstick: add a row to tests/bench/yardsticks.tsv")


def wanted(rules: list[Rule], program: str, names: list[str]) -> set[str]:
    """Which benchmarks must be measured to compare these: they, and their yardsticks."""
    all_names: set[str] = set()
    for name in names:
        yardstick = yardstick_of(rules, program, name)
        if yardstick is not None:
            all_names |= {name, yardstick[0]}
    return all_names


def ratios(rules: list[Rule], program: str, times: Times, names: set[str]) -> dict[Key, Ratio]:
    """The ratios of the benchmarks named; names without a time have none."""
    found: dict[Key, Ratio] = {}
    for benchmark in sorted(names & times.keys()):
        yardstick = yardstick_of(rules, program, benchmark)
        if yardstick is None:
            continue
        name, limit = yardstick
        if times.get(name, 0) <= 0:
            raise Failure(f"{program}: {benchmark}: its yardstick {name} was not measured")
        found[program, benchmark] = Ratio(name, times[benchmark] / times[name], limit)
    return found


def changes(old: dict[Key, Ratio], new: dict[Key, Ratio], tolerance: float) -> list[Change]:
    """Every benchmark that is in one of the two. tolerance: a ratio that grew by this factor is
    still the same."""
    result = []
    for key in sorted(old.keys() | new.keys()):
        before, now = old.get(key), new.get(key)
        if before is None or now is None:
            verdict = "new" if before is None else "missing"
        elif before.yardstick != now.yardstick:
            verdict = "other yardstick"
        elif now.value > before.value * tolerance:
            verdict = "slower"
        elif now.limit is not None and now.value > now.limit:
            # The baseline's processor may be one on which the limit is not kept.
            was_over = before.value > now.limit
            verdict = "over the limit" if not was_over else "over the limit, as in the baseline"
        else:
            verdict = "faster" if now.value * tolerance < before.value else ""
        result.append(Change(key, before, now, verdict))
    return result


def exit_code(result: list[Change]) -> int:
    """0: the same or faster; 1: something is slower; 2: the baseline is of other benchmarks."""
    if any(change.is_trouble for change in result):
        return 2
    return 1 if any(change.is_slower for change in result) else 0


def table(result: list[Change]) -> str:
    """A line for each benchmark: the ratio now, before, the factor between them, and the verdict."""
    lines = [f"{'now':>10} {'baseline':>10} {'factor':>7}  benchmark"]
    for change in result:
        now = f"{change.new.value:.4g}" if change.new else "-"
        old = f"{change.old.value:.4g}" if change.old else "-"
        factor = f"{change.new.value / change.old.value:.3f}" if change.new and change.old else "-"
        ratio = change.new or change.old
        verdict = change.verdict.replace("the limit", f"the limit of {ratio.limit or 0:g}")
        lines.append(f"{now:>10} {old:>10} {factor:>7}  {change.key[0]}: {change.key[1]} / "
                     f"{ratio.yardstick}  {verdict.upper()}".rstrip())
    return "\n".join(lines)
