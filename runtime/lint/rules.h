// The rules that the engine knows, as data: kinds of mistakes, whatever the packet. What is special
// to a packet is in the XML: <rule>, <relation>, <workaround>, ranges and reserved bits.
//
// Numbers are stable, docs and users search for them: L1.. one record, L2.. pointers and memory,
// L3.. state and draws, L4.. order and caches, L5.. workarounds, L6.. waste, L7.. rules of the XML.
#ifndef PACKSMITH_RUNTIME_LINT_RULES_H_
#define PACKSMITH_RUNTIME_LINT_RULES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/tables/tables.h"

namespace packsmith::lint {

using tables::Severity;

// In the order of BuiltInRules().
enum class RuleId : uint8_t {
  kReservedBits,
  kForcedBits,
  kOutOfRange,
  kNotMultiple,
  kUnnamedValue,
  kAvoidedValue,
  kTooShort,
  kTruncated,
  kTooLong,
  kUndescribedBits,
  kUnknownCommand,
  kWrongEngine,
  kNotFinite,
  kNotCanonical,
  kNotDecoded,
  kUnmapped,
  kLeavesBuffer,
  kOutsideHeap,
  kMisaligned,
  kBaseNotSet,
  kOutsideZone,
  kMissingForWork,
  kMissingWith,
  kNotCommitted,
  kNotSetAgain,
  kPastPitch,
  kNoVertexBuffer,
  kIndicesPastEnd,
  kVerticesPastEnd,
  kMissingPartner,
  kStaleAfterBase,
  kWorkaroundBefore,
  kWorkaroundAfter,
  kWorkaroundAround,
  kWorkaroundAgain,
  kWorkaroundStall,
  kWorkaroundField,
  kWorkaroundLimit,
  kWorkaroundAvoid,
  kOverwritten,
  kDrawsNothing,
  kEmptyBatch,
};

struct RuleInfo {
  absl::string_view number;
  Severity severity;
  absl::string_view title;   // what is wrong, in a few words
  absl::string_view why;     // a sentence
  absl::string_view source;  // where the fact is documented, or what states it in the XML
};

absl::Span<const RuleInfo> BuiltInRules();
inline const RuleInfo& InfoOf(RuleId id) { return BuiltInRules()[static_cast<size_t>(id)]; }

// A rule as lists show it.
struct ListedRule {
  std::string number;
  Severity severity = Severity::kWarning;
  std::string title, why, source;
  bool declared = false;  // by a <rule> of the XML
};

// The engine's and those that the XML of these generations declares, ordered by number, each once:
// of one number the first title counts.
std::vector<ListedRule> ListRules(absl::Span<const tables::Tables> generations);

absl::string_view NameOf(Severity severity);

}  // namespace packsmith::lint

#endif  // PACKSMITH_RUNTIME_LINT_RULES_H_
