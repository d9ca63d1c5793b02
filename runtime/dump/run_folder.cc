#include "runtime/dump/run_folder.h"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "runtime/base/file.h"
#include "runtime/dump/dump.h"

namespace packsmith {
namespace {

// Longer than any line that a recorder writes.
constexpr size_t kLongestLine = size_t{16} << 20;

// The number that the name of a submission's file has.
std::optional<uint64_t> NumberOf(absl::string_view file) {
  uint64_t number = 0;
  if (!absl::ConsumeSuffix(&file, ".core") || file.empty() || file.size() > 20 ||
      !std::all_of(file.begin(), file.end(),
                   [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }) ||
      !absl::SimpleAtoi(file, &number)) {
    return std::nullopt;
  }
  return number;
}

class IndexReader {
 public:
  explicit IndexReader(absl::Span<const std::string> cores) : cores_(cores.begin(), cores.end()) {}

  RunFolder Read(absl::string_view index) {
    uint64_t number = 0;
    while (!index.empty()) {
      ++number;
      const size_t end = index.find('\n');
      const absl::string_view line = index.substr(0, end);
      index.remove_prefix(end == absl::string_view::npos ? index.size() : end + 1);
      if (end == absl::string_view::npos) {
        Report(number, "the last line is cut off: its recorder was ended while it wrote");
      } else if (!absl::StripAsciiWhitespace(line).empty()) {
        ReadLine(number, line);
      }
    }
    for (auto& [record_number, record] : records_) {
      const bool is_there = cores_.erase(record.file) != 0;
      if (is_there || dropped_.count(record_number) == 0) {
        folder_.records.push_back(std::move(record));
      }
    }
    // A recorder writes the core first, then the line.
    for (const std::string& core : cores_) {
      RunRecord record;
      record.number = *NumberOf(core);
      record.file = core;
      folder_.records.push_back(std::move(record));
    }
    std::stable_sort(folder_.records.begin(), folder_.records.end(),
                     [](const RunRecord& a, const RunRecord& b) { return a.number < b.number; });
    return std::move(folder_);
  }

 private:
  void Report(uint64_t line, absl::string_view what) {
    if (folder_.problems.size() < RunFolder::kMostProblems) {
      folder_.problems.push_back(absl::StrCat("line ", line, ": ", what));
    }
  }

  static std::string TextOf(const rapidjson::Value& text) {
    return ValidUtf8(absl::string_view(text.GetString(), text.GetStringLength()));
  }
  static std::string Text(const rapidjson::Value& object, const char* name) {
    const auto found = object.FindMember(name);
    return found != object.MemberEnd() && found->value.IsString() ? TextOf(found->value) : "";
  }
  static std::vector<std::string> Texts(const rapidjson::Value& object, const char* name) {
    std::vector<std::string> texts;
    const auto found = object.FindMember(name);
    if (found == object.MemberEnd() || !found->value.IsArray()) return texts;
    for (const rapidjson::Value& one : found->value.GetArray()) {
      if (one.IsString()) texts.push_back(TextOf(one));
    }
    return texts;
  }
  static uint64_t Number(const rapidjson::Value& object, const char* name) {
    const auto found = object.FindMember(name);
    return found != object.MemberEnd() && found->value.IsUint64() ? found->value.GetUint64() : 0;
  }

  void ReadLine(uint64_t line_number, absl::string_view line) {
    if (line.size() > kLongestLine) return Report(line_number, "is too long; left out");
    rapidjson::Document json;
    // Iterative: with recursion, nested lists of the input would decide how deep the stack is.
    json.Parse<rapidjson::kParseIterativeFlag>(line.data(), line.size());
    if (json.HasParseError()) {
      return Report(line_number,
                    absl::StrCat("is not JSON: ", rapidjson::GetParseError_En(json.GetParseError()),
                                 " Left out"));
    }
    if (!json.IsObject()) return Report(line_number, "is not a JSON object; left out");
    const std::string type = Text(json, "type");
    if (type == "run") folder_.run = Text(json, "run");
    folder_.ended = type == "end";
    if (type != "submission" && type != "outcome" && type != "dropped") return;
    const uint64_t number = Number(json, "number");
    if (number == 0) return Report(line_number, "needs a \"number\" from 1; left out");
    if (type == "dropped") {
      dropped_.insert(number);
    } else if (type == "submission") {
      AddSubmission(line_number, number, json);
    } else if (const auto found = records_.find(number); found != records_.end()) {
      found->second.outcome = Text(json, "outcome");
      found->second.detail = Text(json, "detail");
    }
  }

  void AddSubmission(uint64_t line_number, uint64_t number, const rapidjson::Value& json) {
    RunRecord record;
    record.number = number;
    record.file = Text(json, "file");
    // Nothing but the run's own cores: no other folder, and no other file.
    if (NumberOf(record.file) != number) {
      return Report(line_number,
                    absl::StrCat("submission ", number, " cannot be in the file \"", record.file,
                                 "\", expected \"", RecordFile(number), "\"; left out"));
    }
    record.process = Text(json, "process");
    record.pid = Number(json, "pid");
    record.warnings = Texts(json, "warnings");
    record.flags = Texts(json, "flags");
    if (!records_.emplace(number, std::move(record)).second) {
      Report(line_number, absl::StrCat("a second submission ", number, "; left out"));
    }
  }

  std::set<std::string> cores_;  // in the folder, and not in the index so far
  std::map<uint64_t, RunRecord> records_;
  std::set<uint64_t> dropped_;
  RunFolder folder_;
};

}  // namespace

std::string RecordFile(uint64_t number) { return absl::StrFormat("%06u.core", number); }

std::string RemarkOf(const RunRecord& record) {
  std::vector<std::string> parts;
  if (!record.outcome.empty() && record.outcome != "completed") {
    parts.push_back(absl::StrCat(record.outcome, record.detail.empty() ? "" : ": ", record.detail));
  }
  for (const std::string& flag : record.flags) parts.push_back(absl::StrCat("flag ", flag));
  for (const std::string& warning : record.warnings) {
    parts.push_back(absl::StrCat("warning: ", warning));
  }
  if (parts.empty()) return "";
  std::string text = absl::StrCat("submission ", record.number);
  if (!record.process.empty()) absl::StrAppend(&text, " of ", record.process);
  if (record.pid != 0) absl::StrAppend(&text, " [", record.pid, "]");
  return absl::StrCat(text, ": ", absl::StrJoin(parts, "; "));
}

RunFolder ReadRunIndex(absl::string_view index, absl::Span<const std::string> cores) {
  std::vector<std::string> known;
  std::copy_if(cores.begin(), cores.end(), std::back_inserter(known),
               [](const std::string& name) { return NumberOf(name).has_value(); });
  return IndexReader(known).Read(index);
}

absl::StatusOr<RunFolder> ReadRunFolder(const std::string& folder) {
  namespace fs = std::filesystem;
  const std::string path = absl::StrCat(folder, "/", kIndexFile);
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return absl::NotFoundError(absl::StrCat(path, ": is not a file"));
  }
  absl::StatusOr<FileBytes> index = OpenFile(path);
  if (!index.ok()) return index.status();
  std::vector<std::string> cores;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code unreadable;
    if (at->is_regular_file(unreadable)) cores.push_back(at->path().filename().string());
  }
  return ReadRunIndex(
      absl::string_view(reinterpret_cast<const char*>(index->bytes.data()), index->bytes.size()),
      cores);
}

}  // namespace packsmith
