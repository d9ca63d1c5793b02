// What it costs to dispatch, with nothing changed and with other constants and tables, beside
// copying the same dwords; and to find a pipeline or a kernel that is there, beside copying it.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/command/chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/compute/compute_state.h"
#include "runtime/intel/compute/gfx125.h"
#include "runtime/intel/compute/gfx9.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/intel/shader/kernels.h"
#include "runtime/intel/shader/pipeline_cache.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/host_device.h"
#include "runtime/memory/state_pool.h"
#include "runtime/memory/state_stream.h"

namespace packsmith::bench {
namespace {

using intel::Batch;
using intel::CacheKey;
using intel::ComputeKernel;
using intel::ComputeState;
using intel::Gfx125;
using intel::Gfx9;

constexpr size_t kChunkDwords = 16 * 1024;
constexpr int kDispatches = 64;  // between two resets of the batch
constexpr size_t kPipelineBytes = 1024;

template <class T>
T Must(absl::StatusOr<T> result) {
  if (!result.ok()) std::abort();
  return *std::move(result);
}

// Two chunks, time and again.
class TwoChunks : public gpu::ChunkSource {
 public:
  absl::StatusOr<gpu::Chunk> NewChunk(size_t dwords) override {
    if (dwords > kChunkDwords) return absl::ResourceExhaustedError("larger than the chunks");
    std::vector<uint32_t>& words = words_[next_++ % 2];
    return gpu::Chunk{0x100000, absl::MakeSpan(words), 1000 + next_ % 2};
  }

 private:
  std::vector<uint32_t> words_[2] = {std::vector<uint32_t>(kChunkDwords),
                                     std::vector<uint32_t>(kChunkDwords)};
  uint32_t next_ = 0;
};

struct DeviceMemory {
  DeviceMemory()
      : device(Must(gpu::HostDevice::Create(gpu::HostDevice::Options()))),
        space(Must(
            gpu::AddressSpace::Create(Must(gpu::LayOutZones(intel::IrisZones(), {.verx10 = 90}))))),
        buffers(gpu::Buffers::Create(*device, *space, {})),
        pool(Must(
            gpu::StatePool::Create(*buffers, *space, {.zone = Must(space->FindZone("dynamic"))}))),
        states(*pool, 1 << 20) {}

  std::unique_ptr<gpu::HostDevice> device;
  std::unique_ptr<gpu::AddressSpace> space;
  std::unique_ptr<gpu::Buffers> buffers;
  std::unique_ptr<gpu::StatePool> pool;
  gpu::StateStream states;
};

// Calls `change` and dispatches, again and again.
template <class Gen, class F>
void Measure(benchmark::State& bench, const char* device, F change) {
  DeviceMemory memory;
  ComputeState<Gen> compute({.device = Must(intel::FindRenderDevice(device)), .subslices = 3},
                            memory.states);
  ComputeKernel kernel;
  kernel.simd16() = {.present = true, .offset = 0x1000, .buffer = 7};
  kernel.local_size = {8, 8, 1};
  kernel.constant_bytes = 64;
  kernel.thread_data = intel::ThreadData::kNumber;
  if (!compute.Bind(kernel)) std::abort();
  TwoChunks chunks;
  Batch<Gen> batch(chunks);
  int dispatches = 0;
  size_t dwords = 0;
  uint32_t i = 0;
  for (auto _ : bench) {
    change(compute, ++i);
    if (!compute.Dispatch(batch, {.x = 1 + i % 64})) std::abort();
    if (++dispatches == kDispatches) {
      dispatches = 0;
      dwords = batch.dwords() / kDispatches;
      if (!batch.End().ok()) std::abort();
      benchmark::ClobberMemory();
      batch.Reset();
      if (!memory.states.Rewind().ok()) std::abort();
      compute.Forget();
    }
  }
  bench.counters["dwords"] = static_cast<double>(dwords);
}

template <class Gen>
constexpr const char* kDevice = "skl gt2";
template <>
constexpr const char* kDevice<Gfx125> = "dg2";

template <class Gen>
void DispatchAgain(benchmark::State& bench) {
  Measure<Gen>(bench, kDevice<Gen>, [](ComputeState<Gen>&, uint32_t) {});
}
BENCHMARK(DispatchAgain<Gfx9>);
BENCHMARK(DispatchAgain<Gfx125>);

template <class Gen>
void DispatchWithOtherConstantsAndTables(benchmark::State& bench) {
  uint32_t constants[16] = {};
  Measure<Gen>(bench, kDevice<Gen>, [&](ComputeState<Gen>& compute, uint32_t i) {
    constants[3] = i;
    compute.SetConstants({reinterpret_cast<const uint8_t*>(constants), sizeof(constants)});
    compute.SetTables({.bindings = 32 * (i % 2048)});
  });
}
BENCHMARK(DispatchWithOtherConstantsAndTables<Gfx9>);
BENCHMARK(DispatchWithOtherConstantsAndTables<Gfx125>);

// As many dwords, copied at once.
void CopyDwords(benchmark::State& bench) {
  const auto dwords = static_cast<size_t>(bench.range(0));
  const std::vector<uint32_t> from(dwords);
  std::vector<uint32_t> to(kChunkDwords);
  size_t at = 0;
  int copies = 0;
  for (auto _ : bench) {
    std::memcpy(to.data() + at, from.data(), dwords * 4);
    at += dwords;
    if (++copies == kDispatches || at + dwords > to.size()) {
      benchmark::ClobberMemory();
      copies = 0;
      at = 0;
    }
  }
  bench.counters["dwords"] = static_cast<double>(dwords);
}
BENCHMARK(CopyDwords)->Arg(17)->Arg(39);

std::vector<uint8_t> Pipeline(uint32_t number) {
  std::vector<uint8_t> bytes(kPipelineBytes, static_cast<uint8_t>(number));
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}
CacheKey KeyOf(uint32_t number) { return {number * uint64_t{0x9e3779b97f4a7c15}, number}; }

// Of 1000 pipelines of 1 KiB.
void FindPipeline(benchmark::State& bench) {
  intel::PipelineCache cache({.identity = "bench"});
  for (uint32_t i = 0; i < 1000; ++i) cache.Add(KeyOf(i), Pipeline(i));
  uint32_t i = 0;
  for (auto _ : bench) {
    const auto found = cache.Find(KeyOf(i++ % 1000));
    if (!found) std::abort();
    benchmark::DoNotOptimize(found->data());
  }
}
BENCHMARK(FindPipeline);

void UploadKnownKernel(benchmark::State& bench) {
  DeviceMemory memory;
  intel::Kernels kernels(*memory.pool, {});
  std::vector<std::vector<uint8_t>> all;
  for (uint32_t i = 0; i < 64; ++i) {
    all.push_back(Pipeline(i));
    Must(kernels.Upload(all.back()));
  }
  uint32_t i = 0;
  for (auto _ : bench) {
    const intel::Kernel kernel = Must(kernels.Upload(all[i++ % 64]));
    benchmark::DoNotOptimize(kernel.offset);
  }
}
BENCHMARK(UploadKnownKernel);

void CopyPipeline(benchmark::State& bench) {
  std::vector<std::vector<uint8_t>> from;
  for (uint32_t i = 0; i < 64; ++i) from.push_back(Pipeline(i));
  std::vector<uint8_t> to(kPipelineBytes);
  uint32_t i = 0;
  for (auto _ : bench) {
    std::memcpy(to.data(), from[i++ % 64].data(), kPipelineBytes);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(CopyPipeline);

}  // namespace
}  // namespace packsmith::bench
