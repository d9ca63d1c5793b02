// Device on Linux's driver for Intel's GPUs up to Gfx12.5.
//
//   absl::StatusOr<std::unique_ptr<Connection>> node = OpenNode("/dev/dri/renderD128");
//   auto device = I915Device::Open(*std::move(node), {});
//   ...
//   absl::StatusOr<Fence> fence = (*device)->Submit(job);
//
// Memory is at the addresses where it was bound: the kernel binds what a job lists when the job is
// submitted. On GPUs whose contexts share the page table of the whole system (Gfx4 to Gfx7,
// DeviceProperties::moves_memory) another program's memory may be there; see Job::relocations.
#ifndef PACKSMITH_RUNTIME_KERNEL_I915_I915_DEVICE_H_
#define PACKSMITH_RUNTIME_KERNEL_I915_I915_DEVICE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/kernel/drm/connection.h"
#include "runtime/kernel/drm/drm_device_base.h"
#include "runtime/kernel/i915/capabilities.h"
#include "runtime/kernel/i915/contexts.h"
#include "runtime/kernel/i915/exec_lists.h"
#include "runtime/kernel/i915/mapper.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

// Besides what Device says:
// - A memory is bound whole (offset 0, all of its size), once in each job. The GPU may write to it
//   even if it was not bound as writable. On discrete GPUs sizes and addresses are multiples of
//   DeviceProperties::page.
// - Memory with kShared or kScanout is synchronized with other programs by what Resident::written
//   says; other memory by fences alone.
// - Memory with kCaptured is part of dumps of hangs; on discrete GPUs and from Gfx12.7 on only in
//   contexts that are not recoverable, of which context 0 is none.
// - A job that the kernel refuses because its context was lost is Aborted.
class I915Device : public DrmDeviceBase {
 public:
  struct Options {
    // The generation that the GPU must have, by the XML's name or alias. Empty: any whose
    // description has the PCI id.
    std::string generation = {};
  };

  // InvalidArgument if it is another driver's node; FailedPrecondition if the kernel is too old, or
  // the GPU of another generation; NotFound if no description has the PCI id, and no generation is
  // given.
  static absl::StatusOr<std::unique_ptr<I915Device>> Open(std::unique_ptr<Connection> connection,
                                                          const Options& options);
  ~I915Device() override;

  absl::StatusOr<uint32_t> CreateContext(const ContextOptions& options) override;
  absl::Status DestroyContext(uint32_t context) override;
  absl::StatusOr<ContextState> StateOf(uint32_t space, uint32_t context) override;
  absl::StatusOr<bool> SetNeeded(MemoryId memory, bool needed) override;

  // Memory of this process, which must be mapped until Destroy(): whole pages. Unimplemented on
  // GPUs that do not see the CPU's caches; InvalidArgument if not all of it is mapped.
  absl::StatusOr<MemoryId> CreateFromUser(absl::Span<uint8_t> bytes);

  using MapMode = i915::MapMode;
  // Another mapping of all of a memory, until Destroy(). Calls with the same mode return the same
  // place. Unimplemented if the device or its kernel has no such mode.
  absl::StatusOr<absl::Span<uint8_t>> MapAs(MemoryId memory, MapMode mode);

  // Tells the kernel how a memory is tiled: for MapMode::kAperture, and for other programs that
  // import it. Unimplemented where no hardware looks at it (discrete GPUs, and from Gfx12.7 on).
  enum class Tiling : uint8_t { kNone, kX, kY };
  struct TilingInfo {
    Tiling tiling = Tiling::kNone;
    // Bits of an address that are combined into its bit 6, as i915 numbers such combinations
    // (I915_BIT_6_SWIZZLE_*).
    uint32_t swizzle = 0;
  };
  // `stride`: bytes of a row, a multiple of a tile's 512 (X) or 128 (Y). Before jobs use it.
  absl::StatusOr<TilingInfo> SetTiling(MemoryId memory, Tiling tiling, uint32_t stride);
  absl::StatusOr<TilingInfo> GetTiling(MemoryId memory);

 protected:
  absl::StatusOr<uint32_t> CreateObject(const MemoryOptions& options) override;
  absl::StatusOr<uint64_t> MapOffset(uint32_t handle, Heap heap) override;
  absl::StatusOr<absl::Span<uint8_t>> MapObjectLocked(const Object& object) override;
  absl::Status BindLocked(uint32_t space, absl::Span<const BindStep> steps) override;
  void ClosedLocked(uint32_t handle) override;
  absl::Status Execute(const Submission& submission) override;
  bool takes_points() const override { return capabilities_.has_timeline_fences; }

 private:
  I915Device(std::shared_ptr<Connection> connection, std::string generation, std::string dump,
             i915::Capabilities capabilities);

  absl::Status SetCaching(uint32_t handle, const MemoryOptions& options);
  absl::Status Refused(int error, const Job& job);

  std::unique_ptr<i915::ExecLists> TakeLists();
  void ReturnLists(std::unique_ptr<i915::ExecLists> lists);
  void FillObjects(const Submission& submission, bool captures, i915::ExecLists& lists) const;
  static void FillRelocations(const Submission& submission, i915::ExecLists& lists);
  static void AddPoints(const Submission& submission, i915::ExecLists& lists);
  // Which of a job's objects the kernel has moved before.
  void FindMoved(const Submission& submission, i915::ExecLists& lists);
  void NoteMoved(const Submission& submission, const i915::ExecLists& lists);

  const std::string dump_;
  const i915::Capabilities capabilities_;
  i915::Contexts contexts_;
  const i915::Mapper mapper_;

  Mutex mutex_;
  std::vector<std::unique_ptr<i915::ExecLists>> lists_ ABSL_GUARDED_BY(mutex_);
  // Where the kernel has objects that it has ever moved from where they were bound. By handle.
  absl::flat_hash_map<uint32_t, uint64_t> moved_ ABSL_GUARDED_BY(mutex_);
  // Further mappings, by handle and mode.
  std::map<std::pair<uint32_t, MapMode>, absl::Span<uint8_t>> maps_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_I915_I915_DEVICE_H_
