// Words that packets and states of Gfx7.5 hold, in buffers that share memory with others, and that
// the kernel moves.
#include "runtime/command/relocation_list.h"

#include <cstring>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "packsmith/gfx75.h"
#include "packsmith/gfx8.h"
#include "runtime/capture/execute/sim_executor.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/gfx8.h"
#include "runtime/intel/binding/surface_states.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/host_device.h"
#include "runtime/memory/residency.h"
#include "runtime/memory/state_pool.h"
#include "tests/kernel/i915/rig.h"

namespace packsmith::gpu {
namespace {

using gfx75::MI_BATCH_BUFFER_END;
using gfx75::MI_BATCH_BUFFER_START;
using gfx75::MI_STORE_DATA_IMM;
using gfx75::RENDER_SURFACE_STATE;
using gfx75::STATE_BASE_ADDRESS;

class RelocationListTest : public ::testing::Test {
 protected:
  RelocationListTest() { rig_.machine.kernel.set_executor(&executor_); }

  static std::unique_ptr<AddressSpace> MakeAddresses() {
    auto made = AddressSpace::Create({{.name = "all", .begin = 0x100000, .end = 0x4000000}});
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }
  Buffer Make(uint64_t size) {
    const auto zone = addresses_->FindZone("all");
    const auto buffer = buffers_->Create({.size = size, .zone = *zone});
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    return *buffer;
  }
  // Packs something to a place in a buffer, and notes its addresses. The number of bytes.
  template <class P>
  uint64_t Put(const P& packed, const Buffer& in, uint64_t offset) {
    uint32_t dwords[P::length];
    const error e = packed.pack(dwords);
    EXPECT_FALSE(static_cast<bool>(e)) << e.field;
    std::memcpy(in.cpu + offset, dwords, sizeof(dwords));
    const absl::Status status = list_.AddPacked(packed, dwords, in.handle, in.address + offset);
    EXPECT_TRUE(status.ok()) << status;
    return sizeof(dwords);
  }
  // A store of `value` to an address.
  uint64_t PutStore(const address& to, uint32_t value, const Buffer& in, uint64_t offset) {
    const MI_STORE_DATA_IMM store{.address = to};
    const MI_STORE_DATA_IMM::item items[] = {{.immediate_data = value}};
    uint32_t dwords[MI_STORE_DATA_IMM::length + 1];
    EXPECT_FALSE(static_cast<bool>(store.pack(dwords, items)));
    std::memcpy(in.cpu + offset, dwords, sizeof(dwords));
    const absl::Status status = list_.AddPacked(store, dwords, in.handle, in.address + offset);
    EXPECT_TRUE(status.ok()) << status;
    return sizeof(dwords);
  }
  // Another program has the places of all these.
  void Occupy(const Residency& residency) {
    for (const Resident& resident : residency.residents()) {
      const uint32_t handle = client_.Create(4096);
      std::vector<uapi::i915::gem_exec_object2> objects = {
          capture::Client::Pinned(handle, resident.address)};
      const uint32_t end = 0x05000000;  // MI_BATCH_BUFFER_END
      std::memcpy(client_.Map(handle)->bytes().data(), &end, 4);
      ASSERT_EQ(client_.Submit(objects), 0);
    }
  }
  static uint32_t Word(const Buffer& buffer, uint64_t offset) {
    uint32_t word = 0;
    std::memcpy(&word, buffer.cpu + offset, 4);
    return word;
  }

  capture::SimExecutor executor_;
  Rig rig_{"hsw"};
  const std::unique_ptr<AddressSpace> addresses_ = MakeAddresses();
  const std::unique_ptr<Buffers> buffers_ = Buffers::Create(*rig_.device, *addresses_, {});
  RelocationList list_{*buffers_};
  capture::Client client_{rig_.machine};
};

TEST_F(RelocationListTest, BatchesAndStatesAreRightWhereverTheKernelPutsTheirMemory) {
  // Small buffers share memory; large ones have their own.
  const Buffer first = Make(1024), second = Make(8 << 20), small = Make(256);
  const Buffer data = Make(4 << 20), state = Make(2 << 20);
  Residency residency(*buffers_);
  for (const Buffer& buffer : {first, second, small, data, state}) {
    ASSERT_TRUE(residency.Add(buffer.handle, buffer.handle == data.handle).ok());
  }

  uint64_t at = PutStore({data.address + 8, data.handle}, 11, first, 0);
  Put(MI_BATCH_BUFFER_START{.address_space_indicator =
                                MI_BATCH_BUFFER_START::ADDRESS_SPACE_INDICATOR_PPGTT,
                            .batch_buffer_start_address = {second.address + 64, second.handle}},
      first, at);
  at = 64 + PutStore({small.address + 4, small.handle}, 12, second, 64);
  Put(MI_BATCH_BUFFER_END{}, second, at);
  RENDER_SURFACE_STATE surface;
  surface.mocs = 1;
  surface.surface_base_address = {data.address + 0x100, data.handle};
  Put(surface, state, 96);
  ASSERT_EQ(list_.all().size(), 4u);

  Occupy(residency);
  const auto fence = rig_.device->Submit({.batch_address = first.address,
                                          .residents = residency.residents(),
                                          .relocations = list_.all()});
  ASSERT_TRUE(fence.ok()) << fence.status();
  ASSERT_TRUE(rig_.WaitFor(*fence));
  EXPECT_NE(rig_.machine.watcher.works.back()->streams[0].address, first.address);
  EXPECT_EQ(Word(data, 8), 11u);
  EXPECT_EQ(Word(small, 4), 12u);
  // The state's word is where the store's is, other bits of the dword included.
  const uint32_t now = Word(first, 8) - 8;
  EXPECT_NE(now, data.address);
  uint32_t dwords[RENDER_SURFACE_STATE::length];
  std::memcpy(dwords, state.cpu + 96, sizeof(dwords));
  EXPECT_EQ(RENDER_SURFACE_STATE::unpack(dwords).surface_base_address.gpu, now + 0x100);
}

TEST_F(RelocationListTest, OffsetsOfStatesHoldWhenTheirBaseIsCorrected) {
  // One piece of memory: offsets between several would not hold.
  const auto pool = StatePool::Create(
      *buffers_, *addresses_,
      {.zone = *addresses_->FindZone("all"), .first_block = 2 << 20, .largest_block = 2 << 20});
  ASSERT_TRUE(pool.ok()) << pool.status();
  const auto first = (*pool)->Allocate(64), state = (*pool)->Allocate(64);
  ASSERT_TRUE(first.ok() && state.ok());
  const Buffer batch = Make(2 << 20), data = Make(2 << 20);
  RENDER_SURFACE_STATE surface;
  surface.mocs = 1;
  surface.surface_base_address = {data.address, data.handle};
  uint32_t dwords[RENDER_SURFACE_STATE::length];
  ASSERT_FALSE(static_cast<bool>(surface.pack(dwords)));
  std::memcpy(state->cpu, dwords, sizeof(dwords));
  ASSERT_TRUE(list_.AddPacked(surface, dwords, state->buffer, state->address).ok());
  STATE_BASE_ADDRESS base;
  base.stateless_data_port_access_mocs = base.general_state_mocs = base.surface_state_mocs =
      base.dynamic_state_mocs = base.indirect_object_mocs = base.instruction_mocs = 1;
  base.surface_state_base_address_modify_enable = true;
  base.surface_state_base_address = {state->address - state->offset, state->buffer};
  const uint64_t end = Put(base, batch, 0);
  Put(MI_BATCH_BUFFER_END{}, batch, end);

  Residency residency(*buffers_);
  for (const BufferHandle handle : {batch.handle, data.handle, state->buffer}) {
    ASSERT_TRUE(residency.Add(handle, false).ok());
  }
  Occupy(residency);
  const auto fence = rig_.device->Submit({.batch_address = batch.address,
                                          .residents = residency.residents(),
                                          .relocations = list_.all()});
  ASSERT_TRUE(fence.ok()) << fence.status();
  ASSERT_TRUE(rig_.WaitFor(*fence));
  uint32_t packed[STATE_BASE_ADDRESS::length];
  std::memcpy(packed, batch.cpu, sizeof(packed));
  const STATE_BASE_ADDRESS now = STATE_BASE_ADDRESS::unpack(packed);
  EXPECT_TRUE(now.surface_state_base_address_modify_enable);
  const uint64_t at = (now.surface_state_base_address.gpu + state->offset) & 0xffffffff;
  EXPECT_NE(at, state->address);
  // What the GPU finds there is the state.
  const capture::Work& work = *rig_.machine.watcher.works.back();
  const capture::Mapping* const mapping = work.memory->Find(at);
  ASSERT_NE(mapping, nullptr);
  uint32_t found[RENDER_SURFACE_STATE::length];
  ASSERT_TRUE(mapping->object->Read(at - mapping->address,
                                    {reinterpret_cast<uint8_t*>(found), sizeof(found)}));
  EXPECT_EQ(std::memcmp(found, state->cpu, sizeof(found)), 0);
  EXPECT_NE(work.memory->Find(RENDER_SURFACE_STATE::unpack(found).surface_base_address.gpu),
            nullptr);
}

TEST(BatchRelocationsTest, ABatchGivesTheWordsThatItHasRecorded) {
  const auto device = HostDevice::Create();
  ASSERT_TRUE(device.ok());
  const auto addresses =
      AddressSpace::Create({{.name = "all", .begin = 0x100000, .end = 0x4000000}});
  ASSERT_TRUE(addresses.ok());
  const auto buffers = Buffers::Create(**device, **addresses, {});
  const ZoneId zone = *(*addresses)->FindZone("all");
  // Each shares its memory with others.
  BufferChunks chunks(*buffers, {.zone = zone, .chunk_bytes = 256});
  const auto unused = buffers->Create({.size = 512, .zone = zone});
  const auto data = buffers->Create({.size = 512, .zone = zone});
  ASSERT_TRUE(unused.ok() && data.ok());
  intel::Batch<intel::Gfx8> batch(chunks, {.relocations = true});
  constexpr uint32_t kStores = 40;
  for (uint32_t i = 0; i < kStores; ++i) {
    ASSERT_TRUE(batch.Emit(gfx8::MI_STORE_DATA_IMM{.address = {data->address + 4 * i, data->handle},
                                                   .immediate_data = i}));
  }
  ASSERT_TRUE(batch.End().ok());
  ASSERT_GT(batch.parts().size(), 1u);
  RelocationList list(*buffers);
  ASSERT_TRUE(list.AddBatch(batch).ok());
  // The stores, and the jumps between the parts.
  ASSERT_EQ(list.all().size(), kStores + batch.parts().size() - 1);
  const Resident target = *buffers->ResidentOf(data->handle);
  for (uint32_t i = 0; i < kStores; ++i) {
    const Relocation& relocation = list.all()[i];
    EXPECT_EQ(relocation.target, target.memory);
    EXPECT_EQ(target.address + relocation.delta, data->address + 4 * i);
    EXPECT_TRUE(relocation.written);
    uint32_t word = 0;
    const auto in = (*device)->Map(relocation.in);
    ASSERT_TRUE(in.ok());
    std::memcpy(&word, in->data() + relocation.offset, 4);
    EXPECT_EQ(word, data->address + 4 * i);
  }
  for (size_t i = kStores; i < list.all().size(); ++i) EXPECT_FALSE(list.all()[i].written);
}

TEST(StateRelocationsTest, AStateGivesTheWordsThatItsUsesHaveNoted) {
  const auto device = HostDevice::Create();
  ASSERT_TRUE(device.ok());
  const auto addresses =
      AddressSpace::Create({{.name = "all", .begin = 0x100000, .end = 0x4000000}});
  ASSERT_TRUE(addresses.ok());
  const auto buffers = Buffers::Create(**device, **addresses, {});
  const ZoneId zone = *(*addresses)->FindZone("all");
  const auto states = buffers->Create({.size = 512, .zone = zone});
  const auto colors = buffers->Create({.size = 1 << 20, .zone = zone});
  const auto samples = buffers->Create({.size = 8192, .zone = zone, .alignment = 4096});
  ASSERT_TRUE(states.ok() && colors.ok() && samples.ok());
  intel::ImageSurface image;
  image.purpose = intel::SurfacePurpose::kRenderTarget;
  image.memory = {colors->address, colors->handle};
  image.format = 0x0c7;
  image.mocs = 4;
  image.width = image.height = 64;
  image.tiling = intel::SurfaceTiling::kY;
  image.pitch = 256;
  image.qpitch = 64;
  image.horizontal_alignment = 16;
  image.samples = 4;
  image.auxiliary.mode = intel::AuxiliaryMode::kMcs;
  image.auxiliary.memory = {samples->address, samples->handle};
  image.auxiliary.pitch_tiles = 1;
  image.auxiliary.qpitch = 64;
  uint32_t* const dwords = reinterpret_cast<uint32_t*>(states->cpu + 128);
  intel::StateUses uses;
  const absl::Status written = intel::WriteSurface<intel::Gfx8>(image, dwords, &uses);
  ASSERT_TRUE(written.ok()) << written;
  RelocationList list(*buffers);
  ASSERT_TRUE(list.AddState(uses, states->handle, states->address + 128).ok());
  ASSERT_EQ(list.all().size(), 2u);
  const auto in = buffers->ResidentOf(states->handle);
  const auto first = buffers->ResidentOf(colors->handle),
             second = buffers->ResidentOf(samples->handle);
  ASSERT_TRUE(in.ok() && first.ok() && second.ok());
  EXPECT_EQ(list.all()[0].target, first->memory);
  EXPECT_EQ(list.all()[1].target, second->memory);
  // As a kernel does it that has moved both.
  for (const Relocation& one : list.all()) {
    EXPECT_EQ(one.in, in->memory);
    EXPECT_TRUE(one.written);
    const uint64_t place = one.target == first->memory ? 0x8000000 : 0x9000000;
    const uint64_t at = in->address + one.offset - (states->address + 128);
    ASSERT_LT(at, gfx8::RENDER_SURFACE_STATE::length * 4u);
    dwords[at / 4] = static_cast<uint32_t>(place + one.delta);
  }
  const auto moved = gfx8::RENDER_SURFACE_STATE::unpack(dwords);
  EXPECT_EQ(moved.surface_base_address.gpu, 0x8000000 + (colors->address - first->address));
  EXPECT_EQ(moved.auxiliary_surface_base_address.gpu,
            0x9000000 + (samples->address - second->address));
  EXPECT_EQ(moved.auxiliary_surface_pitch, 0u);
  EXPECT_EQ(list.AddState(uses, states->handle, states->address + 4096).code(),
            absl::StatusCode::kOk);  // still in its memory
  EXPECT_EQ(list.AddState(uses, states->handle, states->address + (1 << 20)).code(),
            absl::StatusCode::kOutOfRange);
}

TEST_F(RelocationListTest, AddressesWithoutABufferAreLeftOut) {
  const Buffer batch = Make(4096);
  PutStore(0x4000, 1, batch, 0);
  EXPECT_TRUE(list_.all().empty());
}

TEST_F(RelocationListTest, WordsMustBeInBuffers) {
  const Buffer batch = Make(2 << 20);
  const auto code = [&](const RelocationList::Word& word) { return list_.Add(word).code(); };
  EXPECT_EQ(code({.at = batch.address, .in = batch.handle, .target = 0x12345}),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(code({.at = batch.address, .in = 0x12345, .target = batch.handle}),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(code({.at = batch.address - 4, .in = batch.handle, .target = batch.handle}),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code({.at = batch.address + (2 << 20) - 2, .in = batch.handle, .target = batch.handle}),
            absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(list_.all().empty());
  EXPECT_EQ(code({.at = batch.address, .in = batch.handle, .target = batch.handle}),
            absl::StatusCode::kOk);
  EXPECT_EQ(list_.all().size(), 1u);
  list_.Clear();
  EXPECT_TRUE(list_.all().empty());
}

}  // namespace
}  // namespace packsmith::gpu
