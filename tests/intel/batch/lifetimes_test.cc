// Batches whose chunks are destroyed before them.
#include <memory>
#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/gfx125.h"
#include "runtime/intel/batch/gfx9.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/host_device.h"

namespace packsmith::intel {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const gfx9::MI_STORE_DATA_IMM kStore{.address = {0x1000, 7}, .immediate_data = 42};

TEST(BatchLifetimes, ABatchWithoutItsChunksRefusesEverything) {
  std::optional<gpu::HostChunks> chunks(std::in_place);
  Batch<Gfx9> batch(*chunks);
  const Label label = batch.Here();
  ASSERT_TRUE(batch.Emit(kStore));
  chunks.reset();
  EXPECT_EQ(batch.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(batch.status().message(),
              HasSubstr("source of chunks was destroyed before the batch"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(batch.Emit(kStore));
    EXPECT_FALSE(batch.EmitDwords({{1, 2, 3}}));
    EXPECT_EQ(batch.Reserve(1), nullptr);
    EXPECT_FALSE(batch.AlignTo(64));
    EXPECT_FALSE(batch.Bind(label));
    EXPECT_FALSE(batch.Call({0x1000, 7}));
    EXPECT_EQ(batch.End().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(batch.dwords(), 0u);
    EXPECT_THAT(batch.uses().all(), IsEmpty());
    {
      Batch<Gfx9>::Group group(batch, 4);
      EXPECT_FALSE(group.ok());
      group.Emit(kStore);
    }
    // Neither of these restores the chunks.
    i == 0 ? (void)batch.TakeStatus() : batch.Reset();
  }
  gpu::HostChunks others;
  Batch<Gfx9> other(others);
  EXPECT_FALSE(other.Append(batch));
}

TEST(BatchLifetimes, ABatchThatHasEndedCanStillBeAskedWhereItWas) {
  auto chunks = std::make_unique<gpu::HostChunks>();
  Batch<Gfx9> batch(*chunks, {.relocations = true});
  ASSERT_TRUE(batch.Emit(kStore));
  ASSERT_TRUE(batch.End().ok());
  const uint64_t gpu = batch.parts()[0].chunk.gpu;
  chunks.reset();
  ASSERT_THAT(batch.parts(), SizeIs(1));
  EXPECT_EQ(batch.parts()[0].chunk.gpu, gpu);
  EXPECT_THAT(batch.parts()[0].chunk.words, IsEmpty());
  EXPECT_THAT(batch.relocations(), IsEmpty());
  EXPECT_EQ(batch.ContinueAt({0x2000, 8}).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(batch.Emit(kStore));
}

TEST(BatchLifetimes, AGroupThatIsOpenIsLostWithTheChunks) {
  auto chunks = std::make_unique<gpu::HostChunks>();
  Batch<Gfx9> batch(*chunks);
  Batch<Gfx9>::Group group(batch, 8);
  ASSERT_TRUE(group.Emit(kStore));
  chunks.reset();
  EXPECT_FALSE(group.ok());
  group.Close();
  EXPECT_EQ(batch.dwords(), 0u);
  EXPECT_FALSE(batch.Emit(kStore));
}

TEST(BatchLifetimes, ManyBatchesOfOneSourceAreAllToldAndThoseThatAreGoneAreNot) {
  auto chunks = std::make_unique<gpu::HostChunks>();
  std::optional<Batch<Gfx9>> batches[9];
  for (auto& batch : batches) ASSERT_TRUE(batch.emplace(*chunks).Emit(kStore));
  for (const int gone : {8, 4, 0}) batches[gone].reset();
  chunks.reset();
  for (auto& batch : batches) {
    EXPECT_FALSE(batch.has_value() && batch->Emit(kStore));
  }
}

TEST(BatchLifetimes, AnErrorThatWasThereBeforeStays) {
  auto chunks = std::make_unique<gpu::HostChunks>();
  Batch<Gfx9> batch(*chunks);
  EXPECT_FALSE(batch.AlignTo(3));
  chunks.reset();
  EXPECT_THAT(batch.status().message(), HasSubstr("alignment is 3"));
}

class DeviceOfAGeneration : public testing::Test {
 protected:
  std::unique_ptr<gpu::HostDevice> device_ =
      *gpu::HostDevice::Create({.device = {.generation = "gfx9"}});
  std::unique_ptr<gpu::AddressSpace> space_ =
      *gpu::AddressSpace::Create(*gpu::LayOutZones(IrisZones(), {.verx10 = 90}));
  std::unique_ptr<gpu::Buffers> buffers_ = gpu::Buffers::Create(*device_, *space_, {});
  gpu::BufferChunks chunks_{*buffers_, {.zone = *space_->FindZone("other")}};
};

TEST_F(DeviceOfAGeneration, ADeviceThatIsDestroyedTakesTheBatchWithIt) {
  Batch<Gfx9> batch(chunks_);
  ASSERT_TRUE(batch.Emit(kStore));
  device_.reset();
  EXPECT_THAT(batch.status().message(), HasSubstr("the device was destroyed before the batch"));
  EXPECT_FALSE(batch.Emit(kStore));
  EXPECT_FALSE(chunks_.Release().ok());
}

TEST_F(DeviceOfAGeneration, RefusesBatchesOfAnother) {
  Batch<Gfx125> batch(chunks_);
  EXPECT_FALSE(batch.Emit(gfx125::MI_NOOP{}));
  EXPECT_EQ(batch.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(batch.status().message(), AllOf(HasSubstr("gfx125"), HasSubstr("gfx9")));
  batch.Reset();
  EXPECT_FALSE(batch.End().ok());
}

TEST_F(DeviceOfAGeneration, TakesBatchesOfItsOwn) {
  Batch<Gfx9> batch(chunks_);
  EXPECT_TRUE(batch.Emit(kStore));
  EXPECT_TRUE(batch.End().ok());
}

TEST(DeviceOfNoGeneration, TakesBatchesOfAll) {
  const auto device = *gpu::HostDevice::Create();
  const auto space = *gpu::AddressSpace::Create(*gpu::LayOutZones(IrisZones(), {.verx10 = 90}));
  const auto buffers = gpu::Buffers::Create(*device, *space, {});
  gpu::BufferChunks chunks(*buffers, {.zone = *space->FindZone("other")});
  Batch<Gfx125> batch(chunks);
  EXPECT_TRUE(batch.Emit(gfx125::MI_NOOP{}));
  EXPECT_TRUE(batch.End().ok());
}

}  // namespace
}  // namespace packsmith::intel
