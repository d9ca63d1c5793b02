// Random binds against a model of the pages, looked at with the eyes of a job.
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "tests/kernel/xe/machine.h"

namespace packsmith::gpu {
namespace {

constexpr uint64_t kBatch = 0x100000, kFirst = 0x10000000, kPage = 4096;
constexpr uint64_t kPages = 64, kObjectPages = 8;
constexpr int kSteps = 3000;

struct Range {
  uint64_t pages = 0;
  size_t object = 0;
  uint64_t offset = 0;  // in pages
  bool writable = true;
};

class Model {
 public:
  bool IsFree(uint64_t page, uint64_t pages) const {
    for (const auto& [begin, range] : ranges) {
      if (begin < page + pages && page < begin + range.pages) return false;
    }
    return true;
  }
  std::map<uint64_t, Range> ranges;  // by their first page
};

TEST(XeRandom, JobsSeeWhatIsBound) {
  Machine machine("lnl");
  const auto device = machine.Open();
  const Place batch = machine.Make(*device, kBatch);
  const PlacedJob work(batch, {});
  std::vector<MemoryId> objects;
  std::vector<std::optional<uint64_t>> ids(6);  // of the kernel's objects, once they were seen
  for (size_t i = 0; i < ids.size(); ++i) {
    objects.push_back(*device->Create({.size = kObjectPages * kPage}));
  }
  std::mt19937 random(20);
  const auto below = [&](uint64_t end) { return random() % end; };
  Model model;
  for (int step = 0; step < kSteps; ++step) {
    SCOPED_TRACE(step);
    if (below(3) != 0) {
      Model next = model;
      bool fits = true;
      std::vector<PageBinding> bindings(1 + below(4));
      for (PageBinding& binding : bindings) {
        Range range = {.pages = 1 + below(kObjectPages), .object = below(ids.size())};
        range.offset = below(kObjectPages - range.pages + 1);
        range.writable = below(2) == 0;
        const uint64_t page = below(kPages - range.pages + 1);
        binding = {.address = kFirst + page * kPage,
                   .size = range.pages * kPage,
                   .memory = objects[range.object],
                   .offset = range.offset * kPage,
                   .writable = range.writable};
        fits = fits && next.IsFree(page, range.pages);
        if (fits) next.ranges[page] = range;
      }
      const absl::Status status = device->BindAll(bindings);
      ASSERT_EQ(status.code(), fits ? absl::StatusCode::kOk : absl::StatusCode::kAlreadyExists)
          << status;
      if (fits) model = next;
    } else if (!model.ranges.empty()) {
      const auto at = std::next(model.ranges.begin(), below(model.ranges.size()));
      const uint64_t address = kFirst + at->first * kPage, size = at->second.pages * kPage;
      ASSERT_EQ(device->Unbind(0, address, size + kPage).code(), absl::StatusCode::kNotFound);
      ASSERT_TRUE(device->Unbind(0, address, size).ok());
      model.ranges.erase(at);
    }
    if (below(4) != 0) continue;
    ASSERT_TRUE(device->Submit(work.job).ok());
    const capture::AddressMap& seen = *machine.seen.works.back()->memory;
    for (uint64_t page = 0; page < kPages; ++page) {
      const uint64_t address = kFirst + page * kPage;
      const capture::Mapping* const mapping = seen.Find(address);
      ASSERT_EQ(mapping == nullptr, model.IsFree(page, 1)) << page;
      if (mapping == nullptr) continue;
      const auto& [begin, range] = *std::prev(model.ranges.upper_bound(page));
      EXPECT_EQ(mapping->offset + (address - mapping->address),
                (range.offset + page - begin) * kPage);
      EXPECT_EQ(mapping->writable, range.writable);
      std::optional<uint64_t>& id = ids[range.object];
      if (!id.has_value()) id = mapping->object->id();
      ASSERT_EQ(mapping->object->id(), *id);
    }
  }
  for (const auto& [page, range] : model.ranges) {
    EXPECT_TRUE(device->Unbind(0, kFirst + page * kPage, range.pages * kPage).ok());
  }
  for (const MemoryId object : objects) EXPECT_TRUE(device->Destroy(object).ok());
}

}  // namespace
}  // namespace packsmith::gpu
