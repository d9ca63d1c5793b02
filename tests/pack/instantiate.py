#!/usr/bin/python3
"""Writes a test that uses every type of a generation: instantiate.py IR.json OUT.cc.

Function bodies of generated headers are templates; what no file instantiates, no compiler sees.
"""

import json
import sys
from pathlib import Path

HEAD = """\
// Made by instantiate.py.
#include "packsmith/{generation}.h"
#include "packsmith/{generation}_names.h"
#include "tests/pack/every_type.h"

TEST(EveryType, Of_{generation}) {{
"""


def main(arguments: list[str]) -> None:
    ir_path = next(path for path in arguments[:-1] if path.endswith(".json"))
    ir = json.loads(Path(ir_path).read_text(encoding="utf-8"))
    lines = [HEAD.format(generation=ir["generation"])]
    for container in ir["containers"]:
        name = f"packsmith::{ir['namespace']}::{container['cpp']}"
        lines.append(f"  packsmith::ExpectRoundTrip<{name}>();\n")
        if container["tail"] is not None:
            lines.append(f"  packsmith::ExpectTailRoundTrip<{name}>();\n")
    lines.append("}\n")
    Path(arguments[-1]).write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
