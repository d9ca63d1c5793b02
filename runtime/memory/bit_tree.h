// A set of small numbers that finds its least member quickly.

#ifndef PACKSMITH_RUNTIME_MEMORY_BIT_TREE_H_
#define PACKSMITH_RUNTIME_MEMORY_BIT_TREE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace packsmith::gpu {

// One bit for each number, above each 64 bits one that tells whether any of them is set, and so on.
// All operations take one step a level: four for 16 million numbers.
class BitTree {
 public:
  // Makes room for numbers below `size`; members are kept. Never shrinks.
  void Grow(size_t size) {
    if (size == 0) return;
    for (size_t level = 0; level == 0 || size > 1; ++level) {
      size = (size + 63) / 64;
      if (level == levels_.size()) {
        levels_.emplace_back(size);
        // A new top has one bit for each word below it.
        if (level > 0) {
          for (size_t i = 0; i < levels_[level - 1].size(); ++i) {
            if (levels_[level - 1][i] != 0) levels_[level][i / 64] |= uint64_t{1} << (i % 64);
          }
        }
      } else if (levels_[level].size() < size) {
        levels_[level].resize(size);
      }
    }
  }

  bool Contains(size_t n) const {
    return !levels_.empty() && n / 64 < levels_[0].size() &&
           (levels_[0][n / 64] >> (n % 64) & 1) != 0;
  }
  void Insert(size_t n) {
    for (std::vector<uint64_t>& level : levels_) {
      level[n / 64] |= uint64_t{1} << (n % 64);
      n /= 64;
    }
  }
  void Erase(size_t n) {
    for (std::vector<uint64_t>& level : levels_) {
      level[n / 64] &= ~(uint64_t{1} << (n % 64));
      if (level[n / 64] != 0) return;
      n /= 64;
    }
  }
  std::optional<size_t> Least() const {
    if (levels_.empty() || levels_.back()[0] == 0) return std::nullopt;
    size_t n = 0;
    for (size_t level = levels_.size(); level-- > 0;) {
      n = n * 64 + static_cast<size_t>(std::countr_zero(levels_[level][n]));
    }
    return n;
  }

 private:
  std::vector<std::vector<uint64_t>> levels_;  // the last one is a single word
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_BIT_TREE_H_
