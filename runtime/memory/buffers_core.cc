#include "runtime/memory/buffers_core.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_format.h"
#include "runtime/base/addresses.h"
#include "runtime/memory/cpu_cache.h"

namespace packsmith::gpu {
namespace {

constexpr uint64_t kPage = 4096, kLargePage = 2 * kMiB;
constexpr uint64_t kSmallestEntry = 256, kLargestEntry = kMiB, kSmallestSlab = 64 * kKiB;
constexpr uint64_t kLargestClass = 64 * kMiB;
// How many cached blocks are tried for one that is sufficiently aligned.
constexpr int kProbes = 8;
// If this many jobs use a buffer, those that are done are removed for the first time.
constexpr size_t kFences = 4;

constexpr uint64_t RoundUp(uint64_t value, uint64_t power_of_two) {
  return (value + power_of_two - 1) & ~(power_of_two - 1);
}

// A power of two, so that entries of an aligned slab do not cross multiples of that size. Five
// entries of three quarters of a power of two fit well.
uint64_t SlabSize(uint64_t entry_size) {
  const uint64_t power = std::bit_ceil(entry_size);
  return std::max(kSmallestSlab, power == entry_size ? 2 * power : 4 * power);
}

absl::Status NoSuchBuffer(BufferHandle handle) {
  return absl::NotFoundError(
      handle == 0 ? std::string("handle 0 is not a buffer")
                  : absl::StrFormat("0x%x is not the handle of a buffer: the buffer was released "
                                    "before, or the handle is made up",
                                    handle));
}

// Where the CPU's line is not known: Options::flush_lines then knows what to do, or fails.
constexpr size_t kUsualLine = 64;

}  // namespace

BuffersCore::BuffersCore(Device& device, AddressSpace& addresses, const Buffers::Options& options)
    : device_(device, lifetime_),
      addresses_(addresses, lifetime_),
      options_(options),
      block_of_range_(addresses.zones().size()) {
  for (int heap = 0; heap < kHeaps; ++heap) {
    const HeapCaching caching = device.CachingOf(static_cast<Heap>(heap), kOrdinary);
    incoherent_[static_cast<size_t>(heap)] = caching.cpu == CpuView::kCached && !caching.coherent;
  }
}

BuffersCore::~BuffersCore() {
  lifetime_.End();
  MutexLock lock(mutex_);
  for (uint32_t block = 0; block < blocks_.size(); ++block) {
    if (blocks_[block].memory != MemoryId{}) gone_.push_back(block);
  }
  if (device_) {
    (void)DestroyGone();
    if (addresses_) RetryLost();
    return;
  }
  // A destroyed device has freed its memory.
  for (const uint32_t block : gone_) {
    const Block& gone = blocks_[block];
    if (addresses_) (void)addresses_->Free(gone.kind.zone, gone.range.handle);
  }
}

uint64_t BuffersCore::ClassSize(uint64_t size) {
  if (size <= 4 * kPage || size > kLargestClass) return RoundUp(size, kPage);
  return RoundUp(size, std::bit_floor(size - 1) / 4);
}

BuffersCore::Kind BuffersCore::KindOf(const BufferOptions& options, uint64_t size) {
  return {options.zone, options.heap, options.use, options.writable, size};
}

uint64_t BuffersCore::EntrySize(const BufferOptions& options) const {
  const uint64_t most = std::min(options_.largest_shared, kLargestEntry);
  if (options.dedicated || options.size > most || options.alignment > most || options.guard != 0 ||
      options.address.has_value() || options.placement != Placement::kBest ||
      (options.use & ~kCaptured) != 0 || (options.zeroed && !CpuCanSee(options.heap))) {
    return 0;
  }
  const uint64_t power = std::bit_ceil(std::max(options.size, kSmallestEntry));
  // In a slab, entries of this size are aligned to a quarter of the next power of two.
  const uint64_t less = power / 4 * 3;
  uint64_t entry = less >= kSmallestEntry && options.size <= less && options.alignment <= power / 4
                       ? less
                       : std::max(power, options.alignment);
  if (entry > most) return 0;
  return options.boundary != 0 && options.boundary < SlabSize(entry) ? 0 : entry;
}

void BuffersCore::Link(Lists& lists, const Kind& kind, uint32_t block) {
  uint32_t& first = lists.try_emplace(kind, kNone).first->second;
  blocks_[block].prev = kNone;
  blocks_[block].next = first;
  if (first != kNone) blocks_[first].prev = block;
  first = block;
}

// An empty list is kept: there will be such blocks again.
void BuffersCore::Unlink(Lists& lists, const Kind& kind, uint32_t block) {
  const Block& gone = blocks_[block];
  if (gone.next != kNone) blocks_[gone.next].prev = gone.prev;
  if (gone.prev != kNone) {
    blocks_[gone.prev].next = gone.next;
  } else {
    lists[kind] = gone.next;
  }
}

void BuffersCore::Cache(uint32_t block) {
  Block& added = blocks_[block];
  if (options_.cache_time != absl::InfiniteDuration()) added.cached_at = options_.now();
  Link(cached_, added.kind, block);
  added.older = newest_;
  added.newer = kNone;
  (newest_ != kNone ? blocks_[newest_].newer : oldest_) = block;
  newest_ = block;
  statistics_.cached_bytes += added.kind.size;
}

void BuffersCore::Uncache(uint32_t block) {
  Unlink(cached_, blocks_[block].kind, block);
  const Block& gone = blocks_[block];
  (gone.newer != kNone ? blocks_[gone.newer].older : newest_) = gone.older;
  (gone.older != kNone ? blocks_[gone.older].newer : oldest_) = gone.newer;
  statistics_.cached_bytes -= gone.kind.size;
}

absl::StatusOr<uint32_t> BuffersCore::TakeBlock(const RangeRequest& request, const Kind& kind,
                                                bool reusable, bool zeroed) {
  if (reusable && (!zeroed || CpuCanSee(kind.heap))) {
    const auto list = cached_.find(kind);
    uint32_t block = list == cached_.end() ? kNone : list->second;
    for (int i = 0; i < kProbes && block != kNone;) {
      const uint32_t next = blocks_[block].next;
      if (request.alignment == 0 || blocks_[block].range.address % request.alignment == 0) {
        Uncache(block);
        const absl::StatusOr<bool> kept = device_->SetNeeded(blocks_[block].memory, true);
        if (kept.ok() && *kept) {
          if (zeroed) std::memset(blocks_[block].cpu, 0, kind.size);
          // Lines that its last user wrote would be written over what the GPU writes for the next.
          const absl::Status flushed = FlushBytes(blocks_[block], 0, kind.size);
          (void)DestroyGone();  // counts as lost if that fails
          if (!flushed.ok()) {
            Cache(block);
            return flushed;
          }
          ++statistics_.reused;
          return block;
        }
        gone_.push_back(block);
      } else {
        ++i;
      }
      block = next;
    }
  }
  (void)DestroyGone();
  absl::StatusOr<uint32_t> block = MakeBlock(request, kind, MemoryId{});
  if (block.ok()) {
    blocks_[*block].reusable = reusable;
    ++statistics_.created;
  }
  return block;
}

// Errors with other buffers' memory, such as a device that does not take it back, are not reported
// to this request: statistics count what is lost.
absl::StatusOr<uint32_t> BuffersCore::MakeBlock(const RangeRequest& request, const Kind& kind,
                                                MemoryId memory) {
  absl::StatusOr<uint32_t> block = NewBlock(request, kind, memory);
  if (block.status().code() == absl::StatusCode::kResourceExhausted) {
    ReturnUnused();
    block = NewBlock(request, kind, memory);
  } else if (block.status().code() == absl::StatusCode::kAlreadyExists &&
             request.address.has_value()) {
    (void)Collect();
    (void)TrimWithin(kind.zone, *request.address - std::min(*request.address, request.guard),
                     request.size + 2 * request.guard);
    block = NewBlock(request, kind, memory);
  }
  return block;
}

void BuffersCore::ReturnUnused() {
  CollectDone();
  DropOldest(0);
  (void)DestroyGone();
  RetryLost();
}

absl::StatusOr<uint32_t> BuffersCore::NewBlock(const RangeRequest& request, const Kind& kind,
                                               MemoryId adopted) {
  // Large pages if possible.
  RangeRequest large = request;
  if (kind.size % kLargePage == 0) large.alignment = std::max(large.alignment, kLargePage);
  absl::StatusOr<Range> range = addresses_->Allocate(kind.zone, large);
  if (!range.ok() && large.alignment != request.alignment) {
    range = addresses_->Allocate(kind.zone, request);
  }
  if (!range.ok()) return range.status();
  // From here on, earlier steps are undone when one fails.
  const absl::StatusOr<MemoryId> memory =
      adopted != MemoryId{}
          ? adopted
          : device_->Create({.size = range->size, .heap = kind.heap, .use = kind.use});
  absl::Status status = memory.status();
  uint8_t* cpu = nullptr;
  if (status.ok() && CpuCanSee(kind.heap)) {
    const auto mapped = device_->Map(*memory);
    status = mapped.status();
    if (status.ok()) cpu = mapped->data();
  }
  if (!status.ok()) {
    Lost made = {.zone = kind.zone, .range = *range, .placed = true};
    if (memory.ok() && adopted == MemoryId{}) {
      made.memory = *memory;
      made.size = range->size;
      statistics_.memory_bytes += range->size;
    }
    (void)ReturnAll({&made, 1});
    return status;
  }
  uint32_t block = unused_blocks_;
  if (block != kNone) {
    unused_blocks_ = blocks_[block].next;
  } else {
    block = blocks_.size();
    blocks_.emplace_back();
  }
  Block& made = blocks_[block];
  made.kind = kind;
  made.memory = *memory;
  made.range = *range;
  made.cpu = cpu;
  made.bound = false;
  unbound_.push_back(block);
  std::vector<uint32_t>& block_of = block_of_range_[static_cast<uint32_t>(kind.zone)];
  if (block_of.size() <= range->handle.index) block_of.resize(range->handle.index + 1, kNone);
  block_of[range->handle.index] = block;
  statistics_.memory_bytes += kind.size;
  return block;
}

absl::Status BuffersCore::BindMany(absl::Span<const PageBinding> bindings, size_t first,
                                   SetBound set, size_t& failed) {
  absl::Status status = device_->BindAll(bindings);
  if (status.ok()) {
    for (size_t i = 0; i < bindings.size(); ++i) set(first + i, true);
    return status;
  }
  failed = first;
  if (bindings.size() <= 1) return status;
  // The device does not say which one it refuses; or it takes fewer in one call.
  const size_t half = bindings.size() / 2;
  status = BindMany(bindings.first(half), first, set, failed);
  if (!status.ok()) return status;
  status = BindMany(bindings.subspan(half), first + half, set, failed);
  if (!status.ok()) (void)UnbindMany(bindings.first(half), first, set);
  return status;
}

absl::Status BuffersCore::UnbindMany(absl::Span<const PageBinding> bindings, size_t first,
                                     SetBound set) {
  absl::Status status = device_->UnbindAll(bindings);
  if (status.ok()) {
    for (size_t i = 0; i < bindings.size(); ++i) set(first + i, false);
    return status;
  }
  if (bindings.size() <= 1) return status;
  const size_t half = bindings.size() / 2;
  status = UnbindMany(bindings.first(half), first, set);
  status.Update(UnbindMany(bindings.subspan(half), first + half, set));
  return status;
}

absl::Status BuffersCore::BindNew(size_t& failed) {
  if (unbound_.empty()) return absl::OkStatus();
  bindings_.clear();
  for (const uint32_t block : unbound_) {
    const Block& b = blocks_[block];
    bindings_.push_back({.space = options_.space,
                         .address = b.range.address,
                         .size = b.range.size,
                         .memory = b.memory,
                         .offset = 0,
                         .writable = b.kind.writable});
  }
  const auto set = [this](size_t index, bool bound)
                       ABSL_NO_THREAD_SAFETY_ANALYSIS { blocks_[unbound_[index]].bound = bound; };
  absl::Status status = BindMany(bindings_, 0, set, failed);
  if (absl::IsResourceExhausted(status)) {
    ReturnUnused();
    status = BindMany(bindings_, 0, set, failed);
  }
  if (status.ok()) unbound_.clear();
  return status;
}

absl::Status BuffersCore::ReturnAll(absl::Span<Lost> memories) {
  absl::InlinedVector<PageBinding, 4> bound;
  absl::InlinedVector<size_t, 4> bound_at;
  for (size_t i = 0; i < memories.size(); ++i) {
    const Lost& memory = memories[i];
    if (!memory.bound) continue;
    bound.push_back({.space = options_.space,
                     .address = memory.range.address,
                     .size = memory.range.size,
                     .memory = memory.memory,
                     .offset = 0,
                     .writable = memory.writable});
    bound_at.push_back(i);
  }
  absl::Status status;
  if (!bound.empty()) {
    status = UnbindMany(
        bound, 0, [&](size_t index, bool is_bound) { memories[bound_at[index]].bound = is_bound; });
  }
  for (Lost& memory : memories) {
    // What is still bound keeps its memory, and its addresses must not be reused.
    if (!memory.bound) {
      if (std::exchange(memory.placed, false) && addresses_) {
        status.Update(addresses_->Free(memory.zone, memory.range.handle));
      }
      if (memory.memory == MemoryId{}) continue;
      const absl::Status destroyed = device_->Destroy(memory.memory);
      if (destroyed.ok()) {
        statistics_.memory_bytes -= memory.size;
        continue;
      }
      status.Update(destroyed);
    }
    statistics_.lost_bytes += memory.size;
    lost_.push_back(memory);
  }
  return status;
}

void BuffersCore::RetryLost() {
  if (lost_.empty()) return;
  // Those that are refused again are listed again.
  std::vector<Lost> lost = std::exchange(lost_, {});
  for (const Lost& memory : lost) statistics_.lost_bytes -= memory.size;
  (void)ReturnAll(absl::MakeSpan(lost));
}

BuffersCore::Lost BuffersCore::TakeOut(uint32_t block) {
  Block& gone = blocks_[block];
  const Lost lost = {.memory = gone.memory,
                     .size = gone.kind.size,
                     .zone = gone.kind.zone,
                     .range = gone.range,
                     .writable = gone.kind.writable,
                     .placed = true,
                     .bound = gone.bound};
  block_of_range_[static_cast<uint32_t>(gone.kind.zone)][gone.range.handle.index] = kNone;
  gone.memory = MemoryId{};
  gone.bound = false;
  gone.slots.clear();
  gone.next = unused_blocks_;
  unused_blocks_ = block;
  return lost;
}

absl::Status BuffersCore::DestroyGone() {
  if (gone_.empty()) return absl::OkStatus();
  absl::InlinedVector<Lost, 4> lost;
  lost.reserve(gone_.size());
  for (const uint32_t block : gone_) lost.push_back(TakeOut(block));
  gone_.clear();
  return ReturnAll(absl::MakeSpan(lost));
}

BuffersCore::Origins BuffersCore::origins() const {
  return {statistics_.created, statistics_.reused, statistics_.suballocated};
}

void BuffersCore::Undo(absl::Span<const Place> places, const Origins& before) {
  unbound_.clear();
  for (const Place& place : places) ReturnEntry(place.block, place.entry);
  (void)DestroyGone();
  statistics_.created = before.created;
  statistics_.reused = before.reused;
  statistics_.suballocated = before.suballocated;
}

void BuffersCore::MakeEntries(uint32_t block, uint64_t entry_size, uint32_t entries) {
  Block& b = blocks_[block];
  b.entry_size = entry_size;
  b.entries = entries;
  b.live_entries = 0;
  b.slots.assign(entries, kNone);
  for (uint32_t word = 0; word < b.free.size(); ++word) {
    const uint32_t bits = std::clamp<int64_t>(int64_t{entries} - word * 64, 0, 64);
    b.free[word] = bits == 0 ? 0 : ~uint64_t{0} >> (64 - bits);
  }
}

// A slab that has a free entry.
absl::StatusOr<uint32_t> BuffersCore::TakeSlab(const BufferOptions& options, uint64_t entry_size) {
  const Kind entries = KindOf(options, entry_size);
  const auto list = slabs_.find(entries);
  if (list != slabs_.end() && list->second != kNone) return list->second;
  const uint64_t size = std::max(SlabSize(entry_size), options_.page);
  const absl::StatusOr<uint32_t> block =
      TakeBlock({.size = size, .alignment = size}, KindOf(options, size), /*reusable=*/true,
                /*zeroed=*/false);
  if (!block.ok()) return block;
  MakeEntries(*block, entry_size, std::min<uint64_t>(SlabSize(entry_size) / entry_size, 256));
  Link(slabs_, entries, *block);
  ++statistics_.slabs;
  return block;
}

absl::Status BuffersCore::CheckOptions(const BufferOptions& options) const {
  if (options.size == 0) return absl::InvalidArgumentError("a buffer must have at least 1 byte");
  if (absl::Status status = addresses_->CheckZone(options.zone); !status.ok()) return status;
  if (options.alignment != 0 && !std::has_single_bit(options.alignment)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("an alignment must be a power of two, not 0x%x", options.alignment));
  }
  // More than any zone has, so that rounding up does not overflow.
  if (options.size >> 60 != 0) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("no zone has room for 0x%x bytes", options.size));
  }
  return absl::OkStatus();
}

RangeRequest BuffersCore::RequestOf(const BufferOptions& options, uint64_t size) const {
  return {.size = size,
          .alignment = std::max(options.alignment, options_.page),
          .boundary = options.boundary,
          .guard = options.guard,
          .placement = options.placement,
          .address = options.address};
}

absl::Status BuffersCore::OneOf(const absl::Status& status, size_t index, size_t count,
                                absl::string_view name) {
  if (count == 1) return status;
  return absl::Status(status.code(), absl::StrFormat("buffer %d of %d (\"%s\"): %s", index + 1,
                                                     count, name, status.message()));
}

absl::StatusOr<BuffersCore::Place> BuffersCore::TakePlace(const BufferOptions& options) {
  if (const uint64_t entry_size = EntrySize(options); entry_size != 0) {
    const absl::StatusOr<uint32_t> slab = TakeSlab(options, entry_size);
    if (!slab.ok()) return slab.status();
    const uint32_t block = *slab;
    uint32_t entry = 0;
    Block& b = blocks_[block];
    while (b.free[entry / 64] == 0) entry += 64;
    entry += std::countr_zero(b.free[entry / 64]);
    b.free[entry / 64] &= b.free[entry / 64] - 1;
    if (++b.live_entries == b.entries) Unlink(slabs_, KindOf(options, entry_size), block);
    if (options.zeroed) std::memset(b.cpu + entry * entry_size, 0, entry_size);
    // As in TakeBlock(). An entry is whole lines.
    if (const absl::Status flushed = FlushBytes(b, entry * entry_size, entry_size); !flushed.ok()) {
      ReturnEntry(block, entry);
      return flushed;
    }
    ++statistics_.suballocated;
    return Place{block, entry};
  }
  const bool reusable = options.guard == 0 && options.boundary == 0 &&
                        !options.address.has_value() && options.placement == Placement::kBest &&
                        (options.use & (kShared | kScanout)) == 0 && options.size <= kLargestClass;
  const uint64_t size = RoundUp(reusable ? ClassSize(options.size) : options.size, options_.page);
  const absl::StatusOr<uint32_t> block =
      TakeBlock(RequestOf(options, size), KindOf(options, size), reusable, options.zeroed);
  if (!block.ok()) return block.status();
  MakeEntries(*block, size, 1);
  blocks_[*block].live_entries = 1;
  return Place{*block, 0};
}

absl::StatusOr<Buffer> BuffersCore::Create(const BufferOptions& options) {
  if (lifetime_.lost()) return lifetime_.status();
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  MutexLock lock(mutex_);
  (void)Collect();  // see MakeBlock()
  // First, since it need not be undone.
  if (const absl::Status status = EnsureSlots(1); !status.ok()) return status;
  const Origins before = origins();
  const absl::StatusOr<Place> place = TakePlace(options);
  absl::Status status = place.status();
  size_t failed = 0;
  if (status.ok()) status = BindNew(failed);
  if (!status.ok()) {
    Undo(place.ok() ? absl::MakeConstSpan(&*place, 1) : absl::Span<const Place>(), before);
    return status;
  }
  return TakeSlot(place->block, place->entry, options.name);
}

absl::StatusOr<std::vector<Buffer>> BuffersCore::CreateAll(
    absl::Span<const BufferOptions> options) {
  if (lifetime_.lost()) return lifetime_.status();
  const auto error = [&](size_t index, const absl::Status& status) {
    return OneOf(status, index, options.size(), options[index].name);
  };
  for (size_t i = 0; i < options.size(); ++i) {
    if (absl::Status status = CheckOptions(options[i]); !status.ok()) return error(i, status);
  }
  std::vector<Buffer> buffers;
  buffers.reserve(options.size());
  std::vector<Place> places;
  places.reserve(options.size());
  MutexLock lock(mutex_);
  (void)Collect();
  if (const absl::Status status = EnsureSlots(options.size()); !status.ok()) return status;
  const Origins before = origins();
  for (size_t i = 0; i < options.size(); ++i) {
    const absl::StatusOr<Place> place = TakePlace(options[i]);
    if (!place.ok()) {
      Undo(places, before);
      return error(i, place.status());
    }
    places.push_back(*place);
  }
  size_t failed = 0;
  if (const absl::Status status = BindNew(failed); !status.ok()) {
    // The first of those that have this memory.
    const uint32_t block = unbound_[failed];
    const auto one = std::find_if(places.begin(), places.end(),
                                  [block](const Place& place) { return place.block == block; });
    const auto index = static_cast<size_t>(one - places.begin());
    Undo(places, before);
    return error(index, status);
  }
  for (size_t i = 0; i < options.size(); ++i) {
    buffers.push_back(TakeSlot(places[i].block, places[i].entry, options[i].name));
  }
  return buffers;
}

absl::Status BuffersCore::EnsureSlots(size_t count) {
  while (unused_slots_.size() < count) {
    if (slots_.size() >= kMostSlots) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("there are %d buffers already, and may be %d",
                          slots_.size() - unused_slots_.size(), slots_.size()));
    }
    unused_slots_.push_back(slots_.size());
    slots_.emplace_back();
  }
  return absl::OkStatus();
}

Buffer BuffersCore::TakeSlot(uint32_t block, uint32_t entry, absl::string_view name) {
  const uint32_t slot = unused_slots_.front();
  unused_slots_.pop_front();
  blocks_[block].slots[entry] = slot;
  Slot& made = slots_[slot];
  made.live = true;
  made.block = block;
  made.entry = entry;
  made.jobs.clear();
  made.drop_at = 0;
  made.name.assign(name.data(), name.size());
  const Block& b = blocks_[block];
  if (!name.empty()) device_->SetName(b.memory, entry * b.entry_size, b.entry_size, name);
  ++statistics_.live;
  statistics_.live_bytes += b.entry_size;
  return BufferOf(slot);
}

absl::Status BuffersCore::CheckAdopted(MemoryId memory, const BufferOptions& options) const {
  if (memory == MemoryId{} || options.zeroed) {
    return absl::InvalidArgumentError(
        "memory to adopt must be given, and cannot be zeroed: write zeros to it instead");
  }
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  if (options.size % kPage != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "adopted memory must be whole pages of 4 KiB, not 0x%x bytes", options.size));
  }
  return absl::OkStatus();
}

absl::StatusOr<Buffer> BuffersCore::Adopt(MemoryId memory, const BufferOptions& options) {
  if (lifetime_.lost()) return lifetime_.status();
  if (absl::Status status = CheckAdopted(memory, options); !status.ok()) return status;
  MutexLock lock(mutex_);
  (void)Collect();
  if (const absl::Status status = EnsureSlots(1); !status.ok()) return status;
  const absl::StatusOr<uint32_t> block = AdoptBlock(memory, options);
  if (!block.ok()) return block.status();
  size_t failed = 0;
  if (absl::Status status = BindNew(failed); !status.ok()) {
    unbound_.clear();
    // The memory itself is still the caller's.
    Lost lost = TakeOut(*block);
    lost.memory = MemoryId{};
    statistics_.memory_bytes -= lost.size;
    (void)ReturnAll({&lost, 1});
    return status;
  }
  return TakeSlot(*block, 0, options.name);
}

absl::StatusOr<uint32_t> BuffersCore::AdoptBlock(MemoryId memory, const BufferOptions& options) {
  const absl::StatusOr<uint32_t> block =
      MakeBlock(RequestOf(options, options.size), KindOf(options, options.size), memory);
  if (!block.ok()) return block;
  blocks_[*block].reusable = false;
  MakeEntries(*block, options.size, 1);
  blocks_[*block].live_entries = 1;
  return block;
}

bool BuffersCore::ReleaseSlot(uint32_t slot) {
  Slot& gone = slots_[slot];
  Block& block = blocks_[gone.block];
  gone.live = false;
  // 0 is skipped, so that no handle is 0.
  gone.generation = gone.generation + 1 == 1u << kGenerationBits ? 1 : gone.generation + 1;
  unused_slots_.push_back(slot);
  block.slots[gone.entry] = kNone;
  if (!gone.name.empty()) {
    device_->SetName(block.memory, gone.entry * block.entry_size, block.entry_size, "");
  }
  --statistics_.live;
  statistics_.live_bytes -= block.entry_size;
  if (gone.jobs.empty()) {
    ReturnEntry(gone.block, gone.entry);
    return false;
  }
  for (const JobUse& job : gone.jobs) {
    waiting_.push_back({job.fence, gone.block, gone.entry, &job == &gone.jobs.back()});
  }
  statistics_.waiting_bytes += block.entry_size;
  return true;
}

absl::Status BuffersCore::Release(BufferHandle handle) {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  const uint32_t slot = SlotOf(handle);
  if (slot == kNone) return NoSuchBuffer(handle);
  return ReleaseSlot(slot) ? Collect() : DestroyGone();
}

absl::Status BuffersCore::ReleaseAll(absl::Span<const BufferHandle> handles) {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  absl::Status status;
  bool wait = false;
  for (const BufferHandle handle : handles) {
    const uint32_t slot = SlotOf(handle);
    if (slot == kNone) {
      status.Update(NoSuchBuffer(handle));
    } else {
      wait = ReleaseSlot(slot) || wait;
    }
  }
  status.Update(wait ? Collect() : DestroyGone());
  return status;
}

void BuffersCore::ReturnEntry(uint32_t block, uint32_t entry) {
  Block& b = blocks_[block];
  if (b.entries > 1) {
    Kind entries = b.kind;
    entries.size = b.entry_size;
    if (b.live_entries == b.entries) Link(slabs_, entries, block);
    b.free[entry / 64] |= uint64_t{1} << (entry % 64);
    if (--b.live_entries != 0) return;
    Unlink(slabs_, entries, block);
    --statistics_.slabs;
  }
  if (!b.bound || !b.reusable || b.kind.size > options_.cache_bytes) {
    gone_.push_back(block);
    return;
  }
  // If the device does not support that, the memory is kept all the same.
  (void)device_->SetNeeded(b.memory, false);
  Cache(block);
  if (options_.cache_time != absl::InfiniteDuration()) {
    const absl::Time old = options_.now() - options_.cache_time;
    while (oldest_ != block && blocks_[oldest_].cached_at < old) {
      const uint32_t gone = oldest_;
      Uncache(gone);
      gone_.push_back(gone);
    }
  }
  DropOldest(options_.cache_bytes);
}

// Returns what the GPU is done with. In the order of release: later releases wait until earlier
// ones are done, which saves queries.
void BuffersCore::CollectDone() {
  Fence done = 0;
  while (!waiting_.empty()) {
    const Waiting first = waiting_.front();
    if (first.fence != done && !IsDone(first.fence)) break;
    done = first.fence;
    waiting_.pop_front();
    if (!first.last) continue;
    statistics_.waiting_bytes -= blocks_[first.block].entry_size;
    ReturnEntry(first.block, first.entry);
  }
}

absl::Status BuffersCore::Collect() {
  CollectDone();
  return DestroyGone();
}

// A job that failed, or that the device does not know, counts as done. Other errors are those of
// asking, such as no memory for the call: the job may still run.
bool BuffersCore::IsDone(Fence fence) {
  const absl::StatusOr<bool> done = device_->Wait(fence, absl::ZeroDuration());
  if (done.ok()) return *done;
  return absl::IsAborted(done.status()) || absl::IsInvalidArgument(done.status()) ||
         absl::IsNotFound(done.status());
}

bool BuffersCore::WasDone(Fence fence) {
  const auto asked = asked_.find(fence);
  if (asked != asked_.end()) return asked->second;
  const bool done = IsDone(fence);
  asked_[fence] = done;
  return done;
}

void BuffersCore::DropOldest(uint64_t keep) {
  while (statistics_.cached_bytes > keep) {
    const uint32_t block = oldest_;
    Uncache(block);
    gone_.push_back(block);
  }
}

absl::Status BuffersCore::TrimWithin(ZoneId zone, uint64_t address, uint64_t size) {
  const unsigned bits = addresses_->address_bits();
  const uint64_t begin = Plain(address, bits);
  for (uint32_t block = oldest_; block != kNone;) {
    const Block& b = blocks_[block];
    const uint32_t newer = b.newer;
    const uint64_t there = Plain(b.range.address, bits);
    if (b.kind.zone == zone && there < begin + size && begin < there + b.range.size) {
      Uncache(block);
      gone_.push_back(block);
    }
    block = newer;
  }
  return DestroyGone();
}

absl::Status BuffersCore::Trim(uint64_t keep) {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  CollectDone();
  DropOldest(keep);
  RetryLost();
  return DestroyGone();
}

uint32_t BuffersCore::SlotOf(BufferHandle handle) const {
  const uint32_t slot = handle & ((1u << kSlotBits) - 1);
  return slot < slots_.size() && slots_[slot].live && slots_[slot].generation == handle >> kSlotBits
             ? slot
             : kNone;
}

Buffer BuffersCore::BufferOf(uint32_t slot) const {
  const Slot& s = slots_[slot];
  const Block& block = blocks_[s.block];
  const uint64_t offset = s.entry * block.entry_size;
  return {s.generation << kSlotBits | slot, block.range.address + offset, block.entry_size,
          block.cpu == nullptr ? nullptr : block.cpu + offset};
}

absl::StatusOr<Buffer> BuffersCore::Get(BufferHandle handle) const {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  const uint32_t slot = SlotOf(handle);
  if (slot == kNone) return NoSuchBuffer(handle);
  return BufferOf(slot);
}

absl::StatusOr<std::string> BuffersCore::Name(BufferHandle handle) const {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  const uint32_t slot = SlotOf(handle);
  if (slot == kNone) return NoSuchBuffer(handle);
  return slots_[slot].name;
}

absl::Status BuffersCore::SetName(BufferHandle handle, absl::string_view name) {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  const uint32_t slot = SlotOf(handle);
  if (slot == kNone) return NoSuchBuffer(handle);
  Slot& s = slots_[slot];
  s.name.assign(name.data(), name.size());
  const Block& block = blocks_[s.block];
  device_->SetName(block.memory, s.entry * block.entry_size, block.entry_size, name);
  return absl::OkStatus();
}

absl::StatusOr<Buffer> BuffersCore::Find(uint64_t address) const {
  if (lifetime_.lost()) return lifetime_.status();
  const absl::StatusOr<ZoneId> zone = addresses_->ZoneOf(address);
  if (!zone.ok()) return zone.status();
  MutexLock lock(mutex_);
  const absl::StatusOr<Range> range = addresses_->Find(address);
  if (!range.ok()) return range.status();
  const std::vector<uint32_t>& block_of = block_of_range_[static_cast<uint32_t>(*zone)];
  const uint32_t index = range->handle.index;
  if (index < block_of.size() && block_of[index] != kNone) {
    const Block& block = blocks_[block_of[index]];
    const unsigned bits = addresses_->address_bits();
    const uint64_t entry = (Plain(address, bits) - Plain(range->address, bits)) /
                           std::max<uint64_t>(block.entry_size, 1);
    // The end of a slab may be too small for an entry.
    if (block.range == *range && entry < block.slots.size() && block.slots[entry] != kNone) {
      return BufferOf(block.slots[entry]);
    }
  }
  return absl::NotFoundError(absl::StrFormat("no buffer is at 0x%x", address));
}

absl::StatusOr<Resident> BuffersCore::ResidentOf(BufferHandle handle) const {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  const uint32_t slot = SlotOf(handle);
  if (slot == kNone) return NoSuchBuffer(handle);
  const Block& block = blocks_[slots_[slot].block];
  return Resident{block.memory, block.range.address, false, block.range.size};
}

absl::Status BuffersCore::Use(absl::Span<const BufferAccess> uses, Fence fence) {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  for (const BufferAccess& use : uses) {
    if (SlotOf(use.handle) == kNone) return NoSuchBuffer(use.handle);
  }
  asked_.clear();
  for (const BufferAccess& use : uses) Note(slots_[SlotOf(use.handle)], {fence, use.written});
  return absl::OkStatus();
}

absl::Status BuffersCore::Use(absl::Span<const BufferHandle> handles, Fence fence) {
  if (lifetime_.lost()) return lifetime_.status();
  MutexLock lock(mutex_);
  for (const BufferHandle handle : handles) {
    if (SlotOf(handle) == kNone) return NoSuchBuffer(handle);
  }
  asked_.clear();
  for (const BufferHandle handle : handles) Note(slots_[SlotOf(handle)], {fence, true});
  return absl::OkStatus();
}

void BuffersCore::Note(Slot& slot, const JobUse& use) {
  std::vector<JobUse>& jobs = slot.jobs;
  if (!jobs.empty() && jobs.back().fence == use.fence) {
    jobs.back().written |= use.written;
    return;
  }
  // Few run at once; jobs of long-lived buffers must not accumulate. If many do run, they are not
  // asked each time.
  if (jobs.size() >= std::max(kFences, slot.drop_at)) {
    DropDone(slot);
    slot.drop_at = 2 * jobs.size();
  }
  jobs.push_back(use);
}

void BuffersCore::DropDone(Slot& slot) {
  const auto done = [this](const JobUse& job)
                        ABSL_NO_THREAD_SAFETY_ANALYSIS { return WasDone(job.fence); };
  slot.jobs.erase(std::remove_if(slot.jobs.begin(), slot.jobs.end(), done), slot.jobs.end());
}

absl::StatusOr<std::vector<Fence>> BuffersCore::JobsBefore(absl::Span<const BufferAccess> uses) {
  if (lifetime_.lost()) return lifetime_.status();
  std::vector<Fence> fences;
  MutexLock lock(mutex_);
  for (const BufferAccess& use : uses) {
    const uint32_t slot = SlotOf(use.handle);
    if (slot == kNone) return NoSuchBuffer(use.handle);
    for (const JobUse& job : slots_[slot].jobs) {
      if (use.written || job.written) fences.push_back(job.fence);
    }
  }
  std::sort(fences.begin(), fences.end());
  fences.erase(std::unique(fences.begin(), fences.end()), fences.end());
  // Each is queried once, however many buffers it uses.
  const auto done = [this](Fence fence) ABSL_NO_THREAD_SAFETY_ANALYSIS { return IsDone(fence); };
  fences.erase(std::remove_if(fences.begin(), fences.end(), done), fences.end());
  return fences;
}

absl::StatusOr<bool> BuffersCore::Wait(BufferHandle handle, bool to_write, absl::Duration timeout) {
  if (lifetime_.lost()) return lifetime_.status();
  std::vector<JobUse> jobs;
  {
    MutexLock lock(mutex_);
    const uint32_t slot = SlotOf(handle);
    if (slot == kNone) return NoSuchBuffer(handle);
    jobs = slots_[slot].jobs;
  }
  // Other threads continue meanwhile.
  const absl::Time until = options_.now() + timeout;
  for (const JobUse& job : jobs) {
    if (!to_write && !job.written) continue;
    const absl::Duration left = timeout <= absl::ZeroDuration()
                                    ? absl::ZeroDuration()
                                    : std::max(until - options_.now(), absl::ZeroDuration());
    const absl::StatusOr<bool> done = device_->Wait(job.fence, left);
    if (!done.ok() || !*done) return done;
  }
  return true;
}

BufferStatistics BuffersCore::statistics() const {
  MutexLock lock(mutex_);
  return statistics_;
}

absl::Status BuffersCore::FlushBytes(const Block& block, uint64_t offset, uint64_t size) const {
  if (!incoherent_[static_cast<size_t>(block.kind.heap)] || size == 0) return absl::OkStatus();
  const HeapCaching caching = device_->CachingOf(block.kind.heap, block.kind.use);
  if (caching.coherent || block.cpu == nullptr) return absl::OkStatus();
  const size_t line = CpuCacheLine() != 0 ? CpuCacheLine() : kUsualLine;
  return options_.flush_lines(LinesOf(absl::MakeSpan(block.cpu + offset, size), line));
}

// Lines that are dropped are written back first if the CPU has changed them, which it must not
// have: no instruction that programs may use drops them alone.
absl::Status BuffersCore::FlushRange(BufferHandle handle, uint64_t offset, uint64_t size) const {
  if (lifetime_.lost()) return lifetime_.status();
  uint64_t first = 0;
  Block mapped;
  {
    MutexLock lock(mutex_);
    const uint32_t slot = SlotOf(handle);
    if (slot == kNone) {
      return absl::NotFoundError(
          absl::StrFormat("0x%x is not the handle of a buffer to flush", handle));
    }
    const Block& block = blocks_[slots_[slot].block];
    if (offset > block.entry_size || size > block.entry_size - offset) {
      return absl::OutOfRangeError(
          absl::StrFormat("0x%x bytes from offset 0x%x are not in buffer 0x%x (\"%s\"), which has "
                          "0x%x bytes",
                          size, offset, handle, slots_[slot].name, block.entry_size));
    }
    if (block.cpu == nullptr) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "buffer 0x%x (\"%s\") is in a heap that the CPU cannot see", handle, slots_[slot].name));
    }
    if (!incoherent_[static_cast<size_t>(block.kind.heap)]) return absl::OkStatus();
    first = slots_[slot].entry * block.entry_size;
    mapped.kind = block.kind;
    mapped.cpu = block.cpu;
  }
  // Other threads continue meanwhile.
  return FlushBytes(mapped, first + offset, size);
}

}  // namespace packsmith::gpu
