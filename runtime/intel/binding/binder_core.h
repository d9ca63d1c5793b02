// The part of binders that does not depend on the generation: blocks of memory, and the tables in
// them. Use binder.h.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_BINDER_CORE_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_BINDER_CORE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

// What must be emitted after calls of a binder: a set of bits, for the code that emits state.
using BindingEvents = uint32_t;
// The pointer to this stage's binding table.
constexpr BindingEvents PointerOf(BindingStage stage) {
  return BindingEvents{1} << static_cast<unsigned>(stage);
}
inline constexpr BindingEvents kAllPointers = (1u << kBindingStages) - 1;
// STATE_BASE_ADDRESS was emitted: what it invalidates must be emitted again.
inline constexpr BindingEvents kSurfaceBaseMoved = 1u << 8;
// The same of 3DSTATE_BINDING_TABLE_POOL_ALLOC.
inline constexpr BindingEvents kTablePoolMoved = 1u << 9;
// The GPGPU pipeline was left, and selected again: MEDIA_INTERFACE_DESCRIPTOR_LOAD must be emitted
// again.
inline constexpr BindingEvents kPipelineReselected = 1u << 10;

// The lower half of a 128-bit product XOR its upper half, from 32-bit products: for machines
// without 128-bit integers.
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
  uint64_t shared = 0;     // tables that existed already
  uint64_t unchanged = 0;  // tables that their stage already had
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
  // The number of surfaces in the stage's table.
  uint32_t count(BindingStage stage) const { return bound_[static_cast<unsigned>(stage)].count; }

  // The events since the last call.
  BindingEvents TakeEvents() {
    const BindingEvents events = events_;
    events_ = 0;
    return events;
  }

  // Sets the pipeline that the batch is in from now on.
  void SetPipeline(Pipeline pipeline) { pipeline_ = pipeline; }

  // Releases blocks that are full, and that no new batch uses. If a job has declared its use with
  // Buffers::Use(), the memory is reused after the job is done.
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

  // A new block: after the last one, or where there is room after that; from the zone's beginning
  // on when its end is reached. So an address comes back as late as possible, and what caches still
  // have of it is gone by then. Errors of Buffers::Create(); FailedPrecondition if the zone or heap
  // is unsuitable, InvalidArgument if the options are invalid.
  absl::StatusOr<gpu::Buffer> NewBlock() const;
  // Uses the block for all tables from now on. It has none yet.
  void UseBlock(const gpu::Buffer& block);

  // What is added to the surface's offset in an entry.
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
  // The offset of a table with these surfaces, if there is one.
  PACKSMITH_INLINE std::optional<uint32_t> Find(uint64_t hash,
                                                absl::Span<const uint32_t> surfaces) const {
    for (size_t slot = hash & mask_;; slot = (slot + 1) & mask_) {
      const Slot& s = slots_[slot];
      if (s.count == 0) return std::nullopt;
      if (s.hash == static_cast<uint32_t>(hash >> 32) && s.count == surfaces.size() &&
          Holds(s.offset, surfaces)) {
        return s.offset;
      }
    }
  }
  // `surfaces` must not be empty.
  PACKSMITH_INLINE bool Holds(uint32_t offset, absl::Span<const uint32_t> surfaces) const {
    const uint32_t* const there = &surfaces_[offset / 4];
    return *there == surfaces[0] && std::memcmp(there, surfaces.data(), surfaces.size() * 4) == 0;
  }
  uint32_t BytesFor(size_t count) const {
    return (static_cast<uint32_t>(count) * 4 + rules_.alignment - 1) & ~(rules_.alignment - 1);
  }
  // The next table's place in the block, and in the copy of it; the table becomes valid with
  // Keep().
  uint32_t next() const { return next_; }
  uint32_t* CopyAt(uint32_t offset) { return &surfaces_[offset / 4]; }
  // The table at next() is valid: from now on it can be found.
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

  // Whether the GPU does not see tables until they are flushed.
  bool flushes() const { return flushes_; }
  // Flushes the block from `offset`, of a table, up to next(). If that fails, these tables do not
  // exist any more: the GPU must not be told of them, and a further Bind() writes and flushes anew.
  [[gnu::cold, gnu::noinline]] absl::Status FlushFrom(uint32_t offset);
  [[gnu::cold, gnu::noinline]] absl::Status TooMany(size_t count) const;
  // Reports the first surface that is invalid. unaligned: the bits that must be zero.
  [[gnu::cold, gnu::noinline]] absl::Status CheckSurfaces(absl::Span<const uint32_t> surfaces,
                                                          uint32_t unaligned) const;
  [[gnu::cold, gnu::noinline]] absl::Status NotBegun() const;

  // Records the batch that has been begun, and checks for it.
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

  // An entry of the hash table: the place of a table in the block. count 0: empty.
  struct Slot {
    uint32_t hash = 0, count = 0, offset = 0;
  };

  absl::StatusOr<gpu::Buffer> CreateBlock() const;

  const bool flushes_;
  uint64_t begun_ = 0;  // the batch's number
  gpu::Buffer block_;
  uint32_t next_ = 0;  // offset of the next table
  // A copy of the block's tables, as the callers gave them: the block itself is not read, since its
  // memory may be slow to read.
  std::vector<uint32_t> surfaces_;
  std::vector<Slot> slots_;
  size_t mask_ = 0;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_BINDER_CORE_H_
