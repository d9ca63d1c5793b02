// The memory of a command streamer in software.
#ifndef PACKSMITH_TESTS_INTEL_BATCH_DWORDS_H_
#define PACKSMITH_TESTS_INTEL_BATCH_DWORDS_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "runtime/sim/memory_access.h"

namespace packsmith::intel {

// Dwords at any address.
class Dwords : public sim::MemoryAccess {
 public:
  size_t Read(uint32_t, uint64_t address, absl::Span<uint8_t> out) const override {
    size_t done = 0;
    for (; done < out.size(); ++done) {
      const auto found = words_.find((address + done) & ~uint64_t{3});
      if (found == words_.end()) break;
      out[done] = static_cast<uint8_t>(found->second >> 8 * ((address + done) & 3));
    }
    return done;
  }
  size_t Write(uint32_t, uint64_t address, absl::Span<const uint8_t> bytes) override {
    size_t done = 0;
    for (; done < bytes.size(); ++done) {
      const auto found = words_.find((address + done) & ~uint64_t{3});
      if (found == words_.end()) break;
      const uint64_t shift = 8 * ((address + done) & 3);
      found->second = (found->second & ~(uint32_t{0xff} << shift)) | uint32_t{bytes[done]} << shift;
    }
    return done;
  }
  uint32_t& operator[](uint64_t address) { return words_[address]; }
  uint32_t at(uint64_t address) const { return words_.at(address); }

 private:
  absl::flat_hash_map<uint64_t, uint32_t> words_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_BATCH_DWORDS_H_
