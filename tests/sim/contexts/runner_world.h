// Contexts on the command streamer, for tests.
#ifndef PACKSMITH_TESTS_SIM_CONTEXTS_RUNNER_WORLD_H_
#define PACKSMITH_TESTS_SIM_CONTEXTS_RUNNER_WORLD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/contexts/context_image.h"
#include "runtime/sim/contexts/execlists.h"
#include "runtime/sim/contexts/streamer_runner.h"
#include "tests/sim/contexts/fake_memory.h"

namespace packsmith::sim {

inline constexpr uint32_t kEnd = 0x05000000;
inline constexpr uint32_t kArbitrationCheck = 0x02800000;
inline constexpr uint32_t kArbitrationOff = 0x04000000;

struct RunnerWorld : Observer {
  FakeMemory memory;
  tables::Tables tables;
  std::unique_ptr<StreamerRunner> runner;
  std::unique_ptr<Execlists> lists;
  std::vector<std::string> problems;

  explicit RunnerWorld(const std::string& generation) : tables(*FindGeneration(generation)) {
    StreamerRunner::Options options;
    options.streamer.engine = tables.FindEngine("render");
    options.streamer.stream = tables.FindStream("batch");
    // The space of context i is 10 + i.
    options.space_of = [](uint64_t image) { return static_cast<uint32_t>(10 + image / 0x100000); };
    runner = std::make_unique<StreamerRunner>(tables, memory, *this, options);
    absl::StatusOr<Execlists> made = Execlists::Make(tables, memory, *runner, {});
    EXPECT_TRUE(made.ok()) << made.status();
    lists = std::make_unique<Execlists>(*std::move(made));
  }

  void OnProblem(const Problem& problem) override { problems.push_back(problem.text); }

  uint64_t ImageOf(uint64_t id) const { return id * 0x100000; }
  uint64_t RingOf(uint64_t id) const { return id * 0x100000 + 0x8000; }
  static constexpr uint64_t kBatch = 0x4000'0000;
  static constexpr uint64_t kResult = 0x5000'0000;

  void PutDwords(uint32_t space, uint64_t at, const std::vector<uint32_t>& dwords) {
    memory.Map(space, at, dwords.size() * 4);
    for (const uint32_t dword : dwords) {
      memory.Put(space, at, dword, 4);
      at += 4;
    }
  }

  // A context whose ring starts a batch, which adds `step` to GPR 0 `count` times, with a point of
  // preemption between, and stores the sum.
  // `between`: what is there instead; `registers`: further ones of the image.
  void Add(uint64_t id, uint32_t step, int count, bool arbitration = true,
           std::optional<uint32_t> between = std::nullopt,
           const std::vector<std::pair<absl::string_view, uint32_t>>& registers = {}) {
    memory.Map(1, ImageOf(id), 0x2000);
    memory.Map(1, RingOf(id), 0x1000);
    const uint32_t space = static_cast<uint32_t>(10 + id);
    memory.Map(space, kResult, 0x1000);
    std::vector<uint32_t> batch = {// MI_LOAD_REGISTER_IMM of GPR 0 and GPR 1.
                                   0x11000007, 0x2600, 0, 0x2604, 0, 0x2608, step, 0x260c, 0};
    for (int i = 0; i < count; ++i) {
      batch.push_back(between.value_or(kArbitrationCheck));
      // MI_MATH: SRCA = R0, SRCB = R1, ADD, R0 = ACCU.
      batch.insert(batch.end(), {0x0d000003, 0x08008000, 0x08008401, 0x10000000, 0x18000031});
    }
    // MI_STORE_REGISTER_MEM of GPR 0.
    batch.insert(batch.end(), {0x12000002, 0x2600, static_cast<uint32_t>(kResult), 0, kEnd});
    PutDwords(space, kBatch, batch);
    // MI_BATCH_BUFFER_START in the context's own space.
    const auto at = static_cast<uint32_t>(kBatch);
    PutDwords(1, RingOf(id),
              arbitration ? std::vector<uint32_t>{0x18800101, at, 0, 0}
                          : std::vector<uint32_t>{kArbitrationOff, 0x18800101, at, 0});
    ContextDescription description;
    description.ring_address = RingOf(id);
    description.ring_bytes = 4096;
    description.ring_tail = 16;
    description.registers = registers;
    const absl::StatusOr<std::vector<uint8_t>> image = MakeContextImage(tables, description);
    ASSERT_TRUE(image.ok()) << image.status();
    ASSERT_EQ(memory.Write(1, ImageOf(id), *image), image->size());
  }

  absl::Status Submit(uint64_t id) { return lists->Submit({id << 32 | ImageOf(id) | 0x119}); }
  uint32_t HeadOf(uint64_t id) const { return memory.Dword(1, ImageOf(id) + 4096 + 5 * 4); }
  uint32_t ResultOf(uint64_t id) const {
    return memory.Dword(static_cast<uint32_t>(10 + id), kResult);
  }
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_TESTS_SIM_CONTEXTS_RUNNER_WORLD_H_
