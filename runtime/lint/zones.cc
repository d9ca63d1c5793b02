#include "runtime/lint/zones.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "runtime/base/closest.h"

namespace packsmith::lint {
namespace {

// The next word, which is taken off the text.
absl::string_view TakeWord(absl::string_view& text) {
  text = absl::StripLeadingAsciiWhitespace(text);
  const absl::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

absl::StatusOr<Zone> ParseLine(absl::string_view line) {
  Zone zone;
  const absl::string_view begin = TakeWord(line);
  const absl::string_view end = TakeWord(line);
  const std::pair<absl::string_view, absl::string_view> rest =
      absl::StrSplit(line, absl::MaxSplits(':', 1));
  zone.name = std::string(absl::StripAsciiWhitespace(rest.first));
  if (!absl::SimpleHexAtoi(begin, &zone.begin) || !absl::SimpleHexAtoi(end, &zone.end) ||
      zone.name.empty()) {
    return absl::InvalidArgumentError(
        "a zone must have the form BEGIN END NAME, or BEGIN END NAME: BASE, BASE, with hexadecimal "
        "addresses");
  }
  if (zone.begin >= zone.end) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the zone \"%s\" ends at 0x%x, which must be more than its begin 0x%x",
                        zone.name, zone.end, zone.begin));
  }
  for (const absl::string_view base : absl::StrSplit(rest.second, ',')) {
    const absl::string_view name = absl::StripAsciiWhitespace(base);
    if (!name.empty()) zone.bases.emplace_back(name);
  }
  return zone;
}

}  // namespace

absl::StatusOr<Zones> Zones::Parse(absl::string_view text) {
  Zones zones;
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    absl::StatusOr<Zone> zone = ParseLine(line);
    if (!zone.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": ", zone.status().message()));
    }
    zone->line = number;
    zones.all_.push_back(*std::move(zone));
  }
  if (zones.all_.empty()) {
    return absl::InvalidArgumentError("there is no zone; each has a line: BEGIN END NAME");
  }
  std::sort(zones.all_.begin(), zones.all_.end(), [](const Zone& a, const Zone& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.line < b.line;
  });
  // If any two overlap, some neighbours do.
  for (size_t i = 1; i < zones.all_.size(); ++i) {
    const Zone& below = zones.all_[i - 1];
    const Zone& above = zones.all_[i];
    if (above.begin >= below.end) continue;
    const Zone& earlier = below.line < above.line ? below : above;
    const Zone& later = below.line < above.line ? above : below;
    return absl::InvalidArgumentError(absl::StrCat("line ", later.line, ": the zones \"",
                                                   later.name, "\" and \"", earlier.name,
                                                   "\" overlap"));
  }
  return zones;
}

absl::Status Zones::CheckBases(absl::Span<const tables::Tables> known) const {
  std::set<absl::string_view> names;
  for (const tables::Tables& one : known) {
    for (const tables::Base& base : one.bases()) names.insert(one.string(base.name));
  }
  const Zone* of = nullptr;
  absl::string_view unknown;
  for (const Zone& zone : all_) {
    if (of != nullptr && of->line < zone.line) continue;
    for (const std::string& base : zone.bases) {
      if (names.count(base) != 0) continue;
      of = &zone;
      unknown = base;
      break;
    }
  }
  if (of == nullptr) return absl::OkStatus();
  Closest closest(unknown);
  for (const absl::string_view name : names) closest.Offer(name);
  return absl::InvalidArgumentError(absl::StrCat(
      "line ", of->line, ": no description has a base \"", unknown, "\"", DidYouMean(closest)));
}

const Zone* Zones::Find(uint64_t address) const {
  const auto after =
      std::upper_bound(all_.begin(), all_.end(), address,
                       [](uint64_t value, const Zone& zone) { return value < zone.begin; });
  if (after == all_.begin() || address >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

bool Zones::IsFor(const Zone& zone, absl::string_view base) const {
  const auto has = [base](const Zone& one) {
    return std::find(one.bases.begin(), one.bases.end(), base) != one.bases.end();
  };
  return has(zone) || std::none_of(all_.begin(), all_.end(), has);
}

}  // namespace packsmith::lint
