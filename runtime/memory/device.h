// What the runtime needs from a kernel driver. One implementation for each kernel interface;
// HostDevice needs no kernel.

#ifndef PACKSMITH_RUNTIME_MEMORY_DEVICE_H_
#define PACKSMITH_RUNTIME_MEMORY_DEVICE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/base/lifetime.h"
#include "runtime/base/unique_fd.h"
#include "runtime/memory/kernel_timelines.h"

namespace packsmith::gpu {

// Where memory is, and how the CPU sees it.
enum class Heap : uint8_t {
  kSystem,            // system memory, cached by the CPU and coherent with the GPU
  kSystemUncached,    // system memory, write-combined
  kSystemCompressed,  // system memory that the GPU may keep compressed; the CPU cannot see it
  kLocal,             // the GPU's own memory; the CPU need not see it
  kLocalVisible,      // the part of it that the CPU sees
  kLocalPreferred,    // the GPU's own memory, or system memory when that is full
  kLocalCompressed,   // the GPU's own memory, which it may keep compressed; the CPU cannot see it
};
inline constexpr int kHeaps = 7;

constexpr bool CpuCanSee(Heap heap) {
  return heap != Heap::kSystemCompressed && heap != Heap::kLocal && heap != Heap::kLocalCompressed;
}

// Special uses of memory: a set of flags.
enum MemoryUse : uint8_t {
  kOrdinary = 0,
  kScanout = 1,    // shown on a display
  kShared = 2,     // with other processes
  kProtected = 4,  // content that only protected contexts may read
  kCaptured = 8,   // part of the kernel's dumps of hangs
};

// How the CPU reaches memory that Map() returns.
enum class CpuView : uint8_t {
  kNone,           // it does not
  kCached,         // through its caches
  kWriteCombined,  // past them: writes are collected, reads are slow
};

// What a device makes of a heap.
struct HeapCaching {
  bool available = true;  // memory of it can be created
  CpuView cpu = CpuView::kCached;
  // The GPU sees what the CPU writes, and the reverse. Otherwise lines of the CPU's caches must be
  // written back before a job, and dropped after it: Buffers::FlushForGpu(), InvalidateForCpu().
  bool coherent = true;
};

struct MemoryOptions {
  uint64_t size = 0;  // bytes: whole pages of 4 KiB
  Heap heap = Heap::kSystem;
  uint8_t use = kOrdinary;  // MemoryUse, ORed
};

// The kernel's name of a piece of memory. 0 is none.
enum class MemoryId : uint32_t {};

// Pages of GPU addresses: [address, address + size) in `space` is memory from `offset` on.
struct PageBinding {
  uint32_t space = 0;    // one for each set of page tables
  uint64_t address = 0;  // canonical; whole pages, as are size and offset
  uint64_t size = 0;
  MemoryId memory = {};
  uint64_t offset = 0;
  bool writable = true;  // by the GPU
};

// Memory that a job uses.
struct Resident {
  MemoryId memory = {};
  uint64_t address = 0;  // where its first byte is bound in the job's space
  bool written = false;
  uint64_t size = 0;  // bytes, of all of it: for counting the memory that a job needs
};

// A number for each job, from 1 up. 0 means no job, and counts as done.
using Fence = uint64_t;

// A base address that is set through the kernel driver, on GPUs where no packet sets it; by its
// name in the GPU's description.
struct JobBase {
  absl::string_view name;
  uint64_t address = 0;
};

// A word in memory that holds an address of another memory, for kernels that move memory.
struct Relocation {
  MemoryId in = {};     // the memory that has the word
  uint64_t offset = 0;  // of the word in it, in bytes: a multiple of 4
  MemoryId target = {};
  uint64_t delta = 0;    // the word is the address of the target's first byte, plus this
  bool written = false;  // the GPU writes to the target through this address
};

struct Job {
  uint32_t space = 0;
  uint32_t context = 0;
  std::string engine = "render";  // "compute", "copy", ...: as the device knows it
  uint64_t batch_address = 0;
  uint64_t batch_length = 0;                  // bytes, for information; a packet ends the batch
  absl::Span<const Resident> residents = {};  // each memory once, the batch's among them
  absl::Span<const Fence> after = {};         // begins when these are done
  absl::Span<const JobBase> bases = {};
  // For devices that move memory (DeviceProperties::moves_memory); others ignore them. All words of
  // the residents that hold addresses of residents, as they are bound: the kernel corrects those
  // whose target it has moved. Without any, nothing is moved: the job fails if the addresses are
  // not free (ResourceExhausted).
  absl::Span<const Relocation> relocations = {};
  // Values of Device::timelines(): the job begins when those to wait for are reached, which must
  // have been promised (else FailedPrecondition), and signals the others when it is done.
  absl::Span<const KernelPoint> waits = {}, signals = {};
};

// In what order the kernel runs jobs of different contexts. Without the right to it (CAP_SYS_NICE),
// kHigh and kHighest are PermissionDenied.
enum class Priority : uint8_t { kLow, kNormal, kHigh, kHighest };

struct ContextOptions {
  uint32_t space = 0;
  Priority priority = Priority::kNormal;
  // After a job that hung, the context goes on with the next one, whose state is then not what the
  // job before left. Otherwise it is lost.
  bool recoverable = true;
  bool protects = false;  // for memory of MemoryUse kProtected
};

enum class ContextState : uint8_t {
  kGood,
  kHung,   // one of its jobs hung or faulted
  kReset,  // the GPU was reset because of another context, while a job of this one ran
  kLost,   // it takes no more jobs: it hung, and is not recoverable, or hung too often
};

// Thread-safe. When a call fails, nothing has changed.
class Device {
 public:
  virtual ~Device();

  // Memory of zeros. ResourceExhausted if there is none left.
  virtual absl::StatusOr<MemoryId> Create(const MemoryOptions& options) = 0;
  // FailedPrecondition if some of it is bound. Must not be in use by a job.
  virtual absl::Status Destroy(MemoryId memory) = 0;
  // All of it, for the CPU to read and write until Destroy(); calls return the same place.
  // FailedPrecondition if its heap is one that the CPU cannot see.
  virtual absl::StatusOr<absl::Span<uint8_t>> Map(MemoryId memory) = 0;
  // AlreadyExists if a page of it is bound. The caller plans the page tables: see AddressSpace.
  virtual absl::Status Bind(const PageBinding& binding) = 0;
  // Binds all of these or none, in one call of the kernel if it has such a call. All are of one
  // space.
  virtual absl::Status BindAll(absl::Span<const PageBinding> bindings);
  // Unbinds what one call bound, or one element of a list. NotFound if none is exactly that.
  virtual absl::Status Unbind(uint32_t space, uint64_t address, uint64_t size) = 0;
  // Unbinds all of these or none, as BindAll() binds them. Each is as it was bound.
  virtual absl::Status UnbindAll(absl::Span<const PageBinding> bindings);
  // Starts a job and returns its fence. InvalidArgument if a resident is not bound at its address,
  // or if there is no such engine.
  virtual absl::StatusOr<Fence> Submit(const Job& job) = 0;
  // Whether the job was done before the timeout; a timeout of zero polls. A job that faulted or
  // hung is an error: Aborted.
  virtual absl::StatusOr<bool> Wait(Fence fence, absl::Duration timeout) = 0;
  // A context for jobs of one space: Job::context. Context 0 exists in each space. Jobs of one
  // context and engine begin in the order in which they are submitted. Unimplemented unless the
  // device has contexts; those that do not accept any number in Job::context.
  virtual absl::StatusOr<uint32_t> CreateContext(const ContextOptions& options);
  // Its jobs must be done.
  virtual absl::Status DestroyContext(uint32_t context);
  virtual absl::StatusOr<ContextState> StateOf(uint32_t space, uint32_t context);
  // Sets whether a memory's content is needed. While it is not, the system may reclaim the memory.
  // When it is set to true again, returns whether the memory is still there; if not, only Destroy()
  // may be called. Devices need not implement it.
  virtual absl::StatusOr<bool> SetNeeded(MemoryId memory, bool needed);
  // How the CPU sees memory of a heap, with these uses (MemoryUse, ORed). The same at all times.
  virtual HeapCaching CachingOf(Heap heap, uint8_t use) const;

  // Memory for other processes and devices, as a dma-buf. FailedPrecondition unless it was created
  // with MemoryUse kShared. Unimplemented, as the three calls below, unless the device has a
  // kernel.
  virtual absl::StatusOr<UniqueFd> Export(MemoryId memory);
  // Another's memory, all of it; the caller keeps the descriptor. Importing it again returns
  // another MemoryId. Its heap is Heap::kSystem, its use kShared.
  struct Imported {
    MemoryId memory = {};
    uint64_t size = 0;  // bytes
  };
  virtual absl::StatusOr<Imported> Import(int dma_buf);
  // A job's fence for other processes and devices, as a sync file, and another's fence for
  // Job::after; the caller keeps the descriptor.
  virtual absl::StatusOr<UniqueFd> ExportFence(Fence fence);
  virtual absl::StatusOr<Fence> ImportFence(int sync_file);

  // Timelines that are shared with other processes and devices, as long as this device lives.
  // Unimplemented unless the device has a kernel, of Linux 5.8 or later.
  virtual absl::StatusOr<KernelTimelines*> timelines();

  // For memory with MemoryUse kShared and programs that exchange no fences, such as displays. A
  // fence of what others do with the memory: write to it, and with `to_write` also read it; and a
  // job's fence for others. Kernels that order jobs by the shared memory that they list (i915) need
  // neither. Unimplemented before Linux 6.0.
  virtual absl::StatusOr<Fence> ImportUses(MemoryId memory, bool to_write);
  virtual absl::Status ExportUse(MemoryId memory, Fence fence, bool written);

  // Names the content of a part of a memory, for dumps and messages. Empty: removes the name.
  // Devices need not implement it.
  virtual void SetName(MemoryId memory, uint64_t offset, uint64_t size, absl::string_view name);

  // The generation whose packets it takes, by the XML's name ("gfx9"): batches of other generations
  // refuse to be written. Empty: not known.
  virtual std::string generation() const;

  // What sizes and addresses of bound memory must be multiples of, in bytes: a power of two, at
  // least 4096.
  virtual uint64_t page() const { return 4096; }

  // Bytes of each address space.
  virtual uint64_t address_space() const { return uint64_t{1} << 48; }

  // For those that refer to this device.
  Lifetime& lifetime() const { return lifetime_; }

 private:
  mutable Lifetime lifetime_{"device"};
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_DEVICE_H_
