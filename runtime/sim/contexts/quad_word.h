// Values of 64 bits, as the bytes and the dwords that the hardware keeps them in.
#ifndef PACKSMITH_RUNTIME_SIM_CONTEXTS_QUAD_WORD_H_
#define PACKSMITH_RUNTIME_SIM_CONTEXTS_QUAD_WORD_H_

#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::sim {

// The bytes of `value`, the lowest first.
inline std::array<uint8_t, 8> QuadWord(uint64_t value) {
  std::array<uint8_t, 8> bytes;
  decode::WriteBits(absl::MakeSpan(bytes), 0, 64, value);
  return bytes;
}

inline uint32_t LowDword(uint64_t value) { return static_cast<uint32_t>(value); }
inline uint32_t HighDword(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_QUAD_WORD_H_
