// Queries and conditions of command buffers, executed: what is counted, where it goes, and which
// draws and dispatches it lets through.
#include "runtime/intel/driver/query_recorder.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/intel/batch/indirect.h"
#include "tests/intel/driver/draw_fixture.h"

namespace packsmith::intel {
namespace {

class QueryRecorderTest : public DrawFixture {
 protected:
  Queries NewQueries(const QueryPoolOptions& options) {
    const auto queries = machine_.context->NewQueries(options);
    EXPECT_TRUE(queries.ok()) << queries.status();
    return *queries;
  }
  Queries NewVertexCounts(uint32_t count) {
    return NewQueries({.kind = QueryKind::kStatistics,
                       .count = count,
                       .statistics = SetOf(Statistic::kInputVertices)});
  }
  ComputeKernel NewKernel() {
    const auto code = machine_.context->NewKernel(DrawnBytes(64, 0));
    EXPECT_TRUE(code.ok());
    ComputeKernel kernel;
    kernel.simd16() = {.present = true, .offset = *code};
    kernel.local_size = {8, 8, 1};
    return kernel;
  }
};
INSTANTIATE_TEST_SUITE_P(, QueryRecorderTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(QueryRecorderTest, VerticesBetweenBeginAndEndAreCountedAndCopied) {
  const auto pipeline = NewPipeline();
  const Queries counts = NewVertexCounts(2);
  const gpu::Buffer results = machine_.BufferOf("results", DrawnBytes(64, 0xee));
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->queries().Reset(counts.pool, 0, 2)) << commands->status();
  EXPECT_TRUE(commands->Draw({.vertices = 5}));  // not counted
  EXPECT_TRUE(commands->queries().Begin(counts.pool, 0)) << commands->status();
  EXPECT_TRUE(commands->Draw({.vertices = 3}));
  EXPECT_TRUE(commands->Draw({.vertices = 6, .instances = 2}));
  EXPECT_TRUE(commands->queries().End(counts.pool, 0)) << commands->status();
  EXPECT_TRUE(commands->queries().Copy(
      counts.pool, {.first = 0, .count = 2, .wide = false, .availability = true, .partial = true},
      At(results)))
      << commands->status();
  machine_.Run(*commands);
  uint64_t value = 0;
  const auto read = counts.pool.Read({.first = 0}, &value, sizeof(value));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(*read);
  EXPECT_EQ(value, 15u);
  // The result and its availability; the second query has neither.
  EXPECT_EQ(Load(results, 0), 15u);
  EXPECT_EQ(Load(results, 1), 1u);
  EXPECT_EQ(Load(results, 2), 0u);
  EXPECT_EQ(Load(results, 3), 0u);
  EXPECT_EQ(Load(results, 4), 0xeeeeeeeeu);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(QueryRecorderTest, CopiedResultsAreSeenByTheNextDraw) {
  const auto pipeline = NewPipeline();
  const Queries counts = NewVertexCounts(1);
  const DrawArguments arguments[] = {{.vertex_count = 0, .instance_count = 1}};
  const gpu::Buffer place = machine_.BufferOf("arguments", AsBytes(arguments));
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->queries().Reset(counts.pool, 0, 1));
  EXPECT_TRUE(commands->queries().Begin(counts.pool, 0));
  EXPECT_TRUE(commands->Draw({.vertices = 9}));
  EXPECT_TRUE(commands->queries().End(counts.pool, 0));
  // As many vertices as were counted.
  EXPECT_TRUE(commands->queries().Copy(counts.pool, {.wide = false, .partial = true}, At(place)));
  EXPECT_TRUE(commands->Draw(IndirectDrawCall{.arguments = At(place)})) << commands->status();
  EXPECT_TRUE(commands->queries().Reset(counts.pool, 0, 1));
  machine_.Run(*commands);
  EXPECT_EQ(machine_.works.size(), 2u);
  EXPECT_EQ(Load(place, 0), 9u);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(QueryRecorderTest, AConditionSkipsDrawsAndDispatches) {
  const auto pipeline = NewPipeline();
  const Queries counts = NewVertexCounts(2);
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->Bind(NewKernel()));
  QueryRecorder& queries = commands->queries();
  EXPECT_TRUE(queries.Reset(counts.pool, 0, 2));
  EXPECT_TRUE(queries.Begin(counts.pool, 0) && queries.End(counts.pool, 0));  // 0
  EXPECT_TRUE(queries.Begin(counts.pool, 1));
  EXPECT_TRUE(commands->Draw({.vertices = 3}));
  EXPECT_TRUE(queries.End(counts.pool, 1));  // 3
  const auto draw_and_dispatch = [&] {
    EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
    EXPECT_TRUE(commands->Dispatch({.x = 2})) << commands->status();
  };
  EXPECT_TRUE(queries.SetCondition(counts.pool, 0)) << commands->status();
  draw_and_dispatch();  // skipped
  EXPECT_TRUE(queries.SetCondition(counts.pool, 0, {.inverted = true}));
  draw_and_dispatch();
  EXPECT_TRUE(queries.SetCondition(counts.pool, 1));
  draw_and_dispatch();
  EXPECT_TRUE(queries.SetCondition(counts.pool, 1, {.inverted = true}));
  draw_and_dispatch();  // skipped
  EXPECT_TRUE(queries.EndCondition());
  draw_and_dispatch();
  machine_.Run(*commands);
  EXPECT_EQ(machine_.works.size(), 1u + 6u);
  EXPECT_EQ(machine_.skipped.size(), 4u);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(QueryRecorderTest, AConditionMayBeAValueThatADispatchWrote) {
  const auto pipeline = NewPipeline();
  const gpu::Buffer value = machine_.BufferOf("value", DrawnBytes(64, 0));
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->Bind(NewKernel()));
  EXPECT_TRUE(commands->SetViews(
      BindingStage::kCompute,
      {commands->MakeView(BufferSurface{
          .memory = At(value), .writable = true, .size = 64, .mocs = machine_.context->mocs()})}));
  EXPECT_TRUE(commands->Dispatch({.x = 1}));
  EXPECT_TRUE(commands->queries().SetCondition(At(value))) << commands->status();
  EXPECT_TRUE(commands->Draw({.vertices = 3}));
  EXPECT_TRUE(commands->queries().SetCondition({value.address + 4, value.handle}));
  EXPECT_TRUE(commands->Draw({.vertices = 3}));  // skipped
  machine_.shaders = [&](const sim::Work& work, sim::WorkMemory& memory) {
    const uint8_t one[4] = {1};
    if (work.role == tables::Role::kDispatch) {
      memory.Write(tables::ClientKind::kDataPort, 0, value.address, one);
    }
  };
  machine_.Run(*commands);
  EXPECT_EQ(machine_.works.size(), 2u);
  EXPECT_EQ(machine_.skipped.size(), 1u);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(QueryRecorderTest, SamplesAreCountedInThe3DPipeline) {
  const auto pipeline = NewPipeline();
  const Queries samples = NewQueries({.kind = QueryKind::kOcclusion, .count = 4});
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->Bind(NewKernel()));
  EXPECT_TRUE(commands->queries().Reset(samples.pool, 0, 4));
  EXPECT_TRUE(commands->Dispatch({.x = 1}));  // the other pipeline is selected
  EXPECT_TRUE(commands->queries().Begin(samples.pool, 1)) << commands->status();
  EXPECT_TRUE(commands->Draw({.vertices = 3}));
  EXPECT_TRUE(commands->Dispatch({.x = 1}));
  EXPECT_TRUE(commands->queries().End(samples.pool, 1)) << commands->status();
  machine_.Run(*commands);
  const auto available = samples.pool.Available(1);
  ASSERT_TRUE(available.ok());
  EXPECT_TRUE(*available);
  EXPECT_FALSE(*samples.pool.Available(0));
}

TEST_P(QueryRecorderTest, TimestampsAreTakenOnAllEngines) {
  for (const Engine engine : {Engine::kRender, Engine::kCompute, Engine::kCopy}) {
    SCOPED_TRACE(NameOf(engine));
    auto commands = machine_.context->NewCommandBuffer({.engine = engine});
    if (!commands.ok()) continue;  // no compute engine
    const Queries times = NewQueries({.kind = QueryKind::kTimestamp, .count = 2});
    EXPECT_TRUE((*commands)->queries().Reset(times.pool, 0, 2)) << (*commands)->status();
    EXPECT_TRUE((*commands)->queries().WriteTimestamp(times.pool, 0, TimestampAt::kStreamer));
    EXPECT_TRUE((*commands)->queries().WriteTimestamp(times.pool, 1)) << (*commands)->status();
    machine_.Run(**commands);
    uint64_t ticks[2] = {};
    const auto read = times.pool.Read({.count = 2}, ticks, sizeof(ticks));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(*read);
    EXPECT_GT(ticks[0], 0u);
    EXPECT_GT(ticks[1], ticks[0]);
    EXPECT_TRUE(machine_.context->Release(times.memory).ok());
  }
}

TEST_P(QueryRecorderTest, WhatAnEngineDoesNotCountIsRefused) {
  const Queries samples = NewQueries({.kind = QueryKind::kOcclusion});
  auto copies = New({.engine = Engine::kCopy});
  EXPECT_FALSE(copies->queries().Begin(samples.pool, 0));
  EXPECT_EQ(copies->status().code(), absl::StatusCode::kFailedPrecondition);
  copies = New({.engine = Engine::kCopy});
  EXPECT_FALSE(copies->queries().SetCondition(At(samples.memory)));
  EXPECT_NE(copies->status().message().find("Engine::kRender"), std::string::npos);
  auto commands = New();
  EXPECT_FALSE(commands->queries().Begin(samples.pool, 1));  // there is one
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_FALSE(commands->Draw({.vertices = 3}));  // it is kept
}

TEST_P(QueryRecorderTest, ASecondaryIsNotRunOnACondition) {
  auto secondary = New({.secondary = true});
  EXPECT_TRUE(secondary->End().ok());
  auto commands = New();
  EXPECT_TRUE(commands->queries().SetCondition(At(vertices_)));
  EXPECT_FALSE(commands->Execute(*secondary));
  EXPECT_NE(commands->status().message().find("EndCondition()"), std::string::npos);
  commands = New();
  EXPECT_TRUE(commands->queries().SetCondition(At(vertices_)));
  EXPECT_TRUE(commands->queries().EndCondition());
  EXPECT_TRUE(commands->Execute(*secondary)) << commands->status();
}

}  // namespace
}  // namespace packsmith::intel
