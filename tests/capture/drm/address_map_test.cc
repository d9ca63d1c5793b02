#include "runtime/capture/drm/address_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/capture/drm/test_device.h"

namespace packsmith::capture {
namespace {

// Each page of the map, as (object, page of the object).
using Pages = std::map<uint64_t, std::pair<const Object*, uint64_t>>;

Pages PagesOf(const AddressMap& map) {
  Pages pages;
  uint64_t end = 0;
  for (const auto& [address, mapping] : map.mappings()) {
    EXPECT_EQ(address, mapping.address);
    EXPECT_GE(address, end);
    end = mapping.address + mapping.size;
    for (uint64_t at = 0; at < mapping.size; at += 4096) {
      pages[mapping.address + at] = {mapping.object.get(), mapping.offset + at};
    }
  }
  return pages;
}

TEST(AddressMapTest, MapsAndUnmapsAsAModelOfPagesDoes) {
  MockKernel kernel;
  constexpr DeviceInfo kInfo = {.name = "test"};
  TestDevice device(kernel, kInfo);
  std::vector<std::shared_ptr<Object>> objects;
  for (uint64_t id = 1; id <= 3; ++id) {
    objects.push_back(
        std::make_shared<Object>(device, id, SharedMemory::Create(64 * 4096, "test"), 64 * 4096));
  }
  AddressMap map;
  Pages model;
  std::mt19937 random(7);
  for (int step = 0; step < 5000; ++step) {
    const uint64_t address = random() % 64 * 4096, size = (random() % 16 + 1) * 4096;
    const uint64_t offset = random() % 48 * 4096;
    const auto& object = objects[random() % objects.size()];
    switch (random() % 8) {
      case 0: {
        bool any = false;
        for (auto it = model.begin(); it != model.end();) {
          const bool of = it->second.first == object.get();
          any |= of;
          it = of ? model.erase(it) : std::next(it);
        }
        ASSERT_EQ(map.UnmapObject(*object), any);
        break;
      }
      case 1:
      case 2:
      case 3: {
        bool any = false;
        for (uint64_t at = 0; at < size; at += 4096) any |= model.erase(address + at) != 0;
        ASSERT_EQ(map.Unmap(address, size), any);
        break;
      }
      default:
        map.Map({.address = address, .size = size, .object = object, .offset = offset});
        for (uint64_t at = 0; at < size; at += 4096) {
          model[address + at] = {object.get(), offset + at};
        }
    }
    ASSERT_EQ(PagesOf(map), model) << step;
    const uint64_t probe = random() % (80 * 4096);
    const Mapping* const found = map.Find(probe);
    ASSERT_EQ(found != nullptr, model.contains(probe / 4096 * 4096));
    const Mapping* const from = map.FindFrom(probe);
    const auto next = model.lower_bound(probe / 4096 * 4096);
    ASSERT_EQ(from != nullptr, next != model.end());
    ASSERT_TRUE(from == nullptr || probe < from->address + from->size);
  }
}

TEST(AddressMapTest, RangesMayEndAtTheEndOfTheAddressSpace) {
  AddressMap map;
  map.Map({.address = ~uint64_t{0xfff}, .size = 0x1000, .object = nullptr});
  EXPECT_NE(map.Find(~uint64_t{0}), nullptr);
  EXPECT_EQ(map.Find(0), nullptr);
  EXPECT_TRUE(map.Unmap(~uint64_t{0xff}, 0x100));
  EXPECT_EQ(map.Find(~uint64_t{0}), nullptr);
  EXPECT_NE(map.Find(~uint64_t{0xfff}), nullptr);
}

}  // namespace
}  // namespace packsmith::capture
