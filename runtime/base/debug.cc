#include "runtime/base/debug.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/base/closest.h"

namespace packsmith {
namespace {

constexpr DebugSwitchRow kRows[] = {
    {"bat", DebugSwitch::kBatches, "each job's batch is decoded to stderr when it is submitted"},
    {"sync", DebugSwitch::kSync, "submitting waits until the job is done, and reports its failure"},
    {"reemit", DebugSwitch::kReemit, "each draw emits all state that is set, not what has changed"},
    {"capture", DebugSwitch::kCapture, "all memory is part of the kernel's dumps of hangs"},
    {"nocache", DebugSwitch::kNoCache, "released memory is not kept for reuse"},
    {"noslab", DebugSwitch::kNoSlab, "small buffers do not share memory"},
    {"noop", DebugSwitch::kNoop, "command buffers end with their first command"},
    {"no16", DebugSwitch::kNo16, "fragment and compute shaders run in other widths than SIMD16"},
};

}  // namespace

absl::Span<const DebugSwitchRow> DebugSwitches() { return kRows; }

ParsedDebug ParseDebug(absl::string_view text) {
  ParsedDebug parsed;
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(", \t\n"), absl::SkipEmpty())) {
    if (word == "help") {
      absl::StrAppend(&parsed.messages, "PACKSMITH_DEBUG: words, separated by commas:\n");
      for (const DebugSwitchRow& row : kRows) {
        absl::StrAppend(&parsed.messages, "  ", row.word, std::string(10 - row.word.size(), ' '),
                        row.effect, "\n");
      }
      continue;
    }
    uint32_t found = 0;
    std::vector<absl::string_view> words = {"all", "help"};
    for (const DebugSwitchRow& row : kRows) {
      words.push_back(row.word);
      if (word == row.word || word == "all") found |= static_cast<uint32_t>(row.which);
    }
    parsed.switches |= found;
    if (found != 0) continue;
    const std::string meant = DidYouMean(word, words);
    absl::StrAppend(&parsed.messages, "PACKSMITH_DEBUG: there is no switch \"", word, "\"",
                    meant.empty() ? "; PACKSMITH_DEBUG=help lists them" : meant, "\n");
  }
  return parsed;
}

void SetDebug(uint32_t switches) {
  debug_internal::switches.store(switches & ~debug_internal::kUnread, std::memory_order_relaxed);
}

namespace debug_internal {

uint32_t ReadVariable() {
  const char* const text = std::getenv("PACKSMITH_DEBUG");
  const ParsedDebug parsed = ParseDebug(text == nullptr ? "" : text);
  uint32_t expected = kUnread;
  // One of several threads reports; a program's own switches are kept.
  if (switches.compare_exchange_strong(expected, parsed.switches, std::memory_order_relaxed)) {
    std::fputs(parsed.messages.c_str(), stderr);
    return parsed.switches;
  }
  return expected;
}

}  // namespace debug_internal
}  // namespace packsmith
