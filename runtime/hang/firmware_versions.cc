#include "runtime/hang/firmware_versions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace packsmith::hang {
namespace {

// The version that `text` begins with, or nothing.
std::string LeadingVersion(absl::string_view text) {
  const absl::string_view word = text.substr(0, text.find_first_of(" ,"));
  const bool is_version =
      absl::StrContains(word, '.') && std::all_of(word.begin(), word.end(), [](char c) {
        return c == '.' || absl::ascii_isdigit(static_cast<unsigned char>(c));
      });
  return is_version ? std::string(word) : "";
}

}  // namespace

// xe writes "GuC version: 70.6.3 (wanted 70.5.1)"; i915 "version: wanted 70.5, found 70.5.1" below
// the line "GuC firmware: …".
FirmwareVersions FirmwareVersionsOf(const ErrorState& state) {
  FirmwareVersions versions;
  const std::pair<absl::string_view, std::string*> all[] = {{"GuC", &versions.guc},
                                                            {"HuC", &versions.huc}};
  std::string* below = nullptr;  // whose lines follow
  for (const ErrorFact& fact : state.facts) {
    const absl::string_view key = absl::StripAsciiWhitespace(fact.key);
    const absl::string_view value = absl::StripAsciiWhitespace(fact.value);
    const bool is_heading =
        absl::EndsWith(key, "firmware") || absl::EndsWith(fact.section, "firmware");
    if (is_heading) below = nullptr;
    for (const auto& [name, version] : all) {
      if (is_heading && (absl::StartsWith(key, name) || absl::StartsWith(fact.section, name))) {
        below = version;
      }
      if (version->empty() && key == absl::StrCat(name, " version")) {
        *version = LeadingVersion(value);
      }
    }
    constexpr absl::string_view kFound = "found ";
    // Older kernels indent the line, so that it has no key.
    const bool is_version = key == "version" || absl::StartsWith(value, "version: ");
    const size_t found = value.find(kFound);
    if (below != nullptr && below->empty() && is_version && found != absl::string_view::npos) {
      *below = LeadingVersion(value.substr(found + kFound.size()));
    }
  }
  return versions;
}

std::optional<std::array<uint32_t, 3>> ParseFirmwareVersion(absl::string_view version) {
  const std::vector<absl::string_view> parts = absl::StrSplit(version, '.');
  std::array<uint32_t, 3> numbers = {};
  if (parts.size() != numbers.size()) return std::nullopt;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!absl::SimpleAtoi(parts[i], &numbers[i])) return std::nullopt;
  }
  return numbers;
}

}  // namespace packsmith::hang
