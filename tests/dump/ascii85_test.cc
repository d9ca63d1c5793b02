// ASCII85 as kernels write it, and memory written as text.

#include "runtime/dump/ascii85.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/dump/text_bytes.h"

namespace packsmith {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes Words(const std::vector<uint32_t>& words) {
  Bytes bytes;
  for (const uint32_t word : words) {
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(word >> 8 * i));
  }
  return bytes;
}

Bytes Decoded(absl::string_view text, bool* failed = nullptr) {
  Ascii85Decoder decoder;
  Bytes out(text.size() * 4 + 4);
  out.resize(decoder.Decode(text, absl::MakeSpan(out)));
  if (failed != nullptr) *failed = decoder.failed();
  return out;
}

Bytes Noise(size_t size) {
  std::mt19937 random(7);
  Bytes bytes(size);
  for (uint8_t& byte : bytes) byte = random() % 3 == 0 ? 0 : static_cast<uint8_t>(random());
  return bytes;
}

std::string Text(const Bytes& bytes) {
  std::string text;
  AppendAscii85(bytes, text);
  return text;
}

// The first ring dword of a published msm dump: 0x70c80008.
TEST(Ascii85, WordsAreNumbersMostSignificantCharacterFirst) {
  // 0x70c80008 = 1892155400 = (((36*85 + 21)*85 + 6)*85 + 76)*85 + 50.
  uint32_t rest = 0x70c80008;
  std::string text(5, ' ');
  for (int i = 4; i >= 0; --i) {
    text[static_cast<size_t>(i)] = static_cast<char>('!' + rest % 85);
    rest /= 85;
  }
  EXPECT_EQ(Decoded(text), Words({0x70c80008}));
  EXPECT_EQ(Decoded("!!!!\""), Words({1}));
  EXPECT_EQ(Decoded("s8W-!"), Words({0xffffffff}));
}

TEST(Ascii85, ZIsOneWordOfZeroAndFiveAreFive) {
  EXPECT_EQ(Decoded("z"), Words({0}));
  EXPECT_EQ(Decoded("zzzzz"), Words({0, 0, 0, 0, 0}));
  EXPECT_EQ(Text(Words({0, 1})), "z!!!!\"");
}

TEST(Ascii85, AGroupAboveAWordIsRefusedAndWhatCameBeforeIsKept) {
  bool failed = false;
  EXPECT_EQ(Decoded("!!!!\"s8W-\"!!!!\"", &failed), Words({1}));
  EXPECT_TRUE(failed);
}

TEST(Ascii85, ZInsideOfAGroupIsRefused) {
  bool failed = false;
  EXPECT_EQ(Decoded("!!z!!", &failed), Bytes());
  EXPECT_TRUE(failed);
}

TEST(Ascii85, WhatIsWrittenIsReadAgainInPiecesOfAnySize) {
  const Bytes bytes = Noise(4000);
  const std::string text = Text(bytes);
  for (const size_t step : {1u, 2u, 3u, 4u, 5u, 7u, 64u, 100000u}) {
    for (const size_t room : {4u, 8u, 20u, 4096u}) {
      Ascii85Decoder decoder;
      Bytes read;
      for (size_t at = 0; at < text.size(); at += step) {
        absl::string_view piece = absl::string_view(text).substr(at, step);
        Bytes out(room);
        while (!piece.empty()) {
          const size_t count = decoder.Decode(piece, absl::MakeSpan(out));
          read.insert(read.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count));
        }
      }
      EXPECT_FALSE(decoder.in_group());
      EXPECT_EQ(read, bytes) << step << " " << room;
    }
  }
}

// ------------------------------------------------------------------------------------------------

struct Made {
  Bytes bytes;
  std::vector<Problem> problems;
};

Made Make(TextEncoding encoding, const std::vector<std::string>& pieces, uint64_t limit = 1 << 30) {
  std::vector<TextPiece> views;
  uint64_t offset = 1000;
  for (const std::string& piece : pieces) {
    views.push_back({piece, offset});
    offset += piece.size() + 1;
  }
  auto budget = std::make_shared<TextBudget>();
  budget->bytes_left = limit;
  auto problems = std::make_shared<LateProblems>();
  const std::shared_ptr<DeferredBytes> deferred = DeferText(encoding, views, budget, problems);
  const absl::Span<const uint8_t> bytes = deferred->Get();
  EXPECT_EQ(deferred->Get().data(), bytes.data());
  return {Bytes(bytes.begin(), bytes.end()), problems->All()};
}

Bytes Deflated(const Bytes& bytes) {
  Bytes out(compressBound(bytes.size()));
  uLongf size = out.size();
  EXPECT_EQ(compress(out.data(), &size, bytes.data(), bytes.size()), Z_OK);
  out.resize(size);
  return out;
}

TEST(TextBytes, LinesAndBlanksBetweenCharactersArePassedOver) {
  const Bytes bytes = Noise(1000);
  const std::string text = Text(bytes);
  const Made made =
      Make(TextEncoding::kAscii85,
           {text.substr(0, 3) + " \n\t\v\f\r" + text.substr(3, 6), "", text.substr(9)});
  EXPECT_EQ(made.bytes, bytes);
  EXPECT_TRUE(made.problems.empty());
}

TEST(TextBytes, ABadGroupCostsWhatFollowsAndIsSaidWithItsPlace) {
  const Made made = Make(TextEncoding::kAscii85, {"!!!!\"z", "!!!!\"~!!!!zzz"});
  EXPECT_EQ(made.bytes, Words({1, 0, 1}));
  ASSERT_EQ(made.problems.size(), 1u);
  EXPECT_EQ(made.problems[0].offset, 1000 + 7 + 5u);
  EXPECT_NE(made.problems[0].text.find("12 bytes of this buffer were read"), std::string::npos);
}

TEST(TextBytes, AGroupThatIsCutOffIsSaid) {
  const Made made = Make(TextEncoding::kAscii85, {"!!!!\"!!!"});
  EXPECT_EQ(made.bytes, Words({1}));
  EXPECT_EQ(made.problems.size(), 1u);
}

TEST(TextBytes, ZlibStreamsAreInflatedAndTheirPaddingIsNoTrouble) {
  bool seen[4] = {};
  for (size_t size = 300000; size < 300040; ++size) {
    const Bytes bytes = Noise(size);
    const Bytes packed = Deflated(bytes);
    seen[packed.size() % 4] = true;
    const Made made = Make(TextEncoding::kAscii85Zlib, {Text(packed)});
    EXPECT_EQ(made.bytes, bytes);
    EXPECT_TRUE(made.problems.empty()) << made.problems[0].text;
  }
  EXPECT_TRUE(seen[0] && seen[1] && seen[2] && seen[3]);
}

TEST(TextBytes, ATornZlibStreamYieldsItsGoodPart) {
  const Bytes bytes = Noise(300000);
  const std::string text = Text(Deflated(bytes));
  for (const size_t length : {text.size() / 2, text.size() - 5, text.size() / 10}) {
    const Made made = Make(TextEncoding::kAscii85Zlib, {text.substr(0, length)});
    ASSERT_LE(made.bytes.size(), bytes.size());
    EXPECT_TRUE(std::equal(made.bytes.begin(), made.bytes.end(), bytes.begin()));
    EXPECT_EQ(made.problems.size(), 1u);
  }
  EXPECT_GT(Make(TextEncoding::kAscii85Zlib, {text.substr(0, text.size() / 2)}).bytes.size(),
            100000u);
}

TEST(TextBytes, ADamagedZlibStreamYieldsWhatCameBefore) {
  const Bytes bytes = Noise(300000);
  Bytes packed = Deflated(bytes);
  for (size_t i = packed.size() / 2; i < packed.size() / 2 + 64; ++i) packed[i] ^= 0x55;
  const Made made = Make(TextEncoding::kAscii85Zlib, {Text(packed)});
  EXPECT_GT(made.bytes.size(), 50000u);
  EXPECT_EQ(made.problems.size(), 1u);
}

TEST(TextBytes, NothingIsLargerThanTheLimitOfTheDump) {
  const Bytes zeros(5 << 20);
  const Made made = Make(TextEncoding::kAscii85Zlib, {Text(Deflated(zeros))}, 1 << 20);
  EXPECT_EQ(made.bytes.size(), 1u << 20);
  EXPECT_EQ(made.problems.size(), 1u);
  EXPECT_EQ(Make(TextEncoding::kAscii85, {std::string(1000, 'z')}, 100).bytes.size(), 100u);
}

TEST(TextBytes, HexLinesHaveOneWordOrFour) {
  const Made made =
      Make(TextEncoding::kHexWords, {"00000000 :  00000001\n00000004 :  7a000004\n",
                                     "00000010 :  00000001 00000002 00000003 00000004"});
  EXPECT_EQ(made.bytes, Words({1, 0x7a000004, 0, 0, 1, 2, 3, 4}));
  EXPECT_TRUE(made.problems.empty());
}

TEST(TextBytes, HexLinesThatGoBackOrAreNoneEndTheirBuffer) {
  EXPECT_EQ(Make(TextEncoding::kHexWords, {"00000000 :  1 2\n00000004 :  3"}).bytes, Words({1, 2}));
  EXPECT_EQ(Make(TextEncoding::kHexWords, {"00000000 :  1 2g"}).problems.size(), 1u);
  // Omitted memory is bounded by the limit, and an offset far away is not an omission.
  EXPECT_EQ(Make(TextEncoding::kHexWords, {"00000000 :  1\n00000ff0 :  3"}, 100).bytes.size(),
            100u);
  const auto far = Make(TextEncoding::kHexWords, {"00000000 :  1\nfffffff0 :  3"});
  EXPECT_EQ(far.bytes, Words({1}));
  EXPECT_EQ(far.problems.size(), 1u);
}

}  // namespace
}  // namespace packsmith
