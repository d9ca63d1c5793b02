// Triage of many dumps by two threads: from files of 1 MB each, which the page cache has, to
// groups. Beside reading the same files, and a copy of as many bytes.
//
// `peak` is how much the process grew meanwhile, at most, where the system tells (Linux).
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "runtime/dump/ascii85.h"
#include "runtime/generations/generations.h"
#include "runtime/triage/groups.h"
#include "runtime/triage/survey.h"

namespace packsmith::bench {
namespace {

constexpr unsigned kThreads = 2;
constexpr size_t kSize = 1'000'000;
// More would measure the disk: the others are links to these.
constexpr size_t kDifferent = 20;
// Headers of the commands in which the hangs are: as many groups.
constexpr uint32_t kHeaders[] = {0x7a000004, 0x7b000005, 0x78080007, 0x78070003};

// An error state: a batch of 64 KiB, and a buffer of what is missing.
std::string MakeDump(size_t number) {
  std::vector<uint32_t> words(65536 / 4);
  const uint32_t header = kHeaders[number % std::size(kHeaders)];
  const uint32_t length = (header & 0xff) + 2;
  for (size_t at = 0; at + length < words.size(); at += length) words[at] = header;
  words.back() = 0x05000000;
  std::string text = absl::StrFormat(
      "GPU HANG: ecode 9:1:0x%08x, in bench [%d]\nKernel: 6.1.0\nTime: %d s 0 us\n"
      "PCI ID: 0x1912\nrcs0 command stream:\n  ACTHD: 0x00000001 %08x\n  IPEHR: 0x%08x\n"
      "  HEAD: 0x00000010\n  TAIL: 0x00000020\n  hung: yes\n"
      "rcs0 --- batch = 0x00000001 00000000\n~",
      header ^ 0xffffffff, number + 1, 1700000000 + number, 0x8000 / (length * 4) * (length * 4),
      header);
  std::vector<uint8_t> bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  AppendAscii85(bytes, text);
  absl::StrAppend(&text, "\nrcs0 --- user = 0x00000002 00000000\n~");
  // Five characters for each word.
  const size_t missing = text.size() < kSize ? (kSize - text.size()) / 5 : 0;
  for (size_t i = 0; i < missing; ++i) text += "87cUR";
  text.push_back('\n');
  return text;
}

// A folder for as long as the program runs.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / absl::StrCat("packsmith-", getpid())) {
    std::filesystem::create_directories(path_);
    for (size_t i = 0; i < kDifferent; ++i) {
      std::ofstream(FileAt(i), std::ios::binary) << MakeDump(i);
    }
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  // The first `count` files, of which those after kDifferent are links.
  std::vector<triage::Found> Files(size_t count) {
    std::vector<triage::Found> files;
    for (size_t i = 0; i < count; ++i) {
      std::error_code there;
      if (i >= kDifferent)
        std::filesystem::create_hard_link(FileAt(i % kDifferent), FileAt(i), there);
      files.push_back({FileAt(i), true});
    }
    return files;
  }

 private:
  std::string FileAt(size_t number) const {
    return (path_ / absl::StrCat(number, ".error")).native();
  }

  const std::filesystem::path path_;
};

Folder& TheFolder() {
  static Folder folder;
  return folder;
}

// Kilobytes of a line of /proc/self/status; empty: there is none.
std::optional<uint64_t> StatusOf(absl::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    absl::string_view rest = line;
    uint64_t kilobytes = 0;
    if (!absl::ConsumePrefix(&rest, name) || !absl::ConsumeSuffix(&rest, "kB")) continue;
    if (absl::SimpleAtoi(rest, &kilobytes)) return kilobytes;
  }
  return std::nullopt;
}

// Adds the counters of a benchmark that goes through `count` dumps in each iteration.
class Measured {
 public:
  Measured(benchmark::State& state, size_t count) : state_(state), count_(count) {
    // The peak begins anew.
    std::ofstream("/proc/self/clear_refs") << "5";
    before_ = StatusOf("VmRSS:");
  }
  ~Measured() {
    state_.counters["dumps"] = benchmark::Counter(static_cast<double>(count_),
                                                  benchmark::Counter::kIsIterationInvariantRate);
    const std::optional<uint64_t> peak = StatusOf("VmHWM:");
    if (before_ && peak && *peak >= *before_) {
      state_.counters["peak"] =
          benchmark::Counter(static_cast<double>((*peak - *before_) * 1024),
                             benchmark::Counter::kDefaults, benchmark::Counter::kIs1024);
    }
    state_.SetBytesProcessed(state_.iterations() * static_cast<int64_t>(count_ * kSize));
  }
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

 private:
  benchmark::State& state_;
  const size_t count_;
  std::optional<uint64_t> before_;
};

// Calls `work` with each number below `count`, by kThreads threads.
template <class Work>
void InParallel(size_t count, const Work& work) {
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < kThreads; ++i) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
}

void Copy(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  const std::string from = MakeDump(0);
  const Measured measured(state, count);
  for (auto unused : state) {
    InParallel(count, [&](size_t) {
      thread_local std::vector<char> to(from.size());
      std::memcpy(to.data(), from.data(), from.size());
      benchmark::ClobberMemory();
    });
  }
}

void Read(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  const std::vector<triage::Found> files = TheFolder().Files(count);
  const Measured measured(state, count);
  std::atomic<uint64_t> bytes = 0;
  for (auto unused : state) {
    InParallel(count, [&](size_t i) {
      thread_local std::vector<char> to(1 << 16);
      const int fd = open(files[i].path.c_str(), O_RDONLY | O_CLOEXEC);
      for (ssize_t got = 1; fd >= 0 && got > 0;) {
        got = read(fd, to.data(), to.size());
        if (got > 0) bytes += static_cast<uint64_t>(got);
      }
      if (fd >= 0) close(fd);
    });
  }
  if (bytes < static_cast<uint64_t>(state.iterations()) * count * (kSize - 16)) {
    state.SkipWithError("the files were not read whole");
  }
}

void Triage(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  const std::vector<triage::Found> files = TheFolder().Files(count);
  triage::SurveyOptions options;
  options.jobs = kThreads;
  options.max_bytes = uint64_t{1} << 30;
  options.describe = [](const Dump&) { return FindGeneration("gfx9"); };
  const Measured measured(state, count);
  for (auto unused : state) {
    triage::Groups groups(triage::kAllFields, triage::KnownIssues());
    size_t hangs = 0;
    const auto done = triage::Survey(files, options, nullptr, [&](const triage::Record& record) {
      hangs += record.outcome == triage::Outcome::kHang ? 1 : 0;
      groups.Add(record);
    });
    const std::string text = triage::ToText(groups.Take(), 0);
    benchmark::DoNotOptimize(text.data());
    if (!done.ok() || hangs != count) {
      state.SkipWithError("not all files were taken for hangs");
      break;
    }
  }
}

// The processor time of both threads counts.
BENCHMARK(Copy)->Arg(20)->Arg(1000)->MeasureProcessCPUTime()->UseRealTime()->Unit(
    benchmark::kMillisecond);
BENCHMARK(Read)->Arg(20)->Arg(1000)->MeasureProcessCPUTime()->UseRealTime()->Unit(
    benchmark::kMillisecond);
BENCHMARK(Triage)->Arg(20)->Arg(1000)->MeasureProcessCPUTime()->UseRealTime()->Unit(
    benchmark::kMillisecond);

}  // namespace
}  // namespace packsmith::bench
