// Binding tables and sampler tables, made of the sets that are bound.
//
//   BoundDescriptors bound;
//   absl::Status status = bound.Bind(layout, 0, {set}, dynamic_offsets);
//   uint32_t entries[kMostTableSurfaces];
//   absl::StatusOr<BufferHandle> states = FillSurfaceTable(
//       map, bound, {.render_targets = targets, .states = &stream}, absl::MakeSpan(entries));
//
// Entries are offsets of surface states from the setup's base; a binder with another base adds the
// difference.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_TABLES_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_TABLES_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/intel/binding/descriptor_placement.h"
#include "runtime/intel/binding/descriptor_set.h"
#include "runtime/memory/state_stream.h"

namespace packsmith::intel {

// The sets of a command buffer's bind point, with the offsets of their dynamic buffers.
class BoundDescriptors {
 public:
  // Binds sets[i] as set first + i. `dynamic_offsets` has an offset in bytes for each dynamic
  // buffer of these sets, in the order of sets, bindings and elements.
  //
  // InvalidArgument, naming the set, for one that the layout does not have or that was made for
  // another one, and if the number of offsets is not that of the buffers; FailedPrecondition for a
  // set that was freed. On an error nothing has changed.
  absl::Status Bind(const PipelineLayout& layout, uint32_t first,
                    absl::Span<const DescriptorSet> sets,
                    absl::Span<const uint32_t> dynamic_offsets = {});

  const DescriptorSet& set(uint32_t number) const { return sets_[number]; }
  // Of the set's dynamic buffers.
  const std::array<uint32_t, kMostDynamicBuffers>& offsets(uint32_t set) const {
    return offsets_[set];
  }

 private:
  std::array<DescriptorSet, kMostSets> sets_ = {};
  std::array<std::array<uint32_t, kMostDynamicBuffers>, kMostSets> offsets_ = {};
};

struct SurfaceTableInputs {
  // Entries of the render targets, as many as the map has.
  absl::Span<const uint32_t> render_targets = {};
  // For the surface states of dynamic buffers, which are made now: a stream of a pool that the base
  // of surfaces reaches. Null if there are none.
  gpu::StateStream* states = nullptr;
};

// Writes map.surfaces.size() entries. Descriptors that need not be written, and are not, get the
// null surface. Returns the buffer in which states were made, which jobs must declare, or 0.
//
// FailedPrecondition, naming set, binding and element, for a set that is not bound or was freed,
// and for descriptors that must be written and are not; OutOfRange for a dynamic offset outside its
// buffer, and if `to` is too small; InvalidArgument for a set of another layout than the map's, and
// for another number of render targets; errors of the stream. On an error nothing is written.
absl::StatusOr<gpu::BufferHandle> FillSurfaceTable(const BindMap& map,
                                                   const BoundDescriptors& bound,
                                                   const SurfaceTableInputs& inputs,
                                                   absl::Span<uint32_t> to);

// Writes the samplers of map.samplers for a table: to[i] is that of entry i. Errors as above.
// Samplers that need not be written, and are not, are all zeros.
absl::Status FillSamplerTable(const BindMap& map, const BoundDescriptors& bound,
                              absl::Span<std::array<uint32_t, kSamplerStateBytes / 4>> to);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_TABLES_H_
