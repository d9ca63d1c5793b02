// A draw, from which each packet in turn is left out: what it requires is noticed.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/intel/driver/draw_fixture.h"

namespace packsmith::intel {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::IsSupersetOf;

class OmissionsTest : public DrawFixture {
 protected:
  // The problems of a job without these bytes of its batch, which become no-ops.
  std::vector<std::string> RunWithout(CommandBuffer& commands, uint64_t at, size_t bytes) {
    std::vector<uint8_t> kept(bytes);
    EXPECT_TRUE(machine_.device->Read(0, at, absl::MakeSpan(kept)).ok());
    EXPECT_TRUE(machine_.device->Write(0, at, std::vector<uint8_t>(bytes)).ok());
    machine_.problems.clear();
    machine_.Run(commands);
    EXPECT_TRUE(machine_.device->Write(0, at, kept).ok());
    return machine_.problems;
  }
};
INSTANTIATE_TEST_SUITE_P(, OmissionsTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(OmissionsTest, EachPacketThatADrawRequiresIsMissedIfItIsLeftOut) {
  const auto pipeline = NewPipeline({.constants = {true, false, false, false, true}});
  auto commands = New();
  BindAll(*commands, *pipeline);
  const float constants[] = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_TRUE(commands->SetConstants(BindingStage::kVertex, AsBytes(constants)));
  EXPECT_TRUE(commands->SetConstants(BindingStage::kPixel, AsBytes(constants)));
  EXPECT_TRUE(commands->Draw({.vertices = 3, .indexed = true})) << commands->status();
  machine_.Run(*commands);
  ASSERT_THAT(machine_.problems, IsEmpty());
  const std::vector<std::string> packets = machine_.packets;
  const std::vector<uint64_t> addresses = machine_.addresses;
  std::vector<size_t> bytes;
  for (const auto& dwords : machine_.dwords) bytes.push_back(dwords.size() * 4);
  const auto draw = std::find(packets.begin(), packets.end(), "3DPRIMITIVE") - packets.begin();
  ASSERT_LT(static_cast<size_t>(draw), packets.size());

  std::set<std::string> missed;
  for (size_t i = 0; i < static_cast<size_t>(draw); ++i) {
    // Without another of its kind that stays.
    if (std::count(packets.begin(), packets.begin() + draw, packets[i]) != 1) continue;
    if (!absl::StartsWith(packets[i], "3DSTATE_")) continue;
    const auto problems = RunWithout(*commands, addresses[i], bytes[i]);
    if (problems.empty()) continue;
    EXPECT_THAT(problems, Contains(absl::StrCat("a draw without ", packets[i])));
    missed.insert(packets[i]);
  }
  // What each generation's pipeline consists of.
  EXPECT_THAT(missed,
              IsSupersetOf({"3DSTATE_VF_TOPOLOGY", "3DSTATE_VERTEX_ELEMENTS", "3DSTATE_URB_VS",
                            "3DSTATE_URB_HS", "3DSTATE_URB_DS", "3DSTATE_URB_GS", "3DSTATE_VS",
                            "3DSTATE_HS", "3DSTATE_TE", "3DSTATE_DS", "3DSTATE_GS",
                            "3DSTATE_STREAMOUT", "3DSTATE_CLIP", "3DSTATE_SF", "3DSTATE_RASTER",
                            "3DSTATE_SBE", "3DSTATE_WM", "3DSTATE_PS", "3DSTATE_PS_EXTRA"}));
  // With all of it nothing is missing.
  machine_.problems.clear();
  machine_.Run(*commands);
  EXPECT_THAT(machine_.problems, IsEmpty());
}

}  // namespace
}  // namespace packsmith::intel
