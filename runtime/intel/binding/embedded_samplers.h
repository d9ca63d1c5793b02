// Samplers that are embedded in pipelines: each is in memory once, however many pipelines use it.
//
//   EmbeddedSamplers samplers(*dynamic);
//   absl::StatusOr<std::vector<State>> states = samplers.Acquire(map);
//   // map.embedded[i] is at (*states)[i].offset, which the shader uses in its messages
//   …
//   absl::Status status = samplers.Release(*states);   // with the pipeline

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_EMBEDDED_SAMPLERS_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_EMBEDDED_SAMPLERS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/intel/binding/descriptor_placement.h"
#include "runtime/intel/binding/descriptor_types.h"
#include "runtime/intel/binding/shared_states.h"
#include "runtime/memory/state_pool.h"

namespace packsmith::intel {

// Thread-safe.
class EmbeddedSamplers {
 public:
  // Samplers are in the pool, which the base of samplers must reach, and which must outlive this.
  explicit EmbeddedSamplers(gpu::StatePool& pool) : states_(pool, kSamplerStride) {}

  // Returns where the samplers of map.embedded are. ResourceExhausted for more than
  // kMostEmbeddedSamplers different ones; errors of StatePool::Allocate(). On an error nothing has
  // changed.
  absl::StatusOr<std::vector<gpu::State>> Acquire(const BindMap& map);
  // Releases what was acquired. The last release of a sampler frees its place: the GPU must be done
  // with it. NotFound for the first one that is not in use; the others are released.
  absl::Status Release(absl::Span<const gpu::State> states);

  size_t size() const { return states_.size(); }  // different samplers

 private:
  SharedStates states_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_EMBEDDED_SAMPLERS_H_
