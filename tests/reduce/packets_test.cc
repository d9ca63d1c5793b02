#include "runtime/reduce/packets.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/dump/read.h"
#include "runtime/generations/generations.h"

namespace packsmith::reduce {
namespace {

constexpr uint32_t kEnd = 0x05000000;
constexpr uint32_t kStore[] = {0x10000002, 0x2000, 0, 7};

Dump BatchOf(const std::vector<uint32_t>& words) {
  Dump dump;
  dump.submissions.push_back(
      {.engine = "render", .batch_address = 0x1000, .batch_length = words.size() * 4});
  EXPECT_TRUE(dump.memory
                  .Map(0, 0x1000,
                       absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(words.data()),
                                           words.size() * 4),
                       4096)
                  .ok());
  return dump;
}

std::vector<uint32_t> WordsOf(const Dump& dump, size_t count) {
  std::vector<uint32_t> words(count);
  EXPECT_EQ(dump.memory.Copy(0, 0x1000,
                             absl::MakeSpan(reinterpret_cast<uint8_t*>(words.data()), count * 4)),
            count * 4);
  return words;
}

TEST(Packets, ThatEndABatchOrDoNothingStay) {
  std::vector<uint32_t> words(kStore, kStore + 4);
  words.insert(words.end(), {0, 0x78080003, 1, 2, 3, 4, kEnd});
  const Dump dump = BatchOf(words);
  const auto packets = FindPackets(*FindGeneration("gfx9"), dump);
  ASSERT_TRUE(packets.ok()) << packets.status();
  ASSERT_EQ(packets->size(), 2u);
  EXPECT_EQ((*packets)[0].name, "MI_STORE_DATA_IMM");
  EXPECT_EQ((*packets)[0].address, 0x1000u);
  EXPECT_EQ((*packets)[0].bytes, 16u);
  EXPECT_EQ((*packets)[1].name, "3DSTATE_VERTEX_BUFFERS");
}

TEST(Packets, AreZerosWhenTheyAreLeftOut) {
  std::vector<uint32_t> words(kStore, kStore + 4);
  words.insert(words.end(), kStore, kStore + 4);
  words.push_back(kEnd);
  const Dump dump = BatchOf(words);
  const auto packets = FindPackets(*FindGeneration("gfx9"), dump);
  ASSERT_TRUE(packets.ok());
  ASSERT_EQ(packets->size(), 2u);
  EXPECT_EQ(WordsOf(WithoutOthers(dump, *packets, {0, 1}), words.size()), words);
  const Dump second = WithoutOthers(dump, *packets, {1});
  EXPECT_EQ(WordsOf(second, words.size()),
            (std::vector<uint32_t>{0, 0, 0, 0, kStore[0], kStore[1], kStore[2], kStore[3], kEnd}));
  EXPECT_EQ(second.submissions, dump.submissions);
  EXPECT_EQ(WordsOf(WithoutOthers(dump, *packets, {}), words.size()).back(), kEnd);
  // The dump itself is as it was.
  EXPECT_EQ(WordsOf(dump, words.size()), words);
}

TEST(Packets, OfACaptureLeaveAllOtherMemoryAlone) {
  const absl::StatusOr<Dump> dump = ReadDump("tests/data/captures/skl-gl-basic/01.core.zst", {});
  ASSERT_TRUE(dump.ok()) << dump.status();
  const auto packets = FindPackets(*FindGeneration("gfx9"), *dump);
  ASSERT_TRUE(packets.ok());
  ASSERT_GT(packets->size(), 10u);
  const Dump without = WithoutOthers(*dump, *packets, {});
  ASSERT_EQ(without.memory.segments().size(), dump->memory.segments().size());
  uint64_t changed = 0, left_out = 0;
  for (const Packet& packet : *packets) left_out += packet.bytes;
  auto other = without.memory.segments().begin();
  for (const Memory::Segment& segment : dump->memory.segments()) {
    ASSERT_EQ(segment.address, other->address);
    ASSERT_EQ(segment.memory_size, other->memory_size);
    for (size_t i = 0; i < segment.bytes.size(); ++i) {
      if (segment.bytes[i] == other->bytes[i]) continue;
      ++changed;
      ASSERT_EQ(other->bytes[i], 0);
    }
    ++other;
  }
  EXPECT_GT(changed, 0u);
  EXPECT_LE(changed, left_out);
}

TEST(Packets, OfStreamsWithoutNoopsAreRefused) {
  const absl::StatusOr<Dump> dump = ReadDump("tests/agx/data/frame.core", {});
  ASSERT_TRUE(dump.ok()) << dump.status();
  const auto packets = FindPackets(*FindGeneration("agx_g13"), *dump);
  EXPECT_EQ(packets.status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace packsmith::reduce
