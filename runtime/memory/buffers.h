// Buffers: memory, GPU addresses and a name, together.
//
//   auto buffers = Buffers::Create(device, space, {});
//   absl::StatusOr<Buffer> vertices =
//       (*buffers)->Create({.size = 5000, .zone = other, .name = "vertices"});
//   std::memcpy(vertices->cpu, data, 5000);
//   packet.address = {vertices->address, vertices->handle};   // a packsmith::address
//   ...
//   absl::Status status = (*buffers)->Release(vertices->handle);
//
// Released memory is kept for the next buffer of its kind, up to a limit, and is not reused before
// the GPU is done with it. Small buffers share memory.
//
// Thread-safe.

#ifndef PACKSMITH_RUNTIME_MEMORY_BUFFERS_H_
#define PACKSMITH_RUNTIME_MEMORY_BUFFERS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/base/lifetime.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

// Fits packsmith::address::buffer. 0: no buffer.
using BufferHandle = uint32_t;

struct BufferOptions {
  uint64_t size = 0;  // bytes
  ZoneId zone = {};   // required
  absl::string_view name = {};
  Heap heap = Heap::kSystem;
  uint8_t use = kOrdinary;  // MemoryUse, ORed
  uint64_t alignment = 0;   // of the GPU address: a power of two, or 0
  uint64_t boundary = 0;    // as RangeRequest's
  uint64_t guard = 0;
  Placement placement = Placement::kBest;
  std::optional<uint64_t> address = {};
  bool writable = true;  // by the GPU
  bool zeroed = false;   // the memory is zero, not its last user's content
  // Memory of its own, not shared with other buffers.
  bool dedicated = false;
};

struct Buffer {
  BufferHandle handle = 0;
  uint64_t address = 0;    // GPU address, canonical
  uint64_t size = 0;       // bytes that may be used: at least the requested size
  uint8_t* cpu = nullptr;  // null if the CPU cannot see it
};

// A job's use of a buffer.
struct BufferAccess {
  BufferHandle handle = 0;
  bool written = false;

  friend bool operator==(const BufferAccess&, const BufferAccess&) = default;
};

struct BufferStatistics {
  uint64_t live = 0;           // buffers
  uint64_t live_bytes = 0;     // their sizes
  uint64_t memory_bytes = 0;   // of the device, for all purposes
  uint64_t cached_bytes = 0;   // of these: released, and kept for reuse
  uint64_t lost_bytes = 0;     // of these: unused, and the device has not taken them back yet
  uint64_t waiting_bytes = 0;  // of released buffers that the GPU may still use
  uint64_t slabs = 0;          // memory that small buffers share
  uint64_t created = 0, reused = 0, suballocated = 0;  // origins of all buffers so far
};

class BuffersCore;  // buffers_core.h: private

class Buffers {
 public:
  struct Options {
    uint32_t space = 0;                          // the device's number for the page tables
    uint64_t cache_bytes = uint64_t{256} << 20;  // the most that is kept for reuse
    // Memory that was kept for longer is returned when another buffer is released. iris: a second.
    absl::Duration cache_time = absl::InfiniteDuration();
    std::function<absl::Time()> now = {};  // for cache_time; empty: absl::Now()
    // Buffers up to this size share memory: at most 1 MiB. 0: none do.
    uint64_t largest_shared = uint64_t{1} << 20;
    // Alignment of all memory and of its size: a power of two. 0: that of the device's pages, such
    // as 64 KiB for GPUs with memory of their own.
    uint64_t page = 0;
    // Called with whole lines of the CPU's caches, for memory that is not coherent. Empty:
    // FlushCpuLines() of cpu_cache.h.
    std::function<absl::Status(absl::Span<uint8_t>)> flush_lines = {};
  };

  // `device` and `addresses` must outlive the result; see lifetime.h for what happens otherwise.
  static std::unique_ptr<Buffers> Create(Device& device, AddressSpace& addresses,
                                         const Options& options);
  // Returns all memory to the device. The GPU must be done with it.
  ~Buffers();

  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  // Errors of AddressSpace::Allocate(), among them InvalidArgument for options without a zone, and
  // of the device. If either has no room, memory that is kept for reuse is returned first.
  absl::StatusOr<Buffer> Create(const BufferOptions& options);
  // Several buffers or none: what takes new memory is bound together, in one call where the kernel
  // takes many. Errors as above, with the buffer that they are of: `buffer 2 of 3 ("normals"): …`.
  absl::StatusOr<std::vector<Buffer>> CreateAll(absl::Span<const BufferOptions> options);
  // A buffer of memory that the device got elsewhere: another process's, the program's own, ... In
  // the options, size must be that of all the memory in bytes, and heap and use what it was created
  // with; it cannot be zeroed, nor be shared with other buffers. It is mapped if the CPU can see
  // its heap, and destroyed when the buffer is released. Errors as Create()'s; the caller then
  // still owns the memory.
  absl::StatusOr<Buffer> Adopt(MemoryId memory, const BufferOptions& options);
  // NotFound for handles that are not a buffer's: released, or made up. (A released handle is
  // distinguished from a new one until its place was used 1023 times.) The buffer is released even
  // if the device does not take its memory back, which is another error.
  absl::Status Release(BufferHandle handle);
  // Release() of each, whatever becomes of the others, and the first error. What is not kept for
  // reuse is unbound together.
  absl::Status ReleaseAll(absl::Span<const BufferHandle> handles);
  absl::StatusOr<Buffer> Get(BufferHandle handle) const;
  absl::StatusOr<std::string> Name(BufferHandle handle) const;
  absl::Status SetName(BufferHandle handle, absl::string_view name);
  // The buffer that contains a GPU address. NotFound if none does.
  absl::StatusOr<Buffer> Find(uint64_t address) const;

  // What a job must list for a buffer. Buffers that share memory have the same `memory`.
  absl::StatusOr<Resident> ResidentOf(BufferHandle handle) const;
  // Device::Submit(), with these uses noted as by Use(). If the device has no memory for the job,
  // memory that is kept for reuse is returned, and the job submitted again; the error of a job for
  // which there is not enough even then, ResourceExhausted, lists its largest buffers. The buffers
  // must not be released meanwhile. NotFound as above; then nothing is submitted.
  absl::StatusOr<Fence> Submit(const Job& job, absl::Span<const BufferAccess> uses = {});
  // Tells that a job uses these buffers: those that are released wait for its fence. NotFound if
  // one of the handles is not a buffer's; then none of them is marked.
  absl::Status Use(absl::Span<const BufferAccess> uses, Fence fence);
  // The same for callers that do not know what the job writes: all of them count as written.
  absl::Status Use(absl::Span<const BufferHandle> handles, Fence fence);
  // The jobs that must be done before a job with these uses, if they run on other engines: those
  // that write what it reads, and those that read or write what it writes. Each once, without jobs
  // that are done. For Job::after. NotFound as above.
  absl::StatusOr<std::vector<Fence>> JobsBefore(absl::Span<const BufferAccess> uses);
  // Waits until the CPU may read the buffer, or write to it; false if the timeout passes first. A
  // timeout of zero polls. NotFound as above; errors of Device::Wait(), for jobs that failed.
  absl::StatusOr<bool> Wait(BufferHandle handle, bool to_write, absl::Duration timeout);

  // For memory that is not coherent (Device::CachingOf()): makes what the CPU has written visible
  // to jobs that are submitted afterwards, and what jobs have written, that are done, visible to
  // the CPU, which must not have touched these lines meanwhile. Bytes from `offset` on; lines at
  // the ends are flushed as a whole. Nothing happens where memory is coherent. OutOfRange if the
  // buffer does not have these bytes; FailedPrecondition if the CPU cannot see it; NotFound as
  // above; errors of Options::flush_lines.
  absl::Status FlushForGpu(BufferHandle handle, uint64_t offset, uint64_t size) const;
  absl::Status InvalidateForCpu(BufferHandle handle, uint64_t offset, uint64_t size) const;
  // Whether these do anything for ordinary memory of a heap. The same at all times.
  bool NeedsFlush(Heap heap) const;

  // Returns memory that is kept for reuse and that the GPU is done with, down to `keep` bytes.
  absl::Status Trim(uint64_t keep = 0);
  BufferStatistics statistics() const;
  // Where buffers are.
  const AddressSpace& addresses() const;
  // The device's.
  std::string generation() const;

  // For those that refer to these buffers.
  Lifetime& lifetime() const;

  // The size to which `size` is rounded up, so that the memory can be reused for similar sizes: 4,
  // 8, 12 KiB, then four sizes per power of two. Sizes above 64 MiB are only rounded up to pages.
  static uint64_t ClassSize(uint64_t size);

 private:
  friend class BufferSharing;

  explicit Buffers(std::unique_ptr<BuffersCore> core);

  const std::unique_ptr<BuffersCore> core_;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_BUFFERS_H_
