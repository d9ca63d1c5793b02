// Records of bytes, optional parts and repeated ones, on the invented GPU of tests/mini/mini.xml.
#include <cstdint>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "packsmith/m1.h"
#include "packsmith/m1_names.h"

namespace packsmith::m1 {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;

constexpr uint8_t kUntouched = 0xcd;

TEST(Bytes, RecordsOfTwoAndSixBytesWriteNoMore) {
  uint8_t two[4] = {kUntouched, kUntouched, kUntouched, kUntouched};
  ASSERT_FALSE(No_Prologue{}.pack(two));
  EXPECT_THAT(two, ElementsAre(0x88, 0, kUntouched, kUntouched));

  uint8_t six[8] = {kUntouched, kUntouched, kUntouched, kUntouched,
                    kUntouched, kUntouched, kUntouched, kUntouched};
  ASSERT_FALSE((Set_Code{.loads_inputs = true, .code = 0x12345678}.pack(six)));
  EXPECT_THAT(six, ElementsAre(0x0d, 0x01, 0x78, 0x56, 0x34, 0x12, kUntouched, kUntouched));
}

TEST(Bytes, RecordsAreReadNoFurtherThanTheirSize) {
  // Exactly sized, on the heap: a sanitizer sees a read past the end.
  const std::unique_ptr<uint8_t[]> six(new uint8_t[6]{0x0d, 0x01, 0x78, 0x56, 0x34, 0x12});
  const Set_Code code = Set_Code::unpack(six.get());
  EXPECT_TRUE(code.loads_inputs);
  EXPECT_EQ(code.code, 0x12345678u);
  EXPECT_FALSE(Set_Code::verify(six.get()));
  six[0] = 0x0e;
  EXPECT_STREQ(Set_Code::verify(six.get()).field, "Tag");
  const std::unique_ptr<uint8_t[]> two(new uint8_t[2]{0x88, 0});
  EXPECT_FALSE(No_Prologue::verify(two.get()));
}

TEST(Bytes, NeedNoAlignment) {
  alignas(4) uint8_t buffer[12] = {};
  ASSERT_FALSE((Set_Shared_Memory{.samples = 4, .bytes = 512}.pack(buffer + 1)));
  EXPECT_THAT(std::vector<uint8_t>(buffer + 1, buffer + 5), ElementsAre(0x4d, 2, 0, 2));
  EXPECT_EQ(Set_Shared_Memory::unpack(buffer + 1).bytes, 512u);
}

TEST(Bytes, AreConstantsToo) {
  constexpr auto code = packed(Set_Code{.code = 0x10});
  static_assert(code.size == 6 && code.bytes[0] == 0x0d && code.bytes[2] == 0x10);
  static_assert(Set_Code::unpack(code.bytes).code == 0x10);
}

TEST(Encodings, ShiftAndAlignTogether) {
  uint8_t to[4];
  ASSERT_FALSE((Set_Registers{.count = 8, .spill = 17}.pack(to)));
  EXPECT_THAT(to, ElementsAre(0x8d, 1, 2, 0)) << "17 is rounded up to 32, stored in units of 16";
}

TEST(Encodings, RangesOfRealsAreChecked) {
  EXPECT_EQ((Sampler{.maximum_lod = 14.5f}.check().why), reason::out_of_range);
  EXPECT_EQ((Sampler{.anisotropy = 32}.check().why), reason::out_of_range);
  EXPECT_FALSE((Sampler{.maximum_lod = 13.5f}.check()));
}

TEST(Parts, FollowInOrderWhereTheirPresenceBitIsSet) {
  Vertex_State state{.restart_index_present = true, .outputs_present = true};
  state.restart.value = 0xffff;
  state.outputs = {.count = 5, .count_again = 6};
  EXPECT_EQ(state.bytes_needed(), 12u);
  uint8_t to[16];
  std::fill(std::begin(to), std::end(to), kUntouched);
  ASSERT_FALSE(state.pack(to));
  EXPECT_THAT(to, ElementsAreArray(
                      {0x05, 0, 0, 0x20, 0xff, 0xff, 0, 0, 5, 6, 0, 0, 0xcd, 0xcd, 0xcd, 0xcd}));
  const Vertex_State back = Vertex_State::unpack(to, 12);
  EXPECT_EQ(back.restart.value, 0xffffu);
  EXPECT_EQ(back.outputs.count_again, 6u);
  EXPECT_FALSE(back.program_present);
}

TEST(Parts, APartThatDoesNotFitStopsBeforeAnythingIsWritten) {
  Vertex_State state{.outputs_present = true};
  state.outputs.count = 3;  // at least 4
  uint8_t to[16];
  std::fill(std::begin(to), std::end(to), kUntouched);
  const error e = state.pack(to);
  EXPECT_STREQ(e.field, "count");
  EXPECT_EQ(e.why, reason::out_of_range);
  EXPECT_THAT(to, Each(kUntouched));
  state.outputs_present = false;
  EXPECT_FALSE(state.pack(to)) << "an absent part is not looked at";
}

TEST(Parts, ABoundedDestinationIsNotOverrun) {
  Vertex_State state{.restart_index_present = true};
  uint8_t to[8];
  std::fill(std::begin(to), std::end(to), kUntouched);
  EXPECT_EQ(state.pack(span<uint8_t>(to, 7)).why, reason::too_short);
  EXPECT_THAT(to, Each(kUntouched));
  EXPECT_FALSE(state.pack(span<uint8_t>(to, 8)));
}

TEST(Parts, ARepeatedPartComesAsManyTimesAsTheCountSays) {
  State_Header header{.viewports_present = true, .viewport_count = 2, .line_width_present = true};
  header.line_width.width = 2.5f;
  Viewport viewports[2];
  viewports[1].translate[0] = 1.0f;
  uint8_t to[64] = {};
  ASSERT_EQ(header.bytes_needed(), State_Header::size + 2 * 16 + 4);
  ASSERT_FALSE(header.pack(to, viewports));

  const auto view = State_Header::viewport(to, sizeof(to));
  ASSERT_EQ(view.size(), 2u);
  EXPECT_EQ(view[0].scale[0], 1.0f);
  EXPECT_EQ(view[1].translate[0], 1.0f);
  EXPECT_EQ(State_Header::unpack(to, sizeof(to)).line_width.width, 2.5f);
}

TEST(Parts, TheCountMustBeTheNumberOfItems) {
  const State_Header header{.viewports_present = true, .viewport_count = 2};
  const Viewport one[1];
  uint8_t to[64];
  const error e = header.pack(to, one);
  EXPECT_EQ(e.why, reason::count_differs);
  EXPECT_STREQ(e.field, "viewport_count");
  EXPECT_EQ(header.pack<checks::off>(span<uint8_t>(to, 64), one).why, reason::count_differs)
      << "a bounded destination is bounded whether or not values are checked";
  EXPECT_EQ(State_Header{}.pack(to, one).why, reason::count_differs);
}

TEST(Parts, ReadingStopsAtTheEndOfWhatMayBeRead) {
  State_Header header{.viewports_present = true, .viewport_count = 2, .line_width_present = true};
  const Viewport viewports[2];
  uint8_t to[64];
  ASSERT_FALSE(header.pack(to, viewports));
  for (unsigned n = 0; n <= header.bytes_needed(); ++n) {
    const std::unique_ptr<uint8_t[]> part(new uint8_t[n]);
    std::copy(to, to + n, part.get());
    State_Header::unpack(part.get(), n);
    const auto view = State_Header::viewport(part.get(), n);
    EXPECT_LE(view.size() * 16 + State_Header::size, std::max(n, State_Header::size));
    for (const Viewport v : view) EXPECT_EQ(v.scale[0], 1.0f);
  }
}

TEST(Parts, AddressesAreFoundBehindWhatComesFirst) {
  State_Header header{
      .viewports_present = true, .viewport_count = 3, .fragment_program_present = true};
  header.fragment_program.program = {0x40, 11};
  std::vector<std::pair<uint32_t, unsigned>> seen;
  header.for_each_address([&](const address& a, unsigned dword, unsigned, unsigned, access) {
    seen.push_back({a.buffer, dword});
  });
  const unsigned part = (State_Header::size + 3 * 16) / 4;
  EXPECT_THAT(seen, ElementsAre(std::pair(11u, part + 1), std::pair(0u, part + 2)));
}

TEST(Tail, OfBytesHasItsOwnView) {
  const Input_Binding bindings[2] = {{.components = 4, .flat = true}, {.first_slot = 7}};
  uint8_t to[12];
  ASSERT_FALSE((Input_Table{.slots = 2, .registers = 8}.pack(to, bindings)));
  EXPECT_THAT(to, ElementsAre(2, 8, 0, 0, 7, 0, 0, 0, 0, 7, 0, 0));
  const auto view = Input_Table::items(to, 12);
  ASSERT_EQ(view.size(), 2u);
  EXPECT_EQ(view[0].components, 4u);
  EXPECT_EQ(view[1].first_slot, 7u);
  EXPECT_EQ(Input_Table::items(to, 11).size(), 1u);
}

TEST(Variants, OfBytesWriteWhatTheValuesSay) {
  uint8_t to[Compute_Barrier::max_size];
  std::fill(std::begin(to), std::end(to), kUntouched);
  ASSERT_FALSE(Compute_Barrier{}.pack(to));
  EXPECT_EQ(to[4], kUntouched);
  const Compute_Barrier with{.write_timestamp = true, .timestamp = 0x1234567898};
  EXPECT_EQ(with.bytes_needed(), 12u);
  ASSERT_FALSE(with.pack(to));
  EXPECT_THAT(to, ElementsAre(1, 0, 0, 0x20, 0x98, 0x78, 0x56, 0x34, 0x12, 0, 0, 0));
  EXPECT_EQ(Compute_Barrier::unpack(to).timestamp.gpu, 0x1234567898u);
  EXPECT_EQ(Compute_Barrier::unpack(to, 4).timestamp.gpu, 0u);
  EXPECT_EQ((Compute_Barrier{.timestamp = 8}.check().why), reason::absent);
}

TEST(Names, PrintEnumeratorsAndNestedGroups) {
  EXPECT_STREQ(name(Wrap::Mirror), "Mirror");
  EXPECT_EQ(name(static_cast<Wrap>(99)), nullptr);
  EXPECT_THAT(to_text(Sampler{}), testing::HasSubstr("Magnify: 0 (Nearest)"));
}

}  // namespace
}  // namespace packsmith::m1
