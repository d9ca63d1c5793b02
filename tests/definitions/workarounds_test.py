#!/usr/bin/python3
"""Workarounds in the descriptions against those that the runtime's code names.

  workarounds_test.py SOURCE ...

The code names a workaround where it honors it: as a fact, Gen::kFacts.wa_1607854226, or in a
comment at what is done for every product, Wa_1409725701. The XML has the same files in `honored`.
"""

import collections
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree

SOURCES = [path for path in sys.argv[1:] if path.startswith("runtime/intel/")]
DESCRIPTION = "xml/intel/gfx8_workarounds.xml"
FACTS = "runtime/intel/device/generation_facts.h"
NAMED = re.compile(r"\b[Ww]a_([0-9]{6,11})\b")
# Of generations whose products have versions, by the platforms that their descriptions list.
VERSIONS = {"gfx8": 80, "gfx9": 90, "gfx11": 110, "gfx12": 120, "gfx125": 125, "xe2": 200,
            "xe3": 300, "xe3p": 350}
# Facts that hold in more generations than the table lists products of, and why.
MORE = {
    "1509820217": "the stall is cheap; Mesa emits it since Gfx11",
    "1606682166": "Mesa's table lists none; its code asks for the generation",
    "1806565034": "surface states of later generations are made alike",
}


def elements():
    return xml.etree.ElementTree.parse(DESCRIPTION).getroot().findall("workaround")


def platforms_of(generation):
    """The names of the platforms in a description."""
    root = xml.etree.ElementTree.parse(f"xml/intel/{generation}.xml").getroot()
    return [one.get("name") for one in root.findall("platform")]


def is_of(platform, generation):
    """As the Model decides: the generation's name, a platform, its variant, or a family of them."""
    name = platform.split("(")[0]
    family, dash, _ = name.partition("-")
    if family == generation:
        return True
    if dash:
        return bool({family, name.replace("-", "")} & set(platforms_of(generation)))
    return any(one.startswith(family) for one in platforms_of(generation))


def generations_of(element):
    return {generation for generation in VERSIONS for platform in element.get("platforms", "").split()
            if is_of(platform, generation)}


def named_in_code():
    """{number: files}."""
    named = collections.defaultdict(set)
    for path in SOURCES:
        for number in NAMED.findall(pathlib.Path(path).read_text(encoding="utf-8")):
            named[number].add(path)
    return named


def facts():
    """{number: versions of the columns in which the fact holds}, of the members wa_NUMBER."""
    text = pathlib.Path(FACTS).read_text(encoding="utf-8")
    found = {number: set() for number in re.findall(r"\bbool wa_(\d+) = false;", text)}
    for column in text.split(".version_x10 = ")[1:]:
        version = int(column.split(",")[0])
        for number in re.findall(r"\.wa_(\d+) = true", column):
            found[number].add(version)
    return found


class Workarounds(unittest.TestCase):
    """The description, and the code."""

    def test_all_are_described_once(self):
        numbers = [one.get("number") for one in elements()]
        self.assertEqual(len(numbers), len(set(numbers)))
        self.assertGreaterEqual(len(numbers), 219)

    def test_those_that_say_what_they_ask_for_have_a_sentence(self):
        for one in elements():
            self.assertEqual(one.find("doc") is None, one.find("asks") is None,
                             one.get("number"))

    def test_every_platform_is_one_of_some_generation(self):
        for one in elements():
            for platform in one.get("platforms", "").split():
                self.assertTrue(any(is_of(platform, generation) for generation in VERSIONS), platform)

    def test_products_of_one_family_may_be_of_two_generations(self):
        self.assertTrue(is_of("nvl-p", "xe3p") and is_of("nvl-u", "xe3"))
        self.assertFalse(is_of("nvl-u", "xe3p") or is_of("nvl-p", "xe3"))
        self.assertTrue(is_of("dg2-g10", "gfx125") and is_of("adl", "gfx12"))

    def test_the_runtime_honors_what_the_description_says(self):
        self.assertGreater(len(SOURCES), 100)
        said = {one.get("number"): set(one.get("honored", "").split()) for one in elements()
                if one.get("honored")}
        self.assertEqual(said, dict(named_in_code()))

    def test_facts_hold_where_the_products_are(self):
        described = {one.get("number"): one for one in elements()}
        self.assertGreater(len(facts()), 15)
        for number, versions in facts().items():
            with self.subTest(number=number):
                self.assertTrue(versions, "a fact that holds nowhere")
                wanted = {VERSIONS[one] for one in generations_of(described[number])}
                if number in MORE:
                    self.assertLess(wanted, versions | {0})
                else:
                    self.assertEqual(wanted, versions)

    def test_facts_are_used(self):
        others = "".join(pathlib.Path(path).read_text(encoding="utf-8")
                         for path in SOURCES if path != FACTS)
        for number in facts():
            self.assertRegex(others, rf"[.]wa_{number}\b")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
