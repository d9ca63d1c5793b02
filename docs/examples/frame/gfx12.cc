#include "runtime/intel/state/gfx12.h"

#include "docs/examples/frame/frame.h"

namespace frame {

void FrameOfGfx12(const example::DeviceOption& option) {
  Frame<intel::Gfx12>(TigerLakeGt2(), option);
}

}  // namespace frame
