#include "runtime/capture/execute/planned_hang.h"

#include <algorithm>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace packsmith::capture {
namespace {

struct Kind {
  absl::string_view name;
  HangKind kind;
};
constexpr Kind kKinds[] = {
    {"command", HangKind::kCommand},
    {"refused", HangKind::kRefused},
    {"shader", HangKind::kShader},
    {"not-started", HangKind::kNotStarted},
    {"not-yielding", HangKind::kNotYielding},
    {"reset", HangKind::kReset},
    {"reset-by-other", HangKind::kResetByOther},
};

}  // namespace

absl::StatusOr<PlannedHang> ParsePlannedHang(absl::string_view text) {
  const absl::string_view whole = text;
  const auto wrong = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(
        whole, ": ", what, "; the form is N[:KIND][@ADDRESS], such as 3 or 3:shader@0x1000"));
  };
  PlannedHang hang;
  if (const size_t at = text.find('@'); at != absl::string_view::npos) {
    uint64_t address = 0;
    absl::string_view digits = text.substr(at + 1);
    const bool hex = absl::ConsumePrefix(&digits, "0x");
    if (!(hex ? absl::SimpleHexAtoi(digits, &address) : absl::SimpleAtoi(digits, &address))) {
      return wrong("the address is not a number of up to 64 bits");
    }
    hang.address = address;
    text = text.substr(0, at);
  }
  if (const size_t at = text.find(':'); at != absl::string_view::npos) {
    const absl::string_view name = text.substr(at + 1);
    const auto* const kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                          [&](const Kind& one) { return one.name == name; });
    if (kind != std::end(kKinds)) {
      hang.kind = kind->kind;
    } else if (name.empty()) {
      return wrong("the kind is missing");
    } else {
      hang.kind = HangKind::kPipeline;
      hang.unit = std::string(name);
    }
    text = text.substr(0, at);
  }
  if (hang.kind == HangKind::kNotStarted && hang.address) {
    return wrong("what is not started is at no command, and has no address");
  }
  if (!absl::SimpleAtoi(text, &hang.submission) || hang.submission == 0) {
    return wrong("the submission must be a number from 1 on");
  }
  return hang;
}

std::optional<HangPlace> PlannedPlace(absl::Span<const PlannedHang> plans, const Work& work,
                                      std::optional<HangPlace> found) {
  const auto plan = std::find_if(plans.begin(), plans.end(), [&](const PlannedHang& one) {
    return one.submission == work.number;
  });
  if (plan == plans.end()) return found;
  if (!found) {
    found.emplace();
    if (!work.streams.empty()) found->address = work.streams[0].address;
    if (plan->address) found->address = *plan->address;
  }
  // It hung by itself before it came there: for its own reason.
  if (plan->address && found->address != *plan->address) return found;
  found->kind = plan->kind;
  found->unit = plan->unit;
  return found;
}

}  // namespace packsmith::capture
