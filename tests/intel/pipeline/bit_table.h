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

inline void SetBits(const BitField& field, Dwords& dwords) {
  for (unsigned bit = field.first; bit <= field.last; ++bit) {
    const uint64_t one = field.value >> field.shift >> (bit - field.first) & 1;
    dwords[bit / 32] |= static_cast<uint32_t>(one) << bit % 32;
  }
}

// A structure with these fields. All others are zero.
inline Dwords StructureFromBits(unsigned dwords, std::initializer_list<BitField> fields) {
  Dwords structure(dwords);
  for (const BitField& field : fields) SetBits(field, structure);
  return structure;
}

// A 3DSTATE packet with this sub opcode, of opcode 0, and fields. All others are zero.
inline Dwords FromBits(unsigned dwords, unsigned sub_opcode,
                       std::initializer_list<BitField> fields) {
  Dwords packet = StructureFromBits(dwords, fields);
  SetBits({0, 7, dwords - 2}, packet);
  SetBits({16, 23, sub_opcode}, packet);
  SetBits({27, 28, 3}, packet);
  SetBits({29, 31, 3}, packet);
  return packet;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_PIPELINE_BIT_TABLE_H_
