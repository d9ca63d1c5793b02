// The mock kernel of one run, with its devices and those who watch it, from the options.
#ifndef PACKSMITH_TOOLS_MOCK_SESSION_H_
#define PACKSMITH_TOOLS_MOCK_SESSION_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/capture/devices/device_files.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/devices/virtual_files.h"
#include "runtime/capture/drm/kernel.h"
#include "runtime/capture/execute/hang_report.h"
#include "runtime/capture/execute/planned_hang.h"
#include "runtime/capture/execute/printing_watcher.h"
#include "runtime/capture/execute/sim_executor.h"
#include "runtime/capture/execute/submission_checks.h"
#include "runtime/capture/records/options.h"
#include "tools/mock/call_log.h"
#include "tools/mock/record_watcher.h"
#include "tools/output.h"

namespace packsmith::mock {

struct SessionOptions {
  std::vector<std::string> devices;  // "tgl", "8086:9a49", "tgl:xe"
  std::string kernel;                // the interface of devices that name none; empty: the usual
  std::vector<capture::PlannedHang> hang_at;
  uint64_t patience = 10;  // seconds that a submission may wait, or run
  std::string kernel_log;  // a file for what the kernel's log says of hangs; empty: none
  CallLog::Options log;
  bool run = false;                    // submissions are executed
  std::optional<std::string> unpack;   // submissions are shown, with these options of unpack
  std::string unpack_file;             // empty: standard error
  capture::RecordOptions record;       // no folder: nothing is recorded
  std::vector<std::string> arguments;  // the program's, for records
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

  // After the last submission: writes what was shown, and the record's end, and says which planned
  // hangs there were not. False: something could not be written, which was said.
  bool Finish();
  // A line for each of the options that have results to sum up.
  std::string Summary() const;

 private:
  explicit Session(const SessionOptions& options) : log_(options.log) {}
  absl::Status Add(absl::string_view text, absl::string_view kernel);
  absl::Status Watch(const SessionOptions& options);
  absl::Status PlanHangs(const SessionOptions& options);
  absl::Status OpenKernelLog(const SessionOptions& options);
  // What was planned for a work and cannot be had on its device.
  void SayIfInVain(const capture::Work& work, const capture::HangPlace& place);
  void Report(const capture::Work& work, const std::optional<capture::HangPlace>& place,
              std::string report);

  CallLog log_;
  capture::VirtualFiles files_;
  std::deque<capture::DeviceInfo> infos_;  // with the ids that were asked for
  std::vector<capture::DevicePaths> paths_;
  // All that watch the kernel outlive it.
  std::unique_ptr<capture::SimExecutor> executor_;
  std::unique_ptr<capture::SubmissionChecks> checks_;
  std::unique_ptr<tools::CliOutput> unpack_output_;
  std::unique_ptr<capture::PrintingWatcher> printer_;
  std::unique_ptr<RecordWatcher> recorder_;
  std::vector<capture::PlannedHang> planned_;
  std::map<uint64_t, uint64_t> stop_at_;  // SimExecutorOptions
  std::set<uint64_t> hung_;               // Work::number
  std::unique_ptr<tools::CliOutput> kernel_log_;
  std::unique_ptr<capture::HangReporter> hangs_;
  capture::MockKernel kernel_;
};

// The interfaces that devices can have here, by name.
std::vector<std::string> KernelNames();

// One line a device: names, ids, interfaces.
std::string ListDevices();

}  // namespace packsmith::mock

#endif  // PACKSMITH_TOOLS_MOCK_SESSION_H_
