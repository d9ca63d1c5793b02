// The part of draw states that does not depend on the generation: a store of packed packets with
// the wanted values, another one with what the GPU last received, and the set of groups in which
// the two differ. Use draw_state.h.

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

// An address in packed packets, of a buffer.
struct StateAddress {
  uint64_t gpu = 0;
  uint32_t buffer = 0;  // 0: none
  gpu::UseFlags flags = 0;
  uint32_t dword = 0;  // where it begins, from the group's start (in a pipeline: the packet's)
  uint16_t bit = 0;
  uint16_t width = 0;

  friend bool operator==(const StateAddress&, const StateAddress&) = default;
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

  // A number that no other pipeline has.
  static uint64_t NewNumber();
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
  StateGroups ToEmit() const;
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
  // Most runs are a few dwords, for which calling memcpy costs more than it does.
  PACKSMITH_INLINE static void CopyDwords(uint32_t* to, const uint32_t* from, size_t dwords) {
    if (dwords > 32) {
      std::memcpy(to, from, dwords * 4);
      return;
    }
    size_t i = 0;
    for (; i + 4 <= dwords; i += 4) std::memcpy(to + i, from + i, 16);
    for (; i < dwords; ++i) to[i] = from[i];
  }
  // Groups are stored in their order. Calls f(groups, dword in the store, dwords) for each
  // contiguous run of them.
  template <class F>
  PACKSMITH_INLINE void EachRun(StateGroups groups, F f) const {
    while (groups != 0) {
      const unsigned first = static_cast<unsigned>(__builtin_ctzll(groups));
      const uint32_t dword = layout_.places[first].dword;
      const StateGroups fixed = (groups & layout_.fixed) >> first;
      if ((fixed & 1) == 0) {
        f(StateGroup(first), dword, wanted_sizes_[first]);
        groups &= groups - 1;
        continue;
      }
      // There are fewer than 64 groups, so at least one bit is zero.
      const unsigned count = static_cast<unsigned>(__builtin_ctzll(~fixed));
      const StateGroups run = (StateGroup(count) - 1) << first;
      f(run, dword, layout_.places[first + count].dword - dword);
      groups &= ~run;
    }
  }

  explicit StateCore(const StateLayout& layout);
  ~StateCore() = default;

  // The GPU has lost these groups.
  void Lose(StateGroups groups) {
    known_ &= ~groups;
    dirty_ |= groups & set_;
  }
  void BindCore(const PipelineCore& pipeline);
  // Notes that the context has a packet, or no longer has those of the groups.
  void InheritPacket(const StatePacket& place) {
    not_inherited_[place.group] &= static_cast<uint8_t>(~place.part);
    partly_inherited_ |= StateGroup(place.group);
    if (not_inherited_[place.group] == 0) inherited_ |= StateGroup(place.group);
  }
  void Disinherit(StateGroups groups) {
    if ((groups & partly_inherited_) != 0) DisinheritParts(groups);
  }
  void DisinheritParts(StateGroups groups);

  // Keeps the first error. Returns false, for callers to pass on.
  bool Refuse(absl::Status status);
  bool RefusePacket(const error& e, unsigned packet);
  bool RefuseSize(unsigned packet, size_t dwords);
  // The error for packets that the next emission or a draw needs, and that were never set.
  bool RefuseIncomplete(StateGroups draw_needs);

  PACKSMITH_INLINE uint32_t* wanted(unsigned packet) {
    return wanted_.data() + layout_.packets[packet].dword;
  }
  // From here on all of a packet's values are the caller's.
  PACKSMITH_INLINE void TakeFromPipeline(unsigned packet) {
    const StatePacket& place = layout_.packets[packet];
    dynamic_[packet] = {};
    if ((bound_groups_ & StateGroup(place.group)) != 0) bound_ = 0;
    if (bits::rarely((once_groups_ & StateGroup(place.group)) != 0)) {
      DropOnce(place.dword, place.dwords);
    }
  }
  PACKSMITH_INLINE void MarkSet(unsigned packet) {
    const StatePacket& place = layout_.packets[packet];
    unset_[place.group] &= static_cast<uint8_t>(~place.part);
    if (unset_[place.group] == 0) set_ |= StateGroup(place.group);
  }
  PACKSMITH_INLINE void MarkDirty(unsigned group, bool differs) {
    const StateGroups one = StateGroup(group);
    const bool dirty = differs || (known_ & ~once_groups_ & one) == 0;
    dirty_ = (dirty_ & ~StateGroup(group)) | (dirty ? one : 0);
  }
  // Compares a group with what the GPU has.
  void Compare(unsigned group);
  // The same of a group without addresses, whose size is known to the compiler.
  template <unsigned Dwords>
  PACKSMITH_INLINE void CompareFixed(unsigned group) {
    const uint32_t* const a = wanted_.data() + layout_.places[group].dword;
    const uint32_t* const b = emitted_.data() + layout_.places[group].dword;
    uint32_t differences = 0;
    for (unsigned i = 0; i < Dwords; ++i) differences |= a[i] ^ b[i];
    MarkDirty(group, differences != 0);
  }
  // Overrides the dwords of a packet that is set for the next emission of its group; addresses must
  // be the same. index: among the packets of its kind.
  bool ReplaceOnce(unsigned packet, unsigned index, absl::Span<const uint32_t> dwords,
                   absl::Span<const StateAddress> addresses);
  // Updates the masks after a group's addresses were stored: `count` of them.
  void MarkAddressed(unsigned group, size_t count);
  // Writes the dynamic fields' values over the pipeline's.
  void Merge(unsigned packet);

  size_t DwordsOf(StateGroups groups) const {
    size_t sum = 0;
    EachRun(groups, [&](StateGroups, uint32_t, size_t dwords) { sum += dwords; });
    return sum;
  }
  // Copies the groups, in their order, to `to`, which has room for DwordsOf(groups), and calls
  // f(to, address) for each address of a buffer, where `to` is the beginning of its group.
  template <class F>
  PACKSMITH_INLINE void CopyTo(uint32_t* to, StateGroups groups, F f) const {
    EachRun(groups, [&](StateGroups run, uint32_t dword, size_t dwords) {
      CopyDwords(to, wanted_.data() + dword, dwords);
      for (StateGroups with = run & wanted_addressed_; with != 0; with &= with - 1) {
        const unsigned group = static_cast<unsigned>(__builtin_ctzll(with));
        const StateGroupPlace& place = layout_.places[group];
        const StateAddress* const first = wanted_addresses_.data() + place.address;
        for (unsigned i = 0; i < wanted_counts_[group]; ++i) {
          if (first[i].buffer != 0) f(to + (place.dword - dword), first[i]);
        }
      }
      to += dwords;
    });
  }
  // Calls f(address) for each address of a buffer that the GPU has.
  template <class F>
  void EachEmittedAddress(F f) const {
    for (StateGroups with = known_ & emitted_addressed_; with != 0; with &= with - 1) {
      const unsigned group = static_cast<unsigned>(__builtin_ctzll(with));
      const StateAddress* const first = emitted_addresses_.data() + layout_.places[group].address;
      for (unsigned i = 0; i < emitted_counts_[group]; ++i) {
        if (first[i].buffer != 0) f(first[i]);
      }
    }
  }
  // The groups have become part of a batch.
  void SetEmitted(StateGroups groups);

  // Applies the groups' overrides in once_ to where they have been copied; or drops them.
  [[gnu::cold, gnu::noinline]] void WriteOnce(uint32_t* to, StateGroups groups) const;
  [[gnu::cold, gnu::noinline]] void DropOnceOf(StateGroups groups);
  [[gnu::cold, gnu::noinline]] void DropOnce(uint32_t dword, uint32_t dwords);

  const StateLayout& layout_;
  StateGroups dirty_ = 0;
  StateGroups set_ = 0;
  StateGroups known_ = 0;             // what the GPU has is in emitted_
  StateGroups inherited_ = 0;         // the GPU has all of it without Set()
  StateGroups partly_inherited_ = 0;  // the GPU has some of its packets
  StateGroups once_groups_ = 0;       // have dwords in once_
  StateGroups alone_ = 0;             // no others accompany them
  StateGroups wanted_addressed_ = 0;  // have addresses of buffers
  StateGroups emitted_addressed_ = 0;
  uint64_t bound_ = 0;  // the pipeline's number, if none of its packets was set since
  StateGroups bound_groups_ = 0;

  // The wanted values, and what the GPU last received. Groups are in their order, packets in their
  // group.
  std::vector<uint32_t> wanted_, emitted_;
  uint16_t wanted_sizes_[64] = {}, emitted_sizes_[64] = {};  // dwords of each group
  std::vector<StateAddress> wanted_addresses_, emitted_addresses_;
  uint16_t wanted_counts_[64] = {}, emitted_counts_[64] = {};
  uint8_t unset_[64] = {};          // parts of each group that were never set
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

  void UpdateOnceGroups();

  // Enough for four buffers of stream output, and some more.
  std::array<Once, 16> once_ = {};
  unsigned once_count_ = 0;
  absl::Status status_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_STATE_CORE_H_
