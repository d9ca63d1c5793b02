"""Every generation that this repository describes: the name of its packsmith_library, and where.

What is made for all generations (what is installed, say) loads this list.
"""

GENERATIONS = {
    "agx_g13": "//xml/agx",
    "gfx9": "//xml/intel",
}
