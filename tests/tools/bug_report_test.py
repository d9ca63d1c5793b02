#!/usr/bin/python3
"""unpack --format=markdown: a page that a bug tracker takes."""

import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fixtures import END, ProgramTest, core, words  # noqa: E402

ProgramTest.program = os.path.abspath(sys.argv.pop(1))
CAPTURES = "tests/data/captures"
HANG = "tests/data/hang/skl-gl-basic.error"
MOST = 60_000


def blocks(page: str) -> dict[str, str]:
    """The text of each block by its title; fails where the page is not well-formed."""
    found = {}
    while "<details" in page:
        match = re.search(r"<details(?: open)?><summary>([^<\n]*)</summary>\n\n(`{3,})text\n", page)
        assert match, page[:200]
        rest = page[match.end():]
        end = rest.index(f"\n{match[2]}\n\n</details>\n")
        found[match[1]] = rest[:end + 1]
        page = rest[end + len(match[2]) + 1:]
    return found


class BugReportTest(ProgramTest):
    def page(self, *arguments: str) -> str:
        done = self.run_it("--format=markdown", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(len(done.stdout), MOST)
        return done.stdout.decode()

    def test_a_hang_begins_with_its_verdict_and_report(self) -> None:
        page = self.page(HANG)
        self.assertTrue(page.startswith("### GPU hang\n\n` GPU HANG: ecode 9:1:0x85dffffb"), page)
        self.assertLess(page.index("Most likely: `"), page.index("<summary>Report of the hang"))
        report = self.run_it("--hang", HANG).stdout.decode()
        self.assertEqual(blocks(page)["Report of the hang"], report)
        titles = list(blocks(page))
        self.assertEqual(titles[:2], ["Report of the hang", "Overview"])
        self.assertRegex(titles[2], r"^Draw \d+, the last one that the engine had begun, and its state$")
        self.assertIn("3DPRIMITIVE", blocks(page)[titles[2]])
        # State that an earlier submission bound is below the draw, state of its own in a block apart.
        self.assertIn("STATE_BASE_ADDRESS", blocks(page)[titles[2]])
        self.assertEqual(titles[3], "What was set just before it")
        self.assertIn("3DSTATE_VERTEX_BUFFERS", blocks(page)[titles[3]])
        self.assertNotIn("3DPRIMITIVE", blocks(page)[titles[3]])

    def test_a_dump_without_a_hang_has_the_first_draw(self) -> None:
        page = self.page(f"{CAPTURES}/skl-gl-basic/00.core.zst")
        self.assertTrue(page.startswith("### GPU command streams\n"), page[:100])
        self.assertIn("overview", blocks(page)["Overview"])
        draw = blocks(page)["Draw 1, and its state"]
        alone = self.run_it("--draw=1", "--hide-zero",
                            f"{CAPTURES}/skl-gl-basic/00.core.zst").stdout.decode()
        for line in draw.splitlines()[3:20]:
            self.assertIn(line, alone)

    def test_a_draw_or_dispatch_may_be_chosen(self) -> None:
        page = self.page("--draw=3", f"{CAPTURES}/skl-gl-basic/00.core.zst")
        self.assertIn("Draw 3, and its state", blocks(page))
        page = self.page("--dispatch=1", f"{CAPTURES}/skl-gl-compute/01.core.zst")
        self.assertIn("Dispatch 1, and its state", blocks(page))
        said = self.refused("--format=markdown", "--draw=999",
                            f"{CAPTURES}/skl-gl-basic/00.core.zst")
        self.assertIn("there are only 12 draws", said)

    def test_what_is_left_out_is_listed_with_what_shows_it(self) -> None:
        captures = sorted(os.listdir(f"{CAPTURES}/dg2-gl-basic"))
        files = [f"{CAPTURES}/dg2-gl-basic/{name}" for name in captures if name.endswith("core.zst")]
        page = self.page(*files)
        self.assertGreater(len(page), MOST // 3)
        self.assertIn("\nLeft out:\n\n- ", page)
        # Not of the draw's own packet and what is below it.
        self.assertNotIn("- Draw 1, ", page)
        self.assertRegex(page, r"- What was set just before it: \d+ of \d+ lines; they are shown by "
                               r"` unpack --draw=1 `")

    def test_a_dump_with_a_hostile_name_stays_in_its_block(self) -> None:
        name = "```\n</details> @someone #1 <script>"
        batch = words(0x18800101, 0x1000, 0, END)
        content = core({"family": "intel", "generation": "gfx9"}, batch, buffers=[
            {"name": name, "space": 0, "address": "0x1000", "size": 4096}])
        page = self.run_it("--format=markdown", self.file("a.core", content)).stdout.decode()
        inside = "".join(blocks(page).values())
        self.assertEqual(page.count("@someone"), inside.count("@someone"))
        self.assertEqual(page.count("</details>"), len(blocks(page)) + inside.count("</details>"))

    def test_it_is_the_same_each_time_and_names_the_descriptions(self) -> None:
        page = self.page(HANG)
        self.assertEqual(page, self.page(HANG))
        digest = re.search(r"descriptions (\w+)", self.run_it("--version").stdout.decode())[1]
        self.assertIn(f"descriptions {digest}", page)

    def test_a_bare_batch_has_a_page_too(self) -> None:
        page = self.page("--gen=gfx9", self.file("batch", words(END)))
        self.assertIn("MI_BATCH_BUFFER_END", page)

    def test_undecodable_input_is_exit_code_1(self) -> None:
        dump = self.file("a.core", core({"family": "intel", "generation": "gfx9"},
                                        words(0xE0000001, END)))
        done = self.run_it("--format=markdown", dump)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"### GPU command streams", done.stdout)
        self.assertIn(b"unknown", done.stderr)

    def test_options_that_a_page_does_not_have_are_refused(self) -> None:
        dump = self.file("a.core", core({"family": "intel", "generation": "gfx9"}, words(END)))
        for option in ("--filter=MI_NOOP", "--draws", "--hang", "--run", "--strict",
                       "--hide-zero", "--list", f"--kernels={self.path('k')}"):
            self.assertIn("do not go together", self.refused("--format=markdown", option, dump))
        self.assertIn("do not go together",
                      self.refused("--format=markdown", "--address=0x1000..0x2000", dump))


if __name__ == "__main__":
    unittest.main()
