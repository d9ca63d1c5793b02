// How to copy many elements at once: what follows from a tiling's matrix for vectors of 16 bytes.
#ifndef PACKSMITH_RUNTIME_LAYOUT_COPY_PROGRAM_H_
#define PACKSMITH_RUNTIME_LAYOUT_COPY_PROGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/layout/tiling.h"

namespace packsmith::layout {

inline constexpr uint32_t kVector_B = 16;
using ByteVector = std::array<uint8_t, kVector_B>;

// A vector's place in a cell: in linear memory the line is a row, in tiled memory a chunk.
struct VectorPlace {
  uint32_t line, offset_B;

  friend bool operator==(const VectorPlace& a, const VectorPlace& b) {
    return a.line == b.line && a.offset_B == b.offset_B;
  }
};

// Makes vectors of vectors, in one of three ways.
struct Shuffle {
  // Runs of 16, 32 or 64 bytes stay as they are: the run at from[i] goes to to[i]. 0: they do not.
  uint32_t run_B = 0;

  // Groups of 1, 2 or 4 vectors exchange parts: of each group's vectors (`from`, after the bytes of
  // each were sorted by `before`) the first parts make the first result, the second ones the
  // second, and so on, the bytes of which `after` sorts before they are written (`to`). 0: they do
  // not.
  int group = 0;
  bool sorts = false;  // or else `before` and `after` leave all as it is
  std::vector<ByteVector> before, after;

  // Otherwise each result is put together from `pieces` vectors, `from` having as many for each of
  // `to`; `picks` says which bytes, 0x80 where another piece has the byte.
  int pieces = 0;
  std::vector<ByteVector> picks;

  std::vector<VectorPlace> to, from;
};

// A chunk is a rectangle of elements that is a run of whole cache lines (of 64 bytes) in the tiled
// memory. A cell is as many chunks, side by side, as make its rows whole vectors. All cells are
// alike, so what is to be done is said once, for one cell.
struct CopyProgram {
  // 0 if tiles have no such chunk: too small, or too twisted. Then there are no fast copies.
  uint32_t cell_w_el = 0, cell_h_el = 0;
  uint32_t chunk_w_el = 0;
  uint32_t chunks = 0;  // of a cell
  uint32_t cell_row_B = 0;
  Shuffle in, out;  // to the tiled memory, and from it

  // Limits of what there is a program for.
  static constexpr uint32_t kMaxChunks = 4, kMaxChunk_B = 512;
  static constexpr uint32_t kMaxSteps = kMaxChunks * kMaxChunk_B / kVector_B;
};

// `tiling` has no samples.
CopyProgram MakeCopyProgram(const Tiling& tiling, uint32_t element_B);

// Where tiles and elements lie in a level.
struct Placement {
  uint64_t offset_B = 0;  // of the level, from the start of the image
  uint64_t tile_row_stride_B = 0, tile_B = 0;
  uint32_t unit_B = 0;        // of an index
  uint32_t sample_index = 0;  // what the sample adds (XOR) to an index
  int tile_w_log2 = 0, tile_h_log2 = 0;

  uint64_t OffsetOf(const uint16_t* x_index, const uint16_t* y_index, uint32_t x_el,
                    uint32_t y_el) const {
    const uint32_t x = x_el & ((1u << tile_w_log2) - 1);
    const uint32_t y = y_el & ((1u << tile_h_log2) - 1);
    return offset_B + (y_el >> tile_h_log2) * tile_row_stride_B + (x_el >> tile_w_log2) * tile_B +
           uint64_t{sample_index ^ x_index[x] ^ y_index[y]} * unit_B;
  }
};

// A rectangle of whole cells to be copied.
struct CellCopy {
  const CopyProgram& program;
  const Placement& placement;
  const uint16_t *x_index, *y_index;  // index of an element by x, and by y, in its tile: XOR them
  uint32_t x_begin_el, x_end_el, y_begin_el, y_end_el;
  uint8_t* image;
  uint8_t* linear;  // of the element at (x_begin_el, y_begin_el)
  uint64_t linear_stride_B;
  // Past the cache, where the destination is aligned to 16 bytes.
  bool stream;
};

// With the best instructions that the machine has. Only the destination is written. False, and
// nothing was done, if the machine has no instructions that help.
bool CopyCellsIn(const CellCopy& copy);
bool CopyCellsOut(const CellCopy& copy);

}  // namespace packsmith::layout

#endif  // PACKSMITH_RUNTIME_LAYOUT_COPY_PROGRAM_H_
