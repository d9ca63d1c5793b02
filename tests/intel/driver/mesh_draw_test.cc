// Draws of tasks and meshes by command buffers, executed, on the generations that have them; on the
// others they are refused.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/intel/batch/indirect.h"
#include "tests/intel/driver/draw_fixture.h"

namespace packsmith::intel {
namespace {

class MeshDrawTest : public DrawFixture {
 protected:
  // Null on generations without meshes.
  std::unique_ptr<GraphicsPipeline> NewMeshPipeline(bool tasks, bool draw_id = false) {
    const auto kernel = machine_.context->NewKernel(DrawnBytes(64, 0));
    EXPECT_TRUE(kernel.ok());
    mesh_ = {.group = {.entry = *kernel, .invocations = 32, .draw_id = draw_id},
             .most_primitives = 16,
             .vertex_pitch_bytes = 64};
    task_ = {.group = {.entry = *kernel, .invocations = 16}};
    return NewPipeline({.task = tasks ? &task_ : nullptr,
                        .mesh = &mesh_,
                        .task_urb_units = 4,
                        .mesh_urb_units = 20});
  }

  MeshShader mesh_;
  TaskShader task_;
};
INSTANTIATE_TEST_SUITE_P(, MeshDrawTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(MeshDrawTest, GenerationsWithoutMeshesSaySo) {
  if (HasMeshes()) GTEST_SKIP();
  mesh_ = {.group = {.entry = 64}};
  const auto pipeline =
      machine_.context->NewGraphicsPipeline({.mesh = &mesh_, .mesh_urb_units = 20});
  EXPECT_EQ(pipeline.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(pipeline.status().message().find("Gfx12.5"), std::string::npos);
  auto commands = New();
  EXPECT_FALSE(commands->Draw(MeshDrawCall{.x = 3}));
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kUnimplemented);
  commands = New();
  EXPECT_FALSE(commands->SetMeshData(MeshStage::kMesh, DrawnBytes(4, 0)));
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kUnimplemented);
}

TEST_P(MeshDrawTest, GroupsAreDrawnWithTheirData) {
  if (!HasMeshes()) GTEST_SKIP();
  const auto pipeline = NewMeshPipeline(/*tasks=*/true);
  auto commands = New();
  BindAll(*commands, *pipeline);
  DrawnBytes data(40, 0);
  data[0] = 0x55;
  data[32] = 0x77;  // the first byte in memory
  EXPECT_TRUE(commands->SetMeshData(MeshStage::kMesh, data)) << commands->status();
  EXPECT_TRUE(commands->Draw(MeshDrawCall{.x = 3, .y = 4, .z = 5})) << commands->status();
  EXPECT_TRUE(commands->Draw(MeshDrawCall{.x = 6})) << commands->status();
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 2u);
  EXPECT_EQ(machine_.works[0].packet, "3DMESH_3D");
  EXPECT_EQ(machine_.works[0].groups, (std::array<int64_t, 3>{3, 4, 5}));
  EXPECT_EQ(machine_.works[1].groups, (std::array<int64_t, 3>{6, 1, 1}));
  const std::vector<uint32_t> packet = StateOf(0, "3DSTATE_MESH_SHADER_DATA");
  ASSERT_EQ(packet.size(), 10u);
  EXPECT_EQ(packet[2], 0x55u);
  const gpu::StatePool& pool = machine_.context->dynamic_pool();
  uint8_t read[1] = {};
  EXPECT_TRUE(machine_.device->Read(0, pool.base() + packet[1], absl::MakeSpan(read)).ok());
  EXPECT_EQ(read[0], 0x77);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(MeshDrawTest, NumbersOfGroupsMayBeInMemory) {
  if (!HasMeshes()) GTEST_SKIP();
  const auto pipeline = NewMeshPipeline(/*tasks=*/false, /*draw_id=*/true);
  const DispatchArguments arguments[] = {{2, 3, 4}, {5, 6, 7}};
  const gpu::Buffer place = machine_.BufferOf("arguments", AsBytes(arguments));
  auto commands = New();
  BindAll(*commands, *pipeline);
  EXPECT_TRUE(commands->Draw(MeshDrawCall{.arguments = At(place), .draws = 2}))
      << commands->status();
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 2u);
  EXPECT_EQ(machine_.works[0].groups, (std::array<int64_t, 3>{2, 3, 4}));
  EXPECT_EQ(machine_.works[1].groups, (std::array<int64_t, 3>{5, 6, 7}));
  // The draw's number.
  const auto draws = DwordsOf("3DMESH_3D");
  ASSERT_EQ(draws.size(), 2u);
  EXPECT_EQ(draws[0].at(4), 0u);
  EXPECT_EQ(draws[1].at(4), 1u);
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(MeshDrawTest, VerticesAndMeshesMayAlternate) {
  if (!HasMeshes()) GTEST_SKIP();
  const auto meshes = NewMeshPipeline(/*tasks=*/true);
  const auto vertices = NewPipeline();
  auto commands = New();
  BindAll(*commands, *vertices);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(commands->Bind(*vertices));
    EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
    EXPECT_TRUE(commands->Bind(*meshes));
    EXPECT_TRUE(commands->Draw(MeshDrawCall{.x = 2})) << commands->status();
  }
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const std::vector<uint32_t> control = StateOf(i, "3DSTATE_MESH_CONTROL");
    const std::vector<uint32_t> task = StateOf(i, "3DSTATE_TASK_CONTROL");
    const std::vector<uint32_t> urb = StateOf(i, "3DSTATE_URB_ALLOC_MESH");
    ASSERT_EQ(control.size(), 3u) << i;
    ASSERT_EQ(task.size(), 3u) << i;
    ASSERT_EQ(urb.size(), 3u) << i;
    // Off, with no part of the URB, for vertices.
    EXPECT_EQ(control[1] != 0, i % 2 == 1) << i;
    EXPECT_EQ(task[1] != 0, i % 2 == 1) << i;
    EXPECT_EQ(urb[1] != 0, i % 2 == 1) << i;
  }
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(MeshDrawTest, DrawsMustBeOfThePipelinesKind) {
  const auto vertices = NewPipeline();
  auto commands = New();
  BindAll(*commands, *vertices);
  EXPECT_FALSE(commands->Draw(MeshDrawCall{.x = 3}));
  if (!HasMeshes()) return;
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kFailedPrecondition);
  const auto meshes = NewMeshPipeline(/*tasks=*/false);
  commands = New();
  BindAll(*commands, *meshes);
  EXPECT_FALSE(commands->Draw({.vertices = 3}));
  EXPECT_NE(commands->status().message().find("MeshDrawCall"), std::string::npos);
  commands = New();
  EXPECT_FALSE(commands->SetMeshData(MeshStage::kTask, DrawnBytes(kMostMeshDataBytes + 1, 0)));
  EXPECT_EQ(commands->status().code(), absl::StatusCode::kOutOfRange);
  const auto without = machine_.context->NewGraphicsPipeline({.mesh = &mesh_});
  EXPECT_NE(without.status().message().find("mesh_urb_units"), std::string::npos);
}

}  // namespace
}  // namespace packsmith::intel
