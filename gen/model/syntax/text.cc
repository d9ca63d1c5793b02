#include "gen/model/syntax/text.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace packsmith::model {

bool ParseUnsigned(absl::string_view text, uint64_t& value) {
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    return absl::SimpleHexAtoi(text, &value);
  }
  // SimpleAtoi would skip spaces and take signs.
  return !text.empty() && absl::ascii_isdigit(static_cast<unsigned char>(text[0])) &&
         absl::SimpleAtoi(text, &value);
}

bool ParseSigned(absl::string_view text, int64_t& value) {
  uint64_t magnitude = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (!ParseUnsigned(negative ? text.substr(1) : text, magnitude)) return false;
  if (magnitude > uint64_t{1} << 63 || (magnitude == uint64_t{1} << 63 && !negative)) return false;
  value = negative ? static_cast<int64_t>(0 - magnitude) : static_cast<int64_t>(magnitude);
  return true;
}

size_t FirstBadByte(absl::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      if (lead < 0x20 && lead != '\t' && lead != '\n' && lead != '\r') return i;
      ++i;
      continue;
    }
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    // 0xc0 and 0xc1 would spell ASCII in two bytes, leads above 0xf4 lie beyond Unicode.
    if (lead < 0xc2 || lead > 0xf4 || length > text.size() - i) return i;
    uint32_t code = lead & (0x7fu >> length);
    for (size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0) != 0x80) return i;
      code = code << 6 | (next & 0x3fu);
    }
    if ((length == 3 && code < 0x800) || (length == 4 && (code < 0x10000 || code > 0x10ffff)) ||
        (code >= 0xd800 && code < 0xe000)) {
      return i;
    }
    i += length;
  }
  return text.size();
}

std::string FoldedText(const std::string& text) {
  return absl::StrJoin(absl::StrSplit(text, absl::ByAnyChar(" \t\r\n"), absl::SkipEmpty()), " ");
}

bool ParseHighLow(const std::string& text, uint64_t& high, uint64_t& low) {
  const std::vector<absl::string_view> ends = absl::StrSplit(text, ':');
  if (ends.size() == 1) {
    const bool good = ParseUnsigned(ends[0], high);
    low = high;
    return good;
  }
  return ends.size() == 2 && ParseUnsigned(ends[0], high) && ParseUnsigned(ends[1], low) &&
         high >= low;
}

}  // namespace packsmith::model
