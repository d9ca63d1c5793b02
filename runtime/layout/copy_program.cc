#include "runtime/layout/copy_program.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/numeric/bits.h"
#include "absl/types/span.h"

namespace packsmith::layout {
namespace {

// Looking up the place of a chunk takes as long as copying a line or two of it, so it should have
// several. But the more elements a cell has, the more of an image is edges, whose elements are
// copied one by one.
constexpr uint32_t kGoodChunk_B = 256, kGoodCell_el = 128, kMaxCell_B = 1024;
constexpr uint32_t kMaxLineCellH_el = 16;

struct Chunk {
  int width_log2 = 0, height_log2 = 0;
};

// Whether the places whose index is below 2^bits are an aligned rectangle, and these bits depend on
// no other bits of a place. Then each of the tile's runs of 2^bits indices is such a rectangle, and
// all have the same order inside.
bool IsChunk(const Tiling& tiling, int bits, Chunk& chunk) {
  const uint32_t low = (1u << bits) - 1;
  chunk = {};
  for (int i = 0; i < tiling.width_log2(); ++i) {
    const uint32_t column = tiling.x_column(i);
    if ((column & ~low) == 0 && chunk.width_log2 == i) {
      ++chunk.width_log2;
    } else if ((column & low) != 0) {
      return false;
    }
  }
  for (int i = 0; i < tiling.height_log2(); ++i) {
    const uint32_t column = tiling.y_column(i);
    if ((column & ~low) == 0 && chunk.height_log2 == i) {
      ++chunk.height_log2;
    } else if ((column & low) != 0) {
      return false;
    }
  }
  for (int i = 0; i < tiling.samples_log2(); ++i) {
    if ((tiling.sample_column(i) & low) != 0) return false;
  }
  for (int i = 0; i < tiling.depth_log2(); ++i) {
    if ((tiling.z_column(i) & low) != 0) return false;
  }
  return chunk.width_log2 + chunk.height_log2 == bits;
}

constexpr uint8_t kNothing = 0x80;  // picks no byte

// The starts of the fewest windows of 16 bytes that cover all of `bytes`, in lines of `line_B`
// bytes. If possible, they begin at multiples of 16.
std::vector<CellPlace> CoverWithWindows(absl::Span<const CellPlace> bytes, uint32_t line_B) {
  std::vector<CellPlace> sorted(bytes.begin(), bytes.end());
  std::sort(sorted.begin(), sorted.end(), [](const CellPlace& a, const CellPlace& b) {
    return std::pair(a.line, a.offset_B) < std::pair(b.line, b.offset_B);
  });
  // Each window begins at the first byte that is not covered, or as close as possible to the end of
  // the line.
  const auto cover = [&](uint32_t multiple_of_B) {
    std::vector<CellPlace> windows;
    for (const CellPlace& byte : sorted) {
      if (!windows.empty() && byte.line == windows.back().line &&
          byte.offset_B < windows.back().offset_B + kHalf_B) {
        continue;
      }
      windows.push_back(
          {byte.line, std::min(byte.offset_B / multiple_of_B * multiple_of_B, line_B - kHalf_B)});
    }
    return windows;
  };
  const std::vector<CellPlace> aligned = cover(kHalf_B), anywhere = cover(1);
  return aligned.size() <= anywhere.size() ? aligned : anywhere;
}

// The place of a byte in a window, or kNothing.
uint8_t PlaceIn(const CellPlace& window, const CellPlace& byte) {
  const uint32_t place = byte.offset_B - window.offset_B;
  return byte.line == window.line && place < kHalf_B ? static_cast<uint8_t>(place) : kNothing;
}

// Makes the vector at `to` from the bytes at `origins`, which are in lines of `line_B` bytes.
void MakeResult(absl::Span<const CellPlace> origins, uint32_t line_B, const CellPlace& to,
                Result& result, std::vector<Piece>& pieces) {
  const std::vector<CellPlace> shared = CoverWithWindows(origins, line_B);
  std::array<std::vector<CellPlace>, 2> apart;
  for (size_t half = 0; half < 2; ++half) {
    apart[half] = CoverWithWindows(origins.subspan(half * kHalf_B, kHalf_B), line_B);
  }
  size_t count = std::max(apart[0].size(), apart[1].size());
  result = {to, 0, Result::Kind::kApart};
  // Loading a window once, not for each half, is worth one more window, except for vectors that
  // need no shuffling at all.
  if (shared.size() <= (count > 1 ? count + 1 : count)) {
    apart = {shared, shared};
    count = shared.size();
    result.kind = Result::Kind::kShared;
  }
  result.pieces = static_cast<uint8_t>(count);
  std::array<bool, kVector_B> done = {};
  bool in_order = true;
  for (size_t i = 0; i < count; ++i) {
    Piece& piece = pieces.emplace_back(Piece());
    for (size_t half = 0; half < 2; ++half) {
      // A half that needs fewer pieces picks nothing from the others.
      piece.from[half] = apart[half][std::min(i, apart[half].size() - 1)];
      for (size_t byte = half * kHalf_B; byte < (half + 1) * kHalf_B; ++byte) {
        const uint8_t place = done[byte] ? kNothing : PlaceIn(piece.from[half], origins[byte]);
        piece.pick[byte] = place;
        done[byte] |= place != kNothing;
        in_order &= place == byte % kHalf_B;
      }
    }
  }
  if (count == 1 && in_order) result.kind = Result::Kind::kHalves;
}

struct Made {
  Result result;
  std::vector<Piece> pieces;
};

// Whether a result has an equal part of each of its windows in each half.
bool HasEqualParts(const Made& made) {
  for (const Piece& piece : made.pieces) {
    for (size_t half = 0; half < 2; ++half) {
      const auto* const picks = piece.pick.begin() + half * kHalf_B;
      if (made.pieces.size() * (kHalf_B - std::count(picks, picks + kHalf_B, kNothing)) !=
          kHalf_B) {
        return false;
      }
    }
  }
  return true;
}

// Turns results that are made of the same windows, as many as there are windows, into an exchange.
void MakeExchange(absl::Span<Made* const> group) {
  const size_t size = group.size(), part_B = kHalf_B / size;
  std::vector<Piece> pieces = group[0]->pieces;
  for (size_t r = 0; r < size; ++r) {
    for (size_t p = 0; p < size; ++p) {
      const std::array<uint8_t, kVector_B>& pick = group[r]->pieces[p].pick;
      for (size_t half = 0; half < 2; ++half) {
        size_t at = 0;  // in the part of piece p for result r, and of result r from piece p
        for (size_t byte = half * kHalf_B; byte < (half + 1) * kHalf_B; ++byte) {
          if (pick[byte] == kNothing) continue;
          pieces[p].pick[half * kHalf_B + r * part_B + at] = pick[byte];
          pieces[r].sort[byte] = static_cast<uint8_t>(p * part_B + at);
          ++at;
        }
      }
    }
  }
  for (size_t r = 0; r < size; ++r) {
    group[r]->result.kind = size == 2 ? Result::Kind::kExchange2 : Result::Kind::kExchange4;
    group[r]->result.pieces = 1;
    group[r]->pieces = {pieces[r]};
  }
}

// Finds all exchanges, and makes the results of each one consecutive.
void FindExchanges(std::vector<Made>& made) {
  const auto same_windows = [](const Made& a, const Made& b) {
    return std::equal(a.pieces.begin(), a.pieces.end(), b.pieces.begin(), b.pieces.end(),
                      [](const Piece& p, const Piece& q) { return p.from == q.from; });
  };
  const auto may_exchange = [](const Made& m) {
    return m.result.kind == Result::Kind::kApart &&
           (m.pieces.size() == 2 || m.pieces.size() == 4) && HasEqualParts(m);
  };
  for (size_t first = 0; first < made.size(); ++first) {
    if (!may_exchange(made[first])) continue;
    size_t end = first + 1;
    for (size_t i = end; i < made.size() && end - first < made[first].pieces.size(); ++i) {
      if (!may_exchange(made[i]) || !same_windows(made[first], made[i])) continue;
      std::rotate(made.begin() + end, made.begin() + i, made.begin() + i + 1);
      ++end;
    }
    if (end - first != made[first].pieces.size()) continue;
    std::vector<Made*> group;
    for (size_t i = first; i < end; ++i) group.push_back(&made[i]);
    MakeExchange(group);
  }
}

// `origins[i]` is where byte i of the destination comes from, in lines of `from_line_B`; the
// destination's lines have `line_B` bytes.
Shuffle MakeShuffle(const std::vector<CellPlace>& origins, uint32_t from_line_B, uint32_t line_B) {
  Shuffle shuffle;
  std::vector<Made> made(origins.size() / kVector_B);
  for (uint32_t i = 0; i < made.size(); ++i) {
    const uint32_t at_B = i * kVector_B;
    MakeResult(absl::MakeConstSpan(origins).subspan(at_B, kVector_B), from_line_B,
               {at_B / line_B, at_B % line_B}, made[i].result, made[i].pieces);
  }
  FindExchanges(made);
  std::stable_sort(made.begin(), made.end(), [](const Made& a, const Made& b) {
    return std::pair(a.result.kind, a.result.pieces) < std::pair(b.result.kind, b.result.pieces);
  });
  for (const Made& m : made) {
    shuffle.results.push_back(m.result);
    shuffle.pieces.insert(shuffle.pieces.end(), m.pieces.begin(), m.pieces.end());
  }
  return shuffle;
}

// Whether a result is 32 bytes that are not shuffled.
bool IsRun(const Result& result, const Piece& piece) {
  return result.kind == Result::Kind::kHalves && piece.from[0].line == piece.from[1].line &&
         piece.from[0].offset_B + kHalf_B == piece.from[1].offset_B;
}

// If no bytes are shuffled, results become runs. `into_tiled` tells which side is the tiled one.
void FindRuns(Shuffle& shuffle, bool into_tiled) {
  std::vector<std::pair<Result, Piece>> runs;
  for (size_t i = 0; i < shuffle.results.size(); ++i) {
    // Halves come first, and have one piece each.
    if (!IsRun(shuffle.results[i], shuffle.pieces[i])) return;
    runs.push_back({shuffle.results[i], shuffle.pieces[i]});
    runs.back().first.kind = Result::Kind::kRun;
  }
  std::sort(runs.begin(), runs.end(), [&](const auto& a, const auto& b) {
    return into_tiled ? a.first.to.offset_B < b.first.to.offset_B
                      : a.second.from[0].offset_B < b.second.from[0].offset_B;
  });
  for (size_t i = 0; i < runs.size(); ++i) {
    std::tie(shuffle.results[i], shuffle.pieces[i]) = runs[i];
  }
}

// Bytes of a cell.
class ByteSet {
 public:
  static constexpr uint32_t kNone = kMaxCell_B;

  void Add(uint32_t byte) { words_[byte / 64] |= uint64_t{1} << byte % 64; }
  void Add(const ByteSet& more) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= more.words_[i];
  }
  // The first of them from `byte`.
  uint32_t From(uint32_t byte) const {
    for (; byte < kMaxCell_B; byte = (byte / 64 + 1) * 64) {
      const uint64_t rest = words_[byte / 64] >> byte % 64;
      if (rest != 0) return byte + static_cast<uint32_t>(absl::countr_zero(rest));
    }
    return kNone;
  }

 private:
  std::array<uint64_t, kMaxCell_B / 64> words_ = {};
};

// Finds windows that cover the bytes, which are in lines of `line_B`; at multiples of their size,
// if possible. False if there would be too many.
bool FindWindows(const ByteSet& bytes, uint32_t line_B, uint32_t window_B,
                 LineProgram::Group& group) {
  const uint32_t most = LineProgram::kTables_B / window_B;
  group.window_B = window_B;
  for (const uint32_t multiple_of_B : {window_B, 1u}) {
    group.windows = 0;
    for (uint32_t byte = bytes.From(0); byte != ByteSet::kNone && group.windows <= most;) {
      const uint32_t in_line = byte % line_B;
      const uint32_t begin = std::min(in_line / multiple_of_B * multiple_of_B, line_B - window_B);
      if (group.windows < most) group.from[group.windows] = {byte / line_B, begin};
      ++group.windows;
      byte = bytes.From(byte - in_line + begin + window_B);
    }
    if (group.windows <= most) {
      std::fill(group.from.begin() + group.windows, group.from.end(), group.from[0]);
      return true;
    }
  }
  return false;
}

// Makes results of `result_B` each. `origins[i]` is where byte i of the destination comes from, in
// lines of `from_line_B`; the destination's lines have `line_B`. Nothing if one is made of too many
// windows.
std::vector<LineProgram::Group> MakeGroups(absl::Span<const uint16_t> origins, uint32_t from_line_B,
                                           uint32_t line_B, uint32_t result_B) {
  const size_t count = origins.size() / result_B;
  std::vector<ByteSet> needs(count);
  for (size_t i = 0; i < origins.size(); ++i) needs[i / result_B].Add(origins[i]);
  std::vector<LineProgram::Group> groups;
  std::vector<bool> done(count);
  for (size_t first = 0; first < count; ++first) {
    if (done[first]) continue;
    LineProgram::Group group;
    if (!FindWindows(needs[first], from_line_B, kVector_B, group) &&
        !FindWindows(needs[first], from_line_B, kHalf_B, group)) {
      return {};
    }
    // As many of the others as fit too. Groups of three do not exist.
    std::array<size_t, LineProgram::kTables_B / kVector_B> members = {first};
    group.results = 1;
    ByteSet bytes = needs[first];
    LineProgram::Group of_two;
    for (size_t i = first + 1; i < count && group.results < LineProgram::kTables_B / result_B;
         ++i) {
      ByteSet more = bytes;
      more.Add(needs[i]);
      LineProgram::Group larger = group;
      if (done[i] || !FindWindows(more, from_line_B, group.window_B, larger)) continue;
      bytes = more;
      members[larger.results++] = i;
      group = larger;
      if (group.results == 2) of_two = group;
    }
    if (group.results == 3) group = of_two;
    for (uint32_t r = 0; r < group.results; ++r) {
      const uint32_t at_B = static_cast<uint32_t>(members[r]) * result_B;
      done[members[r]] = true;
      group.to[r] = {at_B / line_B, at_B % line_B};
      group.pick[r].fill(0);
      for (uint32_t i = 0; i < result_B; ++i) {
        const CellPlace origin = {origins[at_B + i] / from_line_B, origins[at_B + i] % from_line_B};
        uint32_t w = 0;
        while (origin.line != group.from[w].line ||
               origin.offset_B - group.from[w].offset_B >= group.window_B) {
          ++w;
        }
        group.pick[r][i] =
            static_cast<uint8_t>(w * group.window_B + origin.offset_B - group.from[w].offset_B);
      }
    }
    groups.push_back(group);
  }
  return groups;
}

// The rows of cells are multiples of `row_B`.
LineProgram MakeLineProgram(const Tiling& tiling, uint32_t element_B, bool in, uint32_t row_B,
                            uint32_t result_B) {
  LineProgram program;
  Chunk chunk;
  uint32_t chunk_B = 0;
  for (int bits = 0; bits <= tiling.index_bits() && chunk_B < kGoodChunk_B; ++bits) {
    Chunk candidate;
    const uint32_t size_B = element_B << bits;
    if (size_B % kCacheLine_B != 0 || !IsChunk(tiling, bits, candidate)) continue;
    // Few rows, since each is in another page of a large image.
    if (1u << candidate.height_log2 > kMaxLineCellH_el) break;
    uint32_t needed = 1;
    while ((element_B << candidate.width_log2) * needed % row_B != 0) needed *= 2;
    if (needed > LineProgram::kMaxChunks || size_B * needed > kMaxCell_B) break;
    chunk = candidate;
    chunk_B = size_B;
    program.chunks = needed;
  }
  if (chunk_B == 0) return program;
  program.chunk_w_el = 1u << chunk.width_log2;
  program.cell_w_el = program.chunk_w_el * program.chunks;
  program.cell_h_el = 1u << chunk.height_log2;
  program.cell_row_B = element_B * program.cell_w_el;
  program.result_B = result_B;

  std::vector<uint16_t> origins(chunk_B * program.chunks);
  for (uint32_t y = 0; y < program.cell_h_el; ++y) {
    for (uint32_t x = 0; x < program.cell_w_el; ++x) {
      const uint32_t index = tiling.IndexOf({x % program.chunk_w_el, y, 0});
      for (uint32_t byte = 0; byte < element_B; ++byte) {
        const uint32_t linear = y * program.cell_row_B + x * element_B + byte;
        const uint32_t tiled = x / program.chunk_w_el * chunk_B + index * element_B + byte;
        origins[in ? tiled : linear] = static_cast<uint16_t>(in ? linear : tiled);
      }
    }
  }
  program.groups = in ? MakeGroups(origins, program.cell_row_B, chunk_B, result_B)
                      : MakeGroups(origins, chunk_B, program.cell_row_B, result_B);
  return program.groups.empty() ? LineProgram() : program;
}

}  // namespace

QuadProgram MakeQuadProgram(const Tiling& tiling, uint32_t element_B) {
  QuadProgram none;
  if (element_B == 0 || kHalf_B % element_B != 0) return none;
  int skipped = 0;
  while (element_B << skipped < kHalf_B) ++skipped;
  // From here, elements are pieces.
  const std::optional<Tiling> pieces = tiling.WithoutLowBitsOfX(skipped);
  if (!pieces.has_value() || pieces->width_log2() < 2 || pieces->height_log2() < 2) return none;
  constexpr uint32_t kInLine = 3;  // the bits of an index that select the piece of a line
  for (int i = 2; i < pieces->width_log2(); ++i) {
    if ((pieces->x_column(i) & kInLine) != 0) return none;
  }
  for (int i = 2; i < pieces->height_log2(); ++i) {
    if ((pieces->y_column(i) & kInLine) != 0) return none;
  }
  for (int i = 0; i < pieces->samples_log2(); ++i) {
    if ((pieces->sample_column(i) & kInLine) != 0) return none;
  }
  for (int i = 0; i < pieces->depth_log2(); ++i) {
    if ((pieces->z_column(i) & kInLine) != 0) return none;
  }
  const uint32_t x0 = pieces->x_column(0), x1 = pieces->x_column(1);
  const uint32_t y0 = pieces->y_column(0), y1 = pieces->y_column(1);
  // The meaning of the four bits of a place in a quad: two give the place in a line, two the line.
  struct Known {
    QuadProgram::Order order;
    std::array<uint32_t, 2> in_line, becomes, next_line;
  };
  const Known known[] = {
      {QuadProgram::Order::kRow, {x0, x1}, {1, 2}, {y0, y1}},
      {QuadProgram::Order::kZ, {x0, y0}, {1, 2}, {x1, y1}},
      {QuadProgram::Order::kU, {x0, y0}, {1, 3}, {x1, y1}},
      {QuadProgram::Order::kN, {y0, x0}, {1, 2}, {x1, y1}},
      {QuadProgram::Order::kColumn, {y0, y1}, {1, 2}, {x0, x1}},
  };
  for (const Known& k : known) {
    if (k.in_line != k.becomes || ((k.next_line[0] | k.next_line[1]) & kInLine) != 0) continue;
    QuadProgram quads;
    quads.order = k.order;
    quads.w_el = kCacheLine_B / element_B;
    quads.next_line_B[0] = k.next_line[0] * kHalf_B;
    quads.next_line_B[1] = k.next_line[1] * kHalf_B;
    return quads;
  }
  return none;
}

LineProgram MakeLineProgramIn(const Tiling& tiling, uint32_t element_B) {
  return MakeLineProgram(tiling, element_B, true, kVector_B, kCacheLine_B);
}

LineProgram MakeLineProgramOut(const Tiling& tiling, uint32_t element_B) {
  // Whole lines of rows, if that takes no more loads.
  LineProgram lines = MakeLineProgram(tiling, element_B, false, kCacheLine_B, kCacheLine_B);
  LineProgram halves = MakeLineProgram(tiling, element_B, false, kVector_B, kVector_B);
  const auto loads_of_byte = [](const LineProgram& program) {
    double loads = 0;
    for (const LineProgram::Group& group : program.groups) loads += group.windows;
    return loads / (program.cell_row_B * program.cell_h_el);
  };
  if (halves.cell_w_el == 0) return lines;
  return lines.cell_w_el != 0 && loads_of_byte(lines) <= loads_of_byte(halves) ? lines : halves;
}

uint8_t** CellCopy::NoteChunks(uint32_t chunk_w_el, uint32_t x_begin, uint32_t x_end, uint32_t y,
                               uint8_t** chunks) const {
  const uint32_t tile_w_el = 1u << placement.tile_w_log2;
  const uint32_t index = placement.slice_index ^ y_index[y & ((1u << placement.tile_h_log2) - 1)];
  const uint32_t unit_B = placement.unit_B;
  for (uint32_t x = x_begin; x < x_end;) {
    uint8_t* const tile = TileAt(x, y);
    const uint32_t first = x & (tile_w_el - 1);
    const uint32_t end = std::min(tile_w_el, first + x_end - x);
    for (uint32_t i = first; i < end; i += chunk_w_el) {
      *chunks++ = tile + (index ^ x_index[i]) * unit_B;
    }
    x += end - first;
  }
  return chunks;
}

CopyProgram MakeCopyProgram(const Tiling& tiling, uint32_t element_B) {
  CopyProgram program;
  Chunk chunk;
  uint32_t chunk_B = 0, chunks = 0;
  for (int bits = 0; bits <= tiling.index_bits(); ++bits) {
    const uint32_t size_B = element_B << bits;
    Chunk candidate;
    if (size_B % kCacheLine_B != 0 || !IsChunk(tiling, bits, candidate)) continue;
    uint32_t needed = 1;
    while ((element_B << candidate.width_log2) * needed % kVector_B != 0) needed *= 2;
    if (needed > CopyProgram::kMaxChunks || size_B * needed > kMaxCell_B) continue;
    if (chunk_B >= kGoodChunk_B && needed << bits > kGoodCell_el) break;
    chunk = candidate;
    chunk_B = size_B;
    chunks = needed;
  }
  if (chunk_B == 0) return program;
  const uint32_t chunk_w_el = 1u << chunk.width_log2, chunk_h_el = 1u << chunk.height_log2;
  const uint32_t chunk_row_B = element_B * chunk_w_el;
  const uint32_t cell_B = chunk_B * chunks;
  program.chunk_w_el = chunk_w_el;
  program.chunks = chunks;
  program.cell_w_el = chunk_w_el * chunks;
  program.cell_h_el = chunk_h_el;
  program.cell_row_B = chunk_row_B * chunks;

  program.block_w_el = program.cell_w_el;
  program.block_h_el = program.cell_h_el;
  for (int bits = 0; bits <= tiling.index_bits() && element_B << bits <= kStagedBatch_B; ++bits) {
    Chunk block;
    if (!IsChunk(tiling, bits, block)) continue;
    program.block_w_el = std::max(program.cell_w_el, 1u << block.width_log2);
    program.block_h_el = std::max(program.cell_h_el, 1u << block.height_log2);
  }
  while (program.block_w_el * program.block_h_el * element_B > kStagedBatch_B) {
    program.block_h_el /= 2;
  }

  std::vector<CellPlace> linear_of_tiled(cell_B), tiled_of_linear(cell_B);
  for (uint32_t y = 0; y < program.cell_h_el; ++y) {
    for (uint32_t x = 0; x < program.cell_w_el; ++x) {
      const uint32_t index = tiling.IndexOf({x % chunk_w_el, y, 0});
      for (uint32_t byte = 0; byte < element_B; ++byte) {
        const CellPlace linear = {y, x * element_B + byte};
        const CellPlace tiled = {x / chunk_w_el, index * element_B + byte};
        linear_of_tiled[tiled.line * chunk_B + tiled.offset_B] = linear;
        tiled_of_linear[linear.line * program.cell_row_B + linear.offset_B] = tiled;
      }
    }
  }
  program.in = MakeShuffle(linear_of_tiled, program.cell_row_B, chunk_B);
  program.out = MakeShuffle(tiled_of_linear, chunk_B, program.cell_row_B);
  if (program.chunks == 1) {
    FindRuns(program.in, true);
    FindRuns(program.out, false);
  }
  for (const Shuffle* shuffle : {&program.in, &program.out}) {
    for (const Result& result : shuffle->results) {
      if (result.pieces > CopyProgram::kMaxPieces) return CopyProgram();
    }
  }
  return program;
}

}  // namespace packsmith::layout
