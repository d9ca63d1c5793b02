#include "tools/mock/call_log.h"

#include <unistd.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace packsmith::mock {
namespace {

// Why the kernel refuses the call that this thread makes.
thread_local std::string refusal;

}  // namespace

// One write() a line: programs write to the same terminal.
void CallLog::Print(absl::string_view line) {
  const std::string text = absl::StrCat("packsmith-mock: ", line, "\n");
  (void)!write(STDERR_FILENO, text.data(), text.size());
}

uint64_t CallLog::warnings() const {
  MutexLock lock(mutex_);
  return warnings_;
}

uint64_t CallLog::submissions() const {
  MutexLock lock(mutex_);
  return submissions_;
}

void CallLog::OnCall(pid_t pid, absl::string_view process, absl::string_view call, int64_t result) {
  if (!options_.calls) return;
  std::string line = absl::StrCat("[", pid, " ", process, "] ", call, " = ");
  if (result >= 0) {
    absl::StrAppend(&line, result);
  } else {
    const int error = static_cast<int>(-result);
    const char* const name = strerrorname_np(error);
    absl::StrAppend(&line, "-1 ", name == nullptr ? "?" : name, " (", strerrordesc_np(error), ")");
    if (!refusal.empty()) absl::StrAppend(&line, ": ", refusal);
  }
  refusal.clear();
  Print(line);
}

void CallLog::OnSubmit(const std::shared_ptr<const capture::Work>&) {
  MutexLock lock(mutex_);
  ++submissions_;
}

void CallLog::OnWarning(pid_t pid, absl::string_view call, absl::string_view text) {
  CountWarning();
  if (shows_warnings()) Print(absl::StrCat("[", pid, "] warning: ", call, ": ", text));
}

void CallLog::Warn(absl::string_view line) {
  CountWarning();
  if (shows_warnings()) Print(absl::StrCat("warning: ", line));
}

void CallLog::CountWarning() {
  MutexLock lock(mutex_);
  ++warnings_;
}

void CallLog::OnRefused(pid_t, absl::string_view, int, absl::string_view why) {
  if (options_.calls && !why.empty()) refusal = std::string(why);
}

}  // namespace packsmith::mock
