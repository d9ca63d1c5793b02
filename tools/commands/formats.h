// What --format of unpack can be: the only list of formats, with what depends on them besides who
// writes them.
#ifndef PACKSMITH_TOOLS_COMMANDS_FORMATS_H_
#define PACKSMITH_TOOLS_COMMANDS_FORMATS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace packsmith::commands {

enum class Format : uint8_t {
  kText,
  kJsonl,
  kHtml,
  kStats,
  kNames,
  kCsv,       // of --query
  kMarkdown,  // a page of its own
  kCpp,       // these two are programs
  kC,
};

struct FormatFacts {
  // The form in which the report about a hang precedes a dump's records.
  enum class Report : uint8_t { kNone, kText, kJsonLines };

  Format format;
  absl::string_view name;
  Report report = Report::kNone;
  bool brief = false;    // lists packets without reading their fields
  bool by_line = false;  // takes --hang and --strict: lines may be added
  bool paged = false;    // on a terminal
  // Itself; else a line does before what is of another GPU than the files before it.
  bool names_device = false;
};

// Of a name that the command line may have.
const FormatFacts& FactsOf(absl::string_view name);
// In the order in which messages list them.
std::vector<std::string> FormatNames();

}  // namespace packsmith::commands

#endif  // PACKSMITH_TOOLS_COMMANDS_FORMATS_H_
