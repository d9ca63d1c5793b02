// What i915 says of a device and of itself.
#ifndef PACKSMITH_RUNTIME_KERNEL_I915_CAPABILITIES_H_
#define PACKSMITH_RUNTIME_KERNEL_I915_CAPABILITIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/kernel/drm/calls.h"
#include "runtime/kernel/drm/properties.h"
#include "runtime/kernel/uapi/i915.h"

namespace packsmith::gpu::i915 {

// How the GPU's accesses to system memory are made coherent with the CPU's caches, or not.
enum class CachingBy : uint8_t {
  kCall,       // SET_CACHING
  kPageTable,  // the entry of the table of page attributes with which the memory is created
  kNothing,    // nothing can be chosen
};

// Engines of one class, which a job names.
struct EngineKind {
  uint32_t ring = 0;  // uapi::i915::ExecRing, for contexts without engines of their own
  std::vector<uapi::i915::engine_class_instance> instances;
};

struct Capabilities {
  DeviceProperties properties;
  std::vector<EngineKind> engines;  // those of properties.engines, in their order

  // Contexts have address spaces (full PPGTT), and engines that are chosen when they are made.
  bool has_spaces = false;
  bool has_batch_first = false;
  bool has_timeline_fences = false;  // submissions wait for and signal points of timelines
  bool has_async = false;            // objects that are not synchronized with other processes
  bool has_capture = false;          // objects that are part of dumps of hangs
  // … also in contexts that are recoverable. Source: Linux, i915_gem_execbuffer.c.
  bool captures_if_recoverable = false;
  // Post-sync writes go through the global page table, in which what they write to must be bound:
  // GenerationFacts::writes_are_global.
  bool writes_are_global = false;
  bool has_map_offset = false;  // MMAP_OFFSET, since Linux 5.7; else MMAP and MMAP_GTT
  bool has_user_probe = false;  // USERPTR finds what the process has not mapped
  bool has_fences = false;      // registers for tiled memory: SET_TILING
  bool cpu_sees_all_local = true;
  CachingBy caching = CachingBy::kNothing;
  // What memory has that was just created: CPU and GPU share a cache.
  bool cached_at_first = false;
};

// FailedPrecondition if the kernel is too old; the calls' errors.
absl::StatusOr<Capabilities> AskCapabilities(const Calls& calls);

// The place in `engines` of those that a job calls `name`: a name of DeviceProperties, or
// "blitter", which is "copy". Empty: there is none.
std::optional<size_t> FindEngine(const Capabilities& capabilities, absl::string_view name);

}  // namespace packsmith::gpu::i915

#endif  // PACKSMITH_RUNTIME_KERNEL_I915_CAPABILITIES_H_
