// A device with the asahi interface, its address spaces and queues.
#ifndef PACKSMITH_RUNTIME_CAPTURE_ASAHI_DEVICE_H_
#define PACKSMITH_RUNTIME_CAPTURE_ASAHI_DEVICE_H_

#include <cstdint>
#include <memory>

#include "runtime/capture/asahi/commands.h"
#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/drm/address_map.h"
#include "runtime/capture/drm/kernel.h"
#include "runtime/capture/drm/object.h"
#include "runtime/kernel/uapi/asahi.h"

namespace packsmith::capture {

// What the driver's parameters say: addresses of programs, and limits of a submission.
inline constexpr uint64_t kAsahiVmStart = uapi::asahi::kPage;
inline constexpr uint64_t kAsahiVmEnd = (uint64_t{1} << 39) - 2 * uapi::asahi::kPage;
inline constexpr uint64_t kAsahiKernelSize = uint64_t{1} << 29;
inline constexpr uint32_t kAsahiOldMostSyncs = 64;  // of the interface of Mesa 24, each way

// Guarded by the kernel's lock.
class AsahiVm {
 public:
  // [kernel_start, kernel_end) is the kernel's.
  AsahiVm(uint64_t kernel_start, uint64_t kernel_end)
      : kernel_start_(kernel_start), kernel_end_(kernel_end) {}

  // Whether programs may use the range: it is not empty.
  bool IsForPrograms(uint64_t address, uint64_t size) const;
  void Map(Mapping mapping) { Own().Map(std::move(mapping)); }
  void Unmap(uint64_t address, uint64_t size) { Own().Unmap(address, size); }
  void UnmapObject(const Object& object) { Own().UnmapObject(object); }
  // What is bound now; later changes do not concern it.
  std::shared_ptr<const AddressMap> Bound();

 private:
  // The map, to be changed.
  AddressMap& Own();

  const uint64_t kernel_start_, kernel_end_;
  std::shared_ptr<AddressMap> bound_ = std::make_shared<AddressMap>();
  bool handed_out_ = false;  // it is copied before it changes
};

class AsahiObject : public Object {
 public:
  // `vm`: the only address space in which it may be bound; null: any.
  AsahiObject(const MockDevice& device, uint64_t id, std::shared_ptr<SharedMemory> memory,
              uint64_t size, const std::shared_ptr<AsahiVm>& vm)
      : Object(device, id, std::move(memory), size), is_private_(vm != nullptr), vm_(vm) {}

  bool is_private() const { return is_private_; }
  bool MayBeIn(const std::shared_ptr<AsahiVm>& vm) const {
    return !is_private_ || vm_.lock() == vm;
  }

 private:
  const bool is_private_;
  const std::weak_ptr<AsahiVm> vm_;
};

// Guarded by the kernel's lock.
struct AsahiQueue {
  std::shared_ptr<AsahiVm> vm;
  uint64_t context = 0;  // Work::context
  uint64_t usc_exec_base = 0;
  // The scheduler's: of submissions, which begin in order, and of commands of each kind.
  uint64_t submissions = 0, render = 0, compute = 0;
  bool closed = false;  // its file is
};

class AsahiDevice : public MockDevice {
 public:
  // `old`: with the interface of Mesa 24.
  AsahiDevice(MockKernel& kernel, const DeviceInfo& info, bool old)
      : MockDevice(kernel, info), old_(old) {}

  Version version() const override;
  std::shared_ptr<File> MakeFile(uint64_t number, bool render) override;
  std::shared_ptr<Object> MakeObject(uint64_t id, std::shared_ptr<SharedMemory> memory,
                                     uint64_t size) override;

 private:
  const bool old_;
};

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_ASAHI_DEVICE_H_
