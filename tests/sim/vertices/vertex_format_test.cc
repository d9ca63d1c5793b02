#include "runtime/sim/vertices/vertex_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tests/decode/world.h"
#include "tests/sim/vertices/named_format.h"

namespace packsmith::sim {
namespace {

using decode::Gfx9;

float FloatOf(uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// The values of the fields of an element that stand for formats.
std::vector<tables::NamedValue> Formats() {
  std::vector<tables::NamedValue> all;
  const uint32_t container = Gfx9().FindContainer("VERTEX_ELEMENT_STATE");
  if (container == tables::kNone) return all;
  for (const tables::Leaf& leaf : Gfx9().leaves(Gfx9().container(container).leaves)) {
    if (leaf.named == tables::kNone) continue;
    for (const tables::NamedValue& value : Gfx9().values(Gfx9().enumeration(leaf.named).values)) {
      if (value.format != tables::kNone) all.push_back(value);
    }
  }
  return all;
}

VertexFormat FormatNamed(absl::string_view name) {
  for (const tables::NamedValue& value : Formats()) {
    if (Gfx9().string(value.name) != name) continue;
    const absl::StatusOr<VertexFormat> format =
        MakeVertexFormat(Gfx9(), Gfx9().format(value.format));
    if (!format.ok()) ADD_FAILURE() << name << ": " << format.status();
    return format.value_or(VertexFormat{});
  }
  ADD_FAILURE() << name;
  return {};
}

std::vector<uint64_t> Converted(absl::string_view name, const std::vector<uint8_t>& element) {
  const VertexFormat format = FormatNamed(name);
  EXPECT_EQ(format.bytes, element.size()) << name;
  std::vector<uint64_t> all;
  for (uint32_t i = 0; i < 4; ++i) all.push_back(ConvertComponent(format, i, element));
  return all;
}

using Values = std::vector<uint64_t>;

TEST(VertexFormat, IntegersAreExtended) {
  EXPECT_EQ(Converted("R8G8B8A8_UINT", {1, 2, 0x83, 0xff}), (Values{1, 2, 0x83, 0xff}));
  EXPECT_EQ(Converted("R8G8B8A8_SINT", {1, 2, 0x83, 0xff}), (Values{1, 2, 0xffffff83, 0xffffffff}));
  EXPECT_EQ(Converted("R32G32_SINT", {0, 0, 0, 0x80, 1, 0, 0, 0}), (Values{0x80000000, 1, 0, 1}))
      << "what is missing is 0, alpha is 1";
}

TEST(VertexFormat, TheRestIsFloat) {
  EXPECT_EQ(Converted("R8G8B8A8_UNORM", {0, 255, 51, 1}),
            (Values{0, BitsOf(1), BitsOf(0.2f), BitsOf(1.0f / 255)}));
  EXPECT_EQ(Converted("R8G8B8A8_SNORM", {0x80, 0x81, 0x7f, 0}),
            (Values{BitsOf(-1), BitsOf(-1), BitsOf(1), 0}));
  EXPECT_EQ(Converted("R8G8B8A8_USCALED", {0, 255, 51, 1}),
            (Values{0, BitsOf(255), BitsOf(51), BitsOf(1)}));
  EXPECT_EQ(Converted("R8G8_SSCALED", {0xff, 2}), (Values{BitsOf(-1), BitsOf(2), 0, BitsOf(1)}))
      << "what is missing is 0, alpha is 1";
  EXPECT_EQ(Converted("R32_SFIXED", {0, 0x80, 0xff, 0xff}),
            (Values{BitsOf(-0.5), 0, 0, BitsOf(1)}));
  EXPECT_EQ(Converted("R64_FLOAT", {0, 0, 0, 0, 0, 0, 0xf8, 0x3f}),
            (Values{BitsOf(1.5), 0, 0, BitsOf(1)}));
}

TEST(VertexFormat, LettersNameTheShadersComponents) {
  EXPECT_EQ(Converted("B8G8R8A8_UNORM", {0, 255, 51, 255}),
            (Values{BitsOf(0.2f), BitsOf(1), 0, BitsOf(1)}));
  EXPECT_EQ(Converted("R8G8B8X8_UNORM", {255, 0, 0, 0}), (Values{BitsOf(1), 0, 0, BitsOf(1)}));
  EXPECT_EQ(Converted("L8A8_UNORM", {255, 0}), (Values{BitsOf(1), BitsOf(1), BitsOf(1), 0}));
  EXPECT_EQ(Converted("I8_UNORM", {255}), (Values{BitsOf(1), BitsOf(1), BitsOf(1), BitsOf(1)}));
  EXPECT_EQ(Converted("A8_UNORM", {255}), (Values{0, 0, 0, BitsOf(1)}));
}

TEST(VertexFormat, PassingThroughKeepsSixtyFourBits) {
  const VertexFormat format = FormatNamed("R64G64_PASSTHRU");
  EXPECT_TRUE(format.wide);
  EXPECT_EQ(Converted("R64_PASSTHRU", {1, 2, 3, 4, 5, 6, 7, 0x88})[0], 0x8807060504030201u);
  EXPECT_FALSE(FormatNamed("R64_FLOAT").wide);
}

TEST(VertexFormat, FloatsKeepTheirBits) {
  // A signalling NaN is none of the conversion's business.
  EXPECT_EQ(Converted("R32_FLOAT", {1, 0, 0xa0, 0x7f})[0], 0x7fa00001u);
  EXPECT_EQ(Converted("R16_FLOAT", {1, 0xfc})[0] & 0xff800000, 0xff800000u);
  EXPECT_TRUE(std::isnan(FloatOf(static_cast<uint32_t>(Converted("R16_FLOAT", {1, 0xfc})[0]))));
}

TEST(VertexFormat, EverySmallFloatIsExact) {
  for (const uint32_t width : {10u, 11u, 16u}) {
    const uint32_t mantissa_bits = width == 16 ? 10 : width - 5;
    for (uint32_t bits = 0; bits < 1u << width; ++bits) {
      const bool negative = width == 16 && bits >> 15 != 0;
      const int exponent = static_cast<int>(bits >> mantissa_bits & 31);
      const double fraction = (bits & ((1u << mantissa_bits) - 1)) / std::exp2(mantissa_bits);
      const float got = FloatOf(WidenFloat(bits, width));
      ASSERT_EQ(std::signbit(got), negative) << bits;
      if (exponent == 31) {
        ASSERT_EQ(std::isnan(got), fraction != 0) << bits;
        ASSERT_EQ(std::isinf(got), fraction == 0) << bits;
        continue;
      }
      const double value =
          exponent == 0 ? fraction * std::exp2(-14) : (1 + fraction) * std::exp2(exponent - 15);
      ASSERT_EQ(static_cast<double>(got), negative ? -value : value) << width << " bits " << bits;
    }
  }
}

TEST(VertexFormat, EveryFormatOfVerticesIsWhatItsNameSays) {
  std::mt19937 random(7);
  std::map<std::string, int> types;
  int formats = 0;
  for (const tables::NamedValue& value : Formats()) {
    const std::string name(Gfx9().string(value.name));
    const std::optional<std::vector<NamedComponent>> parts = ReadFormatName(name);
    if (!parts) continue;
    ++formats;
    const VertexFormat format = FormatNamed(name);
    for (int round = 0; round < 20; ++round) {
      std::vector<uint8_t> element(format.bytes);
      for (uint8_t& byte : element) {
        byte = round == 0 ? 0 : round == 1 ? 0xff : static_cast<uint8_t>(random());
      }
      for (const NamedComponent& part : *parts) {
        const auto letter = absl::string_view("RGBA").find(part.letter);
        ++types[part.type];
        const uint64_t got = ConvertComponent(format, static_cast<uint32_t>(letter), element);
        const uint32_t expected = NaiveComponent(part, element);
        if (part.type == "FLOAT" && std::isnan(FloatOf(expected))) {
          EXPECT_TRUE(std::isnan(FloatOf(static_cast<uint32_t>(got)))) << name;
        } else {
          EXPECT_EQ(got, expected) << name << "." << part.letter;
        }
      }
    }
  }
  EXPECT_GT(formats, 90);
  EXPECT_EQ(types.size(), 8u) << "all types occur";
}

TEST(VertexFormat, OddFormatsAreRejected) {
  const tables::Tables odd = decode::TablesOf(R"(
    <packsmith family="test" generation="odd" title="Odd">
      <data name="vertices"/>
      <enum name="Format">
        <value name="HUGE" value="1" components="R64 G64 B64 A64 X64 float"/>
        <value name="STRANGE" value="2" components="Q8 unorm"/>
      </enum>
      <struct name="Element" dwords="1">
        <field name="Format" dword="0" bits="7:0" type="uint" names="Format"/>
      </struct>
    </packsmith>)");
  const tables::Leaf& leaf = odd.leaves(odd.container(odd.FindContainer("Element")).leaves).front();
  const auto status = [&](uint64_t value) {
    return MakeVertexFormat(odd, odd.format(odd.FindValue(leaf, value)->format)).status();
  };
  EXPECT_TRUE(absl::StrContains(status(1).message(), "320 bits")) << status(1);
  EXPECT_TRUE(absl::StrContains(status(2).message(), "component Q")) << status(2);
}

}  // namespace
}  // namespace packsmith::sim
