// The memory that a job uses: each once, however many addresses point to it.

#ifndef PACKSMITH_RUNTIME_MEMORY_RESIDENCY_H_
#define PACKSMITH_RUNTIME_MEMORY_RESIDENCY_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/base/lifetime.h"
#include "runtime/base/number_map.h"
#include "runtime/memory/buffers.h"

namespace packsmith::gpu {

// Not thread-safe: one for each batch.
class Residency {
 public:
  // `buffers` must outlive this.
  explicit Residency(const Buffers& buffers);
  ~Residency();

  // O(1), also if the buffer is listed already. NotFound for a handle that is not a buffer's.
  absl::Status Add(BufferHandle handle, bool written);
  bool Contains(BufferHandle handle) const;
  // Whether a job with this list writes to the buffer. Buffers that share memory are distinguished.
  bool Writes(BufferHandle handle) const;

  // In the order in which they were added: for Job::residents.
  absl::Span<const Resident> residents() const { return residents_; }
  // For Buffers::Use() and Buffers::JobsBefore().
  absl::Span<const BufferAccess> uses() const { return uses_; }
  // The same buffers.
  absl::Span<const BufferHandle> handles() const { return handles_; }
  // The job's resident memory in bytes: must not exceed what the GPU can have at once.
  uint64_t bytes() const { return bytes_; }
  void Clear();

 private:
  Lifetime lifetime_{"residency list"};
  const Reference<const Buffers> buffers_;
  NumberMap places_;    // of handles, in uses_
  NumberMap memories_;  // of MemoryIds, in residents_
  std::vector<Resident> residents_;
  std::vector<BufferHandle> handles_;
  std::vector<BufferAccess> uses_;     // of each handle
  std::vector<uint32_t> resident_of_;  // of each handle, in residents_
  uint64_t bytes_ = 0;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_RESIDENCY_H_
