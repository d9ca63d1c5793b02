#!/usr/bin/python3
"""Prints what the generations of a family have in common, for C.

    family.py --bits intel_bits.h --pack intel_pack.h gfx8_positions.json gfx9_positions.json …

The inputs are what render.py --positions wrote. Outputs are written whole or not at all. Exit codes: 0
good, 1 an input is bad or an output cannot be written, 2 wrong usage.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import jinja2  # noqa: E402

from render import environment, failed, guard, place, write  # noqa: E402

Outline = dict[str, Any]


class Bad(Exception):
    """The inputs are not what is wanted."""


def read(path: Path) -> Outline:
    """The positions of one generation."""
    try:
        outline = json.loads(path.read_bytes())
        if not outline["version_x10"]:
            raise Bad(f"{path}: {outline['generation']} has no version=\"…\", by which devices know it")
    except (ValueError, KeyError, TypeError) as error:
        raise Bad(f"{path}: not what render.py --positions writes") from error
    return dict(outline)


def in_order(outlines: list[Outline]) -> list[Outline]:
    """The oldest first."""
    found: dict[int, Outline] = {}
    for outline in outlines:
        version = outline["version_x10"]
        if version in found:
            raise Bad(f"{outline['generation']} and {found[version]['generation']} have the same version")
        found[version] = outline
        if outline["family"] != outlines[0]["family"]:
            raise Bad(f"{outline['generation']} and {outlines[0]['generation']} are not of one family")
    return [outline for _, outline in sorted(found.items())]


def changes(generations: list[Outline]) -> list[tuple[str, list[tuple[int, int]]]]:
    """By name the versions from which on a value holds. What a generation lacks is 0."""
    names = sorted({name for outline in generations for name in outline["values"]})
    steps: list[tuple[str, list[tuple[int, int]]]] = []
    for name in names:
        since: list[tuple[int, int]] = []
        last = 0
        for outline in generations:
            value = outline["values"].get(name, 0)
            if value != last:
                since.append((outline["version_x10"], value))
            last = value
        steps.append((name, since))
    return steps


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--bits", type=Path, required=True, help="positions by device, to write")
    parser.add_argument("--pack", type=Path, required=True, help="one generation's header, to write")
    parser.add_argument("positions", type=Path, nargs="+")
    options = parser.parse_args(arguments)
    try:
        generations = in_order([read(path) for path in options.positions])
        env = environment()
        steps = changes(generations)
        common = dict(family=generations[0]["family"], generations=generations, steps=steps,
                      most=max((len(since) for _, since in steps), default=0))
        write([(path, env.get_template(template).render(
                    guard=guard(common["family"], word), **common))
               for path, template, word in (
                   (options.bits, "family_bits_c.h.jinja", "BITS_H"),
                   (options.pack, "family_pack_c.h.jinja", "PACK_H"))])
    except OSError as error:
        return failed(f"{error.filename}: {error.strerror}")
    except Bad as problem:
        return failed(str(problem))
    except jinja2.TemplateError as error:
        return failed(f"{place(error)}: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
