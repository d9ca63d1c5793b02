#include "runtime/capture/asahi/device.h"

#include <utility>

#include "runtime/capture/asahi/asahi.h"
#include "runtime/capture/asahi/file.h"
#include "runtime/capture/asahi/old_file.h"

namespace packsmith::capture {

bool AsahiVm::IsForPrograms(uint64_t address, uint64_t size) const {
  if (size == 0 || address < kAsahiVmStart || address > kAsahiVmEnd ||
      size > kAsahiVmEnd - address) {
    return false;
  }
  return address + size <= kernel_start_ || address >= kernel_end_;
}

AddressMap& AsahiVm::Own() {
  if (handed_out_) {
    bound_ = std::make_shared<AddressMap>(*bound_);
    handed_out_ = false;
  }
  return *bound_;
}

std::shared_ptr<const AddressMap> AsahiVm::Bound() {
  handed_out_ = true;
  return bound_;
}

MockDevice::Version AsahiDevice::version() const {
  return {.name = "asahi",
          .major = 0,
          .minor = 0,
          .patch = 0,
          .date = "20220831",
          .description = "Apple AGX Graphics"};
}

std::shared_ptr<File> AsahiDevice::MakeFile(uint64_t number, bool render) {
  if (old_) return std::make_shared<OldAsahiFile>(*this, number, render);
  return std::make_shared<AsahiFile>(*this, number, render);
}

std::shared_ptr<Object> AsahiDevice::MakeObject(uint64_t id, std::shared_ptr<SharedMemory> memory,
                                                uint64_t size) {
  return std::make_shared<AsahiObject>(*this, id, std::move(memory), size, nullptr);
}

std::unique_ptr<MockDevice> MakeAsahi(MockKernel& kernel, const DeviceInfo& info) {
  return std::make_unique<AsahiDevice>(kernel, info, /*old=*/false);
}

std::unique_ptr<MockDevice> MakeOldAsahi(MockKernel& kernel, const DeviceInfo& info) {
  return std::make_unique<AsahiDevice>(kernel, info, /*old=*/true);
}

}  // namespace packsmith::capture
