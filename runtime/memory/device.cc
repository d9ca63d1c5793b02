#include "runtime/memory/device.h"

#include <string>

namespace packsmith::gpu {

Device::~Device() = default;

absl::StatusOr<uint32_t> Device::CreateContext(const ContextOptions& /*options*/) {
  return absl::UnimplementedError("the device has no contexts");
}

absl::Status Device::DestroyContext(uint32_t /*context*/) {
  return absl::UnimplementedError("the device has no contexts");
}

absl::StatusOr<ContextState> Device::StateOf(uint32_t /*space*/, uint32_t /*context*/) {
  return ContextState::kGood;
}

absl::StatusOr<bool> Device::SetNeeded(MemoryId /*memory*/, bool /*needed*/) { return true; }

HeapCaching Device::CachingOf(Heap heap, uint8_t /*use*/) const {
  return {.available = true,
          .cpu = CpuCanSee(heap) ? CpuView::kCached : CpuView::kNone,
          .coherent = true};
}

absl::StatusOr<UniqueFd> Device::Export(MemoryId /*memory*/) {
  return absl::UnimplementedError("the device does not share memory");
}

absl::StatusOr<Device::Imported> Device::Import(int /*dma_buf*/) {
  return absl::UnimplementedError("the device does not share memory");
}

absl::StatusOr<UniqueFd> Device::ExportFence(Fence /*fence*/) {
  return absl::UnimplementedError("the device does not share fences");
}

absl::StatusOr<Fence> Device::ImportFence(int /*sync_file*/) {
  return absl::UnimplementedError("the device does not share fences");
}

absl::StatusOr<Fence> Device::ImportUses(MemoryId /*memory*/, bool /*to_write*/) {
  return absl::UnimplementedError("the device does not share memory");
}

absl::Status Device::ExportUse(MemoryId /*memory*/, Fence /*fence*/, bool /*written*/) {
  return absl::UnimplementedError("the device does not share memory");
}

void Device::SetName(MemoryId /*memory*/, uint64_t /*offset*/, uint64_t /*size*/,
                     absl::string_view /*name*/) {}

std::string Device::generation() const { return {}; }

}  // namespace packsmith::gpu
