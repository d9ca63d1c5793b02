// Compares the memory of dumps, byte for byte, however it is cut into segments.

#ifndef PACKSMITH_TESTS_DUMP_SAME_MEMORY_H_
#define PACKSMITH_TESTS_DUMP_SAME_MEMORY_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/dump/dump.h"

namespace packsmith {

// Empty if all memory of `space` of `a` is in `other` of `b`, with the same bytes; else where the
// first difference is.
inline std::string MissingMemory(const Dump& a, uint32_t space, const Dump& b, uint32_t other) {
  for (const Memory::Segment& mapped : a.memory.segments()) {
    if (mapped.space != space) continue;
    const Memory::Segment& segment = a.memory.Resolve(mapped);
    for (uint64_t done = 0; done < segment.memory_size;) {
      uint8_t one[4096] = {}, two[4096] = {};
      const size_t now = std::min<uint64_t>(sizeof(one), segment.memory_size - done);
      const uint64_t at = segment.address + done;
      a.memory.Copy(space, at, absl::MakeSpan(one, now));
      const size_t copied = b.memory.Copy(other, at, absl::MakeSpan(two, now));
      if (copied != now) return absl::StrFormat("0x%x is not mapped", at + copied);
      if (std::memcmp(one, two, now) != 0) return absl::StrFormat("bytes at 0x%x differ", at);
      done += now;
    }
  }
  return "";
}

// Empty if both spaces map the same addresses with the same bytes.
inline std::string MemoryDifference(const Dump& a, uint32_t space, const Dump& b, uint32_t other) {
  std::string missing = MissingMemory(a, space, b, other);
  if (!missing.empty()) return "of the first dump: " + missing;
  missing = MissingMemory(b, other, a, space);
  return missing.empty() ? "" : "of the second dump: " + missing;
}

}  // namespace packsmith

#endif  // PACKSMITH_TESTS_DUMP_SAME_MEMORY_H_
