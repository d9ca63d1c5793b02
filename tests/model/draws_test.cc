// What descriptions say of draws: whom packets serve, which pointers keep what was set before,
// images, and the instructions of programs that reach surfaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gen/model/ast/reach.h"
#include "gen/model/load.h"
#include "tests/model/marked_text.h"

namespace packsmith::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Reaches, AreBitsOfAnInstructionAndTheirValues) {
  const absl::StatusOr<Reach> reach = ReachOf("6:0=0x31 and 77=1 and 113:110=12", "103:96");
  ASSERT_TRUE(reach.ok()) << reach.status();
  EXPECT_THAT(reach->mask, ElementsAre(0x7f, 0, 1u << 13, 0xfu << 14));
  EXPECT_THAT(reach->value, ElementsAre(0x31, 0, 1u << 13, 0xcu << 14));
  EXPECT_EQ(reach->bit, 96u);
  EXPECT_EQ(reach->width, 8u);
}

TEST(Reaches, MayCrossADword) {
  const absl::StatusOr<Reach> reach = ReachOf("35:28=0xa5", "7:0");
  ASSERT_TRUE(reach.ok()) << reach.status();
  EXPECT_THAT(reach->mask, ElementsAre(0xf0000000, 0xf, 0, 0));
  EXPECT_THAT(reach->value, ElementsAre(0x50000000, 0xa, 0, 0));
}

TEST(Reaches, ThatNobodyCanUnderstandAreErrors) {
  for (const char* where : {"", "6:0", "6:0=", "=1", "6:0=128", "0:6=1", "128=1", "x=1", "40:0=1",
                            "6:0=1 and ", "6:0=1 or 7=1", "-1=1", "6:0=-1"}) {
    EXPECT_FALSE(ReachOf(where, "7:0").ok()) << where;
  }
  for (const char* index : {"", "128:120", "0:7", "32:0", "a:b"}) {
    EXPECT_FALSE(ReachOf("6:0=1", index).ok()) << index;
  }
}

TEST(Reaches, BelongToPrograms) {
  const auto with = [](const std::string& attributes, const std::string& reach) {
    return Summary(LoadBody(absl::StrCat("<data name=\"d\" ", attributes, ">", reach, "</data>")));
  };
  const std::string reach = "<reaches as=\"texture\" where=\"0=1\" index=\"7:0\"/>";
  EXPECT_THAT(with("code=\"true\"", reach), IsEmpty());
  EXPECT_THAT(with("", reach), SizeIs(1));
  EXPECT_THAT(with("code=\"true\"", "<reaches as=\"texel\" where=\"0=1\" index=\"7:0\"/>"),
              SizeIs(1));
  EXPECT_THAT(with("code=\"true\"", "<reaches as=\"target\" where=\"0=2\" index=\"7:0\"/>"),
              SizeIs(1));
  EXPECT_THAT(with("code=\"true\"", "<reaches as=\"target\" where=\"0=1\"/>"),
              testing::Not(IsEmpty()));
}

std::string PacketNamed(const std::string& name, uint32_t opcode, const std::string& content = "") {
  return absl::StrCat(
      "<packet name=\"", name, "\" dwords=\"2\"><doc>.</doc><field name=\"Op\" dword=\"0\"",
      " bits=\"31:24\" type=\"uint\" forced=\"", opcode, "\"/>", content, "</packet>");
}

TEST(Serves, IsSaidOfAllPacketsOfAStreamWithSuchOpcodes) {
  const std::string stream =
      "<stream name=\"t\"><serves mask=\"0xf0000000\" value=\"0x10000000\" role=\"draw\"/>"
      "<serves mask=\"0xf0000000\" value=\"0x20000000\" role=\"dispatch\"/></stream>";
  const auto in_t = [](std::string packet) {
    return packet.replace(packet.find(" dwords"), 0, " stream=\"t\"");
  };
  const LoadResult result =
      LoadBody(absl::StrCat(stream, in_t(PacketNamed("A", 0x12)), in_t(PacketNamed("B", 0x21)),
                            in_t(PacketNamed("C", 0x31)), PacketNamed("D", 0x12)));
  ASSERT_THAT(Summary(result), IsEmpty());
  EXPECT_EQ(ContainerNamed(result, "A").serves, Role::kDraw);
  EXPECT_EQ(ContainerNamed(result, "B").serves, Role::kDispatch);
  EXPECT_EQ(ContainerNamed(result, "C").serves, Role::kOther);
  EXPECT_EQ(ContainerNamed(result, "D").serves, Role::kOther);
}

TEST(Serves, SayARoleAndAValueWithinTheMask) {
  const auto with = [](const std::string& attributes) {
    return Summary(
        LoadBody(absl::StrCat("<stream name=\"t\"><serves ", attributes, "/></stream>")));
  };
  EXPECT_THAT(with("mask=\"0xf\" value=\"0x3\" role=\"draw\""), IsEmpty());
  EXPECT_THAT(with("mask=\"0xf\" value=\"0x13\" role=\"draw\""), SizeIs(1));
  EXPECT_THAT(with("mask=\"0xf\" value=\"0x3\" role=\"other\""), SizeIs(1));
}

TEST(Keeps, NeedsACondition) {
  const auto with = [](const std::string& attributes) {
    return Summary(LoadBody(absl::StrCat(
        "<struct name=\"S\" dwords=\"1\"/>",
        PacketNamed("P", 1,
                    absl::StrCat("<field name=\"F\" dword=\"0\" bits=\"0\" type=\"bool\"/>",
                                 "<field name=\"To\" dword=\"1\" bits=\"31:0\" type=\"address\">",
                                 "<points to=\"S\" keeps=\"true\" ", attributes, "/></field>")))));
  };
  EXPECT_THAT(with("when=\"F\""), IsEmpty());
  EXPECT_THAT(with(""), SizeIs(1));
}

TEST(Images, SayWhichFieldsTheyAreMadeOf) {
  const auto with = [](const std::string& attributes) {
    return Summary(LoadBody(
        absl::StrCat("<struct name=\"S\" dwords=\"2\">",
                     "<field name=\"Format\" dword=\"0\" bits=\"3:0\" type=\"uint\"><value "
                     "name=\"A\" value=\"1\"/></field>",
                     "<field name=\"Width\" dword=\"0\" bits=\"15:4\" type=\"uint\"/>",
                     "<field name=\"At\" dword=\"1\" bits=\"31:0\" type=\"address\"/><image ",
                     attributes, "/></struct>")));
  };
  EXPECT_THAT(with("address=\"At\" format=\"Format\" width=\"Width+1\" when=\"Format=A\""),
              IsEmpty());
  EXPECT_THAT(with("as=\"target\" address=\"At\""), IsEmpty());
  EXPECT_THAT(with("as=\"depth\" address=\"At\""), SizeIs(1));
  EXPECT_THAT(with("address=\"At\" tiling=\"Tile4\""), IsEmpty());
  EXPECT_THAT(with("address=\"At\" tiling=\"diagonal\""), SizeIs(1));
  EXPECT_THAT(with("width=\"Width\""), SizeIs(1));
  EXPECT_THAT(with("address=\"Width\""), SizeIs(1));
  EXPECT_THAT(with("address=\"Nothing\""), SizeIs(1));
  EXPECT_THAT(with("address=\"At\" format=\"Width\""), SizeIs(1));
  EXPECT_THAT(with("address=\"At\" width=\"Height\""), SizeIs(1));
}

TEST(Images, OfAnHeirReplaceThoseThatItInherits) {
  const std::string field = "<field name=\"At\" dword=\"0\" bits=\"31:0\" type=\"address\"/>";
  const LoadResult result =
      LoadBody(absl::StrCat("<struct name=\"S\" dwords=\"1\">", field,
                            "<image address=\"At\"/></struct>", "<struct name=\"T\" like=\"S\"/>",
                            "<struct name=\"U\" like=\"S\"><image as=\"texture\" address=\"At\" "
                            "tiling=\"X\"/></struct>"));
  ASSERT_THAT(Summary(result), IsEmpty());
  ASSERT_THAT(ContainerNamed(result, "T").images, SizeIs(1));
  EXPECT_EQ(ContainerNamed(result, "T").images[0].use, SurfaceUse::kAny);
  ASSERT_THAT(ContainerNamed(result, "U").images, SizeIs(1));
  EXPECT_EQ(ContainerNamed(result, "U").images[0].use, SurfaceUse::kTexture);
  EXPECT_EQ(ContainerNamed(result, "T").images[0].tiling, Tiling::kUnknown);
  EXPECT_EQ(ContainerNamed(result, "U").images[0].tiling, Tiling::kX);
}

}  // namespace
}  // namespace packsmith::model
