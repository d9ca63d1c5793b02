// The forms of addresses.

#include "runtime/base/addresses.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace packsmith {
namespace {

TEST(Canonical, RepeatsTheTopmostBit) {
  EXPECT_EQ(Canonical(0x7fffffffffff, 48), 0x7fffffffffffu);
  EXPECT_EQ(Canonical(0x800000000000, 48), 0xffff800000000000u);
  EXPECT_EQ(Canonical(0x800000000000, 57), 0x800000000000u);
  EXPECT_EQ(Canonical(uint64_t{1} << 56, 57), 0xff00000000000000u);
  for (const unsigned bits : {48, 57}) {
    for (const uint64_t address : {uint64_t{0}, uint64_t{0x1000}, (uint64_t{1} << bits) - 0x1000}) {
      EXPECT_EQ(Plain(Canonical(address, bits), bits), address);
    }
  }
}

TEST(PlainIfAddress, IsNothingForWhatHasNeitherForm) {
  EXPECT_EQ(PlainIfAddress(0x8000'0000'0000, 48), 0x8000'0000'0000u);
  EXPECT_EQ(PlainIfAddress(0xffff'8000'0000'0000, 48), 0x8000'0000'0000u);
  EXPECT_EQ(PlainIfAddress(0x0fff'8000'0000'0000, 48), std::nullopt);
  EXPECT_EQ(PlainIfAddress(0xffff'7fff'ffff'f000, 48), std::nullopt);
  EXPECT_EQ(PlainIfAddress(0xff12'3456'789a'b000, 57), 0x0112'3456'789a'b000u);
  EXPECT_EQ(PlainIfAddress(0xfe12'3456'789a'b000, 57), std::nullopt);
}

TEST(PlainAddress, HasNoCopiesOfTheHighestOf48Bits) {
  EXPECT_EQ(PlainAddress(0xffff'fffe'effe'0000), 0xfffe'effe'0000u);
  EXPECT_EQ(PlainAddress(0xffff'8000'0000'0000), 0x8000'0000'0000u);
  EXPECT_EQ(PlainAddress(~uint64_t{0}), 0xffff'ffff'ffffu);
  // The same, cut to 57 bits.
  EXPECT_EQ(PlainAddress(0x01ff'fffe'effe'0000), 0xfffe'effe'0000u);
}

TEST(PlainAddress, StaysAsItIsWithoutCopies) {
  for (const uint64_t address : {uint64_t{0}, uint64_t{0x402000}, uint64_t{0x7fff'ffff'f000},
                                 uint64_t{0xfffe'effe'0000}, uint64_t{0xffff'ffff'ffff}}) {
    EXPECT_EQ(PlainAddress(address), address);
  }
}

TEST(PlainAddress, Of57BitsIsNotCutTo48) {
  EXPECT_EQ(PlainAddress(0x0012'3456'789a'b000), 0x0012'3456'789a'b000u);
  EXPECT_EQ(PlainAddress(0x0112'3456'789a'b000), 0x0112'3456'789a'b000u);
  EXPECT_EQ(PlainAddress(0xff12'3456'789a'b000), 0x0112'3456'789a'b000u);
}

TEST(PlainAddress, OfWhatIsNoAddressIsTheSame) {
  EXPECT_EQ(PlainAddress(0x1234'5678'9abc'def0), 0x1234'5678'9abc'def0u);
  EXPECT_EQ(PlainAddress(0xfe12'3456'789a'b000), 0xfe12'3456'789a'b000u);
}

TEST(PlainAddress, TwiceIsTheSameAsOnce) {
  for (int bit = 0; bit < 64; ++bit) {
    for (const uint64_t address :
         {uint64_t{1} << bit, ~uint64_t{0} << bit, ~(uint64_t{1} << bit)}) {
      EXPECT_EQ(PlainAddress(PlainAddress(address)), PlainAddress(address)) << std::hex << address;
    }
  }
}

}  // namespace
}  // namespace packsmith
