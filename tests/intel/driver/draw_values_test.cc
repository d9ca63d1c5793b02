// What vertices read of their draw: the first vertex and instance, and the draw's number, however
// the generation provides them.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/batch/indirect.h"
#include "tests/intel/driver/draw_fixture.h"
#include "tests/intel/driver/drawn_values.h"

namespace packsmith::intel {
namespace {

class DrawValuesTest : public DrawFixture {
 protected:
  DrawValuesTest() : reader_(machine_, *FindGeneration(GetParam())) {
    machine_.shaders = [this](const sim::Work& work, sim::WorkMemory& memory) {
      drawn_.push_back(reader_.Read(work, memory));
    };
  }
  std::unique_ptr<GraphicsPipeline> NewReader(VertexIds ids) {
    const auto kernel = machine_.context->NewKernel(DrawnBytes(64, 0));
    EXPECT_TRUE(kernel.ok());
    vertex_ = {.entry = {.offset = *kernel, .start_register = 2}, .urb_read_length = 1};
    fragment_ = {.simd16 = ShaderEntry{.offset = *kernel, .start_register = 4}};
    auto pipeline = machine_.context->NewGraphicsPipeline(
        {.shaders = {.vertex = &vertex_, .fragment = &fragment_}, .vertices = {.ids = ids}});
    EXPECT_TRUE(pipeline.ok()) << pipeline.status();
    return *std::move(pipeline);
  }
  bool HasBuffers() const { return GetParam() == "gfx8" || GetParam() == "gfx9"; }

  static constexpr VertexIds kAll = {.first_vertex = true, .first_instance = true, .draw = true};
  DrawnValuesReader reader_;
  std::vector<DrawnValues> drawn_;
};
INSTANTIATE_TEST_SUITE_P(, DrawValuesTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(DrawValuesTest, VerticesReadTheValuesOfTheirDraw) {
  const auto pipeline = NewReader(kAll);
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->Draw({.vertices = 3, .first = 7, .first_instance = 5, .number = 9}))
      << commands->status();
  EXPECT_TRUE(commands->Draw({.vertices = 4, .first = 7, .first_instance = 5, .number = 9}));
  EXPECT_TRUE(commands->Draw({.vertices = 3,
                              .first = 2,
                              .first_instance = 1,
                              .vertex_offset = -2,
                              .indexed = true,
                              .number = 4}));
  machine_.Run(*commands);
  EXPECT_EQ(drawn_, (std::vector<DrawnValues>{{7, 5, 9}, {7, 5, 9}, {~0u - 1, 1, 4}}));
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
  // Once for the buffers of vertices, and once for each draw with other values.
  EXPECT_EQ(Count("3DSTATE_VERTEX_BUFFERS"), HasBuffers() ? 3u : 1u);
  EXPECT_EQ(Count("3DPRIMITIVE_EXTENDED"), HasBuffers() ? 0u : 3u);
}

TEST_P(DrawValuesTest, DrawsInMemoryHaveTheirOwnAndTheNextOneItsOwnAgain) {
  const auto pipeline = NewReader(kAll);
  const DrawArguments arguments[] = {
      {.vertex_count = 3, .instance_count = 1, .first_vertex = 10},
      {.vertex_count = 3, .instance_count = 2, .first_vertex = 20, .first_instance = 21},
      {.vertex_count = 3, .instance_count = 1, .first_vertex = 30}};
  const IndexedDrawArguments indexed[] = {{.index_count = 3,
                                           .instance_count = 1,
                                           .first_index = 1,
                                           .vertex_offset = 40,
                                           .first_instance = 41}};
  const gpu::Buffer source = machine_.BufferOf("source", AsBytes(arguments));
  const gpu::Buffer place = machine_.BufferOf("arguments", DrawnBytes(sizeof(arguments), 0));
  const gpu::Buffer other = machine_.BufferOf("indexed", AsBytes(indexed));
  const uint32_t sizes[] = {12};
  const gpu::Buffer written = machine_.BufferOf("written", AsBytes(sizes));
  auto commands = New();
  BindAll(*commands, *pipeline);
  const DrawCall direct{.vertices = 3, .first = 1, .first_instance = 2, .number = 3};
  EXPECT_TRUE(commands->Draw(direct));
  // The streamer and the vertices see what was copied.
  EXPECT_TRUE(commands->Copy(
      BufferCopy{.source = source, .destination = place, .size = sizeof(arguments)}));
  EXPECT_TRUE(commands->Draw(IndirectDrawCall{.arguments = At(place), .draws = 3}))
      << commands->status();
  EXPECT_TRUE(commands->Draw(IndirectDrawCall{.arguments = At(other), .indexed = true}));
  EXPECT_TRUE(commands->Draw(direct));
  EXPECT_TRUE(
      commands->Draw(StreamOutputDraw{.written = At(written), .stride = 4, .first_instance = 6}));
  EXPECT_TRUE(commands->Draw(direct));
  machine_.Run(*commands);
  EXPECT_EQ(drawn_, (std::vector<DrawnValues>{{1, 2, 3},
                                              {10, 0, 0},
                                              {20, 21, 1},
                                              {30, 0, 2},
                                              {40, 41, 0},
                                              {1, 2, 3},
                                              {0, 6, 0},
                                              {1, 2, 3}}));
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(DrawValuesTest, AfterASecondaryTheyAreSetAgain) {
  const auto pipeline = NewReader(kAll);
  auto part = New({.secondary = true});
  BindAll(*part, *pipeline);
  EXPECT_TRUE(part->Draw({.vertices = 3, .first = 50, .number = 51}));
  ASSERT_TRUE(part->End().ok()) << part->status();
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->Draw({.vertices = 3, .first = 7, .number = 9}));
  EXPECT_TRUE(commands->Execute(*part)) << commands->status();
  EXPECT_TRUE(commands->Draw({.vertices = 3, .first = 7, .number = 9}));
  machine_.Run(*commands);
  EXPECT_EQ(drawn_, (std::vector<DrawnValues>{{7, 0, 9}, {50, 0, 51}, {7, 0, 9}}));
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(DrawValuesTest, PipelinesThatReadNoneCostNothing) {
  machine_.shaders = nullptr;
  const auto pipeline = NewPipeline();
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->Draw({.vertices = 3, .first = 7, .number = 9}));
  EXPECT_TRUE(commands->Draw({.vertices = 3, .first = 8, .number = 1}));
  machine_.Run(*commands);
  EXPECT_EQ(Count("3DPRIMITIVE"), 2u);
  EXPECT_EQ(Count("3DSTATE_VERTEX_BUFFERS"), 1u);
}

TEST_P(DrawValuesTest, BuffersOfValuesAreNotTheCallers) {
  const auto kernel = machine_.context->NewKernel(DrawnBytes(64, 0));
  ASSERT_TRUE(kernel.ok());
  const VertexShader vertex{.entry = {.offset = *kernel, .start_register = 2}};
  VertexIds ids = kAll;
  ids.draw_buffer = 30;
  const auto made = machine_.context->NewGraphicsPipeline(
      {.shaders = {.vertex = &vertex}, .vertices = {.ids = ids}});
  EXPECT_EQ(made.ok(), !HasBuffers()) << made.status();
  auto commands = New();
  const std::vector<VertexBuffer> buffers(32);
  EXPECT_EQ(commands->SetVertexBuffers(buffers), !HasBuffers()) << commands->status();
}

}  // namespace
}  // namespace packsmith::intel
