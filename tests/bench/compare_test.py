#!/usr/bin/python3
"""compare.py's logic, with times made by hand: nothing is timed here."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

# compare.py; then the benchmark programs; after --new those that the baseline does not have yet.
COMPARE = pathlib.Path(sys.argv[1])
NEW_FROM = sys.argv.index("--new")
PROGRAMS = [pathlib.Path(argument) for argument in sys.argv[2:NEW_FROM]]
NEW_PROGRAMS = [pathlib.Path(argument) for argument in sys.argv[NEW_FROM + 1:]]
sys.path.insert(0, str(COMPARE.resolve().parent))

import baseline  # noqa: E402
import measure  # noqa: E402

RULES = "p\tCopy/.*\t-\t-\np\tPack/(.*)\tCopy/\\1\t2\np\tWalk\tCopy/4\t-\n"


def benchmark_json(times: dict[str, float], **more: object) -> str:
    return json.dumps({"benchmarks": [
        {"name": name, "run_type": "iteration", "cpu_time": time, "time_unit": "ns", **more}
        for name, time in times.items()]})


class CommandTest(unittest.TestCase):
    """The command, on JSON in place of programs."""

    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.write("yardsticks.tsv", RULES)
        self.write("baseline.tsv", "# comment\np\tPack/4\tCopy/4\t1.5\np\tWalk\tCopy/4\t10\n")

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def run_command(self, command: str, times: dict[str, float],
                    *options: str) -> subprocess.CompletedProcess[str]:
        measured = self.write("p_bench.json", benchmark_json(times))
        return subprocess.run(
            [sys.executable, str(COMPARE), command, str(measured),
             f"--baseline={self.folder / 'baseline.tsv'}",
             f"--yardsticks={self.folder / 'yardsticks.tsv'}", *options],
            capture_output=True, text=True, check=False)

    def compare(self, times: dict[str, float], code: int,
                *options: str) -> subprocess.CompletedProcess[str]:
        done = self.run_command("baseline", times, *options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_the_same_ratios_on_a_slower_machine_are_the_same(self) -> None:
        done = self.compare({"Copy/4": 7, "Pack/4": 10.5, "Walk": 70}, 0)
        self.assertIn("2 benchmarks; 0 slower", done.stdout)
        self.assertNotRegex(done.stdout, "SLOWER|FASTER")

    def test_a_slower_benchmark_is_shown_with_its_ratios_and_ends_in_1(self) -> None:
        done = self.compare({"Copy/4": 1, "Pack/4": 1.5, "Walk": 13}, 1)
        self.assertRegex(done.stdout, r"13 +10 +1\.300  p: Walk / Copy/4  SLOWER")
        self.assertEqual(done.stdout.count("SLOWER"), 1)

    def test_the_tolerance_can_be_set(self) -> None:
        times = {"Copy/4": 1, "Pack/4": 1.5, "Walk": 13}
        self.compare(times, 0, "--tolerance=1.31")
        self.compare(times, 1, "--tolerance=1.29")

    def test_a_tolerance_below_one_is_wrong_usage(self) -> None:
        done = self.compare({"Copy/4": 1, "Pack/4": 1.5, "Walk": 10}, 2, "--tolerance=0.9")
        self.assertIn("--tolerance", done.stderr)

    def test_a_faster_benchmark_is_shown_and_ends_in_0(self) -> None:
        done = self.compare({"Copy/4": 1, "Pack/4": 1, "Walk": 10}, 0)
        self.assertRegex(done.stdout, r"0\.667  p: Pack/4 / Copy/4  FASTER")

    def test_a_ratio_over_its_limit_ends_in_1_though_the_tolerance_would_allow_it(self) -> None:
        self.write("baseline.tsv", "p\tPack/4\tCopy/4\t1.95\np\tWalk\tCopy/4\t10\n")
        done = self.compare({"Copy/4": 1, "Pack/4": 2.1, "Walk": 10}, 1)
        self.assertIn("p: Pack/4 / Copy/4  OVER THE LIMIT OF 2", done.stdout)

    def test_a_limit_that_the_baseline_exceeds_already_is_shown_but_is_nothing_new(self) -> None:
        self.write("baseline.tsv", "p\tPack/4\tCopy/4\t2.2\np\tWalk\tCopy/4\t10\n")
        done = self.compare({"Copy/4": 1, "Pack/4": 2.1, "Walk": 10}, 0)
        self.assertIn("p: Pack/4 / Copy/4  OVER THE LIMIT OF 2, AS IN THE BASELINE", done.stdout)
        self.compare({"Copy/4": 1, "Pack/4": 2.8, "Walk": 10}, 1)

    def test_a_benchmark_that_is_gone_is_missing_and_ends_in_2(self) -> None:
        done = self.compare({"Copy/4": 1, "Pack/4": 1.5}, 2)
        self.assertRegex(done.stdout, r"- +10 +-  p: Walk / Copy/4  MISSING")
        self.assertIn("record it again", done.stderr)

    def test_a_benchmark_that_is_not_in_the_baseline_is_new_and_ends_in_2(self) -> None:
        times = {"Copy/4": 1, "Copy/8": 1, "Pack/4": 1.5, "Pack/8": 1.5, "Walk": 10}
        done = self.compare(times, 2)
        self.assertRegex(done.stdout, r"1\.5 +- +-  p: Pack/8 / Copy/8  NEW")

    def test_a_filter_leaves_out_the_others_without_missing_them(self) -> None:
        done = self.compare({"Copy/4": 1, "Pack/4": 9, "Walk": 10}, 0, "--filter=Walk")
        self.assertIn("1 benchmarks; 0 slower", done.stdout)

    def test_a_baseline_with_another_yardstick_is_not_compared(self) -> None:
        self.write("baseline.tsv", "p\tPack/4\tCopy/4\t1.5\np\tWalk\tPack/4\t10\n")
        done = self.compare({"Copy/4": 1, "Pack/4": 1.5, "Walk": 10}, 2)
        self.assertIn("p: Walk / Copy/4  OTHER YARDSTICK", done.stdout)

    def test_a_yardstick_that_was_not_measured_is_named(self) -> None:
        done = self.compare({"Pack/4": 1.5, "Walk": 10}, 2)
        self.assertIn("p: Pack/4: its yardstick Copy/4 was not measured", done.stderr)

    def test_a_benchmark_without_a_rule_is_named(self) -> None:
        done = self.compare({"Copy/4": 1, "Run": 1}, 2)
        self.assertIn("p: Run: no yardstick: add a row to tests/bench/yardsticks.tsv", done.stderr)

    def test_malformed_rows_are_reported_with_file_and_line(self) -> None:
        times = {"Copy/4": 1, "Pack/4": 1.5, "Walk": 10}
        good = "# comment\n\np\tWalk\tCopy/4\t10\n"
        for row, what in (("p\tPack/4\t1.5", "expected 4 columns"),
                          ("p\tPack/4\t\t1.5", "expected 4 columns"),
                          ("p\tPack/4\tCopy/4\tfast", "ratio must be a number above 0"),
                          ("p\tPack/4\tCopy/4\t0", "ratio must be a number above 0"),
                          ("p\tPack/4\tCopy/4\tinf", "ratio must be a number above 0"),
                          ("p\tPack/4\tCopy/4\tnan", "ratio must be a number above 0"),
                          ("p\tWalk\tCopy/4\t10", "p: Walk has a row already")):
            with self.subTest(row=row):
                path = self.write("baseline.tsv", f"{good}{row}\n")
                self.assertIn(f"{path}:4: {what}", self.compare(times, 2).stderr)
        self.write("baseline.tsv", good)
        for row, what in (("p\tPack\tCopy/4", "expected 4 columns"),
                          ("p\tPack(\tCopy/4\t-", "Pack(: missing )"),
                          ("p\tPack\tCopy/4\tlow", "limit must be a number above 0")):
            with self.subTest(row=row):
                path = self.write("yardsticks.tsv", f"{row}\n{RULES}")
                self.assertIn(f"{path}:1: {what}", self.compare(times, 2).stderr)

    def test_files_that_are_not_there_and_json_of_something_else_end_in_2(self) -> None:
        (self.folder / "baseline.tsv").unlink()
        self.assertIn("No such file", self.compare({"Copy/4": 1, "Walk": 1}, 2).stderr)
        done = subprocess.run([sys.executable, str(COMPARE), "record",
                               str(self.write("p_bench.json", "{}"))],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("p_bench.json: not the output of a benchmark program", done.stderr)

    def test_programs_that_are_not_optimised_are_refused(self) -> None:
        times = {"Copy/4": 1, "Pack/4": 1.5, "Walk": 10}
        self.assertIn("--config=opt", self.compare(times, 2, "--mode=fastbuild").stderr)
        self.compare(times, 0, "--mode=opt")

    def test_what_is_recorded_compares_as_the_same(self) -> None:
        times = {"Copy/4": 3, "Copy/8": 5, "Pack/4": 4, "Pack/8": 7, "Walk": 11}
        (self.folder / "baseline.tsv").unlink()
        self.assertEqual(self.run_command("record", times).returncode, 0)
        recorded = baseline.read(self.folder / "baseline.tsv")
        self.assertEqual(sorted(recorded), [("p", "Pack/4"), ("p", "Pack/8"), ("p", "Walk")])
        self.assertEqual(recorded["p", "Pack/8"], baseline.Ratio("Copy/8", 1.4))
        self.compare(times, 0, "--tolerance=1.001")

    def test_recording_one_program_keeps_the_rows_of_others_and_drops_what_is_gone(self) -> None:
        self.write("baseline.tsv", "p\tPack/9\tCopy/9\t1.5\nq\tPack/9\tCopy/9\t1.5\n")
        self.assertEqual(self.run_command("record", {"Copy/4": 1, "Walk": 1}).returncode, 0)
        self.assertEqual(sorted(baseline.read(self.folder / "baseline.tsv")),
                         [("p", "Walk"), ("q", "Pack/9")])

    def test_nothing_is_recorded_where_a_yardstick_is_missing(self) -> None:
        before = (self.folder / "baseline.tsv").read_text(encoding="utf-8")
        self.assertEqual(self.run_command("record", {"Walk": 1}).returncode, 2)
        self.assertEqual((self.folder / "baseline.tsv").read_text(encoding="utf-8"), before)

    def program(self, walks: list[float]) -> pathlib.Path:
        """A program that measures Copy/4 as 1, and Walk as another number in each run."""
        path = self.write("p_bench", "#!/usr/bin/python3\n"
                          "import json, pathlib, sys\n"
                          "if '--benchmark_list_tests' in sys.argv:\n"
                          "    sys.exit(print('Copy/4\\nWalk'))\n"
                          "runs = pathlib.Path(__file__ + '.runs')\n"
                          "run = len(runs.read_text()) if runs.exists() else 0\n"
                          "runs.write_text('x' * (run + 1))\n"
                          f"walk = {walks}[run]\n"
                          "print(json.dumps({'benchmarks': [\n"
                          "    {'name': 'Copy/4', 'cpu_time': 1, 'time_unit': 'ns'},\n"
                          "    {'name': 'Walk', 'cpu_time': walk, 'time_unit': 'ns'}]}))\n")
        path.chmod(0o755)
        self.write("baseline.tsv", "p\tWalk\tCopy/4\t10\n")
        return path

    def compare_program(self, path: pathlib.Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(COMPARE), "baseline", str(path),
             f"--baseline={self.folder / 'baseline.tsv'}",
             f"--yardsticks={self.folder / 'yardsticks.tsv'}"],
            capture_output=True, text=True, check=False)

    def test_what_seems_slower_is_measured_again_before_it_counts(self) -> None:
        done = self.compare_program(self.program([20, 15, 11]))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"11 +10 +1\.100  p: Walk")

    def test_what_stays_slower_counts(self) -> None:
        done = self.compare_program(self.program([20, 18, 19, 17]))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"17 +10 +1\.700  p: Walk")

    def test_a_program_that_fails_is_named_and_ends_in_2(self) -> None:
        path = self.program([])
        done = self.compare_program(path)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(f"{path}: exit code 1", done.stderr)

    def test_two_builds_are_compared_by_their_times(self) -> None:
        def saved(name: str, time: float) -> str:
            return str(self.write(name, json.dumps({"machine": measure.machine(),
                                                    "nanoseconds": {"p: A": 100, "p: B": time}})))
        old, new = saved("old.json", 100), saved("new.json", 107)
        for options, code in (([], 1), (["--tolerance=1.1"], 0)):
            done = subprocess.run([sys.executable, str(COMPARE), "builds", old, new, *options],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(" 1.070 ", done.stdout)


class MeasureTest(unittest.TestCase):
    def test_the_least_of_several_repetitions_counts_in_nanoseconds(self) -> None:
        text = json.dumps({"benchmarks": [
            {"name": "A", "run_type": "iteration", "cpu_time": 3, "time_unit": "us"},
            {"name": "A", "run_type": "iteration", "cpu_time": 2, "time_unit": "us"},
            {"name": "A_mean", "run_type": "aggregate", "cpu_time": 1, "time_unit": "us"}]})
        self.assertEqual(measure.times(text, "p"), {"A": 2000})

    def test_a_benchmark_that_ends_in_an_error_has_no_time(self) -> None:
        self.assertEqual(measure.times(benchmark_json({"A": 1}, error_occurred=True), "p"), {})

    def test_an_expression_of_names_finds_them_alone(self) -> None:
        expression = measure.exactly(["Copy<a::B, c>", "In/x+y/4"])
        for name, found in (("Copy<a::B, c>", True), ("In/x+y/4", True), ("In/x+y/40", False),
                            ("In/xxy/4", False)):
            self.assertEqual(bool(re.search(expression, name)), found, name)


class FilesTest(unittest.TestCase):
    """The files of this folder, beside the programs."""

    def test_every_benchmark_has_a_yardstick_that_exists_and_a_ratio_that_is_recorded(self) -> None:
        rules = baseline.read_rules(COMPARE.parent / "yardsticks.tsv")
        recorded = baseline.read(COMPARE.parent / "baseline.tsv")
        compared = {}
        self.assertGreater(len(PROGRAMS), 9)
        for program in PROGRAMS:
            name = program.name.removesuffix("_bench")
            names = measure.benchmarks(program)
            self.assertLessEqual(baseline.wanted(rules, name, names), set(names))
            for benchmark in names:
                yardstick = baseline.yardstick_of(rules, name, benchmark)
                if yardstick is not None:
                    compared[name, benchmark] = yardstick[0]
        self.assertEqual({key: ratio.yardstick for key, ratio in recorded.items()}, compared,
                         "record the baseline again: ./bazelw run --config=opt //tests/bench:record")

    def test_programs_that_the_baseline_does_not_have_yet_have_yardsticks_that_exist(self) -> None:
        rules = baseline.read_rules(COMPARE.parent / "yardsticks.tsv")
        recorded = {program for program, _ in baseline.read(COMPARE.parent / "baseline.tsv")}
        for program in NEW_PROGRAMS:
            with self.subTest(program.name):
                name = program.name.removesuffix("_bench")
                names = measure.benchmarks(program)
                wanted = baseline.wanted(rules, name, names)
                self.assertTrue(wanted)
                self.assertLessEqual(wanted, set(names))
                self.assertNotIn(name, recorded, "it has rows: move it to _PROGRAMS")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
