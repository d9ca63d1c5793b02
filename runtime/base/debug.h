// Switches for debugging, from the environment variable PACKSMITH_DEBUG: docs/debug.md.
//
//   PACKSMITH_DEBUG=sync,reemit PROGRAM
//
//   if (DebugOn(DebugSwitch::kSync)) [[unlikely]] …
//
// The variable is read once, by the first call. A switch that is off costs one relaxed load where
// it is asked for; code that runs for each packet asks for none.

#ifndef PACKSMITH_RUNTIME_BASE_DEBUG_H_
#define PACKSMITH_RUNTIME_BASE_DEBUG_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace packsmith {

// A bit each.
enum class DebugSwitch : uint32_t {
  kBatches = 1 << 0,  // "bat"
  kSync = 1 << 1,
  kReemit = 1 << 2,
  kCapture = 1 << 3,
  kNoCache = 1 << 4,
  kNoSlab = 1 << 5,
  kNoop = 1 << 6,
  kNo16 = 1 << 7,
};

struct DebugSwitchRow {
  absl::string_view word;  // in the variable
  DebugSwitch which = {};
  absl::string_view effect;
};
// All there are, as the page lists them.
absl::Span<const DebugSwitchRow> DebugSwitches();

struct ParsedDebug {
  uint32_t switches = 0;  // DebugSwitch, ORed
  std::string messages;   // lines for stderr: unknown words, with what may be meant; "help"
};
// text: words, separated by commas or blanks; "all" for all switches, "help" for the list of them.
ParsedDebug ParseDebug(absl::string_view text);

// For programs and tests, instead of the variable.
void SetDebug(uint32_t switches);

namespace debug_internal {
inline constexpr uint32_t kUnread = uint32_t{1} << 31;
inline std::atomic<uint32_t> switches{kUnread};
// Reads the variable, and writes messages to stderr.
[[gnu::cold, gnu::noinline]] uint32_t ReadVariable();
}  // namespace debug_internal

inline bool DebugOn(DebugSwitch which) {
  uint32_t switches = debug_internal::switches.load(std::memory_order_relaxed);
  if ((switches & debug_internal::kUnread) != 0) [[unlikely]] {
    switches = debug_internal::ReadVariable();
  }
  return (switches & static_cast<uint32_t>(which)) != 0;
}

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_DEBUG_H_
