#include "runtime/decode/fields/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/tables/tables.h"
#include "tests/decode/world.h"

namespace packsmith::decode {
namespace {

using tables::Leaf;
using tables::LeafType;

uint64_t Ones(uint32_t width) { return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

// Bit by bit: slow and simple.
uint64_t SlowRead(absl::Span<const uint8_t> bytes, uint64_t bit, uint32_t width) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < width; ++i) {
    value |= uint64_t{bytes[(bit + i) / 8] >> (bit + i) % 8 & 1u} << i;
  }
  return value;
}

TEST(Bits, AreReadAtEveryPlaceAndWidthAsOneByOne) {
  std::mt19937_64 random(1);
  // Exactly as many bytes as needed and more: reads near the end use another path.
  for (const size_t size : {1, 2, 4, 7, 8, 9, 12, 16, 17}) {
    std::vector<uint8_t> bytes(size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    bytes.shrink_to_fit();
    for (uint64_t bit = 0; bit < size * 8; ++bit) {
      for (uint32_t width = 1; width <= 64 && bit + width <= size * 8; ++width) {
        ASSERT_EQ(ReadBits(bytes, bit, width), SlowRead(bytes, bit, width))
            << size << " bytes, bit " << bit << ", width " << width;
      }
    }
  }
}

TEST(Bits, AreWrittenAtEveryPlaceAndWidthAndNeighboursStay) {
  for (uint64_t bit = 0; bit < 72; ++bit) {
    for (uint32_t width = 1; width <= 64; ++width) {
      for (const uint8_t around : {0x00, 0xff}) {
        std::vector<uint8_t> bytes(17, around);
        const uint64_t value =
            0x9e3779b97f4a7c15u;  // higher bits than the field has are not written
        WriteBits(absl::MakeSpan(bytes), bit, width, value);
        ASSERT_EQ(SlowRead(bytes, bit, width), value & Ones(width)) << bit << " " << width;
        for (uint64_t i = 0; i < bytes.size() * 8; ++i) {
          if (i >= bit && i < bit + width) continue;
          ASSERT_EQ(SlowRead(bytes, i, 1), around & 1u) << bit << " " << width << " " << i;
        }
      }
    }
  }
}

// A leaf of no table; nothing in it refers to one.
Leaf Plain(LeafType type, uint16_t width) {
  Leaf leaf{};
  leaf.type = type;
  leaf.width = width;
  leaf.named = leaf.extra = tables::kNone;
  return leaf;
}

Value Decoded(const Leaf& leaf, uint64_t raw) { return DecodeValue(Gfx9(), leaf, leaf.width, raw); }
std::optional<uint64_t> Again(const Leaf& leaf, uint64_t raw) {
  return EncodeValue(Gfx9(), leaf, Decoded(leaf, raw));
}

TEST(Halves, EveryPatternHasItsValueAndComesBack) {
  const Leaf half = Plain(LeafType::kHalf, 16);
  EXPECT_EQ(Decoded(half, 0x3c00).real, 1.0);
  EXPECT_EQ(Decoded(half, 0xc000).real, -2.0);
  EXPECT_EQ(Decoded(half, 0x7bff).real, 65504.0);
  EXPECT_EQ(Decoded(half, 0x0001).real, std::ldexp(1.0, -24));  // the smallest subnormal
  EXPECT_EQ(Decoded(half, 0x03ff).real, std::ldexp(1023.0, -24));
  EXPECT_EQ(Decoded(half, 0x0400).real, std::ldexp(1.0, -14));  // the smallest normal
  EXPECT_TRUE(std::signbit(Decoded(half, 0x8000).real));
  EXPECT_TRUE(std::isinf(Decoded(half, 0x7c00).real));
  EXPECT_TRUE(std::isnan(Decoded(half, 0x7e01).real));
  for (uint64_t raw = 0; raw < 0x10000; ++raw) {
    const bool special = (raw & 0x7c00) == 0x7c00;
    EXPECT_EQ(Decoded(half, raw).needs_raw, special) << raw;
    if (!special) {
      ASSERT_EQ(Again(half, raw), raw) << raw;
    }
  }
}

TEST(Halves, NumbersBetweenRoundToEvenAndTooLargeOnesAreRefused) {
  const Leaf half = Plain(LeafType::kHalf, 16);
  const auto encoded = [&](double real) {
    Value value;
    value.kind = ValueKind::kReal;
    value.real = real;
    return EncodeValue(Gfx9(), half, value);
  };
  EXPECT_EQ(encoded(1.0 + std::ldexp(1.0, -11)), 0x3c00u);  // a tie
  EXPECT_EQ(encoded(1.0 + std::ldexp(3.0, -11)), 0x3c02u);  // another
  EXPECT_EQ(encoded(1.0 + std::ldexp(1.1, -11)), 0x3c01u);
  EXPECT_EQ(encoded(std::ldexp(1.0, -25)), 0x0000u);  // half of the smallest, a tie
  EXPECT_EQ(encoded(std::ldexp(1023.9, -24)), 0x0400u);
  EXPECT_EQ(encoded(-0.0), 0x8000u);
  EXPECT_EQ(encoded(65519.0), 0x7bffu);
  EXPECT_EQ(encoded(65520.0), std::nullopt);
  EXPECT_EQ(encoded(std::numeric_limits<double>::infinity()), 0x7c00u);
  EXPECT_EQ(encoded(std::numeric_limits<double>::quiet_NaN()), std::nullopt);
}

TEST(Floats, ComeBackBitForBitUnlessTheyAreSpecial) {
  const Leaf leaf = Plain(LeafType::kFloat, 32);
  EXPECT_EQ(Decoded(leaf, 0x3fc00000).real, 1.5);
  EXPECT_TRUE(std::signbit(Decoded(leaf, 0x80000000).real));
  for (const uint64_t raw :
       {0x0u, 0x80000000u, 0x1u, 0x807fffffu, 0x00800000u, 0x3dcccccdu, 0x7f7fffffu}) {
    EXPECT_FALSE(Decoded(leaf, raw).needs_raw);
    EXPECT_EQ(Again(leaf, raw), raw);
  }
  for (const uint64_t raw : {0x7f800000u, 0xff800000u, 0x7fc00000u, 0x7f800001u, 0xffffffffu}) {
    EXPECT_TRUE(Decoded(leaf, raw).needs_raw) << raw;
  }
}

TEST(FixedPoint, HasItsScaleAndSignAndRefusesWhatDoesNotFit) {
  Leaf u = Plain(LeafType::kUfixed, 12);
  u.fraction_bits = 8;
  EXPECT_EQ(Decoded(u, 0x180).real, 1.5);
  EXPECT_EQ(Decoded(u, 0xfff).real, 15.99609375);
  Leaf s = Plain(LeafType::kSfixed, 13);
  s.fraction_bits = 8;
  EXPECT_EQ(Decoded(s, 0x1fff).real, -1 / 256.0);
  EXPECT_EQ(Decoded(s, 0x1000).real, -16.0);
  EXPECT_EQ(Decoded(s, 0x0fff).real, 4095 / 256.0);
  for (uint64_t raw = 0; raw < 0x2000; ++raw) {
    ASSERT_EQ(Again(s, raw), raw);
    if (raw < 0x1000) {
      ASSERT_EQ(Again(u, raw), raw);
    }
  }
  const auto encoded = [&](const Leaf& leaf, double real) {
    Value value;
    value.kind = ValueKind::kReal;
    value.real = real;
    return EncodeValue(Gfx9(), leaf, value);
  };
  EXPECT_EQ(encoded(u, 16.0), std::nullopt);
  EXPECT_EQ(encoded(u, -0.1), std::nullopt);
  EXPECT_EQ(encoded(s, 16.0), std::nullopt);
  EXPECT_EQ(encoded(s, -16.1), std::nullopt);
  EXPECT_EQ(encoded(s, std::numeric_limits<double>::quiet_NaN()), std::nullopt);
  EXPECT_EQ(encoded(u, std::numeric_limits<double>::infinity()), std::nullopt);
}

TEST(SignedIntegers, AreSignExtendedAtEveryWidth) {
  for (uint16_t width = 1; width <= 64; ++width) {
    const Leaf leaf = Plain(LeafType::kInt, width);
    EXPECT_EQ(Decoded(leaf, Ones(width)).signed_value, -1) << width;
    EXPECT_EQ(Again(leaf, Ones(width)), Ones(width));
    const uint64_t least = uint64_t{1} << (width - 1);
    EXPECT_LT(Decoded(leaf, least).signed_value, 0) << width;
    EXPECT_EQ(Again(leaf, least), least);
    if (width < 64) {
      Value value = Decoded(leaf, least);
      --value.signed_value;
      EXPECT_EQ(EncodeValue(Gfx9(), leaf, value), std::nullopt) << width;
    }
  }
}

TEST(Addresses, Have48BitsAndTheirSignCopiesComeBack) {
  Leaf leaf = Plain(LeafType::kAddress, 52);
  leaf.shift = 12;
  // 0xffff800000000000 as the field holds it.
  const uint64_t high = 0xffff800000000000u >> 12;
  EXPECT_EQ(Decoded(leaf, high).unsigned_value, 0x800000000000u);
  EXPECT_TRUE(Decoded(leaf, high).needs_raw);
  EXPECT_FALSE(Decoded(leaf, 0x123456).needs_raw);
  EXPECT_EQ(Again(leaf, 0x123456), 0x123456u);
  EXPECT_EQ(Again(leaf, 0x7ffffffffu), 0x7ffffffffu);

  // A canonical address goes into a field that has room for fewer copies of its sign.
  Leaf narrow = Plain(LeafType::kAddress, 36);
  narrow.shift = 12;
  Value value;
  value.kind = ValueKind::kAddress;
  value.unsigned_value = 0xffff900000000000u;
  EXPECT_EQ(EncodeValue(Gfx9(), narrow, value), 0x900000000u);
  value.unsigned_value = 0x0001900000000000u;  // not canonical
  EXPECT_EQ(EncodeValue(Gfx9(), narrow, value), std::nullopt);
  value.unsigned_value = 0x1001;  // not aligned
  EXPECT_EQ(EncodeValue(Gfx9(), narrow, value), std::nullopt);
}

TEST(Addresses, HaveAsManyBitsAsTheDescriptionSays) {
  const tables::Tables wide = TablesOf(R"(
<packsmith family="test" generation="wide" title="Wide" address-bits="57">
  <stream name="commands"/>
  <packet name="BIND" dwords="3">
    <field name="Opcode" dword="0" bits="31:24" type="uint" forced="1"/>
    <field name="Address" dword="1" bits="63:12" type="address"/>
  </packet>
</packsmith>)");
  EXPECT_EQ(wide.address_mask(), 0x1ffffffffffffffu);
  EXPECT_EQ(Gfx9().address_mask(), 0xffffffffffffu);
  Leaf leaf = Plain(LeafType::kAddress, 52);
  leaf.shift = 12;
  const uint64_t far = uint64_t{1} << 55, high = ~uint64_t{0} << 56;
  EXPECT_EQ(DecodeValue(wide, leaf, 52, far >> 12).unsigned_value, far);
  EXPECT_FALSE(DecodeValue(wide, leaf, 52, far >> 12).needs_raw);
  EXPECT_EQ(DecodeValue(wide, leaf, 52, high >> 12).unsigned_value, uint64_t{1} << 56);
  EXPECT_EQ(NumberOfBits(wide, leaf, 52, high >> 12), uint64_t{1} << 56);
  EXPECT_EQ(NumberOfBits(Gfx9(), leaf, 52, far >> 12), 0u);
  // One of 48 bits, as drivers write it into packets.
  const uint64_t canonical = 0xfffffffeeffe0000u;
  EXPECT_EQ(DecodeValue(wide, leaf, 52, canonical >> 12).unsigned_value, 0xfffeeffe0000u);
  EXPECT_EQ(NumberOfBits(wide, leaf, 52, canonical >> 12), 0xfffeeffe0000u);
  Leaf narrow = Plain(LeafType::kAddress, 45);
  narrow.shift = 12;
  Value value;
  value.kind = ValueKind::kAddress;
  value.unsigned_value = high;
  EXPECT_EQ(EncodeValue(wide, narrow, value), uint64_t{1} << 44);
  Leaf of_48_bits = Plain(LeafType::kAddress, 36);
  of_48_bits.shift = 12;
  value.unsigned_value = canonical;
  EXPECT_EQ(EncodeValue(wide, of_48_bits, value), 0xfffeeffe0u);
  value.unsigned_value = uint64_t{1} << 57;  // not canonical
  EXPECT_EQ(EncodeValue(wide, narrow, value), std::nullopt);
}

// ------------------------------------------------------------------------------------------------
// Encodings, on leaves of the miniature.

const Leaf& LeafOf(const tables::Tables& tables, absl::string_view container,
                   absl::string_view name) {
  const uint32_t index = tables.FindContainer(container);
  for (const Leaf& leaf : tables.leaves(tables.container(index).leaves)) {
    if (tables.string(leaf.name) == name) return leaf;
  }
  ADD_FAILURE() << container << "." << name;
  return tables.leaf(0);
}

uint64_t NumberIn(absl::string_view container, absl::string_view name, uint64_t raw) {
  const Leaf& leaf = LeafOf(Mini(), container, name);
  return DecodeValue(Mini(), leaf, leaf.width, raw).unsigned_value;
}
std::optional<uint64_t> RawIn(absl::string_view container, absl::string_view name,
                              uint64_t number) {
  const Leaf& leaf = LeafOf(Mini(), container, name);
  Value value;
  value.unsigned_value = number;
  return EncodeValue(Mini(), leaf, value);
}

TEST(Groups, ZeroStandsForAllThereCanBe) {
  // Three bits, groups of 64.
  EXPECT_EQ(NumberIn("Vertex Program", "Uniform count", 0), 512u);
  EXPECT_EQ(NumberIn("Vertex Program", "Uniform count", 1), 64u);
  EXPECT_EQ(NumberIn("Vertex Program", "Uniform count", 7), 448u);
  EXPECT_EQ(RawIn("Vertex Program", "Uniform count", 512), 0u);
  EXPECT_EQ(RawIn("Vertex Program", "Uniform count", 449), 0u);
  EXPECT_EQ(RawIn("Vertex Program", "Uniform count", 448), 7u);
  EXPECT_EQ(RawIn("Vertex Program", "Uniform count", 65), 2u);
  EXPECT_EQ(RawIn("Vertex Program", "Uniform count", 0), 1u);  // none takes one group
  EXPECT_EQ(RawIn("Vertex Program", "Uniform count", 513), std::nullopt);
  EXPECT_EQ(RawIn("Vertex Program", "Uniform count", ~uint64_t{0}), std::nullopt);
}

TEST(Minus, IsAddedWhenReadAndTakenAwayWhenWritten) {
  EXPECT_EQ(NumberIn("Texture", "Width", 0), 1u);
  EXPECT_EQ(NumberIn("Texture", "Width", 16383), 16384u);
  EXPECT_EQ(RawIn("Texture", "Width", 16384), 16383u);
  EXPECT_EQ(RawIn("Texture", "Width", 0), std::nullopt);
  EXPECT_EQ(RawIn("Texture", "Width", 16385), std::nullopt);
}

TEST(Log2, ReadsPowersAndWritesNothingElse) {
  EXPECT_EQ(NumberIn("Set Shared Memory", "Samples", 3), 8u);
  EXPECT_EQ(RawIn("Set Shared Memory", "Samples", 4), 2u);
  EXPECT_EQ(RawIn("Set Shared Memory", "Samples", 3), std::nullopt);
  EXPECT_EQ(RawIn("Set Shared Memory", "Samples", 0), std::nullopt);
  EXPECT_EQ(RawIn("Set Shared Memory", "Samples", 16), std::nullopt);
}

TEST(Shift, DropsNoBitsThatAreSet) {
  EXPECT_EQ(NumberIn("Texture", "Stride", 3), 48u);
  EXPECT_EQ(RawIn("Texture", "Stride", 48), 3u);
  EXPECT_EQ(RawIn("Texture", "Stride", 47), std::nullopt);
  // Rounded up instead if the field requires it.
  EXPECT_EQ(RawIn("Set Registers", "Spill", 17), 2u);
  EXPECT_EQ(RawIn("Set Registers", "Spill", 4081), std::nullopt);
}

// ------------------------------------------------------------------------------------------------
// Every leaf there is.

std::vector<uint64_t> Patterns(uint32_t width, std::mt19937_64& random) {
  std::vector<uint64_t> patterns{0, Ones(width)};
  for (uint32_t i = 0; i < width; ++i) {
    patterns.push_back(uint64_t{1} << i);
    patterns.push_back(Ones(width) ^ uint64_t{1} << i);
  }
  for (int i = 0; i < 64; ++i) patterns.push_back(random() & Ones(width));
  return patterns;
}

void CheckEveryLeaf(const tables::Tables& tables) {
  std::mt19937_64 random(7);
  uint64_t checked = 0;
  const auto check = [&](const Leaf& leaf) {
    if (leaf.width > 64) return;
    for (const uint64_t raw : Patterns(leaf.width, random)) {
      const Value value = DecodeValue(tables, leaf, leaf.width, raw);
      if (value.needs_raw) continue;
      ++checked;
      ASSERT_EQ(EncodeValue(tables, leaf, value), raw)
          << tables.string(leaf.name) << " at bit " << leaf.bit << ", width " << leaf.width
          << ", raw " << std::hex << raw;
    }
  };
  for (const tables::Container& container : tables.containers()) {
    for (const Leaf& leaf : tables.leaves(container.leaves)) check(leaf);
    for (const Leaf& leaf : tables.leaves(container.tail_leaves)) check(leaf);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(checked, 10000u);
}

TEST(EveryLeaf, OfGfx9ComesBackFromItsValueWhereNoRawBitsAreNeeded) { CheckEveryLeaf(Gfx9()); }
TEST(EveryLeaf, OfTheMiniatureComesBackFromItsValueWhereNoRawBitsAreNeeded) {
  CheckEveryLeaf(Mini());
}

}  // namespace
}  // namespace packsmith::decode
