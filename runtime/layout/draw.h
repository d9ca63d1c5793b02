// Pictures of layouts: the way through a tile, and where levels lie.
#ifndef PACKSMITH_RUNTIME_LAYOUT_DRAW_H_
#define PACKSMITH_RUNTIME_LAYOUT_DRAW_H_

#include <cstdint>
#include <string>

#include "runtime/layout/layout.h"

namespace packsmith::layout {

// A tile of a level: a line through its elements (of sample 0) in the order in which they lie in
// memory, from blue to red. Below it a layer's memory as a bar of levels, each as long as it is
// large, padding in grey. `level` is below layout.levels().size().
//
// The SVG has names and numbers too.
std::string DrawSvg(const Layout& layout, uint32_t level);
std::string DrawPng(const Layout& layout, uint32_t level);

}  // namespace packsmith::layout

#endif  // PACKSMITH_RUNTIME_LAYOUT_DRAW_H_
