// Packing, and the tests before it, as fast as code written by hand. What a kind does here beyond
// what kinds.h says of it is an optimisation: without the overload for a kind, the template that
// takes all kinds gives the same result.
//
//   error e = bits::pack<checks::on>(packet, dw, 0);   // what P::pack calls
//
// The tricks, and the instructions with and without each of them (g++ 12 -O2, Gfx9, a packet in
// memory, checked; ./bazelw run --config=opt //tests/bench:pack_bench measures the time):
//
//   outside             packets in memory are tested      RENDER_SURFACE_STATE   277, not 424
//                       16 bytes at a time                _3DSTATE_VS            114, not 168
//   tester::narrow      fields of equal width are tested  _3DSTATE_SBE           508, not 566
//                       together
//   packer, flags       neighbouring flags are shifted    PIPE_CONTROL            92, not 99
//                       together
//   packer, low bits    of addresses and offsets are not  _3DSTATE_VS            114, not 116
//                       shifted out and in again
//   joiner              two words are stored at once      VERTEX_BUFFER_STATE   48.6, not 50.6;
//                       where joining them costs little   with all words joined 53.7
//   packer::in_order    the words of small packets are    no fewer instructions: the stores' order,
//                       stored in order                   which write-combining memory wants

#ifndef PACKSMITH_RUNTIME_PACK_FAST_H_
#define PACKSMITH_RUNTIME_PACK_FAST_H_

#include "runtime/pack/visit.h"

namespace packsmith::bits {

// The values from low to high that a member of 32 bits may hold, and a sum that finds all others:
// ((v + sum) | v) >> bits is zero for these values alone.
struct bounds {
  uint64_t low, high;
  unsigned width;

  PACKSMITH_INLINE constexpr unsigned bits() const {
    return high == 0 ? 0 : 64 - static_cast<unsigned>(__builtin_clzll(high));
  }
  PACKSMITH_INLINE constexpr bool one_sum() const {
    return bits() < 32 && (low == 0 || (low == 1 && high == mask(bits())));
  }
  PACKSMITH_INLINE constexpr uint64_t sum() const {
    return low == 0 ? mask(bits()) - high : ~uint64_t{0};
  }
};

// Whether any value does not fit. Values of fields of equal width are ORed together and compared
// once, which executes less than a comparison each. A member with bounds of its own is compared by
// itself: a branch that is never taken is cheaper than arithmetic in its place.
//   every    tests all members
//   limited  also: words that this form of the packet does not have must be zero
//   rest     tests what `outside` leaves, and notes whether the compiler knows any of the values
enum class scope { every, limited, rest };

template <scope Scope>
struct tester : visitor<tester<Scope>> {
  static constexpr unsigned widths = Scope == scope::rest ? 1 : 33;
  uint32_t narrow[widths] = {};  // by width
  uint64_t bad = 0;
  uint32_t stray = 0;  // as bad, of values that have 32 bits
  bool beyond = false;
  bool known = false;
  unsigned present = 0;  // bits
  unsigned always = 0;   // bits that every form of the packet has

  PACKSMITH_INLINE constexpr void absent(uint64_t raw, unsigned bit, unsigned width) {
    if constexpr (Scope == scope::limited) {
      if (bit + width > always && bit + width > present) {
        bad |= bit >= present ? raw : raw >> (present - bit);
      }
    }
  }
  // Kinds without a test of their own below.
  template <class Kind, class T>
  PACKSMITH_INLINE constexpr void member(const Kind& kind, const T& v, unsigned bit, unsigned width,
                                         const char*) {
    const bool fits = kind.wrong(v, width) == reason::none;
    bad |= !fits;
    if constexpr (Scope == scope::limited) absent(fits ? kind.encode(v, width) : 0, bit, width);
  }
  PACKSMITH_INLINE constexpr void member(const kinds::flag&, bool v, unsigned bit, unsigned width,
                                         const char*) {
    if constexpr (Scope == scope::rest) known |= __builtin_constant_p(v);
    absent(v, bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void member(const kinds::uint&, const T& v, unsigned bit,
                                         unsigned width, const char*) {
    if constexpr (Scope == scope::rest)
      known |= __builtin_constant_p(v);
    else if constexpr (sizeof(T) == 8)
      bad |= static_cast<uint64_t>(v) & ~mask(width);
    else if (width < 32)
      narrow[width] |= static_cast<uint32_t>(v);
    absent(static_cast<uint64_t>(v), bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void member(const kinds::bounded& kind, const T& v, unsigned bit,
                                         unsigned width, const char* name) {
    const uint64_t low = kind.low, high = kind.high;
    const bounds b{low, high, width};
    if constexpr (Scope == scope::rest) {
      if (sizeof(T) == 4 && b.one_sum()) return member(kinds::uint{}, v, bit, width, name);
    }
    if constexpr (sizeof(T) == 8 || Scope == scope::rest) {
      bad |= static_cast<uint64_t>(v) - low > high - low;
    } else if (low == 0 && high == mask(b.bits())) {
      narrow[b.bits()] |= static_cast<uint32_t>(v);
    } else if (static_cast<uint32_t>(v) - static_cast<uint32_t>(low) > high - low) [[unlikely]] {
      beyond = true;
    }
    absent(static_cast<uint64_t>(v), bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void member(const kinds::positive&, const T& v, unsigned bit,
                                         unsigned width, const char* name) {
    member(kinds::bounded{1, mask(width)}, v, bit, width, name);
  }
  PACKSMITH_INLINE constexpr void member(const kinds::sint& kind, const int32_t& v, unsigned bit,
                                         unsigned width, const char*) {
    const uint32_t from_lowest = static_cast<uint32_t>(v) + (uint32_t{1} << (width - 1));
    if constexpr (Scope == scope::rest)
      bad |= from_lowest & ~static_cast<uint32_t>(mask(width));
    else if (width < 32)
      narrow[width] |= from_lowest;
    absent(kind.encode(v, width), bit, width);
  }
  PACKSMITH_INLINE constexpr void member(const kinds::sint& kind, const int64_t& v, unsigned bit,
                                         unsigned width, const char*) {
    bad |= (static_cast<uint64_t>(v) + (uint64_t{1} << (width - 1))) & ~mask(width);
    absent(kind.encode(v, width), bit, width);
  }
  // The bounds of fixed point are constants; the comparisons are false for NaN.
  template <class T>
  PACKSMITH_INLINE constexpr void member(const kinds::ufixed& kind, const T& v, unsigned bit,
                                         unsigned width, const char*) {
    const double unit = static_cast<double>(uint64_t{1} << kind.fraction);
    const bool fits = v > -0.5 / unit && v < (highest(width) + 0.5) / unit;
    bad |= !fits;
    if constexpr (Scope == scope::limited) absent(fits ? kind.encode(v, width) : 0, bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void member(const kinds::sfixed& kind, const T& v, unsigned bit,
                                         unsigned width, const char*) {
    const double unit = static_cast<double>(uint64_t{1} << kind.fraction);
    const bool fits = v > (lowest(width) - 0.5) / unit && v < (highest(width - 1) + 0.5) / unit;
    bad |= !fits;
    if constexpr (Scope == scope::limited) absent(fits ? kind.encode(v, width) : 0, bit, width);
  }
  PACKSMITH_INLINE constexpr void member(const kinds::address& kind, const packsmith::address& v,
                                         unsigned bit, unsigned width, const char*) {
    if constexpr (Scope == scope::rest) {
      known |= __builtin_constant_p(v.gpu);
    } else {
      bad |= v.gpu & mask(kind.shift);
      if (address_too_wide(v.gpu, kind.shift + width, kind.space)) [[unlikely]]
        beyond = true;
    }
    absent(kind.encode(v, width), bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void member(const kinds::offset& kind, const T& v, unsigned bit,
                                         unsigned width, const char*) {
    if constexpr (Scope == scope::rest)
      known |= __builtin_constant_p(v);
    else
      bad |= static_cast<uint64_t>(v) & ~(mask(width) << kind.shift);
    absent(kind.encode(v, width), bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void member(const kinds::coded& kind, const T& v, unsigned bit,
                                         unsigned width, const char*) {
    // Values below `minus` wrap around, and so have bits above the field, too.
    const code& c = kind.stored;
    const bool simple = !c.log2 && c.groups == 0 && c.align == 0 && c.minus < 0x80000000 &&
                        width + c.shift < sizeof(T) * 8;
    if (!simple)
      bad |= kind.wrong(v, width) != reason::none;
    else if constexpr (sizeof(T) == 4)
      stray |= (static_cast<uint32_t>(v) - static_cast<uint32_t>(c.minus)) &
               ~static_cast<uint32_t>(mask(width) << c.shift);
    else
      bad |= (static_cast<uint64_t>(v) - c.minus) & ~(mask(width) << c.shift);
    absent(kind.encode(v, width), bit, width);
  }
  template <class Rule, class T>
  PACKSMITH_INLINE constexpr void rule(const Rule& rule, const T& v, const char*) {
    bad |= rule.wrong(v) != reason::none;
  }

  PACKSMITH_INLINE constexpr bool anything() const {
    if ((bad | stray) != 0 || beyond) [[unlikely]]
      return true;
#pragma GCC unroll 33
    for (unsigned w = 0; w < widths; ++w) {
      if ((narrow[w] & ~mask(w)) != 0) [[unlikely]]
        return true;
    }
    return false;
  }
};

// The operands of `outside`: each member holds the bits that must be zero in it, or the summand
// that makes values beyond its bounds carry into such bits.
template <bool Sum>
struct imprint : visitor<imprint<Sum>> {
  // Kinds that `outside` does not test.
  template <class Kind, class T>
  constexpr void member(const Kind&, T& v, unsigned, unsigned, const char*) {
    v = T{};
  }
  template <class T>
  constexpr void member(const kinds::uint&, T& v, unsigned, unsigned width, const char*) {
    v = static_cast<T>(Sum ? 0 : ~mask(width));
  }
  // The largest value may be doubted if it is rarely used, not if the field has few values.
  static constexpr uint64_t kRareEdge = 32;
  template <class T>
  constexpr void member(const kinds::bounded& kind, T& v, unsigned, unsigned width, const char*) {
    const uint64_t low = kind.low, high = kind.high;
    const bounds b{low, high, width};
    if (sizeof(T) == 8 || !b.one_sum())
      v = T{};
    else if (low == 0 && (high & (high - 1)) == 0 && high >= kRareEdge)
      v = static_cast<T>(Sum ? 0 : ~(high - 1));  // calls `high` itself doubtful: no sum needed
    else
      v = static_cast<T>(Sum ? b.sum() : ~mask(b.bits()));
  }
  template <class T>
  constexpr void member(const kinds::positive&, T& v, unsigned bit, unsigned width,
                        const char* name) {
    member(kinds::bounded{1, mask(width)}, v, bit, width, name);
  }
  constexpr void member(const kinds::address& kind, packsmith::address& v, unsigned, unsigned width,
                        const char*) {
    const unsigned top = kind.shift + width < kind.space ? kind.shift + width : kind.space;
    v = packsmith::address(Sum ? 0 : mask(kind.shift) | ~mask(top));
  }
  template <class T>
  constexpr void member(const kinds::offset& kind, T& v, unsigned, unsigned width, const char*) {
    v = static_cast<T>(Sum ? 0 : ~(mask(width) << kind.shift));
  }
};
template <class T, bool Sum>
constexpr T imprinted() {
  T v;
  imprint<Sum> i;
  T::ps_layout(v, i);
  return v;
}
template <class T>
struct imprints {
  alignas(16) static constexpr T zeros = imprinted<T, false>();
  alignas(16) static constexpr T sums = imprinted<T, true>();
};

template <class T>
[[gnu::noinline, gnu::cold]] constexpr error check(const T& p) {
  finder f;
  if constexpr (has_variants<T>) f.present = words_of(p) * 32;
  T::ps_layout(p, f);
  return f.found;
}

template <class T>
PACKSMITH_INLINE constexpr bool misfit(const T& p) {
  tester<has_variants<T> ? scope::limited : scope::every> t;
  if constexpr (has_variants<T>) {
    t.present = words_of(p) * 32;
    if constexpr (byte_record<T>)
      t.always = T::size * 8;
    else
      t.always = T::length * 32;
  }
  T::ps_layout(p, t);
  return t.anything();
}

// The error of a packet that has one. Of a copy, so that the packet itself need not be in memory.
template <class T>
PACKSMITH_INLINE constexpr error failure(const T& p) {
  const T copy = p;
  error e = check(copy);
  if (!e) e.why = reason::out_of_range;  // never; tells the compiler so
  return e;
}

// The first error of a packet before it is packed.
template <checks Checks, class T>
PACKSMITH_INLINE constexpr error test(const T& p) {
  if constexpr (Checks == checks::on) {
    if (rarely(misfit(p))) return failure(p);
  }
  return {};
}
// … and of the items that follow it.
template <checks Checks, class T>
PACKSMITH_INLINE constexpr error test(const span<const T>& items) {
  if constexpr (Checks == checks::on) {
    for (unsigned i = 0; i < items.count; ++i) {
      if (rarely(misfit(items.ptr[i]))) {
        error e = failure(items.ptr[i]);
        e.item = i;
        return e;
      }
    }
  }
  return {};
}

typedef uint32_t lane __attribute__((may_alias));
typedef uint32_t quad __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint64_t pair __attribute__((aligned(4), may_alias));

// Whether a packet in memory may hold members that do not fit, of those that imprints knows: 16
// bytes at a time. False only if all fit; values at the edge of what fits may be called doubtful.
template <class T>
PACKSMITH_INLINE inline bool outside(const T& p) {
  const auto at = [](const T& of, unsigned offset) {
    return reinterpret_cast<const char*>(&of) + offset;
  };
  // (Returning a vector would change the ABI where vectors are not part of it.)
  quad found{};
  const auto doubt = [&](unsigned offset) {
    const quad v = *reinterpret_cast<const quad*>(at(p, offset));
    found |= ((v + *reinterpret_cast<const quad*>(at(imprints<T>::sums, offset))) | v) &
             *reinterpret_cast<const quad*>(at(imprints<T>::zeros, offset));
  };
  // The rest after whole chunks: a word, or a chunk that overlaps the one before it.
  constexpr unsigned rest = sizeof(T) % 16;
  if constexpr (rest > 4) doubt(sizeof(T) - 16);
#pragma GCC unroll 64
  for (unsigned i = 0; i < sizeof(T) - rest; i += 16) doubt(i);
  if constexpr (rest == 4) {
    const lane v = *reinterpret_cast<const lane*>(at(p, sizeof(T) - 4));
    if (((v + *reinterpret_cast<const lane*>(at(imprints<T>::sums, sizeof(T) - 4))) | v) &
        *reinterpret_cast<const lane*>(at(imprints<T>::zeros, sizeof(T) - 4))) {
      return true;
    }
  }
#ifdef __SSE2__
  // Saturated to 16 bits each, nonzero words stay nonzero, and one register holds all of them.
  typedef int words __attribute__((vector_size(16)));
  typedef long long halves __attribute__((vector_size(16)));
  const words w = reinterpret_cast<words>(found);
  return reinterpret_cast<halves>(__builtin_ia32_packssdw128(w, w))[0] != 0;
#else
  typedef long long halves __attribute__((vector_size(16)));
  const halves h = reinterpret_cast<halves>(found);
  return (h[0] | h[1]) != 0;
#endif
}

// The words of a packet without variants, parts and tail.
template <unsigned N>
struct packer : visitor<packer<N>> {
  uint32_t w[N] = {};
  uint32_t flags = 0;  // gathered, the lowest one in bit 0
  unsigned first_flag = 0, gathered = 0;

  // The words of a small packet are stored in order, which suits write-combining memory; compilers
  // would put the one that takes longest last. (The words of long packets are gathered instead.)
  PACKSMITH_INLINE static constexpr bool in_order(uint32_t word) {
    return N <= 4 && !__builtin_is_constant_evaluated() && !__builtin_constant_p(word);
  }
  // count: 2 for a store of 64 bits, which also keeps compilers from gathering halves into vectors.
  PACKSMITH_INLINE constexpr void copy(uint32_t* to, unsigned i, unsigned count) const {
    if (count == 2 && !__builtin_is_constant_evaluated() &&
        __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
      pair* const place = reinterpret_cast<pair*>(to + i);
      *place = w[i] | static_cast<uint64_t>(w[i + 1]) << 32;
      if (in_order(w[i])) asm("" : "+m"(*place));
    } else {
      for (unsigned k = i; k < i + count; ++k) {
        to[k] = w[k];
        if (in_order(w[k])) asm("" : "+m"(to[k]));
      }
    }
  }
  // raw is not wider than the field, or checks are off.
  PACKSMITH_INLINE constexpr void put(uint64_t raw, unsigned bit, unsigned width) {
    const unsigned i = bit / 32, lsb = bit % 32;
    w[i] |= static_cast<uint32_t>(raw << lsb);
    if (lsb + width > 32) w[i + 1] |= static_cast<uint32_t>(raw >> (32 - lsb));
    if (lsb + width > 64) w[i + 2] |= static_cast<uint32_t>(raw >> (64 - lsb));
  }
  // Low bits that are implied are zero, and so need not be shifted out and in again.
  PACKSMITH_INLINE constexpr void put(uint64_t v, unsigned bit, unsigned width, unsigned shift) {
    if (bit % 32 == shift)
      put(v, bit - shift, width + shift);
    else
      put(v >> shift, bit, width);
  }
  // Kinds without a way of their own below.
  template <class Kind, class T>
  PACKSMITH_INLINE constexpr void member(const Kind& kind, const T& v, unsigned bit, unsigned width,
                                         const char*) {
    put(kind.encode(v, width), bit, width);
  }
  // Neighbours are gathered, up to four: to add one to them takes one instruction, to put it where
  // it belongs takes two.
  PACKSMITH_INLINE constexpr void member(const kinds::flag&, bool v, unsigned bit, unsigned,
                                         const char*) {
    if (gathered != 0 && gathered < 4 && bit == first_flag + gathered && bit % 32 != 0) {
      flags += static_cast<uint32_t>(v) << gathered++;
      return;
    }
    close();
    flags = v;
    first_flag = bit;
    gathered = 1;
  }
  // After the last field: no flag is left that is not in its word.
  PACKSMITH_INLINE constexpr void close() {
    if (gathered != 0) w[first_flag / 32] |= flags << first_flag % 32;
    gathered = 0;
  }
  PACKSMITH_INLINE constexpr void member(const kinds::address& kind, const packsmith::address& v,
                                         unsigned bit, unsigned width, const char*) {
    // A canonical address has bits above the field.
    put((bit + width) % 32 == 0 ? v.gpu : v.gpu & mask(kind.shift + width), bit, width, kind.shift);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void member(const kinds::offset& kind, const T& v, unsigned bit,
                                         unsigned width, const char*) {
    put(static_cast<uint64_t>(v), bit, width, kind.shift);
  }
  PACKSMITH_INLINE constexpr void fixed(unsigned bit, unsigned width, uint64_t raw, const char*,
                                        reason) {
    put(raw, bit, width);
  }
};

template <unsigned... I>
struct indices {};
#if defined(__clang__)
template <class T, T... I>
using as_indices = indices<I...>;
template <unsigned N>
using first_indices = __make_integer_seq<as_indices, unsigned, N>;
#else
template <unsigned N>
using first_indices = indices<__integer_pack(N)...>;
#endif

// The words of a packet that are stored together, by one store of 64 bits: the halves of a value,
// and words without members with a neighbour that has few. A processor stores one or two values a
// cycle, however wide they are; but joining two words takes two instructions, which is more than it
// saves if many members must be computed anyway, or if adjacent members are copied unchanged.
template <unsigned N>
struct joiner : visitor<joiner<N>> {
  unsigned members[N + 1] = {};
  bool halves[N + 1] = {};      // a value of 64 bits begins here
  unsigned char count[N] = {};  // how many words are stored from here on; none, with one before

  template <class Kind, class T>
  constexpr void member(const Kind&, const T&, unsigned bit, unsigned width, const char*) {
    count_in(bit, width);
  }
  constexpr void member(const kinds::address& kind, const packsmith::address&, unsigned bit,
                        unsigned width, const char*) {
    count_in(bit, width, kind.shift);
  }
  template <class T>
  constexpr void member(const kinds::offset& kind, const T&, unsigned bit, unsigned width,
                        const char*) {
    count_in(bit, width, kind.shift);
  }
  constexpr void count_in(unsigned bit, unsigned width) {
    for (unsigned i = bit / 32; i <= (bit + width - 1) / 32; ++i) ++members[i];
  }
  constexpr void count_in(unsigned bit, unsigned width, unsigned shift) {
    count_in(bit, width);
    if (bit % 32 == shift && width + shift == 64) halves[bit / 32] = true;
  }

  constexpr void join() {
    for (unsigned i = 0; i < N; i += count[i]) {
      const bool simple =
          (members[i] == 0 || members[i + 1] == 0) && members[i] + members[i + 1] <= 4;
      count[i] = halves[i] || (i + 1 < N && simple && !halves[i + 1]) ? 2 : 1;
    }
  }
};
template <class T>
constexpr joiner<T::length> joined() {
  joiner<T::length> j;
  T packet;
  T::ps_layout(packet, j);
  j.join();
  return j;
}

// One statement a word: compilers join them where they cannot join a loop's.
template <class T, unsigned... I>
PACKSMITH_INLINE constexpr void copy(uint32_t* to, const packer<T::length>& from, indices<I...>) {
  constexpr joiner<T::length> j = joined<T>();
  (from.copy(to, I, j.count[I]), ...);
}

// Packets with fewer members are tested faster one by one.
#ifdef __OPTIMIZE__
template <class T>
concept large = sizeof(T) >= 40 && !has_variants<T>;
#else
template <class T>
concept large = false;
#endif

// Whether the compiler knows none of a packet's values, so that it is probably in memory.
template <class T>
PACKSMITH_INLINE constexpr bool in_memory(const T& p) {
  if (__builtin_is_constant_evaluated()) return false;
  tester<scope::rest> t;
  T::ps_layout(p, t);
  return !t.known;
}
// May be true though all fits; misfit() decides.
template <class T>
PACKSMITH_INLINE inline bool doubtful_in_memory(const T& p) {
  tester<scope::rest> t;
  T::ps_layout(p, t);
  return t.anything() || outside(p);
}
// For callers that test before they pack. May be true though all fits.
template <class T>
PACKSMITH_INLINE constexpr bool doubtful(const T& p) {
  if constexpr (large<T>) {
    if (in_memory(p)) return doubtful_in_memory(p);
  }
  return misfit(p);
}

// first: bits of the first dword that are neither a member nor forced, the packet's length.
template <class T>
PACKSMITH_INLINE constexpr void write(const T& p, uint32_t* dw, uint32_t first) {
  packer<T::length> k;
  k.w[0] = first;
  T::ps_layout(p, k);
  k.close();
  copy<T>(dw, k, first_indices<T::length>());
}
// For packets that `outside` doubts. Those with an address of the upper half, whose high bits are
// ones, are mostly valid.
template <class T>
[[gnu::noinline]] error pack_doubtful(const T& p, uint32_t* dw, uint32_t first) {
  if (rarely(misfit(p))) return failure(p);
  write(p, dw, first);
  return {};
}

// pack, of a packet without variants, parts, tail and loops. Inlined, so that values known at
// compile time become words. If none is known, the packet is probably in memory, and is tested
// there.
template <checks Checks, class T>
PACKSMITH_INLINE constexpr error pack(const T& p, uint32_t* dw, uint32_t first) {
  if constexpr (Checks == checks::on) {
    if constexpr (large<T>) {
      if (in_memory(p)) {
        // Keeps what was read for the test from being held in registers until it is packed.
        const T* q = &p;
        asm("" : "+r"(q));
        if (rarely(doubtful_in_memory(*q))) return pack_doubtful(*q, dw, first);
        write(*q, dw, first);
        return {};
      }
    }
    if constexpr (sizeof(T) >= 32) {
      // Each of misfit's comparisons returns by itself. As one expected boolean they would be
      // joined, which executes more where they are many, and less where they are few.
      if (!misfit(p)) [[likely]] {
        write(p, dw, first);
        return {};
      }
      return failure(p);
    }
    if (rarely(misfit(p))) return failure(p);
  }
  write(p, dw, first);
  return {};
}

}  // namespace packsmith::bits

#endif  // PACKSMITH_RUNTIME_PACK_FAST_H_
