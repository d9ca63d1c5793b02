#include "tools/commands/plan.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "runtime/base/closest.h"
#include "runtime/decode/record.h"
#include "tools/commands/formats.h"

namespace packsmith::commands {
namespace {

// "A..B", both hexadecimal; either may be omitted.
bool ParseRange(absl::string_view text, decode::Filter& filter) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits("..", 1));
  if (parts.size() != 2) return false;
  if (!parts[0].empty() && !absl::SimpleHexAtoi(parts[0], &filter.first)) return false;
  if (!parts[1].empty() && !absl::SimpleHexAtoi(parts[1], &filter.end)) return false;
  return filter.first < filter.end;
}

// For input that does not end: what memory can hold, with room for what is derived from it.
uint64_t UsualMaxInput() {
  const auto pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return kDefaultMaxBytes;
  return std::min(kDefaultMaxBytes, static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) / 2);
}

}  // namespace

absl::StatusOr<Plan> PlanOf(const Arguments& arguments) {
  Plan plan;
  auto& [raw, filter, options, fail_on] = plan;
  raw.format = arguments.input_format;
  raw.generation = arguments.generation;
  raw.stream = arguments.stream;
  if (!arguments.engine.empty()) raw.engine = arguments.engine;
  filter.names = absl::StrSplit(arguments.filter, ',', absl::SkipWhitespace());
  if (absl::StrContains(arguments.address, "..")) {
    if (!ParseRange(arguments.address, filter)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--address=", arguments.address,
                       " is not a range; give two hexadecimal numbers, the first below the "
                       "second: --address=0x1000..0x2000"));
    }
  } else if (!arguments.address.empty() && !absl::SimpleHexAtoi(arguments.address, &raw.address)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--address=", arguments.address, " is not a hexadecimal number"));
  }

  if (const absl::Status status = arguments.questions.Check(); !status.ok()) {
    return status;
  }
  if (arguments.questions.IsList() && absl::StrContains(arguments.address, "..")) {
    return absl::InvalidArgumentError(
        "--draws, --uses and --query print lists; a range of addresses selects records");
  }

  options.follow = arguments.follow == "none"      ? decode::Follow::kNone
                   : arguments.follow == "batches" ? decode::Follow::kBatches
                                                   : decode::Follow::kAll;
  const FormatFacts& format = FactsOf(arguments.format);
  options.brief = format.brief;
  options.continue_past_end = arguments.continue_past_end;
  if (arguments.max_packets != 0) {
    options.most_packets = options.least_packets = arguments.max_packets;
  }
  if (arguments.max_structs != 0) {
    options.most_structs = options.least_structs = arguments.max_structs;
  }
  if (arguments.max_code != 0) options.most_code_bytes = arguments.max_code;
  if (arguments.max_stores != 0) {
    options.most_stores = options.least_stores = arguments.max_stores;
  }
  if (arguments.max_calls != 0) options.deepest_call = arguments.max_calls;
  if (arguments.max_pointers != 0) options.deepest_pointer = arguments.max_pointers;
  raw.max_bytes = arguments.max_input != 0 ? arguments.max_input : UsualMaxInput();
  for (const absl::string_view what :
       absl::StrSplit(arguments.fail_on, ',', absl::SkipWhitespace())) {
    bool known = what == "unknown" || what == "problem" || what == "fault";
    for (size_t i = 0; i < decode::kFaultKinds; ++i) {
      const bool is = what == decode::FaultKindName(static_cast<decode::FaultKind>(i));
      fail_on.faults[i] |= is || what == "fault";
      known |= is;
    }
    if (!known) {
      return absl::InvalidArgumentError(
          absl::StrCat("--fail-on=", what,
                       ": there are fault, reserved, forced, range, beyond-length, unmapped, "
                       "truncated; unknown and problem always count",
                       DidYouMean(what, {"fault", "reserved", "forced", "range", "beyond-length",
                                         "unmapped", "truncated"})));
    }
    if (options.brief && what != "unknown" && what != "problem") {
      return absl::InvalidArgumentError(
          absl::StrCat("--fail-on=", what, " and --format=", arguments.format,
                       " do not go together: that format does not read fields"));
    }
  }
  if (options.brief && (arguments.strict || !arguments.kernels.empty())) {
    return absl::InvalidArgumentError(absl::StrCat(
        arguments.strict ? "--strict" : "--kernels", " and --format=", arguments.format,
        " do not go together: that format does not read fields"));
  }
  if (!format.by_line && (arguments.hang || arguments.strict)) {
    return absl::InvalidArgumentError(absl::StrCat(arguments.hang ? "--hang" : "--strict",
                                                   " and --format=", arguments.format,
                                                   " do not go together; give text or jsonl"));
  }
  if (arguments.strict) {
    fail_on.faults.fill(true);
    fail_on.undescribed = true;
  }
  return plan;
}

}  // namespace packsmith::commands
