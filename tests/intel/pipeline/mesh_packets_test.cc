// The packets of tasks and meshes, compared with tables of bits, and what they refuse.
#include "runtime/intel/pipeline/mesh_packets.h"

#include <cstdint>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/pipeline/payload_packets.h"
#include "runtime/intel/state/draw_state.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/pipeline/bit_table.h"
#include "tests/intel/pipeline/packed.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

template <class Gen>
class MeshPacketsTest : public testing::Test {
 protected:
  static constexpr unsigned kVersion = Gen::kVersion;

  const RenderDevice device_ = *FindRenderDevice(kVersion >= 200 ? "xe2" : "dg2");
  MeshShader mesh_{.group = {.program = {.registers = kVersion >= 300 ? 256u : 0u,
                                         .scratch = {.bytes_per_thread = 1024, .surface = 0x80},
                                         .writes_memory = true},
                             .entry = 0x4440,
                             .simd = 32,
                             .invocations = 70,
                             .local_bytes = 5000,
                             .barriers = 1,
                             .indirect_bytes = 64,
                             .draw_id = true},
                   .output = MeshOutput::kLines,
                   .indices = MeshIndices::kWords,
                   .most_primitives = 100,
                   .primitive_pitch_bytes = 64,
                   .primitive_header_bytes = 32,
                   .primitive_read_bytes = 32,
                   .vertex_pitch_bytes = 96,
                   .vertex_header_bytes = 32,
                   .vertex_read_bytes = 64,
                   .distances = {.clip = 3, .cull = 12}};
  const TaskShader task_{.group = {.entry = 0x8000, .simd = 16, .invocations = 16}};
  const FragmentShader fragment_{.simd16 = ShaderEntry{.offset = 0x40, .start_register = 4}};

  absl::Status Add(const MeshStages& stages) {
    PipelineState<Gen> pipeline;
    return AddMeshShaders(stages, device_, pipeline);
  }
  // The packets that a pipeline sets, as a draw state emits them.
  std::map<std::string, Dwords> Emitted(const MeshStages& stages) {
    PipelineState<Gen> pipeline;
    const absl::Status status = AddMeshShaders(stages, device_, pipeline);
    EXPECT_TRUE(status.ok()) << status;
    DrawState<Gen> state(address(0x7000, 99));
    state.InheritAll();
    state.Bind(pipeline);
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    EXPECT_TRUE(state.template Flush<typename Gen::Packets::_3DMESH_1D>(batch)) << state.status();
    EXPECT_TRUE(batch.End().ok());
    std::map<std::string, Dwords> packets;
    for (const Met& met :
         World().Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu).packets) {
      packets[met.name] = met.dwords;
    }
    return packets;
  }
};
TYPED_TEST_SUITE(MeshPacketsTest, Generations);

TYPED_TEST(MeshPacketsTest, PacketsAreTheirBits) {
  auto packets = this->Emitted({&this->task_, &this->mesh_, &this->fragment_, {}});
  const bool xe2 = this->kVersion >= 200, xe3 = this->kVersion >= 300;
  EXPECT_EQ(
      packets["3DSTATE_MESH_CONTROL"],
      FromBits(3, 0x77, {{32, 40, 511}, {62, 62, 1}, {63, 63, 1}, {74, 95, 0x80, xe2 ? 6u : 4u}}));
  // 70 invocations are two threads of 32 lanes, and one of 6.
  EXPECT_EQ(packets["3DSTATE_MESH_SHADER"],
            FromBits(8, 0x7a, {{38, 95, 0x4440, 6}, {96, 105, 69},  {116, 121, xe3 ? 7u : 0u},
                               {128, 137, 3},       {144, 148, 4},  {152, 155, 0},
                               {156, 158, 1},       {160, 176, 64}, {178, 178, 1},
                               {179, 179, 1},       {181, 181, 1},  {182, 182, 1},
                               {188, 189, 2},       {190, 191, 2},  {192, 223, 0x3f},
                               {224, 233, 99},      {236, 240, 2},  {244, 248, 3},
                               {249, 251, 5},       {252, 253, 1},  {255, 255, 1}}));
  EXPECT_EQ(packets["3DSTATE_MESH_DISTRIB"],
            FromBits(2, 0x78, {{34, 34, 1}, {36, 39, 3}, {42, 45, 9}}));
  EXPECT_EQ(packets["3DSTATE_CLIP_MESH"],
            FromBits(2, 0x81, {{32, 39, 12}, {40, 47, 3}, {48, 48, 1}}));
  EXPECT_EQ(packets["3DSTATE_SBE_MESH"],
            FromBits(2, 0x82, {{32, 36, 2}, {37, 42, 1}, {43, 47, 1}, {48, 53, 1}}));
  EXPECT_EQ(packets["3DSTATE_TASK_CONTROL"],
            FromBits(3, 0x7c, {{32, 40, 511}, {62, 62, 1}, {63, 63, 1}}));
  EXPECT_EQ(packets["3DSTATE_TASK_SHADER"], FromBits(7, 0x7d,
                                                     {{38, 95, 0x8000, 6},
                                                      {96, 105, 15},
                                                      {116, 121, xe3 ? 3u : 0u},
                                                      {128, 137, 1},
                                                      {178, 178, 1},
                                                      {179, 179, 1},
                                                      {188, 189, 1},
                                                      {190, 191, 1},
                                                      {192, 223, 0xffff}}));
  EXPECT_EQ(packets["3DSTATE_TASK_REDISTRIB"],
            FromBits(2, 0x79, {{32, 33, 1}, {34, 35, 1}, {36, 39, 5}, {42, 44, 1}, {48, 49, 1}}));
  EXPECT_EQ(packets.count("3DSTATE_PS"), 1u);
  EXPECT_EQ(packets.count("3DSTATE_PS_EXTRA"), 1u);
}

TYPED_TEST(MeshPacketsTest, PayloadsAreReadBack) {
  using Mesh = typename TypeParam::Packets::_3DSTATE_MESH_SHADER;
  const auto read = [&] {
    return ReadWorkgroup(Mesh::unpack(
        this->Emitted({nullptr, &this->mesh_, &this->fragment_, {}})["3DSTATE_MESH_SHADER"]
            .data()));
  };
  const WorkgroupProgram group = read();
  EXPECT_EQ(group.entry, 0x4440u);
  EXPECT_EQ(group.simd, 32u);
  EXPECT_EQ(group.invocations, 70u);
  EXPECT_TRUE(group.local_ids);
  EXPECT_TRUE(group.inline_data);
  EXPECT_EQ(PayloadOf(group, TypeParam::kFacts)->ToText(),
            PayloadOf(this->mesh_.group, TypeParam::kFacts)->ToText());
  this->mesh_.group.local_ids = this->mesh_.group.inline_data = false;
  EXPECT_EQ(PayloadOf(read(), TypeParam::kFacts)->ToText(), "r0       thread header\n");
}

TYPED_TEST(MeshPacketsTest, WithoutMeshesAllIsOff) {
  PipelineState<TypeParam> pipeline;
  EXPECT_TRUE(AddMeshShaders({}, this->device_, pipeline).ok());
  // There is room for a pipeline of vertices.
  EXPECT_TRUE(AddShaders({}, this->device_, pipeline).ok());
}

TYPED_TEST(MeshPacketsTest, WhatDoesNotFitIsNamed) {
  const auto expect = [&](const MeshShader& mesh, const std::string& text) {
    EXPECT_THAT(this->Add({nullptr, &mesh, nullptr, {}}).message(), HasSubstr(text));
  };
  const auto changed = [&](auto change) {
    MeshShader mesh = this->mesh_;
    change(mesh);
    return mesh;
  };
  expect(changed([](MeshShader& m) { m.group.entry = 8; }), "mesh shader: the kernel is at 0x8");
  expect(changed([](MeshShader& m) { m.group.simd = 4; }), "mesh shader: SIMD4");
  expect(changed([](MeshShader& m) { m.group.invocations = 0; }), "0 invocations");
  expect(changed([](MeshShader& m) { m.group.invocations = 1025; }), "1025 invocations");
  expect(changed([](MeshShader& m) { m.group.local_bytes = 1 << 20; }),
         "bytes of shared local memory 1048576");
  expect(changed([](MeshShader& m) { m.group.barriers = 3; }), "barriers 3");
  expect(changed([](MeshShader& m) { m.group.barriers = 8; }), "barriers 8");
  expect(changed([](MeshShader& m) { m.group.most_groups = 513; }),
         "513; the packet holds 1 to 512 groups in flight");
  expect(changed([](MeshShader& m) { m.group.indirect_bytes = 1 << 17; }),
         "bytes of indirect data 131072");
  expect(changed([](MeshShader& m) { m.group.program.scratch.surface = 0; }), "no surface");
  expect(changed([](MeshShader& m) { m.most_primitives = 1025; }), "1025 primitives");
  expect(changed([](MeshShader& m) { m.vertex_pitch_bytes = 48; }), "vertex_pitch_bytes is 48");
  expect(changed([](MeshShader& m) { m.primitive_pitch_bytes = 1024; }),
         "primitive_pitch_bytes is 1024; it must be a multiple of 32, at most 992");
  EXPECT_THAT(this->Add({&this->task_, nullptr, nullptr, {}}).message(),
              HasSubstr("without a mesh shader"));
  if (this->kVersion >= 200) {
    expect(changed([](MeshShader& m) { m.group.simd = 8; }), "SIMD8; it must be SIMD16 or SIMD32");
  }
}

}  // namespace
}  // namespace packsmith::intel
