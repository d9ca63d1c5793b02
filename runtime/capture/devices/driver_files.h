// What each kernel driver adds to the files of its devices. For device_files.cc.

#ifndef PACKSMITH_RUNTIME_CAPTURE_DEVICES_DRIVER_FILES_H_
#define PACKSMITH_RUNTIME_CAPTURE_DEVICES_DRIVER_FILES_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "runtime/capture/devices/device_files.h"
#include "runtime/capture/devices/virtual_files.h"

namespace packsmith::capture {

// Adds files to a tree until one cannot be added.
class FileWriter {
 public:
  explicit FileWriter(VirtualFiles& files) : files_(files) {}

  void Directory(absl::string_view path, DirectoryOptions options = {}) {
    if (status_.ok()) status_ = files_.AddDirectory(path, std::move(options));
  }
  void Owned(absl::string_view path) { Directory(path, {.kind = DirectoryKind::kOwned}); }
  void File(absl::string_view path, FileOptions options) {
    if (status_.ok()) status_ = files_.AddFile(path, std::move(options));
  }
  // An attribute in `directory`: one line.
  template <class T>
  void Line(absl::string_view directory, absl::string_view name, const T& value) {
    File(absl::StrCat(directory, "/", name), {.content = absl::StrCat(value, "\n")});
  }
  void Device(absl::string_view path, uint32_t minor) {
    if (status_.ok()) status_ = files_.AddDevice(path, kDrmMajor, minor);
  }
  // A relative link, as sysfs has them. Both paths are absolute.
  void Link(absl::string_view path, absl::string_view target);

  VirtualFiles& files() { return files_; }
  const absl::Status& status() const { return status_; }

 private:
  VirtualFiles& files_;
  absl::Status status_;
};

void AddI915Files(const DeviceSetup& setup, const DevicePaths& paths, FileWriter& writer);
void AddXeFiles(const DeviceSetup& setup, const DevicePaths& paths, FileWriter& writer);

// A pair of attributes that limit a frequency in MHz: each takes numbers from `low` to `high` that
// keep the pair in order, as the drivers do.
struct FrequencyLimits {
  std::string lowest, highest;  // paths
  unsigned low = 0, high = 0;
};
void AddFrequencyLimits(const FrequencyLimits& limits, FileWriter& writer);

// A control that acts when it is written: DeviceSetup::control.
void AddControl(const DeviceSetup& setup, absl::string_view path, absl::string_view content,
                FileWriter& writer);

// Milliseconds since the program began: how long an idle GPU has slept.
std::string IdleMilliseconds();

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_DEVICES_DRIVER_FILES_H_
