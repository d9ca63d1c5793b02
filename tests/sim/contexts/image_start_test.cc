// A context image as the state that a streamer begins with.
#include "runtime/sim/contexts/image_start.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime/dump/memory.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/overlay_memory.h"
#include "runtime/sim/streamer.h"

namespace packsmith::sim {
namespace {

constexpr uint32_t kEnd = 0x05000000;

std::vector<uint8_t> BytesOf(const std::vector<uint32_t>& dwords) {
  std::vector<uint8_t> bytes(dwords.size() * 4);
  std::memcpy(bytes.data(), dwords.data(), bytes.size());
  return bytes;
}

struct Started {
  tables::Tables tables;
  Memory base;
  OverlayMemory memory{base};
  Observer observer;
  Streamer streamer;

  explicit Started(const char* generation)
      : tables(*FindGeneration(generation)), streamer(tables, memory, {}, observer) {}
};

TEST(ImageStart, GivesRegistersAndThePacketsThatSetState) {
  for (const char* generation : {"gfx8", "gfx9", "gfx11", "gfx12"}) {
    Started world(generation);
    // Registers, absolute and from the engine's base; 3DSTATE_DRAWING_RECTANGLE; PIPE_CONTROL,
    // which sets no state; after the end nothing counts.
    const absl::StatusOr<InheritedState> state =
        StartFromImage(world.tables, "render",
                       BytesOf({0,          0x11001003, 0x2244,     0x00090009, 0x2034,     0x40,
                                0x79000002, 7,          8,          9,          0x7a000004, 0,
                                0,          0,          0,          0,          0x11000001, 0x2600,
                                5,          kEnd,       0x11000001, 0x2600,     6,          kEnd}),
                       world.streamer);
    ASSERT_TRUE(state.ok()) << state.status();
    EXPECT_EQ(state->registers, 3u) << generation;
    EXPECT_EQ(state->packets.size(), 1u);
    EXPECT_EQ(world.streamer.registers().Read(0x2034), 0x40u);
    EXPECT_EQ(world.streamer.registers().Read(0x2600), 5u);
    // A masked register has no mask.
    EXPECT_EQ(world.streamer.registers().Read(0x2244), 9u);
    const tables::Container& packet =
        world.tables.container(world.tables.FindContainer("3DSTATE_DRAWING_RECTANGLE"));
    ASSERT_EQ(world.streamer.StateOf(packet).size(), 16u);
    EXPECT_EQ(world.streamer.StateOf(packet)[4], 7u);
    EXPECT_NE(world.streamer.StateNumber(packet), 0u);
  }
}

TEST(ImageStart, APacketThatIsCutOffIsNotState) {
  Started world("gfx9");
  const absl::StatusOr<InheritedState> state = StartFromImage(
      world.tables, "render", BytesOf({0x11001001, 0x2034, 0x40, 0x79000002, 7}), world.streamer);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->packets.size(), 0u);
}

TEST(ImageStart, WhatIsNoImageIsAnError) {
  Started world("gfx9");
  EXPECT_FALSE(StartFromImage(world.tables, "render", BytesOf({kEnd}), world.streamer).ok());
  EXPECT_FALSE(StartFromImage(world.tables, "render", {}, world.streamer).ok());
  EXPECT_FALSE(StartFromImage(world.tables, "turbo", BytesOf({0x11001001, 0x2034, 0x40, kEnd}),
                              world.streamer)
                   .ok());
}

}  // namespace
}  // namespace packsmith::sim
