#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/state/draw_state.h"
#include "runtime/intel/state/l3.h"
#include "runtime/intel/state/urb.h"
#include "tests/intel/batch/built.h"
#include "tests/intel/batch/tested.h"

namespace packsmith::intel {
namespace {

template <class Gen>
class PartitionPacketsTest : public testing::Test {};
TYPED_TEST_SUITE(PartitionPacketsTest, Generations);

template <class Register>
constexpr uint32_t OffsetOf() {
  return Register::register_offset;
}

TYPED_TEST(PartitionPacketsTest, L3IsWrittenAfterThePipelineIsDrained) {
  using G = typename TypeParam::Packets;
  using Load = typename TypeParam::LoadRegisterConstant;
  for (const RenderDevice& device : RenderDevices()) {
    if (device.version != TypeParam::kVersion) continue;
    for (const L3Partition& partition : L3Partitions(device)) {
      gpu::HostChunks chunks;
      Batch<TypeParam> batch(chunks);
      {
        typename Batch<TypeParam>::Group group(batch, L3Dwords<TypeParam>());
        EXPECT_TRUE(EmitL3<TypeParam>(group, partition));
      }
      ASSERT_TRUE(batch.End().ok());
      const Decoded decoded =
          World().Put(chunks.chunks()).Decode(TypeParam::kName, batch.parts()[0].chunk.gpu);
      const size_t drains = TypeParam::kVersion <= 90 ? 3 : 0;
      ASSERT_EQ(decoded.packets.size(), drains + 2) << device.name;
      const Met& last = decoded.packets[drains];
      ASSERT_EQ(last.name, "MI_LOAD_REGISTER_IMM");
      const Load load = Load::unpack(last.dwords.data());
      if constexpr (TypeParam::kVersion < 120) {
        EXPECT_EQ(load.register_offset_, OffsetOf<typename G::L3CNTLREG>());
        const auto values = G::L3CNTLREG::unpack(&load.data_dword);
        EXPECT_EQ(values.urb_allocation, partition.urb);
        EXPECT_EQ(values.all_allocation, partition.all);
        EXPECT_EQ(values.dc_allocation, partition.data);
        EXPECT_EQ(values.ro_allocation, partition.read_only);
      } else if constexpr (requires { typename G::L3ALLOC; }) {
        EXPECT_EQ(load.register_offset_, OffsetOf<typename G::L3ALLOC>());
        const auto values = G::L3ALLOC::unpack(&load.data_dword);
        EXPECT_EQ(values.urb_allocation, partition.urb);
        EXPECT_EQ(values.l3_full_way_allocation_enable, partition.full);
      }
    }
  }
}

TYPED_TEST(PartitionPacketsTest, APartitionThatDoesNotFitEmitsNothing) {
  if (TypeParam::kVersion >= 200) return;
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  {
    typename Batch<TypeParam>::Group group(batch, L3Dwords<TypeParam>());
    EXPECT_FALSE(EmitL3<TypeParam>(group, {.urb = 1000}));
  }
  EXPECT_EQ(batch.dwords(), 0u);
}

TYPED_TEST(PartitionPacketsTest, AGroupWithoutRoomIsSaidToBeRefused) {
  class NoChunks : public gpu::ChunkSource {
    absl::StatusOr<gpu::Chunk> NewChunk(size_t) override {
      return absl::ResourceExhaustedError("no");
    }
  } none;
  Batch<TypeParam> batch(none);
  typename Batch<TypeParam>::Group group(batch, L3Dwords<TypeParam>());
  EXPECT_FALSE(EmitL3<TypeParam>(group, {.urb = 32, .all = 64}));
}

// Wa_16014912113.
TYPED_TEST(PartitionPacketsTest, TheUrbOfADomainStageIsLeftOnGfx12) {
  if constexpr (TypeParam::kVersion == 120) {
    using G = typename TypeParam::Packets;
    const RenderDevice device = *FindRenderDevice("tgl 8 banks");
    const auto tessellated = PartitionUrb(device, 512, {.entry_units = {2, 3, 4, 0}});
    const auto others = PartitionUrb(device, 512, {.entry_units = {2, 3, 5, 0}});
    const auto vertices = PartitionUrb(device, 512, {.entry_units = {2, 0, 0, 0}});
    ASSERT_TRUE(tessellated.ok() && others.ok() && vertices.ok());
    EXPECT_TRUE(DomainPartChanges(*tessellated, *vertices));
    EXPECT_TRUE(DomainPartChanges(*tessellated, *others));
    EXPECT_FALSE(DomainPartChanges(*tessellated, *tessellated));
    EXPECT_FALSE(DomainPartChanges(*vertices, *tessellated));
    DrawState<TypeParam> state(address(0x1000, 1));
    state.InheritAll();
    EXPECT_TRUE(SetUrb(state, *tessellated));
    EXPECT_TRUE(state.Set(typename G::_3DSTATE_VF_TOPOLOGY()));
    gpu::HostChunks chunks;
    Batch<TypeParam> batch(chunks);
    ASSERT_TRUE(state.Flush(batch));
    const size_t before = batch.dwords();
    {
      typename Batch<TypeParam>::Group group(batch, LeaveDomainDwords<TypeParam>());
      EXPECT_TRUE(LeaveDomain(state, group, *tessellated));
    }
    EXPECT_EQ(batch.dwords() - before, LeaveDomainDwords<TypeParam>());
    EXPECT_EQ(state.dirty(), DrawState<TypeParam>::template kGroup<typename G::_3DSTATE_URB_VS>);
    ASSERT_TRUE(batch.End().ok());
    const Decoded decoded =
        World().Put(chunks.chunks()).Decode(TypeParam::kName, batch.parts()[0].chunk.gpu);
    unsigned seen = 0;
    for (size_t i = 5; i < decoded.packets.size(); ++i) {
      const Met& packet = decoded.packets[i];
      EXPECT_EQ(packet.faults, 0u);
      if (packet.name == "3DSTATE_URB_VS") {
        const auto values = G::_3DSTATE_URB_VS::unpack(packet.dwords.data());
        EXPECT_EQ(values.vs_number_of_urb_entries, 256u);
        EXPECT_EQ(values.vs_urb_starting_address, (*tessellated)[UrbStage::kVertex].start);
        ++seen;
      } else if (packet.name == "3DSTATE_URB_DS") {
        const auto values = G::_3DSTATE_URB_DS::unpack(packet.dwords.data());
        EXPECT_EQ(values.ds_number_of_urb_entries, 0u);
        EXPECT_EQ(values.ds_urb_entry_allocation_size, 3u);
        EXPECT_EQ(values.ds_urb_starting_address, (*tessellated)[UrbStage::kDomain].start);
        ++seen;
      } else if (packet.name == "PIPE_CONTROL") {
        EXPECT_EQ(seen, 2u);
        EXPECT_TRUE(TypeParam::PipeControl::unpack(packet.dwords.data()).hdc_pipeline_flush_enable);
        ++seen;
      }
    }
    EXPECT_EQ(seen, 3u);
  }
}

TYPED_TEST(PartitionPacketsTest, TheDrawStateEmitsUrbAndPushConstants) {
  using G = typename TypeParam::Packets;
  DrawState<TypeParam> state(address(0x1000, 1));
  state.InheritAll();
  const RenderDevice device = *FindRenderDevice("skl gt2");
  const auto urb = PartitionUrb(device, 384, {.entry_units = {2, 0, 0, 3}});
  ASSERT_TRUE(urb.ok());
  EXPECT_TRUE(SetUrb(state, *urb));
  EXPECT_TRUE(
      SetPushConstants(state, PartitionPushConstants(device, {.vertex = true, .pixel = true})));
  // Packets that go with push constants.
  EXPECT_TRUE(state.Set(typename G::_3DSTATE_VF_TOPOLOGY()));
  const auto both = [&](const auto& constants, const auto& table) {
    auto packet = constants;
    if constexpr (requires { packet.mocs; }) packet.mocs = 1;
    EXPECT_TRUE(state.Set(packet));
    EXPECT_TRUE(state.Set(table));
  };
  both(typename G::_3DSTATE_CONSTANT_VS(), typename G::_3DSTATE_BINDING_TABLE_POINTERS_VS());
  both(typename G::_3DSTATE_CONSTANT_HS(), typename G::_3DSTATE_BINDING_TABLE_POINTERS_HS());
  both(typename G::_3DSTATE_CONSTANT_DS(), typename G::_3DSTATE_BINDING_TABLE_POINTERS_DS());
  both(typename G::_3DSTATE_CONSTANT_GS(), typename G::_3DSTATE_BINDING_TABLE_POINTERS_GS());
  both(typename G::_3DSTATE_CONSTANT_PS(), typename G::_3DSTATE_BINDING_TABLE_POINTERS_PS());
  gpu::HostChunks chunks;
  Batch<TypeParam> batch(chunks);
  ASSERT_TRUE(state.Flush(batch)) << state.status();
  ASSERT_TRUE(batch.End().ok());
  const Decoded decoded =
      World().Put(chunks.chunks()).Decode(TypeParam::kName, batch.parts()[0].chunk.gpu);
  size_t found = 0;
  for (const Met& packet : decoded.packets) {
    EXPECT_EQ(packet.faults, 0u) << packet.name;
    if (packet.name == "3DSTATE_URB_GS") {
      ++found;
      const auto values = G::_3DSTATE_URB_GS::unpack(packet.dwords.data());
      EXPECT_EQ(values.gs_number_of_urb_entries, (*urb)[UrbStage::kGeometry].entries);
      EXPECT_EQ(values.gs_urb_entry_allocation_size, 2u);
      EXPECT_EQ(values.gs_urb_starting_address, (*urb)[UrbStage::kGeometry].start);
    }
    if (packet.name == "3DSTATE_PUSH_CONSTANT_ALLOC_PS") {
      ++found;
      const auto values = G::_3DSTATE_PUSH_CONSTANT_ALLOC_PS::unpack(packet.dwords.data());
      EXPECT_EQ(values.constant_buffer_offset, 16u);
      EXPECT_EQ(values.constant_buffer_size, 16u);
    }
  }
  EXPECT_EQ(found, 2u);
}

}  // namespace
}  // namespace packsmith::intel
