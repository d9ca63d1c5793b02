// Shows a member of every kind to every visitor of pack.h and names.h. all_kinds_test.py holds that
// no kind is missing here.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "packsmith/names.h"
#include "packsmith/pack.h"

namespace packsmith {
namespace {

enum class Channel : uint32_t { kRed = 4 };
constexpr const char* name(Channel channel) { return channel == Channel::kRed ? "RED" : nullptr; }

// Of each kind: a field's width, a value, its raw bits, its text, and a value that does not fit
// with the reason (or none, if all fit).
struct Flag {
  static constexpr bits::kinds::flag kKind = {};
  static constexpr unsigned kWidth = 1;
  static constexpr bool kValue = true, kMisfit = false;
  static constexpr uint64_t kRaw = 1;
  static constexpr reason kWhy = reason::none;
  static constexpr const char* kText = "true";
};
struct Uint {
  static constexpr bits::kinds::uint kKind = {};
  static constexpr unsigned kWidth = 5;
  static constexpr uint32_t kValue = 31, kMisfit = 32;
  static constexpr uint64_t kRaw = 31;
  static constexpr reason kWhy = reason::too_wide;
  static constexpr const char* kText = "31";
};
struct Enumeration {
  static constexpr bits::kinds::uint kKind = {};
  static constexpr unsigned kWidth = 3;
  static constexpr Channel kValue = Channel::kRed, kMisfit = static_cast<Channel>(8);
  static constexpr uint64_t kRaw = 4;
  static constexpr reason kWhy = reason::too_wide;
  static constexpr const char* kText = "4 (RED)";
};
struct Wide {
  static constexpr bits::kinds::uint kKind = {};
  static constexpr unsigned kWidth = 40;
  static constexpr uint64_t kValue = 0xab12345678, kMisfit = uint64_t{1} << 40;
  static constexpr uint64_t kRaw = kValue;
  static constexpr reason kWhy = reason::too_wide;
  static constexpr const char* kText = "734744827512";
};
struct Positive {
  static constexpr bits::kinds::positive kKind = {};
  static constexpr unsigned kWidth = 5;
  static constexpr uint32_t kValue = 1, kMisfit = 0;
  static constexpr uint64_t kRaw = 1;
  static constexpr reason kWhy = reason::zero;
  static constexpr const char* kText = "1";
};
struct PositiveTooWide : Positive {
  static constexpr uint32_t kMisfit = 32;
  static constexpr reason kWhy = reason::too_wide;
};
struct Bounded {
  static constexpr bits::kinds::bounded kKind = {3, 20};
  static constexpr unsigned kWidth = 5;
  static constexpr uint32_t kValue = 20, kMisfit = 21;
  static constexpr uint64_t kRaw = 20;
  static constexpr reason kWhy = reason::out_of_range;
  static constexpr const char* kText = "20";
};
struct BoundedBelow : Bounded {
  static constexpr uint32_t kMisfit = 2;
};
struct BoundedByPowerOfTwo : Bounded {
  static constexpr bits::kinds::bounded kKind = {0, 2048};
  static constexpr unsigned kWidth = 12;
  static constexpr uint32_t kMisfit = 2049;
};
struct BoundedWide {
  static constexpr bits::kinds::bounded kKind = {0, 1000};
  static constexpr unsigned kWidth = 40;
  static constexpr uint64_t kValue = 1000, kMisfit = 1001;
  static constexpr uint64_t kRaw = 1000;
  static constexpr reason kWhy = reason::out_of_range;
  static constexpr const char* kText = "1000";
};
struct Sint {
  static constexpr bits::kinds::sint kKind = {};
  static constexpr unsigned kWidth = 5;
  static constexpr int32_t kValue = -16, kMisfit = -17;
  static constexpr uint64_t kRaw = 0x10;
  static constexpr reason kWhy = reason::too_wide;
  static constexpr const char* kText = "-16";
};
struct SintWide {
  static constexpr bits::kinds::sint kKind = {};
  static constexpr unsigned kWidth = 40;
  static constexpr int64_t kValue = -2, kMisfit = int64_t{1} << 39;
  static constexpr uint64_t kRaw = 0xfffffffffe;
  static constexpr reason kWhy = reason::too_wide;
  static constexpr const char* kText = "-2";
};
struct Real {
  static constexpr bits::kinds::real kKind = {};
  static constexpr unsigned kWidth = 32;
  static constexpr float kValue = -1.5f, kMisfit = 0.0f;
  static constexpr uint64_t kRaw = 0xbfc00000;
  static constexpr reason kWhy = reason::none;
  static constexpr const char* kText = "-1.5";
};
struct Double {
  static constexpr bits::kinds::real kKind = {};
  static constexpr unsigned kWidth = 64;
  static constexpr double kValue = 0.5, kMisfit = 0.0;
  static constexpr uint64_t kRaw = 0x3fe0000000000000;
  static constexpr reason kWhy = reason::none;
  static constexpr const char* kText = "0.5";
};
struct Half {
  static constexpr bits::kinds::half kKind = {};
  static constexpr unsigned kWidth = 16;
  static constexpr float kValue = 1.0f, kMisfit = 65536.0f;
  static constexpr uint64_t kRaw = 0x3c00;
  static constexpr reason kWhy = reason::out_of_range;
  static constexpr const char* kText = "1";
};
struct Ufixed {
  static constexpr bits::kinds::ufixed kKind = {8};
  static constexpr unsigned kWidth = 12;
  static constexpr float kValue = 1.5f, kMisfit = 16.0f;
  static constexpr uint64_t kRaw = 0x180;
  static constexpr reason kWhy = reason::out_of_range;
  static constexpr const char* kText = "1.5";
};
struct UfixedNotANumber : Ufixed {
  static constexpr float kMisfit = __builtin_nanf("");
  static constexpr reason kWhy = reason::not_a_number;
};
struct Clamped {
  static constexpr bits::kinds::clamped kKind = {6, 14.0};
  static constexpr unsigned kWidth = 10;
  static constexpr float kValue = 13.5f, kMisfit = 0.0f;
  static constexpr uint64_t kRaw = 0x360;
  static constexpr reason kWhy = reason::none;
  static constexpr const char* kText = "13.5";
};
struct Sfixed {
  static constexpr bits::kinds::sfixed kKind = {8};
  static constexpr unsigned kWidth = 13;
  static constexpr float kValue = -1.5f, kMisfit = 16.0f;
  static constexpr uint64_t kRaw = 0x1e80;
  static constexpr reason kWhy = reason::out_of_range;
  static constexpr const char* kText = "-1.5";
};
struct Address {
  static constexpr bits::kinds::address kKind = {4, access::read};
  static constexpr unsigned kWidth = 60;
  static constexpr address kValue = {0x800000001230}, kMisfit = {0x1238};
  static constexpr uint64_t kRaw = 0x80000000123;
  static constexpr reason kWhy = reason::not_aligned;
  static constexpr const char* kText = "0x800000001230";
};
struct AddressTooWide : Address {
  static constexpr address kMisfit = {uint64_t{1} << 48};
  static constexpr reason kWhy = reason::too_wide;
};
struct Offset {
  static constexpr bits::kinds::offset kKind = {4};
  static constexpr unsigned kWidth = 16;
  static constexpr uint32_t kValue = 0xffff0, kMisfit = 8;
  static constexpr uint64_t kRaw = 0xffff;
  static constexpr reason kWhy = reason::not_aligned;
  static constexpr const char* kText = "0xffff0";
};
struct OffsetTooWide : Offset {
  static constexpr uint32_t kMisfit = 0x100000;
  static constexpr reason kWhy = reason::too_wide;
};
struct Coded {
  static constexpr bits::kinds::coded kKind = {{.minus = 1}};
  static constexpr unsigned kWidth = 14;
  static constexpr uint32_t kValue = 16384, kMisfit = 0;
  static constexpr uint64_t kRaw = 16383;
  static constexpr reason kWhy = reason::out_of_range;
  static constexpr const char* kText = "16384";
};
struct CodedLog2 {
  static constexpr bits::kinds::coded kKind = {{.log2 = true}};
  static constexpr unsigned kWidth = 3;
  static constexpr uint32_t kValue = 16, kMisfit = 3;
  static constexpr uint64_t kRaw = 4;
  static constexpr reason kWhy = reason::not_power_of_two;
  static constexpr const char* kText = "16";
};

// A packet as generated code declares it, with such a member, which begins in bit 36.
constexpr unsigned kBit = 36;
template <class Case>
struct Packet {
  static constexpr unsigned length = 4;

  std::remove_const_t<decltype(Case::kValue)> value = Case::kValue;
  uint32_t rest[6] = {};

  template <class T, class V>
  static constexpr void ps_layout(T& p, V& v) {
    v.member(Case::kKind, p.value, kBit, Case::kWidth, "value");
    v.forced(104, 8, 0x5a, "Opcode");
  }
};
// The same in two sizes, of which the shorter one ends before the member.
template <class Case>
struct ShortPacket : Packet<Case> {
  static constexpr unsigned length = 1, max_length = 4;
  constexpr unsigned dwords_needed() const { return 1; }
};

// Words that hold such raw bits.
template <class Case>
struct Words {
  uint32_t dw[4] = {};

  constexpr Words() {
    bits::put(dw, kBit, Case::kWidth, Case::kRaw);
    bits::put(dw, 104, 8, 0x5a);
  }
};

}  // namespace

template <class Case>
struct names<Packet<Case>> {
  static constexpr const char* type = "PACKET";
  static constexpr field_name fields[] = {{"value", "Value"}};
};

namespace {

template <class Case>
class VisitorsTest : public testing::Test {};

using Cases = testing::Types<Flag, Uint, Enumeration, Wide, Positive, PositiveTooWide, Bounded,
                             BoundedBelow, BoundedByPowerOfTwo, BoundedWide, Sint, SintWide, Real,
                             Double, Half, Ufixed, UfixedNotANumber, Clamped, Sfixed, Address,
                             AddressTooWide, Offset, OffsetTooWide, Coded, CodedLog2>;
TYPED_TEST_SUITE(VisitorsTest, Cases);

TYPED_TEST(VisitorsTest, ThePackerWritesTheRawBits) {
  const Packet<TypeParam> packet;
  uint32_t dw[4] = {1, 1, 1, 1};
  bits::write(packet, dw, 0);
  EXPECT_EQ(std::memcmp(dw, Words<TypeParam>().dw, sizeof(dw)), 0)
      << std::hex << dw[1] << " " << dw[2] << " " << dw[3];
}

TYPED_TEST(VisitorsTest, TheReaderGivesTheValueBack) {
  constexpr auto value = bits::unpack<Packet<TypeParam>>(Words<TypeParam>().dw).value;
  EXPECT_EQ(value, TypeParam::kValue);
}

TYPED_TEST(VisitorsTest, TheVerifierSeesFixedBitsOnly) {
  Words<TypeParam> words;
  EXPECT_FALSE(bits::verify<Packet<TypeParam>>(words.dw));
  for (uint32_t& word : words.dw) word = ~word;
  const error e = bits::verify<Packet<TypeParam>>(words.dw);
  EXPECT_STREQ(e.field, "Opcode");
  EXPECT_EQ(e.why, reason::forced);
}

TYPED_TEST(VisitorsTest, TheFinderAndTheTestersAgree) {
  constexpr Packet<TypeParam> good, bad = {.value = TypeParam::kMisfit};
  static_assert(!bits::check(good) && !bits::misfit(good));
  EXPECT_FALSE(bits::doubtful_in_memory(good));
  const error e = bits::check(bad);
  EXPECT_EQ(e.why, TypeParam::kWhy);
  EXPECT_EQ(bits::misfit(bad), e.why != reason::none);
  EXPECT_EQ(bits::doubtful_in_memory(bad), e.why != reason::none);
  uint32_t dw[4];
  EXPECT_EQ(bits::pack<checks::on>(bad, dw, 0).why, e.why);
}

TYPED_TEST(VisitorsTest, AWordThatAFormLacksMustBeZero) {
  const ShortPacket<TypeParam> packet;
  const error e = bits::check(packet);
  EXPECT_STREQ(e.field, "value");
  EXPECT_EQ(e.why, reason::absent);
  EXPECT_TRUE(bits::misfit(packet));
}

TYPED_TEST(VisitorsTest, TheAddressWalkerSeesAddressesOnly) {
  constexpr bool kIsAddress = std::is_same_v<decltype(Packet<TypeParam>::value), address>;
  unsigned seen = 0;
  const auto see = [&](const address& a, unsigned dword, unsigned bit, unsigned width, access how) {
    ++seen;
    EXPECT_EQ(a.gpu >> 4, TypeParam::kRaw);
    EXPECT_EQ(32 * dword + bit, kBit);
    EXPECT_EQ(width, TypeParam::kWidth);
    EXPECT_EQ(how, access::read);
  };
  bits::addresses(Packet<TypeParam>(), see);
  EXPECT_EQ(seen, kIsAddress ? 1u : 0u);
}

TYPED_TEST(VisitorsTest, ThePrinterShowsTheValue) {
  const Packet<TypeParam> packet = bits::unpack<Packet<TypeParam>>(Words<TypeParam>().dw);
  EXPECT_EQ(to_text(packet), std::string("PACKET\n  Value: ") + TypeParam::kText + "\n");
}

TYPED_TEST(VisitorsTest, TheJoinerCountsTheWordsOfTheMember) {
  constexpr auto joined = bits::joined<Packet<TypeParam>>();
  for (unsigned i = 0; i < 4; ++i) {
    const bool has = i >= kBit / 32 && i <= (kBit + TypeParam::kWidth - 1) / 32;
    EXPECT_EQ(joined.members[i], has ? 1u : 0u) << i;
  }
}

// The other form of an address of the upper half: `outside` may doubt it, pack takes it.
TEST(Address, MayHaveCopiesOfItsHighestBit) {
  const Packet<Address> packet = {.value = 0xffff800000001230};
  EXPECT_FALSE(bits::check(packet));
  uint32_t dw[4];
  EXPECT_FALSE(bits::pack<checks::on>(packet, dw, 0));
  EXPECT_EQ(dw[2], 0xffff8000u);
  EXPECT_EQ(bits::unpack<Packet<Address>>(dw).value, address(0x800000001230));
}

TEST(Clamped, StoresTheNearestValue) {
  constexpr bits::kinds::clamped kKind = {6, 14.0};
  EXPECT_EQ(kKind.encode(20.0, 10), 14u << 6);
  EXPECT_EQ(kKind.encode(-1.0, 10), 0u);
  EXPECT_EQ(kKind.encode(__builtin_nan(""), 10), 0u);
}

}  // namespace
}  // namespace packsmith
