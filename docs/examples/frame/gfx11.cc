#include "runtime/state/gfx11.h"

#include "docs/examples/frame/frame.h"

namespace frame {

void FrameOfGfx11(const std::string& prefix) { Frame<gpu::Gfx11>(IceLakeGt2(), prefix); }

}  // namespace frame
