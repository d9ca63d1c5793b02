// What devices of all kernel drivers are derived from: memory, page tables, fences, and the order
// in which a job is checked, handed to the kernel, and waited for. Users have drm_device.h.
#ifndef PACKSMITH_RUNTIME_KERNEL_DRM_DRM_DEVICE_BASE_H_
#define PACKSMITH_RUNTIME_KERNEL_DRM_DRM_DEVICE_BASE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/base/unique_fd.h"
#include "runtime/kernel/drm/calls.h"
#include "runtime/kernel/drm/drm_device.h"
#include "runtime/kernel/drm/fences.h"
#include "runtime/kernel/drm/properties.h"
#include "runtime/kernel/drm/timelines.h"
#include "runtime/memory/device.h"
#include "runtime/memory/page_table.h"

namespace packsmith::gpu {

class DrmDeviceBase : public DrmDevice {
 public:
  ~DrmDeviceBase() override;

  const DeviceProperties& properties() const override { return properties_; }
  uint64_t page() const override { return properties_.page; }
  uint64_t address_space() const override { return properties_.address_space; }
  std::string generation() const override { return generation_; }

  absl::StatusOr<MemoryId> Create(const MemoryOptions& options) override;
  absl::Status Destroy(MemoryId memory) override;
  absl::StatusOr<absl::Span<uint8_t>> Map(MemoryId memory) override;
  absl::Status Bind(const PageBinding& binding) override { return BindAll({&binding, 1}); }
  absl::Status BindAll(absl::Span<const PageBinding> bindings) override;
  absl::Status Unbind(uint32_t space, uint64_t address, uint64_t size) override;
  absl::Status UnbindAll(absl::Span<const PageBinding> bindings) override;
  absl::StatusOr<Fence> Submit(const Job& job) override;
  absl::StatusOr<bool> Wait(Fence fence, absl::Duration timeout) override;

  HeapCaching CachingOf(Heap heap, uint8_t use) const override;
  absl::StatusOr<UniqueFd> Export(MemoryId memory) override;
  absl::StatusOr<Imported> Import(int dma_buf) override;
  absl::StatusOr<UniqueFd> ExportFence(Fence fence) override;
  absl::StatusOr<Fence> ImportFence(int sync_file) override;
  absl::StatusOr<Fence> ImportUses(MemoryId memory, bool to_write) override;
  absl::Status ExportUse(MemoryId memory, Fence fence, bool written) override;
  absl::StatusOr<KernelTimelines*> timelines() override;

 protected:
  // What the drivers' devices know of a memory.
  struct Object {
    uint32_t handle = 0;  // the kernel's; kNoHandle: it has none; 0: the place is unused
    uint32_t generation = 1;
    uint64_t size = 0;
    Heap heap = Heap::kSystem;
    uint8_t use = kOrdinary;
    uint32_t bindings = 0;
    absl::Span<uint8_t> mapped;
    bool user = false;  // memory of this process, at `mapped`
    uint64_t seen = 0;  // the last job that lists it
    size_t place = 0;   // in that job's list
    // Where it was bound last, which is where jobs usually have it.
    uint32_t space = 0;
    uint64_t address = 0;  // plain
    PageTable::Pages pages;
  };
  // Pages that were checked, or that are bound.
  struct BindStep {
    uint64_t address = 0;  // plain
    uint64_t size = 0;
    const Object* object = nullptr;
    uint64_t offset = 0;
    bool writable = true;
  };
  // A resident of a job that was checked.
  struct JobObject {
    uint32_t handle = 0;
    uint64_t address = 0;  // plain
    uint64_t size = 0;
    bool written = false;
    uint8_t use = kOrdinary;
  };
  // One of a job's relocations that was checked; `in` and `target` are places in its objects.
  struct JobRelocation {
    size_t in = 0, target = 0;
    uint64_t offset = 0;
    uint32_t delta = 0;
    bool written = false;
  };
  // A job on its way to the kernel.
  struct Submission {
    const Job& job;
    uint64_t batch_address;  // plain
    size_t batch_object;     // in `objects`
    absl::Span<const JobObject> objects;
    absl::Span<const JobRelocation> relocations;  // empty unless the device moves memory
    absl::Span<const uint32_t> waits;             // syncobjs
    uint32_t signals;                             // a syncobj; 0: the job has no fence
    absl::Span<const SyncobjPoint> wait_points, signal_points;
  };

  // `dump`: where the kernel reports hangs, for messages. Without checks_residents, jobs' residents
  // are not looked at, and submissions have no objects: for kernels that need no list of them.
  DrmDeviceBase(std::shared_ptr<Connection> connection, std::string generation,
                DeviceProperties properties, std::string dump, bool checks_residents = true);

  // Calls of the driver. Each changes nothing if it fails. Those that are named ...Locked are
  // called with a lock held, and must not call methods of Device.
  virtual absl::StatusOr<uint32_t> CreateObject(const MemoryOptions& options) = 0;
  // The offset for mmap() of an object, for a CPU that sees it as its heap says.
  virtual absl::StatusOr<uint64_t> MapOffset(uint32_t handle, Heap heap) = 0;
  // All of an object, for the CPU: by MapOffset(), unless the driver has another way.
  virtual absl::StatusOr<absl::Span<uint8_t>> MapObjectLocked(const Object& object);
  // The handle was closed: the kernel may give its number to another object.
  virtual void ClosedLocked(uint32_t handle) { (void)handle; }
  virtual absl::Status BindLocked(uint32_t space, absl::Span<const BindStep> steps) {
    (void)space, (void)steps;
    return absl::OkStatus();
  }
  virtual absl::Status UnbindLocked(uint32_t space, absl::Span<const BindStep> steps) {
    (void)space, (void)steps;
    return absl::OkStatus();
  }
  // Whether submissions may have points; if the kernel has timelines at all.
  virtual bool takes_points() const { return true; }
  // Hands the job to the kernel, which returns at once. Several threads may be in it.
  virtual absl::Status Execute(const Submission& submission) = 0;

  // The handle of memory of this process where the kernel gives none.
  static constexpr uint32_t kNoHandle = ~uint32_t{0};

  // A memory for an object that the driver made in another way.
  MemoryId Add(uint32_t handle, uint64_t size, Heap heap, uint8_t use);
  // … for memory of this process, which outlives it. InvalidArgument unless it is whole pages.
  absl::StatusOr<MemoryId> AddUser(uint32_t handle, absl::Span<uint8_t> bytes);
  absl::StatusOr<uint32_t> HandleOf(MemoryId memory);
  // Calls `use` with the memory's object, which lives meanwhile: a lock is held. NotFound if there
  // is no such memory.
  absl::Status WithObject(MemoryId memory, absl::FunctionRef<absl::Status(const Object&)> use);
  // Submit(), with another way to hand the job to the kernel.
  absl::StatusOr<Fence> SubmitBy(const Job& job,
                                 absl::FunctionRef<absl::Status(const Submission&)> execute);
  // … for a job of which nobody is told that it is done.
  absl::Status SubmitWithoutFenceBy(const Job& job,
                                    absl::FunctionRef<absl::Status(const Submission&)> execute);
  // What the kernel said to a job, with the context that it is of.
  absl::Status SubmitError(int error, absl::string_view call, const Job& job) const;
  // Whether a job of the context has failed, as far as that was found out: of those that were
  // waited for, and of the oldest of those that may still run, which are asked now.
  bool HasFailed(uint32_t space, uint32_t context);
  const Calls& calls() const { return calls_; }

 private:
  // Buffers that submissions use in turn, so that submitting does not allocate.
  struct Scratch {
    std::vector<JobObject> objects;
    std::vector<JobRelocation> relocations;
    std::vector<uint32_t> waits;
    SyncobjTimelines::Held points;
  };

  static constexpr unsigned kSlotBits = 22;

  // Checks one and enters it in the table.
  absl::StatusOr<BindStep> Enter(const PageBinding& binding, PageTable& table)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Finds one that is bound, and takes it out of the table.
  absl::StatusOr<PageTable::Pages> TakeOut(const PageBinding& binding, PageTable& table,
                                           BindStep& step) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  MemoryId AddLocked(uint32_t handle, uint64_t size, Heap heap, uint8_t use)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<uint64_t> PlainAddress(uint64_t address) const;
  // Null: there is no such memory, or no longer.
  Object* Find(MemoryId memory) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CloseHandle(uint32_t handle) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Check(const Job& job, Scratch& scratch, uint64_t& batch, size_t& batch_object)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckRelocations(const Job& job, Scratch& scratch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Checks a job and hands it over. Sets `signals`, unless it is null, to a syncobj, which is the
  // caller's afterwards, also if the job was not submitted.
  absl::Status Run(const Job& job, uint32_t* signals,
                   absl::FunctionRef<absl::Status(const Submission&)> execute);
  // Null: it is not bound there.
  const PageTable::Pages* BoundAt(const Object& object, MemoryId memory, uint32_t space,
                                  uint64_t address) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::unique_ptr<Scratch> TakeScratch();
  void ReturnScratch(std::unique_ptr<Scratch> scratch);

  const Calls calls_;
  const std::string generation_;
  const DeviceProperties properties_;
  const bool checks_residents_;
  Fences fences_;
  SyncobjTimelines timelines_;

  mutable Mutex mutex_;
  std::deque<Object> objects_ ABSL_GUARDED_BY(mutex_);  // by the low bits of MemoryId, from 1
  std::vector<uint32_t> unused_ ABSL_GUARDED_BY(mutex_);
  // Memory of one handle: imports of what the file has already.
  absl::flat_hash_map<uint32_t, uint32_t> users_of_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint32_t, PageTable> spaces_ ABSL_GUARDED_BY(mutex_);
  uint64_t jobs_ ABSL_GUARDED_BY(mutex_) = 0;  // that were checked
  std::vector<std::unique_ptr<Scratch>> scratch_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_KERNEL_DRM_DRM_DEVICE_BASE_H_
