#include "runtime/sim/visibility/pending_writes.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "runtime/sim/visibility/visibility_tracker.h"

namespace packsmith::sim {
namespace {

using tables::ClientKind;

TEST(PendingWritesTest, EachByteBelongsToItsLastWriteAndKeepsWhatWasThere) {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 50; ++round) {
    PendingWrites writes;
    // By address: the number of the write, and the old byte.
    std::map<uint64_t, std::pair<uint64_t, uint8_t>> expected;
    for (uint64_t number = 1; number < 60; ++number) {
      const MemoryRange range{static_cast<uint32_t>(random() % 2), random() % 64,
                              1 + random() % 24};
      std::vector<uint8_t> old(range.size);
      for (uint8_t& byte : old) byte = static_cast<uint8_t>(random());
      writes.Add(range, number, ClientKind::kPostSync, {}, old);
      for (uint64_t i = 0; i < range.size; ++i) {
        expected[range.space * 1000 + range.address + i] = {number, old[i]};
      }
      ASSERT_GT(writes.size(), 0u);
    }
    std::map<uint64_t, std::pair<uint64_t, uint8_t>> got;
    size_t old_bytes = 0;
    for (const uint32_t space : {0u, 1u}) {
      writes.ForEach({space, 0, 1000}, [&](uint64_t address, const PendingWrite& write) {
        EXPECT_EQ(write.old.size(), write.end - address);
        old_bytes += write.old.size();
        for (uint64_t at = address; at < write.end; ++at) {
          got[space * 1000 + at] = {write.time, write.old[at - address]};
        }
        return true;
      });
    }
    EXPECT_EQ(got, expected);
    EXPECT_EQ(writes.old_bytes(), old_bytes);
  }
}

TEST(PendingWritesTest, WritesWithoutEndStayBounded) {
  const tables::Tables tables = *FindGeneration("gfx9");
  const VisibilityRules rules(tables);
  VisibilityTracker tracker(rules);
  const std::vector<uint8_t> old(256);
  constexpr uint64_t kWrites = 250'000;
  static_assert(kWrites > 3 * PendingWrites::kMost);
  for (uint64_t i = 0; i < kWrites; ++i) {
    const MemoryRange range{0, i * 512, old.size()};
    tracker.Write(ClientKind::kPostSync, range, {},
                  tracker.WantsOld(ClientKind::kPostSync, old.size())
                      ? absl::MakeConstSpan(old)
                      : absl::Span<const uint8_t>());
    ASSERT_LE(tracker.pending(), PendingWrites::kMost);
    if (i % 1000 != 0) continue;
    tracker.BeginFence(0);
    tracker.EndFence(0);
  }
  // The last is known, the first is forgotten.
  size_t reports = 0;
  const auto count = [&](const EarlyRead&) { ++reports; };
  tracker.Read(ClientKind::kStreamer, {0, (kWrites - 1) * 512, 4}, {}, count);
  EXPECT_EQ(reports, 1u);
  tracker.Read(ClientKind::kStreamer, {0, 0, 4}, {}, count);
  EXPECT_EQ(reports, 1u);
  // A read of everything does not report everything.
  tracker.Read(ClientKind::kStreamer, {0, 0, ~uint64_t{0}}, {}, count);
  EXPECT_LE(reports, 1 + VisibilityTracker::kMostReported);
}

TEST(PendingWritesTest, RangesAtTheEndOfTheAddressesDoNotWrap) {
  PendingWrites writes;
  writes.Add({0, ~uint64_t{0} - 3, 100}, 1, ClientKind::kPostSync, {}, {});
  size_t found = 0;
  const auto count = [&](uint64_t, const PendingWrite&) { return ++found != 0; };
  writes.ForEach({0, 0, 64}, count);
  EXPECT_EQ(found, 0u);
  writes.ForEach({0, ~uint64_t{0} - 1, 64}, count);
  EXPECT_EQ(found, 1u);
  writes.Add({0, 5, 0}, 1, ClientKind::kPostSync, {}, {});
  EXPECT_EQ(writes.size(), 1u);
}

}  // namespace
}  // namespace packsmith::sim
