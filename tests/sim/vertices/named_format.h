// Formats by what their names say, bit by bit: a second opinion on the tables' formats.
#ifndef PACKSMITH_TESTS_SIM_VERTICES_NAMED_FORMAT_H_
#define PACKSMITH_TESTS_SIM_VERTICES_NAMED_FORMAT_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/sim/vertices/vertex_format.h"

namespace packsmith::sim {

inline uint32_t BitsOf(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

struct NamedComponent {
  char letter;
  uint32_t bit, width;
  std::string type;
};

// Letters with numbers of bits, then their type; R10G10B10_SNORM_A2_UNORM has two types. Empty for
// names that are not made like that.
inline std::optional<std::vector<NamedComponent>> ReadFormatName(absl::string_view name) {
  std::vector<NamedComponent> all;
  uint32_t bit = 0;
  size_t typed = 0;
  for (size_t at = 0; at < name.size();) {
    if (name[at] == '_') {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < name.size() && name[end] != '_') ++end;
    const absl::string_view word = name.substr(at, end - at);
    const bool is_type = word == "UNORM" || word == "SNORM" || word == "UINT" || word == "SINT" ||
                         word == "FLOAT" || word == "USCALED" || word == "SSCALED" ||
                         word == "SFIXED";
    if (is_type) {
      for (; typed < all.size(); ++typed) all[typed].type = std::string(word);
      at = end;
      continue;
    }
    for (size_t i = at; i < end;) {
      const char letter = name[i++];
      uint32_t width = 0;
      while (i < end && name[i] >= '0' && name[i] <= '9') {
        width = width * 10 + static_cast<uint32_t>(name[i++] - '0');
      }
      if (absl::string_view("RGBA").find(letter) == absl::string_view::npos || width == 0) {
        return std::nullopt;
      }
      all.push_back({letter, bit, width, ""});
      bit += width;
    }
    at = end;
  }
  if (all.empty() || typed != all.size()) return std::nullopt;
  return all;
}

// The component as the vertex shader gets it.
inline uint32_t NaiveComponent(const NamedComponent& part, const std::vector<uint8_t>& element) {
  uint64_t raw = 0;
  for (uint32_t i = 0; i < part.width; ++i) {
    const uint32_t at = part.bit + i;
    raw |= uint64_t{(element[at / 8] >> (at % 8)) & 1u} << i;
  }
  const double ones = std::exp2(part.width) - 1;
  const double sign = (raw >> (part.width - 1) & 1) != 0 ? std::exp2(part.width) : 0;
  const double number = static_cast<double>(raw) - sign;
  if (part.type == "UINT") return static_cast<uint32_t>(raw);
  if (part.type == "SINT") return static_cast<uint32_t>(static_cast<int64_t>(number));
  if (part.type == "UNORM") return BitsOf(static_cast<float>(static_cast<double>(raw) / ones));
  if (part.type == "SNORM") {
    return BitsOf(static_cast<float>(std::max(number / ((ones - 1) / 2), -1.0)));
  }
  if (part.type == "USCALED") return BitsOf(static_cast<float>(static_cast<double>(raw)));
  if (part.type == "SSCALED") return BitsOf(static_cast<float>(number));
  if (part.type == "SFIXED") return BitsOf(static_cast<float>(number / 65536));
  if (part.width == 32) return static_cast<uint32_t>(raw);
  if (part.width == 64) {
    double real = 0;
    std::memcpy(&real, &raw, sizeof(real));
    return BitsOf(static_cast<float>(real));
  }
  return WidenFloat(static_cast<uint32_t>(raw), part.width);
}

}  // namespace packsmith::sim

#endif  // PACKSMITH_TESTS_SIM_VERTICES_NAMED_FORMAT_H_
