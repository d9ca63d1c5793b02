"""Tests of the programs that the documentation shows."""

load("@rules_shell//shell:sh_test.bzl", "sh_test")

_UNPACK = "//tools:unpack"

def job_test(name, program, lines, argument = "job.core", core = "job.core"):
    """Tests that the job that a program writes decodes whole and as expected.

    Args:
      name: of the test.
      program: a program that writes a core dump to the path that is its only argument.
      lines: patterns of grep; each must match a line of unpack's output.
      argument: the program's argument, a path in the test's own folder.
      core: the core dump that it then writes.
    """
    sh_test(
        name = name,
        size = "small",
        srcs = ["//tests/examples:job_test.sh"],
        args = ["$(rootpath %s)" % program, "$(rootpath %s)" % _UNPACK, argument, core] +
               ["'%s'" % line.replace("$", "$$") for line in lines],
        data = [program, _UNPACK],
    )
