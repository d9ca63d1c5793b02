#include "runtime/memory/device_memory.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace packsmith::gpu {
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

absl::Status DeviceMemory::BindAll(absl::Span<const PageBinding> bindings) {
  return ForAllOrNone(
      bindings, [this](const PageBinding& one) { return Bind(one); },
      [this](const PageBinding& one) { return Unbind(one.space, one.address, one.size); });
}

absl::Status DeviceMemory::UnbindAll(absl::Span<const PageBinding> bindings) {
  return ForAllOrNone(
      bindings, [this](const PageBinding& one) { return Unbind(one.space, one.address, one.size); },
      [this](const PageBinding& one) { return Bind(one); });
}

absl::StatusOr<bool> DeviceMemory::SetNeeded(MemoryId /*memory*/, bool /*needed*/) { return true; }

HeapCaching DeviceMemory::CachingOf(Heap heap, uint8_t /*use*/) const {
  return {.available = true,
          .cpu = CpuCanSee(heap) ? CpuView::kCached : CpuView::kNone,
          .coherent = true};
}

void DeviceMemory::SetName(MemoryId /*memory*/, uint64_t /*offset*/, uint64_t /*size*/,
                           absl::string_view /*name*/) {}

}  // namespace packsmith::gpu
