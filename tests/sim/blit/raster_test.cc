#include "runtime/sim/blit/raster.h"

#include <array>
#include <cstdint>
#include <random>

#include "gtest/gtest.h"

namespace packsmith::sim {
namespace {

// The result for one bit, straight from the meaning of the code.
bool Result(int code, bool pattern, bool source, bool destination) {
  return (code >> (pattern * 4 + source * 2 + destination * 1) & 1) != 0;
}

TEST(RasterOperationTest, EveryCodeGivesItsTruthTableForEveryBit) {
  std::mt19937 random(1);
  // 8 bytes at once, and a rest.
  constexpr size_t kSize = 21;
  for (int code = 0; code < 256; ++code) {
    std::array<uint8_t, kSize> pattern, source, before, after;
    for (auto* bytes : {&pattern, &source, &before}) {
      for (uint8_t& byte : *bytes) byte = static_cast<uint8_t>(random());
    }
    after = before;
    RasterOperation(static_cast<uint8_t>(code))
        .Apply(pattern.data(), source.data(), after.data(), kSize);
    for (size_t i = 0; i < kSize * 8; ++i) {
      const auto bit = [i](const std::array<uint8_t, kSize>& bytes) {
        return (bytes[i / 8] >> (i % 8) & 1) != 0;
      };
      ASSERT_EQ(bit(after), Result(code, bit(pattern), bit(source), bit(before)))
          << "code " << code << ", bit " << i;
    }
  }
}

TEST(RasterOperationTest, KnownCodesAreTheOperationsOfTheirNames) {
  constexpr uint8_t kPattern = 0xf0, kSource = 0xcc, kDestination = 0xaa;
  const auto apply = [&](uint8_t code) {
    uint8_t result = kDestination;
    RasterOperation(code).Apply(&kPattern, &kSource, &result, 1);
    return int{result};
  };
  EXPECT_EQ(apply(0x00), 0x00);                          // BLACKNESS
  EXPECT_EQ(apply(0x55), 0x55);                          // DSTINVERT
  EXPECT_EQ(apply(0x5a), int{kPattern ^ kDestination});  // PATINVERT
  EXPECT_EQ(apply(0x66), int{kSource ^ kDestination});   // SRCINVERT
  EXPECT_EQ(apply(0x88), int{kSource & kDestination});   // SRCAND
  EXPECT_EQ(apply(0xc0), int{kSource & kPattern});       // MERGECOPY
  EXPECT_EQ(apply(0xcc), int{kSource});                  // SRCCOPY
  EXPECT_EQ(apply(0xee), int{kSource | kDestination});   // SRCPAINT
  EXPECT_EQ(apply(0xf0), int{kPattern});                 // PATCOPY
  EXPECT_EQ(apply(0xff), 0xff);                          // WHITENESS
}

TEST(RasterOperationTest, OperandsAreUsedExactlyIfTheResultDependsOnThem) {
  for (int code = 0; code < 256; ++code) {
    bool pattern = false, source = false, destination = false;
    for (const bool a : {false, true}) {
      for (const bool b : {false, true}) {
        pattern |= Result(code, false, a, b) != Result(code, true, a, b);
        source |= Result(code, a, false, b) != Result(code, a, true, b);
        destination |= Result(code, a, b, false) != Result(code, a, b, true);
      }
    }
    const RasterOperation operation(static_cast<uint8_t>(code));
    EXPECT_EQ(operation.uses_pattern(), pattern) << code;
    EXPECT_EQ(operation.uses_source(), source) << code;
    EXPECT_EQ(operation.uses_destination(), destination) << code;
  }
}

}  // namespace
}  // namespace packsmith::sim
