#include "runtime/capture/execute/mapped_memory.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/capture/execute/works.h"

namespace packsmith::capture {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kAddress = 0x10000;

class MappedMemoryTest : public ::testing::Test {
 protected:
  void Use(const MappedMemory::Options& options = {}) {
    memory_.Use(std::make_shared<AddressMap>(works_.map()), options);
  }
  size_t Write(uint64_t address, size_t size, uint8_t first = 1, uint32_t space = 0) {
    std::vector<uint8_t> bytes(size);
    std::iota(bytes.begin(), bytes.end(), first);
    return memory_.Write(space, address, bytes);
  }
  std::vector<uint8_t> Read(uint64_t address, size_t size, uint32_t space = 0) const {
    std::vector<uint8_t> bytes(size, 0xee);
    bytes.resize(memory_.Read(space, address, absl::MakeSpan(bytes)));
    return bytes;
  }

  Works works_{"skl"};
  MappedMemory memory_;
};

TEST_F(MappedMemoryTest, AccessesOfAnySizeAndAlignmentReachTheObjects) {
  // Two objects next to each other.
  const Placed one = works_.Place(kAddress), two = works_.Place(kAddress + 4096);
  Use();
  for (const uint64_t offset : {0, 1, 3, 4, 2040, 4080, 4085, 4092, 4095, 4096}) {
    for (size_t size = 1; size <= 40; ++size) {
      const auto first = static_cast<uint8_t>(offset + size);
      ASSERT_EQ(Write(kAddress + offset, size, first), size);
      const std::vector<uint8_t> read = Read(kAddress + offset, size);
      ASSERT_EQ(read.size(), size);
      for (size_t i = 0; i < size; ++i) {
        ASSERT_EQ(read[i], static_cast<uint8_t>(first + i));
        const uint64_t at = offset + i;
        const Placed& in = at < 4096 ? one : two;
        ASSERT_EQ(in.object->memory()->bytes()[at % 4096], read[i]) << offset << " " << size;
      }
    }
  }
}

TEST_F(MappedMemoryTest, AccessesStopAtTheFirstByteThatIsNotMapped) {
  works_.Place(kAddress, 4096, "small");
  Use();
  EXPECT_FALSE(memory_.last_miss().any);
  EXPECT_EQ(Write(kAddress + 4090, 10), 6u);
  EXPECT_EQ(memory_.last_miss().address, kAddress + 4096);
  EXPECT_TRUE(memory_.last_miss().writes);
  EXPECT_EQ(memory_.last_miss().why,
            "which is not mapped; the last mapping below it is small, 0x1000 bytes at 0x10000");
  EXPECT_EQ(Read(kAddress - 4, 8).size(), 0u);
  EXPECT_EQ(memory_.last_miss().address, kAddress - 4);
  EXPECT_FALSE(memory_.last_miss().writes);
  EXPECT_EQ(memory_.last_miss().why,
            "which is not mapped; the first mapping, above it is small, 0x1000 bytes at 0x10000");
  // The end of the address space is one, too.
  EXPECT_EQ(Read(~uint64_t{0} - 3, 4).size(), 0u);
}

TEST_F(MappedMemoryTest, AMappingIsNotLargerThanItsObject) {
  const std::shared_ptr<Object> object = works_.MakeObject(4096, "tiny");
  works_.map().Map({.address = kAddress, .size = 8192, .object = object});
  works_.map().Map({.address = 0x50000, .size = 4096, .object = object, .offset = 4096});
  Use();
  EXPECT_EQ(Write(kAddress + 4092, 8), 4u);
  EXPECT_THAT(memory_.last_miss().why, HasSubstr("after the end of tiny"));
  EXPECT_EQ(Write(0x50000, 1), 0u);
}

TEST_F(MappedMemoryTest, RangesWithoutMemoryReadZerosAndForget) {
  works_.map().Map({.address = kAddress, .size = 8192, .object = nullptr});
  Use();
  EXPECT_EQ(Write(kAddress + 4090, 12), 12u);
  EXPECT_EQ(Read(kAddress + 4090, 3), (std::vector<uint8_t>{0, 0, 0}));
  EXPECT_EQ(Write(kAddress + 8190, 4), 2u);
}

TEST_F(MappedMemoryTest, RepeatedBytesAreReadAndWrittenOnce) {
  const std::shared_ptr<Object> object = works_.MakeObject(8192);
  works_.map().Map(
      {.address = kAddress, .size = 16384, .object = object, .offset = 4096, .repeats = 4096});
  Use();
  EXPECT_EQ(Write(kAddress + 3 * 4096 - 2, 4), 4u);
  EXPECT_EQ(object->memory()->bytes()[8190], 1);
  EXPECT_EQ(object->memory()->bytes()[4097], 4);
  EXPECT_EQ(Read(kAddress + 4094, 4), (std::vector<uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(object->memory()->bytes()[0], 0);
}

TEST_F(MappedMemoryTest, MemoryOfAProcessIsItsOwn) {
  std::vector<uint8_t> bytes(8192);
  OwnCaller caller;
  works_.map().Map({.address = kAddress,
                    .size = 8192,
                    .object = works_.MakeUserObject(
                        caller.memory(), reinterpret_cast<uint64_t>(bytes.data()), 8192)});
  Use();
  EXPECT_EQ(Write(kAddress + 100, 3), 3u);
  EXPECT_EQ(bytes[101], 2);
  bytes[200] = 9;
  EXPECT_EQ(Read(kAddress + 200, 1), std::vector<uint8_t>{9});
}

TEST_F(MappedMemoryTest, MemoryThatAProcessHasUnmappedIsAMiss) {
  OwnCaller caller;
  const std::shared_ptr<Object> object = works_.MakeUserObject(caller.memory(), 4096, 4096);
  works_.map().Map({.address = kAddress, .size = 4096, .object = object});
  Use();
  EXPECT_EQ(Write(kAddress, 4), 0u);
  EXPECT_THAT(memory_.last_miss().why, HasSubstr("memory of a process that it does not have"));
}

TEST_F(MappedMemoryTest, OtherSpacesAreOtherMemoryUnlessThereIsOnlyOne) {
  works_.Place(kAddress);
  Use({.space = 0});
  EXPECT_EQ(Write(kAddress, 4, 1, /*space=*/1), 0u);
  EXPECT_THAT(memory_.last_miss().why, HasSubstr("in the global address space"));
  Use({.space = 0, .one_space = true});
  EXPECT_EQ(Write(kAddress, 4, 1, /*space=*/1), 4u);
  EXPECT_EQ(Read(kAddress, 2), (std::vector<uint8_t>{1, 2}));
}

TEST_F(MappedMemoryTest, AScratchPageEndsWhereSomethingIsMapped) {
  works_.Place(kAddress);
  Use({.scratch_page = true});
  EXPECT_EQ(Write(kAddress, 2), 2u);
  EXPECT_EQ(Read(kAddress - 2, 4), (std::vector<uint8_t>{0, 0, 1, 2}));
  EXPECT_EQ(memory_.TakeScratchWrite(), std::nullopt);
  EXPECT_EQ(Write(kAddress - 2, 4, 7), 4u);
  EXPECT_EQ(memory_.TakeScratchWrite(), kAddress - 2);
  EXPECT_EQ(memory_.TakeScratchWrite(), std::nullopt);
  EXPECT_TRUE(memory_.IsMapped(0, kAddress));
  EXPECT_FALSE(memory_.IsMapped(0, kAddress - 1));
  EXPECT_EQ(Read(kAddress - 2, 4), (std::vector<uint8_t>{0, 0, 9, 10}));
}

TEST_F(MappedMemoryTest, WhatWasMappedBeforeIsForgotten) {
  works_.Place(kAddress);
  Use();
  EXPECT_EQ(Write(kAddress, 4), 4u);
  works_.map().Clear();
  Use();
  EXPECT_EQ(Read(kAddress, 4).size(), 0u);
  works_.Place(kAddress);
  Use();
  EXPECT_EQ(Read(kAddress, 2), (std::vector<uint8_t>{0, 0}));
  memory_.Drop();
  EXPECT_EQ(Read(kAddress, 4).size(), 0u);
}

TEST_F(MappedMemoryTest, WritesThatGoOnInTheNextObjectAreOverruns) {
  const Placed one = works_.Place(kAddress), two = works_.Place(kAddress + 4096);
  Use();
  EXPECT_EQ(Write(kAddress + 4000, 200), 200u);
  MappedMemory::Overrun overrun = memory_.TakeOverrun();
  EXPECT_EQ(overrun.from, one.object);
  EXPECT_EQ(overrun.to, two.object);
  EXPECT_EQ(overrun.address, kAddress + 4096);
  EXPECT_EQ(memory_.TakeOverrun().from, nullptr);
  // In pieces.
  Write(kAddress + 4000, 96);
  EXPECT_EQ(memory_.TakeOverrun().from, nullptr);
  Write(kAddress + 4096, 96);
  EXPECT_EQ(memory_.TakeOverrun().from, one.object);
  // Not of one command.
  Write(kAddress + 4000, 96);
  memory_.BeginCommand();
  Write(kAddress + 4096, 96);
  EXPECT_EQ(memory_.TakeOverrun().from, nullptr);
}

TEST_F(MappedMemoryTest, SparseBuffersAreNotOverrun) {
  const std::shared_ptr<Object> one = works_.MakeObject(8192), two = works_.MakeObject(8192);
  // Pieces of objects that make one buffer.
  works_.map().Map({.address = kAddress, .size = 4096, .object = one});
  works_.map().Map({.address = kAddress + 4096, .size = 4096, .object = two, .offset = 4096});
  works_.map().Map({.address = kAddress + 8192, .size = 4096, .object = one, .offset = 4096});
  Use();
  EXPECT_EQ(Write(kAddress, 12288), 12288u);
  EXPECT_EQ(memory_.TakeOverrun().from, nullptr);
}

}  // namespace
}  // namespace packsmith::capture
