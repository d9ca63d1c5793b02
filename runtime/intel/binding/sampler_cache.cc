#include "runtime/intel/binding/sampler_cache.h"

#include <bit>
#include <utility>

namespace packsmith::intel {

SamplerCacheCore::Key SamplerCacheCore::KeyOf(const Sampler& sampler) {
  uint32_t enums = 0;
  unsigned shift = 0;
  const auto add = [&](uint32_t value, unsigned bits) {
    enums |= value << shift;
    shift += bits;
  };
  add(static_cast<uint32_t>(sampler.min_filter), 1);
  add(static_cast<uint32_t>(sampler.mag_filter), 1);
  add(static_cast<uint32_t>(sampler.mip_filter), 2);
  for (const Wrap wrap : sampler.wrap) add(static_cast<uint32_t>(wrap), 3);
  add(sampler.compares ? 1 : 0, 1);
  add(static_cast<uint32_t>(sampler.compare), 3);
  add(static_cast<uint32_t>(sampler.reduction), 2);
  add(sampler.unnormalized ? 1 : 0, 1);
  add(sampler.seamless ? 1 : 0, 1);
  const auto bits = [](float value) { return std::bit_cast<uint32_t>(value == 0 ? 0.0f : value); };
  Key key = {enums,
             bits(sampler.lod_bias),
             bits(sampler.min_lod),
             bits(sampler.max_lod),
             sampler.anisotropy,
             sampler.uses_border() ? 1u : 0u};
  if (sampler.uses_border()) {
    for (unsigned i = 0; i < 4; ++i) key[6 + i] = sampler.border_color[i];
  }
  return key;
}

absl::StatusOr<const PackedSampler*> SamplerCacheCore::AcquireWith(const Sampler& sampler,
                                                                   Pack pack) {
  const Key key = KeyOf(sampler);
  MutexLock lock(mutex_);
  if (const auto found = entries_.find(key); found != entries_.end()) {
    ++found->second->users;
    ++statistics_.hits;
    return &found->second->packed;
  }
  absl::StatusOr<PackedSampler> packed = pack(sampler);
  if (!packed.ok()) return packed.status();
  auto entry = std::make_unique<Entry>();
  *entry = {.packed = *packed, .key = key, .users = 1};
  Entry* const made = entry.get();
  places_[&made->packed] = made;
  entries_.emplace(key, std::move(entry));
  ++statistics_.packed;
  return &made->packed;
}

absl::Status SamplerCacheCore::ReleaseWith(const PackedSampler* sampler, Drop drop) {
  MutexLock lock(mutex_);
  const auto place = places_.find(sampler);
  if (place == places_.end()) {
    return absl::NotFoundError("the sampler is not in use: it was released, or made elsewhere");
  }
  Entry* const entry = place->second;
  if (--entry->users != 0) return absl::OkStatus();
  const PackedSampler packed = entry->packed;
  places_.erase(place);
  entries_.erase(entry->key);
  return drop(packed);
}

void SamplerCacheCore::DropAll(Drop drop) {
  MutexLock lock(mutex_);
  for (const auto& [key, entry] : entries_) (void)drop(entry->packed);
  entries_.clear();
  places_.clear();
}

SamplerCacheStatistics SamplerCacheCore::statistics() const {
  MutexLock lock(mutex_);
  return statistics_;
}

size_t SamplerCacheCore::size() const {
  MutexLock lock(mutex_);
  return entries_.size();
}

}  // namespace packsmith::intel
