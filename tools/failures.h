// Why a program ends with exit code 1.
#ifndef PACKSMITH_TOOLS_FAILURES_H_
#define PACKSMITH_TOOLS_FAILURES_H_

#include <array>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/decode/record.h"

namespace packsmith::tools {

// What makes decoded input fail, besides unknown dwords and problems, which always do.
struct FailOn {
  std::array<bool, decode::kFaultKinds> faults{};
  bool undescribed = false;
};

// One reason: how many of a kind, and where the first is.
struct Failure {
  std::string kind;  // "unknown", "problem", "undescribed" or the name of a kind of fault
  std::string what;  // "15 faults (reserved)"
  uint64_t count = 0;
  decode::FirstSeen first;
  std::string problem;  // the text of the first one, instead of `first`
};

// In the order: problems, unknown dwords, faults, bits that are not described.
std::vector<Failure> FailuresOf(const decode::Summary& summary,
                                const decode::UndescribedSeen& undescribed, const FailOn& fail_on);

// "exit code 1: 15 faults (reserved), the first in 3DSTATE_PS at 0x1000; …", without a newline.
// `offsets`: with addresses.
std::string FailuresText(absl::Span<const Failure> failures, bool offsets);

// A record of type "failure" for each, as docs/records.md has them.
std::string FailuresJson(absl::Span<const Failure> failures);

}  // namespace packsmith::tools

#endif  // PACKSMITH_TOOLS_FAILURES_H_
