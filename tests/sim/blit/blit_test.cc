#include "runtime/sim/blit/blit.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/sim/blit/raster.h"
#include "runtime/sim/blit/surface.h"
#include "tests/sim/blit/segments.h"

namespace packsmith::sim {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr uint64_t kBase = 0x10000;

// 16 bytes a row.
std::vector<uint8_t> Row(const std::vector<uint8_t>& bytes, size_t row) {
  return {bytes.begin() + static_cast<ptrdiff_t>(row * 16),
          bytes.begin() + static_cast<ptrdiff_t>(row * 16 + 16)};
}

Blit Of(BlitFormat format, uint8_t raster_operation, const BlitRectangle& rectangle) {
  Blit blit;
  blit.format = format;
  blit.destination = {.address = kBase, .pitch_B = 16};
  blit.rectangle = rectangle;
  blit.raster_operation = raster_operation;
  return blit;
}

SurfaceSource From(uint64_t address, int64_t pitch_B, int64_t x1, int64_t y1) {
  return {.surface = {.address = address, .pitch_B = pitch_B}, .x1 = x1, .y1 = y1};
}

TEST(BlitTest, AFillWritesItsRectangleAndNothingElse) {
  Segments memory;
  const auto& bytes = memory.Map(0, kBase, 64);
  Blit blit = Of(BlitFormat::k565, RasterOperation::kPattern, {1, 1, 3, 3});
  blit.pattern = SolidPattern{.color = {0x99991234}};
  const BlitOutcome outcome = ExecuteBlit(blit, memory);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.written_B, 8u);
  EXPECT_FALSE(outcome.overlap_undefined);
  EXPECT_THAT(Row(bytes, 0), Each(0));
  EXPECT_THAT(Row(bytes, 1),
              ElementsAre(0, 0, 0x34, 0x12, 0x34, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(Row(bytes, 2), Row(bytes, 1));
  EXPECT_THAT(Row(bytes, 3), Each(0));
}

TEST(BlitTest, LargePixelsAreFilledWithAllOfTheColor) {
  for (const auto& [format, size] :
       {std::pair{BlitFormat::k64, 8u}, std::pair{BlitFormat::k96, 12u},
        std::pair{BlitFormat::k128, 16u}}) {
    Segments memory;
    const auto& bytes = memory.Map(0, kBase, 64);
    Blit blit = Of(format, RasterOperation::kPattern, {1, 0, 3, 1});
    blit.pattern = SolidPattern{.color = {0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c}};
    ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
    for (uint32_t i = 0; i < 64; ++i) {
      EXPECT_EQ(bytes[i], i < size || i >= 3 * size ? 0 : i % size) << size << ", byte " << i;
    }
  }
}

TEST(BlitTest, AnEmptyRectangleDoesNothing) {
  Segments memory;
  for (const BlitRectangle& rectangle :
       {BlitRectangle{2, 0, 2, 4}, BlitRectangle{3, 0, 2, 4}, BlitRectangle{0, 4, 4, 4},
        BlitRectangle{0, 5, 4, 4}, BlitRectangle{32767, 32767, -32768, -32768}}) {
    Blit blit = Of(BlitFormat::k8, RasterOperation::kPattern, rectangle);
    blit.pattern = SolidPattern{};
    const BlitOutcome outcome = ExecuteBlit(blit, memory);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(outcome.written_B, 0u);
  }
  EXPECT_EQ(memory.calls(), 0);
}

TEST(BlitTest, ACopyMovesPixelsFromTheSourcesCoordinates) {
  Segments memory;
  const auto& bytes = memory.Map(0, kBase, 64);
  auto& source = memory.Map(0, 0x20000, 64);
  std::iota(source.begin(), source.end(), uint8_t{100});
  Blit blit = Of(BlitFormat::k8888, RasterOperation::kSource, {1, 2, 3, 4});
  blit.source = From(0x20000, 16, 2, 1);
  ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
  EXPECT_THAT(Row(bytes, 1), Each(0));
  EXPECT_THAT(Row(bytes, 2),
              ElementsAre(0, 0, 0, 0, 124, 125, 126, 127, 128, 129, 130, 131, 0, 0, 0, 0));
  EXPECT_THAT(Row(bytes, 3),
              ElementsAre(0, 0, 0, 0, 140, 141, 142, 143, 144, 145, 146, 147, 0, 0, 0, 0));
}

TEST(BlitTest, SourceAndDestinationMayBeInDifferentSpaces) {
  Segments memory;
  const auto& bytes = memory.Map(3, kBase, 16);
  memory.Map(1, kBase, 16).assign(16, 7);
  Blit blit = Of(BlitFormat::k8, RasterOperation::kSource, {0, 0, 16, 1});
  blit.destination.space = 3;
  blit.source = From(kBase, 16, 0, 0);
  std::get<SurfaceSource>(blit.source).surface.space = 1;
  ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
  EXPECT_THAT(bytes, Each(7));
}

TEST(BlitTest, RasterOperationsCombinePatternSourceAndDestination) {
  Segments memory;
  auto& bytes = memory.Map(0, kBase, 16);
  bytes.assign(16, 0xaa);
  memory.Map(0, 0x20000, 16).assign(16, 0xcc);
  for (int code = 0; code < 256; ++code) {
    bytes.assign(16, 0xaa);
    Blit blit = Of(BlitFormat::k8, static_cast<uint8_t>(code), {2, 0, 14, 1});
    blit.source = From(0x20000, 16, 0, 0);
    blit.pattern = SolidPattern{.color = {0xf0}};
    ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
    // The operands are chosen such that the result is the code.
    EXPECT_EQ(int{bytes[1]}, 0xaa);
    EXPECT_EQ(int{bytes[2]}, code);
    EXPECT_EQ(int{bytes[13]}, code);
    EXPECT_EQ(int{bytes[14]}, 0xaa);
  }
}

TEST(BlitTest, TheByteMaskKeepsAlphaOrColorOf32BitPixelsOnly) {
  struct Case {
    bool rgb, alpha;
    std::array<int, 4> pixel;
  };
  for (const Case& test : {Case{true, true, {1, 2, 3, 4}}, Case{true, false, {1, 2, 3, 9}},
                           Case{false, true, {9, 9, 9, 4}}, Case{false, false, {9, 9, 9, 9}}}) {
    Segments memory;
    auto& bytes = memory.Map(0, kBase, 16);
    bytes.assign(16, 9);
    Blit blit = Of(BlitFormat::k8888, RasterOperation::kPattern, {1, 0, 3, 1});
    blit.pattern = SolidPattern{.color = {0x04030201}};
    blit.write_rgb = test.rgb;
    blit.write_alpha = test.alpha;
    ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
    for (size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(int{bytes[i]}, i < 4 || i >= 12 ? 9 : test.pixel[i % 4]);
    }
    blit.format = BlitFormat::k565;
    ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
    EXPECT_EQ(int{bytes[2]}, 1);
    EXPECT_EQ(int{bytes[3]}, 2);
  }
}

TEST(BlitTest, PixelsOutsideTheClippingRectangleStay) {
  Segments memory;
  const auto& bytes = memory.Map(0, kBase, 64);
  auto& source = memory.Map(0, 0x20000, 64);
  std::iota(source.begin(), source.end(), uint8_t{100});
  Blit blit = Of(BlitFormat::k8, RasterOperation::kSource, {-3, -2, 12, 4});
  blit.source = From(0x20000, 16, 0, 0);
  blit.clip = {2, 1, 5, 2};
  const BlitOutcome outcome = ExecuteBlit(blit, memory);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.written_B, 3u);
  // Pixel (2, 1) is (5, 3) of the rectangle.
  EXPECT_THAT(Row(bytes, 1), ElementsAre(0, 0, 153, 154, 155, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(Row(bytes, 2), Each(0));
}

TEST(BlitTest, ANegativePitchFillsUpward) {
  Segments memory;
  const auto& bytes = memory.Map(0, kBase, 64);
  auto& source = memory.Map(0, 0x20000, 64);
  std::iota(source.begin(), source.end(), uint8_t{100});
  Blit blit = Of(BlitFormat::k8, RasterOperation::kSource, {0, 0, 2, 3});
  blit.destination = {.address = kBase + 48, .pitch_B = -16};
  blit.source = From(0x20000, 8, 0, 0);
  ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
  EXPECT_EQ(bytes[0], 0);
  EXPECT_EQ(bytes[16], 116);
  EXPECT_EQ(bytes[32], 108);
  EXPECT_EQ(bytes[48], 100);
  EXPECT_EQ(bytes[49], 101);
}

TEST(BlitTest, APatternOfPixelsIsAlignedToTheSurface) {
  Segments memory;
  const auto& bytes = memory.Map(0, kBase, 64);
  auto& pattern = memory.Map(0, 0x20000, 64);
  for (size_t i = 0; i < 64; ++i) pattern[i] = static_cast<uint8_t>(i / 8 * 10 + i % 8);
  Blit blit = Of(BlitFormat::k8, RasterOperation::kPattern, {3, 1, 15, 3});
  blit.pattern = ColorPattern{.pixels = {.address = 0x20000}, .x_seed = 2, .y_seed = 7};
  ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
  // Row 1 has the pattern's row 1 + 7, column 3 its column 3 + 2.
  EXPECT_THAT(Row(bytes, 1), ElementsAre(0, 0, 0, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 0));
  EXPECT_THAT(Row(bytes, 2),
              ElementsAre(0, 0, 0, 15, 16, 17, 10, 11, 12, 13, 14, 15, 16, 17, 10, 0));
}

TEST(BlitTest, APatternMayBePartOfTheCommand) {
  Segments memory;
  const auto& bytes = memory.Map(0, kBase, 16);
  std::vector<uint8_t> pattern(128);
  std::iota(pattern.begin(), pattern.end(), uint8_t{1});
  Blit blit = Of(BlitFormat::k565, RasterOperation::kPattern, {0, 0, 2, 1});
  blit.pattern = ColorPattern{.pixels = {.immediate = pattern}};
  ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
  EXPECT_THAT(absl::MakeSpan(bytes).subspan(0, 5), ElementsAre(1, 2, 3, 4, 0));
  pattern.resize(127);
  std::get<ColorPattern>(blit.pattern).pixels.immediate = pattern;
  const BlitOutcome outcome = ExecuteBlit(blit, memory);
  EXPECT_THAT(std::string(outcome.status.message()),
              HasSubstr("needs 128 B of immediate data; the command has 127"));
}

TEST(BlitTest, AOneBitPatternHasItsLeftmostPixelInBitSeven) {
  for (const bool transparent : {false, true}) {
    Segments memory;
    auto& bytes = memory.Map(0, kBase, 16);
    bytes.assign(16, 9);
    Blit blit = Of(BlitFormat::k8, RasterOperation::kPattern, {0, 0, 10, 1});
    blit.pattern = MonoPattern{.rows = {0, 0, 0xb1},
                               .x_seed = 1,
                               .y_seed = 2,
                               .background = {5},
                               .foreground = {6},
                               .transparent = transparent};
    ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
    // 1011 0001 from the second bit on, and again from the start.
    const uint8_t b = transparent ? 9 : 5;
    EXPECT_THAT(bytes, ElementsAre(b, 6, 6, b, b, b, 6, 6, b, 6, 9, 9, 9, 9, 9, 9));
  }
}

TEST(BlitTest, AOneBitSourceIsExpandedToTwoColors) {
  for (const bool transparent : {false, true}) {
    Segments memory;
    auto& bytes = memory.Map(0, kBase, 32);
    bytes.assign(32, 9);
    // Rows begin at multiples of 16 bits.
    memory.Map(0, 0x20000, 4) = {0x05, 0x80, 0x7f, 0xff};
    Blit blit = Of(BlitFormat::k8, RasterOperation::kSource, {1, 0, 6, 2});
    blit.source = MonoSource{.bits = {.address = 0x20000},
                             .first_bit = 4,
                             .background = {5},
                             .foreground = {6},
                             .transparent = transparent};
    ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
    const uint8_t b = transparent ? 9 : 5;
    EXPECT_THAT(Row(bytes, 0), ElementsAre(9, b, 6, b, 6, 6, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9));
    EXPECT_THAT(Row(bytes, 1), ElementsAre(9, 6, 6, 6, 6, 6, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9));
  }
}

TEST(BlitTest, RowsOfAOneBitSourceBeginWhereThePackingSays) {
  // Rows of three bits: 101, 011.
  const auto second_row = [](MonoRows rows, const std::vector<uint8_t>& bits) {
    Segments memory;
    auto& bytes = memory.Map(0, kBase, 32);
    Blit blit = Of(BlitFormat::k8, RasterOperation::kSource, {0, 0, 3, 2});
    blit.source =
        MonoSource{.bits = {.immediate = bits}, .rows = rows, .background = {5}, .foreground = {6}};
    EXPECT_TRUE(ExecuteBlit(blit, memory).status.ok());
    EXPECT_THAT(absl::MakeSpan(bytes).subspan(0, 3), ElementsAre(6, 5, 6));
    return std::vector<int>(bytes.begin() + 16, bytes.begin() + 19);
  };
  EXPECT_THAT(second_row(MonoRows::kWordAligned, {0xa0, 0xff, 0x60}), ElementsAre(5, 6, 6));
  EXPECT_THAT(second_row(MonoRows::kBytePacked, {0xa0, 0x60}), ElementsAre(5, 6, 6));
  EXPECT_THAT(second_row(MonoRows::kBitPacked, {0xac}), ElementsAre(5, 6, 6));
}

TEST(BlitTest, ClippingSkipsBitsOfAOneBitSource) {
  Segments memory;
  const auto& bytes = memory.Map(0, kBase, 64);
  const std::vector<uint8_t> bits = {0x00, 0x00, 0x04, 0x00, 0x00, 0x00};
  Blit blit = Of(BlitFormat::k8, RasterOperation::kSource, {-2, -1, 8, 2});
  blit.clip = {3, 0, 5, 1};
  blit.source = MonoSource{.bits = {.immediate = bits}, .background = {5}, .foreground = {6}};
  ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
  // Column 3 is bit 5 of the row, and row 0 is the second one.
  EXPECT_THAT(Row(bytes, 0), ElementsAre(0, 0, 0, 6, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(Row(bytes, 1), Each(0));
}

TEST(BlitTest, ATransparentSourceLeavesPixelsEvenIfTheOperationDoesNotUseIt) {
  Segments memory;
  const auto& bytes = memory.Map(0, kBase, 16);
  const std::vector<uint8_t> bits = {0xa0, 0};
  Blit blit = Of(BlitFormat::k8, RasterOperation::kPattern, {0, 0, 4, 1});
  blit.source = MonoSource{.bits = {.immediate = bits}, .transparent = true};
  blit.pattern = SolidPattern{.color = {3}};
  ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
  EXPECT_THAT(absl::MakeSpan(bytes).subspan(0, 5), ElementsAre(3, 0, 3, 0, 0));
}

// Colors of 5, 6 and 5 bits: the range is from (1, 2, 3) to (4, 5, 6).
TEST(BlitTest, AColorKeyComparesEachChannel) {
  const auto color = [](int r, int g, int b) {
    return static_cast<uint16_t>(r << 11 | g << 5 | b);
  };
  const std::vector<uint16_t> pixels = {color(1, 2, 3), color(4, 5, 6), color(0, 5, 6),
                                        color(5, 2, 3), color(2, 6, 4), color(2, 3, 2),
                                        color(3, 3, 5), color(2, 1, 5)};
  const std::vector<bool> inside = {true, true, false, false, false, false, true, false};
  for (const bool of_source : {true, false}) {
    Segments memory;
    auto& bytes = memory.Map(0, kBase, 16);
    auto& source = memory.Map(0, 0x20000, 16);
    const auto pixel = [](std::vector<uint8_t>& at, size_t i) {
      return static_cast<uint16_t>(at[2 * i] | at[2 * i + 1] << 8);
    };
    for (size_t i = 0; i < 8; ++i) {
      auto& keyed = of_source ? source : bytes;
      keyed[2 * i] = static_cast<uint8_t>(pixels[i]);
      keyed[2 * i + 1] = static_cast<uint8_t>(pixels[i] >> 8);
      auto& other = of_source ? bytes : source;
      other[2 * i] = other[2 * i + 1] = 0x77;
    }
    Blit blit = Of(BlitFormat::k565, RasterOperation::kSource, {0, 0, 8, 1});
    blit.source = From(0x20000, 16, 0, 0);
    blit.chroma_key =
        ChromaKey{of_source ? ChromaKey::Mode::kSource : ChromaKey::Mode::kDestination,
                  color(1, 2, 3), color(4, 5, 6)};
    ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
    for (size_t i = 0; i < 8; ++i) {
      const bool written = inside[i] != of_source;
      EXPECT_EQ(pixel(bytes, i), written == of_source ? pixels[i] : 0x7777) << i;
    }
  }
}

TEST(BlitTest, AColorKeyComparesAlphaIfItsModeSaysSo) {
  for (const auto& [mode, written] : {std::pair{ChromaKey::Mode::kSource, false},
                                      std::pair{ChromaKey::Mode::kSourceAndAlpha, true}}) {
    Segments memory;
    const auto& bytes = memory.Map(0, kBase, 16);
    memory.Map(0, 0x20000, 4) = {10, 20, 30, 200};
    Blit blit = Of(BlitFormat::k8888, RasterOperation::kSource, {0, 0, 1, 1});
    blit.source = From(0x20000, 16, 0, 0);
    blit.chroma_key = ChromaKey{mode, 0x001e140a, 0x641e140a};
    ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
    EXPECT_EQ(int{bytes[0]}, written ? 10 : 0);
  }
}

// A copy within a surface of 16 by 4 bytes that moves pixels by (dx, dy).
struct Move {
  int32_t dx, dy;
};
class OverlapTest : public ::testing::TestWithParam<Move> {};

TEST_P(OverlapTest, TheAutomaticOrderIsThatOfACopyThroughOtherMemory) {
  const Move move = GetParam();
  for (const BlitTiling tiling : {BlitTiling::kLinear, BlitTiling::kX, BlitTiling::kY}) {
    Segments memory;
    auto& bytes = memory.Map(0, kBase, 8192);
    const BlitSurface surface = {.address = kBase, .pitch_B = 512, .tiling = tiling};
    const PixelPlaces places = PixelPlaces::Of(surface, 1).value();
    const auto at = [&](int32_t x, int32_t y) -> uint8_t& {
      return bytes[places.RunAt(x, y, 1).address - kBase];
    };
    const auto before = [](int32_t x, int32_t y) { return static_cast<uint8_t>(y * 37 + x); };
    for (int32_t y = 0; y < 8; ++y) {
      for (int32_t x = 0; x < 64; ++x) at(x, y) = before(x, y);
    }
    Blit blit = Of(BlitFormat::k8, RasterOperation::kSource,
                   {16 + move.dx, 2 + move.dy, 48 + move.dx, 6 + move.dy});
    blit.destination = surface;
    blit.source = SurfaceSource{.surface = surface, .x1 = 16, .y1 = 2};
    blit.order = BlitOrder::kAutomatic;
    const BlitOutcome outcome = ExecuteBlit(blit, memory);
    ASSERT_TRUE(outcome.status.ok());
    EXPECT_FALSE(outcome.overlap_undefined);
    for (int32_t y = 0; y < 8; ++y) {
      for (int32_t x = 0; x < 64; ++x) {
        const int32_t from_x = x - move.dx, from_y = y - move.dy;
        const bool moved = from_x >= 16 && from_x < 48 && from_y >= 2 && from_y < 6;
        ASSERT_EQ(at(x, y), moved ? before(from_x, from_y) : before(x, y)) << x << ", " << y;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(InAllDirections, OverlapTest,
                         ::testing::Values(Move{0, 0}, Move{1, 0}, Move{-1, 0}, Move{0, 1},
                                           Move{0, -1}, Move{5, 1}, Move{-5, 1}, Move{5, -1},
                                           Move{-5, -2}, Move{16, 2}));

TEST(BlitTest, LongRowsThatOverlapAreCopiedInTheRightOrderToo) {
  for (const int32_t dx : {-3, 3}) {
    constexpr int32_t kWidth = 100000;
    Segments memory;
    auto& bytes = memory.Map(0, kBase, kWidth + 8);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * i >> 4);
    std::vector<uint8_t> expected = bytes;
    std::copy_n(bytes.begin() + 4, kWidth, expected.begin() + 4 + dx);
    Blit blit = Of(BlitFormat::k8, RasterOperation::kSource, {4 + dx, 0, 4 + dx + kWidth, 1});
    blit.destination.pitch_B = 1 << 17;
    blit.source = From(kBase, 1 << 17, 4, 0);
    blit.order = BlitOrder::kAutomatic;
    ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
    EXPECT_TRUE(bytes == expected) << dx;
  }
}

TEST(BlitTest, AnOverlapWhoseOrderIsNotDefinedIsReported) {
  Segments memory;
  memory.Map(0, kBase, 4096);
  const auto undefined = [&](uint64_t source, uint64_t destination, BlitOrder order,
                             int64_t pitch_B = 64) {
    Blit blit = Of(BlitFormat::k8, RasterOperation::kSource, {0, 0, 16, 4});
    blit.destination = {.address = destination, .pitch_B = pitch_B};
    blit.source = From(source, pitch_B, 0, 0);
    blit.order = order;
    const BlitOutcome outcome = ExecuteBlit(blit, memory);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    return outcome.overlap_undefined;
  };
  constexpr uint64_t kAt = kBase + 1024;
  // To the left and up: each byte is read before it is written.
  EXPECT_FALSE(undefined(kAt, kAt - 1, BlitOrder::kForward));
  EXPECT_FALSE(undefined(kAt, kAt - 64, BlitOrder::kForward));
  EXPECT_TRUE(undefined(kAt, kAt - 1, BlitOrder::kRightToLeft));
  // To the right and down: only the other order is safe.
  EXPECT_TRUE(undefined(kAt, kAt + 1, BlitOrder::kForward));
  EXPECT_TRUE(undefined(kAt, kAt + 64, BlitOrder::kForward));
  EXPECT_TRUE(undefined(kAt, kAt + 1, BlitOrder::kAutomatic));
  EXPECT_FALSE(undefined(kAt, kAt + 1, BlitOrder::kRightToLeft));
  // Rows of a negative pitch go up, which makes moving down safe.
  EXPECT_FALSE(undefined(kAt, kAt + 64, BlitOrder::kForward, -64));
  EXPECT_TRUE(undefined(kAt, kAt - 64, BlitOrder::kForward, -64));
  // Side by side, and below each other.
  EXPECT_FALSE(undefined(kAt, kAt + 16, BlitOrder::kForward));
  EXPECT_FALSE(undefined(kAt, kAt + 48, BlitOrder::kForward));
  EXPECT_TRUE(undefined(kAt, kAt + 49, BlitOrder::kForward));
  EXPECT_FALSE(undefined(kAt, kAt + 256, BlitOrder::kForward));
}

TEST(BlitTest, SurfacesOfDifferentTilingsThatShareMemoryAreReported) {
  Segments memory;
  memory.Map(0, kBase, 65536);
  Blit blit = Of(BlitFormat::k8, RasterOperation::kSource, {0, 0, 16, 4});
  blit.destination = {.address = kBase, .pitch_B = 512, .tiling = BlitTiling::kX};
  blit.source = From(kBase + 512, 512, 0, 0);
  EXPECT_TRUE(ExecuteBlit(blit, memory).overlap_undefined);
  std::get<SurfaceSource>(blit.source).surface.address = kBase + 4096;
  EXPECT_FALSE(ExecuteBlit(blit, memory).overlap_undefined);
  std::get<SurfaceSource>(blit.source).surface.address = kBase + 512;
  blit.destination.space = 1;
  EXPECT_FALSE(ExecuteBlit(blit, memory).overlap_undefined);
}

TEST(BlitTest, CopiesBetweenTilingsKeepPixels) {
  constexpr BlitTiling kAll[] = {BlitTiling::kLinear, BlitTiling::kX,        BlitTiling::kY,
                                 BlitTiling::kTile4,  BlitTiling::kYf,       BlitTiling::kYs,
                                 BlitTiling::kTile64, BlitTiling::kTile64Xe2};
  for (const BlitTiling from : kAll) {
    for (const BlitTiling to : kAll) {
      Segments memory;
      auto& source = memory.Map(0, 0x1000000, 1 << 18);
      auto& bytes = memory.Map(0, 0x2000000, 1 << 18);
      for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint8_t>(i * 131 >> 3);
      Blit blit = Of(BlitFormat::k8888, RasterOperation::kSource, {3, 2, 130, 70});
      blit.destination = {.address = 0x2000000, .pitch_B = 1024, .tiling = to};
      blit.source = SurfaceSource{
          .surface = {.address = 0x1000000, .pitch_B = 1024, .tiling = from}, .x1 = 60, .y1 = 31};
      const BlitOutcome outcome = ExecuteBlit(blit, memory);
      ASSERT_TRUE(outcome.status.ok()) << outcome.status;
      EXPECT_EQ(outcome.written_B, 127u * 68 * 4);
      const PixelPlaces read =
          PixelPlaces::Of(std::get<SurfaceSource>(blit.source).surface, 4).value();
      const PixelPlaces written = PixelPlaces::Of(blit.destination, 4).value();
      for (int64_t y = 2; y < 70; ++y) {
        for (int64_t x = 3; x < 130; ++x) {
          for (size_t byte = 0; byte < 4; ++byte) {
            ASSERT_EQ(bytes[written.RunAt(x, y, 1).address - 0x2000000 + byte],
                      source[read.RunAt(x + 57, y + 29, 1).address - 0x1000000 + byte]);
          }
        }
      }
    }
  }
}

TEST(BlitTest, ABlitStopsAtUnmappedMemoryAndKeepsWhatItDid) {
  Segments memory;
  const auto& bytes = memory.Map(0, kBase, 37);
  Blit blit = Of(BlitFormat::k8, RasterOperation::kPattern, {1, 0, 9, 4});
  blit.pattern = SolidPattern{.color = {1}};
  const BlitOutcome outcome = ExecuteBlit(blit, memory);
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(std::string(outcome.status.message()),
            "the blit cannot write to 0x10025, for pixel (5, 2) of its destination: no memory is "
            "mapped there");
  EXPECT_EQ(outcome.written_B, 8u + 8 + 4);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 1), 20);
}

TEST(BlitTest, FaultsInMergedRowsNameThePixelOfItsRow) {
  Segments memory;
  memory.Map(0, kBase, 37);
  Blit blit = Of(BlitFormat::k8, RasterOperation::kPattern, {0, 0, 16, 4});
  blit.pattern = SolidPattern{.color = {1}};
  const BlitOutcome outcome = ExecuteBlit(blit, memory);
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("0x10025, for pixel (5, 2) of"));
  EXPECT_EQ(memory.calls(), 1);
}

TEST(BlitTest, UnmappedOperandsAreNamed) {
  Segments memory;
  memory.Map(0, kBase, 64);
  memory.Map(0, 0x20000, 8);
  Blit blit = Of(BlitFormat::k8, RasterOperation::kSource, {0, 0, 16, 1});
  blit.source = From(0x20000, 16, 0, 0);
  EXPECT_EQ(std::string(ExecuteBlit(blit, memory).status.message()),
            "the blit cannot read its source at 0x20008, for pixel (8, 0) of its destination: no "
            "memory is mapped there");
  blit.source = std::monostate();
  blit.raster_operation = RasterOperation::kPattern;
  blit.pattern = ColorPattern{.pixels = {.address = 0x20000}};
  EXPECT_THAT(std::string(ExecuteBlit(blit, memory).status.message()),
              HasSubstr("cannot read 0x20008, in its pattern"));
  blit.raster_operation = 0x55;
  blit.destination.address = 0x30000;
  EXPECT_THAT(std::string(ExecuteBlit(blit, memory).status.message()),
              HasSubstr("cannot read its destination at 0x30000, for pixel (0, 0)"));
}

TEST(BlitTest, MissingOperandsAreErrors) {
  Segments memory;
  memory.Map(0, kBase, 64);
  EXPECT_EQ(
      std::string(ExecuteBlit(Of(BlitFormat::k8, 0xcc, {0, 0, 4, 4}), memory).status.message()),
      "raster operation 0xcc and color keys of the source need a source; the blit has none");
  EXPECT_EQ(
      std::string(ExecuteBlit(Of(BlitFormat::k8, 0xf0, {0, 0, 4, 4}), memory).status.message()),
      "raster operation 0xf0 needs a pattern; the blit has none");
  EXPECT_EQ(memory.calls(), 0);
}

TEST(BlitTest, TiledSurfacesHaveNoNegativeCoordinates) {
  Segments memory;
  memory.Map(0, kBase, 8192);
  Blit blit = Of(BlitFormat::k8, RasterOperation::kSource, {-1, 0, 4, 4});
  blit.destination = {.address = kBase, .pitch_B = 512, .tiling = BlitTiling::kX};
  blit.source = SurfaceSource{.surface = blit.destination, .x1 = 3, .y1 = 0};
  EXPECT_THAT(std::string(ExecuteBlit(blit, memory).status.message()),
              HasSubstr("a tiled destination has no pixel (-1, 0)"));
  // Clipping leaves what there is.
  blit.clip = {0, 0, 4, 4};
  EXPECT_TRUE(ExecuteBlit(blit, memory).status.ok());
  std::get<SurfaceSource>(blit.source).y1 = -2;
  EXPECT_THAT(std::string(ExecuteBlit(blit, memory).status.message()),
              HasSubstr("a tiled source has no pixel (4, -2)"));
}

TEST(BlitTest, HostileRectanglesEndAtTheLimitOrAtUnmappedMemory) {
  Segments memory;
  memory.Map(0, kBase, 65536);
  Blit blit = Of(BlitFormat::k128, RasterOperation::kPattern, {-32768, -32768, 32767, 32767});
  blit.pattern = SolidPattern{};
  EXPECT_EQ(ExecuteBlit(blit, memory).status.code(), absl::StatusCode::kOutOfRange);
  // All rows at the same place: memory never ends.
  blit = Of(BlitFormat::k8, RasterOperation::kPattern, {0, -32768, 32767, 32767});
  blit.pattern = SolidPattern{};
  blit.destination.pitch_B = 0;
  const BlitOutcome outcome = ExecuteBlit(blit, memory, {.max_B = 1 << 20});
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(outcome.status.message()),
              HasSubstr("has more than 1048576 B, the limit"));
  EXPECT_LE(outcome.written_B, 1u << 20);
}

TEST(BlitTest, AddressesEndAtTwoToTheSixtyFour) {
  Segments memory;
  memory.Map(0, ~uint64_t{0} - 63, 64);
  memory.Map(0, 0, 64);
  Blit blit = Of(BlitFormat::k8, RasterOperation::kPattern, {0, 0, 15, 8});
  blit.destination = {.address = ~uint64_t{0} - 20, .pitch_B = 16};
  blit.pattern = SolidPattern{};
  const BlitOutcome outcome = ExecuteBlit(blit, memory);
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(outcome.written_B, 15u);
}

TEST(BlitTest, RowsWithoutGapsAreOneRow) {
  Segments memory;
  memory.Map(0, kBase, 1 << 16);
  memory.Map(0, 0x200000, 1 << 16);
  Blit blit = Of(BlitFormat::k8888, RasterOperation::kSource, {0, 0, 16, 1024});
  blit.destination.pitch_B = 64;
  blit.source = From(0x200000, 64, 0, 0);
  ASSERT_TRUE(ExecuteBlit(blit, memory).status.ok());
  EXPECT_EQ(memory.calls(), 8);  // four spans of 16 KiB, each read and written
}

TEST(BlitTest, HugeRowsAndCoordinatesAreBounded) {
  Segments memory;
  memory.Map(0, kBase, 65536);
  const auto fill = [&](const BlitRectangle& rectangle) {
    Blit blit = Of(BlitFormat::k8, RasterOperation::kPattern, rectangle);
    blit.pattern = SolidPattern{};
    return ExecuteBlit(blit, memory).status.code();
  };
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(fill({0, 0, int64_t{1} << 32, 1}), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(fill({-kMaxCoordinate, -kMaxCoordinate, kMaxCoordinate, kMaxCoordinate}),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(fill({0, 0, kMost, 1}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(fill({kLeast, kLeast, kMost, kMost}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(fill({0, kLeast, 1, 1}), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace packsmith::sim
