#include "runtime/decode/walk/frames.h"

#include <algorithm>

namespace packsmith::decode {

bool Frame::HasBeen(uint32_t at_space, uint64_t at_address) const {
  if (at_space == space && at_address >= begin && at_address < address) return true;
  if (visited == nullptr) return false;
  const auto& been = visited->been;
  auto after = been.upper_bound({at_space, at_address});
  if (after == been.begin()) return false;
  const auto& [first, last] = *--after;
  return first.first == at_space && at_address < last;
}

void Frame::Go(uint32_t to_space, uint64_t to_address) {
  auto& been = Visits().been;
  uint64_t& last = been[{space, begin}];
  last = std::max(last, address);
  space = to_space;
  address = begin = to_address;
  const auto next = been.lower_bound({to_space, to_address});
  const bool meets = branching && next != been.end() && next->first.first == to_space;
  end = meets ? next->first.second : ~uint64_t{0};
}

bool Frame::See(uint32_t to_space, uint64_t to_address, uint64_t memory_version) {
  auto& seen = Visits().seen;
  if (seen.empty()) seen.insert({space, call, version});
  return seen.insert({to_space, to_address, memory_version}).second;
}

bool Frame::MayGo(uint32_t to_space, uint64_t to_address, uint64_t jump) {
  if (HasBeen(to_space, to_address)) return false;
  Visits().branches.insert({{to_space, to_address}, jump});
  return true;
}

std::optional<uint64_t> Frame::Branch() {
  while (visited != nullptr && !visited->branches.empty()) {
    const auto [to, jump] = *visited->branches.begin();
    visited->branches.erase(visited->branches.begin());
    if (HasBeen(to.first, to.second)) continue;
    branching = true;
    past_end = false;
    Go(to.first, to.second);
    return jump;
  }
  return std::nullopt;
}

}  // namespace packsmith::decode
