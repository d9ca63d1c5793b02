#!/usr/bin/python3
"""Makes the reference site: a page for each packet, structure, register, … in all generations.

    unpack --describe='*' --format=jsonl > descriptions.jsonl
    unpack --list --format=jsonl > generations.jsonl
    reference.py --descriptions descriptions.jsonl --generations generations.jsonl --output DIR

The pages are static, need no network, and depend on nothing but the inputs. DIR must be empty or
not there. Exit codes: 0 good, 1 an input is bad or a page cannot be written, 2 wrong usage.
"""

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import jinja2  # noqa: E402
from markupsafe import Markup, escape  # noqa: E402

from layout_svg import draw, kind_of  # noqa: E402

Json = dict[str, Any]

TEMPLATES = Path(__file__).resolve().parent.parent / "templates" / "reference"
KINDS = {
    "packet": "Packets", "struct": "Structures", "register": "Registers", "enum": "Enumerations",
    "stream": "Streams", "engine": "Engines", "data": "Data", "base": "Base addresses",
    "state": "States", "space": "Address spaces", "client": "Clients of memory",
    "workaround": "Workarounds",
}
CONTAINERS = ("packet", "struct", "register")


class Bad(Exception):
    """An input is not what it should be."""


def slug(text: str) -> str:
    """Text as part of a file's name or an id."""
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "_"


def ranges(names: Sequence[str], order: dict[str, int], between: str = " to ") -> str:
    """Generations as people list them: three and more neighbours as a range."""
    parts: list[str] = []
    at = 0
    while at < len(names):
        last = at
        while last + 1 < len(names) and order[names[last + 1]] == order[names[last]] + 1:
            last += 1
        if last - at >= 2:
            parts.append(f"{names[at]}{between}{names[last]}")
            at = last + 1
        else:
            parts.append(names[at])
            at += 1
    return ", ".join(parts)


def size_text(record: Json) -> str:
    """The size of a container."""
    unit = 1 if record["unit"] == "byte" or record["bytes"] % 4 else 4
    word = "byte" if unit == 1 else "dword"
    sizes = [record["bytes"] // unit, *(v["bytes"] // unit for v in record.get("variants", []))]
    text = " or ".join(map(str, sizes)) + f" {word}" + ("" if sizes == [1] else "s")
    return text + (" and more" if record.get("variable") and len(sizes) == 1 else "")


class Page:
    """One name of one family, with all of its versions."""

    def __init__(self, family: str, kind: str, name: str):
        self.family = family
        self.kind = kind
        self.name = name
        self.path = ""  # from the site's root
        self.versions: list[Json] = []  # the oldest first
        self.used_by: set[tuple[str, str]] = set()  # kinds and names

    @property
    def newest(self) -> Json:
        return self.versions[-1]

    @property
    def generations(self) -> list[str]:
        return [name for version in self.versions for name in version["generations"]]


class Site:
    """All pages, and how to get from one to another."""

    def __init__(self, generations: list[Json], descriptions: Iterable[Json]):
        self.generations = generations
        self.order = {g["name"]: number for number, g in enumerate(generations)}
        family_of = {g["name"]: g["family"] for g in generations}
        self.pages: dict[tuple[str, str, str], Page] = {}
        for record in descriptions:
            if record["kind"] == "generation":
                continue
            key = (family_of[record["generations"][0]], record["kind"], record["name"])
            self.pages.setdefault(key, Page(*key)).versions.append(record)
        taken: set[str] = set()
        for page in self.pages.values():
            # File systems may not know capitals from small letters.
            base = path = f"{slug(page.family)}/{page.kind}/{slug(page.name)}"
            number = 2
            while path.lower() in taken:
                path = f"{base}-{number}"
                number += 1
            taken.add(path.lower())
            page.path = path + ".html"
        for page in self.pages.values():
            for version in page.versions:
                for kind, name in references(version):
                    target = self.pages.get((page.family, kind, name))
                    if target is not None and target is not page:
                        target.used_by.add((page.kind, page.name))

    def index_path(self, generation: str) -> str:
        return f"generations/{slug(generation)}.html"


def references(record: Json) -> Iterator[tuple[str, str]]:
    """Kinds and names that a record refers to; streams, engines and spaces have too many."""
    for item in all_items(record.get("fields", [])):
        if "of" in item:
            yield item["of"], item["type"]
        if "names" in item:
            yield "enum", item["names"]
        for pointer in item.get("points", []):
            yield pointer["kind"], pointer["to"]
            if "or" in pointer:
                yield "struct", pointer["or"]
            if "base" in pointer:
                yield "base", pointer["base"]
        for sets in item.get("sets", []):
            yield what_is_set(sets)
        for element in item.get("elements", []):
            yield "data", element["of"]
    for part in record.get("parts", []):
        yield "struct", part["struct"]
    for relation in record.get("relations", []):
        yield "packet", relation["packet"]
    for ask in record.get("asks", []):
        for key in ("of", "with"):
            if key in ask:
                yield ask[key + "_kind"], ask[key]
    for draws in record.get("draws", []):
        for key in ("data", "indices"):
            if key in draws:
                yield "data", draws[key]


def all_items(items: Sequence[Json]) -> Iterator[Json]:
    """Fields, reserved runs and groups, with what is in groups."""
    for item in items:
        yield item
        yield from all_items(item.get("items", []))


def paths(items: Sequence[Json], prefix: str = "", index: str = "") -> Iterator[tuple[str, Json]]:
    """Fields and groups, with the paths by which changes name them."""
    for item in items:
        name = item.get("name", "")
        if "count" not in item:
            yield f"{prefix}{name}{index}", item
        elif name:
            yield f"{prefix}{name}{index}[]", item
            yield from paths(item["items"], f"{prefix}{name}{index}[].")
        else:
            yield from paths(item["items"], prefix, index + "[]")


class Writer:
    """The words and rows of one version of a page."""

    def __init__(self, site: Site, page: Page, version: Json, before: Json | None):
        self.site = site
        self.before = before  # the version that this one has changed from
        self.page = page
        self.version = version
        self.key = slug(version["generations"][-1])
        self.ids: dict[int, str] = {}  # of items, by identity
        self.taken: set[str] = set()
        by_path: dict[str, list[str]] = defaultdict(list)
        for change in version.get("changes", []):
            if "field" in change and change["what"] not in ("removed", "value removed"):
                by_path[change["field"]].append(self.change_text(change))
        self.changed = {id(item): by_path[path]  # again by identity
                        for path, item in paths(version.get("fields", [])) if path in by_path}

    # --- Links ---

    def link(self, kind: str, name: str) -> Markup:
        """A name, linked to its page if there is one; to the generation at hand, if it has it."""
        target = self.site.pages.get((self.page.family, kind, name))
        if target is None:
            return escape(name)
        anchor = next((g for g in reversed(self.version["generations"])
                       if g in target.generations), None)
        href = f"../../{target.path}" + (f"#{slug(anchor)}" if anchor else "")
        return Markup(f'<a href="{href}">{escape(name)}</a>')

    def links(self, kind: str, names: Sequence[str]) -> Markup:
        return Markup(", ").join(self.link(kind, name) for name in names)

    def identifier(self, item: Json) -> str:
        """The id of the row that explains an item; reserved runs have none."""
        if "must" in item:
            return ""
        known = self.ids.get(id(item))
        if known is None:
            base = known = f"{self.key}-{slug(item.get('name', 'items'))}"
            number = 2
            while known in self.taken:
                known = f"{base}-{number}"
                number += 1
            self.taken.add(known)
            self.ids[id(item)] = known
        return known

    # --- Sentences ---

    def sentences(self, owner: Json) -> list[Markup]:
        """What unpack says of a field or a container, with links."""
        return [Markup("").join(escape(piece) if isinstance(piece, str)
                                else self.link(piece["kind"], piece["name"])
                                for piece in sentence)
                for sentence in owner.get("sentences", [])]

    @staticmethod
    def change_text(change: Json) -> str:
        """A change in words, without the field's name."""
        what, was, new = change["what"], change.get("from", "none"), change.get("to", "none")
        label = what.replace("_", " ")
        return {
            "added": f"new: {new}", "removed": f"gone: {was}", "renamed": f"was called {was}",
            "moved": f"moved from {was} to {new}", "value added": f"new value {new}",
            "value removed": f"value {was} is gone", "value renamed": f"value {was} is now {new}",
            "value changed": f"value {was} is now {new}",
        }.get(what, f"{label}: {new}; before: {was}" if ", " in f"{was}{new}"
              else f"{label} from {was} to {new}")

    # --- Rows of the table ---

    def rows(self, items: Sequence[Json], bits: int, depth: int = 0) -> Iterator[Json]:
        """By dword, in it from the highest bit down. Groups open and close around theirs."""
        dword = None
        places = [(item["bits"][1], item["bits"][0], item) for item in items]
        places.sort(key=lambda place: (place[0] // 32, -place[0]))
        for number, (low, high, item) in enumerate(places):
            if "count" in item:
                name = item.get("name", "")
                # One thing that is all of the item needs no drawing.
                whole = len(item["items"]) == 1 and \
                    item["items"][0]["bits"] == [high - low, 0]
                yield {"row": "group", "depth": depth, "id": self.identifier(item), "name": name,
                       "text": group_text(item), "doc": item.get("doc", ""),
                       "changes": self.changed.get(id(item), []),
                       "svg": "" if whole else self.drawing(
                           item["items"], high - low + 1, f"An item of {name or 'the group'}")}
                yield from self.rows(item["items"], high - low + 1, depth + 1)
                yield {"row": "end", "depth": depth}
                dword = None
                continue
            if low // 32 != dword and (depth == 0 or bits > 32):
                dword = low // 32
                last = max((h // 32 for l, h, i in places[number:]
                            if l // 32 == dword and "count" not in i), default=dword)
                yield {"row": "dword", "depth": depth,
                       "text": f"Dword {dword}" if last == dword else f"Dwords {dword} to {last}"}
            place = str(low % 32) if low == high else f"{high - low + low % 32}:{low % 32}"
            if "must" in item:
                yield {"row": "reserved", "depth": depth, "bits": place,
                       "name": item.get("name", ""), "must": item["must"],
                       "doc": item.get("doc", "")}
                continue
            yield {"row": "field", "depth": depth, "bits": place, "id": self.identifier(item),
                   "name": item["name"], "color": kind_of(item), "type": self.type_of(item),
                   "facts": item.get("facts", ""), "doc": item.get("doc", ""),
                   "sentences": self.sentences(item), "values": item.get("values", []),
                   "changes": self.changed.get(id(item), [])}

    def type_of(self, item: Json) -> Markup:
        if "of" in item:
            return self.link(item["of"], item["type"])
        if "names" in item:
            return escape(f"{item['type']}, ") + self.link("enum", item["names"])
        return escape(item["type"])

    def drawing(self, items: Sequence[Json], bits: int, title: str) -> Markup:
        return Markup(draw(items, bits, title, self.identifier,
                           lambda item: id(item) in self.changed))

    # --- All of it ---

    def facts_of(self) -> list[tuple[str, Markup]]:
        """What is above the layout."""
        v = self.version
        found: list[tuple[str, Markup]] = []

        def add(what: str, text: str | Markup) -> None:
            if text:
                found.append((what, escape(text)))
        if "bytes" in v:
            add("Size", size_text(v))
        add("Offset", v.get("offset", ""))
        add("Also called", ", ".join(v.get("aliases", [])))
        add("In error states", ", ".join(v.get("dumped_as", [])))
        add("Writes", "change only the bits of 15:0 whose mask bit in 31:16 is 1"
            if v.get("masked") else "")
        if v.get("privileged"):
            add("Privilege", "a batch without it has no access" if "number" in v
                else "a batch without it cannot write it")
        if "else" in v:
            add("Until set", "offsets are relative to address 0" if v["else"] == "0"
                else Markup("the base ") + self.link("base", v["else"]) + " applies")
        if "opcode" in v:
            add("Opcode", f"{int(v['opcode'], 16):#010x} in the bits "
                          f"{int(v['opcode_mask'], 16):#010x}")
        if "length" in v:
            bias = f" minus {v['bias']}" if v.get("bias") else ""
            add("Length", f"{v['length']}, counted in {v['unit']}s{bias}")
        if "stream" in v:
            add("Stream", self.link("stream", v["stream"]))
        add("Engines", self.links("engine", v.get("engines", [])))
        add("Role", v.get("role", ""))
        add("Aligned to", f"{v['align']} bytes" if "align" in v else "")
        add("Number", str(v["number"]) if "number" in v else "")
        add("Values", self.link("enum", v["of"]) if "of" in v else "")
        add("Components", v.get("components", ""))
        add("Client", self.link("client", v["client"]) if "client" in v else "")
        add("On", ", ".join(v.get("on", [])))
        add("Done in", ", ".join(v.get("honored", [])))
        for key, what in (("level", "Level"), ("flush", "Flush"), ("to_memory", "To memory"),
                          ("after", "Complete after"), ("invalidate", "Invalidate"),
                          ("from_memory", "From memory"), ("own", "Own writes")):
            add(what, v.get(key, ""))
        add("Is", "a program" if v.get("code") else "")
        return found

    def context(self) -> Json:
        """What the template prints of this version."""
        v = self.version
        bits = max(v.get("bytes", 0), v.get("max_bytes", 0)) * 8
        names = v["generations"]
        svg = self.drawing(v["fields"], bits, f"Bits of {self.page.name}") if v.get("fields") \
            else Markup("")
        return {
            "key": self.key, "ids": [slug(name) for name in names if slug(name) != self.key],
            "title": ranges(names, self.site.order),
            "before": self.before["generations"][-1] if self.before else "",
            "doc": v.get("doc", ""), "source": v.get("source", ""),
            "facts": self.facts_of(), "svg": svg,
            "rows": list(self.rows(v.get("fields", []), bits)), "notes": self.sentences(v),
            "values": [dict(value, hex=f"{value['value']:#x}") for value in v.get("values", [])]
            if self.page.kind == "enum" else [],
            "changes": [(change.get("field", ""), self.change_text(change))
                        for change in v.get("changes", [])],
        }


def what_is_set(sets: Json) -> tuple[str, str]:
    """Kind and name of what a field's value is kept as."""
    return ("state", sets["state"]) if "state" in sets else ("base", sets["base"])


def group_text(item: Json) -> str:
    high, low = item["bits"]
    width = high - low + 1
    size = f"{width} bits" if width % 32 else f"{width // 32} dword{'' if width == 32 else 's'}"
    times = "to the end of the packet" if item["count"] == "tail" else f"{item['count']} times"
    if "max" in item:
        times += f", at most {item['max']} times"
    bit = f", bit {low % 32}" if low % 32 else ""
    return f"{size} each, {times}, from dword {low // 32}{bit} on"


def first_sentence(doc: str) -> str:
    return doc.split(". ")[0].rstrip(".") + ("." if doc else "")


def search_index(site: Site) -> str:
    """What the search box knows: pages, the names of fields and values on them, and generations
    by the names and numbers of their products."""
    pages = []
    parts: dict[str, list[int]] = defaultdict(list)
    for number, page in enumerate(site.pages.values()):
        newest = page.newest
        others = list(dict.fromkeys(alias for version in page.versions
                                    for alias in version.get("aliases", [])))
        if "offset" in newest:
            others.append(newest["offset"])
        entry: list[Any] = [page.name, page.kind, page.path,
                            ranges(page.generations, site.order), others]
        entry.append([int(newest["opcode"], 16), int(newest["opcode_mask"], 16)]
                     if "opcode" in newest else [])
        entry.append(slug(newest["generations"][-1]))
        pages.append(entry)
        names: dict[str, None] = {}
        for version in page.versions:
            for value in version.get("values", []):
                names[value["name"]] = None
            for item in all_items(version.get("fields", [])):
                if "forced" in item:
                    continue
                if "name" in item:
                    names[item["name"]] = None
                for value in item.get("values", []):
                    names[value["name"]] = None
        for name in names:
            parts[name].append(number)
    for generation in site.generations:
        others = [generation["name"], *generation.get("aliases", [])]
        for platform in generation.get("platforms", []):
            others += [platform["name"], platform.get("title", ""),
                       *platform.get("pci_ids", []), *platform.get("chip_ids", [])]
        pages.append([generation["title"], "generation", site.index_path(generation["name"]),
                      generation["family"], others, [], ""])
    index = {"pages": pages, "parts": sorted(parts.items())}
    return f"packsmithIndex({json.dumps(index, ensure_ascii=False, separators=(',', ':'))});\n"


def environment() -> jinja2.Environment:
    return jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True,
                              undefined=jinja2.StrictUndefined, trim_blocks=True,
                              lstrip_blocks=True, keep_trailing_newline=True)


def files(site: Site) -> Iterator[tuple[str, str]]:
    """Paths from the site's root, and contents."""
    env = environment()
    for name in ("style.css", "search.js", "page.js"):
        yield name, (TEMPLATES / name).read_text(encoding="utf-8")
    yield "search-index.js", search_index(site)
    families: dict[str, list[Json]] = defaultdict(list)
    for generation in site.generations:
        families[generation["family"]].append(generation)
    yield "index.html", env.get_template("index.html.jinja").render(
        root="", families=families, site=site, kinds=KINDS)
    for generation in site.generations:
        yield site.index_path(generation["name"]), generation_page(env, site, generation)
    template = env.get_template("page.html.jinja")
    for page in site.pages.values():
        versions = [Writer(site, page, version, before).context() for version, before in
                    zip(reversed(page.versions), [*reversed(page.versions[:-1]), None])]
        used = [(site.pages[page.family, kind, name], kind)
                for kind, name in sorted(page.used_by)]
        yield page.path, template.render(
            root="../../", page=page, versions=versions, used=used, site=site,
            kind=KINDS[page.kind], generations=ranges(page.generations, site.order))


def generation_page(env: jinja2.Environment, site: Site, generation: Json) -> str:
    """The index of one generation."""
    name = generation["name"]
    kinds: dict[str, list[Json]] = {kind: [] for kind in KINDS}
    for page in site.pages.values():
        if page.family != generation["family"]:
            continue
        version = next((v for v in page.versions if name in v["generations"]), None)
        if version is None:
            continue
        size = version.get("offset") or (size_text(version) if "bytes" in version else "")
        kinds[page.kind].append({
            "name": page.name, "path": page.path, "size": size,
            "doc": first_sentence(version.get("doc", "")),
            "new": version["generations"][0] == name and "changes" not in version
            and site.order[name] > min(site.order[g["name"]] for g in site.generations
                                       if g["family"] == generation["family"]),
            "changed": version["generations"][0] == name and "changes" in version})
    for entries in kinds.values():
        entries.sort(key=lambda entry: str(entry["name"]))
    return env.get_template("generation.html.jinja").render(
        root="../", generation=generation, kinds={k: v for k, v in kinds.items() if v},
        titles=KINDS, site=site, anchor=slug(name))


def read_lines(path: Path, kind: str) -> list[Json]:
    """The records of a file of JSON lines."""
    try:
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except ValueError as error:
        raise Bad(f"{path}: {error}") from error
    for record in records:
        if not isinstance(record, dict) or record.get("type") != kind:
            raise Bad(f"{path}: these are not the lines of unpack that have the type {kind}")
    return records


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--descriptions", type=Path, required=True)
    parser.add_argument("--generations", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True, help="folder to write")
    options = parser.parse_args(arguments)
    try:
        site = Site(read_lines(options.generations, "generation"),
                    read_lines(options.descriptions, "description"))
        if options.output.is_dir() and any(options.output.iterdir()):
            raise Bad(f"{options.output}: is not empty")
        for path, content in list(files(site)):
            place = options.output / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content, encoding="utf-8", newline="\n")
    except OSError as error:
        print(f"reference.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except (Bad, jinja2.TemplateError) as problem:
        print(f"reference.py: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
