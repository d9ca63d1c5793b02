"""Tests of the programs that the documentation shows."""

load("@rules_shell//shell:sh_test.bzl", "sh_test")

_UNPACK = "//tools:unpack"

def job_test(name, program, lines, argument = "job.core", core = "job.core"):
    """The job that a program writes decodes whole, and says what is expected.

    Args:
      name: of the test.
      program: a program that writes a core dump where its only argument says.
      lines: patterns of grep; of each, a line of what unpack says.
      argument: what the program gets, in the test's own folder.
      core: the core dump that it writes then.
    """
    sh_test(
        name = name,
        size = "small",
        srcs = ["//tests/examples:job_test.sh"],
        args = ["$(rootpath %s)" % program, "$(rootpath %s)" % _UNPACK, argument, core] +
               ["'%s'" % line.replace("$", "$$") for line in lines],
        data = [program, _UNPACK],
    )
