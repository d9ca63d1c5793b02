// Small pieces of state, addressed as offsets from a base: samplers, viewports, surface states,
// kernels.
//
//   auto pool = StatePool::Create(buffers, space, {.zone = dynamic, .base = 8 * kGiB});
//   absl::StatusOr<State> sampler = (*pool)->Allocate(16, 32);
//   packet.offset_to_samplers = sampler->offset;
//
// Sizes are powers of two. A state that is freed merges with its free neighbour, so that the memory
// of small states can become large ones again, and memory without states can be returned.

#ifndef PACKSMITH_RUNTIME_MEMORY_STATE_POOL_H_
#define PACKSMITH_RUNTIME_MEMORY_STATE_POOL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/lifetime.h"
#include "runtime/base/mutex.h"
#include "runtime/memory/bit_tree.h"
#include "runtime/memory/buffers.h"

namespace packsmith::gpu {

struct State {
  uint32_t offset = 0;   // from the pool's base
  uint64_t address = 0;  // GPU address, canonical
  uint64_t size = 0;     // bytes that may be used
  uint8_t* cpu = nullptr;
  BufferHandle buffer = 0;  // that contains it
};

struct StatePoolStatistics {
  uint64_t live_states = 0;
  uint64_t live_bytes = 0;
  uint64_t memory_bytes = 0;  // in all blocks
  uint64_t blocks = 0;
};

// Thread-safe.
class StatePool {
 public:
  struct Options {
    ZoneId zone = {};
    std::string name = "states";
    // GPU address that offsets are relative to: the base address that a driver programs. Empty: the
    // zone's first.
    std::optional<uint64_t> base = {};
    // States are in the zone from offset `begin` up to, not including, offset `end`, which must be
    // at most 4 GiB. 0: up to the end of the zone. The first address is rounded up to a multiple of
    // largest_block.
    uint64_t begin = 0, end = 0;
    Heap heap = Heap::kSystem;  // one that the CPU can see
    uint64_t smallest = 64;     // bytes: a power of two
    // The memory that is taken when there is none left: at first this much, then as much as there
    // is already, up to the largest. Powers of two, whole pages. No state can be larger than the
    // largest.
    uint64_t first_block = uint64_t{256} << 10, largest_block = uint64_t{16} << 20;
  };

  // InvalidArgument if the options are not as described. `buffers` must outlive the result.
  static absl::StatusOr<std::unique_ptr<StatePool>> Create(Buffers& buffers,
                                                           const AddressSpace& addresses,
                                                           const Options& options);
  // All states must be out of use.
  ~StatePool();

  // A state of at least `size` bytes. Its address is a multiple of its own size, which is the least
  // power of two that is not below `size` or `alignment`. InvalidArgument if that exceeds the
  // largest block; ResourceExhausted if there is no room; other errors of Buffers::Create().
  absl::StatusOr<State> Allocate(uint64_t size, uint64_t alignment = 1);
  // NotFound if no state begins there: it was freed before, or never allocated. The GPU must be
  // done with it.
  absl::Status Free(uint32_t offset);
  // For memory that is not coherent: makes the first `size` bytes of a state, as the CPU has
  // written them, visible to jobs that are submitted afterwards; see Buffers::FlushForGpu(). The
  // state may be a part of one that was allocated. OutOfRange if the pool does not have these
  // bytes.
  absl::Status Flush(const State& state, uint64_t size) const;
  // Returns memory at the end in which no state is left.
  absl::Status Trim();

  // For those that refer to this pool.
  Lifetime& lifetime() const { return lifetime_; }

  uint64_t base() const { return base_; }  // GPU address, canonical
  StatePoolStatistics statistics() const;
  // Internal error if the bookkeeping is inconsistent. O(n); for tests.
  absl::Status Verify() const;

 private:
  struct Block {
    uint64_t begin = 0, size = 0;  // offsets from first_
    Buffer buffer;
  };

  StatePool(Buffers& buffers, const Options& options, uint64_t base, uint64_t first, uint64_t room,
            unsigned address_bits);

  unsigned OrderOf(uint64_t size) const;
  const Block& BlockOf(uint64_t position) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Grow(uint64_t at_least) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The buffers of the blocks from this one on.
  absl::Status ReleaseFrom(size_t first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Lifetime lifetime_{"state pool"};
  const Reference<Buffers> buffers_;
  const Options options_;
  const uint64_t base_;          // address of offset 0, canonical
  const uint64_t first_, room_;  // offset of the first state, and the maximum number of bytes
  const unsigned address_bits_;
  const unsigned smallest_shift_, orders_;

  // Positions are offsets from first_, numbers of a tree are positions in units of its size.
  mutable Mutex mutex_;
  std::vector<Block> blocks_ ABSL_GUARDED_BY(mutex_);
  std::vector<BitTree> free_ ABSL_GUARDED_BY(mutex_);   // of each order
  std::vector<uint8_t> order_ ABSL_GUARDED_BY(mutex_);  // of the state that begins there, plus one
  uint64_t end_ ABSL_GUARDED_BY(mutex_) = 0;            // of all blocks
  StatePoolStatistics statistics_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace packsmith::gpu

#endif  // PACKSMITH_RUNTIME_MEMORY_STATE_POOL_H_
