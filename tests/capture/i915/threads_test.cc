// Eight threads that call at the same time.
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/capture/i915/client.h"

namespace packsmith::capture {
namespace {

namespace api = uapi::i915;
namespace drm = uapi::drm;

constexpr int kThreads = 8, kRounds = 100;

void InThreads(const std::function<void(int)>& run) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(run, i);
  for (std::thread& thread : threads) thread.join();
}

// Submits an object and a batch with a relocation, waits for its fence, and looks at the batch.
void SubmitAndWait(Client& client, uint32_t context, uint32_t shared) {
  const uint32_t batch = client.Create(4096), done = client.CreateSyncobj();
  api::gem_relocation_entry relocation = {};
  relocation.target_handle = shared;
  relocation.offset = 16;
  relocation.presumed_offset = 1;
  relocation.write_domain = relocation.read_domains = api::kDomainRender;
  std::vector<api::gem_exec_object2> objects = {Client::Object(shared), Client::Object(batch)};
  objects[1].relocation_count = 1;
  objects[1].relocs_ptr = AddressOf(relocation);
  api::gem_exec_fence fence = {done, api::kFenceSignal};
  api::gem_execbuffer2 args = {};
  args.buffers_ptr = AddressOf(objects[0]);
  args.buffer_count = 2;
  args.flags = api::kExecFenceArray;
  args.num_cliprects = 1;
  args.cliprects_ptr = AddressOf(fence);
  args.rsvd1 = context;
  ASSERT_EQ(client.Call(api::kGemExecbuffer2, args), 0);
  drm::syncobj_wait wait = {};
  wait.handles = AddressOf(done);
  wait.count_handles = 1;
  wait.timeout_nsec = MonotonicNow() + 60'000'000'000;
  ASSERT_EQ(client.Call(drm::kSyncobjWait, wait), 0);
  ASSERT_EQ(client.ReadWord(batch, 16), static_cast<uint32_t>(relocation.presumed_offset));
  drm::syncobj_destroy destroy = {done, 0};
  ASSERT_EQ(client.Call(drm::kSyncobjDestroy, destroy), 0);
  ASSERT_EQ(client.Close(batch), 0);
}

TEST(ThreadsTest, FilesAreIndependent) {
  Machine machine("hsw");
  InThreads([&](int) {
    Client client(machine);
    const uint32_t shared = client.Create(8192), context = client.CreateContext();
    for (int i = 0; i < kRounds; ++i) SubmitAndWait(client, context, shared);
  });
  EXPECT_EQ(machine.watcher.done.size(), size_t{kThreads * kRounds});
}

TEST(ThreadsTest, OneFileAndOneObjectAreSharedByAllWhileWorkIsHeldAndLetGo) {
  Machine machine("skl");
  Client client(machine);
  const uint32_t shared = client.Create(8192);
  std::atomic<bool> ended = false;
  std::thread holder([&] {
    while (!ended) {
      machine.Hold();
      machine.Release();
    }
  });
  InThreads([&](int) {
    Client own(machine);
    own.file = client.file;
    const uint32_t context = own.CreateContext();
    for (int i = 0; i < kRounds; ++i) SubmitAndWait(own, context, shared);
  });
  ended = true;
  holder.join();
  EXPECT_EQ(machine.watcher.done.size(), size_t{kThreads * kRounds});
  EXPECT_TRUE(machine.watcher.hung.empty());
}

}  // namespace
}  // namespace packsmith::capture
