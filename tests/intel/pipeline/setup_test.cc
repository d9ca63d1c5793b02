// 3DSTATE_SBE and 3DSTATE_SBE_SWIZ, through a model of the setup back end: every input of a
// fragment shader takes what the stage before has written for it; and beside tables of their bits.
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/intel/pipeline/varying_packets.h"
#include "tests/intel/batch/tested.h"
#include "tests/intel/pipeline/bit_table.h"
#include "tests/intel/pipeline/packed.h"

namespace packsmith::intel {
namespace {

// What an attribute is.
struct Taken {
  enum Kind { kSlot, kConstant, kPrimitiveId, kPoint } kind = kSlot;
  unsigned slot = 0;
  bool flat = false;
  friend bool operator==(const Taken&, const Taken&) = default;
};

// The setup back end, from the manual's words: attributes 0 to 15 take a slot of the run that is
// read, or constants, if swizzles are enabled; all others take their own.
template <class Gen>
struct SetupModel {
  using G = typename Gen::Packets;
  using Sbe = typename G::_3DSTATE_SBE;
  using Swizzles = typename G::_3DSTATE_SBE_SWIZ;
  using Detail = typename G::SF_OUTPUT_ATTRIBUTE_DETAIL;

  static std::vector<Taken> Run(const Sbe& sbe, const Swizzles& swizzles, bool points, bool back) {
    std::vector<Taken> attributes;
    const unsigned first = sbe.vertex_urb_entry_read_offset * 2;
    const unsigned slots = sbe.vertex_urb_entry_read_length * 2;
    EXPECT_TRUE(sbe.force_vertex_urb_entry_read_offset);
    EXPECT_TRUE(sbe.force_vertex_urb_entry_read_length);
    EXPECT_GE(slots, 2u);
    EXPECT_LE(slots, 32u);
    for (unsigned i = 0; i < sbe.number_of_sf_output_attributes; ++i) {
      Taken taken{.flat = (sbe.constant_interpolation_enable >> i & 1) != 0};
      unsigned source = i;
      if (sbe.attribute_swizzle_enable && i < 16) {
        const Detail& detail = swizzles.attribute[i];
        source = detail.source_attribute;
        if (detail.swizzle_select == Detail::SWIZZLE_SELECT_INPUTATTR_FACING && back) ++source;
        const int overridden = detail.component_override_x + detail.component_override_y +
                               detail.component_override_z + detail.component_override_w;
        EXPECT_TRUE(overridden == 0 || overridden == 4);
        if (overridden != 0) {
          taken.kind = Taken::kConstant;
          EXPECT_EQ(detail.constant_source, Detail::CONSTANT_SOURCE_CONST_0001_FLOAT);
        }
      }
      if (taken.kind == Taken::kSlot) taken.slot = first + source;
      const bool with_id =
          sbe.primitive_id_override_component_x || sbe.primitive_id_override_component_w;
      if (with_id && sbe.primitive_id_override_attribute_select == i) {
        taken.kind = Taken::kPrimitiveId;
        taken.slot = 0;
      }
      if (points && (sbe.point_sprite_texture_coordinate_enable >> i & 1) != 0) {
        taken.kind = Taken::kPoint;
        taken.slot = 0;
      }
      if (taken.kind == Taken::kSlot) {
        EXPECT_LT(source, slots) << "attribute " << i;
      }
      attributes.push_back(taken);
    }
    return attributes;
  }
};

// Whether there is a run of slots from which the hardware can take the inputs, by trying them all.
bool CanBe(const VertexLayout& vertex, const FragmentInputs& inputs) {
  for (unsigned first = 0; first < kMostSlots; first += 2) {
    bool good = true;
    for (unsigned i = 0; i < inputs.count; ++i) {
      const Varying what = inputs.inputs[i].what;
      const std::optional<unsigned> slot = vertex.SlotOf(what);
      if (!slot.has_value()) {
        good &= i < 16 || what == Varying::kPrimitiveId;
      } else {
        good &= *slot >= first && *slot < first + 32 && (i < 16 || *slot == first + i);
      }
    }
    if (good) return true;
  }
  return false;
}

template <class Gen>
class SetupTest : public testing::Test {
 protected:
  static std::vector<Taken> Attributes(const AttributePlan& plan, bool points = false,
                                       bool back = false) {
    // Through the bits.
    uint32_t sbe[8], swizzles[16];
    EXPECT_FALSE(SetupPacket<Gen>(plan).pack(sbe));
    EXPECT_FALSE(SwizzlePacket<Gen>(plan).pack(swizzles));
    using G = typename Gen::Packets;
    return SetupModel<Gen>::Run(G::_3DSTATE_SBE::unpack(sbe),
                                G::_3DSTATE_SBE_SWIZ::unpack(swizzles), points, back);
  }
};
TYPED_TEST_SUITE(SetupTest, Generations);

TYPED_TEST(SetupTest, EveryInputTakesWhatIsWrittenForIt) {
  std::mt19937 random(20240501);
  int planned = 0, refused = 0, overridden = 0, beyond_16 = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Varying> written;
    const unsigned density = random() % 8 + 1;
    for (unsigned i = 0; i < kMostLocations; ++i) {
      if (random() % 8 < density) written.push_back(Location(i));
    }
    if (random() % 4 == 0) written.push_back(Varying::kClipDistances0to3);
    if (random() % 8 == 0) written.push_back(Varying::kPrimitiveId);
    const auto vertex = MakeVertexLayout(
        written, random() % 2 == 0 ? LocationPlacement::kPacked : LocationPlacement::kByNumber);
    ASSERT_TRUE(vertex.ok()) << vertex.status();
    FragmentInputs inputs;
    // In order, as most compilers number them, or at random.
    const bool in_order = random() % 2 == 0;
    const unsigned count = random() % (in_order ? 32 : 17);
    const unsigned from = random() % 8;
    for (unsigned i = 0; i < count; ++i) {
      const unsigned location = in_order ? (from + i) % kMostLocations : random() % kMostLocations;
      inputs.Add(
          {.what = Location(location),
           .interpolation = random() % 2 == 0 ? Interpolation::kFlat : Interpolation::kPerspective,
           .point_sprite = random() % 16 == 0});
    }
    if (random() % 4 == 0) inputs.Add({.what = Varying::kPrimitiveId});
    const auto plan = PlanAttributes(*vertex, inputs);
    if (!plan.ok()) {
      EXPECT_FALSE(CanBe(*vertex, inputs)) << plan.status();
      ++refused;
      continue;
    }
    ++planned;
    overridden += plan->overrides;
    beyond_16 += inputs.count > kMostOverrides;
    for (const bool points : {false, true}) {
      const std::vector<Taken> taken = this->Attributes(*plan, points);
      ASSERT_EQ(taken.size(), inputs.count);
      for (unsigned i = 0; i < inputs.count; ++i) {
        const FragmentInput& input = inputs.inputs[i];
        const std::optional<unsigned> slot = vertex->SlotOf(input.what);
        Taken expected{.flat = input.interpolation == Interpolation::kFlat};
        if (slot.has_value()) {
          expected.slot = *slot;
        } else if (input.what == Varying::kPrimitiveId) {
          expected.kind = Taken::kPrimitiveId;
          expected.flat = true;
        } else {
          expected.kind = Taken::kConstant;
        }
        if (points && input.point_sprite) {
          expected.kind = Taken::kPoint;
          expected.slot = 0;
        }
        if (!points || !input.point_sprite) {
          EXPECT_EQ(taken[i], expected) << "input " << i << " of " << inputs.count << ": "
                                        << NameOf(input.what) << ", round " << round;
        } else {
          EXPECT_EQ(taken[i].kind, Taken::kPoint);
        }
      }
    }
  }
  // All cases have occurred.
  EXPECT_GT(planned, 1000);
  EXPECT_GT(refused, 100);
  EXPECT_GT(overridden, 500);
  EXPECT_GT(beyond_16, 50);
}

TYPED_TEST(SetupTest, BackFacesTakeTheirOwnColors) {
  const Varying written[] = {Varying::kFrontColor0, Varying::kBackColor0, Varying::kBackColor1,
                             Location(0)};
  const auto vertex = MakeVertexLayout(written);
  ASSERT_TRUE(vertex.ok());
  FragmentInputs inputs;
  inputs.Add({.what = Varying::kFrontColor0});
  inputs.Add({.what = Varying::kFrontColor1});  // has a back only
  inputs.Add({.what = Location(0)});
  for (const bool two_sided : {false, true}) {
    inputs.two_sided_colors = two_sided;
    const auto plan = PlanAttributes(*vertex, inputs);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const auto front = this->Attributes(*plan), back = this->Attributes(*plan, false, true);
    EXPECT_EQ(front[0].slot, vertex->SlotOf(Varying::kFrontColor0));
    EXPECT_EQ(back[0].slot,
              vertex->SlotOf(two_sided ? Varying::kBackColor0 : Varying::kFrontColor0));
    EXPECT_EQ(front[1].slot, vertex->SlotOf(Varying::kBackColor1));
    EXPECT_EQ(back[2].slot, vertex->SlotOf(Location(0)));
  }
}

// An attribute of each kind.
TYPED_TEST(SetupTest, PlansAreTheirBits) {
  using Kind = AttributeSource::Kind;
  AttributePlan plan;
  plan.count = 5;
  plan.first_slot = 2;
  plan.slots = 8;
  plan.sources[0] = {.kind = Kind::kSlot, .slot = 9};
  plan.sources[1] = {.kind = Kind::kSlotByFacing, .slot = 6};
  plan.sources[2] = {.kind = Kind::kConstant};
  plan.sources[3] = {.kind = Kind::kPrimitiveId};
  plan.sources[4] = {.kind = Kind::kPoint};
  plan.overrides = true;
  plan.flat = 0x8;
  plan.sprites = 0x10;
  plan.sprite_origin_is_below = true;
  plan.primitive_id = 3;
  // From Gfx9 on all components of all attributes are active.
  const bool has_components = TypeParam::kVersion >= 90;
  const uint32_t active = has_components ? ~0u : 0;
  EXPECT_EQ(DwordsOf(SetupPacket<TypeParam>(plan)),
            FromBits(has_components ? 6 : 4, 0x1f,
                     {{32, 36, 3},
                      {37, 42, 1},
                      {43, 47, 4},
                      {48, 48, 1},
                      {49, 49, 1},
                      {50, 50, 1},
                      {51, 51, 1},
                      {52, 52, 1},
                      {53, 53, 1},
                      {54, 59, 5},
                      {60, 60, 1},
                      {61, 61, 1},
                      {64, 95, 0x10},
                      {96, 127, 0x8},
                      has_components ? BitField{128, 159, active} : BitField{},
                      has_components ? BitField{160, 191, active} : BitField{}}));
  // Slots are counted from the first one that is read; 1 is the constant 0, 0, 0, 1.
  EXPECT_EQ(DwordsOf(SwizzlePacket<TypeParam>(plan)), FromBits(11, 0x51,
                                                               {{32, 36, 7},
                                                                {48, 52, 4},
                                                                {54, 55, 1},
                                                                {73, 74, 1},
                                                                {76, 79, 0xf},
                                                                {89, 90, 1},
                                                                {92, 95, 0xf},
                                                                {105, 106, 1},
                                                                {108, 111, 0xf}}));
}

TYPED_TEST(SetupTest, APipelineTakesBothPackets) {
  const auto plan = PlanAttributes(*MakeVertexLayout({}), {});
  ASSERT_TRUE(plan.ok());
  PipelineState<TypeParam> pipeline;
  EXPECT_TRUE(AddAttributes(*plan, pipeline).ok());
  EXPECT_EQ(AddAttributes(*plan, pipeline).code(), absl::StatusCode::kAlreadyExists);
}

}  // namespace
}  // namespace packsmith::intel
