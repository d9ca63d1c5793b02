// The parts of the walk by themselves: what containers require, the state of a context, memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/decode/walk/context_state.h"
#include "runtime/decode/walk/limits.h"
#include "runtime/decode/walk/memory_view.h"
#include "runtime/decode/walk/table_actions.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

const Actions& ActionsOf(const TableActions& all, absl::string_view name) {
  return all.of[Gfx9().FindContainer(name)];
}

uint8_t MarkOf(const TableActions& all, absl::string_view name) {
  return all.marks[Gfx9().FindContainer(name)];
}

TEST(TableActions, SayWhatPacketsRequire) {
  const TableActions all = AnalyzeTables(Gfx9(), 8);
  EXPECT_EQ(MarkOf(all, "3DPRIMITIVE"), kDraw);
  EXPECT_EQ(MarkOf(all, "GPGPU_WALKER"), kDispatch);
  EXPECT_EQ(MarkOf(all, "MI_BATCH_BUFFER_START"), kBusy);
  EXPECT_EQ(MarkOf(all, "STATE_BASE_ADDRESS"), kBusy);
  EXPECT_EQ(MarkOf(all, "MI_NOOP"), 0);
  EXPECT_TRUE(ActionsOf(all, "STATE_BASE_ADDRESS").sets_or_writes);
  EXPECT_TRUE(ActionsOf(all, "3DSTATE_VERTEX_BUFFERS").describes_data);
  EXPECT_TRUE(ActionsOf(all, "3DSTATE_VERTEX_ELEMENTS").describes_data);
  EXPECT_TRUE(ActionsOf(all, "3DSTATE_BINDING_TABLE_POINTERS_PS").pointers);
  EXPECT_FALSE(ActionsOf(all, "MI_NOOP").pointers);
}

TEST(TableActions, KnowWhichPacketsOthersAsk) {
  const TableActions all = AnalyzeTables(Gfx9(), 8);
  EXPECT_TRUE(ActionsOf(all, "3DSTATE_BINDING_TABLE_POINTERS_PS").asks_state);
  EXPECT_TRUE(ActionsOf(all, "3DSTATE_PS").remembered);
  EXPECT_FALSE(ActionsOf(all, "3DPRIMITIVE").remembered);
  // Each has a place of its own.
  std::vector<bool> used(all.memories);
  for (const Actions& actions : all.of) {
    if (!actions.remembered) continue;
    ASSERT_LT(actions.memory, used.size());
    EXPECT_FALSE(used[actions.memory]);
    used[actions.memory] = true;
  }
}

std::vector<uint8_t> BytesOf(const ContextState& state, uint32_t memory) {
  return {state.Remembered(memory).begin(), state.Remembered(memory).end()};
}

TEST(ContextState, IsRolledBackToEachMark) {
  ContextState state;
  state.Resize(2, 2);
  state.SetBase(0, 0x1000);
  state.Remember(1, std::vector<uint8_t>{1, 2});
  const ContextState::Checkpoint outer = state.Mark();
  state.SetBase(0, 0x2000);
  state.Remember(1, std::vector<uint8_t>{3});
  const ContextState::Checkpoint inner = state.Mark();
  state.SetBase(0, std::nullopt);
  state.SetBase(1, 0x3000);
  state.Remember(0, std::vector<uint8_t>{4, 5, 6});
  state.Remember(1, std::vector<uint8_t>{});
  state.Remember(1, std::vector<uint8_t>{7, 8});
  state.RollBack(inner);
  EXPECT_EQ(state.bases()[0], 0x2000);
  EXPECT_EQ(state.bases()[1], std::nullopt);
  EXPECT_EQ(BytesOf(state, 0), std::vector<uint8_t>{});
  EXPECT_EQ(BytesOf(state, 1), std::vector<uint8_t>{3});
  state.RollBack(outer);
  EXPECT_EQ(state.bases()[0], 0x1000);
  EXPECT_EQ(BytesOf(state, 1), (std::vector<uint8_t>{1, 2}));
}

TEST(ContextState, KeepsWhatIsKeptUntilAnOuterMarkIsRolledBack) {
  ContextState state;
  state.Resize(1, 1);
  const ContextState::Checkpoint outer = state.Mark();
  const ContextState::Checkpoint inner = state.Mark();
  state.SetBase(0, 0x1000);
  state.Remember(0, std::vector<uint8_t>{1});
  state.Keep(inner);
  EXPECT_EQ(state.bases()[0], 0x1000);
  EXPECT_EQ(BytesOf(state, 0), std::vector<uint8_t>{1});
  state.RollBack(outer);
  EXPECT_EQ(state.bases()[0], std::nullopt);
  EXPECT_EQ(BytesOf(state, 0), std::vector<uint8_t>{});
}

TEST(ContextState, CountsOnlyChanges) {
  ContextState state;
  state.Resize(1, 1);
  state.SetBase(0, 0x1000);
  state.Remember(0, std::vector<uint8_t>{1});
  const uint64_t changes = state.changes();
  state.SetBase(0, 0x1000);
  state.Remember(0, std::vector<uint8_t>{1});
  EXPECT_EQ(state.changes(), changes);
  state.Remember(0, std::vector<uint8_t>{2});
  EXPECT_NE(state.changes(), changes);
  EXPECT_EQ(state.BitsOf(0, 1, 1), 1u);
  EXPECT_EQ(state.BitsOf(0, 1, 8), std::nullopt);
}

TEST(Ahead, ForgetsWhatAnEarlierLookFound) {
  Ahead ahead;
  ahead.Restart(1, 0x1000);
  ahead.Note(3, std::vector<uint8_t>{1}, 0x1010);
  ahead.EndAt(0x1020);
  EXPECT_TRUE(ahead.Covers(1, 0x101c));
  EXPECT_FALSE(ahead.Covers(1, 0x1020));
  EXPECT_FALSE(ahead.Covers(2, 0x1000));
  ASSERT_NE(ahead.Find(3, 0x1000), nullptr);
  EXPECT_EQ(ahead.Find(3, 0x1010), nullptr);
  EXPECT_EQ(ahead.Find(4, 0x1000), nullptr);
  ahead.Clear();
  EXPECT_EQ(ahead.Find(3, 0x1000), nullptr);
  EXPECT_FALSE(ahead.Covers(1, 0x1000));
}

TEST(MemoryView, JoinsPiecesOnlyWhereItMust) {
  World world;
  world.Put(0x1000, {1, 2}).Put(0x1008, {3, 4});
  MemoryView view;
  view.Begin(world.dump().memory);
  std::vector<uint8_t> scratch;
  const uint32_t space = 0;
  EXPECT_EQ(view.Bytes(space, 0x1004, 4, scratch)[0], 2);
  EXPECT_TRUE(scratch.empty());
  EXPECT_EQ(view.Bytes(space, 0x1000, 16, scratch).size(), 16u);
  EXPECT_EQ(view.Bytes(space, 0x1004, 8, scratch)[4], 3);
  EXPECT_EQ(view.Bytes(space, 0x1000, 1 << 30, scratch).size(), 16u);
  EXPECT_LE(scratch.size(), 1024u);
  EXPECT_TRUE(view.Bytes(space, 0x2000, 4, scratch).empty());
}

TEST(Limits, OfStoresGrowWithTheDumpUnlessTheyAreGiven) {
  Options options;
  EXPECT_EQ(MostStores(options, 100), uint64_t{1} << 16);
  EXPECT_EQ(MostStores(options, uint64_t{1} << 26), uint64_t{1} << 22);
  options.most_stores = options.least_stores = 5;
  EXPECT_EQ(MostStores(options, uint64_t{1} << 26), 5u);
  options.most_stores = options.least_stores = uint64_t{1} << 30;
  EXPECT_EQ(MostStores(options, 100), uint64_t{1} << 30);
}

TEST(Limits, OfPacketsAndStructuresGrowWithTheDumpUnlessTheyAreGiven) {
  Options options;
  const Costs usual = CostsOf(options, 1000);
  EXPECT_EQ(usual.most_packets, kFewest + 1000 * kRepeats);
  EXPECT_EQ(usual.most_structs, usual.most_packets);
  options.most_packets = 7;
  options.most_structs = options.least_structs = uint64_t{1} << 40;
  const Costs given = CostsOf(options, 1000);
  EXPECT_EQ(given.most_packets, 7u);
  EXPECT_EQ(given.most_structs, uint64_t{1} << 40);
}

}  // namespace
}  // namespace packsmith::decode
