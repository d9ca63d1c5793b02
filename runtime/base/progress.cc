#include "runtime/base/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "runtime/base/unicode.h"

namespace packsmith {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kSilence = std::chrono::seconds(1);
constexpr auto kInterval = std::chrono::milliseconds(200);
// To the first column, and erase to the end of the line.
constexpr absl::string_view kWipe = "\r\x1b[K";

void Write(absl::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

size_t Columns() {
  struct winsize size {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// At most `most` characters, none of them hidden.
std::string Fitting(absl::string_view text, size_t most) {
  std::string line;
  for (size_t count = 0; !text.empty() && count < most; ++count) {
    const CodePoint next = FirstCodePoint(text);
    if (!next.valid || IsHidden(next.value)) {
      line += '?';
    } else {
      absl::StrAppend(&line, text.substr(0, next.bytes));
    }
    text.remove_prefix(next.bytes);
  }
  return line;
}

class Line {
 public:
  Line(absl::string_view program, absl::string_view unit) : program_(program), unit_(unit) {
    thread_ = std::thread([this] { Run(); });
  }
  ~Line() {
    End();
    thread_.join();
  }

  void Set(absl::string_view what) {
    const std::lock_guard<std::mutex> lock(mutex_);
    what_ = std::string(what);
  }
  void Add(uint64_t count) { count_.fetch_add(count, std::memory_order_relaxed); }
  void Hide() {
    const std::lock_guard<std::mutex> lock(mutex_);
    Wipe();
  }
  void End() {
    const std::lock_guard<std::mutex> lock(mutex_);
    Wipe();
    ended_ = true;
    wake_.notify_all();
  }

 private:
  void Run() {
    const Clock::time_point began = Clock::now();
    std::unique_lock<std::mutex> lock(mutex_);
    wake_.wait_for(lock, kSilence, [this] { return ended_; });
    while (!ended_) {
      const auto seconds =
          std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - began).count();
      const uint64_t count = count_.load(std::memory_order_relaxed);
      const std::string numbers = absl::StrCat(
          count == 0 ? "" : absl::StrCat(", ", count, " ", unit_), ", ", seconds, " s");
      // The numbers are shown however long the rest is.
      const size_t columns = Columns();
      const size_t rest = columns - std::min(columns, numbers.size() + 1);
      Write(absl::StrCat(kWipe, Fitting(absl::StrCat(program_, ": ", what_), rest),
                         Fitting(numbers, columns - 1)));
      shown_ = true;
      wake_.wait_for(lock, kInterval, [this] { return ended_; });
    }
  }

  // With the lock.
  void Wipe() {
    if (shown_) Write(kWipe);
    shown_ = false;
  }

  const std::string program_, unit_;
  std::atomic<uint64_t> count_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string what_ = "starting";
  bool shown_ = false, ended_ = false;
  std::thread thread_;
};

// Set and reset by ShowProgress, while no other thread works.
std::unique_ptr<Line>& TheLine() {
  static auto* const line = new std::unique_ptr<Line>;
  return *line;
}

bool HasTerminal() {
  const char* const term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && term != nullptr && *term != '\0' &&
         std::strcmp(term, "dumb") != 0;
}

}  // namespace

ShowProgress::ShowProgress(absl::string_view program, absl::string_view unit)
    : owns_(TheLine() == nullptr && HasTerminal()) {
  if (owns_) TheLine() = std::make_unique<Line>(program, unit);
}

ShowProgress::~ShowProgress() {
  if (owns_) TheLine() = nullptr;
}

bool ShowsProgress() { return TheLine() != nullptr; }

void SetProgress(absl::string_view what) {
  if (Line* const line = TheLine().get()) line->Set(what);
}

void AddProgress(uint64_t count) {
  if (Line* const line = TheLine().get()) line->Add(count);
}

void HideProgress() {
  if (Line* const line = TheLine().get()) line->Hide();
}

void EndProgress() {
  if (Line* const line = TheLine().get()) line->End();
}

}  // namespace packsmith
