#include "runtime/decode/walk/memory_view.h"

#include "runtime/decode/fields/addresses.h"

namespace packsmith::decode {

const Memory::Segment* MemoryView::FindAnew(uint32_t space, uint64_t address) const {
  const Memory::Segment* const found = memory_->Find(space, address);
  if (found == nullptr) return nullptr;
  std::copy_backward(recent_.begin(), recent_.end() - 1, recent_.end());
  return recent_[0] = found;
}

absl::Span<const uint8_t> MemoryView::BytesAcross(uint32_t space, uint64_t address, uint64_t size,
                                                  std::vector<uint8_t>& scratch) const {
  const absl::Span<const uint8_t> direct = memory_->Read(space, address, size);
  if (direct.size() == size || direct.empty()) return direct;
  // Nothing is mapped after it that would have to be joined.
  if (Find(space, AddSaturated(address, direct.size())) == nullptr) return direct;
  // A length may be much larger than the memory: do not allocate that much.
  constexpr uint64_t kFirst = 256;
  uint64_t have = 0;
  for (uint64_t want = std::min(size, kFirst);; want = std::min(size, want * 4)) {
    scratch.resize(want);
    const absl::Span<uint8_t> rest = absl::MakeSpan(scratch).subspan(have);
    const uint64_t copied = memory_->Copy(space, AddSaturated(address, have), rest);
    have += copied;
    if (copied < rest.size() || want == size) break;
  }
  return absl::MakeConstSpan(scratch).subspan(0, have);
}

}  // namespace packsmith::decode
