#include "runtime/memory/range_allocator.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>

#include "absl/strings/str_format.h"

namespace packsmith::gpu {
namespace {

// How many holes of one size class, and of how many classes, are compared before one is taken that
// is certain to fit. More would rarely find a better one: the result is close to the best.
constexpr unsigned kProbes = 8, kProbedBins = 16;

// Serials are an allocator's number and a count, so that those of different allocators differ.
constexpr unsigned kCountBits = 40;

uint64_t FirstSerial() {
  static std::atomic<uint64_t> allocators{1};
  return allocators.fetch_add(1, std::memory_order_relaxed) << kCountBits;
}

constexpr uint64_t RoundUp(uint64_t value, uint64_t power_of_two) {
  return (value + power_of_two - 1) & ~(power_of_two - 1);
}

constexpr uint64_t RoundDown(uint64_t value, uint64_t power_of_two) {
  return value & ~(power_of_two - 1);
}

}  // namespace

absl::StatusOr<std::unique_ptr<RangeAllocator>> RangeAllocator::Create(const Options& options) {
  if (!std::has_single_bit(options.granule)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a granule must be a power of two, not %u bytes", options.granule));
  }
  if (options.begin % options.granule != 0 || options.end % options.granule != 0 ||
      options.begin >= options.end) {
    return absl::InvalidArgumentError(
        absl::StrFormat("0x%x..0x%x (end excluded) must be whole granules of 0x%x bytes",
                        options.begin, options.end, options.granule));
  }
  if ((options.end - options.begin) / options.granule >> RangeNode::kSizeBits != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("0x%x..0x%x has more than 2^%d granules of 0x%x bytes; use a larger one",
                        options.begin, options.end, RangeNode::kSizeBits, options.granule));
  }
  return std::unique_ptr<RangeAllocator>(new RangeAllocator(options));
}

RangeAllocator::RangeAllocator(const Options& options)
    : options_(options),
      shift_(std::countr_zero(options.granule)),
      order_(nodes_),
      next_serial_(FirstSerial()) {
  std::fill(std::begin(bins_), std::end(bins_), kNoRange);
  first_ = NewNode();
  RangeNode& all = nodes_[first_];
  all.begin = options.begin >> shift_;
  all.size = (options.end - options.begin) >> shift_;
  all.prev = all.next = kNoRange;
  order_.Reset(first_);
  AddToBin(first_);
}

// The size class. Each class holds larger sizes than the one before it.
unsigned RangeAllocator::BinOf(uint64_t size) {
  if (size < kExact) return size;
  const unsigned octave = std::bit_width(size) - 1;
  const unsigned within = (size >> (octave - kPerOctaveBits)) & ((1u << kPerOctaveBits) - 1);
  return kExact + ((octave - kExactBits) << kPerOctaveBits) + within;
}

// The first class from `bin` that has a hole, or kBins.
unsigned RangeAllocator::FirstBinFrom(unsigned bin) const {
  if (bin >= kBins) return kBins;
  unsigned word = bin / 64;
  const uint64_t here = filled_[word] >> (bin % 64);
  if (here != 0) return bin + std::countr_zero(here);
  if (++word == kWords) return kBins;
  const uint64_t words = filled_words_ >> word;
  if (words == 0) return kBins;
  word += std::countr_zero(words);
  return word * 64 + std::countr_zero(filled_[word]);
}

// Makes the node a hole, in its size class and in the order of addresses.
void RangeAllocator::AddToBin(uint32_t hole) {
  RangeNode& node = nodes_[hole];
  const unsigned bin = BinOf(node.size);
  node.kind = RangeNode::kHole;
  node.guard = 0;
  node.bin = {kNoRange, bins_[bin]};
  if (bins_[bin] != kNoRange) nodes_[bins_[bin]].bin.prev = hole;
  bins_[bin] = hole;
  filled_[bin / 64] |= uint64_t{1} << (bin % 64);
  filled_words_ |= uint64_t{1} << (bin / 64);
  ++holes_;
  order_.HoleGrew(hole);
}

void RangeAllocator::RemoveFromBin(uint32_t hole) {
  const RangeNode& node = nodes_[hole];
  if (node.bin.next != kNoRange) nodes_[node.bin.next].bin.prev = node.bin.prev;
  if (node.bin.prev != kNoRange) {
    nodes_[node.bin.prev].bin.next = node.bin.next;
  } else {
    const unsigned bin = BinOf(node.size);
    bins_[bin] = node.bin.next;
    if (node.bin.next == kNoRange) {
      filled_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
      if (filled_[bin / 64] == 0) filled_words_ &= ~(uint64_t{1} << (bin / 64));
    }
  }
  --holes_;
}

absl::StatusOr<RangeAllocator::Need> RangeAllocator::Understand(const RangeRequest& request) const {
  const uint64_t most = options_.end - options_.begin;
  if (request.size == 0) return absl::InvalidArgumentError("a range must have at least 1 byte");
  if (request.alignment != 0 && !std::has_single_bit(request.alignment)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("an alignment must be a power of two, not 0x%x", request.alignment));
  }
  if (request.boundary != 0 &&
      (!std::has_single_bit(request.boundary) || request.boundary < request.size)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "0x%x bytes always cross multiples of 0x%x; the boundary must be a power of two, and not "
        "smaller than the range",
        request.size, request.boundary));
  }
  if (request.guard > options_.granule * ((1u << RangeNode::kGuardBits) - 1)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("guards of 0x%x bytes are more than %d granules of 0x%x", request.guard,
                        (1u << RangeNode::kGuardBits) - 1, options_.granule));
  }
  if (request.address.has_value()) {
    const uint64_t address = *request.address;
    if (address % std::max(request.alignment, options_.granule) != 0 ||
        (request.boundary != 0 &&
         (address & (request.boundary - 1)) > request.boundary - request.size)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "address 0x%x does not have the requested alignment of 0x%x, or the range crosses a "
          "multiple of 0x%x",
          address, std::max(request.alignment, options_.granule), request.boundary));
    }
  }
  // Larger than everything: no overflow after this line, and no hole will be found.
  const uint64_t size = std::min(request.size, most + 1);
  const uint64_t guard = InUnits(request.guard);
  return Need{InUnits(size) + 2 * guard, guard,
              std::max(request.alignment, options_.granule) >> shift_, request.boundary >> shift_,
              request.placement};
}

std::optional<uint64_t> RangeAllocator::PlaceIn(const RangeNode& hole, const Need& need) const {
  if (hole.size < need.size) return std::nullopt;
  const uint64_t inner = need.size - 2 * need.guard;
  uint64_t at;
  if (need.placement == Placement::kHighest) {
    at = RoundDown(hole.end() - need.guard - inner, need.alignment);
    if (need.boundary != 0 && (at & (need.boundary - 1)) > need.boundary - inner) {
      // Up to the multiple that it would cross.
      at = RoundDown(RoundUp(at, need.boundary) - inner, need.alignment);
    }
    // Unsigned: values below zero wrap to large ones.
    return at < hole.begin + need.guard || at >= hole.end() ? std::nullopt
                                                            : std::optional(at - need.guard);
  }
  at = RoundUp(hole.begin + need.guard, need.alignment);
  if (need.boundary != 0 && (at & (need.boundary - 1)) > need.boundary - inner) {
    at = RoundUp(at, need.boundary);
  }
  // Unsigned: values past the top wrap to small ones.
  return at < hole.begin || at + inner + need.guard > hole.end() ? std::nullopt
                                                                 : std::optional(at - need.guard);
}

uint32_t RangeAllocator::Better(uint32_t best, uint32_t candidate, const Need& need) const {
  const RangeNode& node = nodes_[candidate];
  if (best != kNoRange && node.size >= nodes_[best].size) return best;
  const bool holds = need.plain() ? node.size >= need.size : PlaceIn(node, need).has_value();
  return holds ? candidate : best;
}

// The best of the first `at_most` holes of a class.
uint32_t RangeAllocator::BestInBin(unsigned bin, const Need& need, unsigned at_most) const {
  uint32_t best = kNoRange;
  for (uint32_t hole = bins_[bin]; hole != kNoRange && at_most != 0;
       hole = nodes_[hole].bin.next, --at_most) {
    best = Better(best, hole, need);
  }
  return best;
}

uint32_t RangeAllocator::BestPlain(const Need& need) const {
  const unsigned own = BinOf(need.size);
  if (own >= kExact) {
    // A class of several sizes: the range may not fit into each of its holes.
    const uint32_t hole = BestInBin(own, need, kProbes);
    if (hole != kNoRange) return hole;
  }
  const unsigned bin = FirstBinFrom(own >= kExact ? own + 1 : own);
  if (bin < kExact) return bins_[bin];
  if (bin < kBins) return BestInBin(bin, need, kProbes);
  return own >= kExact ? BestInBin(own, need, std::numeric_limits<unsigned>::max()) : kNoRange;
}

uint32_t RangeAllocator::BestConstrained(const Need& need) const {
  // The least fitting classes first, a few holes of each.
  unsigned bin = FirstBinFrom(BinOf(need.size));
  for (unsigned probed = 0; bin < kBins && probed < kProbedBins; ++probed) {
    const uint32_t hole = BestInBin(bin, need, kProbes);
    if (hole != kNoRange) return hole;
    bin = FirstBinFrom(bin + 1);
  }
  // Then one that is so large that it holds the range at any alignment.
  const uint64_t inner = need.size - 2 * need.guard;
  const uint64_t enough =
      need.size + (need.alignment - 1) + (need.boundary != 0 ? inner + need.alignment - 2 : 0);
  const unsigned certain = enough >> RangeNode::kSizeBits != 0
                               ? kBins
                               : FirstBinFrom(BinOf(enough) + (enough < kExact ? 0 : 1));
  if (certain < kBins) return BestInBin(certain, need, 1);
  // Then all.
  for (bin = FirstBinFrom(BinOf(need.size)); bin < kBins; bin = FirstBinFrom(bin + 1)) {
    const uint32_t hole = BestInBin(bin, need, std::numeric_limits<unsigned>::max());
    if (hole != kNoRange) return hole;
  }
  return kNoRange;
}

uint32_t RangeAllocator::ChooseHole(const Need& need) {
  if (need.size >> RangeNode::kSizeBits != 0) return kNoRange;
  if (need.placement == Placement::kBest) {
    return need.plain() ? BestPlain(need) : BestConstrained(need);
  }
  return order_.FindHole(need.size, need.placement == Placement::kHighest,
                         [&](uint32_t hole) { return PlaceIn(nodes_[hole], need).has_value(); });
}

absl::StatusOr<Range> RangeAllocator::Allocate(const RangeRequest& request) {
  const absl::StatusOr<Need> need = Understand(request);
  if (!need.ok()) return need.status();
  if (request.address.has_value()) {
    const uint64_t address = *request.address;
    if (address < options_.begin || address >= options_.end ||
        request.size > options_.end - address) {
      return absl::InvalidArgumentError(
          absl::StrFormat("0x%x and 0x%x bytes from there are not within 0x%x..0x%x", address,
                          request.size, options_.begin, options_.end - 1));
    }
    const uint64_t unit = address >> shift_;
    const uint32_t holder = order_.Find(unit);
    const RangeNode& node = nodes_[holder];
    if (node.kind != RangeNode::kHole || unit - node.begin < need->guard ||
        node.end() - unit < need->size - need->guard) {
      ++failures_;
      return absl::AlreadyExistsError(absl::StrFormat(
          "0x%x bytes at 0x%x, with guards of 0x%x, are not free: 0x%x..0x%x is %s", request.size,
          address, request.guard, node.begin << shift_, (node.end() << shift_) - 1,
          node.kind == RangeNode::kHole ? "the hole there" : "in use"));
    }
    return Take(holder, unit - need->guard, *need);
  }
  const uint32_t hole = ChooseHole(*need);
  if (hole == kNoRange) {
    ++failures_;
    return NoRoom(request);
  }
  return Take(hole, *PlaceIn(nodes_[hole], *need), *need);
}

absl::Status RangeAllocator::NoRoom(const RangeRequest& request) const {
  return absl::ResourceExhaustedError(absl::StrFormat(
      "no room for 0x%x bytes (alignment 0x%x, boundary 0x%x, guards 0x%x) in 0x%x..0x%x: 0x%x "
      "bytes are free, in %u holes; free ranges, or request less",
      request.size, std::max(request.alignment, options_.granule), request.boundary, request.guard,
      options_.begin, options_.end - 1, options_.end - options_.begin - (live_units_ << shift_),
      holes_));
}

// Makes the units [at, at + need.size) of a hole a live range. The hole's own node always keeps its
// begin, on which RangeOrder relies.
Range RangeAllocator::Take(uint32_t hole, uint64_t at, const Need& need) {
  RemoveFromBin(hole);
  uint32_t taken = hole;
  const uint64_t end = nodes_[hole].end();
  if (at != nodes_[hole].begin) {
    nodes_[hole].size = at - nodes_[hole].begin;
    AddToBin(hole);
    taken = NewNode();
    nodes_[taken].begin = at;
    LinkAfter(taken, hole);
  }
  if (at + need.size != end) {
    const uint32_t rest = NewNode();
    nodes_[rest].begin = at + need.size;
    nodes_[rest].size = end - nodes_[rest].begin;
    LinkAfter(rest, taken);
    AddToBin(rest);
  }
  RangeNode& node = nodes_[taken];
  node.size = need.size;
  node.guard = need.guard;
  node.kind = RangeNode::kLive;
  node.serial = next_serial_++;
  ++live_ranges_;
  ++allocations_;
  live_units_ += need.size;
  guard_units_ += 2 * need.guard;
  peak_units_ = std::max(peak_units_, live_units_);
  return RangeOf(taken);
}

absl::Status RangeAllocator::Free(RangeHandle handle) {
  if (LiveNode(handle) == nullptr) return NotLive(handle);
  uint32_t hole = handle.index;
  --live_ranges_;
  live_units_ -= nodes_[hole].size;
  guard_units_ -= 2 * nodes_[hole].guard;
  const uint32_t prev = nodes_[hole].prev, next = nodes_[hole].next;
  if (next != kNoRange && nodes_[next].kind == RangeNode::kHole) {
    RemoveFromBin(next);
    nodes_[hole].size += nodes_[next].size;
    Unlink(next);
  }
  if (prev != kNoRange && nodes_[prev].kind == RangeNode::kHole) {
    RemoveFromBin(prev);
    nodes_[prev].size += nodes_[hole].size;
    Unlink(hole);
    hole = prev;
  }
  AddToBin(hole);
  return absl::OkStatus();
}

absl::StatusOr<Range> RangeAllocator::Lookup(RangeHandle handle) const {
  if (LiveNode(handle) == nullptr) return NotLive(handle);
  return RangeOf(handle.index);
}

absl::StatusOr<Range> RangeAllocator::Find(uint64_t address) const {
  if (address >= options_.begin && address < options_.end) {
    const uint32_t node = order_.Find(address >> shift_);
    if (nodes_[node].kind == RangeNode::kLive) {
      const Range range = RangeOf(node);
      if (address >= range.address && address - range.address < range.size) return range;
    }
  }
  return absl::NotFoundError(absl::StrFormat("no range holds 0x%x", address));
}

void RangeAllocator::ForEach(absl::FunctionRef<void(const Stretch&)> visit) const {
  for (uint32_t at = first_; at != kNoRange; at = nodes_[at].next) {
    const RangeNode& node = nodes_[at];
    const uint64_t begin = node.begin << shift_;
    if (node.kind == RangeNode::kHole) {
      visit({{begin, node.size << shift_, {}}, false});
      continue;
    }
    const Range range = RangeOf(at);
    const uint64_t guard = node.guard << shift_;
    if (guard != 0) visit({{begin, guard, {}}, true});
    visit({range, true});
    if (guard != 0) visit({{range.address + range.size, guard, {}}, true});
  }
}

RangeStatistics RangeAllocator::statistics() const {
  RangeStatistics s;
  s.capacity = options_.end - options_.begin;
  s.live_bytes = live_units_ << shift_;
  s.guard_bytes = guard_units_ << shift_;
  s.peak_bytes = peak_units_ << shift_;
  s.live_ranges = live_ranges_;
  s.holes = holes_;
  s.allocations = allocations_;
  s.failures = failures_;
  if (filled_words_ != 0) {
    const unsigned word = std::bit_width(filled_words_) - 1;
    const unsigned bin = word * 64 + std::bit_width(filled_[word]) - 1;
    uint64_t largest = 0;
    for (uint32_t hole = bins_[bin]; hole != kNoRange; hole = nodes_[hole].bin.next) {
      largest = std::max<uint64_t>(largest, nodes_[hole].size);
    }
    s.largest_hole = largest << shift_;
  }
  return s;
}

void RangeAllocator::Reserve(size_t live_ranges) {
  // Between any two live ranges there is at most one hole.
  nodes_.reserve(2 * live_ranges + 1);
  order_.Reserve(2 * live_ranges + 1);
}

size_t RangeAllocator::bookkeeping_bytes() const {
  return sizeof(*this) + nodes_.capacity() * sizeof(RangeNode) + order_.bytes();
}

uint32_t RangeAllocator::NewNode() {
  if (unused_ != kNoRange) {
    const uint32_t node = unused_;
    unused_ = nodes_[node].next;
    return node;
  }
  nodes_.emplace_back();
  return nodes_.size() - 1;
}

void RangeAllocator::LinkAfter(uint32_t node, uint32_t after) {
  const uint32_t next = nodes_[after].next;
  nodes_[node].prev = after;
  nodes_[node].next = next;
  nodes_[after].next = node;
  if (next != kNoRange) nodes_[next].prev = node;
  order_.InsertAfter(node, after);
}

// Never the first one, which keeps its begin for the allocator's lifetime.
void RangeAllocator::Unlink(uint32_t node) {
  order_.Remove(node);
  RangeNode& gone = nodes_[node];
  nodes_[gone.prev].next = gone.next;
  if (gone.next != kNoRange) nodes_[gone.next].prev = gone.prev;
  gone.kind = RangeNode::kUnused;
  gone.next = unused_;
  unused_ = node;
}

const RangeNode* RangeAllocator::LiveNode(RangeHandle handle) const {
  if (handle.index >= nodes_.size()) return nullptr;
  const RangeNode& node = nodes_[handle.index];
  return node.kind == RangeNode::kLive && node.serial == handle.serial ? &node : nullptr;
}

Range RangeAllocator::RangeOf(uint32_t index) const {
  const RangeNode& node = nodes_[index];
  return {(node.begin + node.guard) << shift_,
          (node.size - 2 * node.guard) << shift_,
          {node.serial, index}};
}

absl::Status RangeAllocator::NotLive(RangeHandle handle) const {
  const uint64_t own = next_serial_ >> kCountBits;
  if (handle.serial == 0) return absl::NotFoundError("the handle is empty");
  if (handle.serial >> kCountBits != own) {
    return absl::NotFoundError("this handle is another allocator's: pass it to that one");
  }
  return absl::NotFoundError(absl::StrFormat(
      "range %u of allocation %u is not live: it was freed before, or the handle is made up",
      handle.index, handle.serial & ((uint64_t{1} << kCountBits) - 1)));
}

absl::Status RangeAllocator::Verify() const {
  uint64_t at = options_.begin >> shift_, live = 0, holes = 0, live_units = 0, guard_units = 0;
  uint32_t previous = kNoRange;
  for (uint32_t i = first_; i != kNoRange; previous = i, i = nodes_[i].next) {
    const RangeNode& node = nodes_[i];
    if (node.begin != at || node.size == 0 || node.prev != previous) {
      return absl::InternalError(
          absl::StrFormat("range %d does not begin where %d ends", i, previous));
    }
    at = node.end();
    if (node.kind == RangeNode::kLive) {
      ++live;
      live_units += node.size;
      guard_units += 2 * node.guard;
    } else if (node.kind != RangeNode::kHole) {
      return absl::InternalError(absl::StrFormat("range %d has no valid kind", i));
    } else {
      ++holes;
      if (previous != kNoRange && nodes_[previous].kind == RangeNode::kHole) {
        return absl::InternalError(absl::StrFormat("holes %d and %d are not merged", previous, i));
      }
    }
  }
  if (at != options_.end >> shift_) return absl::InternalError("ranges end before the whole does");
  uint64_t in_bins = 0;
  for (unsigned bin = 0; bin < kBins; ++bin) {
    const bool filled = (filled_[bin / 64] >> (bin % 64) & 1) != 0;
    const bool word = (filled_words_ >> (bin / 64) & 1) != 0;
    if (filled != (bins_[bin] != kNoRange) || word != (filled_[bin / 64] != 0)) {
      return absl::InternalError(absl::StrFormat("the bit of size class %d is wrong", bin));
    }
    uint32_t before = kNoRange;
    for (uint32_t hole = bins_[bin]; hole != kNoRange;
         before = hole, hole = nodes_[hole].bin.next) {
      const RangeNode& node = nodes_[hole];
      if (node.kind != RangeNode::kHole || BinOf(node.size) != bin || node.bin.prev != before ||
          ++in_bins > holes) {
        return absl::InternalError(
            absl::StrFormat("range %d must not be in size class %d", hole, bin));
      }
    }
  }
  if (in_bins != holes || holes != holes_ || live != live_ranges_ || live_units != live_units_ ||
      guard_units != guard_units_) {
    return absl::InternalError("the counts are wrong");
  }
  return order_.Verify(first_);
}

}  // namespace packsmith::gpu
