// Tessellation, and what must come between its draws and others: Wa_16014912113, on Gfx12, also
// where other code goes on.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/intel/driver/draw_fixture.h"

namespace packsmith::intel {
namespace {

class TessellationTest : public DrawFixture {
 protected:
  std::unique_ptr<GraphicsPipeline> NewTessellating() {
    const auto kernel = machine_.context->NewKernel(DrawnBytes(64, 0));
    EXPECT_TRUE(kernel.ok());
    const bool single = GetParam() != "xe2" && GetParam() != "xe3";
    control_ = {.entry = {.offset = *kernel, .start_register = 2},
                .dispatch = single ? HullDispatch::kSinglePatch : HullDispatch::kPatchPerLane,
                .input_control_points = 3};
    eval_ = {.entry = {.offset = *kernel, .start_register = 4}, .patch_read_length = 1};
    GraphicsPipelineOptions options;
    options.shaders.tess_control = &control_;
    options.shaders.tess_eval = &eval_;
    options.vertices.topology = Topology::kPatchList;
    options.vertices.patch_points = 3;
    return NewPipeline(options);
  }
  bool NeedsWorkaround() const { return GetParam() == "gfx12"; }

  // The domain stage's entries of each 3DSTATE_URB_DS that was executed.
  std::vector<uint64_t> DomainEntries() {
    std::vector<uint64_t> entries;
    for (const auto& packet : DwordsOf("3DSTATE_URB_DS")) {
      entries.push_back(
          machine_.Field("3DSTATE_URB_DS", packet, "DS Number of URB Entries").value_or(~0ull));
    }
    return entries;
  }
  // Whether a flush follows the last of them, before anything is drawn.
  bool FlushFollows() {
    const auto urb =
        std::find(machine_.packets.rbegin(), machine_.packets.rend(), "3DSTATE_URB_DS");
    const auto at = static_cast<size_t>(machine_.packets.rend() - urb);
    for (size_t i = at; i < machine_.packets.size(); ++i) {
      if (machine_.packets[i] == "3DPRIMITIVE") return false;
      if (machine_.packets[i] != "PIPE_CONTROL") continue;
      const auto flush =
          machine_.Field("PIPE_CONTROL", machine_.dwords[i], "HDC Pipeline Flush Enable");
      if (flush == 1u) return true;
    }
    return false;
  }

  TessControlShader control_;
  TessEvalShader eval_;
};
INSTANTIATE_TEST_SUITE_P(, TessellationTest, testing::ValuesIn(DriverGenerations()),
                         [](const auto& info) { return info.param; });

TEST_P(TessellationTest, AJobThatTessellatesLeavesNoPartOfTheUrbToTheDomainStage) {
  const auto patches = NewTessellating();
  auto commands = New();
  BindAll(*commands, *patches);
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 1u);
  const std::vector<uint64_t> entries = DomainEntries();
  ASSERT_EQ(entries.size(), NeedsWorkaround() ? 2u : 1u);
  EXPECT_NE(entries[0], 0u);
  if (!NeedsWorkaround()) return;
  EXPECT_EQ(entries[1], 0u);
  EXPECT_TRUE(FlushFollows());
  EXPECT_EQ(machine_.problems, std::vector<std::string>());
}

TEST_P(TessellationTest, ASecondaryFindsNoPartOfTheDomainStageNorLeavesOne) {
  const auto patches = NewTessellating();
  const auto triangles = NewPipeline();
  auto secondary = New({.secondary = true});
  BindAll(*secondary, *patches);
  EXPECT_TRUE(secondary->Draw({.vertices = 3})) << secondary->status();
  EXPECT_TRUE(secondary->End().ok());
  auto commands = New();
  BindAll(*commands, *patches);
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->Execute(*secondary)) << commands->status();
  EXPECT_TRUE(commands->Bind(*triangles));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  ASSERT_EQ(machine_.works.size(), 3u);
  if (!NeedsWorkaround()) return;
  // Of the primary, left before the secondary; of that, left at its end; and of the last draw,
  // which has no part.
  const std::vector<uint64_t> entries = DomainEntries();
  ASSERT_EQ(entries.size(), 5u);
  EXPECT_NE(entries[0], 0u);
  EXPECT_EQ(entries[1], 0u);
  EXPECT_NE(entries[2], 0u);
  EXPECT_EQ(entries[3], 0u);
  EXPECT_EQ(entries[4], 0u);
}

TEST_P(TessellationTest, ADrawWithoutTessellationLeavesThePartOfTheOneBefore) {
  const auto patches = NewTessellating();
  const auto triangles = NewPipeline();
  auto commands = New();
  BindAll(*commands, *patches);
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();  // the same
  EXPECT_TRUE(commands->Bind(*triangles));
  EXPECT_TRUE(commands->Draw({.vertices = 3})) << commands->status();
  machine_.Run(*commands);
  const std::vector<uint64_t> entries = DomainEntries();
  ASSERT_EQ(entries.size(), NeedsWorkaround() ? 3u : 2u);
  EXPECT_NE(entries.front(), 0u);
  EXPECT_EQ(entries.back(), 0u);
  // Nothing is left to leave at the end.
  if (!NeedsWorkaround()) return;
  EXPECT_EQ(entries[1], 0u);
}

}  // namespace
}  // namespace packsmith::intel
