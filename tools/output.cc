#include "tools/output.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/file.h"
#include "runtime/base/progress.h"

namespace packsmith::tools {
namespace {

bool IsDumb() {
  const char* term = std::getenv("TERM");
  return term == nullptr || *term == '\0' || std::strcmp(term, "dumb") == 0;
}

// A pager that cannot be started reads nothing: everything written to its pipe is still there when
// the failure is noticed, and is kept until then. Linux's pipes hold 64 KiB, at most 1 MiB.
constexpr size_t kMostKept = size_t{1} << 20;

// The shell's exit codes for a command that it cannot run, or does not find.
bool CouldNotStart(int status) {
  return WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127);
}

class DescriptorOutput : public CliOutput {
 public:
  // `pager`: the process that reads from `fd`, or -1.
  DescriptorOutput(int fd, pid_t pager, std::function<void()> on_gone)
      : fd_(fd), pager_(pager), on_gone_(std::move(on_gone)) {}
  ~DescriptorOutput() override { (void)Finish(); }

  void Append(absl::string_view text) override {
    if (on_terminal_ && !text.empty()) EndProgress();
    while (!text.empty() && !gone_ && status_.ok()) {
      const ssize_t n = ::write(fd_, text.data(), text.size());
      if (n > 0) {
        Keep(text.substr(0, static_cast<size_t>(n)));
        text.remove_prefix(static_cast<size_t>(n));
      } else if (errno == EPIPE) {
        if (EndPager()) continue;
        gone_ = true;
        if (on_gone_) on_gone_();
      } else if (errno != EINTR) {
        status_ = absl::UnavailableError(
            absl::StrCat("standard output: ", std::strerror(errno), "; the text is incomplete"));
      }
    }
  }
  absl::Status Finish() override {
    (void)EndPager();
    return status_;
  }

 private:
  void Keep(absl::string_view written) {
    if (pager_ <= 0 || too_much_) return;
    too_much_ = kept_.size() + written.size() > kMostKept;
    kept_.append(written.data(), too_much_ ? 0 : written.size());
  }

  // Waits for the pager. True: it could not be started; its text is on standard output now, and the
  // rest goes there.
  bool EndPager() {
    if (pager_ <= 0) return false;
    ::close(fd_);
    int status = 0;
    while (::waitpid(pager_, &status, 0) < 0 && errno == EINTR) {
    }
    pager_ = -1;
    fd_ = STDOUT_FILENO;
    if (!CouldNotStart(status) || too_much_) return false;
    const std::string kept = std::exchange(kept_, "");
    Append(kept);
    return true;
  }

  const bool on_terminal_ = ::isatty(STDOUT_FILENO) != 0;
  int fd_;
  pid_t pager_;
  std::string kept_;  // what is in the pager's pipe, unless the pager has read it
  bool too_much_ = false;
  std::function<void()> on_gone_;
  bool gone_ = false;
  absl::Status status_;
};

class FileOutput : public CliOutput {
 public:
  explicit FileOutput(FileWriter writer) : writer_(std::move(writer)) {}
  void Append(absl::string_view text) override {
    if (status_.ok()) status_ = writer_.Append(text);
  }
  absl::Status Finish() override { return status_.ok() ? writer_.Commit() : status_; }

 private:
  FileWriter writer_;
  absl::Status status_;
};

// If no pager can be started, the text goes to the terminal itself.
std::unique_ptr<CliOutput> OpenPager(const std::function<void()>& on_gone) {
  const char* command = std::getenv("PAGER");
  if (command == nullptr) command = "less -R";
  if (*command == '\0' || std::strcmp(command, "cat") == 0) return nullptr;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return nullptr;
  const pid_t child = ::fork();
  if (child < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    return nullptr;
  }
  if (child == 0) {
    ::signal(SIGPIPE, SIG_DFL);
    ::dup2(ends[0], STDIN_FILENO);
    // Colours are kept, a short text needs no key, and the text stays on the screen.
    ::setenv("LESS", "FRX", 0);
    ::execl("/bin/sh", "sh", "-c", command, static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[0]);
  return std::make_unique<DescriptorOutput>(ends[1], child, on_gone);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CliOutput>> OpenOutput(const OutputOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);
  if (!options.file.empty()) {
    absl::StatusOr<FileWriter> writer = FileWriter::Create(options.file);
    if (!writer.ok()) return writer.status();
    return std::make_unique<FileOutput>(*std::move(writer));
  }
  if (options.pager && ::isatty(STDOUT_FILENO) != 0 && !IsDumb()) {
    std::unique_ptr<CliOutput> pager = OpenPager(options.on_gone);
    if (pager != nullptr) return pager;
  }
  return std::make_unique<DescriptorOutput>(STDOUT_FILENO, -1, options.on_gone);
}

bool UseColor(const std::string& when, const std::string& file) {
  if (when != "auto") return when == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return file.empty() && ::isatty(STDOUT_FILENO) != 0 &&
         (no_color == nullptr || *no_color == '\0') && !IsDumb();
}

}  // namespace packsmith::tools
