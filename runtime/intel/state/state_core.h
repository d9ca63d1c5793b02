// The part of draw states that does not depend on the generation. Use draw_state.h.
//
// Packed packets have two places each, the sides 0 and 1. While a group is clean, one side has its
// values. While it is dirty, the other side has the wanted ones, and the first one what the GPU
// last received, if that is known. A flush copies the wanted values to the batch, and the sides
// change their roles.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_STATE_CORE_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_STATE_CORE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/intel/state/fields.h"
#include "runtime/intel/state/state_layout.h"

namespace packsmith::intel {

// The buffer of an address in packed packets, and its use. (An enum, so that compilers know that
// storing one changes nothing else.) The address itself is in the packet: see StateAddressPlace.
enum class StateAddress : uint64_t {};
PACKSMITH_INLINE constexpr StateAddress StateAddressOf(const address& a, access how) {
  return static_cast<StateAddress>(uint64_t{gpu::UseOf(how)} << 32 | a.buffer);
}
// 0: none.
PACKSMITH_INLINE constexpr uint32_t BufferOf(StateAddress a) { return static_cast<uint32_t>(a); }
PACKSMITH_INLINE constexpr gpu::UseFlags UseOf(StateAddress a) {
  return static_cast<gpu::UseFlags>(static_cast<uint64_t>(a) >> 32);
}

// No group of a fixed size is larger.
inline constexpr unsigned kMostFixedDwords = 128;

// The position of an address in packed packets.
struct StateAddressPlace {
  uint16_t dword = 0;  // where it begins, from the group's start
  uint8_t bit = 0, width = 0;
  uint8_t shift = 0;  // low bits that are not stored, and zero

  // The address as packed. group: where the group is.
  uint64_t In(const uint32_t* group) const {
    return bits::get(bits::dwords{group + dword}, bit, width) << shift;
  }
};

// Packets of a type that only the table of packers knows.
struct UnpackedPackets {
  const void* packet;           // one; of SetEach(): the first of `count`
  const void* items = nullptr;  // that follow it
  unsigned count = 0;
  size_t dwords;  // packed, without what follows in the group
};
// Packs them to `to`, with the companions that follow in a group whose size varies, and their
// addresses to `addresses`, which then points after the last one. On an error nothing is written.
using PackPackets = error (*)(const UnpackedPackets& from, checks which, uint32_t* to,
                              StateAddress*& addresses);

// A generation's tables: state_tables.h makes them.
struct StateTables {
  const StateLayout& layout;
  const StateAddressPlace* addresses;  // in the order of the list of addresses
  const PackPackets* pack;             // of each packet; null for companions
};

// A packet of a pipeline.
struct PipelinePacket {
  uint32_t packet = 0;        // index in the layout
  uint32_t dword = 0;         // in PipelineCore::dwords
  uint32_t dwords = 0;        // including what follows it
  uint32_t address = 0;       // in PipelineCore::addresses
  uint32_t addresses = 0;     // of it
  MaskedDwords dynamic = {};  // bits that are not the pipeline's; zero in its dwords
};

// A pipeline's packed packets.
struct PipelineCore {
  uint64_t number = 0;  // unique in the program, from 1
  std::vector<PipelinePacket> packets;
  std::vector<uint32_t> dwords;
  std::vector<StateAddress> addresses;
  absl::Status status;  // of the first packet that could not be added

  // A number that no other pipeline has.
  static uint64_t NewNumber();
  // dynamic: masks that outlive the pipeline.
  bool Add(const StateTables& tables, unsigned packet, const UnpackedPackets& from,
           MaskedDwords dynamic);
};

class StateCore {
 public:
  StateCore(const StateCore&) = delete;
  StateCore& operator=(const StateCore&) = delete;

  // The first error since the beginning, or since TakeStatus(). (Errors of the batch are in its own
  // status.)
  const absl::Status& status() const { return status_; }
  absl::Status TakeStatus();

  // Groups whose wanted values differ from what the GPU last received, or for which that is
  // unknown. Groups of which nothing was ever set are not dirty.
  StateGroups dirty() const { return dirty_; }
  // Groups of which all packets have been set.
  StateGroups set() const { return set_; }
  // What the next flush emits: dirty groups, and those that must accompany them according to the
  // XML. (Packets derived from these, see derived.h, are determined by the flush itself.)
  StateGroups ToEmit() const {
    StateGroups all = dirty_;
    for (StateGroups left = dirty_ & ~alone_; left != 0; left &= left - 1) {
      all |= layout_.with[__builtin_ctzll(left)];
    }
    return all;
  }
  // The most dwords that this takes: stages may share a packet of constants.
  size_t DwordsToEmit() const { return DwordsOf(ToEmit()); }
  // The packets of these groups, for messages: "_3DSTATE_RASTER, _3DSTATE_SF".
  std::string NamesOf(StateGroups groups) const;

  // What the GPU has is unknown: it is another context, or other code wrote to it. Everything that
  // was set is emitted again, and nothing is inherited.
  void Forget() {
    Lose(~StateGroups{0});
    Disinherit(~StateGroups{0});
  }
  // The context has all packets, also those that were not set here: from other code that drew with
  // it, or from a kernel that begins each context with state of its own. They satisfy the needs of
  // draws until they are lost: see Forget(), and Emitted() and Resume() of draw_state.h.
  void InheritAll();
  // Groups of which all packets are inherited, even if they have been set.
  StateGroups inherited() const { return inherited_; }

 protected:
  // Packets are a few dwords, for which calling memcpy costs more than it does. Dword by dword:
  // they were probably stored just now, and a load of several stores has to wait for them.
  PACKSMITH_INLINE static void CopyDwords(uint32_t* to, const uint32_t* from, size_t dwords) {
    if (dwords > 32) {
      std::memcpy(to, from, dwords * 4);
      return;
    }
    for (size_t i = 0; i < dwords; ++i) to[i] = from[i];
  }

  explicit StateCore(const StateTables& tables);
  ~StateCore() = default;

  // -- Sides --------------------------------------------------------------------------------------

  // The sides with the wanted values: a bit for each group.
  PACKSMITH_INLINE StateGroups WantedSides() const { return gpu_sides_ ^ dirty_; }
  PACKSMITH_INLINE static unsigned SideIn(StateGroups sides, unsigned group) {
    return static_cast<unsigned>(sides >> group & 1);
  }
  uint32_t* dwords_on(unsigned side) { return dwords_.data() + side * size_t{dwords_of_side_}; }
  const uint32_t* dwords_on(unsigned side) const {
    return dwords_.data() + side * size_t{dwords_of_side_};
  }
  StateAddress* addresses_on(unsigned side) {
    return addresses_.data() + side * size_t{addresses_of_side_};
  }
  const StateAddress* addresses_on(unsigned side) const {
    return addresses_.data() + side * size_t{addresses_of_side_};
  }
  // A packet's wanted values.
  const uint32_t* wanted(unsigned packet) const {
    const StatePacket& place = layout_.packets[packet];
    return dwords_on(SideIn(WantedSides(), place.group)) + place.dword;
  }
  const StateAddress* wanted_addresses(unsigned packet) const {
    const StatePacket& place = layout_.packets[packet];
    return addresses_on(SideIn(WantedSides(), place.group)) + place.address;
  }
  // Groups whose wanted values have addresses of buffers; those of which the GPU has some.
  StateGroups WantedAddressed() const {
    const StateGroups sides = WantedSides();
    return (addressed_[0] & ~sides) | (addressed_[1] & sides);
  }
  StateGroups EmittedAddressed() const {
    return (addressed_[0] & ~gpu_sides_) | (addressed_[1] & gpu_sides_);
  }
  bool IsSet(const StatePacket& place) const {
    return (set_ & StateGroup(place.group)) != 0 || (unset_[place.group] & place.part) == 0;
  }

  // -- Setting ------------------------------------------------------------------------------------

  // All values of a packet that is emitted once; of one with items, or of several.
  bool SetPackets(unsigned packet, const UnpackedPackets& from, checks which);
  // The same of a packet that is packed, and has no addresses.
  void SetDwords(unsigned packet, const uint32_t* dwords);
  // Sets bits of dynamic fields. packed: all of the packet's dwords.
  void SetValues(unsigned packet, MaskedDwords masks, const uint32_t* packed);
  // Overrides the dwords of a packet that is set for the next emission of its group; addresses must
  // be the same. index: among the packets of its kind.
  bool ReplaceOnce(unsigned packet, unsigned index, const UnpackedPackets& from, checks which);
  void BindCore(const PipelineCore& pipeline);
  // A companion, on both sides. Its address is at the packet's own place.
  void SetCompanion(unsigned packet, const uint32_t* dwords, const address& scratch);
  // From here on all of a packet's values are the caller's. Needed if its group is among special_.
  void TakeFromPipeline(unsigned packet);

  // -- What the GPU has ---------------------------------------------------------------------------

  // The GPU has lost these groups.
  void Lose(StateGroups groups) {
    known_ &= ~groups;
    sure_ &= ~groups;
    // What is wanted of a group that was clean is on the side of the GPU's values.
    const StateGroups now = groups & set_ & ~dirty_;
    gpu_sides_ ^= now;
    dirty_ |= now;
  }
  // Notes that the context has a packet, or no longer has those of the groups.
  void InheritPacket(unsigned packet);
  void Disinherit(StateGroups groups) {
    if ((groups & partly_inherited_) != 0) DisinheritParts(groups);
  }
  void DisinheritParts(StateGroups groups);
  // The groups have become part of a batch.
  PACKSMITH_INLINE void SetEmitted(StateGroups groups) {
    gpu_sides_ ^= groups & dirty_;
    dirty_ &= ~groups;
    known_ |= groups;
    sure_ |= groups & ~once_groups_;
  }
  // Calls f(buffer, use) for each address of a buffer that the GPU has.
  template <class F>
  void EachEmittedBuffer(F f) const {
    for (StateGroups with = known_ & EmittedAddressed(); with != 0; with &= with - 1) {
      const unsigned group = static_cast<unsigned>(__builtin_ctzll(with));
      const unsigned side = SideIn(gpu_sides_, group);
      const StateAddress* const first = addresses_on(side) + layout_.places[group].address;
      for (unsigned i = 0; i < counts_[side][group]; ++i) {
        if (BufferOf(first[i]) != 0) f(BufferOf(first[i]), UseOf(first[i]));
      }
    }
  }

  // -- Errors -------------------------------------------------------------------------------------

  // Keeps the first error. Returns false, for callers to pass on.
  bool Refuse(absl::Status status);
  [[gnu::cold]] bool RefusePacket(const error& e, unsigned packet);
  [[gnu::cold]] bool RefuseScratch(const char* generation);
  // The error for packets that the next emission or a draw needs, and that were never set.
  [[gnu::cold]] bool RefuseIncomplete(StateGroups draw_needs);

  // -- Emitting -----------------------------------------------------------------------------------

  // Groups are stored in their order. Calls f(groups, side, dword in the store, dwords) for each
  // contiguous run of them.
  template <class F>
  PACKSMITH_INLINE void EachRun(StateGroups groups, F f) const {
    const StateGroups sides = WantedSides();
    while (groups != 0) {
      const unsigned first = static_cast<unsigned>(__builtin_ctzll(groups));
      const unsigned side = SideIn(sides, first);
      const uint32_t dword = layout_.places[first].dword;
      const StateGroups same = (groups & layout_.fixed & (side != 0 ? sides : ~sides)) >> first;
      if ((same & 1) == 0) {
        f(StateGroup(first), side, dword, sizes_[side][first]);
        groups &= groups - 1;
        continue;
      }
      // There are fewer than 64 groups, so at least one bit is zero.
      const unsigned count = static_cast<unsigned>(__builtin_ctzll(~same));
      const StateGroups run = (StateGroup(count) - 1) << first;
      f(run, side, dword, layout_.places[first + count].dword - dword);
      groups &= ~run;
    }
  }
  size_t DwordsOf(StateGroups groups) const {
    size_t sum = 0;
    EachRun(groups, [&](StateGroups, unsigned, uint32_t, size_t dwords) { sum += dwords; });
    return sum;
  }
  // Whether `known(buffer, use)` is true for all buffers of the groups' addresses.
  template <class Known>
  PACKSMITH_INLINE bool AllKnown(StateGroups groups, Known known) const {
    for (StateGroups with = groups & WantedAddressed(); with != 0; with &= with - 1) {
      const unsigned group = static_cast<unsigned>(__builtin_ctzll(with));
      const unsigned side = SideIn(WantedSides(), group);
      const StateAddress* const first = addresses_on(side) + layout_.places[group].address;
      for (unsigned i = 0; i < counts_[side][group]; ++i) {
        if (BufferOf(first[i]) != 0 && !known(BufferOf(first[i]), UseOf(first[i]))) return false;
      }
    }
    return true;
  }
  // Calls f(place of the dword, bit, width, address, use) for each address of a buffer, of groups
  // that have been copied to `at`.
  template <class F>
  void EachCopiedAddress(const uint32_t* at, StateGroups groups, F f) const {
    const StateGroups addressed = WantedAddressed();
    for (StateGroups left = groups; left != 0; left &= left - 1) {
      const unsigned group = static_cast<unsigned>(__builtin_ctzll(left));
      const unsigned side = SideIn(WantedSides(), group);
      if ((addressed & StateGroup(group)) != 0) {
        const unsigned first = layout_.places[group].address;
        const uint32_t* const dwords = dwords_on(side) + layout_.places[group].dword;
        for (unsigned i = first; i < first + counts_[side][group]; ++i) {
          const StateAddress a = addresses_on(side)[i];
          const StateAddressPlace& place = tables_.addresses[i];
          if (BufferOf(a) == 0) continue;
          f(at + place.dword, place.bit, place.width, address(place.In(dwords), BufferOf(a)),
            UseOf(a));
        }
      }
      at += sizes_[side][group];
    }
  }
  // Applies the groups' overrides in once_ to where they have been copied; or drops them.
  [[gnu::cold, gnu::noinline]] void WriteOnce(uint32_t* to, StateGroups groups) const;
  [[gnu::cold, gnu::noinline]] void DropOnceOf(StateGroups groups);

  const StateTables& tables_;
  const StateLayout& layout_;
  StateGroups dirty_ = 0;
  StateGroups set_ = 0;
  StateGroups gpu_sides_ = 0;         // sides with what the GPU has; also without known_
  StateGroups known_ = 0;             // what the GPU has is there
  StateGroups sure_ = 0;              // and the next emission overrides nothing
  StateGroups special_ = 0;           // TakeFromPipeline() may have something to do
  StateGroups inherited_ = 0;         // the GPU has all of it without Set()
  StateGroups partly_inherited_ = 0;  // the GPU has some of its packets
  StateGroups once_groups_ = 0;       // have dwords in once_
  StateGroups alone_ = 0;             // no others accompany them
  StateGroups addressed_[2] = {};     // have addresses of buffers, on each side
  uint64_t bound_ = 0;                // the pipeline's number, if none of its packets was set since
  StateGroups bound_groups_ = 0;

  // Both sides. Groups are in their order, packets in their group.
  std::vector<uint32_t> dwords_;
  std::vector<StateAddress> addresses_;
  uint32_t dwords_of_side_, addresses_of_side_;
  uint16_t sizes_[2][64] = {};      // dwords of each group
  uint16_t counts_[2][64] = {};     // addresses of each group
  uint8_t unset_[64] = {};          // parts of each group that were never set, but see IsSet()
  uint8_t not_inherited_[64] = {};  // parts that are not inherited

  std::vector<uint32_t> values_;       // of dynamic fields, at the places of their packets
  std::vector<MaskedDwords> dynamic_;  // of each packet: the bits of values_ that apply

 private:
  // The override of a dword for the next emission.
  struct Once {
    uint32_t dword = 0;
    uint32_t value = 0;
    unsigned group = 0;
  };

  bool RefuseSize(unsigned packet, size_t dwords);
  bool IsFixed(unsigned group) const { return (layout_.fixed & StateGroup(group)) != 0; }
  // The side to write a group's new values to. If it is clean, the old ones are copied there,
  // unless all will be written. The group is dirty from here on; Compare() may make it clean again.
  unsigned Open(unsigned group, bool all = false);
  // A dirty group is clean if it is equal to what the GPU has.
  void Compare(unsigned group);
  void MarkSet(const StatePacket& place);
  // After a group's addresses were stored.
  void MarkAddressed(unsigned group, unsigned side);
  // Writes the dynamic fields' values over the pipeline's.
  void Merge(unsigned packet, uint32_t* to) const;
  // Whether a clean group has the pipeline's values already.
  bool HasAlready(const PipelineCore& pipeline, const PipelinePacket& from) const;
  void DropOnce(uint32_t dword, uint32_t dwords);
  void UpdateOnceGroups();

  // Enough for four buffers of stream output, and some more.
  std::array<Once, 16> once_ = {};
  unsigned once_count_ = 0;
  absl::Status status_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_STATE_CORE_H_
