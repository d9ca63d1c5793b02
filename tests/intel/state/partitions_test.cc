#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/dump/dump.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/state/l3.h"
#include "runtime/intel/state/urb.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RenderDevice Known(const char* name) {
  const auto device = FindRenderDevice(name);
  EXPECT_TRUE(device.ok()) << device.status();
  return device.value_or(RenderDevice());
}

std::vector<unsigned> Entries(const UrbPartition& urb) {
  std::vector<unsigned> entries;
  for (const auto& stage : urb.stages) entries.push_back(stage.entries);
  return entries;
}
std::vector<unsigned> Starts(const UrbPartition& urb) {
  std::vector<unsigned> starts;
  for (const auto& stage : urb.stages) starts.push_back(stage.start);
  return starts;
}

// -- Devices -------------------------------------------------------------------------------------

TEST(RenderDevicesTest, AreOfPlatformsThatTheDescriptionsHave) {
  std::set<absl::string_view> names;
  for (const RenderDevice& device : RenderDevices()) {
    EXPECT_TRUE(names.insert(device.name).second) << device.name;
    for (absl::string_view platform : absl::StrSplit(device.platforms, ' ')) {
      bool found = false;
      for (const tables::Tables& generation : BuiltInGenerations()) {
        for (const tables::Platform& one : generation.platforms()) {
          if (generation.string(one.name) != platform) continue;
          found = true;
          EXPECT_TRUE(IsCalled(generation, IntelGenerationName(static_cast<int>(device.version))))
              << device.name;
        }
      }
      EXPECT_TRUE(found) << device.name << ": " << platform;
    }
  }
}

// Values that the packets' fields take, and those of drivers' captures.
TEST(RenderDevicesTest, ThreadsAndCachingAreThoseThatDriversUse) {
  for (const RenderDevice& device : RenderDevices()) {
    const StageThreads& threads = device.threads;
    for (unsigned count : {threads.vertex, threads.hull, threads.domain, threads.geometry}) {
      EXPECT_GE(count, 56u) << device.name;
      EXPECT_LE(count, 1024u) << device.name;
    }
    EXPECT_EQ(threads.pixel, 64u) << device.name;
    EXPECT_GE(threads.compute, 36u) << device.name;
    for (unsigned policy :
         {device.caching.cached, device.caching.shared, device.caching.uncached,
          device.caching.copied, device.caching.first_level, device.caching.stream_output}) {
      EXPECT_LT(policy, 128u) << device.name;
      // An index, times 2; the lowest bit means protected memory.
      EXPECT_TRUE(device.version < 90 || policy % 2 == 0) << device.name;
    }
    // A field of zero is refused.
    EXPECT_NE(device.caching.cached, 0u) << device.name;
    EXPECT_NE(device.caching.shared, 0u) << device.name;
    EXPECT_EQ(device.most_mesh_entries != 0, device.version >= 125) << device.name;
  }
  EXPECT_EQ(Known("skl gt2").threads.vertex, 336u);
  EXPECT_EQ(Known("icl 8 banks").threads.vertex, 364u);
  EXPECT_EQ(Known("tgl 8 banks").threads.vertex, 546u);
  EXPECT_EQ(Known("dg2").threads.vertex, 546u);
}

TEST(RenderDevicesTest, UnknownOnesAreListed) {
  const auto device = FindRenderDevice("skl gt9");
  EXPECT_EQ(device.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(device.status().message()), HasSubstr("skl gt2"));
}

TEST(RenderDevicesTest, TheUrbIsAsLargeAsTheTableOfTheManualsSays) {
  // KB of a slice, with the partition that is usual for drawing.
  const std::vector<std::pair<const char*, unsigned>> sizes = {
      {"bdw gt1", 192},
      {"bdw gt2", 384},
      {"bdw gt3", 384},
      {"chv", 192},
      {"skl gt1", 192},
      {"skl gt2", 384},
      {"skl gt3", 384},
      {"skl gt4", 336},
      {"bxt 3x6", 192},
      {"bxt 2x6", 128},
      {"glk 2x6", 192},
      {"icl 8 banks", 1024},
      {"icl 6 banks", 768},
      {"ehl", 512},
      {"tgl 8 banks", 1024 - 32},
      {"tgl 6 banks", 768 - 24},
      {"tgl 4 banks", 512 - 16},
      {"dg1", 768},
      {"dg2", 768},
  };
  for (const auto& [name, kb] : sizes) {
    EXPECT_EQ(UrbKbOf(Known(name), L3Partitions(Known(name))[0]), kb) << name;
  }
}

// -- URB, worked out by hand ---------------------------------------------------------------------

// 384 KB are 48 chunks, of which 4 are for push constants. 1856 entries of 128 bytes take 29
// chunks, which fit.
TEST(UrbTest, AVertexShaderAloneHasAllItCanUse) {
  const auto urb = PartitionUrb(Known("skl gt2"), 384, {.entry_units = {2, 0, 0, 0}});
  ASSERT_TRUE(urb.ok()) << urb.status();
  EXPECT_THAT(Entries(*urb), ElementsAre(1856, 0, 0, 0));
  EXPECT_THAT(Starts(*urb), ElementsAre(4, 4, 4, 4));
  EXPECT_FALSE(urb->constrained);
}

// 1856 entries of 256 bytes would take 58 chunks; 44 are there: 44 * 8192 / 256.
TEST(UrbTest, LargerEntriesAreFewer) {
  const auto urb = PartitionUrb(Known("skl gt2"), 384, {.entry_units = {4, 0, 0, 0}});
  ASSERT_TRUE(urb.ok());
  EXPECT_THAT(Entries(*urb), ElementsAre(1408, 0, 0, 0));
  EXPECT_TRUE(urb->constrained);
}

// All four stages with entries of 4 units, 256 bytes, 32 to a chunk. Least: 64, 8 (1 in eights), 40
// (34), 8 (2): chunks 2, 1, 2, 1. Wanted besides: 58 - 2 = 56, 21 - 1 = 20, 35 - 2 = 33, 20 - 1 =
// 19: 128. Left: 48 - 4 - 6 = 38. Vertices: 56 * 38 / 128 = 16.6, 17; hull: 20 * 21 / 72 = 5.8, 6;
// domain: 33 * 15 / 52 = 9.5, 10; geometry: 5.
TEST(UrbTest, WhatIsLeftIsSharedInProportionToWhatIsWanted) {
  const auto urb = PartitionUrb(Known("skl gt2"), 384, {.entry_units = {4, 4, 4, 4}});
  ASSERT_TRUE(urb.ok());
  EXPECT_THAT(Starts(*urb), ElementsAre(4, 4 + 19, 4 + 19 + 7, 4 + 19 + 7 + 12));
  EXPECT_THAT(Entries(*urb), ElementsAre(19 * 32, 7 * 32, 12 * 32, 6 * 32));
  EXPECT_TRUE(urb->constrained);
}

// Entries of 9 units and more come one by one: 576 bytes, 14.2 to a chunk; 192 KB are 24 chunks, 20
// of which are left: 20 * 8192 / 576 = 284.4.
TEST(UrbTest, LargeEntriesAreNotRoundedToEights) {
  const auto urb = PartitionUrb(Known("bdw gt1"), 192, {.entry_units = {9, 0, 0, 0}});
  ASSERT_TRUE(urb.ok());
  EXPECT_EQ((*urb)[UrbStage::kVertex].entries, 284u);
}

// Gfx8 needs 192 vertices before tessellation: of 32 units, 2048 bytes, 4 to a chunk, 48 chunks. A
// Broadwell GT2 has 48 of which 44 are left; a Skylake GT2 needs 16 (64 entries) only.
TEST(UrbTest, Gfx8WantsMoreVerticesBeforeTessellation) {
  const UrbDemand demand = {.entry_units = {32, 1, 1, 0}};
  const auto broadwell = PartitionUrb(Known("bdw gt2"), 384, demand);
  EXPECT_EQ(broadwell.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(broadwell.status().message()), HasSubstr("48 for vertices"));
  EXPECT_TRUE(PartitionUrb(Known("skl gt2"), 384, demand).ok());
}

TEST(UrbTest, DemandsThatMakeNoSenseAreErrors) {
  const RenderDevice device = Known("skl gt2");
  for (const UrbDemand& demand :
       {UrbDemand{{0, 0, 0, 1}}, UrbDemand{{1, 1, 0, 0}}, UrbDemand{{1, 0, 1, 0}}}) {
    EXPECT_EQ(PartitionUrb(device, 384, demand).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(PartitionUrb(device, 8, {.entry_units = {1, 0, 0, 0}}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(UrbTest, RulesHoldForAllDevicesAndSizes) {
  std::mt19937 random(1);
  size_t good = 0, refused = 0;
  for (unsigned round = 0; round < 20000; ++round) {
    const RenderDevice& device = RenderDevices()[random() % RenderDevices().size()];
    const auto partitions = L3Partitions(device);
    const unsigned kb = partitions.empty()
                            ? device.urb_kb
                            : UrbKbOf(device, partitions[random() % partitions.size()]);
    UrbDemand demand;
    const auto units = [&] { return 1 + static_cast<unsigned>(random() % (1 << random() % 7)); };
    demand.entry_units[0] = units();
    if (random() % 2 != 0) demand.entry_units[1] = units(), demand.entry_units[2] = units();
    if (random() % 2 != 0) demand.entry_units[3] = units();
    const auto urb = PartitionUrb(device, kb, demand);
    if (!urb.ok()) {
      ++refused;
      EXPECT_EQ(urb.status().code(), absl::StatusCode::kResourceExhausted);
      continue;
    }
    ++good;
    uint64_t end = device.push_constant_kb * 1024;
    for (unsigned i = 0; i < kUrbStages; ++i) {
      const auto& stage = urb->stages[i];
      if (demand.entry_units[i] == 0) {
        EXPECT_EQ(stage.entries, 0u);
        EXPECT_EQ(stage.start, urb->stages[0].start);
        continue;
      }
      EXPECT_GE(stage.entries, device.least_entries[i]) << device.name;
      EXPECT_LE(stage.entries, device.most_entries[i]) << device.name;
      EXPECT_EQ(stage.entries % (stage.entry_units < 9 ? 8 : 1), 0u);
      EXPECT_GE(uint64_t{stage.start} * kUrbChunkBytes, end) << "parts overlap";
      end = uint64_t{stage.start} * kUrbChunkBytes +
            uint64_t{stage.entries} * stage.entry_units * kUrbUnitBytes;
      EXPECT_LE(end, uint64_t{kb} * 1024) << device.name;
    }
  }
  EXPECT_GT(good, 1000u);
  EXPECT_GT(refused, 10u);
}

TEST(UrbTest, FewEntriesAreDereferencedByPolygon) {
  const auto with = [](const char* device, unsigned vertex, unsigned domain, unsigned geometry) {
    UrbPartition urb;
    urb.stages[0].entries = vertex;
    urb.stages[2].entries = domain;
    urb.stages[3].entries = geometry;
    return DereferenceOf(Known(device), urb);
  };
  EXPECT_EQ(with("dg2", 192, 0, 0), UrbDereference::kBlock32);
  EXPECT_EQ(with("dg2", 191, 0, 0), UrbDereference::kPerPolygon);
  EXPECT_EQ(with("dg2", 64, 324, 0), UrbDereference::kBlock32);
  EXPECT_EQ(with("dg2", 500, 323, 0), UrbDereference::kPerPolygon);
  EXPECT_EQ(with("dg2", 500, 500, 2), UrbDereference::kPerPolygon);
  EXPECT_EQ(with("xe2", 384, 0, 0), UrbDereference::kBlock32);
  EXPECT_EQ(with("xe2", 383, 0, 0), UrbDereference::kPerPolygon);
  EXPECT_EQ(with("xe2", 64, 656, 0), UrbDereference::kBlock32);
  EXPECT_EQ(with("xe2", 500, 655, 0), UrbDereference::kPerPolygon);
  MeshUrbPartition meshes;
  meshes.mesh.entries = 32;
  EXPECT_EQ(DereferenceOf(meshes), UrbDereference::kPerPolygon);
  meshes.mesh.entries = 33;
  EXPECT_EQ(DereferenceOf(meshes), UrbDereference::kMesh);
}

// Fewer than 16 would need a stall after each change of the geometry shader.
TEST(UrbTest, AGeometryShaderHasEnoughEntriesForEightAtATime) {
  for (const RenderDevice& device : RenderDevices()) {
    const auto urb = PartitionUrb(device, UrbKbOf(device, L3Partition{.urb = 16}),
                                  {.entry_units = {1, 0, 0, 200}});
    if (!urb.ok()) continue;
    const unsigned least = device.version >= 125 ? 2 : device.version >= 90 ? 16 : 8;
    EXPECT_GE((*urb)[UrbStage::kGeometry].entries, least) << device.name;
  }
}

// 768 KB are 96 chunks, of which 2 are for push constants. Meshes of 4 KB take up all 94 that there
// are: two to a chunk.
TEST(MeshUrbTest, MeshesAloneHaveAllThatTheyCanUse) {
  const auto urb = PartitionMeshUrb(Known("dg2"), 768, {.task_units = 0, .mesh_units = 64});
  ASSERT_TRUE(urb.ok()) << urb.status();
  EXPECT_EQ(urb->mesh.entries, 188u);
  EXPECT_EQ(urb->mesh.start, 2u);
  EXPECT_EQ(urb->task.entries, 0u);
  EXPECT_TRUE(urb->constrained);
  // 1548 entries of 64 bytes, in eights: 1544, of 13 chunks.
  const auto small = PartitionMeshUrb(Known("dg2"), 768, {.task_units = 0, .mesh_units = 1});
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small->mesh.entries, 1544u);
  EXPECT_FALSE(small->constrained);
}

// Of 94 chunks 1 goes to each first: 8 tasks of 512 bytes, 1 mesh of 2 KB. They could use 96 and
// 386 more, so that of the 92 left tasks get 92 * 96 / 482, that is 18.
TEST(MeshUrbTest, TasksAndMeshesShareBySize) {
  const auto urb = PartitionMeshUrb(Known("xe2"), 768, {.task_units = 8, .mesh_units = 32});
  ASSERT_TRUE(urb.ok()) << urb.status();
  EXPECT_EQ(urb->mesh.entries, 75u * 4);
  EXPECT_EQ(urb->task.entries, 19u * 16);
  EXPECT_EQ(urb->mesh.start, 2u);
  EXPECT_EQ(urb->task.start, 77u);
}

TEST(MeshUrbTest, WhatCannotBeIsRefused) {
  const auto code = [](const char* device, unsigned kb, MeshUrbDemand demand) {
    return PartitionMeshUrb(Known(device), kb, demand).status().code();
  };
  EXPECT_EQ(code("dg2", 768, {.task_units = 0, .mesh_units = 0}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("dg2", 768, {.task_units = 0, .mesh_units = 1025}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("dg2", 768, {.task_units = 1025, .mesh_units = 1}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("skl gt2", 384, {.task_units = 0, .mesh_units = 1}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("dg2", 64, {.task_units = 0, .mesh_units = 1024}),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code("dg2", 8, {.task_units = 0, .mesh_units = 1}),
            absl::StatusCode::kResourceExhausted);
}

TEST(MeshUrbTest, RandomDemandsFit) {
  std::mt19937 random(7);
  size_t good = 0;
  for (unsigned i = 0; i < 4000; ++i) {
    const MeshUrbDemand demand{.task_units = random() % 4 == 0 ? 0u : unsigned(random() % 1025),
                               .mesh_units = unsigned(random() % 1024 + 1)};
    const unsigned kb = 8 * (random() % 128 + 1);
    const auto urb = PartitionMeshUrb(Known("dg2"), kb, demand);
    if (!urb.ok()) continue;
    ++good;
    const auto bytes = [](const UrbPartition::Stage& stage) {
      return uint64_t{stage.entries} * stage.entry_units * kUrbUnitBytes;
    };
    const uint64_t mesh_begin = uint64_t{urb->mesh.start} * kUrbChunkBytes;
    const uint64_t task_begin = uint64_t{urb->task.start} * kUrbChunkBytes;
    EXPECT_GE(mesh_begin, 16u * 1024);
    EXPECT_LE(mesh_begin + bytes(urb->mesh), task_begin);
    EXPECT_LE(task_begin + (demand.task_units == 0 ? 0 : bytes(urb->task)), uint64_t{kb} * 1024);
    EXPECT_GT(urb->mesh.entries, 0u);
    EXPECT_EQ(urb->task.entries == 0, demand.task_units == 0);
    for (const auto& stage : {urb->mesh, urb->task}) {
      EXPECT_LE(stage.entries, 1548u);
      EXPECT_TRUE(stage.entry_units >= 9 || stage.entries % 8 == 0) << stage.entries;
    }
  }
  EXPECT_GT(good, 1000u);
}

// -- Push constants ------------------------------------------------------------------------------

TEST(PushConstantsTest, AreSharedInWholeSteps) {
  const RenderDevice device = Known("skl gt2");
  const auto two = PartitionPushConstants(device, {.vertex = true, .pixel = true});
  EXPECT_EQ(two.vertex.size_kb, 16u);
  EXPECT_EQ(two.pixel.offset_kb, 16u);
  EXPECT_EQ(two.pixel.size_kb, 16u);
  EXPECT_EQ(two.hull.size_kb, 0u);
  // 32 / 5 is 6.4, and steps are of 2: the pixel shader has the rest.
  const auto five = PartitionPushConstants(device, {true, true, true, true, true});
  EXPECT_EQ(five.vertex.size_kb, 6u);
  EXPECT_EQ(five.geometry.offset_kb, 18u);
  EXPECT_EQ(five.pixel.offset_kb, 24u);
  EXPECT_EQ(five.pixel.size_kb, 8u);
  const auto none = PartitionPushConstants(device, {});
  EXPECT_EQ(none.pixel.size_kb, 0u);
}

// -- L3 ------------------------------------------------------------------------------------------

TEST(L3Test, TheUsualPartitionIsWhatDrawingAsksFor) {
  for (const RenderDevice& device : RenderDevices()) {
    const auto chosen = ChooseL3(device, {.urb = 1, .all = 1});
    if (device.version >= 200) {
      EXPECT_EQ(chosen.status().code(), absl::StatusCode::kNotFound);
      continue;
    }
    ASSERT_TRUE(chosen.ok()) << device.name;
    if (device.version <= 90) {
      EXPECT_EQ(*chosen, L3Partitions(device)[0]) << device.name;
    }
  }
}

TEST(L3Test, LocalMemoryAndDataGetWaysOfTheirOwn) {
  const auto compute = ChooseL3(Known("skl gt2"), {.slm = 1, .urb = 0.5, .all = 1.5});
  ASSERT_TRUE(compute.ok());
  EXPECT_EQ(*compute, (L3Partition{.slm = 32, .urb = 16, .all = 48}));
  const auto broadwell = ChooseL3(Known("bdw gt2"), {.slm = 1, .urb = 0.5, .all = 1.5});
  ASSERT_TRUE(broadwell.ok());
  EXPECT_EQ(*broadwell, (L3Partition{.slm = 24, .urb = 16, .all = 48}));
  const auto split = ChooseL3(Known("skl gt2"), {.urb = 3, .data = 1, .read_only = 2});
  ASSERT_TRUE(split.ok());
  EXPECT_EQ(*split, (L3Partition{.urb = 48, .data = 16, .read_only = 32}));
  // From Gfx11 on local memory is elsewhere.
  const auto later = ChooseL3(Known("icl 8 banks"), {.slm = 1, .urb = 1, .all = 2});
  ASSERT_TRUE(later.ok());
  EXPECT_EQ(*later, (L3Partition{.urb = 32, .all = 64}));
}

TEST(L3Test, WeightsThatMakeNoSenseAreErrors) {
  const RenderDevice device = Known("skl gt2");
  EXPECT_EQ(ChooseL3(device, {}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ChooseL3(device, {.urb = -1, .all = 2}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ChooseL3(device, {.urb = std::numeric_limits<double>::quiet_NaN()}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ChooseL3(device, {.slm = 1, .data = 1, .read_only = 1}).status().code(),
            absl::StatusCode::kOk);
}

}  // namespace
}  // namespace packsmith::intel
