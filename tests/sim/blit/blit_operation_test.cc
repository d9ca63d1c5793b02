#include "runtime/sim/blit/blit_operation.h"

#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tables/tables.h"
#include "tests/sim/blit/segments.h"

namespace packsmith::sim {
namespace {

using tables::OperationKind;
using Role = tables::OperandRole;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Operands as a test states them.
struct Operands : BlitOperands {
  std::map<Role, uint64_t> numbers;
  std::map<Role, std::string> names;  // their numbers do not count
  std::optional<Place> memory;
  std::vector<uint8_t> stored;
  tables::Meaning y_tiles = tables::Meaning::kNone;

  std::optional<uint64_t> Number(Role role) const override {
    if (names.count(role) != 0) return 0;
    const auto at = numbers.find(role);
    return at == numbers.end() ? std::nullopt : std::optional(at->second);
  }
  absl::string_view Name(Role role) const override {
    const auto at = names.find(role);
    return at == names.end() ? absl::string_view() : at->second;
  }
  std::optional<Place> Memory() const override { return memory; }
  std::vector<uint8_t> Stored() const override { return stored; }
  bool RegisterSays(tables::Meaning meaning) const override { return meaning == y_tiles; }
};

constexpr uint64_t kBase = 0x10000, kSource = 0x20000;

class BlitUnitTest : public ::testing::Test {
 protected:
  BlitUnitTest() : bytes_(memory_.Map(0, kBase, 64)), source_(memory_.Map(0, kSource, 64)) {
    std::iota(source_.begin(), source_.end(), uint8_t{100});
  }

  static Operands At(uint64_t address, std::map<Role, uint64_t> numbers) {
    Operands operands;
    operands.memory = {0, address};
    operands.numbers = std::move(numbers);
    return operands;
  }
  static Operands Of(std::map<Role, uint64_t> numbers, std::map<Role, std::string> names = {}) {
    Operands operands;
    operands.numbers = std::move(numbers);
    operands.names = std::move(names);
    return operands;
  }
  static Operands Rectangle(uint64_t left, uint64_t top, uint64_t right, uint64_t bottom) {
    return Of(
        {{Role::kLeft, left}, {Role::kTop, top}, {Role::kRight, right}, {Role::kBottom, bottom}});
  }
  BlitOutcome Do(OperationKind kind, const Operands& operands) {
    return unit_.Do(kind, operands, memory_);
  }
  void Say(OperationKind kind, const Operands& operands) {
    const BlitOutcome outcome = Do(kind, operands);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    EXPECT_EQ(outcome.written_B, 0u);
  }
  BlitOutcome Run(const Operands& operands) { return Do(OperationKind::kBlit, operands); }
  std::vector<int> Row(size_t row) const {
    return {bytes_.begin() + static_cast<ptrdiff_t>(row * 16),
            bytes_.begin() + static_cast<ptrdiff_t>(row * 16 + 16)};
  }

  Segments memory_;
  std::vector<uint8_t>& bytes_;
  std::vector<uint8_t>& source_;
  BlitUnit unit_;
};

TEST_F(BlitUnitTest, ACopyHasADestinationASourceAndARectangle) {
  Say(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 16}}));
  Say(OperationKind::kBlitSource,
      At(kSource, {{Role::kPitch, 16}, {Role::kLeft, 1}, {Role::kTop, 2}}));
  Say(OperationKind::kBlitRectangle, Rectangle(3, 1, 5, 2));
  const BlitOutcome outcome = Run(Of({{Role::kRaster, 0xcc}}, {{Role::kFormat, "565"}}));
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.written_B, 4u);
  EXPECT_THAT(Row(0), Each(0));
  EXPECT_THAT(Row(1), ElementsAre(0, 0, 0, 0, 0, 0, 134, 135, 136, 137, 0, 0, 0, 0, 0, 0));
}

TEST_F(BlitUnitTest, NothingIsKeptForTheNextPacket) {
  Say(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 16}}));
  Say(OperationKind::kBlitColor, Of({{Role::kValue, 7}}));
  Say(OperationKind::kBlitRectangle, Rectangle(0, 0, 4, 1));
  EXPECT_EQ(Run(Of({{Role::kRaster, 0xf0}})).written_B, 4u);
  EXPECT_EQ(Run(Of({{Role::kRaster, 0xf0}})).written_B, 0u);
}

TEST_F(BlitUnitTest, SignedOperandsAreNegative) {
  Say(OperationKind::kBlitDestination, At(kBase + 48, {{Role::kPitch, ~uint64_t{0} - 15}}));
  Say(OperationKind::kBlitColor, Of({{Role::kValue, 7}}));
  Say(OperationKind::kBlitRectangle, Rectangle(~uint64_t{0}, 0, 2, 3));
  EXPECT_EQ(Run(Of({{Role::kRaster, 0xf0}})).written_B, 9u);
  EXPECT_EQ(int{bytes_[15]}, 7);
  EXPECT_THAT(Row(1), ElementsAre(7, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7));
}

TEST_F(BlitUnitTest, ColorsOf128BitsAreWhatThePacketStores) {
  Say(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 32}}));
  Operands color;
  color.stored.resize(16);
  std::iota(color.stored.begin(), color.stored.end(), uint8_t{1});
  Say(OperationKind::kBlitColor, color);
  Say(OperationKind::kBlitRectangle, Rectangle(0, 0, 1, 1));
  EXPECT_EQ(Run(Of({{Role::kRaster, 0xf0}}, {{Role::kFormat, "128_BIT"}})).written_B, 16u);
  EXPECT_THAT(Row(0), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
}

TEST_F(BlitUnitTest, TheMaskHasABitForColorAndOneForAlpha) {
  bytes_.assign(64, 9);
  Say(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 16}}));
  Say(OperationKind::kBlitColor, Of({{Role::kValue, 0x04030201}}));
  Say(OperationKind::kBlitRectangle, Rectangle(0, 0, 1, 1));
  Run(Of({{Role::kRaster, 0xf0}, {Role::kMask, 2}}, {{Role::kFormat, "32 bit"}}));
  EXPECT_THAT(absl::MakeSpan(bytes_).subspan(0, 5), ElementsAre(9, 9, 9, 4, 9));
  Say(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 16}}));
  Say(OperationKind::kBlitColor, Of({{Role::kValue, 0x08070605}}));
  Say(OperationKind::kBlitRectangle, Rectangle(0, 0, 1, 1));
  Run(Of({{Role::kRaster, 0xf0}, {Role::kMask, 1}}, {{Role::kFormat, "32 bit"}}));
  EXPECT_THAT(absl::MakeSpan(bytes_).subspan(0, 5), ElementsAre(5, 6, 7, 4, 9));
}

TEST_F(BlitUnitTest, TheClippingRectangleStaysForPacketsThatClip) {
  Say(OperationKind::kBlitClip, Rectangle(2, 0, 4, 1));
  for (const bool clipped : {true, false}) {
    Say(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 16}}));
    Say(OperationKind::kBlitColor, Of({{Role::kValue, 7}}));
    Say(OperationKind::kBlitRectangle, Rectangle(0, 0, 16, 4));
    const BlitOutcome outcome = Run(Of({{Role::kRaster, 0xf0}, {Role::kClipped, clipped}}));
    EXPECT_EQ(outcome.written_B, clipped ? 2u : 64u);
  }
}

TEST_F(BlitUnitTest, ASetupIsUsedByAllPacketsThatSaySo) {
  Say(OperationKind::kBlitClip, Rectangle(0, 0, 9, 4));
  Say(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 16}}));
  Say(OperationKind::kBlitBits,
      Of({{Role::kBackground, 5}, {Role::kForeground, 6}, {Role::kTransparent, 0}}));
  Say(OperationKind::kBlitColor, Of({{Role::kValue, 6}}));
  Say(OperationKind::kBlitPattern, At(kSource, {}));
  Say(OperationKind::kBlitSetup,
      Of({{Role::kRaster, 0xcc}, {Role::kClipped, 1}}, {{Role::kFormat, "8 bit"}}));
  // Bits of text, part of the command.
  Operands bits;
  bits.stored = {0xa0, 0xc0};
  bits.numbers[Role::kX] = 0;
  bits.names[Role::kPacking] = "Byte Packed";
  Say(OperationKind::kBlitAgain, {});
  Say(OperationKind::kBlitRectangle, Rectangle(6, 0, 12, 2));
  Say(OperationKind::kBlitBits, bits);
  EXPECT_EQ(Run({}).written_B, 6u);
  EXPECT_THAT(Row(0), ElementsAre(0, 0, 0, 0, 0, 0, 6, 5, 6, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(Row(1), ElementsAre(0, 0, 0, 0, 0, 0, 6, 6, 5, 0, 0, 0, 0, 0, 0, 0));
  // The pattern, with seeds of the packet.
  Say(OperationKind::kBlitAgain, {});
  Say(OperationKind::kBlitRectangle, Rectangle(0, 3, 3, 4));
  Say(OperationKind::kBlitPattern, Of({{Role::kX, 1}, {Role::kY, 6}}));
  EXPECT_EQ(Run(Of({{Role::kRaster, 0xf0}})).written_B, 3u);
  EXPECT_THAT(absl::MakeSpan(bytes_).subspan(48, 4), ElementsAre(109, 110, 111, 0));
  // A pixel in the setup's color.
  Say(OperationKind::kBlitAgain, {});
  Say(OperationKind::kBlitRectangle, Rectangle(1, 2, 2, 3));
  Say(OperationKind::kBlitColor, {});
  EXPECT_EQ(Run(Of({{Role::kRaster, 0xf0}})).written_B, 1u);
  EXPECT_THAT(absl::MakeSpan(bytes_).subspan(32, 3), ElementsAre(0, 6, 0));
}

TEST_F(BlitUnitTest, PatternBitsAreTwoDwords) {
  Say(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 16}}));
  Say(OperationKind::kBlitPatternBits, Of({{Role::kValue, 0x000000c0},
                                           {Role::kHigh, 0x0000a000},
                                           {Role::kX, 1},
                                           {Role::kBackground, 5},
                                           {Role::kForeground, 6}}));
  Say(OperationKind::kBlitRectangle, Rectangle(0, 0, 3, 4));
  EXPECT_EQ(Run(Of({{Role::kRaster, 0xf0}})).written_B, 12u);
  EXPECT_THAT(absl::MakeSpan(bytes_).subspan(0, 4), ElementsAre(6, 5, 5, 0));
  EXPECT_THAT(absl::MakeSpan(bytes_).subspan(16, 4), ElementsAre(5, 5, 5, 0));
}

TEST_F(BlitUnitTest, AColorKeyHasAModeByName) {
  for (const auto& [mode, written] :
       {std::pair<std::string, uint64_t>{"None", 4}, {"Source RGB", 2}, {"Destination RGB", 0}}) {
    Say(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 16}}));
    Say(OperationKind::kBlitSource, At(kSource, {{Role::kPitch, 16}}));
    Say(OperationKind::kBlitRectangle, Rectangle(0, 0, 4, 1));
    Say(OperationKind::kBlitKey,
        Of({{Role::kLow, 101}, {Role::kHigh, 102}}, {{Role::kMode, mode}}));
    bytes_.assign(64, 0);
    EXPECT_EQ(Run({}).written_B, written) << mode;
  }
}

TEST_F(BlitUnitTest, RowsMayBeCountedInBytes) {
  Operands rectangle = Rectangle(0, 0, 6, 2);
  rectangle.numbers[Role::kBytes] = 1;
  Say(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 16}}));
  Say(OperationKind::kBlitColor, Of({{Role::kValue, 0x0201}}));
  Say(OperationKind::kBlitRectangle, rectangle);
  EXPECT_EQ(Run(Of({{Role::kRaster, 0xf0}}, {{Role::kFormat, "565"}})).written_B, 12u);
  EXPECT_THAT(Row(1), ElementsAre(1, 2, 1, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  // A copy may end within a pixel, a fill may not.
  rectangle.numbers[Role::kRight] = 5;
  Say(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 16}}));
  Say(OperationKind::kBlitSource, At(kSource, {{Role::kPitch, 16}}));
  Say(OperationKind::kBlitRectangle, rectangle);
  EXPECT_EQ(Run(Of({{Role::kRaster, 0xcc}}, {{Role::kFormat, "32 bit"}})).written_B, 10u);
  EXPECT_THAT(Row(0), ElementsAre(100, 101, 102, 103, 104, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  Say(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 16}}));
  Say(OperationKind::kBlitColor, Of({{Role::kValue, 0x0201}}));
  Say(OperationKind::kBlitRectangle, rectangle);
  EXPECT_THAT(
      std::string(Run(Of({{Role::kRaster, 0xf0}}, {{Role::kFormat, "565"}})).status.message()),
      HasSubstr("rows of 5 B end within a pixel, which has 2 B"));
  // Rows that nothing could have are errors, and empty ones none.
  for (const uint64_t right : {uint64_t{1} << 63, ~uint64_t{0} >> 1, uint64_t{0}}) {
    rectangle.numbers[Role::kRight] = right;
    Say(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 16}}));
    Say(OperationKind::kBlitColor, Of({{Role::kValue, 0x0201}}));
    Say(OperationKind::kBlitRectangle, rectangle);
    EXPECT_EQ(Run(Of({{Role::kRaster, 0xf0}, {Role::kOrder, 1}})).status.ok(), right == 0);
  }
}

TEST_F(BlitUnitTest, FromRightToLeftAddressesAreThoseOfTheRightmostBytes) {
  Operands rectangle = Rectangle(0, 0, 4, 1);
  rectangle.numbers[Role::kBytes] = 1;
  Say(OperationKind::kBlitDestination, At(kBase + 11, {{Role::kPitch, 16}}));
  Say(OperationKind::kBlitSource, At(kSource + 3, {{Role::kPitch, 16}}));
  Say(OperationKind::kBlitRectangle, rectangle);
  EXPECT_EQ(Run(Of({{Role::kRaster, 0xcc}, {Role::kOrder, 1}})).written_B, 4u);
  EXPECT_THAT(Row(0), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 100, 101, 102, 103, 0, 0, 0, 0));
}

TEST_F(BlitUnitTest, TilingsAndLevelsAreThoseOfTheSurface) {
  auto& tiled = memory_.Map(0, 0x100000, 1 << 20);
  // 128 dwords.
  Say(OperationKind::kBlitDestination, At(0x100000, {{Role::kPitch, 128},
                                                     {Role::kTiling, 3},
                                                     {Role::kLevel, 1},
                                                     {Role::kWidth, 128},
                                                     {Role::kHeight, 64},
                                                     {Role::kAlignX, 64},
                                                     {Role::kAlignY, 4},
                                                     {Role::kSlice, 1},
                                                     {Role::kSliceRows, 128}}));
  Say(OperationKind::kBlitColor, Of({{Role::kValue, 7}}));
  Say(OperationKind::kBlitRectangle, Rectangle(0, 0, 1, 1));
  EXPECT_EQ(Run(Of({{Role::kRaster, 0xf0}}, {{Role::kFormat, "32_BIT"}})).written_B, 4u);
  // 128 + 64 rows are six rows of tiles, of 16 KiB each.
  EXPECT_EQ(int{tiled[6 * 16384]}, 7);
}

TEST_F(BlitUnitTest, AllBlitsTogetherAreBounded) {
  BlitUnit unit(20);
  const auto fill = [&] {
    unit.Do(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 16}}), memory_);
    unit.Do(OperationKind::kBlitColor, Of({{Role::kValue, 7}}), memory_);
    unit.Do(OperationKind::kBlitRectangle, Rectangle(0, 0, 12, 1), memory_);
    return unit.Do(OperationKind::kBlit, Of({{Role::kRaster, 0xf0}}), memory_).status.code();
  };
  EXPECT_EQ(fill(), absl::StatusCode::kOk);
  EXPECT_EQ(fill(), absl::StatusCode::kResourceExhausted);
}

TEST_F(BlitUnitTest, ARegisterChoosesBetweenXAndYTiles) {
  for (const bool y : {false, true}) {
    auto& tiled = memory_.Map(0, 0x100000 + (y ? 0x10000 : 0), 4096);
    Operands destination =
        At(0x100000 + (y ? 0x10000 : 0), {{Role::kPitch, 128}, {Role::kTiling, 8}});
    if (y) destination.y_tiles = tables::Meaning::kTileYDestination;
    Say(OperationKind::kBlitDestination, destination);
    Operands source = At(kSource, {{Role::kPitch, 16}});
    source.y_tiles = tables::Meaning::kTileYSource;
    Say(OperationKind::kBlitSource, source);
    Say(OperationKind::kBlitRectangle, Rectangle(1, 1, 2, 2));
    EXPECT_EQ(Run({}).written_B, 1u);
    EXPECT_EQ(int{tiled[y ? 17 : 513]}, 100);
  }
}

TEST_F(BlitUnitTest, ValuesThatMeanNothingAreErrorsAndNothingIsDone) {
  const auto run = [&](OperationKind kind, const Operands& operands) {
    Say(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 16}}));
    Say(OperationKind::kBlitColor, Of({{Role::kValue, 7}}));
    Say(OperationKind::kBlitRectangle, Rectangle(0, 0, 4, 1));
    BlitOutcome outcome = Do(kind, operands);
    if (kind != OperationKind::kBlit) outcome = Run(Of({{Role::kRaster, 0xf0}}));
    EXPECT_EQ(outcome.written_B, 0u);
    EXPECT_EQ(outcome.status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(outcome.status.message());
  };
  EXPECT_THAT(run(OperationKind::kBlit, Of({}, {{Role::kFormat, ""}})), HasSubstr("\"format\""));
  EXPECT_THAT(run(OperationKind::kBlit, Of({{Role::kOrder, 3}})), HasSubstr("\"order\""));
  EXPECT_THAT(run(OperationKind::kBlitKey, Of({}, {{Role::kMode, "?"}})), HasSubstr("\"mode\""));
  EXPECT_THAT(run(OperationKind::kBlitBits, Of({}, {{Role::kPacking, "?"}})),
              HasSubstr("\"packing\""));
  EXPECT_THAT(run(OperationKind::kBlitDestination, Of({{Role::kTiling, 9}})),
              HasSubstr("\"tiling\""));
  // The next packet is not affected.
  Say(OperationKind::kBlitDestination, At(kBase, {{Role::kPitch, 16}}));
  Say(OperationKind::kBlitColor, Of({{Role::kValue, 7}}));
  Say(OperationKind::kBlitRectangle, Rectangle(0, 0, 4, 1));
  EXPECT_EQ(Run(Of({{Role::kRaster, 0xf0}})).written_B, 4u);
}

}  // namespace
}  // namespace packsmith::sim
