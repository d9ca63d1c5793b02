// Single passes, on models made by hand: each needs no more than its header says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "gen/model/ast/model.h"
#include "gen/model/diagnostic.h"
#include "gen/model/passes/bases.h"
#include "gen/model/passes/container_sizes.h"
#include "gen/model/passes/declarations.h"
#include "gen/model/passes/defaults.h"
#include "gen/model/passes/expressions.h"
#include "gen/model/passes/field_widths.h"
#include "gen/model/passes/length_fields.h"
#include "gen/model/passes/nesting.h"
#include "gen/model/passes/opcodes.h"
#include "gen/model/passes/overlaps.h"
#include "gen/model/passes/pass.h"
#include "gen/model/passes/registers.h"
#include "gen/model/passes/relations.h"
#include "gen/model/passes/streams.h"
#include "gen/model/passes/tails.h"
#include "gen/model/passes/types.h"
#include "gen/model/passes/value_ranges.h"
#include "gen/model/passes/values.h"
#include "gen/model/passes/warnings.h"

namespace packsmith::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PassesTest : public testing::Test {
 protected:
  std::vector<Code> Codes() const {
    std::vector<Code> codes;
    for (const Diagnostic& d : diagnostics_.all()) codes.push_back(d.code);
    return codes;
  }

  static Field Uint(const std::string& name, uint32_t bit, uint32_t width) {
    Field field;
    field.name = name;
    field.bit = bit;
    field.width = width;
    return field;
  }
  // A field of the type that is called so, which no pass has looked up.
  static Field Typed(const std::string& name, uint32_t bit, uint32_t width,
                     const std::string& type) {
    Field field = Uint(name, bit, width);
    field.type = FieldType::kEnum;
    field.type_name.text = type;
    return field;
  }
  Container& Add(ContainerKind kind, const std::string& name, std::vector<Item> items,
                 uint32_t bytes = 8) {
    Container& c = model_.containers.emplace_back();
    c.kind = kind;
    c.name = name;
    c.bytes = c.max_bytes = bytes;
    c.items = std::move(items);
    return c;
  }
  Container& Packet(const std::string& name, std::vector<Item> items) {
    return Add(ContainerKind::kPacket, name, std::move(items));
  }
  Container& Struct(const std::string& name, std::vector<Item> items) {
    return Add(ContainerKind::kStruct, name, std::move(items));
  }
  static Deferred Text(const std::string& text) { return {text, {}}; }

  Sources sources_;
  Diagnostics diagnostics_;
  Model model_;
  Context context_{sources_, diagnostics_, model_};
};

TEST_F(PassesTest, StreamsGivePacketsTheFirstStreamAndTheirEngines) {
  model_.engines = {{"render", "", 0, "", {}}, {"copy", "", 0, "", {}}};
  model_.streams.resize(1);
  model_.streams[0].name = "commands";
  Packet("P", {}).engines_text = Text("copy");
  ResolveStreams(context_);
  EXPECT_EQ(model_.containers[0].stream, 0);
  EXPECT_EQ(model_.containers[0].engines, 2u);
  EXPECT_THAT(Codes(), IsEmpty());
}

TEST_F(PassesTest, DeclarationsOfOneNameAreAProblem) {
  Struct("A", {});
  model_.enums.emplace_back().name = "A";
  CheckDeclarations(context_);
  EXPECT_THAT(Codes(), ElementsAre(Code::kDuplicateName));
}

TEST_F(PassesTest, TwoNamesOfAValueAreAWarning) {
  std::vector<Value> values(2);
  CheckValues(context_, values);
  EXPECT_THAT(Codes(), ElementsAre(Code::kValueTwice));
}

TEST_F(PassesTest, TypesAreStructuresOrEnumerations) {
  model_.enums.emplace_back().name = "E";
  Struct("Inner", {});
  Struct("Outer", {Typed("e", 0, 8, "E"), Typed("s", 32, 32, "Inner"), Typed("x", 8, 8, "X")});
  ResolveTypes(context_);
  const std::vector<Item>& items = model_.containers[1].items;
  EXPECT_EQ(items[0].field()->type, FieldType::kEnum);
  EXPECT_EQ(items[0].field()->type_index, 0);
  EXPECT_TRUE(model_.enums[0].is_type);
  EXPECT_EQ(items[1].field()->type, FieldType::kStruct);
  EXPECT_EQ(items[1].field()->type_index, 0);
  EXPECT_THAT(Codes(), ElementsAre(Code::kUnknownType));
}

TEST_F(PassesTest, NestingOrdersStructuresBeforeThoseThatHoldThem) {
  Struct("Outer", {Typed("s", 0, 32, "Inner")});
  Struct("Inner", {});
  ResolveTypes(context_);
  EXPECT_TRUE(OrderNesting(context_));
  EXPECT_THAT(model_.nesting_order, ElementsAre(1, 0));
}

TEST_F(PassesTest, NestingInCirclesIsAProblem) {
  Struct("A", {Typed("b", 0, 32, "B")});
  Struct("B", {Typed("a", 0, 32, "A")});
  ResolveTypes(context_);
  EXPECT_FALSE(OrderNesting(context_));
  EXPECT_THAT(Codes(), ElementsAre(Code::kStructCycle));
}

TEST_F(PassesTest, SizesThatVaryAreThoseOfTheFields) {
  Container& c = Struct("S", {Uint("f", 64, 3)});
  c.bytes = 0;
  c.variable = true;
  ComputeSize(context_, c);
  EXPECT_EQ(c.bytes, 12u);
  EXPECT_EQ(c.max_bytes, 12u);
}

TEST_F(PassesTest, AnAddressImpliesTheBitsBelowIt) {
  Field field = Uint("a", 38, 26);
  field.type = FieldType::kAddress;
  CheckEncoding(context_, field);
  EXPECT_EQ(field.encoding.shift, 6u);
  EXPECT_THAT(Codes(), IsEmpty());
}

TEST_F(PassesTest, ABoolHasOneBit) {
  Field field = Uint("b", 0, 2);
  field.type = FieldType::kBool;
  CheckWidth(context_, field);
  EXPECT_THAT(Codes(), ElementsAre(Code::kBadWidth));
}

TEST_F(PassesTest, ADefaultMayBeTheNameOfAValue) {
  Field field = Uint("f", 0, 4);
  field.values.emplace_back().name = "five";
  field.values[0].value = 5;
  field.default_text = Text("five");
  ResolveDefault(context_, field);
  EXPECT_EQ(field.default_value, uint64_t{5});
}

TEST_F(PassesTest, ADefaultBelowTheLeastValueIsAProblem) {
  Field field = Uint("f", 0, 4);
  field.min = 3;
  field.default_value = 2;
  CheckRange(context_, field);
  EXPECT_THAT(Codes(), ElementsAre(Code::kBadRange));
}

TEST_F(PassesTest, ATailComesLast) {
  Group tail;
  tail.width = 32;
  tail.tail = true;
  Container& c = Struct("S", {tail, Uint("f", 32, 1)});
  c.variable = true;
  CheckTail(context_, c);
  EXPECT_THAT(Codes(), ElementsAre(Code::kBadGroup));
}

TEST_F(PassesTest, FieldsThatShareBitsAreReportedOnce) {
  Container& c = Struct("S", {Uint("a", 0, 4), Uint("b", 3, 4)});
  OverlapPass overlaps(context_);
  overlaps.Check(c);
  overlaps.Check(c);
  EXPECT_THAT(Codes(), ElementsAre(Code::kOverlap));
}

TEST_F(PassesTest, OpcodesAreTheForcedBitsOfTheFirstDword) {
  Field type = Uint("type", 29, 3), beyond = Uint("beyond", 32, 8);
  type.forced = 3;
  beyond.forced = 1;
  Container& c = Packet("P", {type, beyond});
  ReadOpcode(context_, c);
  EXPECT_EQ(c.identify_mask, 0xe0000000u);
  EXPECT_EQ(c.identify_value, 0x60000000u);
  EXPECT_EQ(c.identify_bytes, 4u);
}

TEST_F(PassesTest, TwoPacketsOfOneOpcodeAreAProblem) {
  for (const char* name : {"P", "Q"}) {
    Container& c = Packet(name, {});
    c.stream = 0;
    c.identify_mask = c.identify_value = 0xff;
  }
  CheckAmbiguity(context_);
  EXPECT_THAT(Codes(), ElementsAre(Code::kAmbiguousOpcode));
}

TEST_F(PassesTest, LengthsAreFieldsOfTheFirstDword) {
  Container& c = Packet("P", {Uint("Length", 0, 8)});
  c.length_name = Text("Length");
  ResolveLength(context_, c);
  EXPECT_EQ(c.length_field, c.items[0].field());
  c.items[0].field()->bit = 32;
  ResolveLength(context_, c);
  EXPECT_THAT(Codes(), ElementsAre(Code::kBadLengthField));
}

TEST_F(PassesTest, TwoRegistersAtOneOffsetAreAProblem) {
  Add(ContainerKind::kRegister, "A", {}).register_offset = 8;
  Add(ContainerKind::kRegister, "B", {}).register_offset = 8;
  CheckRegisters(context_);
  EXPECT_THAT(Codes(), ElementsAre(Code::kBadRegister));
}

TEST_F(PassesTest, ConditionsNameFieldsAndValues) {
  const Container& c = Packet("P", {Uint("A", 0, 4), Uint("A B", 4, 4)});
  ExpressionReader reader(context_);
  Late<Condition> when;
  when.text = "A B=3 and !A";
  reader.Resolve(when, {&c, nullptr});
  ASSERT_EQ(when.is.size(), 1u);
  ASSERT_EQ(when.is[0].size(), 2u);
  EXPECT_EQ(when.is[0][0].ref.field, c.items[1].field());
  EXPECT_EQ(when.is[0][0].value, 3u);
  EXPECT_EQ(when.is[0][1].ref.field, c.items[0].field());
}

TEST_F(PassesTest, ExpressionsAskTheLastPacketOfAName) {
  Packet("COUNTS", {Uint("Number", 0, 8)});
  const Container& c = Packet("P", {});
  ExpressionReader reader(context_);
  Late<Expression> count;
  count.text = "COUNTS.Number*4+1";
  reader.Resolve(count, {&c, nullptr});
  EXPECT_EQ(count.is.kind, Expression::Kind::kState);
  EXPECT_EQ(count.is.container, 0);
  EXPECT_EQ(count.is.multiply, 4u);
  EXPECT_EQ(count.is.add, 1u);
}

TEST_F(PassesTest, AnAttributeThatIsAbsentIsNoExpression) {
  const Container& c = Packet("P", {});
  ExpressionReader reader(context_);
  Late<Expression> count;
  reader.Resolve(count, {&c, nullptr});
  EXPECT_EQ(count.is.kind, Expression::Kind::kNone);
  EXPECT_THAT(Codes(), IsEmpty());
}

TEST_F(PassesTest, RelationsAreToPackets) {
  Struct("S", {});
  Packet("Q", {});
  Container& c = Packet("P", {});
  c.relations.resize(2);
  c.relations[0].packet.text = "Q";
  c.relations[1].packet.text = "S";
  ResolveRelations(context_, c);
  EXPECT_EQ(c.relations[0].packet.index, 1);
  EXPECT_THAT(Codes(), ElementsAre(Code::kUnknownReference));
}

TEST_F(PassesTest, ABaseMayCountInPlaceOfAnother) {
  model_.bases.resize(3);
  model_.bases[0].name = "heap";
  model_.bases[1].otherwise.text = "heap";
  model_.bases[2].otherwise.text = "0";
  ResolveBases(context_);
  EXPECT_EQ(model_.bases[0].otherwise.index, -1);
  EXPECT_EQ(model_.bases[1].otherwise.index, 0);
  EXPECT_EQ(model_.bases[2].otherwise.index, Base::kZero);
}

TEST_F(PassesTest, WhatNobodyUsesIsAWarning) {
  model_.enums.emplace_back().name = "E";
  Packet("P", {});
  Warn(context_);
  EXPECT_THAT(Codes(), ElementsAre(Code::kNoDocumentation, Code::kUnusedEnum));
}

}  // namespace
}  // namespace packsmith::model
