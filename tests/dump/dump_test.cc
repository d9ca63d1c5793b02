#include "runtime/dump/dump.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <utility>

namespace packsmith {
namespace {

std::string NameAt(const Dump& dump, uint32_t space, uint64_t address) {
  const Buffer* buffer = dump.FindBuffer(space, address);
  return buffer == nullptr ? "" : buffer->name;
}

TEST(FindBufferTest, FindsByExtentAndSpace) {
  Dump dump;
  dump.buffers = {{0, 0x2000, 0x100, "b"}, {0, 0x1000, 0x100, "a"}, {1, 0x1000, 0x10, "c"}};
  dump.SortBuffers();
  EXPECT_EQ(NameAt(dump, 0, 0xfff), "");
  EXPECT_EQ(NameAt(dump, 0, 0x1000), "a");
  EXPECT_EQ(NameAt(dump, 0, 0x10ff), "a");
  EXPECT_EQ(NameAt(dump, 0, 0x1100), "");
  EXPECT_EQ(NameAt(dump, 0, 0x2000), "b");
  EXPECT_EQ(NameAt(dump, 1, 0x100f), "c");
  EXPECT_EQ(NameAt(dump, 1, 0x1010), "");
  EXPECT_EQ(NameAt(dump, 2, 0x1000), "");
}

TEST(FindBufferTest, OfNestedBuffersTheInnermostAnswers) {
  Dump dump;
  dump.buffers = {
      {0, 0, 100, "outer"}, {0, 10, 50, "middle"}, {0, 10, 5, "inner"}, {0, 20, 0, "x"}};
  dump.SortBuffers();
  EXPECT_EQ(NameAt(dump, 0, 5), "outer");
  EXPECT_EQ(NameAt(dump, 0, 12), "inner");
  EXPECT_EQ(NameAt(dump, 0, 20), "middle");
  EXPECT_EQ(NameAt(dump, 0, 99), "outer");
}

TEST(FindBufferTest, WorksBeforeSorting) {
  Dump dump;
  EXPECT_EQ(dump.FindBuffer(0, 0), nullptr);
  dump.buffers = {{0, 0x2000, 0x100, "b"}, {0, 0x1000, 0x100, "a"}};
  EXPECT_EQ(NameAt(dump, 0, 0x1001), "a");
}

TEST(FindBufferTest, SizesThatWrapEndAtTheTop) {
  Dump dump;
  dump.buffers = {{0, 0x1000, std::numeric_limits<uint64_t>::max(), "all"}};
  dump.SortBuffers();
  EXPECT_EQ(NameAt(dump, 0, 0xfff), "");
  EXPECT_EQ(NameAt(dump, 0, 0xffff'ffff'ffff'0000), "all");
  EXPECT_EQ(NameAt(dump, 0, 0xffff'ffff'ffff'ffff), "all");
}

TEST(FindBufferTest, TheIndexAgreesWithALinearSearch) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    Dump dump;
    const int count = static_cast<int>(random() % 40);
    for (int i = 0; i < count; ++i) {
      dump.buffers.push_back(
          {static_cast<uint32_t>(random() % 3), random() % 64, random() % 24, ""});
    }
    dump.SortBuffers();
    Dump unsorted;  // never sorted: searches linearly
    unsorted.buffers = dump.buffers;
    for (uint32_t space = 0; space < 4; ++space) {
      for (uint64_t address = 0; address < 90; ++address) {
        const Buffer* fast = dump.FindBuffer(space, address);
        const Buffer* slow = unsorted.FindBuffer(space, address);
        ASSERT_EQ(fast == nullptr, slow == nullptr);
        if (fast != nullptr) {
          ASSERT_EQ(*fast, *slow);
        }
      }
    }
  }
}

TEST(ProblemsTest, AreCountedBeyondTheLimit) {
  Dump dump;
  for (size_t i = 0; i < Dump::kMaxProblems + 7; ++i) dump.AddProblem(i, "p");
  ASSERT_EQ(dump.problems.size(), Dump::kMaxProblems + 1);
  EXPECT_EQ(dump.problems.back().offset, Dump::kMaxProblems);
  EXPECT_NE(dump.problems.back().text.find("7 further problems"), std::string::npos);
}

TEST(GenerationTest, NamesGoBothWays) {
  for (const int verx10 : {40, 45, 50, 60, 70, 75, 80, 90, 110, 120, 125, 200, 300}) {
    const Device device = DeviceOfGeneration(IntelGenerationName(verx10));
    EXPECT_EQ(device.verx10, verx10);
    EXPECT_EQ(device.family, "intel");
  }
  EXPECT_EQ(IntelGenerationName(125), "gfx125");
  EXPECT_EQ(IntelGenerationName(90), "gfx9");
  EXPECT_EQ(IntelGenerationName(0), "");
  EXPECT_EQ(DeviceOfGeneration("agx2").family, "agx");
  EXPECT_EQ(DeviceOfGeneration("gfx").verx10, 0);
  EXPECT_EQ(DeviceOfGeneration("gfx99999999999").verx10, 0);
  EXPECT_EQ(DeviceOfGeneration("other").family, "");
  EXPECT_EQ(DeviceOfGeneration("other").generation, "other");
}

TEST(ValidUtf8Test, KeepsWhatIsValidAndReplacesTheRest) {
  EXPECT_EQ(ValidUtf8("plain"), "plain");
  EXPECT_EQ(ValidUtf8("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(ValidUtf8("a\x80z"), "a" + r + "z");
  EXPECT_EQ(ValidUtf8("\xc3"), r);                  // cut off
  EXPECT_EQ(ValidUtf8("\xc0\xaf"), r + r);          // overlong
  EXPECT_EQ(ValidUtf8("\xed\xa0\x80"), r + r + r);  // surrogate
  EXPECT_EQ(ValidUtf8("\xf4\x90\x80\x80"), r + r + r + r);
  EXPECT_EQ(ValidUtf8("\xff"), r);
}

}  // namespace
}  // namespace packsmith
