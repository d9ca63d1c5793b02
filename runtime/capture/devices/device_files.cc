#include "runtime/capture/devices/device_files.h"

#include <bit>
#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "runtime/base/mutex.h"
#include "runtime/capture/devices/driver_files.h"

namespace packsmith::capture {
namespace {

constexpr uint32_t kIntelVendor = 0x8086;
// Of the boards: a reference design's.
constexpr uint32_t kSubsystemDevice = 0x2212;

absl::string_view DirectoryOf(absl::string_view path) { return path.substr(0, path.rfind('/')); }
absl::string_view NameAtEnd(absl::string_view path) { return path.substr(path.rfind('/') + 1); }

// -- Places --------------------------------------------------------------------------------------

std::string IntegratedPlace(const VirtualFiles& files) {
  for (unsigned domain = 0;; ++domain) {
    const std::string path =
        absl::StrFormat("/sys/devices/pci%04x:00/%04x:00:02.0", domain, domain);
    const DirectoryListing found = files.List(path);
    if (found.status != PathStatus::kVirtual) return path;
  }
}

// Below a root port and the two bridges of the card's own switch.
std::string DiscretePlace(const VirtualFiles& files) {
  for (unsigned card = 0;; ++card) {
    const unsigned bus = 1 + 4 * card;
    const unsigned port = card < 8 ? 1 : 0x10 + (card - 8) / 8;
    const std::string path = absl::StrFormat(
        "/sys/devices/pci0000:00/0000:00:%02x.%u/0000:%02x:00.0/0000:%02x:01.0/"
        "0000:%02x:00.0",
        port, card % 8, bus, bus + 1, bus + 2);
    if (files.List(path).status != PathStatus::kVirtual) return path;
  }
}

// Named after the address of its registers.
std::string PlatformPlace(const DeviceInfo& device, const VirtualFiles& files) {
  uint64_t address = device.apple->variant == 'G' ? 0x206400000 : 0x406400000;
  for (;; address += uint64_t{1} << 36) {
    const std::string path = absl::StrFormat("/sys/devices/platform/soc/%x.gpu", address);
    if (files.List(path).status != PathStatus::kVirtual) return path;
  }
}

DevicePaths PathsOf(const DeviceSetup& setup, const VirtualFiles& files) {
  const DeviceInfo& device = *setup.device;
  DevicePaths paths;
  paths.driver = setup.driver;
  paths.index = setup.index;
  paths.device = device.apple != nullptr ? PlatformPlace(device, files)
                 : device.discrete()     ? DiscretePlace(files)
                                         : IntegratedPlace(files);
  paths.slot = std::string(NameAtEnd(paths.device));
  const std::string card = absl::StrCat("card", setup.index);
  const std::string render = absl::StrCat("renderD", kFirstRenderMinor + setup.index);
  paths.card = absl::StrCat(paths.device, "/drm/", card);
  paths.render = absl::StrCat(paths.device, "/drm/", render);
  paths.debugfs = absl::StrCat("/sys/kernel/debug/dri/", setup.index);
  paths.card_node = absl::StrCat("/dev/dri/", card);
  paths.render_node = absl::StrCat("/dev/dri/", render);
  return paths;
}

// -- PCI -----------------------------------------------------------------------------------------

struct Bar {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t flags = 0;  // as Linux shows them in `resource`: IORESOURCE_*
};

constexpr uint64_t kMemory64 = 0x140204, kMemory64Prefetched = 0x14220c, kPorts = 0x40101;

// Registers, the aperture or the card's memory, ports. 64-bit ones take two places.
std::vector<Bar> BarsOf(const DeviceInfo& device, unsigned index) {
  const uint64_t base = (uint64_t{0x60} + index) << 32;
  const uint64_t registers = uint64_t{device.version_x10 < 80 ? 4u : 16u} << 20;
  const uint64_t aperture =
      device.discrete() ? std::bit_ceil(device.vram_visible_bytes) : uint64_t{256} << 20;
  std::vector<Bar> bars(6);
  bars[0] = {base, registers, kMemory64};
  bars[2] = {(uint64_t{0x4000} << 32) + index * (uint64_t{1} << 40), aperture, kMemory64Prefetched};
  if (!device.discrete()) bars[4] = {0x3000 + 0x40 * uint64_t{index}, 64, kPorts};
  return bars;
}

std::string ResourceText(const std::vector<Bar>& bars) {
  std::string text;
  for (unsigned i = 0; i < 13; ++i) {
    const Bar bar = i < bars.size() ? bars[i] : Bar{};
    const uint64_t last = bar.bytes == 0 ? 0 : bar.address + bar.bytes - 1;
    absl::StrAppendFormat(&text, "0x%016x 0x%016x 0x%016x\n", bar.address, last, bar.flags);
  }
  return text;
}

struct PciFacts {
  uint32_t vendor = kIntelVendor, device = 0, revision = 0, pci_class = 0;
};

// The configuration space's header, as the PCI standard lays it out.
std::string ConfigBytes(const PciFacts& facts, const std::vector<Bar>& bars) {
  std::string bytes(256, '\0');
  const auto put = [&bytes](size_t at, uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
  };
  put(0x00, facts.vendor, 2);
  put(0x02, facts.device, 2);
  put(0x04, 0x0407, 2);  // memory, ports, bus master; no legacy interrupt
  put(0x08, facts.revision, 1);
  put(0x09, facts.pci_class, 3);
  for (size_t i = 0; i < bars.size(); ++i) {
    if (bars[i].bytes == 0) continue;
    if (bars[i].flags == kPorts) {
      put(0x10 + 4 * i, bars[i].address | 1, 4);
    } else {
      put(0x10 + 4 * i, bars[i].address | (bars[i].flags == kMemory64 ? 4 : 12), 8);
    }
  }
  put(0x2c, facts.vendor, 2);
  put(0x2e, kSubsystemDevice, 2);
  put(0x3d, 1, 1);  // interrupt pin A
  return bytes;
}

std::string PciUevent(const DeviceSetup& setup, const PciFacts& facts, absl::string_view slot) {
  return absl::StrFormat(
      "DRIVER=%s\nPCI_CLASS=%X\nPCI_ID=%04X:%04X\nPCI_SUBSYS_ID=%04X:%04X\nPCI_SLOT_NAME=%s\n"
      "MODALIAS=pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X\n",
      NameOf(setup.driver), facts.pci_class, facts.vendor, facts.device, facts.vendor,
      kSubsystemDevice, slot, facts.vendor, facts.device, facts.vendor, kSubsystemDevice,
      facts.pci_class >> 16, facts.pci_class >> 8 & 0xff, facts.pci_class & 0xff);
}

void AddPciFiles(const DeviceSetup& setup, const DevicePaths& paths, FileWriter& writer) {
  const DeviceInfo& device = *setup.device;
  // Cards without displays are not VGA controllers.
  const bool has_display = device.platform != "atsm";
  const PciFacts facts = {.device = setup.pci_id,
                          .revision = device.revision,
                          .pci_class = has_display ? 0x030000u : 0x038000u};
  const std::vector<Bar> bars = BarsOf(device, setup.index);
  const std::string& path = paths.device;
  writer.File(path + "/uevent", {.content = PciUevent(setup, facts, paths.slot)});
  writer.File(path + "/vendor", {.content = absl::StrFormat("0x%04x\n", facts.vendor)});
  writer.File(path + "/device", {.content = absl::StrFormat("0x%04x\n", facts.device)});
  writer.File(path + "/subsystem_vendor", {.content = absl::StrFormat("0x%04x\n", facts.vendor)});
  writer.File(path + "/subsystem_device",
              {.content = absl::StrFormat("0x%04x\n", kSubsystemDevice)});
  writer.File(path + "/revision", {.content = absl::StrFormat("0x%02x\n", facts.revision)});
  writer.File(path + "/class", {.content = absl::StrFormat("0x%06x\n", facts.pci_class)});
  const std::string config = ConfigBytes(facts, bars);
  writer.File(path + "/config", {.content = config, .size = config.size()});
  writer.File(path + "/resource", {.content = ResourceText(bars)});
  writer.Line(path, "boot_vga", setup.index == 0 ? 1 : 0);
  writer.Line(path, "enable", 1);
  writer.Line(path, "irq", 128 + setup.index);
  writer.Line(path, "numa_node", -1);
  writer.Line(path, "local_cpulist", "0");
  writer.Line(path, "local_cpus", "1");
  writer.Line(path, "d3cold_allowed", 1);
  const std::string modalias = PciUevent(setup, facts, paths.slot);
  writer.File(path + "/modalias", {.content = modalias.substr(modalias.find("pci:"))});
  if (device.discrete()) {
    for (const absl::string_view name : {"current_link_speed", "max_link_speed"}) {
      writer.Line(path, name, "16.0 GT/s PCIe");
    }
    for (const absl::string_view name : {"current_link_width", "max_link_width"}) {
      writer.Line(path, name, 16);
    }
  }
  const std::string bus = "/sys/bus/pci";
  const std::string driver = absl::StrCat(bus, "/drivers/", NameOf(setup.driver));
  writer.Link(path + "/subsystem", bus);
  writer.Link(path + "/driver", driver);
  writer.Link(absl::StrCat(bus, "/devices/", paths.slot), path);
  writer.Link(absl::StrCat(driver, "/", paths.slot), path);
}

// -- The platform bus (Apple) --------------------------------------------------------------------

void AddPlatformFiles(const DeviceSetup& setup, const DevicePaths& paths, FileWriter& writer) {
  const DeviceInfo& device = *setup.device;
  const std::string& path = paths.device;
  const std::string address = paths.slot.substr(0, paths.slot.find('.'));
  const std::string chip = absl::StrFormat("apple,agx-t%x", device.chip_id);
  const std::string family = absl::StrCat("apple,agx-", device.platform);
  const std::string modalias = absl::StrCat("of:NgpuT(null)C", chip, "C", family, "\n");
  writer.File(path + "/uevent",
              {.content = absl::StrCat("DRIVER=asahi\nOF_NAME=gpu\nOF_FULLNAME=/soc/gpu@", address,
                                       "\nOF_COMPATIBLE_0=", chip, "\nOF_COMPATIBLE_1=", family,
                                       "\nOF_COMPATIBLE_N=2\nMODALIAS=", modalias)});
  writer.File(path + "/modalias", {.content = modalias});
  const std::string bus = "/sys/bus/platform";
  const std::string driver = bus + "/drivers/asahi";
  writer.Link(path + "/subsystem", bus);
  writer.Link(path + "/driver", driver);
  writer.Link(absl::StrCat(bus, "/devices/", paths.slot), path);
  writer.Link(absl::StrCat(driver, "/", paths.slot), path);
}

// -- DRM -----------------------------------------------------------------------------------------

// The names of a node in directories other than the device's.
std::string SysCharLink(uint32_t minor) {
  return absl::StrCat("/sys/dev/char/", kDrmMajor, ":", minor);
}
std::string DevCharLink(uint32_t minor) {
  return absl::StrCat("/dev/char/", kDrmMajor, ":", minor);
}
std::string ByPathLink(const DevicePaths& paths, absl::string_view kind) {
  const absl::string_view bus = paths.driver == KernelDriver::kAsahi ? "platform" : "pci";
  return absl::StrCat("/dev/dri/by-path/", bus, "-", paths.slot, "-", kind);
}

void AddNode(const DevicePaths& paths, const std::string& directory, const std::string& node,
             uint32_t minor, FileWriter& writer) {
  writer.Device(node, minor);
  writer.Link(DevCharLink(minor), node);
  writer.Line(directory, "dev", absl::StrCat(kDrmMajor, ":", minor));
  writer.File(directory + "/uevent",
              {.content = absl::StrCat("MAJOR=", kDrmMajor, "\nMINOR=", minor, "\nDEVNAME=dri/",
                                       NameAtEnd(node), "\nDEVTYPE=drm_minor\n")});
  writer.Link(directory + "/device", paths.device);
  writer.Link(directory + "/subsystem", "/sys/class/drm");
  writer.Line(directory + "/power", "control", "auto");
  writer.Line(directory + "/power", "runtime_status", "unsupported");
  writer.Link(absl::StrCat("/sys/class/drm/", NameAtEnd(node)), directory);
  writer.Link(SysCharLink(minor), directory);
}

void AddModule(KernelDriver driver, FileWriter& writer) {
  const std::string path = absl::StrCat("/sys/module/", NameOf(driver));
  if (writer.files().List(path).status == PathStatus::kVirtual) return;
  writer.Owned(path);
  writer.Line(path, "initstate", "live");
  const std::string parameters = path + "/parameters";
  if (driver == KernelDriver::kI915) {
    writer.Line(parameters, "enable_hangcheck", "Y");
    writer.Line(parameters, "error_capture", "Y");
    writer.Line(parameters, "reset", 3);
    writer.Line(parameters, "request_timeout_ms", 20000);
  }
  const absl::string_view bus = driver == KernelDriver::kAsahi ? "platform" : "pci";
  const std::string bus_driver = absl::StrCat("/sys/bus/", bus, "/drivers/", NameOf(driver));
  writer.Owned(bus_driver);
  writer.Link(bus_driver + "/module", path);
  if (driver == KernelDriver::kI915) {
    writer.Owned("/proc/sys/dev/i915");
    writer.File("/proc/sys/dev/i915/perf_stream_paranoid", {.content = "1\n", .size = 0});
    writer.File("/proc/sys/dev/i915/oa_max_sample_rate", {.content = "100000\n", .size = 0});
  } else if (driver == KernelDriver::kXe) {
    writer.Owned("/proc/sys/dev/xe");
    writer.File("/proc/sys/dev/xe/observation_paranoid", {.content = "1\n", .size = 0});
  }
}

// Held while the files of a devcoredump come or go together.
Mutex& DumpMutex() {
  static Mutex* const mutex = new Mutex;
  return *mutex;
}

std::string DumpPath(const DevicePaths& paths) {
  return absl::StrCat("/sys/devices/virtual/devcoredump/devcd", paths.index + 1);
}
std::string DumpClassLink(const DevicePaths& paths) {
  return absl::StrCat("/sys/class/devcoredump/", NameAtEnd(DumpPath(paths)));
}

}  // namespace

// -- For the drivers' files ----------------------------------------------------------------------

void FileWriter::Link(absl::string_view path, absl::string_view target) {
  const std::vector<absl::string_view> from =
      absl::StrSplit(DirectoryOf(path), '/', absl::SkipEmpty());
  const std::vector<absl::string_view> to = absl::StrSplit(target, '/', absl::SkipEmpty());
  // As the kernel writes them, they end with the target's name, also if that is a directory above:
  // programs read the name.
  size_t same = 0;
  while (same < from.size() && same + 1 < to.size() && from[same] == to[same]) ++same;
  std::string relative;
  for (size_t i = same; i < from.size(); ++i) absl::StrAppend(&relative, "../");
  for (size_t i = same; i < to.size(); ++i) {
    absl::StrAppend(&relative, to[i], i + 1 < to.size() ? "/" : "");
  }
  if (absl::EndsWith(relative, "/")) relative.pop_back();
  if (status_.ok()) status_ = files_.AddLink(path, relative);
}

void AddFrequencyLimits(const FrequencyLimits& limits, FileWriter& writer) {
  VirtualFiles& files = writer.files();
  const auto taker = [&files, limits](const std::string& own, bool is_lowest) {
    return [&files, limits, own, is_lowest](absl::string_view text) -> int {
      unsigned mhz = 0, other = 0;
      const std::string& pair = is_lowest ? limits.highest : limits.lowest;
      if (!absl::SimpleAtoi(text, &mhz) || mhz < limits.low || mhz > limits.high) return EINVAL;
      if (!absl::SimpleAtoi(files.Read(pair).text, &other)) return EIO;
      if (is_lowest ? mhz > other : mhz < other) return EINVAL;
      return files.SetContent(own, absl::StrCat(mhz, "\n")).ok() ? 0 : ENODEV;
    };
  };
  writer.File(limits.lowest, {.content = absl::StrCat(limits.low, "\n"),
                              .write = taker(limits.lowest, true),
                              .mode = 0644});
  writer.File(limits.highest, {.content = absl::StrCat(limits.high, "\n"),
                               .write = taker(limits.highest, false),
                               .mode = 0644});
}

void AddControl(const DeviceSetup& setup, absl::string_view path, absl::string_view content,
                FileWriter& writer) {
  writer.File(path, {.content = std::string(content),
                     .write =
                         [control = setup.control,
                          name = std::string(NameAtEnd(path))](absl::string_view text) {
                           return control == nullptr ? 0 : control(name, text);
                         },
                     .mode = 0644,
                     .size = 0});
}

std::string IdleMilliseconds() {
  using std::chrono::steady_clock;
  static const steady_clock::time_point start = steady_clock::now();
  const auto passed =
      std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - start);
  return absl::StrCat(passed.count(), "\n");
}

// -- Public --------------------------------------------------------------------------------------

absl::Status AddCommonFiles(VirtualFiles& files) {
  FileWriter writer(files);
  const std::string drm_nodes = absl::StrCat(kDrmMajor, ":*");
  for (const absl::string_view path :
       {"/dev/dri", "/dev/dri/by-path", "/sys/class/drm", "/sys/class/devcoredump",
        "/sys/devices/virtual/devcoredump", "/sys/bus/pci/devices", "/sys/kernel/debug/dri"}) {
    writer.Owned(path);
  }
  for (const absl::string_view path : {"/dev/char", "/sys/dev/char"}) {
    writer.Directory(path, {.hidden = {drm_nodes}});
  }
  // Modules and settings of real devices' drivers.
  writer.Directory("/sys/module", {.hidden = {"i915", "xe", "asahi"}});
  writer.Directory("/proc/sys/dev", {.hidden = {"i915", "xe"}});
  writer.Line("/sys/class/drm", "version", "drm 1.1.0 20060810");
  return writer.status();
}

absl::StatusOr<DevicePaths> AddDeviceFiles(const DeviceSetup& given, VirtualFiles& files) {
  DeviceSetup setup = given;
  if (setup.device == nullptr) return absl::InvalidArgumentError("a device must be given");
  if (!setup.device->has(setup.driver)) {
    return absl::InvalidArgumentError(absl::StrCat("the kernel driver ", NameOf(setup.driver),
                                                   " does not drive ", setup.device->name));
  }
  if (setup.index >= kMaxDevices) {
    return absl::InvalidArgumentError(
        absl::StrCat("device number ", setup.index, ": there can be ", kMaxDevices, " devices"));
  }
  if (setup.pci_id == 0) setup.pci_id = setup.device->pci_id;
  const DevicePaths paths = PathsOf(setup, files);
  if (files.Lookup(paths.card_node, false).status == PathStatus::kVirtual) {
    return absl::AlreadyExistsError(absl::StrCat(paths.card_node, " exists already"));
  }

  FileWriter writer(files);
  writer.Owned(paths.device);
  AddModule(setup.driver, writer);
  if (setup.device->apple != nullptr) {
    AddPlatformFiles(setup, paths, writer);
  } else {
    AddPciFiles(setup, paths, writer);
  }
  writer.Line(paths.device + "/power", "control", "auto");
  writer.Line(paths.device + "/power", "runtime_status", "active");
  const uint32_t render_minor = kFirstRenderMinor + setup.index;
  writer.Owned(paths.card);
  writer.Owned(paths.render);
  AddNode(paths, paths.card, paths.card_node, setup.index, writer);
  AddNode(paths, paths.render, paths.render_node, render_minor, writer);
  writer.Link(ByPathLink(paths, "card"), paths.card_node);
  writer.Link(ByPathLink(paths, "render"), paths.render_node);

  writer.File(paths.debugfs + "/name",
              {.content = absl::StrCat(NameOf(setup.driver), " dev=", paths.slot,
                                       " unique=", paths.slot, "\n"),
               .size = 0});
  writer.Link(absl::StrCat("/sys/kernel/debug/dri/", render_minor), paths.debugfs);
  writer.Link(absl::StrCat("/sys/kernel/debug/dri/", paths.slot), paths.debugfs);
  if (setup.driver == KernelDriver::kI915) AddI915Files(setup, paths, writer);
  if (setup.driver == KernelDriver::kXe) AddXeFiles(setup, paths, writer);
  if (!writer.status().ok()) return writer.status();
  return paths;
}

absl::Status RemoveDeviceFiles(const DevicePaths& paths, VirtualFiles& files) {
  const absl::Status cleared = ClearHang(paths, files);
  if (!cleared.ok()) return cleared;
  const bool is_platform = paths.driver == KernelDriver::kAsahi;
  const std::string bus = is_platform ? "/sys/bus/platform" : "/sys/bus/pci";
  for (const std::string& path :
       {paths.card_node, paths.render_node, ByPathLink(paths, "card"), ByPathLink(paths, "render"),
        DevCharLink(paths.index), DevCharLink(kFirstRenderMinor + paths.index),
        SysCharLink(paths.index), SysCharLink(kFirstRenderMinor + paths.index),
        absl::StrCat("/sys/class/drm/", NameAtEnd(paths.card)),
        absl::StrCat("/sys/class/drm/", NameAtEnd(paths.render)),
        absl::StrCat(bus, "/devices/", paths.slot),
        absl::StrCat(bus, "/drivers/", NameOf(paths.driver), "/", paths.slot),
        absl::StrCat("/sys/kernel/debug/dri/", kFirstRenderMinor + paths.index),
        absl::StrCat("/sys/kernel/debug/dri/", paths.slot), paths.debugfs, paths.device}) {
    const absl::Status removed = files.Remove(path);
    if (!removed.ok()) return removed;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ReportHang(const DevicePaths& paths, std::string record, VirtualFiles& files) {
  if (paths.driver == KernelDriver::kI915) {
    return files.ExchangeContent(paths.card + "/error", kNoErrorState, std::move(record));
  }
  MutexLock lock(DumpMutex());
  const std::string dump = DumpPath(paths);
  const absl::Status added =
      files.AddFile(dump + "/data", {.content = std::move(record),
                                     .write =
                                         [&files, paths](absl::string_view) {
                                           ClearHang(paths, files).IgnoreError();
                                           return 0;
                                         },
                                     .mode = 0644,
                                     .size = 0});
  if (absl::IsAlreadyExists(added)) return false;
  if (!added.ok()) return added;
  FileWriter writer(files);
  writer.Link(dump + "/failing_device", paths.device);
  writer.Link(dump + "/subsystem", "/sys/class/devcoredump");
  writer.Link(DumpClassLink(paths), dump);
  writer.Link(paths.device + "/devcoredump", dump);
  if (!writer.status().ok()) return writer.status();
  return true;
}

absl::Status ClearHang(const DevicePaths& paths, VirtualFiles& files) {
  if (paths.driver == KernelDriver::kI915) {
    return files.SetContent(paths.card + "/error", std::string(kNoErrorState));
  }
  MutexLock lock(DumpMutex());
  for (const std::string& path :
       {paths.device + "/devcoredump", DumpClassLink(paths), DumpPath(paths)}) {
    const absl::Status removed = files.Remove(path);
    if (!removed.ok() && !absl::IsNotFound(removed)) return removed;
  }
  return absl::OkStatus();
}

}  // namespace packsmith::capture
