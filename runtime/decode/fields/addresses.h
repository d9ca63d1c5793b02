// Arithmetic on GPU addresses that come from a dump, and how messages show them.
#ifndef PACKSMITH_RUNTIME_DECODE_FIELDS_ADDRESSES_H_
#define PACKSMITH_RUNTIME_DECODE_FIELDS_ADDRESSES_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "runtime/base/addresses.h"

namespace packsmith::decode {

// `address` in the form that readers of dumps use. `mask`: tables::Tables::address_mask(). If
// addresses have more than 48 bits, those of 48 are recognised by the copies of their highest bit.
inline uint64_t MaskAddress(uint64_t address, uint64_t mask) {
  address &= mask;
  if (address >> 48 == 0) [[likely]]
    return address;
  return PlainAddress(address);
}

// The sum, or 2^64 - 1 if it is larger: addresses do not wrap.
inline uint64_t AddSaturated(uint64_t a, uint64_t b) {
  return b > ~uint64_t{0} - a ? ~uint64_t{0} : a + b;
}

// The length of a submission's batch, Submission::batch_length.
inline std::string ShowLength(uint64_t bytes) {
  if (bytes == 0) return "length unknown";
  return absl::StrFormat("%u %s", bytes, bytes == 1 ? "byte" : "bytes");
}

inline std::string ShowAddress(uint64_t address) { return absl::StrFormat("0x%x", address); }

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_FIELDS_ADDRESSES_H_
