#include "runtime/capture/records/options.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/base/closest.h"

namespace packsmith::capture {
namespace {

absl::Status Wrong(absl::string_view what) { return absl::InvalidArgumentError(what); }

absl::StatusOr<uint64_t> ParseNumber(absl::string_view key, absl::string_view text,
                                     uint64_t least) {
  uint64_t number = 0;
  if (!absl::SimpleAtoi(text, &number) || number < least) {
    return Wrong(
        absl::StrCat(key, "=", text, ": \"", text, "\" must be a whole number from ", least));
  }
  return number;
}

// Sets a number that may be given once. `given` is of the caller.
absl::Status SetOnce(absl::string_view key, absl::string_view text, uint64_t& number, bool& given) {
  if (std::exchange(given, true)) return Wrong(absl::StrCat(key, " is given twice; give it once"));
  const absl::StatusOr<uint64_t> parsed = ParseNumber(key, text, 1);
  if (parsed.ok()) number = *parsed;
  return parsed.status();
}

absl::Status AddTo(std::vector<uint64_t>& numbers, absl::string_view key, absl::string_view text) {
  const absl::StatusOr<uint64_t> parsed = ParseNumber(key, text, 0);
  if (parsed.ok()) numbers.push_back(*parsed);
  return parsed.status();
}

}  // namespace

absl::StatusOr<Only> ParseOnly(absl::string_view text) {
  Only only;
  bool has_from = false, has_count = false;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    const auto& [key, value] = halves;
    if (value.empty()) {
      return Wrong(
          absl::StrCat("\"", part,
                       "\" must be KEY=VALUE, with a KEY of engine, context, process, pid, "
                       "from, count"));
    }
    absl::Status status;
    if (key == "engine") {
      only.engines.emplace_back(value);
    } else if (key == "process") {
      only.processes.emplace_back(value);
    } else if (key == "context") {
      status = AddTo(only.contexts, key, value);
    } else if (key == "pid") {
      status = AddTo(only.pids, key, value);
    } else if (key == "from") {
      status = SetOnce(key, value, only.from, has_from);
    } else if (key == "count") {
      status = SetOnce(key, value, only.count, has_count);
    } else {
      return Wrong(
          absl::StrCat("\"", key, "\" must be one of engine, context, process, pid, from, count",
                       DidYouMean(key, {"engine", "context", "process", "pid", "from", "count"})));
    }
    if (!status.ok()) return status;
  }
  return only;
}

absl::StatusOr<uint64_t> ParseSize(absl::string_view text) {
  const auto wrong = [text] {
    return Wrong(absl::StrCat(
        "\"", text, "\" must be a number of bytes from 1 to 2^63, as 1048576, 512M or 2G"));
  };
  absl::string_view digits = text;
  unsigned shift = 0;
  if (!digits.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(digits.back()))) {
    constexpr absl::string_view kUnits = "KMGT";
    const size_t unit = kUnits.find(absl::ascii_toupper(static_cast<unsigned char>(digits.back())));
    if (unit == absl::string_view::npos) return wrong();
    shift = static_cast<unsigned>(unit + 1) * 10;
    digits.remove_suffix(1);
  }
  uint64_t number = 0;
  if (!absl::SimpleAtoi(digits, &number) || number == 0 || number > (uint64_t{1} << 63) >> shift) {
    return wrong();
  }
  return number << shift;
}

absl::Status SetRecordOption(absl::string_view name, absl::string_view value,
                             RecordOptions& options) {
  const auto wrong = [&](absl::string_view what) {
    return Wrong(absl::StrCat("--", name, "=", value, ": ", what));
  };
  if (name == "record" || name == "trigger") {
    if (value.empty()) return wrong(name == "record" ? "name a folder" : "name a file");
    (name == "record" ? options.folder : options.trigger) = std::string(value);
  } else if (name == "only") {
    absl::StatusOr<Only> only = ParseOnly(value);
    if (!only.ok()) return wrong(only.status().message());
    options.only = *std::move(only);
  } else if (name == "record-limit") {
    const absl::StatusOr<uint64_t> limit = ParseSize(value);
    if (!limit.ok()) return wrong(limit.status().message());
    options.limit = *limit;
  } else if (name == "keep") {
    if (value != "all" && value != "hung") {
      return wrong(absl::StrCat("must be all or hung", DidYouMean(value, {"all", "hung"})));
    }
    options.keep = value == "hung" ? Keep::kHung : Keep::kAll;
  } else {
    return absl::NotFoundError(absl::StrCat("there is no option --", name));
  }
  return absl::OkStatus();
}

std::vector<std::string> RecordArguments(const RecordOptions& options) {
  std::vector<std::string> arguments;
  if (!options.folder.empty()) arguments.push_back(absl::StrCat("--record=", options.folder));
  std::vector<std::string> only;
  for (const std::string& one : options.only.engines) only.push_back(absl::StrCat("engine=", one));
  for (const std::string& one : options.only.processes) {
    only.push_back(absl::StrCat("process=", one));
  }
  for (const uint64_t one : options.only.contexts) only.push_back(absl::StrCat("context=", one));
  for (const uint64_t one : options.only.pids) only.push_back(absl::StrCat("pid=", one));
  if (options.only.from != 1) only.push_back(absl::StrCat("from=", options.only.from));
  if (options.only.count != Only::kAll) only.push_back(absl::StrCat("count=", options.only.count));
  if (!only.empty()) arguments.push_back(absl::StrCat("--only=", absl::StrJoin(only, ",")));
  if (!options.trigger.empty()) arguments.push_back(absl::StrCat("--trigger=", options.trigger));
  if (options.limit != 0) arguments.push_back(absl::StrCat("--record-limit=", options.limit));
  if (options.keep == Keep::kHung) arguments.push_back("--keep=hung");
  return arguments;
}

}  // namespace packsmith::capture
