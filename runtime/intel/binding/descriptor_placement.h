// Decides which descriptors of a pipeline's stage get entries in its binding table, and which must
// be reached without one.
//
//   const DescriptorUse uses[] = {{.set = 0, .binding = 0, .uses = 12}, ...};
//   absl::StatusOr<BindMap> map = PlaceDescriptors(layout, uses, {.render_targets = 1});
//   map->Find(0, 0)->surface   // the entry, for the shader
//
// A table is small. Descriptors that cannot be reached otherwise come first, then those with the
// most uses for each entry. The rest is bindless. The order of entries is:
//
//   render targets, dynamic buffers, the sets' own memory, all others by uses for each entry

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_PLACEMENT_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_PLACEMENT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/intel/binding/descriptor_layout.h"

namespace packsmith::intel {

// How often a stage's shader uses a binding, any of its elements.
struct DescriptorUse {
  uint32_t set = 0;
  uint32_t binding = 0;
  uint32_t uses = 1;  // the sum, if a binding is named more than once; 0: not used
};

struct PlacementOptions {
  uint32_t render_targets = 0;  // entries before all others
  uint32_t most_surfaces = kMostTableSurfaces;
  uint32_t most_samplers = kMostTableSamplers;
  bool always_bindless = false;  // only what must be in the table is
};

struct BindMap {
  enum class Kind : uint8_t { kRenderTarget, kSet, kDescriptor, kDynamic };

  // A sampler that is part of the pipeline, not of a set.
  struct Embedded {
    uint32_t set = 0, binding = 0;
    DescriptorSampler sampler;
  };
  // An entry of the table.
  struct Entry {
    Kind kind = Kind::kDescriptor;
    uint8_t set = 0;
    uint8_t plane = 0;
    bool may_be_unbound = false;  // the descriptor need not be written
    bool immutable = false;       // the layout's sampler
    uint32_t binding = 0, element = 0;
    uint32_t slot = 0;          // in the set's storage; kRenderTarget: which target
    uint32_t sampler_slot = 0;  // tables of samplers: which of the storage's
    uint32_t dynamic = 0;       // kDynamic: which of the set's

    friend bool operator==(const Entry&, const Entry&) = default;
  };
  // The entries of a used binding. Element e, plane p is `e * planes + p` entries after the first.
  struct Place {
    uint32_t set = 0, binding = 0;
    std::optional<uint32_t> surface = {};  // nullopt: bindless, or no surface
    std::optional<uint32_t> sampler = {};

    friend bool operator==(const Place&, const Place&) = default;
  };

  std::vector<Entry> surfaces;
  std::vector<Entry> samplers;
  std::vector<Place> places;  // by set and binding
  std::vector<Embedded> embedded;
  PipelineLayout layout;  // that the map is for
  uint32_t render_targets = 0;
  uint32_t dynamics = 0;  // entries of kDynamic
  uint32_t sets = 0;      // sets that entries refer to, a bit each

  // Null if the binding is not used.
  const Place* Find(uint32_t set, uint32_t binding) const;
};

// InvalidArgument, naming set and binding, for what the layout does not have;
// ResourceExhausted for what does not fit and cannot be reached without a table.
absl::StatusOr<BindMap> PlaceDescriptors(const PipelineLayout& layout,
                                         absl::Span<const DescriptorUse> uses,
                                         const PlacementOptions& options = {});

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_PLACEMENT_H_
