#include "runtime/intel/query/queries.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/streamer.h"
#include "tests/intel/batch/tested.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kPool = 0x40000, kTo = 0x80000;
constexpr uint32_t kHandle = 7;
constexpr uint32_t kGarbage = 0xdddddddd;

template <class Gen>
class QueriesTest : public testing::Test {
 protected:
  using G = typename Gen::Packets;
  using Pipe = typename Gen::PipeControl;

  void MakePool(const QueryPoolOptions& options) {
    memory_.assign(*QueryPool::BytesFor(options) / 8, uint64_t{kGarbage} << 32 | kGarbage);
    const auto pool = QueryPool::Create(
        Gen::kFacts, options,
        {.address = kPool, .buffer = kHandle, .cpu = cpu(), .size = memory_.size() * 8});
    ASSERT_TRUE(pool.ok()) << pool.status();
    pool_ = *pool;
  }
  const QueryPool& pool() const { return *pool_; }
  uint8_t* cpu() { return reinterpret_cast<uint8_t*>(memory_.data()); }

  void SetRegister(uint32_t offset, uint64_t value) {
    using Load = typename Gen::LoadRegisterConstant;
    batch_.Emit(
        Load{.register_offset_ = offset, .data_dword = static_cast<uint32_t>(value)},
        Load{.register_offset_ = offset + 4, .data_dword = static_cast<uint32_t>(value >> 32)});
  }

  // Executes the batch on memory_, and changes it. What is at kTo becomes `to_`.
  void Run(size_t to_dwords = 64) {
    ASSERT_TRUE(batch_.End().ok()) << batch_.status();
    std::vector<uint32_t> dwords(memory_.size() * 2);
    std::memcpy(dwords.data(), memory_.data(), memory_.size() * 8);
    streamer_.Map(kPool, dwords);
    to_.resize(to_dwords, kGarbage);
    streamer_.Map(kTo, to_);
    streamer_.Map(chunks_.chunks());
    ASSERT_EQ(streamer_.Run(batch_.parts()[0].chunk.gpu), "");
    for (size_t i = 0; i < memory_.size(); ++i) memory_[i] = streamer_.Read64(kPool + 8 * i);
    for (size_t i = 0; i < to_.size(); ++i) to_[i] = streamer_.Read32(kTo + 4 * i);
  }
  // Results as the CPU reads them.
  std::vector<uint64_t> Results(uint32_t query) {
    std::vector<uint64_t> results(pool().results());
    const auto read = pool().Read({.first = query}, results.data(), results.size() * 8);
    EXPECT_TRUE(read.ok() && *read) << read.status();
    return results;
  }
  bool Predicate() const {
    return (streamer_.Register(Gen::PredicateResult::register_offset) & 1) != 0;
  }
  // The packets of what `emit` emits.
  template <class Emit>
  std::vector<Pipe> PipesOf(Emit emit) {
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    EXPECT_TRUE(emit(batch)) << batch.status();
    EXPECT_TRUE(batch.End().ok());
    const std::vector<uint32_t> dwords = PacketsOf(batch);
    std::vector<Pipe> pipes;
    World world;
    const Decoded decoded =
        world.Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu);
    for (const Met& met : decoded.packets) {
      EXPECT_EQ(met.faults, 0u) << met.name;
      if (met.name == "PIPE_CONTROL") pipes.push_back(Pipe::unpack(met.dwords.data()));
    }
    return pipes;
  }
  // The registers that MI_STORE_REGISTER_MEM stores in what `emit` emits.
  template <class Emit>
  std::vector<uint32_t> StoredBy(Emit emit) {
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    EXPECT_TRUE(emit(batch)) << batch.status();
    EXPECT_TRUE(batch.End().ok());
    std::vector<uint32_t> stored;
    World world;
    for (const Met& met :
         world.Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu).packets) {
      if (met.name != "MI_STORE_REGISTER_MEM") continue;
      stored.push_back(Gen::StoreRegister::unpack(met.dwords.data()).register_address);
    }
    return stored;
  }
  template <class Emit>
  std::string RefusalOf(Emit emit) {
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    EXPECT_FALSE(emit(batch));
    return std::string(batch.End().message());
  }

  std::vector<uint64_t> memory_;
  std::optional<QueryPool> pool_;
  gpu::HostChunks chunks_;
  Batch<Gen> batch_{chunks_};
  Streamer<Gen> streamer_;
  std::vector<uint32_t> to_;
};
TYPED_TEST_SUITE(QueriesTest, Generations);

constexpr QueryPoolOptions kPools[] = {
    {.kind = QueryKind::kOcclusion, .count = 5},
    {.kind = QueryKind::kOcclusionBoolean, .count = 5},
    {.kind = QueryKind::kStatistics, .count = 5, .statistics = kAllStatistics},
    {.kind = QueryKind::kStatistics, .count = 5, .statistics = 0x285},
    {.kind = QueryKind::kStreamOutput, .count = 5},
    {.kind = QueryKind::kStreamOverflow, .count = 5},
    {.kind = QueryKind::kPrimitivesGenerated, .count = 5},
    {.kind = QueryKind::kTimestamp, .count = 5},
    {.kind = QueryKind::kTimeElapsed, .count = 5},
};

// The streamer computes what the CPU does, from the same memory.
TYPED_TEST(QueriesTest, TheStreamerAndTheCpuAgree) {
  std::mt19937_64 random(1);
  for (const QueryPoolOptions& options : kPools) {
    // All of them for the first kind.
    const unsigned step = options.kind == QueryKind::kOcclusion ? 1 : 3;
    for (unsigned variant = 0; variant < 16; variant += step) {
      SCOPED_TRACE(testing::Message() << NameOf(options.kind) << ", variant " << variant);
      this->MakePool(options);
      const QueryPool& pool = this->pool();
      for (uint64_t& value : this->memory_) {
        // Some differences of 0, too.
        value = random() % 4 == 0 ? 12 : random();
      }
      for (uint32_t query = 0; query < pool.count(); ++query) {
        this->memory_[query * pool.stride() / 8] = random() % 2;
      }
      const bool partial = (variant & 4) != 0 && options.kind != QueryKind::kTimestamp;
      const QueryResults results = {.first = 1,
                                    .count = 3,
                                    .stride = (variant & 8) != 0 ? 128u : 0u,
                                    .wide = (variant & 1) != 0,
                                    .availability = (variant & 2) != 0,
                                    .partial = partial};
      std::vector<uint32_t> expected(128, kGarbage);
      const auto read = pool.Read(results, expected.data(), expected.size() * 4);
      ASSERT_TRUE(read.ok()) << read.status();

      gpu::HostChunks chunks;
      Batch<TypeParam> batch(chunks);
      ASSERT_TRUE(CopyQueryResults(batch, pool, results, {kTo, 9})) << batch.status();
      ASSERT_TRUE(batch.End().ok());
      Streamer<TypeParam> streamer;
      std::vector<uint32_t> dwords(this->memory_.size() * 2);
      std::memcpy(dwords.data(), this->memory_.data(), dwords.size() * 4);
      streamer.Map(kPool, dwords);
      streamer.Map(kTo, std::vector<uint32_t>(128, kGarbage));
      streamer.Map(chunks.chunks());
      ASSERT_EQ(streamer.Run(batch.parts()[0].chunk.gpu), "");
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(streamer.Read32(kTo + 4 * i), expected[i]) << "dword " << i;
      }
    }
  }
}

TYPED_TEST(QueriesTest, SamplesAreCountedBetweenBeginningAndEnd) {
  this->MakePool({.kind = QueryKind::kOcclusion, .count = 2});
  const uint32_t counter = TypeParam::Packets::PS_DEPTH_COUNT::register_offset;
  EXPECT_TRUE(ResetQueries(this->batch_, this->pool(), 0, 2));
  this->SetRegister(counter, 0xfffffff0);
  EXPECT_TRUE(BeginQuery(this->batch_, this->pool(), 1));
  this->SetRegister(counter, 0x10000001a);
  EXPECT_TRUE(EndQuery(this->batch_, this->pool(), 1));
  EXPECT_TRUE(CopyQueryResults(this->batch_, this->pool(),
                               {.first = 1, .availability = true, .wait = true}, {kTo, 9}));
  this->Run();
  EXPECT_FALSE(*this->pool().Available(0));
  EXPECT_THAT(this->Results(1), ElementsAre(42u));
  EXPECT_THAT(std::vector<uint32_t>(this->to_.begin(), this->to_.begin() + 5),
              ElementsAre(42u, 0u, 1u, 0u, kGarbage));
}

TYPED_TEST(QueriesTest, EachStatisticIsThatOfItsRegister) {
  using G = typename TypeParam::Packets;
  this->MakePool({.kind = QueryKind::kStatistics, .count = 1, .statistics = kAllStatistics});
  const uint32_t registers[kStatisticKinds] = {
      G::IA_VERTICES_COUNT::register_offset,   G::IA_PRIMITIVES_COUNT::register_offset,
      G::VS_INVOCATION_COUNT::register_offset, G::GS_INVOCATION_COUNT::register_offset,
      G::GS_PRIMITIVES_COUNT::register_offset, G::CL_INVOCATION_COUNT::register_offset,
      G::CL_PRIMITIVES_COUNT::register_offset, G::PS_INVOCATION_COUNT::register_offset,
      G::HS_INVOCATION_COUNT::register_offset, G::DS_INVOCATION_COUNT::register_offset,
      G::CS_INVOCATION_COUNT::register_offset};
  EXPECT_TRUE(ResetQueries(this->batch_, this->pool(), 0, 1));
  for (unsigned i = 0; i < kStatisticKinds; ++i) this->SetRegister(registers[i], 1000 * i);
  EXPECT_TRUE(BeginQuery(this->batch_, this->pool(), 0));
  for (unsigned i = 0; i < kStatisticKinds; ++i) this->SetRegister(registers[i], 1008 * i + 4);
  EXPECT_TRUE(EndQuery(this->batch_, this->pool(), 0));
  this->Run();
  // Gfx8 counts pixel shaders four times.
  const uint64_t pixels = TypeParam::kFacts.pixel_invocations_count_fourfold ? 15 : 60;
  EXPECT_THAT(this->Results(0),
              ElementsAre(4u, 12u, 20u, 28u, 36u, 44u, 52u, pixels, 68u, 76u, 84u));
}

TYPED_TEST(QueriesTest, SomeStatisticsAreInTheirOrder) {
  using G = typename TypeParam::Packets;
  this->MakePool(
      {.kind = QueryKind::kStatistics,
       .statistics = SetOf(Statistic::kComputeInvocations) | SetOf(Statistic::kPixelInvocations)});
  EXPECT_TRUE(ResetQueries(this->batch_, this->pool(), 0, 1));
  EXPECT_TRUE(BeginQuery(this->batch_, this->pool(), 0));
  this->SetRegister(G::CS_INVOCATION_COUNT::register_offset, 5);
  this->SetRegister(G::PS_INVOCATION_COUNT::register_offset, 8);
  EXPECT_TRUE(EndQuery(this->batch_, this->pool(), 0));
  this->Run();
  EXPECT_THAT(this->Results(0),
              ElementsAre(TypeParam::kFacts.pixel_invocations_count_fourfold ? 2u : 8u, 5u));
}

TYPED_TEST(QueriesTest, StreamsHaveCountersOfTheirOwn) {
  using G = typename TypeParam::Packets;
  const uint32_t written = G::SO_NUM_PRIMS_WRITTEN0::register_offset;
  const uint32_t needed = G::SO_PRIM_STORAGE_NEEDED0::register_offset;
  for (uint8_t stream = 0; stream < kStreams; ++stream) {
    SCOPED_TRACE(int{stream});
    const QueryKind kinds[] = {QueryKind::kStreamOutput, QueryKind::kStreamOverflow,
                               QueryKind::kPrimitivesGenerated};
    const std::vector<uint64_t> expected[] = {{5, 9}, {1}, {stream == 0 ? 77u : 9u}};
    for (unsigned i = 0; i < 3; ++i) {
      QueriesTest<TypeParam>::MakePool({.kind = kinds[i], .stream = stream});
      gpu::HostChunks chunks;
      Batch<TypeParam> batch(chunks);
      const auto set = [&](uint32_t offset, uint32_t value) {
        batch.Emit(typename TypeParam::LoadRegisterConstant{.register_offset_ = offset,
                                                            .data_dword = value});
      };
      EXPECT_TRUE(ResetQueries(batch, this->pool(), 0, 1));
      EXPECT_TRUE(BeginQuery(batch, this->pool(), 0));
      set(written + 8 * stream, 5);
      set(needed + 8 * stream, 9);
      set(G::CL_INVOCATION_COUNT::register_offset, 77);
      EXPECT_TRUE(EndQuery(batch, this->pool(), 0));
      ASSERT_TRUE(batch.End().ok());
      Streamer<TypeParam> streamer;
      streamer.Map(kPool, std::vector<uint32_t>(this->memory_.size() * 2, kGarbage));
      streamer.Map(chunks.chunks());
      ASSERT_EQ(streamer.Run(batch.parts()[0].chunk.gpu), "");
      for (size_t w = 0; w < this->memory_.size(); ++w) {
        this->memory_[w] = streamer.Read64(kPool + 8 * w);
      }
      EXPECT_EQ(this->Results(0), expected[i]);
    }
  }
}

TYPED_TEST(QueriesTest, TimestampsAreOfTheEngineAndGrow) {
  this->MakePool({.kind = QueryKind::kTimestamp, .count = 3});
  EXPECT_TRUE(ResetQueries(this->batch_, this->pool(), 0, 3));
  EXPECT_TRUE(WriteTimestamp(this->batch_, this->pool(), 0, TimestampAt::kStreamer));
  EXPECT_TRUE(WriteTimestamp(this->batch_, this->pool(), 1));
  this->Run();
  EXPECT_TRUE(*this->pool().Available(0));
  EXPECT_TRUE(*this->pool().Available(1));
  EXPECT_FALSE(*this->pool().Available(2));
  EXPECT_LT(this->Results(0)[0], this->Results(1)[0]);
}

TYPED_TEST(QueriesTest, ElapsedTimeIsADifference) {
  this->MakePool({.kind = QueryKind::kTimeElapsed});
  EXPECT_TRUE(ResetQueries(this->batch_, this->pool(), 0, 1));
  EXPECT_TRUE(BeginQuery(this->batch_, this->pool(), 0));
  EXPECT_TRUE(EndQuery(this->batch_, this->pool(), 0));
  this->Run();
  const uint64_t elapsed = this->Results(0)[0];
  EXPECT_GT(elapsed, 0u);
  EXPECT_LT(elapsed, uint64_t{1} << 32);
}

TYPED_TEST(QueriesTest, ZeroedQueriesAreAvailable) {
  this->MakePool({.kind = QueryKind::kStreamOutput, .count = 3});
  EXPECT_TRUE(ResetQueries(this->batch_, this->pool(), 0, 3));
  EXPECT_TRUE(ZeroQueries(this->batch_, this->pool(), 1, 2));
  this->Run();
  EXPECT_FALSE(*this->pool().Available(0));
  EXPECT_THAT(this->Results(1), ElementsAre(0u, 0u));
  EXPECT_THAT(this->Results(2), ElementsAre(0u, 0u));
}

TYPED_TEST(QueriesTest, PredicatesFollowResults) {
  // Available or not, the result, inverted, waits: and whether draws are executed.
  struct Case {
    bool available;
    uint64_t result;
    PredicateOptions options;
    bool drawn;
  };
  const Case cases[] = {
      {true, 0, {}, false},
      {true, 3, {}, true},
      {true, uint64_t{1} << 40, {}, true},
      {true, 0, {.inverted = true}, true},
      {true, 3, {.inverted = true}, false},
      {false, 0, {.wait = false}, true},
      {false, 0, {.inverted = true, .wait = false}, true},
      {false, 3, {.inverted = true, .wait = false}, true},
      {true, 0, {.wait = false}, false},
      {true, 3, {.wait = false}, true},
      {true, 3, {.inverted = true, .wait = false}, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(&c - cases);
    gpu::HostChunks chunks;
    Batch<TypeParam> batch(chunks);
    QueriesTest<TypeParam>::MakePool({.kind = QueryKind::kOcclusion});
    this->memory_[0] = c.available ? 1 : 0;
    this->memory_[1] = 10;
    this->memory_[2] = 10 + c.result;
    EXPECT_TRUE(SetQueryPredicate(batch, this->pool(), 0, c.options));
    ASSERT_TRUE(batch.End().ok());
    Streamer<TypeParam> streamer;
    std::vector<uint32_t> dwords(this->memory_.size() * 2);
    std::memcpy(dwords.data(), this->memory_.data(), dwords.size() * 4);
    streamer.Map(kPool, dwords);
    streamer.Map(chunks.chunks());
    ASSERT_EQ(streamer.Run(batch.parts()[0].chunk.gpu), "");
    EXPECT_EQ((streamer.Register(TypeParam::PredicateResult::register_offset) & 1) != 0, c.drawn);
  }
}

TYPED_TEST(QueriesTest, PredicatesFollowMemory) {
  for (const uint32_t value : {0u, 1u, 0x80000000u}) {
    for (const bool inverted : {false, true}) {
      gpu::HostChunks chunks;
      Batch<TypeParam> batch(chunks);
      EXPECT_TRUE(SetMemoryPredicate(batch, address(kTo, 9), {.inverted = inverted}));
      ASSERT_TRUE(batch.End().ok());
      Streamer<TypeParam> streamer;
      const uint32_t dwords[] = {value, 0xffffffff};  // only the first counts
      streamer.Map(kTo, dwords);
      streamer.Map(chunks.chunks());
      ASSERT_EQ(streamer.Run(batch.parts()[0].chunk.gpu), "");
      EXPECT_EQ((streamer.Register(TypeParam::PredicateResult::register_offset) & 1) != 0,
                (value != 0) != inverted);
    }
  }
}

TYPED_TEST(QueriesTest, CopiesLeaveThePredicate) {
  using Result = typename TypeParam::PredicateResult;
  this->MakePool({.kind = QueryKind::kOcclusion});
  this->memory_[0] = 0;
  this->memory_[1] = 1;
  this->memory_[2] = 5;
  EXPECT_TRUE(SetQueryPredicate(this->batch_, this->pool(), 0, {.wait = false}));
  EXPECT_TRUE(CopyQueryResults(this->batch_, this->pool(), {}, {kTo, 9}));
  this->Run();
  EXPECT_EQ(this->streamer_.Register(Result::register_offset) & 1, 1u);
  EXPECT_EQ(this->to_[0], kGarbage);
}

TYPED_TEST(QueriesTest, WaitsUntilAResultIsAvailable) {
  this->MakePool({.kind = QueryKind::kOcclusion});
  this->memory_[0] = 0;
  EXPECT_TRUE(CopyQueryResults(this->batch_, this->pool(), {.wait = true}, {kTo, 9}));
  ASSERT_TRUE(this->batch_.End().ok());
  std::vector<uint32_t> dwords(this->memory_.size() * 2);
  this->streamer_.Map(kPool, dwords);
  this->streamer_.Map(this->chunks_.chunks());
  EXPECT_THAT(this->streamer_.Run(this->batch_.parts()[0].chunk.gpu), HasSubstr("waits"));
}

// The manuals' rules about writing the count of samples.
TYPED_TEST(QueriesTest, CountingSamplesStallsDepth) {
  using Pipe = typename TypeParam::PipeControl;
  this->MakePool({.kind = QueryKind::kOcclusion});
  const auto pipes = this->PipesOf([&](auto& batch) { return EndQuery(batch, this->pool(), 0); });
  const size_t before = TypeParam::kFacts.depth_count_needs_stall_before ? 1 : 0;
  ASSERT_EQ(pipes.size(), before + 2);
  if (before != 0) {
    uint32_t emitted[Pipe::length], expected[Pipe::length];
    ASSERT_FALSE(pipes[0].pack(emitted));
    ASSERT_FALSE(Pipe{.depth_stall_enable = true}.pack(expected));
    EXPECT_EQ(std::memcmp(emitted, expected, sizeof(emitted)), 0) << "only a depth stall";
  }
  const Pipe& count = pipes[before];
  EXPECT_EQ(count.post_sync_operation, Pipe::POST_SYNC_OPERATION_WRITE_PS_DEPTH_COUNT);
  EXPECT_TRUE(count.depth_stall_enable);
  EXPECT_FALSE(count.render_target_cache_flush_enable || count.stall_at_pixel_scoreboard);
  EXPECT_FALSE(count.command_streamer_stall_enable);
  EXPECT_EQ(count.address.gpu, this->pool().end(0, 0).gpu);
  const Pipe& available = pipes[before + 1];
  EXPECT_EQ(available.post_sync_operation, Pipe::POST_SYNC_OPERATION_WRITE_IMMEDIATE_DATA);
  EXPECT_TRUE(available.pipe_control_flush_enable);
  EXPECT_EQ(available.immediate_data, 1u);
}

TYPED_TEST(QueriesTest, DevicesThatNeedItStall) {
  const QueryEngine gt4 = {.writes_need_stall = true};
  this->MakePool({.kind = QueryKind::kOcclusion});
  auto pipes = this->PipesOf([&](auto& batch) { return BeginQuery(batch, this->pool(), 0, gt4); });
  EXPECT_TRUE(pipes.back().command_streamer_stall_enable);
  this->MakePool({.kind = QueryKind::kTimestamp});
  pipes = this->PipesOf(
      [&](auto& batch) { return WriteTimestamp(batch, this->pool(), 0, TimestampAt::kEnd, gt4); });
  EXPECT_TRUE(pipes[0].command_streamer_stall_enable);
}

// PRM of Broadwell, PIPE_CONTROL, "Command Streamer Stall Enable".
TYPED_TEST(QueriesTest, WritesInTheGpgpuPipelineStallOnBroadwell) {
  using Pipe = typename TypeParam::PipeControl;
  constexpr bool kBroadwell = TypeParam::kVersion == 80;
  this->MakePool({.kind = QueryKind::kTimestamp});
  for (const Pipeline pipeline : {Pipeline::k3D, Pipeline::kGpgpu}) {
    const auto pipes = this->PipesOf([&](auto& batch) {
      return WriteTimestamp(batch, this->pool(), 0, TimestampAt::kEnd, {.pipeline = pipeline});
    });
    size_t writes = 0;
    for (const Pipe& pipe : pipes) {
      if (pipe.post_sync_operation == Pipe::POST_SYNC_OPERATION_NO_WRITE) continue;
      ++writes;
      EXPECT_EQ(pipe.command_streamer_stall_enable, kBroadwell && pipeline == Pipeline::kGpgpu);
    }
    EXPECT_EQ(writes, 2u);
  }
}

TYPED_TEST(QueriesTest, EnginesStoreTheirOwnRegisters) {
  using G = typename TypeParam::Packets;
  const QueryEngine compute = {.kind = EngineKind::kCompute,
                               .arithmetic = {.engine_offset = 0x18000}};
  this->MakePool({.kind = QueryKind::kTimestamp});
  EXPECT_THAT(this->StoredBy([&](auto& batch) {
    return WriteTimestamp(batch, this->pool(), 0, TimestampAt::kStreamer, compute);
  }),
              ElementsAre(G::TIMESTAMP::register_offset + 0x18000,
                          G::TIMESTAMP::register_offset + 0x18004));
  this->MakePool(
      {.kind = QueryKind::kStatistics, .statistics = SetOf(Statistic::kComputeInvocations)});
  for (const bool end : {false, true}) {
    EXPECT_THAT(this->StoredBy([&](auto& batch) {
      return end ? EndQuery(batch, this->pool(), 0, compute)
                 : BeginQuery(batch, this->pool(), 0, compute);
    }),
                ElementsAre(G::CS_INVOCATION_COUNT::register_offset + 0x18000,
                            G::CS_INVOCATION_COUNT::register_offset + 0x18004));
  }
}

TYPED_TEST(QueriesTest, ComputeEnginesCountOnlyWhatTheyDo) {
  const QueryEngine compute = {.kind = EngineKind::kCompute};
  const auto begin = [&](auto& batch) { return BeginQuery(batch, this->pool(), 0, compute); };
  constexpr StatisticSet kCompute = SetOf(Statistic::kComputeInvocations);
  const QueryPoolOptions kRefused[] = {
      {.kind = QueryKind::kOcclusion},
      {.kind = QueryKind::kStreamOutput},
      {.kind = QueryKind::kPrimitivesGenerated},
      {.kind = QueryKind::kStatistics, .statistics = SetOf(Statistic::kPixelInvocations)},
      {.kind = QueryKind::kStatistics,
       .statistics = kCompute | SetOf(Statistic::kVertexInvocations)}};
  for (const QueryPoolOptions& options : kRefused) {
    this->MakePool(options);
    EXPECT_THAT(this->RefusalOf(begin), HasSubstr("needs the render engine"));
  }
  this->MakePool({.kind = QueryKind::kTimeElapsed});
  EXPECT_EQ(this->PipesOf(begin).back().address.gpu, this->pool().begin(0, 0).gpu);
}

TYPED_TEST(QueriesTest, RegistersAreStoredAfterAStall) {
  this->MakePool({.kind = QueryKind::kStreamOutput});
  const auto pipes = this->PipesOf([&](auto& batch) { return EndQuery(batch, this->pool(), 0); });
  ASSERT_EQ(pipes.size(), TypeParam::kFacts.stream_counts_need_stall ? 2u : 1u);
  EXPECT_TRUE(pipes[0].command_streamer_stall_enable);
  EXPECT_TRUE(pipes[0].stall_at_pixel_scoreboard);
}

TYPED_TEST(QueriesTest, CopyEnginesFlushForTimestamps) {
  using Flush = typename TypeParam::Packets::MI_FLUSH_DW;
  this->MakePool({.kind = QueryKind::kTimestamp});
  const QueryEngine copies = {.kind = EngineKind::kCopy};
  EXPECT_TRUE(WriteTimestamp(this->batch_, this->pool(), 0, TimestampAt::kEnd, copies));
  ASSERT_TRUE(this->batch_.End().ok());
  const auto words = this->chunks_.chunks()[0].words;
  ASSERT_TRUE(Flush::matches(words[0]));
  const Flush stamp = Flush::unpack(words.data());
  EXPECT_EQ(stamp.post_sync_operation, Flush::POST_SYNC_OPERATION_WRITE_TIMESTAMP);
  EXPECT_EQ(stamp.address.gpu, this->pool().end(0, 0).gpu);
  ASSERT_TRUE(Flush::matches(words[Flush::length]));
  EXPECT_EQ(Flush::unpack(words.data() + Flush::length).address.gpu,
            this->pool().availability(0).gpu);
}

TYPED_TEST(QueriesTest, ThePoolIsWrittenByTheBatch) {
  this->MakePool({.kind = QueryKind::kOcclusion});
  EXPECT_TRUE(BeginQuery(this->batch_, this->pool(), 0));
  ASSERT_TRUE(this->batch_.End().ok());
  bool written = false;
  for (const gpu::BufferUse& use : this->batch_.uses().all()) {
    if (use.buffer == kHandle) written = use.writes();
  }
  EXPECT_TRUE(written);
}

TYPED_TEST(QueriesTest, WhatDoesNotFitIsRefused) {
  this->MakePool({.kind = QueryKind::kOcclusion, .count = 4});
  const QueryPool& pool = this->pool();
  EXPECT_THAT(this->RefusalOf([&](auto& b) { return BeginQuery(b, pool, 4); }),
              HasSubstr("queries 4 to 4 of a pool of 4"));
  EXPECT_THAT(this->RefusalOf([&](auto& b) { return ResetQueries(b, pool, 3, 2); }),
              HasSubstr("queries 3 to 4 of a pool of 4"));
  EXPECT_THAT(this->RefusalOf([&](auto& b) { return ZeroQueries(b, pool, 5, 0xffffffff); }),
              HasSubstr("of a pool of 4"));
  EXPECT_THAT(this->RefusalOf([&](auto& b) { return WriteTimestamp(b, pool, 0); }),
              HasSubstr("WriteTimestamp() is not for a pool of this kind: an occlusion query"));
  EXPECT_THAT(this->RefusalOf(
                  [&](auto& b) { return BeginQuery(b, pool, 0, {.pipeline = Pipeline::kGpgpu}); }),
              HasSubstr("needs the 3D pipeline"));
  EXPECT_THAT(
      this->RefusalOf([&](auto& b) { return BeginQuery(b, pool, 0, {.kind = EngineKind::kCopy}); }),
      HasSubstr("needs the render engine"));
  EXPECT_THAT(this->RefusalOf([&](auto& b) {
    return CopyQueryResults(b, pool, {.count = 5}, {kTo, 9});
  }),
              HasSubstr("queries 0 to 4 of a pool of 4"));
  EXPECT_THAT(this->RefusalOf([&](auto& b) {
    return CopyQueryResults(b, pool, {.count = 2, .stride = 12}, {kTo, 9});
  }),
              HasSubstr("at a stride of 12 bytes"));
  EXPECT_THAT(this->RefusalOf([&](auto& b) {
    return CopyQueryResults(b, pool, {}, {kTo, 9}, {.kind = EngineKind::kVideo});
  }),
              HasSubstr("copy or video engine"));
  this->MakePool({.kind = QueryKind::kTimestamp});
  EXPECT_THAT(this->RefusalOf([&](auto& b) { return BeginQuery(b, this->pool(), 0); }),
              HasSubstr("a timestamp"));
}

}  // namespace
}  // namespace packsmith::intel
