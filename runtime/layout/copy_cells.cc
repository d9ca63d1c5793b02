// Runs copy programs: one function for all tilings, compiled for each set of vector instructions
// that the machine could have.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "runtime/layout/copy_program.h"
#include "runtime/layout/vector_targets.h"

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

#elif PACKSMITH_IS_AS_FOR_AVX2

bool In(const CellCopy& copy) { return N_AVX2::In(copy); }
bool Out(const CellCopy& copy) { return N_AVX2::Out(copy); }

#else

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_CAP_GE256
using Tag = hn::Full256<uint8_t>;
#else
using Tag = hn::Full128<uint8_t>;
#endif
using Vector = hn::Vec<Tag>;
using Half = hn::Full128<uint8_t>;

// A result is one vector of the machine, or two if they are of one half only.
constexpr size_t kParts = kVector_B / hn::MaxLanes(Tag());

// Cells go through a program in batches. Larger batches have less overhead; but what is staged
// should be in the first-level cache together with its sources.
constexpr uint32_t kBatch_B = 4 * kStagedBatch_B;
constexpr uint32_t kMaxChunks = kBatch_B / kCacheLine_B;
constexpr uint32_t kLongRow_B = 512;
struct Batch {
  uint8_t* chunks[kMaxChunks];  // of the first cell, then of the second, and so on
  uint8_t* linear[kMaxChunks];  // where each cell's rows begin
  size_t linear_stride_B;       // from a row to the next
  size_t cells;
};

// f(0), f(1) and so on, with numbers that are constants.
template <class F, size_t... kIndices>
HWY_INLINE void Unroll(std::index_sequence<kIndices...>, const F& f) {
  (f(std::integral_constant<size_t, kIndices>()), ...);
}

// One part of a result; `from` has the source of each half.
template <Result::Kind kKind>
HWY_INLINE Vector LoadPart(uint8_t* const from[2], size_t part) {
  const Tag d;
#if HWY_CAP_GE256
  if constexpr (kKind == Result::Kind::kRun) return hn::LoadU(d, from[0]);
  if constexpr (kKind == Result::Kind::kShared) return hn::LoadDup128(d, from[0]);
  const Half half;
  return hn::Combine(d, hn::LoadU(half, from[1]), hn::LoadU(half, from[0]));
#else
  return hn::LoadU(d, from[part]);
#endif
}

// Replaces vectors by those that have the first parts of all, the second parts of all, and so on,
// half by half.
template <size_t kResults>
HWY_INLINE void Exchange(Vector (&v)[kResults][kParts], size_t part) {
  const Tag d;
  const hn::Repartition<uint64_t, Tag> d64;
  if constexpr (kResults == 2) {
    const auto a = hn::BitCast(d64, v[0][part]), b = hn::BitCast(d64, v[1][part]);
    v[0][part] = hn::BitCast(d, hn::InterleaveLower(d64, a, b));
    v[1][part] = hn::BitCast(d, hn::InterleaveUpper(d64, a, b));
  } else {
    const hn::Repartition<uint32_t, Tag> d32;
    const auto a = hn::BitCast(d32, v[0][part]), b = hn::BitCast(d32, v[1][part]);
    const auto c = hn::BitCast(d32, v[2][part]), e = hn::BitCast(d32, v[3][part]);
    const auto ab = hn::BitCast(d64, hn::InterleaveLower(d32, a, b));
    const auto ab2 = hn::BitCast(d64, hn::InterleaveUpper(d32, a, b));
    const auto ce = hn::BitCast(d64, hn::InterleaveLower(d32, c, e));
    const auto ce2 = hn::BitCast(d64, hn::InterleaveUpper(d32, c, e));
    v[0][part] = hn::BitCast(d, hn::InterleaveLower(d64, ab, ce));
    v[1][part] = hn::BitCast(d, hn::InterleaveUpper(d64, ab, ce));
    v[2][part] = hn::BitCast(d, hn::InterleaveLower(d64, ab2, ce2));
    v[3][part] = hn::BitCast(d, hn::InterleaveUpper(d64, ab2, ce2));
  }
}

// Makes kResults results of each cell, all in the same way. They are made for all cells before the
// next results, so that their part of the program can stay in registers.
template <bool kIn, bool kOneChunk, Result::Kind kKind, size_t kPieces, size_t kResults>
void MakeResults(const CopyProgram& program, const Result* results, const Piece* pieces,
                 const Batch& batch) {
  const Tag d;
  constexpr bool kExchanges =
      kKind == Result::Kind::kExchange2 || kKind == Result::Kind::kExchange4;
  constexpr bool kPicks =
      kKind == Result::Kind::kShared || kKind == Result::Kind::kApart || kExchanges;
  using Results = std::make_index_sequence<kResults>;
  using Pieces = std::make_index_sequence<kPieces>;
  using Parts = std::make_index_sequence<kParts>;
  const size_t stride_B = batch.linear_stride_B, cell_chunks = kOneChunk ? 1 : program.chunks;
  struct Place {
    size_t chunk, offset_B;
  };
  const auto place = [&](const CellPlace& in_cell, bool in_linear) HWY_ATTR {
    return in_linear ? Place{0, in_cell.line * stride_B + in_cell.offset_B}
                     : Place{in_cell.line, in_cell.offset_B};
  };
  Place target[kResults], source[kResults * kPieces][2];
  Vector pick[kResults * kPieces][kParts], sort[kResults][kParts];
  Unroll(Results(), [&](auto r) HWY_ATTR { target[r] = place(results[r].to, !kIn); });
  Unroll(std::make_index_sequence<kResults * kPieces>(), [&](auto i) HWY_ATTR {
    source[i][0] = place(pieces[i].from[0], kIn);
    source[i][1] = place(pieces[i].from[1], kIn);
    if constexpr (kPicks) {
      Unroll(Parts(), [&](auto part) HWY_ATTR {
        pick[i][part] = hn::LoadU(d, pieces[i].pick.data() + part * kHalf_B);
      });
    }
  });
  if constexpr (kKind == Result::Kind::kRun) {
    // Their places are already known here, and need no registers.
    Unroll(Results(), [&](auto r) HWY_ATTR {
      (kIn ? target[r] : source[r][0]).offset_B =
          (kIn ? target[0] : source[0][0]).offset_B + r * kVector_B;
    });
  }
  uint8_t* const* chunks = batch.chunks;
  if constexpr (kExchanges) {
    Unroll(Results(), [&](auto r) HWY_ATTR {
      Unroll(Parts(), [&](auto part) HWY_ATTR {
        sort[r][part] = hn::LoadU(d, pieces[r].sort.data() + part * kHalf_B);
      });
    });
  }
  for (size_t cell = 0; cell < batch.cells; ++cell) {
    uint8_t* const linear = batch.linear[cell];
    const auto address = [&](const Place& in_cell, bool in_linear) HWY_ATTR {
      return (in_linear ? linear : chunks[kOneChunk ? 0 : in_cell.chunk]) + in_cell.offset_B;
    };
    Vector made[kResults][kParts];
    const auto store = [&](auto r) HWY_ATTR {
      uint8_t* const to = address(target[r], !kIn);
      Unroll(Parts(), [&](auto part) HWY_ATTR {
        Vector bytes = made[r][part];
        if constexpr (kExchanges) bytes = hn::TableLookupBytes(bytes, sort[r][part]);
        hn::StoreU(bytes, d, to + part * kHalf_B);
      });
    };
    Unroll(Results(), [&](auto r) HWY_ATTR {
      Unroll(Pieces(), [&](auto piece) HWY_ATTR {
        constexpr size_t kI = r * kPieces + piece;
        uint8_t* const from[2] = {address(source[kI][0], kIn), address(source[kI][1], kIn)};
        Unroll(Parts(), [&](auto part) HWY_ATTR {
          Vector bytes = LoadPart<kKind>(from, part);
          if constexpr (kPicks) bytes = hn::TableLookupBytesOr0(bytes, pick[kI][part]);
          made[r][part] = piece == 0 ? bytes : hn::Or(made[r][part], bytes);
        });
      });
      if constexpr (!kExchanges) store(r);
    });
    if constexpr (kExchanges) {
      Unroll(Parts(), [&](auto part) HWY_ATTR { Exchange(made, part); });
      Unroll(Results(), store);
    }
    chunks += cell_chunks;
  }
}

using Make = void (*)(const CopyProgram& program, const Result* results, const Piece* pieces,
                      const Batch& batch);

// How results of one kind are made, and how many at once: as many as there are registers for.
struct Way {
  size_t together;
  Make several, one;
};

template <bool kIn, bool kOneChunk, Result::Kind kKind, size_t kPieces, size_t kTogether>
constexpr Way MakeWay() {
  return {kTogether, MakeResults<kIn, kOneChunk, kKind, kPieces, kTogether>,
          MakeResults<kIn, kOneChunk, kKind, kPieces, 1>};
}

template <bool kIn, bool kOneChunk>
Way WayOf(const Result& result) {
  using Kind = Result::Kind;
  // A single piece for both halves would be the same bytes twice.
  static constexpr Way kShared[CopyProgram::kMaxPieces - 1] = {
      MakeWay<kIn, kOneChunk, Kind::kShared, 2, 4>(),
      MakeWay<kIn, kOneChunk, Kind::kShared, 3, 4>(),
      MakeWay<kIn, kOneChunk, Kind::kShared, 4, 2>(),
  };
  static constexpr Way kApart[CopyProgram::kMaxPieces] = {
      MakeWay<kIn, kOneChunk, Kind::kApart, 1, 4>(),
      MakeWay<kIn, kOneChunk, Kind::kApart, 2, 4>(),
      MakeWay<kIn, kOneChunk, Kind::kApart, 3, 2>(),
      MakeWay<kIn, kOneChunk, Kind::kApart, 4, 2>(),
  };
  switch (result.kind) {
    case Kind::kRun:
      return MakeWay<kIn, kOneChunk, Kind::kRun, 1, 8>();
    case Kind::kHalves:
      return MakeWay<kIn, kOneChunk, Kind::kHalves, 1, 8>();
    case Kind::kShared:
      return kShared[result.pieces - 2];
    case Kind::kApart:
      break;
    case Kind::kExchange2:
      return {2, MakeResults<kIn, kOneChunk, Kind::kExchange2, 1, 2>, nullptr};
    case Kind::kExchange4:
      return {4, MakeResults<kIn, kOneChunk, Kind::kExchange4, 1, 4>, nullptr};
  }
  return kApart[result.pieces - 1];
}

template <bool kIn, bool kOneChunk>
void CopyBatch(const CopyProgram& program, const Batch& batch) {
  const Shuffle& shuffle = kIn ? program.in : program.out;
  const Result* result = shuffle.results.data();
  const Result* const end = result + shuffle.results.size();
  const Piece* pieces = shuffle.pieces.data();
  while (result != end) {
    const Way way = WayOf<kIn, kOneChunk>(*result);
    const bool several = static_cast<size_t>(end - result) >= way.together &&
                         SameWay(*result, result[way.together - 1]);
    (several ? way.several : way.one)(program, result, pieces, batch);
    const size_t made = several ? way.together : 1;
    pieces += made * result->pieces;
    result += made;
  }
}

// Copies bypassing the cache. `to` must be aligned to a half.
void Stream(const uint8_t* from, uint8_t* to, size_t size_B) {
  const Half d;
  for (size_t i = 0; i < size_B; i += kHalf_B) hn::Stream(hn::LoadU(d, from + i), d, to + i);
}

void Prefetch(const uint8_t* from, size_t size_B) {
  const uintptr_t first = reinterpret_cast<uintptr_t>(from);
  for (size_t i = 0; i < size_B; i += kCacheLine_B) {
    hwy::Prefetch(reinterpret_cast<void*>(first + i));
  }
}

// Adds a row of cells to a batch. `linear` is where the first one's rows begin.
HWY_NOINLINE void AddCells(const CellCopy& copy, uint32_t x_begin, uint32_t x_end, uint32_t y,
                           uint8_t* linear, Batch& batch) {
  const CopyProgram& program = copy.program;
  copy.NoteChunks(program.chunk_w_el, x_begin, x_end, y,
                  batch.chunks + batch.cells * program.chunks);
  const uint32_t cells = (x_end - x_begin) / program.cell_w_el;
  for (uint32_t i = 0; i < cells; ++i) {
    batch.linear[batch.cells++] = linear + i * program.cell_row_B;
  }
}

// The cells of a batch.
struct Rectangle {
  uint32_t x_begin, x_end, y_begin, y_end;
};

// Batches of a copy, in order.
class Batches {
 public:
  // If `by_tiles`, a batch is a block, and tiles follow each other, so that images are read in
  // memory order. Otherwise a batch is part of a row of cells.
  Batches(const CellCopy& copy, bool by_tiles) : copy_(copy) {
    const CopyProgram& program = copy.program;
    w_el_ = by_tiles ? program.block_w_el : program.cell_w_el;
    h_el_ = by_tiles ? program.block_h_el : program.cell_h_el;
    const uint64_t most_B = copy.stream ? kStagedBatch_B : kBatch_B;
    const auto fits_twice = [&] {
      return uint64_t{2} * w_el_ * h_el_ * copy.placement.unit_B <= most_B;
    };
    while (fits_twice() && (by_tiles || w_el_ < copy.x_end_el - copy.x_begin_el)) w_el_ *= 2;
    while (fits_twice()) h_el_ *= 2;
    band_el_ = std::max(h_el_, by_tiles ? 1u << copy.placement.tile_h_log2 : 0);
  }

  uint32_t width_el() const { return w_el_; }
  Rectangle First() const { return At(copy_.x_begin_el, copy_.y_begin_el); }
  // Down the tile, then to the next tiles of the row, then to the next row of tiles. Begins at
  // copy.y_end_el if there is none.
  Rectangle After(const Rectangle& batch) const {
    if (batch.y_end % band_el_ != 0 && batch.y_end < copy_.y_end_el) {
      return At(batch.x_begin, batch.y_end);
    }
    if (batch.x_end == copy_.x_end_el) return At(copy_.x_begin_el, batch.y_end);
    return At(batch.x_end, std::max(copy_.y_begin_el, (batch.y_end - 1) & ~(band_el_ - 1)));
  }

 private:
  Rectangle At(uint32_t x, uint32_t y) const {
    return {x, std::min(copy_.x_end_el, (x & ~(w_el_ - 1)) + w_el_), y,
            std::min(copy_.y_end_el, (y & ~(h_el_ - 1)) + h_el_)};
  }

  const CellCopy& copy_;
  uint32_t w_el_, h_el_, band_el_;
};

template <bool kIn>
void CopyCells(const CellCopy& copy) {
  const CopyProgram& program = copy.program;
  const auto copy_batch = program.chunks == 1 ? CopyBatch<kIn, true> : CopyBatch<kIn, false>;
  const Placement& placement = copy.placement;
  const size_t chunk_B = program.cell_row_B / program.chunks * program.cell_h_el;
  // Lines that bypass the cache must be written whole and in order, which programs do not do: their
  // results go through a buffer in the cache.
  HWY_ALIGN uint8_t staging[kStagedBatch_B];
  const bool stages_rows = !kIn && copy.stream, stages_chunks = kIn && copy.stream;
  uint8_t* staged_for[kMaxChunks];

  // Images are read by tiles. Linear memory is read in whole rows, unless tiles have long ones too.
  const bool by_tiles = stages_rows || (stages_chunks && program.cell_row_B >= kLongRow_B);
  const Batches batches(copy, by_tiles);
  Batch batch;
  batch.linear_stride_B =
      stages_rows ? uint64_t{batches.width_el()} * placement.unit_B : copy.linear_stride_B;
  for (Rectangle cells = batches.First(), next; cells.y_begin < copy.y_end_el; cells = next) {
    next = batches.After(cells);
    uint8_t* const linear = copy.linear + (cells.y_begin - copy.y_begin_el) * copy.linear_stride_B +
                            uint64_t{cells.x_begin - copy.x_begin_el} * placement.unit_B;
    uint8_t* const rows = stages_rows ? staging : linear;
    batch.cells = 0;
    for (uint32_t y = cells.y_begin; y < cells.y_end; y += program.cell_h_el) {
      AddCells(copy, cells.x_begin, cells.x_end, y,
               rows + (y - cells.y_begin) * batch.linear_stride_B, batch);
    }
    const size_t chunks = batch.cells * program.chunks;
    for (size_t i = 0; stages_chunks && i < chunks; ++i) {
      staged_for[i] = std::exchange(batch.chunks[i], staging + i * chunk_B);
    }
    copy_batch(program, batch);
    for (size_t i = 0; stages_chunks && i < chunks; ++i) {
      Stream(staging + i * chunk_B, staged_for[i], chunk_B);
    }
    if (stages_rows) {
      // Meanwhile the next block is prefetched, as far as the image has it.
      const uint8_t* ahead =
          copy.image + placement.OffsetOf(copy.x_index, copy.y_index, next.x_begin, next.y_begin);
      const size_t row_B = uint64_t{cells.x_end - cells.x_begin} * placement.unit_B;
      for (uint32_t row = 0; row < cells.y_end - cells.y_begin; ++row) {
        Stream(rows + row * batch.linear_stride_B, linear + row * copy.linear_stride_B, row_B);
        Prefetch(ahead + row * row_B, row_B);
      }
    }
  }
  if (copy.stream) hwy::FlushStream();
}

bool In(const CellCopy& copy) {
  CopyCells<true>(copy);
  return true;
}
bool Out(const CellCopy& copy) {
  CopyCells<false>(copy);
  return true;
}

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
