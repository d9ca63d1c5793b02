// What vertices read of their draw, in command buffers of one generation: the first vertex, the
// first instance and the draw's number, as VertexIds of a pipeline asks for them.
//
// From Gfx11 on draws say it themselves: 3DSTATE_VF_SGVS_2 takes the first two from any draw, the
// number from 3DPRIMITIVE_EXTENDED. Before, two vertex buffers hold it, which are set before each
// draw that has other values.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_DRAW_VALUES_OF_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_DRAW_VALUES_OF_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "packsmith/pack.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/intel/driver/graphics_pipeline.h"
#include "runtime/intel/driver/recorders.h"
#include "runtime/intel/pipeline/vertex_input.h"
#include "runtime/intel/state/vertex_reach.h"

namespace packsmith::intel {

// As vertices read them, 4 bytes each.
struct DrawNumbers {
  uint32_t first_vertex = 0;  // of an indexed draw the vertex offset
  uint32_t first_instance = 0;
  uint32_t draw = 0;

  friend bool operator==(const DrawNumbers&, const DrawNumbers&) = default;
};

// Whether the generation has them in vertex buffers.
template <class Gen>
inline constexpr bool kHasDrawBuffers = !requires {
  typename Gen::Packets::_3DPRIMITIVE_EXTENDED;
};

// The two vertex buffers.
template <class Gen>
class DrawBuffers {
  using G = typename Gen::Packets;

 public:
  explicit DrawBuffers(const RecorderParts<Gen>& parts) : parts_(parts) {}

  // Whether a draw with this pipeline needs them; null: none is bound.
  static bool NeededBy(const GraphicsPipeline* pipeline) {
    return kHasDrawBuffers<Gen> && pipeline != nullptr &&
           (pipeline->reads_first() || pipeline->reads_draw_id());
  }

  // Before the caches of a draw are tracked: puts its numbers into memory, unless they are those of
  // the draw before.
  absl::Status Prepare(const DrawNumbers& numbers, VertexReach& reach) {
    if (set_ && numbers_ == numbers) return absl::OkStatus();
    constexpr uint64_t kAlignment = 16;
    const absl::StatusOr<gpu::State> place =
        parts_.recording.dynamic().Allocate(sizeof(DrawNumbers), kAlignment);
    if (!place.ok()) return place.status();
    std::memcpy(place->cpu, &numbers, sizeof(numbers));
    numbers_ = numbers;
    place_ = {place->address, place->buffer};
    reach.Set(kIds.first_buffer, place_.gpu);
    reach.Set(kIds.draw_buffer, place_.gpu);
    set_ = false;
    return absl::OkStatus();
  }
  // Before the draw itself.
  bool Emit() {
    if (set_) return true;
    using Buffers = typename G::_3DSTATE_VERTEX_BUFFERS;
    const auto buffer = [&](uint32_t index, uint64_t offset, uint32_t bytes) {
      typename Buffers::ps_item item;
      item.vertex_buffer_index = index;
      item.address_modify_enable = true;
      item.mocs = parts_.context.mocs();
      item.buffer_starting_address = {place_.gpu + offset, place_.buffer};
      item.buffer_size = bytes;
      return item;
    };
    const typename Buffers::ps_item items[] = {
        buffer(kIds.first_buffer, 0, offsetof(DrawNumbers, draw)),
        buffer(kIds.draw_buffer, offsetof(DrawNumbers, draw), sizeof(DrawNumbers::draw))};
    set_ = parts_.batch.EmitItems(Buffers(), span<const typename Buffers::ps_item>(items));
    return set_;
  }

  // Before draws whose numbers are in memory: other code sets the buffers, to the numbers and to
  // memory of its own, of which it is not known where it is.
  void LeaveTo(const address& arguments, VertexReach& reach) {
    reach.Set(kIds.first_buffer, arguments.gpu);
    // Neither this draw's memory nor that of the next one may match what is cached.
    reach.Set(kIds.draw_buffer, 0);
    reach.Set(kIds.draw_buffer, ~uint64_t{0});
    Forget();
  }
  // Other code has set the buffers.
  void Forget() { set_ = false, numbers_ = std::nullopt; }

 private:
  static constexpr VertexIds kIds = {};

  const RecorderParts<Gen> parts_;
  std::optional<DrawNumbers> numbers_;  // that the buffers have, or will have when they are set
  address place_;
  bool set_ = false;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_DRAW_VALUES_OF_H_
