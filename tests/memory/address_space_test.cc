#include "runtime/memory/address_space.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/intel/memory/driver_zones.h"
#include "runtime/memory/zone_map.h"

namespace packsmith::gpu {
namespace {

constexpr uint64_t kPage = 4096;

std::unique_ptr<AddressSpace> Make(std::vector<Zone> zones, unsigned bits = 48) {
  auto made = AddressSpace::Create(std::move(zones), {.address_bits = bits});
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

std::unique_ptr<AddressSpace> Small() {
  return Make(
      {{"low", kPage, 65 * kPage}, {"high", uint64_t{1} << 47, (uint64_t{1} << 47) + kGiB}});
}

TEST(AddressSpace, FindsZonesByNameAndByAddress) {
  auto space = Small();
  const ZoneId high = *space->FindZone("high");
  EXPECT_EQ(space->zone(high).name, "high");
  const auto missing = space->FindZone("middle");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StrContains(missing.status().message(), "low, high"));
  EXPECT_EQ(*space->ZoneOf(uint64_t{1} << 47), high);
  EXPECT_EQ(*space->ZoneOf(0xffff800000000000), high);
  EXPECT_FALSE(space->ZoneOf(0x0fff800000000000).ok()) << "neither plain nor canonical";
  EXPECT_FALSE(space->ZoneOf(0).ok());
  EXPECT_FALSE(space->ZoneOf(65 * kPage).ok());
}

TEST(AddressSpace, AZoneThatDoesNotExistIsAnError) {
  auto space = Small();
  for (const ZoneId wrong : {ZoneId{2}, ZoneId{~0u}}) {
    EXPECT_EQ(space->Allocate(wrong, {.size = kPage}).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(space->Free(wrong, {}).code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(AddressSpace, AddressesAreCanonicalAndBothFormsAreTaken) {
  auto space = Small();
  const ZoneId high = *space->FindZone("high");
  const Range range = *space->Allocate(high, {.size = kPage});
  EXPECT_EQ(range.address, 0xffff800000000000u);
  EXPECT_EQ(*space->Find(range.address), range);
  EXPECT_EQ(*space->Find(0x800000000fff), range);
  EXPECT_EQ(space->Allocate(high, {.size = kPage, .address = 0x800000001000})->address,
            0xffff800000001000u);
  EXPECT_EQ(space->Allocate(high, {.size = kPage, .address = 0xffff800000002000})->address,
            0xffff800000002000u);
  EXPECT_EQ(space->Allocate(high, {.size = kPage, .address = 0x0fff800000003000}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(AddressSpace, ErrorsNameTheZone) {
  auto space = Small();
  const ZoneId low = *space->FindZone("low"), high = *space->FindZone("high");
  const auto full = space->Allocate(low, {.size = 65 * kPage});
  EXPECT_EQ(full.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(absl::StrContains(full.status().message(), "zone \"low\"")) << full.status();
  const Range range = *space->Allocate(low, {.size = kPage});
  EXPECT_EQ(space->Free(high, range.handle).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(space->Free(low, range.handle).ok());
  EXPECT_EQ(space->Free(low, range.handle).code(), absl::StatusCode::kNotFound);
}

TEST(AddressSpace, TheNextHoleIsAfterAnAddressOrFromTheBeginning) {
  auto space = Make({{"a", kGiB, kGiB + 16 * kPage}});
  const ZoneId zone{0};
  // Pages 4 and 5, and 10 to 15, are taken.
  for (const uint64_t at : {4, 5, 10, 11, 12, 13, 14, 15}) {
    ASSERT_TRUE(space->Allocate(zone, {.size = kPage, .address = kGiB + at * kPage}).ok());
  }
  const auto next = [&](uint64_t pages, uint64_t alignment, uint64_t from) {
    const auto place = space->NextHole(zone, pages * kPage, alignment * kPage, kGiB + from * kPage);
    return place.ok() ? (*place - kGiB) / kPage : ~uint64_t{0};
  };
  EXPECT_EQ(next(2, 1, 0), 0u);
  EXPECT_EQ(next(2, 1, 1), 1u);
  EXPECT_EQ(next(2, 1, 3), 6u);  // one page alone is too little
  EXPECT_EQ(next(1, 1, 3), 3u);
  EXPECT_EQ(next(2, 4, 5), 8u);
  EXPECT_EQ(next(2, 1, 9), 0u);  // only one page is left there: from the beginning
  EXPECT_EQ(next(4, 1, 100), 0u);
  EXPECT_EQ(next(4, 4, 1), 0u);
  EXPECT_EQ(space->NextHole(zone, 5 * kPage, kPage, kGiB).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(space->NextHole(zone, 0, kPage, kGiB).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(space->NextHole(zone, kPage, 3, kGiB).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(space->NextHole(ZoneId{7}, kPage, kPage, kGiB).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(AddressSpace, NoRangeReachesAcrossTheMiddle) {
  for (const unsigned bits : {48, 57}) {
    const uint64_t middle = uint64_t{1} << (bits - 1);
    auto space = Make({{"all", middle - 8 * kPage, middle + 8 * kPage}}, bits);
    const ZoneId all = *space->FindZone("all");
    EXPECT_EQ(space->statistics(all).live_ranges, 0u);
    EXPECT_FALSE(space->Allocate(all, {.size = 9 * kPage}).ok());
    EXPECT_FALSE(space->Allocate(all, {.size = 2 * kPage, .address = middle - kPage}).ok());
    EXPECT_TRUE(space->Allocate(all, {.size = 8 * kPage}).ok());
    EXPECT_TRUE(space->Allocate(all, {.size = 7 * kPage}).ok());
    EXPECT_EQ(space->statistics(all).live_ranges, 2u);
    EXPECT_EQ(space->statistics(all).guard_bytes, kPage);
  }
}

TEST(AddressSpace, RefusesZonesThatAddressesDoNotReach) {
  const std::vector<Zone> zones = {{"a", 0, uint64_t{1} << 50}};
  EXPECT_FALSE(AddressSpace::Create(zones, {.address_bits = 48}).ok());
  EXPECT_TRUE(AddressSpace::Create(zones, {.address_bits = 57}).ok());
  EXPECT_FALSE(AddressSpace::Create(zones, {.address_bits = 64}).ok());
  EXPECT_FALSE(AddressSpace::Create({}, {.address_bits = 48}).ok());
  EXPECT_FALSE(AddressSpace::Create({{"a", kPage, kPage}}, {.address_bits = 48}).ok());
}

TEST(AddressSpace, TheTablesOfDriversCanBeUsed) {
  for (const auto rows : {intel::IrisZones(), intel::AnvZones()}) {
    for (const int verx10 : {90, 125}) {
      auto space = Make(*LayOutZones(rows, {.verx10 = verx10}));
      for (size_t i = 0; i < space->zones().size(); ++i) {
        EXPECT_TRUE(space->Allocate(static_cast<ZoneId>(i), {.size = kPage}).ok());
      }
    }
  }
  auto wide = Make(*LayOutZones(intel::IrisZones(), {.verx10 = 200, .top = uint64_t{1} << 57}), 57);
  const Range range =
      *wide->Allocate(*wide->FindZone("other"), {.size = kPage, .placement = Placement::kHighest});
  EXPECT_EQ(range.address, ~uint64_t{0} - 4 * kGiB - kPage + 1);
}

TEST(AddressSpace, ThreadsDoNotGetEachOthersRanges) {
  auto space = Small();
  const ZoneId zones[] = {*space->FindZone("low"), *space->FindZone("high")};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      std::vector<std::pair<ZoneId, Range>> live;
      for (int i = 0; i < 3000; ++i) {
        if (random() % 2 == 0 && !live.empty()) {
          std::swap(live[random() % live.size()], live.back());
          EXPECT_TRUE(space->Free(live.back().first, live.back().second.handle).ok());
          live.pop_back();
          continue;
        }
        const ZoneId zone = zones[random() % 2];
        const auto range = space->Allocate(zone, {.size = (1 + random() % 8) * kPage});
        if (!range.ok()) continue;
        EXPECT_EQ(*space->Find(range->address), *range);
        live.emplace_back(zone, *range);
      }
      for (const auto& [zone, range] : live) EXPECT_TRUE(space->Free(zone, range.handle).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const ZoneId zone : zones) {
    EXPECT_EQ(space->statistics(zone).live_ranges, 0u);
    EXPECT_EQ(space->statistics(zone).holes, 1u);
  }
}

TEST(ZoneMap, JsonListsZonesAndRanges) {
  auto space = Small();
  const ZoneId low = *space->FindZone("low");
  ASSERT_TRUE(space->Allocate(low, {.size = 2 * kPage}).ok());
  ASSERT_TRUE(space->Allocate(low, {.size = kPage, .guard = kPage, .address = 8 * kPage}).ok());
  rapidjson::Document json;
  // Names may be looked up by the space itself.
  const auto name = [&](const Range& range) {
    return *space->Find(range.address) == range && range.address == kPage ? "the \"first\"" : "";
  };
  json.Parse(ZoneMapJson(*space, name).c_str());
  ASSERT_FALSE(json.HasParseError());
  EXPECT_EQ(json["address_bits"].GetInt(), 48);
  ASSERT_EQ(json["zones"].Size(), 2u);
  const auto& zone = json["zones"][0];
  EXPECT_STREQ(zone["name"].GetString(), "low");
  EXPECT_STREQ(zone["begin"].GetString(), "0x1000");
  EXPECT_EQ(zone["statistics"]["live_bytes"].GetUint64(), 5 * kPage);
  EXPECT_EQ(zone["statistics"]["holes"].GetUint64(), 2u);
  ASSERT_EQ(zone["ranges"].Size(), 4u);
  EXPECT_STREQ(zone["ranges"][0]["name"].GetString(), "the \"first\"");
  EXPECT_STREQ(zone["ranges"][2]["address"].GetString(), "0x8000");
  EXPECT_FALSE(zone["ranges"][2].HasMember("name"));
  EXPECT_EQ(json["zones"][1]["ranges"].Size(), 0u);
}

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(ZoneMap, ThePictureShowsUseAndHoles) {
  auto space = Make({{"a < b", 0, 64 * kPage}, {"empty", kGiB, 2 * kGiB}});
  const ZoneId zone = *space->FindZone("a < b");
  for (const uint64_t at : {0, 48}) {
    ASSERT_TRUE(space->Allocate(zone, {.size = 16 * kPage, .address = at * kPage}).ok());
  }
  const std::string svg = ZoneMapSvg(*space);
  EXPECT_TRUE(absl::StartsWith(svg, "<svg ")) << svg;
  EXPECT_TRUE(absl::EndsWith(svg, "</svg>\n"));
  EXPECT_TRUE(absl::StrContains(svg, "a &lt; b"));
  // Six rows of 128 cells: a quarter used, half free, a quarter used.
  EXPECT_EQ(Count(svg, "class=\"u8\""), 4u) << svg;
  EXPECT_EQ(Count(svg, "class=\"u0\""), 4u);
}

TEST(ZoneMap, ThePictureDoesNotGrowWithTheNumberOfRanges) {
  auto space = Make({{"a", 0, kGiB}});
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    ASSERT_TRUE(space->Allocate(ZoneId{0}, {.size = (1 + random() % 8) * kPage}).ok());
  }
  EXPECT_LT(ZoneMapSvg(*space).size(), 150000u);
}

}  // namespace
}  // namespace packsmith::gpu
