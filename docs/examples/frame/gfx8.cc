#include "runtime/intel/state/gfx8.h"

#include "docs/examples/frame/frame.h"

namespace frame {

void FrameOfGfx8(const example::DeviceOption& option) {
  Frame<intel::Gfx8>(BroadwellGt2(), option);
}

void FrameOfCherryview(const example::DeviceOption& option) {
  Frame<intel::Gfx8>(Cherryview(), option);
}

}  // namespace frame
