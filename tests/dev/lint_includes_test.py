#!/usr/bin/python3
"""The check `includes` of //:lint compiles the targets that changed, source by source."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

LINT = pathlib.Path(sys.argv.pop(1)).absolute()

# Notes its arguments, a list a line, and answers as the test wants it to.
BAZELW = """#!/usr/bin/python3
import json, os, sys
with open("calls", "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
answer = json.load(open("answers"))[sys.argv[1]]
sys.stdout.write(answer.get("out", ""))
sys.stderr.write(answer.get("err", ""))
sys.exit(answer.get("code", 0))
"""

MISSING = "room/a.cc:7:3: error: 'Other' was not declared in this scope"


class LintIncludes(unittest.TestCase):

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.checkout = pathlib.Path(folder.name)
        (self.checkout / "bazelw").write_text(BAZELW)
        (self.checkout / "bazelw").chmod(0o755)
        (self.checkout / "room").mkdir()
        for name in ("a.cc", "a.h", "b.cc", "c.c", "BUILD"):
            (self.checkout / "room" / name).write_text("")
        self.git("init", "-q", "-b", "main")
        self.git("add", "room")
        self.git("commit", "-q", "-m", "all")
        self.answer()

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.checkout, env=self.environment(), check=True)

    def environment(self) -> dict[str, str]:
        return {**os.environ, "BUILD_WORKSPACE_DIRECTORY": str(self.checkout),
                "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
                "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@t",
                "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@t"}

    def answer(self, targets: str = "//room:a\n//room:b\n", **build: str | int) -> None:
        answers = {"query": {"out": targets}, "build": build}
        (self.checkout / "answers").write_text(json.dumps(answers))

    def lint(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, LINT, "--check=includes", *arguments],
                              env=self.environment(), capture_output=True, text=True, check=False)

    def calls(self) -> list[list[str]]:
        calls = self.checkout / "calls"
        return [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []

    def test_compiles_the_targets_of_changed_sources_apart_and_links_nothing(self) -> None:
        (self.checkout / "room/a.cc").write_text("// Changed.\n")
        done = self.lint()
        self.assertEqual(done.returncode, 0, done.stderr)
        query, build = self.calls()
        self.assertEqual(query[0], "query")
        self.assertIn('set("room/a.cc")', query[-1])
        self.assertEqual(build[0], "build")
        self.assertIn("--define=sources=apart", build)
        self.assertIn("--output_groups=compilation_outputs", build)
        self.assertEqual(build[build.index("--") + 1:], ["//room:a", "//room:b"])

    def test_leaves_the_output_and_the_links_of_other_builds_alone(self) -> None:
        self.lint("room/a.cc")
        build = self.calls()[-1]
        self.assertIn("--symlink_prefix=/", build)
        self.assertTrue(any(option.startswith("--platform_suffix=") for option in build), build)

    def test_a_source_that_does_not_compile_is_found_once(self) -> None:
        self.answer(code=1, err=f"ERROR: x\nroom/a.cc: In function 'f':\n{MISSING}\n{MISSING}\n"
                    "room/b.cc:1:10: fatal error: no.h: No such file or directory\n")
        done = self.lint("room/a.cc")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.splitlines(), [
            MISSING, "room/b.cc:1:10: fatal error: no.h: No such file or directory"])

    def test_a_build_that_fails_otherwise_is_a_check_that_was_not_made(self) -> None:
        self.answer(code=1, err="ERROR: no such package 'room'\n")
        done = self.lint("room/a.cc")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no such package 'room'", done.stderr)

    def test_headers_count_and_sources_that_are_never_joined_do_not(self) -> None:
        self.lint("room/a.h", "room/c.c", "room/BUILD")
        self.assertIn('set("room/a.h")', self.calls()[0][-1])

    def test_calls_no_bazel_where_no_source_has_changed(self) -> None:
        (self.checkout / "room/BUILD").write_text("# Changed.\n")
        done = self.lint()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls(), [])

    def test_builds_nothing_where_no_target_has_the_source(self) -> None:
        self.answer(targets="")
        self.assertEqual(self.lint("room/a.cc").returncode, 0)
        self.assertEqual([call[0] for call in self.calls()], ["query"])

    def test_all_is_only_what_has_changed(self) -> None:
        self.lint("--all")
        self.assertEqual(self.calls(), [])
        (self.checkout / "room/b.cc").write_text("// Changed.\n")
        self.lint("--all")
        self.assertIn('set("room/b.cc")', self.calls()[0][-1])


if __name__ == "__main__":
    unittest.main()
