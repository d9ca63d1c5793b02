#include "gen/model/diagnostic.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace packsmith::model {
namespace {

constexpr size_t kLongestLineShown = 160;

void AppendPlace(const Sources& sources, Location where, absl::string_view what, std::string& out) {
  if (where.file < 0) {
    absl::StrAppend(&out, what, "\n");
    return;
  }
  const SourceFile& file = sources.file(where.file);
  const LineColumn at = file.Find(where.offset);
  absl::StrAppendFormat(&out, "%s:%d:%d: %s\n", file.path(), at.line, at.column, what);
  const absl::string_view line = file.Line(at.line);
  if (line.empty() || at.column > kLongestLineShown) return;
  const absl::string_view shown = line.substr(0, kLongestLineShown);
  absl::StrAppend(&out, "  ", shown, "\n  ");
  // Tabs are repeated under the line, so that the caret is below its column in any terminal.
  for (uint32_t i = 0; i + 1 < at.column; ++i) {
    out.push_back(i < shown.size() && shown[i] == '\t' ? '\t' : ' ');
  }
  out += "^\n";
}

}  // namespace

bool IsError(Code code) { return static_cast<int>(code) < 100; }

std::string CodeName(Code code) {
  return absl::StrFormat("%c%03d", IsError(code) ? 'E' : 'W', static_cast<int>(code));
}

Diagnostic& Diagnostics::Add(Code code, Location where, std::string text) {
  if (IsError(code)) ++errors_;
  if (all_.size() >= kMost) {
    ++not_stored_;
    overflow_ = Diagnostic{code, where, {}, {}};
    return overflow_;
  }
  all_.push_back(Diagnostic{code, where, std::move(text), {}});
  return all_.back();
}

void Diagnostics::Sort(absl::Span<const int32_t> files) {
  std::map<int32_t, size_t> rank;  // without a location: first
  for (const int32_t file : files) rank.emplace(file, rank.size() + 1);
  const auto place = [&](const Diagnostic& d) {
    const auto at = rank.find(d.where.file);
    return std::make_pair(at == rank.end() ? 0 : at->second, d.where.offset);
  };
  std::stable_sort(all_.begin(), all_.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
}

std::string Format(const Diagnostic& diagnostic, const Sources& sources) {
  std::string out;
  AppendPlace(sources, diagnostic.where,
              absl::StrCat(IsError(diagnostic.code) ? "error " : "warning ",
                           CodeName(diagnostic.code), ": ", diagnostic.text),
              out);
  for (const Note& note : diagnostic.notes) {
    AppendPlace(sources, note.where, absl::StrCat("note: ", note.text), out);
  }
  return out;
}

std::string FormatAll(const Diagnostics& diagnostics, const Sources& sources) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics.all()) out += Format(diagnostic, sources);
  if (diagnostics.not_stored() != 0) {
    absl::StrAppend(&out, "… and ", diagnostics.not_stored(), " more problems\n");
  }
  return out;
}

}  // namespace packsmith::model
