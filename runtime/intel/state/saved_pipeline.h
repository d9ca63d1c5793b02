// Pipelines' packets as words that hold in another run of a program: for caches.
//
//   std::vector<uint32_t> words;
//   const StateLayout& layout = TablesOf<Gfx9>::kTables.layout;
//   if (SavePipeline(layout, pipeline.core(), words)) …            // keep them
//   absl::Status status = LoadPipeline(layout, words, other.core());
//
// The words are of one generation and of one version of this library. Offsets in packets, such as
// those of kernels, are the caller's to correct.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_SAVED_PIPELINE_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_SAVED_PIPELINE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/intel/state/state_core.h"

namespace packsmith::intel {

// Appends the words. False, and nothing is appended, if a packet has dynamic members or the address
// of a buffer, which another run has elsewhere.
bool SavePipeline(const StateLayout& layout, const PipelineCore& pipeline,
                  std::vector<uint32_t>& to);

// Fills an empty pipeline. DataLoss if these are not the words of a pipeline with this layout: of
// another generation, or of a build whose states are laid out otherwise.
absl::Status LoadPipeline(const StateLayout& layout, absl::Span<const uint32_t> words,
                          PipelineCore& to);

// A packet of the pipeline; null: it has none.
const PipelinePacket* FindPacket(const PipelineCore& pipeline, unsigned packet);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_SAVED_PIPELINE_H_
