// Random programs, executed by the streamer and by an interpreter that shares nothing with it: it
// knows the packets of Gfx9 by their bits.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "tests/sim/naive.h"
#include "tests/sim/random_program.h"
#include "tests/sim/world.h"

namespace packsmith::sim {
namespace {

Program RandomProgram(uint64_t seed, bool tame) {
  std::mt19937_64 random(seed);
  ProgramMaker maker([&](uint64_t below) { return below == 0 ? random() : random() % below; },
                     tame);
  return maker.Make(3 + random() % 20);
}

template <class Place>
void PutProgram(const Program& program, const Place& place) {
  place(kProgramBatch, program.batch);
  place(kProgramCalled, program.called);
  place(kProgramData, program.data);
}

Naive NaiveWith(const Program& program) {
  Naive naive;
  PutProgram(program, [&](uint32_t at, const std::vector<uint32_t>& words) {
    for (size_t i = 0; i < words.size(); ++i) naive.memory[at + 4 * i] = words[i];
  });
  return naive;
}

// What differs first; empty: nothing.
std::string Difference(World& world, Naive& naive) {
  for (const auto& [address, value] : naive.memory) {
    if (world.Read32(address) != value) return absl::StrFormat("the dword at 0x%x", address);
  }
  for (const auto& [offset, value] : naive.registers) {
    if (world.streamer().registers().Read(offset) != value) {
      return absl::StrFormat("register 0x%x", offset);
    }
  }
  for (const auto& [offset, value] : world.streamer().registers().written()) {
    if (naive.registers[offset] != value) return absl::StrFormat("register 0x%x", offset);
  }
  return "";
}

TEST(RandomPrograms, LeaveTheSameMemoryAndRegistersAsTheNaiveInterpreter) {
  constexpr uint64_t kPrograms = 10000;
  uint64_t stores = 0;
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    const Program program = RandomProgram(seed, true);
    Naive naive = NaiveWith(program);
    ASSERT_EQ(naive.Run(kProgramBatch, 10000), NaiveStop::kEnded) << seed;

    World world("gfx9");
    PutProgram(program,
               [&](uint32_t at, const std::vector<uint32_t>& words) { world.Put(at, words); });
    ASSERT_EQ(world.Run(kProgramBatch), Stop::kEnded) << seed;
    ASSERT_EQ(Difference(world, naive), "") << seed;
    ASSERT_EQ(world.streamer().commands(), naive.commands) << seed;
    ASSERT_TRUE(world.problems().empty()) << seed << " " << world.problems()[0].text;
    for (uint32_t i = 0; i < kProgramDataDwords; ++i) {
      stores += naive.memory[kProgramData + 4 * i] != program.data[i] ? 1 : 0;
    }
  }
  EXPECT_GT(stores, 10000u);
}

TEST(RandomPrograms, ThatLoopAndWriteThemselvesAreExecutedAsTheNaiveInterpreterDoes) {
  constexpr uint64_t kPrograms = 2000, kCommands = 200;
  uint64_t ended = 0, endless = 0, stale = 0;
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    const Program program = RandomProgram(seed, false);
    Naive naive = NaiveWith(program);
    const NaiveStop stop = naive.Run(kProgramBatch, kCommands);
    ended += stop == NaiveStop::kEnded ? 1 : 0;
    endless += stop == NaiveStop::kBudget ? 1 : 0;
    for (const bool prefetch : {false, true}) {
      StreamerOptions options;
      options.prefetch = prefetch;
      World world("gfx9", options);
      PutProgram(program,
                 [&](uint32_t at, const std::vector<uint32_t>& words) { world.Put(at, words); });
      const Stop expected = stop == NaiveStop::kEnded ? Stop::kEnded : Stop::kBudget;
      const Stop stopped = world.Run(kProgramBatch, naive.commands);
      // What was fetched before it was written is executed as it was, and that is reported.
      if (prefetch && !world.problems().empty()) {
        ++stale;
        ASSERT_EQ(world.problems()[0].kind, ProblemKind::kStale) << seed;
        continue;
      }
      ASSERT_EQ(stopped, expected) << seed;
      ASSERT_EQ(Difference(world, naive), "") << seed;
      ASSERT_TRUE(world.problems().empty()) << seed << " " << world.problems()[0].text;
    }
  }
  EXPECT_GT(ended, 50u);
  EXPECT_GT(endless, 50u);
  EXPECT_GT(stale, 50u);
}

}  // namespace
}  // namespace packsmith::sim
