#!/usr/bin/python3
"""Programs under the mock: system calls on devices and files that exist for them only."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MOCK, LIBRARY, CALLS, FILES, HOSTILE = (os.path.abspath(sys.argv.pop(1)) for _ in range(5))


def mock(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([MOCK, LIBRARY, *arguments], capture_output=True, text=True, check=False,
                          timeout=120, **more)  # type: ignore[call-overload]


class ClientTest(unittest.TestCase):
    def good(self, client: str, test: str, *options: str) -> None:
        done = mock(*options, client, test)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.endswith("good\n"), done.stdout)


class CallsTest(ClientTest):
    def test_a_call_reads_and_writes_the_programs_memory(self) -> None:
        self.good(CALLS, "version")

    def test_a_call_that_fails_returns_minus_one_and_sets_errno(self) -> None:
        self.good(CALLS, "errors")

    def test_a_descriptor_looks_like_that_of_a_device(self) -> None:
        self.good(CALLS, "looks")

    def test_duplicates_are_the_same_file_until_the_last_is_closed(self) -> None:
        self.good(CALLS, "duplicates")

    def test_a_child_shares_the_files_of_its_parent(self) -> None:
        self.good(CALLS, "fork")

    def test_a_child_that_borrows_its_parents_memory_can_call(self) -> None:
        self.good(CALLS, "vfork")

    def test_a_file_stays_open_over_exec(self) -> None:
        self.good(CALLS, "exec")

    def test_files_and_buffers_can_be_sent_to_other_processes(self) -> None:
        self.good(CALLS, "send")

    def test_mappings_honour_address_size_and_offset(self) -> None:
        self.good(CALLS, "mappings")

    def test_programs_may_close_what_they_did_not_open(self) -> None:
        self.good(CALLS, "closers")

    def test_eight_threads_make_a_thousand_calls_each(self) -> None:
        self.good(CALLS, "threads")

    def test_signals_interrupt_calls_that_wait_and_disturb_no_others(self) -> None:
        self.good(CALLS, "signals")

    def test_synchronization_objects_wait_and_travel(self) -> None:
        self.good(CALLS, "syncobjs")

    def test_a_process_whose_memory_others_may_not_read_can_call(self) -> None:
        self.good(CALLS, "not-dumpable", "--no-ptrace")

    def test_a_program_that_is_killed_in_a_call_leaves_nothing_behind(self) -> None:
        self.good(CALLS, "killed")

    def test_a_program_without_free_descriptors_gets_emfile(self) -> None:
        self.good(CALLS, "limits")

    def test_the_program_has_the_limits_that_it_would_have_alone(self) -> None:
        alone = subprocess.run(["sh", "-c", "ulimit -Sn"], capture_output=True, text=True,
                               check=True)
        self.assertEqual(mock(CALLS, "limits").stdout.split()[0], alone.stdout.strip())


class FilesTest(ClientTest):
    def test_libdrm_finds_the_device(self) -> None:
        self.good(FILES, "libdrm")

    def test_all_ways_to_open_a_file(self) -> None:
        self.good(FILES, "opens")

    def test_paths_relative_to_directories(self) -> None:
        self.good(FILES, "relative")

    def test_all_ways_to_ask_for_facts(self) -> None:
        self.good(FILES, "stats")

    def test_directories_are_listed_and_merged(self) -> None:
        self.good(FILES, "directories")

    def test_patterns_find_files(self) -> None:
        self.good(FILES, "globs")

    def test_links_are_read_and_followed(self) -> None:
        self.good(FILES, "links")

    def test_what_is_written_to_a_control_has_an_effect_at_once(self) -> None:
        self.good(FILES, "controls")

    def test_debugfs_counts_as_mounted(self) -> None:
        self.good(FILES, "mounts")

    def test_a_program_may_clear_its_environment(self) -> None:
        self.good(FILES, "environment")

    def test_programs_that_know_nothing_of_it_see_the_files(self) -> None:
        done = mock("cat", "/sys/class/drm/renderD128/device/vendor")
        self.assertEqual((done.returncode, done.stdout), (0, "0x8086\n"))
        done = mock("ls", "/dev/dri")
        self.assertEqual(done.stdout.split(), ["card0", "renderD128"])
        done = mock("ls", "-lL", "/sys/class/drm", "/dev/dri")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = mock("find", "/sys/class/drm/", "-type", "l", "-name", "card*")
        self.assertEqual(done.stdout.split(), ["/sys/class/drm/card0"])
        done = mock("stat", "-c", "%F %t:%T", "/dev/dri/renderD128")
        self.assertEqual(done.stdout, "character special file e2:80\n")
        done = mock("python3", "-c", "import os; print(sorted(os.listdir('/dev/dri')),"
                    " os.path.realpath('/sys/dev/char/226:128/device'))")
        self.assertEqual(done.stdout, "['card0', 'renderD128'] "
                         "/sys/devices/pci0000:00/0000:00:02.0\n")


class HostileTest(unittest.TestCase):
    def test_messages_of_any_form_change_nothing_for_others(self) -> None:
        for seed in range(4):
            done = mock(HOSTILE, str(seed))
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "good\n", ""))


class LauncherTest(unittest.TestCase):
    def test_the_exit_code_is_the_programs(self) -> None:
        self.assertEqual(mock("sh", "-c", "exit 7").returncode, 7)

    def test_a_signal_that_kills_is_in_the_exit_code(self) -> None:
        self.assertEqual(mock("sh", "-c", "kill -9 $$").returncode, 128 + 9)

    def test_a_program_that_is_not_found_is_127(self) -> None:
        done = mock("/no/such/program")
        self.assertEqual(done.returncode, 127)
        self.assertIn("/no/such/program: No such file or directory", done.stderr)

    def test_a_program_that_cannot_be_executed_is_126(self) -> None:
        self.assertEqual(mock("/").returncode, 126)

    def test_a_signal_to_the_launcher_reaches_the_program(self) -> None:
        with subprocess.Popen([MOCK, LIBRARY, "sh", "-c",
                               "trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done"],
                              stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=30), 3)

    def test_the_program_inherits_what_is_done_with_signals(self) -> None:
        def dispositions(before: str, *launcher: str) -> list[int]:
            done = subprocess.run(["sh", "-c", before + 'exec "$@"', "sh", *launcher, "grep", "-E",
                                   "SigBlk|SigIgn", "/proc/self/status"], capture_output=True,
                                  text=True, check=True)
            # Those above 31 are the C library's own.
            return [int(line.split()[1], 16) & 0x7fffffff for line in done.stdout.splitlines()]

        for before in ("", "trap '' CHLD USR1; "):
            self.assertEqual(dispositions(before, MOCK, LIBRARY), dispositions(before))

    def test_a_process_that_outlives_the_program_keeps_its_device(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            done = mock("sh", "-c", f"(exec 3<>/dev/dri/renderD128; : > {out}.open; sleep 0.5;"
                        f" readlink /proc/self/fd/3; {CALLS} version) > {out} 2>&1 &"
                        f" until test -e {out}.open; do sleep 0.01; done")
            self.assertEqual(done.returncode, 0)
            with open(out, encoding="utf-8") as file:
                self.assertTrue(file.read().endswith("good\n"))

    def test_a_process_that_does_not_end_is_not_waited_for_for_ever(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            mark = os.path.join(folder, "open")
            begin = time.monotonic()
            done = mock("--linger=0.3", "sh", "-c",
                        f"(exec 3<>/dev/dri/renderD128; : > {mark}; exec sleep 20)"
                        f" > /dev/null 2>&1 & until test -e {mark}; do sleep 0.01; done")
            self.assertLess(time.monotonic() - begin, 30)
            self.assertEqual(done.stderr,
                             "packsmith-mock: 1 device files are still open; they end now\n")

    def test_a_library_whose_path_cannot_be_preloaded_is_an_error(self) -> None:
        for path in ("/a b/libpacksmith-mock.so", "/a:b/libpacksmith-mock.so"):
            done = subprocess.run([MOCK, path, "true"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 126)
            self.assertIn(f"has a blank or a colon, which LD_PRELOAD takes for an end: {path}",
                          done.stderr)

    def test_other_libraries_are_preloaded_too(self) -> None:
        done = mock("sh", "-c", "echo $LD_PRELOAD", env={**os.environ, "LD_PRELOAD": "libc.so.6"})
        self.assertEqual(done.stdout, f"{LIBRARY}:libc.so.6\n")


class LogTest(unittest.TestCase):
    def test_calls_are_shown_with_names_and_errors_and_the_reason(self) -> None:
        lines = re.sub(r"\[\d+ ", "[PID ", mock("--verbose", CALLS, "errors").stderr).splitlines()
        begin = "packsmith-mock: [PID calls_client] "
        self.assertIn(begin + "open /dev/dri/renderD128 = 0", lines)
        self.assertIn(begin + "renderD128#1 TEST_DOUBLE = -1 EDOM (Numerical argument out of "
                      "domain): it is too much", lines)
        self.assertIn(begin + "renderD128#1 GEM_FLINK = -1 EACCES (Permission denied)", lines)
        self.assertIn(begin + "renderD128#1 ioctl 0xc0086499 = -1 EINVAL (Invalid argument)",
                      lines)

    def test_warnings_name_the_call(self) -> None:
        done = mock("--warnings", CALLS, "warning")
        self.assertRegex(done.stderr, r"^packsmith-mock: \[\d+\] warning: TEST_DOUBLE: it is much$")

    def test_the_summary_counts(self) -> None:
        done = mock("--summary", CALLS, "warning")
        self.assertEqual(done.stderr, "packsmith-mock: 1 device files, 2 calls, 0 submissions, "
                         "1 warnings\n")


if __name__ == "__main__":
    unittest.main()
