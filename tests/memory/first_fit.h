// A first-fit allocator: holes in a list that is sorted by address, the first one that is large
// enough is taken. RangeAllocator's fragmentation is compared with it.

#ifndef PACKSMITH_TESTS_MEMORY_FIRST_FIT_H_
#define PACKSMITH_TESTS_MEMORY_FIRST_FIT_H_

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace packsmith::gpu {

class FirstFit {
 public:
  FirstFit(uint64_t begin, uint64_t end) { holes_[begin] = end - begin; }

  std::optional<uint64_t> Allocate(uint64_t size) {
    for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
      if (hole->second < size) continue;
      const auto [begin, have] = *hole;
      const auto next = holes_.erase(hole);
      if (have > size) holes_.emplace_hint(next, begin + size, have - size);
      return begin;
    }
    return std::nullopt;
  }

  void Free(uint64_t begin, uint64_t size) {
    auto next = holes_.lower_bound(begin);
    if (next != holes_.end() && next->first == begin + size) {
      size += next->second;
      next = holes_.erase(next);
    }
    if (next != holes_.begin()) {
      const auto previous = std::prev(next);
      if (previous->first + previous->second == begin) {
        previous->second += size;
        return;
      }
    }
    holes_.emplace_hint(next, begin, size);
  }

 private:
  std::map<uint64_t, uint64_t> holes_;  // begin to size
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_TESTS_MEMORY_FIRST_FIT_H_
