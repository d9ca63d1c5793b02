#!/usr/bin/python3
"""Processor time of decoding as text: unpack's, beside that of the decoder in Mesa's drivers.

Both decode what Debian's Mesa submits for the same draws, on a GPU that packsmith-mock simulates. With
INTEL_DEBUG=bat the driver decodes each batch before it submits it: its time is the difference of a
run with and one without. Runs alternate, and each figure is the least of several. Both write to
/dev/null. Exits with 2 if Mesa's driver is not installed, or is a build that does not decode.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

RUNS = 5
FRAMES, DRAWS = 8, 2000
DEVICES = "skl", "tgl", "dg2"
PACKET = re.compile(r"^0x[0-9a-f]+:  0x[0-9a-f]{8}:  \S", re.MULTILINE)


class Missing(Exception):
    """What is compared with is not there."""


def compiled(source: str, folder: str) -> str:
    made = os.path.join(folder, "client")
    done = subprocess.run(
        [shutil.which("cc") or "cc", "-O2", "-std=c11", "-D_GNU_SOURCE",
         source, "-o", made, "-lEGL", "-lGLESv2"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"Mesa's headers or libraries: {done.stderr}")
    return made


def client(mock: str, device: str, program: list[str], decode: bool, *options: str,
           stderr: object = subprocess.DEVNULL) -> tuple[float, str]:
    """The client's processor time in seconds, and what it wrote as errors if that is wanted."""
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": tempfile.gettempdir(),
                   "MESA_SHADER_CACHE_DISABLE": "true"}
    if decode:
        environment["INTEL_DEBUG"] = "bat"
    done = subprocess.run([mock, f"--device={device}", *options, "--", *program],
                          stdout=subprocess.PIPE, stderr=stderr, text=True, errors="replace",
                          check=False, env=environment)
    if done.returncode or not done.stdout:
        raise Missing(f"the client failed on {device}: {done.stderr or done.stdout}")
    return float(done.stdout.split()[-1]), done.stderr or ""


def unpack_time(unpack: str, record: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([unpack, record], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    unpack, mock, source = (os.path.abspath(path) for path in sys.argv[1:4])
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = compiled(source, folder)
            arguments = [program, str(FRAMES), str(DRAWS)]
            print("GPU   packets  Mesa [us/packet]  unpack [us/packet]  ratio")
            for device in DEVICES:
                record = os.path.join(folder, device)
                client(mock, device, arguments, False, f"--record={record}")
                _, text = client(mock, device, arguments, True, stderr=subprocess.PIPE)
                packets = len(PACKET.findall(text))
                if not packets:
                    raise Missing("this build of Mesa's driver does not decode")
                least = {"without": 1e9, "with": 1e9, "unpack": 1e9}
                for _ in range(RUNS):
                    least["without"] = min(least["without"],
                                           client(mock, device, arguments, False)[0])
                    least["with"] = min(least["with"], client(mock, device, arguments, True)[0])
                    least["unpack"] = min(least["unpack"], unpack_time(unpack, record))
                theirs = (least["with"] - least["without"]) / packets * 1e6
                ours = least["unpack"] / packets * 1e6
                print(f"{device:4} {packets:8}  {theirs:16.2f}  {ours:18.3f}  {theirs / ours:5.1f}",
                      flush=True)
        except Missing as error:
            print(f"nothing to compare with: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
