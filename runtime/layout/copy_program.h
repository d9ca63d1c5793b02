// How to copy many elements at once: derived from a tiling's matrix, for vectors of 32 bytes.
#ifndef PACKSMITH_RUNTIME_LAYOUT_COPY_PROGRAM_H_
#define PACKSMITH_RUNTIME_LAYOUT_COPY_PROGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/layout/tiling.h"

namespace packsmith::layout {

// Results are made in vectors of two halves, since machines shuffle within halves.
inline constexpr uint32_t kHalf_B = 16;
inline constexpr uint32_t kVector_B = 2 * kHalf_B;
inline constexpr uint32_t kCacheLine_B = 64;
// Copies that bypass the cache go through a buffer of this size.
inline constexpr uint32_t kStagedBatch_B = 8192;

// A place in a cell: in linear memory the line is a row, in tiled memory a chunk.
struct CellPlace {
  uint32_t line, offset_B;

  friend bool operator==(const CellPlace& a, const CellPlace& b) {
    return a.line == b.line && a.offset_B == b.offset_B;
  }
};

// Where a piece of a vector comes from: for each half an unaligned window of 16 bytes, and for each
// byte its place in the window, or 0x80 if another piece has the byte.
struct Piece {
  std::array<CellPlace, 2> from;
  std::array<uint8_t, kVector_B> pick;
  // For exchanges: the final order of the bytes of the result that has this piece's number.
  std::array<uint8_t, kVector_B> sort;
};

// A vector that is put together from pieces.
struct Result {
  CellPlace to;
  uint8_t pieces;
  // Cases that are simpler than the general one.
  enum class Kind : uint8_t {
    // 32 bytes that are not shuffled, in a cell of one chunk of only such results. They are in the
    // order of the tiled memory, where each follows the one before.
    kRun,
    kHalves,  // two times 16 bytes that are not shuffled
    kShared,  // both halves pick from the same windows
    kApart,   // each half has windows of its own
    // Two or four consecutive results are made of as many pieces, which exchange parts, half by
    // half: the first part of each piece (whose `pick` has all bytes) goes to the first result, and
    // so on. `pieces` is 1.
    kExchange2,
    kExchange4,
  } kind;

  friend bool SameWay(const Result& a, const Result& b) {
    return a.pieces == b.pieces && a.kind == b.kind;
  }
};

// Makes all bytes of one side of a cell from those of the other side.
struct Shuffle {
  std::vector<Result> results;  // those made in the same way are consecutive
  std::vector<Piece> pieces;    // of the first result, then of the second, and so on
};

// A chunk is a rectangle of elements that is a run of whole cache lines (of 64 bytes) in the tiled
// memory. A cell is the least number of adjacent chunks that makes its rows whole vectors. All
// cells are alike, so the program is that of one cell. A quad is four rows of 64 bytes that are
// four whole cache lines in the tiled memory too, in which pieces of 16 bytes are not shuffled.
// Quads are the fastest copy: each line is read once and written once, by a few instructions.
struct QuadProgram {
  // Which four of the sixteen pieces a line has, and their order: a row, a block of two by two in
  // one of three orders, or a column.
  enum class Order : uint8_t { kNone, kRow, kZ, kU, kN, kColumn };
  Order order = Order::kNone;
  uint32_t w_el = 0;  // elements in 64 bytes
  // From the first line to the second and to the third (XOR), and both to the fourth. Lines come in
  // the order of their places, first along x.
  uint32_t next_line_B[2] = {};
};
inline constexpr uint32_t kQuadH_el = 4;

// `order` is kNone if tiles have no quads. For copies of one sample of one layer.
QuadProgram MakeQuadProgram(const Tiling& tiling, uint32_t element_B);

// For machines that pick any 64 of 128 bytes at once: results are made in one step from windows of
// the other side. Results in tiled memory are whole cache lines, so that they can bypass the cache.
struct LineProgram {
  static constexpr uint32_t kTables_B = 128;
  // Results that are made of the same windows: 1, 2 or 4.
  struct Group {
    uint32_t window_B = 0;  // kHalf_B or kVector_B
    uint32_t windows = 0, results = 0;
    // As many as kTables_B holds may be read: after the last, the first is repeated.
    std::array<CellPlace, kTables_B / kHalf_B> from;
    std::array<CellPlace, kTables_B / kVector_B> to;
    // The place of each byte in the concatenated windows.
    std::array<std::array<uint8_t, kCacheLine_B>, kTables_B / kVector_B> pick;
  };

  // Chunks and cells as in a CopyProgram. 0 if tiles have no such chunk, or results need too many
  // windows.
  uint32_t cell_w_el = 0, cell_h_el = 0;
  uint32_t chunk_w_el = 0;
  uint32_t chunks = 0;  // of a cell
  uint32_t cell_row_B = 0;
  uint32_t result_B = 0;  // kCacheLine_B or, only out of tiled memory, kVector_B
  std::vector<Group> groups;

  static constexpr uint32_t kMaxChunks = 8;
};

// To the tiled memory, and from it. For copies of one sample of one layer.
LineProgram MakeLineProgramIn(const Tiling& tiling, uint32_t element_B);
LineProgram MakeLineProgramOut(const Tiling& tiling, uint32_t element_B);

struct CopyProgram {
  QuadProgram quads;                // for what can be copied so; only the rest needs what follows
  LineProgram lines_in, lines_out;  // the same, for machines that can run them
  // 0 if tiles have no such chunk, since they are too small or too irregular. Then there are no
  // fast copies.
  uint32_t cell_w_el = 0, cell_h_el = 0;
  uint32_t chunk_w_el = 0;
  uint32_t chunks = 0;  // of a cell
  uint32_t cell_row_B = 0;
  // The largest rectangle of cells of up to kStagedBatch_B that is contiguous in the tiled memory;
  // a single cell if there is none.
  uint32_t block_w_el = 0, block_h_el = 0;
  Shuffle in, out;  // to the tiled memory, and from it

  // Limits of programs.
  static constexpr uint32_t kMaxChunks = 4, kMaxPieces = 4;
};

// The same, without quads and lines.
CopyProgram MakeCopyProgram(const Tiling& tiling, uint32_t element_B);

// The places of tiles and elements in a level.
struct Placement {
  uint64_t offset_B = 0;  // of the level, from the start of the image
  uint64_t tile_row_stride_B = 0, tile_B = 0;
  uint32_t unit_B = 0;       // of an index
  uint32_t slice_index = 0;  // the part of an index from the sample and the layer, to be XORed
  int tile_w_log2 = 0, tile_h_log2 = 0;

  uint64_t OffsetOf(const uint16_t* x_index, const uint16_t* y_index, uint32_t x_el,
                    uint32_t y_el) const {
    const uint32_t x = x_el & ((1u << tile_w_log2) - 1);
    const uint32_t y = y_el & ((1u << tile_h_log2) - 1);
    return offset_B + (y_el >> tile_h_log2) * tile_row_stride_B + (x_el >> tile_w_log2) * tile_B +
           uint64_t{slice_index ^ x_index[x] ^ y_index[y]} * unit_B;
  }
};

// A rectangle to copy; of whole cells, unless it is copied by elements.
struct CellCopy {
  const CopyProgram& program;
  const Placement& placement;
  const uint16_t *x_index, *y_index;  // index of an element by x, and by y, in its tile: XOR them
  uint32_t x_begin_el, x_end_el, y_begin_el, y_end_el;
  uint8_t* image;
  uint8_t* linear;  // of the element at (x_begin_el, y_begin_el)
  uint64_t linear_stride_B;
  uint32_t linear_step_B;  // from an element to the next; in cells, its size
  // Bypass the cache, if the destination is aligned to kHalf_B.
  bool stream;

  uint8_t* TileAt(uint32_t x_el, uint32_t y_el) const {
    return image + placement.offset_B +
           (y_el >> placement.tile_h_log2) * placement.tile_row_stride_B +
           (x_el >> placement.tile_w_log2) * placement.tile_B;
  }
  // Writes the addresses of the adjacent chunks from x_begin to x_end, whose first row is y, to
  // `chunks`. Returns the place after the last one.
  uint8_t** NoteChunks(uint32_t chunk_w_el, uint32_t x_begin, uint32_t x_end, uint32_t y,
                       uint8_t** chunks) const;
};

// Copies with the best instructions that the machine has. Only the destination is written. False,
// and nothing is copied, if the machine has no suitable instructions.
[[nodiscard]] bool CopyCellsIn(const CellCopy& copy);
[[nodiscard]] bool CopyCellsOut(const CellCopy& copy);
// The same for a rectangle of whole quads. Only copies into an image that is aligned to kVector_B
// bypass the cache.
[[nodiscard]] bool CopyQuadsIn(const CellCopy& copy);
[[nodiscard]] bool CopyQuadsOut(const CellCopy& copy);
// The same for a rectangle of whole cells of lines. Only copies into a level that is aligned to
// kCacheLine_B bypass the cache.
[[nodiscard]] bool CopyLinesIn(const CellCopy& copy);
[[nodiscard]] bool CopyLinesOut(const CellCopy& copy);
// Whether the machine has the instructions for lines.
bool HasLines();

}  // namespace packsmith::layout

#endif  // PACKSMITH_RUNTIME_LAYOUT_COPY_PROGRAM_H_
