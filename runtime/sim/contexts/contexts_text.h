// Text for people about contexts and page tables.
#ifndef PACKSMITH_RUNTIME_SIM_CONTEXTS_CONTEXTS_TEXT_H_
#define PACKSMITH_RUNTIME_SIM_CONTEXTS_CONTEXTS_TEXT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/dump/dump.h"
#include "runtime/sim/contexts/context_image.h"
#include "runtime/sim/contexts/page_tables.h"
#include "runtime/tables/tables.h"

namespace packsmith::sim {

// The context images of dumps, one after the other: the first one of an engine with all registers,
// each later one with what has changed since.
class ContextImagesText {
 public:
  // Of all submissions of the kind "context image". Nothing is kept of the dump.
  void Add(const tables::Tables& tables, const Dump& dump);

  // What Add() has written so far.
  const std::string& text() const { return text_; }
  // Images that were shown.
  size_t images() const { return images_; }
  // Images that could not be read.
  size_t failures() const { return failures_; }

 private:
  struct Seen {
    ContextImage image;
    std::vector<uint8_t> list;
    uint64_t address = 0;
  };

  std::string text_;
  std::map<std::string, Seen> last_;  // by engine
  size_t images_ = 0;
  size_t failures_ = 0;
};

// The page tables of a dump's contexts, which their images name: below a line for each image a line
// for each range of pages, with where it is and its flags. `problems` has a sentence for each image
// whose tables cannot be shown, or one if the dump has no image.
struct PageTablesOfDump {
  std::string text;
  std::vector<std::string> problems;
};
PageTablesOfDump ShowPageTables(const tables::Tables& tables, const Dump& dump);

// A line for each range of pages, then what could not be read. At most `most_ranges` lines.
// `listed`, unless null, gets how far listing came.
inline constexpr uint64_t kMostRanges = 100000;
std::string PageTablesText(const PageTables& tables, uint64_t most_ranges = kMostRanges,
                           PageTableListing* listed = nullptr);

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_CONTEXTS_CONTEXTS_TEXT_H_
