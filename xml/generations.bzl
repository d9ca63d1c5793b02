"""Every generation that this repository describes: the name and package of its packsmith_library.

This is the only list. Everything that is made for all generations (libraries, the descriptions in
programs, the installation) loads it.
"""

# Those whose batches have packets, jumps, labels and relocations, and nothing that computes.
EARLY_BATCHES = [
    "gfx4",
    "gfx45",
    "gfx5",
    "gfx6",
    "gfx7",
    "gfx75",
]

# Those whose command streamer also has what arithmetic, states and bindings of the runtime need.
BATCHES = [
    "gfx8",
    "gfx9",
    "gfx11",
    "gfx12",
    "gfx125",
    "xe2",
    "xe3",
]

def since(first):
    """Of BATCHES, `first` and those after it."""
    return BATCHES[BATCHES.index(first):]

# Those that are described, packed and decoded, and that the runtime does not know.
DESCRIBED = ["xe3p"]

# The oldest first: each extends the one before it.
INTEL = EARLY_BATCHES + BATCHES + DESCRIBED

# Of firmware, whose messages are of no generation.
FIRMWARE = ["guc"]

# Engines whose headers can be had alone, from the generation on that has more than one.
def parts(name):
    """Of packsmith_library, for a generation of INTEL."""
    if INTEL.index(name) < INTEL.index("gfx6"):
        return {}
    return {
        "blitter": ["blitter"],
        "render": ["render"] + (["compute"] if INTEL.index(name) >= INTEL.index("gfx125") else []),
        "video": ["video"] + (["video-enhance"] if INTEL.index(name) >= INTEL.index("gfx75") else []),
    }

# Their types' names in C++: Gfx9, Xe2.
TYPES = {name: name.capitalize() for name in INTEL}

AGX = [
    "agx_g13",
    "agx_g14",
    "agx_g14x",
]

GENERATIONS = dict(
    [(name, "//xml/intel") for name in INTEL] +
    [(name, "//xml/agx") for name in AGX],
)
