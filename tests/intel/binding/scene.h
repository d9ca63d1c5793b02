// Draws with binding tables, and what the decoder must find in them: every entry of every table
// points to the surface that was bound, before and after the base has moved.
#ifndef PACKSMITH_TESTS_INTEL_BINDING_SCENE_H_
#define PACKSMITH_TESTS_INTEL_BINDING_SCENE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/addresses.h"
#include "runtime/intel/binding/binder.h"
#include "runtime/intel/binding/surface_states.h"
#include "tests/intel/binding/binder_world.h"
#include "tests/intel/binding/decoded.h"

namespace packsmith::intel {

inline constexpr unsigned kDrawStages = 5;  // of the 3D pipeline

template <class Gen>
class Scene {
  using Packets = typename Gen::Packets;

 public:
  explicit Scene(BindingModel model) : world(model) {
    const std::string zone = world.Iris() ? "surface" : "internal surface states";
    pool_ = Value(gpu::StatePool::Create(
        *world.memory.buffers, *world.memory.space,
        {.zone = world.memory.Zone(zone), .base = world.options.surface_base, .begin = 64 << 10}));
    texels_ = Value(world.memory.buffers->Create(
        {.size = 128 << 10, .zone = world.memory.Zone(world.Iris() ? "other" : "high heap")}));
    for (uint32_t i = 0; i < 60; ++i) MakeSurface(i);
    EXPECT_TRUE(world.binder->EmitSetup(world.batch).ok());
    EXPECT_TRUE(world.binder->Begin(world.batch).ok());
  }

  // This number of surfaces, any of them.
  void Bind(unsigned stage, size_t count) {
    std::vector<uint32_t> offsets;
    bound_[stage].clear();
    for (size_t i = 0; i < count; ++i) {
      bound_[stage].push_back(surfaces_[random_() % surfaces_.size()]);
      offsets.push_back(bound_[stage].back().offset);
    }
    ASSERT_TRUE(world.binder->Bind(world.batch, static_cast<BindingStage>(stage), offsets).ok());
  }
  // Draws with what is bound; `emit` emits what the events require, and all that is dirty.
  template <class EmitState>
  void Draw(const EmitState& emit) {
    // Shaders with this number of surfaces, so that the decoder knows it.
    const auto count = [&](BindingStage stage) { return world.binder->count(stage); };
    using enum BindingStage;
    Emit(typename Packets::_3DSTATE_VS{.binding_table_entry_count = count(kVertex)});
    Emit(typename Packets::_3DSTATE_HS{.binding_table_entry_count = count(kHull)});
    Emit(typename Packets::_3DSTATE_DS{.binding_table_entry_count = count(kDomain)});
    Emit(typename Packets::_3DSTATE_GS{.binding_table_entry_count = count(kGeometry)});
    Emit(typename Packets::_3DSTATE_PS{.binding_table_entry_count = count(kPixel)});
    emit(world.binder->TakeEvents());
    Emit(typename Packets::_3DPRIMITIVE{.vertex_count_per_instance = 3, .instance_count = 1});
    draws_.push_back(bound_);
  }
  // Many draws, in several blocks. The first stage keeps its table, which is at the same place in
  // each of them: its pointer does not change, but must be emitted.
  template <class EmitState>
  void Run(const EmitState& emit) {
    auto& binder = *world.binder;
    Bind(0, 5);
    const uint32_t pointer = binder.pointer(BindingStage::kVertex);
    for (unsigned round = 0; round < 4; ++round) {
      for (unsigned i = 0; i < 10; ++i) {
        for (unsigned stage = 1; stage < kDrawStages; ++stage) {
          if (random_() % 3 == 0) Bind(stage, random_() % 12);
        }
        Draw(emit);
      }
      // Until the block is nearly full, with tables that no draw uses.
      while (binder.room() >= 8 * world.BytesFor(240)) Bind(kDrawStages, 240);
      while (binder.statistics().moves == round) {
        for (unsigned stage = 1; stage < kDrawStages; ++stage) Bind(stage, random_() % 30);
        Draw(emit);
      }
      EXPECT_EQ(binder.pointer(BindingStage::kVertex), pointer);
    }
    EXPECT_GE(binder.statistics().moves, 4u);
  }

  // Ends the batch, and checks all of it.
  void Verify() {
    ASSERT_TRUE(world.batch.End().ok()) << world.batch.status();
    const DecodedJob job = DecodeJob(world.memory, world.batch);
    EXPECT_THAT(job.problems, testing::IsEmpty());
    EXPECT_EQ(job.summary.unknown_dwords, 0u);
    EXPECT_EQ(job.summary.problems, 0u);
    // Each stage's pointer, unless the base has moved since: then it does not count.
    std::array<const DecodedRecord*, kDrawStages> pointers = {};
    size_t drawn = 0, entries = 0;
    for (const DecodedRecord& record : job.records) {
      if (!record.is_packet) continue;
      if (record.name == "STATE_BASE_ADDRESS" ||
          record.name == "3DSTATE_BINDING_TABLE_POOL_ALLOC") {
        pointers = {};
      }
      for (unsigned stage = 0; stage < kDrawStages; ++stage) {
        if (record.name == kPointers[stage]) pointers[stage] = &record;
      }
      if (record.name != "3DPRIMITIVE") continue;
      ASSERT_LT(drawn, draws_.size());
      for (unsigned stage = 0; stage < kDrawStages; ++stage) {
        const std::vector<Known>& expected = draws_[drawn][stage];
        if (expected.empty()) continue;
        ASSERT_NE(pointers[stage], nullptr) << "draw " << drawn << ", stage " << stage;
        const auto table = job.Below(pointers[stage]->id, "BINDING_TABLE_STATE");
        ASSERT_GE(table.size(), expected.size()) << "draw " << drawn << ", stage " << stage;
        for (size_t i = 0; i < expected.size(); ++i) {
          const auto states = job.Below(table[i]->id, "RENDER_SURFACE_STATE");
          ASSERT_EQ(states.size(), 1u);
          EXPECT_EQ(states[0]->address, world.options.surface_base + expected[i].offset);
          const auto state = SurfaceState<Gen>::unpack(states[0]->dwords.data());
          EXPECT_EQ(state.surface_base_address.gpu, Plain(expected[i].address, 48));
          ++entries;
        }
      }
      ++drawn;
    }
    EXPECT_EQ(drawn, draws_.size());
    EXPECT_GT(entries, 500u);
    // The block, and what the batch writes to, are the batch's own to name.
    EXPECT_TRUE(world.batch.uses().Find(world.binder->block().handle).has_value());
    EXPECT_TRUE(world.batch.uses().Find(world.scratch.handle).has_value());
  }

  BinderWorld<Gen> world;

 private:
  static constexpr const char* kPointers[kDrawStages] = {
      "3DSTATE_BINDING_TABLE_POINTERS_VS", "3DSTATE_BINDING_TABLE_POINTERS_HS",
      "3DSTATE_BINDING_TABLE_POINTERS_DS", "3DSTATE_BINDING_TABLE_POINTERS_GS",
      "3DSTATE_BINDING_TABLE_POINTERS_PS"};
  // A surface, as the test expects it.
  struct Known {
    uint32_t offset = 0;   // of its state
    uint64_t address = 0;  // of its memory; 0: a null surface
  };

  // Some of each kind.
  void MakeSurface(uint32_t i) {
    const gpu::State state = Value(pool_->Allocate(64, 64));
    auto* dwords = reinterpret_cast<uint32_t*>(state.cpu);
    Known known{state.offset, 0};
    absl::Status status;
    if (i % 5 == 0) {
      status = WriteSurface<Gen>(NullSurface{.mocs = 4}, dwords);
    } else if (i % 5 < 4) {
      known.address = texels_.address + 64 * i;
      status = WriteSurface<Gen>(
          BufferSurface{.memory = {known.address, texels_.handle}, .size = 64, .mocs = 4}, dwords);
    } else {
      known.address = texels_.address + 4096 * (i / 5);
      ImageSurface image;
      image.memory = {known.address, texels_.handle};
      image.format = SurfaceFormat::R8G8B8A8_UNORM;
      image.mocs = 4;
      image.width = image.height = 16;
      image.pitch = 64;
      image.horizontal_alignment = 16;
      status = WriteSurface<Gen>(image, dwords);
    }
    EXPECT_TRUE(status.ok()) << status;
    surfaces_.push_back(known);
  }
  // Packed separately: packing is not tested here, and inlining it takes long to compile.
  template <class P>
  void Emit(const P& packet) {
    uint32_t dwords[P::length];
    (void)packet.template pack<checks::off>(dwords);
    EXPECT_TRUE(world.batch.EmitDwords(dwords)) << world.batch.status();
  }

  std::mt19937 random_{7};
  std::unique_ptr<gpu::StatePool> pool_;
  gpu::Buffer texels_;
  std::vector<Known> surfaces_;
  // What each stage has now, and had at each draw.
  std::array<std::vector<Known>, kBindingStages> bound_;
  std::vector<std::array<std::vector<Known>, kBindingStages>> draws_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_TESTS_INTEL_BINDING_SCENE_H_
