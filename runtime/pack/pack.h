// packsmith/pack.h: the base of generated packet headers. C++20, C11 and OpenCL C; header-only,
// nothing to link.
//
// The C++ part, with a generated header:
//
//   #include "packsmith/gfx9.h"
//   using namespace packsmith::gfx9;
//
//   uint32_t dw[MI_STORE_DATA_IMM::max_length];
//   MI_STORE_DATA_IMM store{.address = 0x10000, .immediate_data = 42};
//   if (packsmith::error e = store.pack(dw)) {      // nothing was written
//     std::fprintf(stderr, "%s: %s\n", e.field, packsmith::text(e.why));  // packsmith/names.h
//   }
//   constexpr auto words = packed(PIPE_CONTROL{.command_streamer_stall_enable = true});
//   batch.append(words.dw, words.length);           // a value that did not fit would not compile
//
// Every packet type P, a plain aggregate, has
//   P::length                   dwords (records of bytes: P::size, bytes)
//   p.pack(dw)                  writes exactly that many; or, if a value does not fit its field,
//                               returns an error and writes nothing. With
//                               p.pack<packsmith::checks::off>(dw) values are not checked: bits
//                               that do not fit spill into the neighbours, as with a hand-written
//                               shift. PACKSMITH_UNCHECKED, defined before this header is included,
//                               makes that the default of one source file.
//   p.check()                   the first member that does not fit, without packing
//   P::unpack(dw)               the values; pack(unpack(dw)) gives every described bit back
//   P::verify(dw)               the first forced or reserved field that has another value
//   P::matches(first_dword)     packets: is this the opcode?
//   p.for_each_address(f)       f(address, dword, bit, width, access) for each address member
// and where its size varies also dwords_needed() and items(); see the generated header.
//
// Members that share bits (two views of one dword) are ORed: leave all but one at zero.
//
// The C part, PACKSMITH_C_..., serves the generated C headers; their interface is described there.
#if defined(__cplusplus) && __cplusplus > 201703L && !defined(PACKSMITH_RUNTIME_PACK_PACK_H_)
#define PACKSMITH_RUNTIME_PACK_PACK_H_
#include <cstdint>

// Inlined where the compiler optimises, so that values known at compile time cost nothing.
// Elsewhere calls are faster to compile.
#ifdef __OPTIMIZE__
#define PACKSMITH_INLINE [[gnu::always_inline]]
#else
#define PACKSMITH_INLINE
#endif

namespace packsmith {

// Whether pack checks the values. A template argument, so that files with different defaults can
// be linked into one program.
enum class checks : bool { off, on };
#ifdef PACKSMITH_UNCHECKED
constexpr checks default_checks = checks::off;
#else
constexpr checks default_checks = checks::on;
#endif

enum class reason : uint32_t {
  none,              // it fits
  too_wide,          // an integer or address needs more bits than its field has
  out_of_range,      // beyond the smallest or largest value that is allowed or can be represented
  not_aligned,       // low bits that the field does not store are set
  not_multiple,      // not a multiple of what the description requires
  zero,              // the value must not be zero
  not_power_of_two,  // the field stores a logarithm
  not_a_number,      // NaN in a fixed point field
  forced,            // verify: not the value that identifies the packet
  reserved,          // verify: a reserved bit does not have the value that the manual requires
  absent,            // bits of the value lie in words that this form of the packet does not have
  count_differs,     // a count member and the number of items passed are not the same
  too_long,          // more items than the packet's length field can hold
  too_short,         // the destination is too small
};

// An error, or none. Converts to true if there is one.
struct [[nodiscard]] error {
  const char* field = nullptr;  // the member as written in C++; for verify the manual's name
  reason why = reason::none;
  uint32_t item = 0;  // number of the tail's item, or the index for [] in `field`

  constexpr explicit operator bool() const { return why != reason::none; }
};

enum class access : uint8_t { from_xml, none, read, write, read_write };

// A GPU virtual address. pack stores `gpu` alone; `buffer` is the caller's handle of what it points
// to, and `use` overrides the access that the description states. Both reach for_each_address. gpu:
// 48 bits, or as many as the description states (address-bits), or the same sign-extended to 64.
struct address {
  uint64_t gpu = 0;
  uint32_t buffer = 0;
  access use = access::from_xml;

  constexpr address() = default;
  constexpr address(uint64_t gpu_address, uint32_t buffer_handle = 0,  // NOLINT: implicit
                    access how = access::from_xml)
      : gpu(gpu_address), buffer(buffer_handle), use(how) {}
  constexpr bool operator==(const address&) const = default;
};

// A pointer and a number of elements: from arrays and all types with data() and size().
template <class T>
struct span {
  T* ptr = nullptr;
  unsigned count = 0;

  constexpr span() = default;
  constexpr span(T* first, unsigned n) : ptr(first), count(n) {}
  template <unsigned N>
  constexpr span(T (&array)[N]) : ptr(array), count(N) {}  // NOLINT: implicit
  template <class C>
  requires requires(const C& c) { static_cast<T*>(c.data()), static_cast<unsigned>(c.size()); }
  constexpr span(const C& c)  // NOLINT: implicit
      : ptr(c.data()), count(static_cast<unsigned>(c.size())) {}
  template <class C>
  requires requires(C& c) { static_cast<T*>(c.data()), static_cast<unsigned>(c.size()); }
  constexpr span(C& c)  // NOLINT: implicit
      : ptr(c.data()), count(static_cast<unsigned>(c.size())) {}

  constexpr T* data() const { return ptr; }
  constexpr unsigned size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr T* begin() const { return ptr; }
  constexpr T* end() const { return ptr + count; }
  constexpr T& operator[](unsigned i) const { return ptr[i]; }
};

// Generated code's vocabulary. Stable only together with the generator.
namespace bits {

template <class T>
concept byte_record = requires {
  T::size;
};
template <class T>
concept has_parts = requires(const T& p) {
  p.for_each_part([](const auto&, const char*, unsigned) {});
};
template <class T>
concept has_variants = requires {
  T::max_length;
}
|| requires { T::max_size; };

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
// Bits of an address, 16 to 64, if the visitors' calls do not state them.
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

// The access to the memory that an address points to, as the description states it.
constexpr access no_access = access::none, reads = access::read, writes = access::write,
                 reads_writes = access::read_write;

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

template <class A, class B>
PACKSMITH_INLINE constexpr bool below(const A& a, const B& b) {
  if constexpr (static_cast<A>(-1) < A{} && !(static_cast<B>(-1) < B{}))
    return a < 0 || static_cast<B>(a) < b;
  else if constexpr (!(static_cast<A>(-1) < A{}) && static_cast<B>(-1) < B{})
    return b >= 0 && a < static_cast<A>(b);
  else
    return a < b;
}

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
struct tester : visitor {
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
  PACKSMITH_INLINE constexpr void flag(bool v, unsigned bit, unsigned width, const char*) {
    if constexpr (Scope == scope::rest) known |= __builtin_constant_p(v);
    absent(v, bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void uint(const T& v, unsigned bit, unsigned width, const char*) {
    if constexpr (Scope == scope::rest)
      known |= __builtin_constant_p(v);
    else if constexpr (sizeof(T) == 8)
      bad |= static_cast<uint64_t>(v) & ~mask(width);
    else if (width < 32)
      narrow[width] |= static_cast<uint32_t>(v);
    absent(static_cast<uint64_t>(v), bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void bounded(const T& v, unsigned bit, unsigned width,
                                          const char* name, uint64_t low, uint64_t high) {
    const bounds b{low, high, width};
    if constexpr (Scope == scope::rest) {
      if (sizeof(T) == 4 && b.one_sum()) return uint(v, bit, width, name);
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
  PACKSMITH_INLINE constexpr void positive(const T& v, unsigned bit, unsigned width,
                                           const char* name) {
    bounded(v, bit, width, name, 1, mask(width));
  }
  PACKSMITH_INLINE constexpr void sint(int32_t v, unsigned bit, unsigned width, const char*) {
    const uint32_t from_lowest = static_cast<uint32_t>(v) + (uint32_t{1} << (width - 1));
    if constexpr (Scope == scope::rest)
      bad |= from_lowest & ~static_cast<uint32_t>(mask(width));
    else if (width < 32)
      narrow[width] |= from_lowest;
    absent(twos(v, width), bit, width);
  }
  PACKSMITH_INLINE constexpr void sint(int64_t v, unsigned bit, unsigned width, const char*) {
    bad |= (static_cast<uint64_t>(v) + (uint64_t{1} << (width - 1))) & ~mask(width);
    absent(twos(v, width), bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void real(const T& v, unsigned bit, unsigned width, const char*) {
    absent(bits::real(v), bit, width);
  }
  PACKSMITH_INLINE constexpr void half(float v, unsigned bit, unsigned width, const char*) {
    bad |= wrong_half(v) != reason::none;
    absent(bits::half(v), bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void ufixed(const T& v, unsigned bit, unsigned width, const char*,
                                         unsigned fraction) {
    // The bounds are constants; the comparisons are false for NaN.
    const double unit = static_cast<double>(uint64_t{1} << fraction);
    bad |= !(v > -0.5 / unit && v < (highest(width) + 0.5) / unit);
    if constexpr (Scope == scope::limited) {
      absent(v > 0 ? bits::ufixed(v, fraction) : 0, bit, width);
    }
  }
  template <class T>
  PACKSMITH_INLINE constexpr void clamped(const T& v, unsigned bit, unsigned width, const char*,
                                          unsigned fraction, double most) {
    if constexpr (Scope == scope::limited) {
      absent(bits::ufixed(bits::clamped(v, most), fraction), bit, width);
    }
  }
  template <class T>
  PACKSMITH_INLINE constexpr void sfixed(const T& v, unsigned bit, unsigned width, const char*,
                                         unsigned fraction) {
    const double unit = static_cast<double>(uint64_t{1} << fraction);
    bad |= !(v > (lowest(width) - 0.5) / unit && v < (highest(width - 1) + 0.5) / unit);
    if constexpr (Scope == scope::limited) absent(v != 0, bit, width);
  }
  PACKSMITH_INLINE constexpr void address(const packsmith::address& v, unsigned bit, unsigned width,
                                          const char*, unsigned shift, packsmith::access,
                                          unsigned space = usual_space) {
    if constexpr (Scope == scope::rest) {
      known |= __builtin_constant_p(v.gpu);
    } else {
      bad |= v.gpu & mask(shift);
      if (address_too_wide(v.gpu, shift + width, space)) [[unlikely]]
        beyond = true;
    }
    absent(v.gpu >> shift, bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void offset(const T& v, unsigned bit, unsigned width, const char*,
                                         unsigned shift) {
    if constexpr (Scope == scope::rest)
      known |= __builtin_constant_p(v);
    else
      bad |= static_cast<uint64_t>(v) & ~(mask(width) << shift);
    absent(static_cast<uint64_t>(v) >> shift, bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void coded(const T& v, unsigned bit, unsigned width, const char*,
                                        const code& c) {
    // Values below `minus` wrap around, and so have bits above the field, too.
    const bool simple = !c.log2 && c.groups == 0 && c.align == 0 && c.minus < 0x80000000 &&
                        width + c.shift < sizeof(T) * 8;
    if (!simple)
      bad |= wrong_code(static_cast<uint64_t>(v), width, c) != reason::none;
    else if constexpr (sizeof(T) == 4)
      stray |= (static_cast<uint32_t>(v) - static_cast<uint32_t>(c.minus)) &
               ~static_cast<uint32_t>(mask(width) << c.shift);
    else
      bad |= (static_cast<uint64_t>(v) - c.minus) & ~(mask(width) << c.shift);
    absent(encode(static_cast<uint64_t>(v), width, c), bit, width);
  }
  template <class T, class L, class H>
  PACKSMITH_INLINE constexpr void range(const T& v, const char*, L low, H high) {
    bad |= below(v, low) || below(high, v);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void nonzero(const T& v, const char*) {
    bad |= plain(v) == 0;
  }
  template <class T>
  PACKSMITH_INLINE constexpr void multiple(const T& v, const char*, uint64_t of) {
    bad |= plain(v) % of != 0;
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
struct imprint : visitor {
  constexpr void flag(bool& v, auto&&...) { v = false; }
  template <class T>
  constexpr void uint(T& v, unsigned, unsigned width, const char*) {
    v = static_cast<T>(Sum ? 0 : ~mask(width));
  }
  // The largest value may be doubted if it is rarely used, not if the field has few values.
  static constexpr uint64_t kRareEdge = 32;
  template <class T>
  constexpr void bounded(T& v, unsigned, unsigned width, const char*, uint64_t low, uint64_t high) {
    const bounds b{low, high, width};
    if (sizeof(T) == 8 || !b.one_sum())
      v = T{};
    else if (low == 0 && (high & (high - 1)) == 0 && high >= kRareEdge)
      v = static_cast<T>(Sum ? 0 : ~(high - 1));  // calls `high` itself doubtful: no sum needed
    else
      v = static_cast<T>(Sum ? b.sum() : ~mask(b.bits()));
  }
  template <class T>
  constexpr void positive(T& v, unsigned bit, unsigned width, const char* name) {
    bounded(v, bit, width, name, 1, mask(width));
  }
  template <class T>
  constexpr void none(T& v) {
    v = T{};
  }
  constexpr void sint(auto& v, auto&&...) { none(v); }
  constexpr void real(auto& v, auto&&...) { none(v); }
  constexpr void half(auto& v, auto&&...) { none(v); }
  constexpr void ufixed(auto& v, auto&&...) { none(v); }
  constexpr void sfixed(auto& v, auto&&...) { none(v); }
  constexpr void clamped(auto& v, auto&&...) { none(v); }
  constexpr void coded(auto& v, auto&&...) { none(v); }
  constexpr void address(packsmith::address& v, unsigned, unsigned width, const char*,
                         unsigned shift, packsmith::access, unsigned space = usual_space) {
    const unsigned top = shift + width < space ? shift + width : space;
    v = packsmith::address(Sum ? 0 : mask(shift) | ~mask(top));
  }
  template <class T>
  constexpr void offset(T& v, unsigned, unsigned width, const char*, unsigned shift) {
    v = static_cast<T>(Sum ? 0 : ~(mask(width) << shift));
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

// -- The bodies of the generated members ---------------------------------------------------------

// Dwords that this packet takes without its tail.
template <class T>
PACKSMITH_INLINE constexpr unsigned words_of(const T& p) {
  if constexpr (has_variants<T> && !byte_record<T>)
    return p.dwords_needed();
  else if constexpr (has_variants<T>)
    return (p.bytes_needed() + 3) / 4;
  else if constexpr (byte_record<T>)
    return (T::size + 3) / 4;
  else
    return T::length;
}

template <class T>
[[gnu::noinline, gnu::cold]] constexpr error check(const T& p) {
  finder f;
  if constexpr (has_variants<T>) f.present = words_of(p) * 32;
  T::ps_layout(p, f);
  return f.found;
}

// A condition that is rarely true. (In a long run of inlined code gcc 12 applies [[unlikely]] to
// the code after it, too, and moves that out of the way.)
PACKSMITH_INLINE constexpr bool rarely(bool condition) {
  return __builtin_expect_with_probability(static_cast<long>(condition), 0, 1.0) != 0;
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
struct packer : visitor {
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
  // Neighbours are gathered, up to four: to add one to them takes one instruction, to put it where
  // it belongs takes two.
  PACKSMITH_INLINE constexpr void flag(bool v, unsigned bit, unsigned, const char*) {
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
  template <class T>
  PACKSMITH_INLINE constexpr void uint(const T& v, unsigned bit, unsigned width, const char*) {
    put(static_cast<uint64_t>(v), bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void positive(const T& v, unsigned bit, unsigned width, const char*) {
    put(static_cast<uint64_t>(v), bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void bounded(const T& v, unsigned bit, unsigned width, const char*,
                                          uint64_t, uint64_t) {
    put(static_cast<uint64_t>(v), bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void sint(const T& v, unsigned bit, unsigned width, const char*) {
    put(twos(v, width), bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void real(const T& v, unsigned bit, unsigned width, const char*) {
    put(bits::real(v), bit, width);
  }
  PACKSMITH_INLINE constexpr void half(float v, unsigned bit, unsigned width, const char*) {
    put(bits::half(v), bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void ufixed(const T& v, unsigned bit, unsigned width, const char*,
                                         unsigned fraction) {
    put(bits::ufixed(v, fraction), bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void clamped(const T& v, unsigned bit, unsigned width, const char*,
                                          unsigned fraction, double most) {
    put(bits::ufixed(bits::clamped(v, most), fraction), bit, width);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void sfixed(const T& v, unsigned bit, unsigned width, const char*,
                                         unsigned fraction) {
    put(bits::sfixed(v, fraction, width), bit, width);
  }
  PACKSMITH_INLINE constexpr void address(const packsmith::address& v, unsigned bit, unsigned width,
                                          const char*, unsigned shift, packsmith::access,
                                          unsigned = usual_space) {
    // A canonical address has bits above the field.
    put((bit + width) % 32 == 0 ? v.gpu : v.gpu & mask(shift + width), bit, width, shift);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void offset(const T& v, unsigned bit, unsigned width, const char*,
                                         unsigned shift) {
    put(static_cast<uint64_t>(v), bit, width, shift);
  }
  template <class T>
  PACKSMITH_INLINE constexpr void coded(const T& v, unsigned bit, unsigned width, const char*,
                                        const code& c) {
    put(encode(static_cast<uint64_t>(v), width, c), bit, width);
  }
  PACKSMITH_INLINE constexpr void forced(unsigned bit, unsigned width, uint64_t value,
                                         const char*) {
    put(value, bit, width);
  }
  PACKSMITH_INLINE constexpr void reserved(unsigned bit, unsigned width, uint64_t value,
                                           const char*) {
    put(value, bit, width);
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
struct joiner : visitor {
  unsigned members[N + 1] = {};
  bool halves[N + 1] = {};      // a value of 64 bits begins here
  unsigned char count[N] = {};  // how many words are stored from here on; none, with one before

  constexpr void member(unsigned bit, unsigned width) {
    for (unsigned i = bit / 32; i <= (bit + width - 1) / 32; ++i) ++members[i];
  }
  constexpr void member(unsigned bit, unsigned width, unsigned shift) {
    member(bit, width);
    if (bit % 32 == shift && width + shift == 64) halves[bit / 32] = true;
  }
  constexpr void flag(auto&, unsigned bit, unsigned width, auto&&...) { member(bit, width); }
  constexpr void uint(auto&, unsigned bit, unsigned width, auto&&...) { member(bit, width); }
  constexpr void positive(auto&, unsigned bit, unsigned width, auto&&...) { member(bit, width); }
  constexpr void bounded(auto&, unsigned bit, unsigned width, auto&&...) { member(bit, width); }
  constexpr void sint(auto&, unsigned bit, unsigned width, auto&&...) { member(bit, width); }
  constexpr void real(auto&, unsigned bit, unsigned width, auto&&...) { member(bit, width); }
  constexpr void half(auto&, unsigned bit, unsigned width, auto&&...) { member(bit, width); }
  constexpr void ufixed(auto&, unsigned bit, unsigned width, auto&&...) { member(bit, width); }
  constexpr void sfixed(auto&, unsigned bit, unsigned width, auto&&...) { member(bit, width); }
  constexpr void clamped(auto&, unsigned bit, unsigned width, auto&&...) { member(bit, width); }
  constexpr void coded(auto&, unsigned bit, unsigned width, auto&&...) { member(bit, width); }
  constexpr void address(auto&, unsigned bit, unsigned width, const char*, unsigned shift,
                         auto&&...) {
    member(bit, width, shift);
  }
  constexpr void offset(auto&, unsigned bit, unsigned width, const char*, unsigned shift) {
    member(bit, width, shift);
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

// Deliberately not constexpr: the compiler names it where a packet in a constant expression holds a
// value that does not fit.
inline void value_does_not_fit_its_field(const char*) {}

}  // namespace bits

namespace bits {
template <class T, bool = byte_record<T>>
struct unit {
  using word = uint32_t;
  static constexpr unsigned size = T::length;
};
template <class T>
struct unit<T, true> {
  using word = uint8_t;
  static constexpr unsigned size = T::size;
};
}  // namespace bits

// The items that follow a packet, unpacked when they are read.
template <class T>
struct view {
  using word = typename bits::unit<T>::word;
  static constexpr unsigned stride = bits::unit<T>::size;  // words

  const word* first = nullptr;
  unsigned count = 0;

  constexpr unsigned size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  // Past the end: an item of zeros.
  constexpr T operator[](unsigned i) const {
    if (i < count) return bits::unpack<T>(first + static_cast<unsigned long>(i) * stride);
    constexpr word zeros[stride] = {};
    return bits::unpack<T>(zeros);
  }

  struct iterator {
    const view* from;
    unsigned i;
    constexpr T operator*() const { return (*from)[i]; }
    constexpr iterator& operator++() { return ++i, *this; }
    constexpr bool operator!=(const iterator& other) const { return i != other.i; }
  };
  constexpr iterator begin() const { return {this, 0}; }
  constexpr iterator end() const { return {this, count}; }
};

namespace bits {

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

}  // namespace bits

// A packet's words. In a constant expression a value that does not fit is a compile error;
// otherwise status has the error, and the words are zero.
template <unsigned N>
struct [[nodiscard]] packed_words {
  uint32_t dw[N] = {};
  unsigned length = 0;  // dwords that the packet takes, at most N
  error status;

  constexpr uint32_t operator[](unsigned i) const { return dw[i]; }
};
template <unsigned N>
struct [[nodiscard]] packed_bytes {
  uint8_t bytes[N] = {};
  unsigned size = 0;
  error status;
};

namespace bits {
template <class T>
constexpr unsigned most_of() {
  if constexpr (requires { T::max_size; })
    return T::max_size;
  else if constexpr (requires { T::max_length; })
    return T::max_length;
  else if constexpr (byte_record<T>)
    return T::size;
  else
    return T::length;
}
template <class Out>
constexpr Out must_fit(const Out& out) {
  if (__builtin_is_constant_evaluated() && out.status) {
    value_does_not_fit_its_field(out.status.field);
  }
  return out;
}
}  // namespace bits

template <class T>
constexpr auto packed(const T& p) {
  static_assert(!bits::has_parts<T>, "the length of its parts is not known: use pack()");
  if constexpr (bits::byte_record<T>) {
    packed_bytes<bits::most_of<T>()> out;
    if constexpr (requires { p.bytes_needed(); })
      out.size = p.bytes_needed();
    else
      out.size = T::size;
    out.status = p.template pack<checks::on>(out.bytes);
    return bits::must_fit(out);
  } else {
    packed_words<bits::most_of<T>()> out;
    out.length = bits::words_of(p);
    out.status = p.template pack<checks::on>(out.dw);
    return bits::must_fit(out);
  }
}
// With a tail: packed(MI_LOAD_REGISTER_IMM{}, {{.register_offset = 0x7000, .data_dword = 1}}).
template <class T, unsigned N>
constexpr auto packed(const T& p, const typename T::ps_item (&items)[N]) {
  if constexpr (bits::byte_record<T>) {
    packed_bytes<T::bytes_needed(N)> out;
    out.size = T::bytes_needed(N);
    out.status = p.template pack<checks::on>(out.bytes, items);
    return bits::must_fit(out);
  } else {
    packed_words<T::dwords_needed(N)> out;
    out.length = T::dwords_needed(N);
    out.status = p.template pack<checks::on>(out.dw, items);
    return bits::must_fit(out);
  }
}

}  // namespace packsmith
#endif  // __cplusplus

#if (!defined(__cplusplus) || defined(PACKSMITH_WANT_C)) && !defined(PACKSMITH_RUNTIME_PACK_PACK_C_)
#define PACKSMITH_RUNTIME_PACK_PACK_C_
// The C part. Its users are generated headers; their interface is described at their tops.

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define PS_OPENCL
#endif

#ifdef PS_OPENCL
// No header exists. A program that has these types already defines PACKSMITH_NO_TYPES.
#ifndef PACKSMITH_NO_TYPES
typedef uchar uint8_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
#endif
// The destination of packed words. Not every OpenCL has generic pointers.
#ifndef PS_GLOBAL
#define PS_GLOBAL __global
#endif
#else
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif
#define PS_GLOBAL
#endif

// The driver's hooks. Without them addresses are plain integers. A driver that defines the type of
// its addresses also defines how one is combined with the other bits of its dword.
#if !defined(__gen_address_type) || defined(PS_OPENCL)
// Drivers with addresses of their own may make a packet of two that they OR: one lacks the opcode.
#ifndef PACKSMITH_EXPECT_HEADERS
#define PACKSMITH_EXPECT_HEADERS
#endif
#undef __gen_address_type
#define __gen_address_type uint64_t
#ifndef __gen_combine_address
#define __gen_combine_address(data, location, address, delta) ((uint64_t)(address) + (delta))
#endif
#endif
#ifndef __gen_user_data
#define __gen_user_data void
#endif

#if !defined(PS_OPENCL) && (!defined(NDEBUG) || defined(__gen_validate_value))
#define PS_CHECKS
#endif
#if defined(PS_CHECKS) && !defined(NDEBUG)
#define PS_NAMES
#endif

#define PS_UNUSED __attribute__((unused))
#define PS_INLINE static inline __attribute__((always_inline, unused))

// The destination of dwords.
typedef PS_GLOBAL uint32_t* ps_dwords;

// The heads of the generated functions. Unused parameters cause no warnings: an attribute each
// would cost more to compile, as would `restrict` on v, which changes nothing: nothing else is
// written to.
#define PS_HEAD static inline __attribute__((always_inline))
#ifdef PS_OPENCL
#define PS_PACK(T) PS_HEAD void T##_pack(PS_GLOBAL void* restrict dst, const struct T* v)
#define PS_PACK_BYTES(T) PS_PACK(T)
#define ps_combine(location, address, delta) ((uint64_t)(address) + (delta))
#define PS_REPACK(T, length)                                                       \
  PS_INLINE void T##_repack(PS_GLOBAL void* dst, const PS_GLOBAL uint32_t* origin, \
                            const struct T* values) {                              \
    T##_pack(dst, values);                                                         \
    for (unsigned ps_i = 0; ps_i < (length); ++ps_i) {                             \
      ((PS_GLOBAL uint32_t*)dst)[ps_i] |= origin[ps_i];                            \
    }                                                                              \
  }
#else
#define PS_PACK(T) \
  PS_HEAD void T##_pack(__gen_user_data* data, void* __restrict dst, const struct T* v)
#define PS_PACK_BYTES(T) PS_HEAD void T##_pack(void* __restrict dst, const struct T* v)
#define ps_combine(location, address, delta) __gen_combine_address(data, location, address, delta)
#define PS_REPACK(T, length)                                                                 \
  PS_INLINE void T##_repack(__gen_user_data* data, void* dst, const uint32_t* origin,        \
                            const struct T* values) {                                        \
    T##_pack(data, dst, values);                                                             \
    for (unsigned ps_i = 0; ps_i < (length); ++ps_i) ((uint32_t*)dst)[ps_i] |= origin[ps_i]; \
  }
#endif
// A record with the defaults of its members, for C++ compilers that want all of them initialised.
#define PS_DEFAULTS(T)                  \
  PS_HEAD struct T T##_defaults(void) { \
    const struct T v = {T##_header};    \
    return v;                           \
  }
#ifdef __cplusplus
#define PS_ZEROS(T) \
  PS_HEAD struct T T##_defaults(void) { return {}; }
#else
#define PS_ZEROS(T)                     \
  PS_HEAD struct T T##_defaults(void) { \
    const struct T v = {0};             \
    return v;                           \
  }
#endif

// Whether all forced fields and reserved bits have the described values. `file` is not written to.
#define PS_UNPACK_BYTES(T)                                                       \
  PS_INLINE bool T##_unpack(PS_UNUSED PS_GLOBAL void* file,                      \
                            PS_UNUSED const PS_GLOBAL uint8_t* __restrict bytes, \
                            PS_UNUSED struct T* __restrict v)

// Whether an address is null: all of its bytes are zero, of whatever type the driver makes it.
#ifdef PS_OPENCL
#define ps_is_null(address) ((address) == 0)
#else
#define ps_is_null(address) ps_is_zero(&(address), sizeof(address))
PS_INLINE bool ps_is_zero(const void* object, unsigned size) {
  const char* bytes = (const char*)object;
  uint64_t set = 0;
  for (; size >= 8; size -= 8, bytes += 8) {
    uint64_t part;
    __builtin_memcpy(&part, bytes, 8);
    set |= part;
  }
  for (; size > 0; --size) set |= (uint64_t)(*bytes++ != 0);
  return set == 0;
}
#endif

PS_INLINE uint64_t ps_mask(unsigned width) {
  return width >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << width) - 1;
}
PS_INLINE uint32_t ps_twos(int64_t v, unsigned width) {
  return (uint32_t)((uint64_t)v & ps_mask(width));
}
PS_INLINE uint64_t ps_twos_wide(int64_t v, unsigned width) { return (uint64_t)v & ps_mask(width); }

#ifdef PS_CHECKS
#ifndef __gen_validate_value
#define __gen_validate_value(x)
#endif
#ifdef NDEBUG
// Only the hook is called.
static inline PS_UNUSED void ps_expect(PS_UNUSED int fits, PS_UNUSED const char* field) {}
#else
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A value that does not fit ends the program, as an assertion does. `field` is the member as
// written.
static inline PS_UNUSED void ps_expect(int fits, const char* field) {
  if (!fits) {
    fprintf(stderr, "%s: value does not fit its field\n", field);
    abort();
  }
}
// names: "TYPE place member place member …;", which generated headers have as one text: as strings
// of their own names would double what a header costs to compile. A place is a member's first bit,
// shifted left by 8, and its width; at has also 0x80 for a member that must not be zero, or 0x40
// for one that is zero where T_header was forgotten.
static inline __attribute__((cold, unused)) void ps_misfit(const char* names, int at, double v) {
  const int type = (int)strcspn(names, " ;"), place = at & ~0xc0;
  const char* member = "a member";
  int length = (int)strlen(member);
  if (v == 0 && (at & 0x40) != 0) {
    fprintf(stderr, "%.*s: the opcode is zero: initialise the structure with %.*s_header\n", type,
            names, type, names);
    abort();
  }
  for (const char* rest = names + type; *rest == ' ';) {
    char* name;
    const int one = (int)strtoul(rest, &name, 16);
    const int end = (int)strcspn(++name, " ;");
    if (one == place) {
      member = name;
      length = end;
      break;
    }
    rest = name + end;
  }
  fprintf(stderr, "%.*s.%.*s: value does not fit its field, bits %d to %d: %.17g%s\n", type, names,
          length, member, at >> 8, (at >> 8) + (at & 63) - 1, v,
          v == 0 && (at & 0x80) != 0 ? ", but must not be zero" : "");
  abort();
}
#endif
static inline PS_UNUSED void ps_fits(uint64_t v, unsigned width, const char* field) {
  __gen_validate_value(v);
  ps_expect((v & ~ps_mask(width)) == 0, field);
}
// Whether v needs more than `width` bits in two's complement.
static inline PS_UNUSED int ps_is_outside(int64_t v, unsigned width) {
  return (((uint64_t)v + ((uint64_t)1 << (width - 1))) & ~ps_mask(width)) != 0;
}
static inline PS_UNUSED double ps_half_range(unsigned width) {
  return (double)((uint64_t)1 << (width - 1));
}
static inline PS_UNUSED void ps_fits_signed(int64_t v, unsigned width, const char* field) {
  __gen_validate_value(v);
  ps_expect(!ps_is_outside(v, width), field);
}
static inline PS_UNUSED int ps_is_in(double v, unsigned fraction, double low, double high) {
  const double scaled = v * (double)((uint64_t)1 << fraction);
  return scaled > low - 0.5 && scaled < high + 0.5;
}
static inline PS_UNUSED void ps_fits_fixed(double v, unsigned fraction, double low, double high,
                                           const char* field) {
  __gen_validate_value(v);
  ps_expect(ps_is_in(v, fraction, low, high), field);
}
static inline PS_UNUSED void ps_fits_offset(uint64_t v, unsigned shift, unsigned width,
                                            const char* field) {
  __gen_validate_value(v);
  ps_expect((v & ~(ps_mask(width) << shift)) == 0, field);
}
#endif

// What the functions below do with a value in addition to packing it.
#ifdef PS_CHECKS
#define PS_SEE(v) __gen_validate_value(v)
#define PS_TEST(G, misfits, place, v) \
  if (misfits) ps_##G##_misfit(where, place, v)
#ifdef PS_NAMES
#define PS_MISFIT(G)                                                                              \
  static inline __attribute__((cold, unused)) void ps_##G##_misfit(int where, int at, double v) { \
    ps_misfit(ps_##G##_names() + (where & 0xfffff), at, v);                                       \
  }
#else
#define PS_MISFIT(G) \
  PS_INLINE void ps_##G##_misfit(PS_UNUSED int where, PS_UNUSED int at, PS_UNUSED double v) {}
#endif
#ifdef PACKSMITH_EXPECT_HEADERS
#define PS_NOT_ZERO 0xc00
#else
#define PS_NOT_ZERO 0x800
#endif
#else
#define PS_SEE(v) (void)0
#define PS_TEST(G, misfits, place, v) (void)0
#define PS_MISFIT(G)
#endif

// The functions that pack and check whole values of one dword. A generated header makes its own,
// which know its names. `where`: the offset of the type's names among them, and from bit 20 on the
// dword.
//   ps_G_1 … ps_G_5   unsigned values, and in one number the place of each, three hexadecimal
//                     digits: its first bit, from bit 5 on its width, and 0x800 if it must not be
//                     zero, or 0x400 if it is zero only where T_header was forgotten
//   ps_G_sint …       a value with its first bit in the packet << 8 | its width; not yet shifted
//   ps_G_offset       the low dword of an offset, with `shift` implied low bits
#define PS_PACKERS(G)                                                                              \
  PS_MISFIT(G)                                                                                     \
  PS_INLINE uint32_t ps_##G##_1(PS_UNUSED int where, uint32_t a, uint32_t at) {                    \
    PS_SEE(a);                                                                                     \
    PS_TEST(                                                                                       \
        G, a >> (at >> 5 & 31) || (a == 0 && at & PS_NOT_ZERO),                                    \
        (int)(((uint32_t)where >> 20 << 5 | (at & 31)) << 8 | (at & 0xc00) >> 4 | (at >> 5 & 31)), \
        a);                                                                                        \
    return a << (at & 31);                                                                         \
  }                                                                                                \
  PS_INLINE uint32_t ps_##G##_2(int where, uint32_t a, uint32_t b, uint32_t at) {                  \
    return ps_##G##_1(where, a, at >> 12) | ps_##G##_1(where, b, at);                              \
  }                                                                                                \
  PS_INLINE uint32_t ps_##G##_3(int where, uint32_t a, uint32_t b, uint32_t c, uint64_t at) {      \
    return ps_##G##_1(where, a, (uint32_t)(at >> 24)) | ps_##G##_2(where, b, c, (uint32_t)at);     \
  }                                                                                                \
  PS_INLINE uint32_t ps_##G##_4(int where, uint32_t a, uint32_t b, uint32_t c, uint32_t d,         \
                                uint64_t at) {                                                     \
    return ps_##G##_2(where, a, b, (uint32_t)(at >> 24)) | ps_##G##_2(where, c, d, (uint32_t)at);  \
  }                                                                                                \
  PS_INLINE uint32_t ps_##G##_5(int where, uint32_t a, uint32_t b, uint32_t c, uint32_t d,         \
                                uint32_t e, uint64_t at) {                                         \
    return ps_##G##_1(where, a, (uint32_t)(at >> 48)) | ps_##G##_4(where, b, c, d, e, at);         \
  }                                                                                                \
  PS_INLINE uint32_t ps_##G##_6(int where, uint32_t a, uint32_t b, uint32_t c, uint32_t d,         \
                                uint32_t e, uint32_t f, uint64_t at, uint64_t at2) {               \
    return ps_##G##_5(where, a, b, c, d, e, at) | ps_##G##_1(where, f, (uint32_t)at2);             \
  }                                                                                                \
  PS_INLINE uint32_t ps_##G##_7(int where, uint32_t a, uint32_t b, uint32_t c, uint32_t d,         \
                                uint32_t e, uint32_t f, uint32_t g, uint64_t at, uint64_t at2) {   \
    return ps_##G##_5(where, a, b, c, d, e, at) | ps_##G##_2(where, f, g, (uint32_t)at2);          \
  }                                                                                                \
  PS_INLINE uint32_t ps_##G##_8(int where, uint32_t a, uint32_t b, uint32_t c, uint32_t d,         \
                                uint32_t e, uint32_t f, uint32_t g, uint32_t h, uint64_t at,       \
                                uint64_t at2) {                                                    \
    return ps_##G##_5(where, a, b, c, d, e, at) | ps_##G##_3(where, f, g, h, at2);                 \
  }                                                                                                \
  PS_INLINE uint32_t ps_##G##_9(int where, uint32_t a, uint32_t b, uint32_t c, uint32_t d,         \
                                uint32_t e, uint32_t f, uint32_t g, uint32_t h, uint32_t i,        \
                                uint64_t at, uint64_t at2) {                                       \
    return ps_##G##_5(where, a, b, c, d, e, at) | ps_##G##_4(where, f, g, h, i, at2);              \
  }                                                                                                \
  PS_INLINE uint32_t ps_##G##_10(int where, uint32_t a, uint32_t b, uint32_t c, uint32_t d,        \
                                 uint32_t e, uint32_t f, uint32_t g, uint32_t h, uint32_t i,       \
                                 uint32_t j, uint64_t at, uint64_t at2) {                          \
    return ps_##G##_5(where, a, b, c, d, e, at) | ps_##G##_5(where, f, g, h, i, j, at2);           \
  }                                                                                                \
  PS_INLINE uint32_t ps_##G##_offset(PS_UNUSED int where, uint64_t v, PS_UNUSED int at,            \
                                     PS_UNUSED unsigned shift) {                                   \
    PS_SEE(v);                                                                                     \
    PS_TEST(G, (v & ~(ps_mask(at & 127) << shift)) != 0, at, (double)v);                           \
    return (uint32_t)v;                                                                            \
  }                                                                                                \
  PS_INLINE uint32_t ps_##G##_sint(PS_UNUSED int where, int32_t v, int at) {                       \
    PS_SEE(v);                                                                                     \
    PS_TEST(G, ps_is_outside(v, at & 255), at, v);                                                 \
    return ps_twos(v, at & 255);                                                                   \
  }                                                                                                \
  PS_INLINE uint32_t ps_##G##_ufixed(PS_UNUSED int where, float v, PS_UNUSED int at,               \
                                     unsigned fraction) {                                          \
    PS_SEE(v);                                                                                     \
    PS_TEST(G, !ps_is_in(v, fraction, 0, (double)ps_mask(at & 255)), at, v);                       \
    return ps_ufixed(v, fraction);                                                                 \
  }                                                                                                \
  PS_INLINE uint32_t ps_##G##_sfixed(PS_UNUSED int where, float v, int at, unsigned fraction) {    \
    PS_SEE(v);                                                                                     \
    PS_TEST(G, !ps_is_in(v, fraction, -ps_half_range(at & 255), ps_half_range(at & 255) - 1), at,  \
            v);                                                                                    \
    return ps_sfixed(v, fraction, at & 255);                                                       \
  }

#ifdef PS_OPENCL
PS_INLINE uint32_t ps_float(float v) { return as_uint(v); }
PS_INLINE float ps_to_float(uint32_t v) { return as_float(v); }
PS_INLINE int64_t ps_fixed(float v, unsigned fraction) {
  return (int64_t)round(v * (float)((uint64_t)1 << fraction));
}
#else
PS_INLINE uint32_t ps_float(float v) {
  uint32_t out;
  __builtin_memcpy(&out, &v, 4);
  return out;
}
PS_INLINE float ps_to_float(uint32_t v) {
  float out;
  __builtin_memcpy(&out, &v, 4);
  return out;
}
// In units of 2^-fraction, rounded to nearest, halves away from zero.
PS_INLINE int64_t ps_fixed(double v, unsigned fraction) {
  const double scaled = v * (double)((uint64_t)1 << fraction);
  return (int64_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}
#endif
PS_INLINE uint32_t ps_ufixed(float v, unsigned fraction) { return (uint32_t)ps_fixed(v, fraction); }
PS_INLINE float ps_clamp(float v, float most) {
  return v < most ? (v > 0 ? v : 0) : v > 0 ? most : 0;
}
PS_INLINE uint32_t ps_sfixed(float v, unsigned fraction, unsigned width) {
  return ps_twos(ps_fixed(v, fraction), width);
}

// IEEE half precision, rounded to nearest even.
PS_INLINE uint32_t ps_half(float v) {
  const uint32_t b = ps_float(v), sign = b >> 16 & 0x8000, magnitude = b & 0x7fffffff;
  const bool subnormal = magnitude < 0x38800000;
  const unsigned drop = subnormal ? 126 - (magnitude >> 23) : 13;
  const uint32_t kept = subnormal ? (magnitude & 0x7fffff) | 0x800000 : magnitude - 0x38000000;
  if (magnitude > 0x7f800000) return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
  if (magnitude >= 0x47800000) return sign | 0x7c00;
  if (drop > 25) return sign;
  return sign | (kept + ((uint32_t)1 << (drop - 1)) - 1 + (kept >> drop & 1)) >> drop;
}
PS_INLINE float ps_from_half(uint32_t h) {
  const uint32_t sign = (h & 0x8000) << 16, magnitude = h & 0x7fff;
  if (magnitude >= 0x7c00) return ps_to_float(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude >= 0x400) return ps_to_float(sign | ((magnitude << 13) + 0x38000000));
  return sign ? -((float)magnitude / 16777216.0f) : (float)magnitude / 16777216.0f;
}

PS_INLINE uint32_t ps_log2(uint64_t v) {
  uint32_t n = 0;
  while (v > 1) {
    v >>= 1;
    ++n;
  }
  return n;
}
PS_INLINE bool ps_is_power_of_two(uint64_t v) { return v != 0 && (v & (v - 1)) == 0; }
// At least one group; all 2^width of them are stored as 0.
PS_INLINE uint32_t ps_groups(uint64_t v, uint64_t n, unsigned width) {
  const uint64_t whole = v / n + (v % n != 0);
  return (uint32_t)((whole == 0 ? 1 : whole) & ps_mask(width));
}
PS_INLINE uint64_t ps_ungroup(uint64_t raw, uint64_t n, unsigned width) {
  return (raw == 0 ? ps_mask(width) + 1 : raw) * n;
}
PS_INLINE uint64_t ps_align(uint64_t v, uint64_t n) { return (v + n - 1) / n * n; }

// ORs into words that have been written.
PS_INLINE void ps_put(uint32_t* words, unsigned bit, unsigned width, uint64_t raw) {
  const unsigned w = bit / 32, lsb = bit % 32;
  raw &= ps_mask(width);
  words[w] |= (uint32_t)(raw << lsb);
  if (lsb + width > 32) words[w + 1] |= (uint32_t)(raw >> (32 - lsb));
  if (lsb + width > 64) words[w + 2] |= (uint32_t)(raw >> (64 - lsb));
}
PS_INLINE void ps_store(PS_GLOBAL uint8_t* to, uint32_t v, unsigned bytes) {
  for (unsigned b = 0; b < bytes; ++b) to[b] = (uint8_t)(v >> (8 * b));
}
PS_INLINE uint64_t ps_get(const PS_GLOBAL uint8_t* bytes, unsigned size, unsigned bit,
                          unsigned width) {
  const unsigned first = bit / 8, lsb = bit % 8;
  uint64_t v = 0;
  for (unsigned b = 0; b < 8 && first + b < size; ++b) v |= (uint64_t)bytes[first + b] << (8 * b);
  v >>= lsb;
  if (lsb + width > 64 && first + 8 < size) v |= (uint64_t)bytes[first + 8] << (64 - lsb);
  return v & ps_mask(width);
}
PS_INLINE bool ps_zero(const PS_GLOBAL uint8_t* bytes, unsigned size, unsigned bit,
                       unsigned width) {
  for (; width > 32; bit += 32, width -= 32) {
    if (ps_get(bytes, size, bit, 32) != 0) return false;
  }
  return ps_get(bytes, size, bit, width) == 0;
}
PS_INLINE int64_t ps_signed(uint64_t raw, unsigned width) {
  return (int64_t)(raw << (64 - width)) >> (64 - width);
}
#endif  // PACKSMITH_RUNTIME_PACK_PACK_C_
