// A simple model of RangeAllocator: a sorted list of live ranges.

#ifndef PACKSMITH_TESTS_MEMORY_RANGE_MODEL_H_
#define PACKSMITH_TESTS_MEMORY_RANGE_MODEL_H_

#include <cstdint>
#include <map>
#include <optional>

#include "runtime/memory/range_allocator.h"

namespace packsmith::gpu {

class RangeModel {
 public:
  RangeModel(uint64_t begin, uint64_t end, uint64_t granule)
      : begin_(begin), end_(end), granule_(granule) {}

  // Whether a range of that request may lie at `address`.
  bool Allows(const RangeRequest& request, uint64_t address) const {
    if (request.alignment != 0 && address % request.alignment != 0) return false;
    if (request.boundary != 0 &&
        address / request.boundary != (address + request.size - 1) / request.boundary) {
      return false;
    }
    return address % granule_ == 0 &&
           IsFree(address - Up(request.guard), address + Up(request.size) + Up(request.guard));
  }

  // The lowest or highest address that is allowed, found by trying them all.
  std::optional<uint64_t> Lowest(const RangeRequest& request) const {
    for (uint64_t at = begin_; at < end_; at += granule_) {
      if (Allows(request, at)) return at;
    }
    return std::nullopt;
  }
  std::optional<uint64_t> Highest(const RangeRequest& request) const {
    for (uint64_t at = end_ - granule_; at + 1 > begin_; at -= granule_) {
      if (Allows(request, at)) return at;
      if (at == 0) break;
    }
    return std::nullopt;
  }

  void Add(uint64_t address, const RangeRequest& request) {
    live_[address - Up(request.guard)] = {address + Up(request.size) + Up(request.guard)};
    guards_[address] = Up(request.guard);
  }
  void Remove(uint64_t address) {
    const auto guard = guards_.find(address);
    live_.erase(address - guard->second);
    guards_.erase(guard);
  }

  // Of the holes, sizes included.
  std::multimap<uint64_t, uint64_t> HolesBySize() const {
    std::multimap<uint64_t, uint64_t> holes;
    uint64_t at = begin_;
    for (const auto& [begin, end] : live_) {
      if (begin > at) holes.emplace(begin - at, at);
      at = end;
    }
    if (end_ > at) holes.emplace(end_ - at, at);
    return holes;
  }

  uint64_t Up(uint64_t size) const { return (size + granule_ - 1) / granule_ * granule_; }

 private:
  bool IsFree(uint64_t begin, uint64_t end) const {
    if (begin < begin_ || end > end_ || begin > end) return false;
    const auto after = live_.lower_bound(begin);
    if (after != live_.end() && after->first < end) return false;
    return after == live_.begin() || std::prev(after)->second <= begin;
  }

  const uint64_t begin_, end_, granule_;
  std::map<uint64_t, uint64_t> live_;    // begin to end, guards included
  std::map<uint64_t, uint64_t> guards_;  // address to guard
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_MEMORY_RANGE_MODEL_H_
