// Recording submissions beside a memcpy of the memory that they hold.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "runtime/capture/records/recorder.h"
#include "runtime/dump/dump.h"

namespace packsmith::bench {
namespace {

using capture::MemoryPart;
using capture::Recorder;

constexpr size_t kPage = kMemoryPage;
constexpr size_t kBuffers = 64;
constexpr size_t kBufferSize = size_t{1} << 20;
constexpr size_t kHeld = kBuffers * kBufferSize;

// A folder in memory, if the system has such a place: a disk's time would hide the rest.
class Run {
 public:
  // limit: as in RecordOptions.
  explicit Run(uint64_t limit) {
    std::string name =
        (access("/dev/shm", W_OK) == 0 ? std::string("/dev/shm")
                                       : std::filesystem::temp_directory_path().string()) +
        "/packsmith-bench-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
    absl::StatusOr<std::unique_ptr<Recorder>> made =
        Recorder::Create({.folder = folder_, .limit = limit});
    if (!made.ok()) std::abort();
    recorder_ = *std::move(made);
  }
  ~Run() {
    recorder_ = nullptr;
    std::filesystem::remove_all(folder_);
  }
  void Add(benchmark::State& state, const Dump& dump, absl::Span<const MemoryPart> parts) {
    const absl::StatusOr<bool> added =
        recorder_->Add({dump, parts, {.number = recorder_->NextNumber()}});
    if (!added.ok()) state.SkipWithError(std::string(added.status().message()).c_str());
  }
  // Rates, and what the record has of what the buffers hold.
  void Count(benchmark::State& state, uint64_t held) const {
    const Recorder::Totals totals = recorder_->totals();
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * held));
    state.counters["stored/held"] =
        static_cast<double>(totals.stored_bytes) / static_cast<double>(totals.recorded * held);
    state.counters["submissions/s"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  }

 private:
  std::string folder_;
  std::unique_ptr<Recorder> recorder_;
};

// Buffers of which every page has other content.
struct World {
  explicit World(size_t buffers = kBuffers, size_t size = kBufferSize) : bytes(buffers * size) {
    std::mt19937_64 random(1);
    for (size_t at = 0; at < bytes.size(); at += 8) {
      const uint64_t value = random() | 1;
      std::memcpy(&bytes[at], &value, 8);
    }
    Submission submission;
    submission.engine = "render";
    submission.batch_address = 0x100000;
    dump.submissions.push_back(submission);
    for (size_t i = 0; i < buffers; ++i) {
      const uint64_t address = 0x100000 + i * 2 * kBufferSize;
      if (!dump.memory.Map(0, address, absl::MakeConstSpan(bytes).subspan(i * size, size), size)
               .ok()) {
        std::abort();
      }
      parts.push_back({.address = address, .size = size, .buffer = i + 1});
    }
  }
  // Changes every `step`-th page.
  void Change(size_t step) {
    ++turn;
    for (size_t at = 0; at < bytes.size(); at += step * kPage) {
      std::memcpy(&bytes[at + 64], &turn, sizeof(turn));
    }
  }

  std::vector<uint8_t> bytes;
  Dump dump;
  std::vector<MemoryPart> parts;
  uint64_t turn = 0;
};

void Copy(benchmark::State& state) {
  const World world;
  std::vector<uint8_t> out(kHeld);
  for (auto _ : state) {
    std::memcpy(out.data(), world.bytes.data(), kHeld);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kHeld));
}
BENCHMARK(Copy);

// 64 MiB in 64 buffers, of which nothing changed since the last submission.
void Unchanged(benchmark::State& state) {
  const World world;
  Run run(0);
  run.Add(state, world.dump, world.parts);
  for (auto _ : state) run.Add(state, world.dump, world.parts);
  run.Count(state, kHeld);
}
BENCHMARK(Unchanged);

// The same, of which one page in 64 changed, or all did.
void Changed(benchmark::State& state) {
  World world;
  Run run(4 * kHeld);
  run.Add(state, world.dump, world.parts);
  for (auto _ : state) {
    state.PauseTiming();
    world.Change(static_cast<size_t>(state.range(0)));
    state.ResumeTiming();
    run.Add(state, world.dump, world.parts);
  }
  run.Count(state, kHeld);
}
BENCHMARK(Changed)->Arg(64)->Arg(1);

// The same, said not to have changed.
void SaidUnchanged(benchmark::State& state) {
  World world;
  Run run(0);
  run.Add(state, world.dump, world.parts);
  for (MemoryPart& part : world.parts) part.changed = absl::Span<const capture::Extent>();
  for (auto _ : state) run.Add(state, world.dump, world.parts);
  run.Count(state, kHeld);
}
BENCHMARK(SaidUnchanged);

// 64 MiB of a sparse file, which has one page in 256.
void Sparse(benchmark::State& state) {
  const int fd = memfd_create("bench", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, kHeld) != 0) std::abort();
  void* const mapped = mmap(nullptr, kHeld, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) std::abort();
  uint8_t* const bytes = static_cast<uint8_t*>(mapped);
  for (size_t at = 0; at < kHeld; at += 256 * kPage) std::memcpy(bytes + at, &at, sizeof(at));
  {
    Dump dump;
    if (!dump.memory.Map(0, kPage, absl::MakeConstSpan(bytes, kHeld), kHeld).ok()) std::abort();
    const MemoryPart part{.address = kPage, .size = kHeld, .buffer = 1, .fd = fd};
    Run run(0);
    for (auto _ : state) run.Add(state, dump, absl::MakeConstSpan(&part, 1));
    run.Count(state, kHeld);
  }
  munmap(mapped, kHeld);
  close(fd);
}
BENCHMARK(Sparse);

// Eight buffers of 16 KiB, of which two pages changed: what a record costs beside its memory.
void Small(benchmark::State& state) {
  constexpr size_t kSize = 4 * kPage;
  World world(8, kSize);
  Run run(uint64_t{16} << 20);
  for (auto _ : state) {
    world.Change(16);
    run.Add(state, world.dump, world.parts);
  }
  run.Count(state, 8 * kSize);
}
BENCHMARK(Small);

}  // namespace
}  // namespace packsmith::bench
