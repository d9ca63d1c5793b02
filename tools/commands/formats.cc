#include "tools/commands/formats.h"

namespace packsmith::commands {
namespace {

using Report = FormatFacts::Report;

constexpr FormatFacts kFormats[] = {
    {.format = Format::kText,
     .name = "text",
     .report = Report::kText,
     .by_line = true,
     .paged = true,
     .names_device = true},
    {.format = Format::kJsonl,
     .name = "jsonl",
     .report = Report::kJsonLines,
     .by_line = true,
     .names_device = true},
    {.format = Format::kHtml, .name = "html", .report = Report::kText, .names_device = true},
    {.format = Format::kStats, .name = "stats", .brief = true, .paged = true},
    {.format = Format::kNames, .name = "names", .brief = true, .paged = true},
    {.format = Format::kCsv, .name = "csv", .names_device = true},
    {.format = Format::kMarkdown, .name = "markdown"},
    {.format = Format::kCpp, .name = "cpp"},
    {.format = Format::kC, .name = "c"},
};

}  // namespace

const FormatFacts& FactsOf(absl::string_view name) {
  for (const FormatFacts& facts : kFormats) {
    if (facts.name == name) return facts;
  }
  return kFormats[0];
}

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const FormatFacts& facts : kFormats) names.emplace_back(facts.name);
  return names;
}

}  // namespace packsmith::commands
