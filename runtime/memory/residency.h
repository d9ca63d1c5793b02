// Which memory a job uses: each once, whatever the number of addresses that lead to it.

#ifndef PACKSMITH_RUNTIME_MEMORY_RESIDENCY_H_
#define PACKSMITH_RUNTIME_MEMORY_RESIDENCY_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/base/lifetime.h"
#include "runtime/memory/buffers.h"

namespace packsmith::gpu {

// Not thread-safe: one for each batch.
class Residency {
 public:
  // `buffers` must outlive this.
  explicit Residency(const Buffers& buffers) : buffers_(buffers, lifetime_) {}

  // O(1), whether the buffer is there already or not. NotFound for a handle of no buffer.
  absl::Status Add(BufferHandle handle, bool written);
  bool Contains(BufferHandle handle) const;
  // Whether a job that has this list writes to the buffer. Of buffers that share memory each has
  // its own answer.
  bool Writes(BufferHandle handle) const;

  // In the order in which they were added: for Job::residents.
  absl::Span<const Resident> residents() const { return residents_; }
  // For Buffers::Use() and Buffers::JobsBefore().
  absl::Span<const BufferAccess> uses() const { return uses_; }
  // The same buffers.
  absl::Span<const BufferHandle> handles() const { return handles_; }
  // How much memory the job has resident, in bytes: not to be more than the GPU can have at once.
  uint64_t bytes() const { return bytes_; }
  void Clear();

 private:
  struct Place {
    uint32_t resident;
    uint32_t use;
  };

  Lifetime lifetime_{"residency list"};
  const Reference<const Buffers> buffers_;
  absl::flat_hash_map<BufferHandle, Place> places_;
  absl::flat_hash_map<MemoryId, uint32_t> memories_;
  std::vector<Resident> residents_;
  std::vector<BufferHandle> handles_;
  std::vector<BufferAccess> uses_;  // of each handle
  uint64_t bytes_ = 0;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_RESIDENCY_H_
