#include "runtime/intel/binding/embedded_samplers.h"

#include "absl/strings/str_format.h"

namespace packsmith::intel {

absl::StatusOr<std::vector<gpu::State>> EmbeddedSamplers::Acquire(const BindMap& map) {
  std::vector<gpu::State> states;
  states.reserve(map.embedded.size());
  absl::Status status;
  for (const BindMap::Embedded& one : map.embedded) {
    const absl::StatusOr<gpu::State> state = states_.Acquire(one.sampler.state);
    if (!state.ok()) {
      status = absl::Status(state.status().code(),
                            absl::StrFormat("set %d, binding %d: %s", one.set, one.binding,
                                            state.status().message()));
      break;
    }
    states.push_back(*state);
    if (states_.size() > kMostEmbeddedSamplers) {
      status = absl::ResourceExhaustedError(
          absl::StrFormat("set %d, binding %d: more than %d different embedded samplers", one.set,
                          one.binding, kMostEmbeddedSamplers));
      break;
    }
  }
  if (status.ok()) return states;
  (void)Release(states);
  return status;
}

absl::Status EmbeddedSamplers::Release(absl::Span<const gpu::State> states) {
  absl::Status first;
  for (const gpu::State& state : states) first.Update(states_.Release(state.offset));
  return first;
}

}  // namespace packsmith::intel
