// EXECBUFFER2: addresses, relocations, fences, and what hangs do.
#include <malloc.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/capture/i915/client.h"

namespace packsmith::capture {
namespace {

namespace api = uapi::i915;
namespace drm = uapi::drm;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(SubmissionTest, SoftpinnedObjectsAreAtTheirAddresses) {
  Machine machine("skl");
  Client client(machine);
  const uint32_t data = client.Create(8192), batch = client.Create(4096);
  std::vector<api::gem_exec_object2> objects = {Client::Pinned(data, 0x800000000000 - 0x10000),
                                                Client::Pinned(batch, 0x200000)};
  objects[0].flags |= api::kObjectCapture;
  ASSERT_EQ(client.Submit(objects), 0);
  ASSERT_THAT(machine.watcher.works, SizeIs(1));
  const Work& work = *machine.watcher.works[0];
  EXPECT_EQ(work.interface, "i915");
  EXPECT_EQ(work.engine, "render");
  EXPECT_FALSE(work.global);
  ASSERT_THAT(work.streams, SizeIs(1));
  EXPECT_EQ(work.streams[0].address, 0x200000u);
  EXPECT_EQ(work.streams[0].length, 4096u);
  const Mapping* const mapping = work.memory->Find(0x800000000000 - 0x10000 + 8191);
  ASSERT_NE(mapping, nullptr);
  EXPECT_TRUE(mapping->dumpable);
  EXPECT_EQ(mapping->size, 8192u);
  EXPECT_EQ(work.memory->mappings().size(), 2u);
}

TEST(SubmissionTest, AddressesAboveBit47AreCanonical) {
  Machine machine("tgl");
  Client client(machine);
  const uint32_t batch = client.Create(4096);
  std::vector<api::gem_exec_object2> objects = {Client::Pinned(batch, 0xffff800000100000)};
  ASSERT_EQ(client.Submit(objects), 0);
  EXPECT_EQ(machine.watcher.works.at(0)->streams[0].address, 0x800000100000u);
  objects = {Client::Pinned(batch, 0x800000100000)};
  EXPECT_EQ(client.Submit(objects), -EINVAL);
}

TEST(SubmissionTest, TheBatchCanBeTheFirstAndBeginInItsMiddle) {
  Machine machine("skl");
  Client client(machine);
  std::vector<api::gem_exec_object2> objects = {Client::Pinned(client.Create(8192), 0x100000),
                                                Client::Pinned(client.Create(4096), 0x200000)};
  api::gem_execbuffer2 args = {};
  args.buffers_ptr = AddressOf(objects[0]);
  args.buffer_count = 2;
  args.flags = api::kExecBatchFirst;
  args.batch_start_offset = 4096;
  args.batch_len = 64;
  ASSERT_EQ(client.Call(api::kGemExecbuffer2, args), 0);
  const Work& work = *machine.watcher.works.at(0);
  EXPECT_EQ(work.streams[0].address, 0x101000u);
  EXPECT_EQ(work.streams[0].length, 64u);
}

// A word of `source` at `offset` that holds the address of `target`, plus `delta`.
api::gem_relocation_entry Relocation(uint32_t target, uint64_t offset, uint32_t delta) {
  api::gem_relocation_entry relocation = {};
  relocation.target_handle = target;
  relocation.offset = offset;
  relocation.delta = delta;
  relocation.read_domains = api::kDomainRender;
  return relocation;
}

TEST(SubmissionTest, RelocationsWriteAddressesOf32BitsBeforeGfx8) {
  for (const char* const name : {"gm45", "snb", "hsw"}) {
    SCOPED_TRACE(name);
    Machine machine(name);
    Client client(machine);
    const uint32_t data = client.Create(4096), batch = client.Create(4096);
    api::gem_relocation_entry relocation = Relocation(data, 8, 0x24);
    relocation.presumed_offset = ~uint64_t{0};
    std::vector<api::gem_exec_object2> objects = {Client::Object(data), Client::Object(batch)};
    objects[1].relocation_count = 1;
    objects[1].relocs_ptr = AddressOf(relocation);
    ASSERT_EQ(client.Submit(objects), 0);
    // The kernel says where the objects are, and writes one word only.
    EXPECT_NE(objects[0].offset, 0u);
    EXPECT_EQ(client.ReadWord(batch, 8), objects[0].offset + 0x24);
    EXPECT_EQ(client.ReadWord(batch, 12), 0u);
    EXPECT_EQ(relocation.presumed_offset, objects[0].offset);
    EXPECT_EQ(machine.watcher.works.at(0)->streams[0].address, objects[1].offset);
    EXPECT_EQ(machine.watcher.works.at(0)->global, machine.info.version_x10 < 60);
  }
}

TEST(SubmissionTest, RelocationsWriteCanonicalAddressesOf64BitsSinceGfx8) {
  Machine machine("bdw");
  Client client(machine);
  const uint32_t data = client.Create(4096), batch = client.Create(4096);
  api::gem_relocation_entry relocation = Relocation(data, 16, 4);
  std::vector<api::gem_exec_object2> objects = {Client::Pinned(data, 0xffff812345678000),
                                                Client::Object(batch)};
  objects[1].relocation_count = 1;
  objects[1].relocs_ptr = AddressOf(relocation);
  ASSERT_EQ(client.Submit(objects), 0);
  EXPECT_EQ(client.ReadWord(batch, 16), 0x45678004u);
  EXPECT_EQ(client.ReadWord(batch, 20), 0xffff8123u);
}

TEST(SubmissionTest, ARelocationWithTheRightPresumptionIsNotWritten) {
  Machine machine("hsw");
  Client client(machine);
  const uint32_t batch = client.Create(4096);
  // The target is a place in the list.
  api::gem_relocation_entry relocation = Relocation(0, 4, 0);
  std::vector<api::gem_exec_object2> objects = {Client::Object(batch)};
  objects[0].relocation_count = 1;
  objects[0].relocs_ptr = AddressOf(relocation);
  ASSERT_EQ(client.Submit(objects, api::kExecHandleLut), 0);
  relocation = Relocation(0, 0, 0x40);
  relocation.presumed_offset = objects[0].offset;
  ASSERT_EQ(client.Submit(objects, api::kExecHandleLut), 0);
  EXPECT_EQ(client.ReadWord(batch, 0), 0u);
  relocation.presumed_offset = 1;
  ASSERT_EQ(client.Submit(objects, api::kExecHandleLut), 0);
  EXPECT_EQ(client.ReadWord(batch, 0), objects[0].offset + 0x40);
}

TEST(SubmissionTest, NoRelocReadsNoRelocationsUnlessAnObjectMoved) {
  Machine machine("hsw");
  Client client(machine);
  const uint32_t data = client.Create(4096), batch = client.Create(4096);
  api::gem_relocation_entry relocation = Relocation(data, 0, 0);
  std::vector<api::gem_exec_object2> objects = {Client::Object(data), Client::Object(batch)};
  objects[1].relocation_count = 1;
  objects[1].relocs_ptr = AddressOf(relocation);
  ASSERT_EQ(client.Submit(objects, api::kExecNoReloc), 0);
  const uint32_t right = client.ReadWord(batch, 0);
  EXPECT_EQ(right, objects[0].offset);
  EXPECT_THAT(machine.watcher.warnings, IsEmpty());
  relocation.presumed_offset = 0x1000;
  client.Map(batch)->bytes()[0] = 0x77;
  ASSERT_EQ(client.Submit(objects, api::kExecNoReloc), 0);
  EXPECT_EQ(client.ReadWord(batch, 0) & 0xff, 0x77u);
  EXPECT_THAT(machine.watcher.warnings, ElementsAre(HasSubstr("NO_RELOC, but a relocation at")));
  EXPECT_THAT(machine.watcher.works.at(1)->warnings, SizeIs(1));
}

TEST(SubmissionTest, ABatchThatGetsRelocationsStaysWhereItIs) {
  Machine machine("skl");
  Client client(machine);
  const uint32_t data = client.Create(4096), batch = client.Create(4096);
  std::vector<api::gem_exec_object2> objects = {Client::Object(data), Client::Object(batch)};
  ASSERT_EQ(client.Submit(objects, api::kExecNoReloc | api::kExecHandleLut), 0);
  const uint64_t before = objects[1].offset;
  // Its target is a handle, where an index is expected: nobody reads it.
  api::gem_relocation_entry relocation = Relocation(99, 0, 0);
  objects[1].relocation_count = 1;
  objects[1].relocs_ptr = AddressOf(relocation);
  ASSERT_EQ(client.Submit(objects, api::kExecNoReloc | api::kExecHandleLut), 0);
  EXPECT_EQ(objects[1].offset, before);
  EXPECT_THAT(machine.watcher.warnings, IsEmpty());
}

TEST(SubmissionTest, UnpinnedObjectsKeepTheirAddressesUntilAPinnedOneNeedsTheRoom) {
  Machine machine("skl");
  Client client(machine);
  const uint32_t data = client.Create(4096), batch = client.Create(4096);
  std::vector<api::gem_exec_object2> objects = {Client::Object(data), Client::Object(batch)};
  ASSERT_EQ(client.Submit(objects), 0);
  const uint64_t before = objects[0].offset;
  EXPECT_LT(before, uint64_t{1} << 32);
  std::vector<api::gem_exec_object2> again = {Client::Object(data), Client::Object(batch)};
  ASSERT_EQ(client.Submit(again), 0);
  EXPECT_EQ(again[0].offset, before);
  std::vector<api::gem_exec_object2> taken = {Client::Object(data),
                                              Client::Pinned(client.Create(4096), before)};
  ASSERT_EQ(client.Submit(taken), 0);
  EXPECT_NE(taken[0].offset, before);
  EXPECT_EQ(machine.watcher.works.at(2)->streams[0].address, before);
}

TEST(SubmissionTest, AlignmentAndPaddingAreKept) {
  Machine machine("skl");
  Client client(machine);
  std::vector<api::gem_exec_object2> objects = {
      Client::Object(client.Create(4096)), Client::Object(client.Create(4096)),
      Client::Object(client.Create(4096)), Client::Object(client.Create(4096))};
  objects[1].alignment = 1 << 20;
  objects[2].flags = api::kObjectPadToSize;
  objects[2].pad_to_size = 1 << 20;
  ASSERT_EQ(client.Submit(objects), 0);
  EXPECT_EQ(objects[1].offset % (1 << 20), 0u);
  for (const int other : {0, 1, 3}) {
    const uint64_t address = objects[other].offset;
    EXPECT_TRUE(address < objects[2].offset || address >= objects[2].offset + (1 << 20));
  }
}

TEST(SubmissionTest, ObjectsThatDoNotFitTheAddressSpaceAreRefused) {
  Machine machine("i965");  // 512 MiB for all
  Client client(machine);
  std::vector<api::gem_exec_object2> objects = {Client::Object(client.Create(300 << 20)),
                                                Client::Object(client.Create(300 << 20))};
  EXPECT_EQ(client.Submit(objects), -ENOSPC);
  // Each alone is fine: the other one makes way.
  EXPECT_EQ(client.SubmitOne(objects[0].handle), 0);
  EXPECT_EQ(client.SubmitOne(objects[1].handle), 0);
}

TEST(SubmissionTest, EnginesAreChosenByRingAndByThePlaceInTheContextsList) {
  Machine machine("skl_gt4");
  Client client(machine);
  const uint32_t batch = client.Create(4096);
  constexpr uint64_t kSecond = uint64_t{2} << api::kExecBsdShift;
  for (const uint64_t ring :
       {uint64_t{api::kRingDefault}, uint64_t{api::kRingRender}, uint64_t{api::kRingBlt},
        uint64_t{api::kRingVebox}, api::kRingBsd | kSecond}) {
    ASSERT_EQ(client.SubmitOne(batch, ring), 0);
  }
  struct {
    api::context_param_engines head = {};
    api::engine_class_instance engines[3] = {{api::kClassCopy, 0},
                                             {api::kClassInvalid, api::kInstanceInvalidNone},
                                             {api::kClassVideo, 1}};
  } list;
  const uint32_t context = client.CreateContext();
  ASSERT_EQ(client.SetContextParam(context, api::kContextEngines, AddressOf(list), 20), 0);
  ASSERT_EQ(client.SubmitOne(batch, 0, context), 0);
  EXPECT_EQ(client.SubmitOne(batch, 1, context), -EINVAL);
  ASSERT_EQ(client.SubmitOne(batch, 2, context), 0);
  EXPECT_EQ(client.SubmitOne(batch, 3, context), -EINVAL);
  std::vector<std::string> engines;
  for (const auto& work : machine.watcher.works) {
    engines.push_back(work->engine + std::to_string(work->engine_instance));
  }
  EXPECT_THAT(engines, ElementsAre("render0", "render0", "copy0", "video enhance0", "video1",
                                   "copy0", "video1"));
  // The two rings of the same engine share its state; contexts do not.
  EXPECT_NE(machine.watcher.works[2]->context, machine.watcher.works[5]->context);
}

TEST(SubmissionTest, SyncobjsAreSignalledWhenTheWorkIsDone) {
  Machine machine("tgl");
  Client client(machine);
  const uint32_t batch = client.Create(4096), out = client.CreateSyncobj();
  machine.Hold();
  api::gem_exec_fence fence = {out, api::kFenceSignal};
  std::vector<api::gem_exec_object2> objects = {Client::Object(batch)};
  api::gem_execbuffer2 args = {};
  args.buffers_ptr = AddressOf(objects[0]);
  args.buffer_count = 1;
  args.flags = api::kExecFenceArray;
  args.num_cliprects = 1;
  args.cliprects_ptr = AddressOf(fence);
  ASSERT_EQ(client.Call(api::kGemExecbuffer2, args), 0);
  EXPECT_EQ(client.PollSyncobj(out), -ETIME);
  machine.Release();
  EXPECT_EQ(client.PollSyncobj(out), 0);
}

TEST(SubmissionTest, WorkBeginsAfterTheSyncobjsThatItWaitsFor) {
  Machine machine("tgl");
  Client client(machine);
  const uint32_t syncobj = client.CreateSyncobj();
  std::vector<api::gem_exec_object2> objects = {Client::Object(client.Create(4096))};
  // Nothing to wait for yet.
  api::gem_exec_fence fence = {syncobj, api::kFenceWait};
  api::gem_execbuffer2 args = {};
  args.buffers_ptr = AddressOf(objects[0]);
  args.buffer_count = 1;
  args.flags = api::kExecFenceArray;
  args.num_cliprects = 1;
  args.cliprects_ptr = AddressOf(fence);
  EXPECT_EQ(client.Call(api::kGemExecbuffer2, args), -EINVAL);
  machine.Hold();
  fence.flags = api::kFenceSignal;
  ASSERT_EQ(client.Call(api::kGemExecbuffer2, args), 0);
  // Another context and another object: only the fence orders them.
  objects[0] = Client::Object(client.Create(4096));
  args.rsvd1 = client.CreateContext();
  fence.flags = api::kFenceWait;
  ASSERT_EQ(client.Call(api::kGemExecbuffer2, args), 0);
  EXPECT_THAT(machine.watcher.works, SizeIs(1));
  machine.Release();
  EXPECT_THAT(machine.watcher.done, ElementsAre(1, 2));
}

TEST(SubmissionTest, PointsOfTimelinesAreWaitedForAndSignalled) {
  Machine machine("tgl");
  Client client(machine);
  const uint32_t syncobj = client.CreateSyncobj();
  std::vector<api::gem_exec_object2> objects = {Client::Object(client.Create(4096))};
  api::gem_exec_fence fence = {syncobj, api::kFenceSignal};
  uint64_t point = 7;
  api::gem_execbuffer_ext_timeline_fences extension = {};
  extension.fence_count = 1;
  extension.handles_ptr = AddressOf(fence);
  extension.values_ptr = AddressOf(point);
  api::gem_execbuffer2 args = {};
  args.buffers_ptr = AddressOf(objects[0]);
  args.buffer_count = 1;
  args.flags = api::kExecUseExtensions;
  args.cliprects_ptr = AddressOf(extension);
  ASSERT_EQ(client.Call(api::kGemExecbuffer2, args), 0);
  uint64_t reached = 0;
  drm::syncobj_timeline_array query = {};
  query.handles = AddressOf(syncobj);
  query.points = AddressOf(reached);
  query.count_handles = 1;
  ASSERT_EQ(client.Call(drm::kSyncobjQuery, query), 0);
  EXPECT_EQ(reached, 7u);
  fence.flags = api::kFenceWait;
  EXPECT_EQ(client.Call(api::kGemExecbuffer2, args), 0);
  point = 8;
  EXPECT_EQ(client.Call(api::kGemExecbuffer2, args), -EINVAL);
  fence.flags = api::kFenceWait | api::kFenceSignal;
  point = 7;
  EXPECT_EQ(client.Call(api::kGemExecbuffer2, args), -EINVAL);
}

TEST(SubmissionTest, SyncFilesComeOutAndGoIn) {
  Machine machine("skl");
  Client client(machine);
  machine.Hold();
  std::vector<api::gem_exec_object2> objects = {Client::Object(client.Create(4096))};
  api::gem_execbuffer2 args = {};
  args.buffers_ptr = AddressOf(objects[0]);
  args.buffer_count = 1;
  args.flags = api::kExecFenceOut;
  args.rsvd2 = 0x12345678;
  ASSERT_EQ(client.Call(api::kGemExecbuffer2, args), 0);
  EXPECT_EQ(args.rsvd2 & 0xffffffff, 0x12345678u);
  const int fd = static_cast<int>(args.rsvd2 >> 32);
  pollfd waiting = {fd, POLLIN, 0};
  EXPECT_EQ(poll(&waiting, 1, 0), 0);
  // Its fence keeps work of another context from beginning.
  objects[0] = Client::Object(client.Create(4096));
  args.rsvd1 = client.CreateContext();
  args.rsvd2 = static_cast<uint64_t>(fd);
  args.flags = api::kExecFenceIn;
  ASSERT_EQ(client.Call(api::kGemExecbuffer2, args), 0);
  EXPECT_THAT(machine.watcher.works, SizeIs(1));
  machine.Release();
  EXPECT_EQ(poll(&waiting, 1, 0), 1);
  EXPECT_THAT(machine.watcher.works, SizeIs(2));
  close(fd);
}

TEST(SubmissionTest, WritersWaitForUsersAndReadersForWritersUnlessAsynchronous) {
  Machine machine("skl");
  Client client(machine);
  machine.Hold();
  const uint32_t shared = client.Create(4096);
  const auto submit = [&](uint64_t flags) {
    std::vector<api::gem_exec_object2> objects = {Client::Object(shared),
                                                  Client::Object(client.Create(4096))};
    objects[0].flags = flags;
    ASSERT_EQ(client.Submit(objects, 0, client.CreateContext()), 0);
  };
  submit(0);                  // 1 begins
  submit(0);                  // 2 begins: readers do not exclude each other
  submit(api::kObjectWrite);  // 3 waits for both
  submit(0);                  // 4 waits for the writer
  submit(api::kObjectAsync);  // 5 begins
  EXPECT_THAT(machine.watcher.works, SizeIs(3));
  EXPECT_EQ(machine.watcher.works.back()->number, 5u);
  machine.Release();
  EXPECT_THAT(machine.watcher.done, SizeIs(5));
}

TEST(SubmissionTest, BusyObjectsSayWhichEnginesUseThem) {
  Machine machine("skl");
  Client client(machine);
  machine.Hold();
  const uint32_t data = client.Create(4096), batch = client.Create(4096);
  std::vector<api::gem_exec_object2> objects = {Client::Object(data), Client::Object(batch)};
  objects[0].flags = api::kObjectWrite;
  ASSERT_EQ(client.Submit(objects, api::kRingBlt), 0);
  api::gem_busy busy = {data, 0};
  ASSERT_EQ(client.Call(api::kGemBusy, busy), 0);
  EXPECT_EQ(busy.busy, 0x20002u);
  busy.handle = batch;
  ASSERT_EQ(client.Call(api::kGemBusy, busy), 0);
  EXPECT_EQ(busy.busy, 0x20000u);
  api::gem_wait wait = {data, 0, 0};
  EXPECT_EQ(client.Call(api::kGemWait, wait), -ETIME);
  machine.Release();
  ASSERT_EQ(client.Call(api::kGemBusy, busy), 0);
  EXPECT_EQ(busy.busy, 0u);
  wait.timeout_ns = -1;
  EXPECT_EQ(client.Call(api::kGemWait, wait), 0);
  EXPECT_EQ(wait.timeout_ns, -1);
  wait.timeout_ns = 1'000'000'000;
  EXPECT_EQ(client.Call(api::kGemWait, wait), 0);
  EXPECT_GT(wait.timeout_ns, 0);
}

TEST(SubmissionTest, AskingAgainAndAgainWhetherWorkIsDoneTakesNoMemory) {
  Machine machine("skl");
  Client client(machine);
  machine.Hold();
  const uint32_t batch = client.Create(4096);
  std::vector<api::gem_exec_object2> objects = {Client::Object(batch)};
  ASSERT_EQ(client.Submit(objects), 0);
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 20'000; ++i) {
    api::gem_wait wait = {batch, 0, 0};
    ASSERT_EQ(client.Call(api::kGemWait, wait), -ETIME);
  }
  EXPECT_LT(mallinfo2().uordblks, before + 100'000);
  machine.Release();
}

TEST(SubmissionTest, AnObjectNeedNotMoveToBeABatchWithRelocations) {
  Machine machine("skl");
  Client client(machine);
  std::vector<api::gem_exec_object2> objects = {Client::Object(client.Create(4096)),
                                                Client::Object(client.Create(4096))};
  ASSERT_EQ(client.Submit(objects, api::kExecNoReloc), 0);
  const uint64_t before = objects[1].offset;
  // It is not looked at: nothing has moved since.
  api::gem_relocation_entry relocation = {};
  relocation.target_handle = 99;
  objects[1].relocation_count = 1;
  objects[1].relocs_ptr = AddressOf(relocation);
  ASSERT_EQ(client.Submit(objects, api::kExecNoReloc), 0);
  EXPECT_EQ(objects[1].offset, before);
}

TEST(SubmissionTest, FilesThatAreClosedLeaveTheDevicesOwnSpace) {
  Machine machine("hsw");
  for (int i = 0; i < 3; ++i) {
    Client client(machine);
    const uint32_t batch = client.Create(4096);
    std::vector<api::gem_exec_object2> objects = {Client::Object(batch)};
    ASSERT_EQ(client.Submit(objects), 0);
  }
  const Work& last = *machine.watcher.works.back();
  EXPECT_EQ(last.streams[0].address, machine.watcher.works.front()->streams[0].address);
}

TEST(SubmissionTest, AnObjectInUseIsRelocatedWhenItIsIdle) {
  Machine machine("hsw");
  machine.kernel.set_patience(20'000'000);
  Client client(machine);
  const uint32_t batch = client.Create(4096);
  api::gem_relocation_entry relocation = Relocation(batch, 0, 1);
  relocation.presumed_offset = 1;
  std::vector<api::gem_exec_object2> objects = {Client::Object(batch)};
  objects[0].relocation_count = 1;
  objects[0].relocs_ptr = AddressOf(relocation);
  machine.Hold();
  ASSERT_EQ(client.Submit(objects), 0);
  relocation.presumed_offset = 1;
  // Waits until the first hangs, whose patience ends.
  ASSERT_EQ(client.Submit(objects), 0);
  EXPECT_THAT(machine.watcher.hung, ElementsAre(1));
  machine.Release();
}

TEST(SubmissionTest, AHangCountsForItsContextAndTheThirdBansIt) {
  Machine machine("skl");
  Client client(machine);
  machine.executor.hangs = {1, 2, 3};
  const uint32_t batch = client.Create(4096), context = client.CreateContext();
  for (uint32_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(client.SubmitOne(batch, 0, context), 0);
    api::reset_stats stats = {};
    stats.ctx_id = context;
    ASSERT_EQ(client.Call(api::kGetResetStats, stats), 0);
    EXPECT_EQ(stats.batch_active, i);
    EXPECT_EQ(stats.batch_pending, 0u);
  }
  EXPECT_EQ(client.SubmitOne(batch, 0, context), -EIO);
  // Other engines of the context, and other contexts, go on.
  EXPECT_EQ(client.SubmitOne(batch, api::kRingBlt, context), 0);
  EXPECT_EQ(client.SubmitOne(batch), 0);
}

TEST(SubmissionTest, AContextThatCannotBeRecoveredIsBannedAtOnce) {
  Machine machine("dg2");
  Client client(machine);
  machine.kernel.set_hang_at({1});
  const uint32_t batch = client.Create(4096), context = client.CreateContext();
  ASSERT_EQ(client.SetContextParam(context, api::kContextRecoverable, 0), 0);
  const uint32_t syncobj = client.CreateSyncobj();
  api::gem_exec_fence fence = {syncobj, api::kFenceSignal};
  std::vector<api::gem_exec_object2> objects = {Client::Object(batch)};
  api::gem_execbuffer2 args = {};
  args.buffers_ptr = AddressOf(objects[0]);
  args.buffer_count = 1;
  args.flags = api::kExecFenceArray;
  args.num_cliprects = 1;
  args.cliprects_ptr = AddressOf(fence);
  args.rsvd1 = context;
  ASSERT_EQ(client.Call(api::kGemExecbuffer2, args), 0);
  // The fence is signalled all the same.
  EXPECT_EQ(client.PollSyncobj(syncobj), 0);
  EXPECT_EQ(client.SubmitOne(batch, 0, context), -EIO);
}

TEST(SubmissionTest, AFileWhoseContextsAreBannedTooOftenGetsNoMore) {
  Machine machine("skl");
  Client client(machine);
  for (uint64_t i = 1; i <= 9; ++i) machine.executor.hangs.insert(i);
  const uint32_t batch = client.Create(4096);
  int made = 0;
  for (; made < 9; ++made) {
    api::gem_context_create_ext create = {};
    const int result = client.Call(api::kGemContextCreateExt, create);
    if (result != 0) {
      EXPECT_EQ(result, -EIO);
      break;
    }
    ASSERT_EQ(client.SetContextParam(create.ctx_id, api::kContextRecoverable, 0), 0);
    ASSERT_EQ(client.SubmitOne(batch, 0, create.ctx_id), 0);
  }
  // Three for each ban, and one for each hang that follows soon.
  EXPECT_EQ(made, 3);
  Client other(machine);
  EXPECT_NE(other.CreateContext(), 0u);
}

TEST(SubmissionTest, WorkOfAContextThatDoesNotPersistEndsWithIt) {
  Machine machine("skl");
  Client client(machine);
  machine.Hold();
  const uint32_t stays = client.CreateContext(), goes = client.CreateContext();
  ASSERT_EQ(client.SetContextParam(goes, api::kContextPersistence, 0), 0);
  const uint32_t first = client.Create(4096), second = client.Create(4096);
  ASSERT_EQ(client.SubmitOne(first, 0, stays), 0);
  ASSERT_EQ(client.SubmitOne(second, 0, goes), 0);
  for (const uint32_t context : {stays, goes}) {
    api::gem_context_destroy destroy = {context, 0};
    ASSERT_EQ(client.Call(api::kGemContextDestroy, destroy), 0);
  }
  api::gem_busy busy = {first, 0};
  ASSERT_EQ(client.Call(api::kGemBusy, busy), 0);
  EXPECT_NE(busy.busy, 0u);
  busy.handle = second;
  ASSERT_EQ(client.Call(api::kGemBusy, busy), 0);
  EXPECT_EQ(busy.busy, 0u);
  EXPECT_THAT(machine.executor.forgotten, SizeIs(1));
  machine.Release();
  EXPECT_THAT(machine.executor.forgotten, SizeIs(2));
}

TEST(SubmissionTest, WorkOutlivesTheFileThatSubmittedIt) {
  Machine machine("skl");
  machine.Hold();
  {
    Client client(machine);
    ASSERT_EQ(client.SubmitOne(client.Create(4096)), 0);
  }
  EXPECT_THAT(machine.watcher.done, IsEmpty());
  machine.Release();
  EXPECT_THAT(machine.watcher.done, ElementsAre(1));
}

TEST(SubmissionTest, AContextOfOneTimelineRunsItsEnginesInOrder) {
  Machine machine("skl");
  Client client(machine);
  machine.Hold();
  api::gem_context_create_ext create = {};
  create.flags = api::kContextSingleTimeline;
  ASSERT_EQ(client.Call(api::kGemContextCreateExt, create), 0);
  ASSERT_EQ(client.SubmitOne(client.Create(4096), api::kRingRender, create.ctx_id), 0);
  ASSERT_EQ(client.SubmitOne(client.Create(4096), api::kRingBlt, create.ctx_id), 0);
  EXPECT_THAT(machine.watcher.works, SizeIs(1));
  machine.Release();
  EXPECT_THAT(machine.watcher.works, SizeIs(2));
}

TEST(SubmissionTest, ParallelBatchesAreOneSubmission) {
  Machine machine("dg2");
  Client client(machine);
  struct {
    api::context_engines_parallel_submit head = {};
    api::engine_class_instance engines[2] = {{api::kClassVideo, 0}, {api::kClassVideo, 1}};
  } parallel;
  parallel.head.base.name = api::kEnginesParallelSubmit;
  parallel.head.width = 2;
  parallel.head.num_siblings = 1;
  struct {
    api::context_param_engines head = {};
    api::engine_class_instance engines[1] = {{api::kClassInvalid, api::kInstanceInvalidNone}};
    uint32_t pad = 0;
  } list;
  list.head.extensions = AddressOf(parallel);
  const uint32_t context = client.CreateContext();
  ASSERT_EQ(client.SetContextParam(context, api::kContextEngines, AddressOf(list), 12), 0);
  std::vector<api::gem_exec_object2> objects = {Client::Object(client.Create(4096)),
                                                Client::Object(client.Create(4096)),
                                                Client::Object(client.Create(4096))};
  machine.Hold();
  ASSERT_EQ(client.Submit(objects, 0, context), 0);
  ASSERT_THAT(machine.watcher.works, SizeIs(2));
  EXPECT_EQ(machine.watcher.works[0]->engine_instance, 0u);
  EXPECT_EQ(machine.watcher.works[1]->engine_instance, 1u);
  EXPECT_EQ(machine.watcher.works[0]->streams[0].address, objects[1].offset);
  EXPECT_EQ(machine.watcher.works[1]->streams[0].address, objects[2].offset);
  api::gem_busy busy = {objects[0].handle, 0};
  machine.Release();
  ASSERT_EQ(client.Call(api::kGemBusy, busy), 0);
  EXPECT_EQ(busy.busy, 0u);
  objects.resize(1);
  EXPECT_EQ(client.Submit(objects, 0, context), -EINVAL);
}

TEST(SubmissionTest, AnObjectListedTwiceIsAWarning) {
  Machine machine("skl");
  Client client(machine);
  const uint32_t batch = client.Create(4096);
  std::vector<api::gem_exec_object2> objects = {Client::Object(batch), Client::Object(batch)};
  ASSERT_EQ(client.Submit(objects), 0);
  EXPECT_EQ(objects[0].offset, objects[1].offset);
  EXPECT_THAT(machine.watcher.warnings,
              ElementsAre(HasSubstr("object 1 is listed before, as object 0")));
}

}  // namespace
}  // namespace packsmith::capture
