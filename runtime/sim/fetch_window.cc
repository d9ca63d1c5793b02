#include "runtime/sim/fetch_window.h"

#include <algorithm>

namespace packsmith::sim {
namespace {

constexpr uint64_t kLine = 64;
// Bytes that were executed are dropped when this number of them is kept.
constexpr size_t kMostExecuted = size_t{1} << 16;
// More ranges are joined to one, which may report too much.
constexpr size_t kMostRanges = 64;

}  // namespace

void FetchWindow::Restart(uint32_t space, uint64_t address) {
  space_ = space;
  address_ = address;
  bytes_.clear();
  begin_ = 0;
  written_.clear();
}

void FetchWindow::Extend(uint64_t size) {
  const uint64_t have = bytes_.size() - begin_;
  if (have >= size) return;
  // Whole lines, as the hardware reads them.
  const uint64_t end = address_ + have;
  uint64_t more = size - have;
  more += (kLine - (end + more) % kLine) % kLine;
  const size_t old = bytes_.size();
  bytes_.resize(old + more);
  const size_t read = memory_.Read(space_, end, absl::MakeSpan(bytes_).subspan(old));
  bytes_.resize(old + read);
}

absl::Span<const uint8_t> FetchWindow::Fetch(uint64_t address, uint64_t size) {
  const uint64_t skip = address - address_;
  if (skip > bytes_.size() - begin_) {
    Restart(space_, address);
  } else {
    begin_ += skip;
    address_ = address;
  }
  if (begin_ > kMostExecuted) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(begin_));
    begin_ = 0;
  }
  if (!written_.empty()) {
    std::erase_if(written_, [&](const Range& range) { return range.last < address_; });
  }
  if (enabled_) {
    Extend(std::max(size, ahead_));
  } else if (bytes_.size() - begin_ < size) {
    // Exactly what is executed now.
    const size_t old = bytes_.size();
    const uint64_t have = old - begin_;
    bytes_.resize(begin_ + size);
    const size_t read = memory_.Read(space_, address_ + have, absl::MakeSpan(bytes_).subspan(old));
    bytes_.resize(old + read);
  }
  return absl::MakeConstSpan(bytes_).subspan(begin_, size);
}

bool FetchWindow::IsStale(uint64_t address, uint64_t size) const {
  for (const Range& range : written_) {
    if (range.first < address + size && address <= range.last) return true;
  }
  return false;
}

void FetchWindow::OnWrite(uint32_t space, uint64_t address, uint64_t size) {
  const uint64_t end = address_ + (bytes_.size() - begin_);
  if (space != space_ || size == 0 || address >= end || address + (size - 1) < address_) return;
  if (written_.size() < kMostRanges) {
    written_.push_back({address, address + (size - 1)});
    return;
  }
  written_.back().first = std::min(written_.back().first, address);
  written_.back().last = std::max(written_.back().last, address + (size - 1));
}

}  // namespace packsmith::sim
