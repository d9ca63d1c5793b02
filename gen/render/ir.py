"""The IR: what packgen makes of a description, as dictionaries and lists.

gen/model/write/ir.h is where its members come from.
"""

import json
from pathlib import Path
from typing import Any

Ir = dict[str, Any]


class Unsupported(Exception):
    """The IR asks for something that this back end cannot express."""


def _complete(usual: Ir, holder: Ir) -> None:
    """Gives each leaf what it has as most leaves do, and so does not say."""
    for leaves, loops in (("leaves", "loops"), ("c_leaves", "c_loops")):
        if leaves in holder:
            holder[leaves] = [{**usual, **leaf} for leaf in holder[leaves]]
            for loop in holder[loops]:
                _complete(usual, loop)


def read(path: Path) -> Ir:
    """What packgen wrote."""
    try:
        ir = json.loads(path.read_bytes())
    except ValueError as error:
        raise Unsupported(f"not an IR: {error}") from error
    if not isinstance(ir, dict) or ir.get("ir") != 2:
        raise Unsupported("not an IR of version 2; was it made by another packgen?")
    for container in ir["containers"]:
        _complete(ir["usual_leaf"], container)
        if container["tail"] and container["tail"]["item"]:
            _complete(ir["usual_leaf"], container["tail"]["item"])
    return ir
