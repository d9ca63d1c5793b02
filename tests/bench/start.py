#!/usr/bin/python3
"""How long `unpack` takes for a batch of one packet, beside a program that does nothing.

The difference is what unpack does, and what the libraries that it is linked with cost. Each figure
is the least of many runs, which alternate. Prints whether the difference keeps its limit.
"""

import os
import subprocess
import sys
import tempfile
import time

RUNS = 300
LIMIT_MS = 1


def once(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - begin) * 1e3


def main() -> int:
    unpack, nothing = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        batch = os.path.join(directory, "batch.bin")
        with open(batch, "wb") as file:
            file.write(bytes.fromhex("00000005"))  # MI_BATCH_BUFFER_END
        commands = {
            "nothing": [nothing],
            "text": [unpack, "--gen=gfx9", batch],
            "jsonl": [unpack, "--gen=gfx9", "--format=jsonl", batch],
            "stats": [unpack, "--gen=gfx9", "--format=stats", batch],
        }
        least = {name: 1e9 for name in commands}
        for _ in range(RUNS):
            for name, command in commands.items():
                least[name] = min(least[name], once(command))
    good = True
    for name, ms in least.items():
        more = ms - least["nothing"]
        good = good and more <= LIMIT_MS
        print(f"{name:8} {ms:6.2f} ms  {more:+5.2f} ms")
    print(f"limit: {LIMIT_MS} ms more than nothing: {'kept' if good else 'broken'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
