#include "runtime/memory/address_space.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/base/addresses.h"
#include "runtime/base/mutex.h"
#include "runtime/memory/range_allocator.h"

namespace packsmith::gpu {
namespace {

constexpr uint64_t kPage = 4096;

absl::Status InZone(const Zone& zone, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("zone \"", zone.name, "\": ", status.message()));
}

std::string NamesOf(absl::Span<const Zone> zones) {
  return absl::StrJoin(zones, ", ",
                       [](std::string* out, const Zone& zone) { absl::StrAppend(out, zone.name); });
}

}  // namespace

struct AddressSpace::Books {
  mutable Mutex mutex;
  std::unique_ptr<RangeAllocator> ranges ABSL_PT_GUARDED_BY(mutex);
  RangeHandle middle;  // of the page that separates the halves; shown as a guard
};

AddressSpace::AddressSpace(std::vector<Zone> zones, unsigned bits)
    : zones_(std::move(zones)), bits_(bits) {}
AddressSpace::~AddressSpace() = default;

absl::StatusOr<std::unique_ptr<AddressSpace>> AddressSpace::Create(std::vector<Zone> zones) {
  return Create(std::move(zones), Options());
}

absl::StatusOr<std::unique_ptr<AddressSpace>> AddressSpace::Create(std::vector<Zone> zones,
                                                                   const Options& options) {
  if (options.address_bits < 32 || options.address_bits > 63) {
    return absl::InvalidArgumentError(
        absl::StrFormat("addresses must have 48 or 57 bits, not %d", options.address_bits));
  }
  if (zones.empty()) return absl::InvalidArgumentError("an address space must have a zone");
  auto space =
      std::unique_ptr<AddressSpace>(new AddressSpace(std::move(zones), options.address_bits));
  const uint64_t middle = uint64_t{1} << (options.address_bits - 1);
  for (const Zone& zone : space->zones_) {
    if (zone.end > 2 * middle) {
      return InZone(
          zone, absl::InvalidArgumentError(absl::StrFormat(
                    "ends at 0x%x, beyond addresses of %d bits", zone.end, options.address_bits)));
    }
    auto ranges = RangeAllocator::Create({zone.begin, zone.end, kPage});
    if (!ranges.ok()) return InZone(zone, ranges.status());
    auto books = std::make_unique<Books>();
    if (zone.begin < middle && zone.end > middle) {
      // Never freed, so that no range can cross it.
      const auto taken = (*ranges)->Allocate({.size = kPage, .address = middle - kPage});
      if (!taken.ok()) return InZone(zone, taken.status());
      books->middle = taken->handle;
    }
    books->ranges = *std::move(ranges);
    space->books_.push_back(std::move(books));
  }
  return space;
}

absl::StatusOr<ZoneId> AddressSpace::FindZone(absl::string_view name) const {
  for (size_t i = 0; i < zones_.size(); ++i) {
    if (zones_[i].name == name) return static_cast<ZoneId>(i);
  }
  return absl::NotFoundError(
      absl::StrFormat("there is no zone \"%s\"; the zones are: %s", name, NamesOf(zones_)));
}

absl::StatusOr<ZoneId> AddressSpace::ZoneOf(uint64_t address) const {
  const std::optional<uint64_t> plain = PlainIfAddress(address, bits_);
  for (size_t i = 0; i < zones_.size() && plain.has_value(); ++i) {
    if (*plain >= zones_[i].begin && *plain < zones_[i].end) return static_cast<ZoneId>(i);
  }
  return absl::NotFoundError(absl::StrFormat("no zone holds 0x%x", address));
}

absl::Status AddressSpace::CheckZone(ZoneId zone) const {
  if (static_cast<uint32_t>(zone) < zones_.size()) return absl::OkStatus();
  if (!zone.is_set()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no zone was given: set it to what FindZone() returns; the zones are: ", NamesOf(zones_)));
  }
  return absl::InvalidArgumentError(absl::StrFormat("there is no zone %d; there are %d, from 0 on",
                                                    static_cast<uint32_t>(zone), zones_.size()));
}

absl::StatusOr<Range> AddressSpace::Allocate(ZoneId zone, RangeRequest request) {
  if (absl::Status status = CheckZone(zone); !status.ok()) return status;
  if (request.address.has_value()) {
    const std::optional<uint64_t> plain = PlainIfAddress(*request.address, bits_);
    if (!plain.has_value()) {
      return InZone(this->zone(zone),
                    absl::InvalidArgumentError(absl::StrFormat("0x%x is not an address of %d bits",
                                                               *request.address, bits_)));
    }
    request.address = plain;
  }
  Books& books = *books_[static_cast<uint32_t>(zone)];
  absl::StatusOr<Range> range;
  {
    MutexLock lock(books.mutex);
    range = books.ranges->Allocate(request);
  }
  if (!range.ok()) return InZone(this->zone(zone), range.status());
  range->address = Canonical(range->address, bits_);
  return range;
}

absl::Status AddressSpace::Free(ZoneId zone, RangeHandle handle) {
  if (absl::Status status = CheckZone(zone); !status.ok()) return status;
  Books& books = *books_[static_cast<uint32_t>(zone)];
  absl::Status status;
  {
    MutexLock lock(books.mutex);
    status = books.ranges->Free(handle);
  }
  return status.ok() ? status : InZone(this->zone(zone), status);
}

absl::StatusOr<Range> AddressSpace::Find(uint64_t address) const {
  const absl::StatusOr<ZoneId> zone = ZoneOf(address);
  if (!zone.ok()) return zone.status();
  const Books& books = *books_[static_cast<uint32_t>(*zone)];
  absl::StatusOr<Range> range;
  {
    MutexLock lock(books.mutex);
    range = books.ranges->Find(Plain(address, bits_));
  }
  if (!range.ok()) return InZone(this->zone(*zone), range.status());
  range->address = Canonical(range->address, bits_);
  return range;
}

RangeStatistics AddressSpace::statistics(ZoneId zone) const {
  const Books& books = *books_[static_cast<uint32_t>(zone)];
  MutexLock lock(books.mutex);
  RangeStatistics statistics = books.ranges->statistics();
  if (books.middle != RangeHandle{}) {
    --statistics.live_ranges;
    --statistics.allocations;
    statistics.guard_bytes += kPage;
  }
  return statistics;
}

void AddressSpace::Reserve(ZoneId zone, size_t live_ranges) {
  Books& books = *books_[static_cast<uint32_t>(zone)];
  MutexLock lock(books.mutex);
  books.ranges->Reserve(live_ranges);
}

void AddressSpace::ForEach(ZoneId zone, absl::FunctionRef<void(const RangeStretch&)> visit) const {
  const Books& books = *books_[static_cast<uint32_t>(zone)];
  MutexLock lock(books.mutex);
  books.ranges->ForEach([&](RangeStretch stretch) {
    stretch.range.address = Canonical(stretch.range.address, bits_);
    if (stretch.used && stretch.range.handle == books.middle) stretch.range.handle = {};
    visit(stretch);
  });
}

absl::StatusOr<uint64_t> AddressSpace::NextHole(ZoneId zone, uint64_t size, uint64_t alignment,
                                                uint64_t from) const {
  if (absl::Status status = CheckZone(zone); !status.ok()) return status;
  if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a hole of 0x%x bytes at a multiple of 0x%x: the size must be at least 1, the alignment a "
        "power of two",
        size, alignment));
  }
  const uint64_t begin = Plain(from, bits_);
  std::optional<uint64_t> first, next;
  const Books& books = *books_[static_cast<uint32_t>(zone)];
  MutexLock lock(books.mutex);
  books.ranges->ForEach([&](const RangeStretch& stretch) {
    if (stretch.used || next) return;
    const uint64_t end = stretch.range.address + stretch.range.size;
    const auto place = [&](uint64_t least) -> std::optional<uint64_t> {
      const uint64_t at = (least + alignment - 1) & ~(alignment - 1);
      if (at < least || at > end || end - at < size) return std::nullopt;
      return at;
    };
    if (!first) first = place(stretch.range.address);
    if (end > begin) next = place(std::max(begin, stretch.range.address));
  });
  if (!next) next = first;
  if (next) return Canonical(*next, bits_);
  return absl::ResourceExhaustedError(
      absl::StrFormat("zone \"%s\" has no room for 0x%x bytes at a multiple of 0x%x",
                      this->zone(zone).name, size, alignment));
}

}  // namespace packsmith::gpu
