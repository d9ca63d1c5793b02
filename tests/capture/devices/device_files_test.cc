// The files of each device: libdrm's sequence, done by hand, what else drivers and tools read, and
// hangs that are reported and cleared.
#include "runtime/capture/devices/device_files.h"

#include <atomic>
#include <cerrno>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/devices/virtual_files.h"

namespace packsmith::capture {
namespace {

// What drmGetDevice2() learns of a node.
struct Recognised {
  std::string bus;   // "pci", "platform"
  std::string slot;  // PCI_SLOT_NAME or OF_FULLNAME
  std::string compatible;
  uint32_t vendor = 0, device = 0, subsystem_vendor = 0, subsystem_device = 0, revision = 0;
};

std::string LineOf(absl::string_view text, absl::string_view key) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, absl::StrCat(key, "="))) return std::string(line);
  }
  return "";
}

uint32_t HexOf(const FileText& file) {
  uint32_t value = 0;
  EXPECT_EQ(file.status, PathStatus::kVirtual);
  EXPECT_TRUE(absl::StartsWith(file.text, "0x")) << file.text;
  EXPECT_TRUE(absl::SimpleHexAtoi(absl::StripSuffix(file.text, "\n"), &value)) << file.text;
  return value;
}

// libdrm's steps 2, 3, 6, 7 and 8 for the node 226:minor.
Recognised Recognise(const VirtualFiles& files, uint32_t minor) {
  Recognised found;
  const std::string node = absl::StrCat("/sys/dev/char/226:", minor);
  EXPECT_EQ(files.Lookup(node + "/device/drm", true).facts.kind, FileKind::kDirectory) << minor;
  const FileText subsystem = files.ReadLink(node + "/device/subsystem");
  EXPECT_EQ(subsystem.status, PathStatus::kVirtual) << minor;
  found.bus = subsystem.text.substr(subsystem.text.rfind('/') + 1);
  const FileAnswer real = files.Lookup(node + "/device", true);
  EXPECT_EQ(real.status, PathStatus::kVirtual) << minor;
  const std::string path(real.real_path());
  if (found.bus == "pci") {
    found.slot = LineOf(files.Read(path + "/uevent").text, "PCI_SLOT_NAME");
    found.revision = HexOf(files.Read(path + "/revision"));
    found.vendor = HexOf(files.Read(path + "/vendor"));
    found.device = HexOf(files.Read(path + "/device"));
    found.subsystem_vendor = HexOf(files.Read(path + "/subsystem_vendor"));
    found.subsystem_device = HexOf(files.Read(path + "/subsystem_device"));
  } else {
    const std::string uevent = files.Read(node + "/device/uevent").text;
    found.slot = LineOf(uevent, "OF_FULLNAME");
    found.compatible = LineOf(uevent, "OF_COMPATIBLE_0");
    EXPECT_EQ(LineOf(uevent, "OF_COMPATIBLE_N"), "2");
  }
  return found;
}

// The minors of /dev/dri that libdrm keeps: steps 4 and 5.
std::set<uint32_t> MinorsOf(const VirtualFiles& files) {
  std::set<uint32_t> minors;
  for (const DirectoryEntry& entry : files.List("/dev/dri").entries) {
    if (!absl::StartsWith(entry.name, "card") && !absl::StartsWith(entry.name, "renderD")) continue;
    const FileAnswer node = files.Lookup(absl::StrCat("/dev/dri/", entry.name), true);
    EXPECT_EQ(node.facts.mode & 0170000, 0020000u) << entry.name;
    EXPECT_EQ(node.facts.major, kDrmMajor);
    const uint32_t minor = node.facts.minor;
    EXPECT_EQ(entry.name,
              minor < 64 ? absl::StrCat("card", minor) : absl::StrCat("renderD", minor));
    minors.insert(minor);
  }
  return minors;
}

const DeviceInfo* Find(absl::string_view name) {
  const absl::StatusOr<FoundDevice> found = FindDevice(name);
  EXPECT_TRUE(found.ok()) << found.status();
  return found.ok() ? found->device : nullptr;
}

class DeviceFilesTest : public testing::Test {
 protected:
  DeviceFilesTest() { EXPECT_TRUE(AddCommonFiles(files_).ok()); }

  DevicePaths Add(absl::string_view name, unsigned index, DeviceSetup setup = {}) {
    setup.device = Find(name);
    setup.driver = setup.device->default_driver;
    setup.index = index;
    const absl::StatusOr<DevicePaths> paths = AddDeviceFiles(setup, files_);
    EXPECT_TRUE(paths.ok()) << paths.status();
    return paths.value_or(DevicePaths{});
  }
  std::string Read(absl::string_view path) {
    const FileText text = files_.Read(path);
    EXPECT_EQ(text.status, PathStatus::kVirtual) << path;
    return text.text;
  }
  int Write(absl::string_view path, absl::string_view data) {
    int error = -1;
    EXPECT_EQ(files_.Write(path, data, &error), PathStatus::kVirtual) << path;
    return error;
  }

  VirtualFiles files_;
};

TEST(DeviceFiles, LibdrmRecognisesEachDeviceWithEachDriver) {
  for (const DeviceInfo& device : AllDevices()) {
    for (const KernelDriver driver :
         {KernelDriver::kI915, KernelDriver::kXe, KernelDriver::kAsahi}) {
      if (!device.has(driver)) continue;
      VirtualFiles files;
      ASSERT_TRUE(AddCommonFiles(files).ok());
      const absl::StatusOr<DevicePaths> paths =
          AddDeviceFiles({.device = &device, .driver = driver}, files);
      ASSERT_TRUE(paths.ok()) << device.name << ": " << paths.status();
      EXPECT_EQ(MinorsOf(files), (std::set<uint32_t>{0, 128})) << device.name;
      const Recognised card = Recognise(files, 0), render = Recognise(files, 128);
      // Nodes with the same bus information are folded into one device.
      EXPECT_EQ(card.slot, render.slot) << device.name;
      EXPECT_FALSE(card.slot.empty()) << device.name;
      if (device.apple != nullptr) {
        EXPECT_EQ(card.bus, "platform") << device.name;
        EXPECT_EQ(card.compatible, absl::StrFormat("apple,agx-t%x", device.chip_id));
      } else {
        EXPECT_EQ(card.bus, "pci") << device.name;
        EXPECT_EQ(render.vendor, 0x8086u) << device.name;
        EXPECT_EQ(render.device, device.pci_id) << device.name;
        EXPECT_EQ(render.revision, device.revision) << device.name;
        EXPECT_EQ(render.subsystem_vendor, 0x8086u) << device.name;
        EXPECT_EQ(card.slot, device.discrete() ? "0000:03:00.0" : "0000:00:02.0") << device.name;
      }
      const std::string uevent = files.Read("/sys/dev/char/226:128/device/uevent").text;
      EXPECT_EQ(LineOf(uevent, "DRIVER"), NameOf(driver)) << device.name;
      EXPECT_EQ(files.ReadLink(paths->device + "/driver")
                    .text.substr(files.ReadLink(paths->device + "/driver").text.rfind('/') + 1),
                NameOf(driver))
          << device.name;
    }
  }
}

TEST_F(DeviceFilesTest, NodesAreNamedAsLibdrmAsksForThem) {
  Add("tgl", 3);
  const std::string render = "/sys/dev/char/226:131";
  EXPECT_EQ(LineOf(Read(render + "/uevent"), "DEVNAME"), "dri/renderD131");
  EXPECT_EQ(LineOf(Read(render + "/uevent"), "MINOR"), "131");
  EXPECT_EQ(Read(render + "/dev"), "226:131\n");
  std::vector<std::string> names;
  for (const DirectoryEntry& entry : files_.List(render + "/device/drm").entries) {
    names.push_back(entry.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"card3", "renderD131"}));
  EXPECT_EQ(files_.Lookup("/sys/class/drm/card3/device/vendor", true).status, PathStatus::kVirtual);
  EXPECT_EQ(files_.Lookup("/dev/char/226:131", true).real_path(), "/dev/dri/renderD131");
  EXPECT_EQ(files_.Lookup("/dev/dri/by-path/pci-0000:00:02.0-render", true).real_path(),
            "/dev/dri/renderD131");
  EXPECT_EQ(files_.Lookup("/sys/class/drm/renderD131", true).real_path(),
            "/sys/devices/pci0000:00/0000:00:02.0/drm/renderD131");
  EXPECT_EQ(Read("/sys/kernel/debug/dri/3/name"), "i915 dev=0000:00:02.0 unique=0000:00:02.0\n");
  EXPECT_EQ(files_.Lookup("/sys/kernel/debug/dri/131/name", true).real_path(),
            "/sys/kernel/debug/dri/3/name");
}

TEST_F(DeviceFilesTest, LinksEndWithTheNameOfWhatTheyLeadTo) {
  Add("skl", 0);
  for (const auto& [link, target] : std::vector<std::pair<std::string, std::string>>{
           {"/sys/dev/char/226:128/device", "../../../0000:00:02.0"},
           {"/sys/class/drm/card0/device", "../../../0000:00:02.0"},
           {"/sys/class/drm/card0/device/subsystem", "../../../bus/pci"},
           {"/sys/class/drm/card0/device/driver", "../../../bus/pci/drivers/i915"},
           {"/sys/class/drm/card0", "../../devices/pci0000:00/0000:00:02.0/drm/card0"}}) {
    EXPECT_EQ(files_.ReadLink(link).text, target) << link;
  }
}

TEST_F(DeviceFilesTest, TheConfigurationSpaceSaysTheSameAsTheAttributes) {
  const DevicePaths paths = Add("dg2", 0, {.pci_id = 0x56a1});
  const std::string config = Read(paths.device + "/config");
  ASSERT_GE(config.size(), 64u);
  const auto at = [&](size_t i) {
    return uint32_t{static_cast<uint8_t>(config[i])} | uint32_t{static_cast<uint8_t>(config[i + 1])}
                                                           << 8;
  };
  EXPECT_EQ(at(0), HexOf(files_.Read(paths.device + "/vendor")));
  EXPECT_EQ(at(2), 0x56a1u);
  EXPECT_EQ(at(2), HexOf(files_.Read(paths.device + "/device")));
  EXPECT_EQ(at(8) & 0xff, HexOf(files_.Read(paths.device + "/revision")));
  EXPECT_EQ(at(44), HexOf(files_.Read(paths.device + "/subsystem_vendor")));
  EXPECT_EQ(at(46), HexOf(files_.Read(paths.device + "/subsystem_device")));
  EXPECT_EQ(LineOf(Read(paths.device + "/uevent"), "PCI_ID"), "8086:56A1");
  EXPECT_EQ(LineOf(Read(paths.device + "/uevent"), "PCI_CLASS"), "30000");
  // The card's memory can be mapped as a whole.
  const std::vector<std::string> lines = absl::StrSplit(Read(paths.device + "/resource"), '\n');
  EXPECT_EQ(lines[2], "0x0000400000000000 0x00004003ffffffff 0x000000000014220c");
  EXPECT_EQ(files_.Lookup(paths.device + "/config", true).facts.size, config.size());
}

TEST_F(DeviceFilesTest, SeveralDevicesAreToldApart) {
  const std::vector<std::string> kNames = {"tgl", "dg2", "skl", "bmg", "m1", "dg1", "m2"};
  std::set<std::string> slots, inodes;
  for (unsigned i = 0; i < kNames.size(); ++i) {
    const DevicePaths paths = Add(kNames[i], i);
    EXPECT_TRUE(slots.insert(paths.slot).second) << paths.slot;
  }
  EXPECT_EQ(MinorsOf(files_).size(), 2 * kNames.size());
  for (unsigned i = 0; i < kNames.size(); ++i) {
    const Recognised render = Recognise(files_, 128 + i);
    EXPECT_EQ(render.device, Find(kNames[i])->pci_id) << kNames[i];
    EXPECT_EQ(render.slot, Recognise(files_, i).slot);
  }
  EXPECT_EQ(files_.List("/sys/bus/pci/devices").entries.size(), 5u);
  EXPECT_EQ(files_.List("/sys/bus/platform/devices").entries.size(), 2u);
  EXPECT_EQ(files_.List("/sys/bus/pci/drivers/i915").entries.size(), 4u + 1u) << "and the module";
  EXPECT_EQ(files_.Lookup("/dev/dri/by-path/platform-206400000.gpu-render", true).real_path(),
            "/dev/dri/renderD132");
}

TEST_F(DeviceFilesTest, AsManyDevicesAsMinorsFit) {
  for (unsigned i = 0; i < kMaxDevices; ++i) Add(i % 2 == 0 ? "dg2" : "skl", i);
  EXPECT_EQ(MinorsOf(files_).size(), 2 * kMaxDevices);
  std::set<std::string> slots;
  for (unsigned i = 0; i < kMaxDevices; ++i) slots.insert(Recognise(files_, i).slot);
  EXPECT_EQ(slots.size(), kMaxDevices);
  EXPECT_EQ(AddDeviceFiles({.device = Find("skl"), .index = kMaxDevices}, files_).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(DeviceFilesTest, WhatCannotBeIsRefused) {
  Add("tgl", 0);
  EXPECT_EQ(AddDeviceFiles({.device = Find("skl"), .index = 0}, files_).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(AddDeviceFiles({.device = Find("lnl"), .index = 1}, files_).status().code(),
            absl::StatusCode::kInvalidArgument)
      << "i915 does not drive Lunar Lake";
  EXPECT_EQ(AddDeviceFiles({}, files_).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MinorsOf(files_).size(), 2u);
}

TEST_F(DeviceFilesTest, RealDrmDevicesAreHidden) {
  Add("tgl", 0);
  for (const absl::string_view path :
       {"/dev/dri/renderD129", "/dev/dri/by-path/pci-0000:01:00.0-card", "/sys/class/drm/card1",
        "/sys/dev/char/226:129", "/dev/char/226:1", "/sys/bus/pci/devices/0000:01:00.0",
        "/sys/kernel/debug/dri/1", "/proc/sys/dev/xe/observation_paranoid", "/sys/module/xe",
        "/sys/devices/pci0000:00/0000:00:02.0/hwmon"}) {
    EXPECT_EQ(files_.Lookup(path, true).status, PathStatus::kMissing) << path;
  }
  for (const absl::string_view path :
       {"/dev/null", "/sys/dev/char/1:3", "/sys/class/net", "/sys/module/xen_blkfront",
        "/proc/sys/dev/cdrom", "/sys/devices/system/cpu", "/proc/self"}) {
    EXPECT_EQ(files_.Lookup(path, true).status, PathStatus::kReal) << path;
  }
}

TEST_F(DeviceFilesTest, ThePerformanceInterfaceIsThatOfTheDriver) {
  Add("lnl", 0);
  EXPECT_EQ(Read("/proc/sys/dev/xe/observation_paranoid"), "1\n");
  EXPECT_EQ(files_.Lookup("/proc/sys/dev/i915/perf_stream_paranoid", true).status,
            PathStatus::kMissing);
  const DevicePaths tgl = Add("tgl", 1);
  EXPECT_EQ(Read("/proc/sys/dev/i915/perf_stream_paranoid"), "1\n");
  EXPECT_EQ(files_.List(tgl.card + "/metrics").entries.size(), 0u);
}

TEST_F(DeviceFilesTest, FrequenciesAreThoseOfTheTableAndLimitsAreChecked) {
  const DevicePaths paths = Add("skl", 0);
  const DeviceInfo& skl = *Find("skl");
  EXPECT_EQ(Read(paths.card + "/gt_max_freq_mhz"), absl::StrCat(skl.max_mhz, "\n"));
  EXPECT_EQ(Read(paths.card + "/gt_min_freq_mhz"), absl::StrCat(skl.min_mhz, "\n"));
  EXPECT_EQ(Read(paths.card + "/gt/gt0/rps_RP0_freq_mhz"), absl::StrCat(skl.max_mhz, "\n"));
  const std::string low = paths.card + "/gt_min_freq_mhz", high = paths.card + "/gt_max_freq_mhz";
  EXPECT_EQ(Write(high, "700\n"), 0);
  EXPECT_EQ(Read(high), "700\n");
  EXPECT_EQ(Write(low, "701"), EINVAL) << "above the highest";
  EXPECT_EQ(Write(low, "700"), 0);
  EXPECT_EQ(Write(high, "699"), EINVAL) << "below the lowest";
  for (const absl::string_view text : {"", "x", "-1", "1", "99999", "99999999999999999999"}) {
    EXPECT_EQ(Write(high, text), EINVAL) << text;
  }
  EXPECT_EQ(Read(high), "700\n");
  int error = 0;
  EXPECT_EQ(files_.Write(paths.card + "/gt_RP0_freq_mhz", "500", &error), PathStatus::kDenied);
}

TEST_F(DeviceFilesTest, EnginesAndGtsAreListed) {
  const DevicePaths tgl = Add("tgl", 0);
  EXPECT_EQ(files_.List(tgl.card + "/engine").entries.size(), Find("tgl")->engines.size());
  EXPECT_EQ(Read(tgl.card + "/engine/vcs1/instance"), "1\n");
  EXPECT_EQ(Read(tgl.card + "/engine/vcs0/capabilities"), "hevc sfc\n");
  EXPECT_EQ(Read(tgl.card + "/engine/rcs0/class"), "0\n");
  const DevicePaths bmg = Add("bmg", 1);
  EXPECT_EQ(files_.List(bmg.device + "/tile0/gt1/engines").entries.size(), 2u);
  EXPECT_EQ(Read(bmg.device + "/tile0/gt0/freq0/max_freq"),
            absl::StrCat(Find("bmg")->max_mhz, "\n"));
  EXPECT_EQ(Read(bmg.device + "/tile0/physical_vram_size_bytes"),
            absl::StrCat(Find("bmg")->vram_bytes, "\n"));
  // Gfx4 cannot change its frequency.
  const DevicePaths brw = Add("brw", 2);
  EXPECT_EQ(files_.Lookup(brw.card + "/gt_max_freq_mhz", true).status, PathStatus::kMissing);
}

TEST_F(DeviceFilesTest, ControlsAreHandedOn) {
  std::string seen;
  const DevicePaths paths =
      Add("skl", 0, {.control = [&](absl::string_view name, absl::string_view text) {
            seen = absl::StrCat(name, "=", text);
            return name == "i915_wedged" ? 0 : EBUSY;
          }});
  EXPECT_EQ(Write(paths.debugfs + "/i915_wedged", "-1"), 0);
  EXPECT_EQ(seen, "i915_wedged=-1");
  EXPECT_EQ(Write(paths.debugfs + "/i915_gem_drop_caches", "1"), EBUSY);
  const DevicePaths other = Add("tgl", 1);
  EXPECT_EQ(Write(other.debugfs + "/i915_wedged", "1"), 0) << "nobody listens";
}

TEST_F(DeviceFilesTest, AHangOfI915IsInTheErrorStateUntilItIsCleared) {
  const DevicePaths paths = Add("skl", 0);
  const std::string error = "/sys/class/drm/card0/error";
  EXPECT_EQ(Read(error), kNoErrorState);
  absl::StatusOr<bool> reported = ReportHang(paths, "GPU HANG: 1", files_);
  ASSERT_TRUE(reported.ok() && *reported);
  reported = ReportHang(paths, "GPU HANG: 2", files_);
  ASSERT_TRUE(reported.ok());
  EXPECT_FALSE(*reported) << "the first one stays";
  EXPECT_EQ(Read(error), "GPU HANG: 1");
  EXPECT_EQ(Read("/sys/kernel/debug/dri/0/i915_error_state"), "GPU HANG: 1");
  EXPECT_EQ(Write(error, "1"), 0);
  EXPECT_EQ(Read(error), kNoErrorState);
  ASSERT_TRUE(*ReportHang(paths, "GPU HANG: 3", files_));
  EXPECT_EQ(Write("/sys/kernel/debug/dri/0/i915_error_state", "1"), 0);
  EXPECT_EQ(Read(error), kNoErrorState);
}

TEST_F(DeviceFilesTest, AHangOfXeIsADevcoredumpUntilItIsWrittenTo) {
  Add("tgl", 0);
  const DevicePaths paths = Add("lnl", 1);
  EXPECT_EQ(files_.List("/sys/class/devcoredump").entries.size(), 0u);
  absl::StatusOr<bool> reported = ReportHang(paths, "**** Xe Device Coredump ****", files_);
  ASSERT_TRUE(reported.ok()) << reported.status();
  EXPECT_TRUE(*reported);
  ASSERT_EQ(files_.List("/sys/class/devcoredump").entries.size(), 1u);
  const std::string data = absl::StrCat(
      "/sys/class/devcoredump/", files_.List("/sys/class/devcoredump").entries[0].name, "/data");
  EXPECT_EQ(Read(data), "**** Xe Device Coredump ****");
  EXPECT_EQ(Read("/sys/class/drm/card1/device/devcoredump/data"), "**** Xe Device Coredump ****");
  EXPECT_EQ(files_.Lookup(data.substr(0, data.rfind('/')) + "/failing_device", true).real_path(),
            paths.device);
  EXPECT_FALSE(*ReportHang(paths, "second", files_));
  EXPECT_EQ(Write(data, "1"), 0);
  EXPECT_EQ(files_.Lookup(data, true).status, PathStatus::kMissing);
  EXPECT_EQ(files_.Lookup(paths.device + "/devcoredump", false).status, PathStatus::kMissing);
  EXPECT_TRUE(*ReportHang(paths, "third", files_));
  EXPECT_EQ(Read(data), "third");
}

TEST_F(DeviceFilesTest, OneOfManyHangsIsReported) {
  for (const absl::string_view name : {"skl", "lnl"}) {
    const DevicePaths paths = Add(name, name == "skl" ? 0 : 1);
    std::atomic<int> taken = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const absl::StatusOr<bool> reported = ReportHang(paths, "hang", files_);
        EXPECT_TRUE(reported.ok()) << reported.status();
        if (reported.value_or(false)) ++taken;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(taken, 1) << name;
    EXPECT_TRUE(ClearHang(paths, files_).ok());
    EXPECT_TRUE(ClearHang(paths, files_).ok()) << "there is none";
  }
}

TEST_F(DeviceFilesTest, ADeviceThatIsRemovedLeavesNothing) {
  const DevicePaths tgl = Add("tgl", 0);
  for (const absl::string_view name : {"dg2", "lnl", "m1"}) {
    const DevicePaths paths = Add(name, 1);
    ASSERT_TRUE(ReportHang(paths, "hang", files_).ok());
    const absl::Status removed = RemoveDeviceFiles(paths, files_);
    ASSERT_TRUE(removed.ok()) << removed;
    EXPECT_EQ(MinorsOf(files_), (std::set<uint32_t>{0, 128}));
    EXPECT_EQ(files_.List("/sys/bus/pci/devices").entries.size(), 1u);
    EXPECT_EQ(files_.List("/sys/class/devcoredump").entries.size(), 0u);
    EXPECT_EQ(files_.List("/sys/class/drm").entries.size(), 3u) << "two nodes, the version";
    EXPECT_EQ(files_.Lookup(paths.device + "/uevent", true).status, PathStatus::kReal);
    EXPECT_EQ(files_.Serialise().find(paths.slot), std::string::npos) << name;
  }
  EXPECT_FALSE(tgl.slot.empty());
}

TEST_F(DeviceFilesTest, ACopyRecognisesTheDevices) {
  Add("tgl", 0);
  Add("m2", 1);
  const absl::StatusOr<std::unique_ptr<VirtualFiles>> copy =
      VirtualFiles::Parse(files_.Serialise());
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(MinorsOf(**copy), (std::set<uint32_t>{0, 1, 128, 129}));
  EXPECT_EQ(Recognise(**copy, 128).device, 0x9a49u);
  EXPECT_EQ(Recognise(**copy, 129).compatible, "apple,agx-t8112");
}

}  // namespace
}  // namespace packsmith::capture
