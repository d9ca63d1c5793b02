// The items of a container that inherits.

#include "gen/model/syntax/item_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/model/marked_text.h"

namespace packsmith::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Field FieldAt(const std::string& name, uint32_t bit) {
  Field field;
  field.name = name;
  field.bit = bit;
  field.width = 1;
  return field;
}
Reserved ReservedAt(uint32_t bit) {
  Reserved run;
  run.bit = bit;
  run.width = 1;
  return run;
}
Group GroupAt(const std::string& name, uint32_t bit, std::vector<Item> items) {
  Group group;
  group.name = name;
  group.bit = bit;
  group.width = 1;
  group.items = std::move(items);
  return group;
}

std::vector<std::string> Shown(const std::vector<Item>& items) {
  std::vector<std::string> all;
  for (const Item& item : items)
    all.push_back(absl::StrCat(item.base().name, "@", item.base().bit));
  return all;
}

TEST(ItemList, WhatInheritsNothingStaysInItsOrder) {
  std::vector<Item> items;
  ItemList list(items, false);
  list.Add(FieldAt("b", 8));
  list.Add(FieldAt("a", 0));
  EXPECT_EQ(list.FindField("a"), nullptr);
  EXPECT_FALSE(list.Remove("a"));
  list.Finish();
  EXPECT_THAT(Shown(items), ElementsAre("b@8", "a@0"));
}

TEST(ItemList, AnItemThatStaysAtItsBitStaysInItsPlace) {
  std::vector<Item> items = {FieldAt("a", 0), FieldAt("view", 0), FieldAt("b", 8)};
  ItemList list(items, true);
  Field wider = FieldAt("a", 0);
  wider.width = 4;
  list.Add(std::move(wider));
  list.Finish();
  EXPECT_THAT(Shown(items), ElementsAre("a@0", "view@0", "b@8"));
  EXPECT_EQ(items[0].base().width, 4u);
}

TEST(ItemList, AnItemThatMovesGoesBehindThoseAtItsBit) {
  std::vector<Item> items = {FieldAt("a", 0), FieldAt("b", 8), FieldAt("c", 16)};
  ItemList list(items, true);
  list.Add(FieldAt("a", 8));
  list.Add(FieldAt("new", 8));
  list.Finish();
  EXPECT_THAT(Shown(items), ElementsAre("b@8", "a@8", "new@8", "c@16"));
}

TEST(ItemList, InAnOrderThatIsNotThatOfBitsAnItemGoesBeforeTheFirstThatIsGreater) {
  std::vector<Item> items = {FieldAt("a", 0), FieldAt("c", 16), FieldAt("b", 8)};
  ItemList list(items, true);
  list.Add(FieldAt("new", 12));
  list.Finish();
  EXPECT_THAT(Shown(items), ElementsAre("a@0", "new@12", "c@16", "b@8"));
}

TEST(ItemList, ItemsWithoutANameReplaceEachOtherAtTheSamePlace) {
  std::vector<Item> items = {ReservedAt(0), FieldAt("a", 4), ReservedAt(8)};
  ItemList list(items, true);
  Reserved one = ReservedAt(8);
  one.must_be_one = true;
  list.Add(std::move(one));
  list.Add(ReservedAt(2));
  list.Finish();
  EXPECT_THAT(Shown(items), ElementsAre("@0", "@2", "a@4", "@8"));
  EXPECT_TRUE(items[3].reserved()->must_be_one);
}

TEST(ItemList, FindsTheFirstFieldAndNoGroupOfThatName) {
  std::vector<Item> items = {GroupAt("a", 0, {FieldAt("x", 0)}), FieldAt("a", 32),
                             FieldAt("a", 64)};
  ItemList list(items, true);
  ASSERT_NE(list.FindField("a"), nullptr);
  EXPECT_EQ(list.FindField("a")->bit, 32u);
  EXPECT_EQ(list.FindField("x"), nullptr);
  list.Finish();
}

TEST(ItemList, RemovesTheFirstOfThatNameBeItInsideOfAGroup) {
  std::vector<Item> items = {GroupAt("g", 0, {FieldAt("a", 0), FieldAt("b", 1)}), FieldAt("a", 32)};
  ItemList list(items, true);
  EXPECT_TRUE(list.Remove("a"));
  EXPECT_TRUE(list.Remove("a"));
  EXPECT_FALSE(list.Remove("a"));
  list.Finish();
  EXPECT_THAT(Shown(items), ElementsAre("g@0"));
  EXPECT_THAT(Shown(items[0].group()->items), ElementsAre("b@1"));
}

TEST(ItemList, RemovesAGroupThatIsLeftEmpty) {
  std::vector<Item> items = {GroupAt("g", 0, {GroupAt("h", 0, {FieldAt("a", 0)})})};
  ItemList list(items, true);
  EXPECT_TRUE(list.Remove("a"));
  EXPECT_FALSE(list.Remove("g"));
  list.Finish();
  EXPECT_THAT(Shown(items), IsEmpty());
}

// Searching all fields for each would take minutes.
TEST(ItemList, SixtyThousandFieldsAreAmendedInTheTimeThatATestHas) {
  std::vector<Item> items;
  for (uint32_t i = 0; i < 60000; ++i) items.push_back(FieldAt(absl::StrCat("F", i), i));
  ItemList list(items, true);
  for (uint32_t i = 0; i < 60000; ++i) {
    const std::string name = absl::StrCat("F", i);
    const Field* const old = list.FindField(name);
    ASSERT_NE(old, nullptr) << name;
    Field field = *old;
    // Each third stays, moves to the end, is taken out.
    if (i % 3 == 2) {
      EXPECT_TRUE(list.Remove(name));
      continue;
    }
    if (i % 3 == 1) field.bit += 60000;
    list.Add(std::move(field));
  }
  list.Finish();
  ASSERT_EQ(items.size(), 40000u);
  EXPECT_EQ(items[1].base().name, "F3");
  EXPECT_EQ(items[39999].base().name, "F59998");
}

}  // namespace
}  // namespace packsmith::model
