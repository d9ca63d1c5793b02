// Slices and subslices of which some do not work: each job says how pixels are spread over them, on
// generations that leave it to drivers.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/intel/driver/machine.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

class SlicesTest : public testing::TestWithParam<std::string> {
 protected:
  // Pixel pipes of which one lacks subslices, in slices of the generation's size.
  static std::vector<uint32_t> Unequal() {
    if (GetParam() == "gfx11") return {0b0111'1111};
    if (GetParam() == "gfx12") return {0b01'1111};
    return {0b1111, 0b0111};
  }
  static std::vector<uint32_t> Equal() {
    if (GetParam() == "gfx11") return {0b1111'1111};
    if (GetParam() == "gfx12") return {0b11'1111};
    return {0b1111, 0b1111};
  }
  // The packet that spreads pixels; empty: hardware does.
  static std::string Packet() {
    if (GetParam() == "gfx11" || GetParam() == "gfx125") {
      return "3DSTATE_SLICE_TABLE_STATE_POINTERS";
    }
    return GetParam() == "gfx12" ? "3DSTATE_SUBSLICE_HASH_TABLE" : "";
  }
  static size_t Count(const Machine& machine, const std::string& packet) {
    return static_cast<size_t>(std::count(machine.packets.begin(), machine.packets.end(), packet));
  }
  // Packets of any of these kinds.
  static size_t CountAll(const Machine& machine) {
    return Count(machine, "3DSTATE_SLICE_TABLE_STATE_POINTERS") +
           Count(machine, "3DSTATE_SUBSLICE_HASH_TABLE");
  }
  static void RunEmpty(Machine& machine, const CommandBufferOptions& options = {}) {
    auto commands = machine.context->NewCommandBuffer(options);
    ASSERT_TRUE(commands.ok()) << commands.status();
    machine.Run(**commands);
  }
  absl::Status ErrorOf(const std::vector<uint32_t>& slices) {
    auto device =
        gpu::HostDevice::Create({.device = {.family = "intel", .generation = GetParam()}});
    EXPECT_TRUE(device.ok());
    return Context::Create(**device, {.slices = slices}).status();
  }
};
INSTANTIATE_TEST_SUITE_P(, SlicesTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(SlicesTest, EachJobSpreadsPixelsOverUnequalPipes) {
  Machine machine(GetParam(), {.slices = Unequal()});
  EXPECT_EQ(machine.context->subslices(), GetParam() == "gfx12" ? 5u : 7u);
  RunEmpty(machine);
  RunEmpty(machine);
  if (Packet().empty()) {
    EXPECT_EQ(CountAll(machine), 0u);
    return;
  }
  ASSERT_EQ(Count(machine, Packet()), 2u);
  EXPECT_EQ(CountAll(machine), 2u);
  EXPECT_GE(Count(machine, "3DSTATE_3D_MODE"), 2u);
  EXPECT_EQ(machine.problems, std::vector<std::string>());
  if (GetParam() == "gfx12") return;
  // The table is in memory that the job has listed, and names more than one pipe.
  const auto at = std::find(machine.packets.begin(), machine.packets.end(), Packet());
  const std::vector<uint32_t>& dwords =
      machine.dwords[static_cast<size_t>(at - machine.packets.begin())];
  const uint64_t offset =
      machine.Field(Packet(), dwords, "Slice Hash Table State Pointer").value_or(~0ull);
  EXPECT_EQ(offset % 64, 0u);
  const uint64_t place = machine.context->dynamic_pool().base() + offset;
  EXPECT_TRUE(machine.IsResident(place, 128));
  std::vector<uint8_t> table(128);
  ASSERT_TRUE(machine.device->Read(0, place, absl::MakeSpan(table)).ok());
  EXPECT_GT(std::set<uint8_t>(table.begin(), table.end()).size(), 1u);
}

TEST_P(SlicesTest, EqualPipesAreLeftToHardwareWhereItKnows) {
  Machine machine(GetParam(), {.slices = Equal()});
  RunEmpty(machine);
  EXPECT_EQ(CountAll(machine), GetParam() == "gfx125" ? 1u : 0u);
}

TEST_P(SlicesTest, WithoutATopologyNothingIsEmitted) {
  Machine machine(GetParam());
  RunEmpty(machine);
  EXPECT_EQ(CountAll(machine), 0u);
}

TEST_P(SlicesTest, OnlyWhatBeginsAJobOfTheRenderEngineSpreadsPixels) {
  if (Packet().empty()) GTEST_SKIP();
  Machine machine(GetParam(), {.slices = Unequal()});
  RunEmpty(machine, {.engine = Engine::kCopy});
  if (GetParam() == "gfx125") RunEmpty(machine, {.engine = Engine::kCompute});
  EXPECT_EQ(CountAll(machine), 0u);
  auto secondary = machine.context->NewCommandBuffer({.secondary = true});
  auto commands = machine.context->NewCommandBuffer({});
  ASSERT_TRUE(secondary.ok() && commands.ok());
  EXPECT_TRUE((*secondary)->End().ok());
  EXPECT_TRUE((*commands)->Execute(**secondary)) << (*commands)->status();
  machine.Run(**commands);
  EXPECT_EQ(CountAll(machine), 1u);
  // A new recording of the same command buffer begins another job.
  EXPECT_TRUE((*commands)->Reset().ok());
  machine.Run(**commands);
  EXPECT_EQ(CountAll(machine), 2u);
}

TEST_P(SlicesTest, SlicesThatThereAreNotAreInvalid) {
  const absl::Status none = ErrorOf({0, 0});
  EXPECT_EQ(none.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(none.message()), HasSubstr("no subslice"));
  if (GetParam() != "gfx11" && GetParam() != "gfx12") return;
  const absl::Status many = ErrorOf({0xff, 0xff});
  EXPECT_EQ(many.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(many.message()), HasSubstr("slices and subslices"));
  EXPECT_THAT(std::string(many.message()), HasSubstr("pixel pipe"));
}

}  // namespace
}  // namespace packsmith::intel
