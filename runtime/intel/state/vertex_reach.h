// Gfx8 and Gfx9: the cache for vertices and indices compares only 32 bits of their addresses. When
// a slot's buffer is in another range of 4 GiB than before, stale data may match, and must be
// invalidated before the draw. Code for any generation tests Gen::kFacts.vertices_know_32_bits.
//
//   reach.Set(0, vertices.address);
//   reach.Set(VertexReach::kIndices, indices.address);
//   if (reach.stale()) {
//     …   // a stall, and a barrier that invalidates CacheDomain::kVertex
//     reach.Invalidated();
//   }
//
// Sources: Mesa's iris and anv, which do this for each slot.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_VERTEX_REACH_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_VERTEX_REACH_H_

#include <array>
#include <cstdint>

#include "runtime/intel/state/groups.h"

namespace packsmith::intel {

class VertexReach {
 public:
  static constexpr unsigned kIndices = kMostVertexBuffers;  // the slot of the index buffer

  // Sets the slot's buffer from the next draw on. False if there is no such slot.
  bool Set(unsigned slot, uint64_t gpu_address) {
    if (slot >= upper_.size()) return false;
    const uint16_t upper = static_cast<uint16_t>(gpu_address >> 32);
    stale_ |= upper != upper_[slot];
    upper_[slot] = upper;
    return true;
  }
  // Whether the cache must be invalidated before the next draw.
  bool stale() const { return stale_; }
  void Invalidated() { stale_ = false; }

 private:
  // Bits 47:32 of each slot's address. A new context has nothing cached; one unnecessary
  // invalidation does no harm.
  std::array<uint16_t, kMostVertexBuffers + 1> upper_ = {};
  bool stale_ = false;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_VERTEX_REACH_H_
