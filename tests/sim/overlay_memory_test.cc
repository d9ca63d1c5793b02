#include "runtime/sim/overlay_memory.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/dump/memory.h"

namespace packsmith::sim {
namespace {

using testing::Each;

std::vector<uint8_t> ReadAll(const OverlayMemory& memory, uint64_t address, size_t size) {
  std::vector<uint8_t> out(size, 0xee);
  out.resize(memory.Read(0, address, absl::MakeSpan(out)));
  return out;
}

TEST(OverlayMemory, WritesDoNotReachTheMemoryBelow) {
  const std::vector<uint8_t> below(8192, 1);
  Memory base;
  ASSERT_TRUE(base.Map(0, 0x1000, below, below.size()).ok());
  OverlayMemory memory(base);
  const std::vector<uint8_t> bytes(100, 2);
  EXPECT_EQ(memory.Write(0, 0x1fce, bytes), 100u);
  EXPECT_THAT(below, Each(1));
  EXPECT_EQ(ReadAll(memory, 0x1fce, 100), bytes);
  EXPECT_EQ(ReadAll(memory, 0x1fcd, 1)[0], 1);
  EXPECT_EQ(ReadAll(memory, 0x1fce + 100, 1)[0], 1);
}

TEST(OverlayMemory, StopsAtTheFirstByteThatIsNotMapped) {
  const std::vector<uint8_t> below(100, 1);
  Memory base;
  ASSERT_TRUE(base.Map(0, 0x1010, below, below.size()).ok());
  OverlayMemory memory(base);
  EXPECT_EQ(ReadAll(memory, 0x1010, 200).size(), 100u);
  EXPECT_EQ(memory.Write(0, 0x1070, std::vector<uint8_t>(20, 9)), 4u);
  EXPECT_EQ(memory.Write(0, 0x1000, std::vector<uint8_t>(4, 9)), 0u);
  EXPECT_EQ(memory.Write(1, 0x1010, std::vector<uint8_t>(4, 9)), 0u);
  EXPECT_EQ(ReadAll(memory, 0x1070, 200).size(), 4u);
  EXPECT_FALSE(memory.exhausted());
}

TEST(OverlayMemory, RefusesToCopyMorePagesThanItMay) {
  Memory base;
  ASSERT_TRUE(base.Map(0, 0, {}, 1 << 20).ok());
  OverlayMemory memory(base, 2);
  const std::vector<uint8_t> bytes(3 * 4096, 7);
  EXPECT_EQ(memory.Write(0, 0, bytes), 2u * 4096);
  EXPECT_TRUE(memory.exhausted());
}

TEST(OverlayMemory, TheNextDumpCountsExceptWhereItIsTheSameAndWasWritten) {
  const std::vector<uint8_t> first = {1, 1, 1, 1}, second = {1, 5, 1, 5};
  Memory base, next;
  ASSERT_TRUE(base.Map(0, 0x1000, first, 4).ok());
  ASSERT_TRUE(next.Map(0, 0x1000, second, 4).ok());
  OverlayMemory memory(base);
  const uint8_t written[] = {9, 9};
  ASSERT_EQ(memory.Write(0, 0x1000, written), 2u);
  memory.Detach();
  EXPECT_TRUE(ReadAll(memory, 0x1000, 4).empty());
  memory.Continue(next);
  EXPECT_EQ(ReadAll(memory, 0x1000, 4), (std::vector<uint8_t>{9, 5, 1, 5}));
}

std::vector<uint8_t> Copied(const Memory& memory, uint32_t space, uint64_t address, size_t size) {
  std::vector<uint8_t> out(size, 0xee);
  out.resize(memory.Copy(space, address, absl::MakeSpan(out)));
  return out;
}

TEST(OverlayMemory, ASnapshotIsTheMemoryWithWhatWasWritten) {
  std::vector<uint8_t> below(3 * 4096);
  for (size_t i = 0; i < below.size(); ++i) below[i] = static_cast<uint8_t>(i * 7);
  Memory base;
  // Two segments in one page, zeros that take no room, and another space at the same addresses.
  ASSERT_TRUE(base.Map(0, 0x1010, below, below.size()).ok());
  ASSERT_TRUE(base.Map(0, 0x4010, absl::MakeConstSpan(below).first(8), 0x3000).ok());
  ASSERT_TRUE(base.Map(2, 0x1010, below, below.size()).ok());
  OverlayMemory memory(base);
  ASSERT_EQ(memory.Write(0, 0x2ffe, std::vector<uint8_t>(4, 1)), 4u);
  ASSERT_EQ(memory.Write(0, 0x400e, std::vector<uint8_t>(4, 2)), 4u);
  ASSERT_EQ(memory.Write(0, 0x6800, std::vector<uint8_t>(4, 3)), 4u);
  const Memory now = memory.Snapshot();
  const std::vector<uint8_t> all = ReadAll(memory, 0x1010, 0x6000);
  ASSERT_EQ(all.size(), 0x6000u);
  EXPECT_EQ(all[0x2ffe - 0x1010], 1);
  EXPECT_EQ(all[0x6800 - 0x1010], 3);
  EXPECT_EQ(Copied(now, 0, 0x1010, 0x7000), all);
  EXPECT_EQ(Copied(now, 2, 0x1010, 0x7000), below);
  EXPECT_EQ(now.Find(0, 0x100f), nullptr);
}

class MadeBytes : public DeferredBytes {
 public:
  int made = 0;

 protected:
  absl::Span<const uint8_t> Make() override {
    ++made;
    return bytes_;
  }

 private:
  const std::vector<uint8_t> bytes_ = std::vector<uint8_t>(100, 5);
};

TEST(OverlayMemory, ASnapshotMakesNoMemoryThatNobodyReads) {
  const auto bytes = std::make_shared<MadeBytes>();
  Memory base;
  ASSERT_TRUE(base.MapDeferred(0, 0x1000, bytes, 4096).ok());
  const OverlayMemory memory(base);
  const Memory now = memory.Snapshot();
  EXPECT_EQ(bytes->made, 0);
  EXPECT_EQ(Copied(now, 0, 0x1000, 200), std::vector<uint8_t>(100, 5));
  EXPECT_EQ(bytes->made, 1);
}

TEST(OverlayMemory, ASnapshotReachesTheEndOfAllAddresses) {
  const std::vector<uint8_t> below(8192, 1);
  Memory base;
  ASSERT_TRUE(base.Map(0, ~uint64_t{0} - 8191, below, below.size()).ok());
  OverlayMemory memory(base);
  ASSERT_EQ(memory.Write(0, ~uint64_t{0}, std::vector<uint8_t>(1, 9)), 1u);
  const Memory now = memory.Snapshot();
  EXPECT_EQ(Copied(now, 0, ~uint64_t{0} - 4096, 4096), std::vector<uint8_t>(4096, 1));
  EXPECT_EQ(Copied(now, 0, ~uint64_t{0}, 1), std::vector<uint8_t>(1, 9));
}

TEST(OverlayMemory, DetachedMemoryIsNotMappedWhereItWasWrittenEither) {
  Memory base;
  ASSERT_TRUE(base.Map(0, 0x1000, {}, 4096).ok());
  OverlayMemory memory(base);
  const uint8_t written[] = {9, 9};
  ASSERT_EQ(memory.Write(0, 0x1000, written), 2u);
  ASSERT_EQ(ReadAll(memory, 0x1000, 4), (std::vector<uint8_t>{9, 9, 0, 0}));
  memory.Detach();
  EXPECT_TRUE(ReadAll(memory, 0x1000, 4).empty());
  EXPECT_EQ(memory.Write(0, 0x1000, written), 0u);
  memory.Continue(base);
  EXPECT_EQ(ReadAll(memory, 0x1000, 4), (std::vector<uint8_t>{9, 9, 0, 0}));
}

TEST(OverlayMemory, IsTheSameAsBytesInAMap) {
  // Segments with gaps, in two spaces; pages that share a place in what is looked up lately.
  constexpr uint64_t kFar = 64 * 4096;
  const std::vector<uint8_t> bytes(10000, 3);
  const struct {
    uint32_t space;
    uint64_t address, size;
  } kSegments[] = {{0, 0x1000, 5000},        {0, 0x1000 + 5000, 300}, {0, 0x3000, 9000},
                   {0, 0x1000 + kFar, 8192}, {1, 0x1000, 8192},       {1, 0x4100, 100},
                   {1, 0x1000 + kFar, 10},   {0, ~uint64_t{99}, 100}};
  Memory base;
  std::map<std::pair<uint32_t, uint64_t>, uint8_t> model;
  for (const auto& [space, address, size] : kSegments) {
    const size_t filled = size / 2;
    ASSERT_TRUE(base.Map(space, address, absl::MakeConstSpan(bytes).first(filled), size).ok());
    for (uint64_t i = 0; i < size; ++i) model[{space, address + i}] = i < filled ? 3 : 0;
  }
  OverlayMemory memory(base);
  std::mt19937_64 random(1);
  for (int turn = 0; turn < 3000; ++turn) {
    const auto& near = kSegments[random() % std::size(kSegments)];
    const uint64_t address = near.address + random() % (near.size + 20) - 10;
    std::vector<uint8_t> data(1 + random() % (random() % 10 == 0 ? 6000 : 20),
                              static_cast<uint8_t>(random()));
    size_t mapped = 0;
    while (mapped < data.size() && address + mapped >= address &&
           model.count({near.space, address + mapped}) != 0) {
      ++mapped;
    }
    if (random() % 2 == 0) {
      ASSERT_EQ(memory.Write(near.space, address, data), mapped) << turn;
      for (size_t i = 0; i < mapped; ++i) model[{near.space, address + i}] = data[i];
      continue;
    }
    ASSERT_EQ(memory.Read(near.space, address, absl::MakeSpan(data)), mapped) << turn;
    for (size_t i = 0; i < mapped; ++i) {
      const uint8_t expected = model[{near.space, address + i}];
      ASSERT_EQ(data[i], expected) << turn << " at " << address + i;
    }
  }
}

}  // namespace
}  // namespace packsmith::sim
