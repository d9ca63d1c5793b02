// Memory that was written, and by whom: what a reader may see too early.
#ifndef PACKSMITH_RUNTIME_SIM_VISIBILITY_PENDING_WRITES_H_
#define PACKSMITH_RUNTIME_SIM_VISIBILITY_PENDING_WRITES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

struct MemoryRange {
  uint32_t space = 0;
  uint64_t address = 0;
  uint64_t size = 0;
};

// The packet that wrote.
struct WritingPacket {
  const tables::Container* container = nullptr;
  uint32_t space = 0;
  uint64_t address = 0;

  friend bool operator==(const WritingPacket&, const WritingPacket&) = default;
};

struct PendingWrite {
  uint64_t end = 0;  // the address after its last byte
  uint64_t time = 0;
  tables::ClientKind client = {};
  WritingPacket packet;
  // The bytes that were there before; empty if they are not kept.
  absl::InlinedVector<uint8_t, 16> old;
};

// Ranges that do not overlap: a byte belongs to its last write. Not thread-safe.
class PendingWrites {
 public:
  // More are not kept. Forget() some in time.
  static constexpr size_t kMost = size_t{1} << 16;
  static constexpr size_t kMostOldBytes = size_t{1} << 24;

  bool empty() const { return writes_.empty(); }
  size_t size() const { return writes_.size(); }
  bool full() const { return writes_.size() >= kMost; }
  size_t old_bytes() const { return old_bytes_; }
  // Whether the bytes that were in so large a range can be kept.
  bool KeepsOld(uint64_t size) const { return size <= kMostOldBytes - old_bytes_; }

  // `old`: empty, or as long as the range.
  void Add(const MemoryRange& range, uint64_t time, tables::ClientKind client,
           const WritingPacket& packet, absl::Span<const uint8_t> old);
  void Clear();

  // Calls visit(address, write) for each that overlaps the range, in order of addresses, until it
  // returns false.
  template <class Visit>
  void ForEach(const MemoryRange& range, Visit&& visit) const {
    const uint64_t end = EndOf(range);
    auto at = writes_.upper_bound(Place{range.space, range.address});
    if (at != writes_.begin()) {
      auto before = std::prev(at);
      if (before->first.first == range.space && before->second.end > range.address) at = before;
    }
    for (; at != writes_.end() && at->first.first == range.space && at->first.second < end; ++at) {
      if (!visit(at->first.second, at->second)) return;
    }
  }
  template <class Visit>
  void ForEachWrite(Visit&& visit) const {
    for (const auto& [place, write] : writes_) visit(write);
  }
  // Forgets those of which forget(write) is true.
  template <class Test>
  void Forget(Test&& forget) {
    for (auto at = writes_.begin(); at != writes_.end();) {
      if (forget(at->second)) {
        old_bytes_ -= at->second.old.size();
        at = writes_.erase(at);
      } else {
        ++at;
      }
    }
  }

  // Addresses do not wrap.
  static uint64_t EndOf(const MemoryRange& range) {
    return range.size > ~uint64_t{0} - range.address ? ~uint64_t{0} : range.address + range.size;
  }

 private:
  using Place = std::pair<uint32_t, uint64_t>;  // space, address

  // Makes [begin, end) free.
  void Cut(uint32_t space, uint64_t begin, uint64_t end);

  absl::btree_map<Place, PendingWrite> writes_;
  size_t old_bytes_ = 0;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_VISIBILITY_PENDING_WRITES_H_
