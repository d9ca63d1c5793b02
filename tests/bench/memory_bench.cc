// Allocating GPU addresses: ranges of 4 KiB to 2 MiB, freed and allocated at random.
//
// FreeAndAllocate frees one range of n and allocates another. An item is one of the two. Which
// range and what size is decided beforehand. Chase follows a chain of pointers through as many
// bytes as the allocator's books take, in the same run: the time of a step is that of a cache miss
// that nothing else can overlap, and FreeAndAllocate's counter `misses` is its time in such steps.
//
// Failures counts how often a range finds no room, beside first-fit over a sorted list that gets
// the same requests: 10,000 ranges, one freed, one allocated, a million times, in a space of
// 1.25, 1.10 and 1.05 times their sum.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/host_device.h"
#include "runtime/memory/range_allocator.h"
#include "runtime/memory/state_pool.h"
#include "runtime/memory/state_stream.h"
#include "tests/memory/first_fit.h"

namespace packsmith::gpu {
namespace {

constexpr uint64_t kPage = 4096, kPages = 512;

// A benchmark of what failed would measure nothing.
void Good(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::abort();
}

std::unique_ptr<RangeAllocator> Make(uint64_t end) {
  auto made = RangeAllocator::Create({.begin = 0, .end = end});
  if (!made.ok()) std::abort();
  return *std::move(made);
}

// Of this thread, in nanoseconds: what others do on the machine does not count.
double Now() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

// A random cycle through `bytes` of cache lines; how many nanoseconds a step takes.
class Chain {
 public:
  explicit Chain(size_t bytes) : lines_(std::max<size_t>(bytes / sizeof(Line), 2)) {
    std::vector<uint32_t> order(lines_.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    for (size_t i = 0; i < order.size(); ++i) {
      lines_[order[i]].next = &lines_[order[(i + 1) % order.size()]];
    }
    at_ = &lines_[0];
  }
  void Follow(size_t steps) {
    for (; steps != 0; --steps) at_ = at_->next;
    benchmark::DoNotOptimize(at_);
  }
  double NanosecondsPerStep() {
    Follow(lines_.size());
    const size_t steps = 1 << 20;
    const double start = Now();
    Follow(steps);
    return (Now() - start) / steps;
  }

 private:
  struct alignas(64) Line {
    Line* next;
  };
  std::vector<Line> lines_;
  const Line* at_;
};

// Twice as much room as the ranges need.
struct Churn {
  explicit Churn(size_t ranges)
      : allocator(Make(ranges * (kPages + 1) * kPage)), live(ranges), choices(1 << 20) {
    std::mt19937 random(1);
    allocator->Reserve(ranges);
    for (Range& range : live) {
      range = *allocator->Allocate({.size = (1 + random() % kPages) * kPage});
    }
    for (auto& [which, size] : choices) {
      which = random() % ranges;
      size = (1 + random() % kPages) * kPage;
    }
    // As it is after long use, not as it is when everything has been allocated in a row.
    for (size_t i = 0; i < 3 * ranges; ++i) {
      Step(live[random() % ranges], (1 + random() % kPages) * kPage);
    }
  }
  void Step(Range& range, uint64_t size) {
    if (!allocator->Free(range.handle).ok()) std::abort();
    range = *allocator->Allocate({.size = size});
  }

  std::unique_ptr<RangeAllocator> allocator;
  std::vector<Range> live;
  std::vector<std::pair<uint32_t, uint32_t>> choices;
};

void FreeAndAllocate(benchmark::State& state) {
  static std::map<int64_t, std::unique_ptr<Churn>> churns;
  auto& churn = churns[state.range(0)];
  if (churn == nullptr) churn = std::make_unique<Churn>(state.range(0));
  const double step = Chain(churn->allocator->bookkeeping_bytes()).NanosecondsPerStep();
  size_t i = 0;
  const double start = Now();
  for (auto _ : state) {
    const auto& [which, size] = churn->choices[i++ % churn->choices.size()];
    churn->Step(churn->live[which], size);
  }
  const double elapsed = Now() - start;
  state.SetItemsProcessed(2 * state.iterations());
  state.counters["ns"] = elapsed / (2 * state.iterations());
  state.counters["misses"] = elapsed / (2 * state.iterations()) / step;
  state.counters["MB"] = churn->allocator->bookkeeping_bytes() / 1e6;
}
BENCHMARK(FreeAndAllocate)->Arg(1000)->Arg(10000)->Arg(100000)->Arg(1000000);

void Chase(benchmark::State& state) {
  static std::map<int64_t, std::unique_ptr<Chain>> chains;
  auto& chain = chains[state.range(0)];
  if (chain == nullptr) {
    chain = std::make_unique<Chain>(Churn(state.range(0)).allocator->bookkeeping_bytes());
  }
  for (auto _ : state) chain->Follow(1);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Chase)->Arg(1000)->Arg(10000)->Arg(100000)->Arg(1000000);

// As FreeAndAllocate for other requests: 64 KiB alignment and 4 GiB lines, the highest address, a
// given address (the one that was freed), and looking an address up.
void Request(benchmark::State& state, RangeRequest request, bool same_place) {
  Churn churn(state.range(0));
  size_t i = 0;
  for (auto _ : state) {
    const auto& [which, size] = churn.choices[i++ % churn.choices.size()];
    Range& range = churn.live[which];
    request.size = size;
    if (same_place) {
      request.address = range.address;
      request.size = range.size;
    }
    if (!churn.allocator->Free(range.handle).ok()) std::abort();
    range = *churn.allocator->Allocate(request);
  }
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK_CAPTURE(Request, Aligned, {.alignment = 0x10000, .boundary = uint64_t{1} << 32}, false)
    ->Arg(1000)
    ->Arg(100000);
BENCHMARK_CAPTURE(Request, Highest, {.placement = Placement::kHighest}, false)
    ->Arg(1000)
    ->Arg(100000);
BENCHMARK_CAPTURE(Request, GivenAddress, {}, true)->Arg(1000)->Arg(100000);

void Find(benchmark::State& state) {
  Churn churn(state.range(0));
  size_t i = 0;
  for (auto _ : state) {
    const auto& [which, size] = churn.choices[i++ % churn.choices.size()];
    benchmark::DoNotOptimize(churn.allocator->Find(churn.live[which].address + 8));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Find)->Arg(1000)->Arg(100000)->Arg(1000000);

// What lies on top: with locks, memory, page tables (HostDevice's, which costs a kernel nothing
// like what it would cost), names. Malloc does the same with malloc() and free(), for comparison.
struct World {
  World()
      : device(*HostDevice::Create()),
        space(*AddressSpace::Create({{"all", kGiB, 64 * kGiB}})),
        buffers(Buffers::Create(*device, *space, {})),
        zone(*space->FindZone("all")) {}

  std::unique_ptr<HostDevice> device;
  std::unique_ptr<AddressSpace> space;
  std::unique_ptr<Buffers> buffers;
  ZoneId zone;
};

constexpr size_t kLiveThings = 10000;

// Frees one thing of many and makes another, of up to `most` bytes.
template <class Thing, class Make, class Free>
void ChurnThings(benchmark::State& state, uint64_t most, Make make, Free free) {
  std::mt19937 random(1);
  std::vector<Thing> live(kLiveThings);
  for (Thing& thing : live) thing = make(1 + random() % most);
  std::vector<std::pair<uint32_t, uint32_t>> choices(1 << 16);
  for (auto& [which, size] : choices) {
    which = random() % kLiveThings;
    size = 1 + random() % most;
  }
  size_t i = 0;
  for (auto _ : state) {
    const auto& [which, size] = choices[i++ % choices.size()];
    free(live[which]);
    live[which] = make(size);
  }
  state.SetItemsProcessed(2 * state.iterations());
  for (const Thing& thing : live) free(thing);
}

void AddressSpaces(benchmark::State& state) {
  World world;
  ChurnThings<Range>(
      state, 64 * kKiB,
      [&](uint64_t size) { return *world.space->Allocate(world.zone, {.size = size}); },
      [&](const Range& range) { Good(world.space->Free(world.zone, range.handle)); });
}
BENCHMARK(AddressSpaces);

void SmallBuffers(benchmark::State& state) {
  World world;
  ChurnThings<Buffer>(
      state, 4096,
      [&](uint64_t size) { return *world.buffers->Create({.size = size, .zone = world.zone}); },
      [&](const Buffer& buffer) { Good(world.buffers->Release(buffer.handle)); });
}
BENCHMARK(SmallBuffers);

void ReusedBuffers(benchmark::State& state) {
  World world;
  ChurnThings<Buffer>(
      state, 64 * kKiB,
      [&](uint64_t size) {
        return *world.buffers->Create({.size = size, .zone = world.zone, .dedicated = true});
      },
      [&](const Buffer& buffer) { Good(world.buffers->Release(buffer.handle)); });
}
BENCHMARK(ReusedBuffers);

void States(benchmark::State& state) {
  World world;
  auto pool =
      *StatePool::Create(*world.buffers, *world.space, {.zone = world.zone, .name = "states"});
  ChurnThings<State>(
      state, 4096, [&](uint64_t size) { return *pool->Allocate(size); },
      [&](const State& freed) { Good(pool->Free(freed.offset)); });
}
BENCHMARK(States);

void Stream(benchmark::State& state) {
  World world;
  auto pool =
      *StatePool::Create(*world.buffers, *world.space, {.zone = world.zone, .name = "states"});
  StateStream stream(*pool, 64 * kKiB);
  for (auto _ : state) {
    benchmark::DoNotOptimize(stream.Allocate(96, 64));
    if (stream.used() >= kMiB) Good(stream.Rewind());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Stream);

void Malloc(benchmark::State& state) {
  ChurnThings<void*>(
      state, state.range(0), [](uint64_t size) { return std::malloc(size); },
      [](void* freed) { std::free(freed); });
}
BENCHMARK(Malloc)->Arg(4096)->Arg(64 * kKiB);

// The argument: seed, space in percent of what is live.
void Failures(benchmark::State& state) {
  constexpr int kLive = 10000, kSteps = 1000000;
  uint64_t ours = 0, first_fits = 0;
  for (auto _ : state) {
    std::mt19937 random(state.range(0));
    std::vector<uint64_t> sizes(kLive);
    uint64_t pages = 0;
    for (uint64_t& size : sizes) {
      size = 1 + random() % kPages;
      pages += size;
    }
    const uint64_t end = pages * state.range(1) / 100 * kPage;
    auto allocator = Make(end);
    FirstFit first_fit(0, end);
    std::vector<Range> live;
    std::vector<std::pair<uint64_t, uint64_t>> other;
    const auto allocate = [&](uint64_t size) {
      const auto range = allocator->Allocate({.size = size});
      if (range.ok()) live.push_back(*range);
      ours += !range.ok();
      const auto address = first_fit.Allocate(size);
      if (address.has_value()) other.emplace_back(*address, size);
      first_fits += !address.has_value();
    };
    for (const uint64_t size : sizes) allocate(size * kPage);
    for (int i = 0; i < kSteps; ++i) {
      const uint32_t which = random();
      std::swap(live[which % live.size()], live.back());
      if (!allocator->Free(live.back().handle).ok()) std::abort();
      live.pop_back();
      std::swap(other[which % other.size()], other.back());
      first_fit.Free(other.back().first, other.back().second);
      other.pop_back();
      allocate((1 + random() % kPages) * kPage);
    }
  }
  state.counters["failed"] = ours;
  state.counters["first_fit"] = first_fits;
}
BENCHMARK(Failures)
    ->ArgsProduct({{1, 2, 3, 4, 5}, {125, 110, 105}})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace packsmith::gpu
