#include "runtime/sim/vertices/vertex_format.h"

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/decode/fields/data.h"
#include "runtime/decode/fields/value.h"

namespace packsmith::sim {
namespace {

using tables::Component;
using tables::ComponentType;

constexpr uint32_t kOneFloat = 0x3f800000;

bool IsInteger(const Component& component) {
  return component.type == ComponentType::kUint || component.type == ComponentType::kSint;
}

// Which of the shader's components one of the format's is: the first and the number of them. None
// for unused bits.
struct Place {
  uint32_t first;
  uint32_t count;
};

absl::StatusOr<Place> PlaceOf(absl::string_view name) {
  if (name == "R") return Place{0, 1};
  if (name == "G") return Place{1, 1};
  if (name == "B") return Place{2, 1};
  if (name == "A") return Place{3, 1};
  if (name == "L" || name == "Y") return Place{0, 3};
  if (name == "I") return Place{0, 4};
  return absl::InvalidArgumentError(
      absl::StrCat("component ", name, " of a vertex format must be R, G, B, A, L, Y, I or X"));
}

}  // namespace

absl::StatusOr<VertexFormat> MakeVertexFormat(const tables::Tables& tables,
                                              const tables::Format& format) {
  if (format.bits == 0 || format.bits % 8 != 0 || format.bits / 8 > kMostElementBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a vertex format of ", format.bits,
                                                   " bits must have 1 to ", kMostElementBytes,
                                                   " whole bytes"));
  }
  VertexFormat made;
  made.bytes = format.bits / 8;
  for (const Component& component : tables.components(format)) {
    if (component.type == ComponentType::kUnused || component.width == 0) continue;
    const absl::StatusOr<Place> place = PlaceOf(tables.string(component.name));
    if (!place.ok()) return place.status();
    if (component.width > 32 && IsInteger(component)) made.wide = true;
    for (uint32_t i = 0; i < place->count; ++i) made.components[place->first + i] = component;
  }
  return made;
}

uint32_t WidenFloat(uint32_t bits, uint32_t width) {
  // Five bits of exponent in all of them.
  const uint32_t mantissa_bits = width == 16 ? 10 : width - 5;
  const uint32_t sign = width == 16 ? (bits & 0x8000) << 16 : 0;
  const uint32_t exponent = bits >> mantissa_bits & 31;
  uint32_t mantissa = (bits & ((1u << mantissa_bits) - 1)) << (23 - mantissa_bits);
  if (exponent == 31) return sign | 0x7f800000 | mantissa;
  if (exponent != 0) return sign | (exponent + 112) << 23 | mantissa;
  if (mantissa == 0) return sign;
  // What is too small for the exponent of the narrow one is not for the wide one.
  uint32_t wide = 113;
  while ((mantissa & 0x800000) == 0) {
    mantissa <<= 1;
    --wide;
  }
  return sign | wide << 23 | (mantissa & 0x7fffff);
}

uint64_t ConvertComponent(const VertexFormat& format, uint32_t component,
                          absl::Span<const uint8_t> element) {
  const Component& part = format.components[component];
  if (part.width == 0) {
    if (component != 3) return 0;
    return IsInteger(format.components[0]) ? 1 : kOneFloat;
  }
  switch (part.type) {
    case ComponentType::kUint:
      return decode::ReadBits(element, part.bit, part.width);
    case ComponentType::kSint: {
      const uint32_t unused = 64 - part.width;
      const uint64_t raw = decode::ReadBits(element, part.bit, part.width);
      const auto extended = static_cast<uint64_t>(static_cast<int64_t>(raw << unused) >> unused);
      return format.wide ? extended : static_cast<uint32_t>(extended);
    }
    case ComponentType::kFloat:
      if (part.width == 32) return decode::ReadBits(element, part.bit, 32);
      if (part.width == 64) break;
      return WidenFloat(static_cast<uint32_t>(decode::ReadBits(element, part.bit, part.width)),
                        part.width);
    default:
      break;
  }
  const auto real = static_cast<float>(decode::DecodeComponent(part, element).real);
  uint32_t bits = 0;
  std::memcpy(&bits, &real, sizeof(bits));
  return bits;
}

}  // namespace packsmith::sim
