// The columns of generation_facts.h: one for each generation that batches are for, and the right
// one found.
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/device/generation_facts.h"
#include "tests/intel/batch/generation_list.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsSubsetOf;

// The first generation with states and bindings.
constexpr unsigned kOldest = 80;

TEST(FactsTest, EachGenerationHasItsColumnInTheOrderOfTheList) {
  // Those before Gfx8 are built in early_test.cc.
  std::vector<unsigned> columns, early;
  for (const GenerationFacts& column : kGenerationFacts) {
    (column.version_x10 < kOldest ? early : columns).push_back(column.version_x10);
  }
  EXPECT_THAT(early, ElementsAre(40, 45, 50, 60, 70, 75));
#define PACKSMITH_VERSION(Type, names) Type::kFacts.version_x10,
  const std::vector<unsigned> built = {PACKSMITH_EACH_GENERATION(PACKSMITH_VERSION)};
#undef PACKSMITH_VERSION
#ifdef PACKSMITH_FEW_GENERATIONS
  EXPECT_THAT(built, IsSubsetOf(columns));
#else
  EXPECT_THAT(columns, ElementsAreArray(built));
#endif
}

TEST(FactsTest, TheVersionIsThatOfTheDescription) {
#define PACKSMITH_SAME(Type, names)                              \
  EXPECT_EQ(Type::kVersion, names::generation::version_x10);     \
  EXPECT_EQ(Type::kFacts.version_x10, Type::kVersion) << #names; \
  EXPECT_EQ(std::string(Type::kName), #names);
  PACKSMITH_EACH_GENERATION(PACKSMITH_SAME)
#undef PACKSMITH_SAME
}

TEST(FactsTest, AVersionWithoutAColumnHasThatOfTheOneBefore) {
  EXPECT_EQ(FactsOf(90).version_x10, 90u);
  EXPECT_EQ(FactsOf(95).version_x10, 90u);
  EXPECT_EQ(FactsOf(124).version_x10, 120u);
  EXPECT_EQ(FactsOf(~0u).version_x10, std::rbegin(kGenerationFacts)->version_x10);
  EXPECT_EQ(FactsOf(0).version_x10, 40u) << "the oldest, where none is before";
}

// A user's own description has the facts of the generation that it extends.
struct Extended : Generation<gfx9::generation, 125> {};

TEST(FactsTest, ADescriptionMayTakeAnothersColumn) {
  EXPECT_EQ(Extended::kFacts.surface_index_bits, 26u);
  EXPECT_EQ(Gfx9::kFacts.surface_index_bits, 20u);
}

// Facts that drivers query through functions of the runtime.
TEST(FactsTest, WhatDriversAskForIsOfTheGenerationsThatTheManualsName) {
  const auto with = [](bool GenerationFacts::*fact) {
    std::vector<unsigned> versions;
    for (const GenerationFacts& facts : kGenerationFacts) {
      if (facts.*fact) versions.push_back(facts.version_x10);
    }
    return versions;
  };
  EXPECT_THAT(with(&GenerationFacts::vertices_know_32_bits), ElementsAre(80, 90));
  EXPECT_THAT(with(&GenerationFacts::wa_1606682166), ElementsAre(110));
  EXPECT_THAT(with(&GenerationFacts::wa_16014912113), ElementsAre(120));
  EXPECT_THAT(with(&GenerationFacts::wa_14015814527), ElementsAre(125));
}

TEST(FactsTest, EveryColumnSaysWhatNoGenerationIsWithout) {
  for (const GenerationFacts& facts : kGenerationFacts) {
    if (facts.version_x10 < kOldest) continue;
    SCOPED_TRACE(facts.version_x10);
    EXPECT_NE(facts.most_buffer_bytes, 0u);
    EXPECT_NE(facts.surface_index_bits, 0u);
    EXPECT_NE(facts.block_dereference_domain, 0u);
    EXPECT_NE(facts.block_dereference_vertices, 0u);
    for (const BindingRules& rules : {facts.binder, facts.blocks}) {
      EXPECT_NE(rules.block, 0u);
      EXPECT_NE(rules.alignment, 0u);
      EXPECT_EQ(rules.block % rules.alignment, 0u);
      EXPECT_EQ(rules.first % rules.alignment, 0u);
    }
    // Zero means no table in this model.
    EXPECT_NE(facts.binder.first, 0u);
    // Otherwise a pipeline followed by one of the first would lack a stall.
    EXPECT_TRUE(!facts.wa_16011773973 || facts.wa_1509820217);
    EXPECT_TRUE(!facts.wa_16011411144 || facts.stream_output_buffers_need_stall);
  }
}

}  // namespace
}  // namespace packsmith::intel
