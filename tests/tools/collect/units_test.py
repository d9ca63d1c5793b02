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
# Shows udev a folder as /sys, and a rule as the only one, in a mount namespace of its own: $1 is
# udevadm, $2 the folder, $3 the rule, $4 the event's action, $5 the device's path.
UDEV = """
mount -t tmpfs none /run
mkdir -p /run/udev/rules.d
cp "$3" /run/udev/rules.d/
for folder in /etc /usr/local/lib /usr/lib /lib; do
  if [ -d "$folder/udev/rules.d" ]; then mount -t tmpfs none "$folder/udev/rules.d"; fi
done
mount --bind "$2" /sys
export SYSTEMD_DEVICE_VERIFY_SYSFS=0 SYSTEMD_LOG_LEVEL=debug
"$1" test --action="$4" "/sys/$5" 2>&1
"""
CARD = "devices/pci0000:00/0000:03:00.0/drm"
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

    def udev(self, rule: pathlib.Path, *events: tuple[str, str, str]) -> list[str]:
        """What udev does about events: action, device below /sys, and the event's properties."""
        udevadm, unshare = shutil.which("udevadm"), shutil.which("unshare")
        if udevadm is None or unshare is None:
            self.skipTest("udevadm or unshare is not installed: the rule is not run by udev")
        space = [unshare, "--mount", *(["--map-root-user"] if os.geteuid() else [])]

        # An event's properties are those of the device's file here.
        def show(one: pathlib.Path, action: str, path: str,
                 properties: str) -> subprocess.CompletedProcess[str]:
            with tempfile.TemporaryDirectory() as name:
                subsystem = "devcoredump" if "devcoredump" in path else "drm"
                device = pathlib.Path(name) / path
                device.mkdir(parents=True)
                (device / "uevent").write_text(properties, encoding="ascii")
                (pathlib.Path(name) / "class" / subsystem).mkdir(parents=True)
                up = "../" * len(pathlib.Path(path).parts)
                (device / "subsystem").symlink_to(f"{up}class/{subsystem}")
                (pathlib.Path(name) / "class" / subsystem / device.name).symlink_to(f"../../{path}")
                return subprocess.run([*space, "sh", "-ec", UDEV, "sh", udevadm, name, str(one),
                                       action, path], capture_output=True, text=True, check=False)

        # A machine may have no mount namespaces, none in which /sys may be replaced, or a udev that
        # reads rules from elsewhere or shows programs in other words.
        with tempfile.TemporaryDirectory() as name:
            trivial = pathlib.Path(name) / "50-probe.rules"
            trivial.write_text('ACTION=="change", RUN+="/bin/true probe"\n', encoding="ascii")
            tried = show(trivial, "change", f"{CARD}/card0", "DEVTYPE=drm_minor\n")
        if tried.returncode != 0 or "run: '/bin/true probe'" not in tried.stdout:
            self.skipTest("udev does not run a trivial rule here, so this one is not run by it: "
                          f"{tried.stdout[-2000:]}{tried.stderr}")
        shown: list[str] = []
        for event in events:
            done = show(rule, *event)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            shown.append(done.stdout)
        return shown

    def test_udev_starts_a_unit_for_each_hang_and_for_nothing_else(self) -> None:
        dump = "devices/virtual/devcoredump/devcd3"
        minor = "DEVTYPE=drm_minor\n"
        started = "run: '/usr/bin/systemctl --no-block start packsmith-collect@card0.service'"
        added, removed, error, cleared, reset, render, plugged = self.udev(
            RULE, ("add", dump, ""), ("remove", dump, ""),
            ("change", f"{CARD}/card0", minor + "ERROR=1\n"),
            ("change", f"{CARD}/card0", minor + "ERROR=0\n"),
            ("change", f"{CARD}/card0", minor + "RESET=1\n"),
            ("change", f"{CARD}/renderD128", minor + "ERROR=1\n"),
            ("add", f"{CARD}/card0", minor + "ERROR=1\n"))
        self.assertIn("\nSYSTEMD_WANTS=packsmith-collect@devcd3.service\n", added)
        self.assertRegex(added, r"\nTAGS=\S*:systemd:")
        self.assertIn(started, error)
        for nothing in (removed, cleared, reset, render, plugged):
            self.assertNotIn("packsmith-collect@", nothing)
        for one in (added, error):
            self.assertNotRegex(one, rf"{RULE.name}:\d+.*([Ii]nvalid|[Uu]nknown|ignor)")

    def test_udev_finds_a_mistake_in_a_rule(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            broken = pathlib.Path(name) / RULE.name
            broken.write_text(RULE.read_text(encoding="ascii") + 'NONSENSE=="1"\n',
                              encoding="ascii")
            shown, = self.udev(broken, ("add", "devices/virtual/devcoredump/devcd3", ""))
            self.assertRegex(shown, rf"{RULE.name}:\d+.*([Ii]nvalid|[Uu]nknown|ignor)")

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
