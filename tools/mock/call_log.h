// What packsmith-mock says about calls while a program runs.
#ifndef PACKSMITH_TOOLS_MOCK_CALL_LOG_H_
#define PACKSMITH_TOOLS_MOCK_CALL_LOG_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/base/mutex.h"
#include "runtime/capture/drm/executor.h"

namespace packsmith::mock {

// Writes lines to standard error. Thread-safe.
class CallLog : public capture::Watcher {
 public:
  struct Options {
    bool calls = false;     // every call
    bool warnings = false;  // what succeeds and is wrong all the same
  };
  explicit CallLog(Options options) : options_(options) {}

  bool shows_calls() const { return options_.calls; }
  bool shows_warnings() const { return options_.warnings || options_.calls; }
  uint64_t warnings() const;
  uint64_t submissions() const;

  // A line that is always shown.
  void Say(absl::string_view line) { Print(line); }
  // What is wrong with a submission that the kernel accepts.
  void Warn(absl::string_view line);

  // A call on a device file, or another one of a client. `result` is 0 or more, or a negative
  // errno. On the thread that made the call.
  void OnCall(pid_t pid, absl::string_view process, absl::string_view call, int64_t result);

  void OnSubmit(const std::shared_ptr<const capture::Work>& work) override;
  void OnWarning(pid_t pid, absl::string_view call, absl::string_view text) override;
  void OnRefused(pid_t pid, absl::string_view call, int result, absl::string_view why) override;

 private:
  void Print(absl::string_view line);
  void CountWarning();

  const Options options_;
  mutable Mutex mutex_;
  uint64_t warnings_ = 0, submissions_ = 0;
};

}  // namespace packsmith::mock

#endif  // PACKSMITH_TOOLS_MOCK_CALL_LOG_H_
