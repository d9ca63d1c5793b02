#include "runtime/state/gfx9.h"

#include "docs/examples/frame/frame.h"

namespace frame {

void FrameOfGfx9(const std::string& prefix) { Frame<gpu::Gfx9>(SkylakeGt2(), prefix); }

}  // namespace frame
