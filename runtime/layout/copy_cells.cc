// Runs copy programs: one function for all tilings, compiled for each set of vector instructions
// that the machine could have.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "runtime/layout/copy_program.h"

// It would be the same code as for SSSE3.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS HWY_SSE4
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/layout/copy_cells.cc"
#include "hwy/foreach_target.h"
// After the line above, which includes this file once for each target.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace packsmith::layout {
namespace HWY_NAMESPACE {

// Without vectors a program is no faster than element by element.
#if HWY_TARGET == HWY_SCALAR

bool In(const CellCopy&) { return false; }
bool Out(const CellCopy&) { return false; }

#else

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::Full128<uint8_t>;
using Vector = hn::Vec<Tag>;

// Chunks that are copied before the next ones are looked up.
constexpr uint32_t kBatch = 64;
static_assert(kBatch % CopyProgram::kMaxChunks == 0);

// Runs a program for cells that lie side by side. `chunks` is where their chunks begin, `linear`
// where the first cell's rows do; these are `stride_B` apart.
using CopyRow = void (*)(const CopyProgram& program, uint8_t* const* chunks, uint8_t* linear,
                         size_t stride_B, size_t cells);

// For programs that put vectors together from pieces.
template <bool kIn>
void CopyPieces(const CopyProgram& program, uint8_t* const* chunks, uint8_t* linear,
                size_t stride_B, size_t cells) {
  const Tag d;
  const Shuffle& shuffle = kIn ? program.in : program.out;
  const auto address = [&](const VectorPlace& place, bool in_linear) HWY_ATTR {
    return (in_linear ? linear + place.line * stride_B : chunks[place.line]) + place.offset_B;
  };
  for (size_t cell = 0; cell < cells; ++cell) {
    const VectorPlace* from = shuffle.from.data();
    const ByteVector* pick = shuffle.picks.data();
    for (const VectorPlace& to : shuffle.to) {
      Vector vector = hn::Zero(d);
      for (int piece = 0; piece < shuffle.pieces; ++piece, ++from, ++pick) {
        const Vector bytes = hn::LoadU(d, address(*from, kIn));
        vector = hn::Or(vector, hn::TableLookupBytesOr0(bytes, hn::LoadU(d, pick->data())));
      }
      hn::StoreU(vector, d, address(to, !kIn));
    }
    linear += program.cell_row_B;
    chunks += program.chunks;
  }
}

// f(0), f(1) and so on, with numbers that are constants.
template <class F, size_t... kIndices>
HWY_INLINE void Unroll(std::index_sequence<kIndices...>, const F& f) {
  (f(std::integral_constant<size_t, kIndices>()), ...);
}

// Replaces the vectors by those that have the first parts of all, the second parts of all, and so
// on.
template <size_t kGroup>
HWY_INLINE void Exchange(Vector* v) {
  const Tag d;
  if constexpr (kGroup == 2) {
    const hn::Repartition<uint64_t, Tag> d64;
    const auto a = hn::BitCast(d64, v[0]), b = hn::BitCast(d64, v[1]);
    v[0] = hn::BitCast(d, hn::InterleaveLower(d64, a, b));
    v[1] = hn::BitCast(d, hn::InterleaveUpper(d64, a, b));
  } else if constexpr (kGroup == 4) {
    const hn::Repartition<uint32_t, Tag> d32;
    const hn::Repartition<uint64_t, Tag> d64;
    const auto a = hn::BitCast(d32, v[0]), b = hn::BitCast(d32, v[1]);
    const auto c = hn::BitCast(d32, v[2]), e = hn::BitCast(d32, v[3]);
    const auto ab = hn::BitCast(d64, hn::InterleaveLower(d32, a, b));
    const auto ab2 = hn::BitCast(d64, hn::InterleaveUpper(d32, a, b));
    const auto ce = hn::BitCast(d64, hn::InterleaveLower(d32, c, e));
    const auto ce2 = hn::BitCast(d64, hn::InterleaveUpper(d32, c, e));
    v[0] = hn::BitCast(d, hn::InterleaveLower(d64, ab, ce));
    v[1] = hn::BitCast(d, hn::InterleaveUpper(d64, ab, ce));
    v[2] = hn::BitCast(d, hn::InterleaveLower(d64, ab2, ce2));
    v[3] = hn::BitCast(d, hn::InterleaveUpper(d64, ab2, ce2));
  }
}

// For programs whose vectors exchange parts, and for those that copy runs, of `kSteps` vectors or
// runs in one chunk. What bytes are written to could be anything, as far as the compiler knows:
// what stays the same from cell to cell is in variables of its own, so that it can stay in
// registers.
template <bool kIn, size_t kChunks, size_t kSteps, size_t kGroup, bool kSorts, size_t kRun_B>
void CopyGroups(const CopyProgram& program, uint8_t* const* chunks, uint8_t* linear,
                size_t stride_B, size_t cells) {
  const Tag d;
  using Steps = std::make_index_sequence<kSteps>;
  const Shuffle& shuffle = kIn ? program.in : program.out;
  const size_t cell_row_B = program.cell_row_B;
  size_t linear_B[kSteps], tiled_B[kSteps], chunk[kSteps];
  Vector before[kSteps], after[kSteps];
  Unroll(Steps(), [&](auto i) HWY_ATTR {
    const VectorPlace in_linear = kIn ? shuffle.from[i] : shuffle.to[i];
    const VectorPlace in_tiled = kIn ? shuffle.to[i] : shuffle.from[i];
    linear_B[i] = in_linear.line * stride_B + in_linear.offset_B;
    // Runs are in the order of the tiled memory, where one follows the other.
    tiled_B[i] = kRun_B != 0 ? i * kRun_B : in_tiled.offset_B;
    chunk[i] = kChunks == 1 ? 0 : in_tiled.line;
    if constexpr (kSorts) {
      before[i] = hn::LoadU(d, shuffle.before[i].data());
      after[i] = hn::LoadU(d, shuffle.after[i].data());
    }
  });
  for (size_t cell = 0; cell < cells; ++cell) {
    const auto tiled = [&](size_t i) HWY_ATTR { return chunks[chunk[i]] + tiled_B[i]; };
    const auto source = [&](size_t i) HWY_ATTR { return kIn ? linear + linear_B[i] : tiled(i); };
    const auto target = [&](size_t i) HWY_ATTR { return kIn ? tiled(i) : linear + linear_B[i]; };
    if constexpr (kRun_B != 0) {
      Unroll(Steps(), [&](auto i) HWY_ATTR { std::memcpy(target(i), source(i), kRun_B); });
    } else {
      Unroll(std::make_index_sequence<kSteps / kGroup>(), [&](auto group) HWY_ATTR {
        constexpr size_t kFirst = group * kGroup;
        Vector v[kGroup];
        Unroll(std::make_index_sequence<kGroup>(), [&](auto i) HWY_ATTR {
          v[i] = hn::LoadU(d, source(kFirst + i));
          if constexpr (kSorts) v[i] = hn::TableLookupBytes(v[i], before[kFirst + i]);
        });
        Exchange<kGroup>(v);
        Unroll(std::make_index_sequence<kGroup>(), [&](auto i) HWY_ATTR {
          if constexpr (kSorts) v[i] = hn::TableLookupBytes(v[i], after[kFirst + i]);
          hn::StoreU(v[i], d, target(kFirst + i));
        });
      });
    }
    linear += cell_row_B;
    chunks += kChunks;
  }
}

template <bool kIn, size_t kChunks, size_t kSteps, size_t kGroup>
CopyRow ChooseSorts(bool sorts) {
  return sorts ? CopyGroups<kIn, kChunks, kSteps, kGroup, true, 0>
               : CopyGroups<kIn, kChunks, kSteps, kGroup, false, 0>;
}

template <bool kIn, size_t kGroup>
CopyRow ChooseSteps(size_t chunks, size_t steps, bool sorts) {
  if (chunks == 1 && steps == 8) return ChooseSorts<kIn, 1, 8, kGroup>(sorts);
  if (chunks == 1 && steps == 16) return ChooseSorts<kIn, 1, 16, kGroup>(sorts);
  if (chunks == 2 && steps == 16) return ChooseSorts<kIn, 2, 16, kGroup>(sorts);
  return nullptr;
}

template <bool kIn, size_t kRun_B>
CopyRow ChooseRuns(size_t steps) {
  switch (steps * kRun_B) {
    case 64:
      return CopyGroups<kIn, 1, 64 / kRun_B, 1, false, kRun_B>;
    case 128:
      return CopyGroups<kIn, 1, 128 / kRun_B, 1, false, kRun_B>;
    case 256:
      return CopyGroups<kIn, 1, 256 / kRun_B, 1, false, kRun_B>;
  }
  return nullptr;
}

// Null if no function was made for such a program. Those of all powers of two have one.
template <bool kIn>
CopyRow Choose(const CopyProgram& program) {
  const Shuffle& shuffle = kIn ? program.in : program.out;
  const size_t chunks = program.chunks, steps = shuffle.to.size();
  if (shuffle.pieces != 0) return CopyPieces<kIn>;
  switch (chunks == 1 ? shuffle.run_B : 0) {
    case 16:
      return ChooseRuns<kIn, 16>(steps);
    case 32:
      return ChooseRuns<kIn, 32>(steps);
    case 64:
      return ChooseRuns<kIn, 64>(steps);
  }
  switch (shuffle.group) {
    case 1:
      return ChooseSteps<kIn, 1>(chunks, steps, true);
    case 2:
      return ChooseSteps<kIn, 2>(chunks, steps, shuffle.sorts);
    case 4:
      return ChooseSteps<kIn, 4>(chunks, steps, shuffle.sorts);
  }
  return nullptr;
}

// Copies past the cache. `to` is aligned to a vector.
void Stream(const uint8_t* from, uint8_t* to, size_t size_B) {
  const Tag d;
  for (size_t i = 0; i < size_B; i += kVector_B) hn::Stream(hn::LoadU(d, from + i), d, to + i);
}

// Asks for what lies behind `from`, which may be beyond the image: nothing comes of that.
void Prefetch(const uint8_t* from, uint64_t ahead_B, size_t size_B) {
  const uintptr_t first = reinterpret_cast<uintptr_t>(from) + ahead_B;
  for (size_t i = 0; i < size_B; i += 64) hwy::Prefetch(reinterpret_cast<void*>(first + i));
}

// Where the chunks of a row of cells begin. Returns how many there are.
HWY_NOINLINE size_t FindChunks(const Placement& placement, const uint16_t* x_index,
                               uint32_t y_index, uint8_t* tiles, uint32_t x_begin, uint32_t x_end,
                               uint32_t chunk_w_el, uint8_t** chunks) {
  const uint32_t tile_w_el = 1u << placement.tile_w_log2;
  const uint32_t unit_B = placement.unit_B;
  uint8_t** next = chunks;
  for (uint32_t x = x_begin; x < x_end;) {
    uint8_t* const tile = tiles + (x >> placement.tile_w_log2) * placement.tile_B;
    const uint32_t first = x & (tile_w_el - 1);
    const uint32_t end = std::min(tile_w_el, first + x_end - x);
    for (uint32_t i = first; i < end; i += chunk_w_el) {
      *next++ = tile + (y_index ^ x_index[i]) * unit_B;
    }
    x += end - first;
  }
  return next - chunks;
}

// A row of cells that goes through a program at once, and how the next one is found: down the
// tiles, then on to those beside them, then to the next row of tiles.
struct Span {
  uint32_t x_begin_el, x_end_el, y_el;
};

template <bool kIn>
bool CopyCells(const CellCopy& copy) {
  const CopyRow copy_row = Choose<kIn>(copy.program);
  if (copy_row == nullptr) return false;
  const CopyProgram& program = copy.program;
  const Placement& placement = copy.placement;
  const uint32_t y_mask = (1u << placement.tile_h_log2) - 1;
  const uint32_t chunk_B = program.cell_row_B / program.chunks * program.cell_h_el;
  const uint32_t batch_el = kBatch * program.chunk_w_el;
  // Out of the cache's reach, images are read one tile after the other, since a tile's memory is in
  // one piece, and linear memory is read in whole rows. Otherwise both are well with a few cells at
  // a time.
  const uint32_t tile_w_el = 1u << placement.tile_w_log2;
  const uint32_t few_el = program.cell_w_el * (copy.stream ? 4 : 16);
  const uint32_t span_el = kIn && copy.stream ? uint32_t{1} << 31 : std::max(tile_w_el, few_el);
  const uint32_t band_el = std::max(1u << placement.tile_h_log2, program.cell_h_el);
  // From a chunk to the one at the same place of the next span's tile.
  const uint64_t ahead_B = uint64_t{span_el >> placement.tile_w_log2} * placement.tile_B;
  const auto make_span = [&](uint32_t x_el, uint32_t y_el) {
    return Span{x_el, std::min({copy.x_end_el, (x_el & ~(span_el - 1)) + span_el, x_el + batch_el}),
                y_el};
  };
  const auto next_of = [&](const Span& span) {
    const uint32_t below = span.y_el + program.cell_h_el;
    if (below < copy.y_end_el && below % band_el != 0) {
      return Span{span.x_begin_el, span.x_end_el, below};
    }
    if (span.x_end_el == copy.x_end_el) return make_span(copy.x_begin_el, below);
    return make_span(span.x_end_el,
                     std::max(copy.y_begin_el, (below - program.cell_h_el) & ~(band_el - 1)));
  };
  const auto find_chunks = [&](const Span& span, uint8_t** chunks) {
    uint8_t* const tiles = copy.image + placement.offset_B +
                           (span.y_el >> placement.tile_h_log2) * placement.tile_row_stride_B;
    return FindChunks(placement, copy.x_index,
                      placement.sample_index ^ copy.y_index[span.y_el & y_mask], tiles,
                      span.x_begin_el, span.x_end_el, program.chunk_w_el, chunks);
  };

  // Lines that bypass the cache must be written whole, one after the other, and programs do not do
  // that: what they make goes through a buffer, which the cache holds.
  HWY_ALIGN uint8_t staging[kBatch * CopyProgram::kMaxChunk_B];
  uint8_t* staged_chunks[kBatch];
  const uint64_t staged_stride_B = kBatch / program.chunks * program.cell_row_B;
  for (uint32_t i = 0; i < kBatch; ++i) staged_chunks[i] = staging + i * chunk_B;

  uint8_t* chunks[kBatch];
  for (Span span = make_span(copy.x_begin_el, copy.y_begin_el); span.y_el < copy.y_end_el;
       span = next_of(span)) {
    const size_t count = find_chunks(span, chunks);
    const size_t cells = count / program.chunks;
    uint8_t* const linear = copy.linear + (span.y_el - copy.y_begin_el) * copy.linear_stride_B +
                            uint64_t{span.x_begin_el - copy.x_begin_el} * placement.unit_B;
    if (!copy.stream) {
      copy_row(program, chunks, linear, copy.linear_stride_B, cells);
    } else if (kIn) {
      copy_row(program, staged_chunks, linear, copy.linear_stride_B, cells);
      for (size_t i = 0; i < count; ++i) Stream(staged_chunks[i], chunks[i], chunk_B);
    } else {
      // Chunks come in an order that no hardware foresees.
      for (size_t i = 0; i < count; ++i) Prefetch(chunks[i], ahead_B, chunk_B);
      copy_row(program, chunks, staging, staged_stride_B, cells);
      for (uint32_t row = 0; row < program.cell_h_el; ++row) {
        Stream(staging + row * staged_stride_B, linear + row * copy.linear_stride_B,
               cells * program.cell_row_B);
      }
    }
  }
  if (copy.stream) hwy::FlushStream();
  return true;
}

bool In(const CellCopy& copy) { return CopyCells<true>(copy); }
bool Out(const CellCopy& copy) { return CopyCells<false>(copy); }

#endif  // HWY_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace packsmith::layout
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace packsmith::layout {

HWY_EXPORT(In);
HWY_EXPORT(Out);

bool CopyCellsIn(const CellCopy& copy) { return HWY_DYNAMIC_DISPATCH(In)(copy); }
bool CopyCellsOut(const CellCopy& copy) { return HWY_DYNAMIC_DISPATCH(Out)(copy); }

}  // namespace packsmith::layout
#endif  // HWY_ONCE
