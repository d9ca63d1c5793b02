#include "runtime/intel/batch/secondaries.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace packsmith::intel {

const char* NameOf(SecondaryWay way) {
  switch (way) {
    case SecondaryWay::kCopied:
      return "copied";
    case SecondaryWay::kSecondLevel:
      return "second level";
    case SecondaryWay::kReturning:
      return "returning";
  }
  return "unknown";
}

const char* Obstacle(SecondaryWay way, const SecondaryTraits& traits) {
  switch (way) {
    case SecondaryWay::kCopied:
      if (traits.returning) return "it ends with a jump whose target its caller stores";
      if (traits.stays_in_place) return "it has places that shaders write";
      break;
    case SecondaryWay::kSecondLevel:
      if (!traits.second_level) return "it was made without BatchOptions::second_level";
      if (traits.caller_second_level) return "the caller is a second-level batch itself";
      break;
    case SecondaryWay::kReturning:
      if (!traits.returning) return "it did not end with EndReturning()";
      if (traits.caller_second_level) return "the caller is a second-level batch";
      if (traits.caller_cannot_store) return "the caller has relocations";
      break;
  }
  return nullptr;
}

absl::StatusOr<SecondaryWay> ChooseSecondaryWay(const SecondaryTraits& traits,
                                                absl::Span<const SecondaryRule> rules) {
  std::string reasons;
  for (const SecondaryRule& rule : rules) {
    if (traits.dwords > rule.most_dwords) {
      absl::StrAppend(&reasons, "; ", NameOf(rule.way), ": it has ", traits.dwords,
                      " dwords, more than ", rule.most_dwords);
      continue;
    }
    const char* const obstacle = Obstacle(rule.way, traits);
    if (obstacle == nullptr) return rule.way;
    absl::StrAppend(&reasons, "; ", NameOf(rule.way), ": ", obstacle);
  }
  return absl::FailedPreconditionError(
      absl::StrCat("no rule allows to run the secondary batch", reasons));
}

}  // namespace packsmith::intel
