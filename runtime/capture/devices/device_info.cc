#include "runtime/capture/devices/device_info.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "runtime/base/closest.h"
#include "runtime/capture/devices/device_rows.h"
#include "runtime/generations/generations.h"

namespace packsmith::capture {
namespace {

constexpr uint32_t kIntelVendor = 0x8086;

// Linux' i915_pci.c and xe_pci.c.
struct KernelName {
  absl::string_view platform, name;
};
constexpr KernelName kKernelNames[] = {
    {"brw", "I965G"},        {"crl", "I965GM"},       {"ctg", "GM45"},
    {"elk", "G45"},          {"ilk", "IRONLAKE"},     {"snb", "SANDYBRIDGE"},
    {"ivb", "IVYBRIDGE"},    {"byt", "VALLEYVIEW"},   {"hsw", "HASWELL"},
    {"bdw", "BROADWELL"},    {"chv", "CHERRYVIEW"},   {"skl", "SKYLAKE"},
    {"bxt", "BROXTON"},      {"kbl", "KABYLAKE"},     {"glk", "GEMINILAKE"},
    {"cfl", "COFFEELAKE"},   {"cml", "COMETLAKE"},    {"icl", "ICELAKE"},
    {"ehl", "ELKHARTLAKE"},  {"jsl", "JASPERLAKE"},   {"tgl", "TIGERLAKE"},
    {"rkl", "ROCKETLAKE"},   {"dg1", "DG1"},          {"adls", "ALDERLAKE_S"},
    {"adlp", "ALDERLAKE_P"}, {"adln", "ALDERLAKE_P"}, {"rpls", "ALDERLAKE_S"},
    {"rplp", "ALDERLAKE_P"}, {"dg2", "DG2"},          {"atsm", "DG2"},
    {"mtl", "METEORLAKE"},   {"arl", "METEORLAKE"},   {"lnl", "LUNARLAKE"},
    {"bmg", "BATTLEMAGE"},   {"ptl", "PANTHERLAKE"},  {"wcl", "PANTHERLAKE"},
};

bool IsCalled(const DeviceInfo& device, absl::string_view name) {
  if (absl::EqualsIgnoreCase(device.name, name)) return true;
  for (const absl::string_view alias : absl::StrSplit(device.aliases, ' ', absl::SkipEmpty())) {
    if (absl::EqualsIgnoreCase(alias, name)) return true;
  }
  return false;
}

// The ids that the description has for the row's platform.
std::vector<uint16_t> PlatformIds(const DeviceInfo& device) {
  for (const tables::Tables& tables : BuiltInGenerations()) {
    if (tables.generation() != device.generation) continue;
    for (const tables::Platform& platform : tables.platforms()) {
      if (tables.string(platform.name) != device.platform) continue;
      const absl::Span<const uint32_t> ids = tables.ids(platform.pci_ids);
      return {ids.begin(), ids.end()};
    }
  }
  return {};
}

bool IsOfAnotherRow(const DeviceInfo& device, uint16_t id) {
  for (const DeviceInfo& other : AllDevices()) {
    if (other.name == device.name || other.platform != device.platform) continue;
    if (absl::c_linear_search(other.variant_ids, id)) return true;
  }
  return false;
}

// "0x9a49", "9a49": four digits without 0x, so that no name is taken for one.
std::optional<uint32_t> ParseId(absl::string_view text) {
  const bool has_prefix = absl::StartsWithIgnoreCase(text, "0x");
  if (!has_prefix && text.size() != 4) return std::nullopt;
  uint32_t id = 0;
  if (!absl::SimpleHexAtoi(text, &id) || id > 0xffff) return std::nullopt;
  for (const char c : has_prefix ? text.substr(2) : text) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) return std::nullopt;
  }
  return id;
}

absl::StatusOr<FoundDevice> FindPciId(absl::string_view text, uint32_t id) {
  for (const DeviceInfo& device : AllDevices()) {
    const std::vector<uint16_t> ids = PciIdsOf(device);
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) {
      return FoundDevice{&device, static_cast<uint16_t>(id)};
    }
  }
  return absl::NotFoundError(absl::StrFormat(
      "no device that can be mocked has the PCI id \"%s\"; name a platform instead", text));
}

}  // namespace

absl::string_view NameOf(KernelDriver driver) {
  switch (driver) {
    case KernelDriver::kI915:
      return "i915";
    case KernelDriver::kXe:
      return "xe";
    case KernelDriver::kAsahi:
      return "asahi";
  }
  return "";
}

absl::string_view NameOf(EngineClass engine_class) {
  switch (engine_class) {
    case EngineClass::kRender:
      return "rcs";
    case EngineClass::kCopy:
      return "bcs";
    case EngineClass::kVideo:
      return "vcs";
    case EngineClass::kVideoEnhance:
      return "vecs";
    case EngineClass::kCompute:
      return "ccs";
  }
  return "";
}

absl::string_view KernelPlatform(const DeviceInfo& device, KernelDriver driver) {
  if (device.platform == "adln" && driver == KernelDriver::kXe) return "ALDERLAKE_N";
  for (const KernelName& one : kKernelNames) {
    if (one.platform == device.platform) return one.name;
  }
  return "";
}

absl::Span<const DeviceInfo> AllDevices() { return kDeviceRows; }

std::vector<uint16_t> PciIdsOf(const DeviceInfo& device) {
  std::vector<uint16_t> ids;
  if (device.pci_id == 0) return ids;
  ids.push_back(device.pci_id);
  if (!device.variant_ids.empty()) {
    for (const uint16_t id : device.variant_ids) {
      if (id != device.pci_id) ids.push_back(id);
    }
    return ids;
  }
  for (const uint16_t id : PlatformIds(device)) {
    if (id != device.pci_id && !IsOfAnotherRow(device, id)) ids.push_back(id);
  }
  return ids;
}

absl::StatusOr<FoundDevice> FindDevice(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  if (parts.size() == 2) {
    const std::optional<uint32_t> vendor = ParseId(parts[0]), id = ParseId(parts[1]);
    if (!vendor.has_value() || !id.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", text, "\" is not a PCI id: write two hexadecimal numbers, such as 8086:9a49"));
    }
    if (*vendor != kIntelVendor) {
      return absl::InvalidArgumentError(
          absl::StrFormat("\"%s\" is a device of another vendor: only those of Intel (8086) have "
                          "PCI ids here",
                          text));
    }
    return FindPciId(text, *id);
  }
  Closest closest(text);
  for (const DeviceInfo& device : AllDevices()) {
    if (IsCalled(device, text)) return FoundDevice{&device, device.pci_id};
    closest.Offer(device.name);
    for (const absl::string_view alias : absl::StrSplit(device.aliases, ' ', absl::SkipEmpty())) {
      closest.Offer(alias);
    }
  }
  if (const std::optional<uint32_t> id = ParseId(text); id.has_value()) {
    return FindPciId(text, *id);
  }
  std::string known;
  for (const DeviceInfo& device : AllDevices()) {
    absl::StrAppend(&known, known.empty() ? "" : ", ", device.name);
  }
  return absl::NotFoundError(absl::StrCat("no device that can be mocked is called \"", text, "\"",
                                          DidYouMean(closest), "; known devices: ", known));
}

}  // namespace packsmith::capture
