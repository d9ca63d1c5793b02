// Buffers on kernels: how the CPU sees memory, and what happens when there is too little of it.
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/capture/drm/executor.h"
#include "runtime/memory/cpu_cache.h"
#include "runtime/memory/residency.h"
#include "tests/kernel/memory/machine.h"

namespace packsmith::gpu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr Heap kAllHeaps[] = {Heap::kSystem,         Heap::kSystemUncached, Heap::kSystemCompressed,
                              Heap::kLocal,          Heap::kLocalVisible,   Heap::kLocalPreferred,
                              Heap::kLocalCompressed};

class Heaps : public testing::TestWithParam<Gpu> {};
INSTANTIATE_TEST_SUITE_P(, Heaps,
                         testing::Values(Gpu{"i915", "snb"}, Gpu{"i915", "glk"}, Gpu{"i915", "skl"},
                                         Gpu{"i915", "dg2"}, Gpu{"i915", "mtl"}, Gpu{"xe", "tgl"},
                                         Gpu{"xe", "dg2"}, Gpu{"xe", "lnl"}, Gpu{"xe", "bmg"},
                                         Gpu{"asahi", "g13g"}),
                         testing::PrintToStringParamName());

TEST_P(Heaps, AreMappedAsTheDeviceSays) {
  KernelOf machine(GetParam());
  Live live;
  const auto device = machine.Open(live);
  int mapped = 0;
  for (const Heap heap : kAllHeaps) {
    for (const uint8_t use : {kOrdinary, kScanout}) {
      SCOPED_TRACE(testing::Message() << "heap " << static_cast<int>(heap) << " use " << int{use});
      const HeapCaching caching = device->CachingOf(heap, use);
      EXPECT_EQ(caching.cpu == CpuView::kNone, !CpuCanSee(heap));
      EXPECT_TRUE(caching.coherent);
      live.view.reset();
      const auto memory =
          device->Create({.size = device->properties().page, .heap = heap, .use = use});
      EXPECT_EQ(memory.ok(), caching.available) << memory.status();
      if (!memory.ok() || caching.cpu == CpuView::kNone) continue;
      ASSERT_TRUE(device->Map(*memory).ok());
      ++mapped;
      // i915 has one mode for discrete GPUs: as the memory was made.
      if (live.view.has_value()) {
        EXPECT_EQ(*live.view, caching.cpu);
      } else {
        EXPECT_EQ(caching.cpu, heap == Heap::kSystem ? CpuView::kCached : CpuView::kWriteCombined);
      }
    }
  }
  EXPECT_GE(mapped, 4);
}

TEST(HeapsWithoutCoherence, AreThoseThatTheCpuHasInItsCaches) {
  KernelOf machine({"i915", "glk"});
  Live live;
  live.is_coherent = false;
  const auto device = machine.Open(live);
  EXPECT_FALSE(device->CachingOf(Heap::kSystem, kOrdinary).coherent);
  EXPECT_EQ(device->CachingOf(Heap::kSystem, kOrdinary).cpu, CpuView::kCached);
  EXPECT_TRUE(device->CachingOf(Heap::kSystem, kScanout).coherent);
  EXPECT_TRUE(device->CachingOf(Heap::kSystemUncached, kOrdinary).coherent);

  std::vector<std::pair<uint8_t*, size_t>> flushed;
  const auto flush = [&](absl::Span<uint8_t> lines) {
    flushed.emplace_back(lines.data(), lines.size());
    return FlushCpuLines(lines);
  };
  BuffersOn on(*device, 4096, {.flush_lines = flush});
  const Buffer cached = on.Must({.size = 4096, .zone = on.kAll, .dedicated = true});
  const Buffer shown = on.Must({.size = 4096, .zone = on.kAll, .use = kScanout});
  std::memset(cached.cpu, 7, 4096);
  for (const Buffer& buffer : {cached, shown}) {
    ASSERT_TRUE(on.buffers->FlushForGpu(buffer.handle, 100, 3900).ok());
    ASSERT_TRUE(on.buffers->InvalidateForCpu(buffer.handle, 0, 1).ok());
  }
  const size_t line = CpuCacheLine();
  const size_t first = 100 / line * line;
  EXPECT_THAT(flushed,
              ElementsAre(Pair(cached.cpu + first, (4000 + line - 1) / line * line - first),
                          Pair(cached.cpu, line)));
  EXPECT_EQ(cached.cpu[4095], 7);
}

// ---- Too little memory. ----

TEST(KeptMemory, IsMarkedAsNotNeededMeanwhile) {
  namespace api = uapi::i915;
  KernelOf machine({"i915", "skl"});
  Live live;
  const auto device = machine.Open(live);
  BuffersOn on(*device, 4096);
  const BufferOptions options = {.size = 1 * kMiB, .zone = on.kAll, .dedicated = true};
  const Buffer first = on.Must(options);
  EXPECT_EQ(live.made(api::kGemMadvise), 0);
  ASSERT_TRUE(on.buffers->Release(first.handle).ok());
  EXPECT_EQ(live.made(api::kGemMadvise), 1);
  const int objects = live.objects;
  const Buffer second = on.Must(options);
  EXPECT_EQ(second.cpu, first.cpu);
  EXPECT_EQ(live.made(api::kGemMadvise), 2);
  EXPECT_EQ(live.objects, objects);
  // What the kernel has taken meanwhile goes back, and other memory takes its place.
  ASSERT_TRUE(on.buffers->Release(second.handle).ok());
  live.purges = true;
  const int made = live.made(api::kGemCreate);
  on.Must(options);
  EXPECT_EQ(live.made(api::kGemCreate), made + 1);
  EXPECT_EQ(live.objects, objects);
}

class Pressure : public testing::TestWithParam<Gpu> {};
INSTANTIATE_TEST_SUITE_P(, Pressure,
                         testing::Values(Gpu{"i915", "skl"}, Gpu{"i915", "dg2"}, Gpu{"xe", "tgl"},
                                         Gpu{"xe", "bmg"}),
                         testing::PrintToStringParamName());

TEST_P(Pressure, MakesBuffersGiveBackWhatTheyKeep) {
  KernelOf machine(GetParam());
  Live live;
  const auto device = machine.Open(live);
  BuffersOn on(*device, device->properties().page);
  const Buffer batch = on.Must({.size = 4096, .zone = on.kAll, .name = "batch", .dedicated = true});
  for (int i = 0; i < 3; ++i) {
    const Buffer kept = on.Must({.size = 2 * kMiB, .zone = on.kAll});
    const Buffer other = on.Must({.size = 3 * kMiB, .zone = on.kAll});
    ASSERT_TRUE(on.buffers->Release(kept.handle).ok());
    ASSERT_TRUE(on.buffers->Release(other.handle).ok());
  }
  const int without = live.objects - 2;
  Residency residency(*on.buffers);
  ASSERT_TRUE(residency.Add(batch.handle, false).ok());
  const Job job = {.batch_address = batch.address, .residents = residency.residents()};
  for (const int error : {ENOMEM, ENOSPC}) {
    // A job has no room beside more objects than these.
    int most = without;
    live.refuse = [&](uint32_t request) {
      const bool submits = request == uapi::i915::kGemExecbuffer2 || request == uapi::xe::kExec;
      return submits && live.objects > most ? error : 0;
    };
    EXPECT_EQ(device->Submit(job).status().code(), absl::StatusCode::kResourceExhausted);
    const auto fence = on.buffers->Submit(job, residency.uses());
    ASSERT_TRUE(fence.ok()) << fence.status();
    EXPECT_EQ(live.objects, without);
    EXPECT_TRUE(*on.buffers->Wait(batch.handle, true, absl::Seconds(20)));
    most = 0;
    const absl::Status refused = on.buffers->Submit(job, residency.uses()).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(refused.message(), AllOf(HasSubstr("/dev/dri/mock"), HasSubstr("\"batch\" (")));
    // For the next error.
    live.refuse = [](uint32_t) { return 0; };
    for (const uint64_t size : {2 * kMiB, 3 * kMiB}) {
      ASSERT_TRUE(on.buffers->Release(on.Must({.size = size, .zone = on.kAll}).handle).ok());
    }
  }
}

// ---- Jobs. ----

class ClosedGate : public capture::Executor {
 public:
  capture::Outcome Execute(const capture::Work& work, std::string&) override {
    MutexLock lock(mutex);
    mapped = work.memory->mappings().size();
    return open ? capture::Outcome::kDone : capture::Outcome::kWaiting;
  }
  Mutex mutex;
  bool open = false;
  size_t mapped = 0;  // pieces of memory in the last work
};

TEST_P(Pressure, LetsJobsCountAsRunningWhenTheKernelCannotBeAskedForThem) {
  ClosedGate gate;
  KernelOf machine(GetParam(), &gate);
  Live live;
  const auto device = machine.Open(live);
  const uint64_t page = device->properties().page;
  BuffersOn on(*device, page);
  const BufferOptions options = {.size = page, .zone = on.kAll, .dedicated = true};
  const Buffer batch = on.Must(options);
  Residency residency(*on.buffers);
  ASSERT_TRUE(residency.Add(batch.handle, true).ok());
  const auto fence = on.buffers->Submit(
      {.batch_address = batch.address, .residents = residency.residents()}, residency.uses());
  ASSERT_TRUE(fence.ok()) << fence.status();
  ASSERT_TRUE(on.buffers->Release(batch.handle).ok());
  for (const int error : {ENOMEM, ENOSPC, ENODEV, EIO, ECANCELED}) {
    live.refuse = [error](uint32_t request) {
      return request == uapi::drm::kSyncobjWait ? error : 0;
    };
    EXPECT_NE(on.Must(options).address, batch.address) << error;
  }
  live.refuse = [](uint32_t) { return 0; };
  EXPECT_NE(on.Must(options).address, batch.address);
  {
    MutexLock lock(gate.mutex);
    gate.open = true;
  }
  EXPECT_TRUE(*device->Wait(*fence, absl::Seconds(20)));
  EXPECT_EQ(on.Must(options).address, batch.address);
}

// i915 binds what a job lists; xe has bound everything before.
TEST_P(Pressure, OfJobsIsNoMoreThanTheyListWhereTheKernelBindsMemoryForThem) {
  ClosedGate gate;
  gate.open = true;
  KernelOf machine(GetParam(), &gate);
  Live live;
  const auto device = machine.Open(live);
  const uint64_t page = device->properties().page;
  BuffersOn on(*device, page);
  std::vector<Buffer> all;
  for (int i = 0; i < 10; ++i) {
    all.push_back(on.Must({.size = page, .zone = on.kAll, .dedicated = true}));
  }
  Residency residency(*on.buffers);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(residency.Add(all[i].handle, false).ok());
  const auto fence = on.buffers->Submit(
      {.batch_address = all[0].address, .residents = residency.residents()}, residency.uses());
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_TRUE(*device->Wait(*fence, absl::Seconds(20)));
  EXPECT_EQ(gate.mapped, std::string(GetParam().driver) == "i915" ? 3u : 10u);
}

TEST_P(Pressure, OnTheKernelDoesNotGrowWithTheBuffersOfAJob) {
  ClosedGate gate;
  KernelOf machine(GetParam(), &gate);
  std::vector<int> calls;
  for (const size_t count : {10, 1000}) {
    Live live;
    const auto device = machine.Open(live);
    const uint64_t page = device->properties().page;
    BuffersOn on(*device, page);
    Residency residency(*on.buffers);
    Buffer batch;
    for (size_t i = 0; i < count; ++i) {
      batch = on.Must({.size = page, .zone = on.kAll, .dedicated = true});
      ASSERT_TRUE(residency.Add(batch.handle, true).ok());
    }
    const auto total = [&live] {
      MutexLock lock(live.mutex);
      return live.asked;
    };
    const int before = total();
    for (int job = 0; job < 20; ++job) {
      const auto jobs = on.buffers->JobsBefore(residency.uses());
      ASSERT_TRUE(jobs.ok());
      ASSERT_TRUE(on.buffers
                      ->Submit({.batch_address = batch.address,
                                .residents = residency.residents(),
                                .after = *jobs},
                               residency.uses())
                      .ok());
    }
    calls.push_back(total() - before);
    {
      MutexLock lock(gate.mutex);
      gate.open = true;
    }
    ASSERT_TRUE(machine.kernel.WaitIdle(20'000'000'000));
    MutexLock lock(gate.mutex);
    gate.open = false;
  }
  EXPECT_EQ(calls[0], calls[1]);
}

}  // namespace
}  // namespace packsmith::gpu
