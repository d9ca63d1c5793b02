// The C header beside the C++ one: the same dwords from the same values, and genxml's interface.
#include <cstdint>
#include <cstring>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "packsmith/kinds.h"

// A driver's address: a buffer and an offset, and a list of where addresses were written.
struct Buffer {
  uint64_t gpu;
};
struct DriverAddress {
  const Buffer* buffer;
  uint64_t offset;
};
struct Relocation {
  void* location;
  uint32_t delta;
};
struct DriverBatch {
  std::vector<Relocation> relocations;
};

static uint64_t Combine(DriverBatch* batch, void* location, DriverAddress address, uint32_t delta) {
  batch->relocations.push_back({location, delta});
  return (address.buffer != nullptr ? address.buffer->gpu : 0) + address.offset + delta;
}

// T_header leaves members out on purpose; only C++ compilers complain.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define __gen_address_type DriverAddress
#define __gen_user_data DriverBatch
#define __gen_combine_address Combine
#define PACKSMITH_REPACK
#include "packsmith/c/kinds_bits.h"
#include "packsmith/c/kinds_pack.h"

namespace {

using testing::ElementsAre;

TEST(C, LengthsBiasesOffsetsAndPositionsAreMacros) {
  EXPECT_EQ(KINDS_INTEGERS_length, 7);
  EXPECT_EQ(KINDS_INTEGERS_length_bias, 2);
  EXPECT_EQ(KINDS_CONTROL_num, 0x7004);
  EXPECT_EQ(KINDS_CONTROL_length, 1);
  EXPECT_EQ(KINDS_INTEGERS_Signed_start, 2 * 32 + 9);
  EXPECT_EQ(KINDS_INTEGERS_Signed_bits, 12);
#ifdef KINDS_VERTICES_length
  ADD_FAILURE() << "a packet of variable size has no length";
#endif
}

TEST(C, ValuesHaveThePlainNameAndThePrefixedOne) {
  EXPECT_EQ(CHANNEL_GREEN, 5);
  EXPECT_EQ(KINDS_CHANNEL_GREEN, 5);
  EXPECT_EQ(BothSides, 2);
  EXPECT_EQ(KINDS_BothSides, 2);
}

TEST(C, TheHeaderMacroHoldsEveryDefaultAndOpcodesCanBeOverridden) {
  KINDS_INTEGERS values = {KINDS_INTEGERS_header};
  EXPECT_EQ(values.DWordLength, 5u);
  EXPECT_EQ(values.Opcode, 0x7801u);
  EXPECT_EQ(values.Small, 5u);
  values.Opcode = 0x7802;
  uint32_t dw[KINDS_INTEGERS_length];
  KINDS_INTEGERS_pack(nullptr, dw, &values);
  EXPECT_EQ(dw[0], 0x78020505u);
}

TEST(C, PacksTheSameDwordsAsCpp) {
  KINDS_INTEGERS c = {KINDS_INTEGERS_header};
  c.Small = 3;
  c.Flag = true;
  c.Across = 0x1abcd;
  c.Signed = -2;
  c.Top = true;
  c.Wide = 0x0123456789abcdef;
  c.WideSigned = -2;
  c.Channel = CHANNEL_GREEN;
  c.Mode = BothSides;
  uint32_t dw[KINDS_INTEGERS_length];
  KINDS_INTEGERS_pack(nullptr, dw, &c);
  const auto cpp = packsmith::packed(
      packsmith::kinds::INTEGERS{.small = 3,
                                 .flag = true,
                                 .across = 0x1abcd,
                                 .signed_ = -2,
                                 .top = true,
                                 .wide = 0x0123456789abcdef,
                                 .wide_signed = -2,
                                 .channel = packsmith::kinds::Color_Channel::GREEN,
                                 .mode = 2});
  EXPECT_EQ(std::memcmp(dw, cpp.dw, sizeof(dw)), 0);
}

TEST(C, RealsAreRoundedAsInCpp) {
  for (const float v : {0.0f, 0.25f, 0.5019f, 0.501953125f, 0.99f}) {
    KINDS_REALS c = {KINDS_REALS_header};
    c.Depth = v;
    c.Scale = v;
    c.Lod = v * 15;
    c.Bias = -v * 15;
    c.Ratio = v;
    uint32_t dw[KINDS_REALS_length];
    KINDS_REALS_pack(nullptr, dw, &c);
    const auto cpp = packsmith::packed(packsmith::kinds::REALS{
        .depth = v, .scale = v, .lod = v * 15, .bias = -v * 15, .ratio = v});
    EXPECT_EQ(std::memcmp(dw, cpp.dw, sizeof(dw)), 0) << v;
  }
}

TEST(C, AddressesGoThroughTheDriversHookWithTheOtherBitsOfTheirDword) {
  const Buffer buffer = {0x123456780000};
  DriverBatch batch;
  KINDS_POINTERS c = {KINDS_POINTERS_header};
  c.Flags = 9;
  c.Base = {&buffer, 0x1000};
  c.Mocs = 0x7f;
  c.Kernel = 0x40;
  uint32_t dw[KINDS_POINTERS_length];
  KINDS_POINTERS_pack(&batch, dw, &c);
  EXPECT_EQ(dw[1], 0x56781009u);
  EXPECT_EQ(dw[2], 0x007f1234u);
  ASSERT_EQ(batch.relocations.size(), 3u);
  EXPECT_EQ(batch.relocations[0].location, &dw[1]);
  EXPECT_EQ(batch.relocations[0].delta, 9u);
  EXPECT_EQ(batch.relocations[1].location, &dw[3]);
}

TEST(C, AnAddressIsCutToItsField) {
  const Buffer buffer = {0xffff800000001000};
  DriverBatch batch;
  KINDS_POINTERS c = {KINDS_POINTERS_header};
  c.Base = {&buffer, 0};
  c.Full = {&buffer, 0};
  c.Kernel = 0x40;
  uint32_t dw[KINDS_POINTERS_length];
  KINDS_POINTERS_pack(&batch, dw, &c);
  EXPECT_EQ(dw[2], 0x8000u);
  EXPECT_EQ(dw[4], 0xffff8000u);
}

TEST(C, GroupsAreArrayMembers) {
  DriverBatch batch;
  KINDS_GROUPS c = {KINDS_GROUPS_header};
  for (unsigned i = 0; i < 20; ++i) c.Row[i] = i;
  for (unsigned i = 0; i < 32; ++i) c.Component[i] = i % 4;
  c.Body.ReadLength[1] = 4;
  uint32_t dw[KINDS_GROUPS_length];
  KINDS_GROUPS_pack(&batch, dw, &c);
  EXPECT_EQ(dw[0], 0x7805001au);
  EXPECT_EQ(dw[21], 19u);
  EXPECT_EQ(dw[22], 0xe4e4e4e4u);
  EXPECT_EQ(dw[24], 0x00040000u);
}

TEST(C, PackWritesExactlyTheLength) {
  DriverBatch batch;
  KINDS_STORE c = {KINDS_STORE_header};
  EXPECT_EQ(c.DWordLength, 2u);
  c.Data = 0x100000007;
  uint32_t dw[5] = {1, 1, 1, 1, 0xdeadbeef};
  KINDS_STORE_pack(&batch, dw, &c);
  EXPECT_EQ(dw[3], 7u);
  EXPECT_EQ(dw[4], 0xdeadbeefu);
}

TEST(C, ItemsOfATailArePackedByTheCaller) {
  DriverBatch batch;
  KINDS_VERTICES head = {KINDS_VERTICES_header};
  head.DWordLength = 1;
  KINDS_VERTEX_ITEM item = {};
  item.Pitch = 12;
  uint32_t dw[3];
  KINDS_VERTICES_pack(&batch, dw, &head);
  KINDS_VERTEX_ITEM_pack(&batch, dw + 1, &item);
  EXPECT_THAT(dw, ElementsAre(0x78070001, 12, 0));
}

TEST(C, RepackOrsWithWhatWasThere) {
  KINDS_CONTROL c = {};
  c.EnableMask = true;
  const uint32_t origin[1] = {0x100};
  uint32_t dw[1];
  KINDS_CONTROL_repack(nullptr, dw, origin, &c);
  EXPECT_EQ(dw[0], 0x10100u);
}

#ifndef NDEBUG
TEST(CDeathTest, DebugBuildsNameTheValueThatDoesNotFit) {
  KINDS_INTEGERS c = {KINDS_INTEGERS_header};
  c.Small = 16;
  uint32_t dw[KINDS_INTEGERS_length];
  EXPECT_DEATH(KINDS_INTEGERS_pack(nullptr, dw, &c),
               "line [0-9]+ of the packet header: value does not fit its field, bits 8 to 11: 16");
  KINDS_POINTERS p = {KINDS_POINTERS_header};
  EXPECT_DEATH(KINDS_POINTERS_pack(nullptr, dw, &p), "Kernel != 0");
}
#endif

}  // namespace
