#include "runtime/layout/copy_program.h"

#include <algorithm>
#include <utility>

namespace packsmith::layout {
namespace {

constexpr uint32_t kCacheLine_B = 64;
// To look up where a cell lies takes as long as to copy a line of it, so it should have several;
// but the larger it is, the more remains for the edges.
constexpr uint32_t kGoodCell_B = 256;

struct Chunk {
  int width_log2 = 0, height_log2 = 0;
};

// Whether the places whose index is below 2^bits are an aligned rectangle, and no other place has a
// say in these bits. Then each of the tile's runs of 2^bits indices is such a rectangle, and all
// are alike inside.
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
  return chunk.width_log2 + chunk.height_log2 == bits;
}

// Makes one of two neighbours if all are neighbours both here and there.
bool MergeRuns(Shuffle& shuffle) {
  const auto merge = [&](const std::vector<VectorPlace>& places) {
    std::vector<VectorPlace> merged;
    for (size_t i = 0; i < places.size(); i += 2) {
      const VectorPlace next = {places[i].line, places[i].offset_B + shuffle.run_B};
      if (i + 1 == places.size() || !(places[i + 1] == next)) return std::vector<VectorPlace>();
      merged.push_back(places[i]);
    }
    return merged;
  };
  std::vector<VectorPlace> to = merge(shuffle.to), from = merge(shuffle.from);
  if (to.empty() || from.empty()) return false;
  shuffle.to = std::move(to);
  shuffle.from = std::move(from);
  shuffle.run_B *= 2;
  return true;
}

// A byte of a vector.
struct Source {
  size_t vector;
  uint8_t byte;
};
using Sources = std::array<Source, kVector_B>;

constexpr ByteVector kInOrder = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr uint8_t kNothing = 0x80;  // picks no byte

// Finds groups of `size` vectors that exchange parts. `needs[i]` is what result i is made of, and
// the vectors are numbered.
bool MakeGroups(const std::vector<Sources>& needs, size_t size, std::vector<size_t>& results,
                std::vector<size_t>& vectors, Shuffle& shuffle) {
  const size_t part_B = kVector_B / size;
  std::vector<bool> done(needs.size());
  for (size_t first = 0; first < needs.size(); ++first) {
    if (done[first]) continue;
    // The vectors in the order in which the first result has them, and the results in the order in
    // which the first vector has parts for them: then as little as may be is left to sort.
    std::vector<size_t> group;
    for (const Source& source : needs[first]) {
      if (std::find(group.begin(), group.end(), source.vector) == group.end()) {
        group.push_back(source.vector);
      }
    }
    if (group.size() != size) return false;
    std::vector<std::pair<uint8_t, size_t>> made;  // first byte of the first vector, result
    for (size_t i = first; i < needs.size(); ++i) {
      std::vector<size_t> bytes(size);
      uint8_t lowest = kVector_B;
      for (const Source& source : needs[i]) {
        const size_t k = std::find(group.begin(), group.end(), source.vector) - group.begin();
        if (k == size) continue;
        ++bytes[k];
        if (k == 0) lowest = std::min(lowest, source.byte);
      }
      if (std::all_of(bytes.begin(), bytes.end(), [&](size_t n) { return n == part_B; })) {
        made.push_back({lowest, i});
        done[i] = true;
      }
    }
    if (made.size() != size) return false;
    std::sort(made.begin(), made.end());
    std::vector<ByteVector> before(size), after(size);
    for (size_t k = 0; k < size; ++k) {
      const Sources& need = needs[made[k].second];
      for (size_t v = 0; v < size; ++v) {
        // The part of vector v for result k: its bytes as they are in the vector, one after the
        // other.
        size_t at = k * part_B;
        for (uint8_t byte = 0; byte < kVector_B; ++byte) {
          for (size_t i = 0; i < kVector_B; ++i) {
            if (need[i].vector != group[v] || need[i].byte != byte) continue;
            after[k][i] = static_cast<uint8_t>(v * part_B + at % part_B);
            before[v][at++] = byte;
          }
        }
      }
    }
    for (size_t k = 0; k < size; ++k) {
      results.push_back(made[k].second);
      vectors.push_back(group[k]);
      shuffle.before.push_back(before[k]);
      shuffle.after.push_back(after[k]);
      shuffle.sorts |= before[k] != kInOrder || after[k] != kInOrder;
    }
  }
  shuffle.group = static_cast<int>(size);
  return true;
}

// `origins[i]` is where byte i of the destination comes from; the destination's lines have `line_B`
// bytes.
Shuffle MakeShuffle(const std::vector<VectorPlace>& origins, uint32_t line_B) {
  Shuffle shuffle;
  const size_t count = origins.size() / kVector_B;
  std::vector<VectorPlace> vectors;  // of the source, numbered
  std::vector<Sources> needs(count);
  for (size_t i = 0; i < origins.size(); ++i) {
    const VectorPlace vector = {origins[i].line, origins[i].offset_B / kVector_B * kVector_B};
    const size_t number = std::find(vectors.begin(), vectors.end(), vector) - vectors.begin();
    if (number == vectors.size()) vectors.push_back(vector);
    needs[i / kVector_B][i % kVector_B] = {number,
                                           static_cast<uint8_t>(origins[i].offset_B % kVector_B)};
  }
  const auto place = [&](size_t result) {
    const uint32_t at_B = static_cast<uint32_t>(result) * kVector_B;
    return VectorPlace{at_B / line_B, at_B % line_B};
  };

  for (const size_t size : {1, 2, 4}) {
    Shuffle grouped;
    std::vector<size_t> results, from;
    if (!MakeGroups(needs, size, results, from, grouped)) continue;
    for (const size_t result : results) grouped.to.push_back(place(result));
    for (const size_t vector : from) grouped.from.push_back(vectors[vector]);
    if (size == 1 && !grouped.sorts) {
      grouped.run_B = kVector_B;
      while (grouped.run_B < kCacheLine_B && MergeRuns(grouped)) {
      }
    }
    return grouped;
  }

  // All results get as many pieces; those that need fewer pick nothing from the others.
  std::vector<std::vector<size_t>> pieces(count);
  for (size_t i = 0; i < count; ++i) {
    for (const Source& source : needs[i]) {
      if (std::find(pieces[i].begin(), pieces[i].end(), source.vector) == pieces[i].end()) {
        pieces[i].push_back(source.vector);
      }
    }
    shuffle.pieces = std::max(shuffle.pieces, static_cast<int>(pieces[i].size()));
  }
  for (size_t i = 0; i < count; ++i) {
    shuffle.to.push_back(place(i));
    pieces[i].resize(shuffle.pieces, vectors.size());
    for (const size_t vector : pieces[i]) {
      shuffle.from.push_back(vectors[vector == vectors.size() ? pieces[i].front() : vector]);
      ByteVector& pick = shuffle.picks.emplace_back();
      for (size_t byte = 0; byte < kVector_B; ++byte) {
        pick[byte] = needs[i][byte].vector == vector ? needs[i][byte].byte : kNothing;
      }
    }
  }
  return shuffle;
}

}  // namespace

CopyProgram MakeCopyProgram(const Tiling& tiling, uint32_t element_B) {
  CopyProgram program;
  // The largest cell of at most kGoodCell_B, or else the smallest one above.
  Chunk chunk;
  uint32_t chunk_B = 0, chunks = 0;
  for (int bits = 0; bits <= tiling.index_bits(); ++bits) {
    const uint32_t size_B = element_B << bits;
    Chunk candidate;
    if (size_B % kCacheLine_B != 0 || !IsChunk(tiling, bits, candidate)) continue;
    uint32_t needed = 1;
    while ((element_B << candidate.width_log2) * needed % kVector_B != 0) needed *= 2;
    if (chunk_B != 0 && size_B * needed > kGoodCell_B) break;
    chunk = candidate;
    chunk_B = size_B;
    chunks = needed;
  }
  if (chunk_B == 0 || chunk_B > CopyProgram::kMaxChunk_B || chunks > CopyProgram::kMaxChunks) {
    return program;
  }
  const uint32_t chunk_w_el = 1u << chunk.width_log2, chunk_h_el = 1u << chunk.height_log2;
  const uint32_t chunk_row_B = element_B * chunk_w_el;
  const uint32_t cell_B = chunk_B * chunks;
  program.chunk_w_el = chunk_w_el;
  program.chunks = chunks;
  program.cell_w_el = chunk_w_el * chunks;
  program.cell_h_el = chunk_h_el;
  program.cell_row_B = chunk_row_B * chunks;

  std::vector<VectorPlace> linear_of_tiled(cell_B), tiled_of_linear(cell_B);
  for (uint32_t y = 0; y < program.cell_h_el; ++y) {
    for (uint32_t x = 0; x < program.cell_w_el; ++x) {
      for (uint32_t byte = 0; byte < element_B; ++byte) {
        const VectorPlace linear = {y, x * element_B + byte};
        const VectorPlace tiled = {x / chunk_w_el,
                                   tiling.IndexOf({x % chunk_w_el, y, 0}) * element_B + byte};
        linear_of_tiled[tiled.line * chunk_B + tiled.offset_B] = linear;
        tiled_of_linear[linear.line * program.cell_row_B + linear.offset_B] = tiled;
      }
    }
  }
  program.in = MakeShuffle(linear_of_tiled, chunk_B);
  if (program.in.run_B != 0) {
    // The same runs the other way round, still in the order of the tiled memory.
    program.out = program.in;
    std::swap(program.out.to, program.out.from);
  } else {
    program.out = MakeShuffle(tiled_of_linear, program.cell_row_B);
  }
  return program;
}

}  // namespace packsmith::layout
