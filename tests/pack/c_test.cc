// The C header compared with the C++ one: the same dwords from the same values, and genxml's
// interface.
#include <algorithm>
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
#define PACKSMITH_EXPECT_HEADERS
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

TEST(C, ALengthThatTheCallerSetsDecidesHowMuchOfAFieldIsWritten) {
  DriverBatch batch;
  KINDS_STORE c = {KINDS_STORE_header};
  c.Data = 0x100000007;
  uint32_t dw[6] = {1, 1, 1, 1, 1, 0xdeadbeef};
  c.DWordLength = KINDS_STORE_length + 1 - KINDS_STORE_length_bias;
  KINDS_STORE_pack(&batch, dw, &c);
  EXPECT_THAT(dw, ElementsAre(0x78060003, 0, 0, 7, 1, 0xdeadbeef));
  // A length above the longest form writes no more than that.
  dw[4] = 1;
  c.DWordLength = 200;
  KINDS_STORE_pack(&batch, dw, &c);
  EXPECT_THAT(dw, ElementsAre(0x780600c8, 0, 0, 7, 1, 0xdeadbeef));
  // A length below the shortest form still writes T_length dwords.
  c.DWordLength = 0;
  std::fill_n(dw, 5, 1);
  KINDS_STORE_pack(&batch, dw, &c);
  EXPECT_THAT(dw, ElementsAre(0x78060000, 0, 0, 7, 1, 0xdeadbeef));
}

TEST(C, MembersBeyondTheLengthArePackedAsFarAsTheCallersLengthCountsThem) {
  const Buffer buffer = {0x123456780000};
  KINDS_COUNTED c = {KINDS_COUNTED_header};
  EXPECT_EQ(c.DWordLength, 0u);
  c.First = 1;
  c.Small = 2;
  c.Signed = -1;
  c.Target = {&buffer, 0};
  c.Last = 3;
  const std::vector<uint32_t> all = {0x780b0000, 1, 0xff02, 0x56780000, 0x1234, 0, 3};
  for (unsigned length = 2; length <= 8; ++length) {
    DriverBatch batch;
    c.DWordLength = length - KINDS_COUNTED_length_bias;
    std::vector<uint32_t> dw(9, 0xcccccccc);
    KINDS_COUNTED_pack(&batch, dw.data(), &c);
    // Half an address is useless, and its relocation would refer to memory that does not exist.
    EXPECT_EQ(batch.relocations.size(), length > 4 ? 1u : 0u) << length;
    for (unsigned i = 0; i < 9; ++i) {
      const bool is_counted = i < length && i < 7 && !(length == 4 && i == 3);
      const uint32_t want = i == 0 ? all[0] | c.DWordLength : is_counted ? all[i] : 0xcccccccc;
      EXPECT_EQ(dw[i], want) << length << " dwords, dword " << i;
    }
  }
}

TEST(C, ItemsOfATailThatAreMembersArePackedIfTheLengthCountsThem) {
  KINDS_COUNTED_ITEMS c = {KINDS_COUNTED_ITEMS_header};
  c.Parameter[0] = 7;
  c.Parameter[1] = 8;
  uint32_t dw[5] = {1, 1, 1, 1, 1};
  KINDS_COUNTED_ITEMS_pack(nullptr, dw, &c);
  EXPECT_THAT(dw, ElementsAre(0x780c0000, 0, 1, 1, 1));
  c.DWordLength = 1;
  KINDS_COUNTED_ITEMS_pack(nullptr, dw, &c);
  EXPECT_THAT(dw, ElementsAre(0x780c0001, 0, 7, 1, 1));
  c.DWordLength = 2;
  KINDS_COUNTED_ITEMS_pack(nullptr, dw, &c);
  EXPECT_THAT(dw, ElementsAre(0x780c0002, 0, 7, 8, 1));
}

TEST(C, ALoopIsCutWhereTheLengthEnds) {
  KINDS_COUNTED_ROWS c = {KINDS_COUNTED_ROWS_header};
  for (unsigned i = 0; i < 48; ++i) c.Lambda[i] = 0x100 + i;
  for (const unsigned length : {2u, 4u, 5u, 25u, 26u, 100u}) {
    c.DWordLength = length - KINDS_COUNTED_ROWS_length_bias;
    std::vector<uint32_t> dw(28, 0xcccccccc);
    KINDS_COUNTED_ROWS_pack(nullptr, dw.data(), &c);
    const unsigned written = std::min(26u, std::max(4u, length));
    for (unsigned i = 2; i < 28; ++i) {
      const uint32_t pair = (0x100 + 2 * (i - 2)) | (0x101 + 2 * (i - 2)) << 16;
      EXPECT_EQ(dw[i], i < written ? pair : 0xcccccccc) << length << " dwords, dword " << i;
    }
  }
}

TEST(C, OfTwoViewsOfAnAddressTheOneThatIsSetMakesTheCall) {
  const Buffer buffer = {0x12345000};
  for (const bool second : {false, true}) {
    DriverBatch batch;
    KINDS_VIEWS c = {};
    c.Enable = true;
    c.Pitch = 3;
    (second ? c.Auxiliary : c.Counter) = {&buffer, 0};
    uint32_t dw[KINDS_VIEWS_length];
    KINDS_VIEWS_pack(&batch, dw, &c);
    EXPECT_EQ(dw[0], 0x12345007u);
    ASSERT_EQ(batch.relocations.size(), 1u);
    EXPECT_EQ(batch.relocations[0].location, &dw[0]);
    EXPECT_EQ(batch.relocations[0].delta, 7u);
  }
}

TEST(C, OfTwoViewsThatAreBothSetEachGetsTheOtherBitsOfTheDword) {
  const Buffer buffer = {0x12345000};
  DriverBatch batch;
  KINDS_VIEWS c = {};
  c.Pitch = 3;
  c.Counter = {&buffer, 0x40};
  c.Auxiliary = {&buffer, 0};
  uint32_t dw[KINDS_VIEWS_length];
  KINDS_VIEWS_pack(&batch, dw, &c);
  EXPECT_EQ(dw[0], 0x12345046u);
  ASSERT_EQ(batch.relocations.size(), 2u);
  EXPECT_EQ(batch.relocations[0].delta, 6u);
  EXPECT_EQ(batch.relocations[1].delta, 6u);
}

TEST(C, WhereNoViewIsSetOneCallGetsTheOtherBits) {
  DriverBatch batch;
  KINDS_VIEWS c = {};
  c.Pitch = 3;
  uint32_t dw[KINDS_VIEWS_length];
  KINDS_VIEWS_pack(&batch, dw, &c);
  EXPECT_EQ(dw[0], 6u);
  ASSERT_EQ(batch.relocations.size(), 1u);
  EXPECT_EQ(batch.relocations[0].delta, 6u);
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
               "KINDS_INTEGERS.Small: value does not fit its field, bits 8 to 11: 16");
  c.Small = 5;
  c.Signed = 3000;
  EXPECT_DEATH(KINDS_INTEGERS_pack(nullptr, dw, &c),
               "KINDS_INTEGERS.Signed: value does not fit its field, bits 73 to 84: 3000");
  c.Signed = 0;
  c.Across = 1u << 17;
  EXPECT_DEATH(KINDS_INTEGERS_pack(nullptr, dw, &c), "KINDS_INTEGERS.Across: value does not fit");
  KINDS_POINTERS p = {KINDS_POINTERS_header};
  EXPECT_DEATH(KINDS_POINTERS_pack(nullptr, dw, &p), "KINDS_POINTERS.Kernel != 0");
  KINDS_RANGES r = {};
  r.BoundedCode = 1;
  EXPECT_DEATH(KINDS_RANGES_pack(nullptr, dw, &r),
               "KINDS_RANGES.Positive: value does not fit .*: 0, but must not be zero");
}

TEST(CDeathTest, DebugBuildsSayThatAHeaderWasForgotten) {
  KINDS_INTEGERS c = {};
  uint32_t dw[KINDS_INTEGERS_length];
  EXPECT_DEATH(KINDS_INTEGERS_pack(nullptr, dw, &c),
               "KINDS_INTEGERS: the opcode is zero: initialise the structure with "
               "KINDS_INTEGERS_header");
}

TEST(CDeathTest, DebugBuildsCountTheItemsOfATail) {
  KINDS_FEW c = {KINDS_FEW_header};
  uint32_t dw[1];
  c.DWordLength = 1;
  KINDS_FEW_pack(nullptr, dw, &c);
  c.DWordLength = 2;
  EXPECT_DEATH(KINDS_FEW_pack(nullptr, dw, &c), "KINDS_FEW.DWordLength <= 1");
}
#endif

}  // namespace
