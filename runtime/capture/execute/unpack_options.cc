#include "runtime/capture/execute/unpack_options.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/base/closest.h"

namespace packsmith::capture {
namespace {

constexpr absl::string_view kFlags[] = {"hide-zero", "no-offsets", "strict", "continue-past-end"};
constexpr absl::string_view kValued[] = {"format",      "filter",      "follow",   "color",
                                         "max-packets", "max-structs", "max-code", "max-stores",
                                         "max-calls",   "max-pointers"};

absl::Status Unknown(absl::string_view name) {
  std::vector<absl::string_view> all(std::begin(kFlags), std::end(kFlags));
  all.insert(all.end(), std::begin(kValued), std::end(kValued));
  return absl::InvalidArgumentError(absl::StrCat("--unpack has no option ", name, "; there are ",
                                                 absl::StrJoin(all, ", "), DidYouMean(name, all)));
}

// The index of the value among those that the option may have.
absl::StatusOr<size_t> Choose(absl::string_view name, absl::string_view value,
                              absl::Span<const absl::string_view> all) {
  const auto found = std::find(all.begin(), all.end(), value);
  if (found != all.end()) return static_cast<size_t>(found - all.begin());
  return absl::InvalidArgumentError(absl::StrCat("--unpack: ", name, "=", value,
                                                 ": must be one of ", absl::StrJoin(all, ", "),
                                                 DidYouMean(value, all)));
}

absl::StatusOr<uint64_t> Number(absl::string_view name, absl::string_view value, uint64_t most) {
  uint64_t number = 0;
  if (absl::SimpleAtoi(value, &number) && number != 0 && number <= most) return number;
  return absl::InvalidArgumentError(
      absl::StrCat("--unpack: ", name, "=", value, ": must be a number from 1 to ", most));
}

absl::Status Set(absl::string_view name, absl::string_view value, UnpackOptions& options) {
  const auto choose = [&](absl::Span<const absl::string_view> all, auto& to) {
    const absl::StatusOr<size_t> index = Choose(name, value, all);
    if (index.ok()) to = static_cast<std::decay_t<decltype(to)>>(*index);
    return index.status();
  };
  const auto number = [&](uint64_t most, auto& to) {
    const absl::StatusOr<uint64_t> found = Number(name, value, most);
    if (found.ok()) to = static_cast<std::decay_t<decltype(to)>>(*found);
    return found.status();
  };
  if (name == "format") return choose({"text", "jsonl", "stats", "names"}, options.format);
  if (name == "follow") return choose({"none", "batches", "all"}, options.follow);
  if (name == "filter") {
    options.filter = absl::StrSplit(value, ',', absl::SkipWhitespace());
    return absl::OkStatus();
  }
  if (name == "color") {
    uint8_t when = 0;
    const absl::Status status = choose({"auto", "never", "always"}, when);
    options.color = when == 2;
    return status;
  }
  // The bounds of unpack.
  constexpr uint64_t kMost = uint64_t{1} << 40;
  if (name == "max-packets") return number(kMost, options.max_packets);
  if (name == "max-structs") return number(kMost, options.max_structs);
  if (name == "max-code") return number(kMost, options.max_code);
  if (name == "max-stores") return number(kMost, options.max_stores);
  if (name == "max-calls") return number(256, options.max_calls);
  return number(64, options.max_pointers);
}

}  // namespace

absl::StatusOr<UnpackOptions> ParseUnpackOptions(absl::string_view text) {
  UnpackOptions options;
  for (absl::string_view word : absl::StrSplit(text, absl::ByAnyChar(" \t\n"), absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(absl::StripPrefix(word, "--"), absl::MaxSplits('=', 1));
    const bool has_value = word.find('=') != absl::string_view::npos;
    const bool is_flag =
        std::find(std::begin(kFlags), std::end(kFlags), parts.first) != std::end(kFlags);
    const bool is_valued =
        std::find(std::begin(kValued), std::end(kValued), parts.first) != std::end(kValued);
    if (!is_flag && !is_valued) return Unknown(parts.first);
    if (is_flag == has_value) {
      return absl::InvalidArgumentError(
          absl::StrCat("--unpack: ", parts.first, is_flag ? " takes no value" : " needs a value: ",
                       is_flag ? "" : absl::StrCat(parts.first, "=...")));
    }
    if (is_valued) {
      if (absl::Status status = Set(parts.first, parts.second, options); !status.ok()) {
        return status;
      }
    } else {
      (parts.first == "hide-zero"    ? options.hide_zero
       : parts.first == "no-offsets" ? options.no_offsets
       : parts.first == "strict"     ? options.strict
                                     : options.continue_past_end) = true;
    }
  }
  return options;
}

}  // namespace packsmith::capture
