#include "runtime/intel/state/gfx11.h"

#include "docs/examples/frame/frame.h"

namespace frame {

void FrameOfGfx11(const std::string& prefix) { Frame<intel::Gfx11>(IceLakeGt2(), prefix); }

}  // namespace frame
