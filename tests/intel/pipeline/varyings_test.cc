// Layouts of vertices, and plans that the setup back end cannot carry out.
#include "runtime/intel/pipeline/varyings.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/intel/pipeline/rasterization.h"

namespace packsmith::intel {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> NamesOf(const VertexLayout& layout) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < layout.count; ++i) names.push_back(NameOf(layout.slots[i]));
  return names;
}

TEST(Varyings, VerticesBeginWithHeaderAndPosition) {
  const auto empty = MakeVertexLayout({});
  ASSERT_TRUE(empty.ok());
  EXPECT_THAT(NamesOf(*empty), ElementsAre("header", "position"));
  EXPECT_EQ(empty->entry_units(), 1u);
  EXPECT_EQ(empty->read_length(), 1u);

  const Varying written[] = {Location(5), Varying::kClipDistances4to7, Varying::kBackColor0,
                             Location(1), Varying::kFrontColor0};
  const auto packed = MakeVertexLayout(written);
  ASSERT_TRUE(packed.ok());
  EXPECT_THAT(NamesOf(*packed),
              ElementsAre("header", "position", "clip distances 0 to 3", "clip distances 4 to 7",
                          "front color 0", "back color 0", "location 1", "location 5"));
  EXPECT_EQ(packed->entry_units(), 2u);
  EXPECT_EQ(packed->SlotOf(Location(5)), 7u);
  EXPECT_EQ(packed->SlotOf(Location(4)), std::nullopt);
}

TEST(Varyings, PlacesByNumberDoNotDependOnWhatIsWritten) {
  const Varying one[] = {Location(3)}, two[] = {Location(0), Location(3)};
  const auto a = MakeVertexLayout(one, LocationPlacement::kByNumber);
  const auto b = MakeVertexLayout(two, LocationPlacement::kByNumber);
  ASSERT_TRUE(a.ok());
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(a->SlotOf(Location(3)), 5u);
  EXPECT_EQ(b->SlotOf(Location(3)), 5u);
  EXPECT_THAT(NamesOf(*a),
              ElementsAre("header", "position", "padding", "padding", "padding", "location 3"));
}

TEST(Varyings, WhatCannotBeWrittenIsNamed) {
  const auto expect = [](std::vector<Varying> written, const std::string& text) {
    EXPECT_THAT(MakeVertexLayout(written).status().message(), HasSubstr(text));
  };
  expect({Location(2), Location(2)}, "location 2 is written twice");
  expect({Varying::kPointCoordinate}, "the point coordinate is written");
  expect({Varying::kPadding}, "the padding is written");
  expect({Location(32)}, "location 32 is written; there are 32 locations");
}

TEST(Varyings, BarycentricsAreThoseOfTheInputs) {
  FragmentInputs inputs;
  EXPECT_EQ(BarycentricsOf(inputs, false), 0);
  inputs.Add({.interpolation = Interpolation::kFlat});
  EXPECT_EQ(BarycentricsOf(inputs, false), 0);
  inputs.Add({.interpolation = Interpolation::kPerspective});
  EXPECT_EQ(BarycentricsOf(inputs, false), kPerspectivePixel);
  inputs.Add({.interpolation = Interpolation::kLinear, .place = InterpolationPlace::kCentroid});
  EXPECT_EQ(BarycentricsOf(inputs, false), kPerspectivePixel | kLinearCentroid);
  EXPECT_EQ(BarycentricsOf(inputs, true), kPerspectiveSample | kLinearSample);
}

TEST(Varyings, ThereAre32Inputs) {
  FragmentInputs inputs;
  for (unsigned i = 0; i < kMostInputs; ++i) EXPECT_TRUE(inputs.Add({.what = Location(i)}));
  EXPECT_FALSE(inputs.Add({}));
  EXPECT_EQ(inputs.count, kMostInputs);
}

VertexLayout All() {
  std::vector<Varying> written;
  for (unsigned i = 0; i < kMostLocations; ++i) written.push_back(Location(i));
  return *MakeVertexLayout(written);
}
FragmentInputs InOrder(unsigned count) {
  FragmentInputs inputs;
  for (unsigned i = 0; i < count; ++i) inputs.Add({.what = Location(i)});
  return inputs;
}

TEST(Varyings, AllInputsInOrderNeedNoOverride) {
  const auto plan = PlanAttributes(All(), InOrder(32));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_FALSE(plan->overrides);
  EXPECT_EQ(plan->first_slot, 2u);
  EXPECT_EQ(plan->slots, 32u);
}

TEST(Varyings, OnlyTheFirst16InputsTakeAnySlot) {
  FragmentInputs inputs = InOrder(20);
  std::swap(inputs.inputs[3], inputs.inputs[12]);
  EXPECT_TRUE(PlanAttributes(All(), inputs).ok());
  std::swap(inputs.inputs[3], inputs.inputs[18]);
  const auto plan = PlanAttributes(All(), inputs);
  EXPECT_THAT(plan.status().message(), HasSubstr("fragment input 18 (location 12) is in slot 14"));
  EXPECT_THAT(plan.status().message(), HasSubstr("it must be in slot 20"));
}

TEST(Varyings, OnlyTheFirst16InputsCanBeConstants) {
  const auto plan = PlanAttributes(*MakeVertexLayout({}), InOrder(17));
  EXPECT_THAT(plan.status().message(), HasSubstr("fragment input 16 (location 16) is not written"));
  EXPECT_TRUE(PlanAttributes(*MakeVertexLayout({}), InOrder(16)).ok());
}

TEST(Varyings, InputsMustBeIn32SuccessiveSlots) {
  FragmentInputs inputs;
  inputs.Add({.what = Varying::kHeader});
  inputs.Add({.what = Location(31)});
  EXPECT_THAT(PlanAttributes(All(), inputs).status().message(),
              HasSubstr("fragment inputs are in slots 0 to 33 of a vertex; they must be in 32"));
  // What begins later for the 17th input cannot begin earlier for another.
  FragmentInputs late = InOrder(18);
  late.inputs[0].what = Varying::kHeader;
  EXPECT_THAT(PlanAttributes(All(), late).status().message(),
              HasSubstr("the header is in slot 0, before slot 2"));
}

TEST(Varyings, TheRasterizerMakesOnePrimitiveId) {
  FragmentInputs inputs;
  inputs.Add({.what = Varying::kPrimitiveId});
  auto plan = PlanAttributes(*MakeVertexLayout({}), inputs);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->primitive_id, 0u);
  EXPECT_EQ(plan->flat, 1u);
  // A geometry shader may write it.
  const Varying written[] = {Varying::kPrimitiveId};
  plan = PlanAttributes(*MakeVertexLayout(written), inputs);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->primitive_id, std::nullopt);
  inputs.Add({.what = Varying::kPrimitiveId});
  EXPECT_THAT(PlanAttributes(*MakeVertexLayout({}), inputs).status().message(),
              HasSubstr("reads the primitive id as inputs 0 and 1"));
}

TEST(Varyings, PointsReplaceCoordinates) {
  FragmentInputs inputs;
  inputs.Add({.what = Location(0), .point_sprite = true});
  inputs.Add({.what = Varying::kPointCoordinate});
  const Varying written[] = {Location(0)};
  const auto plan = PlanAttributes(*MakeVertexLayout(written), inputs);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->sprites, 3u);
  EXPECT_TRUE(plan->overrides) << "triangles have no point coordinate";
}

TEST(Varyings, OnlyTheFirst16InputsCanBePointCoordinates) {
  FragmentInputs inputs = InOrder(15);
  inputs.Add({.what = Varying::kPointCoordinate});
  EXPECT_TRUE(PlanAttributes(All(), inputs).ok());
  inputs = InOrder(16);
  inputs.Add({.what = Varying::kPointCoordinate});
  const absl::Status status = PlanAttributes(All(), inputs).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(status.message(), HasSubstr("fragment input 16 (point coordinate) has no slot; it "
                                          "must be one of the first 16 inputs"));
}

}  // namespace
}  // namespace packsmith::intel
