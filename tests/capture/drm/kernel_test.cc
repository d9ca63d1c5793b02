#include "runtime/capture/drm/kernel.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "tests/capture/drm/calls.h"

namespace packsmith::capture {
namespace {

namespace drm = uapi::drm;

constexpr DeviceInfo kInfo = {.name = "test"};
constexpr int64_t kMillisecond = 1'000'000;

class KernelTest : public testing::Test {
 protected:
  KernelTest() {
    kernel.Add(std::make_unique<TestDevice>(kernel, kInfo));
    kernel.Add(std::make_unique<TestDevice>(kernel, kInfo));
    client = std::make_unique<Client>(kernel);
  }
  // The bytes of an object, for the CPU.
  uint8_t* Map(Client& of, uint32_t handle) {
    const UniqueFd fd(of.ExportObject(handle));
    void* const at = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    return at == MAP_FAILED ? nullptr : static_cast<uint8_t*>(at);
  }

  TestExecutor executor;
  MockKernel kernel;
  std::unique_ptr<Client> client;
};

int OpenDescriptors() {
  int count = 0;
  DIR* const directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

TEST_F(KernelTest, MinorsOfNodesThatDoNotExistCannotBeOpened) {
  EXPECT_NE(kernel.Open(0), nullptr);
  EXPECT_NE(kernel.Open(129), nullptr);
  EXPECT_EQ(kernel.Open(2), nullptr);
  EXPECT_EQ(kernel.Open(130), nullptr);
  EXPECT_EQ(kernel.Open(-1), nullptr);
}

TEST_F(KernelTest, TheCallIsFoundByItsNumberAlone) {
  drm::get_cap cap = {.capability = drm::kCapPrime, .value = 9};
  EXPECT_EQ(client->Call(drm::kGetCap, cap), 0);
  EXPECT_EQ(cap.value, 3u);
  EXPECT_EQ(client->Call((drm::kGetCap & ~0xff00u) | 'x' << 8, cap), -ENOTTY);
  EXPECT_EQ(client->Call(drm::Request(drm::kInOut, 0x3e, 16), cap), -EINVAL);
  EXPECT_EQ(client->Call(drm::Request(drm::kInOut, 0x9f, 16), cap), -EINVAL);
  cap.capability = 0x1000;
  EXPECT_EQ(client->Call(drm::kGetCap, cap), -EOPNOTSUPP);
  // Half of the structure: the rest is zero, and is not written.
  cap = {.capability = drm::kCapSyncobj, .value = 77};
  EXPECT_EQ(client->Call(drm::Request(drm::kInOut, 0x0c, 8), cap), 0);
  EXPECT_EQ(cap.value, 77u);
  EXPECT_EQ(client->file->Ioctl(client->caller, drm::kGetCap, 8), -EFAULT);
}

TEST_F(KernelTest, RenderNodesRefuseWhatIsForThePrimaryNode) {
  drm::auth auth = {};
  EXPECT_EQ(client->Call(drm::kGetMagic, auth), -EACCES);
  EXPECT_EQ(Client(kernel, 0).Call(drm::kGetMagic, auth), 0);
  EXPECT_NE(auth.magic, 0u);
}

TEST_F(KernelTest, VersionGivesLengthsFirstAndThenTheTexts) {
  drm::version version = {};
  ASSERT_EQ(client->Call(drm::kVersion, version), 0);
  EXPECT_EQ(version.name_len, 4u);
  EXPECT_EQ(version.version_minor, 2);
  char name[] = "......", date[] = "..........";
  version.name = reinterpret_cast<uint64_t>(name);
  version.name_len = 2;
  version.date = reinterpret_cast<uint64_t>(date);
  ASSERT_EQ(client->Call(drm::kVersion, version), 0);
  EXPECT_STREQ(name, "te....");
  EXPECT_EQ(version.name_len, 4u);
  EXPECT_STREQ(date, "20260101..");
  version.name = 8;
  EXPECT_EQ(client->Call(drm::kVersion, version), -EFAULT);
}

TEST_F(KernelTest, HandlesAreReusedFromTheSmallestAndUnknownOnesAreRefused) {
  EXPECT_EQ(client->Object(4096), 1u);
  EXPECT_EQ(client->Object(4096), 2u);
  drm::gem_close close = {.handle = 1, .pad = 0};
  EXPECT_EQ(client->Call(drm::kGemClose, close), 0);
  EXPECT_EQ(client->Call(drm::kGemClose, close), -EINVAL);
  EXPECT_EQ(client->Object(4096), 1u);
  EXPECT_EQ(client->ExportObject(7), -ENOENT);
}

TEST_F(KernelTest, AnObjectComesBackToItsFileWithTheSameHandle) {
  const uint32_t handle = client->Object(3 * 4096);
  const UniqueFd fd(client->ExportObject(handle));
  ASSERT_TRUE(fd);
  EXPECT_EQ(lseek(fd.get(), 0, SEEK_END), 3 * 4096);
  EXPECT_EQ(client->ImportObject(fd.get()), handle);
  EXPECT_NE(ftruncate(fd.get(), 0), 0);
  // Another file, and another device, see the same memory.
  Client other(kernel), device(kernel, 129);
  uint8_t* const bytes = Map(*client, handle);
  bytes[5] = 99;
  for (Client* const importer : {&other, &device}) {
    const uint32_t imported = importer->ImportObject(fd.get());
    ASSERT_NE(imported, 0u);
    EXPECT_EQ(importer->ImportObject(fd.get()), imported);
    uint8_t* const seen = Map(*importer, imported);
    EXPECT_EQ(seen[5], 99);
    munmap(seen, 4096);
  }
  munmap(bytes, 4096);
  const UniqueFd null(open("/dev/null", O_RDWR));
  EXPECT_EQ(client->ImportObject(null.get()), 0u);
  EXPECT_EQ(client->ImportObject(-1), 0u);
}

TEST_F(KernelTest, AnExportedObjectLivesUntilItsLastDescriptorIsClosed) {
  const uint32_t handle = client->Object(4096);
  UniqueFd fd(client->ExportObject(handle));
  uint8_t* const bytes = Map(*client, handle);
  bytes[7] = 77;
  munmap(bytes, 4096);
  const int descriptors = OpenDescriptors();
  // Its file is closed: only the descriptor is left.
  client.reset();
  Client other(kernel), device(kernel, 129);
  for (Client* const importer : {&other, &device}) {
    const uint32_t imported = importer->ImportObject(fd.get());
    ASSERT_NE(imported, 0u);
    uint8_t* const seen = Map(*importer, imported);
    EXPECT_EQ(seen[7], 77);
    munmap(seen, 4096);
    drm::gem_close close = {.handle = imported, .pad = 0};
    EXPECT_EQ(importer->Call(drm::kGemClose, close), 0);
  }
  // A copy of the descriptor counts, and so does a mapping that was made with it.
  void* const mapped = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd.get(), 0);
  fd.Reset();
  const uint32_t more = other.Object(4096);
  drm::gem_close close = {.handle = more, .pad = 0};
  EXPECT_EQ(other.Call(drm::kGemClose, close), 0);
  EXPECT_EQ(OpenDescriptors(), descriptors - 1);
  munmap(mapped, 4096);
  close.handle = other.Object(4096);
  EXPECT_EQ(other.Call(drm::kGemClose, close), 0);
  EXPECT_EQ(OpenDescriptors(), descriptors - 2);
}

TEST_F(KernelTest, WhatComesBackFromAnotherDeviceIsTheObjectThatWentThere) {
  const uint32_t handle = client->Object(4096);
  Client device(kernel, 129);
  const UniqueFd there(client->ExportObject(handle));
  const UniqueFd back(device.ExportObject(device.ImportObject(there.get())));
  EXPECT_EQ(client->ImportObject(back.get()), handle);
}

TEST_F(KernelTest, OffsetsAndNamesOfObjectsThatAreGoneAreForgotten) {
  Client primary(kernel, 0);
  const size_t before = mallinfo2().uordblks;
  uint64_t kept_offset = 0;
  for (int i = 0; i < 20'000; ++i) {
    CreateArgs create = {.size = 4096, .handle = 0, .pad = 0, .map_offset = 0};
    ASSERT_EQ(primary.Call(kTestCreate, create), 0);
    drm::gem_flink flink = {.handle = create.handle, .name = 0};
    ASSERT_EQ(primary.Call(drm::kGemFlink, flink), 0);
    ASSERT_EQ(flink.name, static_cast<uint32_t>(i + 1));
    if (i == 0) {
      kept_offset = create.map_offset;
      continue;
    }
    drm::gem_close close = {.handle = create.handle, .pad = 0};
    ASSERT_EQ(primary.Call(drm::kGemClose, close), 0);
  }
  EXPECT_LT(mallinfo2().uordblks, before + (1 << 20));
  File::Mapped mapped;
  EXPECT_EQ(primary.file->Mmap(primary.caller, kept_offset, 4096, mapped), 0);
  drm::gem_open open = {.name = 1, .handle = 0, .size = 0};
  EXPECT_EQ(primary.Call(drm::kGemOpen, open), 0);
}

TEST_F(KernelTest, MmapTakesTheOffsetsOfTheFilesOwnObjectsOnly) {
  CreateArgs create = {.size = 8192, .handle = 0, .pad = 0, .map_offset = 0};
  ASSERT_EQ(client->Call(kTestCreate, create), 0);
  File::Mapped mapped;
  EXPECT_EQ(client->file->Mmap(client->caller, create.map_offset + 4096, 4096, mapped), 0);
  EXPECT_EQ(mapped.offset, 4096u);
  EXPECT_EQ(client->file->Mmap(client->caller, create.map_offset, 8192, mapped), 0);
  EXPECT_EQ(client->file->Mmap(client->caller, create.map_offset, 12288, mapped), -EINVAL);
  EXPECT_EQ(client->file->Mmap(client->caller, create.map_offset, 0, mapped), -EINVAL);
  EXPECT_EQ(client->file->Mmap(client->caller, 0, 4096, mapped), -EINVAL);
  EXPECT_EQ(client->file->Mmap(client->caller, ~uint64_t{4095}, 4096, mapped), -EINVAL);
  Client other(kernel);
  EXPECT_EQ(other.file->Mmap(other.caller, create.map_offset, 4096, mapped), -EACCES);
  drm::gem_close close = {.handle = create.handle, .pad = 0};
  client->Call(drm::kGemClose, close);
  mapped = {};
  EXPECT_EQ(client->file->Mmap(client->caller, create.map_offset, 4096, mapped), -EINVAL);
}

TEST_F(KernelTest, NamesOpenTheSameObjectInOtherFilesOfTheDevice) {
  Client a(kernel, 0), b(kernel, 0), c(kernel, 1);
  drm::gem_flink flink = {.handle = a.Object(4096), .name = 0};
  ASSERT_EQ(a.Call(drm::kGemFlink, flink), 0);
  drm::gem_open open = {.name = flink.name, .handle = 0, .size = 0};
  EXPECT_EQ(b.Call(drm::kGemOpen, open), 0);
  EXPECT_EQ(open.size, 4096u);
  EXPECT_EQ(c.Call(drm::kGemOpen, open), -ENOENT);
  open.name = 99;
  EXPECT_EQ(b.Call(drm::kGemOpen, open), -ENOENT);
}

TEST_F(KernelTest, AWaitNeedsAFenceUnlessItMayStillCome) {
  const uint32_t empty = client->Syncobj(), signalled = client->Syncobj(1);
  EXPECT_EQ(client->Wait(signalled, 0), 0);
  EXPECT_EQ(client->Wait(empty, 0), -EINVAL);
  EXPECT_EQ(client->Wait(empty, 0, drm::kSyncobjWaitForSubmit), -ETIME);
  EXPECT_EQ(client->Wait(77, 0), -ENOENT);
  EXPECT_EQ(client->Wait(signalled, 0, 0x10), -EINVAL);
  const std::vector<uint32_t> both = {empty, signalled};
  drm::syncobj_wait wait = {};
  wait.handles = reinterpret_cast<uint64_t>(both.data());
  wait.count_handles = 2;
  wait.flags = drm::kSyncobjWaitForSubmit;
  wait.first_signaled = 42;
  EXPECT_EQ(client->Call(drm::kSyncobjWait, wait), 0);
  EXPECT_EQ(wait.first_signaled, 1u);
  // The structure without its newest member.
  EXPECT_EQ(client->Call(0xc02064c3, wait), 0);
  wait.count_handles = 0;
  EXPECT_EQ(client->Call(drm::kSyncobjWait, wait), 0);
}

TEST_F(KernelTest, AWaitEndsWhenAnotherThreadSignals) {
  const uint32_t handle = client->Syncobj();
  std::thread signaller([&] {
    Client other(kernel);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    drm::syncobj_array signal = {};
    signal.handles = reinterpret_cast<uint64_t>(&handle);
    signal.count_handles = 1;
    EXPECT_EQ(client->Call(drm::kSyncobjSignal, signal), 0);
  });
  EXPECT_EQ(client->Wait(handle, 20'000 * kMillisecond, 1 | drm::kSyncobjWaitForSubmit), 0);
  signaller.join();
}

TEST_F(KernelTest, APointIsReachedWhenAllBeforeItAre) {
  kernel.set_executor(&executor);
  const uint32_t timeline = client->Syncobj(), binary = client->Syncobj();
  const uint32_t object = client->Object(4096);
  uint8_t* const bytes = Map(*client, object);
  ASSERT_EQ(client->Submit(1, object, 0, binary), 0);  // pending
  drm::syncobj_transfer transfer = {.src_handle = binary,
                                    .dst_handle = timeline,
                                    .src_point = 0,
                                    .dst_point = 5,
                                    .flags = 0,
                                    .pad = 0};
  ASSERT_EQ(client->Call(drm::kSyncobjTransfer, transfer), 0);
  ASSERT_EQ(client->SignalPoint(timeline, 8), 0);
  EXPECT_EQ(client->Query(timeline), 0u);
  EXPECT_EQ(client->Query(timeline, drm::kSyncobjQueryLastSubmitted), 8u);
  EXPECT_EQ(client->WaitPoint(timeline, 8, 0), -ETIME);
  EXPECT_EQ(client->WaitPoint(timeline, 8, drm::kSyncobjWaitAvailable), 0);
  EXPECT_EQ(client->WaitPoint(timeline, 9, 0), -EINVAL);
  EXPECT_EQ(client->WaitPoint(timeline, 9, drm::kSyncobjWaitAvailable), -ETIME);
  bytes[0] = 1;
  kernel.Advance();
  EXPECT_EQ(client->Query(timeline), 8u);
  EXPECT_EQ(client->WaitPoint(timeline, 3, 0), 0);
  munmap(bytes, 4096);
}

TEST_F(KernelTest, WorkThatWaitsForMemoryGoesOnWithoutACall) {
  kernel.set_executor(&executor);
  const uint32_t first = client->Syncobj(), second = client->Syncobj();
  const uint32_t object = client->Object(4096);
  uint8_t* const bytes = Map(*client, object);
  ASSERT_EQ(client->Submit(1, object, 0, first), 0);
  ASSERT_EQ(client->Submit(1, 0, 0, second), 0);  // after it in the same queue
  EXPECT_EQ(client->Wait(second, 0), -ETIME);
  const UniqueFd file(client->ExportSyncobj(second, drm::kSyncobjFdSyncFile));
  pollfd readable = {file.get(), POLLIN, 0};
  EXPECT_EQ(poll(&readable, 1, 0), 0);
  bytes[0] = 1;
  EXPECT_EQ(poll(&readable, 1, 20'000), 1);
  EXPECT_EQ(client->Wait(first, 0), 0);
  EXPECT_EQ(client->Wait(second, 0), 0);
  munmap(bytes, 4096);
}

TEST_F(KernelTest, WorkThatWaitsTooLongHangsAndItsFenceIsSignalled) {
  kernel.set_executor(&executor);
  kernel.set_patience(10 * kMillisecond);
  const uint32_t fence = client->Syncobj();
  ASSERT_EQ(client->Submit(1, client->Object(4096), 0, fence), 0);
  EXPECT_EQ(client->Wait(fence, 20'000 * kMillisecond), 0);
}

TEST_F(KernelTest, QueuesWaitForEachOthersFences) {
  kernel.set_executor(&executor);
  const uint32_t first = client->Syncobj(), second = client->Syncobj();
  const uint32_t object = client->Object(4096);
  uint8_t* const bytes = Map(*client, object);
  ASSERT_EQ(client->Submit(1, object, 0, first), 0);
  ASSERT_EQ(client->Submit(2, 0, first, second), 0);
  EXPECT_EQ(client->Submit(3, 0, client->Syncobj(), 0), -EINVAL);
  EXPECT_EQ(client->Wait(second, 0), -ETIME);
  bytes[0] = 1;
  EXPECT_EQ(client->Wait(second, 20'000 * kMillisecond), 0);
  EXPECT_TRUE(kernel.WaitIdle(1000 * kMillisecond));
  munmap(bytes, 4096);
}

TEST_F(KernelTest, SyncobjsAndSyncFilesGoToOtherFiles) {
  const uint32_t syncobj = client->Syncobj();
  EXPECT_EQ(client->ExportSyncobj(syncobj, drm::kSyncobjFdSyncFile), -EINVAL);
  EXPECT_EQ(client->ExportSyncobj(99, 0), -EINVAL);
  EXPECT_EQ(client->ExportSyncobj(99, drm::kSyncobjFdSyncFile), -ENOENT);
  const UniqueFd fd(client->ExportSyncobj(syncobj, 0));
  Client other(kernel);
  uint32_t imported = 0;
  ASSERT_EQ(other.ImportSyncobj(fd.get(), 0, imported), 0);
  ASSERT_EQ(other.SignalPoint(imported, 3), 0);
  EXPECT_EQ(client->Query(syncobj), 3u);
  const UniqueFd fence(client->ExportSyncobj(syncobj, drm::kSyncobjFdSyncFile));
  uint32_t target = other.Syncobj();
  EXPECT_EQ(other.ImportSyncobj(fence.get(), drm::kSyncobjFdSyncFile, target), 0);
  EXPECT_EQ(other.Wait(target, 0), 0);
  EXPECT_EQ(other.ImportSyncobj(fd.get(), drm::kSyncobjFdSyncFile, target), -EINVAL);
  EXPECT_EQ(other.ImportSyncobj(fence.get(), 0, target), -EINVAL);
}

TEST_F(KernelTest, SyncFilesMergeAndTellTheirState) {
  const UniqueFd a(client->ExportSyncobj(client->Syncobj(1), drm::kSyncobjFdSyncFile));
  const UniqueFd b(client->ExportSyncobj(client->Syncobj(1), drm::kSyncobjFdSyncFile));
  drm::sync_merge merge = {};
  merge.fd2 = b.get();
  ASSERT_EQ(kernel.FdIoctl(client->caller, UniqueFd(dup(a.get())), drm::kSyncFileMerge,
                           reinterpret_cast<uint64_t>(&merge)),
            0);
  const UniqueFd both(merge.fence);
  drm::sync_file_info info = {};
  ASSERT_EQ(kernel.FdIoctl(client->caller, UniqueFd(dup(both.get())), drm::kSyncFileInfo,
                           reinterpret_cast<uint64_t>(&info)),
            0);
  EXPECT_EQ(info.status, 1);
  EXPECT_EQ(kernel.FdIoctl(client->caller, UniqueFd(open("/dev/null", O_RDWR)), drm::kSyncFileMerge,
                           reinterpret_cast<uint64_t>(&merge)),
            -ENOTTY);
}

TEST_F(KernelTest, AnEventfdIsToldOfAPoint) {
  const uint32_t timeline = client->Syncobj();
  const UniqueFd event(eventfd(0, EFD_NONBLOCK));
  drm::syncobj_eventfd told = {
      .handle = timeline, .flags = 0, .point = 4, .fd = event.get(), .pad = 0};
  ASSERT_EQ(client->Call(drm::kSyncobjEventfd, told), 0);
  uint64_t count = 0;
  EXPECT_LT(read(event.get(), &count, sizeof(count)), 0);
  client->SignalPoint(timeline, 4);
  EXPECT_EQ(read(event.get(), &count, sizeof(count)), 8);
  EXPECT_EQ(count, 1u);
}

TEST_F(KernelTest, OnlyAnEventfdIsWrittenToAndNeverWaitedFor) {
  const uint32_t signalled = client->Syncobj(1);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
  const UniqueFd read_end(ends[0]), write_end(ends[1]);
  const UniqueFd full(eventfd(0, 0));
  const uint64_t most = ~uint64_t{0} - 1;
  ASSERT_EQ(write(full.get(), &most, sizeof(most)), 8);
  drm::syncobj_eventfd told = {
      .handle = signalled, .flags = 0, .point = 0, .fd = write_end.get(), .pad = 0};
  EXPECT_EQ(client->Call(drm::kSyncobjEventfd, told), -EINVAL);
  char byte;
  EXPECT_LT(read(read_end.get(), &byte, 1), 0);
  told.fd = full.get();
  EXPECT_EQ(client->Call(drm::kSyncobjEventfd, told), 0);
  told.fd = 9999;
  EXPECT_EQ(client->Call(drm::kSyncobjEventfd, told), -EBADF);
}

TEST_F(KernelTest, FencesThatNobodyHoldsPassTheirErrorOn) {
  const auto first = std::make_shared<Fence>();
  std::shared_ptr<Fence> last = first;
  for (int i = 0; i < 4; ++i) last = WhenAll({last});
  first->Signal(-EIO);
  EXPECT_TRUE(last->done());
  EXPECT_EQ(last->error(), -EIO);
}

// Each point waits for the one before.
TEST_F(KernelTest, ALongTimelineIsSignalledAndFreedWithoutADeepStack) {
  constexpr int kPoints = 50'000;
  for (const bool signalled : {true, false}) {
    const auto first = std::make_shared<Fence>();
    Syncobj timeline;
    timeline.AddPoint(1, first);
    for (int point = 2; point <= kPoints; ++point) timeline.AddPoint(point, Fence::Signalled());
    const std::shared_ptr<Fence> last = timeline.PointFence(kPoints);
    EXPECT_FALSE(last->done());
    if (signalled) first->Signal();
    EXPECT_EQ(last->done(), signalled);
    EXPECT_EQ(timeline.reached(), signalled ? kPoints : 0u);
  }
}

TEST_F(KernelTest, MalformedCallsChangeNothing) {
  std::mt19937_64 random(19);
  const uint32_t object = client->Object(4096), syncobj = client->Syncobj(1);
  int descriptors = OpenDescriptors();
  // No call may wait: times are in the past.
  alignas(8) uint8_t argument[128];
  int failed = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t interesting[] = {0,  1,       2, 3, 8, 0xfff, ~uint64_t{0}, uint64_t{1} << 63,
                                    77, random()};
    for (size_t at = 0; at < sizeof(argument); at += 4) {
      const auto word = static_cast<uint32_t>(interesting[random() % std::size(interesting)]);
      std::memcpy(argument + at, &word, 4);
    }
    const uint32_t numbers[] = {0x00, 0x0c, 0x2d, 0x2e, 0xbf, 0xc1, 0xc2,
                                0xc4, 0xc5, 0xcb, 0xcd, 0xcf, 0x3f, 0xff};
    const uint32_t number = numbers[random() % std::size(numbers)];
    const uint32_t request = drm::Request(static_cast<drm::Direction>(random() % 4), number,
                                          random() % sizeof(argument));
    const uint64_t address = random() % 8 == 0 ? random() : reinterpret_cast<uint64_t>(argument);
    const Result result = client->file->Ioctl(client->caller, request, address);
    ASSERT_LE(result, 0);
    // What succeeds may give or keep a descriptor.
    const int now = OpenDescriptors();
    if (result < 0) {
      ++failed;
      ASSERT_EQ(now, descriptors) << number;
    }
    descriptors = now;
  }
  EXPECT_GT(failed, 300);
  EXPECT_EQ(client->ExportObject(99), -ENOENT);
  EXPECT_EQ(client->Wait(syncobj, 0, 3), 0);
  EXPECT_GE(client->ExportObject(object), 0);
}

TEST_F(KernelTest, EightThreadsSubmitAndWait) {
  kernel.set_executor(&executor);
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([this, t, &good] {
      Client own(kernel);
      for (int i = 0; i < 100; ++i) {
        // One of the files is shared.
        Client& used = i % 2 == 0 ? own : *client;
        const uint32_t fence = used.Syncobj();
        const uint32_t object = used.Object(4096);
        uint8_t* const bytes = Map(used, object);
        bytes[0] = 1;
        munmap(bytes, 4096);
        if (used.Submit(t + 1, object, 0, fence) == 0 &&
            used.Wait(fence, 20'000 * kMillisecond) == 0) {
          ++good;
        }
        drm::gem_close close = {.handle = object, .pad = 0};
        used.Call(drm::kGemClose, close);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 800);
}

}  // namespace
}  // namespace packsmith::capture
