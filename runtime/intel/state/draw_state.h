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
//
// What does not depend on a packet's type, and packets that rarely change between draws, are in the
// library, so that files that use this are compiled fast: see gfx.h.in.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_DRAW_STATE_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_DRAW_STATE_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "packsmith/pack.h"
#include "packsmith/relations.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/state/fields.h"
#include "runtime/intel/state/pipeline_state.h"
#include "runtime/intel/state/shared_constants.h"
#include "runtime/intel/state/state_core.h"
#include "runtime/intel/state/state_layout.h"
#include "runtime/intel/state/state_tables.h"

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
    static_assert((Layout::kMade.fixed & kGroup<P>) != 0,
                  "use SetItems() for packets with items, SetEach() for packets that are emitted "
                  "several times");
    if constexpr (IsInlined<P>()) {
      return SetInlined<Checks>(packet);
    } else {
      return SetPackets(Index<P>(), {.packet = &packet, .dwords = P::length}, Checks);
    }
  }

  // Sets a packet and the items that follow it.
  template <checks Checks = default_checks, class P>
  bool SetItems(const P& packet, span<const typename P::ps_item> items) {
    return SetPackets(Index<P>(),
                      {.packet = &packet,
                       .items = items.data(),
                       .count = items.size(),
                       .dwords = P::dwords_needed(items.size())},
                      Checks);
  }
  template <checks Checks = default_checks, class P, unsigned N>
  PACKSMITH_INLINE bool SetItems(const P& packet, const typename P::ps_item (&items)[N]) {
    if constexpr (AreInlined<P, N>()) {
      return SetFew<Checks>(packet, items);
    } else {
      return SetItems<Checks>(packet, span<const typename P::ps_item>(items));
    }
  }

  // Sets all packets of a kind of which there may be several.
  template <checks Checks = default_checks, class P>
  bool SetEach(span<const P> packets) {
    static_assert((Layout::kMade.fixed & kGroup<P>) == 0, "this packet is emitted once: use Set()");
    return SetPackets(Index<P>(),
                      {.packet = packets.data(),
                       .count = packets.size(),
                       .dwords = packets.size() * size_t{P::length}},
                      Checks);
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
    return ReplaceOnce(Index<P>(), index, {.packet = &first, .count = 1, .dwords = P::length},
                       Checks);
  }

  // Sets values of dynamic fields of one packet, which apply if the pipeline leaves them open. Zero
  // until they are set.
  template <auto... Members>
  bool SetFields(const ValueOf<Members>&... values) {
    using Fields = FieldBits<Members...>;
    using P = typename Fields::Packet;
    static_assert((Layout::kMade.fixed & kGroup<P>) != 0);
    P packet;
    ((packet.*Members = values), ...);
    uint32_t packed[P::length];
    const error e = Fields::Pack(packet, packed);
    if (bits::rarely(static_cast<bool>(e))) return RefusePacket(e, Index<P>());
    SetValues(Index<P>(), Fields::kMask, packed);
    return true;
  }

  // Sets all packets of a pipeline, whose status must be OK. They are copied: it need not outlive
  // this.
  void Bind(const PipelineState<Gen>& pipeline) { BindCore(pipeline.core_); }

  // Allows pixels to skip waits that the current state does not need: on Gfx8 and Gfx9, see
  // PixelMaskStallFix. Not while 3DSTATE_WM_HZ_OP clears or resolves depth or stencil, nor while
  // 3DSTATE_WM_CHROMAKEY kills pixels: the next flush sets a register, and must precede these.
  void AllowStallFix(bool allowed) requires(Gen::kFacts.pixel_mask_stall != PixelMaskStall::kNone) {
    Allow(allowed);
  }

  // Emits dirty groups and those that must accompany them, in the hardware's order: one group of
  // the batch, or nothing. False if there is no room, or if a packet that the draw or the emission
  // needs was never set; nothing has changed then. Draw: the packet that follows.
  template <class Draw = typename Packets::_3DPRIMITIVE>
  PACKSMITH_INLINE bool Flush(Batch<Gen>& batch) {
    static_assert(Layout::template kNeededBy<typename Packets::_3DPRIMITIVE> != 0,
                  "include runtime/intel/state/<generation>.h, which has the relations");
    constexpr StateGroups kNeeded = Layout::template kNeededBy<Draw>;
    // One test for the usual draw. With nothing dirty, FlushPairs() looks for what is absent.
    const StateGroups obstacles = std::is_same_v<Draw, typename Packets::_3DPRIMITIVE>
                                      ? dirty_ & held_
                                      : (dirty_ & slow_) | (kNeeded & absent_);
    if (bits::rarely(obstacles != 0)) return FlushDirty(batch, kNeeded);
    return FlushPairs(batch, kNeeded);
  }

  // The context has these packets, although they were not set here. They satisfy the needs of
  // draws, and are not emitted until they are set.
  template <class... P>
  void Inherit() {
    (InheritPacket(Index<P>()), ...);
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
    EachEmittedBuffer([&](uint32_t buffer, gpu::UseFlags use) { batch.Use(buffer, use); });
  }

 private:
  template <class P>
  static constexpr StatePacket PlaceOf() {
    return Layout::kMade.packets[Index<P>()];
  }
  static constexpr uint32_t kSide = Layout::kMade.places[Layout::kGroups].dword;

  // Whether a packet is packed where it is set: the small ones and those with constants, which
  // change with every draw.
  template <class P>
  static constexpr bool IsInlined() {
#ifdef __OPTIMIZE__
    constexpr unsigned kSmall = 3, kSmallGroup = 8;
    constexpr StateGroupPlace kGroupPlace = Layout::kMade.places[PlaceOf<P>().group];
    // A group of several packets must not have addresses.
    return kGroupPlace.dwords != 0 && (requires(const P& p) {
             p.constant_body;
           } || (P::length <= kSmall && (kGroupPlace.dwords == P::length ||
                                         (kGroupPlace.dwords <= kSmallGroup &&
                                          Layout::template HasNoAddresses<PlaceOf<P>().group>()))));
#else
    return false;
#endif
  }

  // The same of a packet with items: few of them, and nothing else in the group.
  template <class P, unsigned N>
  static constexpr bool AreInlined() {
#ifdef __OPTIMIZE__
    constexpr unsigned kFew = 4;
    constexpr StateGroupPlace kGroupPlace = Layout::kMade.places[PlaceOf<P>().group];
    return N <= kFew && kGroupPlace.ahead == 0 && kGroupPlace.behind == 0 &&
           kGroupPlace.parts == PlaceOf<P>().part && P::dwords_needed(N) <= PlaceOf<P>().dwords &&
           AddressesIn<P>() == 0 && AddressesIn<typename P::ps_item>() == 1;
#else
    return false;
#endif
  }

  // As SetPackets(), of a packet without companions.
  template <checks Checks, class P>
  PACKSMITH_INLINE bool SetInlined(const P& packet) {
    constexpr unsigned kGroupIndex = PlaceOf<P>().group;
    constexpr StateGroups kOne = StateGroup(kGroupIndex);
    if (bits::rarely((settled_ & kOne) == 0 || (Checks == checks::on && bits::doubtful(packet)))) {
      return SetUnsettled<Checks>(P(packet));
    }
    bits::packer<P::length> packed;
    packed.w[0] = kLengthBits<P>;
    P::ps_layout(packet, packed);
    packed.close();

    constexpr StateGroupPlace kGroupPlace = Layout::kMade.places[kGroupIndex];
    constexpr bool kIsPair = (Layout::kMade.pairs & kOne) != 0;
    const uint32_t gpu = kIsPair ? 0 : static_cast<uint32_t>(gpu_[kGroupIndex]);
    uint32_t* const dwords = dwords_.data() + PlaceOf<P>().dword;
    if constexpr (kGroupPlace.dwords != P::length) {
      // Clean: the other packets of the group are on the GPU's side only.
      if ((dirty_ & kOne) == 0) {
        CopyFixed<kGroupPlace.dwords>(dwords_.data() + kGroupPlace.dword, gpu ^ kSide, gpu);
      }
    }
    // If the values are the same, nothing reads what is stored here.
    bool differs = StoreAndCompare(packed.w, dwords + (gpu ^ kSide), dwords + gpu,
                                   bits::first_indices<(P::length + 1) / 2>());
    if constexpr (AddressesIn<P>() != 0) differs |= SetAddresses(packet, gpu != 0 ? 1 : 0);
    if constexpr (kGroupPlace.dwords == P::length) {
      SetDirty(kOne, differs);
    } else if (differs) [[likely]] {
      dirty_ |= kOne;
    } else if ((dirty_ & kOne) != 0) {
      Compare(kGroupIndex);
    }
    return true;
  }
  // A branch, so that what comes next need not wait for the comparison.
  PACKSMITH_INLINE void SetDirty(StateGroups one, bool differs) {
    if (differs) [[likely]] {
      dirty_ |= one;
    } else {
      dirty_ &= ~one;
      asm("");  // or else compilers select without a branch
    }
  }
  template <unsigned Dwords>
  PACKSMITH_INLINE static void CopyFixed(uint32_t* group, uint32_t to, uint32_t from) {
    for (unsigned i = 0; i < Dwords; ++i) group[to + i] = group[from + i];
  }
  // Two dwords at a time, as places are even. (No loop: compilers unroll it too late to keep the
  // packer in registers.)
  template <unsigned N, unsigned... I>
  PACKSMITH_INLINE static bool StoreAndCompare(const uint32_t (&packed)[N], uint32_t* to,
                                               const uint32_t* had, bits::indices<I...>) {
    return (uint64_t{0} | ... | StoreTwo<2 * I>(packed, to, had)) != 0;
  }
  template <unsigned I, unsigned N>
  PACKSMITH_INLINE static uint64_t StoreTwo(const uint32_t (&packed)[N], uint32_t* to,
                                            const uint32_t* had) {
    if constexpr (I + 1 == N) {
      to[I] = packed[I];
      return packed[I] ^ had[I];
    } else {
      uint64_t old;
      const uint64_t two = packed[I] | uint64_t{packed[I + 1]} << 32;
      __builtin_memcpy(&old, had + I, 8);
      __builtin_memcpy(to + I, &two, 8);
      return two ^ old;
    }
  }
  template <checks Checks, class P>
  [[gnu::cold, gnu::noinline]] bool SetUnsettled(const P& packet) {
    return SetPackets(Index<P>(), {.packet = &packet, .dwords = P::length}, Checks);
  }
  // As SetInlined().
  template <checks Checks, class P, unsigned N>
  PACKSMITH_INLINE bool SetFew(const P& packet, const typename P::ps_item (&items)[N]) {
    constexpr unsigned kGroupIndex = PlaceOf<P>().group;
    constexpr StateGroups kOne = StateGroup(kGroupIndex);
    constexpr auto kEach = bits::first_indices<N>();
    if (bits::rarely((settled_ & kOne) == 0 ||
                     (Checks == checks::on && DoNotFit(packet, items, kEach)))) {
      // A copy, as the caller's items should not have to be in memory.
      FewItems<P, N> copy{packet, {}};
      for (unsigned i = 0; i < N; ++i) copy.items[i] = items[i];
      return SetUnsettledItems<Checks>(copy);
    }
    constexpr unsigned kDwords = P::dwords_needed(N);
    const uint32_t gpu = static_cast<uint32_t>(gpu_[kGroupIndex]);
    const unsigned side = gpu != 0 ? 1 : 0;
    uint32_t* const dwords = dwords_.data() + PlaceOf<P>().dword;
    uint32_t packed[kDwords];
    PackFew(packet, items, packed, kEach);
    const bool other_size = sizes_[side][kGroupIndex] != kDwords;
    bool differs = StoreAndCompare(packed, dwords + (gpu ^ kSide), dwords + gpu,
                                   bits::first_indices<(kDwords + 1) / 2>());
    sizes_[side ^ 1][kGroupIndex] = kDwords;
    counts_[side ^ 1][kGroupIndex] = N;
    StateAddress noted[N];
    NoteFew(items, noted, kEach);
    differs |= StoreAddresses<kGroupIndex>(noted, layout_.packets[Index<P>()].address, side);
    // Of fewer items the side may have buffers that were never listed.
    if (bits::rarely(other_size)) unlisted_ |= kOne;
    differs |= other_size;
    SetDirty(kOne, differs);
    return true;
  }
  // Member by member: items that were made just now need not be in memory.
  template <class P, unsigned N, unsigned... I>
  PACKSMITH_INLINE static bool DoNotFit(const P& packet, const typename P::ps_item (&items)[N],
                                        bits::indices<I...>) {
    return (bits::rarely(bits::misfit(items[I])) || ...) || bits::misfit(packet);
  }
  // To words that compilers keep in registers.
  template <class P, unsigned N, unsigned Dwords, unsigned... I>
  PACKSMITH_INLINE static void PackFew(const P& packet, const typename P::ps_item (&items)[N],
                                       uint32_t (&packed)[Dwords], bits::indices<I...>) {
    PackOne<0>(packet, kLengthBitsOf<P, N>, packed, bits::first_indices<P::dwords_needed(0)>());
    (PackOne<P::dwords_needed(I)>(items[I], 0, packed, bits::first_indices<P::ps_item::length>()),
     ...);
  }
  template <unsigned First, class T, unsigned Dwords, unsigned... I>
  PACKSMITH_INLINE static void PackOne(const T& one, uint32_t first, uint32_t (&packed)[Dwords],
                                       bits::indices<I...>) {
    static_assert(!bits::has_variants<T>);
    bits::packer<sizeof...(I)> words;
    words.w[0] = first;
    T::ps_layout(one, words);
    words.close();
    ((packed[First + I] = words.w[I]), ...);
  }
  // Each item has one address.
  template <class Item, unsigned N, unsigned... I>
  PACKSMITH_INLINE static void NoteFew(const Item (&items)[N], StateAddress (&noted)[N],
                                       bits::indices<I...>) {
    const auto note = [](const Item& item) {
      StateAddress one;
      StateAddress* next = &one;
      AddressWriter writer{next};
      bits::addresses(item, writer);
      return one;
    };
    ((noted[I] = note(items[I])), ...);
  }
  template <class P, unsigned N>
  struct FewItems {
    P packet;
    typename P::ps_item items[N];
  };
  template <checks Checks, class P, unsigned N>
  [[gnu::cold, gnu::noinline]] bool SetUnsettledItems(const FewItems<P, N>& few) {
    return SetItems<Checks>(few.packet, span<const typename P::ps_item>(few.items));
  }
  // A default packet's first dword, without its length.
  template <class P>
  static constexpr uint32_t MembersOfFirst() {
    const P packet = {};
    bits::packer<P::length> packed;
    P::ps_layout(packet, packed);
    packed.close();
    return packed.w[0];
  }
  // The packet's length, in its first dword: what is neither a member nor forced.
  template <class P>
  static constexpr uint32_t kLengthBits = [] {
    uint32_t whole[P::length] = {};
    (void)P().template pack<checks::off>(whole);
    return whole[0] ^ MembersOfFirst<P>();
  }();
  // The same of a packet with N items.
  template <class P, unsigned N>
  static constexpr uint32_t kLengthBitsOf = [] {
    const typename P::ps_item items[N] = {};
    uint32_t whole[P::dwords_needed(N)] = {};
    (void)P().template pack<checks::off>(whole, items);
    return whole[0] ^ MembersOfFirst<P>();
  }();
  // Stores the buffers of addresses. Whether they differ from those that the GPU has. `gpu`: the
  // side with these.
  template <class P>
  PACKSMITH_INLINE bool SetAddresses(const P& packet, unsigned gpu) {
    StateAddress noted[AddressesIn<P>()];
    StateAddress* next = noted;
    AddressWriter writer{next};
    bits::addresses(packet, writer);
    return StoreAddresses<PlaceOf<P>().group>(noted, layout_.packets[Index<P>()].address, gpu);
  }
  template <unsigned Group, unsigned N>
  PACKSMITH_INLINE bool StoreAddresses(const StateAddress (&noted)[N], unsigned first,
                                       unsigned gpu) {
    constexpr StateGroups kOne = StateGroup(Group);
    StateGroups& addressed = addressed_[gpu ^ 1];
    const auto each = [&]<unsigned... I>(bits::indices<I...>) {
      const StateAddress* const had = addresses_on(gpu) + first;
      StateAddress* const to = addresses_on(gpu ^ 1) + first;
      const uint64_t differences =
          ((static_cast<uint64_t>(noted[I]) ^ static_cast<uint64_t>(had[I])) | ...);
      ((to[I] = noted[I]), ...);
      const bool any = (BufferOf(noted[I]) | ...) != 0;
      if (((addressed & kOne) != 0) != any) addressed ^= kOne;
      // Otherwise they are those of the last emission.
      if (bits::rarely(differences != 0)) unlisted_ |= kOne;
      return differences != 0;
    };
    return each(bits::first_indices<N>());
  }

  // The groups of push constants.
  static constexpr StateGroups Constants() {
    return kGroup<typename Packets::_3DSTATE_CONSTANT_VS> |
           kGroup<typename Packets::_3DSTATE_CONSTANT_HS> |
           kGroup<typename Packets::_3DSTATE_CONSTANT_DS> |
           kGroup<typename Packets::_3DSTATE_CONSTANT_GS> |
           kGroup<typename Packets::_3DSTATE_CONSTANT_PS>;
  }

  PACKSMITH_INLINE void CopyInto(typename Batch<Gen>::Group& group, StateGroups groups) const;
  bool EmitGroups(Batch<Gen>& batch, StateGroups groups);
  bool EmitWithConstants(Batch<Gen>& batch, StateGroups groups);
  void Allow(bool stall_fix);
  template <class D>
  void Derive();
  void DeriveAll();
  // Pairs without company, or nothing; groups, also with company and addresses; and all that is
  // rare.
  PACKSMITH_INLINE bool FlushPairs(Batch<Gen>& batch, StateGroups draw_needs);
  bool FlushDirty(Batch<Gen>& batch, StateGroups draw_needs);
  bool FlushSlowly(Batch<Gen>& batch, StateGroups draw_needs);
  // Copies a group to `to`, and returns its end. dirty: whether it is.
  PACKSMITH_INLINE uint32_t* CopyEmitted(uint32_t* to, unsigned group, uint32_t dirty);

  bool stall_fix_ = false;  // allowed
};

// -- Most of the rest is compiled in the library -------------------------------------------------

template <class Gen>
DrawState<Gen>::DrawState(const address& scratch) : StateCore(TablesOf<Gen>::kTables) {
  if (Layout::kMade.needs_scratch && scratch == address()) RefuseScratch(Gen::kName);
  // Some packets are derived only on request.
  if (Layout::kDerivedAlways) derived_from_ = Layout::kDerivedOrFrom;
  Layout::EachCompanion([&]<class Companion>(const Companion*, unsigned index) {
    const auto packet = Companion::Make(scratch);
    uint32_t dwords[Companion::Packet::length] = {};
    if (const error e = packet.pack(dwords)) RefusePacket(e, index);
    SetCompanion(index, dwords,
                 address(scratch.gpu, scratch.buffer,
                         Companion::kNeedsScratch ? access::write : scratch.use));
  });
}

// Copies the groups, in their order.
template <class Gen>
PACKSMITH_INLINE inline void DrawState<Gen>::CopyInto(typename Batch<Gen>::Group& group,
                                                      StateGroups groups) const {
  uint32_t* const begin = group.Reserve(0);
  for (StateGroups left = groups; left != 0; left &= left - 1) {
    const unsigned one = static_cast<unsigned>(__builtin_ctzll(left));
    const unsigned side = WantedSide(one);
    const size_t size = sizes_[side][one];
    CopyDwords(group.Reserve(size), dwords_on(side) + layout_.places[one].dword, size);
  }
  EachCopiedAddress(begin, groups,
                    [&](const uint32_t* at, unsigned bit, unsigned width, const address& a,
                        gpu::UseFlags use) { group.Note(at, bit, width, a, use); });
  if (bits::rarely((groups & once_groups_) != 0)) WriteOnce(begin, groups);
}

template <class Gen>
bool DrawState<Gen>::EmitGroups(Batch<Gen>& batch, StateGroups groups) {
  if constexpr (requires { typename Packets::_3DSTATE_CONSTANT_ALL; }) {
    if ((groups & Constants()) != 0) return EmitWithConstants(batch, groups);
  }
  typename Batch<Gen>::Group group(batch, DwordsOf(groups));
  CopyInto(group, groups);
  return group.ok();
}

// Stages with the same constants share a packet, in the place of their own packets.
template <class Gen>
bool DrawState<Gen>::EmitWithConstants(Batch<Gen>& batch, StateGroups groups) {
  if constexpr (requires { typename Packets::_3DSTATE_CONSTANT_ALL; }) {
    SharedConstants<Gen> shared;
    StateGroups sharing = 0;
    SharedConstants<Gen>::EachStage([&]<class P>(auto stage) {
      constexpr StateGroups kOne = kGroup<P>;
      if ((groups & ~once_groups_ & kOne) != 0 &&
          shared.template Add<P>(stage, wanted(Index<P>()), wanted_addresses(Index<P>()))) {
        sharing |= kOne;
      }
    });
    const StateGroups alone = groups & ~sharing;
    const StateGroups before = alone & ((Constants() & -Constants()) - 1);
    typename Batch<Gen>::Group group(batch, DwordsOf(alone) + shared.dwords());
    CopyInto(group, before);
    shared.EmitTo(group);
    CopyInto(group, alone & ~before);
    return group.ok();
  }
  return false;
}

// Updates a derived packet, if all packets that it depends on have been set.
template <class Gen>
template <class D>
void DrawState<Gen>::Derive() {
  const auto set = [&]<class... P>(types<P...>) { return (IsSet(PlaceOf<P>()) && ...); };
  if (!set(typename D::From())) return;
  const typename D::Packet packet = [&]<class... P>(types<P...>) {
    if constexpr (D::kOnRequest) {
      return D::Make(stall_fix_, P::unpack(wanted(Index<P>()))...);
    } else {
      return D::Make(P::unpack(wanted(Index<P>()))...);
    }
  }(typename D::From());
  uint32_t dwords[D::Packet::length];
  (void)packet.template pack<checks::off>(dwords);
  SetDwords(Index<D>(), dwords);
}

template <class Gen>
void DrawState<Gen>::DeriveAll() {
  Layout::EachDerived([&]<class D>(D*) {
    if (!D::kOnRequest || stall_fix_ || (set_ & kGroup<D>) != 0) Derive<D>();
  });
}

template <class Gen>
void DrawState<Gen>::Allow(bool stall_fix) {
  stall_fix_ = stall_fix;
  if (stall_fix) derived_from_ = Layout::kDerivedOrFrom;
  Settle();
  DeriveAll();
}

template <class Gen>
PACKSMITH_INLINE inline bool DrawState<Gen>::FlushPairs(Batch<Gen>& batch, StateGroups draw_needs) {
  StateGroups left = dirty_;
  if (left == 0) {
    if (bits::rarely((draw_needs & absent_) != 0)) return FlushSlowly(batch, draw_needs);
    return true;
  }
  uint32_t* to = batch.BeginAt(kSide);
  if (bits::rarely(to == nullptr)) return FlushSlowly(batch, draw_needs);
  uint32_t* const dwords = dwords_.data();
  do {
    const uint64_t pair =
        KeepPair(dwords + Layout::kBegins[static_cast<unsigned>(__builtin_ctzll(left))], kSide);
    __builtin_memcpy(to, &pair, 8);
    to += 2;
  } while ((left &= left - 1) != 0);
  batch.EndAt(to);
  dirty_ = 0;
  return true;
}

template <class Gen>
PACKSMITH_INLINE inline uint32_t* DrawState<Gen>::CopyEmitted(uint32_t* to, unsigned group,
                                                              uint32_t dirty) {
  uint32_t* const dwords = dwords_.data() + Layout::kBegins[group];
  if ((Layout::kMade.pairs >> group & 1) != 0) {
    const uint64_t pair = KeepPair(dwords, kSide);
    __builtin_memcpy(to, &pair, 8);
    return to + 2;
  }
  const uint32_t side = static_cast<uint32_t>(gpu_[group]) ^ (dirty != 0 ? kSide : 0);
  gpu_[group] = static_cast<Side>(side);
  size_t size = Layout::kMade.places[group].dwords;
  if (size != 0) {
    CopyGroup(to, dwords + side, size);
  } else {
    size = sizes_[side != 0 ? 1 : 0][group];
    CopyDwords(to, dwords + side, size);
  }
  return to + size;
}

template <class Gen>
[[gnu::noinline]] bool DrawState<Gen>::FlushDirty(Batch<Gen>& batch, StateGroups draw_needs) {
  uint32_t* to = batch.BeginAt(kSide);
  // Addresses may have been set since quick_ was found.
  if (((dirty_ & (~quick_ | addressed_[0] | addressed_[1])) | (draw_needs & absent_)) == 0 &&
      to != nullptr) {
    for (StateGroups left = dirty_; left != 0; left &= left - 1) {
      to = CopyEmitted(to, static_cast<unsigned>(__builtin_ctzll(left)), 1);
    }
    batch.EndAt(to);
    dirty_ = 0;
    return true;
  }
  const StateGroups groups = ToEmit();
  StateGroups obstacles =
      (groups & ~set_) | (draw_needs & absent_) | (groups & (derived_from_ | once_groups_));
  if constexpr (requires { typename Packets::_3DSTATE_CONSTANT_ALL; }) {
    obstacles |= groups & Constants();
  }
  if (bits::rarely(obstacles != 0 || to == nullptr)) return FlushSlowly(batch, draw_needs);
  if (batch.number() != listed_in_) {
    listed_in_ = batch.number();
    unlisted_ = ~StateGroups{0};
  }
  const StateGroups unlisted = groups & unlisted_ & (addressed_[0] | addressed_[1]);
  for (StateGroups left = unlisted; left != 0; left &= left - 1) {
    const unsigned group = static_cast<unsigned>(__builtin_ctzll(left));
    const unsigned side = WantedSide(group);
    const StateAddress* first = addresses_on(side) + layout_.places[group].address;
    for (const StateAddress* const end = first + counts_[side][group]; first != end; ++first) {
      const uint32_t buffer = BufferOf(*first);
      if (buffer != 0 && bits::rarely(!batch.uses().Known(buffer, UseOf(*first)))) {
        return FlushSlowly(batch, draw_needs);
      }
    }
  }
  // Only here: a batch that must record each address knows no buffer, and never comes here.
  unlisted_ &= ~unlisted;
  const StateGroups dirty = dirty_;
  for (StateGroups left = groups; left != 0; left &= left - 1) {
    const unsigned group = static_cast<unsigned>(__builtin_ctzll(left));
    to = CopyEmitted(to, group, dirty >> group & 1);
  }
  batch.EndAt(to);
  dirty_ = 0;
  if ((groups & ~settled_) != 0) Settle(groups);
  return true;
}

template <class Gen>
[[gnu::noinline]] bool DrawState<Gen>::FlushSlowly(Batch<Gen>& batch, StateGroups draw_needs) {
  if (Layout::kDerived != 0 && (dirty_ & derived_from_) != 0) DeriveAll();
  const StateGroups groups = ToEmit();
  const StateGroups missing = (groups & ~set_) | (draw_needs & absent_);
  if (bits::rarely(missing != 0)) return RefuseIncomplete(draw_needs);
  if (groups == 0) return true;
  const bool once = (groups & once_groups_) != 0;
  if (!EmitGroups(batch, groups)) return false;
  SetEmitted(groups);
  if (bits::rarely(once)) DropOnceOf(groups);
  return true;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_DRAW_STATE_H_
