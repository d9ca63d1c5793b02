// How to copy many elements at once: what follows from a tiling's matrix for vectors of 32 bytes.
#ifndef PACKSMITH_RUNTIME_LAYOUT_COPY_PROGRAM_H_
#define PACKSMITH_RUNTIME_LAYOUT_COPY_PROGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/layout/tiling.h"

namespace packsmith::layout {

// Results are made in vectors of two halves: what machines shuffle are halves.
inline constexpr uint32_t kHalf_B = 16;
inline constexpr uint32_t kVector_B = 2 * kHalf_B;
inline constexpr uint32_t kCacheLine_B = 64;
// What is copied past the cache goes through a buffer of that size.
inline constexpr uint32_t kStagedBatch_B = 8192;

// A place in a cell: in linear memory the line is a row, in tiled memory a chunk.
struct CellPlace {
  uint32_t line, offset_B;

  friend bool operator==(const CellPlace& a, const CellPlace& b) {
    return a.line == b.line && a.offset_B == b.offset_B;
  }
};

// Where a piece of a vector comes from: for each half a window of 16 bytes, aligned to nothing, and
// for each byte its place in the window, or 0x80 if another piece has the byte.
struct Piece {
  std::array<CellPlace, 2> from;
  std::array<uint8_t, kVector_B> pick;
  // Of exchanges: how the bytes of the result with the number of this piece are sorted in the end.
  std::array<uint8_t, kVector_B> sort;
};

// A vector, which is put together from pieces.
struct Result {
  CellPlace to;
  uint8_t pieces;
  // What is simpler than the general case.
  enum class Kind : uint8_t {
    // 32 bytes that stay as they are, in a cell of one chunk of which all do. They are in the order
    // of the tiled memory, where each follows the one before.
    kRun,
    kHalves,  // two times 16 bytes that stay as they are
    kShared,  // both halves pick from the same windows
    kApart,   // each half has windows of its own
    // Two or four results that follow each other are made of as many pieces, which exchange parts,
    // half by half: of each piece (whose `pick` leaves no byte out) the first part goes to the
    // first result, and so on. `pieces` is 1.
    kExchange2,
    kExchange4,
  } kind;

  friend bool SameWay(const Result& a, const Result& b) {
    return a.pieces == b.pieces && a.kind == b.kind;
  }
};

// Makes all bytes of one side of a cell of those of the other side.
struct Shuffle {
  std::vector<Result> results;  // those that are made in the same way follow each other
  std::vector<Piece> pieces;    // of the first result, then of the second, and so on
};

// A chunk is a rectangle of elements that is a run of whole cache lines (of 64 bytes) in the tiled
// memory. A cell is as many chunks, side by side, as make its rows whole vectors. All cells are
// alike, so what is to be done is said once, for one cell.
// A quad is four rows of 64 bytes that are four whole cache lines in the tiled memory too, where
// pieces of 16 bytes stay as they are. Where tiles have quads, there is nothing better: each line
// is read once and written once, and a few instructions do it.
struct QuadProgram {
  // Which four of the sixteen pieces a line has, and in what order: a row of them, a block of two
  // by two in one of three orders, or a column.
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

// For machines that pick any 64 of 128 bytes at once: results are made in one go of windows of the
// other side, those of tiled memory a whole cache line each, so that they can bypass the cache.
struct LineProgram {
  static constexpr uint32_t kTables_B = 128;
  // Results that are made of the same windows: 1, 2 or 4.
  struct Group {
    uint32_t window_B = 0;  // kHalf_B or kVector_B
    uint32_t windows = 0, results = 0;
    // As many as kTables_B holds may be read: behind the last, the first comes again.
    std::array<CellPlace, kTables_B / kHalf_B> from;
    std::array<CellPlace, kTables_B / kVector_B> to;
    // Of each byte, its place in the windows, of which one follows the other.
    std::array<std::array<uint8_t, kCacheLine_B>, kTables_B / kVector_B> pick;
  };

  // Chunks and cells are as those of a CopyProgram. 0 if tiles have no such chunk, or results are
  // made of too many windows.
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
  QuadProgram quads;                // of what can be copied so; only the rest needs what follows
  LineProgram lines_in, lines_out;  // the same, for machines that can run them
  // 0 if tiles have no such chunk: too small, or too twisted. Then there are no fast copies.
  uint32_t cell_w_el = 0, cell_h_el = 0;
  uint32_t chunk_w_el = 0;
  uint32_t chunks = 0;  // of a cell
  uint32_t cell_row_B = 0;
  // The largest rectangle of cells of up to kStagedBatch_B that is one piece of the tiled memory
  // (or a single cell, if that is none).
  uint32_t block_w_el = 0, block_h_el = 0;
  Shuffle in, out;  // to the tiled memory, and from it

  // Limits of what there is a program for.
  static constexpr uint32_t kMaxChunks = 4, kMaxPieces = 4;
};

// The same. Leaves quads and lines out.
CopyProgram MakeCopyProgram(const Tiling& tiling, uint32_t element_B);

// Where tiles and elements lie in a level.
struct Placement {
  uint64_t offset_B = 0;  // of the level, from the start of the image
  uint64_t tile_row_stride_B = 0, tile_B = 0;
  uint32_t unit_B = 0;       // of an index
  uint32_t slice_index = 0;  // what the sample and the layer add (XOR) to an index
  int tile_w_log2 = 0, tile_h_log2 = 0;

  uint64_t OffsetOf(const uint16_t* x_index, const uint16_t* y_index, uint32_t x_el,
                    uint32_t y_el) const {
    const uint32_t x = x_el & ((1u << tile_w_log2) - 1);
    const uint32_t y = y_el & ((1u << tile_h_log2) - 1);
    return offset_B + (y_el >> tile_h_log2) * tile_row_stride_B + (x_el >> tile_w_log2) * tile_B +
           uint64_t{slice_index ^ x_index[x] ^ y_index[y]} * unit_B;
  }
};

// A rectangle to be copied, if not by elements, of whole cells.
struct CellCopy {
  const CopyProgram& program;
  const Placement& placement;
  const uint16_t *x_index, *y_index;  // index of an element by x, and by y, in its tile: XOR them
  uint32_t x_begin_el, x_end_el, y_begin_el, y_end_el;
  uint8_t* image;
  uint8_t* linear;  // of the element at (x_begin_el, y_begin_el)
  uint64_t linear_stride_B;
  uint32_t linear_step_B;  // from an element to the next; in cells, its size
  // Past the cache, where the destination is aligned to kHalf_B.
  bool stream;

  uint8_t* TileAt(uint32_t x_el, uint32_t y_el) const {
    return image + placement.offset_B +
           (y_el >> placement.tile_h_log2) * placement.tile_row_stride_B +
           (x_el >> placement.tile_w_log2) * placement.tile_B;
  }
  // Where the chunks lie that are side by side from x_begin to x_end, of which y is the first row.
  // Returns where the next one is to be noted.
  uint8_t** NoteChunks(uint32_t chunk_w_el, uint32_t x_begin, uint32_t x_end, uint32_t y,
                       uint8_t** chunks) const;
};

// With the best instructions that the machine has. Only the destination is written. False, and
// nothing was done, if the machine has no instructions that help.
bool CopyCellsIn(const CellCopy& copy);
bool CopyCellsOut(const CellCopy& copy);
// The same for a rectangle of whole quads. Past the cache goes only what is copied in, if the image
// is aligned to kVector_B.
bool CopyQuadsIn(const CellCopy& copy);
bool CopyQuadsOut(const CellCopy& copy);
// The same for a rectangle of whole cells of lines. Past the cache goes only what is copied in, if
// the level is aligned to kCacheLine_B.
bool CopyLinesIn(const CellCopy& copy);
bool CopyLinesOut(const CellCopy& copy);
// Whether the machine has the instructions for it.
bool HasLines();

}  // namespace packsmith::layout

#endif  // PACKSMITH_RUNTIME_LAYOUT_COPY_PROGRAM_H_
