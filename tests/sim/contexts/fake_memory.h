// Memory for tests: pages of zeros where something was mapped, nothing elsewhere.
#ifndef PACKSMITH_TESTS_SIM_CONTEXTS_FAKE_MEMORY_H_
#define PACKSMITH_TESTS_SIM_CONTEXTS_FAKE_MEMORY_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "runtime/sim/memory_access.h"

namespace packsmith::sim {

class FakeMemory : public MemoryAccess {
 public:
  static constexpr uint64_t kPage = 4096;

  void Map(uint32_t space, uint64_t address, uint64_t bytes) {
    for (uint64_t at = address / kPage; at <= (address + bytes - 1) / kPage; ++at) {
      pages_[{space, at}];
    }
  }

  size_t Read(uint32_t space, uint64_t address, absl::Span<uint8_t> out) const override {
    size_t done = 0;
    while (done < out.size()) {
      const auto page = pages_.find({space, (address + done) / kPage});
      if (page == pages_.end()) break;
      const size_t at = (address + done) % kPage;
      const size_t now = std::min<size_t>(kPage - at, out.size() - done);
      std::copy_n(page->second.data() + at, now, out.data() + done);
      done += now;
    }
    return done;
  }

  size_t Write(uint32_t space, uint64_t address, absl::Span<const uint8_t> bytes) override {
    size_t done = 0;
    while (done < bytes.size()) {
      const auto page = pages_.find({space, (address + done) / kPage});
      if (page == pages_.end()) break;
      const size_t at = (address + done) % kPage;
      const size_t now = std::min<size_t>(kPage - at, bytes.size() - done);
      std::copy_n(bytes.data() + done, now, page->second.data() + at);
      done += now;
    }
    return done;
  }

  uint64_t Number(uint32_t space, uint64_t address, size_t bytes) const {
    std::vector<uint8_t> read(bytes);
    Read(space, address, absl::MakeSpan(read));
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; ++i) number |= uint64_t{read[i]} << 8 * i;
    return number;
  }
  uint32_t Dword(uint32_t space, uint64_t address) const {
    return static_cast<uint32_t>(Number(space, address, 4));
  }
  uint64_t Qword(uint32_t space, uint64_t address) const { return Number(space, address, 8); }

  void Put(uint32_t space, uint64_t address, uint64_t value, size_t bytes) {
    std::vector<uint8_t> written(bytes);
    for (size_t i = 0; i < bytes; ++i) written[i] = static_cast<uint8_t>(value >> 8 * i);
    Write(space, address, written);
  }

 private:
  std::map<std::pair<uint32_t, uint64_t>, std::array<uint8_t, kPage>> pages_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_TESTS_SIM_CONTEXTS_FAKE_MEMORY_H_
