// Programs for copies: all tilings of the hardware are copied in the fast ways.
#include "runtime/layout/copy_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace packsmith::layout {
namespace {

using ::testing::ElementsAre;
using Kind = Result::Kind;

// The kinds that all results of a shuffle have.
std::set<Kind> Kinds(const Shuffle& shuffle) {
  std::set<Kind> kinds;
  for (const Result& result : shuffle.results) kinds.insert(result.kind);
  return kinds;
}

TEST(CopyProgram, RowsOfZOrderSharePiecesAndExchangeParts) {
  const CopyProgram one = MakeCopyProgram(Tiling::Morton(7, 7), 1);
  EXPECT_EQ(one.cell_w_el, 32u);
  EXPECT_EQ(one.cell_h_el, 16u);
  EXPECT_EQ(one.chunks, 2u);
  EXPECT_THAT(Kinds(one.in), ElementsAre(Kind::kShared));
  EXPECT_THAT(Kinds(one.out), ElementsAre(Kind::kExchange4));
  EXPECT_THAT(Kinds(MakeCopyProgram(Tiling::Morton(7, 6), 2).out), ElementsAre(Kind::kExchange2));
}

TEST(CopyProgram, RunsThatStayAsTheyAreAreCopiedWhole) {
  EXPECT_THAT(Kinds(MakeCopyProgram(Tiling::Morton(6, 5), 8).in), ElementsAre(Kind::kHalves));
  for (const auto& [tiling, element_B] :
       {std::pair(Tiling::Morton(5, 5), 16), std::pair(Tiling::Morton(4, 4), 64),
        // A row of Intel's X tiles of four bytes.
        std::pair(*Tiling::Parse("y2 y1 y0 x6 x5 x4 x3 x2 x1 x0"), 4)}) {
    const CopyProgram program = MakeCopyProgram(tiling, element_B);
    EXPECT_THAT(Kinds(program.in), ElementsAre(Kind::kRun));
    EXPECT_THAT(Kinds(program.out), ElementsAre(Kind::kRun));
  }
}

TEST(CopyProgram, RunsAreInTheOrderOfTheTiledMemory) {
  const CopyProgram program = MakeCopyProgram(Tiling::Morton(5, 5), 16);
  for (uint32_t i = 0; i < program.in.results.size(); ++i) {
    EXPECT_EQ(program.in.results[i].to, (CellPlace{0, i * kVector_B}));
    EXPECT_EQ(program.out.pieces[i].from[0], (CellPlace{0, i * kVector_B}));
  }
}

TEST(CopyProgram, ElementsOfAnySizeAreMadeOfPieces) {
  const CopyProgram program = MakeCopyProgram(Tiling::UInterleaved(4), 3);
  EXPECT_EQ(program.cell_row_B % kVector_B, 0u);
  const size_t cell_B = size_t{program.cell_row_B} * program.cell_h_el;
  EXPECT_EQ(program.in.results.size() * kVector_B, cell_B);
  EXPECT_EQ(program.out.results.size() * kVector_B, cell_B);
}

TEST(CopyProgram, ABlockIsOnePieceOfATileInWholeCells) {
  const CopyProgram page = MakeCopyProgram(Tiling::Morton(6, 6), 4);
  EXPECT_EQ(page.block_w_el, 64u);
  EXPECT_EQ(page.block_h_el, 32u);
  const CopyProgram tile = MakeCopyProgram(Tiling::UInterleaved(4), 3);
  EXPECT_EQ(tile.block_w_el, 32u);
  EXPECT_EQ(tile.block_h_el, 16u);
}

TEST(CopyProgram, BlocksOfHighAndNarrowTilesFitIntoTheBuffer) {
  const CopyProgram program =
      MakeCopyProgram(*Tiling::Parse("y8 y7 y6 y5 y4 y3 y2 y1 y0 x2 x1 x0"), 2);
  ASSERT_NE(program.cell_w_el, 0u);
  EXPECT_LE(program.block_w_el * program.block_h_el * 2, kStagedBatch_B);
}

TEST(CopyProgram, TilesThatAreTooSmallOrTooTwistedHaveNone) {
  EXPECT_EQ(MakeCopyProgram(Tiling::Morton(1, 1), 4).cell_w_el, 0u);
  // Every bit of the index needs every bit of the place: only the whole tile is a chunk.
  EXPECT_EQ(
      MakeCopyProgram(*Tiling::Parse("x0^y2 x1^y1 x2^y0 x3^y3 y3 y2^x0^x3 y1^x0^x2 y0^x0^x1"), 8)
          .cell_w_el,
      0u);
}

// Follows every byte from its source to its destination.
void ExpectEveryByte(const Tiling& tiling, uint32_t element_B, const LineProgram& program,
                     bool in) {
  SCOPED_TRACE(tiling.Text() + " of " + std::to_string(element_B) + (in ? ", in" : ", out"));
  ASSERT_NE(program.cell_w_el, 0u);
  EXPECT_EQ(program.cell_row_B % kVector_B, 0u);
  const uint32_t cell_B = program.cell_row_B * program.cell_h_el;
  std::set<std::pair<uint32_t, uint32_t>> made;
  for (const LineProgram::Group& group : program.groups) {
    for (uint32_t r = 0; r < group.results; ++r) {
      for (uint32_t i = 0; i < program.result_B; ++i) {
        const CellPlace& window = group.from[group.pick[r][i] / group.window_B];
        const CellPlace source = {window.line, window.offset_B + group.pick[r][i] % group.window_B};
        const CellPlace target = {group.to[r].line, group.to[r].offset_B + i};
        const CellPlace &linear = in ? source : target, &tiled = in ? target : source;
        const uint32_t x = linear.offset_B / element_B;
        const uint32_t index = tiling.IndexOf({x % program.chunk_w_el, linear.line, 0});
        ASSERT_EQ(tiled.line, x / program.chunk_w_el);
        ASSERT_EQ(tiled.offset_B, index * element_B + linear.offset_B % element_B);
        made.insert({target.line, target.offset_B});
        // Windows do not end outside the row or the chunk.
        ASSERT_LE(window.offset_B + group.window_B,
                  in ? program.cell_row_B : cell_B / program.chunks);
      }
    }
  }
  EXPECT_EQ(made.size(), cell_B);
}

TEST(Lines, TakeEveryByteOfTheCellFromItsPlace) {
  for (const auto& [tiling, element_B] :
       {std::pair(Tiling::Morton(7, 7), 1), std::pair(Tiling::Morton(6, 6), 4),
        std::pair(Tiling::UInterleaved(4), 2), std::pair(Tiling::UInterleaved(4), 3),
        std::pair(Tiling::UInterleaved(4), 6), std::pair(Tiling::UInterleaved(4), 8),
        std::pair(Tiling::UInterleaved(4), 12), std::pair(Tiling::InOrder("xxxyyyyxyxyx"), 1)}) {
    ExpectEveryByte(tiling, element_B, MakeLineProgramIn(tiling, element_B), true);
    ExpectEveryByte(tiling, element_B, MakeLineProgramOut(tiling, element_B), false);
  }
}

// What all groups of a program have.
using Shape = std::tuple<uint32_t, uint32_t, uint32_t>;  // window_B, results, result_B
std::set<Shape> Shapes(const LineProgram& program) {
  std::set<Shape> shapes;
  for (const LineProgram::Group& group : program.groups) {
    shapes.insert({group.window_B, group.results, program.result_B});
  }
  return shapes;
}

TEST(Lines, ShareWindows) {
  // Two cache lines of 4 elements by 4 side by side are four windows of 32 bytes, and four such
  // windows of the tile are parts of two rows.
  EXPECT_THAT(Shapes(MakeLineProgramIn(Tiling::Morton(6, 6), 4)), ElementsAre(Shape(32, 2, 64)));
  EXPECT_THAT(Shapes(MakeLineProgramOut(Tiling::Morton(6, 6), 4)), ElementsAre(Shape(32, 2, 64)));
  // A line of 8 rows needs eight windows, and the one next to it the same ones.
  EXPECT_THAT(Shapes(MakeLineProgramIn(Tiling::Morton(7, 7), 1)), ElementsAre(Shape(16, 2, 64)));
  // Half a line from four windows, and three of other rows with it.
  EXPECT_THAT(Shapes(MakeLineProgramOut(Tiling::Morton(7, 7), 1)), ElementsAre(Shape(32, 4, 32)));
}

TEST(Lines, ThatAreTooHighOrTooTwistedAreNotMade) {
  for (const auto& [tiling, element_B] :
       {std::pair(Tiling::Morton(1, 1), 4), std::pair(Tiling::InOrder("yyyyyy"), 1),
        // A line of 32 rows of 2 bytes.
        std::pair(Tiling::InOrder("yyyyyx"), 1)}) {
    EXPECT_EQ(MakeLineProgramIn(tiling, element_B).cell_w_el, 0u);
    EXPECT_EQ(MakeLineProgramOut(tiling, element_B).cell_w_el, 0u);
  }
  // Each line of the tile is scattered over 16 rows.
  EXPECT_EQ(MakeLineProgramIn(Tiling::InOrder("xxyyyy"), 1).cell_w_el, 0u);
}

using Order = QuadProgram::Order;

Order QuadsOf(const char* letters, uint32_t element_B) {
  return MakeQuadProgram(Tiling::InOrder(letters), element_B).order;
}

TEST(Quads, AreFoundInTheTilingsOfHardware) {
  EXPECT_EQ(MakeQuadProgram(Tiling::Morton(5, 5), 16).order, Order::kZ);
  EXPECT_EQ(MakeQuadProgram(Tiling::UInterleaved(4), 16).order, Order::kU);
  // Two elements of 8 bytes side by side are a piece, and what follows is y.
  EXPECT_EQ(MakeQuadProgram(Tiling::Morton(6, 5), 8).order, Order::kN);
  EXPECT_EQ(QuadsOf("yyyx xxxx xxxx", 1), Order::kRow);
  EXPECT_EQ(QuadsOf("xxxy yyyy xxxx", 1), Order::kColumn);
  EXPECT_EQ(QuadsOf("yyxy xxyy xx", 4), Order::kColumn);
}

TEST(Quads, LinesMayHaveMoreThanOneBitOfAnIndex) {
  // X and Y tiles with bit 6 swizzled.
  const QuadProgram x =
      MakeQuadProgram(*Tiling::Parse("y2 y1 y0 x8 x7 x6^y0^y1 x5 x4 x3 x2 x1 x0"), 1);
  EXPECT_EQ(x.order, Order::kRow);
  EXPECT_EQ(x.next_line_B[0], 512u + 64);
  EXPECT_EQ(x.next_line_B[1], 1024u + 64);
  const QuadProgram y =
      MakeQuadProgram(*Tiling::Parse("x6 x5 x4 y4 y3 y2^x4 y1 y0 x3 x2 x1 x0"), 1);
  EXPECT_EQ(y.order, Order::kColumn);
  EXPECT_EQ(y.w_el, 64u);
  EXPECT_EQ(y.next_line_B[0], 512u + 64);
  EXPECT_EQ(y.next_line_B[1], 1024u);
}

TEST(Quads, OtherTilingsHaveNone) {
  EXPECT_EQ(MakeQuadProgram(Tiling::Morton(7, 7), 1).order, Order::kNone);
  EXPECT_EQ(MakeQuadProgram(Tiling::Morton(7, 6), 2).order, Order::kNone);
  EXPECT_EQ(MakeQuadProgram(Tiling::UInterleaved(4), 3).order, Order::kNone);
  EXPECT_EQ(MakeQuadProgram(Tiling::UInterleaved(4), 12).order, Order::kNone);
  EXPECT_EQ(MakeQuadProgram(Tiling::Morton(4, 4), 64).order, Order::kNone);
  EXPECT_EQ(MakeQuadProgram(Tiling::Morton(1, 5), 16).order, Order::kNone);
  // Samples, layers or far bits that select a piece of a line.
  EXPECT_EQ(QuadsOf("yyyx xxs", 16), Order::kNone);
  EXPECT_EQ(QuadsOf("yyyx xxz", 16), Order::kNone);
  EXPECT_EQ(MakeQuadProgram(*Tiling::Parse("y2 y1 y0 x2 x1 x0^y2"), 16).order, Order::kNone);
  EXPECT_EQ(MakeQuadProgram(*Tiling::Parse("y1 y0 x2 x1 x0^x2"), 16).order, Order::kNone);
  // Rows that begin in different places of a line.
  EXPECT_EQ(MakeQuadProgram(*Tiling::Parse("y1 y0 x1 x0^y0"), 16).order, Order::kNone);
}

}  // namespace
}  // namespace packsmith::layout
