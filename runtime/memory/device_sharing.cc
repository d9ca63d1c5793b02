#include "runtime/memory/device_sharing.h"

namespace packsmith::gpu {

absl::StatusOr<UniqueFd> DeviceSharing::Export(MemoryId /*memory*/) {
  return absl::UnimplementedError("the device does not share memory");
}

absl::StatusOr<DeviceSharing::Imported> DeviceSharing::Import(int /*dma_buf*/) {
  return absl::UnimplementedError("the device does not share memory");
}

absl::StatusOr<UniqueFd> DeviceSharing::ExportFence(Fence /*fence*/) {
  return absl::UnimplementedError("the device does not share fences");
}

absl::StatusOr<Fence> DeviceSharing::ImportFence(int /*sync_file*/) {
  return absl::UnimplementedError("the device does not share fences");
}

absl::StatusOr<KernelTimelines*> DeviceSharing::timelines() {
  return absl::UnimplementedError("the device does not share timelines");
}

absl::StatusOr<Fence> DeviceSharing::ImportUses(MemoryId /*memory*/, bool /*to_write*/) {
  return absl::UnimplementedError("the device does not share memory");
}

absl::Status DeviceSharing::ExportUse(MemoryId /*memory*/, Fence /*fence*/, bool /*written*/) {
  return absl::UnimplementedError("the device does not share memory");
}

}  // namespace packsmith::gpu
