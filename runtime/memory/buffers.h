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

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/base/handles.h"
#include "runtime/base/lifetime.h"
#include "runtime/base/mutex.h"
#include "runtime/base/unique_fd.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/cpu_cache.h"
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

class Buffers {
 public:
  struct Options {
    uint32_t space = 0;                          // the device's number for the page tables
    uint64_t cache_bytes = uint64_t{256} << 20;  // the most that is kept for reuse
    // Memory that was kept for longer is returned when another buffer is released. iris: a second.
    absl::Duration cache_time = absl::InfiniteDuration();
    std::function<absl::Time()> now = absl::Now;  // for cache_time
    // Buffers up to this size share memory: at most 1 MiB. 0: none do.
    uint64_t largest_shared = uint64_t{1} << 20;
    // Alignment of all memory and of its size: a power of two. 0: that of the device's pages, such
    // as 64 KiB for GPUs with memory of their own.
    uint64_t page = 0;
    // Called with whole lines of the CPU's caches, for memory that is not coherent.
    std::function<absl::Status(absl::Span<uint8_t>)> flush_lines = FlushCpuLines;
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
  // A buffer of memory that the device got elsewhere: another process's, the program's own, ... In
  // the options, size must be that of all the memory in bytes, and heap and use what it was created
  // with; it cannot be zeroed, nor be shared with other buffers. It is mapped if the CPU can see
  // its heap, and destroyed when the buffer is released. Errors as Create()'s; the caller then
  // still owns the memory.
  absl::StatusOr<Buffer> Adopt(MemoryId memory, const BufferOptions& options);
  // A buffer for other processes and devices, as a dma-buf: one with MemoryUse kShared, else
  // FailedPrecondition. Such memory is never kept for reuse: what the others do with it after the
  // buffer was released harms nobody. Errors of Device::Export().
  absl::StatusOr<UniqueFd> Export(BufferHandle handle);
  // Another's memory as a buffer; the caller keeps the descriptor. In the options, a size of 0 is
  // all of it, as is any other size: InvalidArgument if it has fewer bytes. The heap must be the
  // default; kShared is added to the uses. Otherwise as Adopt(). If this device has the memory
  // already, a job must not list both buffers: kernels refuse one memory at two places.
  absl::StatusOr<Buffer> Import(int dma_buf, BufferOptions options);
  // See Device::ImportUses(), ExportUse(): what others do with the buffer becomes a job that uses
  // it, for JobsBefore() and Wait(); and others wait for this job's use. Errors as Export()'s.
  absl::Status ImportUses(BufferHandle handle, bool to_write);
  absl::Status ExportUse(BufferHandle handle, Fence fence, bool written);
  // NotFound for handles that are not a buffer's: released, or made up. (A released handle is
  // distinguished from a new one until its place was used 1023 times.) The buffer is released even
  // if the device does not take its memory back, which is another error.
  absl::Status Release(BufferHandle handle);
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
  bool NeedsFlush(Heap heap) const { return incoherent_[static_cast<size_t>(heap)]; }

  // Returns memory that is kept for reuse and that the GPU is done with, down to `keep` bytes.
  absl::Status Trim(uint64_t keep = 0);
  BufferStatistics statistics() const;
  // Where buffers are.
  const AddressSpace& addresses() const { return *addresses_; }
  // The device's.
  std::string generation() const { return device_ ? device_->generation() : std::string(); }

  // For those that refer to these buffers.
  Lifetime& lifetime() const { return lifetime_; }

  // The size to which `size` is rounded up, so that the memory can be reused for similar sizes: 4,
  // 8, 12 KiB, then four sizes per power of two. Sizes above 64 MiB are only rounded up to pages.
  static uint64_t ClassSize(uint64_t size);

 private:
  static constexpr unsigned kSlotBits = 22, kGenerationBits = 32 - kSlotBits;
  // In slots from here on, the last generation's handles would be reserved ones.
  static constexpr uint32_t kMostSlots = kFirstReservedHandle & ((1u << kSlotBits) - 1);
  static_assert(kFirstReservedHandle >> kSlotBits == (1u << kGenerationBits) - 1);
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Memory of equal kind is interchangeable.
  struct Kind {
    ZoneId zone = {};
    Heap heap = Heap::kSystem;
    uint8_t use = kOrdinary;
    bool writable = true;
    // Of the block, or of a slab's entries.
    uint64_t size = 0;

    friend bool operator==(const Kind&, const Kind&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Kind& k) {
      return H::combine(std::move(h), k.zone, k.heap, k.use, k.writable, k.size);
    }
  };
  // Blocks of one kind, the first one that is in the list.
  using Lists = absl::flat_hash_map<Kind, uint32_t>;

  // Memory that is bound: a dedicated buffer's, or a slab's that buffers share.
  struct Block {
    Kind kind;  // with the block's own size
    MemoryId memory = {};
    Range range;
    uint8_t* cpu = nullptr;
    bool reusable = false;
    absl::Time cached_at = absl::InfinitePast();
    // A slab: `entries` of `entry_size` bytes, those free in `free`. Else one entry, the block.
    uint64_t entry_size = 0;
    uint32_t entries = 0, live_entries = 0;
    std::array<uint64_t, 4> free = {};
    std::vector<uint32_t> slots;  // of each entry: its buffer
    // Neighbours in a list of Lists, and among all cached blocks, by age. `next` of unused places
    // of the table is the next unused one.
    uint32_t prev = kNone, next = kNone, older = kNone, newer = kNone;
  };

  struct JobUse {
    Fence fence = 0;
    bool written = false;
  };
  struct Slot {
    uint32_t generation = 1;
    bool live = false;
    uint32_t block = kNone, entry = 0;
    std::vector<JobUse> jobs;  // that use it and may still run
    size_t drop_at = 0;        // with this number, those that are done are removed
    std::string name;
  };

  // Memory that the device has not taken back.
  struct Lost {
    MemoryId memory = {};
    uint64_t size = 0;
    ZoneId zone = {};
    Range range = {};
    bool bound = true;  // else its addresses are free
  };

  // A buffer that several jobs use waits once for each. After the last one its entry is returned.
  struct Waiting {
    Fence fence = 0;
    uint32_t block = kNone, entry = 0;
    bool last = false;
  };

  Buffers(Device& device, AddressSpace& addresses, const Options& options);

  static Kind KindOf(const BufferOptions& options, uint64_t size);
  absl::Status CheckOptions(const BufferOptions& options) const;
  RangeRequest RequestOf(const BufferOptions& options, uint64_t size) const;
  // The size of a slab's entry for such a buffer; 0: it must have a block of its own.
  uint64_t EntrySize(const BufferOptions& options) const;

  void Link(Lists& lists, const Kind& kind, uint32_t block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unlink(Lists& lists, const Kind& kind, uint32_t block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Cache(uint32_t block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Uncache(uint32_t block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // A block for a request: a cached one, or a new one.
  absl::StatusOr<uint32_t> TakeBlock(const RangeRequest& request, const Kind& kind, bool reusable,
                                     bool zeroed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // memory: of the device, or 0 for new one.
  absl::StatusOr<uint32_t> NewBlock(const RangeRequest& request, const Kind& kind, MemoryId memory)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The same. If there is no room, memory that is kept for reuse is returned first.
  absl::StatusOr<uint32_t> MakeBlock(const RangeRequest& request, const Kind& kind, MemoryId memory)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes sure that there is an unused place in the table; TakeSlot() takes the first one.
  absl::Status EnsureSlot() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Buffer TakeSlot(uint32_t block, uint32_t entry, absl::string_view name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Lists the memory as lost if the device does not take it back.
  absl::Status ReturnMemory(Lost memory) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RetryLost() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The memory of a buffer with MemoryUse kShared.
  absl::StatusOr<MemoryId> SharedMemoryOf(BufferHandle handle) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Flushes what the CPU may have in its caches of these bytes, if they are not coherent.
  absl::Status FlushBytes(const Block& block, uint64_t offset, uint64_t size) const;
  // Checks the arguments of the public calls, too.
  absl::Status FlushRange(BufferHandle handle, uint64_t offset, uint64_t size) const;
  absl::Status WithLargest(const absl::Status& refused, absl::Span<const Resident> residents) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status DestroyBlock(uint32_t block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<uint32_t> TakeSlab(const BufferOptions& options, uint64_t entry_size)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MakeEntries(uint32_t block, uint64_t entry_size, uint32_t entries)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // For an entry that the GPU is done with.
  absl::Status ReturnEntry(uint32_t block, uint32_t entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Note(Slot& slot, const JobUse& use) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropDone(Slot& slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsDone(Fence fence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The same, as it was when it was asked first since asked_ was cleared.
  bool WasDone(Fence fence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Collect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status TrimLocked(uint64_t keep) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns what is cached within these addresses.
  absl::Status TrimWithin(ZoneId zone, uint64_t address, uint64_t size)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  uint32_t SlotOf(BufferHandle handle) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Buffer BufferOf(uint32_t slot) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Lifetime lifetime_{"buffers"};
  const Reference<Device> device_;
  const Reference<AddressSpace> addresses_;
  const Options options_;
  // By heap: FlushCpuLines() is needed.
  std::array<bool, kHeaps> incoherent_ = {};

  mutable Mutex mutex_;
  std::vector<Block> blocks_ ABSL_GUARDED_BY(mutex_);
  uint32_t unused_blocks_ ABSL_GUARDED_BY(mutex_) = kNone;
  std::deque<Slot> slots_ ABSL_GUARDED_BY(mutex_);
  std::deque<uint32_t> unused_slots_ ABSL_GUARDED_BY(mutex_);  // the longest unused one first
  Lists cached_ ABSL_GUARDED_BY(mutex_);
  Lists slabs_ ABSL_GUARDED_BY(mutex_);  // those with free entries, by the entries' size
  // Of each zone, by the index of a range's handle.
  std::vector<std::vector<uint32_t>> block_of_range_ ABSL_GUARDED_BY(mutex_);
  uint32_t oldest_ ABSL_GUARDED_BY(mutex_) = kNone, newest_ ABSL_GUARDED_BY(mutex_) = kNone;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  std::vector<Lost> lost_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Fence, bool> asked_ ABSL_GUARDED_BY(mutex_);  // see WasDone()
  BufferStatistics statistics_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_BUFFERS_H_
