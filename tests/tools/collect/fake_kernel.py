"""A folder with what a kernel shows of cards that hang.

A card keeps its first dump until something is written to the dump's file; a hang meanwhile is lost.
Regular files cannot tell that they were written to, so tick() looks for it.
"""

import pathlib

DRIVERS = {"xe": "devcoredump", "i915": "error", "nouveau": "devcoredump"}
EMPTY = b"No error state collected\n"


class Card:
    """One GPU. `number` is that of its card, and of its bus."""

    def __init__(self, root: pathlib.Path, number: int, driver: str) -> None:
        self.root = root
        self.driver = driver
        self.name = f"card{number}"
        self.address = f"0000:{number:02x}:00.0"
        self.device = root / "sys/devices/pci0000:00" / self.address
        self.device.mkdir(parents=True)
        drivers = root / "sys/bus/pci/drivers" / driver
        drivers.mkdir(parents=True, exist_ok=True)
        (self.device / "driver").symlink_to(drivers)
        for name, value in (("vendor", "0x8086"), ("device", "0x56a0"), ("revision", "0x08")):
            (self.device / name).write_text(value + "\n", encoding="ascii")
        folder = root / "sys/class/drm" / self.name
        folder.mkdir(parents=True)
        (folder / "device").symlink_to(self.device)
        self.error = folder / "error"
        if driver == "i915":
            self.error.write_bytes(EMPTY)
        self.held: tuple[str, pathlib.Path, bytes] | None = None

    def hang(self, dump: bytes, number: int) -> str:
        """The card hangs. The name of the dump, or "" if the kernel has one already."""
        if self.held:
            return ""
        if self.driver == "i915":
            self.error.write_bytes(dump)
            self.held = (self.name, self.error, dump)
            return self.name
        name = f"devcd{number}"
        folder = self.root / "sys/class/devcoredump" / name
        folder.mkdir(parents=True)
        (folder / "failing_device").symlink_to(self.device)
        (folder / "data").write_bytes(dump)
        self.held = (name, folder / "data", dump)
        return name

    def tick(self) -> None:
        """The kernel drops a dump to whose file something was written."""
        if not self.held:
            return
        _, path, dump = self.held
        if path.read_bytes() == dump:
            return
        self.held = None
        if self.driver == "i915":
            path.write_bytes(EMPTY)
        else:
            path.unlink()
            (path.parent / "failing_device").unlink()
            path.parent.rmdir()


def make_root(root: pathlib.Path, boot: str = "11111111-2222-3333-4444-555555555555") -> None:
    """What does not belong to a card."""
    kernel = root / "proc/sys/kernel"
    (kernel / "random").mkdir(parents=True, exist_ok=True)
    (kernel / "random/boot_id").write_text(boot + "\n", encoding="ascii")
    (kernel / "osrelease").write_text("6.12.9-test\n", encoding="ascii")
    (kernel / "hostname").write_text("machine7\n", encoding="ascii")
    (root / "proc/cmdline").write_text("root=/dev/sda1 quiet\n", encoding="ascii")
    (root / "dev").mkdir(exist_ok=True)
    (root / "dev/kmsg").write_text(
        "6,1,1500000,-;pci 0000:03:00.0: enabled\n"
        "4,2,61234567,-;xe 0000:03:00.0: [drm] Timedout job\n SUBSYSTEM=pci\n DEVICE=+pci:3\n",
        encoding="ascii")
    (root / "sys").mkdir(exist_ok=True)
