#include "runtime/capture/devices/device_rows.h"

#include <cstdint>

namespace packsmith::capture {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;

constexpr uint8_t kOnlyI915 = static_cast<uint8_t>(KernelDriver::kI915);
constexpr uint8_t kOnlyXe = static_cast<uint8_t>(KernelDriver::kXe);
constexpr uint8_t kI915AndXe = kOnlyI915 | kOnlyXe;

// -- Engines (Linux' i915_pci.c, platform_engine_mask; intel_engine_user.c, capabilities) --------

using enum EngineClass;

constexpr EngineInfo kGfx4Engines[] = {{kRender, 0}};
constexpr EngineInfo kGfx45Engines[] = {{kRender, 0}, {kVideo, 0}};
constexpr EngineInfo kGfx6Engines[] = {{kRender, 0}, {kCopy, 0}, {kVideo, 0}};
constexpr EngineInfo kGfx75Engines[] = {{kRender, 0}, {kCopy, 0}, {kVideo, 0}, {kVideoEnhance, 0}};
constexpr EngineInfo kGfx8Gt3Engines[] = {
    {kRender, 0}, {kCopy, 0}, {kVideo, 0}, {kVideo, 1}, {kVideoEnhance, 0}};
constexpr EngineInfo kGfx9Engines[] = {{kRender, 0},
                                       {kCopy, 0},
                                       {kVideo, 0, 0, kEngineHevc | kEngineSfc},
                                       {kVideoEnhance, 0, 0, kEngineSfc}};
constexpr EngineInfo kGfx9Gt3Engines[] = {{kRender, 0},
                                          {kCopy, 0},
                                          {kVideo, 0, 0, kEngineHevc | kEngineSfc},
                                          {kVideo, 1},
                                          {kVideoEnhance, 0, 0, kEngineSfc}};
// The second video engine has no scaler.
constexpr EngineInfo kGfx11Engines[] = {{kRender, 0},
                                        {kCopy, 0},
                                        {kVideo, 0, 0, kEngineHevc | kEngineSfc},
                                        {kVideo, 1, 0, kEngineHevc},
                                        {kVideoEnhance, 0, 0, kEngineSfc}};
constexpr EngineInfo kGfx12Engines[] = {{kRender, 0},
                                        {kCopy, 0},
                                        {kVideo, 0, 0, kEngineHevc | kEngineSfc},
                                        {kVideo, 1, 0, kEngineHevc | kEngineSfc},
                                        {kVideoEnhance, 0, 0, kEngineSfc}};
// Of the four compute engines kernels list one: the others share its execution units.
constexpr EngineInfo kDg2Engines[] = {{kRender, 0},
                                      {kCopy, 0},
                                      {kVideo, 0, 0, kEngineHevc | kEngineSfc},
                                      {kVideo, 1, 0, kEngineHevc | kEngineSfc},
                                      {kVideoEnhance, 0, 0, kEngineSfc},
                                      {kVideoEnhance, 1, 0, kEngineSfc},
                                      {kCompute, 0}};
constexpr EngineInfo kMeteorLakeEngines[] = {{kRender, 0},
                                             {kCopy, 0},
                                             {kVideo, 0, 1, kEngineHevc | kEngineSfc},
                                             {kVideo, 1, 1, kEngineHevc | kEngineSfc},
                                             {kVideoEnhance, 0, 1, kEngineSfc},
                                             {kCompute, 0}};
constexpr EngineInfo kLunarLakeEngines[] = {{kRender, 0},
                                            {kCopy, 0},
                                            {kVideo, 0, 1, kEngineHevc | kEngineSfc},
                                            {kVideoEnhance, 0, 1, kEngineSfc},
                                            {kCompute, 0}};
constexpr EngineInfo kBattlemageEngines[] = {{kRender, 0},
                                             {kCopy, 0},
                                             {kVideo, 0, 1, kEngineHevc | kEngineSfc},
                                             {kVideo, 1, 1, kEngineHevc | kEngineSfc},
                                             {kVideoEnhance, 0, 1, kEngineSfc},
                                             {kVideoEnhance, 1, 1, kEngineSfc},
                                             {kCompute, 0}};

// -- GTs (xe_pci.c; revisions: A0 is 0, B0 is 4) -------------------------------------------------

constexpr GtInfo kOneGt[] = {{.id = 0}};
constexpr GtInfo Main(uint16_t major, uint16_t minor, uint16_t revision) {
  return {.id = 0, .ip_major = major, .ip_minor = minor, .ip_revision = revision};
}
constexpr GtInfo Media(uint16_t major, uint16_t minor, uint16_t revision) {
  // From Xe3 on the media GT has no register that tells.
  return {.media = true,
          .id = 1,
          .ip_major = major,
          .ip_minor = minor,
          .ip_revision = revision,
          .reports_l3 = major < 30};
}
constexpr GtInfo kMtlGts[] = {Main(12, 71, 4), Media(13, 0, 4)};
constexpr GtInfo kMtlUGts[] = {Main(12, 70, 4), Media(13, 0, 4)};
constexpr GtInfo kArlHGts[] = {Main(12, 74, 4), Media(13, 0, 4)};
constexpr GtInfo kLnlGts[] = {Main(20, 4, 4), Media(20, 0, 4)};
constexpr GtInfo kBmgGts[] = {Main(20, 1, 0), Media(13, 1, 0)};
constexpr GtInfo kBmgG31Gts[] = {Main(20, 2, 0), Media(13, 1, 0)};
constexpr GtInfo kPtlGts[] = {Main(30, 0, 4), Media(30, 0, 4)};
constexpr GtInfo kPtlUGts[] = {Main(30, 1, 4), Media(30, 0, 4)};
constexpr GtInfo kWclGts[] = {Main(30, 3, 1), Media(30, 2, 0)};

// -- Page attributes (xe_pat.c) ------------------------------------------------------------------

template <class... Bits>
constexpr uint32_t Set(Bits... bits) {
  return ((uint32_t{1} << bits) | ...);
}
constexpr PatInfo kGfx12Pat = {.entries = 4, .coherent = Set(0)};
constexpr PatInfo kMtlPat = {.entries = 5, .coherent = Set(3, 4)};
constexpr PatInfo kXe2Pat = {.entries = 32,
                             .reserved = Set(16, 17, 18, 19),
                             .coherent = Set(1, 2, 4, 5, 7, 22, 23, 26, 27, 30, 31),
                             .compressed = Set(9, 10, 11, 12, 14, 15, 21, 25, 29)};
// Wa_16023588340 takes the last four entries.
constexpr PatInfo kBmgPat = {.entries = 28,
                             .reserved = Set(16, 17, 18, 19),
                             .coherent = Set(1, 2, 4, 5, 7, 22, 23, 26, 27),
                             .compressed = Set(9, 10, 11, 12, 14, 15, 21, 25)};
constexpr PatInfo kXe3Pat = {.entries = 32,
                             .reserved = Set(17, 18, 19),
                             .coherent = Set(1, 2, 4, 5, 7, 16, 22, 23, 26, 27, 30, 31),
                             .compressed = Set(9, 10, 11, 12, 14, 15, 16, 21, 25, 29)};

// -- What devices of a generation share ----------------------------------------------------------

// `slices` slices of `subslices` subslices of `eus` execution units, in an arrangement that has
// place for more.
constexpr Topology Units(unsigned max_slices, unsigned max_subslices, unsigned max_eus,
                         unsigned slices, unsigned subslices, unsigned eus, unsigned threads) {
  Topology units = {.max_slices = static_cast<uint8_t>(max_slices),
                    .max_subslices = static_cast<uint8_t>(max_subslices),
                    .max_eus = static_cast<uint8_t>(max_eus),
                    .eus = static_cast<uint8_t>(eus),
                    .threads_per_eu = static_cast<uint8_t>(threads),
                    .slice_mask = (1u << slices) - 1};
  for (unsigned slice = 0; slice < slices; ++slice) {
    units.subslice_masks[slice] = (uint64_t{1} << subslices) - 1;
  }
  return units;
}
// Devices that kernels report as they are: no place for more.
constexpr Topology Units(unsigned slices, unsigned subslices, unsigned eus, unsigned threads) {
  return Units(slices, subslices, eus, slices, subslices, eus, threads);
}

// A machine with one memory module does not swizzle, except on Gfx5, which always does.
constexpr DeviceInfo kGfx4 = {
    .generation = "gfx4",
    .version_x10 = 40,
    .drivers = kOnlyI915,
    .topology = Units(1, 1, 8, 4),
    .engines = kGfx4Engines,
    .gts = kOneGt,
    .timestamp_hz = 200'000'000,  // a quarter of a front-side bus of 800 MHz
    .timestamp_bits = 32,
    .min_mhz = 200,
    .max_mhz = 667,
    .aperture_bytes = 256 * kMiB,
    .ggtt_bytes = 512 * kMiB,
    .coherent_ggtt = true,
    .fences = 16,
};
constexpr DeviceInfo kGfx45 = [] {
  DeviceInfo row = kGfx4;
  row.generation = "gfx45";
  row.version_x10 = 45;
  row.topology = Units(1, 1, 10, 5);
  row.engines = kGfx45Engines;
  row.timestamp_hz = 1'000'000'000 / 1024;
  row.max_mhz = 800;
  row.ggtt_bytes = 2 * kGiB;
  row.snoops = true;
  return row;
}();
constexpr DeviceInfo kGfx5 = [] {
  DeviceInfo row = kGfx45;
  row.generation = "gfx5";
  row.version_x10 = 50;
  row.topology = Units(1, 1, 12, 6);
  row.timestamp_hz = 1'000'000;
  row.min_mhz = 166;
  row.max_mhz = 766;
  row.swizzle_x = Swizzle::k9_10;
  row.swizzle_y = Swizzle::k9;
  return row;
}();
constexpr DeviceInfo kGfx6 = [] {
  DeviceInfo row = kGfx5;
  row.generation = "gfx6";
  row.version_x10 = 60;
  row.topology = Units(1, 1, 12, 6);
  row.engines = kGfx6Engines;
  row.timestamp_hz = 12'500'000;
  row.timestamp_bits = 36;
  row.min_mhz = 350;
  row.max_mhz = 1300;
  row.ppgtt = Ppgtt::kAliasing;
  row.ppgtt_bits = 31;
  row.llc = true;
  row.snoops = false;
  row.swizzle_x = row.swizzle_y = Swizzle::kNone;
  return row;
}();
constexpr DeviceInfo kGfx7 = [] {
  DeviceInfo row = kGfx6;
  row.generation = "gfx7";
  row.version_x10 = 70;
  row.topology = Units(1, 1, 12, 8);
  row.l3_banks = 4;
  row.max_mhz = 1150;
  row.fences = 32;
  return row;
}();
constexpr DeviceInfo kGfx75 = [] {
  DeviceInfo row = kGfx7;
  row.generation = "gfx75";
  row.version_x10 = 75;
  row.topology = Units(1, 2, 10, 7);
  row.engines = kGfx75Engines;
  row.revision = 6;
  row.min_mhz = 200;
  row.max_mhz = 1100;
  return row;
}();
constexpr DeviceInfo kGfx8 = [] {
  DeviceInfo row = kGfx75;
  row.generation = "gfx8";
  row.version_x10 = 80;
  row.topology = Units(3, 3, 8, 1, 3, 8, 7);
  row.revision = 9;
  row.min_mhz = 300;
  row.max_mhz = 900;
  row.ggtt_bytes = 4 * kGiB;
  row.ppgtt = Ppgtt::kFull;
  row.ppgtt_bits = 48;
  return row;
}();
constexpr DeviceInfo kGfx9 = [] {
  DeviceInfo row = kGfx8;
  row.generation = "gfx9";
  row.version_x10 = 90;
  row.topology = Units(3, 4, 8, 1, 3, 8, 7);
  row.engines = kGfx9Engines;
  row.revision = 6;
  row.timestamp_hz = 12'000'000;
  row.max_mhz = 1150;
  return row;
}();
constexpr DeviceInfo kGfx9Small = [] {
  DeviceInfo row = kGfx9;
  row.topology = Units(1, 3, 8, 1, 3, 6, 6);
  row.revision = 0x0b;
  row.l3_banks = 2;
  row.timestamp_hz = 19'200'000;
  row.min_mhz = 100;
  row.max_mhz = 750;
  row.coherent_ggtt = false;
  row.llc = false;
  row.snoops = true;
  return row;
}();
constexpr DeviceInfo kGfx11 = [] {
  DeviceInfo row = kGfx9;
  row.generation = "gfx11";
  row.version_x10 = 110;
  row.topology = Units(1, 8, 8, 1, 8, 8, 7);
  row.engines = kGfx11Engines;
  row.coherent_ggtt = false;
  row.revision = 7;
  row.l3_banks = 8;
  row.max_mhz = 1100;
  return row;
}();
// Elkhart Lake and Jasper Lake.
constexpr DeviceInfo kGfx11Small = [] {
  DeviceInfo row = kGfx11;
  row.topology = Units(1, 4, 8, 1, 4, 8, 7);
  row.engines = kGfx9Engines;
  row.revision = 1;
  row.l3_banks = 4;
  row.timestamp_hz = 19'200'000;
  row.max_mhz = 850;
  row.ppgtt_bits = 36;
  return row;
}();
constexpr DeviceInfo kGfx12 = [] {
  DeviceInfo row = kGfx11;
  row.generation = "gfx12";
  row.version_x10 = 120;
  row.drivers = kI915AndXe;
  row.topology = Units(1, 6, 16, 1, 6, 16, 7);
  row.engines = kGfx12Engines;
  row.revision = 1;
  row.timestamp_hz = 19'200'000;
  row.max_mhz = 1350;
  row.xe_va_bits = 48;
  row.pat = kGfx12Pat;
  return row;
}();
constexpr DeviceInfo kDg2 = [] {
  DeviceInfo row = kGfx12;
  row.generation = "gfx125";
  row.version_x10 = 125;
  row.topology = Units(1, 32, 16, 1, 32, 16, 8);
  row.engines = kDg2Engines;
  row.revision = 8;
  row.l3_banks = 32;
  row.max_mhz = 2400;
  row.vram_bytes = 16 * kGiB;
  row.vram_visible_bytes = 16 * kGiB;
  row.vram_min_page = 64 << 10;
  row.aperture_bytes = 0;
  row.llc = false;
  row.snoops = true;
  row.fences = 0;
  row.min_alignment = 64 << 10;
  return row;
}();
constexpr DeviceInfo kMeteorLake = [] {
  DeviceInfo row = kDg2;
  row.topology = Units(1, 32, 16, 1, 8, 16, 8);
  row.engines = kMeteorLakeEngines;
  row.gts = kMtlGts;
  row.l3_banks = 8;
  row.max_mhz = 2250;
  row.vram_bytes = row.vram_visible_bytes = 0;
  row.vram_min_page = 0;
  row.min_alignment = 4096;
  row.pat = kMtlPat;
  return row;
}();
constexpr DeviceInfo kXe2 = [] {
  DeviceInfo row = kMeteorLake;
  row.generation = "xe2";
  row.version_x10 = 200;
  row.drivers = kOnlyXe;
  row.default_driver = KernelDriver::kXe;
  row.topology = Units(1, 64, 8, 1, 8, 8, 8);
  row.engines = kLunarLakeEngines;
  row.gts = kLnlGts;
  row.simd16_eus = true;
  row.page_faults = true;
  row.revision = 4;
  row.timestamp_bits = 64;
  row.min_mhz = 400;
  row.max_mhz = 1950;
  row.ppgtt = Ppgtt::kFull;
  row.pat = kXe2Pat;
  return row;
}();
constexpr DeviceInfo kXe3 = [] {
  DeviceInfo row = kXe2;
  row.generation = "xe3";
  row.version_x10 = 300;
  row.topology = Units(1, 64, 8, 1, 12, 8, 10);
  row.engines = kMeteorLakeEngines;
  row.gts = kPtlGts;
  row.l3_banks = 16;
  row.max_mhz = 2500;
  row.pat = kXe3Pat;
  return row;
}();

// -- One row -------------------------------------------------------------------------------------

struct Names {
  absl::string_view name, aliases, title, platform;
};

constexpr DeviceInfo Row(DeviceInfo row, Names names, uint16_t pci_id,
                         absl::Span<const uint16_t> variant_ids = {}) {
  row.name = names.name;
  row.aliases = names.aliases;
  row.title = names.title;
  row.platform = names.platform;
  row.pci_id = pci_id;
  row.variant_ids = variant_ids;
  return row;
}
constexpr DeviceInfo WithUnits(DeviceInfo row, Topology units, unsigned l3_banks) {
  row.topology = units;
  row.l3_banks = static_cast<uint8_t>(l3_banks);
  return row;
}
constexpr DeviceInfo WithEngines(DeviceInfo row, absl::Span<const EngineInfo> engines) {
  row.engines = engines;
  return row;
}
constexpr DeviceInfo WithMhz(DeviceInfo row, unsigned low, unsigned high) {
  row.min_mhz = static_cast<uint16_t>(low);
  row.max_mhz = static_cast<uint16_t>(high);
  return row;
}
constexpr DeviceInfo WithRevision(DeviceInfo row, unsigned revision) {
  row.revision = static_cast<uint8_t>(revision);
  return row;
}
constexpr DeviceInfo WithGts(DeviceInfo row, absl::Span<const GtInfo> gts) {
  row.gts = gts;
  return row;
}
constexpr DeviceInfo WithVram(DeviceInfo row, uint64_t bytes, uint32_t page) {
  row.vram_bytes = row.vram_visible_bytes = bytes;
  row.vram_min_page = page;
  row.aperture_bytes = 0;
  row.fences = 0;
  row.llc = false;
  row.snoops = true;
  return row;
}
constexpr DeviceInfo WithoutLlc(DeviceInfo row) {
  row.coherent_ggtt = false;
  row.llc = false;
  row.snoops = true;
  return row;
}

constexpr DeviceInfo Bdw(Topology units, unsigned l3_banks) {
  return WithUnits(kGfx8, units, l3_banks);
}
constexpr DeviceInfo Gt1() { return WithUnits(kGfx9, Units(3, 4, 8, 1, 2, 6, 7), 2); }
constexpr DeviceInfo Gt2() { return WithUnits(kGfx9, kGfx9.topology, 4); }
constexpr DeviceInfo Gt3() {
  return WithEngines(WithUnits(kGfx9, Units(3, 4, 8, 2, 3, 8, 7), 8), kGfx9Gt3Engines);
}
constexpr DeviceInfo Gt4() {
  return WithEngines(WithUnits(kGfx9, Units(3, 4, 8, 3, 3, 8, 7), 12), kGfx9Gt3Engines);
}
constexpr DeviceInfo BayTrail() {
  DeviceInfo row = WithUnits(WithoutLlc(kGfx7), Units(1, 1, 4, 8), 1);
  row.fences = 16;
  return WithMhz(WithRevision(row, 0x0e), 311, 792);
}
constexpr DeviceInfo Cherryview() {
  DeviceInfo row = WithUnits(WithoutLlc(kGfx8), Units(1, 2, 8, 1, 2, 8, 7), 2);
  row.ggtt_bytes = 2 * kGiB;
  row.ppgtt_bits = 32;
  row.fences = 16;
  return WithMhz(WithRevision(row, 0x35), 200, 640);
}
constexpr DeviceInfo GeminiLake(unsigned subslices) {
  DeviceInfo row = WithUnits(kGfx9Small, Units(1, 3, 8, 1, subslices, 6, 6), 2);
  return WithRevision(row, 6);
}
constexpr DeviceInfo Icl(unsigned subslices, unsigned l3_banks) {
  return WithUnits(kGfx11, Units(1, 8, 8, 1, subslices, 8, 7), l3_banks);
}
constexpr DeviceInfo Ehl(unsigned subslices, unsigned eus) {
  return WithUnits(kGfx11Small, Units(1, 4, 8, 1, subslices, eus, 7), 4);
}
constexpr DeviceInfo Gfx12(unsigned revision, unsigned dual_subslices, unsigned max_mhz) {
  DeviceInfo row =
      WithUnits(kGfx12, Units(1, 6, 16, 1, dual_subslices, 16, 7), dual_subslices > 2 ? 8 : 4);
  return WithMhz(WithRevision(row, revision), 300, max_mhz);
}
constexpr DeviceInfo Dg1() {
  DeviceInfo row = WithVram(Gfx12(1, 6, 1650), 4 * kGiB, 4096);
  row.ppgtt_bits = 47;  // Wa_16011227922
  return row;
}
constexpr DeviceInfo Dg2(unsigned cores, unsigned l3_banks, uint64_t vram, unsigned revision) {
  return WithRevision(
      WithVram(WithUnits(kDg2, Units(1, 32, 16, 1, cores, 16, 8), l3_banks), vram, 64 << 10),
      revision);
}
constexpr DeviceInfo MeteorLake(absl::Span<const GtInfo> gts, unsigned cores, unsigned max_mhz) {
  const DeviceInfo row = WithUnits(kMeteorLake, Units(1, 32, 16, 1, cores, 16, 8), 8);
  return WithMhz(WithGts(row, gts), 300, max_mhz);
}
constexpr DeviceInfo ArrowLake(absl::Span<const GtInfo> gts, unsigned cores, unsigned max_mhz) {
  return WithRevision(MeteorLake(gts, cores, max_mhz), 3);
}
// The number of L3 banks is not published; it is that of the Xe-cores.
constexpr DeviceInfo Battlemage(absl::Span<const GtInfo> gts, unsigned cores, uint64_t vram) {
  DeviceInfo row = WithUnits(kXe2, Units(1, 64, 8, 1, cores, 8, 8), cores);
  row = WithVram(WithGts(WithEngines(row, kBattlemageEngines), gts), vram, 4096);
  row.pat = kBmgPat;
  return WithMhz(WithRevision(row, 0), 400, 2850);
}
constexpr DeviceInfo PantherLake(absl::Span<const GtInfo> gts, unsigned cores, unsigned l3_banks) {
  return WithGts(WithUnits(kXe3, Units(1, 64, 8, 1, cores, 8, 10), l3_banks), gts);
}

// -- Apple (asahi_drm.h; frequencies of the device trees' highest operating points) --------------

constexpr AppleChip Chip(uint32_t generation, char variant, uint32_t revision, uint32_t dies,
                         uint32_t clusters, uint32_t cores, uint32_t max_khz) {
  AppleChip chip = {.generation = generation,
                    .variant = variant,
                    .revision = revision,
                    .dies = dies,
                    .clusters = clusters,
                    .cores_per_cluster = cores,
                    .max_frequency_khz = max_khz};
  for (uint32_t cluster = 0; cluster < clusters; ++cluster) {
    chip.core_masks[cluster] = (uint64_t{1} << cores) - 1;
  }
  return chip;
}
constexpr AppleChip kM1 = Chip(13, 'G', 0x11, 1, 1, 8, 1'278'000);
constexpr AppleChip kM1Pro = Chip(13, 'S', 0x10, 1, 2, 8, 1'296'000);
constexpr AppleChip kM1Max = Chip(13, 'C', 0x10, 1, 4, 8, 1'296'000);
constexpr AppleChip kM1Ultra = Chip(13, 'D', 0x10, 2, 8, 8, 1'296'000);
constexpr AppleChip kM2 = Chip(14, 'G', 0x10, 1, 1, 10, 1'398'000);
// One of the twenty cores is never enabled.
constexpr AppleChip kM2Pro = [] {
  AppleChip chip = Chip(14, 'S', 0x11, 1, 2, 10, 1'398'000);
  chip.core_masks[1] &= ~(uint64_t{1} << 9);
  return chip;
}();
constexpr AppleChip kM2Max = [] {
  AppleChip chip = Chip(14, 'C', 0x11, 1, 4, 10, 1'398'000);
  chip.core_masks[1] &= ~(uint64_t{1} << 9);
  chip.core_masks[3] &= ~(uint64_t{1} << 9);
  return chip;
}();
constexpr AppleChip kM2Ultra = [] {
  AppleChip chip = Chip(14, 'D', 0x11, 2, 8, 10, 1'398'000);
  for (const unsigned cluster : {1u, 3u, 5u, 7u}) {
    chip.core_masks[cluster] &= ~(uint64_t{1} << 9);
  }
  return chip;
}();

constexpr DeviceInfo Apple(Names names, absl::string_view generation, uint32_t chip_id,
                           const AppleChip& chip) {
  return {
      .name = names.name,
      .aliases = names.aliases,
      .title = names.title,
      .platform = names.platform,
      .generation = generation,
      .chip_id = chip_id,
      .drivers = static_cast<uint8_t>(KernelDriver::kAsahi),
      .default_driver = KernelDriver::kAsahi,
      .timestamp_hz = 1'000'000'000,
      .timestamp_bits = 64,
      .min_mhz = 396,
      .max_mhz = static_cast<uint16_t>(chip.max_frequency_khz / 1000),
      .snoops = true,
      .min_alignment = 16 << 10,
      .apple = &chip,
  };
}

// -- PCI ids of rows that are not the default of their platform ----------------------------------

constexpr uint16_t kSnbGt1[] = {0x0102, 0x0106, 0x010a};
constexpr uint16_t kIvbGt1[] = {0x0152, 0x0156, 0x015a};
constexpr uint16_t kHswGt1[] = {0x0402, 0x0406, 0x040a, 0x040b, 0x040e, 0x0a02, 0x0a06,
                                0x0a0a, 0x0a0b, 0x0a0e, 0x0c02, 0x0c06, 0x0c0a, 0x0c0b,
                                0x0c0e, 0x0d02, 0x0d06, 0x0d0a, 0x0d0b, 0x0d0e};
constexpr uint16_t kHswGt3[] = {0x0422, 0x0426, 0x042a, 0x042b, 0x042e, 0x0a22, 0x0a26,
                                0x0a2a, 0x0a2b, 0x0a2e, 0x0c22, 0x0c26, 0x0c2a, 0x0c2b,
                                0x0c2e, 0x0d22, 0x0d26, 0x0d2a, 0x0d2b, 0x0d2e};
constexpr uint16_t kBdwGt1[] = {0x1602, 0x1606, 0x160a, 0x160b, 0x160d, 0x160e};
constexpr uint16_t kBdwGt3[] = {0x1622, 0x1626, 0x162a, 0x162b, 0x162d, 0x162e,
                                0x1632, 0x1636, 0x163a, 0x163b, 0x163d, 0x163e};
constexpr uint16_t kSklGt1[] = {0x1902, 0x1906, 0x190a, 0x190b, 0x190e};
constexpr uint16_t kSklGt3[] = {0x1923, 0x1926, 0x1927, 0x192b, 0x192d};
constexpr uint16_t kSklGt4[] = {0x192a, 0x1932, 0x193a, 0x193b, 0x193d};
constexpr uint16_t kBxt2x6[] = {0x1a85, 0x5a85};
constexpr uint16_t kKblGt1[] = {0x5902, 0x5906, 0x5908, 0x590a, 0x590b, 0x590e};
constexpr uint16_t kKblGt15[] = {0x5913, 0x5915};
constexpr uint16_t kKblGt3[] = {0x5923, 0x5926, 0x5927};
constexpr uint16_t kKblGt4[] = {0x593b};
constexpr uint16_t kAml[] = {0x591c, 0x87c0};
constexpr uint16_t kGlk2x6[] = {0x3185};
constexpr uint16_t kCflGt1[] = {0x3e90, 0x3e93, 0x3e99, 0x3e9c, 0x3ea1, 0x3ea4};
constexpr uint16_t kCflGt3[] = {0x3ea2, 0x3ea5, 0x3ea6, 0x3ea7, 0x3ea8};
constexpr uint16_t kWhl[] = {0x3ea0, 0x3ea3};
constexpr uint16_t kCmlGt1[] = {0x9b21, 0x9ba2, 0x9ba4, 0x9ba5, 0x9ba8, 0x9baa, 0x9bab, 0x9bac};
constexpr uint16_t kIclGt15[] = {0x8a54, 0x8a57, 0x8a59, 0x8a5a, 0x8a5c};
constexpr uint16_t kIclGt1[] = {0x8a56, 0x8a58, 0x8a5b, 0x8a5d};
constexpr uint16_t kIclGt05[] = {0x8a70, 0x8a71};
constexpr uint16_t kEhl2x4[] = {0x4541};
constexpr uint16_t kEhl4x4[] = {0x4551};
constexpr uint16_t kEhl2x8[] = {0x4555};
constexpr uint16_t kEhl4x5[] = {0x4557};
constexpr uint16_t kJsl4x4[] = {0x4e51};
constexpr uint16_t kJsl2x8[] = {0x4e55};
constexpr uint16_t kJsl4x5[] = {0x4e57};
constexpr uint16_t kJsl4x6[] = {0x4e61};
constexpr uint16_t kTglGt1[] = {0x9a60, 0x9a68, 0x9a70};
constexpr uint16_t kRklGt05[] = {0x4c8c};
constexpr uint16_t kSg1[] = {0x4907};
constexpr uint16_t kAdlsGt05[] = {0x468b};
constexpr uint16_t kDg2G11[] = {0x56a5, 0x5693, 0x5694, 0x5695, 0x56a6, 0x56b0,
                                0x56b1, 0x56ba, 0x56bb, 0x56bc, 0x56bd};
constexpr uint16_t kDg2G12[] = {0x5696, 0x5697, 0x56a3, 0x56a4, 0x56b2, 0x56b3};
constexpr uint16_t kAtsM75[] = {0x56c1};
constexpr uint16_t kMtlU[] = {0x7d40, 0x7d45, 0x7d60};
constexpr uint16_t kArlU[] = {0x7d41};
constexpr uint16_t kArlS[] = {0x7d67, 0xb640};
constexpr uint16_t kBmgG31[] = {0xe220, 0xe221, 0xe222, 0xe223};
constexpr uint16_t kPtlU[] = {0xb090, 0xb0a0};

// -- The table -----------------------------------------------------------------------------------

constexpr DeviceInfo kRows[] = {
    Row(WithRevision(kGfx4, 2), {"brw", "i965 i965g bw", "Broadwater", "brw"}, 0x29a2),
    Row(WithMhz(WithRevision(kGfx4, 3), 200, 500), {"crl", "i965gm gm965 cl", "Crestline", "crl"},
        0x2a02),
    Row(WithMhz(WithRevision(kGfx45, 7), 200, 533), {"ctg", "gm45 g4x", "Cantiga", "ctg"}, 0x2a42),
    Row(WithRevision(kGfx45, 3), {"elk", "g45 eaglelake", "Eaglelake", "elk"}, 0x2e22),
    Row(WithRevision(kGfx5, 2), {"ilk", "ironlake", "Ironlake", "ilk"}, 0x0046),
    Row(WithRevision(kGfx6, 9), {"snb", "snb_gt2", "Sandy Bridge GT2", "snb"}, 0x0126),
    Row(WithRevision(WithUnits(kGfx6, Units(1, 1, 6, 6), 0), 9),
        {"snb_gt1", "", "Sandy Bridge GT1", "snb"}, 0x0106, kSnbGt1),
    Row(WithRevision(kGfx7, 9), {"ivb", "ivb_gt2", "Ivy Bridge GT2", "ivb"}, 0x0166),
    Row(WithRevision(WithUnits(kGfx7, Units(1, 1, 6, 6), 2), 9),
        {"ivb_gt1", "", "Ivy Bridge GT1", "ivb"}, 0x0156, kIvbGt1),
    Row(BayTrail(), {"byt", "vlv", "Bay Trail", "byt"}, 0x0f31),
    Row(kGfx75, {"hsw", "hsw_gt2", "Haswell GT2", "hsw"}, 0x0416),
    Row(WithUnits(kGfx75, Units(1, 1, 10, 7), 2), {"hsw_gt1", "", "Haswell GT1", "hsw"}, 0x0406,
        kHswGt1),
    Row(WithUnits(kGfx75, Units(2, 2, 10, 7), 8), {"hsw_gt3", "", "Haswell GT3", "hsw"}, 0x0d26,
        kHswGt3),
    Row(Bdw(Units(3, 3, 8, 1, 3, 8, 7), 4), {"bdw", "bdw_gt2", "Broadwell GT2", "bdw"}, 0x1616),
    Row(Bdw(Units(3, 3, 8, 1, 2, 6, 7), 2), {"bdw_gt1", "", "Broadwell GT1", "bdw"}, 0x1606,
        kBdwGt1),
    Row(WithEngines(Bdw(Units(3, 3, 8, 2, 3, 8, 7), 8), kGfx8Gt3Engines),
        {"bdw_gt3", "", "Broadwell GT3", "bdw"}, 0x1626, kBdwGt3),
    Row(Cherryview(), {"chv", "bsw", "Cherryview", "chv"}, 0x22b1),

    Row(Gt2(), {"skl", "skl_gt2", "Skylake GT2", "skl"}, 0x1912),
    Row(Gt1(), {"skl_gt1", "", "Skylake GT1", "skl"}, 0x1902, kSklGt1),
    Row(Gt3(), {"skl_gt3", "", "Skylake GT3", "skl"}, 0x1926, kSklGt3),
    Row(Gt4(), {"skl_gt4", "", "Skylake GT4", "skl"}, 0x193b, kSklGt4),
    Row(kGfx9Small, {"bxt", "apl bxt_3x6", "Broxton 3x6", "bxt"}, 0x5a84),
    Row(WithUnits(kGfx9Small, Units(1, 3, 8, 1, 2, 6, 6), 1), {"bxt_2x6", "", "Broxton 2x6", "bxt"},
        0x5a85, kBxt2x6),
    Row(WithRevision(Gt2(), 4), {"kbl", "kbl_gt2", "Kaby Lake GT2", "kbl"}, 0x5912),
    Row(WithRevision(Gt1(), 4), {"kbl_gt1", "", "Kaby Lake GT1", "kbl"}, 0x5902, kKblGt1),
    Row(WithRevision(WithUnits(kGfx9, Units(3, 4, 8, 1, 3, 6, 7), 4), 4),
        {"kbl_gt1_5", "", "Kaby Lake GT1.5", "kbl"}, 0x5913, kKblGt15),
    Row(WithRevision(Gt3(), 6), {"kbl_gt3", "", "Kaby Lake GT3", "kbl"}, 0x5926, kKblGt3),
    Row(WithRevision(Gt4(), 4), {"kbl_gt4", "", "Kaby Lake GT4", "kbl"}, 0x593b, kKblGt4),
    Row(WithRevision(Gt2(), 4), {"aml", "", "Amber Lake", "kbl"}, 0x591c, kAml),
    Row(GeminiLake(3), {"glk", "glk_3x6", "Gemini Lake 3x6", "glk"}, 0x3184),
    Row(GeminiLake(2), {"glk_2x6", "", "Gemini Lake 2x6", "glk"}, 0x3185, kGlk2x6),
    Row(WithRevision(Gt2(), 0), {"cfl", "cfl_gt2", "Coffee Lake GT2", "cfl"}, 0x3e92),
    Row(WithRevision(Gt1(), 0), {"cfl_gt1", "", "Coffee Lake GT1", "cfl"}, 0x3e90, kCflGt1),
    Row(WithRevision(Gt3(), 1), {"cfl_gt3", "", "Coffee Lake GT3", "cfl"}, 0x3ea5, kCflGt3),
    Row(WithRevision(Gt2(), 2), {"whl", "", "Whiskey Lake", "cfl"}, 0x3ea0, kWhl),
    Row(WithRevision(Gt2(), 2), {"cml", "cml_gt2", "Comet Lake GT2", "cml"}, 0x9b41),
    Row(WithRevision(Gt1(), 4), {"cml_gt1", "", "Comet Lake GT1", "cml"}, 0x9ba8, kCmlGt1),

    Row(Icl(8, 8), {"icl", "icl_gt2", "Ice Lake GT2", "icl"}, 0x8a52),
    Row(Icl(6, 6), {"icl_gt1_5", "", "Ice Lake GT1.5", "icl"}, 0x8a5a, kIclGt15),
    Row(Icl(4, 6), {"icl_gt1", "", "Ice Lake GT1", "icl"}, 0x8a56, kIclGt1),
    Row(Icl(1, 6), {"icl_gt0_5", "", "Ice Lake GT0.5", "icl"}, 0x8a71, kIclGt05),
    Row(Ehl(4, 8), {"ehl", "ehl_4x8", "Elkhart Lake 4x8", "ehl"}, 0x4571),
    Row(Ehl(4, 5), {"ehl_4x5", "", "Elkhart Lake 4x5", "ehl"}, 0x4557, kEhl4x5),
    Row(Ehl(4, 4), {"ehl_4x4", "", "Elkhart Lake 4x4", "ehl"}, 0x4551, kEhl4x4),
    Row(Ehl(2, 8), {"ehl_2x8", "", "Elkhart Lake 2x8", "ehl"}, 0x4555, kEhl2x8),
    Row(Ehl(2, 4), {"ehl_2x4", "", "Elkhart Lake 2x4", "ehl"}, 0x4541, kEhl2x4),
    Row(Ehl(4, 8), {"jsl", "jsl_4x8", "Jasper Lake 4x8", "jsl"}, 0x4e71),
    Row(Ehl(4, 6), {"jsl_4x6", "", "Jasper Lake 4x6", "jsl"}, 0x4e61, kJsl4x6),
    Row(Ehl(4, 5), {"jsl_4x5", "", "Jasper Lake 4x5", "jsl"}, 0x4e57, kJsl4x5),
    Row(Ehl(4, 4), {"jsl_4x4", "", "Jasper Lake 4x4", "jsl"}, 0x4e51, kJsl4x4),
    Row(Ehl(2, 8), {"jsl_2x8", "", "Jasper Lake 2x8", "jsl"}, 0x4e55, kJsl2x8),

    Row(Gfx12(1, 6, 1350), {"tgl", "tgl_gt2", "Tiger Lake GT2", "tgl"}, 0x9a49),
    Row(Gfx12(1, 2, 1450), {"tgl_gt1", "", "Tiger Lake GT1", "tgl"}, 0x9a60, kTglGt1),
    Row(WithEngines(Gfx12(4, 2, 1300), kGfx9Engines), {"rkl", "rkl_gt1", "Rocket Lake GT1", "rkl"},
        0x4c8a),
    Row(WithEngines(Gfx12(4, 1, 1200), kGfx9Engines), {"rkl_gt0_5", "", "Rocket Lake GT0.5", "rkl"},
        0x4c8c, kRklGt05),
    Row(Dg1(), {"dg1", "", "DG1", "dg1"}, 0x4905),
    Row(Dg1(), {"sg1", "", "SG1", "dg1"}, 0x4907, kSg1),
    Row(Gfx12(0x0c, 2, 1550), {"adls", "adl-s adl adls_gt1", "Alder Lake S", "adls"}, 0x4680),
    Row(Gfx12(0x0c, 1, 1450), {"adls_gt0_5", "", "Alder Lake S GT0.5", "adls"}, 0x468b, kAdlsGt05),
    Row(Gfx12(0x0c, 6, 1400), {"adlp", "adl-p adlp_gt2", "Alder Lake P", "adlp"}, 0x46a6),
    Row(Gfx12(0, 2, 1250), {"adln", "adl-n", "Alder Lake N", "adln"}, 0x46d0),
    Row(Gfx12(4, 2, 1650), {"rpls", "rpl-s rpl", "Raptor Lake S", "rpls"}, 0xa780),
    Row(Gfx12(4, 6, 1500), {"rplp", "rpl-p", "Raptor Lake P", "rplp"}, 0xa7a0),

    Row(Dg2(32, 32, 16 * kGiB, 8), {"dg2", "dg2_g10 acm", "DG2 G10", "dg2"}, 0x56a0),
    Row(Dg2(8, 8, 6 * kGiB, 5), {"dg2_g11", "", "DG2 G11", "dg2"}, 0x56a5, kDg2G11),
    Row(Dg2(16, 16, 8 * kGiB, 1), {"dg2_g12", "", "DG2 G12", "dg2"}, 0x5696, kDg2G12),
    Row(Dg2(32, 32, 16 * kGiB, 8), {"atsm", "ats-m ats-m150", "Arctic Sound-M 150", "atsm"},
        0x56c0),
    Row(Dg2(8, 8, 6 * kGiB, 5), {"atsm_75", "ats-m75", "Arctic Sound-M 75", "atsm"}, 0x56c1,
        kAtsM75),
    Row(MeteorLake(kMtlGts, 8, 2250), {"mtl", "mtl_h mtl-h", "Meteor Lake H", "mtl"}, 0x7d55),
    Row(MeteorLake(kMtlUGts, 4, 2000), {"mtl_u", "mtl-u", "Meteor Lake U", "mtl"}, 0x7d45, kMtlU),
    Row(ArrowLake(kArlHGts, 8, 2350), {"arl", "arl_h arl-h", "Arrow Lake H", "arl"}, 0x7d51),
    Row(ArrowLake(kMtlUGts, 4, 2100), {"arl_u", "arl-u", "Arrow Lake U", "arl"}, 0x7d41, kArlU),
    Row(ArrowLake(kMtlUGts, 4, 2000), {"arl_s", "arl-s", "Arrow Lake S", "arl"}, 0x7d67, kArlS),

    Row(kXe2, {"lnl", "", "Lunar Lake", "lnl"}, 0x64a0),
    Row(Battlemage(kBmgGts, 20, 12 * kGiB), {"bmg", "bmg_g21", "Battlemage G21", "bmg"}, 0xe20b),
    Row(Battlemage(kBmgG31Gts, 32, 16 * kGiB), {"bmg_g31", "", "Battlemage G31", "bmg"}, 0xe223,
        kBmgG31),
    Row(PantherLake(kPtlGts, 12, 16), {"ptl", "ptl_h ptl-h", "Panther Lake H", "ptl"}, 0xb080),
    Row(PantherLake(kPtlUGts, 4, 8), {"ptl_u", "ptl-u", "Panther Lake U", "ptl"}, 0xb090, kPtlU),
    Row(WithEngines(PantherLake(kWclGts, 2, 4), kLunarLakeEngines),
        {"wcl", "", "Wildcat Lake", "wcl"}, 0xfd80),

    Apple({"g13g", "m1 t8103", "M1", "g13g"}, "agx_g13", 0x8103, kM1),
    Apple({"g13s", "m1-pro m1pro t6000", "M1 Pro", "g13s"}, "agx_g13", 0x6000, kM1Pro),
    Apple({"g13c", "m1-max m1max t6001", "M1 Max", "g13c"}, "agx_g13", 0x6001, kM1Max),
    Apple({"g13d", "m1-ultra m1ultra t6002", "M1 Ultra", "g13d"}, "agx_g13", 0x6002, kM1Ultra),
    Apple({"g14g", "m2 t8112", "M2", "g14g"}, "agx_g14", 0x8112, kM2),
    Apple({"g14s", "m2-pro m2pro t6020", "M2 Pro", "g14s"}, "agx_g14x", 0x6020, kM2Pro),
    Apple({"g14c", "m2-max m2max t6021", "M2 Max", "g14c"}, "agx_g14x", 0x6021, kM2Max),
    Apple({"g14d", "m2-ultra m2ultra t6022", "M2 Ultra", "g14d"}, "agx_g14x", 0x6022, kM2Ultra),
};

}  // namespace

constinit const absl::Span<const DeviceInfo> kDeviceRows = kRows;

}  // namespace packsmith::capture
