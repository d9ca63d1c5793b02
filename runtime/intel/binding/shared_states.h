// States that are stored once: callers that acquire the same dwords get the same place.
//
//   SharedStates tables(pool, 32);
//   absl::StatusOr<State> table = tables.Acquire(dwords);
//   packet.pointer_to_ps_sampler_state = table->offset;
//   …
//   absl::Status status = tables.Release(table->offset);
//
// Acquiring an existing state costs a hash and a comparison, and does not allocate.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_SHARED_STATES_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_SHARED_STATES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/lifetime.h"
#include "runtime/base/mutex.h"
#include "runtime/memory/state_pool.h"

namespace packsmith::intel {

// Thread-safe.
class SharedStates {
 public:
  // States are in the pool, which must outlive this, at multiples of `alignment` bytes.
  SharedStates(gpu::StatePool& pool, uint64_t alignment)
      : pool_(pool, lifetime_), alignment_(alignment) {}
  // Frees all places; the GPU must be done with them.
  ~SharedStates();

  SharedStates(const SharedStates&) = delete;
  SharedStates& operator=(const SharedStates&) = delete;

  // Returns where these dwords are. Each state must be released as often as it was acquired.
  // InvalidArgument for no dwords; errors of StatePool::Allocate(), and then nothing has changed.
  absl::StatusOr<gpu::State> Acquire(absl::Span<const uint32_t> dwords);
  // The last release frees the place: the GPU must be done with it. NotFound if no state in use is
  // there.
  absl::Status Release(uint32_t offset);

  size_t size() const;  // different states

 private:
  struct Entry {
    std::vector<uint32_t> dwords;
    gpu::State state;
    uint64_t users = 0;
  };
  using Owned = std::unique_ptr<Entry>;
  // Entries are found by their dwords.
  struct Hash {
    using is_transparent = void;
    size_t operator()(absl::Span<const uint32_t> dwords) const {
      return absl::Hash<absl::Span<const uint32_t>>()(dwords);
    }
    size_t operator()(const Owned& entry) const {
      return (*this)(absl::Span<const uint32_t>(entry->dwords));
    }
  };
  struct Equal {
    using is_transparent = void;
    static absl::Span<const uint32_t> Dwords(absl::Span<const uint32_t> dwords) { return dwords; }
    static absl::Span<const uint32_t> Dwords(const Owned& entry) { return entry->dwords; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return Dwords(a) == Dwords(b);
    }
  };

  Lifetime lifetime_{"shared states"};
  const Reference<gpu::StatePool> pool_;
  const uint64_t alignment_;
  mutable Mutex mutex_;
  absl::flat_hash_set<Owned, Hash, Equal> entries_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<uint32_t, Entry*> places_ ABSL_GUARDED_BY(mutex_);  // by offset
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_SHARED_STATES_H_
