// Allocates descriptor sets and their memory.
//
//   const DescriptorCount counts[] = {{DescriptorType::kUniformBuffer, 100},
//                                     {DescriptorType::kSampledImage, 1000}};
//   auto pool = DescriptorPool::Create(*buffers, setup, {.max_sets = 100, .counts = counts,
//                                                        .records = zone, .surfaces = zone});
//   absl::StatusOr<DescriptorSet> set = (*pool)->Allocate(layout);
//   ...
//   absl::Status status = (*pool)->Free(*set);   // or, all at once:
//   (*pool)->Reset();
//
// The memory is allocated when the pool is made. A new or reset pool has room for any sets whose
// descriptors are at most those of the options. After sets have been freed one by one, the pool may
// be fragmented; the error then says so.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_POOL_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_POOL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/lifetime.h"
#include "runtime/intel/binding/descriptor_layout.h"
#include "runtime/intel/binding/descriptor_set.h"
#include "runtime/intel/binding/descriptor_setup.h"
#include "runtime/intel/binding/type_stable.h"
#include "runtime/memory/buffers.h"
#include "runtime/memory/range_allocator.h"

namespace packsmith::intel {

struct DescriptorCount {
  DescriptorType type = DescriptorType::kSampler;
  uint32_t count = 0;  // kInlineUniformBlock: bytes
};

struct DescriptorPoolOptions {
  uint32_t max_sets = 0;
  absl::Span<const DescriptorCount> counts = {};
  uint32_t inline_blocks = 0;  // number of bindings that share the bytes of inline uniform blocks
  // Zones for the sets' records, their samplers and their own surface states, as far as the model
  // needs them. They must be in reach of the setup's bases: within 4 GiB, and for surface states
  // that shaders access by handles, within the range of these. Memory is taken from a zone's upper
  // end: a StatePool in the same zone grows from the lower one.
  gpu::ZoneId records = {}, samplers = {}, surfaces = {};
  gpu::Heap heap = gpu::Heap::kSystem;  // the CPU must have access
};

struct DescriptorPoolStatistics {
  uint32_t sets = 0;  // allocated
  // Bytes of records, samplers and surface states: used by sets, and in the pool.
  uint64_t record_bytes = 0, record_capacity = 0;
  uint64_t sampler_bytes = 0, sampler_capacity = 0;
  uint64_t surface_bytes = 0, surface_capacity = 0;
};

// Not thread-safe.
class DescriptorPool {
 public:
  // Errors of Buffers::Create(); InvalidArgument for a pool of 0 sets, for counts that the model
  // cannot have, and for bytes of inline uniform blocks without inline_blocks; FailedPrecondition
  // if a zone is out of reach of its base. `buffers` and `setup` must outlive the result.
  static absl::StatusOr<std::unique_ptr<DescriptorPool>> Create(
      gpu::Buffers& buffers, const DescriptorSetup& setup, const DescriptorPoolOptions& options);
  // The GPU must be done with all sets. Their handles are then those of freed sets.
  ~DescriptorPool();

  DescriptorPool(const DescriptorPool&) = delete;
  DescriptorPool& operator=(const DescriptorPool&) = delete;

  // A set in which only immutable samplers are written. `variable_count`: of the last binding, if
  // it is variable in the layout; default: the layout's count.
  //
  // ResourceExhausted if all sets are allocated, or too few bytes are free; FailedPrecondition if
  // enough bytes are free, but not contiguous; InvalidArgument for layouts of another model, of
  // pushed sets or of embedded samplers, and for a count that the layout does not allow. On an
  // error nothing has changed.
  absl::StatusOr<DescriptorSet> Allocate(DescriptorSetLayoutPtr layout,
                                         std::optional<uint32_t> variable_count = {});
  // The GPU must be done with it. NotFound if it is not a set of this pool: freed before, or
  // another pool's.
  absl::Status Free(const DescriptorSet& set);
  // Frees all sets, at a cost that depends on their number and not on their content.
  void Reset();

  DescriptorPoolStatistics statistics() const;

 private:
  // A buffer, and the ranges of it that are in use.
  struct Region {
    gpu::Buffer buffer;
    uint64_t capacity = 0;
    uint64_t granule = kSetAlignment;
    std::unique_ptr<gpu::RangeAllocator> ranges;  // null: the pool has no such memory

    // Frees all of it: a new allocator costs less than freeing each range.
    absl::Status Empty();
  };
  struct Place : DescriptorSetStorage {
    gpu::RangeHandle records, samplers, surfaces;
    uint32_t index = 0;
  };

  DescriptorPool(gpu::Buffers& buffers, const DescriptorSetup& setup, uint32_t max_sets);

  // Frees the ranges, of each region in which there is one.
  void GiveBack(gpu::RangeHandle records, gpu::RangeHandle samplers, gpu::RangeHandle surfaces);
  absl::Status Open(Region& region, uint64_t bytes, uint64_t granule, gpu::ZoneId zone,
                    gpu::Heap heap, const char* what);
  static absl::StatusOr<gpu::Range> Take(Region& region, uint64_t bytes, const char* what);
  absl::StatusOr<DescriptorSet> Settle(Place& place, DescriptorSetLayoutPtr layout,
                                       uint32_t variable_count);

  // Makes the handles of all sets invalid.
  void EndSets();

  Lifetime lifetime_{"descriptor pool", this,
                     [](void* pool) { static_cast<DescriptorPool*>(pool)->EndSets(); }};
  const Reference<gpu::Buffers> buffers_;
  const Reference<const DescriptorSetup> setup_;
  const uint32_t max_sets_;
  Region records_, samplers_, surfaces_;
  std::vector<Kept<Place>> places_;  // handles point to them
  std::vector<uint32_t> unused_;     // places of freed sets
  uint32_t begun_ = 0;               // places that have had a set since the last reset
  uint32_t sets_ = 0;
  uint64_t next_serial_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_POOL_H_
