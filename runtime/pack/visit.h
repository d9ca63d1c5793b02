// Visitors: what ps_layout of a generated type shows its members to, in bit order. A visitor has
// one method, which is called for each member with its kind:
//
//   struct Namer : bits::visitor<Namer> {
//     std::vector<std::string> wide;
//     template <class Kind, class T>
//     void member(const Kind&, const T&, unsigned bit, unsigned width, const char* name) {
//       if (width > 32) wide.push_back(name);
//     }
//   };
//   Namer namer;
//   MI_STORE_DATA_IMM::ps_layout(store, namer);
//
// A template takes all kinds, and those that are added later; overloads take some kinds by
// themselves. A kind that none of them takes does not compile. Take values that are not changed as
// const T& in all overloads: of a const and another one, C++ prefers the other one before it looks
// at the kind.
//
// Here are the visitors that check, unpack, verify and find addresses; those that pack are in
// fast.h.

#ifndef PACKSMITH_RUNTIME_PACK_VISIT_H_
#define PACKSMITH_RUNTIME_PACK_VISIT_H_

#include "runtime/pack/kinds.h"

namespace packsmith::bits {

// Calls Self's
//   member(kind, value, bit, width, name)  for each member. bit: from the packet's start. name: as
//                                          C++ writes the member, with [] for the index of a loop.
// and, where Self has them,
//   rule(rule, value, name)                for what else its value must be, after the member
//   fixed(bit, width, raw, name, why)      for bits that are not a member: what they must be, and
//                                          reason::forced or reason::reserved
//   index(i)                               for the index of the members that follow, in a loop
// The other methods are what ps_layout calls, one for each kind: a kind in braces in each of its
// calls would take the compiler 7 % longer to read than a method's name does (Gfx9's header).
template <class Self>
struct visitor {
  template <class T>
  PACKSMITH_INLINE constexpr void flag(T& v, unsigned bit, unsigned width, const char* name) {
    static_cast<Self&>(*this).member(kinds::flag{}, v, bit, width, name);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void uint(T& v, unsigned bit, unsigned width, const char* name) {
    static_cast<Self&>(*this).member(kinds::uint{}, v, bit, width, name);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void positive(T& v, unsigned bit, unsigned width, const char* name) {
    static_cast<Self&>(*this).member(kinds::positive{}, v, bit, width, name);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void bounded(T& v, unsigned bit, unsigned width, const char* name,
                                          uint64_t low, uint64_t high) {
    static_cast<Self&>(*this).member(kinds::bounded{low, high}, v, bit, width, name);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void sint(T& v, unsigned bit, unsigned width, const char* name) {
    static_cast<Self&>(*this).member(kinds::sint{}, v, bit, width, name);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void real(T& v, unsigned bit, unsigned width, const char* name) {
    static_cast<Self&>(*this).member(kinds::real{}, v, bit, width, name);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void half(T& v, unsigned bit, unsigned width, const char* name) {
    static_cast<Self&>(*this).member(kinds::half{}, v, bit, width, name);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void ufixed(T& v, unsigned bit, unsigned width, const char* name,
                                         unsigned fraction) {
    static_cast<Self&>(*this).member(kinds::ufixed{fraction}, v, bit, width, name);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void clamped(T& v, unsigned bit, unsigned width, const char* name,
                                          unsigned fraction, double most) {
    static_cast<Self&>(*this).member(kinds::clamped{fraction, most}, v, bit, width, name);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void sfixed(T& v, unsigned bit, unsigned width, const char* name,
                                         unsigned fraction) {
    static_cast<Self&>(*this).member(kinds::sfixed{fraction}, v, bit, width, name);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void address(T& v, unsigned bit, unsigned width, const char* name,
                                          unsigned shift, packsmith::access access,
                                          unsigned space = usual_space) {
    static_cast<Self&>(*this).member(kinds::address{shift, access, space}, v, bit, width, name);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void offset(T& v, unsigned bit, unsigned width, const char* name,
                                         unsigned shift) {
    static_cast<Self&>(*this).member(kinds::offset{shift}, v, bit, width, name);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void coded(T& v, unsigned bit, unsigned width, const char* name,
                                        const code& stored) {
    static_cast<Self&>(*this).member(kinds::coded{stored}, v, bit, width, name);
  }

  template <class T, class Low, class High>
  PACKSMITH_INLINE constexpr void range(const T& v, const char* name, Low low, High high) {
    static_cast<Self&>(*this).rule(rules::range<Low, High>{low, high}, v, name);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void nonzero(const T& v, const char* name) {
    static_cast<Self&>(*this).rule(rules::nonzero{}, v, name);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void multiple(const T& v, const char* name, uint64_t of) {
    static_cast<Self&>(*this).rule(rules::multiple{of}, v, name);
  }

  PACKSMITH_INLINE constexpr void forced(unsigned bit, unsigned width, uint64_t raw,
                                         const char* name) {
    static_cast<Self&>(*this).fixed(bit, width, raw, name, reason::forced);
  }
  PACKSMITH_INLINE constexpr void reserved(unsigned bit, unsigned width, uint64_t raw,
                                           const char* name) {
    static_cast<Self&>(*this).fixed(bit, width, raw, name, reason::reserved);
  }

  // For visitors that have none.
  PACKSMITH_INLINE constexpr void rule(const auto&, const auto&, const char*) {}
  PACKSMITH_INLINE constexpr void fixed(unsigned, unsigned, uint64_t, const char*, reason) {}
  PACKSMITH_INLINE constexpr void index(unsigned) {}
};

// Finds the first member that does not fit. Used only if there is one: small, not fast.
struct finder : visitor<finder> {
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
  template <class Kind, class T>
  constexpr void member(const Kind& kind, const T& v, unsigned bit, unsigned width,
                        const char* name) {
    const reason why = kind.wrong(v, width);
    put(why, why == reason::none ? kind.encode(v, width) : 0, bit, width, name);
  }
  template <class Rule, class T>
  constexpr void rule(const Rule& rule, const T& v, const char* name) {
    put(rule.wrong(v), name);
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

// Unpacks.
template <class Source>
struct reader : visitor<reader<Source>> {
  Source from;

  template <class Kind, class T>
  PACKSMITH_INLINE constexpr void member(const Kind& kind, T& v, unsigned bit, unsigned width,
                                         const char*) {
    v = kind.template decode<T>(get(from, bit, width), width);
  }
};

// Finds the first forced or reserved field that has another value.
template <class Source>
struct verifier : visitor<verifier<Source>> {
  Source from;
  error found;
  unsigned present = ~0u;  // bits

  PACKSMITH_INLINE constexpr void member(const auto&, const auto&, unsigned, unsigned,
                                         const char*) {}
  PACKSMITH_INLINE constexpr void fixed(unsigned bit, unsigned width, uint64_t raw,
                                        const char* name, reason why) {
    if (!found && bit < present && get(from, bit, width) != raw) found = error{name, why};
  }
};

// Calls f(address, dword, bit, width, access) for each address.
template <class F>
struct address_walker : visitor<address_walker<F>> {
  F& f;
  unsigned dword = 0;      // where the packet or item starts
  unsigned present = ~0u;  // bits

  PACKSMITH_INLINE constexpr void member(const auto&, const auto&, unsigned, unsigned,
                                         const char*) {}
  PACKSMITH_INLINE constexpr void member(const kinds::address& kind, const packsmith::address& v,
                                         unsigned bit, unsigned width, const char*) {
    if (bit < present) {
      f(v, dword + bit / 32, bit % 32, width, v.use == access::from_xml ? kind.access : v.use);
    }
  }
};

}  // namespace packsmith::bits

#endif  // PACKSMITH_RUNTIME_PACK_VISIT_H_
