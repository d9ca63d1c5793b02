#include "runtime/encode/assembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/encode/encoder.h"
#include "runtime/generations/generations.h"

namespace packsmith::encode {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

absl::StatusOr<tables::Tables> FindByName(absl::string_view name) { return FindGeneration(name); }

absl::StatusOr<Packed> Assembled(absl::string_view text, const AssemblerOptions& options = {}) {
  const Source source{"a.asm", text};
  return Assemble(source, FindByName, options);
}

// The dwords of a text whose bytes are one piece.
std::vector<uint32_t> Dwords(absl::string_view text, const AssemblerOptions& options = {}) {
  const absl::StatusOr<Packed> packed = Assembled(text, options);
  EXPECT_TRUE(packed.ok()) << packed.status();
  if (!packed.ok()) return {};
  const absl::StatusOr<std::vector<uint8_t>> bytes = ToBytes(*packed);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  if (!bytes.ok()) return {};
  std::vector<uint32_t> dwords((bytes->size() + 3) / 4);
  std::memcpy(dwords.data(), bytes->data(), bytes->size());
  return dwords;
}

// What is wrong with a text.
std::string Wrong(absl::string_view text, const AssemblerOptions& options = {}) {
  const absl::StatusOr<Packed> packed = Assembled(text, options);
  EXPECT_FALSE(packed.ok()) << text;
  return packed.ok() ? "" : std::string(packed.status().message());
}

TEST(Assembler, PacketsGetTheirOpcodesAndLengths) {
  EXPECT_THAT(Dwords(".gen skl\nMI_NOOP\nMI_BATCH_BUFFER_END\n"), ElementsAre(0, 0x05000000));
  EXPECT_THAT(Dwords(".gen gfx9\nMI_STORE_DATA_IMM Address=0x1000 Immediate_Data=7"),
              ElementsAre(0x10000002, 0x1000, 0, 7));
  EXPECT_THAT(Dwords(".gen gfx9\nMI_STORE_DATA_IMM Address=0x1000 Immediate_Data=0x900000007 "
                     "Store_Qword=1"),
              ElementsAre(0x10200003, 0x1000, 0, 7, 9));
  EXPECT_THAT(Wrong(".gen gfx9\nMI_STORE_DATA_IMM Immediate_Data=0x900000007"),
              HasSubstr("which has 16 bytes; other fields say whether it is longer"));
  EXPECT_THAT(Dwords(".gen gfx9\nMI_NOOP\nMI_STORE_DATA_IMM \"DWord Length\"=3"),
              ElementsAre(0, 0x10000003, 0, 0, 0, 0));
}

TEST(Assembler, ItemsOfATailAreCounted) {
  EXPECT_THAT(Dwords(".gen gfx9\nMI_LOAD_REGISTER_IMM Register_Offset=0x2358 Data_DWord=1"),
              ElementsAre(0x11000001, 0x2358, 1));
  EXPECT_THAT(Dwords(".gen gfx9\nMI_LOAD_REGISTER_IMM Register_Offset=0x2358 Data_DWord=1 "
                     "Register_Offset[0]=0x235c \"Data DWord[1]\"=3"),
              ElementsAre(0x11000005, 0x2358, 1, 0x235c, 0, 0, 3));
}

TEST(Assembler, NamesAreThoseOfTheDescriptionInAnyCaseWithUnderscoresForSpaces) {
  const std::vector<uint32_t> exact =
      Dwords(".gen gfx9\n3DSTATE_VS \"Kernel Start Pointer\"=0x1000 Enable=true");
  EXPECT_EQ(exact.size(), 9u);
  EXPECT_EQ(Dwords(".gen gfx9\n3dstate_vs kernel_start_pointer=0x1000, enable = 1"), exact);
  EXPECT_EQ(Dwords(".gen gfx9\n3DSTATE_VS {\n  Kernel_Start_Pointer=4096 # hex is shorter\n\n"
                   "  Enable=true\n}"),
            exact);
  EXPECT_EQ(Dwords(".gen gfx9\n3DSTATE_VS \\\n  Kernel_Start_Pointer=4096 \\\n  Enable=true\n"),
            exact);
}

TEST(Assembler, ValuesAreNumbersOrNames) {
  const auto format = [](absl::string_view value) {
    return Dwords(absl::StrCat(".gen gfx9\nRENDER_SURFACE_STATE Surface_Format=", value))[0];
  };
  EXPECT_NE(format("R8G8B8A8_UNORM"), 0u);
  EXPECT_EQ(format("\"R8G8B8A8_UNORM\""), format("R8G8B8A8_UNORM"));
  EXPECT_EQ(format("199"), format("R8G8B8A8_UNORM"));
  EXPECT_EQ(format("0xc0 + 7"), format("R8G8B8A8_UNORM"));
  EXPECT_EQ(format("raw(0b1100'0111)"), format("R8G8B8A8_UNORM"));
  EXPECT_THAT(Dwords(".gen gfx9\nCC_VIEWPORT Minimum_Depth=-0.5 Maximum_Depth=1"),
              ElementsAre(0xbf000000, 0x3f800000));
}

TEST(Assembler, BitsAreWrittenWhateverTheyAre) {
  EXPECT_THAT(Dwords(".gen gfx9\nMI_NOOP DW0[3:0]=5 DW0[31]=1"), ElementsAre(0x80000005));
  EXPECT_THAT(Dwords(".gen gfx9\nMI_BATCH_BUFFER_START DW1[63:0]=0x1122334455667788"),
              ElementsAre(0x18800001, 0x55667788, 0x11223344));
  EXPECT_THAT(Wrong(".gen gfx9\nMI_NOOP DW1=5"), HasSubstr("beyond the end of the record"));
}

TEST(Assembler, LabelsAreAddressesAlsoBeforeTheyAreDefined) {
  EXPECT_THAT(Dwords(R"(
.gen gfx9
.org 0x10000
first:  MI_BATCH_BUFFER_START Batch_Buffer_Start_Address=second
        .dword first second end - first $
second: MI_BATCH_BUFFER_END
end:
)"),
              ElementsAre(0x18800001, 0x1001c, 0, 0x10000, 0x1001c, 0x20, 0x1000c, 0x05000000));
}

TEST(Assembler, SizesMayDependOnLabels) {
  EXPECT_THAT(Dwords(".zero end - begin\nbegin: .dword 1 2\nend:"), ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(Wrong("a: .zero b - a + 4\nb:"), HasSubstr("no stable addresses"));
}

TEST(Assembler, ExpressionsHaveTheUsualPrecedence) {
  EXPECT_THAT(Dwords("x = 10\n.dword 1 + 2 * 3, (1 + 2) * 3, x / 3, x % 3, 1 << 4 | 1, 7 & ~2, "
                     "6 ^ 3, lo(0x1234567890), hi(0x1234567890), -1, x - 3 - 2 // a comment\n"),
              ElementsAre(7, 9, 3, 1, 17, 5, 5, 0x34567890, 0x12, 0xffffffff, 5));
  EXPECT_THAT(Dwords(".qword 18446744073709551615\n.word 1, 0xffff\n.byte 1 2 3 4\n"
                     ".float 1, -1.5e1, inf\n.string \"ab\\n\\x7f\""),
              ElementsAre(0xffffffff, 0xffffffff, 0xffff0001, 0x04030201, 0x3f800000, 0xc1700000,
                          0x7f800000, 0x7f0a6261));
}

TEST(Assembler, PlacesAndGaps) {
  const absl::StatusOr<Packed> packed = Assembled(R"(
.org 0x1000
.byte 1
.align 4
.skip 12
.dword 2
.space 3
.org 0x1000
.dword 4
)");
  ASSERT_TRUE(packed.ok()) << packed.status();
  const std::vector<Image::Run> runs = packed->image.Runs();
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].address, 0x1000u);
  EXPECT_THAT(runs[0].bytes, ElementsAre(1, 0, 0, 0));
  EXPECT_EQ(runs[1].address, 0x1010u);
  EXPECT_EQ(runs[2].space, 3u);
  EXPECT_THAT(runs[2].bytes, ElementsAre(4, 0, 0, 0));
  EXPECT_FALSE(ToBytes(*packed).ok());
}

TEST(Assembler, DumpsHaveADeviceSubmissionsAndBuffers) {
  absl::StatusOr<Packed> packed = Assembled(R"(
.gen skl
.device generation=gfx9 family=intel platform="skl" pci_id=0x1912 verx10=90
.memory complete=true
.org 0x2000
.submission engine=copy index=5 context=1 "surface state"=0x8000
MI_NOOP
MI_BATCH_BUFFER_END
.buffer name="batch" address=0x2000 size=0x1000
)");
  ASSERT_TRUE(packed.ok()) << packed.status();
  const Dump dump = ToDump(*std::move(packed));
  EXPECT_EQ(dump.device.pci_id, 0x1912u);
  EXPECT_TRUE(dump.memory_is_complete);
  ASSERT_EQ(dump.submissions.size(), 1u);
  const Submission& submission = dump.submissions[0];
  EXPECT_EQ(submission.engine, "copy");
  EXPECT_EQ(submission.index, 5u);
  EXPECT_EQ(submission.batch_address, 0x2000u);
  // That of the memory.
  EXPECT_EQ(submission.batch_length, 8u);
  ASSERT_EQ(submission.bases.size(), 1u);
  EXPECT_EQ(submission.bases[0].address, 0x8000u);
  ASSERT_EQ(dump.buffers.size(), 1u);
  EXPECT_EQ(dump.buffers[0].size, 0x1000u);
}

TEST(Assembler, WithoutASubmissionTheFirstMemoryIsOne) {
  absl::StatusOr<Packed> packed = Assembled(".gen skl\n.org 64\nMI_NOOP\nMI_BATCH_BUFFER_END\n");
  ASSERT_TRUE(packed.ok()) << packed.status();
  const Dump dump = ToDump(*std::move(packed));
  EXPECT_EQ(dump.device.generation, "gfx9");
  ASSERT_EQ(dump.submissions.size(), 1u);
  EXPECT_EQ(dump.submissions[0].batch_address, 64u);
  EXPECT_EQ(dump.submissions[0].batch_length, 8u);
  EXPECT_EQ(dump.submissions[0].engine, "render");
}

TEST(Assembler, FilesAreIncluded) {
  const std::map<std::string, std::string> files = {{"inner.asm", "inner: MI_NOOP\n"},
                                                    {"bytes.bin", "abcd"},
                                                    {"wrong.asm", "\n  MI_NOP\n"},
                                                    {"itself.asm", ".include \"itself.asm\"\n"}};
  AssemblerOptions options;
  options.read_file = [&](const std::string& path, const std::string&) -> absl::StatusOr<ReadFile> {
    const auto at = files.find(path);
    if (at == files.end()) return absl::NotFoundError(path + " is missing");
    return ReadFile{path, at->second};
  };
  EXPECT_THAT(
      Dwords(".gen gfx9\n.dword inner\n.include \"inner.asm\"\n.file \"bytes.bin\"", options),
      ElementsAre(4, 0, 0x64636261));
  EXPECT_THAT(Wrong(".gen gfx9\n.include \"wrong.asm\"", options),
              HasSubstr("wrong.asm:2:3: error"));
  EXPECT_THAT(Wrong(".gen gfx9\n.include \"other.asm\"", options),
              HasSubstr("a.asm:2:10: error: other.asm is missing"));
  EXPECT_THAT(Wrong(".include \"itself.asm\"", options), HasSubstr("too deeply"));
  EXPECT_THAT(Wrong(".include \"inner.asm\""), HasSubstr("files cannot be read here"));
}

TEST(Assembler, SymbolsCanBeGiven) {
  EXPECT_THAT(Dwords("size = 1\n.dword size", {.symbols = {{"size", 5}}}), ElementsAre(5));
}

struct WrongText {
  const char* text;
  const char* says;  // a part of the message, place included
};

TEST(Assembler, ErrorsHavePlacesAndRemedies) {
  const WrongText kTexts[] = {
      {"MI_NOOP", "a.asm:1:1: error: the generation is not known"},
      {".gen gfx99", "a.asm:1:6: error"},
      {".gen skl\n.gen tgl", "a.asm:2:6: error: the generation is gfx9 already"},
      {".gen skl\n3DSTATE_VX Enable=true", "did you mean"},
      {".gen skl\nMI_NOOP Enabel=true", "a.asm:2:9: error: MI_NOOP of gfx9 has no field"},
      {".gen skl\n3DSTATE_VS Enable=2", "\"Enable\" holds true or false"},
      {".gen skl\n3DSTATE_VS Kernel_Start_Pointer=0x1001", "multiples of 64"},
      {".gen skl\n3DSTATE_VS Kernel_Start_Pointer=nowhere", "neither a number nor a label"},
      {".gen skl\n3DSTATE_VS Enable=true Enable=false",
       "a.asm:2:24: error: \"Enable\" shares bits"},
      {".gen skl\nVERTEX_BUFFER_STATE Buffer_Pitch=4096", "holds 0 to 2048"},
      {".gen skl\nVERTEX_BUFFER_STATE Buffer_Pitch=-1", "holds 0 to 2048"},
      {".gen skl\nVERTEX_BUFFER_STATE Buffer_Pitch=1.5", "holds 0 to 2048"},
      {".gen skl\nVERTEX_BUFFER_STATE Buffer_Pitch=true", "is a number"},
      {".gen skl\nVERTEX_BUFFER_STATE Buffer_Pitch=raw(0x1000)", "has 12 bits"},
      {".gen skl\nRENDER_SURFACE_STATE Surface_Format=R8G8B8A8_UNROM",
       "did you mean R8G8B8A8_UNORM"},
      {".gen skl\nMI_NOOP foo", "= is expected after \"foo\""},
      {".gen skl\nMI_NOOP {\n", "} is missing"},
      {".gen skl\nMI_NOOP \"a", "the text does not end in this line"},
      {".gen skl\n3DSTATE_URB_VS VS_URB_Starting_Address=100000", "does not fit"},
      {"a: .byte 1\na: .byte 2", "a.asm:2:1: error: \"a\" is defined already"},
      {"true = 1", "has a meaning of its own"},
      {"1a:", "must not begin with a digit"},
      {".dword b", "\"b\" is not defined"},
      {".byte 256", "does not fit into 8 bits"},
      {".dword 0x1ffffffff", "does not fit into 32 bits"},
      {".qword 0x1ffffffffffffffff", "more than 64 bits"},
      {".qword 12x", "\"12x\" is not a number"},
      {".dword (1", ") is expected here"},
      {".dword 1 /", "a number, a label or ( is expected here"},
      {".dword 1 / 0", "division by zero"},
      {".align 0", "an alignment of 0"},
      {".bite 1", "did you mean byte"},
      {".zero -4", "less than zero"},
      {".zero 0x100000000", "more than 1073741824 bytes"},
      {".org 0xffffffffffffffff\n.byte 1 2", "past the end"},
      {".byte 1\n.org 0\n.byte 2", "a.asm:3:1: error: the byte at 0x0 of space 0 has been given"},
      {".submission engin=x", ".submission has no \"engin\""},
      {"= 3", "is expected here"},
      {".string \"\\q\"", "not an escape"},
  };
  for (const WrongText& wrong : kTexts) {
    EXPECT_THAT(Wrong(wrong.text), HasSubstr(wrong.says)) << wrong.text;
  }
}

TEST(Assembler, AllErrorsAreFoundInOneRunEachWithACaret) {
  EXPECT_EQ(Wrong(".gen skl\nMI_NOP\n\t3DSTATE_VS Enable=7\n.byte 999"),
            "a.asm:2:1: error: gfx9 has no packet or structure \"MI_NOP\"; did you mean MI_NOOP?\n"
            "  MI_NOP\n"
            "  ^\n"
            "a.asm:3:13: error: 7 does not fit: \"Enable\" holds true or false\n"
            "   3DSTATE_VS Enable=7\n"
            "              ^\n"
            "a.asm:4:7: error: the number does not fit into 8 bits\n"
            "  .byte 999\n"
            "        ^");
  std::string many = ".gen skl\n";
  for (int i = 0; i < 50; ++i) many += "MI_NOP\n";
  EXPECT_THAT(Wrong(many), HasSubstr("30 more errors"));
}

TEST(Assembler, FieldsThatMustNotBeZeroAreRequired) {
  size_t found = 0;
  for (const tables::Tables& tables : BuiltInGenerations()) {
    const Encoder encoder(tables);
    for (const tables::Container& container : tables.containers()) {
      for (const tables::Leaf& leaf : tables.leaves(container.leaves)) {
        constexpr uint16_t kNotAsked = tables::kForced | tables::kMustBeOne | tables::kMustBeZero |
                                       tables::kLength | tables::kOverlap;
        if ((leaf.flags & kNotAsked) != 0 || encoder.IsValid(leaf, 0)) continue;
        if (leaf.bit + leaf.width > container.bytes * 8) continue;
        ++found;
        EXPECT_THAT(Wrong(absl::StrCat(".gen ", tables.generation(), "\n\"",
                                       tables.string(container.name), "\"\n")),
                    HasSubstr(absl::StrCat(tables.string(leaf.name),
                                           tables.string(leaf.name_suffix), "\" is missing")));
        break;
      }
      if (found % 3 == 2) break;
    }
  }
  EXPECT_GT(found, 0u);
}

TEST(Assembler, HiddenCharactersDoNotReachTheTerminal) {
  const std::string message = Wrong(".gen skl\nMI_NOOP \"\x1b[31m\xff\"=1");
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_EQ(message.find('\xff'), std::string::npos);
}

}  // namespace
}  // namespace packsmith::encode
