#include "runtime/memory/zones.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "runtime/intel/memory/driver_zones.h"

namespace packsmith::gpu {
namespace {

constexpr uint64_t kPage = 4096;

std::vector<Zone> Must(absl::StatusOr<std::vector<Zone>> zones) {
  EXPECT_TRUE(zones.ok()) << zones.status();
  return zones.ok() ? *zones : std::vector<Zone>();
}

const Zone* Named(const std::vector<Zone>& zones, absl::string_view name) {
  for (const Zone& zone : zones) {
    if (zone.name == name) return &zone;
  }
  ADD_FAILURE() << "no zone " << name;
  static const Zone kNone;
  return &kNone;
}

bool Has(const std::vector<Zone>& zones, absl::string_view name) {
  return std::any_of(zones.begin(), zones.end(),
                     [&](const Zone& zone) { return zone.name == name; });
}

void ExpectRefused(absl::Span<const ZoneRow> rows, absl::string_view says,
                   const ZoneOptions& options = {.verx10 = 90}) {
  const auto zones = LayOutZones(rows, options);
  ASSERT_FALSE(zones.ok()) << says;
  EXPECT_EQ(zones.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(zones.status().message(), says)) << zones.status();
}

TEST(Zones, FollowEachOtherAlignedAndToTheTop) {
  const ZoneRow kRows[] = {{.name = "a", .begin = kPage, .size = kPage},
                           {.name = "b", .alignment = kGiB, .size = 3 * kPage},
                           {.name = "c", .below_top = kGiB}};
  EXPECT_EQ(Must(LayOutZones(kRows, {.top = 8 * kGiB})),
            (std::vector<Zone>{{"a", kPage, 2 * kPage},
                               {"b", kGiB, kGiB + 3 * kPage},
                               {"c", kGiB + 3 * kPage, 7 * kGiB}}));
}

TEST(Zones, RowsForOtherHardwareTakeNoRoom) {
  const ZoneRow kRows[] = {{.name = "a", .begin = 0, .size = kPage, .to_verx10 = 90},
                           {.name = "b", .begin = 0, .size = 2 * kPage, .from_verx10 = 91},
                           {.name = "c", .size = kPage}};
  EXPECT_EQ(Must(LayOutZones(kRows, {.verx10 = 90}))[1].begin, kPage);
  EXPECT_EQ(Must(LayOutZones(kRows, {.verx10 = 91}))[1].begin, 2 * kPage);
}

TEST(Zones, OptionalRowsAreLeftOutWhereTheyDoNotFit) {
  const ZoneRow kRows[] = {{.name = "a", .begin = kPage, .size = kPage},
                           {.name = "b", .begin = kGiB, .optional = true}};
  EXPECT_EQ(Must(LayOutZones(kRows, {.top = kGiB})).size(), 1u);
  EXPECT_EQ(Must(LayOutZones(kRows, {.top = kGiB + kPage})).size(), 2u);
}

TEST(Zones, MistakesInATableAreNamed) {
  ExpectRefused({}, "no row");
  ExpectRefused({{.name = "a", .begin = 0, .size = kPage, .from_verx10 = 110}}, "no row");
  ExpectRefused(
      {{.name = "a", .begin = 0, .size = 2 * kPage}, {.name = "b", .begin = kPage, .size = kPage}},
      "overlaps \"a\"");
  ExpectRefused({{.name = "a", .begin = 0, .size = kPage}, {.name = "a", .size = kPage}},
                "has that name");
  ExpectRefused({{.name = "a", .begin = 1, .size = kPage}}, "whole pages");
  ExpectRefused({{.name = "a", .begin = 0, .size = 1}}, "whole pages");
  ExpectRefused({{.name = "a", .begin = kPage, .alignment = 2 * kPage, .size = kPage}},
                "not aligned");
  ExpectRefused({{.name = "a", .alignment = 3}}, "a power of two");
  ExpectRefused({{.name = "a", .begin = kGiB, .size = kPage}}, "do not fit", {.top = kGiB});
  ExpectRefused({{.name = "a", .begin = kGiB, .below_top = kGiB}}, "do not fit", {.top = 2 * kGiB});
  ExpectRefused({{.name = "a", .begin = 0, .size = ~uint64_t{0} - 1}}, "do not fit",
                {.top = uint64_t{1} << 57});
  ExpectRefused({{.name = "a", .begin = kPage, .size = kPage},
                 {.name = "b", .alignment = uint64_t{1} << 63, .size = kPage}},
                "do not fit");
}

TEST(IrisZones, HaveTheirPlaces) {
  const std::vector<Zone> zones = Must(LayOutZones(intel::IrisZones(), {.verx10 = 90}));
  EXPECT_EQ(*Named(zones, "shader"), (Zone{"shader", kPage, 4 * kGiB - kPage}));
  EXPECT_EQ(*Named(zones, "border colors"),
            (Zone{"border colors", 8 * kGiB, 8 * kGiB + 256 * kKiB}));
  EXPECT_EQ(*Named(zones, "dynamic"), (Zone{"dynamic", 8 * kGiB + 256 * kKiB, 12 * kGiB - kPage}));
  EXPECT_EQ(*Named(zones, "other"), (Zone{"other", 12 * kGiB, (uint64_t{1} << 48) - 4 * kGiB}));
  // Zones with a common base are within 32 bits of it.
  EXPECT_LE(Named(zones, "surface")->end - Named(zones, "binder")->begin, 4 * kGiB);
  EXPECT_LE(Named(zones, "dynamic")->end - Named(zones, "border colors")->begin, 4 * kGiB);
  const std::vector<Zone> later = Must(LayOutZones(intel::IrisZones(), {.verx10 = 125}));
  EXPECT_EQ(Named(later, "dynamic")->end, 10 * kGiB);
  EXPECT_EQ(later.size(), zones.size());
}

TEST(CompactZones, HaveTheNamesOfIrisZonesInFourGigabytes) {
  const auto names = [](const std::vector<Zone>& zones) {
    std::vector<std::string> all;
    for (const Zone& zone : zones) all.push_back(zone.name);
    return all;
  };
  const std::vector<Zone> small =
      Must(LayOutZones(intel::CompactZones(), {.verx10 = 80, .top = 4 * kGiB}));
  EXPECT_EQ(names(small), names(Must(LayOutZones(intel::IrisZones(), {.verx10 = 80}))));
  for (const Zone& zone : small) {
    // Pointers to border colours count 24 bits from the first dynamic state's base.
    EXPECT_TRUE(zone.name != "border colors" || zone.size() == 256 * kKiB);
    EXPECT_GE(zone.begin, 4096u);
    EXPECT_LT(zone.end, 4 * kGiB);
  }
  EXPECT_EQ(intel::ZonesFor(4 * kGiB).data(), intel::CompactZones().data());
  EXPECT_EQ(intel::ZonesFor(uint64_t{1} << 48).data(), intel::IrisZones().data());
  // What a driver that does not ask is told.
  const auto large = LayOutZones(intel::IrisZones(), {.verx10 = 80, .top = 4 * kGiB});
  ASSERT_FALSE(large.ok());
  EXPECT_TRUE(absl::StrContains(large.status().message(), "do not fit below 0x100000000"));
}

TEST(AnvZones, KeepWhatIsCountedFromOneBaseTogether) {
  for (const int verx10 : {90, 110, 120, 125, 200}) {
    const std::vector<Zone> zones = Must(LayOutZones(intel::AnvZones(), {.verx10 = verx10}));
    const Zone& tables = *Named(zones, "binding tables");
    EXPECT_EQ(tables.size(), kGiB);
    EXPECT_EQ(tables.end % (4 * kGiB), 0u) << "right before a 4 GiB line";
    const Zone& internal = *Named(zones, "internal surface states");
    EXPECT_LE(internal.end, tables.begin + 4 * kGiB);
    const Zone& code = *Named(zones, "instructions");
    EXPECT_EQ(code.begin % (4 * kGiB), 0u);
    EXPECT_EQ(code.size(), 2 * kGiB);
    const Zone& dynamic = *Named(zones, "dynamic state");
    EXPECT_LE(Named(zones, "dynamic visible")->end, dynamic.begin + 4 * kGiB - kPage);
    EXPECT_EQ(Named(zones, "high heap")->end, (uint64_t{0xf} << 44) - 4 * kGiB);
    EXPECT_EQ(Has(zones, "aux tables"), verx10 >= 120);
    EXPECT_EQ(Has(zones, "indirect descriptors"), verx10 < 125);
    EXPECT_EQ(Has(zones, "scratch surface states"), verx10 >= 125);
    if (verx10 < 125) {
      EXPECT_LE(Named(zones, "bindless surface states")->end, tables.begin + 4 * kGiB);
    } else {
      EXPECT_EQ(Named(zones, "push descriptor buffers")->end, dynamic.begin + 4 * kGiB - kPage);
    }
  }
}

TEST(AnvZones, FitSmallerAddressSpaces) {
  const std::vector<Zone> zones =
      Must(LayOutZones(intel::AnvZones(), {.verx10 = 90, .top = uint64_t{1} << 36}));
  EXPECT_EQ(Named(zones, "high heap")->end, (uint64_t{1} << 36) - 4 * kGiB);
  EXPECT_FALSE(Has(zones, "sparse"));
  EXPECT_FALSE(LayOutZones(intel::AnvZones(), {.verx10 = 90, .top = uint64_t{1} << 32}).ok());
}

}  // namespace
}  // namespace packsmith::gpu
