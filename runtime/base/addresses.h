// The one form in which readers keep addresses of Intel GPUs.
#ifndef PACKSMITH_RUNTIME_DUMP_ADDRESSES_H_
#define PACKSMITH_RUNTIME_DUMP_ADDRESSES_H_

#include <cstdint>

namespace packsmith {

// `address` without the copies of its highest bit. Addresses have 48 bits, from Xe2 on some have
// 57; kernels, registers and packets write them with or without copies of the highest bit above it.
// An address whose bits 56:47 are all set is one of 48 bits, whatever stands above. Other addresses
// of 57 bits keep all of their bits. Applying it twice changes nothing.
constexpr uint64_t PlainAddress(uint64_t address) {
  constexpr uint64_t kMask48 = (uint64_t{1} << 48) - 1;
  constexpr uint64_t kMask57 = (uint64_t{1} << 57) - 1;
  const uint64_t above = address >> 57;  // 7 bits
  if (above != 0 && above != 0x7f) return address;
  if ((address & kMask57) >> 47 == 0x3ff) return address & kMask48;
  return above == 0x7f && (address >> 56 & 1) != 0 ? address & kMask57 : address;
}

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_DUMP_ADDRESSES_H_
