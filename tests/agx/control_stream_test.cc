#include "runtime/agx/control_stream.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "packsmith/agx_g13.h"
#include "packsmith/agx_g14x.h"
#include "tests/agx/built.h"

namespace packsmith::agx {
namespace {

using decode::Story;
using gpu::BufferUse;
using gpu::BufferUses;
using gpu::HostChunks;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace g13 = ::packsmith::agx_g13;
using G13 = g13::generation;

g13::Index_List Draw(uint32_t vertices) {
  g13::Index_List draw{.primitive = g13::Primitive::Triangles,
                       .index_count_present = true,
                       .instance_count_present = true};
  draw.index_count.count = vertices;
  draw.instance_count.count = 1;
  return draw;
}

class ControlStreams : public testing::Test {
 protected:
  HostChunks chunks_{{.gpu = 0x1100000000, .first_buffer = 100, .chunk_dwords = 64}};
  HostChunks small_chunks_{{.gpu = 0x1100000000, .first_buffer = 100, .chunk_dwords = 16}};
  BufferUses uses_;
};

TEST_F(ControlStreams, HaveTheirBlocksAndAnEnd) {
  VdmStream<G13> vdm(chunks_, uses_);
  EXPECT_TRUE(vdm.Emit(Draw(3), g13::VDM_Barrier{.usc_cache_inval = true}));
  EXPECT_EQ(vdm.bytes(), 16u);
  ASSERT_TRUE(vdm.End().ok());
  ASSERT_THAT(vdm.parts(), SizeIs(1));
  EXPECT_EQ(vdm.parts()[0].bytes, 16u);
  EXPECT_EQ(vdm.parts()[0].total, 16u + 32u);
  const Story story = TellStream(vdm, "vdm");
  EXPECT_THAT(story.Packets(), ElementsAre("Index List", "VDM Barrier", "VDM Stream Terminate"));
  EXPECT_THAT(story.problems, IsEmpty());
}

TEST_F(ControlStreams, OfTheComputeDataMasterHaveTheirOwn) {
  CdmStream<G13> cdm(chunks_, uses_);
  EXPECT_TRUE(cdm.Emit(g13::CDM_Launch_Word_0{}, g13::CDM_Barrier{}));
  ASSERT_TRUE(cdm.End().ok());
  EXPECT_THAT(TellStream(cdm, "cdm").Packets(),
              ElementsAre("CDM Launch Word 0", "CDM Barrier", "CDM Stream Terminate"));
}

TEST_F(ControlStreams, OfG14xLaunchWithTwoWordsMore) {
  CdmStream<agx_g14x::generation> cdm(chunks_, uses_);
  EXPECT_TRUE(cdm.Emit(agx_g14x::CDM_Launch_Word_0{}));
  EXPECT_EQ(cdm.bytes(), 40u);
}

TEST_F(ControlStreams, AreContinuedInAnotherChunkByALink) {
  VdmStream<G13> vdm(small_chunks_, uses_);
  for (uint32_t i = 0; i < 20; ++i) EXPECT_TRUE(vdm.Emit(Draw(i)));
  EXPECT_EQ(vdm.bytes(), 20u * 12);
  ASSERT_TRUE(vdm.End().ok());
  EXPECT_EQ(vdm.bytes(), 20u * 12);
  // Of 64 bytes 32 are kept for the end: two draws go into each chunk.
  ASSERT_THAT(vdm.parts(), SizeIs(10));
  for (const StreamPart& part : vdm.parts()) {
    EXPECT_LE(part.total, part.chunk.words.size() * 4);
    EXPECT_EQ(part.bytes, 24u);
  }
  EXPECT_EQ(vdm.parts()[0].total, 32u);
  const Story story = TellStream(vdm, "vdm");
  EXPECT_EQ(story.summary.draws, 20u);
  EXPECT_THAT(story.problems, IsEmpty());
  EXPECT_THAT(story.Faults(), IsEmpty());
  uint64_t next = 0;
  for (const decode::Seen& draw : story.Named("Index List")) {
    EXPECT_EQ(draw.Number("Index count.Count"), next++);
  }
}

TEST_F(ControlStreams, KeepRoomForTheEndWhateverTheSizeOfTheirBlocks) {
  for (size_t blocks = 1; blocks < 12; ++blocks) {
    HostChunks chunks{{.chunk_dwords = 16}};
    VdmStream<G13> vdm(chunks, uses_);
    for (size_t i = 0; i < blocks; ++i) EXPECT_TRUE(vdm.Emit(g13::VDM_Barrier{}));
    ASSERT_TRUE(vdm.End().ok());
    for (const StreamPart& part : vdm.parts()) EXPECT_LE(part.total, 64u) << blocks;
    EXPECT_THAT(TellStream(vdm, "vdm").Packets(), testing::Contains("VDM Stream Terminate"));
  }
}

TEST_F(ControlStreams, CallOthersThatReturn) {
  HostChunks callee_chunks{{.gpu = 0x1200000000, .first_buffer = 7}};
  VdmStream<G13> callee(callee_chunks, uses_);
  callee.Emit(Draw(6));
  ASSERT_TRUE(callee.EndReturning().ok());
  VdmStream<G13> vdm(chunks_, uses_);
  const gpu::Chunk& target = callee.parts()[0].chunk;
  EXPECT_TRUE(vdm.Call({target.gpu, target.buffer}));
  EXPECT_TRUE(vdm.Emit(Draw(9)));
  ASSERT_TRUE(vdm.End().ok());
  decode::World world;
  PutStream(world, callee);
  PutStream(world, vdm);
  world.Submit(vdm.parts()[0].chunk.gpu, 0, "vdm");
  const Story story = decode::Tell(*FindGeneration("g13"), world);
  EXPECT_THAT(story.Packets(), ElementsAre("VDM Stream Link", "Index List", "VDM Barrier",
                                           "Index List", "VDM Stream Terminate"));
  EXPECT_THAT(story.problems, IsEmpty());
}

TEST_F(ControlStreams, JumpElsewhere) {
  CdmStream<G13> cdm(chunks_, uses_);
  EXPECT_TRUE(cdm.Jump({0x1200000000, 9}));
  ASSERT_TRUE(cdm.End().ok());
  EXPECT_EQ(TellStream(cdm, "cdm").Only("CDM Stream Link").Number("Target hi"), 0x12u);
}

TEST_F(ControlStreams, NoteTheBuffersThatTheyUse) {
  VdmStream<G13> vdm(chunks_, uses_);
  g13::Index_List draw = Draw(3);
  const address indices(0x1234567890, 5);
  draw.index_buffer_present = draw.index_buffer_size_present = true;
  draw.index_buffer_hi = High(indices);
  draw.index_buffer.buffer_lo = Low(indices);
  draw.index_buffer_size.size_ = 12;
  draw.indirect_buffer.address_lo = address(0, 6);  // absent
  EXPECT_TRUE(vdm.Emit(draw));
  EXPECT_TRUE(vdm.Emit(draw));
  ASSERT_TRUE(vdm.End().ok());
  EXPECT_THAT(uses_.all(), ElementsAre(BufferUse{100, gpu::kReads}, BufferUse{5, gpu::kReads}));
  const decode::Seen seen = TellStream(vdm, "vdm").Named("Index List")[0];
  EXPECT_EQ(seen.faults.at(0).value, 0x1234567890u);
}

TEST_F(ControlStreams, RefuseWhatDoesNotFitAndStayAsTheyWere) {
  VdmStream<G13> vdm(chunks_, uses_);
  vdm.Emit(Draw(3));
  g13::Index_List wide = Draw(3);
  wide.index_buffer_present = true;
  const address far(uint64_t{1} << 40, 5);
  wide.index_buffer_hi = High(far);
  wide.index_buffer.buffer_lo = Low(far);
  EXPECT_FALSE(vdm.Emit(Draw(4), wide));
  EXPECT_EQ(vdm.bytes(), 12u);
  EXPECT_THAT(
      std::string(vdm.status().message()),
      HasSubstr("Index_List after 12 bytes of the stream: index_buffer_hi needs more bits"));
  EXPECT_THAT(uses_.all(), SizeIs(1)) << "the chunk, and not what was refused";
  EXPECT_FALSE(vdm.End().ok());
  EXPECT_FALSE(vdm.TakeStatus().ok());
  ASSERT_TRUE(vdm.End().ok());
  EXPECT_EQ(TellStream(vdm, "vdm").summary.draws, 1u);
}

TEST_F(ControlStreams, RefuseLinksBeyondTheAddressSpace) {
  VdmStream<G13> vdm(chunks_, uses_);
  EXPECT_FALSE(vdm.Jump(uint64_t{1} << 40));
  EXPECT_FALSE(vdm.Call(std::numeric_limits<uint64_t>::max()));
  EXPECT_EQ(vdm.bytes(), 0u);
  HostChunks far{{.gpu = uint64_t{1} << 40}};
  VdmStream<G13> beyond(far, uses_);
  EXPECT_FALSE(beyond.Emit(Draw(3)));
  EXPECT_THAT(std::string(beyond.status().message()), HasSubstr("no link can reach"));
}

TEST_F(ControlStreams, SayWhenThereAreNoMoreChunks) {
  HostChunks few{{.chunk_dwords = 16, .most_chunks = 1}};
  VdmStream<G13> vdm(few, uses_);
  EXPECT_TRUE(vdm.Emit(Draw(1), Draw(2)));
  EXPECT_FALSE(vdm.Emit(Draw(3)));
  EXPECT_EQ(vdm.status().code(), absl::StatusCode::kResourceExhausted);
  (void)vdm.TakeStatus();
  ASSERT_TRUE(vdm.End().ok()) << "room for the end is kept";
  EXPECT_EQ(TellStream(vdm, "vdm").summary.draws, 2u);
}

TEST_F(ControlStreams, TakeBlocksThatWerePackedBefore) {
  VdmStream<G13> vdm(chunks_, uses_);
  constexpr auto kBarrier = packed(g13::VDM_Barrier{.usc_cache_inval = true});
  EXPECT_TRUE(vdm.EmitBytes(kBarrier.bytes));
  EXPECT_FALSE(vdm.EmitBytes({kBarrier.bytes, 3}));
  (void)vdm.TakeStatus();
  ASSERT_TRUE(vdm.End().ok());
  EXPECT_THAT(TellStream(vdm, "vdm").Packets(), ElementsAre("VDM Barrier", "VDM Stream Terminate"));
}

TEST_F(ControlStreams, TakeNothingAfterTheirEnd) {
  VdmStream<G13> vdm(chunks_, uses_);
  ASSERT_TRUE(vdm.End().ok());
  EXPECT_FALSE(vdm.Emit(Draw(3)));
  EXPECT_FALSE(vdm.End().ok());
  vdm.Reset();
  EXPECT_TRUE(vdm.Emit(Draw(3)));
  EXPECT_TRUE(vdm.End().ok());
}

}  // namespace
}  // namespace packsmith::agx
