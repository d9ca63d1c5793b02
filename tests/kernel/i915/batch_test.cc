// Batches of Gfx4 to Gfx7.5 whose memory the kernel moves: submitted with their relocations, and
// executed by the mock.
#include "runtime/intel/batch/batch.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/capture/execute/sim_executor.h"
#include "runtime/command/buffer_chunks.h"
#include "runtime/command/relocation_list.h"
#include "runtime/intel/batch/cache_rules.h"
#include "runtime/intel/batch/gfx4.h"
#include "runtime/intel/batch/gfx45.h"
#include "runtime/intel/batch/gfx5.h"
#include "runtime/intel/batch/gfx6.h"
#include "runtime/intel/batch/gfx7.h"
#include "runtime/intel/batch/gfx75.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/residency.h"
#include "runtime/submission/submitter.h"
#include "tests/kernel/i915/rig.h"

namespace packsmith::gpu {
namespace {

class MovedBatchTest : public ::testing::Test {
 protected:
  // Another program has the places of all of these.
  static void Occupy(capture::Client& client, const Residency& residency) {
    for (const Resident& resident : residency.residents()) {
      const uint32_t handle = client.Create(4096);
      std::vector<uapi::i915::gem_exec_object2> objects = {
          capture::Client::Pinned(handle, resident.address)};
      const uint32_t end = 0x05000000;  // MI_BATCH_BUFFER_END
      std::memcpy(client.Map(handle)->bytes().data(), &end, 4);
      ASSERT_EQ(client.Submit(objects), 0);
    }
  }

  // A batch in many chunks stores to two buffers, and signals; all are moved before it runs.
  template <class Gen>
  static void Run(absl::string_view name) {
    SCOPED_TRACE(name);
    RunOn<Gen>(name, {}, 100);                      // chunks share memory
    RunOn<Gen>(name, {.largest_shared = 0}, 2000);  // each is moved by itself
  }
  static absl::StatusOr<Fence> SubmitTo(Device& device, const Job& job) {
    return device.Submit(job);
  }
  // Through a queue that holds the job.
  static absl::StatusOr<Fence> SubmitHeld(Device& device, const Job& job) {
    const auto submitter = Submitter::Create(device, {});
    const QueueId queue = submitter->AddQueue({});
    const TimelinePoint point = {submitter->AddTimeline(), 1};
    Fence fence = 0;
    const auto submitted = submitter->Submit(queue, {.batch_address = job.batch_address,
                                                     .residents = job.residents,
                                                     .relocations = job.relocations,
                                                     .waits = {&point, 1},
                                                     .taken = [&](Fence taken) { fence = taken; }});
    if (!submitted.ok()) return submitted.status();
    EXPECT_EQ(submitter->held(), 1u);
    const absl::Status signalled = submitter->Signal(point);
    if (!signalled.ok()) return signalled;
    EXPECT_NE(fence, 0u);
    return fence;
  }
  template <class Gen>
  static void RunOn(absl::string_view name, const Buffers::Options& options, uint32_t stores,
                    absl::StatusOr<Fence> (*submit)(Device&, const Job&) = SubmitTo) {
    capture::SimExecutor executor;
    Rig rig(name);
    rig.machine.kernel.set_executor(&executor);
    const auto addresses =
        AddressSpace::Create({{.name = "all", .begin = 0x100000, .end = 0x4000000}});
    ASSERT_TRUE(addresses.ok()) << addresses.status();
    const auto buffers = Buffers::Create(*rig.device, **addresses, options);
    const ZoneId zone = *(*addresses)->FindZone("all");
    BufferChunks chunks(*buffers, {.zone = zone, .chunk_bytes = 256});
    const auto small = buffers->Create({.size = 256, .zone = zone});  // shares memory
    const auto large = buffers->Create({.size = 2 << 20, .zone = zone});
    ASSERT_TRUE(small.ok() && large.ok());

    intel::Batch<Gen> batch(chunks, {.relocations = true});
    const auto store = [&](const Buffer& to, uint64_t offset, uint32_t value) {
      using Store = typename Gen::StoreData;
      Store packet{.address = {to.address + offset, to.handle}};
      if constexpr (requires { packet.memory_address_type; }) packet.memory_address_type = true;
      const typename Store::ps_item data[] = {{.immediate_data = value}};
      ASSERT_TRUE(batch.EmitItems(packet, data));
    };
    const intel::Label behind = batch.NewLabel();
    // To 60 words in turns.
    for (uint32_t i = 0; i < stores; ++i) store(i % 2 == 0 ? *small : *large, 4 * (i % 60), i + 1);
    ASSERT_TRUE(batch.Jump(batch.At(behind)));
    store(*large, 4, 0xbad);  // jumped over
    ASSERT_TRUE(batch.Bind(behind));
    ASSERT_TRUE(
        (EmitSignal(batch, address(large->address + 4096, large->handle), uint64_t{0x100000002})));
    ASSERT_TRUE(batch.End().ok());
    ASSERT_GT(batch.parts().size(), 5u);

    RelocationList list(*buffers);
    ASSERT_TRUE(list.AddBatch(batch).ok());
    Residency residency(*buffers);
    for (const BufferUse& use : batch.uses().all()) {
      ASSERT_TRUE(residency.Add(use.buffer, use.writes()).ok());
    }
    capture::Client client(rig.machine);
    Occupy(client, residency);
    const uint64_t first = batch.parts()[0].chunk.gpu;
    const auto fence = submit(
        *rig.device,
        {.batch_address = first, .residents = residency.residents(), .relocations = list.all()});
    ASSERT_TRUE(fence.ok()) << fence.status();
    ASSERT_TRUE(rig.WaitFor(*fence));
    EXPECT_NE(rig.machine.watcher.works.back()->streams[0].address, first);
    const auto word = [](const Buffer& buffer, uint64_t offset) {
      uint32_t read = 0;
      std::memcpy(&read, buffer.cpu + offset, 4);
      return read;
    };
    for (uint32_t i = stores - 60; i < stores; ++i) {
      EXPECT_EQ(word(i % 2 == 0 ? *small : *large, 4 * (i % 60)), i + 1) << i;
    }
    EXPECT_EQ(word(*large, 4096), 2u);
    EXPECT_EQ(word(*large, 4100), 1u);
    EXPECT_TRUE(rig.machine.watcher.warnings.empty());
  }
};

TEST_F(MovedBatchTest, OfGfx4) { Run<intel::Gfx4>("i965"); }
TEST_F(MovedBatchTest, OfGfx45) { Run<intel::Gfx45>("gm45"); }
TEST_F(MovedBatchTest, OfGfx5) { Run<intel::Gfx5>("ilk"); }
TEST_F(MovedBatchTest, OfGfx6) { Run<intel::Gfx6>("snb"); }
TEST_F(MovedBatchTest, OfGfx7) {
  Run<intel::Gfx7>("ivb");
  Run<intel::Gfx7>("byt");
}
TEST_F(MovedBatchTest, OfGfx75) { Run<intel::Gfx75>("hsw"); }
TEST_F(MovedBatchTest, ThatAQueueHasHeld) { RunOn<intel::Gfx75>("hsw", {}, 100, SubmitHeld); }

}  // namespace
}  // namespace packsmith::gpu
