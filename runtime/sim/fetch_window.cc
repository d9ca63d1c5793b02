#include "runtime/sim/fetch_window.h"

#include <algorithm>

namespace packsmith::sim {
namespace {

constexpr uint64_t kLine = 64;
// Bytes of the buffer, unless one command needs more.
constexpr size_t kRoom = 8192;
// More ranges are joined to one, which may report too much.
constexpr size_t kMostRanges = 64;

}  // namespace

void FetchWindow::Restart(uint32_t space, uint64_t address) {
  space_ = space;
  address_ = address;
  begin_ = end_ = 0;
  written_.clear();
}

void FetchWindow::Append(uint64_t more) {
  if (bytes_.size() - end_ < more) {
    std::copy(bytes_.begin() + static_cast<ptrdiff_t>(begin_),
              bytes_.begin() + static_cast<ptrdiff_t>(end_), bytes_.begin());
    end_ -= begin_;
    begin_ = 0;
    if (bytes_.size() - end_ < more) bytes_.resize(std::max<size_t>(kRoom, end_ + more));
  }
  end_ +=
      memory_.Read(space_, address_ + (end_ - begin_), absl::MakeSpan(bytes_).subspan(end_, more));
}

absl::Span<const uint8_t> FetchWindow::Move(uint64_t address, uint64_t size) {
  const uint64_t skip = address - address_;
  if (skip > end_ - begin_) {
    Restart(space_, address);
  } else {
    begin_ += skip;
    address_ = address;
  }
  if (!written_.empty()) {
    std::erase_if(written_, [&](const Range& range) { return range.last < address_; });
  }
  const uint64_t have = end_ - begin_, wanted = enabled_ ? std::max(size, ahead_) : size;
  if (have < wanted) {
    uint64_t more = wanted - have;
    // Ahead, whole lines are read, as the hardware does it.
    if (enabled_) more += (kLine - (address_ + wanted) % kLine) % kLine;
    Append(more);
  }
  return absl::MakeConstSpan(bytes_).subspan(begin_, std::min<size_t>(size, end_ - begin_));
}

bool FetchWindow::IsStale(uint64_t address, uint64_t size) const {
  for (const Range& range : written_) {
    if (range.first < address + size && address <= range.last) return true;
  }
  return false;
}

void FetchWindow::OnWrite(uint32_t space, uint64_t address, uint64_t size) {
  const uint64_t end = address_ + (end_ - begin_);
  if (space != space_ || size == 0 || address >= end || address + (size - 1) < address_) return;
  if (written_.size() < kMostRanges) {
    written_.push_back({address, address + (size - 1)});
    return;
  }
  written_.back().first = std::min(written_.back().first, address);
  written_.back().last = std::max(written_.back().last, address + (size - 1));
}

}  // namespace packsmith::sim
