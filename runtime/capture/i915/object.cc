#include "runtime/capture/i915/object.h"

#include <algorithm>

namespace packsmith::capture::i915 {

void I915Object::AddBusy(const std::shared_ptr<Fence>& fence, uint16_t engine_class, bool writes) {
  busy_.erase(
      std::remove_if(busy_.begin(), busy_.end(), [](const Busy& b) { return b.fence->done(); }),
      busy_.end());
  if (!fence->done()) busy_.push_back({fence, engine_class, writes});
}

uint32_t I915Object::busy() const {
  uint32_t bits = 0;
  for (const Busy& busy : busy_) {
    if (busy.fence->done()) continue;
    bits |= 0x10000u << busy.engine_class;
    // The last writer is the one that counts.
    if (busy.writes) bits = (bits & 0xffff0000) | (busy.engine_class + 1u);
  }
  return bits;
}

}  // namespace packsmith::capture::i915
