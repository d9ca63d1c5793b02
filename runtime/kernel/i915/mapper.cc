#include "runtime/kernel/i915/mapper.h"

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/kernel/uapi/i915.h"

namespace packsmith::gpu::i915 {

namespace api = uapi::i915;

MapMode Mapper::ModeOf(Heap heap, uint8_t use) const {
  if (capabilities_.properties.discrete) return MapMode::kFixed;
  // Displays do not look into the CPU's caches.
  if (heap == Heap::kSystemUncached || (use & kScanout) != 0) return MapMode::kWriteCombined;
  return MapMode::kCached;
}

absl::StatusOr<uint64_t> Mapper::OffsetOf(uint32_t handle, MapMode mode) const {
  api::gem_mmap_offset args = {};
  args.handle = handle;
  switch (mode) {
    case MapMode::kCached:
      args.flags = api::kMmapOffsetWb;
      break;
    case MapMode::kWriteCombined:
      args.flags = api::kMmapOffsetWc;
      break;
    case MapMode::kUncached:
      args.flags = api::kMmapOffsetUc;
      break;
    case MapMode::kFixed:
      args.flags = api::kMmapOffsetFixed;
      break;
    case MapMode::kAperture:
      args.flags = api::kMmapOffsetGtt;
      break;
  }
  int result = 0;
  if (capabilities_.has_map_offset) {
    result = calls_.Try(api::kGemMmapOffset, args);
  } else {
    api::gem_mmap_gtt old = {.handle = handle, .pad = 0, .offset = 0};
    result = calls_.Try(api::kGemMmapGtt, old);
    args.offset = old.offset;
  }
  if (result == -ENODEV) {
    return absl::UnimplementedError(
        absl::StrCat(calls_.path(), " cannot map the memory in this mode"));
  }
  if (result < 0) return calls_.Error(-result, "GEM_MMAP_OFFSET");
  return args.offset;
}

absl::StatusOr<absl::Span<uint8_t>> Mapper::Map(uint32_t handle, uint64_t size,
                                                MapMode mode) const {
  if (!capabilities_.has_map_offset && mode != MapMode::kAperture) {
    if (mode == MapMode::kUncached || mode == MapMode::kFixed) {
      return absl::UnimplementedError(absl::StrCat(
          calls_.path(), ": the kernel cannot map memory in this mode before Linux 5.7"));
    }
    api::gem_mmap args = {};
    args.handle = handle;
    args.size = size;
    args.flags = mode == MapMode::kWriteCombined ? api::kMmapWc : 0;
    const absl::Status status = calls_.Do("GEM_MMAP", api::kGemMmap, args);
    if (!status.ok()) return status;
    return absl::MakeSpan(reinterpret_cast<uint8_t*>(args.addr_ptr), static_cast<size_t>(size));
  }
  const absl::StatusOr<uint64_t> offset = OffsetOf(handle, mode);
  if (!offset.ok()) return offset.status();
  return calls_.Map(*offset, size);
}

}  // namespace packsmith::gpu::i915
