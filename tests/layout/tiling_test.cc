#include "runtime/layout/tiling.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <set>
#include <vector>

namespace packsmith::layout {
namespace {

std::vector<uint32_t> Rows(const Tiling& tiling) {
  std::vector<uint32_t> indices;
  for (uint32_t y = 0; y < tiling.height_el(); ++y) {
    for (uint32_t x = 0; x < tiling.width_el(); ++x) indices.push_back(tiling.IndexOf({x, y, 0}));
  }
  return indices;
}

TEST(Tiling, MortonGoesInZsFirstAlongX) {
  EXPECT_EQ(Rows(Tiling::Morton(2, 2)), (std::vector<uint32_t>{0, 1, 4, 5,    //
                                                               2, 3, 6, 7,    //
                                                               8, 9, 12, 13,  //
                                                               10, 11, 14, 15}));
}

TEST(Tiling, MortonOfAWideTileHasTheHighestBitOfXLast) {
  EXPECT_EQ(Rows(Tiling::Morton(2, 1)), (std::vector<uint32_t>{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_EQ(Tiling::Morton(3, 2).Text(), "x2 y1 x1 y0 x0");
}

TEST(Tiling, SamplesOfAPixelLieTogether) {
  const Tiling tiling = Tiling::Morton(1, 1, 2);
  EXPECT_EQ(tiling.Text(), "y0 x0 s1 s0");
  EXPECT_EQ(tiling.IndexOf({1, 1, 3}), 15u);
  EXPECT_EQ(tiling.IndexOf({1, 0, 2}), 6u);
}

TEST(Tiling, UInterleavedGoesInUs) {
  EXPECT_EQ(Rows(Tiling::UInterleaved(2)), (std::vector<uint32_t>{0, 1, 4, 5,    //
                                                                  3, 2, 7, 6,    //
                                                                  12, 13, 8, 9,  //
                                                                  15, 14, 11, 10}));
  EXPECT_EQ(Tiling::UInterleaved(4).Text(), "y3 x3^y3 y2 x2^y2 y1 x1^y1 y0 x0^y0");
}

TEST(Tiling, TextIsReadBack) {
  for (const char* text : {"", "x0", "y1 x1 y0 x0", "y0 x1^y0 x0", "s0 y0 x0^y0^s0"}) {
    const absl::StatusOr<Tiling> tiling = Tiling::Parse(text);
    ASSERT_TRUE(tiling.ok()) << tiling.status();
    EXPECT_EQ(tiling->Text(), text);
  }
}

TEST(Tiling, TextThatIsNoTilingIsAnError) {
  EXPECT_NE(Tiling::Parse("x0 w1").status().message().find("'w1'"), std::string::npos);
  EXPECT_NE(Tiling::Parse("x").status().message().find("'x'"), std::string::npos);
  EXPECT_NE(Tiling::Parse("x99").status().message().find("'x99'"), std::string::npos);
  EXPECT_NE(Tiling::Parse("x0^").status().message().find("''"), std::string::npos);
  EXPECT_NE(Tiling::Parse("x2 x0").status().message().find("are missing"), std::string::npos);
  EXPECT_NE(Tiling::Parse("x0 x0^x1 y0").ok(), Tiling::Parse("x0 x0").ok());
  EXPECT_FALSE(Tiling::Parse("x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 y0 y1 y2 y3 y4 y5 y6").ok());
}

TEST(Tiling, TwoPlacesOnOneIndexAreFound) {
  EXPECT_TRUE(Tiling::Parse("y0 x0^y0")->IsBijective());
  EXPECT_FALSE(Tiling::Parse("x0^y0 x0^y0")->IsBijective());
  EXPECT_FALSE(Tiling::Parse("x0^x1 x1^y0 x0^y0")->IsBijective());
}

TEST(Tiling, InverseLeadsBackWhateverTheMatrix) {
  std::mt19937 random(1);
  int bijective = 0;
  for (int round = 0; round < 500; ++round) {
    const int width = static_cast<int>(random() % 4), height = static_cast<int>(random() % 4);
    const int samples = static_cast<int>(random() % 3);
    const uint32_t size = 1u << (width + height + samples);
    Tiling::Columns columns[3];
    for (Tiling::Columns& axis : columns) {
      for (uint16_t& column : axis) column = static_cast<uint16_t>(random() % size);
    }
    const Tiling tiling =
        Tiling::FromColumns(width, height, samples, columns[0], columns[1], columns[2]);
    std::set<uint32_t> indices;
    const std::optional<Tiling::Inverse> inverse = tiling.Invert();
    for (uint32_t s = 0; s < tiling.samples(); ++s) {
      for (uint32_t y = 0; y < tiling.height_el(); ++y) {
        for (uint32_t x = 0; x < tiling.width_el(); ++x) {
          const uint32_t index = tiling.IndexOf({x, y, s});
          indices.insert(index);
          if (inverse.has_value()) {
            EXPECT_EQ(inverse->PositionOf(index), (TilePosition{x, y, s})) << tiling.Text();
          }
        }
      }
    }
    EXPECT_EQ(tiling.IsBijective(), indices.size() == size) << tiling.Text();
    bijective += tiling.IsBijective() ? 1 : 0;
  }
  EXPECT_GT(bijective, 50);
  EXPECT_LT(bijective, 450);
}

TEST(Tiling, PlacesBeyondTheTileAreThoseOfTheNextOne) {
  EXPECT_EQ(Tiling::Morton(3, 3).IndexOf({8 + 5, 16 + 3, 0}),
            Tiling::Morton(3, 3).IndexOf({5, 3, 0}));
}

TEST(Tiling, BytesBecomeElements) {
  const Tiling bytes = *Tiling::Parse("x3 y1 y0 x2 x1 x0");
  EXPECT_EQ(bytes.WithoutLowBitsOfX(2)->Text(), "x1 y1 y0 x0");
  EXPECT_EQ(*bytes.WithoutLowBitsOfX(0), bytes);
  // Four bytes that are not contiguous are not an element.
  EXPECT_FALSE(Tiling::Parse("x1 y0 x0")->WithoutLowBitsOfX(2).has_value());
  EXPECT_FALSE(Tiling::Parse("y0^x0 x0")->WithoutLowBitsOfX(1).has_value());
  EXPECT_FALSE(bytes.WithoutLowBitsOfX(5).has_value());
}

TEST(Tiling, SamplesThatLieTogetherBecomeOneElement) {
  EXPECT_EQ(*Tiling::Morton(2, 2, 2).WithoutSamples(), Tiling::Morton(2, 2));
  EXPECT_FALSE(Tiling::Parse("s0 x0")->WithoutSamples().has_value());
}

}  // namespace
}  // namespace packsmith::layout
