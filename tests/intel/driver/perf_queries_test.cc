// Performance counters of command buffers: each pass of each query has two reports of its own.
#include "runtime/intel/driver/perf_queries.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/intel/driver/draw_fixture.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

constexpr const char* kReport = "MI_REPORT_PERF_COUNT";

class PerfQueriesTest : public DrawFixture {
 protected:
  PerfQueries NewCounters(const PerfQueryOptions& options) {
    const auto counters = machine_.context->NewPerfQueries(options);
    EXPECT_TRUE(counters.ok()) << counters.status();
    return *counters;
  }
  // Work of which a query counts one of two draws.
  void Run(const PerfQueries& counters, uint32_t query, uint32_t pass) {
    const auto pipeline = NewPipeline();
    auto commands = New();
    BindAll(*commands, *pipeline);
    EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
    EXPECT_TRUE(commands->queries().Begin(counters, query, pass)) << commands->status();
    EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
    EXPECT_TRUE(commands->queries().End(counters, query, pass)) << commands->status();
    machine_.Run(*commands);
  }
};
INSTANTIATE_TEST_SUITE_P(, PerfQueriesTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(PerfQueriesTest, EachPassOfAQueryHasItsOwnResult) {
  const PerfQueries counters = NewCounters({.count = 2, .passes = 2});
  EXPECT_EQ(counters.Read(1, 0).status().code(), absl::StatusCode::kUnavailable);
  Run(counters, 1, 0);
  const auto first = counters.Read(1, 0);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_GT(first->ticks, 0u);
  EXPECT_EQ(counters.Read(1, 1).status().code(), absl::StatusCode::kUnavailable);
  Run(counters, 1, 1);
  EXPECT_TRUE(counters.Read(1, 1).ok());
  EXPECT_EQ(counters.Read(0, 0).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(counters.Read(1, 0)->ticks, first->ticks);  // as before
}

TEST_P(PerfQueriesTest, ReportsAreTakenAroundTheDrawAndHaveNumbersOfTheirOwn) {
  const PerfQueries counters = NewCounters({.count = 2, .passes = 2});
  const PerfQueries others = NewCounters({});
  for (const uint32_t query : {0u, 1u}) {
    for (const uint32_t pass : {0u, 1u}) Run(counters, query, pass);
  }
  Run(others, 0, 0);
  std::set<uint64_t> ids;
  for (const auto& report : DwordsOf(kReport)) {
    ids.insert(machine_.Field(kReport, report, "Report ID").value_or(0));
  }
  EXPECT_EQ(ids.size(), 10u);
  std::vector<std::string> order;
  for (const std::string& packet : machine_.packets) {
    if (packet == kReport || packet == "3DPRIMITIVE") order.push_back(packet);
  }
  ASSERT_EQ(order.size(), 20u);
  for (size_t i = 0; i < order.size(); i += 4) {
    EXPECT_EQ(order[i], "3DPRIMITIVE");
    EXPECT_EQ(order[i + 1], kReport);
    EXPECT_EQ(order[i + 2], "3DPRIMITIVE");
    EXPECT_EQ(order[i + 3], kReport);
  }
}

TEST_P(PerfQueriesTest, ResetMakesOnePassUnavailable) {
  const PerfQueries counters = NewCounters({.count = 2, .passes = 2});
  for (const uint32_t pass : {0u, 1u}) Run(counters, 0, pass);
  auto commands = New();
  EXPECT_TRUE(commands->queries().Reset(counters, 0, 2, 1)) << commands->status();
  machine_.Run(*commands);
  EXPECT_TRUE(counters.Read(0, 0).ok());
  EXPECT_EQ(counters.Read(0, 1).status().code(), absl::StatusCode::kUnavailable);
  Run(counters, 0, 1);
  EXPECT_TRUE(counters.Read(0, 1).ok());
}

TEST_P(PerfQueriesTest, DispatchesAreCountedOnEnginesThatReport) {
  const auto code = machine_.context->NewKernel(DrawnBytes(64, 0));
  ASSERT_TRUE(code.ok());
  ComputeKernel kernel;
  kernel.simd16() = {.present = true, .offset = *code};
  kernel.local_size = {8, 8, 1};
  const PerfQueries counters = NewCounters({.count = 2});
  uint32_t query = 0;
  for (const Engine engine : {Engine::kRender, Engine::kCompute}) {
    auto commands = machine_.context->NewCommandBuffer({.engine = engine});
    if (!commands.ok()) continue;  // no compute engine
    EXPECT_TRUE((*commands)->Bind(kernel)) << (*commands)->status();
    EXPECT_TRUE((*commands)->queries().Begin(counters, query)) << (*commands)->status();
    EXPECT_TRUE((*commands)->Dispatch({.x = 2})) << (*commands)->status();
    EXPECT_TRUE((*commands)->queries().End(counters, query)) << (*commands)->status();
    machine_.Run(**commands);
    EXPECT_TRUE(counters.Read(query).ok()) << counters.Read(query).status();
    ++query;
  }
}

TEST_P(PerfQueriesTest, WhatThereIsNotIsRefused) {
  const PerfQueries counters = NewCounters({.count = 2, .passes = 3});
  auto commands = New();
  EXPECT_FALSE(commands->queries().Begin(counters, 2));
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(commands->status().message()), HasSubstr("there are 2"));
  commands = New();
  EXPECT_FALSE(commands->queries().End(counters, 0, 3));
  EXPECT_THAT(std::string(commands->status().message()), HasSubstr("pass 3"));
  commands = New();
  EXPECT_FALSE(commands->queries().Reset(counters, 1, 2));
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(counters.Read(0, 3).status().code(), absl::StatusCode::kOutOfRange);
  auto copies = New({.engine = Engine::kCopy});
  EXPECT_FALSE(copies->queries().Begin(counters, 0));
  EXPECT_EQ(copies->status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(machine_.context->NewPerfQueries({.passes = 0}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace packsmith::intel
