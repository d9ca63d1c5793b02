#include "runtime/intel/state/gfx125.h"

#include "docs/examples/frame/frame.h"

namespace frame {

void FrameOfGfx125(const example::DeviceOption& option) { Frame<intel::Gfx125>(Dg2G10(), option); }

}  // namespace frame
