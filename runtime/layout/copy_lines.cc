// Runs line programs, on machines that have AVX-512 with VBMI: only these pick bytes of 128 at
// once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/layout/copy_program.h"
#include "runtime/layout/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/layout/copy_lines.cc"
#include "hwy/foreach_target.h"
// After the line above, which includes this file once for each target.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace packsmith::layout {
namespace HWY_NAMESPACE {

#if HWY_TARGET != HWY_AVX3_DL

bool LinesIn(const CellCopy&) { return false; }
bool LinesOut(const CellCopy&) { return false; }
bool Has() { return false; }

#else

namespace hn = hwy::HWY_NAMESPACE;

using Line = hn::Full512<uint8_t>;
using Vector = hn::Vec<Line>;

// This many cells go through a group before they go through the next, so that the group's program
// stays in registers, and their rows in the first-level cache.
constexpr uint32_t kBatchCells = 32;

// The part of a row of cells that is copied.
struct Batch {
  uint8_t* linear;
  size_t stride_B, cell_row_B;
  uint8_t* chunks[kBatchCells * LineProgram::kMaxChunks];
  size_t cell_chunks, cells;
};

// Makes the results of a group for all cells, of one table of 64 bytes or of two.
template <bool kIn, bool kStream, size_t kResult_B, size_t kWindow_B, size_t kTables,
          size_t kResults>
void MakeResults(const LineProgram::Group& group, const Batch& batch) {
  const Line d;
  const hn::Full256<uint8_t> half;
  constexpr size_t kWindows = kTables * kCacheLine_B / kWindow_B;
  struct Place {
    size_t chunk, offset_B;
  };
  const auto place = [&](const CellPlace& in_cell, bool in_linear) HWY_ATTR {
    return in_linear ? Place{0, in_cell.line * batch.stride_B + in_cell.offset_B}
                     : Place{in_cell.line, in_cell.offset_B};
  };
  Place from[kWindows], to[kResults];
  Vector pick[kResults];
  for (size_t i = 0; i < kWindows; ++i) from[i] = place(group.from[i], kIn);
  for (size_t i = 0; i < kResults; ++i) {
    to[i] = place(group.to[i], !kIn);
    pick[i] = hn::LoadU(d, group.pick[i].data());
  }
  uint8_t* linear = batch.linear;
  uint8_t* const* chunks = batch.chunks;
  for (size_t cell = 0; cell < batch.cells; ++cell) {
    const auto address = [&](const Place& in_cell, bool in_linear) HWY_ATTR {
      return (in_linear ? linear : chunks[in_cell.chunk]) + in_cell.offset_B;
    };
    // Four windows of 16 bytes or two of 32, concatenated.
    const auto load_half = [&](size_t i) HWY_ATTR {
      if constexpr (kWindow_B == kVector_B) {
        return hn::LoadU(half, address(from[i], kIn));
      } else {
        const hn::Full128<uint8_t> quarter;
        return hn::Combine(half, hn::LoadU(quarter, address(from[2 * i + 1], kIn)),
                           hn::LoadU(quarter, address(from[2 * i], kIn)));
      }
    };
    const Vector a = hn::Combine(d, load_half(1), load_half(0));
    Vector b = a;
    if constexpr (kTables == 2) b = hn::Combine(d, load_half(3), load_half(2));
    for (size_t i = 0; i < kResults; ++i) {
      const Vector made{_mm512_permutex2var_epi8(a.raw, pick[i].raw, b.raw)};
      uint8_t* const target = address(to[i], !kIn);
      if constexpr (kStream) {
        hn::Stream(made, d, target);
      } else if constexpr (kResult_B == kCacheLine_B) {
        hn::StoreU(made, d, target);
      } else {
        hn::StoreU(hn::LowerHalf(half, made), half, target);
      }
    }
    linear += batch.cell_row_B;
    chunks += batch.cell_chunks;
  }
}

using Make = void (*)(const LineProgram::Group& group, const Batch& batch);

template <bool kIn, bool kStream, size_t kResult_B, size_t kWindow_B>
Make WayOf(const LineProgram::Group& group) {
  const bool one_table = group.windows * kWindow_B <= kCacheLine_B;
  if (group.results == 1) {
    return one_table ? MakeResults<kIn, kStream, kResult_B, kWindow_B, 1, 1>
                     : MakeResults<kIn, kStream, kResult_B, kWindow_B, 2, 1>;
  }
  if constexpr (kResult_B == kVector_B) {
    if (group.results == 4) return MakeResults<kIn, kStream, kResult_B, kWindow_B, 2, 4>;
    if (one_table) return MakeResults<kIn, kStream, kResult_B, kWindow_B, 1, 2>;
  }
  return MakeResults<kIn, kStream, kResult_B, kWindow_B, 2, 2>;
}

template <bool kIn, bool kStream, size_t kResult_B>
void CopyLines(const CellCopy& copy) {
  const LineProgram& program = kIn ? copy.program.lines_in : copy.program.lines_out;
  Batch batch;
  batch.stride_B = copy.linear_stride_B;
  batch.cell_row_B = program.cell_row_B;
  batch.cell_chunks = program.chunks;
  for (uint32_t y = copy.y_begin_el; y < copy.y_end_el; y += program.cell_h_el) {
    batch.linear = copy.linear + (y - copy.y_begin_el) * copy.linear_stride_B;
    for (uint32_t x = copy.x_begin_el; x < copy.x_end_el;) {
      const uint32_t end = std::min(copy.x_end_el, x + kBatchCells * program.cell_w_el);
      batch.cells = (end - x) / program.cell_w_el;
      copy.NoteChunks(program.chunk_w_el, x, end, y, batch.chunks);
      for (const LineProgram::Group& group : program.groups) {
        const Make make = group.window_B == kHalf_B
                              ? WayOf<kIn, kStream, kResult_B, kHalf_B>(group)
                              : WayOf<kIn, kStream, kResult_B, kVector_B>(group);
        make(group, batch);
      }
      batch.linear += batch.cells * program.cell_row_B;
      x = end;
    }
  }
  if (kStream) hwy::FlushStream();
}

bool LinesIn(const CellCopy& copy) {
  (copy.stream ? CopyLines<true, true, kCacheLine_B> : CopyLines<true, false, kCacheLine_B>)(copy);
  return true;
}
bool LinesOut(const CellCopy& copy) {
  (copy.program.lines_out.result_B == kCacheLine_B ? CopyLines<false, false, kCacheLine_B>
                                                   : CopyLines<false, false, kVector_B>)(copy);
  return true;
}
bool Has() { return true; }

#endif  // HWY_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace packsmith::layout
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace packsmith::layout {

HWY_EXPORT(LinesIn);
HWY_EXPORT(LinesOut);
HWY_EXPORT(Has);

bool CopyLinesIn(const CellCopy& copy) { return HWY_DYNAMIC_DISPATCH(LinesIn)(copy); }
bool CopyLinesOut(const CellCopy& copy) { return HWY_DYNAMIC_DISPATCH(LinesOut)(copy); }
bool HasLines() { return HWY_DYNAMIC_DISPATCH(Has)(); }

}  // namespace packsmith::layout
#endif  // HWY_ONCE
