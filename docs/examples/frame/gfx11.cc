#include "runtime/intel/state/gfx11.h"

#include "docs/examples/frame/frame.h"

namespace frame {

void FrameOfGfx11(const example::DeviceOption& option) {
  Frame<intel::Gfx11>(IceLakeGt2(), option);
}

}  // namespace frame
