#include "runtime/lint/zones.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

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
    for (const Zone& other : zones.all_) {
      if (zone->begin >= other.end || other.begin >= zone->end) continue;
      return absl::InvalidArgumentError(absl::StrCat("line ", number, ": the zones \"", zone->name,
                                                     "\" and \"", other.name, "\" overlap"));
    }
    zones.all_.push_back(*std::move(zone));
  }
  if (zones.all_.empty()) {
    return absl::InvalidArgumentError("there is no zone; each has a line: BEGIN END NAME");
  }
  std::sort(zones.all_.begin(), zones.all_.end(),
            [](const Zone& a, const Zone& b) { return a.begin < b.begin; });
  return zones;
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
