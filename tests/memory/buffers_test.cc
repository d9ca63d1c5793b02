#include "runtime/memory/buffers.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/memory/host_device.h"
#include "runtime/memory/residency.h"
#include "tests/memory/failing_device.h"

namespace packsmith::gpu {
namespace {

constexpr uint64_t kPage = 4096;
constexpr ZoneId kLow{0}, kHigh{1}, kTiny{2};

class BuffersTest : public testing::Test {
 protected:
  explicit BuffersTest(HostDevice::Options options = {.complete_by_hand = true})
      : device_(*HostDevice::Create(std::move(options))),
        failing_(*device_),
        addresses_(*AddressSpace::Create({{"low", kMiB, kGiB},
                                          {"high", uint64_t{1} << 47, (uint64_t{1} << 47) + kGiB},
                                          {"tiny", 2 * kGiB, 2 * kGiB + 8 * kPage}})) {
    Start({});
  }
  void Start(const Buffers::Options& options) {
    buffers_ = nullptr;
    buffers_ = Buffers::Create(failing_, *addresses_, options);
  }
  Buffer Must(const BufferOptions& options) {
    const auto buffer = buffers_->Create(options);
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    return buffer.ok() ? *buffer : Buffer{};
  }
  void Release(const Buffer& buffer) {
    const absl::Status status = buffers_->Release(buffer.handle);
    EXPECT_TRUE(status.ok()) << status;
  }
  // A job that uses the buffer; it runs until device_->Complete().
  Fence Submit(const Buffer& buffer) {
    const Resident resident = *buffers_->ResidentOf(buffer.handle);
    const Fence fence =
        *device_->Submit({.batch_address = buffer.address, .residents = {&resident, 1}});
    EXPECT_TRUE(buffers_->Use({&buffer.handle, 1}, fence).ok());
    return fence;
  }

  std::unique_ptr<HostDevice> device_;
  FailingDevice failing_;
  std::unique_ptr<AddressSpace> addresses_;
  std::unique_ptr<Buffers> buffers_;
};

TEST_F(BuffersTest, TheGpuSeesWhatTheCpuWrites) {
  for (const uint64_t size : {uint64_t{100}, uint64_t{5000}, 3 * kMiB}) {
    const Buffer buffer = Must({.size = size, .zone = kHigh, .name = "a"});
    EXPECT_GE(buffer.size, size);
    EXPECT_EQ(buffer.address >> 47, 0x1ffffu) << "canonical";
    std::memset(buffer.cpu, 0x5a, size);
    std::vector<uint8_t> read(size);
    ASSERT_TRUE(device_->Read(0, buffer.address, absl::MakeSpan(read)).ok());
    EXPECT_EQ(read, std::vector<uint8_t>(size, 0x5a));
    Release(buffer);
  }
}

TEST_F(BuffersTest, HandlesAreChecked) {
  const Buffer first = Must({.size = 64, .zone = kLow, .name = "first"});
  EXPECT_NE(first.handle, 0u);
  EXPECT_EQ(*buffers_->Name(first.handle), "first");
  ASSERT_TRUE(buffers_->SetName(first.handle, "renamed").ok());
  EXPECT_EQ(*buffers_->Name(first.handle), "renamed");
  Release(first);
  const Buffer second = Must({.size = 64, .zone = kLow});
  EXPECT_NE(second.handle, first.handle);
  EXPECT_EQ(second.address, first.address);
  for (const BufferHandle bad : {first.handle, BufferHandle{0}, second.handle + 1, ~0u}) {
    const auto code = absl::StatusCode::kNotFound;
    EXPECT_EQ(buffers_->Release(bad).code(), code);
    EXPECT_EQ(buffers_->Get(bad).status().code(), code);
    EXPECT_EQ(buffers_->Name(bad).status().code(), code);
    EXPECT_EQ(buffers_->SetName(bad, "x").code(), code);
    EXPECT_EQ(buffers_->ResidentOf(bad).status().code(), code);
    EXPECT_EQ(buffers_->Use({&bad, 1}, 1).code(), code);
  }
  EXPECT_EQ(buffers_->Get(second.handle)->address, second.address);
}

TEST_F(BuffersTest, AReleasedHandleIsKnownForAThousandLives) {
  Start({.largest_shared = 0});
  const Buffer first = Must({.size = kPage, .zone = kLow});
  Release(first);
  for (int life = 0; life < 1022; ++life) {
    const Buffer buffer = Must({.size = kPage, .zone = kLow});
    ASSERT_NE(buffer.handle, first.handle) << life;
    ASSERT_NE(buffer.handle, 0u);
    Release(buffer);
    ASSERT_FALSE(buffers_->Get(first.handle).ok());
  }
}

TEST_F(BuffersTest, RefusesRequestsThatMakeNoSense) {
  EXPECT_FALSE(buffers_->Create({.size = 0, .zone = kLow}).ok());
  EXPECT_THAT(buffers_->Create({.size = 64, .zone = ZoneId{9}}).status().message(),
              testing::HasSubstr("there is no zone 9"));
  const absl::Status none = buffers_->Create({.size = 64}).status();
  EXPECT_EQ(none.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(none.message(), testing::HasSubstr("no zone was given"));
  EXPECT_THAT(none.message(), testing::HasSubstr("low")) << "the zones that there are";
  EXPECT_FALSE(buffers_->Create({.size = 64, .zone = kLow, .alignment = 96}).ok());
  EXPECT_FALSE(buffers_->Create({.size = ~uint64_t{0}, .zone = kLow}).ok());
  EXPECT_FALSE(buffers_->Create({.size = uint64_t{1} << 59, .zone = kLow}).ok());
  EXPECT_FALSE(buffers_->Create({.size = 64, .zone = kLow, .boundary = 32}).ok());
  EXPECT_EQ(buffers_->statistics().live, 0u);
  EXPECT_EQ(buffers_->statistics().memory_bytes, device_->memory_in_use());
}

TEST(BufferClasses, AreFourToTheOctave) {
  EXPECT_EQ(Buffers::ClassSize(1), 4 * kKiB);
  EXPECT_EQ(Buffers::ClassSize(4 * kKiB + 1), 8 * kKiB);
  EXPECT_EQ(Buffers::ClassSize(12 * kKiB), 12 * kKiB);
  EXPECT_EQ(Buffers::ClassSize(16 * kKiB), 16 * kKiB);
  EXPECT_EQ(Buffers::ClassSize(16 * kKiB + 1), 20 * kKiB);
  EXPECT_EQ(Buffers::ClassSize(32 * kKiB), 32 * kKiB);
  EXPECT_EQ(Buffers::ClassSize(32 * kKiB + 1), 40 * kKiB);
  EXPECT_EQ(Buffers::ClassSize(33 * kMiB), 40 * kMiB);
  EXPECT_EQ(Buffers::ClassSize(64 * kMiB), 64 * kMiB);
  EXPECT_EQ(Buffers::ClassSize(64 * kMiB + 1), 64 * kMiB + 4 * kKiB);
  std::set<uint64_t> classes;
  for (uint64_t size = kPage; size <= 64 * kMiB; size += kPage) {
    const uint64_t of = Buffers::ClassSize(size);
    ASSERT_GE(of, size);
    ASSERT_EQ(Buffers::ClassSize(of), of);
    if (size > 16 * kKiB) {
      ASSERT_LE(of - size, size / 4);
    }
    classes.insert(of);
  }
  EXPECT_EQ(classes.size(), 4u + 4 * 12);
}

TEST_F(BuffersTest, ReleasedMemoryIsUsedAgainForItsKindOnly) {
  const Buffer a = Must({.size = 70 * kKiB, .zone = kLow, .dedicated = true});
  Release(a);
  EXPECT_EQ(buffers_->statistics().cached_bytes, 80 * kKiB);
  const BufferOptions kOthers[] = {
      {.size = 70 * kKiB, .zone = kHigh, .dedicated = true},
      {.size = 70 * kKiB, .zone = kLow, .heap = Heap::kSystemUncached, .dedicated = true},
      {.size = 70 * kKiB, .zone = kLow, .use = kProtected, .dedicated = true},
      {.size = 70 * kKiB, .zone = kLow, .writable = false, .dedicated = true},
      {.size = 60 * kKiB, .zone = kLow, .dedicated = true},
      {.size = 70 * kKiB, .zone = kLow, .alignment = 256 * kMiB, .dedicated = true},
  };
  for (const BufferOptions& other : kOthers) {
    EXPECT_NE(Must(other).address, a.address);
  }
  EXPECT_EQ(buffers_->statistics().reused, 0u);
  EXPECT_EQ(Must({.size = 80 * kKiB, .zone = kLow, .dedicated = true}).address, a.address);
  EXPECT_EQ(buffers_->statistics().reused, 1u);
  EXPECT_EQ(buffers_->statistics().cached_bytes, 0u);
}

TEST_F(BuffersTest, ZeroedMeansZeroEvenWhenUsedAgain) {
  for (const uint64_t size : {uint64_t{300}, 100 * kKiB, 2 * kMiB}) {
    const Buffer a = Must({.size = size, .zone = kLow});
    std::memset(a.cpu, 0xff, a.size);
    Release(a);
    const Buffer b = Must({.size = size, .zone = kLow, .zeroed = true});
    EXPECT_EQ(b.address, a.address) << size;
    EXPECT_EQ(std::count(b.cpu, b.cpu + b.size, 0), static_cast<long>(b.size));
  }
  // Memory that the CPU cannot clear is new.
  const Buffer c = Must({.size = kMiB, .zone = kLow, .heap = Heap::kLocal, .dedicated = true});
  EXPECT_EQ(c.cpu, nullptr);
  Release(c);
  const uint64_t reused = buffers_->statistics().reused;
  Must({.size = kMiB, .zone = kLow, .heap = Heap::kLocal, .zeroed = true});
  EXPECT_EQ(buffers_->statistics().reused, reused);
}

TEST_F(BuffersTest, TheCacheHasABoundAndLosesTheOldestFirst) {
  Start({.cache_bytes = 4 * kMiB, .largest_shared = 0});
  std::vector<Buffer> live;
  for (int i = 0; i < 8; ++i) live.push_back(Must({.size = kMiB, .zone = kLow}));
  for (const Buffer& buffer : live) Release(buffer);
  EXPECT_EQ(buffers_->statistics().cached_bytes, 4 * kMiB);
  EXPECT_EQ(device_->memory_in_use(), 4 * kMiB);
  std::set<uint64_t> again;
  for (int i = 0; i < 4; ++i) again.insert(Must({.size = kMiB, .zone = kLow}).address);
  for (int i = 4; i < 8; ++i) EXPECT_TRUE(again.count(live[i].address)) << i;
  // Larger than the bound: not kept at all.
  Release(Must({.size = 5 * kMiB, .zone = kLow}));
  EXPECT_EQ(buffers_->statistics().cached_bytes, 0u);
  EXPECT_TRUE(buffers_->Trim().ok());
  EXPECT_EQ(device_->memory_in_use(), 4 * kMiB);
}

TEST_F(BuffersTest, SmallBuffersShareMemory) {
  std::vector<Buffer> small;
  for (int i = 0; i < 256; ++i) small.push_back(Must({.size = 200, .zone = kLow}));
  EXPECT_EQ(device_->memory_in_use(), 64 * kKiB);
  EXPECT_EQ(buffers_->statistics().slabs, 1u);
  std::set<uint64_t> addresses;
  for (const Buffer& buffer : small) {
    EXPECT_EQ(buffer.size, 256u);
    EXPECT_EQ(buffer.address % 256, 0u);
    EXPECT_TRUE(addresses.insert(buffer.address).second);
    EXPECT_EQ(buffers_->ResidentOf(buffer.handle)->memory,
              buffers_->ResidentOf(small[0].handle)->memory);
    EXPECT_EQ(buffers_->Find(buffer.address + 255)->handle, buffer.handle);
  }
  Release(small[7]);
  EXPECT_FALSE(buffers_->Find(small[7].address).ok());
  EXPECT_EQ(Must({.size = 256, .zone = kLow}).address, small[7].address);
  Must({.size = 256, .zone = kLow});
  EXPECT_EQ(buffers_->statistics().slabs, 2u);
}

TEST_F(BuffersTest, EntriesArePowersOfTwoAndThreeQuartersOfThem) {
  const struct {
    uint64_t size, alignment, entry;
  } kCases[] = {{1, 0, 256},           {257, 0, 384},
                {384, 0, 384},         {385, 0, 512},
                {600, 0, 768},         {769, 0, 1024},
                {300, 128, 384},       {300, 256, 512},
                {1, 4096, 4096},       {700 * kKiB, 0, 768 * kKiB},
                {800 * kKiB, 0, kMiB}, {48 * kKiB, 0, 48 * kKiB}};
  for (const auto& c : kCases) {
    const Buffer buffer = Must({.size = c.size, .zone = kLow, .alignment = c.alignment});
    EXPECT_EQ(buffer.size, c.entry) << c.size;
    if (c.alignment != 0) {
      EXPECT_EQ(buffer.address % c.alignment, 0u);
    }
  }
  EXPECT_EQ(buffers_->statistics().suballocated, std::size(kCases));
  // Five of three quarters fit into memory for four.
  std::set<MemoryId> memories;
  for (int i = 0; i < 5; ++i) {
    memories.insert(buffers_->ResidentOf(Must({.size = 300 * kKiB, .zone = kHigh}).handle)->memory);
  }
  EXPECT_EQ(memories.size(), 1u);
}

TEST_F(BuffersTest, SomeBuffersDoNotShare) {
  const BufferOptions kAlone[] = {
      {.size = 64, .zone = kLow, .dedicated = true},
      {.size = 64, .zone = kLow, .use = kScanout},
      {.size = 64, .zone = kLow, .guard = 1},
      {.size = 64, .zone = kLow, .boundary = kPage},
      {.size = 64, .zone = kLow, .placement = Placement::kHighest},
      {.size = 64, .zone = kLow, .address = 512 * kMiB},
      {.size = kMiB + 1, .zone = kLow},
  };
  for (const BufferOptions& options : kAlone) EXPECT_EQ(Must(options).address % kPage, 0u);
  EXPECT_EQ(buffers_->statistics().suballocated, 0u);
  EXPECT_EQ(buffers_->Find(512 * kMiB)->address, 512 * kMiB);
}

TEST_F(BuffersTest, SharedMemoryIsReturnedWhenNobodyUsesIt) {
  std::vector<Buffer> buffers;
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    buffers.push_back(Must({.size = 1 + random() % 3000, .zone = kLow}));
  }
  std::shuffle(buffers.begin(), buffers.end(), random);
  for (const Buffer& buffer : buffers) Release(buffer);
  EXPECT_EQ(buffers_->statistics().slabs, 0u);
  EXPECT_EQ(buffers_->statistics().cached_bytes, device_->memory_in_use());
  ASSERT_TRUE(buffers_->Trim().ok());
  EXPECT_EQ(device_->memory_in_use(), 0u);
  EXPECT_EQ(addresses_->statistics(kLow).live_ranges, 0u);
}

TEST_F(BuffersTest, WhatTheGpuUsesIsNotGivenToOthers) {
  for (const uint64_t size : {uint64_t{64}, 8 * kMiB}) {
    const Buffer a = Must({.size = size, .zone = kLow});
    const Fence first = Submit(a), second = Submit(a);
    Release(a);
    EXPECT_EQ(buffers_->statistics().waiting_bytes, a.size);
    EXPECT_NE(Must({.size = size, .zone = kLow}).address, a.address);
    device_->Complete(first);
    EXPECT_NE(Must({.size = size, .zone = kLow}).address, a.address) << "the second job runs";
    device_->Complete(second);
    EXPECT_EQ(Must({.size = size, .zone = kLow}).address, a.address);
    EXPECT_EQ(buffers_->statistics().waiting_bytes, 0u);
  }
}

TEST_F(BuffersTest, ABufferOfManyJobsRemembersThoseThatRun) {
  const Buffer a = Must({.size = 64, .zone = kLow});
  std::vector<Fence> fences;
  for (int i = 0; i < 100; ++i) {
    fences.push_back(Submit(a));
    if (i < 90) device_->Complete(fences.back());
  }
  Release(a);
  device_->Complete(fences[98]);
  EXPECT_NE(Must({.size = 64, .zone = kLow}).address, a.address);
  device_->Complete(fences[99]);
  EXPECT_EQ(Must({.size = 64, .zone = kLow}).address, a.address);
}

TEST_F(BuffersTest, WhenThereIsNoRoomTheCacheIsGivenUp) {
  Release(Must({.size = 6 * kPage, .zone = kTiny, .dedicated = true}));
  EXPECT_EQ(buffers_->statistics().cached_bytes, 6 * kPage);
  // Neither does the cache have such a buffer, nor are there three free pages next to it.
  const Buffer buffer = Must({.size = 3 * kPage, .zone = kTiny, .dedicated = true});
  EXPECT_EQ(buffers_->statistics().cached_bytes, 0u);
  const auto full = buffers_->Create({.size = 6 * kPage, .zone = kTiny, .dedicated = true});
  EXPECT_EQ(full.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(buffers_->Get(buffer.handle)->address, buffer.address);
}

TEST_F(BuffersTest, EachStepOfCreationCanFailWithoutATrace) {
  for (const bool dedicated : {false, true}) {
    for (int step = 0; step < 4; ++step) {
      const BufferStatistics before = buffers_->statistics();
      const uint64_t ranges = addresses_->statistics(kLow).live_ranges;
      const uint64_t memory = device_->memory_in_use();
      failing_.FailAfter(step);
      const auto buffer =
          buffers_->Create({.size = 9000, .zone = kLow, .name = "x", .dedicated = dedicated});
      EXPECT_EQ(buffer.ok(), step == 3) << "create, map and bind, and there it is";
      failing_.FailAfter(-1);
      if (buffer.ok()) {
        Release(*buffer);
        ASSERT_TRUE(buffers_->Trim().ok());
      }
      EXPECT_EQ(buffers_->statistics().memory_bytes, before.memory_bytes);
      EXPECT_EQ(buffers_->statistics().live, before.live);
      EXPECT_EQ(buffers_->statistics().slabs, before.slabs);
      EXPECT_EQ(addresses_->statistics(kLow).live_ranges, ranges);
      EXPECT_EQ(device_->memory_in_use(), memory);
    }
  }
}

TEST_F(BuffersTest, SeveralBuffersAreThereOrNone) {
  // Small ones that share memory, one that was released, and new ones.
  const std::vector<BufferOptions> wanted = {
      {.size = 100, .zone = kLow, .name = "a"},
      {.size = 100, .zone = kLow, .name = "b", .zeroed = true},
      {.size = 9000, .zone = kLow, .name = "c", .dedicated = true},
      {.size = 3 * kMiB, .zone = kHigh, .name = "d"},
      {.size = 5 * kMiB, .zone = kHigh, .name = "e"},
  };
  Release(Must({.size = 9000, .zone = kLow, .dedicated = true}));
  const BufferStatistics before = buffers_->statistics();
  const uint64_t low = addresses_->statistics(kLow).live_ranges;
  const uint64_t high = addresses_->statistics(kHigh).live_ranges;
  // Each of three takes memory and a place for the CPU.
  for (int step = 0; step < 6; ++step) {
    failing_.FailAfter(step);
    const auto none = buffers_->CreateAll(wanted);
    ASSERT_FALSE(none.ok()) << step;
    EXPECT_THAT(std::string(none.status().message()), testing::HasSubstr(" of 5 (\""));
    EXPECT_THAT(std::string(none.status().message()), testing::HasSubstr("told to fail"));
    failing_.FailAfter(-1);
    const BufferStatistics after = buffers_->statistics();
    EXPECT_EQ(after.live, before.live);
    EXPECT_EQ(after.memory_bytes, before.memory_bytes);
    EXPECT_EQ(after.cached_bytes, before.cached_bytes);
    EXPECT_EQ(after.slabs, before.slabs);
    EXPECT_EQ(after.created, before.created);
    EXPECT_EQ(after.reused, before.reused);
    EXPECT_EQ(after.suballocated, before.suballocated);
    EXPECT_EQ(after.memory_bytes, device_->memory_in_use());
    EXPECT_EQ(addresses_->statistics(kLow).live_ranges, low);
    EXPECT_EQ(addresses_->statistics(kHigh).live_ranges, high);
  }
  // Then pages are bound together. What that fails with by chance, the device is asked again for.
  failing_.FailAfter(7);
  const auto all = buffers_->CreateAll(wanted);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_TRUE(failing_.failed());
  ASSERT_EQ(all->size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Buffer& buffer = (*all)[i];
    EXPECT_GE(buffer.size, wanted[i].size);
    EXPECT_EQ(*buffers_->Name(buffer.handle), wanted[i].name);
    std::memset(buffer.cpu, static_cast<int>(i), buffer.size);
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    uint8_t last = 0xff;
    ASSERT_TRUE(device_->Read(0, (*all)[i].address + (*all)[i].size - 1, {&last, 1}).ok());
    EXPECT_EQ(last, i);
  }
  EXPECT_EQ(buffers_->statistics().live, 5u);
  EXPECT_EQ(buffers_->statistics().reused, before.reused + 1);
}

TEST_F(BuffersTest, OfSeveralTheOneThatDoesNotFitIsNamed) {
  const BufferOptions good = {.size = kPage, .zone = kTiny, .name = "good", .dedicated = true};
  const auto error = [&](const BufferOptions& bad) {
    const auto made = buffers_->CreateAll({good, bad, good});
    EXPECT_FALSE(made.ok());
    EXPECT_EQ(buffers_->statistics().live, 0u);
    return made.status();
  };
  EXPECT_THAT(std::string(error({.size = 0, .zone = kTiny, .name = "none"}).message()),
              testing::StartsWith("buffer 2 of 3 (\"none\"): "));
  EXPECT_THAT(std::string(error({.size = 64, .zone = ZoneId{9}}).message()),
              testing::StartsWith("buffer 2 of 3 (\"\"): "));
  const absl::Status large = error({.size = 8 * kPage, .zone = kTiny, .name = "large"});
  EXPECT_EQ(large.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(large.message()), testing::StartsWith("buffer 2 of 3 (\"large\"): "));
  // Of one, the error is that of Create().
  EXPECT_EQ(buffers_->CreateAll({{.size = 0, .zone = kTiny}}).status(),
            buffers_->Create({.size = 0, .zone = kTiny}).status());
  EXPECT_TRUE(buffers_->CreateAll({good, good, good}).ok());
  EXPECT_TRUE(buffers_->CreateAll({})->empty());
}

TEST_F(BuffersTest, ReleasingSeveralReleasesAllThatAreBuffers) {
  Start({.cache_bytes = 0, .largest_shared = 0});
  const Buffer a = Must({.size = kPage, .zone = kLow}), b = Must({.size = kPage, .zone = kLow});
  const Buffer busy = Must({.size = kPage, .zone = kLow});
  const Fence fence = Submit(busy);
  EXPECT_EQ(buffers_->ReleaseAll({a.handle, a.handle, busy.handle, b.handle}).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(buffers_->statistics().live, 0u);
  EXPECT_EQ(device_->memory_in_use(), kPage) << "the GPU uses one";
  EXPECT_EQ(buffers_->statistics().waiting_bytes, kPage);
  device_->Complete(fence);
  EXPECT_TRUE(buffers_->ReleaseAll({}).ok());
  EXPECT_TRUE(buffers_->Trim().ok());
  EXPECT_EQ(device_->memory_in_use(), 0u);
}

TEST_F(BuffersTest, EverythingGoesBackWhenItEnds) {
  for (int i = 0; i < 50; ++i) {
    const Buffer buffer = Must({.size = 1000u * (i + 1), .zone = kLow});
    if (i % 3 == 0) Release(buffer);
    if (i % 7 == 0 && i % 3 != 0) Submit(buffer);
  }
  buffers_ = nullptr;
  EXPECT_EQ(device_->memory_in_use(), 0u);
  EXPECT_EQ(addresses_->statistics(kLow).live_ranges, 0u);
}

TEST_F(BuffersTest, RandomBuffersDoNotOverlapAndKeepTheirContent) {
  Start({.cache_bytes = 8 * kMiB});
  std::mt19937 random(1);
  struct Mine {
    Buffer buffer;
    uint8_t byte;
  };
  std::vector<Mine> live;
  std::map<uint64_t, uint64_t> extents;
  Fence last = 0;
  for (int step = 0; step < 6000; ++step) {
    if (!live.empty() && random() % 2 == 0) {
      std::swap(live[random() % live.size()], live.back());
      const Mine& gone = live.back();
      const auto same = [&](uint8_t byte) { return byte == gone.byte; };
      ASSERT_TRUE(std::all_of(gone.buffer.cpu, gone.buffer.cpu + gone.buffer.size, same));
      if (random() % 3 == 0) last = Submit(gone.buffer);
      Release(gone.buffer);
      extents.erase(gone.buffer.address);
      live.pop_back();
    } else {
      BufferOptions options{.size = 1 + random() % (64u << (random() % 12)),
                            .zone = random() % 2 == 0 ? kLow : kHigh};
      if (random() % 3 == 0) options.alignment = 1u << (random() % 17);
      if (random() % 5 == 0) options.boundary = 1u << 20;
      if (random() % 9 == 0) options.guard = kPage;
      options.dedicated = random() % 8 == 0;
      const Buffer buffer = Must(options);
      ASSERT_GE(buffer.size, options.size);
      if (options.alignment != 0) {
        ASSERT_EQ(buffer.address % options.alignment, 0u);
      }
      if (options.boundary != 0) {
        ASSERT_EQ(buffer.address / options.boundary,
                  (buffer.address + options.size - 1) / options.boundary);
      }
      const auto next = extents.lower_bound(buffer.address);
      ASSERT_TRUE(next == extents.end() || next->first >= buffer.address + buffer.size);
      ASSERT_TRUE(next == extents.begin() ||
                  std::prev(next)->first + std::prev(next)->second <= buffer.address);
      extents[buffer.address] = buffer.size;
      ASSERT_EQ(buffers_->Find(buffer.address + random() % buffer.size)->handle, buffer.handle);
      live.push_back({buffer, static_cast<uint8_t>(step)});
      std::memset(buffer.cpu, live.back().byte, buffer.size);
    }
    if (random() % 50 == 0) device_->Complete(last);
    ASSERT_EQ(buffers_->statistics().memory_bytes, device_->memory_in_use());
    ASSERT_EQ(buffers_->statistics().live, live.size());
    ASSERT_LE(buffers_->statistics().cached_bytes, 8 * kMiB);
  }
}

TEST_F(BuffersTest, AnAddressThatOnlyTheCacheHoldsIsFree) {
  const Buffer kept = Must({.size = kMiB, .zone = kLow, .dedicated = true});
  const Buffer beside = Must({.size = 3 * kMiB, .zone = kHigh, .dedicated = true});
  Release(kept);
  Release(beside);
  const BufferOptions there{
      .size = 2 * kPage, .zone = kLow, .guard = kPage, .address = kept.address + kPage};
  const Buffer buffer = Must(there);
  EXPECT_EQ(buffer.address, kept.address + kPage);
  EXPECT_EQ(buffers_->statistics().cached_bytes, beside.size) << "what is elsewhere is still kept";
  EXPECT_EQ(buffers_->Create(there).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(buffers_->statistics().cached_bytes, beside.size);
}

TEST_F(BuffersTest, WhatTheDeviceDoesNotTakeBackIsLostAndNothingElse) {
  for (bool FailingDevice::*const refuses :
       {&FailingDevice::refuses_unbind, &FailingDevice::refuses_destroy}) {
    Start({.cache_bytes = 0, .largest_shared = 0});
    const uint64_t before = device_->memory_in_use();
    const Buffer lost = Must({.size = kMiB, .zone = kLow});
    const Buffer other = Must({.size = kMiB, .zone = kLow});
    failing_.*refuses = true;
    EXPECT_EQ(buffers_->Release(lost.handle).code(), absl::StatusCode::kInternal);
    EXPECT_FALSE(buffers_->Get(lost.handle).ok()) << "it is released anyway";
    EXPECT_EQ(buffers_->statistics().lost_bytes, kMiB);
    EXPECT_EQ(buffers_->statistics().memory_bytes, device_->memory_in_use() - before);
    // Others go on, and do not get addresses that are still bound.
    for (int i = 0; i < 4; ++i) {
      const Buffer buffer = Must({.size = kMiB, .zone = kLow});
      EXPECT_TRUE(device_->Write(0, buffer.address, {buffer.cpu, 8}).ok());
    }
    EXPECT_EQ(buffers_->Get(other.handle)->address, other.address);
    failing_.*refuses = false;
    EXPECT_TRUE(buffers_->Release(other.handle).ok());
  }
}

TEST_F(BuffersTest, MemoryThatCannotBeGivenBackDoesNotKeepOthersFromMemory) {
  Start({.cache_bytes = 0});
  const Buffer a = Must({.size = 2 * kMiB, .zone = kLow});
  const Fence fence = Submit(a);
  Release(a);
  device_->Complete(fence);
  failing_.refuses_unbind = true;
  // The buffer released before is freed now, which fails; that does not affect this one.
  EXPECT_TRUE(buffers_->Create({.size = 64, .zone = kLow}).ok());
  EXPECT_EQ(buffers_->statistics().waiting_bytes, 0u);
  EXPECT_EQ(buffers_->statistics().lost_bytes, a.size);
  failing_.refuses_unbind = false;
}

TEST_F(BuffersTest, WhateverFailsTheBooksAreRight) {
  Start({.cache_bytes = 2 * kMiB});
  std::mt19937 random(1);
  struct Mine {
    Buffer buffer;
    uint8_t byte;
  };
  std::vector<Mine> live;
  Fence last = 0;
  for (int step = 0; step < 4000; ++step) {
    failing_.FailAnyAfter(random() % 3 == 0 ? static_cast<int>(random() % 6) : -1);
    if (!live.empty() && random() % 2 == 0) {
      std::swap(live[random() % live.size()], live.back());
      const Mine gone = live.back();
      live.pop_back();
      const auto same = [&](uint8_t byte) { return byte == gone.byte; };
      ASSERT_TRUE(std::all_of(gone.buffer.cpu, gone.buffer.cpu + gone.buffer.size, same));
      if (random() % 4 == 0) {
        failing_.FailAnyAfter(-1);
        last = Submit(gone.buffer);
      }
      (void)buffers_->Release(gone.buffer.handle);
      ASSERT_FALSE(buffers_->Get(gone.buffer.handle).ok());
    } else {
      std::vector<BufferOptions> wanted(random() % 4 == 0 ? 1 + random() % 4 : 1);
      for (BufferOptions& one : wanted) {
        one.size = 1 + random() % (64u << (random() % 14));
        one.zone = random() % 2 == 0 ? kLow : kHigh;
        one.dedicated = random() % 4 == 0;
      }
      const auto buffers = buffers_->CreateAll(wanted);
      if (buffers.ok()) {
        for (const Buffer& buffer : *buffers) {
          live.push_back({buffer, static_cast<uint8_t>(step)});
          std::memset(buffer.cpu, live.back().byte, buffer.size);
        }
      }
    }
    failing_.FailAnyAfter(-1);
    if (random() % 20 == 0) device_->Complete(last);
    ASSERT_EQ(buffers_->statistics().live, live.size());
    ASSERT_EQ(buffers_->statistics().memory_bytes, device_->memory_in_use());
  }
  EXPECT_GT(buffers_->statistics().lost_bytes, 0u);
  for (const Mine& mine : live) Release(mine.buffer);
  device_->Complete(last);
  ASSERT_TRUE(buffers_->Trim().ok());
  EXPECT_EQ(buffers_->statistics().memory_bytes, buffers_->statistics().lost_bytes);
}

TEST_F(BuffersTest, WhatWasTakenAwayMeanwhileIsNotUsedAgain) {
  Start({.largest_shared = 0});
  for (const bool taken : {false, true}) {
    const Buffer a = Must({.size = 2 * kMiB, .zone = kLow});
    Release(a);
    failing_.short_of_memory = taken;
    const uint64_t reused = buffers_->statistics().reused;
    Must({.size = 2 * kMiB, .zone = kLow});
    EXPECT_EQ(buffers_->statistics().reused, taken ? reused : reused + 1);
    EXPECT_EQ(buffers_->statistics().cached_bytes, 0u);
    EXPECT_EQ(buffers_->statistics().memory_bytes, device_->memory_in_use());
  }
}

TEST_F(BuffersTest, WhatWasKeptForLongGoes) {
  absl::Time now = absl::UnixEpoch();
  Start({.cache_time = absl::Seconds(1), .now = [&] { return now; }, .largest_shared = 0});
  const Buffer a = Must({.size = kMiB, .zone = kLow}), b = Must({.size = kMiB, .zone = kLow});
  const Buffer c = Must({.size = kMiB, .zone = kLow});
  Release(a);
  now += absl::Milliseconds(700);
  Release(b);
  EXPECT_EQ(buffers_->statistics().cached_bytes, 2 * kMiB);
  now += absl::Milliseconds(700);
  Release(c);
  EXPECT_EQ(buffers_->statistics().cached_bytes, 2 * kMiB) << "a is gone, b is not";
  EXPECT_EQ(device_->memory_in_use(), 2 * kMiB);
}

TEST_F(BuffersTest, AJobComesAfterThoseThatWriteWhatItReadsOrUseWhatItWrites) {
  const Buffer a = Must({.size = 64, .zone = kLow}), b = Must({.size = 64, .zone = kLow});
  const Buffer c = Must({.size = 64, .zone = kLow});
  const auto run = [&](std::vector<BufferAccess> uses) {
    Residency residency(*buffers_);
    for (const BufferAccess& use : uses) {
      EXPECT_TRUE(residency.Add(use.handle, use.written).ok());
    }
    const Fence fence =
        *device_->Submit({.batch_address = a.address, .residents = residency.residents()});
    EXPECT_TRUE(buffers_->Use(residency.uses(), fence).ok());
    return fence;
  };
  using Fences = std::vector<Fence>;
  const auto before = [&](std::vector<BufferAccess> uses) { return *buffers_->JobsBefore(uses); };
  const Fence reader = run({{a.handle, false}});
  const Fence writer = run({{a.handle, false}, {b.handle, true}});
  EXPECT_EQ(before({{a.handle, false}}), Fences{}) << "readers do not wait for each other";
  EXPECT_EQ(before({{a.handle, true}}), (Fences{reader, writer}));
  EXPECT_EQ(before({{b.handle, false}}), Fences{writer});
  EXPECT_EQ(before({{a.handle, true}, {b.handle, true}}), (Fences{reader, writer}));
  EXPECT_EQ(before({{c.handle, true}}), Fences{}) << "that they share memory does not matter";
  device_->Complete(reader);
  EXPECT_EQ(before({{a.handle, true}}), Fences{writer});
  const BufferAccess wrong{0, true};
  EXPECT_EQ(buffers_->JobsBefore({&wrong, 1}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(buffers_->Use(absl::MakeConstSpan(&wrong, 1), writer).code(),
            absl::StatusCode::kNotFound);
}

TEST_F(BuffersTest, TheCpuWaitsForWhatItHasTo) {
  const Buffer a = Must({.size = 64, .zone = kLow});
  const BufferAccess read{a.handle, false}, write{a.handle, true};
  const Resident resident = *buffers_->ResidentOf(a.handle);
  const Job job{.batch_address = a.address, .residents = {&resident, 1}};
  const Fence reader = *device_->Submit(job);
  ASSERT_TRUE(buffers_->Use(absl::MakeConstSpan(&read, 1), reader).ok());
  EXPECT_EQ(*buffers_->Wait(a.handle, /*to_write=*/false, absl::ZeroDuration()), true);
  EXPECT_EQ(*buffers_->Wait(a.handle, /*to_write=*/true, absl::ZeroDuration()), false);
  const Fence writer = *device_->Submit(job);
  ASSERT_TRUE(buffers_->Use(absl::MakeConstSpan(&write, 1), writer).ok());
  EXPECT_EQ(*buffers_->Wait(a.handle, /*to_write=*/false, absl::Milliseconds(1)), false);
  std::thread completes([&] { device_->Complete(writer); });
  EXPECT_EQ(*buffers_->Wait(a.handle, /*to_write=*/true, absl::InfiniteDuration()), true);
  completes.join();
  EXPECT_EQ(buffers_->Wait(0, false, absl::ZeroDuration()).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(BuffersTest, MemoryFromElsewhereBecomesABuffer) {
  const MemoryId memory = *device_->Create({.size = 3 * kPage, .use = kShared});
  device_->Map(memory)->data()[5] = 7;
  const auto buffer = buffers_->Adopt(memory, {.size = 3 * kPage, .zone = kHigh, .name = "window"});
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_EQ(buffer->size, 3 * kPage);
  EXPECT_EQ(buffer->cpu[5], 7);
  uint8_t byte = 0;
  ASSERT_TRUE(device_->Read(0, buffer->address + 5, {&byte, 1}).ok());
  EXPECT_EQ(byte, 7);
  EXPECT_EQ(buffers_->ResidentOf(buffer->handle)->memory, memory);
  EXPECT_EQ(buffers_->ResidentOf(buffer->handle)->size, 3 * kPage);
  Release(*buffer);
  EXPECT_EQ(device_->memory_in_use(), 0u) << "it is not kept for others";
  EXPECT_EQ(buffers_->statistics().memory_bytes, 0u);
}

TEST_F(BuffersTest, MemoryThatCannotBeAdoptedIsStillTheCallers) {
  const MemoryId memory = *device_->Create({.size = 3 * kPage});
  const BufferOptions kWrong[] = {
      {.size = 0, .zone = kHigh},
      {.size = 3 * kPage - 1, .zone = kHigh},
      {.size = 4 * kPage, .zone = kHigh},  // more than there is
      {.size = 3 * kPage, .zone = ZoneId{9}},
      {.size = 3 * kPage, .zone = kHigh, .zeroed = true},
      {.size = 3 * kPage, .zone = kTiny, .guard = 4 * kPage},
  };
  for (const BufferOptions& options : kWrong) {
    EXPECT_FALSE(buffers_->Adopt(memory, options).ok()) << options.size;
  }
  EXPECT_FALSE(buffers_->Adopt(MemoryId{}, {.size = kPage, .zone = kHigh}).ok());
  EXPECT_FALSE(buffers_->Adopt(MemoryId{99}, {.size = kPage, .zone = kHigh}).ok());
  for (int step = 0; step < 2; ++step) {
    failing_.FailAfter(step);
    EXPECT_FALSE(buffers_->Adopt(memory, {.size = 3 * kPage, .zone = kHigh}).ok());
  }
  failing_.FailAfter(-1);
  EXPECT_EQ(device_->memory_in_use(), 3 * kPage);
  EXPECT_EQ(buffers_->statistics().live, 0u);
  EXPECT_EQ(addresses_->statistics(kHigh).live_ranges, 0u);
  EXPECT_TRUE(device_->Destroy(memory).ok());
}

TEST_F(BuffersTest, ThreadsMayCreateAndReleaseAtOnce) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; ++t) {
    threads.emplace_back([this, t] {
      std::mt19937 random(t);
      std::vector<Buffer> live;
      for (int i = 0; i < 1000; ++i) {
        if (!live.empty() && random() % 2 == 0) {
          EXPECT_EQ(live.back().cpu[0], t);
          EXPECT_TRUE(buffers_->Release(live.back().handle).ok());
          live.pop_back();
          continue;
        }
        const auto buffer = buffers_->Create({.size = 1 + random() % 9000, .zone = kLow});
        EXPECT_TRUE(buffer.ok());
        buffer->cpu[0] = t;
        live.push_back(*buffer);
      }
      for (const Buffer& buffer : live) EXPECT_TRUE(buffers_->Release(buffer.handle).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(buffers_->statistics().live, 0u);
}

TEST_F(BuffersTest, AResidencyListNamesEachMemoryOnce) {
  const Buffer a = Must({.size = 64, .zone = kLow}), b = Must({.size = 64, .zone = kLow});
  const Buffer c = Must({.size = kMiB, .zone = kLow, .dedicated = true});
  Residency residency(*buffers_);
  for (int i = 0; i < 3; ++i) {
    for (const Buffer& buffer : {a, b, c}) {
      ASSERT_TRUE(residency.Add(buffer.handle, buffer.handle == b.handle && i == 1).ok());
    }
  }
  ASSERT_EQ(residency.residents().size(), 2u) << "a and b share memory";
  EXPECT_TRUE(residency.residents()[0].written);
  EXPECT_FALSE(residency.residents()[1].written);
  EXPECT_EQ(residency.residents()[1].address, c.address);
  EXPECT_EQ(residency.handles().size(), 3u);
  ASSERT_EQ(residency.uses().size(), 3u);
  EXPECT_EQ(residency.uses()[1], (BufferAccess{b.handle, true}));
  EXPECT_EQ(residency.uses()[2], (BufferAccess{c.handle, false}));
  EXPECT_EQ(residency.bytes(), 64 * kKiB + kMiB) << "of both memories, each once";
  EXPECT_TRUE(residency.Writes(b.handle));
  EXPECT_FALSE(residency.Writes(a.handle));
  EXPECT_TRUE(residency.Contains(a.handle));
  EXPECT_EQ(residency.Add(0, false).code(), absl::StatusCode::kNotFound);
  const auto fence =
      device_->Submit({.batch_address = c.address, .residents = residency.residents()});
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_TRUE(buffers_->Use(residency.handles(), *fence).ok());
  residency.Clear();
  EXPECT_TRUE(residency.residents().empty());
  EXPECT_FALSE(residency.Contains(a.handle));
}

}  // namespace
}  // namespace packsmith::gpu
