"""The IR: what packgen makes of a description, as dictionaries and lists.

It states facts, nested as the description nests them, and no language's types or expressions. Its
members are those that gen/model/write/ir.cc and items.cc write. `read` completes it: members that
most fields have alike are left out in the file.
"""

import json
from pathlib import Path
from typing import Any

Ir = dict[str, Any]

_VERSION = 3


class Unsupported(Exception):
    """The IR asks for something that this back end cannot express."""


def _complete(usual: Ir, items: list[Ir]) -> list[Ir]:
    """Gives each field the members that it leaves out."""
    return [dict(item, items=_complete(usual, item["items"])) if "items" in item
            else item if "kind" in item else {**usual, **item} for item in items]


def read(path: Path) -> Ir:
    """What packgen wrote."""
    try:
        ir = json.loads(path.read_bytes())
    except ValueError as error:
        raise Unsupported(f"not an IR: {error}") from error
    if not isinstance(ir, dict) or ir.get("ir") != _VERSION:
        raise Unsupported(f"not an IR of version {_VERSION}; was it made by another packgen?")
    for container in ir["containers"]:
        container["items"] = _complete(ir["usual_item"], container["items"])
    return ir


def places(bit: int, width: int) -> list[Ir]:
    """The words that [bit, bit + width) lies in, from low to high."""
    found: list[Ir] = []
    low = 0
    while low < width:
        lsb = (bit + low) % 32
        here = min(32 - lsb, width - low)
        found.append({"word": (bit + low) // 32, "lsb": lsb, "from": low, "width": here})
        low += here
    return found
