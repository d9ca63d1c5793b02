"""A temporary installation, and programs that are run on it."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ["TEST_SRCDIR"]) / os.environ["TEST_WORKSPACE"]
INSTALL = ROOT / "install/install"
# The sanitizers whose calls the library may hold; programs that link it then need them too.
SANITIZERS = {b"__asan_": "-fsanitize=address,undefined", b"__tsan_": "-fsanitize=thread"}


def folder() -> Path:
    """A new temporary folder."""
    return Path(tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))).resolve()


def run(command: list[str | Path], cwd: Path | None = None, preexec_fn=None,
        **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end. Keywords are variables of its environment."""
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd,
                          preexec_fn=preexec_fn, stdin=subprocess.DEVNULL,
                          env={**os.environ, **environment})


def install(prefix: str | Path, cwd: Path = ROOT, preexec_fn=None,
            **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the installer as `bazel run` does, for a caller who is in `cwd`."""
    return run([INSTALL, str(prefix)], cwd=ROOT, preexec_fn=preexec_fn,
               BUILD_WORKING_DIRECTORY=str(cwd), **environment)


def flags(prefix: Path) -> dict[str, str]:
    """Variables that make, CMake and Meson read, for what is compiled with the library."""
    library = (prefix / "lib/libpacksmith.a").read_bytes()
    flag = " ".join(flag for name, flag in SANITIZERS.items() if name in library)
    return {"CFLAGS": flag, "CXXFLAGS": flag, "LDFLAGS": flag}


def files(prefix: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path.relative_to(prefix)): path.read_bytes()
            for path in sorted(prefix.rglob("*")) if path.is_file()}


class TestCase(unittest.TestCase):
    """With shorthands."""

    maxDiff = None

    def good(self, result: subprocess.CompletedProcess[str]) -> str:
        """Expects success. Returns what was printed."""
        self.assertEqual(result.returncode, 0, result.stdout[-8000:] + result.stderr[-8000:])
        return result.stdout
