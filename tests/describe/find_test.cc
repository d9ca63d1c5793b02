// Queries as users type them.
#include "runtime/describe/find.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/describe/rockets.h"

namespace packsmith::describe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class FindTest : public ::testing::Test {
 protected:
  // "kind name" or "kind name.field" of everything found, or the message.
  std::vector<std::string> Found(absl::string_view query) {
    const auto found = Find(references_, query);
    if (!found.ok()) {
      EXPECT_EQ(found.status().code(), absl::StatusCode::kNotFound);
      return {absl::StrCat("! ", found.status().message())};
    }
    std::vector<std::string> all;
    for (const describe::Found& one : *found) {
      all.push_back(absl::StrCat(one.kind, " ", one.name, one.field.empty() ? "" : ".", one.field));
    }
    return all;
  }
  References references_{{kRocket1, kRocket2}};
};

TEST_F(FindTest, NamesInEitherCaseAndAliases) {
  EXPECT_THAT(Found("CLEAR"), ElementsAre("packet CLEAR"));
  EXPECT_THAT(Found(" clear "), ElementsAre("packet CLEAR"));
  EXPECT_THAT(Found("erase"), ElementsAre("packet CLEAR"));
  EXPECT_THAT(Found("Compare"), ElementsAre("enum Compare"));
  EXPECT_THAT(Found("rcs"), ElementsAre("engine render"));
  EXPECT_THAT(Found("heap"), ElementsAre("base heap"));
  EXPECT_THAT(Found("two"), ElementsAre("generation rocket2"));
}

TEST_F(FindTest, WhatOnlyAnOldGenerationHas) {
  EXPECT_THAT(Found("COPY"), ElementsAre("packet COPY"));
}

TEST_F(FindTest, ANameToTheLetterWinsOverOneInAnotherCase) {
  EXPECT_THAT(Found("copy"), ElementsAre("engine copy"));
}

TEST_F(FindTest, Globs) {
  EXPECT_THAT(Found("C*E*"), ElementsAre("packet CLEAR", "register CACHE_MODE", "enum Compare"));
  EXPECT_THAT(Found("q*"), ElementsAre(HasSubstr("no name matches \"q*\"")));
}

TEST_F(FindTest, FieldsOfSomething) {
  EXPECT_THAT(Found("CLEAR.Limit"), ElementsAre("packet CLEAR.Limit"));
  EXPECT_THAT(Found("clear.LIMIT"), ElementsAre("packet CLEAR.Limit"));
  EXPECT_THAT(Found("Border.Edge[1].Width"), ElementsAre("struct Border.Edge[].Width"));
  EXPECT_THAT(Found("Border.edge.width"), ElementsAre("struct Border.Edge[].Width"));
  EXPECT_THAT(Found("Border.Channel"), ElementsAre("struct Border.Channel[]"));
  EXPECT_THAT(Found("CLEAR.Limits"),
              ElementsAre("! CLEAR has no field \"Limits\"; did you mean Limit?"));
}

TEST_F(FindTest, AFieldThatOnlyAnOldGenerationHas) {
  EXPECT_THAT(Found("CLEAR.Colors"), ElementsAre("packet CLEAR.Colors"));
}

TEST_F(FindTest, RegistersByOffset) {
  EXPECT_THAT(Found("0x7004"), ElementsAre("register CACHE_MODE"));
  EXPECT_THAT(Found("0X7004"), ElementsAre("register CACHE_MODE"));
  EXPECT_THAT(Found("0x7008"),
              ElementsAre(HasSubstr("did you mean CACHE_MODE (0x7004), LATER (0x7010)?")));
  EXPECT_THAT(Found("0x1"), ElementsAre(HasSubstr("did you mean CACHE_MODE (0x7004)?")));
  EXPECT_THAT(Found("0xffff"), ElementsAre(HasSubstr("did you mean LATER (0x7010)?")));
}

TEST_F(FindTest, PacketsByTheirFirstDwordWhicheverEngineReadsIt) {
  EXPECT_THAT(Found("0x10000042"), ElementsAre("packet CLEAR", "packet COPY"));
  EXPECT_THAT(Found("0x11000000"), ElementsAre("packet CLEAR"));
  EXPECT_THAT(Found("0x99000000"), ElementsAre(HasSubstr("no packet begins with 0x99000000")));
}

TEST_F(FindTest, PacketsThatLookAtMoreBitsComeFirst) {
  const References references(
      {kRocket1, R"(<packsmith family="other" generation="o"><stream name="s"/>
                      <packet name="A" dwords="1"><doc>A.</doc>
                        <field name="K" dword="0" bits="31:28" type="uint" forced="2"/></packet>
                      <packet name="B" dwords="1"><doc>B.</doc>
                        <field name="K" dword="0" bits="31:20" type="uint" forced="0x100"/></packet>
                    </packsmith>)"});
  const auto found = Find(references, "0x10000042");
  ASSERT_TRUE(found.ok());
  std::vector<std::string> names;
  for (const describe::Found& one : *found) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("B", "CLEAR", "COPY"));
}

TEST_F(FindTest, NamesThatAreCloseAreSuggested) {
  EXPECT_THAT(Found("CLEARR"), ElementsAre("! nothing is called \"CLEARR\"; did you mean CLEAR?"));
  EXPECT_THAT(Found("mode"), ElementsAre(HasSubstr("did you mean CACHE_MODE")));
}

TEST_F(FindTest, AFieldOrValueAloneNamesItsOwners) {
  EXPECT_THAT(Found("Green"), ElementsAre("! \"Green\" is part of CLEAR.Green; ask for one of "
                                          "these"));
  EXPECT_THAT(Found("Never"), ElementsAre(HasSubstr("is part of Compare;")));
}

TEST_F(FindTest, HostileTextIsNotFoundAndNothingElse) {
  for (const std::string& query :
       {std::string("\0\0", 2), std::string("."), std::string(".."), std::string("CLEAR."),
        std::string("CLEAR.."), std::string(".CLEAR"), std::string("0x"),
        std::string("0x1234567890"), std::string("0xfffffffff"), std::string("\"},{\"name\":\""),
        std::string("CLEAR.[]"), std::string("\xff\xfe"), std::string("%s%n"),
        std::string("\x1b[31m"), std::string(100000, 'A'), std::string(100000, '.'),
        std::string("CLEAR.") + std::string(100000, '['), std::string(2000, '?')}) {
    EXPECT_THAT(Found(query), SizeIs(1)) << query.substr(0, 40);
    EXPECT_THAT(Found(query)[0], ::testing::StartsWith("! ")) << query.substr(0, 40);
  }
}

}  // namespace
}  // namespace packsmith::describe
