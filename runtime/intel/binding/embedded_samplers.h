// Samplers that pipelines have embedded: each stands in memory once, whatever pipelines use it.
//
//   EmbeddedSamplers samplers(*dynamic);
//   absl::StatusOr<std::vector<State>> states = samplers.Acquire(map);
//   // map.embedded[i] is at (*states)[i].offset, which is what the shader puts into its messages
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
  // They lie in the pool, which the base of samplers reaches, and which must outlive this.
  explicit EmbeddedSamplers(gpu::StatePool& pool) : states_(pool, kSamplerStride) {}

  // Where the samplers of map.embedded are. ResourceExhausted for more than kMostEmbeddedSamplers
  // different ones; errors of StatePool::Allocate(). Nothing has changed then.
  absl::StatusOr<std::vector<gpu::State>> Acquire(const BindMap& map);
  // What was acquired, each once. The last one who has a sampler gives its place back: the GPU must
  // be done with it. NotFound, for the first that nobody has; the others are released.
  absl::Status Release(absl::Span<const gpu::State> states);

  size_t size() const { return states_.size(); }  // different samplers

 private:
  SharedStates states_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_EMBEDDED_SAMPLERS_H_
