// Packets from tables of bits, written by hand: what a test expects without the generated code.
#ifndef PACKSMITH_TESTS_INTEL_PIPELINE_BIT_TABLE_H_
#define PACKSMITH_TESTS_INTEL_PIPELINE_BIT_TABLE_H_

#include <cstdint>
#include <initializer_list>

#include "tests/intel/pipeline/capture.h"

namespace packsmith::intel {

// Bits are counted from the beginning of the packet, as in Mesa's genxml, which is the source of
// the tables here. Addresses and offsets are given with their low bits: `value` is shifted right
// first.
struct BitField {
  unsigned first = 0, last = 0;
  uint64_t value = 0;
  unsigned shift = 0;
};

// A 3DSTATE packet with this sub opcode, of opcode 0, and fields. All others are zero.
inline Dwords FromBits(unsigned dwords, unsigned sub_opcode,
                       std::initializer_list<BitField> fields) {
  Dwords packet(dwords);
  const auto set = [&](const BitField& field) {
    for (unsigned bit = field.first; bit <= field.last; ++bit) {
      const uint64_t one = field.value >> field.shift >> (bit - field.first) & 1;
      packet[bit / 32] |= static_cast<uint32_t>(one) << bit % 32;
    }
  };
  set({0, 7, dwords - 2});
  set({16, 23, sub_opcode});
  set({27, 28, 3});
  set({29, 31, 3});
  for (const BitField& field : fields) set(field);
  return packet;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_PIPELINE_BIT_TABLE_H_
