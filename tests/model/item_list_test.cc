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

Item Field(const std::string& name, uint32_t bit) {
  Item item;
  item.name = name;
  item.bit = bit;
  item.width = 1;
  return item;
}
Item Reserved(uint32_t bit) {
  Item item = Field("", bit);
  item.kind = Item::Kind::kReserved;
  return item;
}
Item Group(const std::string& name, uint32_t bit, std::vector<Item> items) {
  Item item = Field(name, bit);
  item.kind = Item::Kind::kGroup;
  item.items = std::move(items);
  return item;
}

std::vector<std::string> Shown(const std::vector<Item>& items) {
  std::vector<std::string> all;
  for (const Item& item : items) all.push_back(absl::StrCat(item.name, "@", item.bit));
  return all;
}

TEST(ItemList, WhatInheritsNothingStaysInItsOrder) {
  std::vector<Item> items;
  ItemList list(items, false);
  list.Add(Field("b", 8));
  list.Add(Field("a", 0));
  EXPECT_EQ(list.FindField("a"), nullptr);
  EXPECT_FALSE(list.Remove("a"));
  list.Finish();
  EXPECT_THAT(Shown(items), ElementsAre("b@8", "a@0"));
}

TEST(ItemList, AnItemThatStaysAtItsBitStaysInItsPlace) {
  std::vector<Item> items = {Field("a", 0), Field("view", 0), Field("b", 8)};
  ItemList list(items, true);
  Item wider = Field("a", 0);
  wider.width = 4;
  list.Add(std::move(wider));
  list.Finish();
  EXPECT_THAT(Shown(items), ElementsAre("a@0", "view@0", "b@8"));
  EXPECT_EQ(items[0].width, 4u);
}

TEST(ItemList, AnItemThatMovesGoesBehindThoseAtItsBit) {
  std::vector<Item> items = {Field("a", 0), Field("b", 8), Field("c", 16)};
  ItemList list(items, true);
  list.Add(Field("a", 8));
  list.Add(Field("new", 8));
  list.Finish();
  EXPECT_THAT(Shown(items), ElementsAre("b@8", "a@8", "new@8", "c@16"));
}

TEST(ItemList, InAnOrderThatIsNotThatOfBitsAnItemGoesBeforeTheFirstThatIsGreater) {
  std::vector<Item> items = {Field("a", 0), Field("c", 16), Field("b", 8)};
  ItemList list(items, true);
  list.Add(Field("new", 12));
  list.Finish();
  EXPECT_THAT(Shown(items), ElementsAre("a@0", "new@12", "c@16", "b@8"));
}

TEST(ItemList, ItemsWithoutANameReplaceEachOtherAtTheSamePlace) {
  std::vector<Item> items = {Reserved(0), Field("a", 4), Reserved(8)};
  ItemList list(items, true);
  Item one = Reserved(8);
  one.must_be_one = true;
  list.Add(std::move(one));
  list.Add(Reserved(2));
  list.Finish();
  EXPECT_THAT(Shown(items), ElementsAre("@0", "@2", "a@4", "@8"));
  EXPECT_TRUE(items[3].must_be_one);
}

TEST(ItemList, FindsTheFirstFieldAndNoGroupOfThatName) {
  std::vector<Item> items = {Group("a", 0, {Field("x", 0)}), Field("a", 32), Field("a", 64)};
  ItemList list(items, true);
  ASSERT_NE(list.FindField("a"), nullptr);
  EXPECT_EQ(list.FindField("a")->bit, 32u);
  EXPECT_EQ(list.FindField("x"), nullptr);
  list.Finish();
}

TEST(ItemList, RemovesTheFirstOfThatNameBeItInsideOfAGroup) {
  std::vector<Item> items = {Group("g", 0, {Field("a", 0), Field("b", 1)}), Field("a", 32)};
  ItemList list(items, true);
  EXPECT_TRUE(list.Remove("a"));
  EXPECT_TRUE(list.Remove("a"));
  EXPECT_FALSE(list.Remove("a"));
  list.Finish();
  EXPECT_THAT(Shown(items), ElementsAre("g@0"));
  EXPECT_THAT(Shown(items[0].items), ElementsAre("b@1"));
}

TEST(ItemList, RemovesAGroupThatIsLeftEmpty) {
  std::vector<Item> items = {Group("g", 0, {Group("h", 0, {Field("a", 0)})})};
  ItemList list(items, true);
  EXPECT_TRUE(list.Remove("a"));
  EXPECT_FALSE(list.Remove("g"));
  list.Finish();
  EXPECT_THAT(Shown(items), IsEmpty());
}

// Searching all fields for each would take minutes.
TEST(ItemList, SixtyThousandFieldsAreAmendedInTheTimeThatATestHas) {
  std::vector<Item> items;
  for (uint32_t i = 0; i < 60000; ++i) items.push_back(Field(absl::StrCat("F", i), i));
  ItemList list(items, true);
  for (uint32_t i = 0; i < 60000; ++i) {
    const std::string name = absl::StrCat("F", i);
    const Item* const old = list.FindField(name);
    ASSERT_NE(old, nullptr) << name;
    Item item = *old;
    // Each third stays, moves to the end, is taken out.
    if (i % 3 == 2) {
      EXPECT_TRUE(list.Remove(name));
      continue;
    }
    if (i % 3 == 1) item.bit += 60000;
    list.Add(std::move(item));
  }
  list.Finish();
  ASSERT_EQ(items.size(), 40000u);
  EXPECT_EQ(items[1].name, "F3");
  EXPECT_EQ(items[39999].name, "F59998");
}

}  // namespace
}  // namespace packsmith::model
