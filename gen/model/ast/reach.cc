#include "gen/model/ast/reach.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace packsmith::model {
namespace {

constexpr uint32_t kBits = 128;
constexpr uint32_t kWidest = 32;

struct Bits {
  uint32_t low = 0, width = 0;
};

// "HIGH:LOW", or one bit.
bool ParseBits(absl::string_view text, Bits& bits) {
  const std::vector<std::string> ends =
      absl::StrSplit(absl::StripAsciiWhitespace(text), absl::MaxSplits(':', 1));
  uint32_t high = 0;
  if (!absl::SimpleAtoi(ends.front(), &high) || !absl::SimpleAtoi(ends.back(), &bits.low)) {
    return false;
  }
  if (bits.low > high || high >= kBits || high - bits.low >= kWidest) return false;
  bits.width = high - bits.low + 1;
  return true;
}

bool ParseTerm(absl::string_view text, Reach& reach) {
  const std::vector<std::string> sides = absl::StrSplit(text, absl::MaxSplits('=', 1));
  Bits bits;
  if (sides.size() != 2 || !ParseBits(sides[0], bits)) return false;
  const absl::string_view number = absl::StripAsciiWhitespace(sides[1]);
  uint64_t value = 0;
  if (absl::StartsWith(number, "0x") ? !absl::SimpleHexAtoi(number, &value)
                                     : !absl::SimpleAtoi(number, &value)) {
    return false;
  }
  if (value >> bits.width != 0) return false;
  for (uint32_t i = 0; i < bits.width; ++i) {
    const uint32_t bit = bits.low + i;
    reach.mask[bit / 32] |= 1u << bit % 32;
    reach.value[bit / 32] |= static_cast<uint32_t>(value >> i & 1) << bit % 32;
  }
  return true;
}

}  // namespace

absl::StatusOr<Reach> ReachOf(absl::string_view where, absl::string_view index) {
  Reach reach;
  for (const absl::string_view term : absl::StrSplit(where, " and ")) {
    if (ParseTerm(term, reach)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("where=\"", where,
                     "\" must say what bits of the first 128 of an instruction are: \"6:0=0x31 and "
                     "27:24=5\""));
  }
  Bits bits;
  if (!ParseBits(index, bits)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "index=\"", index,
        "\" must name at most 32 of the first 128 bits of an instruction: \"103:96\""));
  }
  reach.bit = bits.low;
  reach.width = bits.width;
  return reach;
}

}  // namespace packsmith::model
