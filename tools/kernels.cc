#include "tools/kernels.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "runtime/base/file.h"
#include "runtime/base/same_file.h"

namespace packsmith::tools {
namespace {

constexpr size_t kMostOutput = 1 << 20;
constexpr auto kLongest = std::chrono::seconds(10);
constexpr size_t kMostKernels = 1 << 16;
constexpr size_t kMostSaid = 200;  // of its last line, in a message

// Names come from descriptions, which may contain anything.
std::string SafeName(absl::string_view text) {
  std::string safe;
  for (const char c : text) {
    safe += absl::ascii_isalnum(static_cast<unsigned char>(c))
                ? absl::ascii_tolower(static_cast<unsigned char>(c))
                : '-';
  }
  return safe.empty() ? "kernel" : safe;
}

std::string CodeOf(const decode::Record& record) {
  const absl::Span<const uint8_t> code = record.kernel->code;
  return std::string(reinterpret_cast<const char*>(code.data()), code.size());
}

}  // namespace

KernelFiles::KernelFiles(std::string directory, std::vector<std::string> inputs)
    : directory_(std::move(directory)), inputs_(std::move(inputs)) {
  if (::mkdir(directory_.c_str(), 0777) != 0 && errno != EEXIST) {
    status_ = absl::UnavailableError(absl::StrCat(directory_, ": ", std::strerror(errno),
                                                  "; --kernels must be a writable directory"));
  }
}

void KernelFiles::Add(const decode::Record& record) {
  if (!status_.ok() || written_.size() >= kMostKernels) return;
  std::string stem = absl::StrFormat("%s-0x%x", SafeName(record.kernel->stage), record.address);
  if (record.kernel->simd != 0) absl::StrAppend(&stem, "-simd", record.kernel->simd);
  const std::string code = CodeOf(record);
  std::string name = stem;
  for (int i = 2;; ++i) {
    const auto [it, fresh] = written_.try_emplace(name, std::hash<std::string>()(code));
    if (fresh) {
      const std::string path = absl::StrCat(directory_, "/", name, ".bin");
      status_ = RefuseToOverwrite(path, inputs_);
      if (status_.ok()) status_ = WriteFileWhole(path, code);
      return;
    }
    if (it->second == std::hash<std::string>()(code)) return;
    name = absl::StrCat(stem, "-", i);
  }
}

std::string Disassembler::Text(const decode::Record& record) {
  const std::string code = CodeOf(record);
  const size_t hash = std::hash<std::string>()(code);
  if (const auto known = seen_.find(hash); known != seen_.end()) {
    return known->second ? "disassembler: failed above\n" : "disassembled above\n";
  }
  const char* directory = std::getenv("TMPDIR");
  std::string path = absl::StrCat(directory == nullptr || *directory == '\0' ? "/tmp" : directory,
                                  "/packsmith-kernel-XXXXXX");
  const int fd = ::mkstemp(path.data());
  if (fd < 0) return absl::StrCat("disassembler: ", path, ": ", std::strerror(errno), "\n");
  size_t written = 0;
  while (written < code.size()) {
    const ssize_t n = ::write(fd, code.data() + written, code.size() - written);
    if (n <= 0) break;
    written += static_cast<size_t>(n);
  }
  ::close(fd);

  const std::string quoted = absl::StrCat("'", absl::StrReplaceAll(path, {{"'", "'\\''"}}), "'");
  const std::string command = absl::StrContains(command_, "{}")
                                  ? absl::StrReplaceAll(command_, {{"{}", quoted}})
                                  : absl::StrCat(command_, " ", quoted);
  std::string text;
  int ends[2];
  pid_t child = -1;
  if (::pipe2(ends, O_CLOEXEC) == 0) {
    child = ::fork();
    if (child == 0) {
      // Its own process group, so that its children end with it.
      ::setpgid(0, 0);
      ::signal(SIGPIPE, SIG_DFL);
      const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
      ::dup2(null, STDIN_FILENO);
      ::dup2(ends[1], STDOUT_FILENO);
      ::dup2(ends[1], STDERR_FILENO);
      ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(ends[1]);
  }
  if (child < 0) {
    ::unlink(path.c_str());
    return absl::StrCat("disassembler: ", std::strerror(errno), "\n");
  }
  ::setpgid(child, child);
  const auto deadline = std::chrono::steady_clock::now() + kLongest;
  absl::string_view stopped;
  char buffer[4096];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd wait{ends[0], POLLIN, 0};
    const int ready = left.count() <= 0 ? 0 : ::poll(&wait, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      stopped = "disassembler: stopped after 10 seconds\n";
      break;
    }
    const ssize_t n = ::read(ends[0], buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(buffer, static_cast<size_t>(n));
    if (text.size() >= kMostOutput) {
      text.resize(kMostOutput);
      stopped = "disassembler: stopped after 1 MiB of text\n";
      break;
    }
  }
  if (!stopped.empty()) ::kill(-child, SIGKILL);
  ::close(ends[0]);
  int status = 0;
  // It may have closed its output and still run.
  while (stopped.empty() && ::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) {
      stopped = "disassembler: stopped after 10 seconds\n";
      ::kill(-child, SIGKILL);
    }
    ::usleep(1000);
  }
  if (!stopped.empty()) {
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  ::unlink(path.c_str());
  std::string failure(stopped);
  if (failure.empty() && WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    failure = absl::StrCat("disassembler: `", command_, "` ended with exit code ",
                           WEXITSTATUS(status), "\n");
  } else if (failure.empty() && WIFSIGNALED(status)) {
    failure =
        absl::StrCat("disassembler: `", command_, "` was ended by signal ", WTERMSIG(status), "\n");
  }
  if (seen_.size() < kMostKernels) seen_.emplace(hash, !failure.empty());
  if (!failure.empty() && failed_++ == 0) {
    // Its own message is most likely its last line.
    const absl::string_view said = absl::StripAsciiWhitespace(text);
    const size_t line = said.rfind('\n');
    first_failure_ = absl::StrCat(
        absl::StripAsciiWhitespace(failure), said.empty() ? "" : ", and printed: ",
        said.substr(line == absl::string_view::npos ? 0 : line + 1).substr(0, kMostSaid));
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text + failure;
}

std::string Disassembler::Failures() const {
  if (failed_ == 0) return "";
  return absl::StrCat(
      first_failure_,
      failed_ == 1 ? "" : absl::StrCat(" (and failed ", failed_ - 1, " more times)"));
}

}  // namespace packsmith::tools
