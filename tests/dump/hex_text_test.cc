#include "runtime/dump/hex_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace packsmith {
namespace {

std::vector<uint32_t> Words(const Dump& dump, uint64_t address, uint32_t space = 0) {
  std::vector<uint32_t> words;
  uint8_t bytes[4];
  while (dump.memory.Copy(space, address + 4 * words.size(), absl::MakeSpan(bytes)) == 4) {
    words.push_back(uint32_t{bytes[0]} | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16 |
                    uint32_t{bytes[3]} << 24);
  }
  return words;
}

Dump Read(absl::string_view text, const RawOptions& options = {}) {
  absl::StatusOr<Dump> dump = ReadHexText(text, options);
  EXPECT_TRUE(dump.ok()) << dump.status();
  return dump.ok() ? *std::move(dump) : Dump();
}

std::string Error(absl::string_view text, const RawOptions& options = {}) {
  const absl::StatusOr<Dump> dump = ReadHexText(text, options);
  EXPECT_EQ(dump.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(dump.status().message());
}

TEST(HexText, OfAnIntelGenerationHasAddressesInOneForm) {
  RawOptions options;
  options.generation = "gfx9";
  const Dump dump = Read("fffffffeeffe0000: 00000001 00000002", options);
  EXPECT_EQ(Words(dump, 0xfffeeffe0000), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(dump.submissions[0].batch_address, 0xfffeeffe0000u);
}

TEST(HexTextTest, ReadsWordsHoweverTheyAreSeparated) {
  const std::vector<uint32_t> expected = {0x7a000003, 0x00100000, 0xABCDEF01, 5};
  for (const char* text : {
           "7a000003 00100000 abcdef01 00000005",
           "0x7a000003,0x00100000,0xABCDEF01,0X00000005,",
           "7A000003\n00100000\r\n\tabcdef01   \n\n00000005\n",
           "# comment 1234\n7a000003 # more\n00100000,abcdef01#x\n00000005 #",
           ", ,7a000003 , 00100000 ,\n, abcdef01 00000005",
       }) {
    EXPECT_EQ(Words(Read(text), 0), expected) << text;
  }
}

TEST(HexTextTest, AddressesPlaceTheNextWord) {
  const Dump dump = Read("0x1000: 00000001 00000002\n1008:00000003\nffff00000000 : 00000004\n");
  EXPECT_EQ(Words(dump, 0x1000), (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(Words(dump, 0xffff00000000), (std::vector<uint32_t>{4}));
  ASSERT_EQ(dump.submissions.size(), 1u);
  EXPECT_EQ(dump.submissions[0].batch_address, 0x1000u);
  EXPECT_EQ(dump.submissions[0].batch_length, 12u);
}

TEST(HexTextTest, ReadsTheOldErrorStateLayout) {
  const Dump dump = Read("00000000 :  7a000002\n00000004 :  00101000\n");
  EXPECT_EQ(Words(dump, 0), (std::vector<uint32_t>{0x7a000002, 0x00101000}));
}

TEST(HexTextTest, AnAddressOfItsOwnLineStandsForTheNextWord) {
  EXPECT_EQ(Words(Read("2000:\n00000001"), 0x2000), (std::vector<uint32_t>{1}));
  EXPECT_EQ(Words(Read("2000:\n3000:\n00000001"), 0x3000), (std::vector<uint32_t>{1}));
}

TEST(HexTextTest, OptionsSayWhatTheTextDoesNot) {
  RawOptions options;
  options.generation = "gfx75";
  options.engine = "copy";
  options.space = 3;
  options.address = 0x400;
  options.stream = "s";
  Dump dump = Read("00000001 00000002\n800: 00000003", options);
  EXPECT_EQ(Words(dump, 0x400, 3), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(dump.device.generation, "gfx75");
  EXPECT_EQ(dump.device.verx10, 75);
  EXPECT_EQ(dump.submissions[0].engine, "copy");
  EXPECT_EQ(dump.submissions[0].space, 3u);
  EXPECT_EQ(dump.submissions[0].stream, "s");
  EXPECT_EQ(dump.submissions[0].batch_address, 0x400u);
  EXPECT_EQ(dump.submissions[0].batch_length, 8u);
  options.batch_address = 0x800;
  dump = Read("00000001 00000002\n800: 00000003", options);
  EXPECT_EQ(dump.submissions[0].batch_address, 0x800u);
  EXPECT_EQ(dump.submissions[0].batch_length, 4u);
  options.batch_address = 0x9000;
  EXPECT_EQ(Read("00000001", options).submissions[0].batch_length, 0u);
  options.batch_length = 77;
  EXPECT_EQ(Read("00000001", options).submissions[0].batch_length, 77u);
}

TEST(HexTextTest, ErrorsNameTheLineTheColumnAndWhatWasExpected) {
  EXPECT_EQ(Error(""), "1:1: expected a word of 8 hex digits, found the end of the text");
  EXPECT_EQ(Error("# only\n\n"), "3:1: expected a word of 8 hex digits, found the end of the text");
  EXPECT_EQ(Error("00000001 0000002"), "1:10: expected a word of 8 hex digits, found \"0000002\"");
  EXPECT_EQ(Error("00000001\n  000000022"),
            "2:3: expected a word of 8 hex digits, found \"000000022\"");
  EXPECT_EQ(Error("0x"), "1:1: expected a word of 8 hex digits, found \"0x\"");
  EXPECT_EQ(Error("g0000000"), "1:1: expected a word of 8 hex digits, found \"g0000000\"");
  EXPECT_EQ(Error("00000004 : :"), "1:12: expected a word of 8 hex digits, found \":\"");
  EXPECT_EQ(Error(":00000001"), "1:1: expected a word of 8 hex digits, found \":\"");
  EXPECT_EQ(Error("12345678901234567: 00000001"),
            "1:1: expected a word of 8 hex digits, found \"12345678901234567\"");
  EXPECT_EQ(Error("00000001 1000: 00000001"),
            "1:10: expected a word of 8 hex digits: an address must be first on its line, found "
            "\"1000\"");
  EXPECT_EQ(Error("1002: 00000001"),
            "1:1: expected an address that is a multiple of 4, found \"1002\"");
  EXPECT_EQ(Error(absl::string_view("\0\x1b[1m", 5)),
            "1:1: expected a word of 8 hex digits, found \"\\000\\033[1m\"");
  EXPECT_EQ(Error(std::string(1000, 'z')),
            "1:1: expected a word of 8 hex digits, found \"zzzzzzzzzzzzzzzzzzzzzzzz...\"");
}

TEST(HexTextTest, AnAddressIsGivenOnce) {
  const std::string message = Error("1000: 00000001 00000002\n1004: 00000003 00000004\n");
  EXPECT_EQ(message.substr(0, 4), "2:1:") << message;
  EXPECT_NE(message.find("each address once"), std::string::npos);
}

TEST(HexTextTest, WordsEndAtTheTopOfMemory) {
  EXPECT_EQ(Words(Read("fffffffffffffffc: 00000001"), 0xfffffffffffffffc),
            (std::vector<uint32_t>{1}));
  EXPECT_NE(Error("fffffffffffffffc: 00000001 00000002").find("1:28: expected an address"),
            std::string::npos);
}

TEST(HexTextTest, LooksLikeHexTextGoesByTheFirstToken) {
  EXPECT_TRUE(LooksLikeHexText("7a000003"));
  EXPECT_TRUE(LooksLikeHexText("\n# c\n 0x10: zzz"));
  EXPECT_FALSE(LooksLikeHexText(""));
  EXPECT_FALSE(LooksLikeHexText("GPU HANG: ecode 9:0:0x85dffffb"));
  EXPECT_FALSE(LooksLikeHexText("# nothing else"));
}

}  // namespace
}  // namespace packsmith
