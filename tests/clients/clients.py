"""What the tests with real drivers share: the mock, the decoder, the programs, and skipping aloud."""

import collections
import dataclasses
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
# Tests that need no simulated GPU name neither.
MOCK, UNPACK = (os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "" for _ in range(2))

# Shaders that an earlier run compiled would make runs differ, and files of the user's home are none
# of a test's business.
ENVIRONMENT = {
    **{name: os.environ[name] for name in ("PATH", "TMPDIR", "LANG") if name in os.environ},
    "HOME": os.environ.get("TEST_TMPDIR", tempfile.gettempdir()),
    "MESA_SHADER_CACHE_DISABLE": "true",
    "NEO_CACHE_PERSISTENT": "0",
    # Of OpenCL's drivers only Intel's: tests ask for the first one.
    "OCL_ICD_VENDORS": "/etc/OpenCL/vendors/intel.icd",
}


def driver(*patterns: str) -> str:
    """The first of the files that exists; of none, the test is skipped, and says so."""
    for pattern in patterns:
        if os.path.exists(pattern):
            return pattern
    raise unittest.SkipTest(f"{patterns[0]} is not installed")


def program(name: str) -> str:
    """A program's path; a test whose program is not installed is skipped, and says so."""
    found = shutil.which(name)
    if found is None:
        raise unittest.SkipTest(f"{name} is not installed")
    return found


# What is made once for all tests of a program.
MADE = tempfile.TemporaryDirectory()


@functools.cache
def compiled(source: str, header: str, *libraries: str) -> str:
    """A program of this folder. The repository builds without the headers and libraries that it needs,
    so it is compiled here; without the header, the test is skipped, and says so."""
    driver(os.path.join("/usr/include", header))
    made = os.path.join(MADE.name, os.path.splitext(source)[0])
    done = subprocess.run(
        [program("cc"), "-std=c11", "-D_GNU_SOURCE", "-DCL_TARGET_OPENCL_VERSION=120", "-g", "-Wall",
         "-Wextra", "-Werror", os.path.join(HERE, source), "-o", made, *libraries],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return made


@dataclasses.dataclass
class Run:
    """A program's run under the mock, and what the decoder finds in the record of it."""
    returncode: int
    stdout: str
    stderr: str
    folder: str

    @functools.cached_property
    def records(self) -> list[dict[str, object]]:
        """Everything that was submitted, as `unpack --format=jsonl` has it."""
        done = subprocess.run([UNPACK, "--format=jsonl", self.folder], capture_output=True, text=True,
                              check=False, timeout=300)
        if done.returncode not in (0, 1) or not done.stdout:
            raise AssertionError(done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]


def run(folder: str, device: str, *command: str, most: int = 0, **environment: str) -> Run:
    """Runs a program on a simulated GPU, executed and recorded: the first `most` submissions, or all."""
    record = tempfile.mkdtemp(dir=folder)
    recording = [f"--record={record}/run"] + ([f"--only=count={most}"] if most else [])
    done = subprocess.run(
        [MOCK, f"--device={device}", "--run", "--warnings", "--summary", *recording, "--", *command],
        capture_output=True, text=True, errors="replace", check=False, timeout=300,
        env={**ENVIRONMENT, **environment})
    return Run(done.returncode, done.stdout, done.stderr, f"{record}/run")


# A packet as Mesa's own decoder shows it: the address, the first dword, the name.
_DRIVERS_PACKET = re.compile(r"^0x[0-9a-f]+:  0x(?P<dword>[0-9a-f]{8}):  (?P<name>\S.*?) *$")


def faults(records: list[dict[str, object]]) -> collections.Counter[tuple[str, str]]:
    """How often which packet or structure has which kind of fault."""
    found: collections.Counter[tuple[str, str]] = collections.Counter()
    for record in records:
        if record["type"] in ("packet", "struct", "data"):
            for fault in record.get("faults", ()):  # type: ignore[attr-defined]
                found[str(record["name"]), fault["kind"]] += 1
    return found


class ClientTest(unittest.TestCase):
    """Checks that all clients share."""

    def assert_good(self, done: Run) -> None:
        """The program has succeeded, and its calls are right. (What is wrong with its submissions
        assert_decoded() compares with what is known.)"""
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotRegex(done.stderr, r"\[\d+\] warning:")

    def assert_decoded(self, done: Run,
                       expected_faults: frozenset[tuple[str, str]] = frozenset(),
                       expected_problem: str = "no problem") -> None:
        """All that was submitted has a name, and the only faults and problems are the driver's known
        ones."""
        records = done.records
        summary = records[-1]
        self.assertEqual(summary["type"], "summary")
        unknown = [record for record in records if record["type"] == "unknown"]
        self.assertEqual(unknown[:3], [])
        self.assertEqual(summary["unknown_dwords"], 0)
        problems = [str(record["text"]) for record in records if record["type"] == "problem"]
        self.assertEqual([text for text in problems if not re.match(expected_problem, text)], [])
        self.assertEqual(summary["problems"], len(problems))
        self.assertGreater(summary["packets"], 0)  # type: ignore[misc]
        self.assertLessEqual(set(faults(records)), expected_faults)

    def assert_decoded_as_by_the_driver(self, done: Run) -> None:
        """The same packets, in the same order, as the driver shows them with INTEL_DEBUG=bat. It shows
        no end of a batch on old GPUs."""
        theirs = [(match["dword"], match["name"])
                  for match in map(_DRIVERS_PACKET.match, done.stderr.splitlines())
                  if match and match["name"] != "MI_BATCH_BUFFER_END"]
        if not theirs:
            self.skipTest("this build of the driver does not show what it submits")
        ours = [(record["dwords"][0], record["name"])  # type: ignore[index]
                for record in done.records
                if record["type"] == "packet" and record["name"] != "MI_BATCH_BUFFER_END"]
        self.assertEqual(len(theirs), len(ours))
        for number, (their, our) in enumerate(zip(theirs, ours)):
            self.assertEqual(their, our, f"packet {number}")


class _Result(unittest.TextTestResult):
    """Keeps what Bazel's log of test cases needs."""

    def __init__(self, *arguments: object, **more: object) -> None:
        super().__init__(*arguments, **more)  # type: ignore[arg-type]
        self.cases: list[tuple[str, float, str, str]] = []  # name, seconds, outcome, text
        self.began = time.monotonic()

    def startTest(self, test: unittest.TestCase) -> None:
        self.began = time.monotonic()
        super().startTest(test)

    def _add(self, test: object, outcome: str, text: str = "") -> None:
        name = test.id() if hasattr(test, "id") else str(test)
        self.cases.append((name, time.monotonic() - self.began, outcome, text))

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self._add(test, "")

    def addFailure(self, test: unittest.TestCase, err: object) -> None:
        super().addFailure(test, err)  # type: ignore[arg-type]
        self._add(test, "failure", self.failures[-1][1])

    def addError(self, test: unittest.TestCase, err: object) -> None:
        super().addError(test, err)  # type: ignore[arg-type]
        self._add(test, "error", self.errors[-1][1])

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self._add(test, "skipped", reason)


def _write(path: str, cases: list[tuple[str, float, str, str]]) -> None:
    suites = xml.etree.ElementTree.Element("testsuites")
    outcomes = collections.Counter(outcome for _, _, outcome, _ in cases)
    suite = xml.etree.ElementTree.SubElement(
        suites, "testsuite", name="clients", tests=str(len(cases)),
        failures=str(outcomes["failure"]), errors=str(outcomes["error"]),
        skipped=str(outcomes["skipped"]))
    for name, seconds, outcome, text in cases:
        case = xml.etree.ElementTree.SubElement(suite, "testcase", name=name, time=f"{seconds:.3f}")
        if outcome:
            said = xml.etree.ElementTree.SubElement(case, outcome, message=text[:200])
            said.text = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
    xml.etree.ElementTree.ElementTree(suites).write(path, encoding="utf-8")


def main() -> None:
    """Runs the tests of the calling program. Those that are skipped are skipped in Bazel's log too."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = unittest.TextTestRunner(verbosity=2, resultclass=_Result).run(suite)
    assert isinstance(result, _Result)
    path = os.environ.get("XML_OUTPUT_FILE")
    if path:
        _write(path, result.cases)
    sys.exit(0 if result.wasSuccessful() else 1)
