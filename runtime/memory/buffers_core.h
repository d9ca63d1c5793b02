// What Buffers are made of. Private: users have buffers.h, which is quickly compiled.

#ifndef PACKSMITH_RUNTIME_MEMORY_BUFFERS_CORE_H_
#define PACKSMITH_RUNTIME_MEMORY_BUFFERS_CORE_H_

#include <array>
#include <cstdint>
#include <deque>
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
#include "runtime/base/handles.h"
#include "runtime/base/lifetime.h"
#include "runtime/base/mutex.h"
#include "runtime/base/unique_fd.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffer_sharing.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/device.h"

namespace packsmith::gpu {

// The methods of Buffers and BufferSharing, with the same contracts.
class BuffersCore {
 public:
  // `options` have all functions.
  BuffersCore(Device& device, AddressSpace& addresses, const Buffers::Options& options);
  ~BuffersCore();

  BuffersCore(const BuffersCore&) = delete;
  BuffersCore& operator=(const BuffersCore&) = delete;

  absl::StatusOr<Buffer> Create(const BufferOptions& options);
  absl::StatusOr<std::vector<Buffer>> CreateAll(absl::Span<const BufferOptions> options);
  absl::StatusOr<Buffer> Adopt(MemoryId memory, const BufferOptions& options);
  absl::StatusOr<UniqueFd> Export(BufferHandle handle);
  absl::StatusOr<std::vector<Buffer>> ImportAll(absl::Span<const BufferImport> imports);
  absl::Status ImportUses(BufferHandle handle, bool to_write);
  absl::Status ExportUse(BufferHandle handle, Fence fence, bool written);
  absl::Status Release(BufferHandle handle);
  absl::Status ReleaseAll(absl::Span<const BufferHandle> handles);
  absl::StatusOr<Buffer> Get(BufferHandle handle) const;
  absl::StatusOr<std::string> Name(BufferHandle handle) const;
  absl::Status SetName(BufferHandle handle, absl::string_view name);
  absl::StatusOr<Buffer> Find(uint64_t address) const;

  absl::StatusOr<Resident> ResidentOf(BufferHandle handle) const;
  absl::StatusOr<Fence> Submit(const Job& job, absl::Span<const BufferAccess> uses);
  absl::Status Use(absl::Span<const BufferAccess> uses, Fence fence);
  absl::Status Use(absl::Span<const BufferHandle> handles, Fence fence);
  absl::StatusOr<std::vector<Fence>> JobsBefore(absl::Span<const BufferAccess> uses);
  absl::StatusOr<bool> Wait(BufferHandle handle, bool to_write, absl::Duration timeout);

  // Checks the arguments of FlushForGpu() and InvalidateForCpu(), and does their work.
  absl::Status FlushRange(BufferHandle handle, uint64_t offset, uint64_t size) const;
  bool NeedsFlush(Heap heap) const { return incoherent_[static_cast<size_t>(heap)]; }

  absl::Status Trim(uint64_t keep);
  BufferStatistics statistics() const;
  const AddressSpace& addresses() const { return *addresses_; }
  std::string generation() const { return device_ ? device_->generation() : std::string(); }

  Lifetime& lifetime() { return lifetime_; }

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

  // Memory with addresses: a dedicated buffer's, or a slab's that buffers share.
  struct Block {
    Kind kind;  // with the block's own size
    MemoryId memory = {};
    Range range;
    bool bound = false;  // only while a call makes blocks are there some that are not
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
    bool writable = true;
    bool placed = false;  // its addresses are not free: those of what is bound never are
    bool bound = false;
  };

  // Of a buffer, before it has a slot.
  struct Place {
    uint32_t block = kNone, entry = 0;
  };
  // What statistics say of all buffers so far.
  struct Origins {
    uint64_t created = 0, reused = 0, suballocated = 0;
  };

  // A buffer that several jobs use waits once for each. After the last one its entry is returned.
  struct Waiting {
    Fence fence = 0;
    uint32_t block = kNone, entry = 0;
    bool last = false;
  };

  static Kind KindOf(const BufferOptions& options, uint64_t size);
  absl::Status CheckOptions(const BufferOptions& options) const;
  absl::Status CheckAdopted(MemoryId memory, const BufferOptions& options) const;
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
  // memory: of the device, or 0 for new one. The block is one of unbound_.
  absl::StatusOr<uint32_t> NewBlock(const RangeRequest& request, const Kind& kind, MemoryId memory)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The same. If there is no room, memory that is kept for reuse is returned first.
  absl::StatusOr<uint32_t> AdoptBlock(MemoryId memory, const BufferOptions& options)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<uint32_t> MakeBlock(const RangeRequest& request, const Kind& kind, MemoryId memory)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Memory and addresses for a buffer, which BindNew() binds.
  absl::StatusOr<Place> TakePlace(const BufferOptions& options)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Binds unbound_, which is then empty, or none of it: `failed` is which one the device refuses.
  // If there is no room, memory that is kept for reuse is returned first.
  absl::Status BindNew(size_t& failed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Origins origins() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Everything is as if the call had not taken these.
  void Undo(absl::Span<const Place> places, const Origins& before)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Tells what is bound: the index of the first binding plus that of one, and whether it is.
  using SetBound = absl::FunctionRef<void(size_t index, bool bound)>;
  // All or none, by as few calls as the device takes.
  absl::Status BindMany(absl::Span<const PageBinding> bindings, size_t first, SetBound set,
                        size_t& failed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // All that the device unbinds, and its first error.
  absl::Status UnbindMany(absl::Span<const PageBinding> bindings, size_t first, SetBound set)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes sure that there are unused places in the table; TakeSlot() takes the first one.
  absl::Status EnsureSlots(size_t count) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Buffer TakeSlot(uint32_t block, uint32_t entry, absl::string_view name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Lists memory as lost that the device does not take back.
  absl::Status ReturnAll(absl::Span<Lost> memories) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RetryLost() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The memory of a buffer with MemoryUse kShared.
  absl::StatusOr<MemoryId> SharedMemoryOf(BufferHandle handle) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Flushes what the CPU may have in its caches of these bytes, if they are not coherent.
  absl::Status FlushBytes(const Block& block, uint64_t offset, uint64_t size) const;
  // The error of one of several buffers.
  static absl::Status OneOf(const absl::Status& status, size_t index, size_t count,
                            absl::string_view name);
  absl::Status WithLargest(const absl::Status& refused, absl::Span<const Resident> residents) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes a block out of the tables, and returns what it has.
  Lost TakeOut(uint32_t block) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the memory of the blocks in gone_, which is then empty. A call that adds to them ends
  // with this.
  absl::Status DestroyGone() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<uint32_t> TakeSlab(const BufferOptions& options, uint64_t entry_size)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MakeEntries(uint32_t block, uint64_t entry_size, uint32_t entries)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // For an entry that the GPU is done with. May add to gone_.
  void ReturnEntry(uint32_t block, uint32_t entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether jobs use it; otherwise may add to gone_.
  bool ReleaseSlot(uint32_t slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Note(Slot& slot, const JobUse& use) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropDone(Slot& slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsDone(Fence fence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The same, as it was when it was asked first since asked_ was cleared.
  bool WasDone(Fence fence) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the entries that jobs are done with. May add to gone_.
  void CollectDone() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Collect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Moves what was cached first to gone_, until this many bytes are left.
  void DropOldest(uint64_t keep) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What makes room for a request that found none.
  void ReturnUnused() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns what is cached within these addresses.
  absl::Status TrimWithin(ZoneId zone, uint64_t address, uint64_t size)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  uint32_t SlotOf(BufferHandle handle) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Buffer BufferOf(uint32_t slot) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Lifetime lifetime_{"buffers"};
  const Reference<Device> device_;
  const Reference<AddressSpace> addresses_;
  const Buffers::Options options_;
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
  // Blocks of the present call: those that it has made, and those that it returns.
  std::vector<uint32_t> unbound_ ABSL_GUARDED_BY(mutex_), gone_ ABSL_GUARDED_BY(mutex_);
  std::vector<PageBinding> bindings_ ABSL_GUARDED_BY(mutex_);       // of unbound_
  absl::flat_hash_map<Fence, bool> asked_ ABSL_GUARDED_BY(mutex_);  // see WasDone()
  BufferStatistics statistics_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_BUFFERS_CORE_H_
