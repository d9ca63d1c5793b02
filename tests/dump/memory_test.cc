#include "runtime/dump/memory.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace packsmith {
namespace {

constexpr uint64_t kTop = std::numeric_limits<uint64_t>::max();

class MemoryTest : public testing::Test {
 protected:
  MemoryTest() : bytes_(256) { std::iota(bytes_.begin(), bytes_.end(), uint8_t{0}); }

  absl::Span<const uint8_t> Bytes(size_t offset, size_t size) const {
    return absl::MakeConstSpan(bytes_).subspan(offset, size);
  }

  std::vector<uint8_t> bytes_;
  Memory memory_;
};

TEST_F(MemoryTest, ReadsNothingFromEmptyMemory) {
  EXPECT_TRUE(memory_.Read(0, 0, 4).empty());
  EXPECT_EQ(memory_.Find(0, 0), nullptr);
  EXPECT_EQ(memory_.FindFrom(0, 0), nullptr);
  uint8_t out[4];
  EXPECT_EQ(memory_.Copy(0, 0, absl::MakeSpan(out)), 0u);
  EXPECT_TRUE(memory_.segments().empty());
}

TEST_F(MemoryTest, ReadsWithoutCopyingUpToTheEndOfTheBytes) {
  ASSERT_TRUE(memory_.Map(0, 0x1000, Bytes(0, 16), 16).ok());
  const auto read = memory_.Read(0, 0x1004, 100);
  EXPECT_EQ(read.data(), bytes_.data() + 4);
  EXPECT_EQ(read.size(), 12u);
  EXPECT_EQ(memory_.Read(0, 0x1004, 4).size(), 4u);
  EXPECT_EQ(memory_.Read(0, 0x1000, 0).size(), 0u);
}

TEST_F(MemoryTest, BordersBelongToTheSegmentThatHoldsTheByte) {
  ASSERT_TRUE(memory_.Map(0, 0x1000, Bytes(0, 16), 16).ok());
  EXPECT_TRUE(memory_.Read(0, 0xfff, 4).empty());
  EXPECT_EQ(memory_.Read(0, 0x1000, 1)[0], 0);
  EXPECT_EQ(memory_.Read(0, 0x100f, 4).size(), 1u);
  EXPECT_EQ(memory_.Read(0, 0x100f, 4)[0], 15);
  EXPECT_TRUE(memory_.Read(0, 0x1010, 4).empty());
  EXPECT_EQ(memory_.Find(0, 0x100f)->address, 0x1000u);
  EXPECT_EQ(memory_.Find(0, 0x1010), nullptr);
}

TEST_F(MemoryTest, SpacesAreSeparate) {
  ASSERT_TRUE(memory_.Map(0, 0x1000, Bytes(0, 16), 16).ok());
  ASSERT_TRUE(memory_.Map(1, 0x1000, Bytes(16, 16), 16).ok());
  EXPECT_EQ(memory_.Read(0, 0x1000, 1)[0], 0);
  EXPECT_EQ(memory_.Read(1, 0x1000, 1)[0], 16);
  EXPECT_TRUE(memory_.Read(2, 0x1000, 1).empty());
  EXPECT_EQ(memory_.FindFrom(0, 0x1010), nullptr);
}

TEST_F(MemoryTest, TheTailReadsAsZeroInChunks) {
  ASSERT_TRUE(memory_.Map(0, 0, Bytes(1, 4), uint64_t{1} << 40).ok());
  EXPECT_EQ(memory_.Read(0, 0, 1000).size(), 4u);
  const auto zeros = memory_.Read(0, 4, uint64_t{1} << 30);
  EXPECT_EQ(zeros.size(), Memory::kZeroChunk);
  EXPECT_EQ(zeros.front(), 0);
  EXPECT_EQ(zeros.back(), 0);
  EXPECT_EQ(memory_.Read(0, (uint64_t{1} << 40) - 3, 100).size(), 3u);
  EXPECT_TRUE(memory_.Read(0, uint64_t{1} << 40, 100).empty());
}

TEST_F(MemoryTest, CopyCrossesBordersAndStopsAtTheFirstHole) {
  ASSERT_TRUE(memory_.Map(0, 0x1000, Bytes(1, 2), 4).ok());
  ASSERT_TRUE(memory_.Map(0, 0x1004, Bytes(10, 2), 2).ok());
  ASSERT_TRUE(memory_.Map(0, 0x1007, Bytes(20, 2), 2).ok());
  std::vector<uint8_t> out(9, 0xee);
  EXPECT_EQ(memory_.Copy(0, 0x1000, absl::MakeSpan(out)), 6u);
  EXPECT_EQ(out, (std::vector<uint8_t>{1, 2, 0, 0, 10, 11, 0xee, 0xee, 0xee}));
}

TEST_F(MemoryTest, CopyStopsAtTheTopOfTheAddressSpace) {
  ASSERT_TRUE(memory_.Map(0, kTop - 1, Bytes(1, 2), 2).ok());
  ASSERT_TRUE(memory_.Map(0, 0, Bytes(8, 2), 2).ok());
  std::vector<uint8_t> out(4, 0xee);
  EXPECT_EQ(memory_.Copy(0, kTop - 1, absl::MakeSpan(out)), 2u);
  EXPECT_EQ(memory_.Read(0, kTop, 8).size(), 1u);
}

TEST_F(MemoryTest, MappingNothingIsFine) {
  EXPECT_TRUE(memory_.Map(0, 0x1000, {}, 0).ok());
  EXPECT_TRUE(memory_.segments().empty());
}

TEST_F(MemoryTest, RefusesMoreBytesThanMemory) {
  EXPECT_EQ(memory_.Map(0, 0x1000, Bytes(0, 8), 4).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(memory_.segments().empty());
}

TEST_F(MemoryTest, RefusesSegmentsPastTheTopButNotUpToIt) {
  EXPECT_EQ(memory_.Map(0, kTop - 3, {}, 5).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(memory_.Map(0, 1, {}, kTop + 0).code(), absl::StatusCode::kOk);
  EXPECT_EQ(memory_.Map(1, kTop - 3, {}, 4).code(), absl::StatusCode::kOk);
}

TEST_F(MemoryTest, RefusesOverlapsAndNamesBothRanges) {
  ASSERT_TRUE(memory_.Map(3, 0x1000, Bytes(0, 16), 0x100).ok());
  const uint64_t kOverlaps[][2] = {{0x1000, 0x100}, {0xfff, 2},   {0x10ff, 1},
                                   {0x1010, 4},     {0, 0x10000}, {0xf00, 0x101}};
  for (const auto& [address, size] : kOverlaps) {
    const absl::Status status = memory_.Map(3, address, {}, size);
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << address;
  }
  const absl::Status status = memory_.Map(3, 0x10f0, {}, 0x20);
  EXPECT_NE(status.message().find("0x10f0..0x110f"), absl::string_view::npos) << status;
  EXPECT_NE(status.message().find("0x1000..0x10ff"), absl::string_view::npos) << status;
  EXPECT_EQ(memory_.segments().size(), 1u);
  EXPECT_TRUE(memory_.Map(3, 0xff0, {}, 0x10).ok());
  EXPECT_TRUE(memory_.Map(3, 0x1100, {}, 0x10).ok());
}

TEST_F(MemoryTest, SegmentsComeInOrderOfSpaceAndAddress) {
  ASSERT_TRUE(memory_.Map(1, 0, {}, 1).ok());
  ASSERT_TRUE(memory_.Map(0, 9, {}, 1).ok());
  ASSERT_TRUE(memory_.Map(0, 3, {}, 1).ok());
  std::vector<std::pair<uint32_t, uint64_t>> seen;
  for (const Memory::Segment& segment : memory_.segments()) {
    seen.emplace_back(segment.space, segment.address);
  }
  EXPECT_EQ(seen, (std::vector<std::pair<uint32_t, uint64_t>>{{0, 3}, {0, 9}, {1, 0}}));
}

TEST_F(MemoryTest, FindFromYieldsTheHolderOrTheNextSegment) {
  ASSERT_TRUE(memory_.Map(0, 0x1000, {}, 0x10).ok());
  ASSERT_TRUE(memory_.Map(0, 0x2000, {}, 0x10).ok());
  EXPECT_EQ(memory_.FindFrom(0, 0)->address, 0x1000u);
  EXPECT_EQ(memory_.FindFrom(0, 0x100f)->address, 0x1000u);
  EXPECT_EQ(memory_.FindFrom(0, 0x1010)->address, 0x2000u);
  EXPECT_EQ(memory_.FindFrom(0, 0x2010), nullptr);
}

TEST_F(MemoryTest, SurvivesBeingMoved) {
  ASSERT_TRUE(memory_.Map(0, 0x1000, Bytes(7, 1), 1).ok());
  const Memory moved = std::move(memory_);
  EXPECT_EQ(moved.Read(0, 0x1000, 1)[0], 7);
}

TEST_F(MemoryTest, ManySegmentsInTheWorstOrderAreNotQuadratic) {
  constexpr uint64_t kCount = 300'000;
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t i = kCount; i-- > 0;) {
    ASSERT_TRUE(memory_.Map(0, i * 16, Bytes(i % 240, 8), 16).ok());
  }
  for (uint64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(memory_.Read(0, i * 16, 8)[0], i % 240);
  }
  // Quadratic time would be minutes; the bound allows for sanitizers and a busy machine.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

}  // namespace
}  // namespace packsmith
