// The methods of generated types: lines that stand for those that are the same in all types, and
// what the others call.

#ifndef PACKSMITH_RUNTIME_PACK_MEMBERS_H_
#define PACKSMITH_RUNTIME_PACK_MEMBERS_H_

#include "runtime/pack/fast.h"

namespace packsmith::bits {

template <class T>
PACKSMITH_INLINE constexpr T unpack(const uint32_t* dw) {
  T v;
  reader<dwords> r{{}, {dw}};
  T::ps_layout(v, r);
  return v;
}
template <class T>
PACKSMITH_INLINE constexpr T unpack(const uint8_t* from) {
  T v;
  reader<some_bytes> r{{}, {from, T::size}};
  T::ps_layout(v, r);
  return v;
}
// A packet with alternative sizes: the part that exists, at most `dwords`. Its size is known only
// after its fixed part is read.
template <class T>
constexpr T unpack(const uint32_t* dw, unsigned dwords) {
  T v;
  reader<some_dwords> head{{}, {dw, dwords < T::length ? dwords : T::length}};
  T::ps_layout(v, head);
  if constexpr (has_variants<T>) {
    const unsigned needed = v.dwords_needed();
    reader<some_dwords> whole{{}, {dw, dwords < needed ? dwords : needed}};
    T::ps_layout(v, whole);
  }
  return v;
}
template <class T>
constexpr T unpack(const uint8_t* from, unsigned bytes) {
  T v;
  reader<some_bytes> head{{}, {from, bytes < T::size ? bytes : T::size}};
  T::ps_layout(v, head);
  if constexpr (has_variants<T>) {
    const unsigned needed = v.bytes_needed();
    reader<some_bytes> whole{{}, {from, bytes < needed ? bytes : needed}};
    T::ps_layout(v, whole);
  }
  return v;
}

template <class T>
constexpr error verify(const uint32_t* dw) {
  verifier<dwords> v{{}, {dw}, {}};
  T packet;
  if constexpr (has_variants<T>) {
    packet = T::unpack(dw);
    v.present = words_of(packet) * 32;
  }
  T::ps_layout(packet, v);
  return v.found;
}
template <class T>
constexpr error verify(const uint8_t* from) {
  verifier<some_bytes> v{{}, {from, T::size}, {}};
  T packet;
  if constexpr (has_variants<T>) {
    packet = T::unpack(from);
    v.from.count = packet.bytes_needed();
    v.present = v.from.count * 8;
  }
  T::ps_layout(packet, v);
  return v.found;
}

// dword: where p starts, counted from the start of what is packed.
template <class T, class F>
PACKSMITH_INLINE constexpr void addresses(const T& p, F& f, unsigned dword = 0) {
  address_walker<F> w{{}, f, dword, ~0u};
  if constexpr (has_variants<T>) w.present = words_of(p) * 32;
  T::ps_layout(p, w);
}

// ORs into words that have been written. For members whose place is computed in a loop.
constexpr void put(uint32_t* words, unsigned bit, unsigned width, uint64_t raw) {
  raw &= mask(width);
  const unsigned w = bit / 32, lsb = bit % 32;
  words[w] |= static_cast<uint32_t>(raw << lsb);
  if (lsb + width > 32) words[w + 1] |= static_cast<uint32_t>(raw >> (32 - lsb));
  if (lsb + width > 64) words[w + 2] |= static_cast<uint32_t>(raw >> (64 - lsb));
}

// Little-endian stores of the low 1 to 4 bytes of v.
PACKSMITH_INLINE constexpr void store(uint8_t* to, uint32_t v, unsigned bytes = 4) {
  if (__builtin_is_constant_evaluated() || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ || bytes == 3) {
    for (unsigned b = 0; b < bytes; ++b) to[b] = static_cast<uint8_t>(v >> (8 * b));
  } else {
    __builtin_memcpy(to, &v, bytes);
  }
}

// Dwords of a packet, as its biased length field says, but at most `count`.
constexpr unsigned total(const uint32_t* dw, unsigned count, unsigned bit, unsigned width,
                         unsigned bias) {
  if (bit / 32 >= count) return count;
  const uint64_t said = uint64_t{cut(dw[bit / 32], bit % 32, width)} + bias;
  return said < count ? static_cast<unsigned>(said) : count;
}
constexpr unsigned total(const uint8_t* from, unsigned count, unsigned bit, unsigned width,
                         unsigned bias) {
  const uint32_t word = some_bytes{from, count}.word(bit / 32);
  const uint64_t said = uint64_t{cut(word, bit % 32, width)} + bias;
  return said < count ? static_cast<unsigned>(said) : count;
}

// The whole items from `start` to `count`.
template <class T, class Word>
constexpr view<T> items(const Word* from, unsigned count, unsigned start) {
  if (count <= start) return {};
  return {from + start, (count - start) / view<T>::stride};
}

// Reads the parts that follow a packet, never past the end.
template <class Word>
struct cursor {
  const Word* at;
  unsigned left;

  constexpr void skip(uint64_t n, unsigned size) {
    const uint64_t whole = n * size;  // n has at most 32 bits
    const unsigned step = whole < left ? static_cast<unsigned>(whole) : left;
    at += step;
    left -= step;
  }
  template <class T>
  constexpr T take(unsigned size) {
    const T v = bits::unpack<T>(at, left);
    skip(1, size);
    return v;
  }
  template <class T>
  constexpr view<T> rest(uint64_t n, unsigned size) const {
    return {at, n < left / size ? static_cast<unsigned>(n) : left / size};
  }
};

}  // namespace packsmith::bits

// What a generated type has in place of its methods, which core.h describes:
//   PACKSMITH_STRUCT(Type, first)               dwords of a fixed number: pack, check, unpack,
//   verify,
//                                               for_each_address. first: bits of the first dword
//                                               that are neither a member nor forced
//   PACKSMITH_PACKET(Type, first, mask, value)  also matches: value is the opcode under mask
//   PACKSMITH_DWORDS(Type)                      all but pack, which the type has itself
//   PACKSMITH_BYTES(Type)                       the same of a record of bytes
//   PACKSMITH_SMALL_BYTES(Type)                 … of which callers often want a field or two:
//                                               inlined, the others are not unpacked
// All are templates, so that only those are compiled that are called. The lines take the compiler
// 1 % less than the methods did, written out (Gfx9's header).
#define PACKSMITH_STRUCT(Type, first)                                       \
  template <packsmith::checks Checks = packsmith::default_checks>           \
  PACKSMITH_INLINE constexpr packsmith::error pack(uint32_t* ps_dw) const { \
    return bits::pack<Checks>(*this, ps_dw, first);                         \
  }                                                                         \
  PACKSMITH_DWORDS(Type)
#define PACKSMITH_PACKET(Type, first, mask, value)   \
  PACKSMITH_STRUCT(Type, first)                      \
  template <class = void>                            \
  static constexpr bool matches(uint32_t ps_first) { \
    return (ps_first & mask) == value;               \
  }
#define PACKSMITH_DWORDS(Type) PACKSMITH_METHODS(Type, uint32_t, )
#define PACKSMITH_BYTES(Type) PACKSMITH_METHODS(Type, uint8_t, )
#define PACKSMITH_SMALL_BYTES(Type) PACKSMITH_METHODS(Type, uint8_t, PACKSMITH_INLINE)
#define PACKSMITH_METHODS(Type, Word, Inline)                     \
  template <class T = Type>                                       \
  constexpr packsmith::error check() const {                      \
    return bits::check<T>(*this);                                 \
  }                                                               \
  template <class T = Type>                                       \
  Inline static constexpr T unpack(const Word* ps_from) {         \
    return bits::unpack<T>(ps_from);                              \
  }                                                               \
  template <class T = Type>                                       \
  static constexpr packsmith::error verify(const Word* ps_from) { \
    return bits::verify<T>(ps_from);                              \
  }                                                               \
  template <class F>                                              \
  constexpr void for_each_address(F&& ps_f) const {               \
    bits::addresses(*this, ps_f);                                 \
  }

#endif  // PACKSMITH_RUNTIME_PACK_MEMBERS_H_
