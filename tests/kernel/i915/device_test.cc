// Opening, properties, memory and mappings.
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kernel/i915/rig.h"

namespace packsmith::gpu {
namespace {

namespace api = uapi::i915;
using ::testing::HasSubstr;
using MapMode = I915Device::MapMode;
using Tiling = I915Device::Tiling;

absl::string_view EngineName(capture::EngineClass engine_class) {
  switch (engine_class) {
    case capture::EngineClass::kRender:
      return "render";
    case capture::EngineClass::kCopy:
      return "copy";
    case capture::EngineClass::kVideo:
      return "video";
    case capture::EngineClass::kVideoEnhance:
      return "video-enhance";
    case capture::EngineClass::kCompute:
      return "compute";
  }
  return "";
}

class EveryDevice : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, EveryDevice,
                         ::testing::Values("i965", "gm45", "ilk", "snb", "ivb", "byt", "hsw_gt3",
                                           "bdw", "chv", "skl_gt4", "glk", "icl", "ehl", "tgl",
                                           "adlp", "dg1", "dg2", "mtl"));

TEST_P(EveryDevice, PropertiesAreWhatTheKernelSays) {
  Rig rig(GetParam());
  ASSERT_NE(rig.device, nullptr);
  const DeviceProperties& properties = rig.device->properties();
  const capture::DeviceInfo& info = rig.machine.info;
  EXPECT_EQ(rig.device->generation(), info.generation);
  EXPECT_EQ(properties.driver, "i915");
  EXPECT_EQ(properties.pci_id, info.pci_id);
  EXPECT_EQ(properties.revision, info.revision);
  EXPECT_EQ(properties.discrete, info.discrete());
  EXPECT_EQ(properties.timestamp_hertz, info.timestamp_hz);
  const bool full = info.ppgtt == capture::Ppgtt::kFull;
  EXPECT_EQ(properties.moves_memory, !full);
  EXPECT_EQ(properties.address_bits, full ? 48u : 32u);
  EXPECT_EQ(properties.address_space, full ? uint64_t{1} << info.ppgtt_bits : info.ggtt_bytes);
  EXPECT_EQ(properties.coherent, info.llc || info.snoops || info.discrete());
  EXPECT_EQ(properties.page, info.discrete() ? 64u << 10 : 4096u);
  std::map<std::string, unsigned> engines, found;
  for (const capture::EngineInfo& engine : info.engines) {
    ++engines[std::string(EngineName(engine.engine_class))];
  }
  for (const DeviceProperties::Engine& engine : properties.engines) {
    found[engine.name] = engine.count;
  }
  EXPECT_EQ(found, engines);
  if (info.reports_topology()) {
    EXPECT_EQ(properties.slices.size(), info.topology.slices());
    EXPECT_EQ(properties.subslices(), info.topology.subslices());
    EXPECT_EQ(properties.eus(), info.topology.eu_total());
  } else {
    EXPECT_TRUE(properties.slices.empty());
  }
  ASSERT_EQ(properties.regions.size(), info.discrete() ? 2u : 1u);
  EXPECT_TRUE(properties.regions[0].system);
  EXPECT_EQ(properties.regions[0].size, capture::kSystemMemoryBytes);
  if (info.discrete()) {
    EXPECT_FALSE(properties.regions[1].system);
    EXPECT_EQ(properties.regions[1].size, info.vram_bytes);
    EXPECT_EQ(properties.regions[1].visible, info.vram_visible_bytes);
  }
}

TEST_P(EveryDevice, MemoryOfEachHeapIsMadeMappedAndDestroyed) {
  Counts counts;
  Rig rig(GetParam(), {.counts = &counts});
  int made = 0;
  for (int heap = 0; heap < kHeaps; ++heap) {
    SCOPED_TRACE(heap);
    const MemoryOptions options = {.size = 2 * rig.page(), .heap = static_cast<Heap>(heap)};
    const auto memory = rig.device->Create(options);
    if (!rig.device->properties().has_heap[heap]) {
      EXPECT_EQ(memory.status().code(), absl::StatusCode::kUnimplemented);
      continue;
    }
    ASSERT_TRUE(memory.ok()) << memory.status();
    ++made;
    const auto mapped = rig.device->Map(*memory);
    if (CpuCanSee(options.heap)) {
      ASSERT_TRUE(mapped.ok()) << mapped.status();
      ASSERT_EQ(mapped->size(), options.size);
      EXPECT_EQ((*mapped)[0], 0);
      (*mapped)[options.size - 1] = 0x5a;
      EXPECT_EQ(rig.device->Map(*memory)->data(), mapped->data());
    } else {
      EXPECT_EQ(mapped.status().code(), absl::StatusCode::kFailedPrecondition);
    }
    EXPECT_TRUE(rig.device->Destroy(*memory).ok());
  }
  EXPECT_EQ(made, rig.machine.info.discrete() ? 5 : 2);
  EXPECT_EQ(counts.objects, 0);
}

TEST(I915DeviceTest, AKernelWithoutFenceArraysIsRefused) {
  capture::Machine machine("skl");
  const auto opened = OpenOn(machine, {.params = {{api::kParamHasExecFenceArray, 0}}});
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(opened.status().message(), HasSubstr("Linux 4.14"));
}

TEST(I915DeviceTest, APciIdThatNoDescriptionHasIsAnErrorUnlessTheGenerationIsGiven) {
  capture::Machine machine("skl");
  const RigOptions options = {.params = {{api::kParamChipsetId, 0x1234}}};
  EXPECT_EQ(OpenOn(machine, options).status().code(), absl::StatusCode::kNotFound);
  const auto given =
      I915Device::Open(std::make_unique<I915Connection>(machine, options), {.generation = "skl"});
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ((*given)->generation(), "gfx9");
}

TEST(I915DeviceTest, CachingFollowsHeapUseAndDevice) {
  // What SET_CACHING is asked for, after what opening the device asks.
  const auto cachings = [](absl::string_view device, const MemoryOptions& options) {
    Counts counts;
    Rig rig(device, {.counts = &counts});
    counts.cachings.clear();
    EXPECT_TRUE(rig.device->Create(options).ok());
    return counts.cachings;
  };
  using ::testing::ElementsAre;
  const MemoryOptions cached = {.size = 64 << 10};
  const MemoryOptions uncached = {.size = 64 << 10, .heap = Heap::kSystemUncached};
  const MemoryOptions shown = {.size = 64 << 10, .use = kScanout};
  // With a cache that both share, memory is cached at first, elsewhere it is not.
  EXPECT_THAT(cachings("skl", cached), ::testing::IsEmpty());
  EXPECT_THAT(cachings("skl", uncached), ElementsAre(api::kCachingNone));
  EXPECT_THAT(cachings("skl", shown), ElementsAre(api::kCachingDisplay));
  EXPECT_THAT(cachings("glk", cached), ElementsAre(api::kCachingCached));
  EXPECT_THAT(cachings("glk", uncached), ::testing::IsEmpty());
  EXPECT_THAT(cachings("glk", shown), ElementsAre(api::kCachingDisplay));
  // Discrete GPUs and those with a table of page attributes have no such call.
  EXPECT_THAT(cachings("dg2", cached), ::testing::IsEmpty());
  EXPECT_THAT(cachings("mtl", cached), ::testing::IsEmpty());
  EXPECT_THAT(cachings("mtl", uncached), ::testing::IsEmpty());
}

TEST(I915DeviceTest, AllMappingsOfAnIntegratedGpuShowTheSameMemory) {
  Rig rig("skl");
  const Placed placed = rig.Place(0x10000);
  placed.SetWord(3, 0x1234);
  for (const MapMode mode :
       {MapMode::kCached, MapMode::kWriteCombined, MapMode::kUncached, MapMode::kAperture}) {
    const auto mapped = rig.device->MapAs(placed.memory, mode);
    ASSERT_TRUE(mapped.ok()) << mapped.status();
    uint32_t word = 0;
    std::memcpy(&word, mapped->data() + 12, 4);
    EXPECT_EQ(word, 0x1234u);
    EXPECT_EQ(rig.device->MapAs(placed.memory, mode)->data(), mapped->data());
  }
  EXPECT_EQ(rig.device->MapAs(placed.memory, MapMode::kFixed).status().code(),
            absl::StatusCode::kUnimplemented);
  ASSERT_TRUE(rig.device->Unbind(0, 0x10000, 4096).ok());
  // With the memory go its mappings: the connection's destructor looks.
  EXPECT_TRUE(rig.device->Destroy(placed.memory).ok());
}

TEST(I915DeviceTest, DiscreteGpusMapInOneWay) {
  Rig rig("dg2");
  const Placed placed = rig.Place(0x100000, {.heap = Heap::kLocalVisible});
  EXPECT_TRUE(rig.device->MapAs(placed.memory, MapMode::kFixed).ok());
  EXPECT_EQ(rig.device->MapAs(placed.memory, MapMode::kWriteCombined).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(I915DeviceTest, KernelsWithoutMmapOffsetMapByTheOlderCalls) {
  Rig rig("skl", {.params = {{api::kParamMmapGttVersion, 3}}});
  const Placed placed = rig.Place(0x10000);
  const Placed combined = rig.Place(0x20000, {.heap = Heap::kSystemUncached});
  placed.SetWord(0, 77);
  combined.SetWord(0, 78);
  const auto aperture = rig.device->MapAs(placed.memory, MapMode::kAperture);
  ASSERT_TRUE(aperture.ok()) << aperture.status();
  EXPECT_EQ((*aperture)[0], 77);
  EXPECT_EQ(rig.device->MapAs(placed.memory, MapMode::kUncached).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(I915DeviceTest, MemoryOfThisProcessIsUsedWhereItIs) {
  Rig rig("skl");
  void* const pages =
      mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const absl::Span<uint8_t> bytes(static_cast<uint8_t*>(pages), 8192);
  const auto memory = rig.device->CreateFromUser(bytes);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(rig.device->Map(*memory)->data(), bytes.data());
  EXPECT_TRUE(rig.device->Bind({.address = 0x10000, .size = 8192, .memory = *memory}).ok());
  EXPECT_TRUE(rig.device->Unbind(0, 0x10000, 8192).ok());
  EXPECT_TRUE(rig.device->Destroy(*memory).ok());
  bytes[0] = 1;  // it is still mapped
  EXPECT_EQ(rig.device->CreateFromUser(bytes.subspan(0, 100)).status().code(),
            absl::StatusCode::kInvalidArgument);
  munmap(pages, 8192);
  EXPECT_EQ(rig.device->CreateFromUser(bytes).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(I915DeviceTest, TiledMemoryIsInRowsThroughTheAperture) {
  Rig rig("ivb");
  const Placed placed = rig.Place(0x100000);
  const auto tiled = rig.device->SetTiling(placed.memory, Tiling::kX, 512);
  ASSERT_TRUE(tiled.ok()) << tiled.status();
  EXPECT_EQ(tiled->swizzle, static_cast<uint32_t>(rig.machine.info.swizzle_x));
  EXPECT_EQ(rig.device->GetTiling(placed.memory)->tiling, Tiling::kX);
  EXPECT_EQ(rig.device->SetTiling(placed.memory, Tiling::kX, 100).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(rig.device->MapAs(placed.memory, MapMode::kAperture).ok());
  ASSERT_TRUE(rig.device->SetTiling(placed.memory, Tiling::kNone, 0).ok());
  EXPECT_EQ(rig.device->GetTiling(placed.memory)->tiling, Tiling::kNone);
  Rig discrete("dg2");
  const Placed local = discrete.Place(0x100000, {.heap = Heap::kLocal});
  EXPECT_EQ(discrete.device->SetTiling(local.memory, Tiling::kX, 512).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(I915DeviceTest, ContentThatIsNotNeededIsToldToTheKernel) {
  Rig rig("skl");
  const Placed batch = rig.Place(0x10000), data = rig.Place(0x20000);
  rig.Put(batch, {});
  EXPECT_TRUE(*rig.device->SetNeeded(data.memory, false));
  const std::vector<Resident> residents = {batch.AsResident(), data.AsResident()};
  ASSERT_TRUE(rig.device->Submit({.batch_address = 0x10000, .residents = residents}).ok());
  EXPECT_THAT(rig.machine.watcher.warnings,
              ::testing::ElementsAre(HasSubstr("it is marked as not needed")));
  EXPECT_TRUE(*rig.device->SetNeeded(data.memory, true));
  ASSERT_TRUE(rig.device->Submit({.batch_address = 0x10000, .residents = residents}).ok());
  EXPECT_EQ(rig.machine.watcher.warnings.size(), 1u);
}

TEST(I915DeviceTest, MemoryGoesToOtherDevicesAndComesBackAsItself) {
  capture::Machine machine("skl");
  Rig rig("skl");
  auto other = OpenOn(rig.machine);
  ASSERT_TRUE(other.ok());
  const Placed placed = rig.Place(0x10000, {.size = 8192, .use = kShared});
  placed.SetWord(1, 99);
  const auto file = rig.device->Export(placed.memory);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto imported = (*other)->Import(file->get());
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_EQ(imported->size, 8192u);
  EXPECT_EQ((*(*other)->Map(imported->memory))[4], 99);
  EXPECT_TRUE((*other)->Destroy(imported->memory).ok());
}

TEST(I915DeviceTest, MemoryIsBoundWholeAndInsideTheSpace) {
  Rig rig("skl");
  const auto memory = rig.device->Create({.size = 8192});
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(rig.device->Bind({.address = 0x10000, .size = 4096, .memory = *memory}).code(),
            absl::StatusCode::kUnimplemented);
  Rig small("ehl");  // 36 bits
  const auto other = small.device->Create({.size = 8192});
  const PageBinding beyond = {
      .address = (uint64_t{1} << 36) - 4096, .size = 8192, .memory = *other};
  EXPECT_EQ(small.device->Bind(beyond).code(), absl::StatusCode::kInvalidArgument);
  Rig old("snb");
  const auto third = old.device->Create({.size = 4096});
  EXPECT_EQ(
      old.device->Bind({.space = 1, .address = 0x10000, .size = 4096, .memory = *third}).code(),
      absl::StatusCode::kInvalidArgument);
}

TEST(I915DeviceTest, ProtectedContentThatTheDeviceDoesNotHaveIsUnimplemented) {
  Rig rig("tgl");
  EXPECT_EQ(rig.device->Create({.size = 4096, .use = kProtected}).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(rig.device->CreateContext({.recoverable = false, .protects = true}).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(rig.device->CreateContext({.protects = true}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace packsmith::gpu
