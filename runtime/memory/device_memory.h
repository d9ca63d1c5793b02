// What a device does with memory: pieces of it, and the page tables that say where the GPU sees
// them.
#ifndef PACKSMITH_RUNTIME_MEMORY_DEVICE_MEMORY_H_
#define PACKSMITH_RUNTIME_MEMORY_DEVICE_MEMORY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

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

// What every Device has.
class DeviceMemory {
 public:
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
  // Sets whether a memory's content is needed. While it is not, the system may reclaim the memory.
  // When it is set to true again, returns whether the memory is still there; if not, only Destroy()
  // may be called. Devices need not implement it.
  virtual absl::StatusOr<bool> SetNeeded(MemoryId memory, bool needed);
  // How the CPU sees memory of a heap, with these uses (MemoryUse, ORed). The same at all times.
  virtual HeapCaching CachingOf(Heap heap, uint8_t use) const;

  // Names the content of a part of a memory, for dumps and messages. Empty: removes the name.
  // Devices need not implement it.
  virtual void SetName(MemoryId memory, uint64_t offset, uint64_t size, absl::string_view name);

  // What sizes and addresses of bound memory must be multiples of, in bytes: a power of two, at
  // least 4096.
  virtual uint64_t page() const { return 4096; }

  // Bytes of each address space.
  virtual uint64_t address_space() const { return uint64_t{1} << 48; }

 protected:
  ~DeviceMemory() = default;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_DEVICE_MEMORY_H_
