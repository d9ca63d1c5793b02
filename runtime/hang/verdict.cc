#include "runtime/hang/verdict.h"

namespace packsmith::hang {

absl::string_view NameOf(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kPageFault:
      return "page-fault";
    case VerdictKind::kCatError:
      return "cat-error";
    case VerdictKind::kNeverStarted:
      return "never-started";
    case VerdictKind::kSemaphoreWait:
      return "semaphore-wait";
    case VerdictKind::kEventWait:
      return "event-wait";
    case VerdictKind::kEndlessLoop:
      return "endless-loop";
    case VerdictKind::kPreemptionTimeout:
      return "preemption-timeout";
    case VerdictKind::kResetByOther:
      return "reset-by-other";
    case VerdictKind::kAlreadyReset:
      return "already-reset";
    case VerdictKind::kBatchMissing:
      return "batch-missing";
    case VerdictKind::kUnknownCommand:
      return "unknown-command";
    case VerdictKind::kReservedBits:
      return "reserved-bits";
    case VerdictKind::kShader:
      return "shader";
    case VerdictKind::kPipeline:
      return "pipeline";
  }
  return "";
}

absl::string_view NameOf(Confidence confidence) {
  switch (confidence) {
    case Confidence::kLow:
      return "low";
    case Confidence::kMedium:
      return "medium";
    case Confidence::kHigh:
      return "high";
  }
  return "";
}

}  // namespace packsmith::hang
