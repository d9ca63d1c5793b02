// The files that show a device to programs: what libdrm, Mesa, NEO, the media drivers, IGT's tools
// and the like read of /dev/dri, /sys, debugfs and /proc.
//
//   VirtualFiles files;
//   absl::Status status = AddCommonFiles(files);
//   absl::StatusOr<DevicePaths> paths = AddDeviceFiles(
//       {.device = found.device, .pci_id = found.pci_id, .driver = KernelDriver::kI915}, files);
//   …
//   status = ReportHang(*paths, text, files);  // as the kernel does after a hang
//
// Permissions are those that let every client of the mock read what on a real machine only root
// may: the machine of a mock has nothing to hide.

#ifndef PACKSMITH_RUNTIME_CAPTURE_DEVICES_DEVICE_FILES_H_
#define PACKSMITH_RUNTIME_CAPTURE_DEVICES_DEVICE_FILES_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/devices/virtual_files.h"

namespace packsmith::capture {

inline constexpr uint32_t kDrmMajor = 226;
inline constexpr uint32_t kFirstRenderMinor = 128;
// The DRM core gives out 64 minors of each kind.
inline constexpr unsigned kMaxDevices = 64;

struct DeviceSetup {
  const DeviceInfo* device = nullptr;
  uint16_t pci_id = 0;  // 0: the row's default
  KernelDriver driver = KernelDriver::kI915;
  // The device's number, below kMaxDevices: the primary node is card0 for 0, with the minor 0, the
  // render node renderD128 with the minor 128.
  unsigned index = 0;
  // Called with the name and the new text of a control in debugfs that acts when it is written:
  // "i915_wedged", "i915_gem_drop_caches", "forcereset". Returns 0 or an errno. Not set: nothing
  // happens.
  std::function<int(absl::string_view name, absl::string_view text)> control = nullptr;
};

// Where the files of a device are.
struct DevicePaths {
  KernelDriver driver = KernelDriver::kI915;
  unsigned index = 0;
  std::string slot;         // "0000:00:02.0", or the platform device's name
  std::string device;       // "/sys/devices/pci0000:00/0000:00:02.0"
  std::string card;         // "/sys/devices/…/drm/card0"
  std::string render;       // "/sys/devices/…/drm/renderD128"
  std::string debugfs;      // "/sys/kernel/debug/dri/0"
  std::string card_node;    // "/dev/dri/card0"
  std::string render_node;  // "/dev/dri/renderD128"
};

// The directories that devices share. The tree then hides all real DRM devices. Once for a tree,
// before its devices.
absl::Status AddCommonFiles(VirtualFiles& files);

// InvalidArgument: the device has no such driver, or the index is too high; AlreadyExists: the
// index is in use. Integrated devices are at 0000:00:02.0, the second one in the next PCI domain;
// discrete devices are below bridges, the first at 0000:03:00.0.
absl::StatusOr<DevicePaths> AddDeviceFiles(const DeviceSetup& setup, VirtualFiles& files);

// Takes the device's files away.
absl::Status RemoveDeviceFiles(const DevicePaths& paths, VirtualFiles& files);

// What is read where i915 has no error state.
inline constexpr absl::string_view kNoErrorState = "No error state collected\n";

// A hang's record becomes readable: of i915 the error state, of the other drivers a devcoredump.
// Writing to it takes it away. As in the kernel, the first one stays until then: returns whether
// this one has been taken.
absl::StatusOr<bool> ReportHang(const DevicePaths& paths, std::string record, VirtualFiles& files);
// Takes the record away; nothing happens if there is none.
absl::Status ClearHang(const DevicePaths& paths, VirtualFiles& files);

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DEVICES_DEVICE_FILES_H_
