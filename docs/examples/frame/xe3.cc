#include "runtime/intel/state/xe3.h"

#include "docs/examples/frame/frame.h"

namespace frame {

void FrameOfXe3(const example::DeviceOption& option) { Frame<intel::Xe3>(PantherLake(), option); }

}  // namespace frame
