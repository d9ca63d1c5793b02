#!/usr/bin/python3
"""The reference pages: well-formed, without dead links, complete, and always the same."""

import filecmp
import html.parser
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

SITE = pathlib.Path(os.path.abspath(sys.argv.pop(1)))
UNPACK = os.path.abspath(sys.argv.pop(1))
DESCRIPTION = [sys.argv.pop()] if sys.argv[-1].startswith("--xml=") else []
VOID = {"meta", "link", "input", "rect"}


class Page(html.parser.HTMLParser):
    """What a page links to, what can be linked to in it, and what a reader sees."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.path = path
        self.open = []
        self.ids = []
        self.links = []
        self.texts = []
        self.problems = []
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        self.text = "".join(self.texts)
        if self.open:
            self.problems.append(f"{self.open} never closed")

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            elif name in ("href", "src"):
                self.links.append(value)
            elif name in ("aria-labelledby", "aria-controls"):
                self.links.append("#" + value)

    def handle_startendtag(self, tag, attrs):
        if tag not in VOID:
            self.problems.append(f"<{tag}/>")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> where another element is open, {self.getpos()}")

    def handle_data(self, data):
        self.texts.append(data)


def lines(*options):
    done = subprocess.run([UNPACK, *options, "--format=jsonl", *DESCRIPTION],
                          stdout=subprocess.PIPE, check=True)
    return done.stdout


class SiteTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = {path: Page(path) for path in sorted(SITE.rglob("*.html"))}
        cls.records = [record for record in map(json.loads, lines("--describe=*").splitlines())
                       if record["kind"] != "generation"]
        index = (SITE / "search-index.js").read_text(encoding="utf-8")
        cls.index = json.loads(index[len("packsmithIndex("):-len(");\n")])
        cls.families = {record["name"]: record["family"]
                        for record in map(json.loads, lines("--list").splitlines())}
        cls.page_of = {}
        for name, kind, path, *_ in cls.index["pages"]:
            cls.page_of.setdefault((kind, name), []).append(cls.pages[SITE / path])

    def test_every_page_is_well_formed_and_its_ids_are_unique(self):
        self.assertGreater(len(self.pages), 10)
        for page in self.pages.values():
            self.assertEqual(page.problems, [], page.path)
            self.assertEqual(len(page.ids), len(set(page.ids)), page.path)

    def test_every_link_leads_somewhere_on_the_site(self):
        ids = {path: set(page.ids) for path, page in self.pages.items()}
        exists = {path for path in SITE.rglob("*") if path.is_file()}
        links = 0
        for page in self.pages.values():
            for link in page.links:
                target = urllib.parse.urlparse(link)
                self.assertEqual((target.scheme, target.netloc, target.query), ("", "", ""), link)
                place = page.path
                if target.path:
                    place = pathlib.Path(os.path.normpath(
                        page.path.parent / urllib.parse.unquote(target.path)))
                self.assertIn(place, exists, f"{page.path}: {link}")
                if target.fragment:
                    self.assertIn(urllib.parse.unquote(target.fragment), ids[place],
                                  f"{page.path}: {link}")
                links += 1
        self.assertGreater(links, 5 * len(self.pages))

    def test_every_page_is_reached_from_the_first_one(self):
        reached = set()
        waiting = [SITE / "index.html"]
        while waiting:
            path = waiting.pop()
            if path in reached:
                continue
            reached.add(path)
            for link in self.pages[path].links:
                target = pathlib.Path(os.path.normpath(path.parent / link.partition("#")[0]))
                if link.partition("#")[0].endswith(".html"):
                    waiting.append(target)
        self.assertEqual(sorted(set(self.pages) - reached), [])

    def test_pages_need_nothing_from_elsewhere(self):
        for path in SITE.rglob("*"):
            if path.is_file():
                content = path.read_text(encoding="utf-8")
                for wanted in ("http:", "https:", "url(", "@import"):
                    self.assertNotIn(wanted, content.replace("http://www.w3.org", ""), path)

    def test_every_description_is_on_a_page_with_all_its_fields_and_values(self):
        def check(items, text, where):
            for item in items:
                self.assertIn(item.get("name", ""), text, where)
                check(item.get("items", []), text, where)
                check(item.get("values", []), text, where)
        for record in self.records:
            pages = self.page_of.get((record["kind"], record["name"]), [])
            self.assertNotEqual(pages, [], record["name"])
            text = pages[0].text if len(pages) == 1 else "".join(page.text for page in pages)
            self.assertIn(record.get("doc", ""), text)
            check(record.get("fields", []), text, record["name"])
            check(record.get("values", []), text, record["name"])

    def test_every_generation_has_an_anchor_on_the_pages_of_what_it_has(self):
        for record in self.records:
            for page in self.page_of[record["kind"], record["name"]]:
                if page.path.parts[-3] == self.families[record["generations"][0]]:
                    for generation in record["generations"]:
                        self.assertIn(generation, page.ids, page.path)

    def test_the_search_index_has_all_names(self):
        pages = {(kind, name) for name, kind, *_ in self.index["pages"]}
        parts = dict(self.index["parts"])
        for record in self.records:
            self.assertIn((record["kind"], record["name"]), pages)
            for alias in record.get("aliases", []):
                self.assertTrue(any(alias in entry[4] for entry in self.index["pages"]
                                    if entry[0] == record["name"]), alias)
            for field in record.get("fields", []):
                if "name" in field and "forced" not in field:
                    where = [self.index["pages"][number][0] for number in parts[field["name"]]]
                    self.assertIn(record["name"], where)

    def test_generations_are_found_by_the_names_and_ids_of_their_products(self):
        for record in map(json.loads, lines("--list").splitlines()):
            entry = next(entry for entry in self.index["pages"]
                         if entry[1] == "generation" and entry[0] == record["title"])
            self.assertTrue((SITE / entry[2]).is_file())
            for platform in record.get("platforms", []):
                for name in (platform["name"], *platform.get("pci_ids", [])):
                    self.assertIn(name, entry[4])

    def test_every_drawing_shows_every_bit_at_most_once(self):
        for page in self.pages.values():
            content = page.path.read_text(encoding="utf-8")
            for drawing in content.split("<svg")[1:]:
                drawing = drawing.split("</svg>")[0]
                rows = {}
                for box in drawing.split("<rect")[1:]:
                    place = {name: int(value.strip('"')) for name, value in
                             (part.split("=") for part in box.split("/>")[0].split()
                              if part[0] in "xyw")}
                    rows.setdefault(place["y"], []).append((place["x"], place["width"]))
                for boxes in rows.values():
                    boxes.sort()
                    for (x, width), (after, _) in zip(boxes, boxes[1:]):
                        self.assertEqual(x + width, after, page.path)

    def test_the_same_descriptions_give_the_same_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, options in (("d", ["--describe=*"]), ("g", ["--list"])):
                pathlib.Path(folder, name).write_bytes(lines(*options))
            again = os.path.join(folder, "site")
            command = ["/usr/bin/python3", "gen/render/reference.py",
                       f"--descriptions={folder}/d", f"--generations={folder}/g",
                       f"--output={again}"]
            subprocess.run(command, check=True, env={"PYTHONHASHSEED": "7"})
            names = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*")
                           if path.is_file())
            self.assertEqual(names, sorted(
                str(path.relative_to(again)) for path in pathlib.Path(again).rglob("*")
                if path.is_file()))
            _, different, errors = filecmp.cmpfiles(SITE, again, names, shallow=False)
            self.assertEqual((different, errors), ([], []))
            # It does not write over what is there.
            done = subprocess.run(command, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"is not empty", done.stderr)

    def test_lines_of_another_kind_are_an_error_and_no_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "d")
            for content in (b"no json\n", b"[1]\n", b'{"type":"packet"}\n'):
                pathlib.Path(place).write_bytes(content)
                done = subprocess.run(
                    ["/usr/bin/python3", "gen/render/reference.py", f"--descriptions={place}",
                     f"--generations={place}", f"--output={folder}/site"],
                    stderr=subprocess.PIPE, check=False)
                self.assertEqual(done.returncode, 1, content)
                self.assertTrue(done.stderr.startswith(b"reference.py: "), done.stderr)
                self.assertFalse(os.path.exists(f"{folder}/site"))


if __name__ == "__main__":
    unittest.main()
