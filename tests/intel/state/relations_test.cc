// What is emitted together, compared with the relations in the decode tables, which come from the
// XML independently of the generated headers.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "runtime/base/type_name.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/state/state_layout.h"
#include "runtime/tables/tables.h"
#include "tests/intel/state/generations.h"

namespace packsmith::intel {
namespace {

using tables::RelationKind;

// Groups by the manual's names of their packets.
template <class Gen>
std::map<std::string, unsigned> GroupsByName() {
  const StateLayout& layout = StateLayoutOf<Gen>::kLayout;
  std::map<std::string, unsigned> groups;
  for (unsigned p = 0; p < layout.packet_count; ++p) {
    if (layout.packets[p].part == 0) continue;
    absl::string_view name = TypeNameIn(layout.packets[p].function);
    name = name.substr(name.rfind(':') + 1);
    if (name[0] == '_') name.remove_prefix(1);
    groups[std::string(name)] = layout.packets[p].group;
  }
  return groups;
}

// Calls f(packet, kind, other) for each relation of the generation.
template <class F>
void EachRelation(const tables::Tables& tables, F f) {
  for (const tables::Container& container : tables.containers()) {
    for (const tables::Relation& relation : tables.relations(container.relations)) {
      f(std::string(tables.string(container.name)), relation.kind,
        std::string(tables.string(tables.container(relation.container).name)));
    }
  }
}

template <class Gen>
class RelationsTest : public testing::Test {
 protected:
  const tables::Tables tables_ = *FindGeneration(Gen::kName);
  const StateLayout& layout_ = StateLayoutOf<Gen>::kLayout;
  const std::map<std::string, unsigned> groups_ = GroupsByName<Gen>();
};
TYPED_TEST_SUITE(RelationsTest, Generations);

TYPED_TEST(RelationsTest, AllPacketsOfTheStateArePacketsOfTheGeneration) {
  EXPECT_GT(this->groups_.size(), 50u);
  for (const auto& [name, group] : this->groups_) {
    EXPECT_NE(this->tables_.FindContainer(name), tables::kNone) << name;
  }
}

TYPED_TEST(RelationsTest, WhatIsEmittedTogetherIsWhatTheTablesSayAndNoMore) {
  // A change of one of these emits the other, too, by the three kinds of relations.
  std::vector<std::set<unsigned>> with(this->layout_.groups);
  size_t relations = 0;
  EachRelation(this->tables_,
               [&](const std::string& name, RelationKind kind, const std::string& other) {
                 const auto from = this->groups_.find(name), to = this->groups_.find(other);
                 if (from == this->groups_.end() || to == this->groups_.end()) return;
                 ++relations;
                 if (kind == RelationKind::kCommits) {
                   with[to->second].insert(from->second);
                 } else {
                   with[from->second].insert(to->second);
                 }
               });
  EXPECT_GT(relations, 10u);
  for (unsigned g = 0; g < this->layout_.groups; ++g) {
    std::set<unsigned> reached = {g};
    std::vector<unsigned> open = {g};
    while (!open.empty()) {
      const unsigned at = open.back();
      open.pop_back();
      for (unsigned next : with[at]) {
        if (reached.insert(next).second) open.push_back(next);
      }
    }
    StateGroups expected = 0;
    for (unsigned other : reached) expected |= StateGroup(other);
    EXPECT_EQ(this->layout_.with[g], expected) << "group " << g;
  }
}

TYPED_TEST(RelationsTest, WhatIsCommittedComesBeforeAndWhatIsLostComesAfter) {
  EachRelation(this->tables_,
               [&](const std::string& name, RelationKind kind, const std::string& other) {
                 const auto from = this->groups_.find(name), to = this->groups_.find(other);
                 if (from == this->groups_.end() || to == this->groups_.end()) return;
                 if (kind == RelationKind::kCommits) {
                   EXPECT_LT(to->second, from->second) << name << " commits " << other;
                 }
                 if (kind == RelationKind::kInvalidates) {
                   EXPECT_LT(from->second, to->second) << name << " invalidates " << other;
                 }
               });
}

TYPED_TEST(RelationsTest, WhatADrawNeedsAndWhatOthersTakeAwayIsWhatTheTablesSay) {
  using Layout = StateLayoutOf<TypeParam>;
  std::map<std::string, StateGroups> lost;
  StateGroups needed = 0;
  EachRelation(this->tables_,
               [&](const std::string& name, RelationKind kind, const std::string& other) {
                 const auto to = this->groups_.find(other);
                 if (to == this->groups_.end()) return;
                 if (kind == RelationKind::kInvalidates) lost[name] |= StateGroup(to->second);
                 if (kind == RelationKind::kRequires && name == "3DPRIMITIVE") {
                   needed |= StateGroup(to->second);
                 }
               });
  using G = typename TypeParam::Packets;
  EXPECT_NE(needed, 0u);
  EXPECT_EQ(Layout::template kNeededBy<typename G::_3DPRIMITIVE>, needed);
  EXPECT_EQ(Layout::kLayout.draw_needs, needed);
  EXPECT_NE(lost["STATE_BASE_ADDRESS"], 0u);
  EXPECT_EQ(Layout::template kLostWith<typename G::STATE_BASE_ADDRESS>, lost["STATE_BASE_ADDRESS"]);
  EXPECT_EQ(Layout::template kLostWith<typename G::_3DSTATE_BINDING_TABLE_POOL_ALLOC>,
            lost["3DSTATE_BINDING_TABLE_POOL_ALLOC"]);
  EXPECT_EQ(Layout::template kLostWith<typename G::MI_BATCH_BUFFER_END>,
            lost["MI_BATCH_BUFFER_END"]);
  EXPECT_EQ(lost["MI_BATCH_BUFFER_END"] != 0, TypeParam::kVersion >= 120);
}

// As the XML has it, in words: drivers often get these wrong.
TYPED_TEST(RelationsTest, ConstantsCountOnlyWithABindingTablePointer) {
  const auto with = [&](const char* packet) {
    return this->layout_.with[this->groups_.at(packet)];
  };
  const auto has = [&](const char* packet, const char* other) {
    return (with(packet) & StateGroup(this->groups_.at(other))) != 0;
  };
  EXPECT_EQ(has("3DSTATE_CONSTANT_VS", "3DSTATE_BINDING_TABLE_POINTERS_VS"),
            TypeParam::kVersion >= 90);
  // Where a pointer changes, constants of all stages come first, on some.
  EXPECT_EQ(has("3DSTATE_BINDING_TABLE_POINTERS_VS", "3DSTATE_CONSTANT_PS"),
            TypeParam::kVersion == 110 || TypeParam::kVersion == 120);
  EXPECT_TRUE(has("3DSTATE_PUSH_CONSTANT_ALLOC_VS", "3DSTATE_CONSTANT_PS"));
  EXPECT_TRUE(has("3DSTATE_VERTEX_ELEMENTS", "3DSTATE_VF_SGVS"));
  EXPECT_FALSE(has("3DSTATE_VF_SGVS", "3DSTATE_VERTEX_ELEMENTS"));
}

}  // namespace
}  // namespace packsmith::intel
