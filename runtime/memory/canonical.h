// GPU addresses in their two forms.

#ifndef PACKSMITH_RUNTIME_MEMORY_CANONICAL_H_
#define PACKSMITH_RUNTIME_MEMORY_CANONICAL_H_

#include <cstdint>
#include <optional>

namespace packsmith::gpu {

// `address` with bit `bits - 1` repeated above it: what kernels and the hardware want.
constexpr uint64_t Canonical(uint64_t address, unsigned bits) {
  const unsigned above = 64 - bits;
  return static_cast<uint64_t>(static_cast<int64_t>(address << above) >> above);
}

// `address` without what Canonical() adds.
constexpr uint64_t Plain(uint64_t address, unsigned bits) {
  return address & (~uint64_t{0} >> (64 - bits));
}

// Plain(), if `address` has one of the two forms.
constexpr std::optional<uint64_t> PlainIfAddress(uint64_t address, unsigned bits) {
  const uint64_t plain = Plain(address, bits);
  if (address != plain && address != Canonical(plain, bits)) return std::nullopt;
  return plain;
}

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_CANONICAL_H_
