#include "runtime/agx/varyings.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace packsmith::agx {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr Interpolation kFlat = Interpolation::kFlat, kLinear = Interpolation::kLinear;
constexpr Precision k16 = Precision::k16, k32 = Precision::k32;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

// Every kind of varying: two shaders as a compiler describes them.
constexpr Output kOutputs[] = {
    {.location = 9, .components = 3, .precision = k16, .name = "halves"},
    {.location = 0, .components = 4, .name = "colour"},
    {.location = 3, .components = 1, .name = "id"},
    {.location = 5, .components = 2, .name = "screen"},
    {.location = 1, .components = 2, .name = "texcoord"},
    {.location = 10, .components = 2, .precision = k16, .name = "flat halves"},
};
constexpr Input kInputs[] = {
    {.location = 1, .components = 2, .name = "texcoord"},
    {.location = 0, .components = 4, .name = "colour"},
    {.location = 3, .components = 1, .interpolation = kFlat, .name = "id"},
    {.location = 5, .components = 2, .interpolation = kLinear, .name = "screen"},
    {.location = 9, .components = 3, .precision = k16, .name = "halves"},
    {.location = 10, .components = 2, .interpolation = kFlat, .precision = k16},
};
const VertexOutputs kVertex = {
    .varyings = kOutputs, .point_size = true, .layer_viewport = true, .clip_distances = 3};
const FragmentInputs kFragment = {.inputs = kInputs, .reads_z = true};

TEST(OutputOrder, IsThatOfTheHardware) {
  const auto layout = OutputLayout::Of(kVertex, kFragment);
  ASSERT_TRUE(layout.ok()) << layout.status();
  const OutputShape& shape = layout->shape();
  EXPECT_THAT(shape.words32, ElementsAre(6, 1, 2));
  EXPECT_THAT(shape.words16, ElementsAre(2, 1, 0));
  EXPECT_EQ(shape.words(), 4u + 9 + 3 + 1 + 1 + 3);
  // Position, then 32 bits smooth by location, flat, linear; then 16 bits.
  EXPECT_EQ(layout->Find(0, 0)->word, 4);
  EXPECT_EQ(layout->Find(0, 3)->word, 7);
  EXPECT_EQ(layout->Find(1, 0)->word, 8);
  EXPECT_EQ(layout->Find(3, 0)->word, 10);
  EXPECT_EQ(layout->Find(5, 1)->word, 12);
  EXPECT_EQ(*layout->Find(9, 0), (OutputPlace{13, k16, 0}));
  EXPECT_EQ(*layout->Find(9, 1), (OutputPlace{13, k16, 1}));
  EXPECT_EQ(*layout->Find(9, 2), (OutputPlace{14, k16, 0}));
  EXPECT_EQ(*layout->Find(10, 1), (OutputPlace{15, k16, 1}));
  using Kind = OutputWord::Kind;
  EXPECT_EQ(shape.WordOf({.kind = Kind::kPointSize}), 16u);
  EXPECT_EQ(shape.WordOf({.kind = Kind::kLayerViewport}), 17u);
  EXPECT_EQ(shape.WordOf({.kind = Kind::kClipDistance, .index = 2}), 20u);
  EXPECT_FALSE(shape.WordOf({.kind = Kind::kClipDistance, .index = 3}));
  EXPECT_FALSE(shape.At(21));
}

TEST(OutputOrder, CanBeAskedBothWays) {
  const auto layout = OutputLayout::Of(kVertex, kFragment);
  ASSERT_TRUE(layout.ok());
  const OutputShape& shape = layout->shape();
  for (unsigned word = 0; word < shape.words(); ++word) {
    const auto what = shape.At(word);
    ASSERT_TRUE(what) << word;
    EXPECT_EQ(shape.WordOf(*what), word);
    const auto component = layout->At(word);
    EXPECT_EQ(component.has_value(), what->kind == OutputWord::Kind::kVarying) << word;
    if (component) {
      EXPECT_EQ(layout->Find(component->location, component->component)->word, word);
    }
  }
}

TEST(OutputOrder, DropsWhatNobodyReadsIfAsked) {
  const Input one[] = {{.location = 3, .components = 1, .interpolation = kFlat}};
  const FragmentInputs fragment = {.inputs = one};
  const auto all = OutputLayout::Of(kVertex, fragment);
  const auto read = OutputLayout::Of(kVertex, fragment, /*drop_unread=*/true);
  ASSERT_TRUE(all.ok() && read.ok());
  EXPECT_THAT(all->shape().words32, ElementsAre(8, 1, 0)) << "unread outputs count as smooth";
  EXPECT_THAT(read->shape().words32, ElementsAre(0, 1, 0));
  EXPECT_EQ(read->Find(3, 0)->word, 4);
  EXPECT_FALSE(read->Find(0, 0));
}

TEST(OutputOrder, IsATableForShadersThatWereCompiledApart) {
  const auto layout = OutputLayout::Of(kVertex, kFragment);
  ASSERT_TRUE(layout.ok());
  const auto table = layout->WordTable();
  for (unsigned location = 0; location < kLocations; ++location) {
    const auto place = layout->Find(location, 0);
    EXPECT_EQ(table[location], place ? place->word : OutputLayout::kNotWritten) << location;
  }
}

TEST(Slots, BeginWithWAndZIfItIsRead) {
  OutputShape shape{.words32 = {3, 1, 0}, .words16 = {2, 0, 0}, .clip_distances = 2};
  for (const bool z : {false, true}) {
    shape.z = z;
    EXPECT_EQ(shape.slots32(), 1u + z + 4);
    EXPECT_EQ(shape.slots(), 1u + z + 6);
    EXPECT_FALSE(shape.WordInSlot(0));
    EXPECT_FALSE(shape.SlotOf(3)) << "the position is not a varying";
    EXPECT_EQ(shape.SlotOf(4), 1u + z);
    EXPECT_FALSE(shape.SlotOf(10)) << "clip distances are not interpolated";
    for (unsigned word = 4; word < 10; ++word)
      EXPECT_EQ(shape.WordInSlot(*shape.SlotOf(word)), word);
    EXPECT_FALSE(shape.WordInSlot(shape.slots()));
  }
}

TEST(Registers, AreWThenZThenInputsByLocation) {
  const auto registers = CoefficientLayout::Of(kFragment);
  ASSERT_TRUE(registers.ok());
  EXPECT_EQ(registers->At(0), (RegisterUse{.w = true}));
  EXPECT_EQ(registers->z(), 1u);
  EXPECT_EQ(registers->Find(0, 0), 2u);
  EXPECT_EQ(registers->Find(1, 1), 7u);
  EXPECT_EQ(registers->Find(3, 0), 8u);
  EXPECT_EQ(registers->Find(5, 0), 9u);
  EXPECT_EQ(registers->Find(9, 1), 11u) << "a pair shares a register";
  EXPECT_EQ(registers->Find(9, 2), 12u);
  EXPECT_EQ(registers->registers(), 14u);
  EXPECT_FALSE(registers->Find(3, 1));
  EXPECT_FALSE(registers->At(14));
  for (unsigned reg = 2; reg < registers->registers(); ++reg) {
    const auto use = registers->At(reg);
    ASSERT_TRUE(use);
    EXPECT_EQ(registers->Find(use->location, use->component), reg);
  }
}

TEST(Registers, OfMaskedInputsGoFromTheFirstComponentToTheLast) {
  // x_zw of one, only w of another one.
  const Input inputs[] = {{.location = 2, .components = 4},
                          {.location = 3, .first = 3, .components = 1}};
  const auto registers = CoefficientLayout::Of({.inputs = inputs});
  ASSERT_TRUE(registers.ok());
  EXPECT_EQ(registers->Find(2, 3), 4u);
  EXPECT_FALSE(registers->Find(3, 0));
  EXPECT_EQ(registers->Find(3, 3), 5u);
  EXPECT_EQ(registers->At(5)->component, 3);
}

TEST(Linking, BindsRegistersToSlots) {
  const auto linkage = Link(kVertex, kFragment, {.provoking_vertex = 2});
  ASSERT_TRUE(linkage.ok()) << linkage.status();
  EXPECT_THAT(
      linkage->bindings(),
      ElementsAre(
          Binding{.shade = Shade::kLinear},
          Binding{.source = Source::kFragmentZ,
                  .shade = Shade::kLinear,
                  .base_slot = 1,
                  .base_register = 1},
          Binding{.components = 4, .base_slot = 2, .base_register = 2},
          Binding{.components = 2, .base_slot = 6, .base_register = 6},
          Binding{.shade = Shade::kFlatVertex2, .base_slot = 8, .base_register = 8},
          Binding{.shade = Shade::kLinear, .components = 2, .base_slot = 9, .base_register = 9},
          Binding{.components = 2, .base_slot = 11, .base_register = 11},
          Binding{.shade = Shade::kFlatVertex2, .base_slot = 13, .base_register = 13}));
  EXPECT_EQ(linkage->registers(), 14u);
  EXPECT_TRUE(linkage->shape().z);
  const auto bound = FindRegister(linkage->bindings(), 7);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->slot, 7u);
  EXPECT_EQ(bound->component, 1u);
  EXPECT_EQ(FindSlot(linkage->bindings(), 10), 10u);
  EXPECT_FALSE(FindSlot(linkage->bindings(), 14));
  EXPECT_FALSE(FindRegister(linkage->bindings(), 14));
}

TEST(Linking, TakesWhatTheHardwareMakesFromThere) {
  const Input inputs[] = {
      {.location = 0, .components = 2, .source = Source::kPointCoord},
      {.location = 1, .components = 1, .interpolation = kFlat, .source = Source::kPrimitiveId},
      {.location = 2, .components = 2, .source = Source::kBarycentric}};
  const auto linkage = Link(VertexOutputs(), {.inputs = inputs});
  ASSERT_TRUE(linkage.ok()) << linkage.status();
  EXPECT_TRUE(linkage->primitive_id());
  EXPECT_TRUE(linkage->barycentrics());
  ASSERT_THAT(linkage->bindings(), SizeIs(4));
  EXPECT_EQ(linkage->bindings()[1].source, Source::kPointCoord);
  EXPECT_EQ(linkage->bindings()[2].source, Source::kPrimitiveId);
  EXPECT_EQ(linkage->bindings()[3].source, Source::kBarycentric);
}

TEST(Linking, TakesThePrimitivesNumberFromAShaderThatWritesIt) {
  const Input inputs[] = {
      {.location = 1, .components = 1, .source = Source::kPrimitiveId, .name = "primitive"}};
  const Output outputs[] = {{.location = 0, .components = 1}, {.location = 1, .components = 1}};
  const FragmentInputs fragment = {.inputs = inputs};
  const auto written = Link({.varyings = outputs}, fragment, {.provoking_vertex = 2});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_FALSE(written->primitive_id());
  EXPECT_THAT(written->shape().words32, ElementsAre(1, 1, 0)) << "a number is not interpolated";
  EXPECT_EQ(written->bindings()[1],
            (Binding{.shade = Shade::kFlatVertex2, .base_slot = 2, .base_register = 1}));
  const auto made = Link(VertexOutputs(), fragment, {.provoking_vertex = 2});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(made->primitive_id());
  EXPECT_EQ(
      made->bindings()[1],
      (Binding{.source = Source::kPrimitiveId, .shade = Shade::kFlatVertex2, .base_register = 1}));
  const Output half[] = {{.location = 1, .components = 1, .precision = k16, .name = "primitive"}};
  EXPECT_THAT(Message(Link({.varyings = half}, fragment).status()),
              HasSubstr("varying \"primitive\" (location 1) is written with 16 bits"));
}

// Which of the texture coordinates a point sprite replaces is known when it is drawn.
TEST(Linking, KeepsRegistersWhenAnInputBecomesThatOfAPointSprite) {
  Input input = {.location = 4, .components = 2, .name = "texcoord"};
  const Output output = {.location = 4, .components = 2};
  const auto registers = CoefficientLayout::Of({.inputs = {&input, 1}});
  ASSERT_TRUE(registers.ok());
  input.source = Source::kPointCoord;
  const FragmentInputs sprite = {.inputs = {&input, 1}};
  const auto outputs = OutputLayout::Of({.varyings = {&output, 1}}, sprite);
  ASSERT_TRUE(outputs.ok());
  const auto linkage = Link(*outputs, sprite, *registers);
  ASSERT_TRUE(linkage.ok()) << linkage.status();
  EXPECT_EQ(linkage->bindings()[1],
            (Binding{.source = Source::kPointCoord, .components = 2, .base_register = 1}));
}

TEST(Linking, RefusesOutputsThatWereLaidOutForAnotherInterpolation) {
  Input input = {.location = 3, .components = 2, .name = "id"};
  const Output output = {.location = 3, .components = 2};
  const FragmentInputs fragment = {.inputs = {&input, 1}};
  const auto outputs = OutputLayout::Of({.varyings = {&output, 1}}, fragment);
  ASSERT_TRUE(outputs.ok());
  const auto registers = CoefficientLayout::Of(fragment);
  ASSERT_TRUE(registers.ok());
  EXPECT_TRUE(Link(*outputs, fragment, *registers).ok());
  input.interpolation = kFlat;
  EXPECT_EQ(Message(Link(*outputs, fragment, *registers).status()),
            "varying \"id\" (location 3) is read flat, but is among the outputs that are smooth: "
            "they were laid out for other inputs");
}

// One fragment shader with its registers, linked with several vertex shaders, none of them known
// before: whatever they write, each register gets its input's value.
TEST(Linking, OfShadersThatWereCompiledApartNeedsNoCompiler) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<Output> outputs;
    std::vector<Input> inputs;
    for (uint8_t location = 0; location < 20; ++location) {
      const Precision precision = random() % 3 == 0 ? k16 : k32;
      const uint8_t written = static_cast<uint8_t>(1 + random() % 4);
      outputs.push_back({location, written, precision, ""});
      if (random() % 2 == 0) continue;
      const uint8_t first = static_cast<uint8_t>(random() % written);
      inputs.push_back({.location = location,
                        .first = first,
                        .components = static_cast<uint8_t>(1 + random() % (written - first)),
                        .interpolation = static_cast<Interpolation>(random() % 3),
                        .precision = precision});
    }
    std::shuffle(outputs.begin(), outputs.end(), random);
    const FragmentInputs fragment = {.inputs = inputs, .reads_z = random() % 2 == 0};
    const auto registers = CoefficientLayout::Of(fragment);
    ASSERT_TRUE(registers.ok());
    for (const bool point_size : {false, true}) {
      for (const bool drop : {false, true}) {
        const auto layout =
            OutputLayout::Of({.varyings = outputs, .point_size = point_size}, fragment, drop);
        ASSERT_TRUE(layout.ok()) << layout.status();
        const auto linkage = Link(*layout, fragment, *registers);
        ASSERT_TRUE(linkage.ok()) << linkage.status();
        for (const Input& input : inputs) {
          for (unsigned c = input.first; c < input.first + unsigned{input.components}; ++c) {
            const auto bound =
                FindRegister(linkage->bindings(), *registers->Find(input.location, c));
            ASSERT_TRUE(bound);
            const unsigned word = *linkage->shape().WordInSlot(bound->slot);
            ASSERT_EQ(word, layout->Find(input.location, c)->word);
            const OutputWord what = *linkage->shape().At(word);
            ASSERT_EQ(what.interpolation, input.interpolation);
            ASSERT_EQ(what.precision, input.precision);
            ASSERT_EQ(bound->slot < linkage->shape().slots32(), input.precision == k32);
          }
        }
      }
    }
  }
}

TEST(Linking, OfInputsThatNobodyWritesIsAnErrorOrReadsW) {
  const Input inputs[] = {{.location = 0, .components = 4, .name = "colour"},
                          {.location = 7, .components = 2, .name = "normal"}};
  const Output outputs[] = {{.location = 0, .components = 2}};
  const VertexOutputs vertex = {.varyings = outputs};
  const FragmentInputs fragment = {.inputs = inputs};
  EXPECT_THAT(
      Message(Link(vertex, fragment).status()),
      HasSubstr("varying \"colour\" (location 0): component 3 is read, but the vertex shader "
                "writes 2"));
  const auto linkage = Link(vertex, fragment, {.allow_unwritten = true});
  ASSERT_TRUE(linkage.ok()) << linkage.status();
  ASSERT_THAT(linkage->bindings(), SizeIs(6));
  EXPECT_EQ(linkage->bindings()[1].components, 2);
  for (unsigned reg = 3; reg < 7; ++reg) {
    EXPECT_EQ(FindRegister(linkage->bindings(), reg)->slot, 0u) << reg;
  }
}

TEST(Limits, NameTheVarying) {
  std::vector<Output> outputs;
  std::vector<Input> inputs;
  for (uint8_t i = 0; i < 64; ++i) {
    outputs.push_back({.location = i, .components = 4, .name = i == 62 ? "last straw" : ""});
    inputs.push_back({.location = i, .components = 4, .name = i == 63 ? "too many" : ""});
  }
  // 255 words, of which 4 are the position: 62 varyings of 4 words.
  EXPECT_THAT(Message(OutputLayout::Of({.varyings = outputs}, {}).status()),
              HasSubstr("no room for varying \"last straw\" (location 62)"));
  // 255 registers, of which one is W.
  EXPECT_THAT(Message(CoefficientLayout::Of({.inputs = inputs}).status()),
              HasSubstr("no room for varying \"too many\" (location 63)"));
  outputs.resize(62);
  EXPECT_TRUE(OutputLayout::Of({.varyings = outputs}, {}).ok());
  EXPECT_FALSE(OutputLayout::Of({.varyings = outputs, .clip_distances = 4}, {}).ok());
  // Bindings for single components that are not written: more than a shader can have.
  inputs.resize(40);
  EXPECT_THAT(
      Message(Link(VertexOutputs(), {.inputs = inputs}, {.allow_unwritten = true}).status()),
      HasSubstr("no binding left for the varying at location 31"));
}

TEST(Limits, AreSaid) {
  const auto outputs = [](const Output& output) {
    return Message(OutputLayout::Of({.varyings = {&output, 1}}, {}).status());
  };
  EXPECT_THAT(outputs({.location = 64}), HasSubstr("locations from 0 to 63"));
  EXPECT_THAT(outputs({.components = 5}), HasSubstr("components 0 to 4"));
  EXPECT_THAT(outputs({.components = 0}), HasSubstr("components"));
  const auto inputs = [](const Input& input) {
    return Message(CoefficientLayout::Of({.inputs = {&input, 1}}).status());
  };
  EXPECT_THAT(inputs({.first = 2, .components = 3}), HasSubstr("components 2 to 4"));
  EXPECT_THAT(inputs({.components = 3, .source = Source::kBarycentric}),
              HasSubstr("has 2 components at its source"));
  EXPECT_THAT(inputs({.source = Source::kFragmentZ}), HasSubstr("reads_z"));
  EXPECT_THAT(inputs({.components = 2, .precision = k16, .source = Source::kPointCoord}),
              HasSubstr("made by the hardware"));
  const Output twice[] = {{.location = 1, .name = "a"}, {.location = 1, .name = "b"}};
  EXPECT_THAT(Message(OutputLayout::Of({.varyings = twice}, {}).status()),
              HasSubstr("varying \"b\" (location 1) is listed twice"));
  const Input both[] = {{.location = 1}, {.location = 1, .interpolation = kFlat}};
  EXPECT_THAT(Message(CoefficientLayout::Of({.inputs = both}).status()),
              HasSubstr("is listed twice"));
  EXPECT_THAT(Message(OutputLayout::Of({.clip_distances = 17}, {}).status()),
              HasSubstr("17 clip distances"));
  EXPECT_THAT(Message(Link(kVertex, kFragment, {.provoking_vertex = 3}).status()),
              HasSubstr("provoking vertex is 3"));
}

TEST(Limits, BothSidesAgreeAboutPrecision) {
  const Output output[] = {{.location = 1, .precision = k16, .name = "normal"}};
  const Input input[] = {{.location = 1}};
  EXPECT_THAT(Message(Link({.varyings = output}, {.inputs = input}).status()),
              HasSubstr("is written with 16 bits, but read with 32 bits"));
}

TEST(Limits, RegistersBelongToTheirInputs) {
  const auto outputs = OutputLayout::Of(kVertex, kFragment);
  ASSERT_TRUE(outputs.ok());
  for (const bool z : {false, true}) {
    const auto others = CoefficientLayout::Of({.inputs = {}, .reads_z = z});
    ASSERT_TRUE(others.ok());
    EXPECT_THAT(Message(Link(*outputs, kFragment, *others).status()),
                HasSubstr("laid out for other inputs"));
  }
}

}  // namespace
}  // namespace packsmith::agx
