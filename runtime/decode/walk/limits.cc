#include "runtime/decode/walk/limits.h"

#include <algorithm>

namespace packsmith::decode {
namespace {

// Memory whose bytes are not made yet counts at most this much, a segment and in total: its size is
// only stated.
constexpr uint64_t kDeferredSize = uint64_t{1} << 24;
constexpr uint64_t kDeferredTotal = uint64_t{1} << 26;

// A sixteenth of the dump's dwords may be stored, but never less than this.
constexpr uint64_t kStoresDivisor = 16;
constexpr uint64_t kFewestStores = uint64_t{1} << 16;

}  // namespace

uint64_t DwordsOf(const Dump& dump) {
  uint64_t bytes = 0, deferred = 0;
  for (const Memory::Segment& segment : dump.memory.segments()) {
    if (segment.deferred == nullptr) {
      bytes += segment.bytes.size();
    } else {
      deferred += std::min(segment.memory_size, kDeferredSize);
    }
  }
  return (bytes + std::min(deferred, kDeferredTotal)) / 4;
}

Costs CostsOf(const Options& options, uint64_t dump_dwords) {
  const uint64_t most = kFewest + dump_dwords * kRepeats;
  return {0, 0, std::max(std::min(options.most_packets, most), options.least_packets),
          std::max(std::min(options.most_structs, most), options.least_structs)};
}

uint64_t MostStores(const Options& options, uint64_t dump_dwords) {
  const uint64_t most = std::max(kFewestStores, dump_dwords / kStoresDivisor);
  return std::max(std::min(options.most_stores, most), options.least_stores);
}

}  // namespace packsmith::decode
