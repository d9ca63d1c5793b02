#include "tools/mock/session.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/capture/asahi/asahi.h"
#include "runtime/capture/execute/unpack_options.h"
#include "runtime/capture/i915/i915.h"
#include "runtime/capture/records/recorder.h"
#include "runtime/capture/xe/xe.h"
#include "runtime/decode/fields/pipeline_units.h"
#include "runtime/generations/generations.h"
#include "runtime/tables/tables.h"

namespace packsmith::mock {
namespace {

using capture::DeviceInfo;
using capture::KernelDriver;
using capture::MockDevice;
using capture::MockKernel;

struct Maker {
  absl::string_view name;  // of the interface
  KernelDriver driver;
  std::unique_ptr<MockDevice> (*make)(MockKernel& kernel, const DeviceInfo& info);
};

constexpr Maker kMakers[] = {
    {"i915", KernelDriver::kI915, capture::MakeI915},
    {"xe", KernelDriver::kXe, capture::MakeXe},
    {"asahi", KernelDriver::kAsahi, capture::MakeAsahi},
    {"asahi-24", KernelDriver::kAsahi, capture::MakeOldAsahi},
};

const Maker* FindMaker(absl::string_view name) {
  for (const Maker& maker : kMakers) {
    if (maker.name == name) return &maker;
  }
  return nullptr;
}

std::string InterfacesOf(const DeviceInfo& info) {
  std::vector<absl::string_view> names;
  for (const Maker& maker : kMakers) {
    if (info.has(maker.driver)) names.push_back(maker.name);
  }
  return absl::StrJoin(names, ", ");
}

// The interface that a device has if none is asked for: the first of its usual driver. Null: none
// of those that can be mocked.
const Maker* UsualMaker(const DeviceInfo& info) {
  const Maker* usual = nullptr;
  for (const Maker& maker : kMakers) {
    if (!info.has(maker.driver)) continue;
    if (usual == nullptr ||
        (usual->driver != info.default_driver && maker.driver == info.default_driver)) {
      usual = &maker;
    }
  }
  return usual;
}

class StandardError : public tools::CliOutput {
 public:
  void Append(absl::string_view text) override {
    while (!text.empty()) {
      const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
      if (written <= 0 && errno != EINTR) return;
      if (written > 0) text.remove_prefix(static_cast<size_t>(written));
    }
  }
  absl::Status Finish() override { return absl::OkStatus(); }
};

// Of the 3D pipeline.
std::vector<std::string> UnitsOf(const DeviceInfo& info) {
  std::vector<std::string> names;
  const absl::StatusOr<tables::Tables> tables = FindGeneration(info.generation);
  if (!tables.ok()) return names;
  for (decode::PipelineUnit& unit : decode::PipelineUnits(*tables)) {
    names.push_back(std::move(unit.name));
  }
  return names;
}

std::string WhereIsReport(const capture::DevicePaths& paths) {
  return absl::StrCat("the GPU hung; clients find the report at ",
                      paths.driver == KernelDriver::kI915
                          ? absl::StrCat(paths.card, "/error")
                          : absl::StrCat(paths.device, "/devcoredump/data"));
}

}  // namespace

std::vector<std::string> KernelNames() {
  std::vector<std::string> names;
  for (const Maker& maker : kMakers) names.emplace_back(maker.name);
  return names;
}

std::string ListDevices() {
  std::string text;
  for (const DeviceInfo& info : capture::AllDevices()) {
    const Maker* const usual = UsualMaker(info);
    if (usual == nullptr) continue;
    std::string names(info.name);
    if (!info.aliases.empty()) absl::StrAppend(&names, " ", info.aliases);
    std::vector<std::string> ids;
    for (const uint16_t id : capture::PciIdsOf(info)) ids.push_back(absl::StrFormat("%04x", id));
    absl::StrAppendFormat(&text, "%-16s %-15s %s: %s\n", names, InterfacesOf(info), info.title,
                          absl::StrJoin(ids, " "));
  }
  return text;
}

absl::StatusOr<std::unique_ptr<Session>> Session::Make(const SessionOptions& options) {
  std::unique_ptr<Session> session(new Session(options));
  absl::Status status = capture::AddCommonFiles(session->files_);
  if (!status.ok()) return status;
  session->kernel_.AddWatcher(&session->log_);
  session->kernel_.set_patience(static_cast<int64_t>(options.patience) * 1'000'000'000);
  for (const std::string& device : options.devices) {
    status = session->Add(device, options.kernel);
    if (!status.ok()) return status;
  }
  status = session->PlanHangs(options);
  if (!status.ok()) return status;
  status = session->Watch(options);
  if (!status.ok()) return status;
  status = session->OpenKernelLog(options);
  if (!status.ok()) return status;
  return session;
}

absl::Status Session::Watch(const SessionOptions& options) {
  const auto say = [this](absl::string_view line) { log_.Say(line); };
  // Decoding each submission takes longer than many submissions.
  if (log_.shows_warnings()) {
    checks_ = std::make_unique<capture::SubmissionChecks>(
        [this](const capture::Work&, absl::string_view line) {
          log_.Warn(absl::StrCat("warning: ", line));
        });
    kernel_.AddWatcher(checks_.get());
  }
  if (options.unpack) {
    const auto unpack = capture::ParseUnpackOptions(*options.unpack);
    if (!unpack.ok()) return unpack.status();
    if (options.unpack_file.empty()) {
      unpack_output_ = std::make_unique<StandardError>();
    } else {
      auto output = tools::OpenOutput({.file = options.unpack_file, .pager = false, .on_gone = {}});
      if (!output.ok()) return output.status();
      unpack_output_ = *std::move(output);
    }
    printer_ = std::make_unique<capture::PrintingWatcher>(*unpack_output_, *unpack);
    kernel_.AddWatcher(printer_.get());
  }
  if (!options.record.folder.empty()) {
    auto recorder = capture::Recorder::Create(
        options.record,
        {.program = "packsmith-mock", .command = absl::StrJoin(options.arguments, " ")});
    if (!recorder.ok()) return recorder.status();
    recorder_ = std::make_unique<RecordWatcher>(*std::move(recorder), say);
    kernel_.AddWatcher(recorder_.get());
  }
  if (options.run) {
    executor_ = std::make_unique<capture::SimExecutor>(capture::SimExecutorOptions{
        .max_seconds = options.patience, .say = say, .stop_at = stop_at_});
    kernel_.set_executor(executor_.get());
  }
  hangs_ = std::make_unique<capture::HangReporter>(
      [this](const capture::Work& work) {
        hung_.insert(work.number);
        return capture::PlannedPlace(planned_, work,
                                     executor_ ? executor_->PlaceOfHang(work) : std::nullopt);
      },
      [this](const capture::Work& work, const std::optional<capture::HangPlace>& place,
             std::string report) { Report(work, place, std::move(report)); });
  kernel_.AddWatcher(hangs_.get());
  return absl::OkStatus();
}

absl::Status Session::PlanHangs(const SessionOptions& options) {
  planned_ = options.hang_at;
  const bool any_xe = std::any_of(
      paths_.begin(), paths_.end(),
      [](const capture::DevicePaths& paths) { return paths.driver == KernelDriver::kXe; });
  std::set<uint64_t> numbers;
  std::vector<uint64_t> at_once;
  for (const capture::PlannedHang& hang : planned_) {
    if (!numbers.insert(hang.submission).second) {
      return absl::InvalidArgumentError(absl::StrCat("--hang-at: submission ", hang.submission,
                                                     " can hang only once, and is given twice"));
    }
    if (hang.address && options.run) {
      stop_at_[hang.submission] = *hang.address;
    } else {
      at_once.push_back(hang.submission);
    }
    if (hang.kind == capture::HangKind::kResetByOther && !any_xe) {
      return absl::InvalidArgumentError(
          "--hang-at: reset-by-other is a hang of xe, and none of these GPUs has its interface; "
          "NAME:xe gives it to those that can have it");
    }
    if (hang.kind != capture::HangKind::kPipeline) continue;
    std::vector<std::string> units;
    for (const DeviceInfo& info : infos_) {
      for (std::string& unit : UnitsOf(info)) units.push_back(std::move(unit));
    }
    if (std::find(units.begin(), units.end(), hang.unit) == units.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--hang-at: ", hang.unit,
          " is neither a kind of hang (command, refused, shader, not-started, not-yielding, reset, "
          "reset-by-other) nor a unit of these GPUs (",
          absl::StrJoin(units, ", "), ")"));
    }
  }
  kernel_.set_hang_at(std::move(at_once));
  return absl::OkStatus();
}

absl::Status Session::OpenKernelLog(const SessionOptions& options) {
  if (options.kernel_log.empty()) return absl::OkStatus();
  auto output = tools::OpenOutput({.file = options.kernel_log, .pager = false, .on_gone = {}});
  if (!output.ok()) return output.status();
  kernel_log_ = *std::move(output);
  return absl::OkStatus();
}

void Session::SayIfInVain(const capture::Work& work, const capture::HangPlace& place) {
  std::string what;
  if (place.kind == capture::HangKind::kResetByOther && work.interface != "xe") {
    what = "reset-by-other is a hang of xe";
  } else if (place.kind == capture::HangKind::kPipeline) {
    const std::vector<std::string> units = UnitsOf(*work.device);
    if (std::find(units.begin(), units.end(), place.unit) != units.end()) return;
    what = absl::StrCat(work.device->name, " has no unit ", place.unit);
  } else {
    return;
  }
  log_.Say(absl::StrCat("--hang-at: submission ", work.number,
                        " hangs without what was asked for: ", what));
}

void Session::Report(const capture::Work& work, const std::optional<capture::HangPlace>& place,
                     std::string report) {
  for (size_t i = 0; i < infos_.size(); ++i) {
    if (work.device != &infos_[i]) continue;
    if (place) SayIfInVain(work, *place);
    if (kernel_log_) kernel_log_->Append(capture::KernelLogOfHang(work, place, paths_[i].slot));
    const auto written = capture::ReportHang(paths_[i], std::move(report), files_);
    if (written.ok() && *written) log_.Say(WhereIsReport(paths_[i]));
    return;
  }
}

bool Session::Finish() {
  bool good = true;
  if (printer_) {
    printer_->Finish();
    if (const absl::Status status = unpack_output_->Finish(); !status.ok()) {
      log_.Say(absl::StrCat("--unpack: ", status.message()));
      good = false;
    }
  }
  if (kernel_log_) {
    if (const absl::Status status = kernel_log_->Finish(); !status.ok()) {
      log_.Say(absl::StrCat("--kernel-log: ", status.message()));
      good = false;
    }
  }
  if (recorder_) good = recorder_->Finish() && good;
  for (const capture::PlannedHang& hang : planned_) {
    if (hung_.count(hang.submission) != 0) continue;
    const uint64_t all = log_.submissions();
    log_.Say(absl::StrCat("--hang-at: submission ", hang.submission, " did not hang",
                          hang.submission > all ? absl::StrCat(": there were only ", all) : ""));
  }
  return good;
}

std::string Session::Summary() const {
  std::string text;
  if (executor_) absl::StrAppend(&text, executor_->Summary(), "\n");
  if (recorder_) {
    const capture::Recorder::Totals totals = recorder_->totals();
    absl::StrAppendFormat(&text, "recorded %d submissions: %d bytes of memory in %d bytes\n",
                          totals.recorded - totals.dropped, totals.memory_bytes,
                          totals.folder_bytes);
  }
  return text;
}

absl::Status Session::Add(absl::string_view text, absl::string_view kernel) {
  absl::string_view name = text;
  // An id has a colon, too: "8086:9a49".
  const size_t colon = text.rfind(':');
  if (colon != absl::string_view::npos && FindMaker(text.substr(colon + 1)) != nullptr) {
    name = text.substr(0, colon);
    kernel = text.substr(colon + 1);
  }
  const auto found = capture::FindDevice(name);
  if (!found.ok()) return found.status();
  const Maker* const maker = kernel.empty() ? UsualMaker(*found->device) : FindMaker(kernel);
  if (maker == nullptr || !found->device->has(maker->driver)) {
    const std::string possible = InterfacesOf(*found->device);
    return absl::InvalidArgumentError(
        absl::StrCat(name, " cannot have the interface of ",
                     kernel.empty() ? capture::NameOf(found->device->default_driver) : kernel,
                     possible.empty() ? "" : absl::StrCat("; it can have that of ", possible)));
  }
  if (kernel_.devices().size() == capture::kMaxDevices) {
    return absl::InvalidArgumentError(absl::StrCat("more than ", capture::kMaxDevices, " devices"));
  }
  infos_.push_back(*found->device);
  DeviceInfo& info = infos_.back();
  info.pci_id = found->pci_id;
  MockDevice& device = kernel_.Add(maker->make(kernel_, info));
  auto paths = capture::AddDeviceFiles({.device = &info,
                                        .pci_id = info.pci_id,
                                        .driver = maker->driver,
                                        .index = static_cast<unsigned>(device.card_minor())},
                                       files_);
  if (!paths.ok()) return paths.status();
  paths_.push_back(*std::move(paths));
  return absl::OkStatus();
}

}  // namespace packsmith::mock
