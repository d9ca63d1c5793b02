// Golden (an invented GPU): packets, descriptors and registers for C++20.
// Made by packsmith from golden.xml. Do not edit.
//
//   #include "packsmith/golden.h"
//   using namespace packsmith::golden;
//
//   uint32_t words[STORE_DATA::max_length];
//   STORE_DATA packet{.data = 1};
//   if (packsmith::error e = packet.pack(words)) {
//     // e.field does not fit, e.why says why; nothing was written
//   }
//   packet = STORE_DATA::unpack(words);
//   // In a constant a value that does not fit is a compile error.
//   constexpr auto fixed = packed(STORE_DATA{.data = 1});
//
// What every type offers is described in packsmith/pack.h; a line PACKSMITH_... declares what is
// the same in all of them. Members carry the manual's names in snake_case, in the manual's order,
// and say their place: dword, highest and lowest bit. Names that begin with ps_ are the generator's
// own.
#ifndef PACKSMITH_GOLDEN_H_
#define PACKSMITH_GOLDEN_H_

#if __cplusplus <= 201703L
#error This header needs C++20; for other languages there is packsmith/c/golden_pack.h.
#endif

#if __has_include("packsmith/pack.h")
#include "packsmith/pack.h"
#elif __has_include("pack.h")
#include "pack.h"
#else
#include "../pack.h"
#endif

namespace packsmith::golden {

using packsmith::packed;

// The digest of the description that this was made from.
inline constexpr char description_digest[] = "f132099be17f07da";

/// When a test passes.
enum class Compare_Function : uint32_t {
  Never = 0,
  /// New below old.
  Less = 1,
  Always = 7,
};

/// Bits of an index.
enum class Index_Format : uint32_t {
  /// To be avoided. Slow.
  _8_bits = 0,
  _16_bits = 1,
  _32_bits = 2,
};

/// Where vertices come from. [Golden manual, 3.1]
struct VERTEX_BUFFER {
  static constexpr unsigned length = 3;

  /// From one vertex to the next. Unit: bytes.
  uint32_t pitch = 0;  // DW0 11:0
  bool null = false;  // DW0 13
  packsmith::address starting_address = {};  // DW1 63:0

  PACKSMITH_STRUCT(VERTEX_BUFFER, 0)

  template <class T, class V>
  PACKSMITH_INLINE static constexpr void ps_layout(T& ps_p, V& ps_v) {
    ps_v.bounded(ps_p.pitch, 0, 12, "pitch", 0, 0x800);
    ps_v.flag(ps_p.null, 13, 1, "null");
    ps_v.address(ps_p.starting_address, 32, 64, "starting_address", 0, bits::reads);
  }
};

/// A record of six bytes.
struct Rectangle {
  static constexpr unsigned size = 6;

  uint32_t left = 0;  // DW0 11:0
  uint32_t top = 0;  // DW0 23:12
  uint32_t right = 1;  // DW0 35:24
  uint32_t bottom = 1;  // DW1 15:4

  template <packsmith::checks Checks = packsmith::default_checks, class T = Rectangle>
  PACKSMITH_INLINE constexpr packsmith::error pack(uint8_t* ps_to) const {
    [[maybe_unused]] const T& ps_p = *this;
    if (auto ps_e = bits::test<Checks>(ps_p)) return ps_e;
    bits::store(ps_to, ps_p.left | ps_p.top << 12 | (ps_p.right - 1) << 24, 4);
    bits::store(ps_to + 4, (ps_p.right - 1) >> 8 | (ps_p.bottom - 1) << 4, 2);
    return {};
  }
  PACKSMITH_SMALL_BYTES(Rectangle)

  template <class T, class V>
  PACKSMITH_INLINE static constexpr void ps_layout(T& ps_p, V& ps_v) {
    ps_v.uint(ps_p.left, 0, 12, "left");
    ps_v.uint(ps_p.top, 12, 12, "top");
    ps_v.coded(ps_p.right, 24, 12, "right", bits::code{.minus = 1});
    ps_v.coded(ps_p.bottom, 36, 12, "bottom", bits::code{.minus = 1});
  }
};

/// How many.
struct Count {
  static constexpr unsigned size = 4;

  uint32_t value = 0;  // DW0 31:0

  template <packsmith::checks Checks = packsmith::default_checks, class T = Count>
  PACKSMITH_INLINE constexpr packsmith::error pack(uint8_t* ps_to) const {
    [[maybe_unused]] const T& ps_p = *this;
    if (auto ps_e = bits::test<Checks>(ps_p)) return ps_e;
    bits::store(ps_to, ps_p.value, 4);
    return {};
  }
  PACKSMITH_SMALL_BYTES(Count)

  template <class T, class V>
  PACKSMITH_INLINE static constexpr void ps_layout(T& ps_p, V& ps_v) {
    ps_v.uint(ps_p.value, 0, 32, "value");
  }
};

/// Switches of the caches.
struct CACHE_MODE {
  static constexpr unsigned length = 1;
  static constexpr uint32_t register_offset = 0x7004;

  bool depth_cache_disable = false;  // DW0 3
  bool depth_cache_disable_mask = false;  // DW0 19

  PACKSMITH_STRUCT(CACHE_MODE, 0)

  template <class T, class V>
  PACKSMITH_INLINE static constexpr void ps_layout(T& ps_p, V& ps_v) {
    ps_v.flag(ps_p.depth_cache_disable, 3, 1, "depth_cache_disable");
    ps_v.flag(ps_p.depth_cache_disable_mask, 19, 1, "depth_cache_disable_mask");
  }
};

/// 3DSTATE_DEPTH: The depth test, and where depth is. [Golden manual, 5.2]
struct _3DSTATE_DEPTH {
  static constexpr unsigned length = 3, length_bias = 2;
  /// Row by row.
  static constexpr uint32_t TILE_MODE_LINEAR = 0;
  static constexpr uint32_t TILE_MODE_X_MAJOR = 2;
  /// Hangs.
  static constexpr uint32_t TILE_MODE_Y_MAJOR = 3;

  bool depth_test_enable = true;  // DW0 8
  /// New against old.
  Compare_Function depth_test_function = Compare_Function::Less;  // DW0 11:9
  float bias_constant = 0.0f;  // DW1 31:0
  /// How depth values lie in memory.
  uint32_t tile_mode = 2;  // DW2 1:0
  int32_t layer = 0;  // DW2 14:4
  uint32_t format = 1;  // DW2 18:16

  PACKSMITH_PACKET(_3DSTATE_DEPTH, 1, 0xffff0000, 0x79010000)

  template <class T, class V>
  PACKSMITH_INLINE static constexpr void ps_layout(T& ps_p, V& ps_v) {
    ps_v.flag(ps_p.depth_test_enable, 8, 1, "depth_test_enable");
    ps_v.uint(ps_p.depth_test_function, 9, 3, "depth_test_function");
    ps_v.forced(16, 16, 0x7901, "Opcode");
    ps_v.real(ps_p.bias_constant, 32, 32, "bias_constant");
    ps_v.uint(ps_p.tile_mode, 64, 2, "tile_mode");
    ps_v.sint(ps_p.layer, 68, 11, "layer");
    ps_v.uint(ps_p.format, 80, 3, "format");
    ps_v.reserved(88, 7, 0, "reserved");
    ps_v.reserved(95, 1, 1, "Must be one");
  }
};

/// Values that are stored as something else.
struct SURFACE {
  static constexpr unsigned length = 4, length_bias = 2;

  /// Unit: px.
  uint32_t width = 1;  // DW1 13:0
  /// Unit: px.
  uint32_t height = 1;  // DW1 29:16
  /// Unit: bytes.
  uint32_t row_pitch = 0;  // DW2 15:0
  uint32_t samples = 1;  // DW2 18:16
  uint32_t registers = 128;  // DW2 22:19
  float min_lod = 0.0f;  // DW3 11:0
  float lod_bias = 0.0f;  // DW3 24:12
  uint32_t threads = 1;  // DW3 31:25

  PACKSMITH_PACKET(SURFACE, 2, 0xffff0000, 0x79020000)

  template <class T, class V>
  PACKSMITH_INLINE static constexpr void ps_layout(T& ps_p, V& ps_v) {
    ps_v.forced(16, 16, 0x7902, "Opcode");
    ps_v.coded(ps_p.width, 32, 14, "width", bits::code{.minus = 1});
    ps_v.coded(ps_p.height, 48, 14, "height", bits::code{.minus = 1});
    ps_v.coded(ps_p.row_pitch, 64, 16, "row_pitch", bits::code{.shift = 4});
    ps_v.coded(ps_p.samples, 80, 3, "samples", bits::code{.log2 = true});
    ps_v.coded(ps_p.registers, 83, 4, "registers", bits::code{.groups = 8});
    ps_v.ufixed(ps_p.min_lod, 96, 12, "min_lod", 8);
    ps_v.range(ps_p.min_lod, "min_lod", -__builtin_huge_val(), 14.0);
    ps_v.sfixed(ps_p.lod_bias, 108, 13, "lod_bias", 8);
    ps_v.positive(ps_p.threads, 121, 7, "threads");
  }
};

/// A program and the memory it uses.
struct SHADER {
  static constexpr unsigned length = 6, length_bias = 2;

  uint32_t kernel = 0;  // DW1 31:6
  /// Unit: KB a thread.
  uint32_t scratch_size = 0;  // DW2 3:0
  packsmith::address scratch = {};  // DW2 63:10
  packsmith::address descriptors = {};  // DW4 63:5

  PACKSMITH_PACKET(SHADER, 4, 0xffff0000, 0x79030000)

  template <class T, class V>
  PACKSMITH_INLINE static constexpr void ps_layout(T& ps_p, V& ps_v) {
    ps_v.forced(16, 16, 0x7903, "Opcode");
    ps_v.offset(ps_p.kernel, 38, 26, "kernel", 6);
    ps_v.uint(ps_p.scratch_size, 64, 4, "scratch_size");
    ps_v.multiple(ps_p.scratch_size, "scratch_size", 2);
    ps_v.address(ps_p.scratch, 74, 54, "scratch", 10, bits::reads_writes);
    ps_v.address(ps_p.descriptors, 133, 59, "descriptors", 5, bits::no_access);
  }
};

/// What repeats.
struct TABLES {
  static constexpr unsigned length = 30, length_bias = 2;

  float half[2] = {};  // DW1 15:0, then every 16 bits
  uint32_t row[16] = {};  // DW2 31:0, then every 32 bits
  bool enable[32] = {};  // DW18 0, then every bit
  struct target_item {
    uint32_t write_mask = 15;  // DW0 3:0
    float color = 0.0f;  // DW1 31:0
  };
  target_item target[2] = {};  // DW19 63:0, then every 64 bits
  VERTEX_BUFFER vertices = {};  // DW23 95:0
  struct corner_item {
    int32_t x = 0;  // DW0 15:0
    int32_t y = 0;  // DW0 31:16
    float depth = 0.0f;  // DW1 31:0
    uint32_t depth_bits = 0;  // DW1 31:0
  };
  corner_item corner[2] = {};  // DW26 63:0, then every 64 bits

  template <packsmith::checks Checks = packsmith::default_checks, class T = TABLES>
  constexpr packsmith::error pack(uint32_t* ps_dw) const {
    [[maybe_unused]] const T& ps_p = *this;
    if (auto ps_e = bits::test<Checks>(ps_p)) return ps_e;
    ps_dw[0] = 0x7904001c;
    ps_dw[1] = bits::half(ps_p.half[0]) | bits::half(ps_p.half[1]) << 16;
    ps_dw[2] = ps_p.row[0];
    ps_dw[3] = ps_p.row[1];
    ps_dw[4] = ps_p.row[2];
    ps_dw[5] = ps_p.row[3];
    ps_dw[6] = ps_p.row[4];
    ps_dw[7] = ps_p.row[5];
    ps_dw[8] = ps_p.row[6];
    ps_dw[9] = ps_p.row[7];
    ps_dw[10] = ps_p.row[8];
    ps_dw[11] = ps_p.row[9];
    ps_dw[12] = ps_p.row[10];
    ps_dw[13] = ps_p.row[11];
    ps_dw[14] = ps_p.row[12];
    ps_dw[15] = ps_p.row[13];
    ps_dw[16] = ps_p.row[14];
    ps_dw[17] = ps_p.row[15];
    ps_dw[19] = ps_p.target[0].write_mask;
    ps_dw[20] = bits::real(ps_p.target[0].color);
    ps_dw[21] = ps_p.target[1].write_mask;
    ps_dw[22] = bits::real(ps_p.target[1].color);
    ps_dw[23] = ps_p.vertices.pitch | ps_p.vertices.null << 13;
    ps_dw[24] = uint32_t(ps_p.vertices.starting_address.gpu);
    ps_dw[25] = bits::cut(ps_p.vertices.starting_address, 32, 32);
    ps_dw[26] = bits::twos(ps_p.corner[0].x, 16) | uint32_t(ps_p.corner[0].y) << 16;
    ps_dw[27] = bits::real(ps_p.corner[0].depth) | ps_p.corner[0].depth_bits;
    ps_dw[28] = bits::twos(ps_p.corner[1].x, 16) | uint32_t(ps_p.corner[1].y) << 16;
    ps_dw[29] = bits::real(ps_p.corner[1].depth) | ps_p.corner[1].depth_bits;
    {
      uint32_t ps_w[1] = {0};
      for (unsigned ps_i0 = 0; ps_i0 < 32; ++ps_i0) {
        bits::put(ps_w, ps_i0, 1, ps_p.enable[ps_i0]);
      }
      ps_dw[18] = ps_w[0];
    }
    return {};
  }
  PACKSMITH_DWORDS(TABLES)
  template <class = void>
  static constexpr bool matches(uint32_t ps_first) {
    return (ps_first & 0xffff0000) == 0x79040000;
  }

  template <class T, class V>
  PACKSMITH_INLINE static constexpr void ps_layout(T& ps_p, V& ps_v) {
    ps_v.forced(16, 16, 0x7904, "Opcode");
    ps_v.half(ps_p.half[0], 32, 16, "half[0]");
    ps_v.half(ps_p.half[1], 48, 16, "half[1]");
    ps_v.uint(ps_p.row[0], 64, 32, "row[0]");
    ps_v.uint(ps_p.row[1], 96, 32, "row[1]");
    ps_v.uint(ps_p.row[2], 128, 32, "row[2]");
    ps_v.uint(ps_p.row[3], 160, 32, "row[3]");
    ps_v.uint(ps_p.row[4], 192, 32, "row[4]");
    ps_v.uint(ps_p.row[5], 224, 32, "row[5]");
    ps_v.uint(ps_p.row[6], 256, 32, "row[6]");
    ps_v.uint(ps_p.row[7], 288, 32, "row[7]");
    ps_v.uint(ps_p.row[8], 320, 32, "row[8]");
    ps_v.uint(ps_p.row[9], 352, 32, "row[9]");
    ps_v.uint(ps_p.row[10], 384, 32, "row[10]");
    ps_v.uint(ps_p.row[11], 416, 32, "row[11]");
    ps_v.uint(ps_p.row[12], 448, 32, "row[12]");
    ps_v.uint(ps_p.row[13], 480, 32, "row[13]");
    ps_v.uint(ps_p.row[14], 512, 32, "row[14]");
    ps_v.uint(ps_p.row[15], 544, 32, "row[15]");
    for (unsigned ps_i0 = 0; ps_i0 < 32; ++ps_i0) {
      ps_v.index(ps_i0);
      ps_v.flag(ps_p.enable[ps_i0], 576 + ps_i0, 1, "enable[]");
    }
    ps_v.uint(ps_p.target[0].write_mask, 608, 4, "target[0].write_mask");
    ps_v.real(ps_p.target[0].color, 640, 32, "target[0].color");
    ps_v.uint(ps_p.target[1].write_mask, 672, 4, "target[1].write_mask");
    ps_v.real(ps_p.target[1].color, 704, 32, "target[1].color");
    ps_v.bounded(ps_p.vertices.pitch, 736, 12, "vertices.pitch", 0, 0x800);
    ps_v.flag(ps_p.vertices.null, 749, 1, "vertices.null");
    ps_v.address(ps_p.vertices.starting_address, 768, 64, "vertices.starting_address", 0,
                 bits::reads);
    ps_v.sint(ps_p.corner[0].x, 832, 16, "corner[0].x");
    ps_v.sint(ps_p.corner[0].y, 848, 16, "corner[0].y");
    ps_v.real(ps_p.corner[0].depth, 864, 32, "corner[0].depth");
    ps_v.uint(ps_p.corner[0].depth_bits, 864, 32, "corner[0].depth_bits");
    ps_v.sint(ps_p.corner[1].x, 896, 16, "corner[1].x");
    ps_v.sint(ps_p.corner[1].y, 912, 16, "corner[1].y");
    ps_v.real(ps_p.corner[1].depth, 928, 32, "corner[1].depth");
    ps_v.uint(ps_p.corner[1].depth_bits, 928, 32, "corner[1].depth_bits");
  }
};

/// Writes one dword or two.
struct STORE_DATA {
  static constexpr unsigned length = 4, max_length = 5, length_bias = 2;

  bool store_qword = false;  // DW0 8
  packsmith::address address = {};  // DW1 47:2
  uint64_t data = 0;  // DW3 63:0

  // Dwords that these values need.
  template <class T = STORE_DATA>
  constexpr unsigned dwords_needed() const {
    const T& ps_p = *this;
    if (ps_p.store_qword) return 5;
    return 4;
  }

  template <packsmith::checks Checks = packsmith::default_checks, class T = STORE_DATA>
  constexpr packsmith::error pack(uint32_t* ps_dw) const {
    [[maybe_unused]] const T& ps_p = *this;
    if (auto ps_e = bits::test<Checks>(ps_p)) return ps_e;
    const unsigned ps_n = ps_p.dwords_needed();
    ps_dw[0] = 0x79050000 | (ps_n - 2) | ps_p.store_qword << 8;
    ps_dw[1] = uint32_t(ps_p.address.gpu);
    ps_dw[2] = bits::cut(ps_p.address, 32, 16);
    ps_dw[3] = bits::cut(ps_p.data, 0, 32);
    if (ps_n > 4) {
      ps_dw[4] = bits::cut(ps_p.data, 32, 32);
    }
    return {};
  }
  template <class T = STORE_DATA>
  constexpr packsmith::error check() const {
    return bits::check<T>(*this);
  }
  template <class T = STORE_DATA>
  static constexpr T unpack(const uint32_t* ps_dw) {
    return bits::unpack<T>(ps_dw, bits::total(ps_dw, 5, 0, 8, 2));
  }
  template <class T = STORE_DATA>
  static constexpr T unpack(const uint32_t* ps_dw, unsigned ps_count) {
    return bits::unpack<T>(ps_dw, bits::total(ps_dw, ps_count, 0, 8, 2));
  }
  template <class T = STORE_DATA>
  static constexpr packsmith::error verify(const uint32_t* ps_dw) {
    return bits::verify<T>(ps_dw);
  }
  template <class F>
  constexpr void for_each_address(F&& ps_f) const {
    bits::addresses(*this, ps_f);
  }
  template <class = void>
  static constexpr bool matches(uint32_t ps_first) {
    return (ps_first & 0xffff0000) == 0x79050000;
  }

  template <class T, class V>
  PACKSMITH_INLINE static constexpr void ps_layout(T& ps_p, V& ps_v) {
    ps_v.flag(ps_p.store_qword, 8, 1, "store_qword");
    ps_v.forced(16, 16, 0x7905, "Opcode");
    ps_v.address(ps_p.address, 34, 46, "address", 2, bits::writes);
    ps_v.uint(ps_p.data, 96, 64, "data");
  }
};

/// Writes registers.
struct LOAD_REGISTERS {
  static constexpr unsigned length = 1, length_bias = 2;
  struct item {
    static constexpr unsigned length = 2;

    uint32_t register_ = 0;  // DW0 22:2
    uint32_t data = 0;  // DW1 31:0

    PACKSMITH_STRUCT(item, 0)

    template <class T, class V>
    PACKSMITH_INLINE static constexpr void ps_layout(T& ps_p, V& ps_v) {
      ps_v.offset(ps_p.register_, 2, 21, "register_", 2);
      ps_v.uint(ps_p.data, 32, 32, "data");
    }
  };

  using ps_item = item;

  uint32_t byte_write_disables = 0;  // DW0 11:8

  // Dwords that a packet with ps_count items needs.
  static constexpr unsigned dwords_needed(unsigned ps_count) { return 1 + 2 * ps_count; }

  template <packsmith::checks Checks = packsmith::default_checks, class T = LOAD_REGISTERS>
  constexpr packsmith::error pack(uint32_t* ps_dw,
                                  packsmith::span<const ps_item> ps_items = {}) const {
    [[maybe_unused]] const T& ps_p = *this;
    [[maybe_unused]] const unsigned ps_n = dwords_needed(ps_items.count);
    if (auto ps_e = bits::test<Checks>(ps_p)) return ps_e;
    if (auto ps_e = bits::test<Checks>(ps_items)) return ps_e;
    if (Checks == packsmith::checks::on && ps_items.count < 1) {
      return {"items", packsmith::reason::zero};
    }
    if (Checks == packsmith::checks::on && ps_items.count > 128) {
      return {"items", packsmith::reason::too_long};
    }
    ps_dw[0] = 0x79060000 | ((ps_n - 2) & 0xff) | ps_p.byte_write_disables << 8;
    for (unsigned ps_i = 0; ps_i < ps_items.count; ++ps_i) {
      (void)ps_items.ptr[ps_i].template pack<packsmith::checks::off>(ps_dw + dwords_needed(ps_i));
    }
    return {};
  }
  template <packsmith::checks Checks = packsmith::default_checks, unsigned N>
  constexpr packsmith::error pack(uint32_t* ps_dw, const ps_item (&ps_items)[N]) const {
    return pack<Checks>(ps_dw, packsmith::span<const ps_item>(ps_items));
  }
  // The items of a packet of which ps_count dwords may be read.
  template <class T = ps_item>
  static constexpr packsmith::view<T> items(const uint32_t* ps_dw, unsigned ps_count) {
    const unsigned ps_n = bits::total(ps_dw, ps_count, 0, 8, 2);
    return bits::items<T>(ps_dw, ps_n, 1);
  }
  PACKSMITH_DWORDS(LOAD_REGISTERS)
  template <class = void>
  static constexpr bool matches(uint32_t ps_first) {
    return (ps_first & 0xffff0000) == 0x79060000;
  }
  template <class F>
  constexpr void for_each_address(F&& ps_f, packsmith::span<const ps_item> ps_items) const {
    bits::addresses(*this, ps_f);
    for (unsigned ps_i = 0; ps_i < ps_items.count; ++ps_i) {
      bits::addresses(ps_items.ptr[ps_i], ps_f, dwords_needed(ps_i));
    }
  }

  template <class T, class V>
  PACKSMITH_INLINE static constexpr void ps_layout(T& ps_p, V& ps_v) {
    ps_v.uint(ps_p.byte_write_disables, 8, 4, "byte_write_disables");
    ps_v.forced(16, 16, 0x7906, "Opcode");
  }
};

/// Binds vertex buffers.
struct VERTEX_BUFFERS {
  static constexpr unsigned length = 1, length_bias = 2;
  using ps_item = VERTEX_BUFFER;

  // Dwords that a packet with ps_count items needs.
  static constexpr unsigned dwords_needed(unsigned ps_count) { return 1 + 3 * ps_count; }

  template <packsmith::checks Checks = packsmith::default_checks, class T = VERTEX_BUFFERS>
  constexpr packsmith::error pack(uint32_t* ps_dw,
                                  packsmith::span<const ps_item> ps_items = {}) const {
    [[maybe_unused]] const T& ps_p = *this;
    [[maybe_unused]] const unsigned ps_n = dwords_needed(ps_items.count);
    if (auto ps_e = bits::test<Checks>(ps_p)) return ps_e;
    if (auto ps_e = bits::test<Checks>(ps_items)) return ps_e;
    if (Checks == packsmith::checks::on && ps_items.count < 1) {
      return {"items", packsmith::reason::zero};
    }
    if (Checks == packsmith::checks::on && ps_items.count > 85) {
      return {"items", packsmith::reason::too_long};
    }
    ps_dw[0] = 0x79070000 | ((ps_n - 2) & 0xff);
    for (unsigned ps_i = 0; ps_i < ps_items.count; ++ps_i) {
      (void)ps_items.ptr[ps_i].template pack<packsmith::checks::off>(ps_dw + dwords_needed(ps_i));
    }
    return {};
  }
  template <packsmith::checks Checks = packsmith::default_checks, unsigned N>
  constexpr packsmith::error pack(uint32_t* ps_dw, const ps_item (&ps_items)[N]) const {
    return pack<Checks>(ps_dw, packsmith::span<const ps_item>(ps_items));
  }
  // The items of a packet of which ps_count dwords may be read.
  template <class T = ps_item>
  static constexpr packsmith::view<T> items(const uint32_t* ps_dw, unsigned ps_count) {
    const unsigned ps_n = bits::total(ps_dw, ps_count, 0, 8, 2);
    return bits::items<T>(ps_dw, ps_n, 1);
  }
  PACKSMITH_DWORDS(VERTEX_BUFFERS)
  template <class = void>
  static constexpr bool matches(uint32_t ps_first) {
    return (ps_first & 0xffff0000) == 0x79070000;
  }
  template <class F>
  constexpr void for_each_address(F&& ps_f, packsmith::span<const ps_item> ps_items) const {
    bits::addresses(*this, ps_f);
    for (unsigned ps_i = 0; ps_i < ps_items.count; ++ps_i) {
      bits::addresses(ps_items.ptr[ps_i], ps_f, dwords_needed(ps_i));
    }
  }

  template <class T, class V>
  PACKSMITH_INLINE static constexpr void ps_layout(T&, V& ps_v) {
    ps_v.forced(16, 16, 0x7907, "Opcode");
  }
};

/// Ends the batch.
struct END {
  static constexpr unsigned length = 1;

  PACKSMITH_PACKET(END, 0, 0xffff0000, 0x79000000)

  template <class T, class V>
  PACKSMITH_INLINE static constexpr void ps_layout(T&, V& ps_v) {
    ps_v.forced(16, 16, 0x7900, "Opcode");
  }
};

/// Draws; whatever has its bit set follows.
struct Draw {
  static constexpr unsigned size = 4;

  Index_Format index_format = Index_Format::_16_bits;  // DW0 1:0
  bool instances_present = false;  // DW0 2
  bool scissors_present = false;  // DW0 3
  uint32_t scissor_count = 1;  // DW0 7:4

  /// Instances, a part that follows if instances_present.
  Count instances = {};

  // Bytes that these values need, with the parts that they announce.
  template <class T = Draw>
  constexpr unsigned bytes_needed() const {
    const T& ps_p = *this;
    unsigned ps_n = 4;
    if (ps_p.instances_present) ps_n += 4;
    if (ps_p.scissors_present) ps_n += ps_p.scissor_count * 6;
    return ps_n;
  }

  template <packsmith::checks Checks = packsmith::default_checks, class T = Draw>
  constexpr packsmith::error pack(uint8_t* ps_to,
                                  packsmith::span<const Rectangle> ps_scissors = {}) const {
    [[maybe_unused]] const T& ps_p = *this;
    if (auto ps_e = bits::test<Checks>(ps_p)) return ps_e;
    if (ps_p.instances_present) {
      if (auto ps_e = bits::test<Checks>(ps_p.instances)) return ps_e;
    }
    if (Checks == packsmith::checks::on &&
        ps_scissors.count != (ps_p.scissors_present ? ps_p.scissor_count : 0)) {
      return {"scissor_count", packsmith::reason::count_differs};
    }
    if (auto ps_e = bits::test<Checks>(ps_scissors)) return ps_e;
    [[maybe_unused]] const unsigned ps_n = ps_p.bytes_needed();
    bits::store(ps_to, 0x79100000 | uint32_t(ps_p.index_format) | ps_p.instances_present << 2 |
                       ps_p.scissors_present << 3 | (ps_p.scissor_count - 1) << 4, 4);
    uint8_t* ps_next = ps_to + 4;
    if (ps_p.instances_present) {
      (void)ps_p.instances.template pack<packsmith::checks::off>(ps_next);
      ps_next += 4;
    }
    for (const Rectangle& ps_i : ps_scissors) {
      (void)ps_i.template pack<packsmith::checks::off>(ps_next);
      ps_next += 6;
    }
    return {};
  }
  // The same into at most ps_room bytes.
  template <packsmith::checks Checks = packsmith::default_checks, class T = Draw>
  constexpr packsmith::error pack(packsmith::span<uint8_t> ps_room,
                                  packsmith::span<const Rectangle> ps_scissors = {}) const {
    const T& ps_p = *this;
    if (ps_scissors.count != (ps_p.scissors_present ? ps_p.scissor_count : 0)) {
      return {"scissor_count", packsmith::reason::count_differs};
    }
    if (ps_room.count < ps_p.bytes_needed()) {
      return {"Draw", packsmith::reason::too_short};
    }
    return ps_p.template pack<Checks>(ps_room.ptr, ps_scissors);
  }
  // The packet and its single parts, of which at most ps_count bytes may be read.
  template <class T = Draw>
  static constexpr T unpack(const uint8_t* ps_from, unsigned ps_count) {
    T ps_p = bits::unpack<T>(ps_from, ps_count);
    bits::cursor<uint8_t> ps_at{ps_from, ps_count};
    ps_at.skip(1, 4);
    if (ps_p.instances_present) ps_p.instances = ps_at.template take<Count>(4);
    if (ps_p.scissors_present) ps_at.skip(ps_p.scissor_count, 6);
    return ps_p;
  }
  template <class T = Draw>
  static constexpr packsmith::view<Rectangle> scissors(const uint8_t* ps_from, unsigned ps_count) {
    [[maybe_unused]] const T ps_p = bits::unpack<T>(ps_from, ps_count);
    bits::cursor<uint8_t> ps_at{ps_from, ps_count};
    ps_at.skip(1, 4);
    if (ps_p.instances_present) ps_at.skip(1, 4);
    if (!(ps_p.scissors_present)) return {};
    return ps_at.template rest<Rectangle>(ps_p.scissor_count, 6);
  }
  // Calls ps_f for each part, in their order, with an empty one, its name, and the bytes that
  // it takes here with all of its repetitions, 0 if it is absent.
  template <class F>
  constexpr void for_each_part(F&& ps_f) const {
    [[maybe_unused]] const Draw& ps_p = *this;
    ps_f(Count{}, "instances", (ps_p.instances_present) ? 4 : 0);
    ps_f(Rectangle{}, "scissors", (ps_p.scissors_present) ? ps_p.scissor_count * 6 : 0);
  }
  template <class T = Draw>
  constexpr packsmith::error check() const {
    return bits::check<T>(*this);
  }
  template <class T = Draw>
  static constexpr T unpack(const uint8_t* ps_to) {
    return bits::unpack<T>(ps_to, 4);
  }
  template <class T = Draw>
  static constexpr packsmith::error verify(const uint8_t* ps_to) {
    return bits::verify<T>(ps_to);
  }
  template <class F>
  constexpr void for_each_address(F&& ps_f) const {
    bits::addresses(*this, ps_f);
    unsigned ps_at = 4;
    const auto ps_moved = [&](const packsmith::address& ps_a, unsigned ps_dword, unsigned ps_bit,
                              unsigned ps_width, packsmith::access ps_use) {
      ps_bit += 8 * ps_at + 32 * ps_dword;
      ps_f(ps_a, ps_bit / 32, ps_bit % 32, ps_width, ps_use);
    };
    const Draw& ps_p = *this;
    if (ps_p.instances_present) {
      bits::addresses(ps_p.instances, ps_moved);
      ps_at += 4;
    }
    if (ps_p.scissors_present) {
      ps_at += ps_p.scissor_count * 6;
    }
  }
  template <class = void>
  static constexpr bool matches(uint32_t ps_first) {
    return (ps_first & 0xffff0000) == 0x79100000;
  }

  template <class T, class V>
  PACKSMITH_INLINE static constexpr void ps_layout(T& ps_p, V& ps_v) {
    ps_v.uint(ps_p.index_format, 0, 2, "index_format");
    ps_v.flag(ps_p.instances_present, 2, 1, "instances_present");
    ps_v.flag(ps_p.scissors_present, 3, 1, "scissors_present");
    ps_v.coded(ps_p.scissor_count, 4, 4, "scissor_count", bits::code{.minus = 1});
    ps_v.forced(16, 16, 0x7910, "Opcode");
  }
};

// All of it under one name, for code that is written once for several generations.
struct generation {
  static constexpr char name[] = "golden";
  static constexpr unsigned version_x10 = 15;

  using Compare_Function = golden::Compare_Function;
  using Index_Format = golden::Index_Format;
  using VERTEX_BUFFER = golden::VERTEX_BUFFER;
  using Rectangle = golden::Rectangle;
  using Count = golden::Count;
  using CACHE_MODE = golden::CACHE_MODE;
  using _3DSTATE_DEPTH = golden::_3DSTATE_DEPTH;
  using SURFACE = golden::SURFACE;
  using SHADER = golden::SHADER;
  using TABLES = golden::TABLES;
  using STORE_DATA = golden::STORE_DATA;
  using LOAD_REGISTERS = golden::LOAD_REGISTERS;
  using VERTEX_BUFFERS = golden::VERTEX_BUFFERS;
  using END = golden::END;
  using Draw = golden::Draw;
};

}  // namespace packsmith::golden

#endif  // PACKSMITH_GOLDEN_H_
