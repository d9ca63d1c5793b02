// Which buffers a batch uses, and how: what a kernel driver wants to have resident, and what says
// whether one batch has to wait for another.
//
//   BufferUses uses;
//   uses.Add(handle, kReads);
//   for (const BufferUse& use : uses.all()) { … }
//
// Each buffer is listed once, in the order of first use. Adding one that was added lately costs a
// load and a comparison, others a hash table's look-up.

#ifndef PACKSMITH_RUNTIME_BATCH_BUFFER_USES_H_
#define PACKSMITH_RUNTIME_BATCH_BUFFER_USES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"

namespace packsmith::gpu {

// How a buffer is used: one of these, or both.
using UseFlags = uint32_t;
inline constexpr UseFlags kReads = 1, kWrites = 2;

// What a description says of an address. Where it says nothing, or that the address is not always
// followed, the buffer counts as read: it had better be resident.
PACKSMITH_INLINE constexpr UseFlags UseOf(access how) {
  switch (how) {
    case access::write:
      return kWrites;
    case access::read_write:
      return kReads | kWrites;
    default:
      return kReads;
  }
}

struct BufferUse {
  uint32_t buffer = 0;
  UseFlags flags = 0;

  bool writes() const { return (flags & kWrites) != 0; }
  friend bool operator==(const BufferUse&, const BufferUse&) = default;
};

class BufferUses {
 public:
  // Whether Add() would change nothing. May say no where it is so after all.
  PACKSMITH_INLINE bool Known(uint32_t buffer, UseFlags flags) const {
    // What differs between the entry and what is asked for, leaving out what was not asked for.
    return ((recent_[buffer % kRecent] ^ Entry(buffer, flags)) & ~uint64_t{flags ^ kBoth}) == 0;
  }

  // buffer is not 0. Not remembered: Known() says no the next time, too.
  void Add(uint32_t buffer, UseFlags flags, bool remember = true);

  // The use of one buffer; empty if there is none.
  absl::optional<BufferUse> Find(uint32_t buffer) const;

  absl::Span<const BufferUse> all() const { return all_; }
  size_t size() const { return all_.size(); }

  // Forgets all. Memory is kept for what comes.
  void Clear();

 private:
  static constexpr UseFlags kBoth = kReads | kWrites;
  static constexpr size_t kRecent = 64;

  PACKSMITH_INLINE static constexpr uint64_t Entry(uint32_t buffer, UseFlags flags) {
    return uint64_t{buffer} << 2 | flags;
  }
  // The slot of `slots_` with the buffer, or the empty one where it would be.
  size_t SlotOf(uint32_t buffer) const;
  void Grow();

  // By the handle's low bits, which count buffers in most drivers. 0: nothing.
  uint64_t recent_[kRecent] = {};
  std::vector<BufferUse> all_;
  std::vector<uint32_t> slots_;  // hash table: index into all_ plus one, or 0
};

// Buffers of both lists that at least one of the two writes: the later batch has to wait for the
// earlier one. Costs as much as the shorter list is long.
std::vector<uint32_t> Conflicts(const BufferUses& a, const BufferUses& b);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_BATCH_BUFFER_USES_H_
