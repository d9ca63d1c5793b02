#include "runtime/capture/xe/device.h"

#include <utility>

#include "runtime/capture/xe/file.h"
#include "runtime/capture/xe/xe.h"

namespace packsmith::capture {

XeObject::XeObject(const MockDevice& device, uint64_t id, std::shared_ptr<SharedMemory> memory,
                   uint64_t size, Caching caching, std::shared_ptr<XeRegion> region,
                   const std::shared_ptr<XeVm>& vm)
    : Object(device, id, std::move(memory), size),
      caching_(caching),
      region_(std::move(region)),
      is_private_(vm != nullptr),
      vm_(vm) {
  if (region_) region_->used += size;
}

XeObject::~XeObject() {
  if (region_) region_->used -= size();
}

XeDevice::XeDevice(MockKernel& kernel, const DeviceInfo& info) : MockDevice(kernel, info) {
  auto system = std::make_shared<XeRegion>();
  system->size = kSystemMemoryBytes;
  regions_.push_back(std::move(system));
  if (!info.discrete()) return;
  auto vram = std::make_shared<XeRegion>();
  vram->vram = true;
  vram->min_page = info.vram_min_page;
  vram->size = info.vram_bytes;
  vram->visible = info.vram_visible_bytes;
  regions_.push_back(std::move(vram));
}

MockDevice::Version XeDevice::version() const {
  return {.name = "xe",
          .major = 1,
          .minor = 1,
          .patch = 0,
          .date = "20201103",
          .description = "Intel Xe Graphics"};
}

std::shared_ptr<File> XeDevice::MakeFile(uint64_t number, bool render) {
  return std::make_shared<XeFile>(*this, number, render);
}

std::shared_ptr<Object> XeDevice::MakeObject(uint64_t id, std::shared_ptr<SharedMemory> memory,
                                             uint64_t size) {
  return std::make_shared<XeObject>(*this, id, std::move(memory), size,
                                    XeObject::Caching::kImported, nullptr, nullptr);
}

bool XeDevice::large_pages() const {
  return regions_.size() > 1 && regions_[1]->min_page == kXeLargePage;
}

std::unique_ptr<MockDevice> MakeXe(MockKernel& kernel, const DeviceInfo& info) {
  return std::make_unique<XeDevice>(kernel, info);
}

}  // namespace packsmith::capture
