// What makes the command streamer see its own stores: from Xe2 on they go through a queue of their
// own, and a load may overtake them. Source: Mesa, src/intel/common/mi_builder.h.

#ifndef PACKSMITH_RUNTIME_INTEL_BATCH_STORES_H_
#define PACKSMITH_RUNTIME_INTEL_BATCH_STORES_H_

#include <cstddef>

namespace packsmith::intel {

// kLength: dwords of the packet, 0 where stores and loads are in order.
template <class Gen>
struct WaitForStores {
  static constexpr size_t kLength = 0;
  template <class To>
  static bool Emit(To&) {
    return true;
  }
};

template <class Gen>
requires requires { Gen::Packets::MI_MEM_FENCE::FENCE_TYPE_MI_WRITE; }
struct WaitForStores<Gen> {
  using Fence = typename Gen::Packets::MI_MEM_FENCE;
  static constexpr size_t kLength = Fence::length;
  template <class To>
  static bool Emit(To& to) {
    return to.Emit(Fence{.fence_type = Fence::FENCE_TYPE_MI_WRITE});
  }
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BATCH_STORES_H_
