// Every generation's description shows where an engine stopped.

#include "runtime/generations/generations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "runtime/hang/engine_state.h"

namespace packsmith::hang {
namespace {

class Generations : public testing::TestWithParam<std::string> {
 protected:
  const tables::Tables& tables() {
    for (const tables::Tables& one : BuiltInGenerations()) {
      if (one.generation() == GetParam()) return one;
    }
    ADD_FAILURE() << GetParam();
    return BuiltInGenerations()[0];
  }
};

// Address of the upper word from Gfx8 on.
bool HasWideAddresses(const std::string& generation) {
  return generation != "gfx4" && generation != "gfx45" && generation != "gfx5" &&
         generation != "gfx6" && generation != "gfx7" && generation != "gfx75";
}
bool HasFaults(const std::string& generation) {
  return generation != "gfx4" && generation != "gfx45" && generation != "gfx5";
}

TEST_P(Generations, SayWhereAnEngineStopped) {
  ErrorState state;
  ErrorEngine& engine = state.engines.emplace_back();
  engine.name = "rcs0";
  engine.registers = {{"HEAD", 0x00400178, false, {0x004000f8}},
                      {"TAIL", 0x280, false, {}},
                      {"ACTHD", 0x12'3456'7890 & ~uint64_t{3}, true, {}},
                      {"BBADDR", 0x12'3456'7891, true, {}},
                      {"IPEHR", 0x7a000004, false, {}}};
  const Stop stop = StopOf(tables(), state, engine);
  ASSERT_TRUE(stop.ring_head && stop.ring_tail && stop.active_head && stop.batch_head &&
              stop.header);
  EXPECT_EQ(stop.ring_head->value, 0x178u);
  EXPECT_EQ(stop.ring_tail->value, 0x280u);
  EXPECT_EQ(stop.request_head, 0xf8u);
  const uint64_t address = HasWideAddresses(GetParam()) ? 0x12'3456'7890 : 0x3456'7890;
  EXPECT_EQ(stop.active_head->value, address);
  EXPECT_EQ(stop.batch_head->value, address);
  EXPECT_EQ(stop.header->value, 0x7a000004u);
}

TEST_P(Generations, SayWhereTheRingBegins) {
  for (const char* name : {"START", "RING_START"}) {
    ErrorState state;
    ErrorEngine& engine = state.engines.emplace_back();
    engine.name = "rcs0";
    engine.registers = {{name, 0x0012d000, false, {}}};
    const Stop stop = StopOf(tables(), state, engine);
    ASSERT_TRUE(stop.ring_start.has_value()) << name;
    EXPECT_EQ(stop.ring_start->value, 0x12d000u);
  }
}

// Copies of the highest bit of an address are not part of it.
TEST_P(Generations, SayAddressesInOneForm) {
  if (!HasWideAddresses(GetParam())) return;
  ErrorState state;
  ErrorEngine& engine = state.engines.emplace_back();
  engine.name = "rcs0";
  engine.registers = {{"ACTHD", 0xffff'fffe'effe'0004, true, {}},
                      {"BBADDR", 0xffff'fffe'effe'0005, true, {}}};
  const Stop stop = StopOf(tables(), state, engine);
  ASSERT_TRUE(stop.active_head && stop.batch_head);
  EXPECT_EQ(stop.active_head->value, 0xfffe'effe'0004u);
  EXPECT_EQ(stop.batch_head->value, 0xfffe'effe'0004u);
}

// Of two words, and of which pages: sixteen of them, one each.
TEST_P(Generations, DescribeFences) {
  for (const char* name : {"fence[0]", "fence[15]", "fence[3]:high"}) {
    const uint32_t found = tables().FindDumped(name);
    ASSERT_NE(found, tables::kNone) << name;
    EXPECT_EQ(tables().string(tables().container(found).name),
              std::string(name).find(":high") == std::string::npos ? "FENCE" : "FENCE_UDW");
  }
}

TEST_P(Generations, SayWhereXeWritesItTheSame) {
  ErrorState state;
  ErrorEngine& engine = state.engines.emplace_back();
  engine.name = "rcs0";
  engine.registers = {{"RING_HEAD", 0x178, false, {}},
                      {"RING_TAIL", 0x280, false, {}},
                      {"ACTHD", 0x34567890, true, {}},
                      {"IPEHR", 0x7a000004, false, {}}};
  const Stop stop = StopOf(tables(), state, engine);
  ASSERT_TRUE(stop.ring_head && stop.ring_tail && stop.active_head && stop.header);
  EXPECT_EQ(stop.ring_head->value, 0x178u);
  EXPECT_EQ(stop.active_head->value, 0x34567890u);
}

TEST_P(Generations, SayWhichAddressFaulted) {
  if (!HasFaults(GetParam())) return;
  ErrorState state;
  ErrorEngine& engine = state.engines.emplace_back();
  engine.name = "render";
  if (HasWideAddresses(GetParam())) {
    engine.registers = {{"FAULT_REG", 1, false, {}}};
    state.registers = {{"FAULT_TLB_DATA1", 0x12, false, {}},
                       {"FAULT_TLB_DATA0", 0x34567, false, {}}};
  } else {
    engine.registers = {{"FAULT_REG", 0x34567801, false, {}}};
  }
  const Stop stop = StopOf(tables(), state, engine);
  ASSERT_TRUE(stop.fault && stop.fault_address);
  EXPECT_EQ(stop.fault->value, 1u);
  if (HasWideAddresses(GetParam())) {
    EXPECT_EQ(stop.fault_address->value, 0x2000'3456'7000u);
    EXPECT_TRUE(stop.fault_is_global);
  } else {
    EXPECT_EQ(stop.fault_address->value, 0x34567000u);
    EXPECT_TRUE(stop.fault_is_global);
  }
}

TEST_P(Generations, ListUnitsAtWork) {
  ErrorState state;
  ErrorEngine& engine = state.engines.emplace_back();
  engine.name = "rcs0";
  engine.registers = {{"INSTDONE", 0xffffffff, false, {}}};
  EXPECT_THAT(StopOf(tables(), state, engine).busy, testing::IsEmpty());
  engine.registers = {{"INSTDONE", 0, false, {}}};
  ASSERT_THAT(StopOf(tables(), state, engine).busy, testing::SizeIs(1));
  const std::vector<std::string> units = StopOf(tables(), state, engine).busy[0].units;
  EXPECT_THAT(units, testing::Not(testing::IsEmpty()));
  // A unit in this list is busy: "Done" would mean the opposite.
  EXPECT_THAT(units, testing::Not(testing::Contains(testing::HasSubstr("Done"))));
}

std::vector<std::string> Intel() {
  std::vector<std::string> names;
  for (const tables::Tables& one : BuiltInGenerations()) {
    if (one.family() == "intel") names.emplace_back(one.generation());
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Intel, Generations, testing::ValuesIn(Intel()),
                         [](const testing::TestParamInfo<std::string>& one) { return one.param; });

}  // namespace
}  // namespace packsmith::hang
