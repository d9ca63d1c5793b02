// Little-endian words of binary dump formats.

#ifndef PACKSMITH_RUNTIME_DUMP_LITTLE_ENDIAN_H_
#define PACKSMITH_RUNTIME_DUMP_LITTLE_ENDIAN_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace packsmith {

// `bytes` has them at `offset`.
inline uint32_t ReadU32(absl::Span<const uint8_t> bytes, uint64_t offset) {
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) value |= uint32_t{bytes[offset + i]} << (8 * i);
  return value;
}

inline uint64_t ReadU64(absl::Span<const uint8_t> bytes, uint64_t offset) {
  return ReadU32(bytes, offset) | uint64_t{ReadU32(bytes, offset + 4)} << 32;
}

inline void AppendU32(uint32_t value, std::vector<uint8_t>& out) {
  for (unsigned i = 0; i < 4; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

inline void AppendU64(uint64_t value, std::vector<uint8_t>& out) {
  AppendU32(static_cast<uint32_t>(value), out);
  AppendU32(static_cast<uint32_t>(value >> 32), out);
}

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_LITTLE_ENDIAN_H_
