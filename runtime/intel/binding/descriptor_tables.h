// Binding tables and sampler tables, made of the sets that are bound.
//
//   BoundDescriptors bound;
//   absl::Status status = bound.Bind(layout, 0, {set}, dynamic_offsets);
//   uint32_t entries[kMostTableSurfaces];
//   absl::StatusOr<BufferHandle> states = FillSurfaceTable(
//       map, bound, {.render_targets = targets, .states = &stream}, absl::MakeSpan(entries));
//
// Entries are offsets of surface states from their base, as the setup has it; a binder that counts
// from elsewhere adds the distance.

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
  // Binds sets[i] as number first + i. `dynamic_offsets` has one, in bytes, for each dynamic buffer
  // of these sets, in the order of sets, bindings and elements.
  //
  // InvalidArgument, naming the set, for one that the layout does not have or that was made for
  // another one, and for a number of offsets that is not that of the buffers; FailedPrecondition
  // for a set that was freed. Then nothing is bound anew.
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
  // For the surface states of dynamic buffers, which are made now: of a pool that the base of
  // surfaces reaches. Null if there are none.
  gpu::StateStream* states = nullptr;
};

// Writes map.surfaces.size() entries. What is not written in a set, and need not be, gets the null
// surface. Returns the buffer in which states were made, or 0: jobs use it.
//
// FailedPrecondition, naming set, binding and element, for a set that is not bound or was freed,
// and for descriptors that are not written though they have to be; OutOfRange for a dynamic offset
// that leads out of its buffer, and for `to` if it has not enough room; InvalidArgument for a set
// of another layout than the map's, and for another number of render targets; errors of the stream.
// Nothing is written then.
absl::StatusOr<gpu::BufferHandle> FillSurfaceTable(const BindMap& map,
                                                   const BoundDescriptors& bound,
                                                   const SurfaceTableInputs& inputs,
                                                   absl::Span<uint32_t> to);

// The samplers of map.samplers, for a table of them: to[i] is set to entry i's. Errors as above.
// Samplers that are not written, and need not be, are all zeros.
absl::Status FillSamplerTable(const BindMap& map, const BoundDescriptors& bound,
                              absl::Span<std::array<uint32_t, kSamplerStateBytes / 4>> to);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_TABLES_H_
