#include "runtime/decode/walk/context_state.h"

#include "runtime/decode/fields/value.h"

namespace packsmith::decode {

void ContextState::SetBase(uint32_t base, std::optional<uint64_t> value) {
  if (bases_[base] == value) return;
  if (marks_ != 0) journal_.push_back({true, base, bases_[base], 0});
  bases_[base] = value;
  ++changes_;
}

void ContextState::Replace(uint32_t memory, absl::Span<const uint8_t> bytes) {
  std::vector<uint8_t>& last = remembered_[memory];
  if (marks_ != 0) {
    bytes_.insert(bytes_.end(), last.begin(), last.end());
    journal_.push_back({false, memory, std::nullopt, last.size()});
  }
  last.assign(bytes.begin(), bytes.end());
  ++changes_;
}

std::optional<uint64_t> ContextState::BitsOf(uint32_t memory, uint64_t bit, uint32_t width) const {
  const std::vector<uint8_t>& last = remembered_[memory];
  if (bit + width > last.size() * 8) return std::nullopt;
  return ReadBits(last, bit, width);
}

void ContextState::RollBack(Checkpoint checkpoint) {
  for (; journal_.size() > checkpoint; journal_.pop_back()) {
    const Change& change = journal_.back();
    if (change.is_base) {
      bases_[change.number] = change.base;
      continue;
    }
    const auto bytes = bytes_.end() - static_cast<ptrdiff_t>(change.bytes);
    remembered_[change.number].assign(bytes, bytes_.end());
    bytes_.erase(bytes, bytes_.end());
  }
  --marks_;
}

void ContextState::Keep(Checkpoint) {
  if (--marks_ != 0) return;
  journal_.clear();
  bytes_.clear();
}

}  // namespace packsmith::decode
