#include "tools/bisect/command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/base/unique_fd.h"

namespace packsmith::bisect {
namespace {

using Clock = std::chrono::steady_clock;

// Never returns. Between fork and exec only what is safe in signal handlers.
[[noreturn]] void Become(char** words, int output, int error_pipe) {
  ::setpgid(0, 0);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDWR);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  const int to = output >= 0 ? output : nothing;
  if (to >= 0) {
    ::dup2(to, STDOUT_FILENO);
    ::dup2(to, STDERR_FILENO);
  }
  ::execvp(words[0], words);
  const int why = errno;
  // The parent reads it, or the number of bytes, 0, says that the program runs.
  if (::write(error_pipe, &why, sizeof(why)) < 0) ::_exit(126);
  ::_exit(127);
}

}  // namespace

absl::StatusOr<Outcome> Ask(const CommandLine& command, const std::string& file,
                            const volatile std::sig_atomic_t& interrupted) {
  std::vector<std::string> words;
  words.reserve(command.words.size());
  for (const std::string& word : command.words) {
    words.push_back(absl::StrReplaceAll(word, {{"{}", file}}));
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat("pipe: ", std::strerror(errno)));
  }
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    return absl::ResourceExhaustedError(absl::StrCat("fork: ", std::strerror(errno)));
  }
  if (child == 0) {
    Become(pointers.data(), command.shows_output ? STDERR_FILENO : -1, writer.get());
  }
  ::setpgid(child, child);
  writer = UniqueFd();
  int why = 0;
  ssize_t got;
  do {
    got = ::read(reader.get(), &why, sizeof(why));
  } while (got < 0 && errno == EINTR);
  int status = 0;
  if (got == sizeof(why)) {
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return absl::FailedPreconditionError(
        absl::StrCat("\"", words[0], "\" cannot be started: ", std::strerror(why),
                     "; what follows -- is a program and its arguments, without a shell"));
  }

  const Clock::time_point end = Clock::now() + command.timeout;
  Outcome outcome = Outcome::kNo;
  bool killed = false;
  for (int64_t pause = 200'000;; pause = std::min<int64_t>(pause * 2, 20'000'000)) {
    const pid_t done = ::waitpid(child, &status, killed ? 0 : WNOHANG);
    if (done == child) break;
    if (done < 0 && errno != EINTR) break;
    if (!killed && (interrupted != 0 || Clock::now() >= end)) {
      outcome = interrupted != 0 ? Outcome::kInterrupted : Outcome::kTimeout;
      ::kill(-child, SIGKILL);
      killed = true;
      continue;
    }
    const timespec wait = {0, static_cast<long>(pause)};
    ::nanosleep(&wait, nullptr);
  }
  // What it has left running would disturb the next one.
  ::kill(-child, SIGKILL);
  if (killed) return outcome;
  if (WIFSIGNALED(status)) return Outcome::kSignal;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Outcome::kYes : Outcome::kNo;
}

}  // namespace packsmith::bisect
