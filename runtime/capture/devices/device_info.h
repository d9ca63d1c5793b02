// What a mock kernel knows of the device that it imitates: one row for each variant of a
// platform ("skl" is the GT2, "skl_gt4" the largest).
//
//   absl::StatusOr<FoundDevice> found = FindDevice("tgl");  // or "0x9a49", "8086:9a49"
//   if (found.ok()) Mount(*found->device, found->pci_id);
//
// Which PCI and chip ids a platform has is in its description (xml/), and nowhere else; a row names
// only the ids by which it differs from the platform's default row.
//
// Sources: Intel's PRMs (volumes "Configurations") and data sheets for numbers of units and
// frequencies; Linux' i915_pci.c, intel_sseu.c, intel_gt_clock_utils.c, intel_ggtt_fencing.c,
// xe_pci.c and xe_pat.c, and asahi_drm.h for what kernels report of them.

#ifndef PACKSMITH_RUNTIME_CAPTURE_DEVICES_DEVICE_INFO_H_
#define PACKSMITH_RUNTIME_CAPTURE_DEVICES_DEVICE_INFO_H_

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace packsmith::capture {

// The kernel interfaces. The values are bits of DeviceInfo::drivers.
enum class KernelDriver : uint8_t { kI915 = 1, kXe = 2, kAsahi = 4 };

// "i915", "xe", "asahi": the name that DRM_IOCTL_VERSION reports and uevent files show.
absl::string_view NameOf(KernelDriver driver);

// Numbers as in i915's and xe's interfaces (I915_ENGINE_CLASS_*, DRM_XE_ENGINE_CLASS_*).
enum class EngineClass : uint8_t {
  kRender = 0,
  kCopy = 1,
  kVideo = 2,
  kVideoEnhance = 3,
  kCompute = 4,
};

// "rcs", "bcs", "vcs", "vecs", "ccs": the kernels' names, which an instance's number may follow.
absl::string_view NameOf(EngineClass engine_class);

// I915_VIDEO_CLASS_CAPABILITY_HEVC, I915_VIDEO_AND_ENHANCE_CLASS_CAPABILITY_SFC.
inline constexpr uint8_t kEngineHevc = 1, kEngineSfc = 2;

struct EngineInfo {
  EngineClass engine_class = EngineClass::kRender;
  // Both the physical and the logical instance: tables list the engines of full parts.
  uint8_t instance = 0;
  uint8_t gt = 0;            // the id of the GT
  uint8_t capabilities = 0;  // as i915's engine query reports them
  bool operator==(const EngineInfo&) const = default;
};

// A GT as xe lists it.
struct GtInfo {
  bool media = false;  // DRM_XE_QUERY_GT_TYPE_MEDIA, else MAIN
  uint8_t id = 0;
  // From the register GMD_ID; 0 on platforms without it (before Meteor Lake).
  uint16_t ip_major = 0, ip_minor = 0, ip_revision = 0;
  bool reports_l3 = true;  // its topology has a mask of L3 banks
};

// Slices, subslices (from Gfx12 on dual subslices, from Gfx12.5 on Xe-cores) and execution units,
// arranged as i915's topology query arranges them: a slice has at most `max_subslices`.
struct Topology {
  uint8_t max_slices = 0;
  uint8_t max_subslices = 0;  // of a slice
  uint8_t max_eus = 0;        // of a subslice
  uint8_t eus = 0;            // of a subslice; those that are enabled. The lowest are.
  uint8_t threads_per_eu = 0;
  uint32_t slice_mask = 0;
  std::array<uint64_t, 3> subslice_masks = {};  // for each slice

  constexpr unsigned slices() const { return static_cast<unsigned>(std::popcount(slice_mask)); }
  constexpr unsigned subslices() const {
    unsigned count = 0;
    for (const uint64_t mask : subslice_masks) count += static_cast<unsigned>(std::popcount(mask));
    return count;
  }
  constexpr unsigned eu_total() const { return subslices() * eus; }
};

// Address translation of processes, as i915 has it.
enum class Ppgtt : uint8_t {
  kNone,      // batches run in the global GTT
  kAliasing,  // one for all, with the addresses of the global GTT
  kFull,      // one for each context
};

// How bits of an address are combined into bit 6 in tiled memory. Numbers as in i915's interface
// (I915_BIT_6_SWIZZLE_*).
enum class Swizzle : uint8_t { kNone = 0, k9 = 1, k9_10 = 2, k9_11 = 3, k9_10_11 = 4 };

// The table of page attributes (xe's pat_index, i915's SET_PAT). Bit n is entry n.
struct PatInfo {
  uint8_t entries = 0;  // 0: none that user space can choose
  uint32_t reserved = 0;
  uint32_t coherent = 0;  // with the CPU's caches, one-way or two-way
  uint32_t compressed = 0;
};

// What the asahi interface's global parameters report (params_global).
struct AppleChip {
  uint32_t generation = 0;  // 13, 14
  char variant = 'G';       // 'G' base, 'S' Pro, 'C' Max, 'D' Ultra
  uint32_t revision = 0;    // BCD: 0x00 is A0, 0x21 is C1
  uint32_t dies = 0;
  uint32_t clusters = 0;                    // of all dies
  uint32_t cores_per_cluster = 0;           // with those that are absent
  std::array<uint64_t, 8> core_masks = {};  // of each cluster
  uint32_t max_frequency_khz = 0;
};

struct DeviceInfo {
  // -- Names ------------------------------------------------------------------------------------
  absl::string_view name = {};        // "skl_gt4"; unique
  absl::string_view aliases = {};     // separated by blanks; unique, too
  absl::string_view title = {};       // "Skylake GT4"
  absl::string_view platform = {};    // its name in the description, "skl"
  absl::string_view generation = {};  // the description's name, "gfx9": see runtime/generations

  // -- Identity ---------------------------------------------------------------------------------
  uint16_t pci_id = 0;  // of the vendor 0x8086, if the device's name was given; 0: not a PCI device
  // The ids of this row. Empty: all ids of the platform that no other row has.
  absl::Span<const uint16_t> variant_ids = {};
  uint32_t chip_id = 0;      // Apple's chips: the description's chip="…"
  uint8_t revision = 0;      // PCI revision of production parts
  uint16_t version_x10 = 0;  // of graphics: 40, 45, 75, 125; 0: not Intel

  // -- Kernel interfaces ------------------------------------------------------------------------
  uint8_t drivers = 0;  // KernelDriver bits
  KernelDriver default_driver = KernelDriver::kI915;
  constexpr bool has(KernelDriver driver) const {
    return (drivers & static_cast<uint8_t>(driver)) != 0;
  }

  // -- Units ------------------------------------------------------------------------------------
  Topology topology = {};
  // i915 answers questions about the topology from Gfx7.5 on, and with ENODEV before.
  constexpr bool reports_topology() const { return version_x10 >= 75; }
  absl::Span<const EngineInfo> engines = {};  // as i915 and xe list them
  absl::Span<const GtInfo> gts = {};
  uint8_t l3_banks = 0;     // of the device; 0: unknown or none
  bool simd16_eus = false;  // execution units are counted in SIMD16 ones, else in SIMD8 ones
  uint32_t timestamp_hz = 0;
  uint8_t timestamp_bits = 0;         // that count, in registers and in post-sync writes
  uint16_t min_mhz = 0, max_mhz = 0;  // of the GPU: RPn and RP0

  // -- Memory -----------------------------------------------------------------------------------
  uint64_t vram_bytes = 0;  // 0: integrated
  uint64_t vram_visible_bytes = 0;
  uint32_t vram_min_page = 0;
  constexpr bool discrete() const { return vram_bytes != 0; }
  uint64_t aperture_bytes = 0;  // of the global GTT that the CPU can map; 0: none
  uint64_t ggtt_bytes = 0;
  // What the CPU writes through the aperture is seen in order with its other writes
  // (I915_PARAM_MMAP_GTT_COHERENT).
  bool coherent_ggtt = false;
  Ppgtt ppgtt = Ppgtt::kNone;
  uint8_t ppgtt_bits = 0;  // i915's address spaces
  uint8_t xe_va_bits = 0;
  bool page_faults = false;  // address spaces may be filled as they are used (xe's fault mode)
  bool llc = false;          // CPU and GPU share the last-level cache
  bool snoops = false;       // the GPU can snoop the CPU's caches (objects of I915_CACHING_CACHED)
  uint8_t fences = 0;        // registers for tiled access through the aperture
  Swizzle swizzle_x = Swizzle::kNone, swizzle_y = Swizzle::kNone;
  // Addresses and sizes that kernels accept are multiples of it.
  uint32_t min_alignment = 4096;
  PatInfo pat = {};

  const AppleChip* apple = nullptr;  // null: Intel
};

// Memory of the machine that mocks report, in bytes.
inline constexpr uint64_t kSystemMemoryBytes = uint64_t{16} << 30;

// All rows, ordered by generation; a platform's default row comes before its others.
absl::Span<const DeviceInfo> AllDevices();

// What a driver calls the platform, in error states, devcoredumps and debugfs: "TIGERLAKE",
// "ALDERLAKE_S". Several platforms may have one name. Empty: the driver has none.
absl::string_view KernelPlatform(const DeviceInfo& device, KernelDriver driver);

// All PCI ids of a row, its default first. Empty: not a PCI device.
std::vector<uint16_t> PciIdsOf(const DeviceInfo& device);

struct FoundDevice {
  const DeviceInfo* device = nullptr;
  uint16_t pci_id = 0;  // the one that was asked for, else the row's default; 0: not a PCI device
};

// By name or alias, ignoring case, or by PCI id: "0x9a49", "9a49", "8086:9a49". InvalidArgument if
// the text is an id of another vendor, NotFound if nothing is called that, with names that are
// close, and how to list all.
absl::StatusOr<FoundDevice> FindDevice(absl::string_view text);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DEVICES_DEVICE_INFO_H_
