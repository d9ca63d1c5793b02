// The pipeline of tasks and meshes, and what Gfx12.5 requires around push constants.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/state/draw_state.h"
#include "runtime/intel/state/urb.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/tested.h"

namespace packsmith::intel {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr uint32_t kMocs = 6;
const address kMeshScratch(0x7000, 99);

template <class Gen>
class MeshTest : public testing::Test {
 protected:
  using G = typename Gen::Packets;
  using Draw = typename G::_3DMESH_1D;

  RenderDevice device_ = *FindRenderDevice(Gen::kVersion >= 200 ? "xe2" : "dg2");

  void SetMeshes(unsigned task_units = 0) {
    const auto urb =
        PartitionMeshUrb(device_, device_.urb_kb, {.task_units = task_units, .mesh_units = 12});
    ASSERT_TRUE(urb.ok()) << urb.status();
    EXPECT_TRUE(SetMeshUrb(state_, *urb));
    EXPECT_TRUE(
        state_.Set(typename G::_3DSTATE_TASK_CONTROL{.taskshader_enable = task_units != 0}));
    EXPECT_TRUE(state_.Set(typename G::_3DSTATE_MESH_CONTROL{.meshshader_enable = 1}));
    EXPECT_TRUE(state_.Set(typename G::_3DSTATE_TASK_SHADER()));
    EXPECT_TRUE(state_.Set(typename G::_3DSTATE_TASK_REDISTRIB()));
    EXPECT_TRUE(state_.Set(typename G::_3DSTATE_MESH_SHADER{.kernel_start_pointer = 64}));
    EXPECT_TRUE(state_.Set(typename G::_3DSTATE_MESH_DISTRIB()));
    EXPECT_TRUE(state_.Set(typename G::_3DSTATE_CLIP_MESH()));
    EXPECT_TRUE(state_.Set(typename G::_3DSTATE_SBE_MESH()));
  }
  void SetConstants() {
    const auto both = [&](auto constants, const auto& table) {
      constants.mocs = kMocs;
      EXPECT_TRUE(state_.Set(constants));
      EXPECT_TRUE(state_.Set(table));
    };
    both(typename G::_3DSTATE_CONSTANT_VS(), typename G::_3DSTATE_BINDING_TABLE_POINTERS_VS());
    both(typename G::_3DSTATE_CONSTANT_HS(), typename G::_3DSTATE_BINDING_TABLE_POINTERS_HS());
    both(typename G::_3DSTATE_CONSTANT_DS(), typename G::_3DSTATE_BINDING_TABLE_POINTERS_DS());
    both(typename G::_3DSTATE_CONSTANT_GS(), typename G::_3DSTATE_BINDING_TABLE_POINTERS_GS());
    both(typename G::_3DSTATE_CONSTANT_PS(), typename G::_3DSTATE_BINDING_TABLE_POINTERS_PS());
  }
  // The packets that `emit` emits.
  template <class F>
  std::vector<Met> Emitted(F emit) {
    gpu::HostChunks chunks;
    Batch<Gen> batch(chunks);
    emit(batch);
    EXPECT_TRUE(batch.End().ok()) << batch.status();
    const Decoded decoded =
        World().Put(chunks.chunks()).Decode(Gen::kName, batch.parts()[0].chunk.gpu);
    EXPECT_THAT(decoded.problems, IsEmpty());
    return decoded.packets;
  }
  std::vector<Met> Flushed() {
    return Emitted([&](Batch<Gen>& batch) {
      state_.InheritAll();
      EXPECT_TRUE(state_.template Flush<Draw>(batch)) << state_.status() << batch.status();
    });
  }
  static std::vector<std::string> Names(const std::vector<Met>& packets) {
    std::vector<std::string> names;
    for (const Met& packet : packets) {
      EXPECT_EQ(packet.faults, 0u) << packet.name;
      if (packet.name != "MI_BATCH_BUFFER_END") names.push_back(packet.name);
    }
    return names;
  }
  static const Met* Find(const std::vector<Met>& packets, const std::string& name) {
    for (const Met& packet : packets) {
      if (packet.name == name) return &packet;
    }
    return nullptr;
  }

  DrawState<Gen> state_{kMeshScratch};
};
TYPED_TEST_SUITE(MeshTest, Generations);

TYPED_TEST(MeshTest, ADrawOfMeshesNeedsOtherPacketsThanOneOfVertices) {
  using Draw = typename MeshTest<TypeParam>::Draw;
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  EXPECT_FALSE(this->state_.template Flush<Draw>(batch));
  const std::string message(this->state_.TakeStatus().message());
  EXPECT_THAT(message, HasSubstr("_3DSTATE_MESH_SHADER"));
  EXPECT_THAT(message, HasSubstr("_3DSTATE_URB_ALLOC_TASK"));
  EXPECT_THAT(message, Not(HasSubstr("_3DSTATE_VF_TOPOLOGY")));
  this->SetMeshes();
  EXPECT_FALSE(this->state_.template Flush<Draw>(batch));
  EXPECT_THAT(std::string(this->state_.TakeStatus().message()),
              AllOf(HasSubstr("_3DSTATE_PS,"), Not(HasSubstr("MESH"))));
  using G = typename TypeParam::Packets;
  this->state_.template Inherit<typename G::_3DSTATE_CLIP, typename G::_3DSTATE_SF,
                                typename G::_3DSTATE_RASTER, typename G::_3DSTATE_WM,
                                typename G::_3DSTATE_PS, typename G::_3DSTATE_PS_EXTRA>();
  EXPECT_TRUE(this->state_.template Flush<Draw>(batch)) << this->state_.status();
  EXPECT_FALSE(this->state_.Flush(batch));
  EXPECT_THAT(std::string(this->state_.TakeStatus().message()), HasSubstr("_3DSTATE_VF_TOPOLOGY"));
}

TYPED_TEST(MeshTest, WhatADrawOfMeshesMayFollowADrawOfVerticesMayNot) {
  using Draw = typename MeshTest<TypeParam>::Draw;
  using G = typename TypeParam::Packets;
  using Data = typename G::_3DSTATE_BINDING_TABLE_POINTERS_PS;
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  this->SetMeshes();
  this->state_.template Inherit<typename G::_3DSTATE_CLIP, typename G::_3DSTATE_SF,
                                typename G::_3DSTATE_RASTER, typename G::_3DSTATE_WM,
                                typename G::_3DSTATE_PS, typename G::_3DSTATE_PS_EXTRA>();
  EXPECT_TRUE(this->state_.Set(Data{.pointer_to_ps_binding_table = 64}));
  EXPECT_TRUE(this->state_.template Flush<Draw>(batch)) << this->state_.status();
  const size_t before = batch.dwords();
  EXPECT_TRUE(this->state_.Set(Data{.pointer_to_ps_binding_table = 128}));
  EXPECT_FALSE(this->state_.Flush(batch));
  EXPECT_THAT(std::string(this->state_.TakeStatus().message()), HasSubstr("_3DSTATE_VF_TOPOLOGY"));
  EXPECT_EQ(batch.dwords(), before);
  EXPECT_TRUE(this->state_.template Flush<Draw>(batch)) << this->state_.status();
  EXPECT_EQ(batch.dwords(), before + Data::length);
}

TYPED_TEST(MeshTest, WhatIsSetIsEmittedOnceAndInOrder) {
  this->SetMeshes();
  EXPECT_THAT(this->Names(this->Flushed()),
              ElementsAre("3DSTATE_URB_VS", "3DSTATE_URB_HS", "3DSTATE_URB_DS", "3DSTATE_URB_GS",
                          "3DSTATE_URB_ALLOC_MESH", "3DSTATE_URB_ALLOC_TASK",
                          "3DSTATE_TASK_CONTROL", "3DSTATE_MESH_CONTROL", "3DSTATE_TASK_SHADER",
                          "3DSTATE_TASK_REDISTRIB", "3DSTATE_MESH_SHADER", "3DSTATE_MESH_DISTRIB",
                          "3DSTATE_CLIP_MESH", "3DSTATE_SBE_MESH"));
  EXPECT_THAT(this->Names(this->Flushed()), IsEmpty());
  using G = typename TypeParam::Packets;
  EXPECT_TRUE(this->state_.Set(typename G::_3DSTATE_MESH_SHADER_DATA{.inline_data = {1, 2}}));
  EXPECT_THAT(this->Names(this->Flushed()), ElementsAre("3DSTATE_MESH_SHADER_DATA"));
}

TYPED_TEST(MeshTest, TheUrbGoesToMeshesAndBackToVertices) {
  using G = typename TypeParam::Packets;
  using Mesh = typename G::_3DSTATE_URB_ALLOC_MESH;
  using Task = typename G::_3DSTATE_URB_ALLOC_TASK;
  const auto vertices =
      PartitionUrb(this->device_, this->device_.urb_kb, {.entry_units = {2, 0, 0, 0}});
  ASSERT_TRUE(vertices.ok());
  // Without mesh draws, nothing about meshes is emitted.
  EXPECT_TRUE(SetUrb(this->state_, *vertices));
  EXPECT_TRUE(this->state_.Set(typename G::_3DSTATE_VF_TOPOLOGY()));
  this->state_.InheritAll();
  const auto before = this->Emitted([&](Batch<TypeParam>& b) { this->state_.Flush(b); });
  EXPECT_EQ(this->Find(before, "3DSTATE_URB_ALLOC_MESH"), nullptr);

  this->SetMeshes(/*task_units=*/4);
  const auto urb =
      *PartitionMeshUrb(this->device_, this->device_.urb_kb, {.task_units = 4, .mesh_units = 12});
  const auto meshes = this->Flushed();
  const Met* const mesh = this->Find(meshes, "3DSTATE_URB_ALLOC_MESH");
  const Met* const task = this->Find(meshes, "3DSTATE_URB_ALLOC_TASK");
  const Met* const vs = this->Find(meshes, "3DSTATE_URB_VS");
  ASSERT_TRUE(mesh != nullptr && task != nullptr && vs != nullptr);
  const Mesh mesh_values = Mesh::unpack(mesh->dwords.data());
  EXPECT_EQ(mesh_values.mesh_urb_entry_allocation_size, 11u);
  EXPECT_EQ(mesh_values.mesh_number_of_urb_entries_slice0, urb.mesh.entries);
  EXPECT_EQ(mesh_values.mesh_number_of_urb_entries_slicen, urb.mesh.entries);
  EXPECT_EQ(mesh_values.mesh_urb_starting_address_slice0, urb.mesh.start);
  EXPECT_EQ(mesh_values.mesh_urb_starting_address_slicen, urb.mesh.start);
  const Task task_values = Task::unpack(task->dwords.data());
  EXPECT_EQ(task_values.task_urb_entry_allocation_size, 3u);
  EXPECT_EQ(task_values.task_number_of_urb_entries_slice0, urb.task.entries);
  EXPECT_EQ(task_values.task_urb_starting_address_slicen, urb.task.start);
  EXPECT_EQ(G::_3DSTATE_URB_VS::unpack(vs->dwords.data()).vs_number_of_urb_entries, 0u);

  EXPECT_TRUE(SetUrb(this->state_, *vertices));
  const auto after = this->Emitted([&](Batch<TypeParam>& b) { this->state_.Flush(b); });
  const Met* const gone = this->Find(after, "3DSTATE_URB_ALLOC_MESH");
  ASSERT_NE(gone, nullptr);
  EXPECT_EQ(Mesh::unpack(gone->dwords.data()).mesh_number_of_urb_entries_slice0, 0u);
  const Met* const again = this->Find(after, "3DSTATE_URB_VS");
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(G::_3DSTATE_URB_VS::unpack(again->dwords.data()).vs_number_of_urb_entries,
            (*vertices)[UrbStage::kVertex].entries);
}

TYPED_TEST(MeshTest, LeavingTasksEmptiesTheUrbAndIsKnownToTheState) {
  using G = typename TypeParam::Packets;
  this->SetMeshes(/*task_units=*/4);
  this->Flushed();
  EXPECT_EQ(this->state_.dirty(), 0u);
  const auto left = this->Emitted([&](Batch<TypeParam>& batch) {
    typename Batch<TypeParam>::Group group(batch, LeaveTasksDwords<TypeParam>());
    EXPECT_TRUE(LeaveTasks(this->state_, group, kMeshScratch));
  });
  EXPECT_THAT(this->Names(left),
              ElementsAre("3DSTATE_URB_VS", "3DSTATE_URB_HS", "3DSTATE_URB_DS", "3DSTATE_URB_GS",
                          "3DSTATE_URB_ALLOC_MESH", "3DSTATE_URB_ALLOC_TASK", "PIPE_CONTROL"));
  using State = DrawState<TypeParam>;
  EXPECT_EQ(this->state_.dirty(), State::template kGroup<typename G::_3DSTATE_URB_VS> |
                                      State::template kGroup<typename G::_3DSTATE_URB_ALLOC_MESH>);
  // Without room, nothing changes.
  class NoChunks : public gpu::ChunkSource {
    absl::StatusOr<gpu::Chunk> NewChunk(size_t) override {
      return absl::ResourceExhaustedError("no");
    }
  } none;
  this->Flushed();
  Batch<TypeParam> batch(none);
  {
    typename Batch<TypeParam>::Group group(batch, LeaveTasksDwords<TypeParam>());
    EXPECT_FALSE(LeaveTasks(this->state_, group, kMeshScratch));
  }
  EXPECT_EQ(this->state_.dirty(), 0u);
}

// Wa_22011440098: after a new allotment all constants are emptied, before anything commits them,
// and then set again.
TYPED_TEST(MeshTest, ConstantsAreEmptiedBehindTheirAllotmentOnGfx125) {
  using G = typename TypeParam::Packets;
  this->SetMeshes();
  this->SetConstants();
  this->Flushed();
  EXPECT_TRUE(SetPushConstants(this->state_, MeshPushConstants(this->device_)));
  const std::vector<Met> packets = this->Flushed();
  std::vector<std::string> names = this->Names(packets);
  std::vector<std::string> expected = {
      "3DSTATE_PUSH_CONSTANT_ALLOC_VS", "3DSTATE_PUSH_CONSTANT_ALLOC_HS",
      "3DSTATE_PUSH_CONSTANT_ALLOC_DS", "3DSTATE_PUSH_CONSTANT_ALLOC_GS",
      "3DSTATE_PUSH_CONSTANT_ALLOC_PS"};
  if (TypeParam::kVersion == 125) expected.push_back("3DSTATE_CONSTANT_ALL");
  expected.push_back("3DSTATE_CONSTANT_ALL");  // no stage has any
  for (const char* stage : {"VS", "HS", "DS", "GS", "PS"}) {
    expected.push_back(std::string("3DSTATE_BINDING_TABLE_POINTERS_") + stage);
  }
  EXPECT_EQ(names, expected);
  const Met* const pixel = this->Find(packets, "3DSTATE_PUSH_CONSTANT_ALLOC_PS");
  ASSERT_NE(pixel, nullptr);
  EXPECT_EQ(G::_3DSTATE_PUSH_CONSTANT_ALLOC_PS::unpack(pixel->dwords.data()).constant_buffer_size,
            16u);
  if (const Met* const all = this->Find(packets, "3DSTATE_CONSTANT_ALL")) {
    EXPECT_EQ(all->dwords.size(), 2u) << "no buffer is given";
    EXPECT_EQ(G::_3DSTATE_CONSTANT_ALL::unpack(all->dwords.data()).shader_update_enable, 31u);
  }
}

}  // namespace
}  // namespace packsmith::intel
