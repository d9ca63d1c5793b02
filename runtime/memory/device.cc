#include "runtime/memory/device.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace packsmith::gpu {

Device::~Device() = default;

namespace {

// Makes a change for each or for none: those before one that fails are undone.
template <typename Change, typename Undo>
absl::Status ForAllOrNone(absl::Span<const PageBinding> bindings, Change change, Undo undo) {
  for (size_t i = 0; i < bindings.size(); ++i) {
    absl::Status status = bindings[i].space == bindings[0].space
                              ? change(bindings[i])
                              : absl::InvalidArgumentError(absl::StrFormat(
                                    "pages of one call must be of one space, not of %d and %d",
                                    bindings[0].space, bindings[i].space));
    if (status.ok()) continue;
    while (i-- > 0) {
      const absl::Status undone = undo(bindings[i]);
      if (!undone.ok()) {
        status = absl::Status(status.code(),
                              absl::StrCat(status.message(), "; and then: ", undone.message()));
      }
    }
    return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Device::BindAll(absl::Span<const PageBinding> bindings) {
  return ForAllOrNone(
      bindings, [this](const PageBinding& one) { return Bind(one); },
      [this](const PageBinding& one) { return Unbind(one.space, one.address, one.size); });
}

absl::Status Device::UnbindAll(absl::Span<const PageBinding> bindings) {
  return ForAllOrNone(
      bindings, [this](const PageBinding& one) { return Unbind(one.space, one.address, one.size); },
      [this](const PageBinding& one) { return Bind(one); });
}

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

absl::StatusOr<KernelTimelines*> Device::timelines() {
  return absl::UnimplementedError("the device does not share timelines");
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
