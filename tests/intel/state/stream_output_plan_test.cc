#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/state/stream_output.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Declaration = StreamOutDeclaration;

TEST(StreamOutPlanTest, VaryingsAreWrittenInTheOrderOfTheirOffsetsAndHolesAreFilledIn) {
  const StreamOutVarying varyings[] = {
      {.register_index = 3, .components = 0b0110, .offset = 40},
      {.register_index = 1, .components = 0b1111, .offset = 0},
      {.register_index = 2, .components = 0b0001, .buffer = 2, .offset = 4},
  };
  const auto plan = PlanStreamOut(varyings);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(plan->streams[0],
              ElementsAre(Declaration{0, 1, 0b1111, false}, Declaration{0, 0, 0b1111, true},
                          Declaration{0, 0, 0b0011, true}, Declaration{0, 3, 0b0110, false},
                          Declaration{2, 0, 0b0001, true}, Declaration{2, 2, 0b0001, false}));
  EXPECT_THAT(plan->streams[1], IsEmpty());
  EXPECT_THAT(plan->buffers, ElementsAre(0b101u, 0u, 0u, 0u));
}

TEST(StreamOutPlanTest, NothingWrittenIsAPlan) {
  const auto plan = PlanStreamOut({});
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(plan->buffers, ElementsAre(0u, 0u, 0u, 0u));
}

TEST(StreamOutPlanTest, WhatCannotBeIsRefusedByName) {
  const auto refused = [](const std::vector<StreamOutVarying>& varyings) {
    const auto plan = PlanStreamOut(varyings);
    EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(plan.status().message());
  };
  EXPECT_THAT(refused({{.stream = 4}}), HasSubstr("varying 0"));
  EXPECT_THAT(refused({{}, {.buffer = 4}}), HasSubstr("varying 1"));
  EXPECT_THAT(refused({{.register_index = 64}}), HasSubstr("register 64"));
  EXPECT_THAT(refused({{.components = 0}}), HasSubstr("components 0"));
  EXPECT_THAT(refused({{.components = 16}}), HasSubstr("components 16"));
  EXPECT_THAT(refused({{.offset = 6}}), HasSubstr("a multiple of 4"));
  EXPECT_THAT(refused({{}, {.offset = 12}}), HasSubstr("overlaps another"));
  EXPECT_THAT(refused({{.stream = 1}, {.stream = 0, .offset = 16}}),
              HasSubstr("stream 1 writes already"));
  EXPECT_THAT(refused({{.offset = 16 * 128}}), HasSubstr("128"));
  EXPECT_THAT(refused({{.offset = ~3u}}), HasSubstr("128"));
}

// The hardware's use of the declarations gives the requested outputs.
TEST(StreamOutPlanTest, DeclarationsPutEachComponentWhereItWasWanted) {
  std::mt19937 random(3);
  for (unsigned round = 0; round < 300; ++round) {
    // By buffer and component there: register and component of the vertex.
    std::map<std::pair<unsigned, unsigned>, std::pair<unsigned, unsigned>> expected, seen;
    std::vector<StreamOutVarying> varyings;
    for (unsigned buffer = 0; buffer < 4; ++buffer) {
      unsigned at = random() % 8;
      for (unsigned count = random() % 6; count > 0; --count) {
        const unsigned components = random() % 15 + 1, index = random() % 64;
        varyings.push_back({buffer, index, components, buffer, at * 4});
        for (unsigned c = 0; c < 4; ++c) {
          if ((components >> c & 1) != 0) expected[{buffer, at++}] = {index, c};
        }
        at += random() % 9;
      }
    }
    std::shuffle(varyings.begin(), varyings.end(), random);
    const auto plan = PlanStreamOut(varyings);
    ASSERT_TRUE(plan.ok()) << plan.status();
    for (unsigned stream = 0; stream < 4; ++stream) {
      unsigned filled[4] = {};
      for (const Declaration& one : plan->streams[stream]) {
        EXPECT_NE(plan->buffers[stream] >> one.buffer & 1, 0u);
        for (unsigned c = 0; c < 4; ++c) {
          if ((one.components >> c & 1) == 0) continue;
          if (!one.hole) seen[{one.buffer, filled[one.buffer]}] = {one.register_index, c};
          ++filled[one.buffer];
        }
      }
    }
    EXPECT_EQ(seen, expected);
  }
}

}  // namespace
}  // namespace packsmith::intel
