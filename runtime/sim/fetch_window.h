// The bytes that a command streamer has fetched ahead of what it executes.
#ifndef PACKSMITH_RUNTIME_SIM_FETCH_WINDOW_H_
#define PACKSMITH_RUNTIME_SIM_FETCH_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/sim/memory_access.h"

namespace packsmith::sim {

// While a command is executed, the next `ahead` bytes have been fetched already: a later write to
// them is not seen. A jump begins anew, unless the streamer has a pre-parser that can be turned
// off: that follows jumps, so that a write shortly before a jump may be too late for what is after
// it.
class FetchWindow {
 public:
  // `memory` must outlive this. `ahead` of 0: nothing is fetched ahead. follows: jumps.
  FetchWindow(const MemoryAccess& memory, uint64_t ahead, bool follows = false)
      : memory_(memory), ahead_(ahead), follows_(follows && ahead != 0), enabled_(ahead != 0) {}

  // Fetching begins at (space, address), with nothing before it.
  void Restart(uint32_t space, uint64_t address);
  // Fetching continues at (space, address), after a command that ends at `from`.
  void Jump(uint64_t from, uint32_t space, uint64_t address);
  // At most `size` bytes from `address` on, which is not before that of the last call or Restart().
  // Fewer: the next byte is not mapped. Valid until the next call.
  absl::Span<const uint8_t> Fetch(uint64_t address, uint64_t size) {
    const size_t have = end_ - begin_;
    if (address != address_ || have < size || (enabled_ && have < ahead_))
      return Move(address, size);
    return absl::MakeConstSpan(bytes_).subspan(begin_, size);
  }

  // Whether what was fetched from [address, address + size) has been written since.
  bool IsStale(uint64_t address, uint64_t size) const { return Overlaps(written_, address, size); }
  // Whether [address, address + size), after a jump, was written so shortly before the jump that a
  // pre-parser may have fetched it earlier. The bytes are those in memory now.
  bool MayBeStale(uint64_t address, uint64_t size) const {
    return Overlaps(followed_, address, size);
  }
  // Somebody has written [address, address + size).
  void OnWrite(uint32_t space, uint64_t address, uint64_t size);

  // The pre-parser. What was fetched already is executed as it was fetched.
  void Enable(bool enabled) {
    enabled_ = enabled && ahead_ != 0;
    recent_.clear();  // what it has not fetched yet, it fetches later
  }
  bool enabled() const { return enabled_; }

 private:
  struct Range {
    uint64_t first, last;  // addresses
  };
  // A write, and how many bytes of commands had been executed before it.
  struct Write {
    uint32_t space;
    Range range;
    uint64_t executed;
  };
  static bool Overlaps(const std::vector<Range>& ranges, uint64_t address, uint64_t size) {
    for (const Range& range : ranges) {
      if (range.first < address + size && address <= range.last) return true;
    }
    return false;
  }
  void Begin(uint32_t space, uint64_t address);
  void KeepRecent(uint32_t space, const Range& range);
  // What Fetch() does if not all of it has been fetched already.
  absl::Span<const uint8_t> Move(uint64_t address, uint64_t size);
  // Reads `more` bytes after those that there are, as far as they are mapped.
  void Append(uint64_t more);

  const MemoryAccess& memory_;
  const uint64_t ahead_;
  const bool follows_;
  bool enabled_;
  uint32_t space_ = 0;
  uint64_t address_ = 0;  // of bytes_[begin_]
  // Bytes that have been fetched are bytes_[begin_] to bytes_[end_ - 1]; around them is room.
  std::vector<uint8_t> bytes_;
  size_t begin_ = 0, end_ = 0;
  std::vector<Range> written_;  // of what was fetched, since
  // With `follows`: writes of the last `ahead` bytes of commands, those that concern what is after
  // the last jump, where that is, and the bytes of commands before it.
  std::vector<Write> recent_;
  std::vector<Range> followed_;
  uint64_t begun_ = 0, executed_ = 0;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_FETCH_WINDOW_H_
