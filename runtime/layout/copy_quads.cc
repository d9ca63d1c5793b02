// Copies quads: one function for each order of the pieces of a cache line, compiled for each set of
// vector instructions that the machine could have.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "runtime/layout/copy_program.h"
#include "runtime/layout/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/layout/copy_quads.cc"
#include "hwy/foreach_target.h"
// After the line above, which includes this file once for each target.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace packsmith::layout {
namespace HWY_NAMESPACE {

// Without vectors quads are no faster than elements.
#if HWY_TARGET == HWY_SCALAR

bool QuadsIn(const CellCopy&) { return false; }
bool QuadsOut(const CellCopy&) { return false; }

#elif PACKSMITH_IS_AS_FOR_AVX2

bool QuadsIn(const CellCopy& copy) { return N_AVX2::QuadsIn(copy); }
bool QuadsOut(const CellCopy& copy) { return N_AVX2::QuadsOut(copy); }

#else

namespace hn = hwy::HWY_NAMESPACE;
using Order = QuadProgram::Order;

// Two pieces.
struct Pair {
  // Written out: gcc compiles an implicit constructor for the machine's least set of instructions,
  // in which it cannot inline the constructors of NEON's vectors.
  HWY_INLINE Pair() {}

#if HWY_CAP_GE256
  using Tag = hn::Full256<uint8_t>;
  hn::Vec<Tag> bytes;

  HWY_INLINE void Load(const uint8_t* from) { bytes = hn::LoadU(Tag(), from); }
  HWY_INLINE void Store(uint8_t* to) const { hn::StoreU(bytes, Tag(), to); }
  HWY_INLINE void Stream(uint8_t* to) const { hn::Stream(bytes, Tag(), to); }
  HWY_INLINE void Turn() { bytes = hn::ConcatLowerUpper(Tag(), bytes, bytes); }
  static HWY_INLINE void Zip(Pair& a, Pair& b) {
    const auto low = hn::ConcatLowerLower(Tag(), b.bytes, a.bytes);
    b.bytes = hn::ConcatUpperUpper(Tag(), b.bytes, a.bytes);
    a.bytes = low;
  }
#else
  using Tag = hn::Full128<uint8_t>;
  hn::Vec<Tag> first, second;

  HWY_INLINE void Load(const uint8_t* from) {
    first = hn::LoadU(Tag(), from);
    second = hn::LoadU(Tag(), from + kHalf_B);
  }
  HWY_INLINE void Store(uint8_t* to) const {
    hn::StoreU(first, Tag(), to);
    hn::StoreU(second, Tag(), to + kHalf_B);
  }
  HWY_INLINE void Stream(uint8_t* to) const {
    hn::Stream(first, Tag(), to);
    hn::Stream(second, Tag(), to + kHalf_B);
  }
  HWY_INLINE void Turn() { std::swap(first, second); }
  static HWY_INLINE void Zip(Pair& a, Pair& b) { std::swap(a.second, b.first); }
#endif
};

// f(0), f(1) and so on to f(7), with numbers that are constants.
template <class F, size_t... kIndices>
HWY_INLINE void ForEachPair(const F& f, std::index_sequence<kIndices...>) {
  (f(std::integral_constant<size_t, kIndices>()), ...);
}
template <class F>
HWY_INLINE void ForEachPair(const F& f) {
  ForEachPair(f, std::make_index_sequence<8>());
}

// Converts pairs of rows to pairs of lines; rows and lines have two each. The function is its own
// inverse.
template <Order kOrder>
HWY_INLINE void Arrange(Pair (&pairs)[8]) {
  ForEachPair([&](auto i) HWY_ATTR {
    if constexpr (i / 2 % 2 == 1) {
      if constexpr (kOrder == Order::kU) pairs[i].Turn();
      if constexpr (kOrder == Order::kN || kOrder == Order::kColumn) {
        Pair::Zip(pairs[i - 2], pairs[i]);
      }
    }
  });
}

// The line that a pair belongs to, and its place in it.
constexpr size_t LineOf(Order order, size_t pair) {
  const size_t row = pair / 2, column = pair % 2;
  if (order == Order::kRow) return row;
  return order == Order::kColumn ? 2 * column + row % 2 : row / 2 * 2 + column;
}
constexpr size_t PlaceOf(Order order, size_t pair) {
  const size_t row = pair / 2, column = pair % 2;
  if (order == Order::kRow) return column;
  return order == Order::kColumn ? row / 2 : row % 2;
}

template <bool kIn, Order kOrder, bool kStream>
HWY_INLINE void CopyQuad(uint8_t* rows, size_t stride_B, uint8_t* const (&lines)[4]) {
  const auto linear = [&](size_t pair)
                          HWY_ATTR { return rows + pair / 2 * stride_B + pair % 2 * kVector_B; };
  const auto tiled = [&](size_t pair) HWY_ATTR {
    return lines[LineOf(kOrder, pair)] + PlaceOf(kOrder, pair) * kVector_B;
  };
  Pair pairs[8];
  ForEachPair([&](auto i) HWY_ATTR { pairs[i].Load(kIn ? linear(i) : tiled(i)); });
  Arrange<kOrder>(pairs);
  ForEachPair([&](auto i) HWY_ATTR {
    uint8_t* const to = kIn ? tiled(i) : linear(i);
    if constexpr (kStream) {
      pairs[i].Stream(to);
    } else {
      pairs[i].Store(to);
    }
  });
}

// One row of quads after the other: in linear memory consecutive lines are adjacent.
template <bool kIn, Order kOrder, bool kStream>
void CopyQuads(const CellCopy& copy) {
  const Placement& placement = copy.placement;
  const QuadProgram& quads = copy.program.quads;
  const uint32_t unit_B = placement.unit_B, w_el = quads.w_el;
  const uint32_t second_B = quads.next_line_B[0], third_B = quads.next_line_B[1];
  const uint32_t tile_w_el = 1u << placement.tile_w_log2, tile_h_el = 1u << placement.tile_h_log2;
  for (uint32_t y = copy.y_begin_el; y < copy.y_end_el; y += kQuadH_el) {
    const uint32_t y_B = (placement.slice_index ^ copy.y_index[y & (tile_h_el - 1)]) * unit_B;
    uint8_t* rows = copy.linear + (y - copy.y_begin_el) * copy.linear_stride_B;
    for (uint32_t x = copy.x_begin_el; x < copy.x_end_el;) {
      uint8_t* const tile = copy.TileAt(x, y);
      const uint32_t begin = x & (tile_w_el - 1);
      const uint32_t end = std::min(tile_w_el, begin + copy.x_end_el - x);
      for (uint32_t i = begin; i < end; i += w_el) {
        const uint32_t first_B = y_B ^ copy.x_index[i] * unit_B;
        uint8_t* const lines[4] = {tile + first_B, tile + (first_B ^ second_B),
                                   tile + (first_B ^ third_B),
                                   tile + (first_B ^ second_B ^ third_B)};
        CopyQuad<kIn, kOrder, kStream>(rows, copy.linear_stride_B, lines);
        rows += kCacheLine_B;
      }
      x += end - begin;
    }
  }
  if (kStream) hwy::FlushStream();
}

template <bool kIn>
bool Copy(const CellCopy& copy) {
  const auto with = [&](auto order) {
    constexpr Order kOrder = decltype(order)::value;
    (copy.stream ? CopyQuads<kIn, kOrder, kIn> : CopyQuads<kIn, kOrder, false>)(copy);
    return true;
  };
  switch (copy.program.quads.order) {
    case Order::kNone:
      break;
    case Order::kRow:
      return with(std::integral_constant<Order, Order::kRow>());
    case Order::kZ:
      return with(std::integral_constant<Order, Order::kZ>());
    case Order::kU:
      return with(std::integral_constant<Order, Order::kU>());
    case Order::kN:
      return with(std::integral_constant<Order, Order::kN>());
    case Order::kColumn:
      return with(std::integral_constant<Order, Order::kColumn>());
  }
  return false;
}

bool QuadsIn(const CellCopy& copy) { return Copy<true>(copy); }
bool QuadsOut(const CellCopy& copy) { return Copy<false>(copy); }

#endif  // HWY_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace packsmith::layout
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace packsmith::layout {

HWY_EXPORT(QuadsIn);
HWY_EXPORT(QuadsOut);

bool CopyQuadsIn(const CellCopy& copy) { return HWY_DYNAMIC_DISPATCH(QuadsIn)(copy); }
bool CopyQuadsOut(const CellCopy& copy) { return HWY_DYNAMIC_DISPATCH(QuadsOut)(copy); }

}  // namespace packsmith::layout
#endif  // HWY_ONCE
