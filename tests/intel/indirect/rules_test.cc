// Which way is chosen, for draws in memory and for secondary batches.
#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/batch/secondaries.h"
#include "runtime/intel/compute/kernel_binary.h"
#include "runtime/intel/indirect/draw_list.h"
#include "runtime/intel/indirect/generation_kernel.h"

namespace packsmith::intel {
namespace {

using testing::HasSubstr;

DrawWay WayOf(const DrawList& list, const DrawWayFacts& facts, const DrawThresholds& at = {}) {
  const absl::StatusOr<DrawWay> way = ChooseDrawWay(list, facts, at);
  EXPECT_TRUE(way.ok()) << way.status();
  return way.value_or(DrawWay::kNone);
}

TEST(DrawWays, DependOnTheNumberOfDraws) {
  const DrawWayFacts kernel = {.has_kernel = true};
  EXPECT_EQ(WayOf({.draws = 0}, kernel), DrawWay::kNone);
  EXPECT_EQ(WayOf({.draws = 3}, kernel), DrawWay::kClassic);
  EXPECT_EQ(WayOf({.draws = 4}, kernel), DrawWay::kInPlace);
  EXPECT_EQ(WayOf({.draws = 99}, kernel), DrawWay::kInPlace);
  EXPECT_EQ(WayOf({.draws = 100}, kernel), DrawWay::kRing);
  const DrawThresholds always_in_place = {.generated = 0, .ring = ~0u};
  EXPECT_EQ(WayOf({.draws = 8192}, kernel, always_in_place), DrawWay::kInPlace);
  EXPECT_EQ(WayOf({.draws = 8193}, kernel, always_in_place), DrawWay::kRing);
  EXPECT_EQ(WayOf({.draws = 1000}, {}), DrawWay::kClassic);
}

TEST(DrawWays, OnePacketIsChosenWhereItCanExpressTheDraws) {
  const DrawWayFacts facts = {.executes_indirect_draws = true, .has_kernel = true};
  EXPECT_EQ(WayOf({.draws = 1000}, facts), DrawWay::kOnePacket);
  EXPECT_EQ(WayOf({.draws = 1, .stride = 20, .indexed = true}, facts), DrawWay::kOnePacket);
  EXPECT_EQ(WayOf({.draws = 1000, .stride = 20}, facts), DrawWay::kRing);
  EXPECT_EQ(WayOf({.draws = 10, .reads_base = true}, facts), DrawWay::kInPlace);
  EXPECT_EQ(WayOf({.draws = 10, .reads_number = true}, facts), DrawWay::kInPlace);
  EXPECT_EQ(WayOf({.draws = 10, .instance_multiplier = 2}, facts), DrawWay::kInPlace);
}

TEST(DrawWays, ACountAndAPredicateTogetherNeedAKernel) {
  DrawList list = {.draws = 1, .predicated = true};
  EXPECT_EQ(WayOf(list, {}), DrawWay::kClassic);
  list.count = address(0x1000, 1);
  EXPECT_EQ(WayOf(list, {.has_kernel = true}), DrawWay::kInPlace);
  const auto message = [&](const DrawWayFacts& facts) {
    const absl::Status status = ChooseDrawWay(list, facts, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    return std::string(status.message());
  };
  EXPECT_THAT(message({}), HasSubstr("state a kernel"));
  EXPECT_THAT(message({.has_kernel = true, .second_level = true}), HasSubstr("first-level"));
  EXPECT_THAT(message({.has_kernel = true, .relocations = true}), HasSubstr("relocations"));
  EXPECT_THAT(message({.has_kernel = true, .global = true}), HasSubstr("address space"));
}

TEST(DrawWays, WhatIsWrongIsNamed) {
  EXPECT_THAT(ChooseDrawWay({.stride = 6}, {}, {}).status().message(), HasSubstr("6 bytes"));
  EXPECT_THAT(ChooseDrawWay({.instance_multiplier = 0}, {}, {}).status().message(),
              HasSubstr("multiplied by 0"));
}

TEST(GenerationKernels, AreChecked) {
  GenerationKernel kernel;
  const auto message = [&] { return std::string(CheckGenerationKernel(kernel).message()); };
  EXPECT_THAT(message(), HasSubstr("no code"));
  kernel.kernel.simd16() = {.present = true};
  EXPECT_THAT(message(), HasSubstr("groups of 0 x 0 x 0"));
  kernel.kernel.local_size = {32, 1, 1};
  kernel.kernel.constant_bytes = 40;
  kernel.parameters_at = 36;
  EXPECT_THAT(message(), HasSubstr("at byte 36"));
  kernel.parameters_at = ~0u;
  EXPECT_FALSE(CheckGenerationKernel(kernel).ok());
  kernel.parameters_at = 32;
  EXPECT_EQ(message(), "");
  kernel.constants.resize(41);
  EXPECT_THAT(message(), HasSubstr("but 41 were stated"));
}

TEST(GenerationKernels, AreMadeOfCompilersFiles) {
  KernelBinary binary;
  binary.name = "generate_draws";
  binary.simd = 32;
  binary.kernel.local_size = {32, 1, 1};
  binary.kernel.constant_bytes = 64;
  EXPECT_THAT(GenerationKernelOf(binary, 64, 7).status().message(),
              HasSubstr("generate_draws has no address"));
  binary.arguments.resize(2);
  binary.arguments[0].type = "local_size";
  binary.arguments[0].offset = binary.arguments[0].size = 12;
  binary.arguments[1].index = 0;
  binary.arguments[1].offset = 40;
  binary.arguments[1].size = 8;
  absl::StatusOr<GenerationKernel> kernel = GenerationKernelOf(binary, 128, 7);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ(kernel->parameters_at, 40u);
  EXPECT_TRUE(kernel->kernel.simd32().present);
  EXPECT_EQ(kernel->kernel.simd32().offset, 128u);
  EXPECT_EQ(kernel->constants[12], 32);
  binary.kernel.constant_bytes = 44;
  EXPECT_THAT(GenerationKernelOf(binary, 64, 7).status().message(), HasSubstr("at byte 40"));
}

TEST(SecondaryWays, TheFirstRuleThatIsPossibleIsTaken) {
  const auto way = [](const SecondaryTraits& traits) { return *ChooseSecondaryWay(traits); };
  EXPECT_EQ(way({.dwords = 1024, .second_level = true}), SecondaryWay::kCopied);
  EXPECT_EQ(way({.dwords = 1025, .second_level = true}), SecondaryWay::kSecondLevel);
  EXPECT_EQ(way({.dwords = 1025, .second_level = true, .caller_second_level = true}),
            SecondaryWay::kCopied);
  EXPECT_EQ(way({.dwords = 1025, .returning = true}), SecondaryWay::kReturning);
  EXPECT_EQ(way({.dwords = 1, .stays_in_place = true, .returning = true}),
            SecondaryWay::kReturning);
  EXPECT_EQ(way({.dwords = 1, .returning = true}), SecondaryWay::kReturning);
  const absl::Status in_place =
      ChooseSecondaryWay(
          {.dwords = 5, .stays_in_place = true, .second_level = true, .caller_second_level = true})
          .status();
  EXPECT_EQ(in_place.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(in_place.message(), HasSubstr("shaders write"));
  EXPECT_THAT(in_place.message(), HasSubstr("the caller is a second-level batch itself"));
  // A copy would jump to an address that its caller does not store.
  const absl::Status returning =
      ChooseSecondaryWay({.dwords = 5, .returning = true, .caller_cannot_store = true}).status();
  EXPECT_EQ(returning.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(returning.message(), HasSubstr("a jump whose target its caller stores"));
  EXPECT_THAT(returning.message(), HasSubstr("the caller has relocations"));
  constexpr SecondaryRule kSmall[] = {{SecondaryWay::kCopied, 4}};
  EXPECT_THAT(ChooseSecondaryWay({.dwords = 5}, kSmall).status().message(),
              HasSubstr("5 dwords, more than 4"));
}

}  // namespace
}  // namespace packsmith::intel
