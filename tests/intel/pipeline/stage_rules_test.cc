// The rules of shader stages that need no packets.
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/pipeline/stages.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

const ShaderEntry kEight{.offset = 64, .start_register = 2};
const ShaderEntry kSixteen{.offset = 128, .start_register = 3};
const ShaderEntry kThirtyTwo{.offset = 192, .start_register = 4};

FragmentShader Kernels(int mask, bool per_sample = false) {
  FragmentShader shader;
  if ((mask & 8) != 0) shader.simd8 = kEight;
  if ((mask & 16) != 0) shader.simd16 = kSixteen;
  if ((mask & 32) != 0) shader.simd32 = kThirtyTwo;
  shader.per_sample = per_sample;
  return shader;
}

// The sum of the widths that are enabled; 0: an error.
int Chosen(unsigned version, const FragmentShader& shader, uint32_t samples = 1,
           PixelOperation operation = PixelOperation::kDraw) {
  const auto widths = ChoosePixelWidths(shader, {samples, operation}, FactsOf(version));
  if (!widths.ok()) return 0;
  return 8 * widths->simd8 + 16 * widths->simd16 + 32 * widths->simd32;
}

TEST(StageRules, AllKernelsThatThereAreMayRun) {
  for (const unsigned version : {80, 90, 110, 120, 125}) {
    for (const int mask : {8, 16, 8 + 16, 8 + 32, 16 + 32, 8 + 16 + 32}) {
      EXPECT_EQ(Chosen(version, Kernels(mask)), mask) << version;
    }
    EXPECT_EQ(Chosen(version, Kernels(0)), 0);
  }
  EXPECT_EQ(Chosen(90, Kernels(32)), 32);
  EXPECT_EQ(Chosen(120, Kernels(32)), 0) << "Gfx12 wants a narrower one beside it";
  for (const unsigned version : {200, 300}) {
    for (const int mask : {16, 32, 16 + 32}) {
      EXPECT_EQ(Chosen(version, Kernels(mask)), mask) << version;
    }
    EXPECT_EQ(Chosen(version, Kernels(8)), 0);
    EXPECT_EQ(Chosen(version, Kernels(8 + 16)), 0);
  }
}

TEST(StageRules, OneWidthForEachSample) {
  for (const unsigned version : {80, 90, 110}) {
    EXPECT_EQ(Chosen(version, Kernels(8 + 16 + 32, true), 4), 32) << version;
    EXPECT_EQ(Chosen(version, Kernels(8 + 16, true), 4), 16) << version;
    EXPECT_EQ(Chosen(version, Kernels(8, true), 4), 8) << version;
  }
  for (const unsigned version : {120, 125}) {
    EXPECT_EQ(Chosen(version, Kernels(8 + 16 + 32, true), 4), 16) << version;
    EXPECT_EQ(Chosen(version, Kernels(8 + 16 + 32, true), 1), 16 + 32) << version;
    EXPECT_EQ(Chosen(version, Kernels(8 + 32, true), 4), 8) << version;
  }
  EXPECT_EQ(Chosen(200, Kernels(16 + 32, true), 4), 16);
  EXPECT_EQ(Chosen(200, Kernels(32, true), 4), 0);
}

TEST(StageRules, NoSimd32ForPixelsOf16Samples) {
  EXPECT_EQ(Chosen(80, Kernels(8 + 32), 8), 8 + 32);
  for (const unsigned version : {90, 110, 120, 125}) {
    EXPECT_EQ(Chosen(version, Kernels(8 + 16 + 32), 16), 8 + 16) << version;
    EXPECT_EQ(Chosen(version, Kernels(32), 16), 0) << version;
  }
  const auto none = ChoosePixelWidths(Kernels(32), {.samples = 16}, FactsOf(90));
  EXPECT_THAT(none.status().message(), HasSubstr("pixels of 16 samples"));
  EXPECT_THAT(none.status().message(), HasSubstr("compile it for SIMD8 or SIMD16"));
  for (const uint32_t samples : {0, 3, 32}) {
    EXPECT_EQ(Chosen(90, Kernels(16), samples), 0) << samples;
  }
}

TEST(StageRules, ClearsAndResolvesHaveNoSimd8) {
  for (const PixelOperation operation :
       {PixelOperation::kFastClear, PixelOperation::kPartialResolve,
        PixelOperation::kFullResolve}) {
    EXPECT_EQ(Chosen(90, Kernels(8 + 16), 1, operation), 16);
    EXPECT_EQ(Chosen(90, Kernels(8), 1, operation), 0);
  }
}

// PRM of Skylake, 3DSTATE_PS, "Kernel Start Pointer 0": the table of enables and pointers.
TEST(StageRules, KernelsHaveTheirSlots) {
  const struct {
    unsigned version;
    int mask;
    int slots[3];  // widths; 0: unused
    int first;
  } rows[] = {
      {90, 8, {8, 0, 0}, 8},           {90, 16, {16, 0, 0}, 16},    {90, 32, {32, 0, 0}, 32},
      {90, 8 + 16, {8, 0, 16}, 8},     {90, 8 + 32, {8, 32, 0}, 8}, {90, 16 + 32, {0, 32, 16}, 16},
      {90, 56, {8, 32, 16}, 8},        {200, 16, {16, 0, 0}, 16},   {200, 32, {0, 32, 0}, 32},
      {200, 16 + 32, {16, 32, 0}, 16},
  };
  for (const auto& row : rows) {
    const FragmentShader shader = Kernels(row.mask);
    const auto widths = ChoosePixelWidths(shader, {}, FactsOf(row.version));
    ASSERT_TRUE(widths.ok()) << widths.status();
    const PixelKernels kernels = PlacePixelKernels(shader, *widths, FactsOf(row.version));
    const auto entry = [&](int width) -> const ShaderEntry* {
      return width == 8    ? &*shader.simd8
             : width == 16 ? &*shader.simd16
             : width == 32 ? &*shader.simd32
                           : nullptr;
    };
    for (int slot = 0; slot < 3; ++slot) {
      EXPECT_EQ(kernels.slots[slot], entry(row.slots[slot])) << row.mask << " slot " << slot;
    }
    EXPECT_EQ(kernels.first, entry(row.first)) << row.mask;
  }
}

// With a kernel of several polygons; bit 64: it runs.
int ChosenOfPolygons(unsigned version, int mask, MultiPolygonEntry polygons,
                     bool per_sample = false, uint32_t samples = 1,
                     PixelOperation operation = PixelOperation::kDraw) {
  FragmentShader shader = Kernels(mask, per_sample);
  shader.multi_polygon = polygons;
  const auto widths = ChoosePixelWidths(shader, {samples, operation}, FactsOf(version));
  if (!widths.ok()) return 0;
  return 8 * widths->simd8 + 16 * widths->simd16 + 32 * widths->simd32 + 64 * widths->multi_polygon;
}

TEST(StageRules, KernelsOfSeveralPolygons) {
  const MultiPolygonEntry dual, two{.polygon_lanes = 16}, four{.polygons = 4};
  for (const unsigned version : {80, 90, 110}) EXPECT_EQ(ChosenOfPolygons(version, 16, dual), 0);
  for (const unsigned version : {120, 125}) {
    EXPECT_EQ(ChosenOfPolygons(version, 0, dual), 64) << version;
    EXPECT_EQ(ChosenOfPolygons(version, 8 + 16 + 32, dual), 16 + 32 + 64) << "instead of SIMD8";
    EXPECT_EQ(ChosenOfPolygons(version, 32, dual), 32 + 64) << "it accompanies SIMD32";
    EXPECT_EQ(ChosenOfPolygons(version, 16, two), 0);
    EXPECT_EQ(ChosenOfPolygons(version, 16, four), 0);
  }
  for (const unsigned version : {200, 300}) {
    for (const MultiPolygonEntry& each : {dual, two, four}) {
      EXPECT_EQ(ChosenOfPolygons(version, 16 + 32, each), 16 + 32 + 64) << version;
    }
    EXPECT_EQ(ChosenOfPolygons(version, 16, {.polygons = 3}), 0);
    EXPECT_EQ(ChosenOfPolygons(version, 16, {.polygons = 4, .polygon_lanes = 16}), 0);
    // Those of 32 lanes have the rules of SIMD32.
    EXPECT_EQ(ChosenOfPolygons(version, 16, two, true, 4), 16);
    EXPECT_EQ(ChosenOfPolygons(version, 16, dual, true, 4), 16 + 64);
    EXPECT_EQ(ChosenOfPolygons(version, 16, four, false, 16), 16);
  }
  EXPECT_EQ(ChosenOfPolygons(120, 16, dual, false, 1, PixelOperation::kFastClear), 16);
  FragmentShader coarse{.multi_polygon = dual, .per_coarse_pixel = true};
  EXPECT_THAT(ChoosePixelWidths(coarse, {}, FactsOf(120)).status().message(),
              HasSubstr("coarse pixels"));
  EXPECT_THAT(ChoosePixelWidths(coarse, {}, FactsOf(90)).status().message(),
              HasSubstr("threads of this generation work on one polygon"));
}

TEST(StageRules, KernelsOfSeveralPolygonsAreInTheFirstSlot) {
  const struct {
    unsigned version;
    int mask;
    MultiPolygonEntry polygons;
    int slots[3];  // widths; 1: of several polygons, 0: unused
  } rows[] = {
      {120, 0, {}, {1, 0, 0}},        {120, 16, {}, {1, 0, 16}},
      {120, 8 + 32, {}, {1, 32, 0}},  {120, 16 + 32, {}, {1, 32, 16}},
      {200, 0, {}, {1, 0, 0}},        {200, 16, {}, {1, 16, 0}},
      {200, 16 + 32, {}, {1, 32, 0}}, {200, 16, {.polygons = 4}, {1, 0, 0}},
  };
  for (const auto& row : rows) {
    FragmentShader shader = Kernels(row.mask);
    shader.multi_polygon = row.polygons;
    const auto widths = ChoosePixelWidths(shader, {}, FactsOf(row.version));
    ASSERT_TRUE(widths.ok()) << widths.status();
    const PixelKernels kernels = PlacePixelKernels(shader, *widths, FactsOf(row.version));
    for (int slot = 0; slot < 3; ++slot) {
      const int width = row.slots[slot];
      const ShaderEntry* const expected = width == 1    ? &shader.multi_polygon->entry
                                          : width == 16 ? &*shader.simd16
                                          : width == 32 ? &*shader.simd32
                                                        : nullptr;
      EXPECT_EQ(kernels.slots[slot], expected) << row.version << " " << row.mask << " " << slot;
    }
    EXPECT_EQ(kernels.first, &shader.multi_polygon->entry);
  }
}

TEST(StageRules, SamplersAreCountedInFours) {
  const std::vector<uint32_t> expected = {0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4};
  for (uint32_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(SamplerGroups(i, FactsOf(90)), expected[i]) << i;
    EXPECT_EQ(SamplerGroups(i, FactsOf(110)), 0u) << "Wa_1606682166";
  }
  EXPECT_EQ(SamplerGroups(1000, FactsOf(125)), 4u);
}

TEST(StageRules, ScratchIsAPowerOfTwo) {
  const struct {
    uint32_t bytes, power;
  } rows[] = {{1, 0},    {1024, 0},  {1025, 1},  {2048, 1},
              {2049, 2}, {65536, 6}, {65537, 7}, {2097152, 11}};
  for (const auto& row : rows) {
    const auto power = ScratchPower(row.bytes);
    ASSERT_TRUE(power.ok()) << power.status();
    EXPECT_EQ(*power, row.power) << row.bytes;
  }
  EXPECT_FALSE(ScratchPower(2097153).ok());
}

TEST(StageRules, RegistersAreCountedInBlocks) {
  const struct {
    uint32_t registers, value;
  } rows[] = {{0, 3},   {1, 0},   {32, 0},  {33, 1},  {96, 2}, {128, 3},
              {160, 4}, {192, 5}, {193, 7}, {224, 7}, {256, 7}};
  for (const auto& row : rows) {
    EXPECT_EQ(RegisterBlocks(row.registers), row.value) << row.registers;
  }
}

TEST(StageRules, GroupsHaveWholeThreads) {
  for (const uint32_t simd : {8, 16, 32}) {
    for (const uint32_t invocations : {1, 7, 8, 31, 32, 33, 1000, 1024}) {
      const auto split =
          SplitGroup("mesh shader", {.simd = simd, .invocations = invocations}, FactsOf(125));
      ASSERT_TRUE(split.ok()) << split.status();
      uint32_t lanes = (split->threads - 1) * simd;
      for (uint32_t mask = split->last_mask; mask != 0; mask >>= 1) {
        EXPECT_EQ(mask & 1, 1u) << "lanes have no gaps";
        ++lanes;
      }
      EXPECT_EQ(lanes, invocations) << "SIMD" << simd;
    }
  }
}

TEST(StageRules, StagesMustBeAPipeline) {
  const VertexShader vertex;
  const TessControlShader control;
  const TessEvalShader eval;
  const GeometryShader geometry;
  EXPECT_TRUE(CheckStages({}).ok());
  EXPECT_TRUE(CheckStages({.vertex = &vertex, .tess_control = &control, .tess_eval = &eval}).ok());
  EXPECT_THAT(CheckStages({.vertex = &vertex, .tess_control = &control}).message(),
              HasSubstr("without a tessellation evaluation shader"));
  EXPECT_THAT(CheckStages({.vertex = &vertex, .tess_eval = &eval}).message(),
              HasSubstr("without a tessellation control shader"));
  EXPECT_THAT(CheckStages({.geometry = &geometry}).message(), HasSubstr("without a vertex shader"));
}

TEST(StageRules, FragmentShadersHaveTraits) {
  FragmentShader shader{.barycentrics = kLinearPixel};
  EXPECT_EQ(TraitsOf(&shader).barycentric, kLinearPixel);
  EXPECT_EQ(TraitsOf(&shader).tests, TestOrder::kAutomatic);
  EXPECT_FALSE(TraitsOf(&shader).force_dispatch);
  shader.kills_pixels = true;
  EXPECT_TRUE(TraitsOf(&shader).force_dispatch);
  shader.program.writes_memory = true;
  EXPECT_EQ(TraitsOf(&shader).tests, TestOrder::kShaderRunsAlways);
  shader.early_tests = true;
  EXPECT_EQ(TraitsOf(&shader).tests, TestOrder::kBeforeShader);
  EXPECT_FALSE(TraitsOf(nullptr).writes_color);
}

}  // namespace
}  // namespace packsmith::intel
