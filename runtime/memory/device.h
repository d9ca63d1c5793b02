// What a kernel driver has to do for the runtime. One implementation for each kernel interface;
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

namespace packsmith::gpu {

// Where memory lies and how the CPU sees it.
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

// A set of what else memory is for.
enum MemoryUse : uint8_t {
  kOrdinary = 0,
  kScanout = 1,    // shown on a display
  kShared = 2,     // with other processes
  kProtected = 4,  // content that only protected contexts may read
  kCaptured = 8,   // to be part of the kernel's dumps of hangs
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
  uint64_t size = 0;  // bytes, of all of it: for those who count what a job needs
};

// A number for each job, from 1 up. 0 is no job, and done.
using Fence = uint64_t;

// A base address that the kernel driver is told, on GPUs where no packet says it; by the name that
// the GPU's description has for it.
struct JobBase {
  absl::string_view name;
  uint64_t address = 0;
};

struct Job {
  uint32_t space = 0;
  uint32_t context = 0;
  std::string engine = "render";  // "compute", "copy", ...: as the device knows it
  uint64_t batch_address = 0;
  uint64_t batch_length = 0;  // bytes, for those who want to know; the batch ends where it says so
  absl::Span<const Resident> residents = {};  // each memory once, the batch's among them
  absl::Span<const Fence> after = {};         // begins when these are done
  absl::Span<const JobBase> bases = {};
};

// Thread-safe. When a call fails, nothing has changed.
class Device {
 public:
  virtual ~Device() = default;

  // Memory of zeros. ResourceExhausted if there is none left.
  virtual absl::StatusOr<MemoryId> Create(const MemoryOptions& options) = 0;
  // FailedPrecondition if some of it is bound. Must not be in use by a job.
  virtual absl::Status Destroy(MemoryId memory) = 0;
  // All of it, for the CPU to read and write until Destroy(); calls return the same place.
  // FailedPrecondition if its heap is one that the CPU cannot see.
  virtual absl::StatusOr<absl::Span<uint8_t>> Map(MemoryId memory) = 0;
  // AlreadyExists if a page of it is bound. Page tables are the caller's to plan: see AddressSpace.
  virtual absl::Status Bind(const PageBinding& binding) = 0;
  // What was bound by one call. NotFound if that is not what was bound.
  virtual absl::Status Unbind(uint32_t space, uint64_t address, uint64_t size) = 0;
  // Starts a job; its fence. InvalidArgument if a resident is not bound where it says, or if there
  // is no such engine.
  virtual absl::StatusOr<Fence> Submit(const Job& job) = 0;
  // Whether the job was done before the time was over; a timeout of zero asks. A job that faulted
  // or hung is an error: Aborted.
  virtual absl::StatusOr<bool> Wait(Fence fence, absl::Duration timeout) = 0;
  // Whether what is in a memory matters. While it does not, the system may take the memory away
  // when it is short of it. Back to true: whether it is still there; if not, it is good for
  // Destroy() only. Only for devices that have a use for it.
  virtual absl::StatusOr<bool> SetNeeded(MemoryId memory, bool needed) {
    (void)memory, (void)needed;
    return true;
  }
  // What lies in a part of a memory, for dumps and messages. Empty: nothing any more. Only for
  // devices that have a use for it.
  virtual void SetName(MemoryId memory, uint64_t offset, uint64_t size, absl::string_view name) {
    (void)memory, (void)offset, (void)size, (void)name;
  }

  // Which generation's packets it takes, by the XML's name ("gfx9"): batches of others refuse to be
  // written. Empty: it does not say.
  virtual std::string generation() const { return {}; }

  // For those that refer to this device.
  Lifetime& lifetime() const { return lifetime_; }

 private:
  mutable Lifetime lifetime_{"device"};
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_DEVICE_H_
