// Memory that packets of a submission have written, for later packets that read it.
#ifndef PACKSMITH_RUNTIME_DECODE_WALK_OVERLAY_H_
#define PACKSMITH_RUNTIME_DECODE_WALK_OVERLAY_H_

#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/types/span.h"

namespace packsmith::decode {

// Dwords that differ from the dump. Drivers write return addresses into jumps this way; a dump has
// the values from before, or of the last of several calls.
class Overlay {
 public:
  // Forgets all, for a submission that may store that many dwords.
  void Begin(uint64_t most) {
    dwords_.clear();
    version_ = 0;
    most_ = most;
  }
  // Dwords for which there is room.
  uint64_t most() const { return most_; }

  // Stores the whole dwords of `bytes` at a multiple of 4; the rest, and other addresses, are
  // ignored. False: there is no room.
  bool Store(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes, uint64_t by) {
    if (address % 4 != 0) return true;
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      uint32_t value = 0;
      std::memcpy(&value, bytes.data() + i, 4);
      const auto [it, fresh] = dwords_.try_emplace({space, address + i}, Dword{value, by});
      if (dwords_.size() > most_) {
        dwords_.erase(it);
        return false;
      }
      if (fresh || it->second.value != value) ++version_;
      it->second = {value, by};
    }
    return true;
  }

  // Calls visit(byte, value, by) for each stored dword that is completely inside the `size` bytes
  // at `address`; `byte` counts from there.
  template <class Visit>
  void ForEach(uint32_t space, uint64_t address, uint64_t size, const Visit& visit) const {
    if (dwords_.empty()) return;
    for (auto it = dwords_.lower_bound({space, address});
         it != dwords_.end() && it->first.first == space &&
         it->first.second - address + 4 <= size && it->first.second - address < size;
         ++it) {
      visit(it->first.second - address, it->second.value, it->second.by);
    }
  }

  bool empty() const { return dwords_.empty(); }

  // Changes whenever the stored memory changes.
  uint64_t version() const { return version_; }

 private:
  struct Dword {
    uint32_t value;
    uint64_t by;
  };
  absl::btree_map<std::pair<uint32_t, uint64_t>, Dword> dwords_;
  uint64_t version_ = 0;
  uint64_t most_ = 0;
};

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_WALK_OVERLAY_H_
