// Which buffers a batch uses, and how: what a kernel driver wants to have resident, and what says
// whether one batch has to wait for another.
//
//   BufferUses uses;
//   uses.Add(handle, kReads);
//   for (const BufferUse& use : uses.all()) { … }
//
// Each buffer is listed once, in the order of first use. Adding one that was added lately costs a
// load and a comparison, others a hash table's look-up, which can be put off.

#ifndef PACKSMITH_RUNTIME_COMMAND_BUFFER_USES_H_
#define PACKSMITH_RUNTIME_COMMAND_BUFFER_USES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/base/lifetime.h"

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
  // Whether Add() would change nothing. May say no where it is so after all: of no buffer, too.
  PACKSMITH_INLINE bool Known(uint32_t buffer, UseFlags flags) const {
    const size_t at = buffer % kRecent;
    const Handle handle = static_cast<Handle>(buffer);
    if ((flags & kReads) != 0 && bits::rarely(read_[at] != handle)) return false;
    return (flags & kWrites) == 0 || !bits::rarely(written_[at] != handle);
  }

  // buffer is not 0. Not remembered: Known() says no the next time, too.
  void Add(uint32_t buffer, UseFlags flags, bool remember = true);

  // Adds it when somebody asks for the list. A few stores, and none that might be to a packet, for
  // all that the compiler knows. False if too many are put off already: for Add() then.
  PACKSMITH_INLINE bool AddLater(uint32_t buffer, UseFlags flags) {
    if (later_count_ == kLater) return false;
    later_[later_count_++] = static_cast<Entry>(uint64_t{buffer} << 2 | flags);
    Remember(buffer, flags);
    return true;
  }
  // How many are put off.
  size_t later() const { return later_count_; }
  // Forgets those that were put off after the first `count`.
  void DropLater(size_t count);

  // The use of one buffer; empty if there is none.
  absl::optional<BufferUse> Find(uint32_t buffer) const;

  absl::Span<const BufferUse> all() const {
    Settle();
    return all_;
  }
  size_t size() const { return all().size(); }

  // Forgets all. Memory is kept for what comes.
  void Clear();

  // For those that refer to this list.
  Lifetime& lifetime() const { return lifetime_; }

 private:
  static constexpr UseFlags kBoth = kReads | kWrites;
  static constexpr size_t kRecent = 64, kLater = 128;

  // A handle; a handle and flags. Types of their own: what is stored as these is no member of a
  // packet.
  enum class Handle : uint32_t {};
  enum class Entry : uint64_t {};
  PACKSMITH_INLINE void Remember(uint32_t buffer, UseFlags flags) {
    const size_t at = buffer % kRecent;
    if ((flags & kReads) != 0) read_[at] = static_cast<Handle>(buffer);
    if ((flags & kWrites) != 0) written_[at] = static_cast<Handle>(buffer);
  }
  void ForgetRecent();
  // What was put off. Adding leaves nothing to settle, and a batch that ends adds its own buffers:
  // from then on several threads may read the list.
  void Settle() const {
    if (later_count_ != 0) const_cast<BufferUses*>(this)->AddAllLater();
  }
  void AddAllLater();
  // The entry of the list.
  inline BufferUse& Use(uint32_t buffer, UseFlags flags);
  // The slot of `slots_` with the buffer, or the empty one where it would be.
  inline size_t SlotOf(uint32_t buffer) const;
  void Grow();

  // Buffers that are listed as read, and as written, by their handles' low bits, which count
  // buffers in most drivers. 0: nothing; so of addresses without a buffer there is nothing to note.
  Handle read_[kRecent] = {}, written_[kRecent] = {};
  Entry later_[kLater];
  size_t later_count_ = 0;
  mutable Lifetime lifetime_{"list of buffer uses"};
  std::vector<BufferUse> all_;
  // Hash table: handle, and in the lower half index into all_ plus one; or 0.
  std::vector<uint64_t> slots_;
};

// Buffers of both lists that at least one of the two writes: the later batch has to wait for the
// earlier one. Costs as much as the shorter list is long.
std::vector<uint32_t> Conflicts(const BufferUses& a, const BufferUses& b);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_COMMAND_BUFFER_USES_H_
