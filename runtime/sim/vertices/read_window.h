// Bytes of GPU memory that were read lately, so that reading small things one after another costs
// little.
#ifndef PACKSMITH_RUNTIME_SIM_VERTICES_READ_WINDOW_H_
#define PACKSMITH_RUNTIME_SIM_VERTICES_READ_WINDOW_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/sim/memory_access.h"

namespace packsmith::sim {

class ReadWindow {
 public:
  // `size` bytes at `address`, at most kSmall, valid until the next call; null if one of them is
  // unmapped. May read ahead, up to `most` bytes from `address`; `most` is at least `size`, and
  // `address + most` does not overflow.
  const uint8_t* At(const MemoryAccess& memory, uint32_t space, uint64_t address, uint32_t size,
                    uint64_t most) {
    if (address >= start_ && address - start_ <= have_ && have_ - (address - start_) >= size) {
      return bytes_.data() + (address - start_);
    }
    // Far ahead only where one read follows the other.
    const bool follows = have_ != 0 && address >= start_ && address - start_ <= have_ + kLarge;
    const uint64_t want = std::min<uint64_t>(follows ? kLarge : kSmall, most);
    if (bytes_.size() < want) bytes_.resize(want);
    start_ = address;
    have_ = memory.Read(space, address, absl::MakeSpan(bytes_.data(), want));
    return have_ >= size ? bytes_.data() : nullptr;
  }

  void Forget() { have_ = 0; }

 private:
  static constexpr uint64_t kSmall = 256;
  static constexpr uint64_t kLarge = 4096;

  uint64_t start_ = 0;
  uint64_t have_ = 0;  // valid bytes
  std::vector<uint8_t> bytes_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_VERTICES_READ_WINDOW_H_
