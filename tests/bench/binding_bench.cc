// A binding table per draw, beside copying the same table; surface states and samplers, beside
// copying as many bytes.
//
// A draw binds one table, and takes what the binder has to say about it. Tables that are all
// different fill blocks, so that the time has its share of moves: new blocks, and the packets that
// go with them.
//
//   Copy      the table's bytes, to the next place of a block: the limit
//   Bind      a table that was never bound before
//   Share     one of 64 tables that are there already
//   Same      the table that the stage has
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/command/chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/gfx125.h"
#include "runtime/intel/batch/gfx9.h"
#include "runtime/intel/binding/binder.h"
#include "runtime/intel/binding/samplers.h"
#include "runtime/intel/binding/surface_states.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/host_device.h"
#include "runtime/memory/zones.h"

namespace packsmith::gpu {

using namespace intel;  // NOLINT: what is measured, on buffers of this namespace

namespace {

template <class T>
T Must(absl::StatusOr<T> result) {
  if (!result.ok()) std::abort();
  return *std::move(result);
}

// Tables of N surfaces.
class Tables {
 public:
  Tables(size_t tables, size_t count) : tables_(tables), count_(count), surfaces_(tables * count) {
    std::mt19937 random(1);
    for (uint32_t& surface : surfaces_) surface = 64 * (1 + random() % (1 << 20));
  }
  absl::Span<const uint32_t> operator[](size_t i) const {
    return absl::MakeConstSpan(&surfaces_[i % tables_ * count_], count_);
  }
  // One that there never was; it takes the place of one of the others.
  absl::Span<const uint32_t> New(size_t i) {
    uint32_t* const table = &surfaces_[i % tables_ * count_];
    table[0] = 64 * static_cast<uint32_t>(i % (1 << 25));
    return absl::MakeConstSpan(table, count_);
  }

 private:
  const size_t tables_, count_;
  std::vector<uint32_t> surfaces_;
};
constexpr size_t kTables = 64;

template <class Gen>
struct World {
  World() {
    device = Must(HostDevice::Create({.device = {.family = "intel", .generation = Gen::kName}}));
    const auto zones = Must(LayOutZones(intel::IrisZones(), {.verx10 = Gen::kVersion}));
    space = Must(AddressSpace::Create(zones));
    buffers = Buffers::Create(*device, *space, {});
    typename Binder<Gen>::Options options;
    options.zone = Must(space->FindZone("binder"));
    const Zone& surface = space->zone(Must(space->FindZone("surface")));
    options.surface_base = surface.begin;
    options.surface_bytes = surface.size();
    options.bases = {.general_state_mocs = 4,
                     .stateless_data_port_access_mocs = 4,
                     .surface_state_mocs = 4,
                     .dynamic_state_mocs = 4,
                     .indirect_object_mocs = 4,
                     .instruction_mocs = 4,
                     .bindless_surface_state_mocs = 4};
    if constexpr (requires { options.bases.bindless_sampler_state_mocs; }) {
      options.bases.bindless_sampler_state_mocs = 4;
    }
    options.mocs = 4;
    options.scratch = {0x1000, 1};
    binder = Must(Binder<Gen>::Create(*buffers, options));
    Restart();
  }
  void Restart() {
    chunks = std::make_unique<HostChunks>();
    batch = std::make_unique<Batch<Gen>>(*chunks);
    if (!binder->Begin(*batch).ok() || !binder->ReleaseOld().ok()) std::abort();
  }

  std::unique_ptr<HostDevice> device;
  std::unique_ptr<AddressSpace> space;
  std::unique_ptr<Buffers> buffers;
  std::unique_ptr<Binder<Gen>> binder;
  std::unique_ptr<HostChunks> chunks;
  std::unique_ptr<Batch<Gen>> batch;
};

void Copy(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  Tables tables(kTables, count);
  std::vector<uint32_t> block((64 << 10) / 4);
  size_t i = 0, at = 0;
  for (auto _ : state) {
    const auto table = tables.New(i++);
    if (at + table.size() > block.size()) at = 0;
    std::memcpy(&block[at], table.data(), table.size() * 4);
    at += (table.size() + 7) & ~size_t{7};
    benchmark::ClobberMemory();
  }
}

template <class Gen>
void Bind(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  Tables tables(kTables, count);
  World<Gen> world;
  size_t i = 0;
  for (auto _ : state) {
    if (!world.binder->Bind(*world.batch, BindingStage::kPixel, tables.New(i)).ok()) std::abort();
    benchmark::DoNotOptimize(world.binder->TakeEvents());
    if (++i % (1 << 16) == 0) world.Restart();
  }
  const BinderStatistics& s = world.binder->statistics();
  if (s.written < i) std::abort();
  state.counters["moves"] =
      benchmark::Counter(static_cast<double>(s.moves), benchmark::Counter::kAvgIterations);
}

template <class Gen>
void Share(benchmark::State& state) {
  const Tables tables(kTables, static_cast<size_t>(state.range(0)));
  World<Gen> world;
  size_t i = 0;
  for (auto _ : state) {
    if (!world.binder->Bind(*world.batch, BindingStage::kPixel, tables[i++]).ok()) std::abort();
    benchmark::DoNotOptimize(world.binder->TakeEvents());
  }
  if (world.binder->statistics().written != std::min(i, kTables)) std::abort();
}

template <class Gen>
void Same(benchmark::State& state) {
  const Tables tables(1, static_cast<size_t>(state.range(0)));
  World<Gen> world;
  for (auto _ : state) {
    if (!world.binder->Bind(*world.batch, BindingStage::kPixel, tables[0]).ok()) std::abort();
    benchmark::DoNotOptimize(world.binder->TakeEvents());
  }
}

#define TABLE_SIZES ->Arg(4)->Arg(16)->Arg(64)
BENCHMARK(Copy) TABLE_SIZES;
BENCHMARK_TEMPLATE(Bind, Gfx9) TABLE_SIZES;
BENCHMARK_TEMPLATE(Bind, Gfx125) TABLE_SIZES;
BENCHMARK_TEMPLATE(Share, Gfx9) TABLE_SIZES;
BENCHMARK_TEMPLATE(Same, Gfx9) TABLE_SIZES;

// -- States -------------------------------------------------------------------------------------

constexpr size_t kStates = 1024;

template <size_t Bytes>
void CopyState(benchmark::State& state) {
  std::vector<uint8_t> from(kStates * Bytes, 1), to(kStates * Bytes);
  size_t i = 0;
  for (auto _ : state) {
    std::memcpy(&to[i * Bytes], &from[i * Bytes], Bytes);
    i = (i + 1) % kStates;
    benchmark::ClobberMemory();
  }
}

template <class Gen>
void WriteBuffer(benchmark::State& state) {
  std::vector<uint32_t> to(kStates * SurfaceState<Gen>::length);
  size_t i = 0;
  StateUses uses;
  for (auto _ : state) {
    BufferSurface surface{.memory = {0x10000 + i * 64, 7}, .size = 256 + i, .mocs = 4};
    benchmark::DoNotOptimize(surface);
    if (!WriteSurface<Gen>(surface, &to[i * SurfaceState<Gen>::length], &uses).ok()) std::abort();
    i = (i + 1) % kStates;
    benchmark::ClobberMemory();
  }
}

template <class Gen>
void WriteImage(benchmark::State& state) {
  std::vector<uint32_t> to(kStates * SurfaceState<Gen>::length);
  size_t i = 0;
  StateUses uses;
  ImageSurface surface;
  surface.format = 0x0c7;
  surface.mocs = 4;
  surface.width = surface.height = 512;
  surface.pitch = 2048;
  surface.tiling = Gen::kVersion >= 125 ? SurfaceTiling::k4 : SurfaceTiling::kY;
  surface.horizontal_alignment = 16;
  for (auto _ : state) {
    surface.memory = {0x10000 + i * 64, 7};
    benchmark::DoNotOptimize(surface);
    if (!WriteSurface<Gen>(surface, &to[i * SurfaceState<Gen>::length], &uses).ok()) std::abort();
    i = (i + 1) % kStates;
    benchmark::ClobberMemory();
  }
}

template <class Gen>
void WriteOneSampler(benchmark::State& state) {
  std::vector<uint32_t> to(kStates * SamplerState<Gen>::length);
  size_t i = 0;
  Sampler sampler{.min_filter = Filter::kLinear, .mag_filter = Filter::kLinear};
  for (auto _ : state) {
    sampler.anisotropy = 1 + i % 16;
    benchmark::DoNotOptimize(sampler);
    if (!WriteSampler<Gen>(sampler, 64, &to[i * SamplerState<Gen>::length]).ok()) std::abort();
    i = (i + 1) % kStates;
    benchmark::ClobberMemory();
  }
}

BENCHMARK_TEMPLATE(CopyState, 64);
BENCHMARK_TEMPLATE(WriteBuffer, Gfx9);
BENCHMARK_TEMPLATE(WriteBuffer, Gfx125);
BENCHMARK_TEMPLATE(WriteImage, Gfx9);
BENCHMARK_TEMPLATE(WriteImage, Gfx125);
BENCHMARK_TEMPLATE(CopyState, 16);
BENCHMARK_TEMPLATE(WriteOneSampler, Gfx9);

}  // namespace
}  // namespace packsmith::gpu
