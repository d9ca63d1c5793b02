// The mock kernel of one run, with its devices and those who watch it, from the options.
#ifndef PACKSMITH_TOOLS_MOCK_SESSION_H_
#define PACKSMITH_TOOLS_MOCK_SESSION_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/capture/devices/device_files.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/devices/virtual_files.h"
#include "runtime/capture/drm/kernel.h"
#include "tools/mock/call_log.h"

namespace packsmith::mock {

struct SessionOptions {
  std::vector<std::string> devices;  // "tgl", "8086:9a49", "tgl:xe"
  std::string kernel;                // the interface of devices that name none; empty: the usual
  std::vector<uint64_t> hang_at;     // submissions, counted from 1
  CallLog::Options log;
};

class Session {
 public:
  // Fails for devices that do not exist or do not have the interface.
  static absl::StatusOr<std::unique_ptr<Session>> Make(const SessionOptions& options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  capture::MockKernel& kernel() { return kernel_; }
  capture::VirtualFiles& files() { return files_; }
  CallLog& log() { return log_; }

 private:
  explicit Session(const SessionOptions& options) : log_(options.log) {}
  absl::Status Add(absl::string_view text, absl::string_view kernel);

  CallLog log_;
  capture::VirtualFiles files_;
  std::deque<capture::DeviceInfo> infos_;  // with the ids that were asked for
  std::vector<capture::DevicePaths> paths_;
  capture::MockKernel kernel_;
};

// The interfaces that devices can have here, by name.
std::vector<std::string> KernelNames();

// One line a device: names, ids, interfaces.
std::string ListDevices();

}  // namespace packsmith::mock

#endif  // PACKSMITH_TOOLS_MOCK_SESSION_H_
