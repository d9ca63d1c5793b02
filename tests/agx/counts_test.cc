// The description of G13 is complete: 86 structures with 554 fields, and 36
// enumerations with 214 values, as its discoverers count them. What our own description adds to
// that, and where it deviates, is listed here with the reason.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "gen/model/load.h"

namespace packsmith::model {
namespace {

// Structures that are ours.
const std::map<std::string, std::string>& OwnStructures() {
  static const auto& own = *new std::map<std::string, std::string>{
      {"Extended sampler",
       "a Sampler and the Border after it, so that a table of them has a stride"},
      {"Index List: Unk 1", "two words that are announced by a bit: they have to be stepped over"},
      {"Index List: Unk 2", "the same, one word"},
      {"ZLS Pixels", "what the sources have in IOGPU Graphics only, as Depth width and height"},
  };
  return own;
}

// Fields that are ours, by structure.
const std::map<std::string, std::string>& OwnFields() {
  static const auto& own = *new std::map<std::string, std::string>{
      {"CF binding header", "the bindings that follow it, as items of a tail"},
      {"IOGPU Attachment Count", "the attachments that follow it, as items of a tail"},
  };
  return own;
}

size_t Fields(const std::vector<Item>& items) {
  size_t fields = 0;
  for (const Item& item : items) {
    if (item.field() != nullptr) ++fields;
    if (const Group* group = item.group()) fields += Fields(group->items);
  }
  return fields;
}

class Counts : public testing::Test {
 protected:
  void SetUp() override {
    const absl::Status status = ToStatus(loaded_);
    ASSERT_TRUE(status.ok()) << status;
  }
  const Container& Named(const std::string& name) const {
    const int i = loaded_.model.FindContainer(name);
    EXPECT_GE(i, 0) << name;
    return loaded_.model.containers[static_cast<size_t>(i)];
  }
  const Field& FieldOf(const std::string& container, const std::string& name) const {
    for (const Item& item : Named(container).items) {
      if (const Field* field = item.field(); field != nullptr && field->name == name) return *field;
    }
    ADD_FAILURE() << container << "." << name;
    static const Field kNone;
    return kNone;
  }

  const LoadResult loaded_ = Load("xml/agx/g13.xml", ReadFileFromDisk);
};

TEST_F(Counts, AreThoseOfTheSource) {
  size_t structures = 0, fields = 0;
  for (const Container& c : loaded_.model.containers) {
    if (OwnStructures().count(c.name) != 0) continue;
    ++structures;
    fields += Fields(c.items) - OwnFields().count(c.name);
  }
  EXPECT_EQ(structures, 86u);
  EXPECT_EQ(fields, 554u);
  EXPECT_EQ(loaded_.model.enums.size(), 36u);
  size_t values = 0;
  for (const Enum& e : loaded_.model.enums) values += e.values.size();
  EXPECT_EQ(values, 214u);
}

TEST_F(Counts, WhatIsOurOwnExists) {
  for (const auto& [name, reason] : OwnStructures()) EXPECT_EQ(Named(name).name, name) << reason;
  for (const auto& [name, reason] : OwnFields()) EXPECT_NE(Named(name).tail, nullptr) << reason;
}

TEST_F(Counts, ThereAreRecordsOfTwoAndOfSixBytes) {
  EXPECT_EQ(Named("USC No Preshader").bytes, 2u);
  EXPECT_EQ(Named("USC Shader").bytes, 6u);
  EXPECT_EQ(Named("Depth bias").bytes, 12u);
  EXPECT_EQ(Named("IOGPU Graphics").bytes, 1920u);
}

// The sources say 64 bits of an address without its lowest four: no address has as many. These are
// enough for 48, and hardware is known to have 40.
TEST_F(Counts, AccelerationBuffersHaveTheBitsThatAnAddressCanHave) {
  EXPECT_EQ(FieldOf("Texture", "Acceleration buffer").width, 44u);
  EXPECT_EQ(FieldOf("PBE", "Acceleration buffer").width, 44u);
}

// The sources state 32 bits, yet pack all eight bytes of the structure.
TEST_F(Counts, TheNestedDepthAndStencilControlHasAllOfItsBits) {
  EXPECT_EQ(FieldOf("IOGPU Graphics", "ZLS control").width, 64u);
}

TEST_F(Counts, TheSizeOfDepthBuffersIsTheWordThatMacOsHas) {
  for (const auto& [own, source] :
       {std::pair("Width", "Depth width"), std::pair("Height", "Depth height")}) {
    const Field& field = FieldOf("ZLS Pixels", own);
    const Field& known = FieldOf("IOGPU Graphics", source);
    EXPECT_EQ(field.width, known.width) << own;
    EXPECT_EQ(field.bit % 32, known.bit % 32) << own;
  }
}

// Two bits cannot hold the constants of Channel: the field is an integer that has its names.
TEST_F(Counts, SwizzlesOfAPbeAreChannelsWithoutConstants) {
  for (const char* name : {"Swizzle R", "Swizzle G", "Swizzle B", "Swizzle A"}) {
    EXPECT_EQ(FieldOf("PBE", name).type, FieldType::kUint) << name;
    EXPECT_GE(FieldOf("PBE", name).names.index, 0) << name;
    EXPECT_EQ(FieldOf("Texture", name).type, FieldType::kEnum) << name;
  }
}

// Every structure with a title can be looked up by its name in older papers.
TEST_F(Counts, OlderNamesAreKnown) {
  for (const char* name : {"Bind Vertex Pipeline", "Bind Fragment Pipeline", "Bind Uniform",
                           "Bind Texture", "Bind Sampler", "Set Shader", "Set Registers"}) {
    EXPECT_GE(loaded_.model.FindContainer(name), 0) << name;
  }
}

}  // namespace
}  // namespace packsmith::model
