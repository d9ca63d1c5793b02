// Runs line programs, on machines that have AVX-512 with VBMI: only these pick bytes of 128 at
// once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/layout/copy_program.h"

// That one, and the least that must be there.
#define HWY_WANT_AVX3_DL
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX2 | HWY_AVX3)
#endif
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

#else

namespace hn = hwy::HWY_NAMESPACE;

using Line = hn::Full512<uint8_t>;
using Vector = hn::Vec<Line>;

// So many cells go through a group of lines before they go through the next, so that what the
// program says of it stays in registers, and their rows in the first cache.
constexpr uint32_t kBatchCells = 16;

// Four windows of 16 bytes or two of 32, one beside the other.
template <size_t kWindow_B>
HWY_INLINE Vector LoadTable(const uint8_t* linear, const size_t* from) {
  const hn::Full256<uint8_t> half;
  const auto load = [&](size_t i) HWY_ATTR {
    if constexpr (kWindow_B == kVector_B) {
      return hn::LoadU(half, linear + from[i]);
    } else {
      const hn::Full128<uint8_t> quarter;
      return hn::Combine(half, hn::LoadU(quarter, linear + from[2 * i + 1]),
                         hn::LoadU(quarter, linear + from[2 * i]));
    }
  };
  return hn::Combine(Line(), load(1), load(0));
}

// Makes the lines of a group for all cells, of one table of 64 bytes or of two.
template <size_t kWindow_B, size_t kTables, size_t kLines, bool kStream>
void MakeLines(const LineProgram::Group& group, const uint8_t* linear, size_t stride_B,
               size_t cell_row_B, uint8_t* const* chunks, size_t cell_chunks, size_t cells) {
  const Line d;
  constexpr size_t kWindows = kTables * kCacheLine_B / kWindow_B;
  size_t from[kWindows];
  for (size_t i = 0; i < kWindows; ++i) {
    from[i] = group.from[i].line * stride_B + group.from[i].offset_B;
  }
  Vector pick[kLines];
  for (size_t i = 0; i < kLines; ++i) pick[i] = hn::LoadU(d, group.line[i].pick.data());
  for (size_t cell = 0; cell < cells; ++cell) {
    const Vector a = LoadTable<kWindow_B>(linear, from);
    Vector b = a;
    if constexpr (kTables == 2) b = LoadTable<kWindow_B>(linear, from + kWindows / 2);
    for (size_t i = 0; i < kLines; ++i) {
      const Vector line{_mm512_permutex2var_epi8(a.raw, pick[i].raw, b.raw)};
      uint8_t* const to = chunks[group.line[i].to.line] + group.line[i].to.offset_B;
      if constexpr (kStream) {
        hn::Stream(line, d, to);
      } else {
        hn::StoreU(line, d, to);
      }
    }
    linear += cell_row_B;
    chunks += cell_chunks;
  }
}

template <bool kStream>
auto WayOf(const LineProgram::Group& group) {
  const bool wide = group.window_B == kVector_B;
  if (group.lines == 2)
    return wide ? MakeLines<kVector_B, 2, 2, kStream> : MakeLines<kHalf_B, 2, 2, kStream>;
  if (group.windows * group.window_B > kCacheLine_B) {
    return wide ? MakeLines<kVector_B, 2, 1, kStream> : MakeLines<kHalf_B, 2, 1, kStream>;
  }
  return wide ? MakeLines<kVector_B, 1, 1, kStream> : MakeLines<kHalf_B, 1, 1, kStream>;
}

template <bool kStream>
void CopyLines(const CellCopy& copy) {
  const LineProgram& program = copy.program.lines;
  const uint32_t batch_w_el = kBatchCells * program.cell_w_el;
  uint8_t* chunks[kBatchCells * LineProgram::kMaxChunks];
  for (uint32_t y = copy.y_begin_el; y < copy.y_end_el; y += program.cell_h_el) {
    const uint8_t* linear = copy.linear + (y - copy.y_begin_el) * copy.linear_stride_B;
    for (uint32_t x = copy.x_begin_el; x < copy.x_end_el;) {
      const uint32_t w_el = std::min(batch_w_el, copy.x_end_el - x);
      const uint32_t cells = w_el / program.cell_w_el;
      copy.NoteChunks(program.chunk_w_el, x, x + w_el, y, chunks);
      for (const LineProgram::Group& group : program.groups) {
        WayOf<kStream>(group)(group, linear, copy.linear_stride_B, program.cell_row_B, chunks,
                              program.chunks, cells);
      }
      linear += cells * program.cell_row_B;
      x += w_el;
    }
  }
  if (kStream) hwy::FlushStream();
}

bool LinesIn(const CellCopy& copy) {
  (copy.stream ? CopyLines<true> : CopyLines<false>)(copy);
  return true;
}

#endif  // HWY_TARGET

}  // namespace HWY_NAMESPACE
}  // namespace packsmith::layout
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace packsmith::layout {

HWY_EXPORT(LinesIn);

bool CopyLinesIn(const CellCopy& copy) { return HWY_DYNAMIC_DISPATCH(LinesIn)(copy); }

}  // namespace packsmith::layout
#endif  // HWY_ONCE
