#!/usr/bin/python3
"""packsmith-collect: no dump is dropped before it is safe."""

import hashlib
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fake_kernel import EMPTY, Card, make_root  # noqa: E402

COLLECT = os.path.abspath(sys.argv[1])
UNPACK = os.path.abspath(sys.argv[2])
UNZSTD = os.path.abspath(sys.argv[3])
HANGS = 24
FIXTURE = pathlib.Path(os.path.abspath(sys.argv[4]))


def unzstd(path: pathlib.Path) -> bytes:
    return subprocess.run([UNZSTD, str(path)], check=True, capture_output=True).stdout


class CollectTest(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        make_root(self.root)
        self.store = self.root / "var/lib/packsmith/dumps"

    def command(self, *arguments: str) -> list[str]:
        free = [] if any(one.startswith("--keep-free") for one in arguments) else ["--keep-free=0"]
        return [COLLECT, f"--root={self.root}", *free, *arguments]

    def collect(self, *arguments: str, code: int = 0) -> str:
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def kept(self) -> list[pathlib.Path]:
        return sorted(one for one in self.store.glob("*") if not one.name.startswith("."))

    def contents(self) -> list[bytes]:
        return [unzstd(one / "data.zst") for one in self.kept()]

    def test_a_dump_is_saved_and_then_dropped(self) -> None:
        card = Card(self.root, 3, "xe")
        debug = self.root / "sys/kernel/debug/dri/0"
        (debug / "gt0/uc").mkdir(parents=True)
        (debug / "name").write_text(f"xe dev={card.address} unique={card.address}\n", encoding="ascii")
        (debug / "gt0/uc/guc_info").write_text(
            "GuC firmware: xe/dg2_guc_70.bin\n\tstatus: RUNNING\n\tfound version: 70.29.2\n",
            encoding="ascii")
        dump = FIXTURE.read_bytes()
        self.assertEqual(card.hang(dump, 7), "devcd7")
        self.assertIn(f"devcd7 of {card.address}: {len(dump)} bytes saved in ",
                      self.collect("devcd7"))
        card.tick()
        self.assertIsNone(card.held)
        folder, = self.kept()
        self.assertRegex(folder.name, r"^\d{8}T\d{6}Z_0000-03-00\.0_devcd7_11111111_first$")
        self.assertTrue(unzstd(folder / "data.zst") == dump)
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        self.assertEqual(about["bytes"], len(dump))
        self.assertTrue(about["complete"])
        self.assertEqual((about["driver"], about["address"], about["device"], about["kernel"]),
                         ("xe", card.address, "0x56a0", "6.12.9-test"))
        self.assertIn("guc_info.gt0.txt: found version: 70.29.2", about["firmware"])
        self.assertEqual((folder / "dmesg.txt").read_text(encoding="ascii"),
                         "[    1.500000] pci 0000:03:00.0: enabled\n"
                         "[   61.234567] xe 0000:03:00.0: [drm] Timedout job\n")
        for one in folder.iterdir():
            self.assertEqual(one.stat().st_mode & 0o777, 0o600)
        self.assertEqual(folder.stat().st_mode & 0o777, 0o700)
        # What it saved can be read, with the files beside it in the folder.
        done = subprocess.run([UNPACK, "triage", str(self.store)], check=True, capture_output=True,
                              text=True)
        self.assertIn("1 dump of hangs in 1 group; ", done.stdout)

    def test_cards_of_i915_are_collected_too(self) -> None:
        card = Card(self.root, 0, "i915")
        self.assertIn("card0: there is no dump", self.collect("card0"))
        card.hang(b"GPU HANG: one\n", 0)
        self.collect("card0")
        card.tick()
        self.assertEqual(card.error.read_bytes(), EMPTY)
        card.hang(b"GPU HANG: two\n", 0)
        self.collect()
        card.tick()
        self.assertIsNone(card.held)
        self.assertEqual(sorted(self.contents()), [b"GPU HANG: one\n", b"GPU HANG: two\n"])

    def test_a_flood_loses_nothing_that_the_kernel_had(self) -> None:
        dice = random.Random(1)
        cards = [Card(self.root, number, "i915" if number == 3 else "xe") for number in range(4)]
        wanted: list[bytes] = []
        running: list[subprocess.Popen[bytes]] = []
        hangs = 0
        began: dict[str, float] = {}
        taken: list[float] = []
        while hangs < HANGS or any(card.held for card in cards):
            for card in cards:
                card.tick()
                if card.held is None and card.name in began:
                    taken.append(time.monotonic() - began.pop(card.name))
                if card.held is None and hangs < HANGS:
                    dump = f"hang {hangs} of {card.address}\n".encode() + dice.randbytes(
                        dice.randrange(1, 300000))
                    name = card.hang(dump, hangs)
                    began[card.name] = time.monotonic()
                    wanted.append(dump)
                    hangs += 1
                    # As the rule has it: a process for each event, and the timer's now and then.
                    running.append(subprocess.Popen(self.command("--per-burst=1000", name),
                                                    stderr=subprocess.DEVNULL))
                    if hangs % 8 == 0:
                        # Not of i915: a file cannot be empty as soon as something is written to it.
                        running.append(subprocess.Popen(
                            self.command("--per-burst=1000", "--driver=xe"),
                            stderr=subprocess.DEVNULL))
            running = [one for one in running if one.poll() is None]
            time.sleep(0.002)
        for one in running:
            one.wait()
        digests = [sorted(hashlib.sha256(one).hexdigest() for one in all_of_them)
                   for all_of_them in (self.contents(), wanted)]
        self.assertEqual(len(wanted), HANGS)
        self.assertEqual(*digests)
        # Nothing half-done is left.
        self.assertEqual(len(self.kept()), len(list(self.store.iterdir())))
        # For who reads the log: no time decides.
        self.assertEqual(len(taken), HANGS)
        taken.sort()
        print(f"{HANGS} hangs, {len(cards)} cards: from a hang until its dump is saved and dropped "
              f"{1000 * taken[HANGS // 2]:.0f} ms (median), {1000 * taken[-1]:.0f} ms (most)")

    def test_the_first_of_a_burst_are_kept_and_others_stay(self) -> None:
        card = Card(self.root, 1, "xe")
        for number in range(3):
            card.hang(b"dump %d" % number, number)
            self.collect("--per-burst=2", f"devcd{number}")
            card.tick()
        self.assertEqual(self.contents(), [b"dump 0", b"dump 1"])
        self.assertEqual([one.name.endswith("_first") for one in self.kept()], [True, False])
        self.assertIsNotNone(card.held)
        # Once the burst has ended it is collected.
        time.sleep(1.1)
        self.collect("--per-burst=2", "--burst=1")
        card.tick()
        self.assertIsNone(card.held)
        self.assertEqual(sorted(self.contents()), [b"dump 0", b"dump 1", b"dump 2"])
        self.assertTrue(self.kept()[-1].name.endswith("_first"))

    def test_the_size_limit_spares_first_dumps(self) -> None:
        cards = [Card(self.root, number, "xe") for number in range(2)]
        dice = random.Random(2)

        def hang(card: Card, number: int, code: int = 0) -> None:
            card.hang(dice.randbytes(40000), number)
            self.collect("--max-size=150000", f"devcd{number}", code=code)
            card.tick()
        for number in range(5):
            hang(cards[0], number)
        # The first stays, of the others the last ones.
        self.assertEqual([one.name.split("_")[2] for one in self.kept()],
                         ["devcd0", "devcd3", "devcd4"])
        hang(cards[1], 5)
        self.assertEqual({one.name.split("_")[2] for one in self.kept()},
                         {"devcd0", "devcd4", "devcd5"})
        # A dump that is larger than what may go stays where it is.
        cards[1].hang(dice.randbytes(120000), 6)
        message = self.collect("--max-size=150000", "devcd6", code=1)
        self.assertIn("--max-size", message)
        self.assertIn("the kernel still has the dump", message)
        cards[1].tick()
        self.assertIsNotNone(cards[1].held)
        self.assertTrue(any("devcd0" in one.name for one in self.kept()))
        self.assertFalse(list(self.store.glob(".tmp*")))

    def test_old_dumps_go(self) -> None:
        self.store.mkdir(parents=True)
        old = self.store / "20200101T000000Z_0000-01-00.0_devcd1_99999999_first"
        old.mkdir()
        (old / "data.zst").write_bytes(b"x")
        (self.store / "my notes").write_text("not a dump\n", encoding="ascii")
        self.collect("--max-age=0")
        self.assertTrue(old.exists())
        self.collect()
        self.assertFalse(old.exists())
        self.assertTrue((self.store / "my notes").exists())

    def test_a_full_disk_keeps_the_kernels_copy(self) -> None:
        card = Card(self.root, 1, "xe")
        card.hang(random.Random(3).randbytes(3_000_000), 1)
        self.assertIn("--keep-free", self.collect("--keep-free=1000000000000000", code=1))

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
        # Writing fails in the middle of the copy.
        done = subprocess.run(self.command("devcd1"), preexec_fn=limit, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write the copy", done.stderr)
        self.assertEqual(list(self.store.iterdir()), [])
        card.tick()
        self.assertIsNotNone(card.held)
        self.collect()
        card.tick()
        self.assertIsNone(card.held)
        self.assertEqual([len(one) for one in self.contents()], [3_000_000])

    def start_slow(self, dump: bytes) -> subprocess.Popen[bytes]:
        """A collector in the middle of a dump that never ends."""
        card = Card(self.root, 1, "xe")
        card.hang(dump, 1)
        data = self.root / "sys/class/devcoredump/devcd1/data"
        data.unlink()
        os.mkfifo(data)
        run = subprocess.Popen(self.command("devcd1"), stderr=subprocess.DEVNULL)
        writer = os.open(data, os.O_WRONLY)
        self.addCleanup(os.close, writer)
        os.write(writer, dump[:20000])
        while not list(self.store.glob(".tmp*/data.zst")):
            time.sleep(0.001)
        data.unlink()
        data.write_bytes(dump)
        return run

    def test_a_dump_has_one_writer(self) -> None:
        run = self.start_slow(b"d" * 100000)
        self.assertEqual(self.collect(), "")
        self.assertEqual(self.kept(), [])
        run.kill()
        run.wait()

    def test_a_writer_that_dies_is_replaced(self) -> None:
        dump = random.Random(4).randbytes(500000)
        run = self.start_slow(dump)
        run.send_signal(signal.SIGKILL)
        run.wait()
        self.assertEqual(len(list(self.store.glob(".tmp*"))), 1)
        self.collect()
        self.assertTrue(self.contents() == [dump])
        self.assertFalse(list(self.store.glob(".tmp*")))

    def test_after_a_restart_what_was_copied_is_kept(self) -> None:
        run = self.start_slow(b"e" * 100000)
        run.send_signal(signal.SIGKILL)
        run.wait()
        half, = self.store.glob(".tmp*")
        (half / "data.zst").write_bytes(b"half of a dump")
        (self.root / "sys/class/devcoredump/devcd1/data").unlink()
        make_root(self.root, "99999999-2222-3333-4444-555555555555")
        self.collect()
        left, = self.kept()
        self.assertTrue(left.name.endswith("_devcd1_11111111_first_partial"), left.name)

    def test_a_dump_that_was_saved_is_only_dropped(self) -> None:
        card = Card(self.root, 1, "xe")
        card.hang(b"dump", 1)
        self.collect("--keep")
        card.tick()
        self.assertIsNotNone(card.held)
        self.assertIn("is saved already", self.collect())
        card.tick()
        self.assertIsNone(card.held)
        self.assertEqual(self.contents(), [b"dump"])

    def test_a_dump_that_is_too_large_is_partial(self) -> None:
        card = Card(self.root, 1, "xe")
        card.hang(bytes(range(250)) * 1000, 1)
        self.assertIn("only a part is saved", self.collect("--max-dump=100000", code=1))
        card.tick()
        self.assertIsNotNone(card.held)
        folder, = self.kept()
        self.assertTrue(folder.name.endswith("_partial"))
        self.assertTrue(unzstd(folder / "data.zst") == (bytes(range(250)) * 1000)[:100000])
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        self.assertFalse(about["complete"])
        # The next run does not read it again, and does not drop it.
        self.assertIn("left alone", self.collect("--max-dump=100000"))
        card.tick()
        self.assertIsNotNone(card.held)
        # One of exactly that size is whole.
        other = Card(self.root, 2, "xe")
        other.hang(b"f" * 1000, 2)
        self.collect("--max-dump=1000", "devcd2")
        other.tick()
        self.assertIsNone(other.held)

    def test_a_dump_that_cannot_be_read_is_not_dropped(self) -> None:
        card = Card(self.root, 1, "xe")
        card.hang(b"dump", 1)
        data = self.root / "sys/class/devcoredump/devcd1/data"
        data.unlink()
        data.symlink_to("/proc/self/mem")  # reading fails
        self.assertIn("reading failed after 0 bytes", self.collect(code=1))
        self.assertEqual(list(self.store.iterdir()), [])

    def test_other_drivers_are_left_alone(self) -> None:
        card = Card(self.root, 1, "nouveau")
        card.hang(b"dump", 1)
        self.assertIn("left alone, its driver is nouveau", self.collect())
        card.tick()
        self.assertIsNotNone(card.held)
        self.collect("--driver=xe,nouveau")
        card.tick()
        self.assertIsNone(card.held)

    def test_wrong_usage(self) -> None:
        for name in ("../devcd1", "devcd", "card0-HDMI-A-1", "devcd1x"):
            self.assertIn("must be devcd or card", self.collect(name, code=2))
        self.assertIn("--store", self.collect("--stor=x", code=2))
        self.assertIn("NAME", subprocess.run([COLLECT, "--help"], check=True, capture_output=True,
                                             text=True).stdout)
        self.assertIn("there is no dump", self.collect("devcd99"))
        blocked = self.root / "file"
        blocked.write_text("", encoding="ascii")
        self.assertIn("cannot", self.collect(f"--store={blocked}/dumps", code=1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
