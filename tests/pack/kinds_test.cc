// Every kind of field on packets of tests/pack/kinds.xml, against dwords worked out by hand.
#include "packsmith/kinds.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "packsmith/kinds_names.h"

namespace packsmith::kinds {
namespace {

using testing::ElementsAre;

constexpr uint32_t kUntouched = 0xdeadbeef;

template <class P>
std::vector<uint32_t> Dwords(const P& packet) {
  const auto words = packed(packet);
  EXPECT_FALSE(words.status) << to_text(words.status);
  return {words.dw, words.dw + words.length};
}

// The result of checked pack, which must write nothing on an error.
template <class P>
error Refusal(const P& packet) {
  std::vector<uint32_t> dw(64, kUntouched);
  const error e = packet.pack(dw.data());
  if (e) {
    for (const uint32_t word : dw) EXPECT_EQ(word, kUntouched) << "written in spite of an error";
  }
  const error checked = packet.check();
  EXPECT_EQ(checked.why, e.why);
  EXPECT_STREQ(checked.field, e.field);
  return e;
}

template <class P>
void ExpectRefused(const P& packet, const char* field, reason why) {
  const error e = Refusal(packet);
  EXPECT_STREQ(e.field, field);
  EXPECT_EQ(e.why, why) << to_text(e);
}

TEST(Integers, StandWhereTheDescriptionSays) {
  EXPECT_THAT(Dwords(INTEGERS{.flag = true,
                              .across = 0x1abcd,
                              .signed_ = -2,
                              .top = true,
                              .wide = 0x0123456789abcdef,
                              .wide_signed = -2,
                              .channel = Color_Channel::GREEN,
                              .mode = INTEGERS::MODE_BOTH_SIDES}),
              ElementsAre(0x78011505, 0xcd000000, 0x801ffdab, 0x89abcdef, 0x01234567, 0xfffffffe,
                          0x800205ff));
}

TEST(Integers, DefaultsOfTheDescriptionArePacked) {
  EXPECT_EQ(INTEGERS{}.small, 5u);
  EXPECT_EQ(Dwords(INTEGERS{})[0], 0x78010505u);
}

TEST(Integers, UnpackGivesEveryValueBack) {
  const INTEGERS in{.small = 15,
                    .flag = true,
                    .across = 0x1ffff,
                    .signed_ = -2048,
                    .top = true,
                    .wide = ~uint64_t{0},
                    .wide_signed = -(int64_t{1} << 39),
                    .channel = Color_Channel::RED,
                    .mode = 3};
  const auto words = packed(in);
  ASSERT_FALSE(words.status);
  const INTEGERS out = INTEGERS::unpack(words.dw);
  EXPECT_EQ(out.small, in.small);
  EXPECT_EQ(out.flag, in.flag);
  EXPECT_EQ(out.across, in.across);
  EXPECT_EQ(out.signed_, in.signed_);
  EXPECT_EQ(out.top, in.top);
  EXPECT_EQ(out.wide, in.wide);
  EXPECT_EQ(out.wide_signed, in.wide_signed);
  EXPECT_EQ(out.channel, in.channel);
  EXPECT_EQ(out.mode, in.mode);
}

TEST(Integers, TheFirstThatDoesNotFitIsNamedAndNothingIsWritten) {
  ExpectRefused(INTEGERS{.small = 16}, "small", reason::too_wide);
  ExpectRefused(INTEGERS{.across = 0x20000}, "across", reason::too_wide);
  ExpectRefused(INTEGERS{.signed_ = 2048}, "signed_", reason::too_wide);
  ExpectRefused(INTEGERS{.signed_ = -2049}, "signed_", reason::too_wide);
  ExpectRefused(INTEGERS{.wide_signed = int64_t{1} << 39}, "wide_signed", reason::too_wide);
  ExpectRefused(INTEGERS{.wide_signed = -(int64_t{1} << 39) - 1}, "wide_signed", reason::too_wide);
  ExpectRefused(INTEGERS{.channel = static_cast<Color_Channel>(8)}, "channel", reason::too_wide);
  ExpectRefused(INTEGERS{.small = 16, .mode = 4}, "small", reason::too_wide);
}

TEST(Integers, LargestAndSmallestFit) {
  EXPECT_FALSE(Refusal(INTEGERS{.small = 15}));
  EXPECT_FALSE(Refusal(INTEGERS{.across = 0x1ffff}));
  EXPECT_FALSE(Refusal(INTEGERS{.signed_ = 2047}));
  EXPECT_FALSE(Refusal(INTEGERS{.signed_ = -2048}));
  EXPECT_FALSE(Refusal(INTEGERS{.wide_signed = (int64_t{1} << 39) - 1}));
}

TEST(Integers, UncheckedPackDoesNotLook) {
  uint32_t dw[INTEGERS::length];
  EXPECT_FALSE(INTEGERS{.small = 16}.pack<checks::off>(dw));
  EXPECT_EQ(dw[0], 0x78011005u) << "spilled into the neighbour, as documented";
}

TEST(Verify, NamesTheFirstForcedOrReservedFieldThatReadsOtherwise) {
  auto words = packed(INTEGERS{});
  EXPECT_FALSE(INTEGERS::verify(words.dw));
  words.dw[6] |= 1u << 24;
  EXPECT_EQ(INTEGERS::verify(words.dw).why, reason::reserved);
  words.dw[6] = 0;  // must-be-one
  EXPECT_EQ(INTEGERS::verify(words.dw).why, reason::reserved);
  words.dw[0] ^= 0x10000;
  EXPECT_EQ(INTEGERS::verify(words.dw).why, reason::forced);
  EXPECT_STREQ(INTEGERS::verify(words.dw).field, "Opcode");
}

TEST(Matches, LooksAtTheOpcodeOnly) {
  EXPECT_TRUE(INTEGERS::matches(0x7801ffff));
  EXPECT_FALSE(INTEGERS::matches(0x7802ffff));
}

TEST(Reals, AreRoundedToTheNearest) {
  EXPECT_THAT(Dwords(REALS{.depth = 1.0f,
                           .scale = -2.0f,
                           .lod = 1.25f,
                           .bias = -1.0f / 256,
                           .ratio = 0.5f,
                           .depth_float = 1.0f}),
              ElementsAre(0x78020003, 0x3f800000, 0x0140c000, 0x00101fff, 0x3f800000));
  // 0.501953125 is 128.5 / 256.
  EXPECT_EQ(Dwords(REALS{.ratio = 0.501953125f})[3], 129u << 13) << "halves go away from zero";
  EXPECT_EQ(Dwords(REALS{.bias = -0.001953125f})[3], 0x1fffu) << "halves go away from zero";
  EXPECT_EQ(Dwords(REALS{.ratio = 0.5019f})[3], 128u << 13);
}

TEST(Reals, OutOfRangeIsRefused) {
  ExpectRefused(REALS{.lod = 16.0f}, "lod", reason::out_of_range);
  ExpectRefused(REALS{.lod = -0.01f}, "lod", reason::out_of_range);
  ExpectRefused(REALS{.bias = 16.0f}, "bias", reason::out_of_range);
  ExpectRefused(REALS{.bias = -16.01f}, "bias", reason::out_of_range);
  ExpectRefused(REALS{.ratio = 1.0f}, "ratio", reason::out_of_range);
  ExpectRefused(REALS{.lod = std::nanf("")}, "lod", reason::not_a_number);
  ExpectRefused(REALS{.bias = std::nanf("")}, "bias", reason::not_a_number);
  ExpectRefused(REALS{.lod = std::numeric_limits<float>::infinity()}, "lod", reason::out_of_range);
  ExpectRefused(REALS{.bias = -1e30f}, "bias", reason::out_of_range);
  ExpectRefused(REALS{.scale = 65520.0f}, "scale", reason::out_of_range);
}

TEST(Reals, WhatRoundsIntoTheRangeFits) {
  EXPECT_EQ(Dwords(REALS{.lod = 15.99609375f})[2], 0x0fff0000u);
  EXPECT_EQ(Dwords(REALS{.lod = -0.0019f})[2], 0u);
  EXPECT_EQ(Dwords(REALS{.bias = -16.0f})[3], 0x1000u);
  EXPECT_EQ(Dwords(REALS{.bias = 15.99609375f})[3], 0xfffu);
}

TEST(Reals, FloatsMayBeAnything) {
  EXPECT_EQ(Dwords(REALS{.depth = -std::numeric_limits<float>::infinity()})[1], 0xff800000u);
  EXPECT_FALSE(Refusal(REALS{.depth = std::nanf("")}));
  EXPECT_EQ(Dwords(REALS{.scale = std::numeric_limits<float>::infinity()})[2], 0x7c00u);
}

TEST(Reals, EveryHalfComesBackAsItself) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const float v = bits::half_value(h);
    if (v != v) {
      EXPECT_EQ(bits::half(v) & 0x7c00, 0x7c00u);
      continue;
    }
    ASSERT_EQ(bits::half(v), h);
  }
}

TEST(Reals, HalvesRoundToTheNearestEven) {
  EXPECT_EQ(bits::half(1.0f + 1.0f / 2048), 0x3c00u);
  EXPECT_EQ(bits::half(1.0f + 3.0f / 2048), 0x3c02u);
  EXPECT_EQ(bits::half(65519.0f), 0x7bffu);
  EXPECT_EQ(bits::half(1e-8f), 0u);
  EXPECT_EQ(bits::half(3.1e-8f), 1u) << "more than half of the smallest";
}

TEST(Reals, UnpackGivesTheValueThatWasStored) {
  const auto words = packed(REALS{.depth = 0.1f, .scale = 0.5f, .lod = 3.5f, .bias = -2.25f});
  const REALS out = REALS::unpack(words.dw);
  EXPECT_EQ(out.depth, 0.1f);
  EXPECT_EQ(out.scale, 0.5f);
  EXPECT_EQ(out.lod, 3.5f);
  EXPECT_EQ(out.bias, -2.25f);
}

TEST(Overlap, BothViewsAreRead) {
  const auto words = packed(REALS{.depth_bits = 0x40000000});
  EXPECT_EQ(REALS::unpack(words.dw).depth_float, 2.0f);
  EXPECT_EQ(REALS::unpack(words.dw).depth_bits, 0x40000000u);
}

TEST(Pointers, IncludeTheBitsThatTheFieldDoesNotStore) {
  EXPECT_THAT(Dwords(POINTERS{.flags = 9,
                              .base = 0xabcd12345000,
                              .mocs = 0x7f,
                              .full = 0x123456789ac0,
                              .old = 0xfffff020,
                              .kernel = 0x40,
                              .packed = 0xffff0}),
              ElementsAre(0x78030006, 0x12345009, 0x007fabcd, 0x56789ac0, 0x00001234, 0xfffff020,
                          0x40, 0xffff));
}

TEST(Pointers, ACanonicalAddressIsCutToItsField) {
  const POINTERS high{.base = 0xffff'8000'0000'1000, .full = 0xffff'8000'0000'1000, .kernel = 64};
  const std::vector<uint32_t> dw = Dwords(high);
  EXPECT_EQ(dw[1], 0x1000u);
  EXPECT_EQ(dw[2], 0x8000u) << "48 bits";
  EXPECT_EQ(dw[4], 0xffff8000u) << "all that the field has";
  EXPECT_EQ(POINTERS::unpack(dw.data()).full.gpu, 0x8000'0000'1000u) << "addresses have 48 bits";
}

TEST(Pointers, WhatCannotBeStoredIsRefused) {
  const POINTERS good{.kernel = 64};
  const auto with = [&](auto set) {
    POINTERS p = good;
    set(p);
    return p;
  };
  ExpectRefused(with([](POINTERS& p) { p.base = 0x1800; }), "base", reason::not_aligned);
  ExpectRefused(with([](POINTERS& p) { p.base = uint64_t{1} << 48; }), "base", reason::too_wide);
  ExpectRefused(with([](POINTERS& p) { p.full = uint64_t{1} << 50; }), "full", reason::too_wide);
  ExpectRefused(with([](POINTERS& p) { p.full = 0xfffe'8000'0000'0000; }), "full",
                reason::too_wide);
  ExpectRefused(with([](POINTERS& p) { p.old = 0x1'0000'0000; }), "old", reason::too_wide);
  ExpectRefused(with([](POINTERS& p) { p.old = 0xffff'ffff'ffff'ffe0; }), "old", reason::too_wide);
  ExpectRefused(with([](POINTERS& p) { p.kernel = 65; }), "kernel", reason::not_aligned);
  ExpectRefused(with([](POINTERS& p) { p.kernel = 0; }), "kernel", reason::zero);
  ExpectRefused(with([](POINTERS& p) { p.packed = 0x100000; }), "packed", reason::too_wide);
  ExpectRefused(with([](POINTERS& p) { p.packed = 8; }), "packed", reason::not_aligned);
}

struct Seen {
  uint64_t gpu;
  uint32_t buffer;
  unsigned dword, bit, width;
  access use;
  bool operator==(const Seen&) const = default;
};

template <class P, class... More>
std::vector<Seen> Addresses(const P& packet, const More&... more) {
  std::vector<Seen> seen;
  packet.for_each_address(
      [&](const address& a, unsigned dword, unsigned bit, unsigned width, access use) {
        seen.push_back({a.gpu, a.buffer, dword, bit, width, use});
      },
      more...);
  return seen;
}

TEST(ForEachAddress, GivesPlaceAndAccess) {
  const POINTERS p{.base = {0x1000, 7}, .full = {0x40, 8, access::read}, .kernel = 64};
  EXPECT_THAT(Addresses(p), ElementsAre(Seen{0x1000, 7, 1, 12, 36, access::read_write},
                                        Seen{0x40, 8, 3, 6, 58, access::read},
                                        Seen{0, 0, 5, 5, 27, access::none}));
}

TEST(ForEachAddress, VisitsNestedStructuresLoopsAndTails) {
  GROUPS g;
  g.body.buffer = 0x40;
  EXPECT_THAT(Addresses(g), ElementsAre(Seen{0x40, 0, 25, 5, 59, access::write}));
  ROWS r;
  r.row[15].target = 0x100000;
  EXPECT_EQ(Addresses(r).size(), 16u);
  EXPECT_EQ(Addresses(r)[15], (Seen{0x100000, 0, 31, 20, 44, access::read}));
  const VERTEX_ITEM items[2] = {{.start = 4}, {.start = 8}};
  EXPECT_THAT(Addresses(VERTICES{}, span<const VERTEX_ITEM>(items)),
              ElementsAre(Seen{4, 0, 2, 2, 30, access::read}, Seen{8, 0, 4, 2, 30, access::read}));
}

TEST(Encodings, StoreTheValueAsTheHardwareWantsIt) {
  EXPECT_THAT(Dwords(ENCODED{.width = 1920,
                             .stride = 0x120,
                             .samples = 8,
                             .registers = 33,
                             .threads = 64,
                             .size_ = 4092,
                             .aligned = 9,
                             .level = -3}),
              ElementsAre(0x78040002, 1919u | 0x12 << 14 | 3 << 24 | 3u << 28,
                          64u | 4092 << 8 | 16u << 20, 0xfdu));
}

TEST(Encodings, DefaultsAreWhatZeroMeans) {
  const ENCODED e;
  EXPECT_EQ(e.width, 1u);
  EXPECT_EQ(e.samples, 1u);
  EXPECT_EQ(e.registers, 256u) << "all groups are stored as 0";
  EXPECT_EQ(Dwords(e)[1], 0u);
}

TEST(Encodings, NoRegistersTakeOneGroupAndAllTakeZero) {
  EXPECT_EQ(Dwords(ENCODED{.registers = 0})[1] >> 28, 1u);
  EXPECT_EQ(Dwords(ENCODED{.registers = 16})[1] >> 28, 1u);
  EXPECT_EQ(Dwords(ENCODED{.registers = 17})[1] >> 28, 2u);
  EXPECT_EQ(Dwords(ENCODED{.registers = 256})[1] >> 28, 0u);
}

TEST(Encodings, UnpackDecodes) {
  const auto words =
      packed(ENCODED{.width = 16384, .stride = 16368, .samples = 128, .registers = 48, .level = 3});
  ASSERT_FALSE(words.status);
  const ENCODED out = ENCODED::unpack(words.dw);
  EXPECT_EQ(out.width, 16384u);
  EXPECT_EQ(out.stride, 16368u);
  EXPECT_EQ(out.samples, 128u);
  EXPECT_EQ(out.registers, 48u);
  EXPECT_EQ(out.level, 3);
}

TEST(Encodings, WhatTheyCannotSayIsRefused) {
  ExpectRefused(ENCODED{.width = 0}, "width", reason::out_of_range);
  ExpectRefused(ENCODED{.width = 16385}, "width", reason::too_wide);
  ExpectRefused(ENCODED{.stride = 8}, "stride", reason::not_aligned);
  ExpectRefused(ENCODED{.stride = 16384}, "stride", reason::too_wide);
  ExpectRefused(ENCODED{.samples = 3}, "samples", reason::not_power_of_two);
  ExpectRefused(ENCODED{.samples = 0}, "samples", reason::not_power_of_two);
  ExpectRefused(ENCODED{.samples = 256}, "samples", reason::too_wide);
  ExpectRefused(ENCODED{.registers = 257}, "registers", reason::too_wide);
  ExpectRefused(ENCODED{.threads = 0}, "threads", reason::out_of_range);
  ExpectRefused(ENCODED{.threads = 65}, "threads", reason::out_of_range);
  ExpectRefused(ENCODED{.size_ = 2}, "size_", reason::not_multiple);
  ExpectRefused(ENCODED{.aligned = 4089}, "aligned", reason::too_wide);
  ExpectRefused(ENCODED{.aligned = 0xffffffff}, "aligned", reason::too_wide);
  ExpectRefused(ENCODED{.level = 4}, "level", reason::out_of_range);
  ExpectRefused(ENCODED{.level = -4}, "level", reason::out_of_range);
}

GROUPS FilledGroups() {
  GROUPS g;
  g.pair[0] = {.low = 1, .high = -1};
  g.pair[1] = {.low = 2, .high = 127};
  for (unsigned i = 0; i < 20; ++i) g.row[i] = 0x10000000 + i;
  for (unsigned i = 0; i < 32; ++i) g.component[i] = i % 4;
  g.body = {.read_length = {3, 4}, .buffer = 0x20};
  g.last = 9;
  return g;
}

TEST(Groups, EveryItemHasItsPlace) {
  const std::vector<uint32_t> dw = Dwords(FilledGroups());
  ASSERT_EQ(dw.size(), 28u);
  EXPECT_EQ(dw[0], 0x7805001au);
  EXPECT_EQ(dw[1], 0x7f02ff01u);
  EXPECT_EQ(dw[2], 0x10000000u);
  EXPECT_EQ(dw[21], 0x10000013u);
  EXPECT_EQ(dw[22], 0xe4e4e4e4u);
  EXPECT_EQ(dw[23], 0xe4e4e4e4u);
  EXPECT_EQ(dw[24], 0x00040003u);
  EXPECT_EQ(dw[25], 0x20u);
  EXPECT_EQ(dw[26], 0u);
  EXPECT_EQ(dw[27], 9u);
}

TEST(Groups, UnpackGivesEveryItemBack) {
  const GROUPS in = FilledGroups();
  const GROUPS out = GROUPS::unpack(packed(in).dw);
  EXPECT_EQ(out.pair[0].high, -1);
  EXPECT_EQ(out.pair[1].high, 127);
  for (unsigned i = 0; i < 20; ++i) EXPECT_EQ(out.row[i], in.row[i]);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(out.component[i], in.component[i]);
  EXPECT_EQ(out.body.read_length[1], 4u);
  EXPECT_EQ(out.body.buffer, in.body.buffer);
}

TEST(Groups, AnItemThatDoesNotFitIsNamedWithItsIndex) {
  GROUPS g;
  g.pair[1].high = 128;
  ExpectRefused(g, "pair[1].high", reason::too_wide);
  g = {};
  g.component[17] = 4;
  const error e = Refusal(g);
  EXPECT_EQ(to_text(e), "component[17] needs more bits than its field has");
  g = {};
  g.body.read_length[1] = 0x10000;
  ExpectRefused(g, "body.read_length[1]", reason::too_wide);
  ROWS r;
  r.row[3].target = 1;
  EXPECT_EQ(to_text(Refusal(r)), "row[3].target has low bits set that its field does not store");
}

TEST(Variants, PackWritesWhatTheValuesSay) {
  uint32_t dw[STORE::max_length] = {1, 1, 1, 1, kUntouched};
  const STORE one{.address = 0x1000, .data = 7};
  EXPECT_EQ(one.dwords_needed(), 4u);
  EXPECT_FALSE(one.pack(dw));
  EXPECT_THAT(dw, ElementsAre(0x78060002, 0x1000, 0, 7, kUntouched));
  const STORE two{.store_qword = true, .address = 0x1000, .data = 0x100000007};
  EXPECT_EQ(two.dwords_needed(), 5u);
  EXPECT_FALSE(two.pack(dw));
  EXPECT_THAT(dw, ElementsAre(0x78060103, 0x1000, 0, 7, 1));
}

TEST(Variants, BitsThatTheFormDoesNotHaveAreRefused) {
  ExpectRefused(STORE{.address = 0x1000, .data = 0x100000007}, "data", reason::absent);
}

TEST(Variants, UnpackReadsNoFurtherThanThePacketOrTheLimit) {
  const uint32_t dw[5] = {0x78060103, 0x1000, 0, 7, 1};
  EXPECT_EQ(STORE::unpack(dw).data, 0x100000007u);
  EXPECT_EQ(STORE::unpack(dw, 4).data, 7u);
  EXPECT_EQ(STORE::unpack(dw, 1).data, 0u);
  const uint32_t shorter[4] = {0x78060002, 0x1000, 0, 7};
  EXPECT_EQ(STORE::unpack(shorter).data, 7u);
  const std::vector<uint32_t> lying = {0x78060102, 0x1000, 0, 7};  // the length says 4
  EXPECT_EQ(STORE::unpack(lying.data()).data, 7u);
}

TEST(Tail, LengthIsComputedAndItemsFollow) {
  const VERTEX_ITEM items[2] = {{.pitch = 12, .valid = true, .start = 0x1000}, {.pitch = 16}};
  uint32_t dw[5];
  EXPECT_EQ(VERTICES::dwords_needed(2), 5u);
  ASSERT_FALSE(VERTICES{}.pack(dw, items));
  EXPECT_THAT(dw, ElementsAre(0x78070003, 0x8000000c, 0x1000, 16, 0));
  const auto view = VERTICES::items(dw, 5);
  ASSERT_EQ(view.size(), 2u);
  EXPECT_EQ(view[0].pitch, 12u);
  EXPECT_EQ(view[0].start.gpu, 0x1000u);
  EXPECT_EQ(view[1].pitch, 16u);
  unsigned sum = 0;
  for (const VERTEX_ITEM item : view) sum += item.pitch;
  EXPECT_EQ(sum, 28u);
}

TEST(Tail, TakesBracedItemsAndContainers) {
  uint32_t dw[5];
  ASSERT_FALSE(LOADS{.mask = 1}.pack(dw, {{.register_ = 0x7004, .data = 1}}));
  EXPECT_THAT(std::vector<uint32_t>(dw, dw + 3), ElementsAre(0x78080101, 0x7004, 1));
  const std::vector<LOADS::item> two(2, {.register_ = 8, .data = 3});
  ASSERT_FALSE(LOADS{}.pack(dw, two));
  EXPECT_THAT(dw, ElementsAre(0x78080003, 8, 3, 8, 3));
}

TEST(Tail, AnItemThatDoesNotFitStopsBeforeAnythingIsWritten) {
  uint32_t dw[5] = {kUntouched, kUntouched, kUntouched, kUntouched, kUntouched};
  const VERTEX_ITEM items[2] = {{.pitch = 1}, {.pitch = 4096}};
  const error e = VERTICES{}.pack(dw, items);
  EXPECT_STREQ(e.field, "pitch");
  EXPECT_EQ(e.item, 1u);
  EXPECT_THAT(dw, testing::Each(kUntouched));
}

TEST(Tail, MoreOrFewerItemsThanTheLengthCanSayAreRefused) {
  std::vector<uint32_t> dw(300, kUntouched);
  std::vector<LOADS::item> items(129);
  EXPECT_EQ(LOADS{}.pack(dw.data(), items).why, reason::too_long);
  EXPECT_EQ(LOADS{}.pack(dw.data()).why, reason::zero);
  EXPECT_THAT(dw, testing::Each(kUntouched));
  items.resize(128);
  EXPECT_FALSE(LOADS{}.pack(dw.data(), items));
  EXPECT_EQ(dw[0], 0x780800ffu);
}

TEST(Tail, MoreItemsThanTheHardwareTakesAreRefused) {
  uint32_t dw[4] = {kUntouched, kUntouched, kUntouched, kUntouched};
  const FEW::item items[3] = {{.entry = 1}, {.entry = 2}, {.entry = 3}};
  const error e = FEW{}.pack(dw, items);
  EXPECT_STREQ(e.field, "items");
  EXPECT_EQ(e.why, reason::too_long);
  EXPECT_THAT(dw, testing::Each(kUntouched));
  EXPECT_FALSE(FEW{}.pack(dw, span<const FEW::item>(items, 2)));
  EXPECT_THAT(dw, ElementsAre(0x780a0001, 1, 2, kUntouched));
}

TEST(Tail, TheViewEndsWithThePacketOrTheLimit) {
  const uint32_t dw[5] = {0x78080003, 8, 3, 8, 4};
  EXPECT_EQ(LOADS::items(dw, 5).size(), 2u);
  EXPECT_EQ(LOADS::items(dw, 100).size(), 2u) << "the packet's own length";
  EXPECT_EQ(LOADS::items(dw, 4).size(), 1u);
  EXPECT_EQ(LOADS::items(dw, 1).size(), 0u);
  EXPECT_EQ(LOADS::items(nullptr, 0).size(), 0u);
  EXPECT_EQ(LOADS::items(dw, 5)[7].data, 0u);
}

TEST(Packed, IsAConstant) {
  constexpr auto words = packed(STORE{.store_qword = true, .address = 0x1000, .data = 1});
  static_assert(words.length == 5 && words.dw[0] == 0x78060103 && !words.status);
  constexpr auto tail = packed(LOADS{}, {{.register_ = 8, .data = 3}});
  static_assert(tail.length == 3 && tail.dw[2] == 3);
  static_assert(STORE::unpack(words.dw).data == 1);
  static_assert(!REALS{.lod = 1.5f, .bias = -1.5f}.check());
  static_assert(packed(REALS{.scale = 1.0f, .lod = 1.5f}).dw[2] == 0x01803c00);
}

TEST(Packed, AtRunTimeTheStatusSaysWhatDoesNotFit) {
  volatile uint32_t sixteen = 16;
  const auto words = packed(INTEGERS{.small = sixteen});
  EXPECT_STREQ(words.status.field, "small");
  EXPECT_EQ(words.dw[0], 0u);
}

TEST(Registers, KnowTheirOffset) {
  EXPECT_EQ(CONTROL::register_offset, 0x7004u);
  EXPECT_EQ(Dwords(CONTROL{.enable_mask = true})[0], 0x10001u);
}

TEST(Names, ThatTheLibraryOrTheLanguageUsesWork) {
  const std::vector<uint32_t> dw = Dwords(_3D_NAMES{._3d = true,
                                                    .default_ = true,
                                                    .address = 1,
                                                    .error = 2,
                                                    .dw = 3,
                                                    .bits = 4,
                                                    .t = 5,
                                                    .length_ = 6,
                                                    .checks = 7,
                                                    .packsmith = 8,
                                                    .pack_ = 9,
                                                    .i0 = 10});
  EXPECT_THAT(dw, ElementsAre(0x06543213, 0x000a9087, 0));
}

TEST(Ranges, ValuesThatAreClampedAlwaysFitAndTheOthersMustBeInRange) {
  EXPECT_THAT(Dwords(RANGES{.most = 20,
                            .bounded_real = 12,
                            .level = -3,
                            .long_ = 1000,
                            .even = 6,
                            .bounded_code = 64,
                            .color = Color_Channel::GREEN}),
              ElementsAre(0xfd1c0380, 1000, 0x053f0600));
  EXPECT_EQ(Dwords(RANGES{.most = -1})[0] & 0x3ff, 0u);
  ExpectRefused(RANGES{.bounded_real = 12.5f}, "bounded_real", reason::out_of_range);
  ExpectRefused(RANGES{.positive = 0}, "positive", reason::zero);
  ExpectRefused(RANGES{.level = -4}, "level", reason::out_of_range);
  ExpectRefused(RANGES{.long_ = 1001}, "long_", reason::out_of_range);
  ExpectRefused(RANGES{.even = 7}, "even", reason::not_multiple);
  ExpectRefused(RANGES{.bounded_code = 65}, "bounded_code", reason::out_of_range);
}

// Every member of a packet's type is printed.
template <class P>
void ExpectAllPrinted(const P& packet) {
  const std::string text = to_text(packet);
  for (const field_name& field : names<P>::fields) {
    std::string label = field.manual;
    const size_t hole = label.find("[]");
    label = hole == std::string::npos ? label + ": " : label.substr(0, hole + 1) + "0]";
    EXPECT_THAT(text, testing::HasSubstr("  " + label)) << names<P>::type;
  }
}

TEST(Visitors, PrintingForgetsNoKindOfMember) {
  ExpectAllPrinted(INTEGERS{});
  ExpectAllPrinted(REALS{});
  ExpectAllPrinted(POINTERS{});
  ExpectAllPrinted(ENCODED{});
  ExpectAllPrinted(GROUPS{});
  ExpectAllPrinted(RANGES{});
  ExpectAllPrinted(VIEWS{});
  EXPECT_THAT(to_text(RANGES{.most = 20}), testing::HasSubstr("  Most: 20\n"));
}

// A visitor that notes the name of each member.
struct NameCollector : bits::visitor<NameCollector> {
  std::vector<std::string> names;
  void member(const auto&, const auto&, unsigned, unsigned, const char* name) {
    names.push_back(name);
  }
};
template <class P>
void ExpectAllSeen() {
  P packet;
  NameCollector collector;
  P::ps_layout(packet, collector);
  std::vector<std::string> wanted;
  for (const field_name& field : names<P>::fields) wanted.push_back(field.member);
  EXPECT_EQ(collector.names, wanted) << names<P>::type;
}

TEST(Visitors, OneThatTreatsAllAlikeSeesEveryKindOfMember) {
  ExpectAllSeen<INTEGERS>();
  ExpectAllSeen<REALS>();
  ExpectAllSeen<POINTERS>();
  ExpectAllSeen<ENCODED>();
  ExpectAllSeen<RANGES>();
}

// What pack writes, unpack reads; verify and check find nothing wrong; addresses are shown: all
// visitors at all kinds.
template <class P>
void ExpectRoundTrip(const P& packet) {
  const std::vector<uint32_t> dwords = Dwords(packet);
  EXPECT_FALSE(packet.check()) << names<P>::type;
  EXPECT_FALSE(P::verify(dwords.data())) << names<P>::type;
  const P again = P::unpack(dwords.data());
  EXPECT_EQ(Dwords(again), dwords) << names<P>::type;
  EXPECT_EQ(to_text(again), to_text(packet)) << names<P>::type;
  EXPECT_FALSE(bits::doubtful(packet)) << names<P>::type;
}

TEST(Visitors, AgreeOnEveryKindOfMember) {
  ExpectRoundTrip(INTEGERS{.small = 3, .flag = true, .signed_ = -2, .wide = 5, .wide_signed = -6});
  ExpectRoundTrip(REALS{.depth = 1.5f, .scale = -2, .lod = 1.25f, .bias = -1, .ratio = 0.5f});
  ExpectRoundTrip(
      POINTERS{.base = 0x1000, .full = 0xffff800000000000 & 0xffffffffffff, .kernel = 0x40});
  ExpectRoundTrip(ENCODED{.width = 4, .stride = 16, .samples = 4, .size_ = 8, .level = -3});
  ExpectRoundTrip(RANGES{.most = 13.5f, .bounded_real = 1, .level = 3, .long_ = 7, .even = 2});
  ExpectRoundTrip(VIEWS{.enable = true, .pitch = 3});
}

TEST(Names, ToTextPrintsTheManualsNames) {
  const std::string text = to_text(INTEGERS{.flag = true, .channel = Color_Channel::RED});
  EXPECT_THAT(text, testing::StartsWith("INTEGERS\n"));
  EXPECT_THAT(text, testing::HasSubstr("  Flag: true\n"));
  EXPECT_THAT(text, testing::HasSubstr("  Channel: 4 (RED)\n"));
  EXPECT_THAT(to_text(FilledGroups()), testing::HasSubstr("  Component[31]: 3\n"));
}

TEST(Span, IsMadeFromArraysAndContainers) {
  const uint32_t array[3] = {1, 2, 3};
  const std::vector<uint32_t> vector = {4, 5};
  EXPECT_EQ(span<const uint32_t>(array).size(), 3u);
  EXPECT_EQ(span<const uint32_t>(vector)[1], 5u);
  EXPECT_TRUE(span<const uint32_t>().empty());
}

}  // namespace
}  // namespace packsmith::kinds
