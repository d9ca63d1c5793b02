#ifndef PACKSMITH_RUNTIME_PACK_PACK_C_
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
