// Allocates ranges of GPU addresses, at a cost that does not grow with their number.
//
//   auto allocator = RangeAllocator::Create({.begin = 0x1000, .end = 0x100000000});
//   absl::StatusOr<Range> range = (*allocator)->Allocate({.size = 0x5000, .alignment = 0x10000});
//   ...
//   absl::Status status = (*allocator)->Free(range->handle);
//
// It only does the bookkeeping: the addresses have no memory. Ranges without special requirements
// come from the smallest hole that holds them, which keeps large holes whole. The cost of Allocate,
// Free and Find does not depend on the number of ranges, except for its logarithm in Find; requests
// with an alignment or a boundary look at every hole only before they fail.
//
// Not thread-safe.

#ifndef PACKSMITH_RUNTIME_MEMORY_RANGE_ALLOCATOR_H_
#define PACKSMITH_RUNTIME_MEMORY_RANGE_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/memory/range_order.h"
#include "runtime/memory/ranges.h"

namespace packsmith::gpu {

class RangeAllocator {
 public:
  struct Options {
    uint64_t begin = 0;       // multiples of the granule
    uint64_t end = 0;         // the byte after the last one
    uint64_t granule = 4096;  // a power of two; sizes and addresses are multiples of it
  };

  // InvalidArgument if the options are not as described, or begin..end is empty or has 2^54
  // granules or more.
  static absl::StatusOr<std::unique_ptr<RangeAllocator>> Create(const Options& options);

  RangeAllocator(const RangeAllocator&) = delete;
  RangeAllocator& operator=(const RangeAllocator&) = delete;

  // InvalidArgument if the request is invalid; ResourceExhausted if no hole can hold it (every one
  // was considered); AlreadyExists if it names an address that is taken. Nothing has changed then.
  absl::StatusOr<Range> Allocate(const RangeRequest& request);

  // NotFound if the handle is not that of a live range of this allocator: freed before, or another
  // allocator's. Nothing has changed then.
  absl::Status Free(RangeHandle handle);

  // The range of a handle. NotFound as Free().
  absl::StatusOr<Range> Lookup(RangeHandle handle) const;
  // The live range that holds the byte at `address`, guards excluded. NotFound if none does.
  absl::StatusOr<Range> Find(uint64_t address) const;

  // Visits everything in address order.
  using Stretch = RangeStretch;
  void ForEach(absl::FunctionRef<void(const Stretch&)> visit) const;

  RangeStatistics statistics() const;
  const Options& options() const { return options_; }
  // Makes room in the bookkeeping, so that no table grows before there are more than `live_ranges`
  // live ranges at once.
  void Reserve(size_t live_ranges);
  // Bytes of the bookkeeping.
  size_t bookkeeping_bytes() const;
  // Internal error if the bookkeeping is inconsistent. O(n); for tests.
  absl::Status Verify() const;

 private:
  // Holes by size: one class for each size below kExact units, from there 16 per power of two.
  static constexpr unsigned kExactBits = 10, kPerOctaveBits = 4;
  static constexpr uint64_t kExact = uint64_t{1} << kExactBits;
  static constexpr unsigned kBins =
      kExact + ((RangeNode::kSizeBits - kExactBits) << kPerOctaveBits);
  static constexpr unsigned kWords = (kBins + 63) / 64;
  static_assert(kWords <= 64);

  // A request in units.
  struct Need {
    uint64_t size;   // with guards
    uint64_t guard;  // on either side
    uint64_t alignment, boundary;
    Placement placement;
    bool plain() const { return alignment <= 1 && boundary == 0; }
  };

  explicit RangeAllocator(const Options& options);

  uint64_t InUnits(uint64_t bytes) const {
    return (bytes >> shift_) + ((bytes & (options_.granule - 1)) != 0);
  }
  static unsigned BinOf(uint64_t size);
  unsigned FirstBinFrom(unsigned bin) const;
  void AddToBin(uint32_t hole);
  void RemoveFromBin(uint32_t hole);

  absl::StatusOr<Need> Understand(const RangeRequest& request) const;
  // Where the range would begin in a hole, with its guard, if the hole can hold it.
  std::optional<uint64_t> PlaceIn(const RangeNode& hole, const Need& need) const;
  // The smaller one that holds the need; `best` may be kNoRange.
  uint32_t Better(uint32_t best, uint32_t candidate, const Need& need) const;
  uint32_t BestInBin(unsigned bin, const Need& need, unsigned at_most) const;
  uint32_t BestPlain(const Need& need) const;
  uint32_t BestConstrained(const Need& need) const;
  uint32_t ChooseHole(const Need& need);
  Range Take(uint32_t hole, uint64_t at, const Need& need);

  uint32_t NewNode();
  void LinkAfter(uint32_t node, uint32_t after);
  void Unlink(uint32_t node);
  const RangeNode* LiveNode(RangeHandle handle) const;
  Range RangeOf(uint32_t node) const;
  absl::Status NotLive(RangeHandle handle) const;
  absl::Status NoRoom(const RangeRequest& request) const;

  const Options options_;
  const unsigned shift_;  // log2 of the granule
  std::vector<RangeNode> nodes_;
  RangeOrder order_;
  uint32_t first_ = kNoRange;   // lowest addresses
  uint32_t unused_ = kNoRange;  // nodes, linked by `next`
  uint64_t next_serial_;
  uint64_t live_units_ = 0, guard_units_ = 0, peak_units_ = 0;
  uint64_t live_ranges_ = 0, holes_ = 0, allocations_ = 0, failures_ = 0;
  uint64_t filled_words_ = 0;
  uint64_t filled_[kWords] = {};
  uint32_t bins_[kBins];
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_RANGE_ALLOCATOR_H_
