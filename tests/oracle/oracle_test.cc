#include "tests/oracle/oracle.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/oracle/compare.h"

namespace packsmith {
namespace {

// A batch with an enumeration, a signed integer, a nested repetition, a register, a structure that
// a pointer points to with entries inside, and a table.
constexpr char kText[] = R"(
#### BATCH 0 address=0x1000 engine=0
0x00001000:  0x69040300:  PIPELINE_SELECT                         
0x00001000:  0x69040300 : Dword 0
    Pipeline Selection: 0 (3D)
    Force Media Awake: false
    Mask Bits: 3
0x00001004:  0x78080002:  3DSTATE_VERTEX_BUFFERS                  
0x00001004:  0x78080002 : Dword 0
    DWord Length: 2
0x00001008:  0x0004400c : Dword 1
0x0000100c:  0xffa00000 : Dword 2
0x00001010:  0xffff8000 : Dword 3
    Vertex Buffer State[0]: <struct VERTEX_BUFFER_STATE>
0x00001008:  0x0004400c : Dword 0
    Buffer Pitch: 12
0x0000100c:  0xffa00000 : Dword 1
0x00001010:  0xffff8000 : Dword 2
    Buffer Starting Address: 0xffff8000ffa00000
vertex buffer 0, size 36
        1.00 0x00000003
0x00001014:  0x11000001:  MI_LOAD_REGISTER_IMM                    
0x00001014:  0x11000001 : Dword 0
    DWord Length: 1
0x00001018:  0x00007004 : Dword 1
    Register Offset: 0x00007004
0x0000101c:  0x02120212 : Dword 2
    Data DWord: 34734610
register CACHE_MODE_1 (0x7004): 0x2120212
0x00007004:  0x02120212 : Dword 0
    Partial Resolve Disable In VC: true
0x00001020:  0x78240000:  3DSTATE_BLEND_STATE_POINTERS            
0x00001020:  0x78240000 : Dword 0
    DWord Length: 0
0x00001024:  0x00002001 : Dword 1
    Blend State Pointer: 0x00002000
BLEND_STATE
0x00002000:  0x00000000 : Dword 0
    Alpha Test Enable: false
BLEND_STATE_ENTRY 0
0x00002004:  0x00000001 : Dword 0
    Write Disable Blue: true
BLEND_STATE_ENTRY 1
0x00002008:  0x00000000 : Dword 0
    Write Disable Blue: false
0x00001028:  0x78260000:  3DSTATE_BINDING_TABLE_POINTERS_VS       
0x00001028:  0x78260000 : Dword 0
    DWord Length: 0
pointer 0: 0x00000040
pointer 1: 0x00000000
0x0000102c:  0x7b000005:  3DPRIMITIVE                             
0x0000102c:  0x7b000005 : Dword 0
    DWord Length: 5
0x00001030:  0xfffffff5 : Dword 1
    Base Vertex Location: 4294967285
0x00001034:  0x3e99999a : Dword 2
    Scale: 0.300000
0x00001038:  0x05000000:  MI_BATCH_BUFFER_END                     
0x00001038:  0x05000000 : Dword 0
)";

constexpr char kRecords[] =
    R"({"type":"schema","id":0,"version":1}
{"type":"submission","id":1,"index":0}
{"type":"packet","id":2,"parent":1,"address":"0x1000","name":"PIPELINE_SELECT","dwords":["0x69040300"],"fields":[{"name":"Pipeline Selection","bits":[1,0],"value":0,"enum":"3D"},{"name":"Force Media Awake","bits":[5,5],"value":false},{"name":"Mask Bits","bits":[15,8],"value":3}]}
{"type":"packet","id":3,"parent":1,"address":"0x1004","name":"3DSTATE_VERTEX_BUFFERS","dwords":["0x78080002","0x0004400c","0xffa00000","0xffff8000"],"fields":[{"name":"DWord Length","bits":[7,0],"value":2},{"name":"Vertex Buffer State[0].Buffer Pitch","bits":[43,32],"value":12},{"name":"Vertex Buffer State[0].Buffer Starting Address","bits":[127,64],"value":"0x8000ffa00000","raw":"0xffff8000ffa00000"}]}
{"type":"data","id":12,"parent":3,"address":"0x8000ffa00000","name":"vertex buffer","size":36,"dwords":["3f800000","00000003"]}
{"type":"packet","id":4,"parent":1,"address":"0x1014","name":"MI_LOAD_REGISTER_IMM","dwords":["0x11000001","0x00007004","0x02120212"],"fields":[{"name":"DWord Length","bits":[7,0],"value":1},{"name":"Register Offset","bits":[54,34],"value":"0x7004"},{"name":"Data DWord","bits":[95,64],"value":34734610}]}
{"type":"struct","id":5,"parent":4,"address":"0x101c","name":"CACHE_MODE_1","register":"0x7004","dwords":["0x02120212"],"fields":[{"name":"Partial Resolve Disable In VC","bits":[1,1],"value":true}]}
{"type":"packet","id":6,"parent":1,"address":"0x1020","name":"3DSTATE_BLEND_STATE_POINTERS","fields":[{"name":"DWord Length","bits":[7,0],"value":0},{"name":"Blend State Pointer","bits":[63,38],"value":"0x2000"}]}
{"type":"struct","id":7,"parent":6,"address":"0x2000","name":"BLEND_STATE","dwords":["0x0","0x1"],"fields":[{"name":"Alpha Test Enable","bits":[27,27],"value":false},{"name":"Entry[0].Write Disable Blue","bits":[32,32],"value":true}]}
{"type":"packet","id":8,"parent":1,"address":"0x1028","name":"3DSTATE_BINDING_TABLE_POINTERS_VS","fields":[{"name":"DWord Length","bits":[7,0],"value":0}]}
{"type":"struct","id":9,"parent":8,"address":"0x3000","name":"BINDING_TABLE_STATE","index":0,"dwords":["0x40"],"fields":[]}
{"type":"packet","id":10,"parent":1,"address":"0x102c","name":"3DPRIMITIVE","dwords":["0x7b000005","0xfffffff5","0x3e99999a"],"fields":[{"name":"DWord Length","bits":[7,0],"value":5},{"name":"Base Vertex Location","bits":[63,32],"value":-11},{"name":"Scale","bits":[95,64],"value":0.3}]}
{"type":"packet","id":11,"parent":1,"address":"0x1038","name":"MI_BATCH_BUFFER_END","dwords":["0x05000000"],"fields":[]}
)";

using Replacements = std::vector<std::pair<absl::string_view, absl::string_view>>;

CompareResult Compare(const Replacements& in_text, const Replacements& in_records) {
  const std::string text = absl::StrReplaceAll(kText, in_text);
  const std::string records = absl::StrReplaceAll(kRecords, in_records);
  EXPECT_TRUE(in_text.empty() || text != kText) << "nothing was replaced in the oracle's text";
  EXPECT_TRUE(in_records.empty() || records != kRecords) << "nothing was replaced in the records";
  const Oracle oracle = ParseOracle(text);
  EXPECT_TRUE(oracle.unparsed.empty());
  absl::StatusOr<CompareResult> result = CompareWithRecords(oracle, records);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : CompareResult();
}

// A batch that has only what is given, on both sides.
CompareResult CompareOne(absl::string_view text, absl::string_view record) {
  const std::string whole = absl::StrCat("#### BATCH 0 address=0x1000 engine=0\n", text);
  const Oracle oracle = ParseOracle(whole);
  EXPECT_TRUE(oracle.unparsed.empty());
  absl::StatusOr<CompareResult> result =
      CompareWithRecords(oracle, absl::StrCat("{\"type\":\"submission\"}\n", record));
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : CompareResult();
}

// The only mismatch of a result.
CompareMismatch Only(const CompareResult& result) {
  EXPECT_EQ(result.mismatch_count, 1) << result.Report();
  return result.mismatches.empty() ? CompareMismatch() : result.mismatches[0];
}

TEST(OracleParser, GivesEveryItemOfABatchInOrder) {
  const Oracle oracle = ParseOracle(kText);
  ASSERT_TRUE(oracle.unparsed.empty());
  ASSERT_EQ(oracle.batches.size(), 1u);
  std::string items;
  for (const OracleItem& item : oracle.batches[0].items) {
    absl::StrAppend(&items, OracleKindName(item.kind), " ", item.name, "\n");
  }
  EXPECT_EQ(items,
            "packet PIPELINE_SELECT\n"
            "packet 3DSTATE_VERTEX_BUFFERS\n"
            "data vertex buffer\n"
            "packet MI_LOAD_REGISTER_IMM\n"
            "register CACHE_MODE_1\n"
            "packet 3DSTATE_BLEND_STATE_POINTERS\n"
            "struct BLEND_STATE\n"
            "struct BLEND_STATE_ENTRY\n"
            "struct BLEND_STATE_ENTRY\n"
            "packet 3DSTATE_BINDING_TABLE_POINTERS_VS\n"
            "pointer table binding table\n"
            "packet 3DPRIMITIVE\n"
            "packet MI_BATCH_BUFFER_END\n");
}

TEST(OracleParser, GivesAddressDwordsAndFieldsOfAPacket) {
  const Oracle oracle = ParseOracle(kText);
  const OracleItem& item = oracle.batches[0].items[0];
  EXPECT_EQ(item.address, 0x1000u);
  EXPECT_EQ(item.dwords, std::vector<uint32_t>{0x69040300});
  ASSERT_EQ(item.fields.size(), 3u);
  EXPECT_EQ(item.fields[0].name, "Pipeline Selection");
  EXPECT_EQ(item.fields[0].value, "0");
  EXPECT_EQ(item.fields[0].enum_name, "3D");
}

TEST(OracleParser, KeepsDwordsOfANestedStructureOutOfThePacket) {
  const Oracle oracle = ParseOracle(kText);
  const OracleItem& item = oracle.batches[0].items[1];
  EXPECT_EQ(item.dwords.size(), 4u);
  ASSERT_EQ(item.fields.size(), 4u);
  EXPECT_EQ(OracleFieldPath(item, item.fields[2].name, item.fields[2].parent),
            "Vertex Buffer State[0].Buffer Pitch");
}

TEST(OracleParser, EndsANestedStructureWhereThePacketsNextDwordIsPrinted) {
  const Oracle oracle = ParseOracle(R"(#### BATCH 0 address=0x1000 engine=0
0x00001000:  0x00000000:  OUTER      
0x00001000:  0x00000000 : Dword 0
0x00001004:  0x00000000 : Dword 1
    Inner: <struct INNER>
0x00001004:  0x00000000 : Dword 0
    A: 0
0x00001008:  0x00000000 : Dword 2
    A: 1
)");
  ASSERT_TRUE(oracle.unparsed.empty());
  const OracleItem& item = oracle.batches[0].items[0];
  ASSERT_EQ(item.fields.size(), 3u);
  EXPECT_EQ(item.fields[1].parent, 0);
  EXPECT_EQ(item.fields[2].parent, -1);
}

TEST(OracleParser, TwoStructuresInOneDwordStandSideBySide) {
  const Oracle oracle = ParseOracle(R"(#### BATCH 0 address=0x1000 engine=0
0x00001000:  0x00000000:  OUTER      
0x00001000:  0x00000000 : Dword 0
    Attribute[0]: <struct INNER>
0x00001000:  0x00000000 : Dword 0
    A: 0
    Attribute[1]: <struct INNER>
0x00001000:  0x00000000 : Dword 0
    A: 1
)");
  ASSERT_TRUE(oracle.unparsed.empty());
  const OracleItem& item = oracle.batches[0].items[0];
  ASSERT_EQ(item.fields.size(), 4u);
  EXPECT_EQ(OracleFieldPath(item, "A", item.fields[3].parent), "Attribute[1].A");
}

TEST(OracleParser, TakesColonsInNamesAndInTextInBrackets) {
  const Oracle oracle = ParseOracle(R"(#### BATCH 0 address=0x1000 engine=0
0x00001000:  0x00000000:  OUTER      
0x00001000:  0x00000000 : Dword 0
    Start Register [5:4]: 0
    Depth: 0 (SURFTYPE_CUBE:  must be zero)
    : 3
)");
  ASSERT_TRUE(oracle.unparsed.empty());
  const OracleItem& item = oracle.batches[0].items[0];
  ASSERT_EQ(item.fields.size(), 3u);
  EXPECT_EQ(item.fields[0].name, "Start Register [5:4]");
  EXPECT_EQ(item.fields[1].enum_name, "SURFTYPE_CUBE:  must be zero");
  EXPECT_EQ(item.fields[2].name, "");
}

TEST(OracleParser, KnowsStructuresWithoutHeadingAndHeadingsWithoutContents) {
  const Oracle oracle = ParseOracle(R"(#### BATCH 0 address=0x1000 engine=0
0x00001000:  0x00000000:  OUTER      
0x00001000:  0x00000000 : Dword 0
sampler state 0
CC State Table:
0x00002000:  0x00000000 : Dword 0
    A: 0
0x00003000:  0x00000000 : Dword 0
    Minimum Depth: 0.000000
)");
  ASSERT_TRUE(oracle.unparsed.empty());
  const std::vector<OracleItem>& items = oracle.batches[0].items;
  ASSERT_EQ(items.size(), 4u);
  EXPECT_FALSE(items[1].has_address);
  EXPECT_EQ(items[2].name, "COLOR_CALC_STATE");
  EXPECT_EQ(items[3].name, "");
  EXPECT_EQ(items[3].address, 0x3000u);
}

TEST(OracleParser, ReportsEveryLineItDoesNotKnow) {
  const Oracle oracle = ParseOracle(R"(stray
#### BATCH 0 address=0x1000 engine=0
0x00001000:  0x00000000:  OUTER      
0x00001000:  0x00000000 : Dword 0
    A: wrong
what is this
0x00005000:  0x00000000 : Dword 0
  not data
    Inner: <struct INNER>
    B: 0
)");
  std::vector<int> lines;
  for (const OracleUnparsed& u : oracle.unparsed) lines.push_back(u.line);
  EXPECT_EQ(lines, (std::vector<int>{1, 5, 6, 7, 8, 10}));
}

TEST(OracleParser, SurvivesTextCutAnywhere) {
  const absl::string_view text = kText;
  for (size_t n = 0; n <= text.size(); ++n) {
    const std::string cut(text.substr(0, n));
    ParseOracle(cut);
    std::string changed(text);
    if (n < changed.size()) changed[n] = changed[n] == 'x' ? '(' : 'x';
    const Oracle oracle = ParseOracle(changed);
    EXPECT_TRUE(CompareWithRecords(oracle, kRecords).ok());
  }
}

TEST(OracleComparison, AgreesWithMatchingRecordsAndCountsWhatItExcused) {
  const CompareResult result = Compare({}, {});
  EXPECT_EQ(result.mismatch_count, 0) << result.Report();
  EXPECT_EQ(result.oracle_packets, 7);
  EXPECT_EQ(result.packets_compared, 7);
  EXPECT_EQ(result.structs_compared, 2);
  EXPECT_EQ(result.registers_compared, 1);
  EXPECT_EQ(result.pointers_compared, 1);
  // The second blend entry has no counterpart; all else has.
  EXPECT_EQ(result.fields_compared, result.oracle_fields - 1);
  EXPECT_EQ(result.fields_excused, 1);
  EXPECT_EQ(result.rules.at("signed-shown-unsigned"), 1);
  EXPECT_EQ(result.rules.at("address-sign-extended"), 1);
  EXPECT_EQ(result.rules.at("fixed-number-of-structures"), 1);
  EXPECT_EQ(result.rules.at("binding-table-of-32"), 1);
  EXPECT_EQ(result.data_compared, 1);
  EXPECT_EQ(result.values_compared, 2);
  EXPECT_TRUE(result.not_compared.empty()) << result.Report();
  EXPECT_TRUE(result.only_in_records.empty()) << result.Report();
}

TEST(OracleComparison, CatchesAChangedNumber) {
  const CompareMismatch m =
      Only(Compare({}, {{R"("bits":[15,8],"value":3)", R"("bits":[15,8],"value":4)"}}));
  EXPECT_EQ(m.address, 0x1000u);
  EXPECT_EQ(m.item, "PIPELINE_SELECT");
  EXPECT_EQ(m.field, "Mask Bits");
  EXPECT_EQ(m.oracle, "3");
  EXPECT_EQ(m.record, "4");
}

TEST(OracleComparison, CatchesAChangedBool) {
  EXPECT_EQ(
      Only(Compare({}, {{R"("bits":[5,5],"value":false)", R"("bits":[5,5],"value":true)"}})).field,
      "Force Media Awake");
}

TEST(OracleComparison, CatchesAChangedSign) {
  EXPECT_EQ(Only(Compare({}, {{R"("value":-11)", R"("value":-12)"}})).field,
            "Base Vertex Location");
}

TEST(OracleComparison, CatchesAChangedReal) {
  EXPECT_EQ(Only(Compare({}, {{R"("value":0.3})", R"("value":0.300001})"}})).field, "Scale");
}

TEST(OracleComparison, CatchesAChangedAddress) {
  EXPECT_EQ(
      Only(Compare({}, {{R"("value":"0x8000ffa00000")", R"("value":"0x8000ffb00000")"}})).field,
      "Vertex Buffer State[0].Buffer Starting Address");
}

TEST(OracleComparison, CatchesAWrongEnumName) {
  const CompareMismatch m = Only(Compare({}, {{R"("enum":"3D")", R"("enum":"Media")"}}));
  EXPECT_EQ(m.oracle, "0 (3D)");
  EXPECT_EQ(m.record, "0 (Media)");
}

TEST(OracleComparison, CatchesAMissingEnumName) {
  EXPECT_EQ(Only(Compare({}, {{R"(,"enum":"3D")", ""}})).record, "0");
}

TEST(OracleComparison, CatchesAMissingField) {
  const CompareMismatch m =
      Only(Compare({}, {{R"({"name":"Force Media Awake","bits":[5,5],"value":false},)", ""}}));
  EXPECT_EQ(m.field, "Force Media Awake");
  EXPECT_EQ(m.record, "(nothing)");
}

TEST(OracleComparison, CatchesAFieldThatTheOracleDoesNotHave) {
  const CompareMismatch m = Only(Compare({{"    Mask Bits: 3\n", ""}}, {}));
  EXPECT_EQ(m.field, "Mask Bits");
  EXPECT_EQ(m.oracle, "(nothing)");
}

TEST(OracleComparison, CatchesAMissingPacketAndGoesOnAfterIt) {
  const CompareResult result =
      Compare({}, {{R"("id":3,"parent":1,"address":"0x1004")", R"("id":3,"parent":1)"},
                   {R"({"type":"packet","id":3,)", R"({"type":"gone","id":3,)"}});
  EXPECT_EQ(Only(result).item, "3DSTATE_VERTEX_BUFFERS");
  EXPECT_EQ(result.packets_compared, 6);
}

TEST(OracleComparison, CatchesAnExtraPacketAndGoesOnAfterIt) {
  const CompareResult result =
      Compare({}, {{R"({"type":"packet","id":11,)",
                    "{\"type\":\"packet\",\"id\":12,\"address\":\"0x1036\",\"name\":\"MI_NOOP\"}\n"
                    R"({"type":"packet","id":11,)"}});
  const CompareMismatch m = Only(result);
  EXPECT_EQ(m.item, "MI_NOOP");
  EXPECT_EQ(m.oracle, "(nothing)");
  EXPECT_EQ(result.packets_compared, 7);
}

TEST(OracleComparison, CatchesAPacketOfAnotherName) {
  const CompareResult result =
      Compare({}, {{R"("name":"MI_BATCH_BUFFER_END")", R"("name":"MI_NOOP")"}});
  EXPECT_EQ(Only(result).record, "MI_NOOP");
}

TEST(OracleComparison, CatchesUnknownDwordsWhereTheOracleHasAPacket) {
  const CompareResult result =
      Compare({}, {{R"({"type":"packet","id":11,)", R"({"type":"unknown","id":11,)"}});
  EXPECT_EQ(Only(result).record, "unknown dwords");
  EXPECT_EQ(result.unknown_records, 1);
}

TEST(OracleComparison, CatchesAMissingSubmission) {
  // The oracle's first batch is empty, so that all of the records are a batch early.
  const CompareResult result =
      Compare({{"#### BATCH 0", "#### BATCH 0 address=0x1 engine=0\n#### BATCH 1"}}, {});
  EXPECT_EQ(result.packets_compared, 0);
  EXPECT_GE(result.mismatch_count, 14) << result.Report();
}

TEST(OracleComparison, CatchesASubmissionThatTheOracleDoesNotHave) {
  EXPECT_EQ(Only(Compare({}, {{R"("dwords":["0x05000000"],"fields":[]})",
                               "\"fields\":[]}\n{\"type\":\"submission\",\"id\":40}"}}))
                .item,
            "submission");
}

TEST(OracleComparison, CatchesAMissingStructure) {
  EXPECT_EQ(
      Only(Compare({}, {{R"({"type":"struct","id":5,)", R"({"type":"gone","id":5,)"}})).oracle,
      "register CACHE_MODE_1");
}

TEST(OracleComparison, CatchesAChangeInAnEntryOfAStructure) {
  EXPECT_EQ(
      Only(Compare({}, {{R"("bits":[32,32],"value":true)", R"("bits":[32,32],"value":false)"}}))
          .field,
      "Entry[0].Write Disable Blue");
}

TEST(OracleComparison, CatchesAChangedRegisterField) {
  EXPECT_EQ(
      Only(Compare({}, {{R"("bits":[1,1],"value":true)", R"("bits":[1,1],"value":false)"}})).item,
      "CACHE_MODE_1");
}

TEST(OracleComparison, CatchesAChangedPointer) {
  EXPECT_EQ(Only(Compare({}, {{R"("dwords":["0x40"])", R"("dwords":["0x44"])"}})).field,
            "pointer 0");
}

TEST(OracleComparison, CatchesATableThatEndsTooEarly) {
  EXPECT_EQ(Only(Compare({{"pointer 1: 0x00000000", "pointer 1: 0x00000080"}}, {})).field,
            "pointer 1");
}

TEST(OracleComparison, CatchesAMissingViewport) {
  constexpr char kPacket[] = R"(0x1000:  0x78120000:  3DSTATE_CLIP 
0x1000:  0x78120000 : Dword 0
    Maximum VP Index: $
0x1004:  0x78230000:  3DSTATE_VIEWPORT_STATE_POINTERS_CC 
0x1004:  0x78230000 : Dword 0
CC_VIEWPORT 0
0x2000:  0x00000000 : Dword 0
    Minimum Depth: 0.000000
CC_VIEWPORT 1
0x2008:  0x00000000 : Dword 0
    Minimum Depth: 0.000000
)";
  constexpr char kRecord[] =
      R"({"type":"packet","address":"0x1000","name":"3DSTATE_CLIP","fields":[{"name":"Maximum VP Index","value":$}]}
{"type":"packet","id":1,"address":"0x1004","name":"3DSTATE_VIEWPORT_STATE_POINTERS_CC","fields":[]}
{"type":"struct","parent":1,"address":"0x2000","name":"CC_VIEWPORT","index":0,"fields":[{"name":"Minimum Depth","value":0.0}]}
)";
  const CompareResult one = CompareOne(absl::StrReplaceAll(kPacket, {{"$", "0"}}),
                                       absl::StrReplaceAll(kRecord, {{"$", "0"}}));
  EXPECT_EQ(one.mismatch_count, 0) << one.Report();
  EXPECT_EQ(one.rules.at("fixed-number-of-structures"), 1);
  const CompareResult two = CompareOne(absl::StrReplaceAll(kPacket, {{"$", "1"}}),
                                       absl::StrReplaceAll(kRecord, {{"$", "1"}}));
  EXPECT_EQ(Only(two).item, "CC_VIEWPORT 1");
}

TEST(OracleComparison, ForgivesAMissingStructureOnlyIfItsPointerIsInvalid) {
  constexpr char kPacket[] = R"(0x1000:  0x780e0000:  3DSTATE_CC_STATE_POINTERS 
0x1000:  0x780e0000 : Dword 0
    Color Calc State Pointer Valid: $
COLOR_CALC_STATE 0
0x2000:  0x00000000 : Dword 0
    Blend Constant Color Red: 0.000000
)";
  constexpr char kRecord[] =
      R"({"type":"packet","address":"0x1000","name":"3DSTATE_CC_STATE_POINTERS","fields":[{"name":"Color Calc State Pointer Valid","value":$}]})";
  const CompareResult invalid = CompareOne(absl::StrReplaceAll(kPacket, {{"$", "false"}}),
                                           absl::StrReplaceAll(kRecord, {{"$", "false"}}));
  EXPECT_EQ(invalid.mismatch_count, 0) << invalid.Report();
  EXPECT_EQ(invalid.rules.at("follows-invalid-pointer"), 1);
  EXPECT_EQ(invalid.fields_excused, 1);
  EXPECT_EQ(Only(CompareOne(absl::StrReplaceAll(kPacket, {{"$", "true"}}),
                            absl::StrReplaceAll(kRecord, {{"$", "true"}})))
                .item,
            "COLOR_CALC_STATE 0");
}

TEST(OracleComparison, CatchesChangedContentsOfABuffer) {
  EXPECT_EQ(Only(Compare({}, {{R"("3f800000")", R"("3f900000")"}})).field, "value 0");
  EXPECT_EQ(Only(Compare({}, {{R"("00000003")", R"("00000004")"}})).field, "value 1");
}

TEST(OracleComparison, CatchesAChangedSizeOfABuffer) {
  EXPECT_EQ(Only(Compare({}, {{R"("size":36)", R"("size":40)"}})).field, "size");
}

TEST(OracleComparison, ReadsIndicesByTheirFormat) {
  constexpr char kPacket[] = R"(0x1000:  0x780a0003:  3DSTATE_INDEX_BUFFER 
0x1000:  0x780a0003 : Dword 0
    Index Format: 1 (WORD)
  0   1 65535 ...
)";
  constexpr char kRecord[] =
      R"({"type":"packet","id":1,"address":"0x1000","name":"3DSTATE_INDEX_BUFFER","fields":[{"name":"Index Format","value":1,"enum":"WORD"}]}
{"type":"data","parent":1,"address":"0x9000","name":"index buffer","size":8,"bytes":"00000100$ff0200"}
)";
  const CompareResult same = CompareOne(kPacket, absl::StrReplaceAll(kRecord, {{"$", "ff"}}));
  EXPECT_EQ(same.mismatch_count, 0) << same.Report();
  EXPECT_EQ(same.values_compared, 3);
  EXPECT_EQ(Only(CompareOne(kPacket, absl::StrReplaceAll(kRecord, {{"$", "fe"}}))).field,
            "value 2");
}

TEST(OracleComparison, CatchesAChangedDword) {
  EXPECT_EQ(Only(Compare({}, {{R"(["0x69040300"])", R"(["0x69040301"])"}})).field, "dword 0");
}

TEST(OracleComparison, CountsStructuresThatOnlyTheRecordsHave) {
  const CompareResult result = Compare(
      {{"register CACHE_MODE_1 (0x7004): 0x2120212\n0x00007004:  0x02120212 : Dword 0\n    Partial "
        "Resolve Disable In VC: true\n",
        ""}},
      {});
  EXPECT_EQ(result.mismatch_count, 0) << result.Report();
  EXPECT_EQ(result.only_in_records.at("register CACHE_MODE_1"), 1);
}

TEST(OracleComparison, ForgivesAnIntegerCutTo32BitsButNoOtherChange) {
  constexpr char kPacket[] = R"(0x1000:  0x10000003:  MI_STORE_DATA_IMM 
0x1000:  0x10000003 : Dword 0
    Immediate Data: 1
)";
  constexpr char kRecord[] =
      R"({"type":"packet","address":"0x1000","name":"MI_STORE_DATA_IMM","fields":[{"name":"Immediate Data","bits":[159,96],"value":"0x70000000$"}]})";
  const CompareResult cut = CompareOne(kPacket, absl::StrReplaceAll(kRecord, {{"$", "1"}}));
  EXPECT_EQ(cut.mismatch_count, 0) << cut.Report();
  EXPECT_EQ(cut.rules.at("wide-integer-cut-to-32-bits"), 1);
  EXPECT_EQ(CompareOne(kPacket, absl::StrReplaceAll(kRecord, {{"$", "2"}})).mismatch_count, 1);
}

TEST(OracleComparison, TakesTheBitsOfAnEncodedValue) {
  constexpr char kPacket[] = R"(0x1000:  0x78000000:  3DSTATE_DEPTH_BUFFER 
0x1000:  0x78000000 : Dword 0
    Surface Pitch: 1023
)";
  constexpr char kRecord[] =
      R"({"type":"packet","address":"0x1000","name":"3DSTATE_DEPTH_BUFFER","fields":[{"name":"Surface Pitch","bits":[49,32],"value":1024,"raw":"0x3f$"}]})";
  const CompareResult same = CompareOne(kPacket, absl::StrReplaceAll(kRecord, {{"$", "f"}}));
  EXPECT_EQ(same.mismatch_count, 0) << same.Report();
  EXPECT_EQ(same.rules.at("encoded-value"), 1);
  EXPECT_EQ(CompareOne(kPacket, absl::StrReplaceAll(kRecord, {{"$", "e"}})).mismatch_count, 1);
}

TEST(OracleComparison, TakesMustBeZeroOnlyWhereItIsZero) {
  constexpr char kPacket[] = R"(0x1000:  0x784f0000:  3DSTATE_PS_EXTRA 
0x1000:  0x784f0000 : Dword 0
    Pixel Shader Does not write to RT: $
)";
  constexpr char kRecord[] =
      R"({"type":"packet","address":"0x1000","name":"3DSTATE_PS_EXTRA","fields":[]})";
  EXPECT_EQ(CompareOne(absl::StrReplaceAll(kPacket, {{"$", "0"}}), kRecord).mismatch_count, 0);
  EXPECT_EQ(CompareOne(absl::StrReplaceAll(kPacket, {{"$", "1"}}), kRecord).mismatch_count, 1);
}

TEST(OracleComparison, KnowsInfinityAndNotANumberByTheirBits) {
  constexpr char kPacket[] = R"(0x1000:  0x00000000:  PACKET 
0x1000:  0x00000000 : Dword 0
    A: -nan
    B: inf
)";
  constexpr char kRecord[] =
      R"({"type":"packet","address":"0x1000","name":"PACKET","fields":[{"name":"A","bits":[63,32],"value":null,"raw":"0xffc00000"},{"name":"B","bits":[95,64],"value":null,"raw":"0x7f800000"}]})";
  EXPECT_EQ(CompareOne(kPacket, kRecord).mismatch_count, 0);
  EXPECT_EQ(CompareOne(kPacket, absl::StrReplaceAll(kRecord, {{"0x7f8", "0xff8"}})).mismatch_count,
            1);
}

TEST(OracleComparison, ReadsMisplacedGfx8RegistersFromTheDwords) {
  constexpr char kPacket[] = R"(0x1000:  0x11000001:  MI_LOAD_REGISTER_IMM 
0x1000:  0x11000001 : Dword 0
0x1004:  0x00007034 : Dword 1
    Register Offset: 0x00007034
0x1008:  0x60000060 : Dword 2
    Register Offset[0]: 0x00000060
)";
  constexpr char kRecord[] =
      R"({"type":"packet","address":"0x1000","name":"MI_LOAD_REGISTER_IMM","fields":[{"name":"Register Offset","bits":[54,34],"value":"0x7034"},{"name":"Data DWord","bits":[95,64],"value":16106128$}]})";
  const CompareResult same = CompareOne(kPacket, absl::StrReplaceAll(kRecord, {{"$", "32"}}));
  EXPECT_EQ(same.mismatch_count, 0) << same.Report();
  EXPECT_EQ(same.rules.at("gfx8-register-pairs-misplaced"), 1);
  EXPECT_EQ(CompareOne(kPacket, absl::StrReplaceAll(kRecord, {{"$", "33"}})).mismatch_count, 1);
}

TEST(OracleComparison, ReportsARuleThatNoLongerFiresWhereItIsNeeded) {
  CompareResult result = Compare({}, {});
  for (auto& [name, count] : result.rules) count = 1;
  EXPECT_TRUE(SilentRules("skl-gl-basic", result).empty());
  result.rules["address-sign-extended"] = 0;
  EXPECT_EQ(SilentRules("skl-gl-basic", result), std::vector<std::string>{"address-sign-extended"});
  EXPECT_TRUE(SilentRules("a-capture-without-rules", result).empty());
}

TEST(OracleComparison, SaysWhichLineIsNoRecord) {
  const Oracle oracle = ParseOracle(kText);
  const auto result = CompareWithRecords(oracle, "{\"type\":\"schema\"}\n{\"type\":\n");
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(absl::StrContains(result.status().message(), "line 2")) << result.status();
}

TEST(OracleComparison, EveryRuleHasNameAndReason) {
  for (const CompareRule& rule : CompareRules()) {
    EXPECT_NE(absl::string_view(rule.name), "");
    EXPECT_GT(absl::string_view(rule.reason).size(), 20u) << rule.name;
  }
}

}  // namespace
}  // namespace packsmith
