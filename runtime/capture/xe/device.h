// A device with the xe interface, and its memory.
#ifndef PACKSMITH_RUNTIME_CAPTURE_XE_DEVICE_H_
#define PACKSMITH_RUNTIME_CAPTURE_XE_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/capture/devices/device_info.h"
#include "runtime/capture/drm/kernel.h"
#include "runtime/capture/drm/object.h"

namespace packsmith::capture {

class XeVm;

// Memory of one kind: the system's, or the device's own.
struct XeRegion {
  bool vram = false;
  uint32_t min_page = 4096;
  uint64_t size = 0, visible = 0;  // bytes; `visible`: of VRAM, that the CPU can map
  // Bytes of objects that exist. Objects are freed without the kernel's lock.
  std::atomic<uint64_t> used = 0;
};

class XeObject : public Object {
 public:
  enum class Caching { kWriteBack, kWriteCombined, kImported };

  // `region`: where it is, which counts it; null: elsewhere. `vm`: the only address space in which
  // it may be bound; null: any.
  XeObject(const MockDevice& device, uint64_t id, std::shared_ptr<SharedMemory> memory,
           uint64_t size, Caching caching, std::shared_ptr<XeRegion> region,
           const std::shared_ptr<XeVm>& vm);
  ~XeObject() override;

  Caching caching() const { return caching_; }
  // Whether it may be in VRAM.
  bool vram() const { return region_ && region_->vram; }
  bool is_private() const { return is_private_; }
  bool MayBeIn(const std::shared_ptr<XeVm>& vm) const { return !is_private_ || vm_.lock() == vm; }

 private:
  const Caching caching_;
  const std::shared_ptr<XeRegion> region_;
  const bool is_private_;
  const std::weak_ptr<XeVm> vm_;
};

class XeDevice : public MockDevice {
 public:
  XeDevice(MockKernel& kernel, const DeviceInfo& info);

  Version version() const override;
  std::shared_ptr<File> MakeFile(uint64_t number, bool render) override;
  std::shared_ptr<Object> MakeObject(uint64_t id, std::shared_ptr<SharedMemory> memory,
                                     uint64_t size) override;

  // The index is the instance in the interface: bits of placements and masks. The first is the
  // system's memory.
  const std::vector<std::shared_ptr<XeRegion>>& regions() const { return regions_; }
  // Of all regions.
  uint32_t region_mask() const { return (uint32_t{1} << regions_.size()) - 1; }
  // Whether pages in VRAM are of 64 KiB.
  bool large_pages() const;

 private:
  std::vector<std::shared_ptr<XeRegion>> regions_;
};

// Bytes of a page of system memory, and of a large one.
inline constexpr uint64_t kXePage = 4096, kXeLargePage = 64 << 10;

}  // namespace packsmith::capture

#endif  // PACKSMITH_RUNTIME_CAPTURE_XE_DEVICE_H_
