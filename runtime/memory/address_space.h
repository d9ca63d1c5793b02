// The addresses of one GPU address space, handed out by zone.
//
//   auto space = AddressSpace::Create(*LayOutZones(IrisZones(), {.verx10 = 90}));
//   const ZoneId dynamic = *(*space)->FindZone("dynamic");
//   absl::StatusOr<Range> range = (*space)->Allocate(dynamic, {.size = 0x10000});
//
// Addresses are canonical: the topmost address bit is repeated up to bit 63, as kernels and the
// hardware require. Parameters may have either form.
//
// Thread-safe; each zone has a lock of its own.

#ifndef PACKSMITH_RUNTIME_MEMORY_ADDRESS_SPACE_H_
#define PACKSMITH_RUNTIME_MEMORY_ADDRESS_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/lifetime.h"
#include "runtime/memory/ranges.h"
#include "runtime/memory/zones.h"

namespace packsmith::gpu {

// A zone of an address space: an index into AddressSpace::zones(). An unset one is rejected
// wherever a zone is required.
class ZoneId {
 public:
  constexpr ZoneId() = default;
  constexpr explicit ZoneId(size_t index) : index_(static_cast<uint32_t>(index)) {}

  constexpr bool is_set() const { return index_ != kNone; }
  constexpr explicit operator uint32_t() const { return index_; }
  friend constexpr bool operator==(ZoneId, ZoneId) = default;
  template <typename H>
  friend H AbslHashValue(H h, ZoneId zone) {
    return H::combine(std::move(h), zone.index_);
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  uint32_t index_ = kNone;
};

class AddressSpace {
 public:
  struct Options {
    unsigned address_bits = 48;  // 57 where page tables have five levels
  };

  // InvalidArgument if the zones do not fit the options, or there are none.
  static absl::StatusOr<std::unique_ptr<AddressSpace>> Create(std::vector<Zone> zones,
                                                              const Options& options);
  static absl::StatusOr<std::unique_ptr<AddressSpace>> Create(std::vector<Zone> zones);
  ~AddressSpace();

  absl::Span<const Zone> zones() const { return zones_; }
  const Zone& zone(ZoneId id) const { return zones_[static_cast<uint32_t>(id)]; }
  unsigned address_bits() const { return bits_; }
  // InvalidArgument, with the known zones, if `zone` is not set or belongs to another space.
  absl::Status CheckZone(ZoneId zone) const;
  // NotFound, with the known names.
  absl::StatusOr<ZoneId> FindZone(absl::string_view name) const;
  // The zone that holds an address. NotFound if none does.
  absl::StatusOr<ZoneId> ZoneOf(uint64_t address) const;

  // As RangeAllocator's, in pages of 4 KiB; the zone's name is part of errors. InvalidArgument for
  // a zone that does not exist (elsewhere a zone must be one of zones()). No range has addresses
  // both below and above the middle of the address space, which are far apart in canonical form.
  absl::StatusOr<Range> Allocate(ZoneId zone, RangeRequest request);
  absl::Status Free(ZoneId zone, RangeHandle handle);
  // The live range that holds an address. NotFound if none does.
  absl::StatusOr<Range> Find(uint64_t address) const;

  // Where a range of `size` bytes, at a multiple of `alignment` (a power of two), can be: the first
  // such place from `from` on, or, if there is none, the first in the zone. For users that want an
  // address to come back as late as possible. Nothing is taken: another thread may be faster.
  // ResourceExhausted if there is no such place; InvalidArgument for another space's zone.
  absl::StatusOr<uint64_t> NextHole(ZoneId zone, uint64_t size, uint64_t alignment,
                                    uint64_t from) const;

  RangeStatistics statistics(ZoneId zone) const;
  // Makes room in a zone's books; see RangeAllocator::Reserve().
  void Reserve(ZoneId zone, size_t live_ranges);
  // Visits the ranges and holes of a zone, in address order, while the zone is locked.
  void ForEach(ZoneId zone, absl::FunctionRef<void(const RangeStretch&)> visit) const;

  // For those that refer to this address space.
  Lifetime& lifetime() const { return lifetime_; }

 private:
  struct Books;  // of a zone

  AddressSpace(std::vector<Zone> zones, unsigned bits);

  mutable Lifetime lifetime_{"address space"};
  const std::vector<Zone> zones_;
  const unsigned bits_;
  std::vector<std::unique_ptr<Books>> books_;  // one a zone
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_ADDRESS_SPACE_H_
