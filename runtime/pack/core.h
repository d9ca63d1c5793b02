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

#ifndef PACKSMITH_RUNTIME_PACK_CORE_H_
#define PACKSMITH_RUNTIME_PACK_CORE_H_

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

// A condition that is rarely true. (In a long run of inlined code gcc 12 applies [[unlikely]] to
// the code after it, too, and moves that out of the way.)
PACKSMITH_INLINE constexpr bool rarely(bool condition) {
  return __builtin_expect_with_probability(static_cast<long>(condition), 0, 1.0) != 0;
}

// Of what packs itself; defined with the other members.
template <class T>
constexpr T unpack(const uint32_t* dw);
template <class T>
constexpr T unpack(const uint8_t* from);

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
// Deliberately not constexpr: the compiler names it where a packet in a constant expression holds a
// value that does not fit.
inline void value_does_not_fit_its_field(const char*) {}

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

#endif  // PACKSMITH_RUNTIME_PACK_CORE_H_
