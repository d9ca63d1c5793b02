#include "runtime/decode/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Dwords = std::vector<uint32_t>;

constexpr uint32_t kNoop = 0;
constexpr uint32_t kEnd = 0x05000000;
constexpr uint32_t kNobody = 0xe0000000;  // a command type that is not described

Dwords operator+(Dwords a, const Dwords& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Dwords Start(uint64_t address, uint32_t flags) {
  return {0x18800001 | flags, static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32)};
}
constexpr uint32_t kPpgtt = 0x100;
Dwords Jump(uint64_t address) { return Start(address, kPpgtt); }
Dwords Call(uint64_t address) { return Start(address, kPpgtt | 0x400000); }

Dwords Bases(uint32_t surface, uint32_t dynamic, uint32_t instruction) {
  Dwords sba(19, 0x21);  // modify enable and a MOCS in every base; sizes modified, too
  sba[0] = 0x61010011;
  for (const int high : {2, 5, 7, 9, 11, 17}) sba[high] = 0;
  sba[3] = 0x20000;
  sba[4] |= surface;
  sba[6] |= dynamic;
  sba[10] |= instruction;
  return sba;
}

Dwords PixelShader(uint32_t binding_table_entries, uint32_t samplers = 0) {
  Dwords ps(12, 0);
  ps[0] = 0x7820000a;
  ps[3] = binding_table_entries << 18 | samplers << 27;
  return ps;
}
Dwords BindingTable(uint32_t offset) { return {0x782a0000, offset}; }
Dwords Samplers(uint32_t offset) { return {0x782f0000, offset}; }
Dwords Draw(int32_t base_vertex = 0) {
  return {0x7b000005, 4, 3, 0, 1, 0, static_cast<uint32_t>(base_vertex)};
}

Story Of(const Dwords& batch, const Options& options = {}) {
  World world;
  world.Put(0x1000, batch).Submit(0x1000, batch.size() * 4);
  return Tell(Gfx9(), world, options);
}

// ------------------------------------------------------------------------------------------------
// Flow.

TEST(Flow, EndsWhereTheBatchSaysSo) {
  const Story story = Of({kNoop, kEnd, kNoop});
  EXPECT_THAT(story.Packets(), ElementsAre("MI_NOOP", "MI_BATCH_BUFFER_END"));
  EXPECT_THAT(story.problems, IsEmpty());
  EXPECT_EQ(story.summary.packets, 2u);
}

TEST(Flow, ABatchWithoutItsEndIsAProblem) {
  const Story story = Of({kNoop});
  EXPECT_THAT(story.problems, ElementsAre(HasSubstr("batch ends")));
}

TEST(Flow, WordsThatSomebodyGivesNeedNoEnd) {
  World world;
  world.Put(0, {kNoop, kNoop}).Submit(0, 8);
  world.last().bare = true;
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Packets(), SizeIs(2));
  EXPECT_THAT(story.problems, IsEmpty());
  EXPECT_THAT(story.remarks,
              ElementsAre("the words end at 0x8 without a packet that ends the batch"));
}

TEST(Flow, WordsThatSomebodyGivesAndThatLeadNowhereAreAtFault) {
  World world;
  world.Put(0, Jump(0x2000)).Submit(0, 12);
  world.last().bare = true;
  EXPECT_THAT(Tell(Gfx9(), world).Faults(), SizeIs(1));
  EXPECT_THAT(Tell(Gfx9(), world).remarks, IsEmpty());
  // A packet of four dwords, of which there are two.
  World cut;
  cut.Put(0, {0x78050002, 0}).Submit(0, 8);
  cut.last().bare = true;
  EXPECT_THAT(Tell(Gfx9(), cut).problems, SizeIs(1));
}

TEST(Flow, AJumpDoesNotComeBack) {
  World world;
  world.Put(0x1000, Jump(0x2000) + Dwords{kNoop}).Put(0x2000, {kEnd}).Submit(0x1000, 16);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Packets(), ElementsAre("MI_BATCH_BUFFER_START", "MI_BATCH_BUFFER_END"));
  EXPECT_EQ(story.records[1].depth, 0u);
  EXPECT_EQ(story.records[1].address, 0x2000u);
}

TEST(Flow, ASecondLevelBatchComesBack) {
  World world;
  world.Put(0x1000, Call(0x2000) + Dwords{kNoop, kEnd}).Put(0x2000, {kEnd}).Submit(0x1000, 20);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Packets(), ElementsAre("MI_BATCH_BUFFER_START", "MI_BATCH_BUFFER_END",
                                           "MI_NOOP", "MI_BATCH_BUFFER_END"));
  EXPECT_EQ(story.records[1].depth, 1u);
  EXPECT_EQ(story.records[2].depth, 0u);
  EXPECT_EQ(story.records[2].address, 0x100cu);
}

TEST(Flow, ACalledBatchMayJump) {
  World world;
  world.Put(0x1000, Call(0x2000) + Dwords{kEnd})
      .Put(0x2000, Jump(0x3000))
      .Put(0x3000, {kNoop, kEnd})
      .Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.problems, IsEmpty());
  EXPECT_EQ(story.summary.packets, 5u);
  EXPECT_EQ(story.records[2].depth, 1u);
}

TEST(Flow, ABatchThatIsCalledTwiceIsDecodedTwiceThroughItsJumps) {
  World world;
  world.Put(0x1000, Call(0x2000) + Call(0x2000) + Dwords{kEnd})
      .Put(0x2000, Jump(0x3000))
      .Put(0x3000, Draw() + Dwords{kEnd})
      .Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_EQ(story.summary.draws, 2u);
  EXPECT_THAT(story.remarks, IsEmpty());
}

TEST(Flow, CallsThatAreTooDeepAreSaidAndNotFollowed) {
  World world;
  for (uint64_t i = 0; i < 20; ++i) {
    world.Put(0x10000 * (i + 1), Call(0x10000 * (i + 2)) + Dwords{kEnd});
  }
  world.Put(0x10000 * 21, {kEnd}).Submit(0x10000);
  Options options;
  options.deepest_call = 5;
  const Story story = Tell(Gfx9(), world, options);
  EXPECT_THAT(story.problems, ElementsAre(HasSubstr("not followed")));
  // Six calls, the last not followed, and six ends.
  EXPECT_EQ(story.summary.packets, 12u);
  EXPECT_EQ(Tell(Gfx9(), world).summary.problems, 1u);
}

TEST(Flow, ABatchThatCallsItselfIsSaid) {
  World world;
  world.Put(0x1000, Call(0x1000) + Dwords{kEnd}).Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.problems, ElementsAre(HasSubstr("calls itself")));
  EXPECT_EQ(story.summary.packets, 2u);
}

TEST(Flow, ABatchThatCallsItselfTwiceTakesNoExponentialTime) {
  World world;
  world.Put(0x1000, Call(0x1000) + Call(0x1000) + Dwords{kEnd}).Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.problems, SizeIs(2));
  EXPECT_EQ(story.summary.packets, 3u);
}

TEST(Flow, BatchesThatCallEachOtherAreSaid) {
  World world;
  world.Put(0x1000, Call(0x2000) + Call(0x2000) + Dwords{kEnd})
      .Put(0x2000, Call(0x1000) + Call(0x1000) + Dwords{kEnd})
      .Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.problems, AllOf(SizeIs(4), Each(HasSubstr("calls itself"))));
}

TEST(Flow, CallsThatFanOutAreBounded) {
  // Each of 15 batches calls the next one 64 times: 64^15 calls.
  World world;
  for (uint64_t i = 1; i <= 16; ++i) {
    Dwords batch;
    for (int n = 0; n < 64; ++n) batch = batch + Call(0x10000 * (i + 1));
    world.Put(0x10000 * i, batch + Dwords{kEnd});
  }
  world.Put(0x10000 * 17, {kEnd}).Submit(0x10000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.problems, testing::Contains(HasSubstr("stopped at")));
  EXPECT_LT(story.summary.packets, 100000u);
}

TEST(Flow, AJumpThatComesBackEnds) {
  World world;
  world.Put(0x1000, Dwords{kNoop} + Jump(0x2000)).Put(0x2000, Jump(0x1000)).Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.remarks, ElementsAre(HasSubstr("goes back")));
  EXPECT_EQ(story.summary.packets, 3u);
}

TEST(Flow, AJumpIntoTheMiddleOfItsOwnPathEnds) {
  World world;
  world.Put(0x1000, Dwords{kNoop, kNoop} + Jump(0x1004)).Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_LE(story.summary.packets, 6u);
  EXPECT_THAT(story.remarks, SizeIs(1));
}

constexpr uint32_t kPredicated = 0x8000;
Dwords MaybeJump(uint64_t address) { return Start(address, kPpgtt | kPredicated); }
constexpr char kStart[] = "MI_BATCH_BUFFER_START", kTable[] = "3DSTATE_BINDING_TABLE_POINTERS_PS",
               kSamplers[] = "3DSTATE_SAMPLER_STATE_POINTERS_PS";

TEST(Flow, APredicatedJumpAheadLosesNothingOfWhatItPasses) {
  const Story story = Of(MaybeJump(0x1014) + Dwords{kNoop, kNoop} + BindingTable(0) + Dwords{kEnd});
  EXPECT_THAT(story.Packets(),
              ElementsAre(kStart, "MI_NOOP", "MI_NOOP", kTable, "MI_BATCH_BUFFER_END"));
  EXPECT_THAT(story.remarks, ElementsAre(HasSubstr("may be taken or not")));
}

TEST(Flow, APredicatedJumpBackIsALoopThatEnds) {
  const Story story = Of(Dwords{kNoop} + MaybeJump(0x1000) + BindingTable(0) + Dwords{kEnd});
  EXPECT_THAT(story.Packets(), ElementsAre("MI_NOOP", kStart, kTable, "MI_BATCH_BUFFER_END"));
  EXPECT_THAT(story.remarks, ElementsAre(HasSubstr("decoded already")));
}

TEST(Flow, BothWaysOfAPredicatedJumpAreDecodedOnce) {
  // The other path joins the first one by a jump, into its middle.
  World world;
  world.Put(0x1000, MaybeJump(0x2000) + BindingTable(0) + Samplers(0) + Dwords{kEnd})
      .Put(0x2000, Draw() + Jump(0x1014))
      .Submit(0x1000);
  const Story joined = Tell(Gfx9(), world);
  EXPECT_THAT(joined.Packets(),
              ElementsAre(kStart, kTable, kSamplers, "MI_BATCH_BUFFER_END", "3DPRIMITIVE", kStart));
  EXPECT_THAT(joined.problems, IsEmpty());
  EXPECT_THAT(joined.remarks, ElementsAre(HasSubstr("may be taken"), HasSubstr("0x1000 is taken")));
  // Or runs into it.
  const Story met =
      Of(MaybeJump(0x1018) + Jump(0x101c) + Dwords{kNoop} + BindingTable(0) + Dwords{kEnd});
  EXPECT_THAT(met.Packets(), ElementsAre(kStart, kStart, kTable, "MI_BATCH_BUFFER_END", "MI_NOOP"));
  EXPECT_THAT(met.problems, IsEmpty());
}

TEST(Flow, ManyPredicatedJumpsCostNoMoreThanTheirMemory) {
  World world;
  Dwords stream;
  for (uint64_t i = 0; i < 64; ++i) {
    // Elsewhere, from where it returns to the next one.
    stream = stream + MaybeJump(0x8000 + 16 * i);
    world.Put(0x8000 + 16 * i, Jump(0x1000 + 12 * (i + 1)) + Dwords{kNoop});
  }
  world.Put(0x1000, stream + Dwords{kEnd}).Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_EQ(story.summary.packets, 64u + 1 + 64);
  EXPECT_THAT(story.problems, IsEmpty());
}

TEST(Flow, BehindAPredicatedJumpItGoesOnThoughTheTargetIsNotThere) {
  const Story story = Of(MaybeJump(0xbeef000) + Dwords{kNoop} + Dwords{kEnd});
  EXPECT_THAT(story.Packets(), ElementsAre(kStart, "MI_NOOP", "MI_BATCH_BUFFER_END"));
  EXPECT_THAT(story.Faults(), ElementsAre("unmapped 95:34"));
  Options options;
  options.follow = Follow::kNone;
  EXPECT_THAT(Of(MaybeJump(0x1000) + Dwords{kNoop} + Dwords{kEnd}, options).Packets(),
              ElementsAre(kStart, "MI_NOOP", "MI_BATCH_BUFFER_END"));
}

TEST(Flow, UnmappedTargetsAreFaultsAndACallComesBack) {
  const Story story = Of(Call(0xdead000) + Jump(0xbeef000) + Dwords{kNoop});
  EXPECT_THAT(story.Packets(), ElementsAre("MI_BATCH_BUFFER_START", "MI_BATCH_BUFFER_START"));
  EXPECT_THAT(story.Faults(), ElementsAre("unmapped 95:34", "unmapped 95:34"));
}

TEST(Flow, UnmappedTargetsAreFaultsWithoutPointers) {
  Options options;
  options.follow = Follow::kBatches;
  EXPECT_THAT(Of(Jump(0xbeef000), options).Faults(), ElementsAre("unmapped 95:34"));
}

TEST(Flow, TheGlobalTableIsAnotherSpaceAtTheSameAddress) {
  World world;
  world.Put(0x1000, Start(0x2000, 0x400000) + Call(0x2000) + Dwords{kEnd})
      .Put(0x2000, {kNoop, kEnd}, /*space=*/1)
      .Put(0x2000, Draw() + Dwords{kEnd}, /*space=*/0)
      .Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Packets(),
              ElementsAre("MI_BATCH_BUFFER_START", "MI_NOOP", "MI_BATCH_BUFFER_END",
                          "MI_BATCH_BUFFER_START", "3DPRIMITIVE", "MI_BATCH_BUFFER_END",
                          "MI_BATCH_BUFFER_END"));
  EXPECT_EQ(story.records[1].space, 1u);
  EXPECT_EQ(story.records[4].space, 0u);
}

TEST(Flow, ASubmissionOfAnotherContextReadsItsOwnSpace) {
  World world;
  world.Put(0x1000, Call(0x2000) + Dwords{kEnd}, 5).Put(0x2000, {kEnd}, 5).Submit(0x1000);
  world.last().space = 5;
  const Story story = Tell(Gfx9(), world);
  EXPECT_EQ(story.summary.packets, 3u);
  EXPECT_THAT(story.Faults(), IsEmpty());
}

TEST(Flow, FollowNoneReadsTheBatchThroughAndNothingElse) {
  World world;
  world.Put(0x1000, Call(0x2000) + Dwords{kNoop, kEnd}).Put(0x2000, {kEnd}).Submit(0x1000);
  Options options;
  options.follow = Follow::kNone;
  EXPECT_THAT(Tell(Gfx9(), world, options).Packets(),
              ElementsAre("MI_BATCH_BUFFER_START", "MI_NOOP", "MI_BATCH_BUFFER_END"));
}

TEST(Flow, ABatchAtTheTopOfTheAddressesDoesNotGoOnAtZero) {
  const uint64_t top = ~uint64_t{0} - 15;
  World world;
  world.Put(top, {kNoop, kEnd, kNoop, kNoop}).Submit(top, 4096);  // which would wrap
  EXPECT_EQ(Tell(Gfx9(), world).summary.packets, 2u);
  World second;
  second.Put(top, Dwords(4, kNoop)).Put(0, {kEnd}).Submit(top);
  const Story story = Tell(Gfx9(), second);
  EXPECT_EQ(story.Packets().size(), 4u);
  EXPECT_THAT(story.problems, SizeIs(1));
  EXPECT_THAT(story.Named("MI_BATCH_BUFFER_END"), IsEmpty());
}

// ------------------------------------------------------------------------------------------------
// What cannot be decoded.

TEST(Unknown, DwordsAreOneRunAndDecodingGoesOn) {
  const Story story = Of(Dwords{kNobody, kNobody + 1, kNobody + 2} + Draw() + Dwords{kEnd});
  EXPECT_THAT(story.Packets(), ElementsAre("?", "3DPRIMITIVE", "MI_BATCH_BUFFER_END"));
  EXPECT_EQ(story.records[0].bytes.size(), 12u);
  EXPECT_EQ(story.summary.unknown_dwords, 3u);
  EXPECT_THAT(story.problems, IsEmpty());
}

TEST(Unknown, TheWholeBatchMayBe) {
  const Story story = Of(Dwords(5000, kNobody));
  EXPECT_EQ(story.summary.unknown_dwords, 5000u);
  EXPECT_EQ(story.summary.packets, 0u);
  EXPECT_LT(story.records.size(), 10u);
}

TEST(Unknown, OnePacketThatLeadsNowhereIsNotBelieved) {
  // A header before garbage is garbage itself.
  const Story story = Of(Dwords{kNobody, 0x7b000005, 1, 2, 3, 4, 5, 6, kNobody, kNobody, kEnd});
  EXPECT_EQ(story.summary.draws, 0u);
}

TEST(Unknown, PacketsArePassedOverByTheLengthThatTheirStreamDeclares) {
  // Its contents look like packets, but are not.
  const Story story =
      Of(Dwords{0x7f7f0002, kEnd, kNoop, kEnd} + Draw() + Dwords{0x467f0001, kEnd, kNoop, kEnd});
  EXPECT_THAT(story.Packets(), ElementsAre("?", "3DPRIMITIVE", "?", "MI_BATCH_BUFFER_END"));
  EXPECT_EQ(story.records[0].bytes.size(), 16u);
  EXPECT_EQ(story.summary.unknown_dwords, 7u);
}

TEST(Unknown, BytesAtTheEndThatAreNoDwordAreShown) {
  World world;
  world.PutBytes(0x1000, {0, 0, 0, 0, 1, 0}).Submit(0x1000, 6);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Packets(), ElementsAre("MI_NOOP", "?"));
  EXPECT_EQ(story.records[1].bytes.size(), 2u);
}

TEST(Truncated, AtEveryDwordThePacketSaysHowMuchIsMissing) {
  const Dwords whole = Bases(0, 0, 0);
  for (size_t n = 1; n < whole.size(); ++n) {
    const Story story = Of(Dwords(whole.begin(), whole.begin() + static_cast<long>(n)));
    const Seen packet = story.Only("STATE_BASE_ADDRESS");
    EXPECT_EQ(packet.bytes.size(), n * 4);
    ASSERT_FALSE(packet.faults.empty());
    EXPECT_EQ(packet.faults[0].kind, FaultKind::kTruncated);
    EXPECT_EQ(packet.faults[0].bit, n * 32);
    EXPECT_EQ(packet.faults[0].width, (whole.size() - n) * 32);
    EXPECT_THAT(story.problems, SizeIs(1));
  }
}

TEST(Truncated, ByTheEndOfTheBatchThoughThereIsMemory) {
  World world;
  world.Put(0x1000, Bases(0, 0, 0) + Dwords(4096, kNoop)).Submit(0x1000, 40);
  const Seen packet = Tell(Gfx9(), world).Only("STATE_BASE_ADDRESS");
  EXPECT_EQ(packet.bytes.size(), 40u);
}

TEST(Length, TooShortIsAFaultOfEachPart) {
  Dwords ps = PixelShader(1);
  ps[0] -= 4;
  ps.resize(8);
  const Story story = Of(ps + Dwords{kEnd});
  const Seen packet = story.Only("3DSTATE_PS");
  EXPECT_EQ(packet.bytes.size(), 32u);
  ASSERT_THAT(packet.faults, SizeIs(1));
  EXPECT_EQ(packet.faults[0].kind, FaultKind::kBeyondLength);
  EXPECT_EQ(packet.faults[0].bit, 8 * 32u);
  EXPECT_EQ(packet.faults[0].width, 4 * 32u);
  EXPECT_THAT(story.Packets(), ElementsAre("3DSTATE_PS", "MI_BATCH_BUFFER_END"));
}

TEST(Length, ThatCutsAFieldIsAFaultOfTheField) {
  Dwords primitive_lri{0x11000000, 0x20d8};  // one pair, and a length without its value
  const Story story = Of(primitive_lri + Dwords{kEnd});
  EXPECT_THAT(story.Packets(), ElementsAre("MI_LOAD_REGISTER_IMM", "MI_BATCH_BUFFER_END"));
  EXPECT_THAT(story.Faults(), ElementsAre("beyond-length 95:64"));
}

TEST(Length, LongerThanTheFieldsIsPassedOver) {
  Dwords draw = Draw();
  draw[0] += 3;
  const Story story = Of(draw + Dwords{1, 2, 3, kEnd});
  EXPECT_THAT(story.Packets(), ElementsAre("3DPRIMITIVE", "MI_BATCH_BUFFER_END"));
  EXPECT_EQ(story.records[0].bytes.size(), 40u);
}

TEST(Length, TheGreatestAtTheEndOfMemoryReadsNothingBeyond) {
  for (const uint32_t header : {0x110000ffu, 0x780800ffu, 0x780900ffu, 0x782000ffu, 0x610100ffu}) {
    const Story story = Of({header});
    ASSERT_THAT(story.records, SizeIs(1)) << std::hex << header;
    EXPECT_EQ(story.records[0].bytes.size(), 4u);
  }
}

TEST(Length, ThatVariesByAFlagIsFollowed) {
  EXPECT_THAT(Of({0x10000002, 0x5000, 0, 7, kEnd}).records[0].bytes, SizeIs(16));
  const Story story = Of({0x10200003, 0x5000, 0, 7, 8, kEnd});
  EXPECT_THAT(story.records[0].bytes, SizeIs(20));
  EXPECT_EQ(story.records[0].Number("Immediate Data"), uint64_t{8} << 32 | 7);
  EXPECT_THAT(story.Faults(), IsEmpty());
}

// ------------------------------------------------------------------------------------------------
// Faults.

TEST(Faults, ReservedBitsNameThemselves) {
  const Story story = Of({0x784f0000, 0x40000000, kEnd});
  EXPECT_THAT(story.Faults(), ElementsAre("reserved 62:62"));
  EXPECT_EQ(story.records[0].faults[0].value, 1u);
  EXPECT_THAT(story.records[0].faults[0].text, HasSubstr("must be zero"));
}

TEST(Faults, TooMuchIsARange) {
  // A vertex buffer of pitch 2049; null, so that nothing is followed.
  const Story story = Of({0x78080003, 2049 | 1 << 13 | 2 << 16, 0, 0, 0, kEnd});
  EXPECT_THAT(story.Faults(), ElementsAre("range 43:32"));
  EXPECT_THAT(story.records[0].faults[0].text, HasSubstr("more than 2048"));
}

TEST(Faults, MoreItemsThanATailMayHaveAreReportedEachTime) {
  // 34 vertex buffers, all null; the hardware has 33. Twice, as records of one shape come again.
  std::vector<uint32_t> dwords;
  for (int packet = 0; packet < 2; ++packet) {
    dwords.push_back(0x78080000 | (34 * 4 + 1 - 2));
    for (uint32_t i = 0; i < 34; ++i) {
      dwords.insert(dwords.end(), {1u << 13 | 2 << 16, 0, 0, 0});
    }
  }
  dwords.push_back(kEnd);
  const Story story = Of(dwords);
  EXPECT_THAT(story.Faults(), ElementsAre("range 4383:4256", "range 4383:4256"));
  EXPECT_THAT(story.records[0].faults[0].text,
              HasSubstr("34 items, the hardware takes at most 33"));
  dwords.assign({0x78080000 | (33 * 4 + 1 - 2)});
  for (uint32_t i = 0; i < 33; ++i) dwords.insert(dwords.end(), {1u << 13 | 2 << 16, 0, 0, 0});
  dwords.push_back(kEnd);
  EXPECT_THAT(Of(dwords).Faults(), IsEmpty());
}

constexpr absl::string_view kZeros = R"(
<packsmith family="test" generation="zeros" title="Zeros">
  <stream name="commands"/>
  <packet name="PACKET" dwords="2">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="1"/>
    <field name="Never" dword="0" bits="7:0" type="uint" nonzero="true"/>
    <field name="Not packed" dword="1" bits="7:0" type="uint" nonzero="packing"/>
    <field name="Not packed, and small" dword="1" bits="15:8" type="uint" nonzero="packing" max="9"/>
  </packet>
</packsmith>)";

TEST(Faults, ZeroIsOneWhereTheHardwareForbidsItAndNoneWhereOnlyPackingRefusesIt) {
  static const tables::Tables kTables = TablesOf(kZeros);
  for (const bool shapes : {false, true}) {
    World world;
    // Twice each, so that results for one record are used for another.
    world.Put(0, {0x01000001, 0, 0x01000001, 0, 0x01000000, 0x0a01, 0x01000000, 0x0a00});
    world.Submit(0, 32);
    world.last().bare = true;
    Options options;
    options.shapes = shapes;
    const Story story = Tell(kTables, world, options);
    EXPECT_THAT(story.Faults(),
                ElementsAre("range 7:0", "range 47:40", "range 7:0", "range 47:40"));
    EXPECT_THAT(story.records[2].faults[0].text, HasSubstr("Never must not be zero"));
  }
}

TEST(Faults, AreCountedByKind) {
  const Story story = Of({0x784f0000, 0x40000000, 0x784f0000, 0x40000000, kEnd});
  EXPECT_EQ(story.summary.faults[static_cast<size_t>(FaultKind::kReserved)], 2u);
}

// ------------------------------------------------------------------------------------------------
// Registers, state, tables.

TEST(Registers, EachPairShowsItsOwnRegister) {
  const Story story = Of({0x11000005, 0x20d8, 0x00010001, 0x2580, 0x00010000, 0x7004, 0x12, kEnd});
  const std::vector<Seen>& records = story.records;
  ASSERT_THAT(records, SizeIs(5));
  EXPECT_EQ(records[1].name, "CS_DEBUG_MODE2");
  EXPECT_EQ(records[1].register_offset, 0x20d8);
  EXPECT_THAT(records[1].bytes, ElementsAre(1, 0, 1, 0));
  EXPECT_EQ(records[1].address, 0x1008u);
  EXPECT_EQ(records[2].name, "CS_CHICKEN1");
  EXPECT_THAT(records[2].bytes, ElementsAre(0, 0, 1, 0));
  EXPECT_EQ(records[3].name, "CACHE_MODE_1");
  EXPECT_THAT(records[3].bytes, ElementsAre(0x12, 0, 0, 0));
  EXPECT_EQ(records[3].parent, records[0].id);
}

TEST(Registers, EachPairShowsItsOwnValue) {
  const Story story = Of({0x11000005, 0x20d8, 0x00010001, 0x20d8, 0x00010000, 0x20d8, 0x12, kEnd});
  const std::vector<Seen> written = story.Named("CS_DEBUG_MODE2");
  ASSERT_THAT(written, SizeIs(3));
  EXPECT_THAT(written[0].bytes, ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(written[1].bytes, ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(written[2].bytes, ElementsAre(0x12, 0, 0, 0));
  EXPECT_EQ(written[2].address, 0x1018u);
}

TEST(Registers, APairThatIsCutOffShowsNothing) {
  const Story story = Of({0x11000004, 0x20d8, 1, 0x20d8, 2, 0x20d8, kEnd});
  EXPECT_THAT(story.Named("CS_DEBUG_MODE2"), SizeIs(2));
}

TEST(Draws, ASignedBaseVertexIsNegative) {
  const Story story = Of(Draw(-11) + Dwords{kEnd});
  for (const SeenField& field : story.records[0].fields) {
    if (field.name != "Base Vertex Location") continue;
    EXPECT_EQ(field.value.signed_value, -11);
  }
  EXPECT_EQ(story.summary.draws, 1u);
}

// Surface states at 0x8000 + 0x40, …; binding table at 0x8400; samplers at 0xa000.
World& State(World& world) {
  Dwords surfaces(16 * 16, 0);
  for (size_t i = 0; i < 16; ++i) surfaces[16 * i] = 7u << 29;  // null surfaces
  Dwords table;
  for (uint32_t i = 1; i <= 8; ++i) table.push_back(0x40 * i);
  return world.Put(0x8000, surfaces).Put(0x8400, table).Put(0xa000, Dwords(64, 0));
}

TEST(BindingTables, TheCountOfALaterPacketOfTheSameDrawCounts) {
  World world;
  State(world)
      .Put(0x1000, Bases(0x8000, 0xa000, 0) + PixelShader(2) + BindingTable(0x400) +
                       PixelShader(5) + Draw() + PixelShader(7) + Dwords{kEnd})
      .Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Named("BINDING_TABLE_STATE"), SizeIs(5));
  EXPECT_THAT(story.Named("RENDER_SURFACE_STATE"), SizeIs(5));
  EXPECT_EQ(story.Named("BINDING_TABLE_STATE")[4].index, 4);
}

TEST(BindingTables, WithoutALaterPacketTheLastOneCounts) {
  World world;
  State(world)
      .Put(0x1000, Bases(0x8000, 0xa000, 0) + PixelShader(3) + BindingTable(0x400) + Draw() +
                       PixelShader(5) + Dwords{kEnd})
      .Submit(0x1000);
  EXPECT_THAT(Tell(Gfx9(), world).Named("BINDING_TABLE_STATE"), SizeIs(3));
}

TEST(BindingTables, WithoutACountAZeroEndsThem) {
  World world;
  Dwords table{0x40, 0x80, 0, 0x40};
  world.Put(0x8000, Dwords(64, 0)).Put(0x8400, table);
  world.Put(0x1000, Bases(0x8000, 0, 0) + BindingTable(0x400) + Dwords{kEnd}).Submit(0x1000);
  EXPECT_THAT(Tell(Gfx9(), world).Named("BINDING_TABLE_STATE"), SizeIs(2));
}

TEST(BindingTables, ASecondBatchAtTheSameAddressIsReadAnew) {
  World first, second;
  State(first)
      .Put(0x1000, Bases(0x8000, 0xa000, 0) + PixelShader(1) + BindingTable(0x400) +
                       PixelShader(5) + Draw() + Dwords{kEnd})
      .Submit(0x1000);
  State(second)
      .Put(0x1000, Bases(0x8000, 0xa000, 0) + PixelShader(1) + BindingTable(0x400) +
                       PixelShader(2) + Draw() + Dwords{kEnd})
      .Submit(0x1000);
  const Story story = TellAll(Gfx9(), {&first.dump(), &second.dump()});
  EXPECT_THAT(story.Named("BINDING_TABLE_STATE"), SizeIs(5 + 2));
}

TEST(BindingTables, StopAtTheEndOfTheMemory) {
  World world;
  world.Put(0x8400, {0x40, 0x40})
      .Put(0x1000, Bases(0x8000, 0, 0) + PixelShader(200) + BindingTable(0x400) + Dwords{kEnd})
      .Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Named("BINDING_TABLE_STATE"), SizeIs(2));
  // Each entry states that it has no surface state.
  EXPECT_THAT(story.Faults(), SizeIs(2));
}

TEST(Samplers, AreCountedInGroupsOfFour) {
  World world;
  State(world)
      .Put(0x1000,
           Bases(0x8000, 0xa000, 0) + PixelShader(0, 2) + Samplers(0) + Draw() + Dwords{kEnd})
      .Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_THAT(story.Named("SAMPLER_STATE"), SizeIs(8));
  EXPECT_EQ(story.Named("SAMPLER_STATE")[7].address, 0xa000u + 7 * 16);
}

TEST(Samplers, AtTheEndOfMemoryAreTruncatedNotRead) {
  World world;
  world.Put(0xa000, Dwords(6, 0))
      .Put(0x1000, Bases(0, 0xa000, 0) + PixelShader(0, 1) + Samplers(0) + Dwords{kEnd})
      .Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  ASSERT_THAT(story.Named("SAMPLER_STATE"), SizeIs(2));
  EXPECT_EQ(story.Named("SAMPLER_STATE")[1].faults[0].kind, FaultKind::kTruncated);
}

TEST(StateBases, UnknownOnesAreSaid) {
  const Story story = Of(PixelShader(1) + BindingTable(0x400) + Dwords{kEnd});
  const Seen table = story.Only("3DSTATE_BINDING_TABLE_POINTERS_PS");
  ASSERT_THAT(table.faults, SizeIs(1));
  EXPECT_EQ(table.faults[0].kind, FaultKind::kUnmapped);
  EXPECT_THAT(table.faults[0].text, HasSubstr("surface state base is not known"));
}

TEST(StateBases, LiveOnInTheNextDumpOfTheSameContextAndSlotOnly) {
  World first, second;
  first.Put(0x1000, Bases(0x8000, 0xa000, 0) + Dwords{kEnd}).Submit(0x1000);
  State(second).Put(0x1000, PixelShader(1) + BindingTable(0x400) + Dwords{kEnd}).Submit(0x1000);
  const auto tables = [&] {
    return TellAll(Gfx9(), {&first.dump(), &second.dump()}).Named("BINDING_TABLE_STATE").size();
  };
  EXPECT_EQ(tables(), 1u);
  second.last().slot = 1;
  EXPECT_EQ(tables(), 0u);
  second.last().slot = 0;
  second.last().context = 9;
  EXPECT_EQ(tables(), 0u);
  first.last().context = 9;
  EXPECT_EQ(tables(), 1u);
}

TEST(StateBases, WithoutModifyEnableStayAsTheyWere) {
  World world;
  Dwords other = Bases(0x100000, 0, 0);
  other[4] &= ~1u;
  State(world)
      .Put(0x1000,
           Bases(0x8000, 0xa000, 0) + other + PixelShader(1) + BindingTable(0x400) + Dwords{kEnd})
      .Submit(0x1000);
  EXPECT_EQ(Tell(Gfx9(), world).Only("BINDING_TABLE_STATE").address, 0x8400u);
}

TEST(StateBases, PlusAnOffsetStayWithin48Bits) {
  World world;
  Dwords bases = Bases(0xfffff000, 0, 0);
  bases[5] = 0xffffffff;
  world.Put(0x1000, bases + PixelShader(1) + BindingTable(0x1020) + Dwords{kEnd})
      .Put(0x20, {0x40})
      .Submit(0x1000);
  EXPECT_EQ(Tell(Gfx9(), world).Only("BINDING_TABLE_STATE").address, 0x20u);
}

TEST(Descriptors, AsManyAsTheBytesOfTheTableHold) {
  World world;
  world.Put(0x1000, Bases(0x8000, 0xa000, 0) + Dwords{0x70020002, 0, 80, 0x40, kEnd})
      .Put(0xa040, Dwords(24, 0))
      .Submit(0x1000);
  const std::vector<Seen> found = Tell(Gfx9(), world).Named("INTERFACE_DESCRIPTOR_DATA");
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].index, 0);
  EXPECT_EQ(found[1].index, 1);
  EXPECT_EQ(found[1].address, 0xa060u);
  EXPECT_EQ(found[1].bytes.size(), 32u);
}

// ------------------------------------------------------------------------------------------------
// Data.

TEST(Data, IsCutAndSaysItsSize) {
  World world;
  world.Put(0x4000, Dwords(1000, 0x3f800000))
      .Put(0x1000, {0x78080003, 0x04024010 | 16, 0x4000, 0, 4000, kEnd})
      .Submit(0x1000);
  Options options;
  options.most_data_bytes = 20;
  const Seen data = Tell(Gfx9(), world, options).Only("vertex buffer");
  EXPECT_EQ(data.data_size, 4000u);
  EXPECT_EQ(data.data_stride, 16u);
  EXPECT_EQ(data.bytes.size(), 20u);
  options.most_data_bytes = ~uint64_t{0};
  EXPECT_EQ(Tell(Gfx9(), world, options).Only("vertex buffer").bytes.size(), 4000u);
}

TEST(Data, OfOneBufferIsSaidOnceAndMissingMemoryOnce) {
  const Story story = Of({0x78080003, 0x04024010, 0x4000, 0, 4000, kEnd});
  EXPECT_THAT(story.Faults(), ElementsAre("unmapped 127:64"));
  EXPECT_EQ(story.summary.data, 0u);
}

TEST(Data, LargerThanMemoryIsReadToItsEnd) {
  World world;
  world.Put(0x4000, {1, 2})
      .Put(0x1000, {0x780a0003, 0x210, 0x4000, 0, 0xffffffff, kEnd})
      .Submit(0x1000);
  const Seen data = Tell(Gfx9(), world).Only("index buffer");
  EXPECT_EQ(data.bytes.size(), 8u);
  EXPECT_EQ(data.data_size, 0xffffffffu);
}

// ------------------------------------------------------------------------------------------------
// Bounds.

TEST(Bounds, PacketsOfASubmission) {
  Options options;
  options.most_packets = 10;
  const Story story = Of(Dwords(100, kNoop), options);
  EXPECT_EQ(story.summary.packets, 10u);
  EXPECT_THAT(story.problems, ElementsAre(HasSubstr("stopped at 0x1028")));
}

TEST(Bounds, GrowWithTheDump) {
  Options options;
  options.brief = true;
  const size_t noops = (size_t{1} << 24) + 1000;
  Dwords batch(noops, kNoop);
  batch.push_back(kEnd);
  World world;
  world.Put(0x1000, batch).Submit(0x1000);
  struct Counts : Sink {
    void OnSchema(const tables::Tables&) override {}
    void OnDevice(const Device&, uint64_t) override {}
    void OnSubmission(const Submission&, uint64_t) override {}
    void OnRecord(const Record&) override {}
    void OnRemark(absl::string_view, bool) override { ++remarks; }
    void OnSummary(const Summary&) override {}
    int remarks = 0;
  } counts;
  Decoder decoder(Gfx9(), counts, options);
  decoder.Decode(world.dump());
  EXPECT_EQ(decoder.Finish().packets, noops + 1);
  EXPECT_EQ(counts.remarks, 0);
}

TEST(Bounds, StructuresOfASubmission) {
  Options options;
  options.most_structs = 3;
  World world;
  State(world)
      .Put(0x1000, Bases(0x8000, 0xa000, 0) + PixelShader(8) + BindingTable(0x400) +
                       BindingTable(0x400) + Dwords{kEnd})
      .Submit(0x1000);
  const Story story = Tell(Gfx9(), world, options);
  EXPECT_EQ(story.summary.structs, 3u);
  EXPECT_THAT(story.problems,
              ElementsAre(testing::ContainsRegex("at the packet at 0x10.*3 structures")));
  EXPECT_THAT(story.Packets(), testing::Contains("MI_BATCH_BUFFER_END"));
}

TEST(Bounds, StructuresGrowWithTheDump) {
  // Each packet points to a table of three entries.
  constexpr size_t kPackets = 20'000;
  Dwords batch = Bases(0x8000, 0xa000, 0) + PixelShader(3);
  const Dwords table = BindingTable(0x400);
  for (size_t i = 0; i < kPackets; ++i) {
    batch.insert(batch.end(), table.begin(), table.end());
    batch.insert(batch.end(), 8, kNoop);
  }
  World world;
  State(world).Put(0x100000, batch + Dwords{kEnd}).Submit(0x100000);
  Options options;
  options.follow = Follow::kAll;
  const Story story = Tell(Gfx9(), world, options);
  EXPECT_THAT(story.problems, IsEmpty());
  EXPECT_GT(story.summary.structs, kPackets);
  EXPECT_GT(story.summary.structs, kFewest);
  // A limit of the same number for dumps of all sizes would be reached.
  options.most_structs = kFewest;
  EXPECT_THAT(Tell(Gfx9(), world, options).problems, SizeIs(1));
}

TEST(Bounds, DepthOfPointers) {
  Options options;
  options.deepest_pointer = 1;
  World world;
  State(world)
      .Put(0x1000, Bases(0x8000, 0xa000, 0) + PixelShader(3) + BindingTable(0x400) + Dwords{kEnd})
      .Submit(0x1000);
  const Story story = Tell(Gfx9(), world, options);
  EXPECT_THAT(story.Named("BINDING_TABLE_STATE"), SizeIs(3));
  EXPECT_THAT(story.Named("RENDER_SURFACE_STATE"), IsEmpty());
  EXPECT_THAT(story.problems, ElementsAre(HasSubstr("not followed further")));
}

TEST(Bounds, MemoryThatIsOnlyZerosIsNotWalkedForEver) {
  World world;
  world.PutZeros(0x1000, uint64_t{1} << 40).Submit(0x1000);
  const Story story = Tell(Gfx9(), world);
  EXPECT_LE(story.summary.packets, kFewest);
  EXPECT_THAT(story.problems, SizeIs(1));
}

TEST(Bounds, DamageInOneSubmissionLeavesTheNextAlone) {
  World world;
  world.PutZeros(0x100000, uint64_t{1} << 40)
      .Put(0x1000, Draw() + Dwords{kEnd})
      .Submit(0x100000)
      .Submit(0x1000);
  EXPECT_EQ(Tell(Gfx9(), world).summary.draws, 1u);
}

// ------------------------------------------------------------------------------------------------
// Engines and streams.

TEST(Engines, PacketsOfAnotherEngineAreUnknown) {
  World world;
  world.Put(0x1000, Draw() + Dwords{kEnd}).Submit(0x1000, 0, "", "blitter");
  EXPECT_EQ(Tell(Gfx9(), world).summary.draws, 0u);
  world.last().engine = "rcs0";
  EXPECT_EQ(Tell(Gfx9(), world).summary.draws, 1u);
}

TEST(Engines, OfNoKnownNameAreAllTried) {
  World world;
  world.Put(0x1000, Draw() + Dwords{kEnd}).Submit(0x1000, 0, "", "warp");
  const Story story = Tell(Gfx9(), world);
  EXPECT_EQ(story.summary.draws, 1u);
  EXPECT_THAT(story.remarks, ElementsAre(HasSubstr("\"warp\"")));
}

TEST(Streams, OfNoKnownNameAreAProblem) {
  World world;
  world.Put(0x1000, {kEnd}).Submit(0x1000, 0, "nothing");
  EXPECT_THAT(Tell(Gfx9(), world).problems, ElementsAre(HasSubstr("\"nothing\"")));
}

}  // namespace
}  // namespace packsmith::decode
