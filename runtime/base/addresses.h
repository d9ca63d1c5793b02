// The forms of a GPU address. One of n bits stands for itself (the plain form), or has its highest
// bit repeated up to bit 63 (the canonical form, which kernels and the hardware expect). Intel GPUs
// have 48 bits, from Xe2 on some have 57.
#ifndef PACKSMITH_RUNTIME_BASE_ADDRESSES_H_
#define PACKSMITH_RUNTIME_BASE_ADDRESSES_H_

#include <cstdint>
#include <optional>

namespace packsmith {

// `address` with bit `bits - 1` repeated above it. bits: 1 to 64, here and below.
constexpr uint64_t Canonical(uint64_t address, unsigned bits) {
  const unsigned above = 64 - bits;
  return static_cast<uint64_t>(static_cast<int64_t>(address << above) >> above);
}

// `address` without what Canonical() adds.
constexpr uint64_t Plain(uint64_t address, unsigned bits) {
  return address & (~uint64_t{0} >> (64 - bits));
}

// Plain(), if `address` has one of the two forms.
[[nodiscard]] constexpr std::optional<uint64_t> PlainIfAddress(uint64_t address, unsigned bits) {
  const uint64_t plain = Plain(address, bits);
  if (address != plain && address != Canonical(plain, bits)) return std::nullopt;
  return plain;
}

// For callers that do not know the width of addresses, such as readers of dumps: kernels, registers
// and packets write either form. An address whose bits 56:47 are all set has 48 bits. Other
// addresses of 57 bits keep all of them; a value that is not an address is unchanged. Idempotent.
constexpr uint64_t PlainAddress(uint64_t address) {
  const std::optional<uint64_t> plain = PlainIfAddress(address, 57);
  if (!plain) return address;
  return *plain >> 47 == 0x3ff ? Plain(*plain, 48) : *plain;
}

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_ADDRESSES_H_
