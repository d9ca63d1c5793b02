#include "runtime/intel/state/xe2.h"

#include "docs/examples/frame/frame.h"

namespace frame {

void FrameOfXe2(const example::DeviceOption& option) { Frame<intel::Xe2>(LunarLake(), option); }

}  // namespace frame
