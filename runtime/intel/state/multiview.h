// Multiview: one draw for several layers of the targets. Two ways, of which one is chosen:
//
//   kReplication  the vertex shader writes a position for each view, and hardware draws each
//                 primitive once a view (3DSTATE_PRIMITIVE_REPLICATION, from Gfx12 on)
//   kInstances    each instance is drawn once a view; the shader tells the view by the instance
//
//   const MultiviewPlan plan = *PlanMultiview({.view_mask = 0b1001}, CanReplicate<Gfx12>());
//   state.Set(ViewsPacket<Gfx12>(plan));                 // also for plans that replicate nothing
//   draw.instance_count = *InstancesOf(plan, instances);
//
// What the shaders of a plan must do (Mesa's anv, lowering of multiview):
//
//   kReplication  The last vertex stage is the vertex shader. Its URB entry has plan.views
//                 positions, one after the other, in the place of one; nothing else may differ
//                 between views. View i is drawn with position i, and its layer is that of the
//                 entry's header plus plan.layers[i].
//   kInstances    The hardware's instance number is plan.instance_multiplier() times the
//                 application's, plus i: divided, it is the application's, and the rest is the
//                 view's place i. Its layer, plan.layers[i], goes to the entry's header; the four
//                 bits from 4 i on of packed_layers() are it, for shaders that look it up.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_MULTIVIEW_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_MULTIVIEW_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace packsmith::intel {

// Views are numbered from 0 to 15: a layer's offset has 4 bits in the packet.
inline constexpr uint32_t kMostViews = 16;
// Views up to which replication is used unless the driver says otherwise: Mesa found it to be
// faster for two (ANV_PRIMITIVE_REPLICATION_MAX_VIEWS).
inline constexpr uint32_t kReplicatedViews = 2;

enum class MultiviewMethod : uint8_t {
  kNone,  // no multiview
  kReplication,
  kInstances,
};

struct MultiviewOptions {
  uint32_t view_mask = 0;  // a bit each; 0: no multiview
  // The draw has no stages but those of vertices and pixels, neither reads the view's number except
  // for the position, and the vertex shader writes no memory.
  bool only_positions_differ = false;
  uint32_t most_replicated = kReplicatedViews;  // up to kMostViews
};

struct MultiviewPlan {
  MultiviewMethod method = MultiviewMethod::kNone;
  uint32_t views = 1;
  std::array<uint8_t, kMostViews> layers = {};  // of each view of the mask, in ascending order

  // Instances that are drawn for each of the application's.
  uint32_t instance_multiplier() const { return method == MultiviewMethod::kInstances ? views : 1; }
  // Positions in an entry of the vertex shader.
  uint32_t positions() const { return method == MultiviewMethod::kReplication ? views : 1; }
  // Of the targets: the number of layers that the views need.
  uint32_t layer_count() const {
    return method == MultiviewMethod::kNone ? 1 : layers[views - 1] + 1u;
  }
  uint64_t packed_layers() const {
    uint64_t packed = 0;
    for (uint32_t i = 0; i < views; ++i) packed |= uint64_t{layers[i]} << 4 * i;
    return packed;
  }
};

// can_replicate: CanReplicate<Gen>(). InvalidArgument for views from 16 on, and for most_replicated
// above 16.
absl::StatusOr<MultiviewPlan> PlanMultiview(const MultiviewOptions& options, bool can_replicate);

// What a draw of `instances` must have as its number of instances. OutOfRange if that is more than
// 32 bits.
absl::StatusOr<uint32_t> InstancesOf(const MultiviewPlan& plan, uint32_t instances);
// What a vertex buffer that advances every `divisor` instances must have as its step rate; 0 (per
// vertex) stays. OutOfRange as above.
absl::StatusOr<uint32_t> DivisorOf(const MultiviewPlan& plan, uint32_t divisor);

template <class Gen>
constexpr bool CanReplicate() {
  return requires { typename Gen::Packets::_3DSTATE_PRIMITIVE_REPLICATION; };
}

// All zero for plans that replicate nothing: hardware then draws primitives once.
template <class Gen>
requires(CanReplicate<Gen>()) auto ViewsPacket(const MultiviewPlan& plan) {
  typename Gen::Packets::_3DSTATE_PRIMITIVE_REPLICATION packet;
  if (plan.method != MultiviewMethod::kReplication) return packet;
  packet.replication_count = plan.views - 1;
  packet.replica_mask = (uint32_t{1} << plan.views) - 1;
  for (uint32_t i = 0; i < plan.views; ++i) packet.rtai_offset[i] = plan.layers[i];
  return packet;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_MULTIVIEW_H_
