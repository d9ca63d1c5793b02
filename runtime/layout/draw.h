// Pictures of layouts: the order of elements in a tile, and the places of levels.
#ifndef PACKSMITH_RUNTIME_LAYOUT_DRAW_H_
#define PACKSMITH_RUNTIME_LAYOUT_DRAW_H_

#include <cstdint>
#include <string>

#include "runtime/layout/layout.h"

namespace packsmith::layout {

// A tile of a level: a line through its elements (of sample 0) in memory order, from blue to red.
// Below it a layer's memory as a bar of levels, with lengths in proportion to their sizes and
// padding in grey. `level` must be below layout.levels().size().
//
// The SVG also has names and numbers.
std::string DrawSvg(const Layout& layout, uint32_t level);
std::string DrawPng(const Layout& layout, uint32_t level);

}  // namespace packsmith::layout

#endif  // PACKSMITH_RUNTIME_LAYOUT_DRAW_H_
