#!/usr/bin/python3
"""Makes drivers.tsv.xz of tables of facts about what other drivers define.

  derive.py --facts=DIR [--output=drivers.tsv.xz]

DIR has GEN-containers.tsv and GEN-fields.tsv, one line a container or field: Mesa's definitions in
the folder itself, those of intel/media-driver in ihd, those of intel/compute-runtime in neo. Bits
count from bit 0 of dword 0.

The output is a table of lines of two sorts, compressed. A container, followed by its fields:

  C  name  kind  sources  dwords  bias  mask  value  length bits  engine
  F  name  first bit  last bit  type  default

`sources` are those that define the container with exactly these fields, "driver/gen/platform
driver/gen/platform". Nested structures and arrays are written out as the bits that they come to:
an array of n items as "n*size@start" before the name of its field, whose bits count from the item
(n is 0 if the array is as long as its packet). Types are those of the table for numbers; what
drivers call by the names of enumerations is "uint". Left out are registers, structures of video
engines in memory (xml/ does not describe these), and names of values.
"""

import argparse
import collections
import lzma
import pathlib
import re
import sys

VIDEO = {"aqm", "avp", "hcp", "huc", "mfx", "sfc", "vdenc", "vebox", "vvcp"}


def rows(path):
    """The lines of a table as dictionaries. Some tables repeat their heading."""
    lines = path.read_text(encoding="utf-8").splitlines()
    heading = lines[0].split("\t")
    for line in lines[1:]:
        cells = line.split("\t")
        if cells != heading:
            yield dict(zip(heading, cells + [""] * (len(heading) - len(cells))))


NUMBERS = re.compile(r"uint|int|bool|float|address|offset|mbz|mbo|[us]\d+\.\d+|")


class Definitions:
    """Those of one driver and generation."""

    def __init__(self, folder, driver, gen):
        self.driver, self.gen = driver, gen
        self.containers = list(rows(folder / f"{gen}-containers.tsv"))
        self.fields = collections.defaultdict(list)
        for row in rows(folder / f"{gen}-fields.tsv"):
            self.fields[row["container"], row.get("platforms", gen)].append(row)
        self.names = {c["name"].lower() for c in self.containers}

    def nested(self, name, platforms):
        """The fields of the structure of that name which the same platforms use."""
        wanted = set(platforms.split("|"))
        found = [key for key in self.fields if key[0].lower() == name.lower()]
        found.sort(key=lambda key: -len(wanted & set(key[1].split("|"))))
        return self.fields[found[0]] if found else []

    def leaves(self, fields, platforms, base="", prefix="", depth=0):
        """(name, first, last, type, default) of all, nested ones written out."""
        for row in fields:
            first, last = int(row["first_bit"]), int(row["last_bit"])
            array = base
            if row["group"]:
                for count, start, size in re.findall(r"count=(\d+),start=(\d+),size=(\d+)",
                                                     row["group"]):
                    array += f"{count}*{size}@{start} "
            name = prefix + row["field"]
            if row["type"].lower() in self.names and depth < 4:
                shift = f"1*{last - first + 1}@{first} " if first else ""
                yield from self.leaves(self.nested(row["type"], platforms), platforms,
                                       array + shift, name + ".", depth + 1)
                continue
            number = row["type"] if NUMBERS.fullmatch(row["type"]) else "uint"
            if number not in ("mbz", "mbo"):
                yield array + name, first, last, number, row["default"]

    def all(self):
        for c in self.containers:
            if c["kind"] not in ("instruction", "struct"):
                continue
            if c["kind"] == "struct" and c.get("component") in VIDEO:
                continue
            platforms = c.get("platforms", self.gen)
            fields = self.fields.get((c["name"], platforms), [])
            yield c, sorted(self.leaves(fields, platforms), key=lambda f: (f[1], f[0]))


def derive(facts):
    """The text of the table."""
    defined = {}
    for driver, folder in (("mesa", facts), ("ihd", facts / "ihd"), ("neo", facts / "neo")):
        for path in sorted(folder.glob("*-containers.tsv")):
            gen = path.name.removesuffix("-containers.tsv")
            for c, fields in Definitions(folder, driver, gen).all():
                what = (c["name"], c["kind"], c["dwords"], c["length_bias"],
                        c.get("opcode_mask", ""), c.get("opcode_value", ""),
                        c.get("length_bits", ""), c.get("engine", c.get("engines")), tuple(fields))
                sources = defined.setdefault(what, [])
                sources += [f"{driver}/{gen}/{one}" for one in
                            c.get("platforms", gen).split("|")]
    lines = []
    for what, sources in sorted(defined.items(), key=lambda item: (item[0][0], item[1])):
        name, kind, *rest, fields = what
        lines.append("\t".join(["C", name, kind, " ".join(sources), *rest]))
        for field, first, last, kind, default in fields:
            lines.append("\t".join(["F", field, str(first), str(last), kind, default]))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--facts", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent / "drivers.tsv.xz")
    options = parser.parse_args()
    text = derive(options.facts).encode()
    options.output.write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))
    print(f"{options.output}: {len(text)} bytes, {options.output.stat().st_size} compressed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
