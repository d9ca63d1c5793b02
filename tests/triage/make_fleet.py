#!/usr/bin/python3
"""Makes a folder of dumps as a fleet's machines would send them, of the one in tests/data/hang.

    tests/triage/make_fleet.py --count=1000 --size=1000000 DIRECTORY

Each dump has one of four causes, which its name begins with. What differs from hang to hang of one
cause differs here too: time, process, ecode, how far the engine had read, the ring's other registers.
The same arguments make the same bytes.
"""

import argparse
import pathlib
import random
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "data/hang/skl-gl-basic.error"

# The name, the address of the command that hangs, its header and dwords, whether an address faulted,
# and the kernel.
CAUSES = [
    ("flush", 0xFFFEFFFEEE54, 0x7A000004, 6, True, "6.1.0-9-amd64"),
    ("draw", 0xFFFEFFFEEE20, 0x7B000005, 7, False, "6.1.0-9-amd64"),
    ("buffers", 0xFFFEFFFEEE6C, 0x78080007, 9, False, "6.8.0-45-generic"),
    ("depth", 0xFFFEFFFEEE00, 0x78070003, 5, False, "6.8.0-45-generic"),
]


def words(address: int) -> str:
    return f"0x{address >> 32:08x} {address & 0xffffffff:08x}"


def dump(text: str, cause: int, number: int, size: int, seed: int) -> str:
    """One error state, of `size` bytes or a little more."""
    dice = random.Random(f"{seed} {number}")
    _, start, header, dwords, faulted, kernel = CAUSES[cause]
    acthd = start + 4 * dice.randrange(1, dwords)
    instdone = 0xFFDFFFFB ^ dice.randrange(16) << 12
    pid = dice.randrange(300, 30000)
    changes = [
        ("0x85dffffb", f"0x{header ^ instdone:08x}"),
        ("Time: 1700000000 s", f"Time: {1700000000 + 60 * number} s"),
        ("gl-basic [1234]", f"app{dice.randrange(3)} [{pid}]"),
        ("gl-basic[1234]", f"app{dice.randrange(3)}[{pid}]"),
        ("6.1.0-9-amd64", kernel),
        ("ACTHD: 0x0000fffe fffeee68", f"ACTHD: {words(acthd)}"),
        ("BBADDR: 0x0000fffe fffeee69", f"BBADDR: {words(acthd | 1)}"),
        ("IPEHR: 0x7a000004", f"IPEHR: 0x{header:08x}"),
        ("INSTDONE: 0xffdffffb", f"INSTDONE: 0x{instdone:08x}"),
    ]
    if not faulted:
        changes.append(("FAULT_REG: 0x00000001", "FAULT_REG: 0x00000000"))
    for old, new in changes:
        if old not in text:
            raise ValueError(f"{SOURCE} has no \"{old}\"")
        text = text.replace(old, new, 1)
    missing = size - len(text)
    if missing > 100:
        # A buffer that was not compressed: five characters a word.
        alphabet = "".join(chr(c) for c in range(ord("!"), ord("r")))
        piece = "".join(dice.choices(alphabet, k=500))
        filled = (piece * (missing // len(piece) + 1))[:missing // 5 * 5]
        text += f"rcs0 --- user = 0x00000012 00000000\n~{filled}\n"
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--size", type=int, default=0, help="bytes of each (default: as they are)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("directory", type=pathlib.Path)
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    text = SOURCE.read_text(encoding="ascii")
    dice = random.Random(options.seed)
    for number in range(options.count):
        cause = dice.choices(range(len(CAUSES)), weights=[8, 4, 2, 1])[0]
        host = options.directory / f"host{number % 7}"
        host.mkdir(exist_ok=True)
        name = f"{CAUSES[cause][0]}-{number:05}.error"
        (host / name).write_text(dump(text, cause, number, options.size, options.seed),
                                 encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
