// Submissions of a mock kernel that are executed, beside a memcpy.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/capture/execute/sim_executor.h"
#include "runtime/capture/execute/work_dump.h"
#include "tests/capture/execute/works.h"

namespace packsmith::bench {
namespace {

using capture::Placed;
using capture::Works;

constexpr uint64_t kBatch = 0x100000, kTo = 0x10000000, kFrom = 0x20000000;

void Execute(benchmark::State& state, const capture::Work& work) {
  capture::SimExecutor executor;
  std::string why;
  for (auto _ : state) {
    if (executor.Execute(work, why) != capture::Outcome::kDone) {
      state.SkipWithError(why.c_str());
      break;
    }
  }
}

void Copy(benchmark::State& state) {
  const auto size = static_cast<size_t>(state.range(0));
  const std::vector<uint8_t> from(size, 1);
  std::vector<uint8_t> to(size);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), size);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(size) * state.iterations());
}
BENCHMARK(Copy)->Arg(4096)->Arg(1 << 20);

// A batch of one command, which ends it, in a context with many buffers.
void Empty(benchmark::State& state) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  for (uint64_t i = 0; i < 1000; ++i) works.Place(kTo + i * 8192);
  Execute(state, works.Batch(batch, {}));
}
BENCHMARK(Empty);

// 1,000 commands that store a dword each.
void Stores(benchmark::State& state) {
  Works works("skl");
  const Placed batch = works.Place(kBatch, 65536);
  works.Place(kTo);
  std::vector<std::vector<uint32_t>> packets;
  for (uint32_t i = 0; i < 1000; ++i) packets.push_back(works.Store(kTo + i * 4, i));
  Execute(state, works.Batch(batch, packets));
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(Stores);

// The copy engine, row by row without gaps.
void CopyEngine(benchmark::State& state) {
  const auto size = static_cast<uint64_t>(state.range(0));
  constexpr uint32_t kPitch = 16384;
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  works.Place(kTo, size);
  works.Place(kFrom, size);
  const std::vector<uint32_t> packet = sim::Packet(works.tables(), "XY_SRC_COPY_BLT",
                                                   {{"Color Depth", 3},
                                                    {"32bpp Byte Mask", 3},
                                                    {"Raster Operation", 0xcc},
                                                    {"Destination Pitch", kPitch},
                                                    {"Destination X2 Coordinate", kPitch / 4},
                                                    {"Destination Y2 Coordinate", size / kPitch},
                                                    {"Destination Base Address", kTo},
                                                    {"Source Pitch", kPitch},
                                                    {"Source Base Address", kFrom}});
  Execute(state, works.Batch(batch, {packet}, "copy"));
  state.SetBytesProcessed(static_cast<int64_t>(size) * state.iterations());
}
BENCHMARK(CopyEngine)->Arg(1 << 20);

// What records, decoding and reports take, of a context with many buffers.
void MakeDump(benchmark::State& state) {
  Works works("skl");
  const Placed batch = works.Place(kBatch);
  for (uint64_t i = 0; i < 1000; ++i) works.Place(kTo + i * 8192);
  const capture::Work work = works.Batch(batch, {});
  for (auto _ : state)
    benchmark::DoNotOptimize(capture::DumpOf(work).dump.memory.segments().size());
}
BENCHMARK(MakeDump);

}  // namespace
}  // namespace packsmith::bench
