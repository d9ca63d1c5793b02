"""The generated headers as a compiler finds them."""

import os
import pathlib
import shutil


def collect(folder: str) -> str:
    """A folder for -I, with all headers that are in the runfiles."""
    here = pathlib.Path.cwd()
    to = pathlib.Path(folder, "include", "packsmith")
    (to / "c").mkdir(parents=True)
    found = [*here.glob("xml/*/*_cpp/packsmith/*.h"), *here.glob("runtime/pack/*.h"),
             here / "runtime/rebuild/rebuild.h"]
    for header in found:
        shutil.copy(os.path.realpath(header), to / header.name)
    for header in here.glob("xml/*/*_c/packsmith/c/*.h"):
        shutil.copy(os.path.realpath(header), to / "c" / header.name)
    return str(to.parent)
