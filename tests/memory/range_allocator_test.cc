#include "runtime/memory/range_allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "tests/memory/first_fit.h"
#include "tests/memory/range_model.h"

namespace packsmith::gpu {
namespace {

constexpr uint64_t kPage = 4096, kGiB = uint64_t{1} << 30;

std::unique_ptr<RangeAllocator> Make(uint64_t begin, uint64_t end, uint64_t granule = kPage) {
  auto made = RangeAllocator::Create({begin, end, granule});
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

Range Must(absl::StatusOr<Range> range) {
  EXPECT_TRUE(range.ok()) << range.status();
  return range.ok() ? *range : Range{};
}

TEST(RangeAllocator, RefusesStretchesThatAreNone) {
  EXPECT_FALSE(RangeAllocator::Create({0, 0, kPage}).ok());
  EXPECT_FALSE(RangeAllocator::Create({kPage, 0, kPage}).ok());
  EXPECT_FALSE(RangeAllocator::Create({1, kPage, kPage}).ok());
  EXPECT_FALSE(RangeAllocator::Create({0, kPage + 1, kPage}).ok());
  EXPECT_FALSE(RangeAllocator::Create({0, 3 * kPage, 3 * kPage}).ok());
  EXPECT_FALSE(RangeAllocator::Create({0, kPage, 0}).ok());
  EXPECT_FALSE(RangeAllocator::Create({0, uint64_t{1} << 60, 1}).ok());
  EXPECT_TRUE(RangeAllocator::Create({0, ~uint64_t{kPage - 1}, kPage}).ok());
}

TEST(RangeAllocator, GivesAllThereIsAndThenFails) {
  auto a = Make(kPage, 5 * kPage);
  std::vector<uint64_t> addresses;
  for (int i = 0; i < 4; ++i) addresses.push_back(Must(a->Allocate({.size = 1})).address);
  std::sort(addresses.begin(), addresses.end());
  EXPECT_EQ(addresses, (std::vector<uint64_t>{kPage, 2 * kPage, 3 * kPage, 4 * kPage}));
  const auto failed = a->Allocate({.size = 1});
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(a->statistics().failures, 1u);
  EXPECT_EQ(a->statistics().free_bytes(), 0u);
  EXPECT_EQ(a->statistics().largest_hole, 0u);
  EXPECT_TRUE(a->Verify().ok()) << a->Verify();
}

TEST(RangeAllocator, SizesAreRoundedUpToTheGranule) {
  auto a = Make(0, kGiB);
  EXPECT_EQ(Must(a->Allocate({.size = 1})).size, kPage);
  EXPECT_EQ(Must(a->Allocate({.size = kPage})).size, kPage);
  EXPECT_EQ(Must(a->Allocate({.size = kPage + 1})).size, 2 * kPage);
  auto fine = Make(0, kPage, 32);
  EXPECT_EQ(Must(fine->Allocate({.size = 33})).size, 64u);
  EXPECT_EQ(Must(fine->Allocate({.size = 32})).address % 32, 0u);
}

TEST(RangeAllocator, RefusesRequestsThatMakeNoSense) {
  auto a = Make(0, kGiB);
  const RangeRequest kBad[] = {
      {.size = 0},
      {.size = kPage, .alignment = 3 * kPage},
      {.size = 2 * kPage, .boundary = kPage},
      {.size = kPage, .boundary = 3 * kPage},
      {.size = kPage, .guard = 256 * kPage},
      {.size = kPage, .address = 1},
      {.size = kPage, .alignment = 0x10000, .address = kPage},
      {.size = 2 * kPage, .boundary = 0x10000, .address = 0xf000},
      {.size = kPage, .address = kGiB},
      {.size = kPage + 1, .address = kGiB - kPage},
  };
  for (const RangeRequest& bad : kBad) {
    EXPECT_EQ(a->Allocate(bad).status().code(), absl::StatusCode::kInvalidArgument)
        << bad.size << " " << bad.alignment << " " << bad.boundary;
  }
  EXPECT_EQ(a->statistics().live_ranges, 0u);
  EXPECT_EQ(a->statistics().holes, 1u);
}

TEST(RangeAllocator, EnormousRequestsFailWithoutOverflow) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  for (const uint64_t end : {kGiB, ~(kPage - 1)}) {
    auto a = Make(kPage, end);
    for (const uint64_t size : {end, end + 1, kMost, kMost - kPage}) {
      for (const uint64_t alignment : {uint64_t{0}, uint64_t{1} << 63}) {
        for (const Placement placement :
             {Placement::kBest, Placement::kLowest, Placement::kHighest}) {
          EXPECT_EQ(a->Allocate({.size = size, .alignment = alignment, .placement = placement})
                        .status()
                        .code(),
                    absl::StatusCode::kResourceExhausted)
              << size << " " << alignment;
        }
      }
      EXPECT_FALSE(a->Allocate({.size = size, .address = kPage}).ok());
    }
    EXPECT_TRUE(a->Verify().ok()) << a->Verify();
  }
  // Alignment that no address but zero has.
  auto a = Make(kPage, ~(kPage - 1));
  EXPECT_EQ(Must(a->Allocate({.size = kPage, .alignment = uint64_t{1} << 63})).address,
            uint64_t{1} << 63);
  EXPECT_FALSE(a->Allocate({.size = kPage, .alignment = uint64_t{1} << 63}).ok());
}

TEST(RangeAllocator, TakesTheSmallestHoleThatHoldsIt) {
  auto a = Make(0, 100 * kPage);
  std::vector<Range> ranges;
  for (const uint64_t pages : {5, 1, 3, 1, 4, 1, 85}) {
    ranges.push_back(Must(a->Allocate({.size = pages * kPage})));
  }
  for (const int hole : {0, 2, 4}) ASSERT_TRUE(a->Free(ranges[hole].handle).ok());
  EXPECT_EQ(Must(a->Allocate({.size = 4 * kPage})).address, ranges[4].address);
  EXPECT_EQ(Must(a->Allocate({.size = 2 * kPage})).address, ranges[2].address);
  EXPECT_EQ(Must(a->Allocate({.size = 1 * kPage})).address, ranges[2].address + 2 * kPage);
  EXPECT_EQ(Must(a->Allocate({.size = 1 * kPage})).address, ranges[0].address);
}

TEST(RangeAllocator, FreedNeighboursBecomeOneHole) {
  auto a = Make(0, 64 * kPage);
  std::vector<Range> ranges;
  for (int i = 0; i < 64; ++i) ranges.push_back(Must(a->Allocate({.size = kPage})));
  for (const int step : {0, 1}) {
    for (int i = step; i < 64; i += 2) ASSERT_TRUE(a->Free(ranges[i].handle).ok());
    ASSERT_TRUE(a->Verify().ok()) << a->Verify();
  }
  EXPECT_EQ(a->statistics().holes, 1u);
  EXPECT_EQ(a->statistics().largest_hole, 64 * kPage);
  EXPECT_EQ(Must(a->Allocate({.size = 64 * kPage})).address, 0u);
}

TEST(RangeAllocator, DoubleForeignAndStaleFreesAreErrorsAndChangeNothing) {
  auto a = Make(0, kGiB), b = Make(0, kGiB);
  const Range first = Must(a->Allocate({.size = kPage}));
  const Range other = Must(b->Allocate({.size = kPage}));
  EXPECT_EQ(first.handle.index, other.handle.index);
  EXPECT_EQ(a->Free(other.handle).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StrContains(a->Free(other.handle).message(), "another allocator"));
  ASSERT_TRUE(a->Free(first.handle).ok());
  EXPECT_EQ(a->Free(first.handle).code(), absl::StatusCode::kNotFound);
  const Range second = Must(a->Allocate({.size = kPage}));
  EXPECT_EQ(second.handle.index, first.handle.index) << "the stale handle names the same record";
  EXPECT_EQ(second.address, first.address);
  EXPECT_EQ(a->Free(first.handle).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(a->Lookup(first.handle).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(a->Free({}).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(a->Free({second.handle.serial, 12345}).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Must(a->Lookup(second.handle)), second);
  EXPECT_EQ(a->statistics().live_ranges, 1u);
  EXPECT_TRUE(a->Free(second.handle).ok());
}

TEST(RangeAllocator, GuardsStayUnusedOnBothSides) {
  auto a = Make(0, 16 * kPage);
  const Range guarded = Must(a->Allocate({.size = 2 * kPage, .guard = 1}));
  EXPECT_EQ(guarded.address, kPage);
  EXPECT_EQ(guarded.size, 2 * kPage);
  EXPECT_EQ(Must(a->Allocate({.size = kPage})).address, 4 * kPage);
  EXPECT_EQ(a->Allocate({.size = kPage, .address = 3 * kPage}).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(a->Allocate({.size = kPage, .address = 0}).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_FALSE(a->Find(0).ok());
  EXPECT_EQ(Must(a->Find(kPage)), guarded);
  EXPECT_EQ(Must(a->Find(3 * kPage - 1)), guarded);
  EXPECT_FALSE(a->Find(3 * kPage).ok());
  EXPECT_EQ(a->statistics().guard_bytes, 2 * kPage);
  EXPECT_EQ(Must(a->Lookup(guarded.handle)), guarded);
  ASSERT_TRUE(a->Free(guarded.handle).ok());
  EXPECT_EQ(Must(a->Allocate({.size = 4 * kPage})).address, 0u);
}

TEST(RangeAllocator, AGuardDoesNotFitWhereTheRangeItselfWould) {
  auto a = Make(0, 3 * kPage);
  EXPECT_FALSE(a->Allocate({.size = 2 * kPage, .guard = kPage}).ok());
  EXPECT_FALSE(a->Allocate({.size = kPage, .guard = kPage, .address = 0}).ok());
  EXPECT_FALSE(a->Allocate({.size = kPage, .guard = kPage, .address = 2 * kPage}).ok());
  EXPECT_TRUE(a->Allocate({.size = kPage, .guard = kPage, .address = kPage}).ok());
}

TEST(RangeAllocator, BeforeAFailureEachHoleIsConsidered) {
  // 4,096 holes of 3 pages, of which one can hold 2 pages on an even address... none but the last.
  constexpr uint64_t kHoles = 4096;
  auto a = Make(0, (kHoles * 2 + 4) * kPage);
  // Live pages at even numbers, holes at odd ones: no hole begins where two pages may.
  for (uint64_t i = 0; i < kHoles; ++i) {
    ASSERT_TRUE(a->Allocate({.size = kPage, .address = 2 * i * kPage}).ok());
  }
  const Range last = Must(a->Allocate({.size = 4 * kPage, .address = 2 * kHoles * kPage}));
  EXPECT_FALSE(a->Allocate({.size = kPage, .alignment = 2 * kPage}).ok());
  ASSERT_TRUE(a->Free(last.handle).ok());
  EXPECT_EQ(Must(a->Allocate({.size = kPage, .alignment = 2 * kPage})).address, last.address);
  // The same in a class of several sizes: only the hole that was freed first, and so is looked at
  // last, is large enough.
  auto b = Make(0, 200 * 2048 * kPage);
  std::vector<Range> holes;
  for (int i = 0; i < 90; ++i) {
    holes.push_back(
        Must(b->Allocate({.size = (i == 0 ? 1087 : 1025) * kPage, .address = i * 2048 * kPage})));
    ASSERT_TRUE(b->Allocate({.size = (i == 0 ? 961 : 1023) * kPage}).ok());
  }
  const RangeStatistics s = b->statistics();
  ASSERT_EQ(s.holes, 1u);
  ASSERT_TRUE(b->Allocate({.size = s.largest_hole}).ok());
  for (const Range& hole : holes) ASSERT_TRUE(b->Free(hole.handle).ok());
  EXPECT_FALSE(b->Allocate({.size = 1088 * kPage}).ok());
  EXPECT_EQ(Must(b->Allocate({.size = 1086 * kPage})).address, holes[0].address);
}

TEST(RangeAllocator, StretchesAreReportedInOrder) {
  auto a = Make(kPage, 10 * kPage);
  ASSERT_TRUE(a->Allocate({.size = kPage, .guard = kPage, .address = 4 * kPage}).ok());
  std::vector<std::pair<uint64_t, bool>> seen;
  uint64_t at = kPage;
  a->ForEach([&](const RangeAllocator::Stretch& stretch) {
    EXPECT_EQ(stretch.range.address, at);
    at += stretch.range.size;
    seen.emplace_back(stretch.range.size / kPage, stretch.used);
  });
  EXPECT_EQ(at, 10 * kPage);
  EXPECT_EQ(seen, (std::vector<std::pair<uint64_t, bool>>{
                      {2, false}, {1, true}, {1, true}, {1, true}, {4, false}}));
}

// Random requests of all kinds against a sorted list, in a small stretch that is full much of the
// time, so that half of them fail.
struct Mix {
  const char* name;
  uint64_t begin, pages, granule;
  unsigned most;  // pages a range
};

class Randomised : public testing::TestWithParam<Mix> {};

TEST_P(Randomised, DoesWhatASortedListDoes) {
  const Mix& mix = GetParam();
  const uint64_t unit = mix.granule, end = mix.begin + mix.pages * unit;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    std::mt19937 random(seed);
    auto a = Make(mix.begin, end, unit);
    RangeModel model(mix.begin, end, unit);
    std::vector<Range> live;
    int failures = 0, successes = 0;
    for (int step = 0; step < 4000; ++step) {
      if (!live.empty() && random() % 16 < 7) {
        std::swap(live[random() % live.size()], live.back());
        ASSERT_TRUE(a->Free(live.back().handle).ok());
        model.Remove(live.back().address);
        live.pop_back();
      } else {
        RangeRequest request{.size = (1 + random() % mix.most) * unit - random() % unit};
        if (random() % 3 == 0) request.alignment = unit << (random() % 5);
        if (random() % 3 == 0) {
          request.boundary = std::max<uint64_t>(unit << (random() % 6), unit);
          while (request.boundary < request.size) request.boundary *= 2;
        }
        if (random() % 4 == 0) request.guard = random() % (2 * unit);
        request.placement = static_cast<Placement>(random() % 3);
        const auto lowest = model.Lowest(request), highest = model.Highest(request);
        ASSERT_EQ(lowest.has_value(), highest.has_value());
        bool possible = lowest.has_value();
        if (random() % 4 == 0) {
          request.address = mix.begin + random() % mix.pages * unit;
          possible = model.Allows(request, *request.address);
        }
        const auto range = a->Allocate(request);
        ASSERT_EQ(range.ok(), possible) << range.status();
        if (!range.ok()) {
          ++failures;
          continue;
        }
        ++successes;
        ASSERT_EQ(range->size, model.Up(request.size));
        ASSERT_TRUE(model.Allows(request, range->address)) << std::hex << range->address;
        if (request.address.has_value()) {
          ASSERT_EQ(range->address, *request.address);
        } else if (request.placement == Placement::kLowest) {
          ASSERT_EQ(range->address, *lowest);
        } else if (request.placement == Placement::kHighest) {
          ASSERT_EQ(range->address, *highest);
        } else if (request.alignment <= unit && request.boundary == 0) {
          // No hole that is large enough is smaller than the one that was taken.
          const auto holes = model.HolesBySize();
          const auto best = holes.lower_bound(model.Up(request.size) + 2 * model.Up(request.guard));
          const uint64_t begin = range->address - model.Up(request.guard);
          const auto taken = std::find_if(holes.begin(), holes.end(), [&](const auto& hole) {
            return hole.second <= begin && begin < hole.second + hole.first;
          });
          ASSERT_EQ(taken->first, best->first);
        }
        model.Add(range->address, request);
        live.push_back(*range);
      }
      if (step % 16 == 0) {
        ASSERT_TRUE(a->Verify().ok()) << a->Verify() << " step " << step;
      }
      ASSERT_EQ(a->statistics().live_ranges, live.size());
      ASSERT_EQ(a->statistics().holes, model.HolesBySize().size());
      const auto holes = model.HolesBySize();
      ASSERT_EQ(a->statistics().largest_hole, holes.empty() ? 0 : holes.rbegin()->first);
      if (!live.empty()) {
        const Range& any = live[random() % live.size()];
        ASSERT_EQ(Must(a->Find(any.address + random() % any.size)), any);
      }
    }
    EXPECT_GT(failures, 50);
    EXPECT_GT(successes, 500);
    for (const Range& range : live) ASSERT_TRUE(a->Free(range.handle).ok());
    EXPECT_EQ(a->statistics().holes, 1u);
    EXPECT_EQ(a->statistics().live_bytes, 0u);
    EXPECT_EQ(a->statistics().guard_bytes, 0u);
    EXPECT_TRUE(a->Verify().ok()) << a->Verify();
  }
}

INSTANTIATE_TEST_SUITE_P(RangeAllocator, Randomised,
                         testing::Values(Mix{"Small", 0, 64, 4096, 12},
                                         Mix{"Many", 0x3000, 700, 4096, 3},
                                         Mix{"High", 0xfffffff00000, 200, 4096, 20},
                                         Mix{"Fine", 64, 300, 32, 30}),
                         [](const auto& mix) { return mix.param.name; });

TEST(RangeAllocator, ManyRangesComeAndGoInOrder) {
  // Enough for four levels of order, emptied from either end and from the middle.
  constexpr int kRanges = 40000;
  for (const int way : {0, 1, 2}) {
    auto a = Make(0, kRanges * kPage);
    a->Reserve(kRanges);
    const size_t reserved = a->bookkeeping_bytes();
    std::vector<Range> ranges;
    for (int i = 0; i < kRanges; ++i) ranges.push_back(Must(a->Allocate({.size = kPage})));
    EXPECT_EQ(a->bookkeeping_bytes(), reserved) << "Reserve() was not enough";
    ASSERT_TRUE(a->Verify().ok()) << a->Verify();
    for (int i = 0; i < kRanges; ++i) {
      const int which = way == 0 ? i : way == 1 ? kRanges - 1 - i : (i * 7919) % kRanges;
      ASSERT_EQ(Must(a->Find(ranges[which].address)), ranges[which]);
      ASSERT_TRUE(a->Free(ranges[which].handle).ok());
      ASSERT_FALSE(a->Find(ranges[which].address).ok());
      if (i % 5000 == 0) {
        ASSERT_TRUE(a->Verify().ok()) << a->Verify();
      }
    }
    ASSERT_TRUE(a->Verify().ok()) << a->Verify();
    EXPECT_EQ(Must(a->Allocate({.size = kRanges * kPage})).address, 0u);
  }
}

TEST(RangeAllocator, FailsLessOftenThanFirstFit) {
  // As tests/bench/memory_bench measures it at length.
  constexpr int kLive = 2000, kSteps = 40000;
  uint64_t ours = 0, theirs = 0;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    std::mt19937 random(seed);
    std::vector<uint64_t> sizes(kLive);
    uint64_t sum = 0;
    for (uint64_t& size : sizes) sum += size = (1 + random() % 512) * kPage;
    const uint64_t end = sum / kPage * 108 / 100 * kPage;
    auto a = Make(0, end);
    FirstFit first_fit(0, end);
    std::vector<Range> live;
    std::vector<std::pair<uint64_t, uint64_t>> others;
    const auto allocate = [&](uint64_t size) {
      const auto range = a->Allocate({.size = size});
      if (range.ok()) live.push_back(*range);
      ours += !range.ok();
      const auto other = first_fit.Allocate(size);
      if (other.has_value()) others.emplace_back(*other, size);
      theirs += !other.has_value();
    };
    for (const uint64_t size : sizes) allocate(size);
    for (int step = 0; step < kSteps; ++step) {
      const uint32_t chosen = random();
      std::swap(live[chosen % live.size()], live.back());
      ASSERT_TRUE(a->Free(live.back().handle).ok());
      live.pop_back();
      std::swap(others[chosen % others.size()], others.back());
      first_fit.Free(others.back().first, others.back().second);
      others.pop_back();
      allocate((1 + random() % 512) * kPage);
    }
  }
  EXPECT_GT(theirs, 0u);
  EXPECT_LT(ours, theirs);
}

}  // namespace
}  // namespace packsmith::gpu
