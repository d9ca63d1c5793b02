#!/usr/bin/python3
"""The kernel of generated draws, compiled by real compilers and run by PoCL."""

import functools
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import clients

ROOT = Path.cwd()
KERNEL = "runtime/intel/generated_draws/kernel.cl"
GENERATIONS = {"gfx8": 80, "gfx9": 90, "gfx11": 110, "gfx12": 120, "gfx125": 125, "xe2": 200,
               "xe3": 300}
POCL = "/etc/OpenCL/vendors/pocl.icd"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


@functools.cache
def include() -> Path:
    """A folder with the headers as a user has them."""
    folder = Path(tempfile.mkdtemp(dir=clients.MADE.name))
    (folder / "packsmith/c").mkdir(parents=True)
    (folder / "packsmith/pack.h").symlink_to(ROOT / "runtime/pack/pack.h")
    for header in ROOT.glob("xml/intel/*/packsmith/c/*.h"):
        (folder / "packsmith/c" / header.name).symlink_to(header)
    return folder


def succeed(*command: object, **environment: str) -> str:
    """Runs a program that must succeed without a word on standard error."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, env={**clients.ENVIRONMENT, **environment})
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"{command}\n{done.stdout}\n{done.stderr}")
    return done.stdout


@functools.cache
def client() -> Path:
    """The program, with the kernel as C for all generations."""
    clients.driver("/usr/include/CL/cl.h")
    folder = Path(tempfile.mkdtemp(dir=clients.MADE.name))
    compiler = [clients.program("cc"), "-std=c11", "-O1", "-D_GNU_SOURCE",
                "-DCL_TARGET_OPENCL_VERSION=120", *WARNINGS, f"-I{include()}", f"-I{ROOT}"]
    objects = []
    for name, version in GENERATIONS.items():
        objects.append(folder / f"{name}.o")
        succeed(*compiler, f"-DGFX_VERx10={version}", f"-DPACKSMITH_GENERATION={name}", "-c",
                Path(KERNEL).with_name("host.c"), "-o", objects[-1])
    succeed(*compiler, Path(__file__).with_name("generate_client.c"),
            Path(KERNEL).with_name("generator.c"), *objects, "-o", folder / "client", "-lOpenCL")
    return folder / "client"


def run(task: str, *generations: str) -> str:
    """The program's output."""
    # Compiled kernels are kept nowhere else, and one thread is enough.
    cache = tempfile.mkdtemp(dir=clients.MADE.name)
    named = [str(word) for name in generations for word in (name, GENERATIONS[name])]
    return succeed(client(), task, KERNEL, f"-I{include()} -I{ROOT} -Werror", *named,
                   OCL_ICD_VENDORS=clients.driver(POCL), POCL_CACHE_DIR=cache,
                   POCL_MAX_PTHREAD_COUNT="1")


class PoclTest(unittest.TestCase):
    def test_opencl_and_c_write_the_same_bytes_for_every_generation(self) -> None:
        clients.driver(POCL)
        lines = run("check", *GENERATIONS).splitlines()
        self.assertEqual([line.partition(":")[0] for line in lines], list(GENERATIONS))
        for line in lines:
            self.assertRegex(line, r": the same in 400 cases, [1-9]\d{5} dwords written$")


class CompilerTest(unittest.TestCase):
    def test_every_version_of_opencl_c_takes_the_kernel(self) -> None:
        clang = clients.program("clang-14")
        for version in GENERATIONS.values():
            for standard in ("CL1.2", "CL2.0", "CL3.0"):
                succeed(clang, "-x", "cl", f"-cl-std={standard}", "-target", "spir64", "-emit-llvm",
                        *WARNINGS, f"-I{include()}", f"-I{ROOT}", f"-DGFX_VERx10={version}", "-c",
                        KERNEL, "-o", os.devnull)


if __name__ == "__main__":
    clients.main()
