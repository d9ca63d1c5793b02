// Any bytes as choices of which a program is made (tests/sim/random_program.h), which the command
// streamer and the naive interpreter of tests/sim execute with the same result. The first byte
// says whether the program is tame.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/dump/memory.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/observer.h"
#include "runtime/sim/overlay_memory.h"
#include "runtime/sim/streamer.h"
#include "tests/sim/naive.h"
#include "tests/sim/random_program.h"

namespace packsmith::sim {
namespace {

constexpr uint64_t kMostCommands = 100, kMostExecuted = 100;

// A sanitizer or libFuzzer reports the trap together with the input.
void Demand(bool condition) {
  if (!condition) __builtin_trap();
}

// Numbers from bytes; zeros when there are no more.
class Choices {
 public:
  explicit Choices(absl::Span<const uint8_t> bytes) : bytes_(bytes) {}

  bool empty() const { return at_ >= bytes_.size(); }
  uint64_t Below(uint64_t below) {
    const size_t bytes = below == 0 ? 8 : below <= 256 ? 1 : 4;
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && !empty(); ++i) value |= uint64_t{bytes_[at_++]} << 8 * i;
    return below == 0 ? value : value % below;
  }

 private:
  const absl::Span<const uint8_t> bytes_;
  size_t at_ = 0;
};

struct Problems : Observer {
  void OnProblem(const Problem& problem) override {
    Demand(problem.kind == ProblemKind::kStale || problems.stale != 0);
    ++(problem.kind == ProblemKind::kStale ? problems.stale : problems.others);
  }
  struct {
    uint64_t stale = 0, others = 0;
  } problems;
};

void Compare(const Program& program, const Naive& naive, NaiveStop expected, bool prefetch) {
  static const tables::Tables& tables = *new tables::Tables(*FindGeneration("gfx9"));
  Memory base;
  const auto map = [&](uint64_t address, const std::vector<uint32_t>& words) {
    Demand(base.Map(0, address, {reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4},
                    words.size() * 4)
               .ok());
  };
  map(kProgramBatch, program.batch);
  map(kProgramCalled, program.called);
  map(kProgramData, program.data);
  OverlayMemory memory(base);
  Problems observer;
  StreamerOptions options;
  options.prefetch = prefetch;
  Streamer streamer(tables, memory, options, observer);
  streamer.EnterBatch(0, kProgramBatch);
  const Stop stop = streamer.Run(naive.commands);
  Demand(streamer.commands() <= naive.commands);
  // What was fetched before it was written is executed as it was, and that is reported.
  if (observer.problems.stale != 0) {
    Demand(prefetch);
    return;
  }
  Demand(stop == (expected == NaiveStop::kEnded ? Stop::kEnded : Stop::kBudget));
  Demand(streamer.commands() == naive.commands);
  for (const auto& [address, value] : naive.memory) {
    uint8_t bytes[4] = {};
    Demand(memory.Read(0, address, bytes) == sizeof(bytes));
    uint32_t read = 0;
    for (int i = 0; i < 4; ++i) read |= uint32_t{bytes[i]} << 8 * i;
    Demand(read == value);
  }
  for (const auto& [offset, value] : naive.registers) {
    Demand(streamer.registers().Read(offset) == value);
  }
  for (const auto& [offset, value] : streamer.registers().written()) {
    const auto found = naive.registers.find(offset);
    Demand((found == naive.registers.end() ? 0 : found->second) == value);
  }
}

}  // namespace
}  // namespace packsmith::sim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace packsmith::sim;
  if (size < 2) return 0;
  Choices choices({data + 1, size - 1});
  const bool tame = (data[0] & 1) == 0;
  ProgramMaker maker([&](uint64_t below) { return choices.Below(below); }, tame);
  const Program program = maker.Make(std::min<uint64_t>(data[0] >> 1, kMostCommands));
  Naive naive;
  const auto put = [&](uint32_t at, const std::vector<uint32_t>& words) {
    for (size_t i = 0; i < words.size(); ++i) naive.memory[at + 4 * i] = words[i];
  };
  put(kProgramBatch, program.batch);
  put(kProgramCalled, program.called);
  put(kProgramData, program.data);
  const NaiveStop stop = naive.Run(kProgramBatch, kMostExecuted);
  Demand(!tame || stop != NaiveStop::kUnknown);
  Compare(program, naive, stop, false);
  Compare(program, naive, stop, true);
  return 0;
}
