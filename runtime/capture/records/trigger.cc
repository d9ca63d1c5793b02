#include "runtime/capture/records/trigger.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace packsmith::capture {
namespace {

constexpr int64_t kSettled = 100'000'000;  // nanoseconds

int64_t Nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

}  // namespace

bool Trigger::MayBeOn() const { return on() || access(path_.c_str(), F_OK) == 0; }

void Trigger::Use() {
  if (left_ != 0 && left_ != kAll) --left_;
}

absl::Status Trigger::Poll() {
  if (path_.empty()) return absl::OkStatus();
  // A pipe without a writer would block.
  const int fd = open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) return absl::OkStatus();
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read the trigger ", path_));
  }
  struct stat about {};
  char content[64];
  const ssize_t size =
      fstat(fd, &about) == 0 && S_ISREG(about.st_mode) ? read(fd, content, sizeof(content)) : -1;
  close(fd);
  if (size < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the trigger ", path_, " must be a regular file"));
  }
  const absl::string_view text =
      absl::StripAsciiWhitespace(absl::string_view(content, static_cast<size_t>(size)));
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t age = Nanoseconds(now) - Nanoseconds(about.st_mtim);
  // A time in the future is that of another clock.
  if (text.empty() && age >= 0 && age < kSettled) return absl::OkStatus();
  if (unlink(path_.c_str()) != 0 && errno != ENOENT) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat("the trigger ", path_, " is ignored: it cannot be removed"));
  }
  uint64_t number = kAll;
  if (!text.empty() && !absl::SimpleAtoi(text, &number)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the trigger ", path_, " was ignored: it must have a number of submissions, or be empty"));
  }
  left_ = number;
  return absl::OkStatus();
}

}  // namespace packsmith::capture
