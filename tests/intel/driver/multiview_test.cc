// Several views by one draw: hardware draws primitives once for each, where it can, or there are
// more instances.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/batch/indirect.h"
#include "runtime/sim/vertices/draw_state.h"
#include "runtime/sim/work.h"
#include "tests/intel/driver/draw_fixture.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class MultiviewTest : public DrawFixture {
 protected:
  MultiviewTest() {
    // The instances of each draw.
    machine_.shaders = [this](const sim::Work& work, sim::WorkMemory&) {
      const std::optional<sim::DrawParameters> numbers =
          sim::DrawParametersOf(*FindGeneration(GetParam()), work);
      ASSERT_TRUE(numbers.has_value());
      instances_.push_back(numbers->instance_count.value_or(~0u));
    };
  }
  bool Replicates() const {
    return GetParam() != "gfx8" && GetParam() != "gfx9" && GetParam() != "gfx11";
  }
  // Two positions for each vertex, where hardware can take them.
  static MultiviewOptions TwoViews() {
    return {.view_mask = 0b1001, .only_positions_differ = true};
  }
  static MultiviewOptions ThreeViews() { return {.view_mask = 0b1011}; }

  // As BindAll(), with a target of several layers.
  void BindLayers(CommandBuffer& commands, const GraphicsPipeline& pipeline, uint32_t layers) {
    BindAll(commands, pipeline);
    const auto image = machine_.context->NewImage({.format = "R8G8B8A8_UNORM",
                                                   .surface_format = SurfaceFormat::R8G8B8A8_UNORM,
                                                   .width = 64,
                                                   .height = 32,
                                                   .layers = layers,
                                                   .name = "layers"});
    ASSERT_TRUE(image.ok()) << image.status();
    const ImageSurface colors[] = {
        machine_.context->SurfaceOf(*image, SurfacePurpose::kRenderTarget)};
    ASSERT_TRUE(commands.SetTargets({.colors = colors})) << commands.status();
  }

  std::vector<uint32_t> instances_;
};
INSTANTIATE_TEST_SUITE_P(, MultiviewTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(MultiviewTest, PrimitivesAreDrawnOnceForEachViewOrInstancesAre) {
  const auto views = NewPipeline({.multiview = TwoViews()});
  const auto none = NewPipeline();
  EXPECT_EQ(views->views().method,
            Replicates() ? MultiviewMethod::kReplication : MultiviewMethod::kInstances);
  EXPECT_EQ(machine_.context->PlanViews(TwoViews())->method, views->views().method);
  auto commands = New();
  BindLayers(*commands, *views, 4);
  EXPECT_TRUE(commands->Draw({.vertices = 3, .instances = 5})) << commands->status();
  EXPECT_TRUE(commands->Bind(*none));
  EXPECT_TRUE(commands->Draw({.vertices = 3, .instances = 5})) << commands->status();
  machine_.Run(*commands);
  EXPECT_THAT(instances_, ElementsAre(Replicates() ? 5 : 10, 5));
  // Layers are selected, and without views they are not.
  EXPECT_EQ(StateField(0, "3DSTATE_CLIP", "Force Zero RTA Index Enable"), 0u);
  EXPECT_EQ(StateField(1, "3DSTATE_CLIP", "Force Zero RTA Index Enable"), 1u);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
  const auto packets = DwordsOf("3DSTATE_PRIMITIVE_REPLICATION");
  if (!Replicates()) {
    EXPECT_TRUE(packets.empty());
    return;
  }
  ASSERT_EQ(packets.size(), 2u);
  const auto field = [&](size_t packet, const char* name) {
    return machine_.Field("3DSTATE_PRIMITIVE_REPLICATION", packets[packet], name);
  };
  EXPECT_EQ(field(0, "Replication Count"), 1u);
  EXPECT_EQ(field(0, "Replica Mask"), 3u);
  // Views 0 and 3, four bits each.
  EXPECT_EQ(packets[0][4], 0x30u);
  EXPECT_EQ(field(1, "Replication Count"), 0u);
}

TEST_P(MultiviewTest, VerticesHaveAPositionForEachReplica) {
  // The header, the position and two locations are one unit of 64 bytes; with another position
  // they are two.
  const Varying varyings[] = {Location(0), Location(1)};
  FragmentInputs inputs;
  inputs.Add({.what = Location(1)});
  const auto none = NewPipeline({.varyings = varyings, .inputs = inputs});
  const auto views = NewPipeline({.varyings = varyings, .inputs = inputs, .multiview = TwoViews()});
  EXPECT_EQ(none->attributes().sources[0].slot, 3u);
  EXPECT_EQ(views->attributes().sources[0].slot, Replicates() ? 4u : 3u);
  auto commands = New();
  BindLayers(*commands, *none, 4);
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->Bind(*views));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  const char* const size = "VS URB Entry Allocation Size";
  EXPECT_EQ(StateField(1, "3DSTATE_URB_VS", size) - StateField(0, "3DSTATE_URB_VS", size),
            Replicates() ? 1u : 0u);
}

TEST_P(MultiviewTest, AttributesOfAnInstanceStayForItsViews) {
  const auto kernel = machine_.context->NewKernel(DrawnBytes(64, 0));
  ASSERT_TRUE(kernel.ok());
  const VertexShader vertex{.entry = {.offset = *kernel, .start_register = 2},
                            .urb_read_length = 1};
  const VertexAttribute attributes[] = {
      {.format = SurfaceFormat::R32G32_FLOAT},
      {.format = SurfaceFormat::R32G32_FLOAT, .step = VertexStep::kInstance, .divisor = 2}};
  const auto pipeline =
      machine_.context->NewGraphicsPipeline({.shaders = {.vertex = &vertex},
                                             .vertices = {.attributes = attributes},
                                             .multiview = ThreeViews()});
  ASSERT_TRUE(pipeline.ok()) << pipeline.status();
  auto commands = New();
  BindLayers(*commands, **pipeline, 4);
  EXPECT_TRUE(commands->Draw({.vertices = 3, .instances = 2})) << commands->status();
  machine_.Run(*commands);
  EXPECT_THAT(instances_, ElementsAre(6));
  std::vector<uint64_t> rates;
  for (const auto& packet : DwordsOf("3DSTATE_VF_INSTANCING")) {
    rates.push_back(
        machine_.Field("3DSTATE_VF_INSTANCING", packet, "Instance Data Step Rate").value_or(~0ull));
  }
  EXPECT_THAT(rates, ElementsAre(0, 6));
}

TEST_P(MultiviewTest, InstancesInMemoryAreMultiplied) {
  const auto views = NewPipeline({.multiview = ThreeViews()});
  const DrawArguments arguments[] = {{.vertex_count = 3, .instance_count = 2},
                                     {.vertex_count = 3, .instance_count = 0},
                                     {.vertex_count = 6, .instance_count = 5}};
  const IndexedDrawArguments indexed[] = {{.index_count = 6, .instance_count = 7}};
  const gpu::Buffer source = machine_.BufferOf("source", AsBytes(arguments));
  const gpu::Buffer place = machine_.BufferOf("arguments", DrawnBytes(64, 0));
  const gpu::Buffer other = machine_.BufferOf("indexed", AsBytes(indexed));
  auto commands = New();
  BindLayers(*commands, *views, 4);
  EXPECT_TRUE(commands->Copy(
      BufferCopy{.source = source, .destination = place, .size = sizeof(arguments)}));
  EXPECT_TRUE(commands->Draw(IndirectDrawCall{.arguments = At(place), .draws = 3}))
      << commands->status();
  EXPECT_TRUE(commands->Draw(IndirectDrawCall{.arguments = At(other), .indexed = true}))
      << commands->status();
  machine_.Run(*commands);
  EXPECT_THAT(instances_, ElementsAre(6, 0, 15, 21));
  EXPECT_EQ(Load(place, 1), 2u);  // the application's numbers are as they were
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(MultiviewTest, TargetsMustHaveTheLayersOfAllViews) {
  const auto views = NewPipeline({.multiview = ThreeViews()});
  auto commands = New();
  BindLayers(*commands, *views, 3);
  EXPECT_FALSE(commands->Draw({.vertices = 3}));
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(commands->status().message()), HasSubstr("view 3"));
  EXPECT_THAT(std::string(commands->status().message()), HasSubstr("3 layers"));
}

TEST_P(MultiviewTest, WhatDoesNotFitIsRefused) {
  const auto kernel = machine_.context->NewKernel(DrawnBytes(64, 0));
  ASSERT_TRUE(kernel.ok());
  const VertexShader vertex{.entry = {.offset = *kernel, .start_register = 2},
                            .urb_read_length = 1};
  const auto refused = [&](GraphicsPipelineOptions options) {
    if (options.mesh == nullptr) options.shaders.vertex = &vertex;
    const auto pipeline = machine_.context->NewGraphicsPipeline(options);
    EXPECT_EQ(pipeline.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(pipeline.status().message());
  };
  EXPECT_THAT(refused({.multiview = {.view_mask = 1 << 16}}), HasSubstr("view 16"));
  const StreamedVarying written[] = {{.what = Varying::kPosition}};
  EXPECT_THAT(
      refused({.stream_output = {.varyings = written, .strides = {16}}, .multiview = ThreeViews()}),
      HasSubstr("stream output"));
  const MeshShader mesh{.group = {.entry = *kernel}};
  EXPECT_THAT(refused({.mesh = &mesh, .mesh_urb_units = 20, .multiview = ThreeViews()}),
              HasSubstr("meshes"));
  const GeometryShader geometry{.entry = {.offset = *kernel, .start_register = 2}};
  EXPECT_THAT(refused({.shaders = {.geometry = &geometry}, .multiview = TwoViews()}),
              HasSubstr("only_positions_differ"));
  if (Replicates()) {
    const Varying clipped[] = {Varying::kClipDistances0to3};
    EXPECT_THAT(refused({.varyings = clipped, .multiview = TwoViews()}),
                HasSubstr("most_replicated"));
  }
  const auto views = NewPipeline({.multiview = ThreeViews()});
  auto commands = New();
  BindLayers(*commands, *views, 4);
  EXPECT_FALSE(commands->Draw({.vertices = 3, .instances = 1u << 31}));
  EXPECT_THAT(std::string(commands->status().message()), HasSubstr("3 views"));
  commands = New();
  BindLayers(*commands, *views, 4);
  EXPECT_FALSE(commands->Draw(
      IndirectDrawCall{.arguments = At(vertices_), .draws = kMostIndirectViewDraws + 1}));
  EXPECT_THAT(std::string(commands->status().message()), HasSubstr("at most 256"));
}

}  // namespace
}  // namespace packsmith::intel
