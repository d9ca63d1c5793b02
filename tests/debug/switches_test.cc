// Each switch of PACKSMITH_DEBUG, where it acts.
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/debug.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/debug/show_jobs.h"
#include "runtime/decode/record.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/batch/gfx9.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/intel/state/draw_state.h"
#include "runtime/intel/state/gfx9.h"
#include "runtime/memory/debug_submit.h"
#include "runtime/memory/residency.h"
#include "tests/intel/binding/memory.h"

namespace packsmith::gpu {
namespace {

using intel::Value;
using testing::HasSubstr;

class SwitchesTest : public testing::Test {
 protected:
  ~SwitchesTest() override {
    SetDebug(0);
    show_job = nullptr;
  }
  static void On(DebugSwitch which) { SetDebug(static_cast<uint32_t>(which)); }

  // A job that stores 42.
  absl::StatusOr<Fence> Submit(Device& device) {
    batch_.Emit(gfx9::MI_STORE_DATA_IMM{.address = {0x10000, 0}, .immediate_data = 42});
    EXPECT_TRUE(batch_.End().ok());
    for (const BufferUse& use : batch_.uses().all()) {
      EXPECT_TRUE(residency_.Add(use.buffer, use.writes()).ok());
    }
    job_ = {.batch_address = batch_.parts()[0].chunk.gpu,
            .batch_length = batch_.parts()[0].total * uint64_t{4},
            .residents = residency_.residents()};
    return device.Submit(job_);
  }

  intel::BindingMemory memory_{intel::IrisZones(), 90, "gfx9"};
  BufferChunks chunks_{*memory_.buffers, {.zone = memory_.Zone("other")}};
  intel::Batch<intel::Gfx9> batch_{chunks_};
  Residency residency_{*memory_.buffers};
  Job job_;
};

std::string& Shown() {
  static std::string& shown = *new std::string;
  return shown;
}
void Note(Device&, const Job& job) { Shown() += job.engine; }

TEST_F(SwitchesTest, BatShowsJobsBeforeTheyAreSubmitted) {
  show_job = Note;
  ASSERT_TRUE(Submit(*memory_.host).ok());
  EXPECT_EQ(Shown(), "");
  On(DebugSwitch::kBatches);
  ASSERT_TRUE(memory_.host->Submit(job_).ok());
  EXPECT_EQ(Shown(), "render");
}

TEST_F(SwitchesTest, BatDecodes) {
  ASSERT_TRUE(Submit(*memory_.host).ok());
  decode::StringOutput output;
  ShowJobOn(output, *memory_.host, job_);
  EXPECT_THAT(output.text(), HasSubstr("job for engine render"));
  EXPECT_THAT(output.text(), HasSubstr("MI_STORE_DATA_IMM"));
  EXPECT_THAT(output.text(), HasSubstr("42"));
  EXPECT_THAT(output.text(), HasSubstr("MI_BATCH_BUFFER_END"));

  testing::internal::CaptureStderr();
  ShowJobsOnStderr();
  On(DebugSwitch::kBatches);
  ASSERT_TRUE(memory_.host->Submit(job_).ok());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), output.text());
}

TEST_F(SwitchesTest, BatWithoutADecoderSaysSoOnce) {
  testing::internal::CaptureStderr();
  On(DebugSwitch::kBatches);
  ASSERT_TRUE(Submit(*memory_.host).ok());
  ASSERT_TRUE(memory_.host->Submit(job_).ok());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("link //runtime/debug, and call ShowJobsOnStderr()\n"));
  EXPECT_EQ(said.find("link"), said.rfind("link"));
}

TEST_F(SwitchesTest, SyncReportsFailures) {
  const auto device = Value(HostDevice::Create(
      {.device = {.family = "intel", .generation = "gfx9", .verx10 = 90},
       .run = [](HostDevice&, const Job&) { return absl::InternalError("it hung"); }}));
  const MemoryId memory = Value(device->Create({.size = 4096}));
  ASSERT_TRUE(device->Bind({.address = 0x1000, .size = 4096, .memory = memory}).ok());
  const Resident residents[] = {{.memory = memory, .address = 0x1000, .size = 4096}};
  const Job job = {.batch_address = 0x1000, .batch_length = 8, .residents = residents};
  const Fence fence = Value(device->Submit(job));
  EXPECT_FALSE(device->Wait(fence, absl::ZeroDuration()).ok());
  On(DebugSwitch::kSync);
  EXPECT_THAT(device->Submit(job).status().message(), HasSubstr("it hung"));
}

TEST_F(SwitchesTest, NoCacheGivesMemoryBack) {
  const auto memory_after_release = [&] {
    const auto buffers = Buffers::Create(*memory_.host, *memory_.space, {});
    const Buffer buffer =
        Value(buffers->Create({.size = 8 << 20, .zone = memory_.Zone("other"), .name = "large"}));
    EXPECT_TRUE(buffers->Release(buffer.handle).ok());
    return buffers->statistics().memory_bytes;
  };
  EXPECT_GT(memory_after_release(), 0u);
  On(DebugSwitch::kNoCache);
  EXPECT_EQ(memory_after_release(), 0u);
}

TEST_F(SwitchesTest, NoSlabGivesSmallBuffersMemoryOfTheirOwn) {
  const auto suballocated = [&] {
    const auto buffers = Buffers::Create(*memory_.host, *memory_.space, {});
    const Buffer buffer =
        Value(buffers->Create({.size = 64, .zone = memory_.Zone("other"), .name = "small"}));
    EXPECT_TRUE(buffers->Release(buffer.handle).ok());
    return buffers->statistics().suballocated;
  };
  EXPECT_EQ(suballocated(), 1u);
  On(DebugSwitch::kNoSlab);
  EXPECT_EQ(suballocated(), 0u);
}

TEST_F(SwitchesTest, ReemitEmitsAllThatIsSet) {
  // States ask when they are made, and at each flush while the switch is on.
  On(DebugSwitch::kReemit);
  intel::DrawState<intel::Gfx9> state;
  state.InheritAll();
  const auto grows = [&] {
    const uint32_t* const before = batch_.Reserve(1);
    EXPECT_TRUE(state.Flush(batch_)) << state.status();
    return batch_.Reserve(1) - before - 1;
  };
  state.Set(gfx9::_3DSTATE_CLIP{.clip_enable = false});
  grows();
  const auto first = grows();
  EXPECT_GE(first, gfx9::_3DSTATE_CLIP::length);
  state.Set(
      gfx9::_3DSTATE_VF_TOPOLOGY{.primitive_topology_type = gfx9::_3D_Prim_Topo_Type::TRISTRIP});
  EXPECT_GE(grows(), first + gfx9::_3DSTATE_VF_TOPOLOGY::length);
  EXPECT_GE(grows(), gfx9::_3DSTATE_CLIP::length + gfx9::_3DSTATE_VF_TOPOLOGY::length);
  SetDebug(0);
  grows();
  EXPECT_EQ(grows(), 0);
}

}  // namespace
}  // namespace packsmith::gpu
