#include "runtime/kernel/i915/i915_device.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/dump/dump.h"
#include "runtime/generations/generations.h"
#include "runtime/intel/device/generation_facts.h"
#include "runtime/kernel/drm/generation.h"
#include "runtime/kernel/uapi/i915.h"

namespace packsmith::gpu {
namespace {

namespace api = uapi::i915;

// Entries of Meteor Lake's table of page attributes: cached, and coherent with the CPU; written
// through to where displays see it. Source: Linux, intel_mocs.c and i915_drm.h (SET_PAT).
constexpr uint32_t kPatCoherent = 3, kPatDisplay = 1;

// Where the kernel reports the hangs of a node's device.
std::string DumpOf(const Connection& connection) {
  const std::string folder = connection.sysfs();
  if (folder.empty()) return "/sys/class/drm/card*/error";
  namespace fs = std::filesystem;
  std::error_code error;
  for (fs::directory_iterator at(folder + "/drm", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (absl::StartsWith(name, "card")) return at->path().string() + "/error";
  }
  return folder + "/drm/card*/error";
}

}  // namespace

absl::StatusOr<std::unique_ptr<I915Device>> I915Device::Open(std::unique_ptr<Connection> connection,
                                                             const Options& options) {
  const std::shared_ptr<Connection> shared = std::move(connection);
  const Calls calls(shared);
  const absl::StatusOr<std::string> driver = calls.DriverName();
  if (!driver.ok()) return driver.status();
  if (*driver != "i915") {
    return absl::InvalidArgumentError(
        absl::StrCat(calls.path(), " is a node of the driver ", *driver, ", not of i915"));
  }
  absl::StatusOr<i915::Capabilities> capabilities = i915::AskCapabilities(calls);
  if (!capabilities.ok()) return capabilities.status();
  const absl::StatusOr<std::string> generation = GenerationOf(
      calls.path(), options.generation, FindGenerationOfPciId(capabilities->properties.pci_id));
  if (!generation.ok()) return generation.status();
  const int version = DeviceOfGeneration(*generation).verx10;
  capabilities->writes_are_global =
      version > 0 && intel::FactsOf(static_cast<unsigned>(version)).writes_are_global;
  std::string dump = DumpOf(*shared);
  return std::unique_ptr<I915Device>(
      new I915Device(shared, *generation, std::move(dump), *std::move(capabilities)));
}

I915Device::I915Device(std::shared_ptr<Connection> connection, std::string generation,
                       std::string dump, i915::Capabilities capabilities)
    : DrmDeviceBase(std::move(connection), std::move(generation), capabilities.properties, dump),
      dump_(std::move(dump)),
      capabilities_(std::move(capabilities)),
      contexts_(calls(), capabilities_),
      mapper_(calls(), capabilities_) {}

I915Device::~I915Device() {
  MutexLock lock(mutex_);
  for (const auto& [key, bytes] : maps_) calls().Unmap(bytes);
}

// ---- Memory. ------------------------------------------------------------------------------------

absl::StatusOr<uint32_t> I915Device::CreateObject(const MemoryOptions& options) {
  const bool local = options.heap != Heap::kSystem && options.heap != Heap::kSystemUncached;
  std::vector<api::gem_memory_class_instance> regions;
  uint32_t flags = 0;
  if (local) {
    regions.push_back({api::kMemoryDevice, 0});
    const bool needs_cpu = options.heap == Heap::kLocalVisible && !capabilities_.cpu_sees_all_local;
    // What the CPU must reach has to be able to move to where it can.
    if (needs_cpu) flags |= api::kCreateNeedsCpuAccess;
    if (needs_cpu || options.heap == Heap::kLocalPreferred) {
      regions.push_back({api::kMemorySystem, 0});
    }
  }
  uint64_t extensions = 0;
  api::gem_create_ext_memory_regions places = {};
  if (!regions.empty()) {
    places.base.name = api::kCreateMemoryRegions;
    places.num_regions = static_cast<uint32_t>(regions.size());
    places.regions = reinterpret_cast<uintptr_t>(regions.data());
    extensions = reinterpret_cast<uintptr_t>(&places);
  }
  api::gem_create_ext_set_pat pat = {};
  const bool shown = (options.use & kScanout) != 0;
  if (capabilities_.caching == i915::CachingBy::kPageTable &&
      (options.heap == Heap::kSystem || shown)) {
    pat.base.name = api::kCreateSetPat;
    pat.base.next_extension = extensions;
    pat.pat_index = shown ? kPatDisplay : kPatCoherent;
    extensions = reinterpret_cast<uintptr_t>(&pat);
  }
  api::gem_create_ext_protected_content content = {};
  const bool is_protected = (options.use & kProtected) != 0;
  if (is_protected) {
    content.base.name = api::kCreateProtectedContent;
    content.base.next_extension = extensions;
    extensions = reinterpret_cast<uintptr_t>(&content);
  }
  uint32_t handle = 0;
  if (extensions == 0) {
    api::gem_create args = {};
    args.size = options.size;
    const absl::Status status = calls().Do("GEM_CREATE", api::kGemCreate, args);
    if (!status.ok()) return status;
    handle = args.handle;
  } else {
    api::gem_create_ext args = {};
    args.size = options.size;
    args.flags = flags;
    args.extensions = extensions;
    const int result = calls().Try(api::kGemCreateExt, args);
    if (result == -ENODEV && is_protected) {
      return absl::UnimplementedError(absl::StrCat(calls().path(), " has no protected content"));
    }
    if (result < 0) return calls().Error(-result, "GEM_CREATE_EXT");
    handle = args.handle;
  }
  const absl::Status status = SetCaching(handle, options);
  if (status.ok()) return handle;
  calls().CloseObject(handle).IgnoreError();
  return status;
}

absl::Status I915Device::SetCaching(uint32_t handle, const MemoryOptions& options) {
  if (capabilities_.caching != i915::CachingBy::kCall) return absl::OkStatus();
  const bool cached = options.heap == Heap::kSystem && properties().coherent;
  api::gem_caching args = {.handle = handle,
                           .caching = cached ? api::kCachingCached : api::kCachingNone};
  if ((options.use & kScanout) != 0) {
    args.caching = api::kCachingDisplay;
  } else if (cached == capabilities_.cached_at_first) {
    return absl::OkStatus();
  }
  return calls().Do("GEM_SET_CACHING", api::kGemSetCaching, args);
}

absl::StatusOr<MemoryId> I915Device::CreateFromUser(absl::Span<uint8_t> bytes) {
  const auto address = reinterpret_cast<uintptr_t>(bytes.data());
  if (bytes.empty() || (address | bytes.size()) % properties().page != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("0x%x bytes at 0x%x of this process are not whole pages of %d KiB",
                        bytes.size(), address, properties().page / 1024));
  }
  api::gem_userptr args = {};
  args.user_ptr = address;
  args.user_size = bytes.size();
  if (capabilities_.has_user_probe) args.flags = api::kUserptrProbe;
  const int result = calls().Try(api::kGemUserptr, args);
  if (result == -ENODEV) {
    return absl::UnimplementedError(
        absl::StrCat(calls().path(), " cannot use memory of processes"));
  }
  if (result == -EFAULT) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "0x%x bytes at 0x%x: not all of it is mapped in this process", bytes.size(), address));
  }
  if (result < 0) return calls().Error(-result, "GEM_USERPTR");
  return AddUser(args.handle, bytes);
}

absl::StatusOr<bool> I915Device::SetNeeded(MemoryId memory, bool needed) {
  api::gem_madvise args = {};
  args.madv = needed ? api::kMadvWillneed : api::kMadvDontneed;
  const absl::Status status = WithObject(memory, [&](const Object& object) {
    args.handle = object.handle;
    return calls().Do("GEM_MADVISE", api::kGemMadvise, args);
  });
  if (!status.ok()) return status;
  return args.retained != 0;
}

// ---- Mapping. -----------------------------------------------------------------------------------

absl::StatusOr<uint64_t> I915Device::MapOffset(uint32_t handle, Heap heap) {
  return mapper_.OffsetOf(handle, mapper_.ModeOf(heap, kOrdinary));
}

absl::StatusOr<absl::Span<uint8_t>> I915Device::MapObjectLocked(const Object& object) {
  return mapper_.Map(object.handle, object.size, mapper_.ModeOf(object.heap, object.use));
}

absl::StatusOr<absl::Span<uint8_t>> I915Device::MapAs(MemoryId memory, MapMode mode) {
  absl::Span<uint8_t> bytes;
  const absl::Status status = WithObject(memory, [&](const Object& object) -> absl::Status {
    if (object.user) {
      return absl::UnimplementedError(
          absl::StrFormat("memory %d is this process' own, and mapped already", memory));
    }
    MutexLock lock(mutex_);
    const auto found = maps_.find({object.handle, mode});
    if (found != maps_.end()) {
      bytes = found->second;
      return absl::OkStatus();
    }
    const auto mapped = mapper_.Map(object.handle, object.size, mode);
    if (!mapped.ok()) return mapped.status();
    bytes = *mapped;
    maps_.emplace(std::pair(object.handle, mode), bytes);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return bytes;
}

void I915Device::ClosedLocked(uint32_t handle) {
  MutexLock lock(mutex_);
  moved_.erase(handle);
  auto map = maps_.lower_bound({handle, MapMode{}});
  while (map != maps_.end() && map->first.first == handle) {
    calls().Unmap(map->second);
    map = maps_.erase(map);
  }
}

// ---- Tiling. ------------------------------------------------------------------------------------

absl::StatusOr<I915Device::TilingInfo> I915Device::SetTiling(MemoryId memory, Tiling tiling,
                                                             uint32_t stride) {
  if (!capabilities_.has_fences) {
    return absl::UnimplementedError(
        absl::StrCat(calls().path(), " has no registers for tiled memory"));
  }
  api::gem_set_tiling args = {};
  const absl::Status status = WithObject(memory, [&](const Object& object) {
    args.handle = object.handle;
    args.tiling_mode = static_cast<uint32_t>(tiling);
    args.stride = tiling == Tiling::kNone ? 0 : stride;
    return calls().Do("GEM_SET_TILING", api::kGemSetTiling, args);
  });
  if (!status.ok()) return status;
  return TilingInfo{tiling, args.swizzle_mode};
}

absl::StatusOr<I915Device::TilingInfo> I915Device::GetTiling(MemoryId memory) {
  if (!capabilities_.has_fences) {
    return absl::UnimplementedError(
        absl::StrCat(calls().path(), " has no registers for tiled memory"));
  }
  api::gem_get_tiling args = {};
  const absl::Status status = WithObject(memory, [&](const Object& object) {
    args.handle = object.handle;
    return calls().Do("GEM_GET_TILING", api::kGemGetTiling, args);
  });
  if (!status.ok()) return status;
  return TilingInfo{static_cast<Tiling>(args.tiling_mode), args.swizzle_mode};
}

// ---- Contexts. ----------------------------------------------------------------------------------

absl::StatusOr<uint32_t> I915Device::CreateContext(const ContextOptions& options) {
  return contexts_.Create(options);
}

absl::Status I915Device::DestroyContext(uint32_t context) { return contexts_.Destroy(context); }

absl::StatusOr<ContextState> I915Device::StateOf(uint32_t space, uint32_t context) {
  return contexts_.StateOf(space, context);
}

// ---- Addresses. ---------------------------------------------------------------------------------

absl::Status I915Device::BindLocked(uint32_t space, absl::Span<const BindStep> steps) {
  if (space != 0 && !capabilities_.has_spaces) {
    return absl::InvalidArgumentError(
        absl::StrFormat("space %d: %s has one set of page tables, space 0", space, calls().path()));
  }
  for (const BindStep& step : steps) {
    if (step.offset != 0 || step.size != step.object->size) {
      return absl::UnimplementedError(absl::StrFormat(
          "0x%x bytes from offset 0x%x: i915 binds all 0x%x bytes of a memory, or none", step.size,
          step.offset, step.object->size));
    }
    if (step.address > properties().address_space ||
        step.size > properties().address_space - step.address) {
      return absl::InvalidArgumentError(
          absl::StrFormat("0x%x bytes at 0x%x go past the end of the address space, 0x%x",
                          step.size, step.address, properties().address_space));
    }
  }
  // The kernel learns of it with the jobs that list the memory.
  return absl::OkStatus();
}

}  // namespace packsmith::gpu
