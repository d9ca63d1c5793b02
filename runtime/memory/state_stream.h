// State that is written once and discarded together: a frame's, a command buffer's.
//
//   StateStream stream(pool, 16384);
//   absl::StatusOr<State> viewport = stream.Allocate(64, 64);
//   ...
//   absl::Status status = stream.Flush();   // before the job is submitted
//   stream.Rewind();   // all at once, when the GPU is done with it

#ifndef PACKSMITH_RUNTIME_MEMORY_STATE_STREAM_H_
#define PACKSMITH_RUNTIME_MEMORY_STATE_STREAM_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/lifetime.h"
#include "runtime/memory/state_pool.h"

namespace packsmith::gpu {

// Not thread-safe; several streams may share a pool.
class StateStream {
 public:
  // Takes blocks of `block_size` bytes from the pool, which must outlive this.
  StateStream(StatePool& pool, uint64_t block_size)
      : pool_(pool, lifetime_), block_size_(block_size) {}
  // Returns the blocks; the GPU must be done with them.
  ~StateStream();

  StateStream(const StateStream&) = delete;
  StateStream& operator=(const StateStream&) = delete;

  // The next `size` bytes, aligned to `alignment` (a power of two). A state that does not fit into
  // a block gets its own. Errors as StatePool::Allocate()'s; the stream is then unchanged.
  absl::StatusOr<State> Allocate(uint64_t size, uint64_t alignment);

  // For memory that is not coherent: makes what the CPU has written to the states since the last
  // call, or since the beginning, visible to jobs that are submitted afterwards. A state that is
  // written later takes StatePool::Flush(). Errors of Buffers::FlushForGpu().
  absl::Status Flush();

  // Starts over. Blocks are kept for reuse, except those of states that did not fit.
  absl::Status Rewind();

  uint64_t used() const { return used_; }  // bytes since the beginning, with what was skipped

  // For those that refer to this stream.
  Lifetime& lifetime() const { return lifetime_; }

 private:
  mutable Lifetime lifetime_{"state stream"};
  const Reference<StatePool> pool_;
  const uint64_t block_size_;
  std::vector<State> blocks_;  // of block_size_; those before current_ are full
  std::vector<State> large_;   // those that did not fit into a block
  size_t current_ = 0;
  uint64_t next_ = 0;  // in the current block
  uint64_t used_ = 0;
  // Flush() has done what is before this place of this block, and these of large_.
  size_t flushed_block_ = 0, flushed_large_ = 0;
  uint64_t flushed_to_ = 0;
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_STATE_STREAM_H_
