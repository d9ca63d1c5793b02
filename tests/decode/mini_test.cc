// The decoder on the invented GPU of tests/mini: streams of bytes that pointers point to.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Dwords = std::vector<uint32_t>;
using Bytes = std::vector<uint8_t>;

constexpr uint32_t kBarrier = 0x50000000;
constexpr uint32_t kReturn = 0x58000000;
constexpr uint32_t kUnknown = 0x90000000;

Dwords operator+(Dwords a, const Dwords& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Dwords Terminate() { return {0xf0000000, 0}; }
Dwords Link(uint64_t target, bool call) {
  return {0x40000000u | (call ? 1u << 27 : 0u) | static_cast<uint32_t>(target >> 32),
          static_cast<uint32_t>(target)};
}
Dwords SetState(uint64_t address, uint32_t words) {
  return {0x10000000u | words << 8 | static_cast<uint32_t>(address >> 32),
          static_cast<uint32_t>(address)};
}

Story Of(const Dwords& stream) {
  World world;
  world.Put(0x1000, stream).Submit(0x1000);
  return Tell(Mini(), world);
}

TEST(ControlStream, TerminatesWhateverWasCalled) {
  World world;
  world.Put(0x1000, Link(0x2000, true) + Dwords{kBarrier})
      .Put(0x2000, Terminate() + Dwords{kReturn})
      .Submit(0x1000);
  const Story story = Tell(Mini(), world);
  EXPECT_THAT(story.Packets(), ElementsAre("Link", "Terminate"));
  EXPECT_THAT(story.problems, IsEmpty());
}

TEST(ControlStream, ReturnsToBehindTheLink) {
  World world;
  world.Put(0x1000, Link(0x200002000, true) + Terminate())
      .Put(0x200002000, {kBarrier, kReturn, kUnknown})
      .Submit(0x1000);
  const Story story = Tell(Mini(), world);
  EXPECT_THAT(story.Packets(), ElementsAre("Link", "Barrier", "Barrier", "Terminate"));
  EXPECT_EQ(story.records[1].address, 0x200002000u);  // an address that is split over two words
  EXPECT_EQ(story.records[1].depth, 1u);
  EXPECT_EQ(story.records[3].depth, 0u);
}

TEST(ControlStream, ALinkWithoutReturnIsAJump) {
  World world;
  world.Put(0x1000, Link(0x2000, false) + Terminate())
      .Put(0x2000, Dwords{kBarrier} + Terminate())
      .Submit(0x1000);
  EXPECT_THAT(Tell(Mini(), world).Packets(), ElementsAre("Link", "Barrier", "Terminate"));
}

TEST(ControlStream, AReturnOfWhatWasNotCalledIsAProblem) {
  const Story story = Of(Dwords{kReturn} + Terminate());
  EXPECT_THAT(story.Packets(), ElementsAre("Barrier"));
  EXPECT_THAT(story.problems, ElementsAre(HasSubstr("nothing was called")));
}

TEST(ControlStream, ALinkToItselfEnds) {
  const Story story = Of(Link(0x1000, false));
  EXPECT_EQ(story.summary.packets, 1u);
  EXPECT_THAT(story.remarks, SizeIs(1));
}

TEST(ControlStream, ALinkToNowhereIsAFault) {
  const Story story = Of(Link(0x5550000000, false));
  ASSERT_THAT(story.records, SizeIs(1));
  ASSERT_THAT(story.records[0].faults, SizeIs(1));
  EXPECT_EQ(story.records[0].faults[0].kind, FaultKind::kUnmapped);
  EXPECT_EQ(story.records[0].faults[0].value, 0x5550000000u);
}

TEST(ControlStream, WithoutPointersOnlyStreamsThatAreNotThereAreFaults) {
  World world;
  Dwords stream;
  // Similar packets, of which two name programs, and all of them indices, that are not in memory.
  for (const uint32_t program : {0x2000, 0x2000, 0x2000, 0x9000, 0x2000, 0xa000}) {
    stream = stream + Dwords{0x20000002, 0, program} + Dwords{0x30410001, 0x2000, 3};
  }
  world.Put(0x1000, stream + Terminate()).Put(0x2000, Terminate()).Submit(0x1000);
  for (const bool shapes : {true, false}) {
    Options options;
    options.shapes = shapes;
    options.follow = Follow::kBatches;
    const Story story = Tell(Mini(), world, options);
    EXPECT_THAT(story.Faults(), ElementsAre("unmapped 95:70", "unmapped 95:70"));
    EXPECT_THAT(story.Packets(), SizeIs(13));
    options.follow = Follow::kAll;
    EXPECT_THAT(Tell(Mini(), world, options).Faults(), SizeIs(8));
    options.follow = Follow::kNone;
    EXPECT_THAT(Tell(Mini(), world, options).Faults(), IsEmpty());
  }
}

TEST(ControlStream, TwentyCallsDeepAreBounded) {
  World world;
  for (uint64_t i = 1; i <= 20; ++i) {
    world.Put(0x1000 * i, Link(0x1000 * (i + 1), true) + Dwords{kReturn});
  }
  world.Put(0x1000 * 21, {kReturn}).Submit(0x1000);
  const Story story = Tell(Mini(), world);
  EXPECT_THAT(story.problems, SizeIs(2));  // too deep, and the outermost return
}

TEST(ControlStream, OfZerosIsUnknownAndEnds) {
  const Story story = Of(Dwords(1000, 0));
  EXPECT_EQ(story.summary.packets, 0u);
  EXPECT_EQ(story.summary.unknown_dwords, 1000u);
}

TEST(ControlStream, UnknownBlocksAreShownAndTheWalkGoesOn) {
  const Story story = Of(Dwords{kBarrier, kUnknown, kUnknown, kBarrier} + Terminate());
  EXPECT_THAT(story.Packets(), ElementsAre("Barrier", "?", "Barrier", "Terminate"));
}

TEST(ControlStream, OfTheComputeEngineHasItsOwnKinds) {
  World world;
  // Launch, direct: kind 1 as Set State is in the other stream.
  world
      .Put(0x1000, {0x10000000, 0, 8, 4, 2, 16, 1, 1, 0x20000000, 0x20000001, 0x12345678, 0x7a,
                    0xf0000000, 0})
      .Submit(0x1000, 0, "compute control", "compute");
  const Story story = Tell(Mini(), world);
  EXPECT_THAT(story.Packets(),
              ElementsAre("Launch", "Compute Barrier", "Compute Barrier", "Compute Terminate"));
  EXPECT_EQ(story.summary.dispatches, 1u);
  EXPECT_EQ(story.records[0].bytes.size(), 32u);
  EXPECT_EQ(story.records[0].Number("Global size.Y"), 4u);
  EXPECT_EQ(story.records[0].Number("Local size.X"), 16u);
  EXPECT_EQ(story.records[1].bytes.size(), 4u);
  EXPECT_EQ(story.records[2].bytes.size(), 12u);
}

TEST(Parts, ComeInOrderOnlyWhereTheirBitIsSet) {
  // Restart and outputs, no program.
  const Story story = Of(Dwords{0x20000005, 0xffff, 0x0404} + Terminate());
  const Seen packet = story.Only("Vertex State");
  EXPECT_EQ(packet.bytes.size(), 12u);
  EXPECT_EQ(packet.Number("Restart.Value"), 0xffffu);
  EXPECT_EQ(packet.Number("Outputs.Count"), 4u);
  EXPECT_EQ(packet.Number("Program.Program"), ~uint64_t{0});
  EXPECT_THAT(story.Faults(), IsEmpty());
}

TEST(Parts, HaveTheirOwnFaults) {
  const Story story = Of(Dwords{0x20000004, 0x0403} + Terminate());
  EXPECT_THAT(story.Faults(), ElementsAre("range 39:32"));
}

TEST(Parts, OfADrawThatNobodyUnderstandsKeepTheOthersInStep) {
  // Count, start, the unknown pair and instances.
  const Story story =
      Of(Dwords{0x301e0000, 3, 2, 0xfffffff5, 0xaaaaaaaa, 0xbbbbbbbb} + Terminate());
  const Seen draw = story.Only("Draw");
  EXPECT_EQ(draw.bytes.size(), 24u);
  EXPECT_EQ(draw.Number("Instances.Count"), 2u);
  EXPECT_EQ(static_cast<int64_t>(draw.Number("Start.Start")), -11);
  EXPECT_THAT(story.Packets(), ElementsAre("Draw", "Terminate"));
}

TEST(Parts, AreTruncatedAtEveryWord) {
  const Dwords whole{0x301e0000, 3, 2, 7, 8, 9};
  for (size_t n = 1; n < whole.size(); ++n) {
    const Story story = Of(Dwords(whole.begin(), whole.begin() + static_cast<long>(n)));
    ASSERT_THAT(story.records, SizeIs(1));
    EXPECT_EQ(story.records[0].bytes.size(), n * 4);
    EXPECT_EQ(story.records[0].faults.at(0).kind, FaultKind::kTruncated);
  }
}

TEST(Parts, ReadTheHeaderBeforeThemAndThePartsAfter) {
  World world;
  // Two draws with indices at different 8 high bits, 12 and 8 bytes: each has its own.
  world.Put(0x100002000, {1, 2, 3, 4})
      .Put(0x200002000, {5, 6, 7, 8})
      .Put(0x1000, Dwords{0x30410001, 0x2000, 3, 0x30410002, 0x2000, 2} + Terminate())
      .Submit(0x1000);
  const Story story = Tell(Mini(), world);
  const std::vector<Seen> indices = story.Named("indices");
  ASSERT_THAT(indices, SizeIs(2));
  EXPECT_EQ(indices[0].address, 0x100002000u);
  EXPECT_EQ(indices[0].data_size, 12u);
  EXPECT_EQ(indices[1].address, 0x200002000u);
  EXPECT_EQ(indices[1].data_size, 8u);
  EXPECT_THAT(story.Faults(), IsEmpty());
  // Their size is in the header, too: a byte each, of which some are shown.
  EXPECT_EQ(indices[0].data_rows, 12u);
  EXPECT_THAT(indices[0].values, testing::Contains("4: 0 U8 I=2"));
}

// The parts follow the fixed part at once, whatever size the description gives that.
Bytes State(uint32_t header, const Dwords& parts) {
  Bytes state;
  const auto append = [&](uint32_t dword, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; ++i) state.push_back(static_cast<uint8_t>(dword >> 8 * i));
  };
  append(header, Mini().container(Mini().FindContainer("State Header")).bytes);
  for (const uint32_t part : parts) append(part, 4);
  while (state.size() % 4 != 0) state.push_back(0);
  return state;
}

TEST(StateHeader, RepeatsAPartAsOftenAsItsCountSays) {
  World world;
  Dwords parts;
  for (uint32_t i = 0; i < 12; ++i) parts.push_back(0x3f800000 + (i << 16));
  parts.push_back(0x18);
  world.Put(0x1000, SetState(0x700003000, 14) + Terminate())
      .PutBytes(0x700003000, State(0x4 | 2 << 4 | 1 << 8, parts))
      .Submit(0x1000);
  const Story story = Tell(Mini(), world);
  const Seen header = story.Only("State Header");
  EXPECT_EQ(header.bytes.size(), 14 * 4u);
  EXPECT_EQ(header.Number("Viewport count"), 3u);
  EXPECT_EQ(header.Number("Viewport[0].Scale[0]"), 0x3f800000u);
  EXPECT_EQ(header.Number("Viewport[2].Translate[1]"), 0x3f800000u + (11u << 16));
  EXPECT_EQ(header.Number("Line width.Width"), 0x18u);
  EXPECT_THAT(story.Faults(), IsEmpty());
}

TEST(StateHeader, SmallerThanItsPartsIsAFault) {
  World world;
  world.Put(0x1000, SetState(0x3000, 3) + Terminate())
      .Put(0x3000, Dwords(100, 0x4 | 2 << 4))
      .Submit(0x1000);
  const Story story = Tell(Mini(), world);
  const Seen header = story.Only("State Header");
  EXPECT_EQ(header.bytes.size(), 12u);
  EXPECT_EQ(header.faults.at(0).kind, FaultKind::kBeyondLength);
}

TEST(StateHeader, AtTheEndOfMemoryIsTruncated) {
  World world;
  world.Put(0x1000, SetState(0x3000, 13) + Terminate())
      .Put(0x3000, {0x4 | 2 << 4, 1, 2})
      .Submit(0x1000);
  const Story story = Tell(Mini(), world);
  EXPECT_EQ(story.Only("State Header").faults.at(0).kind, FaultKind::kTruncated);
}

Bytes Program() {
  return {
      0x1d, 0x04, 0x02, 0x00, 0x14, 0x00, 0x00, 0x00,  // Bind Uniforms: 2 halves at 0x5000
      0x4d, 0x03, 0x00, 0x01,                          // Set Shared Memory: 8 samples, 256 bytes
      0x8d, 0x02, 0x01, 0x00,                          // Set Registers
      0x0d, 0x01, 0x40, 0x00, 0x00, 0x00,              // Set Code
      0x88, 0x00,                                      // No Prologue
      0xff, 0xff,
  };
}

TEST(ProgramStream, HasRecordsOfTwoToEightBytes) {
  World world;
  world.Put(0x1000, Dwords{0x20000002, 0, 0x4000} + Terminate())
      .PutBytes(0x4000, Program())
      .Put(0x5000, {0x3c003c00})
      .Submit(0x1000);
  const Story story = Tell(Mini(), world);
  EXPECT_THAT(story.Packets(),
              ElementsAre("Vertex State", "Bind Uniforms", "Set Shared Memory", "Set Registers",
                          "Set Code", "No Prologue", "Terminate"));
  EXPECT_EQ(story.Only("Set Code").bytes.size(), 6u);
  EXPECT_EQ(story.Only("Set Code").address, 0x4010u);
  EXPECT_EQ(story.Only("No Prologue").address, 0x4016u);
  EXPECT_EQ(story.Only("No Prologue").parent, story.Only("Vertex State").id);
  EXPECT_EQ(story.Only("No Prologue").depth, 1u);
  EXPECT_EQ(story.Only("Set Shared Memory").Number("Samples"), 8u);
  EXPECT_EQ(story.Only("Set Shared Memory").Number("Bytes"), 256u);
  EXPECT_EQ(story.Only("Set Registers").Number("Count"), 16u);
  EXPECT_EQ(story.Only("Bind Uniforms").Number("Address"), 0x5000u >> 0);
  EXPECT_EQ(story.Only("uniforms").data_size, 4u);
  EXPECT_THAT(story.problems, IsEmpty());
}

TEST(ProgramStream, GoesOnAtTwoBytesAfterWhatIsUnknown) {
  World world;
  Bytes program{0xff, 0xff};
  for (const uint8_t byte : Program()) program.push_back(byte);
  world.Put(0x1000, Dwords{0x20000002, 0, 0x4000} + Terminate())
      .PutBytes(0x4000, program)
      .Submit(0x1000);
  const Story story = Tell(Mini(), world);
  EXPECT_EQ(story.Only("?").bytes.size(), 2u);
  EXPECT_EQ(story.Only("Set Code").address, 0x4012u);
}

TEST(ProgramStream, WithoutAnEndIsAProblemAndTheCallerGoesOn) {
  World world;
  world.Put(0x1000, Dwords{0x20000002, 0, 0x4000} + Terminate())
      .PutBytes(0x4000, {0x0d, 0, 0, 0, 0, 0, 0x0d, 0})
      .Submit(0x1000);
  const Story story = Tell(Mini(), world);
  EXPECT_THAT(story.problems, ElementsAre(HasSubstr("of which 2 are available")));
  EXPECT_THAT(story.Named("Terminate"), SizeIs(1));
}

TEST(Code, CountsFromABaseThatAPacketSets) {
  World world;
  world.Put(0x1000, Dwords{0x60000001, 0x12345, 0x60000000, 0x77777} + Terminate()).Submit(0x1000);
  const Story story = Tell(Mini(), world);
  EXPECT_EQ(story.records[0].Number("Base"), 0x12345000u);
  EXPECT_THAT(story.Faults(), IsEmpty());
}

TEST(Tables, OfTexturesAtUnmappedMemoryShowNone) {
  World world;
  // Four textures at an address that is not there.
  world.Put(0x1000, Dwords{0x20000002, 0, 0x4000} + Terminate())
      .PutBytes(0x4000, {0xdd, 0, 4, 0x80, 0xff, 0xff, 0, 0, 0x88, 0})
      .Submit(0x1000);
  const Story story = Tell(Mini(), world);
  EXPECT_THAT(story.Named("Texture"), IsEmpty());
  EXPECT_EQ(story.Only("Bind Textures").faults.at(0).kind, FaultKind::kUnmapped);
}

TEST(Tables, WithATailAreAsLongAsTheirPointerSays) {
  World world;
  world.Put(0x1000, SetState(0x3000, 4) + Terminate())
      .PutBytes(0x3000, State(0x200, {3 << 16, 0x4000, 0x6000}))
      .PutBytes(0x4000, {0x88, 0})
      .Put(0x6000, {0x0102, 1, 2, 3, 4, 5})
      .Submit(0x1000);
  const Story story = Tell(Mini(), world);
  const Seen table = story.Only("Input Table");
  EXPECT_EQ(table.bytes.size(), 16u);
  EXPECT_EQ(table.Number("Binding[2].Components"), 4u);
  EXPECT_EQ(table.Number("Binding[3].Components"), ~uint64_t{0});
}

}  // namespace
}  // namespace packsmith::decode
