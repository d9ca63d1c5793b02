// The calls that make objects, map them, and say how they are used.
#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/capture/i915/extensions.h"
#include "runtime/capture/i915/file.h"

namespace packsmith::capture::i915 {

namespace api = uapi::i915;

namespace {

constexpr uint64_t kPage = 4096;
// The end of what processes can address.
constexpr uint64_t kUserEnd = (uint64_t{1} << 47) - kPage;

// More pages than the kernel counts.
bool TooBig(uint64_t size) { return size / kPage > 0x7fffffff; }

// Bytes that a call copies at a time.
constexpr size_t kStep = 1 << 20;

// Checks a call's range of an object and of the caller's memory.
Result CheckCopy(const Object& object, uint64_t offset, uint64_t size, uint64_t user) {
  if (user > kUserEnd || kUserEnd - user < size) return -EFAULT;
  if (offset > object.size() || object.size() - offset < size) return -EINVAL;
  return 0;
}

}  // namespace

uint32_t I915File::AddMemory(uint64_t size, std::shared_ptr<I915Object>& out) {
  std::shared_ptr<SharedMemory> memory = SharedMemory::Create(size, "i915");
  if (!memory) return 0;
  out = std::static_pointer_cast<I915Object>(
      device_.MakeObject(kernel().NewObjectId(), std::move(memory), size));
  return AddObject(out);
}

Result I915File::GemCreate(Caller&, api::gem_create& args) {
  const uint64_t size = (args.size + kPage - 1) / kPage * kPage;
  if (args.size == 0 || size < args.size) return Refuse(-EINVAL, "the size is 0");
  if (TooBig(size)) return Refuse(-E2BIG, "the size is too large");
  std::shared_ptr<I915Object> object;
  const uint32_t handle = AddMemory(size, object);
  if (handle == 0) return -ENOMEM;
  args.size = size;
  args.handle = handle;
  return 0;
}

Result I915File::GemCreateExt(Caller& caller, api::gem_create_ext& args) {
  if ((args.flags & ~api::kCreateNeedsCpuAccess) != 0) return -EINVAL;
  std::vector<bool> places;  // system and local memory; empty: not said
  unsigned count = 0;
  bool has_pat = false;
  uint32_t pat_index = 0;
  const auto take = [&](uint32_t name, uint64_t address) -> Result {
    switch (name) {
      case api::kCreateMemoryRegions: {
        api::gem_create_ext_memory_regions extension = {};
        if (const Result bad = caller.Get(address, extension)) return bad;
        if (extension.pad != 0) return -EINVAL;
        if (extension.num_regions == 0) return -EINVAL;
        if (extension.num_regions > (device_.info().discrete() ? 2u : 1u)) {
          return Refuse(-EINVAL, "more regions than the device has");
        }
        if (!places.empty()) return Refuse(-EINVAL, "regions are given twice");
        std::vector<api::gem_memory_class_instance> regions;
        if (const Result bad = caller.GetArray(extension.regions, extension.num_regions, regions)) {
          return bad;
        }
        places.resize(2);
        for (const auto& region : regions) {
          const bool known =
              region.memory_instance == 0 &&
              (region.memory_class == api::kMemorySystem ||
               (region.memory_class == api::kMemoryDevice && device_.info().discrete()));
          if (!known) return Refuse(-EINVAL, "the device has no such region");
          if (places[region.memory_class]) return Refuse(-EINVAL, "a region twice");
          places[region.memory_class] = true;
          ++count;
        }
        return 0;
      }
      case api::kCreateProtectedContent: {
        api::gem_create_ext_protected_content extension = {};
        if (const Result bad = caller.Get(address, extension)) return bad;
        if (extension.flags != 0) return -EINVAL;
        return Refuse(-ENODEV, "there is no protected content");
      }
      case api::kCreateSetPat: {
        // Since Meteor Lake.
        if (traits_.version < 1270) return -ENODEV;
        api::gem_create_ext_set_pat extension = {};
        if (const Result bad = caller.Get(address, extension)) return bad;
        if (extension.pat_index >= device_.info().pat.entries) {
          return Refuse(-EINVAL, "there is no such entry of the table of page attributes");
        }
        has_pat = true;
        pat_index = extension.pat_index;
        return 0;
      }
      default:
        return -EINVAL;
    }
  };
  if (const Result bad = WalkExtensions(caller, args.extensions, take)) return bad;
  const bool local = count != 0 && places[api::kMemoryDevice];
  const bool system = count == 0 || places[api::kMemorySystem];
  if ((args.flags & api::kCreateNeedsCpuAccess) != 0 && (count < 2 || !system)) {
    // What the CPU is to reach must be able to move to where it can.
    return Refuse(-EINVAL, "CPU access needs system memory as a second region");
  }
  const uint64_t page = std::max<uint64_t>(kPage, local ? device_.info().vram_min_page : 0);
  const uint64_t size = (args.size + page - 1) / page * page;
  if (args.size == 0 || size < args.size) return Refuse(-EINVAL, "the size is 0");
  if (TooBig(size)) return Refuse(-E2BIG, "the size is too large");
  std::shared_ptr<I915Object> object;
  const uint32_t handle = AddMemory(size, object);
  if (handle == 0) return -ENOMEM;
  object->system = system;
  object->local = local;
  object->chosen_pat = has_pat;
  object->pat_index = pat_index;
  args.size = size;
  args.handle = handle;
  return 0;
}

Result I915File::GemUserptr(Caller& caller, api::gem_userptr& args) {
  const DeviceInfo& info = device_.info();
  if (!info.llc && !info.snoops) return -ENODEV;
  constexpr uint32_t kKnown =
      api::kUserptrReadOnly | api::kUserptrProbe | api::kUserptrUnsynchronized;
  if ((args.flags & ~kKnown) != 0) return -EINVAL;
  if (TooBig(args.user_size)) return -E2BIG;
  if (args.user_size == 0) return -EINVAL;
  if ((args.user_ptr | args.user_size) % kPage != 0) {
    return Refuse(-EINVAL, "the range must be whole pages");
  }
  if (args.user_ptr > kUserEnd || kUserEnd - args.user_ptr < args.user_size) return -EFAULT;
  if ((args.flags & api::kUserptrUnsynchronized) != 0) return -ENODEV;
  // Page tables say what cannot be written since Gfx8.
  if ((args.flags & api::kUserptrReadOnly) != 0 && traits_.version < 800) return -ENODEV;
  if ((args.flags & api::kUserptrProbe) != 0) {
    for (uint64_t at = 0; at < args.user_size; at += kPage) {
      uint8_t byte;
      if (const Result bad = caller.Get(args.user_ptr + at, byte)) return bad;
    }
  }
  const auto object = std::make_shared<I915Object>(device_, kernel().NewObjectId(), caller.memory(),
                                                   args.user_ptr, args.user_size);
  object->caching = api::kCachingCached;
  object->read_only = (args.flags & api::kUserptrReadOnly) != 0;
  args.handle = AddObject(object);
  return 0;
}

Result I915File::GemPread(Caller& caller, api::gem_pread& args) {
  if (!traits_.pread_pwrite) return -EOPNOTSUPP;
  if (args.size == 0) return 0;
  const std::shared_ptr<I915Object> object = FindI915Object(args.handle);
  if (!object) return -ENOENT;
  if (const Result bad = CheckCopy(*object, args.offset, args.size, args.data_ptr)) return bad;
  if (object->user()) return Refuse(-EINVAL, "the object is the process' own memory");
  if (const Result bad = WaitForObject(caller, *object, /*for_write=*/false)) return bad;
  const absl::Span<const uint8_t> bytes = object->memory()->bytes();
  return caller.memory()->Write(args.data_ptr, bytes.subspan(args.offset, args.size)) ? 0 : -EFAULT;
}

Result I915File::GemPwrite(Caller& caller, api::gem_pwrite& args) {
  if (!traits_.pread_pwrite) return -EOPNOTSUPP;
  if (args.size == 0) return 0;
  const std::shared_ptr<I915Object> object = FindI915Object(args.handle);
  if (!object) return -ENOENT;
  if (const Result bad = CheckCopy(*object, args.offset, args.size, args.data_ptr)) return bad;
  if (object->user()) return Refuse(-EINVAL, "the object is the process' own memory");
  if (const Result bad = WaitForObject(caller, *object, /*for_write=*/true)) return bad;
  const absl::Span<uint8_t> bytes = object->memory()->bytes();
  for (uint64_t at = 0; at < args.size; at += kStep) {
    const uint64_t step = std::min<uint64_t>(kStep, args.size - at);
    if (!caller.memory()->Read(args.data_ptr + at, bytes.subspan(args.offset + at, step))) {
      return -EFAULT;
    }
  }
  object->SyncView();
  return 0;
}

Result I915File::GemMmap(Caller& caller, api::gem_mmap& args) {
  if (!traits_.old_mmap) return -EOPNOTSUPP;
  if ((args.flags & ~api::kMmapWc) != 0) return -EINVAL;
  const std::shared_ptr<I915Object> object = FindI915Object(args.handle);
  if (!object) return -ENOENT;
  if (object->user()) return Refuse(-ENXIO, "the object is the process' own memory");
  if (args.offset > object->size() || object->size() - args.offset < args.size) return -EINVAL;
  const uint64_t size = (args.size + kPage - 1) / kPage * kPage;
  if (size == 0 || args.offset % kPage != 0) return -EINVAL;
  return caller.Map(*object->memory(), args.offset, size, args.addr_ptr);
}

Result I915File::GemMmapOffset(Caller& caller, api::gem_mmap_offset& args) {
  if (const Result bad = RefuseExtensions(caller, args.extensions)) return bad;
  const DeviceInfo& info = device_.info();
  switch (args.flags) {
    case api::kMmapOffsetGtt:
      if (info.aperture_bytes == 0) return Refuse(-ENODEV, "the device has no aperture");
      break;
    case api::kMmapOffsetWc:
    case api::kMmapOffsetWb:
    case api::kMmapOffsetUc:
    case api::kMmapOffsetFixed:
      break;
    default:
      return -EINVAL;
  }
  const std::shared_ptr<I915Object> object = FindI915Object(args.handle);
  if (!object) return -ENOENT;
  if (object->user()) return Refuse(-ENODEV, "the object is the process' own memory");
  if ((args.flags == api::kMmapOffsetFixed) != info.discrete()) {
    return Refuse(-ENODEV, info.discrete() ? "devices with local memory map in one way only (FIXED)"
                                           : "FIXED is for devices with local memory");
  }
  args.offset = kernel().MapOffset(object, static_cast<uint32_t>(args.flags));
  return 0;
}

Result I915File::GemSetTiling(Caller& caller, api::gem_set_tiling& args) {
  const DeviceInfo& info = device_.info();
  if (info.fences == 0) return -EOPNOTSUPP;
  const std::shared_ptr<I915Object> object = FindI915Object(args.handle);
  if (!object) return -ENOENT;
  if (object->user()) return -ENXIO;
  if (args.tiling_mode > api::kTilingY) return -EINVAL;
  if (args.tiling_mode == api::kTilingNone) {
    args.stride = 0;
    args.swizzle_mode = 0;
  } else {
    // Rows of tiles, as fences count them.
    const uint32_t width = args.tiling_mode == api::kTilingX ? 512 : 128;
    const uint32_t most = (traits_.version >= 700 ? 0x800 : 0x400) * 128;
    if (args.stride == 0 || args.stride > most || args.stride % width != 0) {
      return Refuse(-EINVAL, "the stride must be a multiple of a tile's");
    }
    args.swizzle_mode =
        static_cast<uint32_t>(args.tiling_mode == api::kTilingX ? info.swizzle_x : info.swizzle_y);
  }
  if (object->tiling != args.tiling_mode || object->stride != args.stride) {
    if (const Result bad = WaitForObject(caller, *object, /*for_write=*/true)) return bad;
  }
  object->tiling = args.tiling_mode;
  object->stride = args.stride;
  SetViewTiling(*object);
  return 0;
}

void I915File::SetViewTiling(I915Object& object) const {
  if (!object.view) return;
  const DeviceInfo& info = device_.info();
  object.view->SetTiling(object.tiling, object.stride,
                         info.swizzle_x == Swizzle::k9_10 && info.swizzle_y == Swizzle::k9);
  object.SyncView();
}

std::shared_ptr<SharedMemory> I915File::ViewOf(Object& any, uint32_t mode) {
  auto& object = static_cast<I915Object&>(any);
  if (mode != api::kMmapOffsetGtt) return object.memory();
  // Once there is a view it stays, since it may be mapped.
  if (object.tiling == api::kTilingNone && !object.view) return object.memory();
  if (!object.view) {
    object.view = TiledView::Make(object.size());
    SetViewTiling(object);
  }
  object.SyncView();
  return object.view ? object.view->memory() : nullptr;
}

Result I915File::GemGetTiling(Caller&, api::gem_get_tiling& args) {
  const DeviceInfo& info = device_.info();
  if (info.fences == 0) return -EOPNOTSUPP;
  const std::shared_ptr<I915Object> object = FindI915Object(args.handle);
  if (!object) return -ENOENT;
  args.tiling_mode = object->tiling;
  args.swizzle_mode = object->tiling == api::kTilingX   ? static_cast<uint32_t>(info.swizzle_x)
                      : object->tiling == api::kTilingY ? static_cast<uint32_t>(info.swizzle_y)
                                                        : 0;
  args.phys_swizzle_mode = args.swizzle_mode;
  return 0;
}

Result I915File::GemSetCaching(Caller& caller, api::gem_caching& args) {
  const DeviceInfo& info = device_.info();
  if (info.discrete()) return -ENODEV;
  if (traits_.version >= 1270) return -EOPNOTSUPP;
  uint32_t caching = args.caching;
  switch (args.caching) {
    case api::kCachingNone:
      break;
    case api::kCachingCached:
      if (!info.llc && !info.snoops) return -ENODEV;
      break;
    case api::kCachingDisplay:
      // Only Haswell and Broadwell write through.
      if (!info.llc || traits_.version < 750 || traits_.version > 899) caching = api::kCachingNone;
      break;
    default:
      return -EINVAL;
  }
  const std::shared_ptr<I915Object> object = FindI915Object(args.handle);
  if (!object) return -ENOENT;
  if (object->user()) {
    // Always cached; saying so is fine.
    return args.caching == api::kCachingCached ? 0 : -ENXIO;
  }
  if (object->caching != caching) {
    if (const Result bad = WaitForObject(caller, *object, /*for_write=*/true)) return bad;
  }
  object->caching = caching;
  return 0;
}

Result I915File::GemGetCaching(Caller&, api::gem_caching& args) {
  if (device_.info().discrete()) return -ENODEV;
  const std::shared_ptr<I915Object> object = FindI915Object(args.handle);
  if (!object) return -ENOENT;
  args.caching = object->caching;
  return 0;
}

Result I915File::GemMadvise(Caller&, api::gem_madvise& args) {
  if (args.madv > api::kMadvDontneed) return -EINVAL;
  const std::shared_ptr<I915Object> object = FindI915Object(args.handle);
  if (!object) return -ENOENT;
  object->madvise = args.madv;
  // Memory is never short here.
  args.retained = 1;
  return 0;
}

Result I915File::GemGetAperture(Caller&, api::gem_get_aperture& args) {
  args.aper_size = args.aper_available_size = device_.info().ggtt_bytes;
  return 0;
}

}  // namespace packsmith::capture::i915
