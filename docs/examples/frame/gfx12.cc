#include "runtime/intel/state/gfx12.h"

#include "docs/examples/frame/frame.h"

namespace frame {

void FrameOfGfx12(const std::string& prefix) { Frame<intel::Gfx12>(TigerLakeGt2(), prefix); }

}  // namespace frame
