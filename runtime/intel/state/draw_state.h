// The 3D pipeline's state between draws: tracks what the GPU has, and emits what has changed.
//
//   #include "runtime/intel/state/draw_state.h"
//   #include "runtime/intel/state/gfx9.h"
//
//   DrawState<Gfx9> state;
//   state.Bind(pipeline);
//   state.Set(gfx9::_3DSTATE_VF_TOPOLOGY{.primitive_topology_type = …});
//   state.SetItems(gfx9::_3DSTATE_VERTEX_BUFFERS{}, buffers);
//   if (!state.Flush(batch)) return state.status().ok() ? batch.status() : state.status();
//   batch.Emit(gfx9::_3DPRIMITIVE{…});
//
// A group of packets is dirty when its wanted values differ from what the GPU last received.
// Setting the same values changes nothing, and setting the old values again makes the group clean.
// Packets that commit, need or invalidate others according to the XML, and those that must
// accompany them (groups.h), are handled automatically.
//
// Values that the caller sets for a whole packet apply until a pipeline with such a packet is
// bound.
//
// Not thread-safe. Only the constructor allocates.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_DRAW_STATE_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_DRAW_STATE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "packsmith/pack.h"
#include "packsmith/relations.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/state/fields.h"
#include "runtime/intel/state/pipeline_state.h"
#include "runtime/intel/state/shared_constants.h"
#include "runtime/intel/state/state_core.h"
#include "runtime/intel/state/state_layout.h"

namespace packsmith::intel {

template <class Gen>
class DrawState : public StateCore {
  using Layout = StateLayoutOf<Gen>;

  template <class P>
  static constexpr unsigned Index() {
    constexpr unsigned kIndex = Layout::template IndexOf<P>();
    static_assert(kIndex != kNoPacket, "not a packet of the draw state: see groups.h");
    return kIndex;
  }

 public:
  using Packets = typename Gen::Packets;

  // scratch: 8 bytes that are overwritten. Required on Gfx11 to Gfx12.5.
  explicit DrawState(const address& scratch = {});

  // The group of a packet.
  template <class P>
  static constexpr StateGroups kGroup = StateGroup(Layout::kMade.packets[Index<P>()].group);

  // Sets all values of a packet. False if one does not fit its field: the old values are then kept.
  template <checks Checks = default_checks, class P>
  PACKSMITH_INLINE bool Set(const P& packet) {
    constexpr StatePacket kPlace = PlaceOf<P>();
    static_assert((Layout::kMade.fixed & StateGroup(kPlace.group)) != 0,
                  "use SetItems() for packets with items, SetEach() for packets that are emitted "
                  "several times");
    const error e = packet.template pack<Checks>(wanted(Index<P>()));
    if (bits::rarely(static_cast<bool>(e))) return RefusePacket(e, Index<P>());
    TakeFromPipeline(Index<P>());
    MarkSet(Index<P>());
    if constexpr ((Layout::kMade.places[kPlace.group + 1].address ==
                   Layout::kMade.places[kPlace.group].address)) {
      CompareFixed<Layout::kMade.places[kPlace.group + 1].dword -
                   Layout::kMade.places[kPlace.group].dword>(kPlace.group);
    } else {
      NoteFixed(packet);
      Compare(kPlace.group);
    }
    return true;
  }

  // Sets a packet and the items that follow it.
  template <checks Checks = default_checks, class P>
  bool SetItems(const P& packet, span<const typename P::ps_item> items) {
    constexpr StatePacket kPlace = PlaceOf<P>();
    const size_t dwords = P::dwords_needed(items.size());
    if (dwords > kPlace.dwords) return RefuseSize(Index<P>(), dwords);
    uint32_t* const to = wanted(Index<P>());
    if (const error e = packet.template pack<Checks>(to, items)) {
      return RefusePacket(e, Index<P>());
    }
    Layout::template WriteBehind<P>(to + dwords);
    StateAddress* next = wanted_addresses_.data() + kPlace.address;
    auto note = NoteAt(next, Layout::kMade.places[kPlace.group].ahead);
    bits::addresses(packet, note);
    for (unsigned i = 0; i < items.size(); ++i) {
      bits::addresses(items[i], note, P::dwords_needed(i));
    }
    return Resized(Index<P>(), dwords, next);
  }
  template <checks Checks = default_checks, class P, unsigned N>
  bool SetItems(const P& packet, const typename P::ps_item (&items)[N]) {
    return SetItems<Checks>(packet, span<const typename P::ps_item>(items));
  }

  // Sets all packets of a kind of which there may be several.
  template <checks Checks = default_checks, class P>
  bool SetEach(span<const P> packets) {
    constexpr StatePacket kPlace = PlaceOf<P>();
    static_assert((Layout::kMade.fixed & StateGroup(kPlace.group)) == 0,
                  "this packet is emitted once: use Set()");
    const size_t dwords = packets.size() * size_t{P::length};
    if (dwords > kPlace.dwords) return RefuseSize(Index<P>(), dwords);
    if (const error e = bits::test<Checks>(packets)) return RefusePacket(e, Index<P>());
    StateAddress* next = wanted_addresses_.data() + kPlace.address;
    auto note = NoteAt(next);
    for (unsigned i = 0; i < packets.size(); ++i) {
      (void)packets[i].template pack<checks::off>(wanted(Index<P>()) + i * size_t{P::length});
      bits::addresses(packets[i], note, i * P::length);
    }
    Layout::template WriteBehind<P>(wanted(Index<P>()) + dwords);
    return Resized(Index<P>(), dwords, next);
  }
  template <checks Checks = default_checks, class P, unsigned N>
  bool SetEach(const P (&packets)[N]) {
    return SetEach<Checks>(span<const P>(packets));
  }

  // Overrides a packet's values for the next emission only: to begin something, for example.
  // Addresses cannot be overridden. index: among the packets of SetEach(). Setting the packet again
  // cancels this.
  template <checks Checks = default_checks, class P>
  bool SetOnce(const P& first, unsigned index = 0) {
    constexpr StatePacket kPlace = PlaceOf<P>();
    uint32_t dwords[P::length];
    if (const error e = first.template pack<Checks>(dwords)) return RefusePacket(e, Index<P>());
    std::array<StateAddress, AddressesIn<P>()> addresses;
    StateAddress* next = addresses.data();
    auto note =
        NoteAt(next, kPlace.dword - Layout::kMade.places[kPlace.group].dword + index * P::length);
    bits::addresses(first, note);
    return ReplaceOnce(Index<P>(), index, dwords, addresses);
  }

  // Sets values of dynamic fields of one packet, which apply if the pipeline leaves them open. Zero
  // until they are set.
  template <auto... Members>
  PACKSMITH_INLINE bool SetFields(const ValueOf<Members>&... values) {
    using Fields = FieldBits<Members...>;
    using P = typename Fields::Packet;
    constexpr StatePacket kPlace = PlaceOf<P>();
    static_assert((Layout::kMade.fixed & StateGroup(kPlace.group)) != 0);
    P packet;
    ((packet.*Members = values), ...);
    uint32_t packed[P::length];
    const error e = Fields::Pack(packet, packed);
    if (bits::rarely(static_cast<bool>(e))) return RefusePacket(e, Index<P>());
    for (const MaskedDword& bits : Fields::kMask) {
      uint32_t& word = values_[kPlace.dword + bits.dword];
      word = (word & ~bits.mask) | packed[bits.dword];
    }
    if (!dynamic_[Index<P>()].empty()) {
      Merge(Index<P>());
      Compare(kPlace.group);
    }
    return true;
  }

  // Sets all packets of a pipeline, whose status must be OK. They are copied: it need not outlive
  // this.
  void Bind(const PipelineState<Gen>& pipeline) { BindCore(pipeline.core_); }

  // Allows pixels to skip waits that the current state does not need: on Gfx8 and Gfx9, see
  // PixelMaskStallFix. Not while 3DSTATE_WM_HZ_OP clears or resolves depth or stencil, nor while
  // 3DSTATE_WM_CHROMAKEY kills pixels: the next flush sets a register, and must precede these.
  void AllowStallFix(bool allowed) requires(Gen::kFacts.pixel_mask_stall != PixelMaskStall::kNone) {
    stall_fix_ = allowed;
    if (allowed) derived_from_ = Layout::kDerivedOrFrom;
    DeriveAll();
  }

  // Emits dirty groups and those that must accompany them, in the hardware's order: one group of
  // the batch, or nothing. False if there is no room, or if a packet that the draw or the emission
  // needs was never set; nothing has changed then. Draw: the packet that follows.
  template <class Draw = typename Packets::_3DPRIMITIVE>
  PACKSMITH_INLINE bool Flush(Batch<Gen>& batch) {
    constexpr StateGroups kNeeded = Layout::template kNeededBy<Draw>;
    if ((dirty_ | (kNeeded & ~set_)) == 0) [[likely]]
      return true;
    return FlushDirty(batch, kNeeded);
  }

  // The context has these packets, although they were not set here. They satisfy the needs of
  // draws, and are not emitted until they are set.
  template <class... P>
  void Inherit() {
    (InheritPacket(Layout::kMade.packets[Index<P>()]), ...);
  }
  // Other code has emitted this packet: what it invalidates becomes dirty, and so does its own
  // group, if it is part of this state. Inherited packets that it invalidates are lost, and the
  // packet itself is inherited.
  template <class P>
  void Emitted() {
    constexpr StateGroups kLost = Layout::template kLostWith<P>;
    Lose(kLost | Layout::template GroupOf<P>(Layout::kMade));
    Disinherit(kLost);
    if constexpr (Layout::template IndexOf<P>() != kNoPacket) Inherit<P>();
  }
  // The context continues in another batch, which must list the buffers that the GPU still refers
  // to. What the end of a batch invalidates becomes dirty.
  void Resume(Batch<Gen>& batch) {
    Lose(Layout::template kLostWith<typename Gen::BatchEnd>);
    Disinherit(Layout::template kLostWith<typename Gen::BatchEnd>);
    EachEmittedAddress([&](const StateAddress& a) { batch.Use(a.buffer, a.flags); });
  }

 private:
  template <class P>
  static constexpr StatePacket PlaceOf() {
    return Layout::kMade.packets[Index<P>()];
  }
  // The groups of push constants.
  static constexpr StateGroups kConstants = kGroup<typename Packets::_3DSTATE_CONSTANT_VS> |
                                            kGroup<typename Packets::_3DSTATE_CONSTANT_HS> |
                                            kGroup<typename Packets::_3DSTATE_CONSTANT_DS> |
                                            kGroup<typename Packets::_3DSTATE_CONSTANT_GS> |
                                            kGroup<typename Packets::_3DSTATE_CONSTANT_PS>;

  static auto NoteAt(StateAddress*& next, uint32_t begin = 0) {
    return
        [&next, begin](const address& a, unsigned dword, unsigned bit, unsigned width, access how) {
          *next++ = {a.gpu,
                     a.buffer,
                     gpu::UseOf(how),
                     begin + dword,
                     static_cast<uint16_t>(bit),
                     static_cast<uint16_t>(width)};
        };
  }
  template <class P>
  PACKSMITH_INLINE void NoteFixed(const P& packet) {
    constexpr StatePacket kPlace = PlaceOf<P>();
    constexpr StateGroupPlace kGroupPlace = Layout::kMade.places[kPlace.group];
    StateAddress* next = wanted_addresses_.data() + kPlace.address;
    auto note = NoteAt(next, kPlace.dword - kGroupPlace.dword);
    bits::addresses(packet, note);
    MarkAddressed(kPlace.group,
                  Layout::kMade.places[kPlace.group + 1].address - kGroupPlace.address);
  }
  bool Resized(unsigned packet, size_t dwords, const StateAddress* end) {
    const StatePacket& place = layout_.packets[packet];
    const StateGroupPlace& group = layout_.places[place.group];
    wanted_sizes_[place.group] = static_cast<uint16_t>(group.ahead + dwords + group.behind);
    MarkAddressed(place.group, static_cast<size_t>(end - wanted_addresses_.data()) - place.address);
    TakeFromPipeline(packet);
    MarkSet(packet);
    Compare(place.group);
    return true;
  }

  PACKSMITH_INLINE void CopyInto(typename Batch<Gen>::Group& group, StateGroups groups,
                                 size_t dwords) const {
    uint32_t* const to = group.Reserve(dwords);
    CopyTo(to, groups, [&](const uint32_t* at, const StateAddress& a) {
      group.Note(at + a.dword, a.bit, a.width, address(a.gpu, a.buffer), a.flags);
    });
    if (bits::rarely((groups & once_groups_) != 0)) WriteOnce(to, groups);
  }
  PACKSMITH_INLINE bool EmitGroups(Batch<Gen>& batch, StateGroups groups) {
    if constexpr (requires { typename Packets::_3DSTATE_CONSTANT_ALL; }) {
      if ((groups & kConstants) != 0) return EmitWithConstants(batch, groups);
    }
    const size_t dwords = DwordsOf(groups);
    typename Batch<Gen>::Group group(batch, dwords);
    CopyInto(group, groups, dwords);
    return group.ok();
  }
  // Stages with the same constants share a packet, in the place of their own packets.
  bool EmitWithConstants(Batch<Gen>& batch, StateGroups groups) {
    SharedConstants<Gen> shared;
    StateGroups sharing = 0;
    SharedConstants<Gen>::EachStage([&]<class P>(auto stage) {
      constexpr StatePacket kPlace = PlaceOf<P>();
      if ((groups & ~once_groups_ & StateGroup(kPlace.group)) != 0 &&
          shared.template Add<P>(stage, wanted(Index<P>()),
                                 wanted_addresses_.data() + kPlace.address)) {
        sharing |= StateGroup(kPlace.group);
      }
    });
    const StateGroups alone = groups & ~sharing;
    const StateGroups before = alone & ((kConstants & -kConstants) - 1);
    typename Batch<Gen>::Group group(batch, DwordsOf(alone) + shared.dwords());
    CopyInto(group, before, DwordsOf(before));
    shared.EmitTo(group);
    CopyInto(group, alone & ~before, DwordsOf(alone & ~before));
    return group.ok();
  }

  // Updates a derived packet, if all packets that it depends on have been set.
  template <class D>
  void Derive() {
    constexpr StatePacket kPlace = PlaceOf<D>();
    const auto set = [&]<class... P>(types<P...>) {
      return (((unset_[PlaceOf<P>().group] & PlaceOf<P>().part) == 0) && ...);
    };
    if (!set(typename D::From())) return;
    const typename D::Packet packet = [&]<class... P>(types<P...>) {
      if constexpr (D::kOnRequest) {
        return D::Make(stall_fix_, P::unpack(wanted(Index<P>()))...);
      } else {
        return D::Make(P::unpack(wanted(Index<P>()))...);
      }
    }(typename D::From());
    (void)packet.template pack<checks::off>(wanted(Index<D>()));
    MarkSet(Index<D>());
    Compare(kPlace.group);
  }
  [[gnu::noinline]] void DeriveAll() {
    Layout::EachDerived([&]<class D>(D*) {
      if (!D::kOnRequest || stall_fix_ || (set_ & kGroup<D>) != 0) Derive<D>();
    });
  }

  [[gnu::noinline]] bool FlushDirty(Batch<Gen>& batch, StateGroups draw_needs) {
    if (Layout::kDerived != 0 && (dirty_ & derived_from_) != 0) DeriveAll();
    const StateGroups groups = ToEmit();
    const StateGroups missing = (groups & ~set_) | (draw_needs & ~(set_ | inherited_));
    if (missing != 0) return RefuseIncomplete(draw_needs);
    if (groups == 0) return true;
    const bool once = (groups & once_groups_) != 0;
    if (!EmitGroups(batch, groups)) return false;
    SetEmitted(groups);
    if (bits::rarely(once)) DropOnceOf(groups);
    return true;
  }

  bool stall_fix_ = false;  // allowed
  // Groups whose change may change derived packets; empty until derived packets are requested.
  StateGroups derived_from_ = Layout::kDerivedAlways ? Layout::kDerivedOrFrom : 0;
};

template <class Gen>
DrawState<Gen>::DrawState(const address& scratch) : StateCore(Layout::kLayout) {
  if (Layout::kMade.needs_scratch && scratch == address()) {
    Refuse(absl::InvalidArgumentError(
        absl::StrCat("the draw state of ", Gen::kName,
                     " needs 8 bytes of scratch: a write follows some of its packets")));
  }
  Layout::EachCompanion([&]<class Companion>(const Companion*, unsigned index) {
    const StatePacket& place = layout_.packets[index];
    const auto packet = Companion::Make(scratch);
    if (const error e = packet.pack(wanted(index))) RefusePacket(e, index);
    if constexpr (Companion::kNeedsScratch) {
      StateAddress* next = wanted_addresses_.data() + place.address;
      auto note = NoteAt(next, place.dword - layout_.places[place.group].dword);
      bits::addresses(packet, note);
    }
  });
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_DRAW_STATE_H_
