#include "runtime/capture/trace/tracer.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/capture/drm/ioctl.h"
#include "runtime/kernel/uapi/asahi.h"
#include "runtime/kernel/uapi/drm.h"
#include "runtime/kernel/uapi/i915.h"
#include "runtime/kernel/uapi/xe.h"

namespace packsmith::capture {
namespace {

// The driver's name; empty: the file does not say.
std::string DriverOf(TraceAccess& access) {
  char name[64] = {};
  uapi::drm::version version = {};
  version.name = reinterpret_cast<uint64_t>(name);
  version.name_len = sizeof(name) - 1;
  if (access.Ioctl(uapi::drm::kVersion, &version) < 0) return "";
  return name;
}

// PCI ids; 0: the driver does not say.

uint32_t I915PciId(TraceAccess& access) {
  int32_t id = 0;
  uapi::i915::getparam args = {};
  args.param = uapi::i915::kParamChipsetId;
  args.value = reinterpret_cast<uint64_t>(&id);
  return access.Ioctl(uapi::i915::kGetparam, &args) < 0 ? 0 : static_cast<uint32_t>(id);
}

uint32_t XePciId(TraceAccess& access) {
  uapi::xe::device_query args = {};
  args.query = uapi::xe::kQueryConfig;
  if (access.Ioctl(uapi::xe::kDeviceQuery, &args) < 0) return 0;
  // A count and 4 bytes more, then the values, of which the first has the id in its lower half.
  std::vector<uint64_t> values(args.size / sizeof(uint64_t));
  args.data = reinterpret_cast<uint64_t>(values.data());
  if (values.size() < 2 || access.Ioctl(uapi::xe::kDeviceQuery, &args) < 0) return 0;
  return static_cast<uint32_t>(values[1] & 0xffff);
}

const DeviceInfo* AppleDevice(TraceAccess& access) {
  uapi::asahi::params_global params = {};
  uapi::asahi::get_params args = {};
  args.pointer = reinterpret_cast<uint64_t>(&params);
  args.size = sizeof(params);
  if (access.Ioctl(uapi::asahi::kGetParams, &args) < 0) return nullptr;
  for (const DeviceInfo& device : AllDevices()) {
    if (device.chip_id != 0 && device.chip_id == params.chip_id) return &device;
  }
  return nullptr;
}

}  // namespace

Tracer::Tracer(TraceSink& sink) : shared_(sink) {
  // Each object's copy has a descriptor.
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

const DeviceInfo* Tracer::DeviceOf(uint32_t pci_id) {
  if (pci_id == 0) return nullptr;
  const auto found = FindDevice(absl::StrFormat("8086:%04x", pci_id));
  if (!found.ok()) return nullptr;
  for (const DeviceInfo& device : devices_) {
    if (device.name == found->device->name && device.pci_id == found->pci_id) return &device;
  }
  devices_.push_back(*found->device);
  devices_.back().pci_id = found->pci_id;
  return &devices_.back();
}

std::shared_ptr<TracedFile> Tracer::Make(int minor, TraceAccess& access) {
  const std::string driver = DriverOf(access);
  // Nodes come in pairs.
  minor = minor % 64 + 128;
  if (driver == "i915") return MakeTracedI915(shared_, minor, DeviceOf(I915PciId(access)));
  if (driver == "xe") return MakeTracedXe(shared_, minor, DeviceOf(XePciId(access)));
  if (driver == "asahi") return MakeTracedAsahi(shared_, minor, AppleDevice(access));
  return nullptr;
}

Tracer::Interests Tracer::Open(uint64_t file, int minor, TraceAccess& access) {
  MutexLock lock(mutex_);
  std::shared_ptr<TracedFile>& traced = files_[file];
  if (traced == nullptr) traced = Make(minor, access);
  Interests interests;
  interests.fill(TraceInterest::kNone);
  for (uint32_t i = 0; traced != nullptr && i < interests.size(); ++i) {
    interests[i] = traced->InterestIn(i);
  }
  if (traced == nullptr) files_.erase(file);
  return interests;
}

uint64_t Tracer::Before(uint64_t file, const TracedCall& call) {
  MutexLock lock(mutex_);
  const auto found = files_.find(file);
  if (found == files_.end()) return 0;
  TracedFile::Finish finish = found->second->Before(call);
  if (finish == nullptr) return 0;
  pending_[++tickets_] = {found->second, std::move(finish)};
  return tickets_;
}

void Tracer::After(uint64_t file, uint64_t ticket, const TracedCall& call) {
  MutexLock lock(mutex_);
  if (ticket != 0) {
    const auto found = pending_.find(ticket);
    if (found == pending_.end()) return;
    const Pending pending = std::move(found->second);
    pending_.erase(found);
    pending.finish(call);
    return;
  }
  const auto found = files_.find(file);
  if (found != files_.end() && call.result >= 0) found->second->After(call);
}

void Tracer::Forget(uint64_t ticket) {
  MutexLock lock(mutex_);
  pending_.erase(ticket);
}

void Tracer::Close(uint64_t file) {
  MutexLock lock(mutex_);
  const auto found = files_.find(file);
  if (found != files_.end()) found->second->Unmap();
}

uint64_t Tracer::files() const {
  MutexLock lock(mutex_);
  return shared_.files_made;
}

uint64_t Tracer::submissions() const {
  MutexLock lock(mutex_);
  return shared_.works_made;
}

}  // namespace packsmith::capture
