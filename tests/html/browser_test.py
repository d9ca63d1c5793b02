#!/usr/bin/python3
"""Pages of unpack --format=html in a browser: what a reader sees and does."""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.abspath("tests/tools"))
import fixtures  # noqa: E402

UNPACK = os.path.abspath(sys.argv.pop(1))
CAPTURES = pathlib.Path("tests/data/captures").absolute()
HANG = pathlib.Path("tests/data/hang/skl-gl-basic.error").absolute()
FOLDER = tempfile.TemporaryDirectory()
HOSTILE = "</script><img src=x onerror=\"window.hit=1\"><b>'&\0\u202eevil"
MOST_ELEMENTS = 2500


def browser_or_skip() -> None:
    """Skips, and says so, where there is no browser, or nothing that drives it."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            raise unittest.SkipTest(f"{program} is not installed")
    try:
        import selenium.webdriver  # noqa: F401
    except ImportError as error:
        raise unittest.SkipTest("python3-selenium is not installed") from error


def core(name: str) -> str:
    return str(sorted((CAPTURES / name).glob("*.core.zst"))[0])


def jsonl(*arguments: str) -> list[dict]:
    done = subprocess.run([UNPACK, "--format=jsonl", *arguments], capture_output=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


@functools.cache
def page(*arguments: str) -> str:
    """A page's path."""
    path = os.path.join(FOLDER.name, f"{len(os.listdir(FOLDER.name))}.html")
    subprocess.run([UNPACK, "--format=html", "-o", path, *arguments], check=False,
                   stderr=subprocess.DEVNULL)
    return path


def file(name: str, content: bytes) -> str:
    path = os.path.join(FOLDER.name, name)
    pathlib.Path(path).write_bytes(content)
    return path


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        browser_or_skip()
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service
        cls.profile = tempfile.TemporaryDirectory()
        options = Options()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
                         "--no-first-run", "--disable-background-networking",
                         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
                         "--window-size=1280,800", f"--user-data-dir={cls.profile.name}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        cls.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")),
                                      options=options)
        cls.driver.set_script_timeout(120)
        cls.driver.set_page_load_timeout(240)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.driver.quit()
        cls.profile.cleanup()

    def tearDown(self) -> None:
        # No error, and nothing that the policy has refused.
        log = [entry for entry in self.driver.get_log("browser") if entry["level"] != "INFO"]
        self.assertEqual(log, [])

    def open(self, path: str, width: int = 1280, height: int = 800) -> None:
        from selenium.webdriver.support.ui import WebDriverWait
        self.driver.set_window_size(width, height)
        # A page of the same name with another place would not be loaded again.
        self.driver.get("about:blank")
        self.driver.get(f"file://{path}")
        WebDriverWait(self.driver, 200).until(lambda d: self.run_js("return !!window.packsmith"))

    def run_js(self, script: str, *arguments: object) -> object:
        return self.driver.execute_script(script, *arguments)

    def settle(self) -> None:
        """Waits for what is drawn with the next picture."""
        self.driver.execute_async_script(
            "const done = arguments[0];"
            "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)));")

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()
        self.settle()

    def search(self, text: str) -> None:
        from selenium.webdriver.support.ui import WebDriverWait
        self.press("/", *text, "\ue007")
        WebDriverWait(self.driver, 60).until(
            lambda d: self.run_js("return packsmith.found !== null"))
        self.settle()

    def elements(self, selector: str) -> list:
        return self.driver.find_elements("css selector", selector)

    def text(self, selector: str) -> str:
        return self.driver.find_element("css selector", selector).text

    def cursor(self) -> dict:
        """The record that the cursor is at."""
        return self.run_js("""
            const {store, list} = packsmith;
            const {record, sub} = list.cursor;
            return {record, sub, name: store.kindOf(record).name, open: list.isOpen(record),
                    address: '0x' + store.exactAddressOf(record).toString(16)};""")


class ContentTest(PageTest):
    """The page has what unpack's other formats have."""

    RECORDS = """
        const {store} = packsmith;
        const records = [];
        for (let i = 0; i < store.count; ++i) {
          const {bytes, faults} = store.restOf(i);
          const record = {type: store.kindOf(i).type, name: store.kindOf(i).name,
                          faults: faults.map((fault) => fault.kind)};
          if (!store.isRegister(i)) record.address = '0x' + store.exactAddressOf(i).toString(16);
          if (store.shape[i] >= 0) {
            record.fields = store.shapes[store.shape[i]].map((one) => {
              const decoded = decodeValue(one.field, one.width, readBits(bytes, one.bit, one.width));
              const field = {name: fieldName(one), bits: [one.bit + one.width - 1, one.bit],
                             value: jsonValue(decoded, one.width)};
              const named = nameOfValue(one.field, decoded);
              if (named !== undefined) field.enum = named;
              return field;
            });
          }
          records.push(record);
        }
        return JSON.stringify(records);"""

    def compare(self, *arguments: str, least: int = 20) -> None:
        self.open(page(*arguments))
        seen = json.loads(self.run_js(self.RECORDS))
        expected = []
        for record in jsonl(*arguments):
            if record["type"] not in ("packet", "struct", "data", "unknown", "register"):
                continue
            one = {"type": record["type"],
                   "name": record.get("name", record.get("dumped_as", "unknown")),
                   "faults": [fault["kind"] for fault in record.get("faults", [])]}
            if "address" in record:
                one["address"] = record["address"]
            if "fields" in record:
                one["fields"] = [{key: field[key] for key in ("name", "bits", "value", "enum")
                                  if key in field} for field in record["fields"]]
            expected.append(one)
        self.assertGreater(len(expected), least)
        self.assertEqual(len(seen), len(expected))
        for a, b in zip(seen, expected):
            self.assertEqual(a, b)

    def test_records_and_values_are_those_of_jsonl(self) -> None:
        for capture in ("skl-gl-basic", "dg2-gl-basic", "ilk-gl-basic", "tgl-gl-compute"):
            with self.subTest(capture):
                self.compare(core(capture))

    def test_the_same_of_a_hang(self) -> None:
        self.compare(str(HANG))

    def test_the_same_of_apple_streams(self) -> None:
        for name, least in (("frame", 40), ("compute", 10)):
            with self.subTest(name):
                self.compare(str(pathlib.Path(f"tests/agx/data/{name}.core").absolute()), least=least)

    def test_the_same_of_bare_words(self) -> None:
        words = file("bare.bin", fixtures.words(*[0x69040300, 0] * 20, fixtures.END))
        self.compare("--gen=gfx9", "--address=0x1000", words)

    def test_packets_in_effect_are_those_of_a_draw(self) -> None:
        dump = core("skl-gl-basic")
        records = jsonl(dump)
        draws = [r for r in records if r["type"] == "packet" and "draw" in r]
        self.assertGreater(len(draws), 2)
        for draw in (draws[0], draws[len(draws) // 2], draws[-1]):
            number = draw["draw"]
            selected = jsonl(f"--draw={number}", dump)
            before = {r["address"] for r in selected if r["type"] == "packet" and r.get("bound")}
            self.open(page(dump))
            seen = json.loads(self.run_js("""
                const {places, store} = packsmith;
                const work = places.works().find((i) => store.work[i] === arguments[0]);
                return JSON.stringify(places.packetsInEffect(work)
                  .map((i) => '0x' + store.exactAddressOf(i).toString(16)));""", number))
            own = {r["address"] for r in selected if r["type"] == "packet" and not r.get("bound")}
            # Of those since the draw before it, some only do something.
            self.assertLessEqual(before, set(seen))
            self.assertLessEqual(set(seen), before | own)
            self.assertIn(draw["address"], seen)
            if number > 1:
                self.assertGreater(len(before), 5)


class ReadingTest(PageTest):
    def test_the_summary_comes_first(self) -> None:
        self.open(page(core("skl-gl-basic")))
        self.assertIn("packets", self.text("#summary"))
        self.assertIn(pathlib.Path(core("skl-gl-basic")).name, self.driver.title)

    def test_the_verdict_comes_before_all_else_of_a_hang(self) -> None:
        self.open(page(str(HANG)))
        text = subprocess.run([UNPACK, "--hang", str(HANG)], capture_output=True, check=False,
                              text=True).stdout
        first = text.splitlines()[0].split()[0]
        verdict = self.text("#summary .verdict")
        self.assertTrue(verdict.startswith(first), verdict)
        self.assertLess(self.text("#summary").index(verdict[:20]),
                        self.text("#summary").index("Content"))

    def test_search_finds_names_fields_values_and_addresses(self) -> None:
        self.open(page(core("skl-gl-basic")))
        names = """return [...packsmith.found].map((i) => packsmith.store.kindOf(i).name);"""
        self.search("3DPRIMITIVE")
        self.assertEqual(set(self.run_js(names)), {"3DPRIMITIVE"})
        first = self.cursor()
        self.assertEqual(first["name"], "3DPRIMITIVE")
        self.press("n")
        self.assertGreater(self.cursor()["record"], first["record"])
        self.press("N")
        self.assertEqual(self.cursor(), first)
        self.assertTrue(self.text("#matches").startswith("1 of "))
        self.search("Primitive Topology Type=RECTLIST")
        self.assertEqual(set(self.run_js(names)), {
            record["name"] for record in jsonl(core("skl-gl-basic"))
            for field in record.get("fields", [])
            if field["name"] == "Primitive Topology Type" and field.get("enum") == "RECTLIST"})
        self.search(first["address"])
        self.assertIn(first["record"], self.run_js("return [...packsmith.found]"))
        self.search("there is no such thing")
        self.assertEqual(self.text("#matches"), "nothing found")

    def test_a_pointer_is_followed_and_the_way_back_is_known(self) -> None:
        self.open(page(core("skl-gl-basic")))
        self.press("2")
        self.search("3DSTATE_SAMPLER_STATE_POINTERS_PS")
        packet = self.cursor()
        self.press("\ue007")
        target = self.cursor()
        self.assertNotEqual(target["record"], packet["record"])
        led = self.run_js("""
            return packsmith.store.leadsOf(arguments[0]).map((lead) => '0x' + lead.address.toString(16));
            """, packet["record"])
        self.assertIn(target["address"], led)
        self.assertTrue(target["open"])
        # Its last lines say what points to it.
        while self.cursor()["record"] == target["record"]:
            last = self.cursor()
            self.press("\ue015")
        self.press("\ue013")
        self.assertEqual(self.cursor(), last)
        names = [row.text for row in self.elements("#list .row.sub") if row.text.startswith("from")]
        self.assertTrue(any(packet["name"] in name and packet["address"] in name for name in names),
                        names)
        self.assertIn(packet["record"], self.run_js(
            "return packsmith.places.referencesTo(arguments[0])", target["record"]))
        # Followed, it is the way back; so is the key.
        self.press("\ue007")
        self.assertEqual(self.cursor()["name"], packet["name"])
        self.press("\ue003", "\ue003")
        self.assertEqual(self.cursor()["record"], packet["record"])

    def test_links_of_fields_are_followed_by_clicks(self) -> None:
        self.open(page(core("skl-gl-basic")))
        self.search("STATE_BASE_ADDRESS")
        self.press("o")
        before = self.cursor()["record"]
        self.search("3DSTATE_VERTEX_BUFFERS")
        self.press("o")
        links = self.elements("#list .row.sub.field-line .link")
        self.assertNotEqual(links, [])
        links[0].click()
        self.settle()
        self.assertNotEqual(self.cursor()["record"], before)

    def test_bits_are_drawn_beside_their_dword(self) -> None:
        self.open(page(core("skl-gl-basic")))
        self.search("3DPRIMITIVE")
        self.press("o")
        record = self.cursor()["record"]
        strips = [row.text.split() for row in self.elements("#list .row.dword") if row.text]
        dwords = self.run_js("""
            const {bytes} = packsmith.store.restOf(arguments[0]);
            return [...Array(bytes.length / 4).keys()].map((i) => Number(readBits(bytes, 32 * i, 32)));
            """, record)
        # The last ones may be below the view.
        self.assertGreater(len(strips), 3)
        for strip, dword in zip(strips, dwords):
            self.assertEqual(strip[2], f"{dword:08x}")
            self.assertEqual("".join(strip[3:]), f"{dword:032b}")

    def test_the_state_of_a_draw_is_shown_alone(self) -> None:
        self.open(page(core("skl-gl-basic")))
        self.press("2", "d", "s")
        self.assertTrue(self.text("#state-title").startswith("In effect at draw 1"))
        shown = self.run_js("return packsmith.list.length")
        self.assertGreater(shown, 5)
        self.assertLess(shown, self.run_js("return packsmith.store.count"))
        self.press("d")
        self.assertTrue(self.text("#state-title").startswith("In effect at draw 2"))
        self.press("\ue00c")
        self.assertFalse(self.driver.find_element("id", "state-bar").is_displayed())

    def test_filters_show_what_they_say(self) -> None:
        self.open(page(core("skl-gl-basic")))
        self.press("2", "f", *"3DSTATE_VS")
        names = """const {list, store} = packsmith;
            return [...Array(list.length).keys()].map((i) => store.kindOf(list.recordAt(i)).name);"""
        self.assertEqual({name for name in self.run_js(names) if name != "3DSTATE_VS"},
                         {name for name in self.run_js(names) if "3DSTATE_VS" in name} - {"3DSTATE_VS"})
        # What a filter hides is shown again if it is followed.
        self.press("\ue00c", "\ue007")
        self.assertNotIn("3DSTATE_VS", self.cursor()["name"])

    def test_keys_move_open_and_close(self) -> None:
        self.open(page(core("skl-gl-basic")))
        self.press("2", "g")
        first = self.cursor()["record"]
        self.press("j", "j", "k")
        self.assertEqual(self.cursor()["record"], first + 1)
        self.press(" ")
        self.assertTrue(self.cursor()["open"])
        self.press("\ue015")
        self.assertEqual(self.cursor()["sub"], 1)
        self.press("c")
        self.assertFalse(self.cursor()["open"])
        self.press("G")
        self.assertEqual(self.cursor()["record"], self.run_js("return packsmith.store.count - 1"))
        self.press("?")
        self.assertTrue(self.run_js("return document.getElementById('help').open"))
        self.press("\ue00c")
        self.assertFalse(self.run_js("return document.getElementById('help').open"))
        for key, view in (("1", "summary"), ("2", "records"), ("3", "pictures"), ("4", "memory")):
            self.press(key)
            self.assertTrue(self.driver.find_element("id", view).is_displayed())

    def test_themes_differ(self) -> None:
        self.open(page(core("skl-gl-basic")))
        color = "return getComputedStyle(document.body).backgroundColor"
        seen = set()
        for _ in range(3):
            seen.add(self.run_js(color))
            self.press("t")
        self.assertEqual(len(seen), 2)

    def test_images_are_shown(self) -> None:
        self.open(page(core("skl-gl-basic")))
        self.press("3")
        self.assertNotEqual(self.elements("#pictures figure"), [])
        images = {field["value"] for record in jsonl(core("skl-gl-basic"))
                  if record.get("name") == "RENDER_SURFACE_STATE" for field in record["fields"]
                  if field["name"] == "Surface Base Address" and field["value"] != "0x0"}
        links = {link.text for link in self.elements("#pictures figure .link")}
        self.assertLessEqual(images, links)
        # Each is a picture, or says why not.
        shown = self.run_js("return packsmith.store.pictures.filter((p) => p.columns !== 0).length")
        if shown != 0:
            self.assertNotEqual(self.elements("#pictures canvas"), [])
        self.assertEqual(self.text("#pictures").count("not shown: "),
                         self.run_js("return packsmith.store.pictures.length") - shown)

    def test_memory_lists_every_buffer(self) -> None:
        dump = core("skl-gl-basic")
        self.open(page(dump))
        self.press("4")
        self.assertGreater(self.run_js("return packsmith.memory.lines.length"), 2)
        self.assertNotEqual(self.elements("#memory .row"), [])


class HostileTest(PageTest):
    def test_names_are_shown_as_they_are_and_do_nothing(self) -> None:
        batch = fixtures.words(0, 0, fixtures.END)
        dump = file("hostile.core", fixtures.core(
            {"family": "intel", "generation": "gfx9", "driver": HOSTILE}, batch,
            buffers=[{"space": 0, "address": "0x1000", "size": len(batch), "name": HOSTILE}]))
        self.open(page(dump))
        for key in "1234":
            self.press(key)
        self.assertIsNone(self.run_js("return window.hit || null"))
        self.assertEqual(self.elements("img"), [])
        shown = self.text("#memory")
        self.assertIn("</script><img src=x onerror=\"window.hit=1\"><b>'&\\x00\\u202eevil", shown)
        self.assertNotIn("\u202e", self.driver.page_source)

    def test_a_page_that_was_cut_off_says_so(self) -> None:
        whole = pathlib.Path(page(core("skl-gl-basic"))).read_text(encoding="utf-8")
        mark = '<script type="application/x-packsmith">'
        begin = whole.index(mark) + len(mark)
        end = whole.index("</script>", begin)
        broken = whole[:begin + (end - begin) // 8 * 4] + whole[end:]
        self.driver.get(f"file://{file('broken.html', broken.encode())}")
        from selenium.webdriver.support.ui import WebDriverWait
        WebDriverWait(self.driver, 60).until(
            lambda d: "cannot be shown" in self.text("#loading"))
        self.driver.get_log("browser")  # the error is expected here


class NarrowTest(PageTest):
    def test_nothing_is_wider_than_a_phone(self) -> None:
        self.open(page(core("skl-gl-basic")), 375, 740)
        self.assertLessEqual(self.run_js("return innerWidth"), 500)
        for key in "1234":
            self.press(key)
            self.assertLessEqual(self.run_js("return document.documentElement.scrollWidth"),
                                 self.run_js("return innerWidth"))
        self.press("2", "j", "o")
        width = self.run_js("return innerWidth")
        for row in self.elements("#list .row.dword .bits"):
            box = row.rect
            self.assertLessEqual(box["x"] + box["width"], width)
        # Batches lie over the list, and go away when one is chosen.
        self.assertFalse(self.driver.find_element("id", "tree").is_displayed())
        self.driver.find_element("id", "tree-button").click()
        self.settle()
        self.elements("#tree .link")[0].click()
        self.settle()
        self.assertFalse(self.driver.find_element("id", "tree").is_displayed())


class LargeTest(PageTest):
    def test_20_megabytes_open_and_are_read_with_few_elements(self) -> None:
        # Draws, each with some state before it.
        draw = fixtures.words(
            0x7a000004, 1 << 20, 0, 0, 0, 0,  # PIPE_CONTROL
            0x784b0000, 4,  # 3DSTATE_VF_TOPOLOGY
            0x11000001, 0x2358, 7,  # MI_LOAD_REGISTER_IMM
            0x7b000005, 0, 3, 0, 1, 0, 0)  # 3DPRIMITIVE
        draws = 20_000_000 // len(draw) + 1
        batch = draw * draws + fixtures.words(fixtures.END)
        self.open(page(file("large.core", fixtures.core(
            {"family": "intel", "generation": "gfx9"}, batch))))
        self.press("2")
        self.assertGreater(self.run_js("return packsmith.store.count"), 4 * draws)
        count = "return document.getElementsByTagName('*').length"
        self.assertLess(self.run_js(count), MOST_ELEMENTS)
        self.press("o", "j", "o", "G")
        self.assertLess(self.run_js(count), MOST_ELEMENTS)
        self.assertEqual(self.cursor()["name"], "MI_BATCH_BUFFER_END")
        # The last packet is in view, though the list is taller than a browser's elements can be.
        self.assertIn("MI_BATCH_BUFFER_END", self.text("#list"))
        self.search("MI_BATCH_BUFFER_END")
        self.press("g", "n")
        self.assertEqual(self.cursor()["name"], "MI_BATCH_BUFFER_END")
        # What is in effect at the last draw is found among all of them.
        self.press("D", "s")
        self.assertTrue(self.text("#state-title").startswith(f"In effect at draw {draws}: "))
        self.assertLess(self.run_js(count), MOST_ELEMENTS)


if __name__ == "__main__":
    unittest.main()
