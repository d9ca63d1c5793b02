// What is found out about how to copy: the tilings of the hardware are all copied in the fast ways.
#include "runtime/layout/copy_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
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

}  // namespace
}  // namespace packsmith::layout
