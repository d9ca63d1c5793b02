// What most likely made a GPU hang, in one sentence, with the evidence for it and what else it may
// be. MakeHangReport() (report.h) makes verdicts; the best one is the first.
//
//   const HangReport report = MakeHangReport(tables, dump);
//   if (!report.verdicts.empty()) {
//     const Verdict& best = report.verdicts.front();
//     Print(NameOf(best.kind), NameOf(best.confidence), best.sentence);
//   }
#ifndef PACKSMITH_RUNTIME_HANG_VERDICT_H_
#define PACKSMITH_RUNTIME_HANG_VERDICT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace packsmith::hang {

enum class VerdictKind {
  kPageFault,          // an access to an address that is not bound, or not bound for that access
  kCatError,           // the memory unit gave up a context: "catastrophic memory error"
  kNeverStarted,       // the job at fault waits for the scheduler: no command of it was read
  kSemaphoreWait,      // the engine waits for a value in memory
  kEventWait,          // the engine waits for an event, such as a scan line
  kEndlessLoop,        // the commands of the batch jump back forever
  kPreemptionTimeout,  // another context was due, and this one did not yield
  kResetByOther,       // another engine or context hung; this one was reset with it
  kAlreadyReset,       // the registers were read after the reset: they say nothing of the hang
  kBatchMissing,       // the dump does not have the memory that the engine executed
  kUnknownCommand,     // the generation does not have the command at which the engine stopped
  kReservedBits,       // the command at which the engine stopped has reserved bits set
  kShader,             // a shader does not end
  kPipeline,           // a fixed function of the 3D pipeline does not finish
};

inline constexpr int kVerdictKinds = static_cast<int>(VerdictKind::kPipeline) + 1;

// How far the evidence goes.
enum class Confidence {
  kLow,     // the signs agree with it, and with much else
  kMedium,  // several signs agree, and none contradicts
  kHigh,    // the kernel, the firmware or a register says so itself
};

struct Verdict {
  VerdictKind kind = VerdictKind::kPageFault;
  Confidence confidence = Confidence::kLow;
  std::string engine;                 // "rcs0"; empty: of the device, or unknown
  std::string sentence;               // what happened, with addresses and names
  std::vector<std::string> evidence;  // sentences, each with where it was seen
  std::string alternative;            // a sentence: what else it may be; may be empty
  // Of a fault, of what a semaphore waits for, of a command: what `sentence` is about.
  std::optional<uint64_t> address;
};

// "page-fault", "cat-error", ...: stable names for JSON and for rules over dumps.
absl::string_view NameOf(VerdictKind kind);
// "low", "medium", "high".
absl::string_view NameOf(Confidence confidence);

}  // namespace packsmith::hang

#endif  // PACKSMITH_RUNTIME_HANG_VERDICT_H_
