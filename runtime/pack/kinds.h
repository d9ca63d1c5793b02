// How members become raw bits and back, and what is wrong with a value: a struct for each kind of
// member. A kind has no state of its own but what the description says of the field.
//
//   constexpr bits::kinds::ufixed lod{.fraction = 8};      // u4.8: a field of 12 bits
//   lod.encode(1.5f, 12) == 0x180
//   lod.decode<float>(0x180, 12) == 1.5f
//   lod.wrong(16.0f, 12) == reason::out_of_range
//
// A new kind is a struct here and the line of its name in visit.h; all visitors then handle it.

#ifndef PACKSMITH_RUNTIME_PACK_KINDS_H_
#define PACKSMITH_RUNTIME_PACK_KINDS_H_

#include "runtime/pack/core.h"

namespace packsmith::bits {

// -- Values to raw bits --------------------------------------------------------------------------

PACKSMITH_INLINE constexpr uint64_t mask(unsigned width) {
  return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}
// Bits [from, from + width) of v; width at most 32.
PACKSMITH_INLINE constexpr uint32_t cut(uint64_t v, unsigned from, unsigned width) {
  return static_cast<uint32_t>(v >> from) & static_cast<uint32_t>(mask(width));
}
PACKSMITH_INLINE constexpr uint32_t cut(const address& v, unsigned from, unsigned width) {
  return cut(v.gpu, from, width);
}
// Two's complement in `width` bits.
PACKSMITH_INLINE constexpr uint32_t twos(int32_t v, unsigned width) {
  return static_cast<uint32_t>(v) & static_cast<uint32_t>(mask(width));
}
PACKSMITH_INLINE constexpr uint64_t twos(int64_t v, unsigned width) {
  return static_cast<uint64_t>(v) & mask(width);
}
// The number that `width` bits are in two's complement.
PACKSMITH_INLINE constexpr int64_t extended(uint64_t raw, unsigned width) {
  return static_cast<int64_t>(raw << (64 - width)) >> (64 - width);
}
PACKSMITH_INLINE constexpr uint32_t real(float v) { return __builtin_bit_cast(uint32_t, v); }
PACKSMITH_INLINE constexpr uint64_t real(double v) { return __builtin_bit_cast(uint64_t, v); }

// v in units of 2^-fraction, rounded to nearest, halves away from zero. v must be in the field's
// range.
constexpr uint32_t ufixed(double v, unsigned fraction) {
  return static_cast<uint32_t>(
      static_cast<int64_t>(v * static_cast<double>(uint64_t{1} << fraction) + 0.5));
}
// Clamps v to [0, most]; NaN becomes 0.
constexpr double clamped(double v, double most) {
  return v < most ? (v > 0 ? v : 0) : v > 0 ? most : 0;
}
constexpr int64_t fixed(double v, unsigned fraction) {
  const double scaled = v * static_cast<double>(uint64_t{1} << fraction);
  return static_cast<int64_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}
constexpr uint32_t sfixed(double v, unsigned fraction, unsigned width) {
  return static_cast<uint32_t>(static_cast<uint64_t>(fixed(v, fraction)) & mask(width));
}

// IEEE half precision, rounded to nearest even. Too large a value becomes infinity.
constexpr uint32_t half(float v) {
  const uint32_t b = __builtin_bit_cast(uint32_t, v);
  const uint32_t sign = b >> 16 & 0x8000;
  const uint32_t magnitude = b & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);  // NaN stays NaN
  if (magnitude >= 0x47800000) return sign | 0x7c00;
  const bool subnormal = magnitude < 0x38800000;
  const unsigned drop = subnormal ? 126 - (magnitude >> 23) : 13;
  if (drop > 25) return sign;
  const uint32_t kept = subnormal ? (magnitude & 0x7fffff) | 0x800000 : magnitude - 0x38000000;
  const uint32_t rounded = kept + (uint32_t{1} << (drop - 1)) - 1 + (kept >> drop & 1);
  return sign | rounded >> drop;
}
constexpr float half_value(uint32_t h) {
  const uint32_t sign = (h & 0x8000) << 16;
  const uint32_t magnitude = h & 0x7fff;
  if (magnitude >= 0x7c00) {
    return __builtin_bit_cast(float, sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  }
  if (magnitude >= 0x400) return __builtin_bit_cast(float, sign | ((magnitude << 13) + 0x38000000));
  const float small = static_cast<float>(magnitude) * (1.0f / 16777216.0f);
  return sign ? -small : small;
}

constexpr uint32_t log2(uint64_t v) {
  return v == 0 ? 0 : 63u - static_cast<unsigned>(__builtin_clzll(v));
}
// The number of groups of n that hold v: at least one; all 2^width groups are stored as 0.
constexpr uint32_t groups(uint64_t v, uint64_t n, unsigned width) {
  const uint64_t whole = v / n + (v % n != 0);
  return static_cast<uint32_t>((whole == 0 ? 1 : whole) & mask(width));
}
constexpr uint64_t align_up(uint64_t v, uint64_t n) { return (v + n - 1) / n * n; }

// How an encoded field stores its value v:
// raw = groups or log2 of (v rounded up to align, less minus) >> shift.
struct code {
  uint64_t minus = 0;
  unsigned shift = 0;
  bool log2 = false;
  uint64_t groups = 0;
  uint64_t align = 0;
};

constexpr uint64_t encode(uint64_t v, unsigned width, const code& c) {
  if (c.align != 0) v = align_up(v, c.align);
  v = (v - c.minus) >> c.shift;
  if (c.log2) return bits::log2(v);
  return c.groups != 0 ? bits::groups(v, c.groups, width) : v;
}
constexpr uint64_t decode(uint64_t raw, unsigned width, const code& c) {
  if (c.log2) raw = raw < 64 ? uint64_t{1} << raw : 0;
  if (c.groups != 0) raw = (raw == 0 ? mask(width) + 1 : raw) * c.groups;
  return (raw << c.shift) + c.minus;
}

// -- Does a value fit? ---------------------------------------------------------------------------

constexpr reason wrong_uint(uint64_t v, unsigned width) {
  return (v & ~mask(width)) != 0 ? reason::too_wide : reason::none;
}
constexpr reason wrong_sint(int64_t v, unsigned width) {
  return ((static_cast<uint64_t>(v) + (uint64_t{1} << (width - 1))) & ~mask(width)) != 0
             ? reason::too_wide
             : reason::none;
}
// low, high: the raw values that the field can hold.
constexpr reason wrong_fixed(double v, unsigned fraction, double low, double high) {
  if (v != v) return reason::not_a_number;
  const double scaled = v * static_cast<double>(uint64_t{1} << fraction);
  return scaled > low - 0.5 && scaled < high + 0.5 ? reason::none : reason::out_of_range;
}
constexpr double lowest(unsigned width) { return -static_cast<double>(uint64_t{1} << (width - 1)); }
constexpr double highest(unsigned width) { return static_cast<double>(mask(width)); }

constexpr reason wrong_half(float v) {
  const uint32_t magnitude = __builtin_bit_cast(uint32_t, v) & 0x7fffffff;
  return magnitude < 0x7f800000 && magnitude >= 0x477ff000 ? reason::out_of_range : reason::none;
}
// Bits of an address, if the description does not state them.
constexpr unsigned usual_space = 48;
// top: the first address bit that the field does not hold. space: the width of addresses. A field
// that holds fewer bits, but at least 48, takes addresses of 48 bits, with their copies of bit 47.
PACKSMITH_INLINE constexpr bool address_too_wide(uint64_t v, unsigned top, unsigned space) {
  if (top < space && top >= usual_space) {
    return v >> top != 0 && ~v >> (usual_space - 1) != 0;
  }
  if (top < space) return v >> top != 0;
  return static_cast<uint64_t>(static_cast<int64_t>(v) >> (space - 1)) + 1 > 2;
}
constexpr reason wrong_address(uint64_t v, unsigned width, unsigned shift, unsigned space) {
  if ((v & mask(shift)) != 0) return reason::not_aligned;
  return address_too_wide(v, shift + width, space) ? reason::too_wide : reason::none;
}
constexpr reason wrong_code(uint64_t v, unsigned width, const code& c) {
  if (c.align != 0) {
    if (v > ~uint64_t{0} - (c.align - 1)) return reason::too_wide;
    v = align_up(v, c.align);
  }
  if (v < c.minus) return reason::out_of_range;
  v -= c.minus;
  if ((v & mask(c.shift)) != 0) return reason::not_aligned;
  v >>= c.shift;
  if (c.log2) {
    if (v == 0 || (v & (v - 1)) != 0) return reason::not_power_of_two;
    return wrong_uint(bits::log2(v), width);
  }
  if (c.groups == 0) return wrong_uint(v, width);
  return v / c.groups + (v % c.groups != 0) > mask(width) + 1 ? reason::too_wide : reason::none;
}

template <class T>
PACKSMITH_INLINE constexpr uint64_t plain(const T& v) {
  return static_cast<uint64_t>(v);
}
PACKSMITH_INLINE constexpr uint64_t plain(const address& v) { return v.gpu; }

template <class A, class B>
PACKSMITH_INLINE constexpr bool below(const A& a, const B& b) {
  if constexpr (static_cast<A>(-1) < A{} && !(static_cast<B>(-1) < B{}))
    return a < 0 || static_cast<B>(a) < b;
  else if constexpr (!(static_cast<A>(-1) < A{}) && static_cast<B>(-1) < B{})
    return b >= 0 && a < static_cast<A>(b);
  else
    return a < b;
}

// The access to the memory that an address points to, as the description states it.
constexpr access no_access = access::none, reads = access::read, writes = access::write,
                 reads_writes = access::read_write;

// -- The kinds -----------------------------------------------------------------------------------

// A kind K of a member that has the value v, in a field of `width` bits:
//   k.encode(v, width)        the raw bits, of a value that fits; of others any number
//   k.decode<T>(raw, width)   the value of raw bits, which have no more than `width`
//   k.wrong(v, width)         why v does not fit, or reason::none
// What they need to know of the field beyond its width are the kind's members, in the order in
// which ps_layout states them.
namespace kinds {

// A bool, in one bit.
struct flag {
  PACKSMITH_INLINE constexpr uint64_t encode(bool v, unsigned) const { return v; }
  template <class T>
  PACKSMITH_INLINE constexpr T decode(uint64_t raw, unsigned) const {
    return raw != 0;
  }
  PACKSMITH_INLINE constexpr reason wrong(bool, unsigned) const { return reason::none; }
};

// An unsigned integer or an enumeration. (Unchecked, what is too wide spills: see packer::put.)
struct uint {
  template <class T>
  PACKSMITH_INLINE constexpr uint64_t encode(const T& v, unsigned) const {
    return plain(v);
  }
  template <class T>
  PACKSMITH_INLINE constexpr T decode(uint64_t raw, unsigned) const {
    return static_cast<T>(raw);
  }
  template <class T>
  PACKSMITH_INLINE constexpr reason wrong(const T& v, unsigned width) const {
    return wrong_uint(plain(v), width);
  }
};

// A uint that must not be zero.
struct positive {
  template <class T>
  PACKSMITH_INLINE constexpr uint64_t encode(const T& v, unsigned) const {
    return plain(v);
  }
  template <class T>
  PACKSMITH_INLINE constexpr T decode(uint64_t raw, unsigned) const {
    return static_cast<T>(raw);
  }
  template <class T>
  PACKSMITH_INLINE constexpr reason wrong(const T& v, unsigned width) const {
    return plain(v) == 0 ? reason::zero : wrong_uint(plain(v), width);
  }
};

// A uint from low to high.
struct bounded {
  uint64_t low, high;

  template <class T>
  PACKSMITH_INLINE constexpr uint64_t encode(const T& v, unsigned) const {
    return plain(v);
  }
  template <class T>
  PACKSMITH_INLINE constexpr T decode(uint64_t raw, unsigned) const {
    return static_cast<T>(raw);
  }
  template <class T>
  PACKSMITH_INLINE constexpr reason wrong(const T& v, unsigned width) const {
    if (wrong_uint(plain(v), width) != reason::none) return reason::too_wide;
    return plain(v) < low || plain(v) > high ? reason::out_of_range : reason::none;
  }
};

// An integer in two's complement.
struct sint {
  template <class T>
  PACKSMITH_INLINE constexpr uint64_t encode(const T& v, unsigned width) const {
    return twos(v, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr T decode(uint64_t raw, unsigned width) const {
    return static_cast<T>(extended(raw, width));
  }
  template <class T>
  PACKSMITH_INLINE constexpr reason wrong(const T& v, unsigned width) const {
    return wrong_sint(v, width);
  }
};

// A float or double.
struct real {
  template <class T>
  PACKSMITH_INLINE constexpr uint64_t encode(const T& v, unsigned) const {
    return bits::real(v);
  }
  template <class T>
  PACKSMITH_INLINE constexpr T decode(uint64_t raw, unsigned) const {
    if constexpr (sizeof(T) == sizeof(double))
      return __builtin_bit_cast(T, raw);
    else
      return __builtin_bit_cast(T, static_cast<uint32_t>(raw));
  }
  template <class T>
  PACKSMITH_INLINE constexpr reason wrong(const T&, unsigned) const {
    return reason::none;
  }
};

// A float in 16 bits.
struct half {
  PACKSMITH_INLINE constexpr uint64_t encode(float v, unsigned) const { return bits::half(v); }
  template <class T>
  PACKSMITH_INLINE constexpr T decode(uint64_t raw, unsigned) const {
    return half_value(static_cast<uint32_t>(raw));
  }
  PACKSMITH_INLINE constexpr reason wrong(float v, unsigned) const { return wrong_half(v); }
};

// An unsigned number in units of 2^-fraction.
struct ufixed {
  unsigned fraction;

  PACKSMITH_INLINE constexpr uint64_t encode(double v, unsigned) const {
    return bits::ufixed(v, fraction);
  }
  template <class T>
  PACKSMITH_INLINE constexpr T decode(uint64_t raw, unsigned) const {
    return static_cast<T>(static_cast<double>(raw) / static_cast<double>(uint64_t{1} << fraction));
  }
  PACKSMITH_INLINE constexpr reason wrong(double v, unsigned width) const {
    return wrong_fixed(v, fraction, 0, highest(width));
  }
};

// A ufixed of any value: those beyond 0 to most are stored as the nearest of the two, NaN as 0.
struct clamped {
  unsigned fraction;
  double most;

  PACKSMITH_INLINE constexpr uint64_t encode(double v, unsigned) const {
    return bits::ufixed(bits::clamped(v, most), fraction);
  }
  template <class T>
  PACKSMITH_INLINE constexpr T decode(uint64_t raw, unsigned width) const {
    return ufixed{fraction}.decode<T>(raw, width);
  }
  PACKSMITH_INLINE constexpr reason wrong(double, unsigned) const { return reason::none; }
};

// A number in units of 2^-fraction, in two's complement.
struct sfixed {
  unsigned fraction;

  PACKSMITH_INLINE constexpr uint64_t encode(double v, unsigned width) const {
    return bits::sfixed(v, fraction, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr T decode(uint64_t raw, unsigned width) const {
    return static_cast<T>(static_cast<double>(extended(raw, width)) /
                          static_cast<double>(uint64_t{1} << fraction));
  }
  PACKSMITH_INLINE constexpr reason wrong(double v, unsigned width) const {
    return wrong_fixed(v, fraction, lowest(width), highest(width - 1));
  }
};

// An address without its low `shift` bits, which are zero.
struct address {
  unsigned shift;
  packsmith::access access;      // to what it points to
  unsigned space = usual_space;  // bits of an address, 16 to 64

  PACKSMITH_INLINE constexpr uint64_t encode(const packsmith::address& v, unsigned width) const {
    return v.gpu >> shift & mask(width);  // a canonical address has bits above the field
  }
  template <class T>
  PACKSMITH_INLINE constexpr T decode(uint64_t raw, unsigned) const {
    return T((raw << shift) & mask(space));
  }
  PACKSMITH_INLINE constexpr reason wrong(const packsmith::address& v, unsigned width) const {
    return wrong_address(v.gpu, width, shift, space);
  }
};

// An offset, a uint without its low `shift` bits, which are zero.
struct offset {
  unsigned shift;

  template <class T>
  PACKSMITH_INLINE constexpr uint64_t encode(const T& v, unsigned) const {
    return plain(v) >> shift;
  }
  template <class T>
  PACKSMITH_INLINE constexpr T decode(uint64_t raw, unsigned) const {
    return static_cast<T>(raw << shift);
  }
  template <class T>
  PACKSMITH_INLINE constexpr reason wrong(const T& v, unsigned width) const {
    if ((plain(v) & mask(shift)) != 0) return reason::not_aligned;
    return wrong_uint(plain(v) >> shift, width);
  }
};

// A uint that is stored as something else.
struct coded {
  code stored;

  template <class T>
  PACKSMITH_INLINE constexpr uint64_t encode(const T& v, unsigned width) const {
    return bits::encode(plain(v), width, stored);
  }
  template <class T>
  PACKSMITH_INLINE constexpr T decode(uint64_t raw, unsigned width) const {
    return static_cast<T>(bits::decode(raw, width, stored));
  }
  template <class T>
  PACKSMITH_INLINE constexpr reason wrong(const T& v, unsigned width) const {
    return wrong_code(plain(v), width, stored);
  }
};

}  // namespace kinds

// -- Rules ---------------------------------------------------------------------------------------

// What a description requires of a value beyond its kind: r.wrong(v).
namespace rules {

template <class Low, class High>
struct range {
  Low low;
  High high;

  template <class T>
  PACKSMITH_INLINE constexpr reason wrong(const T& v) const {
    return below(v, low) || below(high, v) ? reason::out_of_range : reason::none;
  }
};

struct nonzero {
  template <class T>
  PACKSMITH_INLINE constexpr reason wrong(const T& v) const {
    return plain(v) == 0 ? reason::zero : reason::none;
  }
};

struct multiple {
  uint64_t of;

  template <class T>
  PACKSMITH_INLINE constexpr reason wrong(const T& v) const {
    return plain(v) % of != 0 ? reason::not_multiple : reason::none;
  }
};

}  // namespace rules

}  // namespace packsmith::bits

#endif  // PACKSMITH_RUNTIME_PACK_KINDS_H_
