// Samplers by their template: equal ones are packed once, and are the same object.
//
//   SamplerTables<Gfx9> tables(dynamic, *colors, 0);
//   SamplerCache<Gfx9> cache(tables);
//   absl::StatusOr<const PackedSampler*> linear = cache.Acquire({.min_filter = Filter::kLinear});
//   const PackedSampler* const table[] = {*linear};
//   absl::StatusOr<State> state = tables.Acquire(table);
//   …
//   absl::Status status = cache.Release(*linear);
//
// Acquiring one that exists costs a hash and a comparison, and does not allocate.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_SAMPLER_CACHE_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_SAMPLER_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/intel/binding/sampler_tables.h"
#include "runtime/intel/binding/samplers.h"

namespace packsmith::intel {

struct SamplerCacheStatistics {
  uint64_t hits = 0;    // acquired, and there already
  uint64_t packed = 0;  // acquired, and new
};

// The part that does not depend on the generation.
class SamplerCacheCore {
 public:
  SamplerCacheStatistics statistics() const;
  size_t size() const;  // different samplers

 protected:
  using Pack = absl::FunctionRef<absl::StatusOr<PackedSampler>(const Sampler&)>;
  using Drop = absl::FunctionRef<absl::Status(const PackedSampler&)>;

  absl::StatusOr<const PackedSampler*> AcquireWith(const Sampler& sampler, Pack pack);
  absl::Status ReleaseWith(const PackedSampler* sampler, Drop drop);
  void DropAll(Drop drop);

 private:
  // All members, in an order, with equal values for what means the same: zeros of either sign, and
  // border colours that are not used.
  using Key = std::array<uint32_t, 10>;
  static Key KeyOf(const Sampler& sampler);

  struct Entry {
    PackedSampler packed;
    Key key = {};
    uint64_t users = 0;
  };

  mutable Mutex mutex_;
  absl::flat_hash_map<Key, std::unique_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<const PackedSampler*, Entry*> places_ ABSL_GUARDED_BY(mutex_);
  SamplerCacheStatistics statistics_ ABSL_GUARDED_BY(mutex_);
};

// Thread-safe.
template <class Gen>
class SamplerCache : public SamplerCacheCore {
 public:
  // `tables` must outlive this; it keeps the border colours.
  explicit SamplerCache(SamplerTables<Gen>& tables) : tables_(tables) {}
  // Drops all samplers; the GPU must be done with them.
  ~SamplerCache() {
    DropAll([this](const PackedSampler& packed) { return tables_.Drop(packed); });
  }
  SamplerCache(const SamplerCache&) = delete;
  SamplerCache& operator=(const SamplerCache&) = delete;

  // Each must be released as often as it was acquired. Errors of SamplerTables::Pack(), and then
  // nothing has changed.
  absl::StatusOr<const PackedSampler*> Acquire(const Sampler& sampler) {
    return AcquireWith(sampler, [this](const Sampler& s) { return tables_.Pack(s); });
  }
  // After the last release the pointer is invalid, and the GPU must be done with it. NotFound for a
  // sampler that is not in use here.
  absl::Status Release(const PackedSampler* sampler) {
    return ReleaseWith(sampler,
                       [this](const PackedSampler& packed) { return tables_.Drop(packed); });
  }

 private:
  SamplerTables<Gen>& tables_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_SAMPLER_CACHE_H_
