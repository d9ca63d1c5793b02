// State that is known when a pipeline is created: packed once, bound often.
//
//   PipelineState<Gfx9> pipeline;
//   pipeline.Add(gfx9::_3DSTATE_VS{…});
//   pipeline.AddPartial<&gfx9::_3DSTATE_RASTER::cull_mode,
//                       &gfx9::_3DSTATE_RASTER::front_winding>(gfx9::_3DSTATE_RASTER{…});
//   if (!pipeline.status().ok()) …
//   state.Bind(pipeline);
//
// The named members of a partial packet are dynamic: their values are those of
// DrawState::SetFields(), the others the pipeline's. Each pipeline chooses its dynamic members; the
// draw state also keeps values that the current pipeline does not use.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_PIPELINE_STATE_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_PIPELINE_STATE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "packsmith/pack.h"
#include "runtime/intel/state/fields.h"
#include "runtime/intel/state/state_core.h"
#include "runtime/intel/state/state_layout.h"
#include "runtime/intel/state/state_tables.h"

namespace packsmith::intel {

template <class Gen>
class DrawState;

// Not thread-safe while packets are added; afterwards any number of draw states may bind it.
template <class Gen>
class PipelineState {
 public:
  PipelineState() { core_.number = PipelineCore::NewNumber(); }
  PipelineState(const PipelineState&) = delete;
  PipelineState& operator=(const PipelineState&) = delete;

  // The error of the first packet that could not be added.
  const absl::Status& status() const { return core_.status; }
  // The packed packets, for caches: saved_pipeline.h.
  const PipelineCore& core() const { return core_; }
  PipelineCore& core() { return core_; }

  // Adds a packet without dynamic members. False if a value does not fit its field, or the pipeline
  // already has such a packet.
  template <class P>
  bool Add(const P& packet) {
    return AddPackets<P>({.packet = &packet, .dwords = P::length}, {});
  }
  // Adds a packet whose members `Dynamic` are dynamic.
  template <auto... Dynamic>
  bool AddPartial(const typename FieldBits<Dynamic...>::Packet& packet) {
    using P = typename FieldBits<Dynamic...>::Packet;
    return AddPackets<P>({.packet = &packet, .dwords = P::length}, FieldBits<Dynamic...>::kMask);
  }
  // Adds a packet and its items.
  template <class P>
  bool AddItems(const P& packet, span<const typename P::ps_item> items) {
    return AddPackets<P>({.packet = &packet,
                          .items = items.data(),
                          .count = items.size(),
                          .dwords = P::dwords_needed(items.size())},
                         {});
  }
  template <class P, unsigned N>
  bool AddItems(const P& packet, const typename P::ps_item (&items)[N]) {
    return AddItems<P>(packet, span<const typename P::ps_item>(items));
  }
  // Adds all packets of a kind of which there may be several.
  template <class P>
  bool AddEach(span<const P> packets) {
    return AddPackets<P>({.packet = packets.data(),
                          .count = packets.size(),
                          .dwords = packets.size() * size_t{P::length}},
                         {});
  }
  template <class P, unsigned N>
  bool AddEach(const P (&packets)[N]) {
    return AddEach<P>(span<const P>(packets));
  }

 private:
  friend class DrawState<Gen>;

  template <class P>
  bool AddPackets(const UnpackedPackets& from, MaskedDwords dynamic) {
    constexpr unsigned kPacket = StateLayoutOf<Gen>::template IndexOf<P>();
    static_assert(kPacket != kNoPacket, "not a packet of the draw state: see groups.h");
    return core_.Add(TablesOf<Gen>::kTables, kPacket, from, dynamic);
  }

  PipelineCore core_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_PIPELINE_STATE_H_
