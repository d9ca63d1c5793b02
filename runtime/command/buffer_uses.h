// Which buffers a batch uses, and how: what a kernel driver must make resident, and what decides
// whether one batch must wait for another.
//
//   BufferUses uses;
//   uses.Add(handle, kReads);
//   for (const BufferUse& use : uses.all()) { … }
//
// Each buffer is listed once, in the order of first use. Adding one that was added recently costs a
// load and a comparison; others cost a look-up: in an array by handle, 4 bytes for each number up
// to the largest handle; in a hash table for handles from 65,536 on. What is more than a few
// instructions can be deferred.

#ifndef PACKSMITH_RUNTIME_COMMAND_BUFFER_USES_H_
#define PACKSMITH_RUNTIME_COMMAND_BUFFER_USES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/base/lifetime.h"

namespace packsmith::gpu {

// How a buffer is used: one of these, or both.
using UseFlags = uint32_t;
inline constexpr UseFlags kReads = 1, kWrites = 2;

// The use that a description gives for an address. If it gives none, or the address is not always
// followed, the buffer counts as read, so that it is resident.
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
  // Whether Add() would change nothing. May return false even then; always does for buffer 0.
  PACKSMITH_INLINE bool Known(uint32_t buffer, UseFlags flags) const {
    const size_t at = buffer % kRecent;
    const Handle handle = static_cast<Handle>(buffer);
    if ((flags & kReads) != 0 && bits::rarely(read_[at] != handle)) return false;
    return (flags & kWrites) == 0 || !bits::rarely(written_[at] != handle);
  }

  // `buffer` must not be 0. Without `remember`, Known() still returns false for it.
  void Add(uint32_t buffer, UseFlags flags, bool remember = true);

  // The same in a few instructions, but for new uses of a listed buffer, and what needs memory:
  // these are deferred until the list is read. False if too many are deferred already: call Add()
  // then.
  PACKSMITH_INLINE bool AddLater(uint32_t buffer, UseFlags flags) {
    if (!AddNow(buffer, flags)) {
      if (later_count_ == kLater) return false;
      later_[later_count_++] = static_cast<Entry>(uint64_t{buffer} << 2 | flags);
    }
    Remember(buffer, flags);
    return true;
  }
  // A place in the order of additions.
  struct Mark {
    uint32_t listed = 0, later = 0;
  };
  Mark mark() const { return {count_, later_count_}; }
  // Forgets what AddLater() has added since the mark, unless the list was read meanwhile. (Uses may
  // stay listed that were not needed.)
  void DropSince(const Mark& mark);

  // The use of one buffer; empty if there is none.
  std::optional<BufferUse> Find(uint32_t buffer) const;

  absl::Span<const BufferUse> all() const {
    Settle();
    return {all_.data(), count_};
  }
  size_t size() const { return all().size(); }

  // Forgets all uses. Memory is kept for later ones.
  void Clear();

  // For those that refer to this list.
  Lifetime& lifetime() const { return lifetime_; }

 private:
  static constexpr UseFlags kBoth = kReads | kWrites;
  static constexpr size_t kRecent = 64, kLater = 128;
  static constexpr uint32_t kSmallHandles = 1 << 16;

  // A handle; a handle and flags. Distinct types, so that stores of these cannot alias members of a
  // packet.
  enum class Handle : uint32_t {};
  enum class Entry : uint64_t {};
  PACKSMITH_INLINE void Remember(uint32_t buffer, UseFlags flags) {
    const size_t at = buffer % kRecent;
    if ((flags & kReads) != 0) read_[at] = static_cast<Handle>(buffer);
    if ((flags & kWrites) != 0) written_[at] = static_cast<Handle>(buffer);
  }
  void ForgetRecent();
  // Adds the deferred uses. Add() leaves none, and a batch that ends adds its own buffers: from
  // then on several threads may read the list.
  void Settle() const {
    if (later_count_ != 0) const_cast<BufferUses*>(this)->AddAllLater();
  }
  void AddAllLater();
  bool IsAt(uint32_t place, uint32_t buffer) const {
    return place < count_ && all_[place].buffer == buffer;
  }
  // False if it must be deferred: later ones are, too, so that the order stays.
  PACKSMITH_INLINE bool AddNow(uint32_t buffer, UseFlags flags) {
    if (bits::rarely(later_count_ != 0 || buffer >= places_.size())) return false;
    const uint32_t place = places_[buffer];
    if (IsAt(place, buffer)) return (flags & ~all_[place].flags) == 0;
    if (bits::rarely(count_ == all_.size())) return false;
    places_[buffer] = count_;
    all_[count_++] = {buffer, flags};
    return true;
  }
  // Appends to the list.
  BufferUse& Append(uint32_t buffer);
  // The entry of the list.
  inline BufferUse& Use(uint32_t buffer, UseFlags flags);
  inline BufferUse& UseSmall(uint32_t buffer);
  BufferUse& UseLarge(uint32_t buffer);
  void GrowPlaces(uint32_t buffer);
  // The slot of `slots_` with the buffer, or the empty one where it would be.
  inline size_t SlotOf(uint32_t buffer) const;
  void Grow();

  // Buffers that are listed as read, and as written, by their handles' low bits, which count
  // buffers in most drivers. 0: none, so that addresses without a buffer need no entry.
  Handle read_[kRecent] = {}, written_[kRecent] = {};
  Entry later_[kLater];
  uint32_t later_count_ = 0;
  mutable Lifetime lifetime_{"list of buffer uses"};
  std::vector<BufferUse> all_;  // the list, with room for more
  uint32_t count_ = 0;          // its length
  // Index into all_ by handle, if that has the handle there: what was stored for earlier lists need
  // not be removed.
  std::vector<uint32_t> places_;
  // Hash table of large handles: handle, and in the lower half index into all_ plus one; or 0.
  std::vector<uint64_t> slots_;
  size_t large_ = 0;  // their number
};

// Buffers of both lists that at least one of the two writes: the later batch must wait for the
// earlier one. O(length of the shorter list).
std::vector<uint32_t> Conflicts(const BufferUses& a, const BufferUses& b);

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_COMMAND_BUFFER_USES_H_
