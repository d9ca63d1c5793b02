// Batches with binding tables, read by the decoder: every entry of every table leads to the surface
// that was bound, before and after the base has moved.
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/binding/binder.h"
#include "runtime/binding/surface_states.h"
#include "runtime/memory/canonical.h"
#include "tests/batch/generations.h"
#include "tests/binding/binder_world.h"
#include "tests/binding/decoded.h"

namespace packsmith::gpu {
namespace {

using testing::IsEmpty;

constexpr unsigned kStages = 5;  // of the 3D pipeline
constexpr const char* kPointers[kStages] = {
    "3DSTATE_BINDING_TABLE_POINTERS_VS", "3DSTATE_BINDING_TABLE_POINTERS_HS",
    "3DSTATE_BINDING_TABLE_POINTERS_DS", "3DSTATE_BINDING_TABLE_POINTERS_GS",
    "3DSTATE_BINDING_TABLE_POINTERS_PS"};

// What a surface is, as the test knows it.
struct Known {
  uint32_t offset = 0;   // of its state
  uint64_t address = 0;  // of its memory; 0: a null surface
};

template <class Gen>
class BinderDecodeTest : public testing::Test {
 protected:
  using Packets = typename Gen::Packets;

  // Some of each kind.
  static std::vector<Known> MakeSurfaces(StatePool& pool, const Buffer& memory) {
    std::vector<Known> all;
    for (uint32_t i = 0; i < 60; ++i) {
      const State state = Value(pool.Allocate(64, 64));
      auto* dwords = reinterpret_cast<uint32_t*>(state.cpu);
      Known known{state.offset, 0};
      absl::Status status;
      if (i % 5 == 0) {
        status = WriteSurface<Gen>(NullSurface{.mocs = 4}, dwords);
      } else if (i % 5 < 4) {
        known.address = memory.address + 64 * i;
        status = WriteSurface<Gen>(
            BufferSurface{.memory = {known.address, memory.handle}, .size = 64, .mocs = 4}, dwords);
      } else {
        known.address = memory.address + 4096 * (i / 5);
        ImageSurface image;
        image.memory = {known.address, memory.handle};
        image.format = 0x0c7;
        image.mocs = 4;
        image.width = image.height = 16;
        image.pitch = 64;
        image.horizontal_alignment = 16;
        status = WriteSurface<Gen>(image, dwords);
      }
      EXPECT_TRUE(status.ok()) << status;
      all.push_back(known);
    }
    return all;
  }

  // Packed apart: what packets become is not what is tested here, and inlining them takes long.
  template <class P>
  static void Emit(Batch<Gen>& batch, const P& packet) {
    uint32_t dwords[P::length];
    (void)packet.template pack<checks::off>(dwords);
    EXPECT_TRUE(batch.EmitDwords(dwords)) << batch.status();
  }
  // Shaders that have so many surfaces, for the decoder to know.
  static void EmitShaders(Batch<Gen>& batch, const Binder<Gen>& binder) {
    const auto count = [&](BindingStage stage) { return binder.count(stage); };
    using enum BindingStage;
    Emit(batch, typename Packets::_3DSTATE_VS{.binding_table_entry_count = count(kVertex)});
    Emit(batch, typename Packets::_3DSTATE_HS{.binding_table_entry_count = count(kHull)});
    Emit(batch, typename Packets::_3DSTATE_DS{.binding_table_entry_count = count(kDomain)});
    Emit(batch, typename Packets::_3DSTATE_GS{.binding_table_entry_count = count(kGeometry)});
    Emit(batch, typename Packets::_3DSTATE_PS{.binding_table_entry_count = count(kPixel)});
  }
};
TYPED_TEST_SUITE(BinderDecodeTest, Generations);

TYPED_TEST(BinderDecodeTest, EveryEntryLeadsToTheSurfaceThatWasBound) {
  for (const BindingModel model : {BindingModel::kBinder, BindingModel::kBlocks}) {
    std::mt19937 random(7);
    BinderWorld<TypeParam> world(model);
    auto& binder = *world.binder;
    const std::string zone = world.Iris() ? "surface" : "internal surface states";
    const auto pool = Value(StatePool::Create(
        *world.memory.buffers, *world.memory.space,
        {.zone = world.memory.Zone(zone), .base = world.options.surface_base, .begin = 64 << 10}));
    const Buffer texels = Value(world.memory.buffers->Create(
        {.size = 128 << 10, .zone = world.memory.Zone(world.Iris() ? "other" : "high heap")}));
    const std::vector<Known> surfaces = TestFixture::MakeSurfaces(*pool, texels);

    auto& batch = world.batch;
    ASSERT_TRUE(binder.EmitSetup(batch).ok());
    ASSERT_TRUE(binder.Begin(batch).ok());
    // Of each draw, what each stage has.
    std::vector<std::array<std::vector<Known>, kStages>> draws;
    std::array<std::vector<Known>, kStages> bound;
    const auto draw = [&] {
      const BindingEvents events = binder.TakeEvents();
      TestFixture::EmitShaders(batch, binder);
      EXPECT_TRUE(binder.EmitPointers(batch, events));
      using Draw = typename TypeParam::Packets::_3DPRIMITIVE;
      TestFixture::Emit(batch, Draw{.vertex_count_per_instance = 3, .instance_count = 1});
      draws.push_back(bound);
    };
    const auto bind = [&](unsigned stage, size_t count) {
      std::vector<uint32_t> offsets;
      bound[stage].clear();
      for (size_t i = 0; i < count; ++i) {
        bound[stage].push_back(surfaces[random() % surfaces.size()]);
        offsets.push_back(bound[stage].back().offset);
      }
      ASSERT_TRUE(binder.Bind(batch, static_cast<BindingStage>(stage), offsets).ok());
    };
    for (unsigned round = 0; round < 4; ++round) {
      for (unsigned i = 0; i < 10; ++i) {
        for (unsigned stage = 0; stage < kStages; ++stage) {
          if (random() % 3 == 0) bind(stage, random() % 12);
        }
        draw();
      }
      // Until the block is nearly full; nobody draws with these.
      const std::vector<Known> vertex = bound[0];
      while (binder.room() >= 8 * world.BytesFor(240)) bind(0, 240);
      bound[0] = vertex;
      std::vector<uint32_t> offsets;
      for (const Known& known : vertex) offsets.push_back(known.offset);
      ASSERT_TRUE(binder.Bind(batch, BindingStage::kVertex, offsets).ok());
      while (binder.statistics().moves == round) {
        for (unsigned stage = 0; stage < kStages; ++stage) bind(stage, random() % 30);
        draw();
      }
    }
    EXPECT_GE(binder.statistics().moves, 4u);
    ASSERT_TRUE(batch.End().ok()) << batch.status();

    const DecodedJob job = DecodeJob(world.memory, batch);
    EXPECT_THAT(job.problems, IsEmpty());
    EXPECT_EQ(job.summary.unknown_dwords, 0u);
    EXPECT_EQ(job.summary.problems, 0u);
    // What each stage's last pointer led to, draw by draw.
    std::array<uint64_t, kStages> pointers;
    pointers.fill(decode::kNoParent);
    size_t drawn = 0, entries = 0;
    for (const DecodedRecord& record : job.records) {
      if (!record.is_packet) continue;
      for (unsigned stage = 0; stage < kStages; ++stage) {
        if (record.name == kPointers[stage]) pointers[stage] = record.id;
      }
      if (record.name != "3DPRIMITIVE") continue;
      ASSERT_LT(drawn, draws.size());
      for (unsigned stage = 0; stage < kStages; ++stage) {
        const std::vector<Known>& expected = draws[drawn][stage];
        if (expected.empty()) continue;
        ASSERT_NE(pointers[stage], decode::kNoParent) << drawn;
        const auto table = job.Below(pointers[stage], "BINDING_TABLE_STATE");
        ASSERT_GE(table.size(), expected.size()) << "draw " << drawn << ", stage " << stage;
        for (size_t i = 0; i < expected.size(); ++i) {
          const auto states = job.Below(table[i]->id, "RENDER_SURFACE_STATE");
          ASSERT_EQ(states.size(), 1u);
          EXPECT_EQ(states[0]->address, world.options.surface_base + expected[i].offset);
          const auto state = SurfaceState<TypeParam>::unpack(states[0]->dwords.data());
          EXPECT_EQ(state.surface_base_address.gpu, Plain(expected[i].address, 48));
          ++entries;
        }
      }
      ++drawn;
    }
    EXPECT_EQ(drawn, draws.size());
    EXPECT_GT(entries, 500u);
    // The block and what the batch writes to are the batch's own to name.
    EXPECT_TRUE(batch.uses().Find(binder.block().handle).has_value());
    EXPECT_TRUE(batch.uses().Find(world.scratch.handle).has_value());
  }
}

}  // namespace
}  // namespace packsmith::gpu
