// What is found out about how to copy: the tilings of the hardware are all copied in the fast ways.
#include "runtime/layout/copy_program.h"

#include <gtest/gtest.h>

namespace packsmith::layout {
namespace {

TEST(CopyProgram, ZOrderExchangesPartsOfRows) {
  const CopyProgram one = MakeCopyProgram(Tiling::Morton(7, 7), 1);
  EXPECT_EQ(one.cell_w_el, 16u);
  EXPECT_EQ(one.cell_h_el, 16u);
  EXPECT_EQ(one.chunks, 1u);
  EXPECT_EQ(one.in.group, 4);
  EXPECT_EQ(one.out.group, 4);
  EXPECT_EQ(MakeCopyProgram(Tiling::Morton(7, 6), 2).in.group, 2);
  const CopyProgram four = MakeCopyProgram(Tiling::Morton(6, 6), 4);
  EXPECT_EQ(four.in.group, 2);
  EXPECT_FALSE(four.in.sorts);
}

TEST(CopyProgram, RunsThatStayAsTheyAreAreCopiedWhole) {
  EXPECT_EQ(MakeCopyProgram(Tiling::Morton(6, 5), 8).in.run_B, 16u);
  EXPECT_EQ(MakeCopyProgram(Tiling::Morton(5, 5), 16).in.run_B, 32u);
  EXPECT_EQ(MakeCopyProgram(Tiling::Morton(5, 5), 16).out.run_B, 32u);
  EXPECT_EQ(MakeCopyProgram(Tiling::Morton(4, 4), 64).in.run_B, 64u);
  // A row of Intel's X tiles of four bytes.
  EXPECT_EQ(MakeCopyProgram(*Tiling::Parse("y2 y1 y0 x6 x5 x4 x3 x2 x1 x0"), 4).in.run_B, 64u);
}

TEST(CopyProgram, AnyNumberOfPiecesIsPossible) {
  const CopyProgram program = MakeCopyProgram(Tiling::UInterleaved(4), 3);
  EXPECT_EQ(program.cell_row_B % kVector_B, 0u);
  EXPECT_GT(program.in.pieces, 1);
  EXPECT_EQ(program.in.to.size() * kVector_B, program.cell_row_B * program.cell_h_el);
}

TEST(CopyProgram, TilesThatAreTooSmallOrTooTwistedHaveNone) {
  EXPECT_EQ(MakeCopyProgram(Tiling::Morton(1, 1), 4).cell_w_el, 0u);
  // Every bit of the index needs every bit of the place: only the whole tile is a chunk.
  EXPECT_EQ(
      MakeCopyProgram(*Tiling::Parse("x0^y2 x1^y1 x2^y0 x3^y3 y3 y2^x0^x3 y1^x0^x2 y0^x0^x1"), 4)
          .cell_w_el,
      0u);
}

}  // namespace
}  // namespace packsmith::layout
