// What binders of all generations have in common: blocks of memory, and which tables are in them.
// binder.h is what to use.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_BINDER_CORE_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_BINDER_CORE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/base/lifetime.h"
#include "runtime/intel/batch/batch_core.h"
#include "runtime/intel/binding/base_moves.h"
#include "runtime/intel/binding/binding_rules.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/buffers.h"

namespace packsmith::intel {

enum class BindingStage : uint8_t { kVertex, kHull, kDomain, kGeometry, kPixel, kCompute };
inline constexpr unsigned kBindingStages = 6;

// What has to be emitted because of what a binder did: a set, for whoever emits state.
using BindingEvents = uint32_t;
// The pointer to this stage's binding table.
constexpr BindingEvents PointerOf(BindingStage stage) {
  return BindingEvents{1} << static_cast<unsigned>(stage);
}
inline constexpr BindingEvents kAllPointers = (1u << kBindingStages) - 1;
// STATE_BASE_ADDRESS was emitted: what it invalidates is to be emitted again.
inline constexpr BindingEvents kSurfaceBaseMoved = 1u << 8;
// The same of 3DSTATE_BINDING_TABLE_POOL_ALLOC.
inline constexpr BindingEvents kTablePoolMoved = 1u << 9;
// The GPGPU pipeline was left, and selected again: so is MEDIA_INTERFACE_DESCRIPTOR_LOAD.
inline constexpr BindingEvents kPipelineReselected = 1u << 10;

// The lower half of a product XOR its upper half, of 32-bit products: what is left to do on
// machines without one of 128 bits.
constexpr uint64_t MixProductOfHalves(uint64_t a, uint64_t b) {
  const uint64_t a_low = a & 0xffffffff, a_high = a >> 32;
  const uint64_t b_low = b & 0xffffffff, b_high = b >> 32;
  const uint64_t low = a_low * b_low;
  const uint64_t cross = a_high * b_low + (low >> 32);
  const uint64_t middle = a_low * b_high + (cross & 0xffffffff);
  const uint64_t high = a_high * b_high + (cross >> 32) + (middle >> 32);
  return (middle << 32 | (low & 0xffffffff)) ^ high;
}
constexpr uint64_t MixProduct(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
  __extension__ typedef unsigned __int128 Wide;
  const Wide product = Wide{a} * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
#else
  return MixProductOfHalves(a, b);
#endif
}

struct BinderStatistics {
  uint64_t written = 0;    // tables
  uint64_t shared = 0;     // that were there already
  uint64_t unchanged = 0;  // that their stage had already
  uint64_t moves = 0;      // of the base, because a block was full
};

class BinderCore {
 public:
  BinderCore(const BinderCore&) = delete;
  BinderCore& operator=(const BinderCore&) = delete;

  // For 3DSTATE_BINDING_TABLE_POINTERS_… and interface descriptors; 0 for a stage without a table.
  uint32_t pointer(BindingStage stage) const {
    return bound_[static_cast<unsigned>(stage)].offset >> rules_.pointer_shift;
  }
  // How many surfaces the stage's table has.
  uint32_t count(BindingStage stage) const { return bound_[static_cast<unsigned>(stage)].count; }

  // What has happened since the last call.
  BindingEvents TakeEvents() {
    const BindingEvents events = events_;
    events_ = 0;
    return events;
  }

  // From now on, the batch is in this pipeline.
  void SetPipeline(Pipeline pipeline) { pipeline_ = pipeline; }

  // Blocks that are full, and no batch uses any more. A job that does has been told by
  // Buffers::Use(): the memory is used again when it is done.
  absl::Status ReleaseOld();

  const BindingRules& rules() const { return rules_; }
  const gpu::Buffer& block() const { return block_; }  // where new tables go
  size_t old_blocks() const { return old_.size(); }
  uint32_t room() const { return rules_.block - next_; }  // bytes
  const BinderStatistics& statistics() const { return statistics_; }

 protected:
  struct Options {
    gpu::ZoneId zone = {};
    std::string name;
    gpu::Heap heap = gpu::Heap::kSystem;
    uint64_t surface_base = 0, surface_bytes = 0;
  };
  // A table of a stage: none if the count is 0.
  struct Table {
    uint32_t offset = 0;  // bytes from the base
    uint32_t count = 0;
  };

  BinderCore(gpu::Buffers& buffers, const BindingRules& rules, const Options& options);
  ~BinderCore();

  // A new block. Errors of Buffers::Create(); FailedPrecondition if the zone or heap does not suit,
  // InvalidArgument if the options never will.
  absl::StatusOr<gpu::Buffer> NewBlock() const;
  // All tables are to go there from now on. There are none yet.
  void UseBlock(const gpu::Buffer& block);

  // What an entry is more than the surface's offset.
  uint64_t Delta(const gpu::Buffer& block) const {
    return rules_.own_base ? 0 : options_.surface_base - block.address;
  }

  PACKSMITH_INLINE static uint64_t HashOf(absl::Span<const uint32_t> surfaces) {
    const uint32_t* at = surfaces.data();
    size_t left = surfaces.size();
    uint64_t hash = left * kMixA;
    // Two at a time, so that neither waits for the other.
    for (uint64_t other = kMixB; left >= 8; at += 8, left -= 8) {
      hash = Mix(Load64(at) ^ hash, Load64(at + 2) ^ kMixB);
      other = Mix(Load64(at + 4) ^ other, Load64(at + 6) ^ kMixA);
      if (left < 16) hash ^= other;
    }
    if (left >= 4) {
      hash = Mix(Load64(at) ^ hash, Load64(at + 2) ^ kMixB);
      at += 4;
      left -= 4;
    }
    if (left >= 2) {
      hash = Mix(Load64(at) ^ hash, kMixA);
      at += 2;
      left -= 2;
    }
    if (left != 0) hash = Mix(*at ^ hash, kMixB);
    return Mix(hash, kMixA);
  }
  // Where a table with these surfaces stands.
  PACKSMITH_INLINE absl::optional<uint32_t> Find(uint64_t hash,
                                                 absl::Span<const uint32_t> surfaces) const {
    for (size_t slot = hash & mask_;; slot = (slot + 1) & mask_) {
      const Slot& s = slots_[slot];
      if (s.count == 0) return absl::nullopt;
      if (s.hash == static_cast<uint32_t>(hash >> 32) && s.count == surfaces.size() &&
          Holds(s.offset, surfaces)) {
        return s.offset;
      }
    }
  }
  // Not of none.
  PACKSMITH_INLINE bool Holds(uint32_t offset, absl::Span<const uint32_t> surfaces) const {
    const uint32_t* const there = &surfaces_[offset / 4];
    return *there == surfaces[0] && std::memcmp(there, surfaces.data(), surfaces.size() * 4) == 0;
  }
  uint32_t BytesFor(size_t count) const {
    return (static_cast<uint32_t>(count) * 4 + rules_.alignment - 1) & ~(rules_.alignment - 1);
  }
  // The next table's place, before it is known to be good: the block, and the copy of it.
  uint32_t next() const { return next_; }
  uint32_t* CopyAt(uint32_t offset) { return &surfaces_[offset / 4]; }
  // It is good: from now on it can be found.
  PACKSMITH_INLINE void Keep(uint64_t hash, size_t count) {
    size_t slot = hash & mask_;
    while (slots_[slot].count != 0) slot = (slot + 1) & mask_;
    slots_[slot] = {static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(count), next_};
    next_ += BytesFor(count);
    ++statistics_.written;
  }
  absl::Span<const uint32_t> SurfacesAt(const Table& table) const {
    return absl::MakeConstSpan(&surfaces_[table.offset / 4], table.count);
  }
  uint32_t* EntriesAt(uint32_t offset) const {
    return reinterpret_cast<uint32_t*>(block_.cpu + offset);
  }

  [[gnu::cold, gnu::noinline]] absl::Status TooMany(size_t count) const;
  // Which surface is none of those that there are, if one is. unaligned: the bits that none has.
  [[gnu::cold, gnu::noinline]] absl::Status CheckSurfaces(absl::Span<const uint32_t> surfaces,
                                                          uint32_t unaligned) const;
  [[gnu::cold, gnu::noinline]] absl::Status NotBegun() const;

  // Remembers that the batch has been begun; and whether it is the one.
  void SetBegun(const BatchCore& batch) { begun_ = batch.number(); }
  PACKSMITH_INLINE bool IsBegun(const BatchCore& batch) const { return begun_ == batch.number(); }

  Lifetime lifetime_{"binder", this,
                     [](void* core) { static_cast<BinderCore*>(core)->begun_ = 0; }};
  const Reference<gpu::Buffers> buffers_;
  const BindingRules rules_;
  const Options options_;
  Pipeline pipeline_ = Pipeline::k3D;
  BindingEvents events_ = 0;
  std::array<Table, kBindingStages> bound_ = {};
  BinderStatistics statistics_;
  std::vector<gpu::Buffer> old_;

 private:
  // Odd numbers without a pattern, to mix bits by multiplication.
  static constexpr uint64_t kMixA = 0x9e3779b97f4a7c15, kMixB = 0xc2b2ae3d27d4eb4f;

  PACKSMITH_INLINE static uint64_t Mix(uint64_t a, uint64_t b) { return MixProduct(a, b); }
  PACKSMITH_INLINE static uint64_t Load64(const uint32_t* from) {
    uint64_t value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }

  // Of a hash table: where a table of the block is. count 0: nothing.
  struct Slot {
    uint32_t hash = 0, count = 0, offset = 0;
  };

  uint64_t begun_ = 0;  // the batch's number
  gpu::Buffer block_;
  uint32_t next_ = 0;  // offset of the next table
  // What is in the block, as the callers gave it: the block itself is not read, since it may be
  // memory for which that is slow.
  std::vector<uint32_t> surfaces_;
  std::vector<Slot> slots_;
  size_t mask_ = 0;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_BINDER_CORE_H_
