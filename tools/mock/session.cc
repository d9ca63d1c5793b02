#include "tools/mock/session.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/capture/i915/i915.h"
#include "runtime/capture/xe/xe.h"

namespace packsmith::mock {
namespace {

using capture::DeviceInfo;
using capture::KernelDriver;
using capture::MockDevice;
using capture::MockKernel;

struct Maker {
  KernelDriver driver;
  std::unique_ptr<MockDevice> (*make)(MockKernel& kernel, const DeviceInfo& info);
};

constexpr Maker kMakers[] = {
    {KernelDriver::kI915, capture::MakeI915},
    {KernelDriver::kXe, capture::MakeXe},
};

const Maker* FindMaker(absl::string_view name) {
  for (const Maker& maker : kMakers) {
    if (capture::NameOf(maker.driver) == name) return &maker;
  }
  return nullptr;
}

bool IsInterface(absl::string_view name) {
  for (const auto driver : {KernelDriver::kI915, KernelDriver::kXe, KernelDriver::kAsahi}) {
    if (capture::NameOf(driver) == name) return true;
  }
  return false;
}

std::string InterfacesOf(const DeviceInfo& info) {
  std::vector<absl::string_view> names;
  for (const Maker& maker : kMakers) {
    if (info.has(maker.driver)) names.push_back(capture::NameOf(maker.driver));
  }
  return absl::StrJoin(names, ", ");
}

// The interface that a device has if none is asked for. Null: none of those that can be mocked.
const Maker* UsualMaker(const DeviceInfo& info) {
  const Maker* usual = nullptr;
  for (const Maker& maker : kMakers) {
    if (!info.has(maker.driver)) continue;
    if (usual == nullptr || maker.driver == info.default_driver) usual = &maker;
  }
  return usual;
}

}  // namespace

std::vector<std::string> KernelNames() {
  std::vector<std::string> names;
  for (const Maker& maker : kMakers) names.emplace_back(capture::NameOf(maker.driver));
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
    absl::StrAppendFormat(&text, "%-16s %-10s %s: %s\n", names, InterfacesOf(info), info.title,
                          absl::StrJoin(ids, " "));
  }
  return text;
}

absl::StatusOr<std::unique_ptr<Session>> Session::Make(const SessionOptions& options) {
  std::unique_ptr<Session> session(new Session(options));
  absl::Status status = capture::AddCommonFiles(session->files_);
  if (!status.ok()) return status;
  session->kernel_.AddWatcher(&session->log_);
  session->kernel_.set_hang_at(options.hang_at);
  for (const std::string& device : options.devices) {
    status = session->Add(device, options.kernel);
    if (!status.ok()) return status;
  }
  return session;
}

absl::Status Session::Add(absl::string_view text, absl::string_view kernel) {
  absl::string_view name = text;
  // An id has a colon, too: "8086:9a49".
  const size_t colon = text.rfind(':');
  if (colon != absl::string_view::npos && IsInterface(text.substr(colon + 1))) {
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
