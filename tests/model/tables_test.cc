// Decode tables: what the writer puts in, a reader finds again; damaged blocks do no harm.

#include "runtime/tables/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gen/model/load.h"
#include "gen/model/write/tables.h"
#include "tests/model/marked_text.h"
#include "tests/model/touch_tables.h"

namespace packsmith::model {
namespace {

namespace t = packsmith::tables;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kMini[] = "tests/mini/mini.xml";

absl::Span<const uint8_t> Bytes(const std::vector<uint64_t>& block) {
  return {reinterpret_cast<const uint8_t*>(block.data()), block.size() * 8};
}

// Tables of a description, which the test keeps.
struct Block {
  explicit Block(const LoadResult& result) : words(WriteTables(result.model)) {
    auto opened = t::Tables::Open(Bytes(words));
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (opened.ok()) tables = *opened;
  }
  const t::Container& operator[](absl::string_view name) const {
    const uint32_t i = tables->FindContainer(name);
    EXPECT_NE(i, t::kNone) << "there is no " << name;
    return tables->container(i == t::kNone ? 0 : i);
  }
  const t::Leaf& Leaf(absl::string_view container, absl::string_view name) const {
    const t::Container& c = (*this)[container];
    for (const t::Range range : {c.leaves, c.tail_leaves}) {
      for (const t::Leaf& leaf : tables->leaves(range)) {
        if (absl::StrCat(tables->string(leaf.name), tables->string(leaf.name_suffix)) == name)
          return leaf;
      }
    }
    ADD_FAILURE() << "there is no " << container << "." << name;
    return tables->leaf(0);
  }
  const t::Extra& Extra(absl::string_view container, absl::string_view name) const {
    const t::Leaf& leaf = Leaf(container, name);
    EXPECT_NE(leaf.extra, t::kNone);
    return tables->extra(leaf.extra);
  }
  const t::Pointer& Pointer(absl::string_view container, absl::string_view name) const {
    return tables->pointer(Extra(container, name).pointer);
  }
  absl::string_view Name(uint32_t leaf) const { return tables->string(tables->leaf(leaf).name); }

  std::vector<uint64_t> words;
  std::optional<t::Tables> tables;
};

LoadResult Mini() {
  LoadResult result = Load(kMini, ReadFileFromDisk);
  EXPECT_THAT(FormatAll(result.diagnostics, result.sources), IsEmpty());
  return result;
}

TEST(Tables, SayWhatTheyDescribe) {
  const LoadResult result = Mini();
  const Block block(result);
  EXPECT_EQ(block.tables->family(), "mini");
  EXPECT_EQ(block.tables->generation(), "m1");
  EXPECT_EQ(block.tables->title(), "Mini M1 (an invented GPU)");
  EXPECT_EQ(block.tables->aliases(), "1 mini");
  EXPECT_EQ(block.tables->digest(), result.model.digest);
  EXPECT_EQ(block.tables->streams().size(), 3u);
  EXPECT_EQ(block.tables->bases().size(), 1u);
  EXPECT_EQ(block.tables->spaces().size(), 1u);
}

TEST(Tables, AreTheSameBytesEachTime) {
  EXPECT_EQ(WriteTables(Mini().model), WriteTables(Mini().model));
}

TEST(Tables, FindPacketsByTheirFirstWord) {
  const Block block(Mini());
  const auto find = [&](absl::string_view stream, absl::string_view engine, uint32_t word,
                        uint32_t bytes = 4) {
    const uint32_t found =
        block.tables->FindPacket(block.tables->FindStream(stream),
                                 uint64_t{1} << block.tables->FindEngine(engine), word, bytes);
    return found == t::kNone
               ? std::string()
               : std::string(block.tables->string(block.tables->container(found).name));
  };
  EXPECT_EQ(find("draw control", "draw", 0x10000000), "Set State");
  EXPECT_EQ(find("draw control", "d", 0x3fffffff), "Draw");
  EXPECT_EQ(find("draw control", "draw", 0x70000000), "");
  EXPECT_EQ(find("compute control", "compute", 0x10000000), "Launch");
  EXPECT_EQ(find("program", "draw", 0xffffff88), "No Prologue");
  EXPECT_EQ(find("program", "draw", 0x88, 2), "No Prologue");
  EXPECT_EQ(find("program", "draw", 0xc0800038), "Prologue");
  EXPECT_EQ(find("program", "draw", 0xc0800138), "");
  EXPECT_EQ(find("program", "draw", 0x38, 2), "");
}

TEST(Tables, TheOpcodeTakesAsManyBytesAsItNeeds) {
  const Block block(Mini());
  EXPECT_EQ(block["No Prologue"].identify_bytes, 1);
  EXPECT_EQ(block["Prologue"].identify_bytes, 4);
  EXPECT_EQ(block["Prologue"].identify_mask, 0xffffffffu);
  EXPECT_EQ(block["No Prologue"].bytes, 2u);
  EXPECT_EQ(block["Set Code"].bytes, 6u);
  EXPECT_EQ(block["Set Code"].length_unit, 1);
}

TEST(Tables, EncodingsAreKept) {
  const Block block(Mini());
  EXPECT_EQ(block.Extra("Texture", "Width").minus, 1u);
  EXPECT_EQ(block.Extra("Set Shared Memory", "Bytes").groups, 256u);
  EXPECT_NE(block.Leaf("Texture", "Samples").flags & t::kLog2, 0);
  EXPECT_EQ(block.Leaf("Set Registers", "Spill").shift, 4);
  EXPECT_EQ(block.Extra("Set Registers", "Spill").align, 16u);
  EXPECT_EQ(block.Extra("Set Code", "Code").multiple, 2u);
  EXPECT_EQ(block.Leaf("Set Code", "Code").shift, 0);
  EXPECT_EQ(block.Leaf("Vertex Program", "Program").shift, 6);
  EXPECT_EQ(block.Leaf("Line Width", "Width").type, t::LeafType::kUfixed);
  EXPECT_EQ(block.Leaf("Line Width", "Width").fraction_bits, 4);
  EXPECT_EQ(block.tables->string(block.Extra("Set State", "Size").unit), "words");
}

TEST(Tables, RequirementsAreKept) {
  const Block block(Mini());
  EXPECT_NE(block.Leaf("Set State", "Size").flags & t::kNonzero, 0);
  EXPECT_NE(block.Leaf("Vertex Outputs", "Count").flags & t::kHasMin, 0);
  EXPECT_EQ(block.Extra("Vertex Outputs", "Count").min, 4);
  EXPECT_EQ(block.Extra("Sampler", "Anisotropy").max, 16);
  EXPECT_NE(block.Leaf("Raster Control", "Zero").flags & t::kMustBeZero, 0);
  EXPECT_NE(block.Leaf("Raster Control", "Fill mode").flags & t::kOverlap, 0);
  EXPECT_NE(block.Leaf("Raster Control", "Always set").flags & t::kForced, 0);
  EXPECT_EQ(block.Extra("Raster Control", "Always set").forced, 1u);
}

TEST(Tables, NamesOfValuesAreFound) {
  const Block block(Mini());
  const t::Leaf& dimension = block.Leaf("Texture", "Dimension");
  EXPECT_EQ(block.tables->ValueName(dimension, 3), "3D");
  EXPECT_EQ(block.tables->ValueName(dimension, 9), "");
  EXPECT_EQ(block.tables->NamedValueOf(dimension, "Cube"), 4u);
  EXPECT_EQ(block.tables->ValueName(block.Leaf("Raster Control", "Fill mode"), 2), "Points");
  EXPECT_EQ(block.tables->ValueName(block.Leaf("Texture", "Width"), 2), "");
}

TEST(Tables, PartsRepeatAsTheirHeaderSays) {
  const Block block(Mini());
  const t::Container& header = block["State Header"];
  ASSERT_EQ(header.parts.count, 5u);
  EXPECT_TRUE(header.variable);
  const t::Part& viewport = block.tables->parts(header.parts)[2];
  EXPECT_EQ(block.tables->string(viewport.name), "Viewport");
  EXPECT_EQ(block.tables->string(block.tables->container(viewport.container).name), "Viewport");
  const t::Expression& repeat = block.tables->expression(viewport.repeat);
  EXPECT_EQ(repeat.kind, t::ExpressionKind::kLeaf);
  EXPECT_EQ(block.Name(repeat.leaf), "Viewport count");
  const t::Term& term = block.tables->terms(block.tables->condition(viewport.when).terms)[0];
  EXPECT_EQ(block.Name(term.leaf), "Viewports present");
  EXPECT_EQ(term.negated, 1);
  EXPECT_EQ(term.value, 0u);
  EXPECT_EQ(block.tables->parts(header.parts)[0].repeat, t::kNone);
}

TEST(Tables, PointersKnowTheirTargets) {
  const Block block(Mini());
  const t::Pointer& state = block.Pointer("Set State", "State");
  EXPECT_EQ(state.target_kind, t::TargetKind::kStruct);
  EXPECT_EQ(block.tables->string(block.tables->container(state.target).name), "State Header");
  EXPECT_EQ(block.tables->expression(state.size).multiply, 4u);
  EXPECT_EQ(state.access, t::Access::kRead);
  const t::Pointer& program = block.Pointer("Fragment Program", "Program");
  EXPECT_EQ(program.target_kind, t::TargetKind::kStream);
  EXPECT_EQ(block.tables->string(block.tables->stream(program.target).name), "program");
  const t::Pointer& code = block.Pointer("Set Code", "Code");
  EXPECT_EQ(code.target_kind, t::TargetKind::kData);
  EXPECT_EQ(block.tables->string(block.tables->data(code.target).name), "machine code");
  EXPECT_EQ(code.base, 0u);
  EXPECT_EQ(block.Extra("Set Code Base", "Base").sets_base, 0u);
  EXPECT_NE(block.Extra("Set Code Base", "Base").sets_when, t::kNone);
}

TEST(Tables, SplitAddressesKnowTheirHighBits) {
  const Block block(Mini());
  const t::Expression& own = block.tables->expression(block.Extra("Set State", "State").high);
  EXPECT_EQ(own.kind, t::ExpressionKind::kLeaf);
  EXPECT_EQ(block.Name(own.leaf), "State high");
  EXPECT_EQ(own.multiply, uint64_t{1} << 32);
  EXPECT_EQ(own.add, 0u);
  const t::Expression& header =
      block.tables->expression(block.Extra("Draw Index Buffer", "Address").high);
  EXPECT_EQ(header.kind, t::ExpressionKind::kState);
  EXPECT_EQ(header.container, block.tables->FindContainer("Draw"));
  EXPECT_EQ(block.Name(header.leaf), "Index buffer high");
  EXPECT_EQ(block.Extra("Set Code Base", "Base").high, t::kNone);
}

TEST(Tables, FlowGoesSomewhere) {
  const Block block(Mini());
  const absl::Span<const t::Flow> flows = block.tables->flows(block["Link"].flows);
  ASSERT_EQ(flows.size(), 2u);
  EXPECT_EQ(flows[0].kind, t::FlowKind::kCall);
  EXPECT_EQ(flows[1].kind, t::FlowKind::kJump);
  EXPECT_EQ(block.Name(flows[0].target), "Target");
  EXPECT_EQ(block.tables->flows(block["Terminate"].flows)[0].kind, t::FlowKind::kTerminate);
  EXPECT_EQ(block.tables->flows(block["Terminate"].flows)[0].target, t::kNone);
}

TEST(Tables, TailsAreOneItem) {
  const Block block(Mini());
  EXPECT_EQ(block["Input Table"].tail_bit, 32u);
  EXPECT_EQ(block["Input Table"].tail_size, 32u);
  EXPECT_EQ(block.tables->string(block.Leaf("Input Table", "Binding.Flat").name_suffix), ".Flat");
}

TEST(Tables, TailsSayHowManyItemsTheyTakeAtMost) {
  const Block block(LoadBody(
      R"(<struct name="T" dwords="1"><group count="tail" max="33" dword="1" size="64"><field name="x" dword="1" bits="31:0" type="uint"/></group></struct>
<struct name="U" dwords="1"><group count="tail" dword="1" size="64"><field name="x" dword="1" bits="31:0" type="uint"/></group></struct>)"));
  EXPECT_EQ(block["T"].tail_max, 33u);
  EXPECT_EQ(block["U"].tail_max, 0u);
}

TEST(Tables, RolesAndRelationsAreKept) {
  const Block block(Mini());
  EXPECT_EQ(block["Draw"].role, t::Role::kDraw);
  EXPECT_EQ(block["Launch"].role, t::Role::kDispatch);
  EXPECT_EQ(block["Link"].role, t::Role::kOther);
  EXPECT_EQ(block.tables->relations(block["Draw"].relations)[0].kind, t::RelationKind::kRequires);
}

TEST(Tables, LengthsAndRegistersAreFound) {
  const Block block(LoadBody(R"(
<packet name="P" dwords="variable" length="Len" bias="2"><doc>.</doc><field name="Op" dword="0" bits="31:24" type="uint" forced="1"/>
  <field name="Len" dword="0" bits="7:0" type="uint"/><group count="tail" dword="1" size="32"><field name="x" dword="0" bits="31:0" type="uint"/></group></packet>
<register name="R" dwords="1" offset="0x2000"/><register name="Q" dwords="1" offset="0x1000"/>
<struct name="W" dwords="2"><field name="Reg" dword="0" bits="22:2" type="offset"/><field name="Data" dword="1" bits="31:0" type="uint"><writes register="Reg"/></field></struct>)"));
  EXPECT_EQ(block.Name(block["P"].length_leaf), "Len");
  EXPECT_NE(block.Leaf("P", "Len").flags & t::kLength, 0);
  EXPECT_EQ(block["P"].length_bias, 2u);
  EXPECT_EQ(block.tables->FindRegister(0x1000), block.tables->FindContainer("Q"));
  EXPECT_EQ(block.tables->FindRegister(0x2000), block.tables->FindContainer("R"));
  EXPECT_EQ(block.tables->FindRegister(0x1500), t::kNone);
  EXPECT_EQ(block.Name(block.Extra("W", "Data").writes_leaf), "Reg");
}

TEST(Tables, TheMoreSpecificOpcodeIsAskedFirst) {
  const Block block(LoadBody(R"(<engine name="a"/><engine name="b"/>
<packet name="P" dwords="1" engines="a"><doc>.</doc><field name="Op" dword="0" bits="31:24" type="uint" forced="1"/></packet>
<packet name="Q" dwords="1" engines="b"><doc>.</doc><field name="Op" dword="0" bits="31:16" type="uint" forced="0x0101"/></packet>)"));
  EXPECT_EQ(block.tables->FindPacket(0, 1, 0x01010000, 4), block.tables->FindContainer("P"));
  EXPECT_EQ(block.tables->FindPacket(0, 2, 0x01010000, 4), block.tables->FindContainer("Q"));
  EXPECT_EQ(block.tables->FindPacket(0, 2, 0x01020000, 4), t::kNone);
}

TEST(Tables, FieldsOfOneGroupAskTheItemOfTheSameIndex) {
  const Block block(LoadBody(R"(<data name="d"/>
<struct name="A" dwords="7">
  <group count="2" dword="0" size="32"><field name="Length" dword="0" bits="15:0" type="uint"/></group>
  <group count="2" dword="2" size="64"><field name="At" dword="0" bits="63:2" type="address"><points to="d" size="Length"/></field></group>
</struct>
<struct name="B" dwords="7"><field name="n" dword="0" bits="223:0" type="A"/></struct>)"));
  for (const char* of : {"A", "B"}) {
    const std::string prefix = of[0] == 'B' ? "n." : "";
    for (const char* index : {"[0]", "[1]"}) {
      const t::Pointer& pointer = block.Pointer(of, absl::StrCat(prefix, "At", index));
      EXPECT_EQ(block.Name(block.tables->expression(pointer.size).leaf),
                absl::StrCat(prefix, "Length", index));
    }
  }
}

TEST(Tables, ACountIsALimitUnlessTheDescriptionHasAConditionForIt) {
  const Block block(LoadBody(R"(<data name="d"/>
<struct name="A" dwords="3">
  <field name="Last" dword="0" bits="7:0" type="uint"/>
  <field name="Open" dword="1" bits="31:0" type="address"><points to="d" count="Last+1" unlimited-when="!Last"/></field>
  <field name="Shut" dword="2" bits="31:0" type="address"><points to="d" count="Last+1"/></field>
</struct>)"));
  EXPECT_EQ(block.Pointer("A", "Shut").unlimited_when, t::kNone);
  const uint32_t open = block.Pointer("A", "Open").unlimited_when;
  ASSERT_NE(open, t::kNone);
  const absl::Span<const t::Term> terms = block.tables->terms(block.tables->condition(open).terms);
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(block.Name(terms[0].leaf), "Last");
}

TEST(Tables, AFieldOfAGroupAsksItsOwnItemBeforeThePacketsFieldOfThatName) {
  const Block block(LoadBody(R"(<packet name="P" dwords="3" length="L" bias="1">
  <field name="L" dword="0" bits="7:0" type="uint"/>
  <field name="Register" dword="1" bits="22:2" type="offset"/>
  <field name="Data" dword="2" bits="31:0" type="uint"><writes register="Register"/></field>
  <group count="tail" dword="3" size="64">
    <field name="Register" dword="0" bits="22:2" type="offset"/>
    <field name="Data" dword="1" bits="31:0" type="uint"><writes register="Register"/></field>
  </group>
</packet>)"));
  const t::Tables& tables = *block.tables;
  const t::Container& packet = tables.container(tables.FindContainer("P"));
  const auto writes = [&](const t::Range& leaves) {
    for (uint32_t i = 0; i < leaves.count; ++i) {
      const t::Leaf& leaf = tables.leaf(leaves.first + i);
      if (tables.string(leaf.name) == "Data") return tables.extra(leaf.extra).writes_leaf;
    }
    return t::kNone;
  };
  const uint32_t first = writes(packet.leaves);
  const uint32_t later = writes(packet.tail_leaves);
  EXPECT_GE(first, packet.leaves.first);
  EXPECT_LT(first, packet.leaves.first + packet.leaves.count);
  EXPECT_GE(later, packet.tail_leaves.first);
  EXPECT_LT(later, packet.tail_leaves.first + packet.tail_leaves.count);
}

// --- Damage ----------------------------------------------------------------------------------

class DamageTest : public testing::Test {
 protected:
  const std::vector<uint64_t> good_ = WriteTables(Mini().model);
};

TEST_F(DamageTest, AShortBlockIsRefused) {
  for (size_t size = 0; size < good_.size() * 8; size += size < 512 ? 1 : 61) {
    // In memory of exactly that size, so that a sanitizer sees reads after it.
    const std::vector<uint64_t> copy(good_.begin(),
                                     good_.begin() + static_cast<ptrdiff_t>((size + 7) / 8));
    EXPECT_FALSE(
        t::Tables::Open(absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(copy.data()), size))
            .ok())
        << size;
  }
}

TEST_F(DamageTest, AnUnalignedBlockIsRefused) {
  EXPECT_THAT(std::string(t::Tables::Open(Bytes(good_).subspan(4)).status().message()),
              HasSubstr("aligned"));
}

TEST_F(DamageTest, AnotherVersionIsRefusedWithARemedy) {
  std::vector<uint64_t> block = good_;
  reinterpret_cast<t::Header*>(block.data())->version = 77;
  EXPECT_THAT(std::string(t::Tables::Open(Bytes(block)).status().message()),
              testing::AllOf(HasSubstr("version 77"), HasSubstr("packgen")));
}

TEST_F(DamageTest, AnyChangedWordIsRefusedOrHarmless) {
  size_t refused = 0, opened = 0;
  for (size_t at = 0; at < good_.size() * 2; ++at) {
    for (const uint32_t value :
         {0u, 1u, 0x7fffffffu, 0x80000000u, 0xffffffffu, 0xfffffff8u, 0x00010001u, 0xff00ff00u}) {
      std::vector<uint64_t> block = good_;
      std::memcpy(reinterpret_cast<char*>(block.data()) + at * 4, &value, 4);
      const auto tables = t::Tables::Open(Bytes(block));
      if (!tables.ok()) {
        ++refused;
        EXPECT_TRUE(absl::StartsWith(tables.status().message(), "decode tables: "));
        continue;
      }
      ++opened;
      TouchTables(*tables);
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(opened, 1000u);
}

TEST_F(DamageTest, AddedToAnyWordIsRefusedOrHarmless) {
  for (size_t at = 0; at < good_.size() * 2; ++at) {
    for (const uint32_t delta : {1u, 0xffffffffu, 1000u, 0x10000u}) {
      std::vector<uint64_t> block = good_;
      uint32_t word = 0;
      std::memcpy(&word, reinterpret_cast<const char*>(block.data()) + at * 4, 4);
      word += delta;
      std::memcpy(reinterpret_cast<char*>(block.data()) + at * 4, &word, 4);
      const auto tables = t::Tables::Open(Bytes(block));
      if (tables.ok()) TouchTables(*tables);
    }
  }
}

}  // namespace
}  // namespace packsmith::model
