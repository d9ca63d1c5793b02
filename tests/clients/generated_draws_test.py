#!/usr/bin/python3
"""The kernel of generated draws, compiled by real compilers and run by PoCL."""

import concurrent.futures
import functools
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

# What prints a kernel's file, and what a drawer is told of it; and whether to measure instead of
# testing.
READER, HOOK = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
TIME = "--time" in sys.argv and not sys.argv.remove("--time")

import clients  # noqa: E402

ROOT = Path.cwd()
KERNEL = "runtime/intel/generated_draws/kernel.cl"
# The source of each generation's C function, and ten times its version.
SOURCES = {path.stem.removeprefix("host_"): path
           for path in ROOT.glob(Path(KERNEL).with_name("host_*.c").as_posix())}
GENERATIONS = {name: int(path.read_text().split()[2]) for name, path in SOURCES.items()}
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
    compiler = [clients.program("cc"), "-std=c11", "-O2" if TIME else "-O1", "-D_GNU_SOURCE",
                "-DCL_TARGET_OPENCL_VERSION=120", *WARNINGS, f"-I{include()}", f"-I{ROOT}"]
    objects = []
    for name, source in SOURCES.items():
        objects.append(folder / f"{name}.o")
        succeed(*compiler, "-c", source, "-o", objects[-1])
    succeed(*compiler, "tests/clients/generate_client.c",
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
        self.assertGreaterEqual(len(GENERATIONS), 7)
        lines = run("check", *GENERATIONS).splitlines()
        self.assertEqual([line.partition(":")[0] for line in lines], list(GENERATIONS))
        for line in lines:
            self.assertRegex(line, r": the same in 400 cases, [1-9]\d{5} dwords written$")


class ClangTest(unittest.TestCase):
    def test_every_version_of_opencl_c_takes_the_kernel(self) -> None:
        clang = clients.program("clang-14")
        for standard in ("CL1.2", "CL2.0", "CL3.0"):
            succeed(clang, "-x", "cl", f"-cl-std={standard}", "-target", "spir64", "-emit-llvm",
                    *WARNINGS, f"-I{include()}", f"-I{ROOT}", "-DGFX_VERx10=125", "-c", KERNEL, "-o",
                    os.devnull)


# The devices of Intel's compiler, by generation. Of devices with several names one. None is of Xe2
# or later; pvc has no 3D pipeline.
DEVICES = {
    "gfx8": ("bdw",),
    "gfx9": ("skl", "kbl", "cfl", "apl", "glk"),
    "gfx11": ("icllp", "lkf", "ehl"),
    "gfx12": ("tgllp", "rkl", "adl-s", "adl-p", "adl-n", "dg1"),
    "gfx125": ("dg2-g10", "dg2-g11", "dg2-g12"),
}
OTHER_NAMES = {
    "bxt", "whl", "aml", "cml", "jsl", "acm-g10", "acm-g11", "acm-g12", "ats-m75", "ats-m150",
    "pvc", "pvc-sdv", "xe_hp_sdv", "gen8", "gen9", "gen11", "gen12lp", "xe", "xe-hp", "xe-hpc",
    "xe-hpg",
}


ZEBIN = ("-internal_options", "-cl-intel-allow-zebin")


def ocloc(device: str, *options: str) -> Path:
    """The folder in which Intel's compiler has written what it makes."""
    folder = Path(tempfile.mkdtemp(dir=clients.MADE.name))
    done = subprocess.run(
        [clients.program("ocloc"), "compile", "-q", "-device", device, "-out_dir", folder,
         *options], capture_output=True, text=True, check=False, env=clients.ENVIRONMENT)
    if done.returncode != 0:
        raise AssertionError(done.stdout + done.stderr)
    return folder


def ocloc_source(device: str, version: int, *options: str) -> Path:
    return ocloc(device, "-file", KERNEL, "-options",
                 f"-I{include()} -I{ROOT} -DGFX_VERx10={version}", *options)


@functools.cache
def first_of(name: str) -> Path:
    """What it makes for the first device of a generation."""
    return ocloc_source(DEVICES[name][0], GENERATIONS[name], *ZEBIN)


class OclocTest(unittest.TestCase):
    """Intel's compiler; ReadKernelBinaries() and GenerationKernelOf() on what it writes."""

    def read(self, folder: Path) -> str:
        """What the example programs print of the kernel, and of the hook for it."""
        binary, = folder.glob("*.bin")
        printed = [subprocess.run([program, binary], capture_output=True, text=True, check=False)
                   for program in (READER, HOOK)]
        return "".join(done.stdout + done.stderr for done in printed)

    def read_all(self, name: str) -> dict[str, str]:
        """What is printed for each device of a generation. The source is parsed once."""
        first, *others = DEVICES[name]
        parsed, = first_of(name).glob("*.spv")
        return {first: self.read(first_of(name)),
                **{device: self.read(ocloc(device, "-spirv_input", "-file", str(parsed), *ZEBIN))
                   for device in others}}

    def test_the_kernel_compiles_for_each_device_and_its_binary_is_read(self) -> None:
        clients.program("ocloc")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            texts = dict(zip(DEVICES, pool.map(self.read_all, DEVICES)))
        for name, device, text in ((name, device, text) for name, of_one in texts.items()
                                   for device, text in of_one.items()):
            with self.subTest(device=device):
                found = re.match(
                    r"generate_draws: SIMD(8|16|32), 128 registers, entry at byte (\d+) of (\d+), "
                    r"scratch 0\n  groups of 32 x 1 x 1, constants of (\d+) bytes, (\d+) of them in "
                    r"the walker\n  local ids: (.*)\n  binding table entries: 0\n", text)
                assert found, text
                self.assertLess(int(found[2]), int(found[3]))
                # The one argument, in what the compiler says are the constants.
                argument = re.search(r"\n  arg_byvalue 0: 8 bytes at (\d+)\n", text)
                assert argument, text
                self.assertLessEqual(int(argument[1]) + 8, int(found[4]))
                self.assertIn("the address 0x123456789abc is in its constants\n", text)
                in_hardware = name == "gfx125"
                self.assertEqual(found[6], "by hardware" if in_hardware else "in memory")
                self.assertEqual((int(found[2]) > 0, int(found[5])),
                                 (in_hardware, 32 if in_hardware else 0))
                # The hook: the entry after those of local ids, the argument, sizes of groups.
                self.assertIn(f"\nSIMD{found[1]} at {0x1000 + int(found[2])} of buffer 7\n"
                              f"the parameters' address: 8 bytes at {argument[1]} of {found[4]}, "
                              f"{found[5]} of them in the walker\nlocal ids: {found[6]}\n", text)
                sizes = [int(at) for at in re.findall(
                    r"\n  (?:enqueued_)?local_size: 12 bytes at (\d+)\n", text)]
                self.assertTrue(sizes, text)
                self.assertEqual(
                    re.findall(r"\nconstant at (\d+): (\d+)(?=\n)", text),
                    [(str(at + 4 * i), str(size)) for at in sorted(sizes)
                     for i, size in enumerate((32, 1, 1))])

    def test_dispatches_give_the_compiled_kernel_what_it_reads_where_it_reads_it(self) -> None:
        clients.program("ocloc")
        for name in DEVICES:
            with self.subTest(generation=name):
                binary, = first_of(name).glob("*.bin")
                done = subprocess.run(
                    [ROOT / f"tests/intel/indirect/indirect_{name}_test",
                     "--gtest_filter=*.DrawsOfACompiledKernelEqualAPlainLoop"],
                    capture_output=True, text=True, check=False,
                    env={**clients.ENVIRONMENT, "PACKSMITH_COMPILED_KERNEL": str(binary)})
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("[  PASSED  ] 1 test.", done.stdout)

    def test_the_older_format_is_refused_with_the_remedy(self) -> None:
        self.assertIn("patch tokens: it must be what ocloc writes with -internal_options "
                      "-cl-intel-allow-zebin", self.read(ocloc_source("skl", 90)))

    def test_no_device_of_the_compiler_is_forgotten(self) -> None:
        done = subprocess.run([clients.program("ocloc"), "compile", "--help"], capture_output=True,
                              text=True, check=False)
        listed = re.search(r"<device_type> can be: (.*), version", done.stdout)
        assert listed, done.stdout
        known = {device for devices in DEVICES.values() for device in devices} | OTHER_NAMES
        self.assertLessEqual(set(listed[1].split(", ")), known)

    def test_the_kernel_compiles_for_xe2_and_xe3(self) -> None:
        self.skipTest("Debian's ocloc has no device of Xe2 or Xe3; PoCL runs the kernel for these")


if __name__ == "__main__":
    if TIME:
        print(run("time", *GENERATIONS), end="")
    else:
        clients.main()
