// States that packets point to: written to memory from the dynamic state base on, and named by the
// batch.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_DYNAMIC_STATES_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_DYNAMIC_STATES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/memory/state_stream.h"

namespace packsmith::intel {

// Copies dwords to the stream, whose pool begins at the dynamic state base, and returns their
// offset from it. Errors of the stream. alignment: a power of two, in bytes.
template <class Gen>
absl::StatusOr<uint32_t> WriteDynamic(absl::Span<const uint32_t> dwords, uint64_t alignment,
                                      gpu::StateStream& dynamic, Batch<Gen>& batch) {
  const absl::StatusOr<gpu::State> place = dynamic.Allocate(dwords.size() * 4, alignment);
  if (!place.ok()) return place.status();
  std::memcpy(place->cpu, dwords.data(), dwords.size() * 4);
  batch.Use(place->buffer, gpu::kReads);
  return place->offset;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_DYNAMIC_STATES_H_
