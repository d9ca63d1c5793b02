#include "runtime/intel/state/gfx9.h"

#include "docs/examples/frame/frame.h"

namespace frame {

void FrameOfGfx9(const example::DeviceOption& option) { Frame<intel::Gfx9>(SkylakeGt2(), option); }

}  // namespace frame
