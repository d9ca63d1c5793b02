#include "runtime/sim/fetch_window.h"

#include <algorithm>

namespace packsmith::sim {
namespace {

constexpr uint64_t kLine = 64;
// Bytes of the buffer, unless one command needs more.
constexpr size_t kRoom = 8192;
// More ranges are joined to one, which may report too much.
constexpr size_t kMostRanges = 64;
// Writes that a pre-parser may have missed; further ones are not found.
constexpr size_t kMostRecent = 4096;

}  // namespace

void FetchWindow::Begin(uint32_t space, uint64_t address) {
  space_ = space;
  address_ = begun_ = address;
  begin_ = end_ = 0;
  written_.clear();
  followed_.clear();
}

void FetchWindow::Restart(uint32_t space, uint64_t address) {
  Begin(space, address);
  recent_.clear();
  executed_ = 0;
}

void FetchWindow::Jump(uint64_t from, uint32_t space, uint64_t address) {
  executed_ += from - begun_;
  Begin(space, address);
  if (!enabled_) return;
  // A byte had been fetched once the commands up to `ahead` bytes before it were executed.
  for (const Write& write : recent_) {
    if (write.space != space || write.executed + ahead_ <= executed_) continue;
    const uint64_t fetched = write.executed + ahead_ - executed_;
    if (write.range.first >= address + fetched || write.range.last < address) continue;
    followed_.push_back(
        {std::max(write.range.first, address), std::min(write.range.last, address + fetched - 1)});
  }
}

void FetchWindow::KeepRecent(uint32_t space, const Range& range) {
  const uint64_t executed = executed_ + (address_ - begun_);
  // What one command writes is often in a row.
  if (!recent_.empty() && recent_.back().executed == executed && recent_.back().space == space &&
      recent_.back().range.last + 1 == range.first) {
    recent_.back().range.last = range.last;
    return;
  }
  if (recent_.size() >= kMostRecent) {
    std::erase_if(recent_, [&](const Write& write) { return write.executed + ahead_ <= executed; });
  }
  if (recent_.size() < kMostRecent) recent_.push_back({space, range, executed});
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

void FetchWindow::OnWrite(uint32_t space, uint64_t address, uint64_t size) {
  if (follows_ && enabled_ && size != 0) KeepRecent(space, {address, address + (size - 1)});
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
