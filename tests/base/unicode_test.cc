#include "runtime/base/unicode.h"

#include <gtest/gtest.h>

#include <string>

namespace packsmith {
namespace {

TEST(FirstCodePointTest, ReadsEachLength) {
  struct Case {
    const char* text;
    uint32_t value;
    size_t bytes;
  };
  for (const Case& one : {Case{"a", 'a', 1}, Case{"\xc3\xa9x", 0xe9, 2},
                          Case{"\xe2\x80\xae", 0x202e, 3}, Case{"\xf3\xa0\x81\x81", 0xe0041, 4}}) {
    const CodePoint first = FirstCodePoint(one.text);
    EXPECT_TRUE(first.valid);
    EXPECT_EQ(first.value, one.value);
    EXPECT_EQ(first.bytes, one.bytes);
  }
}

TEST(FirstCodePointTest, BytesThatAreNotUtf8ComeOneByOne) {
  for (const char* text : {"\x80", "\xff", "\xc0\xaf", "\xe2\x80", "\xe0\x80\xae", "\xed\xa0\x80",
                           "\xf4\x90\x80\x80", "\xf0\x80\x80\x80", "\xc3(", "\xf5\x80\x80\x80"}) {
    const CodePoint first = FirstCodePoint(text);
    EXPECT_FALSE(first.valid) << text;
    EXPECT_EQ(first.bytes, 1u);
    EXPECT_EQ(first.value, static_cast<unsigned char>(text[0]));
  }
}

TEST(IsHiddenTest, ControlsAndFormatsAreLettersAreNot) {
  for (const uint32_t hidden : {0x00u, 0x1bu, 0x7fu, 0x85u, 0x9fu, 0xadu, 0x61cu, 0x200bu, 0x200eu,
                                0x2028u, 0x202eu, 0x2066u, 0x2069u, 0xfeffu, 0xe0041u}) {
    EXPECT_TRUE(IsHidden(hidden)) << hidden;
  }
  for (const uint32_t shown : {0x20u, 0x7eu, 0xa0u, 0xe9u, 0x2026u, 0x3042u, 0x1f600u, 0x10ffffu}) {
    EXPECT_FALSE(IsHidden(shown)) << shown;
  }
}

TEST(JsonTest, OnlyHiddenCharactersAreEscaped) {
  EXPECT_EQ(JsonWithHiddenEscaped("{\"a\":\"b\"}\n"), "{\"a\":\"b\"}\n");
  EXPECT_EQ(JsonWithHiddenEscaped("{\"a\":\"\xc3\xa9\xe2\x80\xae\xf3\xa0\x81\x81\"}\n"),
            "{\"a\":\"\xc3\xa9\\u202e\\udb40\\udc41\"}\n");
  EXPECT_EQ(JsonEscape(0x85), "\\u0085");
}

}  // namespace
}  // namespace packsmith
