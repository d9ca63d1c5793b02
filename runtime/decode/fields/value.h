// One field's bits as a value, and back.
#ifndef PACKSMITH_RUNTIME_DECODE_FIELDS_VALUE_H_
#define PACKSMITH_RUNTIME_DECODE_FIELDS_VALUE_H_

#include <cstdint>
#include <cstring>
#include <optional>

#include "absl/types/span.h"
#include "runtime/decode/fields/addresses.h"
#include "runtime/tables/tables.h"

namespace packsmith::decode {

// `width` (1 to 64) bits of `bytes` from bit `bit`, little endian. All of them must lie inside.
inline uint64_t ReadBits(absl::Span<const uint8_t> bytes, uint64_t bit, uint32_t width) {
  const uint64_t first = bit / 8;
  const uint32_t skip = static_cast<uint32_t>(bit % 8);
  uint64_t word = 0;
  if (first + 8 <= bytes.size()) {
    std::memcpy(&word, bytes.data() + first, 8);
    word >>= skip;
    if (skip + width > 64) word |= uint64_t{bytes[first + 8]} << (64 - skip);
  } else if (bytes.size() >= 8) {
    // The last eight bytes have it all.
    std::memcpy(&word, bytes.data() + bytes.size() - 8, 8);
    word >>= (first + 8 - bytes.size()) * 8 + skip;
  } else if (bytes.size() >= 4) {
    // Two reads that share some of the bytes.
    uint32_t low = 0, high = 0;
    std::memcpy(&low, bytes.data(), 4);
    std::memcpy(&high, bytes.data() + bytes.size() - 4, 4);
    word = (low | uint64_t{high} << (bytes.size() - 4) * 8) >> bit;
  } else {
    for (size_t i = 0; i < bytes.size(); ++i) word |= uint64_t{bytes[i]} << 8 * i;
    word >>= bit;
  }
  return width >= 64 ? word : word & ((uint64_t{1} << width) - 1);
}

// The inverse; the bits around them are unchanged.
void WriteBits(absl::Span<uint8_t> bytes, uint64_t bit, uint32_t width, uint64_t value);

enum class ValueKind : uint8_t {
  kBool,      // unsigned_value is 0 or 1
  kUnsigned,  // of at most 32 bits
  kWide,      // unsigned_value, of more than 32 bits
  kSigned,
  kReal,
  kAddress,  // address or offset: unsigned_value, 48 bits
};

struct Value {
  ValueKind kind = ValueKind::kUnsigned;
  // Whether the raw bits cannot be derived from the value: NaN, infinity, encoded values, addresses
  // with bits above the significant ones.
  bool needs_raw = false;
  uint64_t unsigned_value = 0;
  int64_t signed_value = 0;
  double real = 0;
};

// The value of raw bits. `width` is the number of the leaf's bits that exist, normally all.
Value DecodeValue(const tables::Tables& tables, const tables::Leaf& leaf, uint32_t width,
                  uint64_t raw);

// The value as an unsigned number, as conditions and counts use it: signed ones in two's
// complement, real ones as their bits.
uint64_t NumberOf(const Value& value, uint64_t raw);

// The same, of bits.
inline uint64_t NumberOfBits(const tables::Tables& tables, const tables::Leaf& leaf, uint32_t width,
                             uint64_t raw) {
  bool encoded = (leaf.flags & tables::kLog2) != 0;
  if (leaf.extra != tables::kNone) {
    const tables::Extra& extra = tables.extra(leaf.extra);
    encoded = encoded || extra.minus != 0 || extra.groups != 0;
  }
  if (leaf.type == tables::LeafType::kUint && !encoded) return raw << leaf.shift;
  const bool is_address =
      leaf.type == tables::LeafType::kAddress || leaf.type == tables::LeafType::kOffset;
  if (is_address && !encoded) return MaskAddress(raw << leaf.shift, tables.address_mask());
  return NumberOf(DecodeValue(tables, leaf, width, raw), raw);
}

// Raw bits of a value. Empty if it does not fit the field or its encoding.
std::optional<uint64_t> EncodeValue(const tables::Tables& tables, const tables::Leaf& leaf,
                                    const Value& value);

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_FIELDS_VALUE_H_
