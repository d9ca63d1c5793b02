// The ranges of a RangeAllocator in address order: finds the range that holds an address, and the
// lowest or highest hole that is large enough.
//
// Part of RangeAllocator. Ranges already know their neighbours, so this is a tree over their list:
// neighbours form groups, neighbouring groups form groups of groups, up to one root. A group knows
// its first member and the number of members, not the place of each, so that splitting or merging a
// range costs one counter, not a search from the root.

#ifndef PACKSMITH_RUNTIME_MEMORY_RANGE_ORDER_H_
#define PACKSMITH_RUNTIME_MEMORY_RANGE_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace packsmith::gpu {

// No range, no group.
inline constexpr uint32_t kNoRange = ~uint32_t{0};

// One stretch of a zone. 32 bytes, so that reading one costs one cache line.
struct alignas(32) RangeNode {
  enum Kind : uint64_t { kUnused, kHole, kLive };
  static constexpr unsigned kSizeBits = 54, kGuardBits = 8;

  uint64_t begin = 0;  // units of the allocator's granule, as are size and guard
  uint64_t size : kSizeBits = 0;
  uint64_t guard : kGuardBits = 0;  // part of `size`, on either side, that is not the user's
  uint64_t kind : 2 = kUnused;
  // Neighbours by address. Of unused nodes, `next` is the next unused one.
  uint32_t prev = kNoRange, next = kNoRange;
  union {
    struct {
      uint32_t prev, next;
    } bin;            // kHole: others in the same size class
    uint64_t serial;  // kLive: what its handle must say
  };

  RangeNode() : serial(0) {}
  uint64_t end() const { return begin + size; }
};
static_assert(sizeof(RangeNode) == 32);

class RangeOrder {
 public:
  // `nodes` is the allocator's, and must outlive this.
  explicit RangeOrder(const std::vector<RangeNode>& nodes) : nodes_(nodes) {}

  // Makes `node` the only one.
  void Reset(uint32_t node);
  // Makes room for `nodes` nodes.
  void Reserve(size_t nodes);
  // After `node` was linked into the list as the next one of `after`.
  void InsertAfter(uint32_t node, uint32_t after);
  // Before `node` is unlinked. It must not be the only one.
  void Remove(uint32_t node);
  // After `node`, a hole, was made or has grown.
  void HoleGrew(uint32_t node) {
    const uint64_t size = nodes_[node].size;
    for (uint32_t group = parent_[node]; group != kNoRange && groups_[group].bound < size;
         group = groups_[group].parent) {
      groups_[group].bound = size;
    }
  }

  // The node that holds `unit`, which must be within the zone. O(log n).
  uint32_t Find(uint64_t unit) const;
  // The first hole, by address upwards or downwards, of at least `size` units that `fits` accepts.
  // O(log n) amortised if it accepts every one.
  uint32_t FindHole(uint64_t size, bool downwards, absl::FunctionRef<bool(uint32_t)> fits);

  size_t bytes() const {
    return groups_.capacity() * sizeof(Group) + parent_.capacity() * sizeof(uint32_t);
  }
  // Internal error if the tree does not match the list. O(n).
  absl::Status Verify(uint32_t first_node) const;

 private:
  // Groups are split when they are full, and removed when they are empty; they are not merged. So
  // the height depends on the peak number of ranges.
  static constexpr uint32_t kFull = 32;

  struct Group {
    uint64_t begin;  // of its first range
    // No hole below is larger. Searches tighten it; changes only raise it, which is seldom needed.
    uint64_t bound;
    uint32_t first, count;  // members: nodes in groups of level 0, else groups
    uint32_t parent, prev, next;
  };

  uint32_t NewGroup();
  uint32_t NextOf(int level, uint32_t member) const {
    return level == 0 ? nodes_[member].next : groups_[member].next;
  }
  uint64_t BeginOf(int level, uint32_t member) const {
    return level == 0 ? nodes_[member].begin : groups_[member].begin;
  }
  uint32_t& ParentOf(int level, uint32_t member) {
    return level == 0 ? parent_[member] : groups_[member].parent;
  }
  void Added(int level, uint32_t group);
  void Removed(int level, uint32_t member);
  uint32_t Search(int level, uint32_t group, uint64_t size, bool downwards,
                  absl::FunctionRef<bool(uint32_t)> fits);

  const std::vector<RangeNode>& nodes_;
  std::vector<uint32_t> parent_;  // of each node
  std::vector<Group> groups_;
  uint32_t unused_ = kNoRange;  // groups, linked by `next`
  uint32_t root_ = kNoRange;
  int root_level_ = 0;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_RANGE_ORDER_H_
