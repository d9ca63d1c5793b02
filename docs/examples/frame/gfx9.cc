#include "runtime/intel/state/gfx9.h"

#include "docs/examples/frame/frame.h"

namespace frame {

void FrameOfGfx9(const std::string& prefix) { Frame<intel::Gfx9>(SkylakeGt2(), prefix); }

}  // namespace frame
