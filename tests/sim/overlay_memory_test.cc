#include "runtime/sim/overlay_memory.h"

#include <cstdint>
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

}  // namespace
}  // namespace packsmith::sim
