// A description with address-bits="57": generated code packs, checks and unpacks addresses of 57
// bits, in both languages. Dwords are worked out by hand from tests/pack/wide.xml.
#include "packsmith/wide.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "packsmith/wide_names.h"

// T_header leaves members out on purpose; only C++ compilers complain.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include "packsmith/c/wide_pack.h"

namespace packsmith::wide {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr uint32_t kUntouched = 0xdeadbeef;
constexpr uint64_t kHigh = 0x0023'4567'89ab'c000;       // above 48 bits
constexpr uint64_t kCanonical = 0xff23'4567'89ab'c000;  // bit 56 is set, and repeated above
constexpr uint64_t kPlain = 0x0123'4567'89ab'c000;      // the same without the copies

// Hides the values from the compiler: the optimised test then uses other code.
template <class T>
T Unknown(T value) {
  asm volatile("" : : "r"(&value) : "memory");
  return value;
}

template <class P>
std::vector<uint32_t> Dwords(const P& packet) {
  std::vector<uint32_t> dw(P::length, kUntouched);
  const error e = Unknown(packet).pack(dw.data());
  EXPECT_FALSE(e) << to_text(e);
  EXPECT_FALSE(packet.check());
  EXPECT_FALSE(P::verify(dw.data()));
  return dw;
}

template <class P>
void ExpectRefused(const P& packet, const char* field, reason why) {
  std::vector<uint32_t> dw(P::length, kUntouched);
  const error e = Unknown(packet).pack(dw.data());
  EXPECT_STREQ(e.field, field);
  EXPECT_EQ(e.why, why) << to_text(e);
  EXPECT_THAT(dw, Each(kUntouched)) << "written in spite of an error";
  EXPECT_EQ(packet.check().why, why);
  EXPECT_STREQ(packet.check().field, field);
}

TEST(Wide, AddressesOf57BitsArePackedAndUnpacked) {
  const std::vector<uint32_t> dw =
      Dwords(POINTERS{.flags = 9, .base = kHigh, .mocs = 0x7f, .full = kHigh | 0x40});
  EXPECT_THAT(dw,
              ElementsAre(0x78010007, 0x89abc009, 0xfe234567, 0x89abc040, 0x00234567, 0, 0, 0, 0));
  const POINTERS back = POINTERS::unpack(dw.data());
  EXPECT_EQ(back.flags, 9u);
  EXPECT_EQ(back.base.gpu, kHigh);
  EXPECT_EQ(back.mocs, 0x7fu);
  EXPECT_EQ(back.full.gpu, kHigh | 0x40);
}

TEST(Wide, ACanonicalAddressIsCutToItsFieldAndUnpackedWithoutCopiesOfItsHighestBit) {
  const std::vector<uint32_t> dw = Dwords(POINTERS{.base = kCanonical, .full = kCanonical});
  EXPECT_EQ(dw[1], 0x89abc000u);
  EXPECT_EQ(dw[2], 0x01234567u) << "57 bits";
  EXPECT_EQ(dw[4], 0xff234567u) << "all that the field has";
  const POINTERS back = POINTERS::unpack(dw.data());
  EXPECT_EQ(back.base.gpu, kPlain);
  EXPECT_EQ(back.full.gpu, kPlain);
}

TEST(Wide, AnAddressOf48BitsIsWhatItIsInBothForms) {
  const POINTERS low =
      POINTERS::unpack(Dwords(POINTERS{.base = 0x8000'0000'1000, .full = 0x8000'0000'1000}).data());
  EXPECT_EQ(low.base.gpu, 0x8000'0000'1000u);
  EXPECT_EQ(low.full.gpu, 0x8000'0000'1000u);
  const std::vector<uint32_t> canonical = Dwords(POINTERS{.full = 0xffff'8000'0000'1000});
  EXPECT_EQ(canonical[4], 0xffff8000u);
  EXPECT_EQ(POINTERS::unpack(canonical.data()).full.gpu, 0x1ff'8000'0000'1000u);
}

TEST(Wide, AnAddressThatIsNotOf57BitsIsRefused) {
  for (const uint64_t wrong : {uint64_t{1} << 57, 0xfe00'0000'0000'0000, 0xfd23'4567'89ab'c000,
                               0xfffe'8000'0000'0000 & ~(uint64_t{1} << 60)}) {
    ExpectRefused(POINTERS{.base = wrong}, "base", reason::too_wide);
    ExpectRefused(POINTERS{.full = wrong}, "full", reason::too_wide);
    MANY many;
    many.full = wrong;
    ExpectRefused(many, "full", reason::too_wide);
  }
}

TEST(Wide, FieldsThatAreNarrowerThanAddressesHoldWhatTheyCan) {
  const std::vector<uint32_t> dw = Dwords(POINTERS{.near = 0xffff'ffff'fff0, .low = 0xffff'ffe0});
  EXPECT_EQ(dw[5], 0xfffffff0u);
  EXPECT_EQ(dw[6], 0xffffu);
  EXPECT_EQ(dw[7], 0xffffffe0u);
  EXPECT_EQ(POINTERS::unpack(dw.data()).near.gpu, 0xffff'ffff'fff0u);
  ExpectRefused(POINTERS{.near = uint64_t{1} << 48}, "near", reason::too_wide);
  ExpectRefused(POINTERS{.near = kCanonical}, "near", reason::too_wide);
  ExpectRefused(POINTERS{.near = 0xffff'7fff'ffff'fff0}, "near", reason::too_wide);
  ExpectRefused(POINTERS{.low = 0x1'0000'0000}, "low", reason::too_wide);
  ExpectRefused(POINTERS{.base = kHigh | 0x800}, "base", reason::not_aligned);
}

TEST(Wide, AFieldOf48BitsTakesACanonicalAddressOf48Bits) {
  const std::vector<uint32_t> dw = Dwords(POINTERS{.near = 0xffff'8000'0000'1000});
  EXPECT_EQ(dw[5], 0x1000u);
  EXPECT_EQ(dw[6], 0x8000u);
  EXPECT_EQ(POINTERS::unpack(dw.data()).near.gpu, 0x8000'0000'1000u);
}

TEST(Wide, PacketsThatAreTestedAsAWholeHaveTheSameAddresses) {
  MANY many{.first = 1, .full = kCanonical, .byte = 0xff, .last = 2};
  for (unsigned i = 0; i < 8; ++i)
    many.entry[i].address = (uint64_t{i} << 54 & ~(uint64_t{1} << 56)) | 0x40;
  many.entry[7].address = kCanonical;
  const std::vector<uint32_t> dw = Dwords(many);
  EXPECT_EQ(dw[1], 1u);
  EXPECT_EQ(dw[6], 0x40u);
  EXPECT_EQ(dw[7], 0x00800000u);
  EXPECT_EQ(dw[19], 0xff234567u);
  EXPECT_EQ(dw[21], 2u);
  const MANY back = MANY::unpack(dw.data());
  EXPECT_EQ(back.entry[2].address.gpu, 0x0080'0000'0000'0040u);
  EXPECT_EQ(back.entry[7].address.gpu, kPlain);
  EXPECT_EQ(back.full.gpu, kPlain);
  many.entry[3].address = uint64_t{1} << 58;
  const error e = Unknown(many).check();
  EXPECT_STREQ(e.field, "entry[3].address");
  EXPECT_EQ(e.why, reason::too_wide);
}

TEST(Wide, VisitorsThatLookAtAddressesSeeThem) {
  const POINTERS p{.base = {kHigh, 3}, .full = {kHigh, 4}};
  std::vector<uint32_t> buffers;
  p.for_each_address([&](const address& a, unsigned, unsigned, unsigned, access) {
    if (a.buffer != 0) buffers.push_back(a.buffer);
  });
  EXPECT_THAT(buffers, ElementsAre(3, 4));
  EXPECT_NE(to_text(p).find("0x23456789abc000"), std::string::npos) << to_text(p);
}

TEST(WideC, PacksTheSameDwordsAsCpp) {
  for (const uint64_t gpu : {kHigh, kCanonical, kPlain, uint64_t{0x8000'0000'1000}}) {
    WIDE_POINTERS c = {WIDE_POINTERS_header};
    c.Flags = 9;
    c.Base = gpu;
    c.Full = gpu;
    std::vector<uint32_t> dw(WIDE_POINTERS_length, kUntouched);
    WIDE_POINTERS_pack(nullptr, dw.data(), &c);
    EXPECT_EQ(dw, Dwords(POINTERS{.flags = 9, .base = gpu, .full = gpu}));
  }
}

}  // namespace
}  // namespace packsmith::wide
