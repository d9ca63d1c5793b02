// GPU memory as a set of numbered address spaces.
//
//   Memory memory;
//   absl::Status status = memory.Map(/*space=*/0, 0x1000, batch, 4096);
//   absl::Span<const uint8_t> head = memory.Read(0, 0x1000, 64);
//
// The same number means different memory in different spaces: space 0 is the submission's own
// page tables, 1 the global ones, 2 and up belong to other contexts.

#ifndef PACKSMITH_RUNTIME_DUMP_MEMORY_H_
#define PACKSMITH_RUNTIME_DUMP_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

namespace packsmith {

// The number of the global address space in every dump.
inline constexpr uint32_t kGlobalSpace = 1;

// Bytes that are expensive to make (to inflate, say), and are made on first access. Thread-safe.
class DeferredBytes {
 public:
  virtual ~DeferredBytes() = default;

  // They live as long as this object. Empty: there are none.
  absl::Span<const uint8_t> Get() {
    std::call_once(once_, [this] { bytes_ = Make(); });
    return bytes_;
  }

 protected:
  virtual absl::Span<const uint8_t> Make() = 0;

 private:
  std::once_flag once_;
  absl::Span<const uint8_t> bytes_;
};

// Bytes in numbered address spaces. Holds views, never copies: callers keep mapped bytes alive and
// unchanged. Const methods may be called from several threads at once.
class Memory {
  class Deferred;

 public:
  // `memory_size` bytes at `address`, of which the first `bytes.size()` are `bytes` and the rest
  // read as zero. `memory_size` is at least 1 and at least `bytes.size()`, and
  // `address + memory_size` is at most 2^64.
  struct Segment {
    uint32_t space = 0;
    uint64_t address = 0;
    uint64_t memory_size = 0;
    absl::Span<const uint8_t> bytes;
    // Of MapDeferred(): `bytes` is empty, `memory_size` an upper bound; see Resolve().
    std::shared_ptr<Deferred> deferred;

    // The address of the last byte. An end address would not fit for a segment that ends at 2^64.
    uint64_t last() const { return address + (memory_size - 1); }
    bool Contains(uint32_t in_space, uint64_t at) const {
      return in_space == space && at >= address && at - address < memory_size;
    }
  };

 private:
  struct Place {
    uint32_t space;
    uint64_t address;
  };
  struct Before {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return a.space != b.space ? a.space < b.space : a.address < b.address;
    }
  };

 public:
  // Segments in the order of (space, address). Iterable; has size() and empty().
  using Segments = absl::btree_set<Segment, Before>;

  Memory() = default;
  Memory(Memory&&) = default;
  Memory& operator=(Memory&&) = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Maps bytes that are made on first access: they begin at `address` and are at most `most_size`,
  // a range that no other segment may overlap. If they turn out to be shorter, the rest is then
  // unmapped. Errors as Map()'s.
  absl::Status MapDeferred(uint32_t space, uint64_t address, std::shared_ptr<DeferredBytes> bytes,
                           uint64_t most_size);

  // Maps [address, address + memory_size) in `space`. The first bytes.size() bytes are `bytes`,
  // which the caller keeps alive; the rest reads as zero. Mapping nothing (memory_size 0) is fine.
  // O(log n), in any order of addresses.
  //
  // InvalidArgument if bytes.size() > memory_size; OutOfRange if the range goes past 2^64;
  // AlreadyExists if it overlaps a segment of the same space. The memory is then as it was.
  absl::Status Map(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes,
                   uint64_t memory_size);

  // The longest run at (space, address) that is contiguous on the host, at most `size` bytes;
  // it may be shorter than what is mapped (it ends with a segment's bytes, with the segment, and
  // after kZeroChunk bytes of zeros), so ask again at the address where it ended, or use Copy().
  // Empty exactly if the byte at `address` is unmapped or `size` is 0. O(log n), no allocation.
  absl::Span<const uint8_t> Read(uint32_t space, uint64_t address, uint64_t size) const;

  // Copies to `out` across the borders of segments. Returns how many bytes were copied before the
  // first unmapped one; the rest of `out` is untouched.
  size_t Copy(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const;

  // The segment that holds the byte at (space, address), or null. Valid until the next Map().
  const Segment* Find(uint32_t space, uint64_t address) const;

  // The first segment in `space` that ends above `address` (so the one that holds it, or else the
  // next one), or null. Valid until the next Map().
  const Segment* FindFrom(uint32_t space, uint64_t address) const;

  // As they were mapped. Resolve() makes the bytes of a deferred one; the result has its size.
  const Segments& segments() const { return segments_; }
  const Segment& Resolve(const Segment& segment) const;

  // The most that Read() returns of the zeros at a segment's end.
  static constexpr size_t kZeroChunk = 65536;

 private:
  absl::Status Insert(const Segment& added);

  Segments segments_;
};

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_MEMORY_H_
