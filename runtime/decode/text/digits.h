// Numbers as text. Each function writes to memory that has room for it and returns where the text
// ends; it may overwrite memory after that, up to kMostDigits bytes from the beginning.
#ifndef PACKSMITH_RUNTIME_DECODE_TEXT_DIGITS_H_
#define PACKSMITH_RUNTIME_DECODE_TEXT_DIGITS_H_

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace packsmith::decode {

inline constexpr size_t kMostDigits = 40;

inline char* WriteDecimal(uint64_t value, char* to) {
  if (value < 10) {
    *to = static_cast<char>('0' + value);
    return to + 1;
  }
  return std::to_chars(to, to + 20, value).ptr;
}

inline char* WriteSignedDecimal(int64_t value, char* to) {
  return std::to_chars(to, to + 20, value).ptr;
}

// Eight digits, the first one in the lowest byte: each nibble becomes a byte, all at once.
inline uint64_t HexDigits(uint32_t value) {
  uint64_t x = value;
  x = (x << 16 | x) & 0x0000ffff0000ffff;
  x = (x << 8 | x) & 0x00ff00ff00ff00ff;
  x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0f;
  const uint64_t letters = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
  return __builtin_bswap64(x + 0x3030303030303030 + letters * 39);
}

inline char* WriteHex8(uint32_t value, char* to) {
  const uint64_t digits = HexDigits(value);
  std::memcpy(to, &digits, 8);
  return to + 8;
}

// "0x" and as many digits as there are.
inline char* WriteHex(uint64_t value, char* to) {
  *to++ = '0';
  *to++ = 'x';
  if (value < 10) {
    *to = static_cast<char>('0' + value);
    return to + 1;
  }
  // Sixteen digits, without leading zeros.
  uint64_t high = HexDigits(static_cast<uint32_t>(value >> 32));
  uint64_t low = HexDigits(static_cast<uint32_t>(value));
  const int leading = __builtin_clzll(value) / 4;
  if (leading >= 8) {
    low >>= (leading - 8) * 8;
    std::memcpy(to, &low, 8);
    return to + 16 - leading;
  }
  if (leading != 0) {
    high = high >> leading * 8 | low << (64 - leading * 8);
    low >>= leading * 8;
  }
  std::memcpy(to, &high, 8);
  std::memcpy(to + 8, &low, 8);
  return to + 16 - leading;
}

// "0x" and at least twelve digits: addresses in a column.
inline char* WriteAddress(uint64_t value, char* to) {
  if (value >> 48 != 0) return WriteHex(value, to);
  *to++ = '0';
  *to++ = 'x';
  WriteHex8(static_cast<uint32_t>(value >> 16), to);
  const auto low = static_cast<uint32_t>(HexDigits(value & 0xffff) >> 32);
  std::memcpy(to + 8, &low, 4);
  return to + 12;
}

// Writes a value with few digits, without a point if it is an integer; false: it has more digits.
// Fractions in GPU state are mostly multiples of a power of two: for 256ths below a million no
// digit is rounded.
[[nodiscard]] inline bool WriteShortReal(double value, char*& to) {
  const double magnitude = std::fabs(value);
  if (!(magnitude < 1e6) || (value == 0 && std::signbit(value))) return false;
  const double steps = magnitude * 256;
  const auto n = static_cast<uint32_t>(steps);
  if (static_cast<double>(n) != steps) return false;
  uint32_t fraction = n % 256;
  const uint32_t whole = n / 256;
  char* at = to;
  if (value < 0) *at++ = '-';
  if (fraction == 0) {
    to = WriteDecimal(whole, at);
    return true;
  }
  // Eight digits after the point, without trailing zeros. More than nine in total would be rounded.
  fraction *= 390625;
  int digits = 8;
  for (; fraction % 10 == 0; fraction /= 10) --digits;
  char* const point = WriteDecimal(whole, at);
  if (whole != 0 && point - at + digits > 9) return false;
  *point = '.';
  for (int i = digits; i > 0; --i, fraction /= 10) {
    point[i] = static_cast<char>('0' + fraction % 10);
  }
  to = point + 1 + digits;
  return true;
}

// As printf's %.9g. Must be finite.
inline char* WriteReal(double value, char* to) {
  if (WriteShortReal(value, to)) return to;
  return std::to_chars(to, to + 32, value, std::chars_format::general, 9).ptr;
}

}  // namespace packsmith::decode

#endif  // PACKSMITH_RUNTIME_DECODE_TEXT_DIGITS_H_
