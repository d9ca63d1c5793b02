// What the kernel of generated draws costs as a function: a full ring of draws, beside copying as
// many bytes as it writes.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/intel/generated_draws/generator.h"

namespace packsmith::bench {
namespace {

constexpr uint32_t kDraws = 8192;

uint64_t AddressOf(const void* place) { return reinterpret_cast<uintptr_t>(place); }

// Numbers of draws, and room for commands.
struct Ring {
  explicit Ring(uint32_t slot_dwords)
      : numbers(size_t{kDraws} * 5), ids(kDraws), commands(size_t{kDraws} * slot_dwords + 3) {
    for (uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = 7 * i + 1;
  }
  packsmith_generate_draws Parameters(uint32_t flags) const {
    packsmith_generate_draws parameters = {};
    parameters.indirect = AddressOf(numbers.data());
    parameters.commands = AddressOf(commands.data());
    parameters.draw_ids = AddressOf(ids.data());
    parameters.stride = 20;
    parameters.flags = flags | PACKSMITH_GENERATE_INDEXED | PACKSMITH_GENERATE_RING;
    parameters.max_draws = kDraws;
    parameters.items = kDraws;
    parameters.instance_multiplier = 1;
    parameters.mocs = 4;
    return parameters;
  }

  std::vector<uint32_t> numbers, ids, commands;
};

void Copy(benchmark::State& state) {
  const std::vector<uint32_t> from(kDraws * state.range(0), 1);
  std::vector<uint32_t> to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), 4 * from.size());
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kDraws);
}
BENCHMARK(Copy)->Name("Copy")->Arg(7)->Arg(10)->Arg(16);

void Generate(benchmark::State& state, const char* generation, uint32_t flags) {
  const packsmith_draw_generator* generator = packsmith_find_draw_generator(generation);
  if (generator == nullptr) std::abort();
  const Ring ring(generator->slot_dwords(flags));
  const packsmith_generate_draws parameters = ring.Parameters(flags);
  for (auto _ : state) {
    for (uint32_t item = 0; item < kDraws; ++item) generator->generate(&parameters, item);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kDraws);
}
constexpr uint32_t kBuffers = PACKSMITH_GENERATE_BASE | PACKSMITH_GENERATE_DRAW_ID;
BENCHMARK_CAPTURE(Generate, gfx9, "gfx9", 0)->Name("Generate<Gfx9>/7");
BENCHMARK_CAPTURE(Generate, gfx9_buffers, "gfx9", kBuffers)->Name("Generate<Gfx9>/16");
BENCHMARK_CAPTURE(Generate, gfx125, "gfx125", 0)->Name("Generate<Gfx125>/10");

}  // namespace
}  // namespace packsmith::bench
