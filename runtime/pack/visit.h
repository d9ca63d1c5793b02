// Visitors: what ps_layout of a generated type shows its members to.

#ifndef PACKSMITH_RUNTIME_PACK_VISIT_H_
#define PACKSMITH_RUNTIME_PACK_VISIT_H_

#include "runtime/pack/kinds.h"

namespace packsmith::bits {

// -- Visitors ------------------------------------------------------------------------------------
// ps_layout of a generated type shows each member and each forced or reserved run of bits to one of
// these, in bit order: bit counts from the packet's start, then the width, then the name.

//
// A visitor states what it does with each kind of member:
//   flag                bool, one bit
//   uint                unsigned integer or enumeration
//   positive            uint that must not be zero
//   bounded             uint …, smallest, largest
//   sint                two's complement
//   real                float or double
//   half                float stored in 16 bits
//   ufixed, sfixed      …, fraction bits
//   clamped             ufixed …, largest: larger values are clamped
//   address             …, implied low zero bits, access; and the width of addresses if it is not
//                       usual_space
//   offset              …, implied low zero bits
//   coded               …, how it is stored
// A visitor without one of the kinds does not compile for packets with such a member. Visitors that
// need only some of the kinds derive from some_members.

// Calls for everything but members. They do nothing unless a visitor overrides them.
struct visitor {
  // The index of what follows, in a loop.
  PACKSMITH_INLINE constexpr void index(unsigned) {}
  PACKSMITH_INLINE constexpr void range(auto&&...) {}     // member, name, smallest, largest
  PACKSMITH_INLINE constexpr void nonzero(auto&&...) {}   // member, name
  PACKSMITH_INLINE constexpr void multiple(auto&&...) {}  // member, name, of what
  PACKSMITH_INLINE constexpr void forced(auto&&...) {}    // bit, width, value, name
  PACKSMITH_INLINE constexpr void reserved(auto&&...) {}  // bit, width, value, name
};

// Ignores the kinds of members that the derived visitor does not name.
struct some_members : visitor {
  PACKSMITH_INLINE constexpr void flag(auto&&...) {}
  PACKSMITH_INLINE constexpr void uint(auto&&...) {}
  PACKSMITH_INLINE constexpr void positive(auto&&...) {}
  PACKSMITH_INLINE constexpr void bounded(auto&&...) {}
  PACKSMITH_INLINE constexpr void sint(auto&&...) {}
  PACKSMITH_INLINE constexpr void real(auto&&...) {}
  PACKSMITH_INLINE constexpr void half(auto&&...) {}
  PACKSMITH_INLINE constexpr void ufixed(auto&&...) {}
  PACKSMITH_INLINE constexpr void sfixed(auto&&...) {}
  PACKSMITH_INLINE constexpr void clamped(auto&&...) {}
  PACKSMITH_INLINE constexpr void address(auto&&...) {}
  PACKSMITH_INLINE constexpr void offset(auto&&...) {}
  PACKSMITH_INLINE constexpr void coded(auto&&...) {}
};

// Treats all kinds alike: calls Self's member(bit, width, name).
template <class Self>
struct every_member : visitor {
  using text = const char*;
  constexpr void see(unsigned bit, unsigned width, text name) {
    static_cast<Self&>(*this).member(bit, width, name);
  }
  constexpr void flag(auto&&, unsigned b, unsigned w, text n) { see(b, w, n); }
  constexpr void uint(auto&&, unsigned b, unsigned w, text n) { see(b, w, n); }
  constexpr void positive(auto&&, unsigned b, unsigned w, text n) { see(b, w, n); }
  constexpr void bounded(auto&&, unsigned b, unsigned w, text n, auto&&...) { see(b, w, n); }
  constexpr void sint(auto&&, unsigned b, unsigned w, text n) { see(b, w, n); }
  constexpr void real(auto&&, unsigned b, unsigned w, text n) { see(b, w, n); }
  constexpr void half(auto&&, unsigned b, unsigned w, text n) { see(b, w, n); }
  constexpr void ufixed(auto&&, unsigned b, unsigned w, text n, auto&&...) { see(b, w, n); }
  constexpr void sfixed(auto&&, unsigned b, unsigned w, text n, auto&&...) { see(b, w, n); }
  constexpr void clamped(auto&&, unsigned b, unsigned w, text n, auto&&...) { see(b, w, n); }
  constexpr void address(auto&&, unsigned b, unsigned w, text n, auto&&...) { see(b, w, n); }
  constexpr void offset(auto&&, unsigned b, unsigned w, text n, auto&&...) { see(b, w, n); }
  constexpr void coded(auto&&, unsigned b, unsigned w, text n, auto&&...) { see(b, w, n); }
};
// Finds the first member that does not fit. Used only if there is one: small, not fast.
struct finder : visitor {
  error found;
  unsigned present = ~0u;  // bits
  unsigned at = 0;         // index in a loop

  constexpr void index(unsigned i) { at = i; }
  constexpr void put(reason why, const char* name) {
    if (why != reason::none && !found) found = error{name, why, at};
  }
  // raw: the stored form of a value that fits.
  [[gnu::noinline]] constexpr void put(reason why, uint64_t raw, unsigned bit, unsigned width,
                                       const char* name) {
    put(why, name);
    if (bit + width > present && (bit >= present ? raw : raw >> (present - bit)) != 0) {
      put(reason::absent, name);
    }
  }
  constexpr void flag(bool v, unsigned bit, unsigned width, const char* name) {
    put(reason::none, v, bit, width, name);
  }
  template <class T>
  constexpr void uint(const T& v, unsigned bit, unsigned width, const char* name) {
    const uint64_t u = static_cast<uint64_t>(v);
    put(wrong_uint(u, width), u, bit, width, name);
  }
  template <class T>
  constexpr void bounded(const T& v, unsigned bit, unsigned width, const char* name, uint64_t low,
                         uint64_t high) {
    uint(v, bit, width, name);
    range(plain(v), name, low, high);
  }
  template <class T>
  constexpr void positive(const T& v, unsigned bit, unsigned width, const char* name) {
    uint(v, bit, width, name);
    nonzero(v, name);
  }
  constexpr void sint(int64_t v, unsigned bit, unsigned width, const char* name) {
    put(wrong_sint(v, width), twos(v, width), bit, width, name);
  }
  template <class T>
  constexpr void real(const T& v, unsigned bit, unsigned width, const char* name) {
    put(reason::none, bits::real(v), bit, width, name);
  }
  constexpr void half(float v, unsigned bit, unsigned width, const char* name) {
    put(wrong_half(v), bits::half(v), bit, width, name);
  }
  constexpr void ufixed(double v, unsigned bit, unsigned width, const char* name,
                        unsigned fraction) {
    const reason why = wrong_fixed(v, fraction, 0, highest(width));
    put(why, why == reason::none ? bits::ufixed(v, fraction) : 0, bit, width, name);
  }
  constexpr void clamped(double v, unsigned bit, unsigned width, const char* name,
                         unsigned fraction, double most) {
    put(reason::none, bits::ufixed(bits::clamped(v, most), fraction), bit, width, name);
  }
  constexpr void sfixed(double v, unsigned bit, unsigned width, const char* name,
                        unsigned fraction) {
    put(wrong_fixed(v, fraction, lowest(width), highest(width - 1)), v != 0, bit, width, name);
  }
  constexpr void address(const packsmith::address& v, unsigned bit, unsigned width,
                         const char* name, unsigned shift, packsmith::access,
                         unsigned space = usual_space) {
    put(wrong_address(v.gpu, width, shift, space), v.gpu >> shift, bit, width, name);
  }
  constexpr void offset(uint64_t v, unsigned bit, unsigned width, const char* name,
                        unsigned shift) {
    put((v & mask(shift)) != 0 ? reason::not_aligned : wrong_uint(v >> shift, width), v >> shift,
        bit, width, name);
  }
  template <class T>
  constexpr void coded(const T& v, unsigned bit, unsigned width, const char* name, const code& c) {
    const uint64_t u = static_cast<uint64_t>(v);
    const reason why = wrong_code(u, width, c);
    put(why, why == reason::none ? encode(u, width, c) : 0, bit, width, name);
  }
  template <class T, class L, class H>
  constexpr void range(const T& v, const char* name, L low, H high) {
    if (below(v, low) || below(high, v)) put(reason::out_of_range, name);
  }
  template <class T>
  constexpr void nonzero(const T& v, const char* name) {
    if (plain(v) == 0) put(reason::zero, name);
  }
  template <class T>
  constexpr void multiple(const T& v, const char* name, uint64_t of) {
    if (plain(v) % of != 0) put(reason::not_multiple, name);
  }
};

// The source of packed words: word(i) is 0 for words that may not be read.
struct dwords {
  const uint32_t* dw;
  constexpr uint32_t word(unsigned i) const { return dw[i]; }
};
struct some_dwords {
  const uint32_t* dw;
  unsigned count;
  constexpr uint32_t word(unsigned i) const { return i < count ? dw[i] : 0; }
};
struct some_bytes {
  const uint8_t* from;
  unsigned count;
  constexpr uint32_t word(unsigned i) const {
    if (4 * i + 4 <= count && !__builtin_is_constant_evaluated()) {
      uint32_t v = 0;
      __builtin_memcpy(&v, from + 4 * i, 4);
      if constexpr (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) v = __builtin_bswap32(v);
      return v;
    }
    uint32_t v = 0;
    for (unsigned b = 0; b < 4 && 4 * i + b < count; ++b) {
      v |= static_cast<uint32_t>(from[4 * i + b]) << (8 * b);
    }
    return v;
  }
};

template <class Source>
PACKSMITH_INLINE constexpr uint64_t get(const Source& from, unsigned bit, unsigned width) {
  const unsigned w = bit / 32, lsb = bit % 32;
  if (lsb + width <= 32) return (from.word(w) >> lsb) & mask(width);
  uint64_t v = (from.word(w) | static_cast<uint64_t>(from.word(w + 1)) << 32) >> lsb;
  if (lsb + width > 64) v |= static_cast<uint64_t>(from.word(w + 2)) << (64 - lsb);
  return v & mask(width);
}

template <class Source>
struct reader : visitor {
  Source from;

  template <class T>
  PACKSMITH_INLINE constexpr void uint(T& v, unsigned bit, unsigned width, const char*) {
    v = static_cast<T>(get(from, bit, width));
  }
  template <class T>
  PACKSMITH_INLINE constexpr void positive(T& v, unsigned bit, unsigned width, const char* name) {
    uint(v, bit, width, name);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void bounded(T& v, unsigned bit, unsigned width, const char* name,
                                          uint64_t, uint64_t) {
    uint(v, bit, width, name);
  }
  PACKSMITH_INLINE constexpr void flag(bool& v, unsigned bit, unsigned width, const char*) {
    v = get(from, bit, width) != 0;
  }
  PACKSMITH_INLINE constexpr int64_t extended(unsigned bit, unsigned width) const {
    return static_cast<int64_t>(get(from, bit, width) << (64 - width)) >> (64 - width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void sint(T& v, unsigned bit, unsigned width, const char*) {
    v = static_cast<T>(extended(bit, width));
  }
  PACKSMITH_INLINE constexpr void real(float& v, unsigned bit, unsigned width, const char*) {
    v = __builtin_bit_cast(float, static_cast<uint32_t>(get(from, bit, width)));
  }
  PACKSMITH_INLINE constexpr void real(double& v, unsigned bit, unsigned width, const char*) {
    v = __builtin_bit_cast(double, get(from, bit, width));
  }
  PACKSMITH_INLINE constexpr void half(float& v, unsigned bit, unsigned width, const char*) {
    v = half_value(static_cast<uint32_t>(get(from, bit, width)));
  }
  template <class T>
  PACKSMITH_INLINE constexpr void ufixed(T& v, unsigned bit, unsigned width, const char*,
                                         unsigned fraction) {
    v = static_cast<T>(static_cast<double>(get(from, bit, width)) /
                       static_cast<double>(uint64_t{1} << fraction));
  }
  template <class T>
  PACKSMITH_INLINE constexpr void clamped(T& v, unsigned bit, unsigned width, const char* name,
                                          unsigned fraction, double) {
    ufixed(v, bit, width, name, fraction);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void sfixed(T& v, unsigned bit, unsigned width, const char*,
                                         unsigned fraction) {
    v = static_cast<T>(static_cast<double>(extended(bit, width)) /
                       static_cast<double>(uint64_t{1} << fraction));
  }
  PACKSMITH_INLINE constexpr void address(packsmith::address& v, unsigned bit, unsigned width,
                                          const char*, unsigned shift, packsmith::access,
                                          unsigned space = usual_space) {
    v = packsmith::address((get(from, bit, width) << shift) & mask(space));
  }
  template <class T>
  PACKSMITH_INLINE constexpr void offset(T& v, unsigned bit, unsigned width, const char*,
                                         unsigned shift) {
    v = static_cast<T>(get(from, bit, width) << shift);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void coded(T& v, unsigned bit, unsigned width, const char*,
                                        const code& c) {
    v = static_cast<T>(decode(get(from, bit, width), width, c));
  }
};

template <class Source>
struct verifier : some_members {
  Source from;
  error found;
  unsigned present = ~0u;  // bits

  PACKSMITH_INLINE constexpr void forced(unsigned bit, unsigned width, uint64_t value,
                                         const char* name) {
    if (!found && bit < present && get(from, bit, width) != value)
      found = error{name, reason::forced};
  }
  PACKSMITH_INLINE constexpr void reserved(unsigned bit, unsigned width, uint64_t value,
                                           const char* name) {
    if (!found && bit < present && get(from, bit, width) != value)
      found = error{name, reason::reserved};
  }
};

template <class F>
struct address_walker : some_members {
  F& f;
  unsigned dword = 0;      // where the packet or item starts
  unsigned present = ~0u;  // bits

  PACKSMITH_INLINE constexpr void address(const packsmith::address& v, unsigned bit, unsigned width,
                                          const char*, unsigned, packsmith::access stated,
                                          unsigned = usual_space) {
    if (bit < present) {
      f(v, dword + bit / 32, bit % 32, width, v.use == access::from_xml ? stated : v.use);
    }
  }
};

}  // namespace packsmith::bits

#endif  // PACKSMITH_RUNTIME_PACK_VISIT_H_
