// Dynamic state: what a pipeline leaves to draws is as if a pipeline had the values, and only what
// changes is emitted.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/shader/pipeline_cache.h"
#include "tests/intel/driver/draw_fixture.h"

namespace packsmith::intel {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kDynamicPackets[] = {"3DSTATE_VF_TOPOLOGY", "3DSTATE_CLIP", "3DSTATE_SF",
                                           "3DSTATE_RASTER", "3DSTATE_WM_DEPTH_STENCIL"};

class DynamicStateTest : public DrawFixture {
 protected:
  bool HasBounds() const {
    return GetParam() != "gfx8" && GetParam() != "gfx9" && GetParam() != "gfx11";
  }
  // A pipeline that has other values than the default ones, and the same as dynamic state.
  GraphicsPipelineOptions Others() const {
    const StencilFace front{.pass = StencilOp::kReplace,
                            .compare = Compare::kLess,
                            .compare_mask = 0x0f,
                            .write_mask = 0xf0,
                            .reference = 3};
    const StencilFace back{.fail = StencilOp::kInvert,
                           .compare = Compare::kGreater,
                           .compare_mask = 0x33,
                           .write_mask = 0xcc,
                           .reference = 5};
    return {.vertices = {.topology = Topology::kLineStrip},
            .rasterization = {.primitive = RasterPrimitive::kLines,
                              .cull = CullMode::kBack,
                              .front_face = FrontFace::kClockwise,
                              .discard = true,
                              .depth_bias = {.fill = true, .constant = 1, .slope = 2, .clamp = 3},
                              .line_width = 4},
            .depth_stencil = {.depth_test = true,
                              .depth_write = true,
                              .depth_compare = Compare::kLessEqual,
                              .stencil_test = true,
                              .front = front,
                              .back = back,
                              .bounds_test = HasBounds(),
                              .min_bound = HasBounds() ? 0.25f : 0,
                              .max_bound = HasBounds() ? 0.5f : 1}};
  }
  DynamicState OthersAsState() const {
    const GraphicsPipelineOptions others = Others();
    const DepthStencil& tests = others.depth_stencil;
    DynamicState state{.topology = others.vertices.topology,
                       .discard = others.rasterization.discard,
                       .cull = others.rasterization.cull,
                       .front_face = others.rasterization.front_face,
                       .line_width = others.rasterization.line_width,
                       .depth_bias = others.rasterization.depth_bias,
                       .depth_test = tests.depth_test,
                       .depth_write = tests.depth_write,
                       .depth_compare = tests.depth_compare,
                       .stencil_test = tests.stencil_test,
                       .stencil_front = tests.front,
                       .stencil_back = tests.back,
                       .stencil_compare_masks = StencilPair{0x0f, 0x33},
                       .stencil_write_masks = StencilPair{0xf0, 0xcc},
                       .stencil_references = StencilPair{3, 5}};
    if (HasBounds()) {
      state.bounds_test = true;
      state.bounds = std::array<float, 2>{0.25f, 0.5f};
    }
    return state;
  }
  // COLOR_CALC_STATE at a draw.
  std::vector<uint32_t> ConstantsAt(size_t work) {
    const uint64_t offset =
        StateField(work, "3DSTATE_CC_STATE_POINTERS", "Color Calc State Pointer");
    std::vector<uint32_t> dwords(6);
    EXPECT_TRUE(machine_.device
                    ->Read(0, machine_.context->dynamic_pool().base() + offset,
                           absl::MakeSpan(reinterpret_cast<uint8_t*>(dwords.data()), 24))
                    .ok());
    return dwords;
  }
  uint64_t ConstantAt(size_t work, const char* field) {
    return machine_.Field("COLOR_CALC_STATE", ConstantsAt(work), field).value_or(~uint64_t{0});
  }
  // Stencil references, front and back.
  std::array<uint64_t, 2> ReferencesAt(size_t work) {
    constexpr const char* kFront = "Stencil Reference Value";
    constexpr const char* kBack = "Backface Stencil Reference Value";
    if (GetParam() == "gfx8") return {ConstantAt(work, kFront), ConstantAt(work, kBack)};
    return {StateField(work, "3DSTATE_WM_DEPTH_STENCIL", kFront),
            StateField(work, "3DSTATE_WM_DEPTH_STENCIL", kBack)};
  }
  // What was executed between a draw and the next one.
  std::vector<std::string> Between(size_t draw) {
    std::vector<size_t> draws;
    for (size_t i = 0; i < machine_.packets.size(); ++i) {
      if (machine_.packets[i] == "3DPRIMITIVE") draws.push_back(i);
    }
    EXPECT_LT(draw + 1, draws.size());
    if (draw + 1 >= draws.size()) return {};
    return {machine_.packets.begin() + static_cast<std::ptrdiff_t>(draws[draw] + 1),
            machine_.packets.begin() + static_cast<std::ptrdiff_t>(draws[draw + 1])};
  }
};
INSTANTIATE_TEST_SUITE_P(, DynamicStateTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(DynamicStateTest, ValuesThatAreSetAreAsThoseOfAPipeline) {
  const auto with = NewPipeline(Others());
  const auto without = NewPipeline();
  const DynamicStates all =
      HasBounds() ? kAllDynamicStates : kAllDynamicStates & ~kDynamicDepthBounds;
  const auto dynamic = NewPipeline({.dynamic = all});
  auto commands = New();
  BindAll(*commands, *with);
  EXPECT_TRUE(commands->Draw({.vertices = 2})) << commands->status();
  EXPECT_TRUE(commands->Bind(*without));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  // Until it is set, it is the pipeline's own.
  EXPECT_TRUE(commands->Bind(*dynamic));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->SetDynamic(OthersAsState())) << commands->status();
  EXPECT_TRUE(commands->Draw({.vertices = 2})) << commands->status();
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 4u);
  std::vector<const char*> packets(std::begin(kDynamicPackets), std::end(kDynamicPackets));
  if (HasBounds()) packets.push_back("3DSTATE_DEPTH_BOUNDS");
  for (const char* const packet : packets) {
    SCOPED_TRACE(packet);
    EXPECT_EQ(StateOf(2, packet), StateOf(1, packet));
    EXPECT_EQ(StateOf(3, packet), StateOf(0, packet));
    EXPECT_NE(StateOf(0, packet), StateOf(1, packet));
  }
  for (const size_t draw : {size_t{0}, size_t{3}}) {
    EXPECT_EQ(ReferencesAt(draw), (std::array<uint64_t, 2>{3, 5})) << draw;
  }
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(DynamicStateTest, EachStateIsDynamicByItself) {
  // The fields that it changes, and those of the same packet that it must not change.
  const struct {
    DynamicStates states;
    const char *packet, *changes, *keeps;
  } cases[] = {
      {kDynamicTopology, "3DSTATE_VF_TOPOLOGY", "Primitive Topology Type", nullptr},
      {kDynamicDiscard, "3DSTATE_CLIP", "Clip Mode", "API Mode"},
      {kDynamicCull, "3DSTATE_RASTER", "Cull Mode", "Front Winding"},
      {kDynamicFrontFace, "3DSTATE_RASTER", "Front Winding", "Cull Mode"},
      {kDynamicLineWidth, "3DSTATE_SF", "Line Width", "Point Width"},
      {kDynamicDepthBias, "3DSTATE_RASTER", "Global Depth Offset Scale", "Cull Mode"},
      {kDynamicDepth, "3DSTATE_WM_DEPTH_STENCIL", "Depth Test Function", "Stencil Test Function"},
      {kDynamicStencil, "3DSTATE_WM_DEPTH_STENCIL", "Stencil Test Function", "Stencil Test Mask"},
      {kDynamicStencilMasks, "3DSTATE_WM_DEPTH_STENCIL", "Stencil Test Mask",
       "Stencil Test Function"},
  };
  const auto with = NewPipeline(Others());
  const auto without = NewPipeline();
  for (const auto& one : cases) {
    SCOPED_TRACE(testing::Message() << one.packet << ", " << one.changes);
    const auto dynamic = NewPipeline({.dynamic = one.states});
    machine_.works.clear();
    auto commands = New();
    BindAll(*commands, *with);
    EXPECT_TRUE(commands->SetDynamic(OthersAsState()));  // before the pipeline
    for (const auto* pipeline : {&with, &without, &dynamic}) {
      EXPECT_TRUE(commands->Bind(**pipeline));
      EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
    }
    machine_.Run(*commands);
    ASSERT_EQ(machine_.works.size(), 3u);
    EXPECT_EQ(StateField(2, one.packet, one.changes), StateField(0, one.packet, one.changes));
    EXPECT_NE(StateField(2, one.packet, one.changes), StateField(1, one.packet, one.changes));
    if (one.keeps == nullptr) continue;
    EXPECT_EQ(StateField(2, one.packet, one.keeps), StateField(1, one.packet, one.keeps));
  }
}

TEST_P(DynamicStateTest, OnlyWhatChangesIsEmitted) {
  const auto dynamic = NewPipeline({.dynamic = kDynamicCull | kDynamicLineWidth | kDynamicDepth});
  const auto other = NewPipeline();
  auto commands = New();
  BindAll(*commands, *dynamic);
  EXPECT_TRUE(commands->SetDynamic({.cull = CullMode::kBack, .line_width = 2}));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->SetDynamic({.cull = CullMode::kBack, .line_width = 2}));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->SetDynamic({.cull = CullMode::kFront}));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  // The line width is as it was.
  EXPECT_TRUE(commands->SetDynamic({.depth_test = true, .depth_compare = Compare::kLess}));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  // Set by another pipeline in between, and back again before a draw.
  EXPECT_TRUE(commands->Bind(*other));
  EXPECT_TRUE(commands->Bind(*dynamic));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 5u);
  EXPECT_THAT(Between(0), IsEmpty());
  EXPECT_THAT(Between(1), Contains("3DSTATE_RASTER"));
  EXPECT_THAT(Between(1), Not(Contains("3DSTATE_SF")));
  EXPECT_THAT(Between(1), Not(Contains("3DSTATE_WM_DEPTH_STENCIL")));
  EXPECT_THAT(Between(2), Contains("3DSTATE_WM_DEPTH_STENCIL"));
  EXPECT_THAT(Between(2), Not(Contains("3DSTATE_RASTER")));
  for (const char* const packet : {"3DSTATE_RASTER", "3DSTATE_SF", "3DSTATE_WM_DEPTH_STENCIL"}) {
    EXPECT_THAT(Between(3), Not(Contains(packet)));
    EXPECT_EQ(StateOf(4, packet), StateOf(3, packet));
  }
}

TEST_P(DynamicStateTest, BlendConstantsAreDynamicInAllPipelines) {
  const auto pipeline = NewPipeline();
  const auto bits = [](float value) {
    uint32_t dword = 0;
    std::memcpy(&dword, &value, 4);
    return dword;
  };
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->SetColorConstants({.blend = {1, 2, 3, 4}, .alpha_reference = 0.5f}));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->SetDynamic({.blend_constants = std::array<float, 4>{5, 6, 7, 8}}));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->SetColorConstants({.blend = {9, 2, 3, 4}}));  // the later one
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->SetDynamic({.blend_constants = std::array<float, 4>{9, 2, 3, 4}}));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 4u);
  EXPECT_EQ(ConstantAt(0, "Blend Constant Color Red"), bits(1));
  EXPECT_EQ(ConstantAt(1, "Blend Constant Color Red"), bits(5));
  EXPECT_EQ(ConstantAt(1, "Blend Constant Color Alpha"), bits(8));
  EXPECT_EQ(ConstantAt(2, "Blend Constant Color Red"), bits(9));
  EXPECT_THAT(Between(2), IsEmpty());
}

TEST_P(DynamicStateTest, ReferencesOfPipelinesAndDrawsAreSetOnAllGenerations) {
  DepthStencil tests{.stencil_test = true};
  tests.front.reference = 7;
  tests.back.reference = 8;
  const auto fixed = NewPipeline({.depth_stencil = tests});
  const auto dynamic = NewPipeline({.depth_stencil = tests, .dynamic = kDynamicStencilReferences});
  auto commands = New();
  BindAll(*commands, *fixed);
  EXPECT_TRUE(commands->SetDynamic({.stencil_references = StencilPair{1, 2}}));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->Bind(*dynamic));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->SetDynamic({.stencil_references = StencilPair{0, 0}}));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 3u);
  EXPECT_EQ(ReferencesAt(0), (std::array<uint64_t, 2>{7, 8}));
  EXPECT_EQ(ReferencesAt(1), (std::array<uint64_t, 2>{1, 2}));
  EXPECT_EQ(ReferencesAt(2), (std::array<uint64_t, 2>{0, 0}));
}

TEST_P(DynamicStateTest, WhatDoesNotFitIsRefusedWithItsName) {
  const auto refused = [&](DynamicStates states, const DynamicState& values) {
    const auto pipeline = NewPipeline({.dynamic = states});
    auto commands = New();
    BindAll(*commands, *pipeline);
    EXPECT_TRUE(commands->SetDynamic(values));
    EXPECT_FALSE(commands->Draw({.vertices = 3}));
    EXPECT_EQ(commands->status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(commands->status().message());
  };
  EXPECT_THAT(refused(kDynamicLineWidth, {.line_width = 1e6f}), testing::HasSubstr("lines of"));
  EXPECT_THAT(refused(kDynamicTopology, {.topology = Topology::kPatchList, .patch_points = 3}),
              testing::HasSubstr("tessellat"));
  if (!HasBounds()) {
    EXPECT_THAT(refused(kDynamicDepthBounds, {.bounds_test = true}), testing::HasSubstr("bounds"));
  }
  // Values that a pipeline does not leave to draws do not matter.
  const auto pipeline = NewPipeline();
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->SetDynamic({.line_width = 1e6f}));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  const auto unknown = machine_.context->NewGraphicsPipeline({.dynamic = 1u << 31});
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(unknown.status().message()), testing::HasSubstr("0x80000000"));
  auto copies = New({.engine = Engine::kCopy});
  EXPECT_FALSE(copies->SetDynamic({.line_width = 1}));
}

TEST_P(DynamicStateTest, APipelineOfACacheIsAsDynamicAsBefore) {
  constexpr CacheKey kKey = {.low = 1, .high = 2};
  PipelineCache cache({.identity = "test"});
  Machine machine(GetParam(), {.pipelines = &cache});
  const auto kernel = machine.context->NewKernel(DrawnBytes(64, 0));
  ASSERT_TRUE(kernel.ok());
  const VertexShader vertex{.entry = {.offset = *kernel, .start_register = 2}};
  ASSERT_TRUE(machine.context
                  ->NewGraphicsPipeline({.shaders = {.vertex = &vertex},
                                         .rasterization = {.front_face = FrontFace::kClockwise},
                                         .dynamic = kDynamicCull,
                                         .key = &kKey})
                  .ok());
  const auto kept = machine.context->FindGraphicsPipeline(kKey);
  ASSERT_TRUE(kept.ok()) << kept.status();
  auto commands = machine.context->NewCommandBuffer({});
  ASSERT_TRUE(commands.ok());
  EXPECT_TRUE((*commands)->SetVertexBuffers({}));
  EXPECT_TRUE((*commands)->Bind(**kept));
  EXPECT_TRUE((*commands)->SetDynamic(
      {.cull = CullMode::kFrontAndBack, .front_face = FrontFace::kCounterClockwise}));
  EXPECT_TRUE((*commands)->Draw({.vertices = 3})) << (*commands)->status();
  machine.Run(**commands);
  const auto raster = std::find(machine.packets.rbegin(), machine.packets.rend(), "3DSTATE_RASTER");
  ASSERT_NE(raster, machine.packets.rend());
  const std::vector<uint32_t>& dwords =
      machine.dwords[machine.packets.size() - 1 -
                     static_cast<size_t>(raster - machine.packets.rbegin())];
  EXPECT_EQ(machine.Field("3DSTATE_RASTER", dwords, "Cull Mode"), 0u);      // both
  EXPECT_EQ(machine.Field("3DSTATE_RASTER", dwords, "Front Winding"), 0u);  // clockwise
}

}  // namespace
}  // namespace packsmith::intel
