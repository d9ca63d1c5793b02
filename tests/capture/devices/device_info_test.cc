// The table of devices: each row is consistent in itself, with the descriptions in xml/, and with
// the table of runtime/intel/device.
#include "runtime/capture/devices/device_info.h"

#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/device/render_devices.h"

namespace packsmith::capture {
namespace {

// Kernels' answers for its devices are not known.
bool HasNoRows(const tables::Tables& tables) { return tables.generation() == "xe3p"; }

// The platform of a row in its description; null if there is none.
const tables::Platform* PlatformOf(const DeviceInfo& device, tables::Tables* tables) {
  for (const tables::Tables& one : BuiltInGenerations()) {
    if (one.generation() != device.generation) continue;
    for (const tables::Platform& platform : one.platforms()) {
      if (one.string(platform.name) != device.platform) continue;
      *tables = one;
      return &platform;
    }
  }
  return nullptr;
}

std::vector<std::string> NamesOf(const DeviceInfo& device) {
  std::vector<std::string> names = {std::string(device.name)};
  for (const absl::string_view alias : absl::StrSplit(device.aliases, ' ', absl::SkipEmpty())) {
    names.emplace_back(alias);
  }
  return names;
}

TEST(DeviceTable, NamesAndAliasesAreUnique) {
  std::map<std::string, absl::string_view> owners;
  for (const DeviceInfo& device : AllDevices()) {
    EXPECT_FALSE(device.title.empty()) << device.name;
    for (const std::string& name : NamesOf(device)) {
      EXPECT_EQ(name, absl::AsciiStrToLower(name));
      const auto [it, is_new] = owners.emplace(name, device.name);
      EXPECT_TRUE(is_new) << name << " is " << device.name << " and " << it->second;
    }
  }
}

TEST(DeviceTable, EachRowIsAPlatformOfADescription) {
  for (const DeviceInfo& device : AllDevices()) {
    tables::Tables tables = BuiltInGenerations()[0];
    const tables::Platform* platform = PlatformOf(device, &tables);
    ASSERT_NE(platform, nullptr) << device.name << ": " << device.platform << " of "
                                 << device.generation;
    if (device.apple != nullptr) {
      EXPECT_TRUE(absl::c_linear_search(tables.ids(platform->chip_ids), device.chip_id))
          << device.name;
      continue;
    }
    for (const uint16_t id : PciIdsOf(device)) {
      EXPECT_EQ(tables.FindPciId(id), platform) << absl::StrFormat("%s: 0x%04x", device.name, id);
    }
    EXPECT_TRUE(FindGeneration(device.generation).ok()) << device.name;
  }
}

TEST(DeviceTable, EachPlatformOfTheDescriptionsHasADefaultRowAndThenItsVariants) {
  for (const tables::Tables& tables : BuiltInGenerations()) {
    if (HasNoRows(tables)) continue;
    for (const tables::Platform& platform : tables.platforms()) {
      // Nothing would find a device whose ids are not public.
      if (platform.pci_ids.count == 0 && platform.chip_ids.count == 0) continue;
      std::vector<const DeviceInfo*> rows;
      for (const DeviceInfo& device : AllDevices()) {
        if (device.generation == tables.generation() &&
            device.platform == tables.string(platform.name)) {
          rows.push_back(&device);
        }
      }
      ASSERT_FALSE(rows.empty()) << tables.string(platform.name);
      EXPECT_EQ(rows[0]->name, tables.string(platform.name));
      for (size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i]->variant_ids.empty(), i == 0) << rows[i]->name;
      }
    }
  }
}

TEST(DeviceTable, EachPciIdOfTheDescriptionsBelongsToOneRow) {
  std::map<uint16_t, absl::string_view> owners;
  for (const DeviceInfo& device : AllDevices()) {
    const std::vector<uint16_t> ids = PciIdsOf(device);
    if (device.apple != nullptr) {
      EXPECT_TRUE(ids.empty()) << device.name;
      continue;
    }
    ASSERT_FALSE(ids.empty()) << device.name;
    EXPECT_EQ(ids[0], device.pci_id) << device.name;
    if (!device.variant_ids.empty()) {
      EXPECT_TRUE(absl::c_linear_search(device.variant_ids, device.pci_id)) << device.name;
    }
    for (const uint16_t id : ids) {
      const auto [it, is_new] = owners.emplace(id, device.name);
      EXPECT_TRUE(is_new) << absl::StrFormat("0x%04x is of %s and %s", id, device.name, it->second);
    }
  }
  size_t described = 0;
  for (const tables::Tables& tables : BuiltInGenerations()) {
    if (HasNoRows(tables)) continue;
    for (const tables::Platform& platform : tables.platforms()) {
      for (const uint32_t id : tables.ids(platform.pci_ids)) {
        ++described;
        EXPECT_EQ(owners.count(static_cast<uint16_t>(id)), 1u) << absl::StrFormat("0x%04x", id);
      }
    }
  }
  EXPECT_EQ(owners.size(), described);
}

TEST(DeviceTable, VersionsAreThoseOfTheGeneration) {
  const std::map<std::string, unsigned> kVersions = {
      {"gfx4", 40},    {"gfx45", 45}, {"gfx5", 50}, {"gfx6", 60},   {"gfx7", 70},
      {"gfx75", 75},   {"gfx8", 80},  {"gfx9", 90}, {"gfx11", 110}, {"gfx12", 120},
      {"gfx125", 125}, {"xe2", 200},  {"xe3", 300},
  };
  unsigned last = 0;
  for (const DeviceInfo& device : AllDevices()) {
    if (device.apple != nullptr) {
      EXPECT_EQ(device.version_x10, 0u) << device.name;
      continue;
    }
    const auto found = kVersions.find(std::string(device.generation));
    ASSERT_NE(found, kVersions.end()) << device.name;
    EXPECT_EQ(device.version_x10, found->second) << device.name;
    EXPECT_GE(device.version_x10, last) << device.name << ": the order";
    last = device.version_x10;
  }
}

TEST(DeviceTable, MasksFitTheArrangementOfUnits) {
  for (const DeviceInfo& device : AllDevices()) {
    const Topology& units = device.topology;
    if (device.apple != nullptr) {
      EXPECT_EQ(units.slices(), 0u) << device.name;
      continue;
    }
    EXPECT_GT(units.eu_total(), 0u) << device.name;
    EXPECT_GE(units.threads_per_eu, 4) << device.name;
    EXPECT_LE(units.eus, units.max_eus) << device.name;
    EXPECT_LT(units.slice_mask, 1u << units.max_slices) << device.name;
    EXPECT_LE(units.max_slices, units.subslice_masks.size()) << device.name;
    for (size_t slice = 0; slice < units.subslice_masks.size(); ++slice) {
      const uint64_t mask = units.subslice_masks[slice];
      EXPECT_EQ(mask != 0, (units.slice_mask >> slice & 1) != 0) << device.name;
      EXPECT_LE(std::bit_width(mask), units.max_subslices) << device.name;
    }
  }
}

TEST(DeviceTable, NumbersOfUnitsAreThoseOfTheParts) {
  const std::map<std::string, unsigned> kUnits = {
      {"hsw_gt3", 40},  {"bdw", 24},     {"skl_gt4", 72}, {"bxt_2x6", 12}, {"icl", 64},
      {"tgl", 96},      {"tgl_gt1", 32}, {"dg2", 512},    {"mtl", 128},    {"bmg", 160},
      {"bmg_g31", 256}, {"lnl", 64},     {"ptl", 96},     {"ilk", 12},     {"0x0102", 6},
      {"0x0d22", 40},   {"0x163b", 48},  {"0x192a", 72},  {"0x1917", 24},  {"0x5915", 18},
      {"0x5917", 24},   {"0x3ea1", 12},  {"0x3ea2", 48},  {"0x9bab", 12},  {"0x8a5c", 48},
      {"0x8a5d", 32},   {"0x4e55", 16},  {"0x468b", 16},  {"0x4693", 32},  {"0x9a70", 32},
      {"0x56a1", 512},  {"0x56b3", 256}, {"0x56c1", 128}, {"0x7d60", 64},  {"0xb0a0", 32},
  };
  for (const auto& [name, total] : kUnits) {
    const absl::StatusOr<FoundDevice> found = FindDevice(name);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->device->topology.eu_total(), total) << name;
  }
}

TEST(DeviceTable, Xe2CountsWideExecutionUnitsAndXe3sMediaGtHidesItsL3) {
  for (const DeviceInfo& device : AllDevices()) {
    EXPECT_EQ(device.simd16_eus, device.version_x10 >= 200) << device.name;
    EXPECT_EQ(device.page_faults, device.version_x10 >= 200) << device.name;
    for (const GtInfo& gt : device.gts) {
      EXPECT_EQ(gt.reports_l3, !gt.media || device.version_x10 < 300) << device.name;
    }
  }
}

TEST(DeviceTable, EnginesAreOrderedUniqueAndOnAGtOfTheDevice) {
  for (const DeviceInfo& device : AllDevices()) {
    if (device.apple != nullptr) {
      EXPECT_TRUE(device.engines.empty()) << device.name;
      continue;
    }
    ASSERT_FALSE(device.engines.empty()) << device.name;
    EXPECT_EQ(device.engines[0], (EngineInfo{EngineClass::kRender, 0})) << device.name;
    std::map<std::pair<EngineClass, uint8_t>, unsigned> next;
    for (const EngineInfo& engine : device.engines) {
      EXPECT_EQ(engine.instance, (next[{engine.engine_class, engine.gt}]++)) << device.name;
      EXPECT_TRUE(absl::c_any_of(device.gts, [&](const GtInfo& gt) { return gt.id == engine.gt; }))
          << device.name;
      const bool video = engine.engine_class == EngineClass::kVideo ||
                         engine.engine_class == EngineClass::kVideoEnhance;
      EXPECT_TRUE(video || engine.capabilities == 0) << device.name;
      EXPECT_TRUE(!video || device.gts.size() == 1 || engine.gt == 1) << device.name;
    }
  }
}

TEST(DeviceTable, GtsHaveAVersionExactlyWhereTheHardwareReportsIt) {
  for (const DeviceInfo& device : AllDevices()) {
    if (device.apple != nullptr) continue;
    ASSERT_FALSE(device.gts.empty()) << device.name;
    const bool reports = device.gts.size() > 1;
    EXPECT_EQ(reports,
              device.version_x10 >= 200 || device.platform == "mtl" || device.platform == "arl")
        << device.name;
    for (size_t i = 0; i < device.gts.size(); ++i) {
      EXPECT_EQ(device.gts[i].id, i) << device.name;
      EXPECT_EQ(device.gts[i].media, i == 1) << device.name;
      EXPECT_EQ(device.gts[i].ip_major != 0, reports) << device.name;
    }
    EXPECT_EQ(device.gts[0].ip_major, reports ? device.version_x10 / 10 : 0) << device.name;
  }
}

TEST(DeviceTable, DriversAreThoseOfTheGeneration) {
  for (const DeviceInfo& device : AllDevices()) {
    EXPECT_TRUE(device.has(device.default_driver)) << device.name;
    EXPECT_EQ(device.has(KernelDriver::kAsahi), device.apple != nullptr) << device.name;
    EXPECT_EQ(device.has(KernelDriver::kXe), device.version_x10 >= 120) << device.name;
    EXPECT_EQ(device.has(KernelDriver::kI915), device.apple == nullptr && device.version_x10 < 200)
        << device.name;
    EXPECT_EQ(device.xe_va_bits != 0, device.has(KernelDriver::kXe)) << device.name;
  }
  EXPECT_EQ(NameOf(KernelDriver::kI915), "i915");
  EXPECT_EQ(NameOf(KernelDriver::kXe), "xe");
  EXPECT_EQ(NameOf(KernelDriver::kAsahi), "asahi");
}

TEST(DeviceTable, KernelsNameThePlatformOfTheRightGeneration) {
  for (const DeviceInfo& device : AllDevices()) {
    const absl::string_view name = KernelPlatform(device, device.default_driver);
    EXPECT_EQ(name.empty(), device.apple != nullptr) << device.name;
    // Where a dump has that name, unpack finds the generation by it, if a description's title is
    // the same.
    const absl::StatusOr<LikelyGeneration> found = FindLikelyGeneration("intel", name, 0);
    if (found.ok()) {
      EXPECT_EQ(found->tables.generation(), device.generation) << device.name;
    }
  }
  EXPECT_EQ(KernelPlatform(*FindDevice("skl_gt4")->device, KernelDriver::kI915), "SKYLAKE");
  EXPECT_EQ(KernelPlatform(*FindDevice("rpls")->device, KernelDriver::kI915), "ALDERLAKE_S");
  EXPECT_EQ(KernelPlatform(*FindDevice("adln")->device, KernelDriver::kI915), "ALDERLAKE_P");
  EXPECT_EQ(KernelPlatform(*FindDevice("adln")->device, KernelDriver::kXe), "ALDERLAKE_N");
  EXPECT_EQ(KernelPlatform(*FindDevice("wcl")->device, KernelDriver::kXe), "PANTHERLAKE");
}

TEST(DeviceTable, MemoryIsConsistent) {
  for (const DeviceInfo& device : AllDevices()) {
    EXPECT_LE(device.vram_visible_bytes, device.vram_bytes) << device.name;
    EXPECT_EQ(device.discrete(), device.vram_min_page != 0) << device.name;
    EXPECT_TRUE(std::has_single_bit(device.min_alignment)) << device.name;
    EXPECT_LE(device.vram_min_page, device.min_alignment) << device.name;
    EXPECT_LE(device.aperture_bytes, device.ggtt_bytes) << device.name;
    EXPECT_EQ(device.fences != 0, device.aperture_bytes != 0) << device.name;
    EXPECT_EQ(device.ppgtt == Ppgtt::kNone, device.ppgtt_bits == 0) << device.name;
    EXPECT_FALSE(device.llc && device.snoops) << device.name;
    EXPECT_FALSE(device.discrete() && device.llc) << device.name;
    // Devices without the shared cache write through a queue of their own, and so does Gfx11.
    EXPECT_EQ(device.coherent_ggtt,
              device.apple == nullptr &&
                  (device.version_x10 < 60 || (device.llc && device.version_x10 < 110)))
        << device.name;
    EXPECT_GT(device.timestamp_hz, 0u) << device.name;
    EXPECT_GT(device.timestamp_bits, 0) << device.name;
    EXPECT_LT(device.min_mhz, device.max_mhz) << device.name;
    // Bit 6 is swizzled only where there are fences, and never from Gfx8 on.
    if (device.version_x10 >= 80 || device.fences == 0) {
      EXPECT_EQ(device.swizzle_x, Swizzle::kNone) << device.name;
      EXPECT_EQ(device.swizzle_y, Swizzle::kNone) << device.name;
    }
  }
}

TEST(DeviceTable, PageAttributesAreDisjointUnlessXe3MayCombineThem) {
  for (const DeviceInfo& device : AllDevices()) {
    const PatInfo& pat = device.pat;
    EXPECT_EQ(pat.entries != 0, device.has(KernelDriver::kXe)) << device.name;
    if (pat.entries == 0) continue;
    EXPECT_LE(std::bit_width(pat.reserved | pat.coherent | pat.compressed), pat.entries)
        << device.name;
    EXPECT_EQ(pat.reserved & (pat.coherent | pat.compressed), 0u) << device.name;
    EXPECT_EQ(pat.coherent & pat.compressed, device.version_x10 >= 300 ? 1u << 16 : 0u)
        << device.name;
    EXPECT_NE(pat.coherent, 0u) << device.name;
  }
}

TEST(DeviceTable, BanksOfL3AreThoseOfARenderDevice) {
  for (const intel::RenderDevice& render : intel::RenderDevices()) {
    if (render.l3_banks == 0) continue;
    for (const absl::string_view platform : absl::StrSplit(render.platforms, ' ')) {
      bool found = false;
      for (const DeviceInfo& device : AllDevices()) {
        if (device.platform != platform || device.version_x10 != render.version) continue;
        found |= device.l3_banks == render.l3_banks && device.topology.slices() == render.slices;
      }
      // Gfx12's rows are for any platform; no part with 6 banks is listed.
      if (render.version == 120) continue;
      EXPECT_TRUE(found) << render.name << " on " << platform;
    }
  }
  for (const DeviceInfo& device : AllDevices()) {
    bool known = false, found = false;
    for (const intel::RenderDevice& render : intel::RenderDevices()) {
      const std::vector<absl::string_view> platforms = absl::StrSplit(render.platforms, ' ');
      if (render.l3_banks == 0 || !absl::c_linear_search(platforms, device.platform)) continue;
      known = true;
      found |= device.l3_banks == render.l3_banks;
    }
    EXPECT_TRUE(found || !known) << device.name << ": " << int{device.l3_banks} << " banks";
  }
}

TEST(DeviceTable, AppleChipsHaveTheirCores) {
  const std::map<std::string, unsigned> kCores = {
      {"m1", 8},  {"m1-pro", 16}, {"m1-max", 32}, {"m1-ultra", 64},
      {"m2", 10}, {"m2-pro", 19}, {"m2-max", 38}, {"m2-ultra", 76},
  };
  for (const auto& [name, cores] : kCores) {
    const absl::StatusOr<FoundDevice> found = FindDevice(name);
    ASSERT_TRUE(found.ok()) << found.status();
    const AppleChip* const chip = found->device->apple;
    ASSERT_NE(chip, nullptr) << name;
    unsigned total = 0;
    for (size_t cluster = 0; cluster < chip->core_masks.size(); ++cluster) {
      total += std::popcount(chip->core_masks[cluster]);
      EXPECT_EQ(chip->core_masks[cluster] != 0, cluster < chip->clusters) << name;
      EXPECT_LE(std::bit_width(chip->core_masks[cluster]), int(chip->cores_per_cluster)) << name;
    }
    EXPECT_EQ(total, cores) << name;
    EXPECT_EQ(found->pci_id, 0) << name;
  }
}

TEST(FindDevice, FindsEachNameAndAliasInAnyCase) {
  for (const DeviceInfo& device : AllDevices()) {
    for (const std::string& name : NamesOf(device)) {
      for (const std::string& written : {name, absl::AsciiStrToUpper(name)}) {
        const absl::StatusOr<FoundDevice> found = FindDevice(written);
        ASSERT_TRUE(found.ok()) << found.status();
        EXPECT_EQ(found->device, &device) << written;
        EXPECT_EQ(found->pci_id, device.pci_id) << written;
      }
    }
  }
}

TEST(FindDevice, FindsEachPciIdInAllItsForms) {
  for (const DeviceInfo& device : AllDevices()) {
    for (const uint16_t id : PciIdsOf(device)) {
      for (const std::string& written :
           {absl::StrFormat("0x%04x", id), absl::StrFormat("0X%04X", id),
            absl::StrFormat("%04X", id), absl::StrFormat("8086:%04x", id),
            absl::StrFormat("0x8086:0x%04x", id)}) {
        const absl::StatusOr<FoundDevice> found = FindDevice(written);
        ASSERT_TRUE(found.ok()) << found.status();
        EXPECT_EQ(found->device, &device) << written;
        EXPECT_EQ(found->pci_id, id) << written;
      }
    }
  }
}

TEST(FindDevice, SuggestsNamesThatAreClose) {
  const absl::StatusOr<FoundDevice> found = FindDevice("skl_gt5");
  ASSERT_EQ(found.status().code(), absl::StatusCode::kNotFound);
  const std::string message(found.status().message());
  EXPECT_NE(message.find("\"skl_gt5\""), std::string::npos) << message;
  EXPECT_NE(message.find("did you mean"), std::string::npos) << message;
  EXPECT_NE(message.find("skl_gt4"), std::string::npos) << message;
  EXPECT_NE(message.find("known devices: brw, crl"), std::string::npos) << message;
}

TEST(FindDevice, RefusesWhatIsNoDevice) {
  for (const absl::string_view text : {"", "0x", "0x10000", "0x12345", "-1", "dead", "0xdead",
                                       "8086:dead", "no such device", "0x9a49 ", "+a49"}) {
    const absl::StatusOr<FoundDevice> found = FindDevice(text);
    EXPECT_EQ(found.status().code(), absl::StatusCode::kNotFound) << text;
  }
  for (const absl::string_view text : {"10de:9a49", "8086:", ":", ":9a49", "8086:123456"}) {
    const absl::StatusOr<FoundDevice> found = FindDevice(text);
    EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace packsmith::capture
