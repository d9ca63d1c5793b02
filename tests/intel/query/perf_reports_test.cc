#include "runtime/intel/query/perf_reports.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/command/chunks.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/streamer.h"
#include "tests/intel/batch/streamer.h"
#include "tests/intel/batch/tested.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

constexpr uint64_t kAt = 0x60000;

template <class Gen>
class PerfReportsTest : public testing::Test {
 protected:
  using Report = PerfReport<Gen>;

  static std::vector<uint32_t> Packed(const Report& report) {
    std::vector<uint32_t> dwords(Report::length);
    EXPECT_FALSE(report.pack(dwords.data()));
    return dwords;
  }
};
TYPED_TEST_SUITE(PerfReportsTest, Generations);

TYPED_TEST(PerfReportsTest, ReportsAreTakenByTheStreamer) {
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  EXPECT_TRUE(ResetPerfQuery(batch, address(kAt, 3)));
  EXPECT_TRUE(BeginPerfQuery(batch, address(kAt, 3), 0x1234));
  EXPECT_TRUE(EndPerfQuery(batch, address(kAt, 3), 0x1234));
  ASSERT_TRUE(batch.End().ok());
  Dwords memory;
  const size_t dwords = PerfQueryBytes<TypeParam>() / 4;
  for (size_t i = 0; i < dwords; ++i) memory[kAt + 4 * i] = 0xdddddddd;
  for (const gpu::Chunk& chunk : chunks.chunks()) {
    for (size_t i = 0; i < chunk.words.size(); ++i) memory[chunk.gpu + 4 * i] = chunk.words[i];
  }
  // The simulator has no counters, and says so; the reports' other fields are real.
  const tables::Tables tables = *FindGeneration(TypeParam::kName);
  sim::Observer observer;
  sim::Streamer streamer(tables, memory, {.prefetch = false}, observer);
  streamer.EnterBatch(0, batch.parts()[0].chunk.gpu);
  ASSERT_EQ(streamer.Run(1000), sim::Stop::kEnded);
  std::vector<uint32_t> read(dwords);
  for (size_t i = 0; i < dwords; ++i) read[i] = memory.at(kAt + 4 * i);
  const auto delta = ReadPerfQuery<TypeParam>(reinterpret_cast<uint8_t*>(read.data()), 0x1234);
  ASSERT_TRUE(delta.ok()) << delta.status();
  EXPECT_GT(delta->ticks, 0u);
  EXPECT_EQ(delta->a[0], 0u);
}

TYPED_TEST(PerfReportsTest, CountersGrowModuloTheirBits) {
  using Report = typename TypeParam::Packets::OA_REPORT;
  std::mt19937_64 random(1);
  Report from{.report_id = 14, .context_id = 5}, to{.report_id = 15, .context_id = 5};
  from.timestamp = static_cast<decltype(from.timestamp)>(-10);
  to.timestamp = 20;
  from.gpu_clock = 7;
  to.gpu_clock = 9;
  PerfDelta expected = {.ticks = 30, .clocks = 2};
  if constexpr (requires { from.counter; }) {
    for (unsigned i = 0; i < 64; ++i) {
      from.counter[i] = random();
      expected.a[i] = random();
      to.counter[i] = from.counter[i] + expected.a[i];
    }
  } else {
    for (unsigned i = 0; i < 32; ++i) {
      const uint64_t kMask = (uint64_t{1} << 40) - 1;
      const uint64_t first = random() & kMask;
      expected.a[i] = random() & kMask;
      const uint64_t last = (first + expected.a[i]) & kMask;
      from.a[i] = static_cast<uint32_t>(first);
      from.a_high[i] = static_cast<uint32_t>(first >> 32);
      to.a[i] = static_cast<uint32_t>(last);
      to.a_high[i] = static_cast<uint32_t>(last >> 32);
    }
    for (unsigned i = 0; i < 4; ++i) {
      from.a32_up[i] = static_cast<uint32_t>(random());
      expected.a[32 + i] = static_cast<uint32_t>(random());
      to.a32_up[i] = static_cast<uint32_t>(from.a32_up[i] + expected.a[32 + i]);
    }
    for (unsigned i = 0; i < 8; ++i) {
      from.b[i] = static_cast<uint32_t>(random());
      from.c[i] = static_cast<uint32_t>(random());
      expected.b[i] = static_cast<uint32_t>(random());
      expected.c[i] = static_cast<uint32_t>(random());
      to.b[i] = from.b[i] + expected.b[i];
      to.c[i] = from.c[i] + expected.c[i];
    }
  }
  std::vector<uint8_t> memory(PerfQueryBytes<TypeParam>());
  const auto begin = this->Packed(from), end = this->Packed(to);
  std::memcpy(memory.data() + 64, begin.data(), begin.size() * 4);
  std::memcpy(memory.data() + 64 + begin.size() * 4, end.data(), end.size() * 4);
  EXPECT_EQ(ReadPerfQuery<TypeParam>(memory.data(), 7).status().code(),
            absl::StatusCode::kUnavailable);
  memory[0] = 1;
  const auto delta = ReadPerfQuery<TypeParam>(memory.data(), 7);
  ASSERT_TRUE(delta.ok()) << delta.status();
  EXPECT_EQ(delta->ticks, expected.ticks);
  EXPECT_EQ(delta->clocks, expected.clocks);
  EXPECT_EQ(delta->a, expected.a);
  EXPECT_EQ(delta->b, expected.b);
  EXPECT_EQ(delta->c, expected.c);
  EXPECT_THAT(ReadPerfQuery<TypeParam>(memory.data(), 8).status().message(),
              HasSubstr("are not those of query 0x8"));
}

TYPED_TEST(PerfReportsTest, ReportsOfOtherContextsAreNotCompared) {
  using Report = typename TypeParam::Packets::OA_REPORT;
  const auto begin = this->Packed(Report{.report_id = 2, .context_id = 5});
  const auto end = this->Packed(Report{.report_id = 3, .context_id = 6});
  const auto delta = DeltaOf<TypeParam>(begin.data(), end.data(), 1);
  EXPECT_EQ(delta.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(delta.status().message(), HasSubstr("began in context 0x5 and ended in 0x6"));
}

TYPED_TEST(PerfReportsTest, WhatDoesNotFitIsRefused) {
  const auto refusal = [](const address& at, uint32_t id, const QueryEngine& engine) {
    gpu::HostChunks chunks;
    Batch<TypeParam> batch(chunks);
    EXPECT_FALSE(BeginPerfQuery(batch, at, id, engine));
    return std::string(batch.End().message());
  };
  EXPECT_THAT(refusal(address(kAt + 8, 3), 1, {}), HasSubstr("multiple of 64"));
  EXPECT_THAT(refusal(address(kAt, 3), 0x80000000, {}), HasSubstr("below 2^31"));
  EXPECT_THAT(refusal(address(kAt, 3), 1, {.kind = EngineKind::kCopy}),
              HasSubstr("does not report"));
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  EXPECT_EQ(BeginPerfQuery(batch, address(kAt, 3), 1, {.kind = EngineKind::kCompute}),
            TypeParam::kFacts.compute_engines_report);
}

}  // namespace
}  // namespace packsmith::intel
