// Containers written out: each leaf once, with its full name and place.

#include "gen/model/ast/flatten.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gen/model/load.h"
#include "tests/model/marked_text.h"

namespace packsmith::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Lines(const std::vector<FlatLeaf>& leaves) {
  std::vector<std::string> lines;
  for (const FlatLeaf& leaf : leaves) {
    lines.push_back(
        absl::StrCat(leaf.bit, " ", leaf.name, leaf.suffix.empty() ? "" : "[i]" + leaf.suffix));
  }
  return lines;
}

TEST(Flatten, NestedFieldsHaveDots) {
  const LoadResult result = LoadBody(R"(
<struct name="Inner" dwords="1"><field name="x" dword="0" bits="7:4" type="uint"/></struct>
<struct name="Outer" dwords="3"><field name="in" dword="1" bits="63:32" type="Inner"/><field name="first" dword="0" bits="0" type="bool"/></struct>
<struct name="A" dwords="4"><field name="out" dword="1" bits="95:0" type="Outer"/></struct>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_THAT(Lines(Flatten(result.model, ContainerNamed(result, "A")).leaves),
              ElementsAre("32 out.first", "100 out.in.x"));
}

TEST(Flatten, IndicesStandBehindTheGroupOrWhereItHasNoNameBehindTheField) {
  const LoadResult result = LoadBody(R"(
<struct name="A" dwords="2">
  <group name="g" count="2" dword="0" size="8"><field name="f" dword="0" bits="7:0" type="uint"/></group>
  <group count="2" dword="0" bit="16" size="8"><field name="n" dword="0" bits="7:0" type="uint"/></group>
  <group name="o" count="2" dword="1" size="16"><group name="i" count="2" dword="0" size="4"><field name="x" dword="0" bits="3:0" type="uint"/></group><field name="y" dword="0" bits="15:8" type="uint"/></group>
</struct>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  EXPECT_THAT(
      Lines(Flatten(result.model, ContainerNamed(result, "A")).leaves),
      ElementsAre("0 g[0].f", "8 g[1].f", "16 n[0]", "24 n[1]", "32 o[0].i[0].x", "36 o[0].i[1].x",
                  "40 o[0].y", "48 o[1].i[0].x", "52 o[1].i[1].x", "56 o[1].y"));
}

TEST(Flatten, NamelessGroupsInsideOfEachOtherAddTheirIndices) {
  const LoadResult result = LoadBody(R"(
<struct name="A" dwords="1"><group count="2" dword="0" size="16"><group count="2" dword="0" size="8"><field name="x" dword="0" bits="7:0" type="uint"/></group></group></struct>)");
  EXPECT_THAT(Lines(Flatten(result.model, ContainerNamed(result, "A")).leaves),
              ElementsAre("0 x[0][0]", "8 x[0][1]", "16 x[1][0]", "24 x[1][1]"));
}

TEST(Flatten, LeavesComeInBitOrder) {
  const LoadResult result = LoadBody(R"(
<struct name="A" dwords="1"><field name="b" dword="0" bits="15:8" type="uint"/><reserved name="r" dword="0" bits="31:16"/><field name="a" dword="0" bits="7:0" type="uint"/></struct>)");
  EXPECT_THAT(Lines(Flatten(result.model, ContainerNamed(result, "A")).leaves),
              ElementsAre("0 a", "8 b", "16 r"));
}

TEST(Flatten, ATailIsOneItemWhoseIndexIsLeftOpen) {
  const LoadResult result = LoadBody(R"(
<struct name="E" dwords="2"><field name="x" dword="1" bits="31:0" type="uint"/></struct>
<struct name="A" dwords="1"><field name="head" dword="0" bits="0" type="bool"/><group count="tail" dword="1" size="64"><field name="e" dword="0" bits="63:0" type="E"/></group></struct>
<struct name="B" dwords="1"><group name="t" count="tail" dword="1" size="32"><field name="y" dword="0" bits="31:0" type="uint"/></group></struct>)");
  EXPECT_THAT(Summary(result), IsEmpty());
  const Flat a = Flatten(result.model, ContainerNamed(result, "A"));
  EXPECT_THAT(Lines(a.leaves), ElementsAre("0 head"));
  EXPECT_THAT(Lines(a.tail_leaves), ElementsAre("32 e[i].x"));
  EXPECT_THAT(Lines(Flatten(result.model, ContainerNamed(result, "B")).tail_leaves),
              ElementsAre("0 t[i].y"));
}

TEST(Flatten, StopsBeforeHugeContainersFillMemory) {
  std::string body =
      "<struct name=\"S0\" dwords=\"1\"><group count=\"32\" dword=\"0\" size=\"1\"><field "
      "name=\"f\" dword=\"0\" bits=\"0\" type=\"bool\"/></group></struct>\n";
  for (int i = 1; i < 12; ++i) {
    // Each nests 64 of the one before: 2^71 fields.
    absl::StrAppend(&body, "<struct name=\"S", i,
                    "\" dwords=\"64\"><group count=\"64\" dword=\"0\" size=\"32\"><field "
                    "name=\"f\" dword=\"0\" bits=\"31:0\" type=\"S",
                    i - 1, "\"/></group></struct>\n");
  }
  const LoadResult result = LoadBody(body);
  EXPECT_TRUE(result.diagnostics.has_errors());
}

}  // namespace
}  // namespace packsmith::model
