// Where functions of this room put packets: a pipeline, or a draw state.
//
// A pipeline may leave members open: functions take them as template arguments, and add the packets
// that have such members as partial ones.
//
//   AddRasterization<&gfx9::_3DSTATE_RASTER::cull_mode>(rasterization, pixels, pipeline);

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_PUT_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_PUT_H_

#include <type_traits>

#include "absl/status/status.h"
#include "packsmith/pack.h"
#include "runtime/intel/state/draw_state.h"
#include "runtime/intel/state/pipeline_state.h"

namespace packsmith::intel {

// Dynamic members of packets.
template <auto... Members>
struct DynamicMembers {};

// Those of one packet.
template <class P, class Found, auto... Members>
struct MembersOf {
  using Type = Found;
};
template <class P, auto... Found, auto First, auto... Rest>
struct MembersOf<P, DynamicMembers<Found...>, First, Rest...> {
  template <class Owner, class T>
  static Owner OwnerOf(T Owner::*);
  using Type = typename std::conditional_t<std::is_same_v<decltype(OwnerOf(First)), P>,
                                           MembersOf<P, DynamicMembers<Found..., First>, Rest...>,
                                           MembersOf<P, DynamicMembers<Found...>, Rest...>>::Type;
};

// Whether each member is of one of the packets: functions require it of theirs, so that a member of
// another packet is not ignored.
template <class... Packets>
struct PacketsAre {
  template <class Owner, class T>
  static Owner OwnerOf(T Owner::*);
  template <auto Member>
  static constexpr bool kHas = (std::is_same_v<decltype(OwnerOf(Member)), Packets> || ...);
  template <auto... Members>
  static constexpr bool kHaveAll = (kHas<Members> && ...);
};

template <auto... Dynamic, class Gen, class P>
absl::Status PutPacket(PipelineState<Gen>& to, const P& packet) {
  const auto add = [&]<auto... Members>(DynamicMembers<Members...>) {
    if constexpr (sizeof...(Members) == 0) {
      return to.Add(packet);
    } else {
      return to.template AddPartial<Members...>(packet);
    }
  };
  return add(typename MembersOf<P, DynamicMembers<>, Dynamic...>::Type()) ? absl::OkStatus()
                                                                          : to.status();
}
template <class Gen, class P>
absl::Status PutPacket(DrawState<Gen>& to, const P& packet) {
  return to.Set(packet) ? absl::OkStatus() : to.status();
}

template <class Gen, class P>
absl::Status PutItems(PipelineState<Gen>& to, const P& packet,
                      span<const typename P::ps_item> items) {
  return to.AddItems(packet, items) ? absl::OkStatus() : to.status();
}
template <class Gen, class P>
absl::Status PutItems(DrawState<Gen>& to, const P& packet, span<const typename P::ps_item> items) {
  return to.SetItems(packet, items) ? absl::OkStatus() : to.status();
}

template <class Gen, class P>
absl::Status PutEach(PipelineState<Gen>& to, span<const P> packets) {
  return to.AddEach(packets) ? absl::OkStatus() : to.status();
}
template <class Gen, class P>
absl::Status PutEach(DrawState<Gen>& to, span<const P> packets) {
  return to.SetEach(packets) ? absl::OkStatus() : to.status();
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_PUT_H_
