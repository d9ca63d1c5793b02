#include "runtime/intel/binding/descriptor_placement.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_format.h"

namespace packsmith::intel {
namespace {

constexpr uint8_t kWrittenLate = kUpdateAfterBind | kUpdateUnusedWhilePending | kPartiallyBound;

// A binding that is used.
struct Candidate {
  uint32_t set = 0;
  const DescriptorSetLayout::Binding* binding = nullptr;
  uint64_t uses = 0;
  uint64_t score = 0;
  size_t place = 0;  // in BindMap::places

  uint64_t entries() const { return uint64_t{binding->count} * binding->planes; }
  bool dynamic() const { return IsDynamic(binding->type); }
};

// Uses of an element, in units of 1/128.
uint64_t Score(uint64_t uses, uint64_t elements) { return uses * 128 / elements; }

absl::StatusOr<std::vector<Candidate>> CandidatesOf(const PipelineLayout& layout,
                                                    absl::Span<const DescriptorUse> uses) {
  std::array<std::vector<uint64_t>, kMostSets> sums;  // by set and index of the binding
  for (const DescriptorUse& use : uses) {
    const DescriptorSetLayout* const set = layout.set(use.set);
    if (set == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrFormat("set %d, binding %d is used, but the pipeline layout has no such set",
                          use.set, use.binding));
    }
    const DescriptorSetLayout::Binding* const binding = set->Find(use.binding);
    if (binding == nullptr || binding->count == 0) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "set %d, binding %d is used, but the set's layout %s", use.set, use.binding,
          binding == nullptr ? "has no such binding" : "has no elements there"));
    }
    sums[use.set].resize(set->bindings().size());
    sums[use.set][binding - set->bindings().data()] += use.uses;
  }
  std::vector<Candidate> candidates;
  for (uint32_t set = 0; set < kMostSets; ++set) {
    for (size_t i = 0; i < sums[set].size(); ++i) {
      if (sums[set][i] == 0) continue;
      const DescriptorSetLayout::Binding& binding = layout.set(set)->bindings()[i];
      candidates.push_back({.set = set,
                            .binding = &binding,
                            .uses = sums[set][i],
                            .score = Score(sums[set][i], binding.count),
                            .place = candidates.size()});
    }
  }
  return candidates;
}

class Placer {
 public:
  Placer(const PlacementOptions& options, BindMap& map) : options_(options), map_(map) {}

  absl::Status Place(const Candidate& candidate) {
    const DescriptorSetLayout::Binding& binding = *candidate.binding;
    const bool bindless = binding.record.bindless &&
                          (options_.always_bindless || (binding.flags & kWrittenLate) != 0);
    if (bindless) return absl::OkStatus();
    if (binding.record.surface_table) {
      const bool fits = Fits(map_.surfaces, candidate, options_.most_surfaces);
      if (!fits && !binding.record.bindless) {
        return Full(candidate, "binding table", map_.surfaces.size(), options_.most_surfaces);
      }
      if (fits) map_.places[candidate.place].surface = Add(candidate, map_.surfaces);
    }
    if (binding.record.sampler_table) {
      const bool fits = Fits(map_.samplers, candidate, options_.most_samplers);
      if (!fits && !binding.record.bindless) {
        return Full(candidate, "table of samplers", map_.samplers.size(), options_.most_samplers);
      }
      if (fits) map_.places[candidate.place].sampler = Add(candidate, map_.samplers);
    }
    return absl::OkStatus();
  }

  absl::Status PlaceSet(uint32_t set) {
    if (map_.surfaces.size() >= options_.most_surfaces) {
      return absl::ResourceExhaustedError(absl::StrFormat(
          "set %d: its memory needs one of the binding table's %d entries, but all are taken", set,
          options_.most_surfaces));
    }
    map_.surfaces.push_back({.kind = BindMap::Kind::kSet, .set = static_cast<uint8_t>(set)});
    map_.sets |= 1u << set;
    return absl::OkStatus();
  }

 private:
  static bool Fits(const std::vector<BindMap::Entry>& table, const Candidate& candidate,
                   uint32_t most) {
    return table.size() + candidate.entries() <= most;
  }

  static absl::Status Full(const Candidate& candidate, const char* what, size_t taken,
                           uint32_t most) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "set %d, binding %d: %d entries of the %s, which type %s needs, but %d of %d are taken",
        candidate.set, candidate.binding->binding, candidate.entries(), what,
        NameOf(candidate.binding->type), taken, most));
  }

  // Returns the first entry.
  uint32_t Add(const Candidate& candidate, std::vector<BindMap::Entry>& table) {
    const DescriptorSetLayout::Binding& binding = *candidate.binding;
    const uint32_t first = static_cast<uint32_t>(table.size());
    const bool samplers = &table == &map_.samplers;
    for (uint32_t element = 0; element < binding.count; ++element) {
      for (uint32_t plane = 0; plane < binding.planes; ++plane) {
        const uint32_t item = element * binding.planes + plane;
        table.push_back({
            .kind = candidate.dynamic() ? BindMap::Kind::kDynamic : BindMap::Kind::kDescriptor,
            .set = static_cast<uint8_t>(candidate.set),
            .plane = static_cast<uint8_t>(plane),
            .may_be_unbound = (binding.flags & (kPartiallyBound | kVariableCount)) != 0,
            .immutable = samplers && binding.immutable_samplers,
            .binding = binding.binding,
            .element = element,
            .slot = binding.first_slot + item,
            .sampler_slot = samplers ? binding.first_sampler_slot + item : 0,
            .dynamic = candidate.dynamic() ? binding.first_dynamic + element : 0,
        });
      }
    }
    if (candidate.dynamic()) map_.dynamics += binding.count;
    map_.sets |= 1u << candidate.set;
    return first;
  }

  const PlacementOptions& options_;
  BindMap& map_;
};

}  // namespace

const BindMap::Place* BindMap::Find(uint32_t set, uint32_t binding) const {
  for (const Place& place : places) {
    if (place.set == set && place.binding == binding) return &place;
  }
  return nullptr;
}

absl::StatusOr<BindMap> PlaceDescriptors(const PipelineLayout& layout,
                                         absl::Span<const DescriptorUse> uses,
                                         const PlacementOptions& options) {
  absl::StatusOr<std::vector<Candidate>> candidates = CandidatesOf(layout, uses);
  if (!candidates.ok()) return candidates.status();
  if (options.render_targets > options.most_surfaces) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("%d render targets do not fit in a binding table of %d entries",
                        options.render_targets, options.most_surfaces));
  }
  BindMap map;
  map.layout = layout;
  map.render_targets = options.render_targets;
  for (uint32_t target = 0; target < options.render_targets; ++target) {
    map.surfaces.push_back({.kind = BindMap::Kind::kRenderTarget, .slot = target});
  }
  uint32_t with_memory = 0;
  for (const Candidate& candidate : *candidates) {
    map.places.push_back({.set = candidate.set, .binding = candidate.binding->binding});
    const DescriptorSetLayout& set = *layout.set(candidate.set);
    if (set.has_set_surface()) with_memory |= 1u << candidate.set;
    if (set.embedded()) {
      map.embedded.push_back(
          {.set = candidate.set,
           .binding = candidate.binding->binding,
           .sampler = set.immutable_samplers()[candidate.binding->first_immutable]});
    }
  }

  // Descriptors with the highest score come first; before them those that need the table.
  std::stable_sort(candidates->begin(), candidates->end(),
                   [](const Candidate& a, const Candidate& b) {
                     if (a.dynamic() != b.dynamic()) return a.dynamic();
                     if (a.dynamic()) return false;  // they stay in the order of their offsets
                     if (a.binding->record.bindless != b.binding->record.bindless)
                       return !a.binding->record.bindless;
                     return a.score > b.score;
                   });
  Placer placer(options, map);
  auto next = candidates->begin();
  absl::Status status;
  for (; status.ok() && next != candidates->end() && next->dynamic(); ++next) {
    status = placer.Place(*next);
  }
  for (uint32_t set = 0; status.ok() && set < kMostSets; ++set) {
    if ((with_memory >> set & 1) != 0) status = placer.PlaceSet(set);
  }
  for (; status.ok() && next != candidates->end(); ++next) status = placer.Place(*next);
  if (!status.ok()) return status;
  return map;
}

}  // namespace packsmith::intel
