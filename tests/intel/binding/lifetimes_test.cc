// Objects of the runtime that are destroyed in every order: using what refers to a destroyed object
// is an error, and nothing reads or writes destroyed objects.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/gfx125.h"
#include "runtime/intel/binding/aux_tables.h"
#include "runtime/intel/binding/binder.h"
#include "runtime/intel/binding/descriptor_hardware.h"
#include "runtime/intel/binding/descriptor_pool.h"
#include "runtime/intel/binding/descriptor_push.h"
#include "runtime/intel/binding/sampler_tables.h"
#include "runtime/intel/binding/shared_states.h"
#include "runtime/intel/memory/aux_table.h"
#include "runtime/intel/memory/border_colors.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/memory/residency.h"
#include "runtime/memory/state_stream.h"
#include "tests/intel/binding/memory.h"

namespace packsmith::intel {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr uint32_t kMocs = 4;

// One object of each class, and how each is used and destroyed.
struct World {
  struct Object {
    const char* name;
    std::vector<std::string> made_with;
    std::function<absl::Status()> use;
    std::function<void()> destroy;
  };

  World() {
    const auto zone = [this](absl::string_view name) { return Value(space->FindZone(name)); };
    const auto begin = [&](absl::string_view name) { return space->zone(zone(name)).begin; };
    device = Value(gpu::HostDevice::Create());
    space = Value(gpu::AddressSpace::Create(Value(gpu::LayOutZones(AnvZones(), {.verx10 = 125}))));
    buffers = gpu::Buffers::Create(*device, *space, {});
    heap = zone("high heap");
    used = Value(buffers->Create({.size = 4096, .zone = heap, .name = "used"}));
    pool = Value(gpu::StatePool::Create(*buffers, *space, {.zone = zone("dynamic visible")}));
    tables = Value(gpu::StatePool::Create(*buffers, *space, {.zone = zone("aux tables")}));
    stream = std::make_unique<gpu::StateStream>(*pool, 4096);
    (void)Value(stream->Allocate(64, 64));
    colors = Value(BorderColors::Create(*buffers, {.zone = zone("dynamic state"), .entries = 64}));
    aux = Value(AuxTable::Create(*tables, AuxTableHardwareOf<Gfx125>()));
    residency = std::make_unique<gpu::Residency>(*buffers);
    chunks =
        std::make_unique<gpu::BufferChunks>(*buffers, gpu::BufferChunks::Options{.zone = heap});
    batch = std::make_unique<Batch<Gfx125>>(*chunks);
    EXPECT_TRUE(batch->Emit(gfx125::MI_NOOP{}));
    MakeBinder(zone("binding tables"));
    samplers = std::make_unique<SamplerTables<Gfx125>>(*pool, *colors, 0);
    shared = std::make_unique<SharedStates>(*pool, 32);
    (void)Value(shared->Acquire(kDwords));
    MakeDescriptors(begin("dynamic visible"), begin("dynamic state"), zone("dynamic visible"));
  }

  void MakeBinder(gpu::ZoneId zone) {
    Binder<Gfx125>::Options options;
    options.model = BindingModel::kBlocks;
    options.zone = zone;
    options.surface_base = 4 * gpu::kGiB;
    options.surface_bytes = 3 * gpu::kGiB;
    options.bases = {.general_state_mocs = kMocs,
                     .stateless_data_port_access_mocs = kMocs,
                     .surface_state_mocs = kMocs,
                     .dynamic_state_mocs = kMocs,
                     .indirect_object_mocs = kMocs,
                     .instruction_mocs = kMocs,
                     .bindless_surface_state_mocs = kMocs,
                     .bindless_sampler_state_mocs = kMocs};
    options.mocs = kMocs;
    options.scratch = {used.address, used.handle};
    binder = Value(Binder<Gfx125>::Create(*buffers, options));
    EXPECT_TRUE(binder->Begin(elsewhere).ok());
  }

  void MakeDescriptors(uint64_t surfaces, uint64_t sampler_base, gpu::ZoneId zone) {
    setup = std::make_unique<DescriptorSetup>(Value(
        MakeDescriptorSetup(DescriptorHardwareOf<Gfx125>(),
                            {.model = DescriptorModel::kDirect,
                             .surface_base = surfaces,
                             .sampler_base = sampler_base,
                             .mocs = kMocs,
                             .null_surface = Value(pool->Allocate(kSurfaceStateBytes)).offset})));
    const DescriptorCount counts[] = {{DescriptorType::kUniformBuffer, 100}};
    descriptors = Value(DescriptorPool::Create(
        *buffers, *setup,
        {.max_sets = 50, .counts = counts, .records = zone, .samplers = zone, .surfaces = zone}));
    const DescriptorBinding bindings[] = {{.type = DescriptorType::kUniformBuffer, .count = 1}};
    layout = Value(DescriptorSetLayout::Create(DescriptorModel::kDirect, bindings, false));
    set = Value(descriptors->Allocate(layout));
    const auto pushed =
        Value(DescriptorSetLayout::Create(DescriptorModel::kDirect, bindings, true));
    push = Value(PushDescriptors::Create(*setup, pushed, {.records = stream.get()}));
    (void)Value(push->Flush());
  }

  Descriptor UniformBuffer() const {
    return {.type = DescriptorType::kUniformBuffer,
            .buffer = {.buffer = {.handle = 1, .address = 0x100000, .size = 4096}, .size = 256}};
  }

  template <class T>
  static std::function<void()> Destroy(T& object) {
    return [&object] { object.reset(); };
  }

  std::vector<Object> Objects() {
    const auto draw = [this] {
      return batch->Emit(gfx125::MI_NOOP{}) ? absl::OkStatus() : batch->status();
    };
    return {
        {"device", {}, [] { return absl::OkStatus(); }, Destroy(device)},
        {"address space",
         {},
         [this] { return space->Allocate(heap, {.size = 4096}).status(); },
         Destroy(space)},
        {"buffers",
         {"device", "address space"},
         [this] { return buffers->Create({.size = 64, .zone = heap}).status(); },
         Destroy(buffers)},
        {"state pool", {"buffers"}, [this] { return pool->Allocate(64).status(); }, Destroy(pool)},
        {"tables' pool",
         {"buffers"},
         [this] { return tables->Allocate(64).status(); },
         Destroy(tables)},
        {"state stream",
         {"state pool"},
         [this] { return stream->Allocate(64, 64).status(); },
         Destroy(stream)},
        {"border colors",
         {"buffers"},
         [this] { return colors->Acquire({}).status(); },
         Destroy(colors)},
        {"aux table",
         {"tables' pool"},
         [this] {
           return aux->Map({.surface = aux->page(),
                            .auxiliary = aux->page(),
                            .size = aux->page(),
                            .format = AuxFormat{}});
         },
         Destroy(aux)},
        {"residency list",
         {"buffers"},
         [this] { return residency->Add(used.handle, true); },
         Destroy(residency)},
        {"chunks", {"buffers"}, [this] { return chunks->NewChunk(16).status(); }, Destroy(chunks)},
        {"batch", {"chunks"}, draw, Destroy(batch)},
        {"binder",
         {"buffers"},
         [this] { return binder->Bind(elsewhere, BindingStage::kPixel, {64u * ++surface}); },
         Destroy(binder)},
        {"sampler tables",
         {"state pool", "border colors"},
         [this] {
           const auto sampler =
               samplers->Pack({.wrap = {Wrap::kClampToBorder}, .border_color = {1, 2, 3, 4}});
           if (!sampler.ok()) return sampler.status();
           const PackedSampler* const table[] = {&*sampler};
           return samplers->Acquire(table).status();
         },
         Destroy(samplers)},
        {"shared states",
         {"state pool"},
         [this] { return shared->Acquire(kDwords).status(); },
         Destroy(shared)},
        {"descriptor setup", {}, [] { return absl::OkStatus(); }, Destroy(setup)},
        {"descriptor pool",
         {"buffers", "descriptor setup"},
         [this] { return descriptors->Allocate(layout).status(); },
         Destroy(descriptors)},
        {"pushed descriptors",
         {"state stream", "descriptor setup"},
         [this] {
           const absl::Status status = push->Write(0, 0, UniformBuffer());
           return status.ok() ? push->Flush().status() : status;
         },
         Destroy(push)},
    };
  }

  static constexpr uint32_t kDwords[] = {1, 2, 3, 4};

  gpu::HostChunks host_chunks;
  Batch<Gfx125> elsewhere{host_chunks};
  gpu::ZoneId heap;
  gpu::Buffer used;
  uint32_t surface = 0;
  DescriptorSetLayoutPtr layout;
  DescriptorSet set;
  std::unique_ptr<gpu::HostDevice> device;
  std::unique_ptr<gpu::AddressSpace> space;
  std::unique_ptr<gpu::Buffers> buffers;
  std::unique_ptr<gpu::StatePool> pool, tables;
  std::unique_ptr<gpu::StateStream> stream;
  std::unique_ptr<BorderColors> colors;
  std::unique_ptr<AuxTable> aux;
  std::unique_ptr<gpu::Residency> residency;
  std::unique_ptr<gpu::BufferChunks> chunks;
  std::unique_ptr<Batch<Gfx125>> batch;
  std::unique_ptr<Binder<Gfx125>> binder;
  std::unique_ptr<SamplerTables<Gfx125>> samplers;
  std::unique_ptr<SharedStates> shared;
  std::unique_ptr<DescriptorSetup> setup;
  std::unique_ptr<DescriptorPool> descriptors;
  std::unique_ptr<PushDescriptors> push;
};

// The objects that cannot be used without an object.
std::set<std::string> LostWith(const std::vector<World::Object>& objects, const std::string& gone) {
  std::set<std::string> lost = {gone};
  for (bool changed = true; changed;) {
    changed = false;
    for (const World::Object& object : objects) {
      for (const std::string& other : object.made_with) {
        if (lost.contains(other)) changed |= lost.insert(object.name).second;
      }
    }
  }
  lost.erase(gone);
  return lost;
}

TEST(Lifetimes, AllWorkWhileAllAreThere) {
  World world;
  for (const World::Object& object : world.Objects())
    EXPECT_TRUE(object.use().ok()) << object.name << object.use();
}

TEST(Lifetimes, WhatWasMadeWithADestroyedObjectSaysSoAndOthersGoOn) {
  const size_t count = World().Objects().size();
  for (size_t gone = 0; gone < count; ++gone) {
    World world;
    const std::vector<World::Object> objects = world.Objects();
    SCOPED_TRACE(objects[gone].name);
    const std::set<std::string> lost = LostWith(objects, objects[gone].name);
    objects[gone].destroy();
    for (size_t i = 0; i < count; ++i) {
      if (i == gone) continue;
      // Twice: asking changes nothing.
      for (int time = 0; time < 2; ++time) {
        const absl::Status status = objects[i].use();
        if (!lost.contains(objects[i].name)) {
          EXPECT_TRUE(status.ok()) << objects[i].name << ": " << status;
          continue;
        }
        EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << objects[i].name;
        EXPECT_THAT(status.message(), AllOf(HasSubstr(" was destroyed before the "),
                                            HasSubstr("destroy objects before those")))
            << objects[i].name;
      }
    }
  }
}

TEST(Lifetimes, AnyOrderOfDestructionIsHarmless) {
  std::mt19937 random(1);
  std::vector<size_t> order(World().Objects().size());
  std::iota(order.begin(), order.end(), 0);
  for (int round = 0; round < 60; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    World world;
    const std::vector<World::Object> objects = world.Objects();
    std::vector<bool> there(objects.size(), true);
    for (const size_t next : order) {
      objects[next].destroy();
      there[next] = false;
      for (size_t i = 0; i < objects.size(); ++i) {
        if (there[i]) (void)objects[i].use();
      }
    }
  }
}

TEST(Lifetimes, ADeviceHasAllItsMemoryBackHoweverTheRestIsDestroyed) {
  std::mt19937 random(2);
  std::vector<size_t> order(World().Objects().size() - 1);
  std::iota(order.begin(), order.end(), 1);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    World world;
    const std::vector<World::Object> objects = world.Objects();
    ASSERT_STREQ(objects[0].name, "device");
    EXPECT_NE(world.device->memory_in_use(), 0u);
    for (const size_t next : order) objects[next].destroy();
    EXPECT_EQ(world.device->memory_in_use(), 0u);
  }
}

TEST(Lifetimes, SetsOfALostDescriptorPoolAreNotLive) {
  World world;
  EXPECT_TRUE(world.set.Write(0, 0, world.UniformBuffer()).ok());
  world.device.reset();
  EXPECT_FALSE(world.set.live());
  EXPECT_FALSE(world.set.Write(0, 0, world.UniformBuffer()).ok());
}

TEST(Lifetimes, SetsOfADestroyedPoolAreNotLiveThoughOthersTakeTheirPlaces) {
  World world;
  const DescriptorSet set = world.set, pushed = Value(world.push->Flush());
  EXPECT_TRUE(set.live() && pushed.live());
  world.descriptors.reset();
  world.push.reset();
  const gpu::ZoneId zone = Value(world.space->FindZone("dynamic visible"));
  const uint64_t samplers = world.space->zone(Value(world.space->FindZone("dynamic state"))).begin;
  for (int time = 0; time < 2; ++time) {
    EXPECT_FALSE(set.live() || pushed.live());
    EXPECT_FALSE(set.Write(0, 0, world.UniformBuffer()).ok());
    EXPECT_FALSE(pushed.SurfaceHandle(0, 0).ok());
    world.MakeDescriptors(world.space->zone(zone).begin, samplers, zone);
    EXPECT_TRUE(world.set.live());
  }
}

TEST(Lifetimes, ABinderKnowsABatchFromAnotherThatLiesWhereThatWas) {
  World world;
  const std::vector<uint32_t> table = {64};
  std::optional<Batch<Gfx125>> batch;
  batch.emplace(world.host_chunks);
  ASSERT_TRUE(world.binder->Begin(*batch).ok());
  EXPECT_TRUE(world.binder->Bind(*batch, BindingStage::kPixel, table).ok());
  batch.emplace(world.host_chunks);
  EXPECT_THAT(world.binder->Bind(*batch, BindingStage::kPixel, table).message(),
              HasSubstr("call Begin() first"));
  ASSERT_TRUE(world.binder->Begin(*batch).ok());
  batch->Reset();
  EXPECT_THAT(world.binder->Bind(*batch, BindingStage::kPixel, table).message(),
              HasSubstr("call Begin() first"));
}

}  // namespace
}  // namespace packsmith::intel
