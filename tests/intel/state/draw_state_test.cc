#include "runtime/intel/state/draw_state.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/generations/field_position.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/state/multiview.h"
#include "runtime/intel/state/pipeline_state.h"
#include "tests/intel/batch/tested.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const address kScratch(0x7000, 99);

// Gives out a number of chunks, then none until it is allowed more.
class Rationed : public gpu::ChunkSource {
 public:
  explicit Rationed(size_t dwords) : chunks_({.chunk_dwords = dwords}) {}
  void Allow(size_t chunks) { left_ += chunks; }
  absl::StatusOr<gpu::Chunk> NewChunk(size_t dwords) override {
    if (left_ == 0) return absl::ResourceExhaustedError("no more");
    --left_;
    return chunks_.NewChunk(dwords);
  }

 private:
  gpu::HostChunks chunks_;
  size_t left_ = 0;
};

template <class Gen>
class DrawStateTest : public testing::Test {
 protected:
  // Of the packets that a draw needs, tests set the topology; the rest is there.
  DrawStateTest() { InheritStages(state_); }

  static void InheritStages(DrawState<Gen>& state) {
    using P = typename Gen::Packets;
    state.template Inherit<
        typename P::_3DSTATE_VERTEX_ELEMENTS, typename P::_3DSTATE_URB_VS,
        typename P::_3DSTATE_URB_HS, typename P::_3DSTATE_URB_DS, typename P::_3DSTATE_URB_GS,
        typename P::_3DSTATE_VS, typename P::_3DSTATE_HS, typename P::_3DSTATE_TE,
        typename P::_3DSTATE_DS, typename P::_3DSTATE_GS, typename P::_3DSTATE_STREAMOUT,
        typename P::_3DSTATE_CLIP, typename P::_3DSTATE_SF, typename P::_3DSTATE_RASTER,
        typename P::_3DSTATE_SBE, typename P::_3DSTATE_WM, typename P::_3DSTATE_PS,
        typename P::_3DSTATE_PS_EXTRA>();
  }

  using G = typename Gen::Packets;
  using Topology = typename G::_3DSTATE_VF_TOPOLOGY;
  using Types = typename G::_3D_Prim_Topo_Type;
  using Constants = typename G::_3DSTATE_CONSTANT_PS;
  using Depth = typename G::_3DSTATE_DEPTH_BUFFER;
  using Raster = typename G::_3DSTATE_RASTER;
  using Elements = typename G::_3DSTATE_VERTEX_ELEMENTS;
  using Buffers = typename G::_3DSTATE_VERTEX_BUFFERS;
  using Buffer = typename G::VERTEX_BUFFER_STATE;

  static Topology TopologyOf(Types type) { return {.primitive_topology_type = type}; }
  bool SetTopology(Types type = Types::TRILIST) { return state_.Set(TopologyOf(type)); }
  static Buffer BufferAt(uint32_t handle) {
    Buffer buffer;
    buffer.mocs = 1;
    buffer.buffer_pitch = 16;
    buffer.buffer_starting_address = address(0x10000 * uint64_t{handle}, handle);
    return buffer;
  }
  void SetDepthGroup(uint32_t buffer) {
    Depth depth;
    depth.mocs = 1;
    depth.surface_base_address = address(0x1000 * uint64_t{buffer}, buffer);
    EXPECT_TRUE(state_.Set(depth));
    typename G::_3DSTATE_STENCIL_BUFFER stencil;
    stencil.mocs = 1;
    EXPECT_TRUE(state_.Set(stencil));
    typename G::_3DSTATE_HIER_DEPTH_BUFFER hierarchical;
    hierarchical.mocs = 1;
    EXPECT_TRUE(state_.Set(hierarchical));
    if constexpr (requires { typename G::_3DSTATE_CLEAR_PARAMS; }) {
      EXPECT_TRUE(state_.Set(typename G::_3DSTATE_CLEAR_PARAMS()));
    }
  }
  static std::vector<uint32_t> Dwords(const Batch<Gen>& batch) {
    std::vector<uint32_t> dwords;
    for (const BatchPart& part : batch.parts()) {
      dwords.insert(dwords.end(), part.chunk.words.begin(), part.chunk.words.begin() + part.dwords);
    }
    return dwords;
  }
  // What a flush emits now, into a batch of its own. Nothing is dirty afterwards.
  std::vector<uint32_t> Flushed() {
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    EXPECT_TRUE(state_.Flush(batch)) << state_.status() << batch.status();
    EXPECT_TRUE(batch.End().ok());
    return Dwords(batch);
  }
  template <class P>
  static std::vector<uint32_t> Packed(const P& packet) {
    std::vector<uint32_t> dwords(P::length);
    EXPECT_FALSE(packet.pack(dwords.data()));
    return dwords;
  }

  gpu::HostChunks chunks_;
  Batch<Gen> batch_{chunks_};
  DrawState<Gen> state_{kScratch};
};
TYPED_TEST_SUITE(DrawStateTest, Generations);

TYPED_TEST(DrawStateTest, ADrawThatNothingWasSetForIsRefused) {
  EXPECT_FALSE(this->state_.Flush(this->batch_));
  EXPECT_EQ(this->state_.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(this->state_.status().message()), HasSubstr("_3DSTATE_VF_TOPOLOGY"));
  EXPECT_EQ(this->batch_.dwords(), 0u);
  EXPECT_FALSE(this->state_.TakeStatus().ok());
  EXPECT_TRUE(this->SetTopology());
  EXPECT_TRUE(this->state_.Flush(this->batch_));
  EXPECT_TRUE(this->state_.status().ok());
}

TYPED_TEST(DrawStateTest, ADrawWithoutStagesIsRefusedAndAllThatItLacksIsNamed) {
  DrawState<TypeParam> state(kScratch);
  EXPECT_TRUE(state.Set(typename TestFixture::Topology()));
  EXPECT_FALSE(state.Flush(this->batch_));
  const absl::Status status = state.TakeStatus();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  for (const char* lacking :
       {"VERTEX_ELEMENTS", "URB_VS", "URB_HS", "URB_DS", "URB_GS", "VS", "HS", "TE", "DS", "GS",
        "STREAMOUT", "CLIP", "SF", "RASTER", "SBE", "WM", "PS", "PS_EXTRA"}) {
    EXPECT_THAT(std::string(status.message()),
                testing::ContainsRegex(std::string("::_3DSTATE_") + lacking + "[,;]"));
  }
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("VF_TOPOLOGY")));
  EXPECT_THAT(std::string(status.message()), HasSubstr("Inherit()"));
  EXPECT_EQ(this->batch_.dwords(), 0u);
}

TYPED_TEST(DrawStateTest, APairThatOtherPacketsMayFollowIsNotEmittedForADrawThatLacksStages) {
  using Clear = typename TestFixture::G::_3DSTATE_WM_HZ_OP;
  using Topology = typename TestFixture::Topology;
  using Types = typename TestFixture::Types;
  DrawState<TypeParam> state(kScratch);
  // What the clear needs.
  state.template Inherit<typename TestFixture::G::_3DSTATE_MULTISAMPLE,
                         typename TestFixture::Raster>();
  EXPECT_TRUE(state.Set(Topology{.primitive_topology_type = Types::TRILIST}));
  EXPECT_TRUE(state.template Flush<Clear>(this->batch_)) << state.status();
  EXPECT_EQ(this->batch_.dwords(), size_t{Topology::length});
  EXPECT_TRUE(state.Set(Topology{.primitive_topology_type = Types::LINELIST}));
  const StateGroups dirty = state.dirty();
  EXPECT_FALSE(state.Flush(this->batch_));
  EXPECT_THAT(std::string(state.TakeStatus().message()), HasSubstr("_3DSTATE_VS"));
  EXPECT_EQ(this->batch_.dwords(), size_t{Topology::length});
  EXPECT_EQ(state.dirty(), dirty);
  EXPECT_TRUE(state.template Flush<Clear>(this->batch_)) << state.status();
  EXPECT_EQ(this->batch_.dwords(), size_t{2 * Topology::length});
  TestFixture::InheritStages(state);
  EXPECT_TRUE(state.Set(Topology{.primitive_topology_type = Types::TRILIST}));
  EXPECT_TRUE(state.Flush(this->batch_)) << state.status();
  EXPECT_EQ(this->batch_.dwords(), size_t{3 * Topology::length});
}

TYPED_TEST(DrawStateTest, APairIsNotEmittedForADrawThatLacksWhatAnotherPacketHasTakenAway) {
  using G = typename TestFixture::G;
  using Topology = typename TestFixture::Topology;
  using Types = typename TestFixture::Types;
  using Declarations = typename G::_3DSTATE_SO_DECL_LIST;
  using Layout = StateLayoutOf<TypeParam>;
  constexpr StateGroups kLost =
      Layout::template kLostWith<Declarations> & Layout::kLayout.draw_needs;
  DrawState<TypeParam> state(kScratch);
  state.InheritAll();
  EXPECT_TRUE(state.Set(Topology{.primitive_topology_type = Types::TRILIST}));
  EXPECT_TRUE(state.Flush(this->batch_)) << state.status();
  state.template Emitted<Declarations>();
  EXPECT_TRUE(state.Set(Topology{.primitive_topology_type = Types::LINELIST}));
  EXPECT_EQ(state.Flush(this->batch_), kLost == 0);
  EXPECT_EQ(kLost != 0, TypeParam::kVersion == 125);
  const absl::Status status = state.TakeStatus();
  if (kLost != 0) {
    EXPECT_THAT(std::string(status.message()), HasSubstr("_3DSTATE_STREAMOUT"));
  }
}

TYPED_TEST(DrawStateTest, WhatIsInheritedNeedNotBeSetUntilItIsLost) {
  DrawState<TypeParam> state(kScratch);
  EXPECT_EQ(state.inherited(), 0u);
  TestFixture::InheritStages(state);
  EXPECT_FALSE(state.Flush(this->batch_)) << "the topology is not inherited";
  EXPECT_THAT(std::string(state.TakeStatus().message()), Not(HasSubstr("_3DSTATE_VS")));
  state.InheritAll();
  EXPECT_TRUE(state.Flush(this->batch_)) << state.status();
  EXPECT_EQ(this->batch_.dwords(), 0u) << "nothing that is inherited is emitted";
  state.Forget();
  EXPECT_EQ(state.inherited(), 0u);
  EXPECT_FALSE(state.Flush(this->batch_));
  EXPECT_FALSE(state.TakeStatus().ok());
}

TYPED_TEST(DrawStateTest, OfAGroupAllPacketsAreInheritedOrNone) {
  using G = typename TypeParam::Packets;
  DrawState<TypeParam> state(kScratch);
  state.InheritAll();
  state.Forget();
  state.template Inherit<typename G::_3DSTATE_URB_VS, typename G::_3DSTATE_URB_HS,
                         typename G::_3DSTATE_URB_DS>();
  EXPECT_EQ(state.inherited(), 0u);
  state.template Inherit<typename G::_3DSTATE_URB_GS>();
  EXPECT_EQ(state.inherited(), DrawState<TypeParam>::template kGroup<typename G::_3DSTATE_URB_VS>);
}

TYPED_TEST(DrawStateTest, WhatSomebodyElseEmitsIsInherited) {
  using G = typename TypeParam::Packets;
  using Shader = typename G::_3DSTATE_VS;
  DrawState<TypeParam> state(kScratch);
  state.template Emitted<Shader>();
  EXPECT_EQ(state.inherited(), DrawState<TypeParam>::template kGroup<Shader>);
  // What that removes is no longer inherited.
  using Pointers = typename G::_3DSTATE_BINDING_TABLE_POINTERS_VS;
  state.template Inherit<Pointers>();
  state.template Emitted<typename G::_3DSTATE_BINDING_TABLE_POOL_ALLOC>();
  state.template Emitted<typename G::STATE_BASE_ADDRESS>();
  EXPECT_EQ(state.inherited(), DrawState<TypeParam>::template kGroup<Shader>);
}

TYPED_TEST(DrawStateTest, WhatIsSetIsEmittedOnce) {
  using Test = DrawStateTest<TypeParam>;
  EXPECT_TRUE(this->SetTopology(Test::Types::LINELIST));
  EXPECT_EQ(this->Flushed(), Test::Packed(Test::TopologyOf(Test::Types::LINELIST)));
  EXPECT_THAT(this->Flushed(), ElementsAre());
  EXPECT_TRUE(this->SetTopology(Test::Types::LINELIST));
  EXPECT_THAT(this->Flushed(), ElementsAre());
}

TYPED_TEST(DrawStateTest, WhatIsSetBackIsClean) {
  using Test = DrawStateTest<TypeParam>;
  this->SetTopology(Test::Types::LINELIST);
  this->Flushed();
  this->SetTopology(Test::Types::TRILIST);
  EXPECT_EQ(this->state_.dirty(), DrawState<TypeParam>::template kGroup<typename Test::Topology>);
  this->SetTopology(Test::Types::LINELIST);
  EXPECT_EQ(this->state_.dirty(), 0u);
}

TYPED_TEST(DrawStateTest, WhatIsDirtyHasNames) {
  EXPECT_EQ(this->state_.NamesOf(0), "");
  this->SetTopology();
  EXPECT_EQ(this->state_.NamesOf(this->state_.dirty()), "_3DSTATE_VF_TOPOLOGY");
  this->SetDepthGroup(1);
  const std::string names = this->state_.NamesOf(this->state_.dirty());
  EXPECT_THAT(names, HasSubstr("_3DSTATE_DEPTH_BUFFER, _3DSTATE_STENCIL_BUFFER"));
  EXPECT_THAT(names, Not(HasSubstr("PIPE_CONTROL")));
}

TYPED_TEST(DrawStateTest, AValueThatDoesNotFitLeavesWhatWasSet) {
  using Test = DrawStateTest<TypeParam>;
  this->SetTopology(Test::Types::LINELIST);
  EXPECT_FALSE(this->SetTopology(static_cast<typename Test::Types>(1u << 20)));
  EXPECT_EQ(this->state_.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(this->state_.TakeStatus().message()),
              HasSubstr("primitive_topology_type"));
  typename Test::Buffer buffers[] = {Test::BufferAt(1)};
  EXPECT_TRUE(this->state_.SetItems(typename Test::Buffers(), buffers));
  buffers[0].buffer_pitch = 1u << 20;
  EXPECT_FALSE(this->state_.SetItems(typename Test::Buffers(), buffers));
  EXPECT_FALSE(this->state_.TakeStatus().ok());
  buffers[0].buffer_pitch = 16;
  std::vector<uint32_t> expected = Test::Packed(Test::TopologyOf(Test::Types::LINELIST));
  const size_t first = expected.size();
  expected.resize(first + Test::Buffers::dwords_needed(1));
  EXPECT_FALSE(typename Test::Buffers().pack(expected.data() + first, buffers));
  EXPECT_EQ(this->Flushed(), expected);
}

TYPED_TEST(DrawStateTest, MoreItemsThanThereIsRoomForAreAnError) {
  using Test = DrawStateTest<TypeParam>;
  const std::vector<typename Test::Buffer> buffers(kMostVertexBuffers + 1, Test::BufferAt(1));
  EXPECT_FALSE(this->state_.SetItems(typename Test::Buffers(), buffers));
  EXPECT_EQ(this->state_.TakeStatus().code(), absl::StatusCode::kOutOfRange);
  PipelineState<TypeParam> pipeline;
  EXPECT_FALSE(pipeline.AddItems(typename Test::Buffers(), buffers));
  EXPECT_EQ(pipeline.status().code(), absl::StatusCode::kOutOfRange);
}

TYPED_TEST(DrawStateTest, HalfAGroupIsRefusedAndTheRestNamed) {
  using Test = DrawStateTest<TypeParam>;
  this->SetTopology();
  typename Test::Depth depth;
  depth.mocs = 1;
  EXPECT_TRUE(this->state_.Set(depth));
  EXPECT_FALSE(this->state_.Flush(this->batch_));
  const std::string message(this->state_.TakeStatus().message());
  EXPECT_THAT(message, HasSubstr("_3DSTATE_STENCIL_BUFFER"));
  EXPECT_THAT(message, Not(HasSubstr("_3DSTATE_DEPTH_BUFFER")));
  EXPECT_THAT(message, Not(HasSubstr("_3DSTATE_VF_TOPOLOGY")));
  EXPECT_EQ(this->batch_.dwords(), 0u);
  this->SetDepthGroup(1);
  EXPECT_TRUE(this->state_.Flush(this->batch_)) << this->state_.status();
}

TYPED_TEST(DrawStateTest, ADepthBufferIsFollowedByAWriteWhereTheHardwareWantsIt) {
  using Pipe = typename TypeParam::PipeControl;
  this->SetTopology();
  this->SetDepthGroup(5);
  ASSERT_TRUE(this->state_.Flush(this->batch_)) << this->state_.status();
  ASSERT_TRUE(this->batch_.End().ok());
  const bool wants = TypeParam::kVersion >= 110 && TypeParam::kVersion < 200;
  std::vector<Pipe> pipes;
  const auto dwords = DrawStateTest<TypeParam>::Dwords(this->batch_);
  for (size_t i = 0; i + Pipe::length <= dwords.size(); ++i) {
    if (Pipe::matches(dwords[i])) pipes.push_back(Pipe::unpack(dwords.data() + i));
  }
  ASSERT_EQ(pipes.size(), wants ? 1u : 0u);
  if (wants) {
    EXPECT_EQ(pipes[0].post_sync_operation, Pipe::POST_SYNC_OPERATION_WRITE_IMMEDIATE_DATA);
    EXPECT_EQ(pipes[0].address.gpu, kScratch.gpu);
  }
  EXPECT_EQ(this->batch_.uses().Find(kScratch.buffer).has_value(), wants);
  EXPECT_EQ(DrawState<TypeParam>().status().ok(), !wants);
}

TYPED_TEST(DrawStateTest, BuffersAreKnownToEachBatchThatRefersToThem) {
  using Test = DrawStateTest<TypeParam>;
  this->SetTopology();
  const typename Test::Buffer buffers[] = {Test::BufferAt(3), Test::BufferAt(4)};
  EXPECT_TRUE(this->state_.SetItems(typename Test::Buffers(), buffers));
  this->SetDepthGroup(5);
  ASSERT_TRUE(this->state_.Flush(this->batch_));
  for (uint32_t buffer : {3, 4, 5}) EXPECT_TRUE(this->batch_.uses().Find(buffer)) << buffer;
  gpu::HostChunks chunks;
  Batch<TypeParam> next(chunks);
  this->state_.Resume(next);
  for (uint32_t buffer : {3, 4, 5}) EXPECT_TRUE(next.uses().Find(buffer)) << buffer;
  EXPECT_TRUE(this->state_.Flush(next));
  EXPECT_EQ(next.dwords(), 0u);
  // The same address in another buffer is a different address.
  typename Test::Buffer moved[] = {buffers[0], buffers[1]};
  moved[1].buffer_starting_address.buffer = 6;
  EXPECT_TRUE(this->state_.SetItems(typename Test::Buffers(), moved));
  EXPECT_NE(this->state_.dirty(), 0u);
  EXPECT_TRUE(this->state_.Flush(next));
  EXPECT_TRUE(next.uses().Find(6));
}

// Buffers that were set and replaced before a flush are not listed, although they were seen.
TYPED_TEST(DrawStateTest, BuffersThatWereNeverEmittedAreNotTakenForListedOnes) {
  using Test = DrawStateTest<TypeParam>;
  using Buffer = typename Test::Buffer;
  this->SetTopology();
  const auto set = [this](const auto& buffers) {
    EXPECT_TRUE(this->state_.SetItems(typename Test::Buffers(), buffers));
  };
  const Buffer first[] = {Test::BufferAt(3)};
  set(first);
  EXPECT_TRUE(this->state_.Flush(this->batch_));
  const Buffer three[] = {Test::BufferAt(6), Test::BufferAt(4), Test::BufferAt(5)};
  set(three);
  const Buffer one[] = {Test::BufferAt(6)};
  set(one);
  EXPECT_TRUE(this->state_.Flush(this->batch_));
  EXPECT_TRUE(this->batch_.uses().Find(6));
  EXPECT_FALSE(this->batch_.uses().Find(4));
  // Once more, with a buffer that the batch knows by now.
  this->state_.template Emitted<typename Test::Buffers>();
  EXPECT_TRUE(this->state_.Flush(this->batch_));
  set(three);
  EXPECT_TRUE(this->state_.Flush(this->batch_));
  for (uint32_t buffer : {4, 5, 6}) EXPECT_TRUE(this->batch_.uses().Find(buffer)) << buffer;
}

TYPED_TEST(DrawStateTest, BuffersAreListedAgainAfterAReset) {
  using Test = DrawStateTest<TypeParam>;
  this->SetTopology();
  for (uint32_t round = 0; round < 3; ++round) {
    // The second flush finds the buffer listed.
    for (uint32_t flush = 0; flush < 2; ++flush) {
      typename Test::Buffer buffer = Test::BufferAt(3);
      buffer.buffer_pitch = 16 + 32 * round + 16 * flush;
      const typename Test::Buffer buffers[] = {buffer};
      EXPECT_TRUE(this->state_.SetItems(typename Test::Buffers(), buffers));
      ASSERT_TRUE(this->state_.Flush(this->batch_));
      EXPECT_TRUE(this->batch_.uses().Find(3)) << round;
    }
    ASSERT_TRUE(this->batch_.End().ok());
    this->batch_.Reset();
    EXPECT_FALSE(this->batch_.uses().Find(3));
  }
}

TYPED_TEST(DrawStateTest, EachEmissionIsRelocated) {
  using Test = DrawStateTest<TypeParam>;
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks, {.relocations = true});
  this->SetTopology();
  for (uint32_t flush = 0; flush < 3; ++flush) {
    typename Test::Buffer buffer = Test::BufferAt(3);
    buffer.buffer_pitch = 16 + 16 * flush;
    const typename Test::Buffer buffers[] = {buffer};
    EXPECT_TRUE(this->state_.SetItems(typename Test::Buffers(), buffers));
    ASSERT_TRUE(this->state_.Flush(batch));
  }
  int relocations = 0;
  for (const Relocation& relocation : batch.relocations()) relocations += relocation.buffer == 3;
  EXPECT_EQ(relocations, 3);
}

TYPED_TEST(DrawStateTest, ABufferThatAGroupHadNoneOfBeforeIsKnown) {
  using Test = DrawStateTest<TypeParam>;
  using Index = typename Test::G::_3DSTATE_INDEX_BUFFER;
  this->SetTopology();
  EXPECT_TRUE(this->state_.Set(Index{.mocs = 1}));
  this->SetDepthGroup(0);
  ASSERT_TRUE(this->state_.Flush(this->batch_));
  EXPECT_TRUE(this->state_.Set(Index{.mocs = 1, .buffer_starting_address = {0x9000, 9}}));
  this->SetDepthGroup(7);
  ASSERT_TRUE(this->state_.Flush(this->batch_));
  for (uint32_t buffer : {7, 9}) EXPECT_TRUE(this->batch_.uses().Find(buffer)) << buffer;
}

TYPED_TEST(DrawStateTest, AnOverrideThatIsRefusedKeepsTheOneBefore) {
  using Test = DrawStateTest<TypeParam>;
  using Stipple = typename Test::G::_3DSTATE_POLY_STIPPLE_PATTERN;
  this->SetTopology();
  EXPECT_TRUE(this->state_.Set(Stipple()));
  this->Flushed();
  Stipple once;
  once.pattern_row[0] = 0xaaaa;
  ASSERT_TRUE(this->state_.SetOnce(once));
  Stipple most;
  for (uint32_t& row : most.pattern_row) row = 0x5555;
  EXPECT_FALSE(this->state_.SetOnce(most));
  EXPECT_EQ(this->Flushed(), Test::Packed(once));
}

TYPED_TEST(DrawStateTest, RelocationsSayWhereAddressesStand) {
  using Test = DrawStateTest<TypeParam>;
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks, {.relocations = true});
  this->SetTopology();
  const typename Test::Buffer buffers[] = {Test::BufferAt(3), Test::BufferAt(4)};
  EXPECT_TRUE(this->state_.SetItems(typename Test::Buffers(), buffers));
  this->SetDepthGroup(5);
  ASSERT_TRUE(this->state_.Flush(batch));
  ASSERT_TRUE(batch.End().ok());
  // Of the buffers that are named.
  std::vector<uint32_t> seen;
  for (const Relocation& relocation : batch.relocations()) {
    const uint32_t* const at = batch.parts()[relocation.part].chunk.words.data() + relocation.dword;
    uint64_t dwords;
    std::memcpy(&dwords, at, 8);
    const uint64_t mask = ~uint64_t{0} >> (64 - relocation.width - relocation.bit);
    const uint64_t low = (uint64_t{1} << relocation.bit) - 1;
    if (relocation.buffer == kScratch.buffer) continue;
    seen.push_back(relocation.buffer);
    EXPECT_EQ(dwords & mask & ~low, relocation.gpu) << relocation.buffer;
  }
  EXPECT_THAT(seen, testing::UnorderedElementsAre(3u, 4u, 5u));
}

TYPED_TEST(DrawStateTest, OutOfRoomAtEveryStepLeavesItDirtyAndTheBatchAsItWas) {
  using Test = DrawStateTest<TypeParam>;
  size_t refusals = 0;
  Rationed chunks(128);
  chunks.Allow(1);
  Batch<TypeParam> batch(chunks);
  for (unsigned i = 0; i < 100; ++i) {
    EXPECT_TRUE(this->SetTopology(i % 2 != 0 ? Test::Types::TRILIST : Test::Types::LINELIST));
    const std::vector<typename Test::Buffer> buffers(i % 4 + 1, Test::BufferAt(i + 1));
    EXPECT_TRUE(this->state_.SetItems(typename Test::Buffers(), buffers));
    if (i % 3 == 0) this->SetDepthGroup(200 + i);
    const StateGroups dirty = this->state_.dirty();
    const StateGroups to_emit = this->state_.ToEmit();
    const size_t before = batch.dwords();
    if (!this->state_.Flush(batch)) {
      ++refusals;
      EXPECT_TRUE(this->state_.status().ok());
      EXPECT_FALSE(batch.TakeStatus().ok());
      EXPECT_EQ(this->state_.dirty(), dirty);
      EXPECT_EQ(this->state_.ToEmit(), to_emit);
      EXPECT_EQ(batch.dwords(), before);
      const size_t needed = this->state_.DwordsToEmit();
      chunks.Allow(1);
      ASSERT_TRUE(this->state_.Flush(batch)) << batch.status();
      EXPECT_EQ(batch.dwords(), before + needed);
    }
    EXPECT_EQ(this->state_.dirty(), 0u);
  }
  EXPECT_GT(refusals, 10u);
  EXPECT_TRUE(batch.End().ok());
}

TYPED_TEST(DrawStateTest, AnAddressThatTheBatchDoesNotHaveLeavesTheBatchAsItWas) {
  using Test = DrawStateTest<TypeParam>;
  gpu::HostChunks chunks;
  Batch<TypeParam> other(chunks);
  const Label label = other.NewLabel();
  this->SetTopology();
  typename Test::Buffer buffers[] = {Test::BufferAt(3)};
  buffers[0].buffer_starting_address = other.At(label);
  EXPECT_TRUE(this->state_.SetItems(typename Test::Buffers(), buffers));
  EXPECT_FALSE(this->state_.Flush(this->batch_));
  EXPECT_FALSE(this->batch_.TakeStatus().ok());
  EXPECT_EQ(this->batch_.dwords(), 0u);
  EXPECT_NE(this->state_.dirty(), 0u);
  EXPECT_TRUE(this->state_.Flush(other));
}

TYPED_TEST(DrawStateTest, APipelinesDynamicFieldsAreTheDrawStates) {
  using Test = DrawStateTest<TypeParam>;
  using Raster = typename Test::Raster;
  Raster raster;
  raster.cull_mode = 3;
  raster.front_winding = 1;
  raster.global_depth_offset_scale = 2;
  PipelineState<TypeParam> fixed, partial;
  EXPECT_TRUE(fixed.Add(raster));
  EXPECT_TRUE((partial.template AddPartial<&Raster::cull_mode, &Raster::front_winding>(raster)));
  this->SetTopology();
  this->Flushed();
  EXPECT_TRUE(this->state_.template SetFields<&Raster::cull_mode>(2u));
  EXPECT_EQ(this->state_.dirty(), 0u);  // not requested yet
  this->state_.Bind(fixed);
  EXPECT_EQ(this->Flushed(), Test::Packed(raster));
  this->state_.Bind(partial);
  Raster expected = raster;
  expected.cull_mode = 2;
  expected.front_winding = 0;  // never set
  EXPECT_EQ(this->Flushed(), Test::Packed(expected));
  EXPECT_TRUE(
      (this->state_.template SetFields<&Raster::front_winding, &Raster::cull_mode>(1u, 1u)));
  expected.front_winding = 1;
  expected.cull_mode = 1;
  EXPECT_EQ(this->Flushed(), Test::Packed(expected));
  this->state_.Bind(partial);
  EXPECT_THAT(this->Flushed(), ElementsAre());
  // Fixed again: what is dynamic elsewhere does not count.
  this->state_.Bind(fixed);
  EXPECT_EQ(this->Flushed(), Test::Packed(raster));
  EXPECT_TRUE(this->state_.template SetFields<&Raster::cull_mode>(0u));
  EXPECT_THAT(this->Flushed(), ElementsAre());
}

TYPED_TEST(DrawStateTest, ADynamicValueThatDoesNotFitIsRefused) {
  using Raster = typename DrawStateTest<TypeParam>::Raster;
  EXPECT_FALSE(this->state_.template SetFields<&Raster::cull_mode>(4u));
  EXPECT_THAT(std::string(this->state_.TakeStatus().message()), HasSubstr("cull_mode"));
}

TYPED_TEST(DrawStateTest, APacketThatIsSetWholeIsTheCallersUntilTheNextBind) {
  using Test = DrawStateTest<TypeParam>;
  using Raster = typename Test::Raster;
  PipelineState<TypeParam> pipeline;
  Raster raster;
  EXPECT_TRUE(pipeline.template AddPartial<&Raster::cull_mode>(raster));
  this->SetTopology();
  this->state_.Bind(pipeline);
  this->Flushed();
  raster.cull_mode = 3;
  EXPECT_TRUE(this->state_.Set(raster));
  EXPECT_TRUE(this->state_.template SetFields<&Raster::cull_mode>(1u));
  EXPECT_EQ(this->Flushed(), Test::Packed(raster));
  this->state_.Bind(pipeline);
  raster.cull_mode = 1;
  EXPECT_EQ(this->Flushed(), Test::Packed(raster));
}

TYPED_TEST(DrawStateTest, APipelineTakesEachPacketOnceAndOnlyWhatFits) {
  using Raster = typename DrawStateTest<TypeParam>::Raster;
  PipelineState<TypeParam> pipeline;
  Raster wrong;
  wrong.cull_mode = 9;
  EXPECT_FALSE(pipeline.Add(wrong));
  EXPECT_THAT(std::string(pipeline.status().message()), HasSubstr("cull_mode"));
  PipelineState<TypeParam> twice;
  EXPECT_TRUE(twice.Add(Raster()));
  EXPECT_FALSE(twice.Add(Raster()));
  EXPECT_EQ(twice.status().code(), absl::StatusCode::kAlreadyExists);
}

// The positions of the bits are those of BSpec, 3DSTATE_PRIMITIVE_REPLICATION.
TYPED_TEST(DrawStateTest, ViewsAreReplicatedFromTheirPlanOn) {
  if constexpr (CanReplicate<TypeParam>()) {
    ASSERT_TRUE(this->SetTopology());
    this->Flushed();
    const auto set = [&](uint32_t mask) {
      const auto plan = PlanMultiview({.view_mask = mask, .only_positions_differ = true}, true);
      EXPECT_TRUE(plan.ok()) << plan.status();
      EXPECT_TRUE(this->state_.Set(ViewsPacket<TypeParam>(*plan)));
    };
    // Replicas 0 and 1, of layers 0 and 2.
    set(0b101);
    EXPECT_THAT(this->Flushed(), ElementsAre(0x786c0004, 0x00030001, 0, 0, 0x20, 0));
    set(0b101);
    EXPECT_THAT(this->Flushed(), ElementsAre());
    set(0);
    EXPECT_THAT(this->Flushed(), ElementsAre(0x786c0004, 0, 0, 0, 0, 0));
  }
}

TYPED_TEST(DrawStateTest, FieldsHaveTheBitsThatTheTablesSay) {
  using Raster = typename DrawStateTest<TypeParam>::Raster;
  const auto masks = [](std::initializer_list<const char*> fields) {
    std::vector<uint32_t> words(Raster::length);
    for (const char* field : fields) {
      const auto place = FindFieldPosition(TypeParam::kName, "3DSTATE_RASTER", field);
      EXPECT_TRUE(place.ok());
      bits::put(words.data(), place->bit, place->width, ~uint64_t{0});
    }
    return words;
  };
  using Fields = FieldBits<&Raster::cull_mode, &Raster::global_depth_offset_clamp>;
  std::vector<uint32_t> words(Raster::length);
  for (const MaskedDword& bits : Fields::kMask) words[bits.dword] = bits.mask;
  EXPECT_EQ(words, masks({"Cull Mode", "Global Depth Offset Clamp"}));
  EXPECT_EQ(Fields::kMask.size(), 2u);  // no dword without bits of theirs
}

}  // namespace
}  // namespace packsmith::intel
