// Lists that are looked up by name, and descriptions of many things.
#include "gen/model/ast/name_index.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gen/model/syntax/value_list.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/model/marked_text.h"

namespace packsmith::model {
namespace {

using testing::ElementsAre;

struct Thing {
  std::string name;
};

TEST(NameIndex, FindsTheFirstOfAName) {
  NameIndex index;
  index.Fill(std::vector<Thing>{{"a"}, {""}, {"b"}, {"a"}});
  EXPECT_EQ(index.Find("a"), 0u);
  EXPECT_EQ(index.Find("b"), 2u);
  EXPECT_EQ(index.Find(""), std::nullopt);
  EXPECT_EQ(index.Find("c"), std::nullopt);
}

TEST(NameIndex, WhatIsRemovedIsNotFoundAndIsTakenOutInOneGo) {
  std::vector<Thing> list = {{"a"}, {"b"}, {"c"}, {"d"}};
  NameIndex index;
  index.Fill(list);
  index.Remove("d");
  index.Remove("b");
  index.Remove("nothing");
  EXPECT_EQ(index.Find("b"), std::nullopt);
  index.Add("b", list.size());
  list.push_back({"b"});
  index.Compact(list);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].name, "a");
  EXPECT_EQ(list[1].name, "c");
  EXPECT_EQ(list[2].name, "b");
  EXPECT_EQ(index.Find("b"), 2u);
}

TEST(PrefixIndex, TakesTheLongestNameAtWhoseEndOneMayEnd) {
  PrefixIndex index;
  index.Add("Size", 0);
  index.Add("Size Enable", 1);
  index.Add("Size", 2);
  size_t length = 0;
  const auto any = [](size_t) { return true; };
  EXPECT_EQ(index.Longest("Size Enable and Size", length, any), 1u);
  EXPECT_EQ(length, 11u);
  EXPECT_EQ(index.Longest("Size=3", length, any), 0u);
  EXPECT_EQ(index.Longest("Siz", length, any), std::nullopt);
  EXPECT_EQ(index.Longest("Size Enable", length, [](size_t n) { return n == 4; }), 0u);
  EXPECT_EQ(length, 4u);
}

TEST(PrefixIndex, LooksOnceForEachLengthOfAName) {
  PrefixIndex index;
  std::vector<std::string> names;
  for (int i = 0; i < 100000; ++i) names.push_back(absl::StrCat("Field ", 100000 + i));
  for (size_t i = 0; i < names.size(); ++i) index.Add(names[i], i);
  size_t length = 0, looks = 0;
  EXPECT_EQ(index.Longest("Field 199999 and others", length,
                          [&](size_t) {
                            ++looks;
                            return true;
                          }),
            99999u);
  EXPECT_EQ(looks, 1u);
}

std::vector<std::string> NamesOf(const std::vector<Value>& values) {
  std::vector<std::string> names;
  for (const Value& value : values) names.push_back(value.name);
  return names;
}
Value Named(const std::string& name, uint64_t number) {
  Value value;
  value.name = name;
  value.value = number;
  return value;
}

TEST(ValueList, WhatIsAddedToInheritedValuesGoesWhereItsNumberBelongs) {
  std::vector<Value> values = {Named("one", 1), Named("five", 5), Named("nine", 9)};
  ValueList list(values, true);
  list.Add(Named("ten", 10));
  list.Add(Named("three", 3));
  list.Add(Named("minus", ~uint64_t{0}));
  list.Add(Named("five again", 5));
  list.Add(Named("two", 2));
  EXPECT_TRUE(list.Remove("nine"));
  EXPECT_FALSE(list.Remove("nine"));
  EXPECT_EQ(list.Find("two")->value, 2u);
  EXPECT_EQ(list.Find("nine"), nullptr);
  list.Finish();
  EXPECT_THAT(NamesOf(values),
              ElementsAre("minus", "one", "two", "three", "five", "five again", "ten"));
}

TEST(ValueList, NewValuesStayInTheirOrder) {
  std::vector<Value> values;
  ValueList list(values, false);
  list.Add(Named("two", 2));
  list.Add(Named("one", 1));
  list.Finish();
  EXPECT_THAT(NamesOf(values), ElementsAre("two", "one"));
}

// Searching all names for each would take minutes.
TEST(Many, SixtyThousandStructuresLoadInTheTimeThatATestHas) {
  std::string body;
  for (int i = 0; i < 60000; ++i) {
    absl::StrAppend(&body, "<struct name=\"S", i,
                    "\" dwords=\"1\"><field name=\"F\" dword=\"0\" bits=\"31:0\" "
                    "type=\"uint\"/></struct>\n");
  }
  const LoadResult result = LoadBody(body);
  EXPECT_FALSE(result.diagnostics.has_errors());
  EXPECT_EQ(result.model.containers.size(), 60000u);
}

TEST(Many, SixtyThousandValuesLoadInTheTimeThatATestHas) {
  std::string body = "<enum name=\"E\">";
  for (int i = 0; i < 60000; ++i) {
    absl::StrAppend(&body, "<value name=\"V", i, "\" value=\"", i, "\"/>\n");
  }
  body +=
      "</enum><struct name=\"S\" dwords=\"1\"><field name=\"F\" dword=\"0\" bits=\"31:0\" "
      "type=\"E\"/></struct>";
  const LoadResult result = LoadBody(body);
  EXPECT_FALSE(result.diagnostics.has_errors());
  EXPECT_EQ(result.model.enums[0].values.size(), 60000u);
}

}  // namespace
}  // namespace packsmith::model
