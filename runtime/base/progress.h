// How far a program is: one line on standard error, if that is a terminal and the work takes longer
// than a second. The line is wiped at the end, and before anything else is written there.
//
//   const ShowProgress progress("unpack");
//   SetProgress("decoding hang.core");
//   AddProgress(100);     // packets, say
#ifndef PACKSMITH_RUNTIME_BASE_PROGRESS_H_
#define PACKSMITH_RUNTIME_BASE_PROGRESS_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace packsmith {

// As long as an object lives, progress is shown; it makes a thread, if standard error is a
// terminal. A second object while there is one has no effect. `unit`: what AddProgress() counts,
// "packets"; empty: it is not called.
class ShowProgress {
 public:
  explicit ShowProgress(absl::string_view program, absl::string_view unit = "");
  ~ShowProgress();
  ShowProgress(const ShowProgress&) = delete;
  ShowProgress& operator=(const ShowProgress&) = delete;

 private:
  bool owns_;
};

// The following may be called from any thread, and do nothing without a ShowProgress.

// Whether a line may be shown.
bool ShowsProgress();
// What is being done. Hidden characters are replaced.
void SetProgress(absl::string_view what);
void AddProgress(uint64_t count);
// Wipes the line: something else is about to be written to standard error. It comes back.
void HideProgress();
// Wipes the line, which does not come back: the output is about to appear on the same terminal.
void EndProgress();

}  // namespace packsmith

#endif  // PACKSMITH_RUNTIME_BASE_PROGRESS_H_
