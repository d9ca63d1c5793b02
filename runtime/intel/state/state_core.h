// The part of draw states that does not depend on the generation. Use draw_state.h.
//
// Packed packets have two places each, the sides 0 and 1. While a group is clean, one side has its
// values. While it is dirty, the other side has the wanted ones, and the first one what the GPU
// last received, if that is known. A flush copies the wanted values to the batch, and the sides
// change their roles.
//
// Pairs, which are groups of two dwords, are the exception: their sides keep their roles, side 0
// has what the GPU has, and a flush copies the wanted values there, too. While a pair is clean,
// both sides are the same.

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
// No generation's groups have more addresses.
inline constexpr unsigned kAddressesOfSide = 256;

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
  // they were probably stored just now, and a load of several stores would have to wait for them.
  PACKSMITH_INLINE static void CopyDwords(uint32_t* to, const uint32_t* from, size_t dwords) {
    if (bits::rarely(dwords > 64)) {
      std::memcpy(to, from, dwords * 4);
      return;
    }
    for (; dwords >= 4; dwords -= 4, to += 4, from += 4) {
      to[0] = from[0];
      to[1] = from[1];
      to[2] = from[2];
      to[3] = from[3];
    }
    if ((dwords & 2) != 0) {
      to[0] = from[0];
      to[1] = from[1];
      to += 2;
      from += 2;
    }
    if ((dwords & 1) != 0) to[0] = from[0];
  }

  // A group of a fixed size: two dwords at a time, as they were probably stored. An odd one is
  // copied with the dword that follows, for which there must be room.
  PACKSMITH_INLINE static void CopyGroup(uint32_t* to, const uint32_t* from, size_t dwords) {
    const uint32_t* const end = from + dwords;
    do {
      __builtin_memcpy(to, from, 8);
      to += 2;
      from += 2;
    } while (from < end);
  }

  explicit StateCore(const StateTables& tables);
  ~StateCore() = default;

  // -- Sides --------------------------------------------------------------------------------------

  // The side with what the GPU has, and the one with the wanted values.
  PACKSMITH_INLINE unsigned GpuSide(unsigned group) const {
    return gpu_[group] == Side::k0 ? 0 : 1;
  }
  PACKSMITH_INLINE unsigned WantedSide(unsigned group) const {
    return GpuSide(group) ^ static_cast<unsigned>(dirty_ >> group & 1);
  }
  // The other side has what the GPU has from now on. Not of pairs.
  PACKSMITH_INLINE void Swap(unsigned group) {
    gpu_[group] = static_cast<Side>(static_cast<uint32_t>(gpu_[group]) ^ dwords_of_side_);
  }
  // The GPU has a pair's wanted values, which are returned. `side`: the dwords of a side.
  PACKSMITH_INLINE static uint64_t KeepPair(uint32_t* group, size_t side) {
    uint64_t pair;
    __builtin_memcpy(&pair, group + side, 8);
    __builtin_memcpy(group, &pair, 8);
    return pair;
  }
  uint32_t* dwords_on(unsigned side) { return dwords_.data() + side * size_t{dwords_of_side_}; }
  const uint32_t* dwords_on(unsigned side) const {
    return dwords_.data() + side * size_t{dwords_of_side_};
  }
  StateAddress* addresses_on(unsigned side) {
    return addresses_.data() + side * size_t{kAddressesOfSide};
  }
  const StateAddress* addresses_on(unsigned side) const {
    return addresses_.data() + side * size_t{kAddressesOfSide};
  }
  // A packet's wanted values.
  const uint32_t* wanted(unsigned packet) const {
    const StatePacket& place = layout_.packets[packet];
    return dwords_on(WantedSide(place.group)) + place.dword;
  }
  const StateAddress* wanted_addresses(unsigned packet) const {
    const StatePacket& place = layout_.packets[packet];
    return addresses_on(WantedSide(place.group)) + place.address;
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
  // A dirty group is clean if it is equal to what the GPU has.
  void Compare(unsigned group);
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
  void Lose(StateGroups groups);
  // Notes that the context has a packet, or no longer has those of the groups.
  void InheritPacket(unsigned packet);
  void Disinherit(StateGroups groups) {
    if ((groups & partly_inherited_) != 0) DisinheritParts(groups);
  }
  void DisinheritParts(StateGroups groups);
  // The groups, which are all that are dirty and others, have become part of a batch.
  PACKSMITH_INLINE void SetEmitted(StateGroups groups) {
    for (StateGroups left = dirty_ & ~layout_.pairs; left != 0; left &= left - 1) {
      Swap(static_cast<unsigned>(__builtin_ctzll(left)));
    }
    for (StateGroups left = dirty_ & layout_.pairs; left != 0; left &= left - 1) {
      const StateGroupPlace& place = layout_.places[__builtin_ctzll(left)];
      KeepPair(dwords_.data() + place.dword, dwords_of_side_);
    }
    // A constant: the next change need not wait for this one.
    dirty_ = 0;
    if ((groups & ~settled_) != 0) Settle(groups);
  }
  // Calls f(buffer, use) for each address of a buffer that the GPU has.
  template <class F>
  void EachEmittedBuffer(F f) const {
    for (StateGroups left = known_ & (addressed_[0] | addressed_[1]); left != 0; left &= left - 1) {
      const unsigned group = static_cast<unsigned>(__builtin_ctzll(left));
      const unsigned side = GpuSide(group);
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

  size_t DwordsOf(StateGroups groups) const {
    size_t sum = 0;
    for (StateGroups left = groups; left != 0; left &= left - 1) {
      const unsigned group = static_cast<unsigned>(__builtin_ctzll(left));
      sum += sizes_[WantedSide(group)][group];
    }
    return sum;
  }
  // Calls f(place of the dword, bit, width, address, use) for each address of a buffer, of groups
  // that have been copied to `at`.
  template <class F>
  void EachCopiedAddress(const uint32_t* at, StateGroups groups, F f) const {
    for (StateGroups left = groups; left != 0; left &= left - 1) {
      const unsigned group = static_cast<unsigned>(__builtin_ctzll(left));
      const unsigned side = WantedSide(group);
      const unsigned first = layout_.places[group].address;
      const uint32_t* const dwords = dwords_on(side) + layout_.places[group].dword;
      for (unsigned i = first; i < first + counts_[side][group]; ++i) {
        const StateAddress a = addresses_on(side)[i];
        const StateAddressPlace& place = tables_.addresses[i];
        if (BufferOf(a) == 0) continue;
        f(at + place.dword, place.bit, place.width, address(place.In(dwords), BufferOf(a)),
          UseOf(a));
      }
      at += sizes_[side][group];
    }
  }
  // Applies the groups' overrides in once_ to where they have been copied; or drops them.
  [[gnu::cold, gnu::noinline]] void WriteOnce(uint32_t* to, StateGroups groups) const;
  [[gnu::cold, gnu::noinline]] void DropOnceOf(StateGroups groups);

  // An offset in dwords_: 0 or dwords_of_side_. (An enum, as StateAddress is.)
  enum class Side : uint32_t { k0 = 0 };

  const StateTables& tables_;
  const StateLayout& layout_;
  StateGroups dirty_ = 0;
  StateGroups set_ = 0;
  StateGroups settled_ = 0;        // set_ and sure_ and not special_
  StateGroups quick_ = 0;          // of these, those that can be emitted without further ado
  StateGroups slow_ = ~0ull;       // all but those of quick_ that are pairs
  StateGroups absent_ = ~0ull;     // neither set_ nor inherited_
  StateGroups held_ = ~0ull;       // slow_; or all, while 3DPRIMITIVE needs one that is absent
  StateGroups sure_ = 0;           // known_, and the next emission overrides nothing
  StateGroups special_ = 0;        // TakeFromPipeline() may have something to do
  StateGroups known_ = 0;          // what the GPU has is on its side
  StateGroups alone_ = 0;          // no others accompany them
  StateGroups derived_from_ = 0;   // their change may change derived packets
  StateGroups addressed_[2] = {};  // have addresses of buffers, on each side
  // Groups whose buffers a batch may not have listed: that of the number.
  StateGroups unlisted_ = ~0ull;
  uint64_t listed_in_ = 0;
  StateGroups inherited_ = 0;         // the GPU has all of it without Set()
  StateGroups partly_inherited_ = 0;  // the GPU has some of its packets
  StateGroups once_groups_ = 0;       // have dwords in once_
  uint64_t bound_ = 0;                // the pipeline's number, if none of its packets was set since
  StateGroups bound_groups_ = 0;

  // Both sides. Groups are in their order, packets in their group.
  std::vector<uint32_t> dwords_;
  std::vector<StateAddress> addresses_;
  uint32_t dwords_of_side_;
  Side gpu_[64] = {};
  uint16_t sizes_[2][64] = {};      // dwords of each group
  uint16_t counts_[2][64] = {};     // addresses of each group
  uint8_t unset_[64] = {};          // parts of each group that were never set, but see IsSet()
  uint8_t not_inherited_[64] = {};  // parts that are not inherited

  std::vector<uint32_t> values_;       // of dynamic fields, at the places of their packets
  std::vector<MaskedDwords> dynamic_;  // of each packet: the bits of values_ that apply

  // Updates settled_, quick_, slow_, absent_ and held_. emitted: groups that the GPU has now.
  void Settle(StateGroups emitted = 0);

 private:
  // The override of a dword for the next emission.
  struct Once {
    uint32_t dword = 0;
    uint32_t value = 0;
    unsigned group = 0;
  };

  bool RefuseSize(unsigned packet, size_t dwords);
  // Updates absent_ and held_.
  void FindAbsent();
  bool IsFixed(unsigned group) const { return (layout_.fixed & StateGroup(group)) != 0; }
  // The side to write a group's new values to. If it is clean, the old ones are copied there,
  // unless all will be written. The group is dirty from here on; Compare() may make it clean again.
  unsigned Open(unsigned group, bool all = false);
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
