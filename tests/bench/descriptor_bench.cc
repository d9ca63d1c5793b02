// Writing descriptors, beside copying as many bytes from a view to where the records are.
//
//   Write     one descriptor, of 1024 in a set, to one after the other
//   Copy      a memcpy of the bytes that this puts into the set's memory: the limit
//   Table     16 entries of a binding table, of a set that is bound, beside their copy
//   Allocate  a set of 16 descriptors, and freeing it, among 1000 others
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/intel/binding/descriptor_placement.h"
#include "runtime/intel/binding/descriptor_pool.h"
#include "runtime/intel/binding/descriptor_set.h"
#include "runtime/intel/binding/descriptor_tables.h"
#include "tests/intel/binding/descriptor_world.h"

namespace packsmith::gpu {

using namespace intel;  // NOLINT: what is measured, on buffers of this namespace

namespace {

using Type = DescriptorType;
using Model = DescriptorModel;

constexpr uint32_t kElements = 1024, kViews = 64;

void Must(const absl::Status& status) {
  if (!status.ok()) std::abort();
}

// A set of one large binding, and what is written to it.
struct Bench {
  Bench(Model model, Type type) : world(model), type(type) {
    const DescriptorCount counts[] = {{type, kElements}};
    pool = world.MakePool(1, counts);
    set = Value(pool->Allocate(world.Layout({{.binding = 0, .type = type, .count = kElements}})));
    for (uint32_t i = 0; i < kViews; ++i) {
      images.push_back(world.NewImage());
      samplers.push_back(world.NewSampler());
    }
    buffer = world.NewBuffer(1 << 20);
  }
  Descriptor At(uint32_t i) const {
    Descriptor descriptor{.type = type};
    if (HasView(type)) descriptor.images = &images[i % kViews];
    if (HasSampler(type)) descriptor.samplers = &samplers[i % kViews];
    if (IsBuffer(type)) {
      descriptor.buffer = {.buffer = buffer, .offset = i % kViews * 256, .size = 256};
    }
    return descriptor;
  }

  DescriptorWorld world;
  Type type;
  std::unique_ptr<DescriptorPool> pool;
  DescriptorSet set;
  std::vector<DescriptorImage> images;
  std::vector<DescriptorSampler> samplers;
  Buffer buffer;
};

void Write(benchmark::State& state, Model model, Type type) {
  const Bench bench(model, type);
  uint32_t i = 0;
  for (auto _ : state) {
    Must(bench.set.Write(0, i % kElements, bench.At(i)));
    ++i;
  }
}

// As many bytes, to the same places, their number known to the compiler.
template <uint32_t kRecord, uint32_t kSampler, uint32_t kSurface>
void Copy(benchmark::State& state, Model model, Type type) {
  const Bench bench(model, type);
  const DescriptorSetMemory& memory = bench.set.storage()->memory();
  const auto& binding = *bench.set.storage()->layout()->Find(0);
  uint32_t i = 0;
  for (auto _ : state) {
    const DescriptorImage& image = bench.images[i % kViews];
    const uint32_t element = i % kElements;
    if constexpr (kRecord != 0) {
      std::memcpy(memory.records + binding.record_offset + element * binding.record_stride,
                  image.state.data(), kRecord);
    }
    if constexpr (kSampler != 0) {
      std::memcpy(memory.samplers + binding.sampler_offset + element * binding.sampler_stride,
                  bench.samplers[i % kViews].state.data(), kSampler);
    }
    if constexpr (kSurface != 0) {
      std::memcpy(memory.surfaces + binding.surface_offset + element * binding.surface_stride,
                  image.state.data(), kSurface);
    }
    benchmark::ClobberMemory();
    ++i;
  }
}

template <uint32_t kRecord, uint32_t kSampler, uint32_t kSurface>
bool Register(Model model, Type type) {
  const std::string name = std::string("/") + NameOf(model) + "/" + NameOf(type);
  benchmark::RegisterBenchmark(("Write" + name).c_str(), Write, model, type);
  benchmark::RegisterBenchmark(("Copy" + name).c_str(), Copy<kRecord, kSampler, kSurface>, model,
                               type);
  return true;
}

const bool registered = Register<8, 0, 0>(Model::kIndirect, Type::kSampledImage) &&
                        Register<16, 0, 64>(Model::kIndirect, Type::kUniformBuffer) &&
                        Register<64, 0, 0>(Model::kDirect, Type::kSampledImage) &&
                        Register<64, 16, 0>(Model::kDirect, Type::kCombinedImageSampler) &&
                        Register<64, 0, 0>(Model::kDirect, Type::kUniformBuffer);

void CopyBetweenSets(benchmark::State& state, Model model) {
  const Bench bench(model, Type::kSampledImage);
  for (uint32_t i = 0; i < kElements / 2; ++i) Must(bench.set.Write(0, i, bench.At(i)));
  uint32_t i = 0;
  for (auto _ : state) {
    const uint32_t from = i * 16 % (kElements / 2);
    Must(bench.set.CopyFrom(bench.set, 0, from, 0, from + kElements / 2, 16));
    ++i;
  }
  state.SetItemsProcessed(state.iterations() * 16);
}
BENCHMARK_CAPTURE(CopyBetweenSets, kIndirect, Model::kIndirect);
BENCHMARK_CAPTURE(CopyBetweenSets, kDirect, Model::kDirect);

void Table(benchmark::State& state) {
  DescriptorWorld world(Model::kDirect);
  const DescriptorCount counts[] = {{Type::kSampledImage, 16}};
  const auto pool = world.MakePool(1, counts);
  const auto layout = world.Layout({{.binding = 0, .type = Type::kSampledImage, .count = 16}});
  const DescriptorSet set = Value(pool->Allocate(layout));
  const DescriptorImage image = world.NewImage();
  for (uint32_t i = 0; i < 16; ++i) {
    Must(set.Write(0, i, {.type = Type::kSampledImage, .images = &image}));
  }
  const auto pipeline = Value(PipelineLayout::Create({layout}));
  const BindMap map = Value(PlaceDescriptors(pipeline, {{0, 0}}));
  BoundDescriptors bound;
  Must(bound.Bind(pipeline, 0, {set}));
  uint32_t entries[16];
  for (auto _ : state) {
    Must(FillSurfaceTable(map, bound, {}, absl::MakeSpan(entries)).status());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(Table);

void TableCopy(benchmark::State& state) {
  uint32_t from[16] = {}, to[16];
  for (auto _ : state) {
    benchmark::DoNotOptimize(from);
    std::memcpy(to, from, sizeof(to));
    benchmark::DoNotOptimize(to);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(TableCopy);

void Allocate(benchmark::State& state) {
  DescriptorWorld world(Model::kDirect);
  const DescriptorCount counts[] = {{Type::kCombinedImageSampler, 32000}};
  const auto pool = world.MakePool(2000, counts);
  const auto layout =
      world.Layout({{.binding = 0, .type = Type::kCombinedImageSampler, .count = 16}});
  std::vector<DescriptorSet> sets;
  for (int i = 0; i < 1000; ++i) sets.push_back(Value(pool->Allocate(layout)));
  uint32_t i = 0;
  for (auto _ : state) {
    DescriptorSet& set = sets[i * 7919 % sets.size()];
    Must(pool->Free(set));
    set = *pool->Allocate(layout);
    ++i;
  }
}
BENCHMARK(Allocate);

}  // namespace
}  // namespace packsmith::gpu
