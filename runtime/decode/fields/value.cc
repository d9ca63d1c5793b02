#include "runtime/decode/fields/value.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>

namespace packsmith::decode {
namespace {

using tables::Extra;
using tables::Leaf;
using tables::LeafType;

uint64_t Ones(uint32_t width) { return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

int64_t SignExtended(uint64_t raw, uint32_t width) {
  if (width >= 64) return static_cast<int64_t>(raw);
  const uint64_t sign = uint64_t{1} << (width - 1);
  return static_cast<int64_t>(((raw & Ones(width)) ^ sign) - sign);
}

double HalfToDouble(uint32_t raw) {
  const int exponent = static_cast<int>(raw >> 10 & 31);
  const double fraction = raw & 1023;
  double value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(fraction + 1024, exponent - 25);
  }
  return (raw & 0x8000) != 0 ? -value : value;
}

// Rounds to nearest even. Empty where the number is too large for a half.
std::optional<uint64_t> DoubleToHalf(double value) {
  const uint64_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return std::nullopt;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // The unit in the last place, never below that of the smallest numbers.
  const int unit = std::max(exponent - 11, -24);
  const double steps = std::nearbyint(std::ldexp(magnitude, -unit));
  const double rounded = std::ldexp(steps, unit);
  if (rounded > 65504) return std::nullopt;
  if (rounded < std::ldexp(1.0, -14)) return sign | static_cast<uint64_t>(std::ldexp(rounded, 24));
  std::frexp(rounded, &exponent);
  const auto mantissa = static_cast<uint64_t>(std::ldexp(rounded, 11 - exponent));
  return sign | static_cast<uint64_t>(exponent + 14) << 10 | (mantissa & 1023);
}

}  // namespace

void WriteBits(absl::Span<uint8_t> bytes, uint64_t bit, uint32_t width, uint64_t value) {
  for (uint32_t i = 0; i < width;) {
    const uint64_t at = bit + i;
    const uint32_t skip = static_cast<uint32_t>(at % 8);
    const uint32_t n = std::min(8 - skip, width - i);
    const auto mask = static_cast<uint8_t>(Ones(n) << skip);
    uint8_t& byte = bytes[at / 8];
    byte = static_cast<uint8_t>((byte & ~mask) | (value >> i << skip & mask));
    i += n;
  }
}

Value DecodeValue(const tables::Tables& tables, const Leaf& leaf, uint32_t width, uint64_t raw) {
  Value value;
  switch (leaf.type) {
    case LeafType::kBool:
      value.kind = ValueKind::kBool;
      value.unsigned_value = raw;
      return value;
    case LeafType::kInt:
      value.kind = ValueKind::kSigned;
      value.signed_value = SignExtended(raw, width);
      return value;
    case LeafType::kFloat: {
      value.kind = ValueKind::kReal;
      const auto bits = static_cast<uint32_t>(raw);
      float real = 0;
      std::memcpy(&real, &bits, sizeof(real));
      value.real = static_cast<double>(real);
      value.needs_raw = !std::isfinite(real);
      return value;
    }
    case LeafType::kHalf:
      value.kind = ValueKind::kReal;
      value.real = HalfToDouble(static_cast<uint32_t>(raw));
      value.needs_raw = !std::isfinite(value.real);
      return value;
    case LeafType::kUfixed:
      value.kind = ValueKind::kReal;
      value.real = std::ldexp(static_cast<double>(raw), -leaf.fraction_bits);
      value.needs_raw = width > 53;
      return value;
    case LeafType::kSfixed:
      value.kind = ValueKind::kReal;
      value.real = std::ldexp(static_cast<double>(SignExtended(raw, width)), -leaf.fraction_bits);
      value.needs_raw = width > 53;
      return value;
    case LeafType::kUint:
    case LeafType::kAddress:
    case LeafType::kOffset:
      break;
  }
  uint64_t number = raw << leaf.shift;
  value.needs_raw = number >> leaf.shift != raw;
  bool wide = width + leaf.shift > 32;
  if ((leaf.flags & tables::kLog2) != 0) {
    number = raw > 63 ? 0 : uint64_t{1} << raw;
    value.needs_raw = raw > 63;
    wide = number > 0xffffffffu;
  }
  if (leaf.extra != tables::kNone) {
    const Extra& extra = tables.extra(leaf.extra);
    if (extra.groups != 0) {
      // Raw zero means the largest number of groups.
      number = (raw == 0 && width < 64 ? Ones(width) + 1 : raw) * extra.groups;
      value.needs_raw = true;
    }
    if (extra.minus != 0) {
      number += extra.minus;
      value.needs_raw = true;
    }
    // Packing would refuse such a number, or round it.
    if ((extra.align != 0 && number % extra.align != 0) ||
        (extra.multiple != 0 && number % extra.multiple != 0)) {
      value.needs_raw = true;
    }
    wide = wide || number > 0xffffffffu;
  }
  if (leaf.type == LeafType::kUint) {
    value.kind = wide ? ValueKind::kWide : ValueKind::kUnsigned;
    value.unsigned_value = number;
    return value;
  }
  value.kind = ValueKind::kAddress;
  value.unsigned_value = MaskAddress(number, tables.address_mask());
  value.needs_raw = value.needs_raw || value.unsigned_value != number;
  return value;
}

uint64_t NumberOf(const Value& value, uint64_t raw) {
  switch (value.kind) {
    case ValueKind::kSigned:
      return static_cast<uint64_t>(value.signed_value);
    case ValueKind::kReal:
      return raw;
    default:
      return value.unsigned_value;
  }
}

std::optional<uint64_t> EncodeValue(const tables::Tables& tables, const Leaf& leaf,
                                    const Value& value) {
  const uint32_t width = std::min<uint32_t>(leaf.width, 64);
  switch (leaf.type) {
    case LeafType::kBool:
      if (value.unsigned_value > 1) return std::nullopt;
      return value.unsigned_value;
    case LeafType::kInt: {
      const uint64_t raw = static_cast<uint64_t>(value.signed_value) & Ones(width);
      if (SignExtended(raw, width) != value.signed_value) return std::nullopt;
      return raw;
    }
    case LeafType::kFloat: {
      const auto real = static_cast<float>(value.real);
      if (std::isinf(real) && !std::isinf(value.real)) return std::nullopt;
      uint32_t bits = 0;
      std::memcpy(&bits, &real, sizeof(bits));
      return bits;
    }
    case LeafType::kHalf:
      return DoubleToHalf(value.real);
    case LeafType::kUfixed:
    case LeafType::kSfixed: {
      const double scaled = std::nearbyint(std::ldexp(value.real, leaf.fraction_bits));
      const bool is_signed = leaf.type == LeafType::kSfixed;
      const double most = std::ldexp(1.0, static_cast<int>(width) - (is_signed ? 1 : 0));
      if (!(scaled < most && scaled >= (is_signed ? -most : 0))) return std::nullopt;
      return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(scaled)) & Ones(width)
                       : static_cast<uint64_t>(scaled);
    }
    case LeafType::kUint:
    case LeafType::kAddress:
    case LeafType::kOffset:
      break;
  }
  uint64_t number = value.unsigned_value;
  if ((leaf.flags & tables::kLog2) != 0) {
    if (number == 0 || (number & (number - 1)) != 0) return std::nullopt;
    number = static_cast<uint64_t>(__builtin_ctzll(number));
  }
  if (leaf.extra != tables::kNone) {
    const Extra& extra = tables.extra(leaf.extra);
    if (extra.align != 0) {
      if (number > ~uint64_t{0} - extra.align) return std::nullopt;
      number = (number + extra.align - 1) / extra.align * extra.align;
    }
    if (extra.multiple != 0 && number % extra.multiple != 0) return std::nullopt;
    if (extra.groups != 0) {
      const uint64_t groups = number == 0 ? 1 : (number - 1) / extra.groups + 1;
      // The largest number of groups is written as zero.
      return width < 64 && groups == Ones(width) + 1 ? std::optional<uint64_t>(0)
             : groups <= Ones(width)                 ? std::optional<uint64_t>(groups)
                                                     : std::nullopt;
    }
    if (number < extra.minus) return std::nullopt;
    number -= extra.minus;
  }
  if ((number & Ones(leaf.shift)) != 0 && leaf.shift != 0) return std::nullopt;
  number >>= leaf.shift;
  // A canonical address repeats its highest bit; the field has room for some of the copies. Where
  // addresses have more than 48 bits, one of 48 is canonical, too.
  const uint32_t bits = tables.address_bits();
  for (const uint32_t from : {bits, std::min(bits, 48u)}) {
    if (number > Ones(width) && leaf.type == LeafType::kAddress && width + leaf.shift >= from &&
        SignExtended(value.unsigned_value, from) == static_cast<int64_t>(value.unsigned_value)) {
      number &= Ones(width);
    }
  }
  return number <= Ones(width) ? std::optional<uint64_t>(number) : std::nullopt;
}

}  // namespace packsmith::decode
