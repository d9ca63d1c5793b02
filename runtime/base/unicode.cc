#include "runtime/base/unicode.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace packsmith {
namespace {

// First and last of each run, in order. Unicode 15: categories Cc, Cf, Zl and Zp.
constexpr std::pair<uint32_t, uint32_t> kHidden[] = {
    {0x0000, 0x001f},   {0x007f, 0x009f},   {0x00ad, 0x00ad},   {0x0600, 0x0605},
    {0x061c, 0x061c},   {0x06dd, 0x06dd},   {0x070f, 0x070f},   {0x0890, 0x0891},
    {0x08e2, 0x08e2},   {0x180e, 0x180e},   {0x200b, 0x200f},   {0x2028, 0x202e},
    {0x2060, 0x206f},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x110bd, 0x110bd},
    {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
    {0xe0001, 0xe0001}, {0xe0020, 0xe007f},
};

}  // namespace

CodePoint FirstCodePoint(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || bytes > text.size()) return {lead, 1, false};
  uint32_t value = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {lead, 1, false};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  if (overlong || surrogate || value > 0x10ffff) return {lead, 1, false};
  return {value, bytes, true};
}

bool IsHidden(uint32_t code_point) {
  const auto* const run = std::find_if(std::begin(kHidden), std::end(kHidden),
                                       [&](const auto& one) { return code_point <= one.second; });
  return run != std::end(kHidden) && code_point >= run->first;
}

std::string JsonEscape(uint32_t code_point) {
  if (code_point < 0x10000) return absl::StrFormat("\\u%04x", code_point);
  const uint32_t above = code_point - 0x10000;
  return absl::StrFormat("\\u%04x\\u%04x", 0xd800 + (above >> 10), 0xdc00 + (above & 0x3ff));
}

std::string JsonWithHiddenEscaped(std::string json) {
  const bool plain = std::all_of(json.begin(), json.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (plain) return json;
  std::string escaped;
  for (absl::string_view rest = json; !rest.empty();) {
    const CodePoint first = FirstCodePoint(rest);
    if (first.valid && first.value >= 0x80 && IsHidden(first.value)) {
      escaped += JsonEscape(first.value);
    } else {
      absl::StrAppend(&escaped, rest.substr(0, first.bytes));
    }
    rest.remove_prefix(first.bytes);
  }
  return escaped;
}

}  // namespace packsmith
