// GPU memory of a test: what was put there, and nothing around it.
#ifndef PACKSMITH_TESTS_SIM_VERTICES_HOST_MEMORY_H_
#define PACKSMITH_TESTS_SIM_VERTICES_HOST_MEMORY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "runtime/sim/memory_access.h"

namespace packsmith::sim {

class HostMemory : public MemoryAccess {
 public:
  void Put(uint64_t address, std::vector<uint8_t> bytes, uint32_t space = 0) {
    pieces_[{space, address}] = std::move(bytes);
  }
  template <class T>
  void PutAll(uint64_t address, const std::vector<T>& values, uint32_t space = 0) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    Put(address, std::vector<uint8_t>(bytes, bytes + values.size() * sizeof(T)), space);
  }

  size_t Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const override {
    ++reads;
    size_t done = 0;
    while (done < out.size()) {
      auto piece = pieces_.upper_bound({space, address + done});
      if (piece == pieces_.begin()) break;
      --piece;
      const uint64_t offset = address + done - piece->first.second;
      if (piece->first.first != space || offset >= piece->second.size()) break;
      const size_t count = std::min<size_t>(out.size() - done, piece->second.size() - offset);
      std::copy_n(piece->second.begin() + static_cast<std::ptrdiff_t>(offset), count,
                  out.begin() + static_cast<std::ptrdiff_t>(done));
      done += count;
    }
    return done;
  }
  size_t Write(uint32_t, uint64_t, absl::Span<const uint8_t>) override { return 0; }

  mutable uint64_t reads = 0;

 private:
  std::map<std::pair<uint32_t, uint64_t>, std::vector<uint8_t>> pieces_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_TESTS_SIM_VERTICES_HOST_MEMORY_H_
