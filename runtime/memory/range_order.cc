#include "runtime/memory/range_order.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace packsmith::gpu {

void RangeOrder::Reset(uint32_t node) {
  groups_.clear();
  unused_ = kNoRange;
  root_level_ = 0;
  root_ = NewGroup();
  const RangeNode& only = nodes_[node];
  groups_[root_] = {only.begin, only.size, node, 1, kNoRange, kNoRange, kNoRange};
  if (parent_.size() <= node) parent_.resize(node + 1);
  parent_[node] = root_;
}

void RangeOrder::Reserve(size_t nodes) {
  parent_.reserve(nodes);
  // Splitting leaves groups half full, and their groups, and so on: 1/16 + 1/16² + …
  groups_.reserve(nodes / (kFull / 2 - 1) + 64);
}

uint32_t RangeOrder::NewGroup() {
  if (unused_ != kNoRange) {
    const uint32_t group = unused_;
    unused_ = groups_[group].next;
    return group;
  }
  groups_.emplace_back();
  return groups_.size() - 1;
}

void RangeOrder::InsertAfter(uint32_t node, uint32_t after) {
  if (parent_.size() <= node) parent_.resize(node + 1);
  const uint32_t group = parent_[after];
  parent_[node] = group;
  if (++groups_[group].count > kFull) Added(0, group);
}

// Splits a group that has become too full; its new neighbour may make the parent too full, and so
// on upwards.
void RangeOrder::Added(int level, uint32_t group) {
  while (groups_[group].count > kFull) {
    if (group == root_) {
      root_ = NewGroup();
      ++root_level_;
      groups_[root_] = {
          groups_[group].begin, groups_[group].bound, group, 1, kNoRange, kNoRange, kNoRange};
      groups_[group].parent = root_;
    }
    const uint32_t right = NewGroup();
    Group& left = groups_[group];
    uint32_t member = left.first;
    for (uint32_t i = 0; i < kFull / 2; ++i) member = NextOf(level, member);
    const uint32_t moved = left.count - kFull / 2;
    left.count = kFull / 2;
    groups_[right] = {
        BeginOf(level, member), left.bound, member, moved, left.parent, group, left.next};
    if (left.next != kNoRange) groups_[left.next].prev = right;
    left.next = right;
    for (uint32_t i = 0; i < moved; ++i, member = NextOf(level, member)) {
      ParentOf(level, member) = right;
    }
    group = left.parent;
    ++groups_[group].count;
    ++level;
  }
}

void RangeOrder::Remove(uint32_t node) { Removed(0, node); }

void RangeOrder::Removed(int level, uint32_t member) {
  uint32_t group = ParentOf(level, member);
  // An empty group is removed too, and its own group has one less.
  while (--groups_[group].count == 0) {
    const Group& gone = groups_[group];
    if (gone.prev != kNoRange) groups_[gone.prev].next = gone.next;
    if (gone.next != kNoRange) groups_[gone.next].prev = gone.prev;
    member = group;
    group = gone.parent;
    ++level;
    // Its `next` is still needed to find the new first one, so it is recycled only after that.
    if (groups_[group].count > 1 && groups_[group].first == member) {
      groups_[group].first = gone.next;
    }
    groups_[member].next = unused_;
    unused_ = member;
  }
  Group* changed = &groups_[group];
  if (changed->first == member) changed->first = NextOf(level, member);
  // The first range of a group is also the parent's first one, if the parent begins with this
  // group.
  uint64_t begin = BeginOf(level, changed->first);
  while (changed->begin != begin) {
    changed->begin = begin;
    if (changed->parent == kNoRange || groups_[changed->parent].first != group) break;
    group = changed->parent;
    changed = &groups_[group];
  }
}

uint32_t RangeOrder::Find(uint64_t unit) const {
  uint32_t member = root_;
  for (int level = root_level_; level >= 0; --level) {
    const uint32_t count = groups_[member].count;
    member = groups_[member].first;
    for (uint32_t i = 1; i < count; ++i) {
      const uint32_t next = NextOf(level, member);
      if (BeginOf(level, next) > unit) break;
      member = next;
    }
  }
  return member;
}

uint32_t RangeOrder::FindHole(uint64_t size, bool downwards,
                              absl::FunctionRef<bool(uint32_t)> fits) {
  return groups_[root_].bound < size ? kNoRange : Search(root_level_, root_, size, downwards, fits);
}

uint32_t RangeOrder::Search(int level, uint32_t group, uint64_t size, bool downwards,
                            absl::FunctionRef<bool(uint32_t)> fits) {
  uint32_t members[kFull];
  const uint32_t count = groups_[group].count;
  uint32_t member = groups_[group].first;
  for (uint32_t i = 0; i < count; ++i, member = NextOf(level, member)) {
    members[downwards ? count - 1 - i : i] = member;
  }
  uint64_t largest = 0;
  for (uint32_t i = 0; i < count; ++i) {
    member = members[i];
    if (level == 0) {
      const RangeNode& node = nodes_[member];
      if (node.kind != RangeNode::kHole) continue;
      if (node.size >= size && fits(member)) return member;
      largest = std::max<uint64_t>(largest, node.size);
    } else {
      if (groups_[member].bound >= size) {
        const uint32_t found = Search(level - 1, member, size, downwards, fits);
        if (found != kNoRange) return found;
      }
      largest = std::max(largest, groups_[member].bound);
    }
  }
  groups_[group].bound = largest;
  return kNoRange;
}

absl::Status RangeOrder::Verify(uint32_t first_node) const {
  // Level by level: the members of all groups, one after the other, are the level's list.
  uint32_t first = root_;
  for (int level = root_level_; level > 0; --level) first = groups_[first].first;
  if (groups_[first].first != first_node) return absl::InternalError("the first range is lost");
  for (int level = 0; level <= root_level_; ++level) {
    uint32_t previous = kNoRange;
    uint32_t member = level == 0 ? first_node : groups_[first].first;
    for (uint32_t at = first; at != kNoRange; previous = at, at = groups_[at].next) {
      const Group& group = groups_[at];
      if (group.prev != previous) return absl::InternalError("groups are linked wrongly");
      if (group.first != member || group.count == 0 || group.count > kFull) {
        return absl::InternalError(
            absl::StrFormat("level %d, group %d begins with %d, not %d, and has %d members", level,
                            at, group.first, member, group.count));
      }
      if (group.begin != BeginOf(level, member)) {
        return absl::InternalError(absl::StrFormat("level %d, group %d: begin", level, at));
      }
      for (uint32_t i = 0; i < group.count; ++i, member = NextOf(level, member)) {
        if (member == kNoRange) return absl::InternalError("a group's count is too high");
        const uint32_t parent = level == 0 ? parent_[member] : groups_[member].parent;
        const uint64_t bound = level > 0                                 ? groups_[member].bound
                               : nodes_[member].kind == RangeNode::kHole ? nodes_[member].size
                                                                         : 0;
        if (parent != at) return absl::InternalError("a member belongs to another group");
        if (bound > group.bound) return absl::InternalError("a hole is larger than its bound");
      }
    }
    if (member != kNoRange) return absl::InternalError("groups end before their members");
    if (level < root_level_) first = groups_[first].parent;
  }
  return first == root_ && groups_[root_].next == kNoRange
             ? absl::OkStatus()
             : absl::InternalError("there are several roots");
}

}  // namespace packsmith::gpu
