#!/usr/bin/python3
"""The udev rule and the units that start packsmith-collect."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

COLLECT = os.path.abspath(sys.argv[1])
UNITS = [pathlib.Path(os.path.abspath(path)) for path in sys.argv[2:]]
RULE, = (path for path in UNITS if path.suffix == ".rules")
# KEY=="value", KEY{attribute}+="value"
TERM = re.compile(r'([A-Z]+)(?:\{([A-Za-z_]+)\})?(==|!=|\+=|:=|=)"([^"]*)"')


def rules() -> list[dict[str, str]]:
    """The rule's lines: keys with their attributes and operators, and values."""
    lines = RULE.read_text(encoding="ascii").splitlines()
    parsed = []
    for line in lines:
        if not line or line.startswith("#"):
            continue
        terms = [TERM.fullmatch(term.strip()) for term in re.split(r",\s*(?=[A-Z])", line)]
        parsed.append({f"{term[1]}{'{' + term[2] + '}' if term[2] else ''}{term[3]}": term[4]
                       for term in terms if term})
        if None in terms:
            raise AssertionError(f"not a rule: {line}")
    return parsed


class UnitsTest(unittest.TestCase):
    def verify(self, folder: pathlib.Path) -> str:
        """What systemd finds wrong."""
        verify = shutil.which("systemd-analyze")
        if verify is None:
            raise unittest.SkipTest("systemd-analyze is not installed: units are not verified")
        units = [str(path) for path in sorted(folder.iterdir())]
        done = subprocess.run([verify, "verify", "--man=no", *units], capture_output=True,
                              text=True, check=False)
        return done.stdout + done.stderr

    def installed(self, folder: pathlib.Path) -> None:
        """The units with the program where it is now."""
        for unit in UNITS:
            text = unit.read_text(encoding="ascii")
            if unit.suffix != ".rules":
                (folder / unit.name).write_text(
                    text.replace("ExecStart=packsmith-collect", f"ExecStart={COLLECT}"),
                    encoding="ascii")

    def test_systemd_takes_the_units(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.installed(folder)
            found = self.verify(folder)
            if "Failed to" in found and "bus" in found:
                self.skipTest(f"systemd-analyze does not work here: {found}")
            self.assertEqual(found, "")
            # The check does find mistakes.
            broken = folder / "packsmith-collect.service"
            broken.write_text(broken.read_text(encoding="ascii") + "Nonsense=1\n", encoding="ascii")
            self.assertIn("Nonsense", self.verify(folder))

    def test_the_services_run_the_program(self) -> None:
        for unit in UNITS:
            if unit.suffix == ".service":
                line, = re.findall(r"^ExecStart=(.*)$", unit.read_text(encoding="ascii"), re.M)
                words = line.split()
                self.assertEqual(words[:2], ["packsmith-collect", "$PACKSMITH_COLLECT_OPTIONS"])
                self.assertEqual(words[2:], ["%i"] if "@" in unit.name else [])

    def test_each_event_starts_a_unit_that_exists(self) -> None:
        names = {unit.name for unit in UNITS}
        dumps, cards = rules()
        self.assertEqual(dumps["ACTION=="], "add")
        self.assertEqual(dumps["SUBSYSTEM=="], "devcoredump")
        # Without this tag the device manager does not see the device.
        self.assertEqual(dumps["TAG+="], "systemd")
        self.assertEqual(cards["ACTION=="], "change")
        self.assertEqual(cards["ENV{ERROR}=="], "1")
        started = cards["RUN+="].split()
        self.assertEqual(started[:3], ["/usr/bin/systemctl", "--no-block", "start"])
        for wanted in (dumps["ENV{SYSTEMD_WANTS}+="], started[3]):
            self.assertIn(wanted.replace("%k", ""), names)

    def test_udev_takes_the_rule(self) -> None:
        udevadm = shutil.which("udevadm")
        if udevadm is None:
            self.skipTest("udevadm is not installed: the rule is not verified by udev")
        done = subprocess.run([udevadm, "verify", str(RULE)], capture_output=True, text=True,
                              check=False)
        if "nrecognized" in done.stderr or "nknown command" in done.stderr:
            self.skipTest("this udevadm cannot verify rules: it is older than systemd 254")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
