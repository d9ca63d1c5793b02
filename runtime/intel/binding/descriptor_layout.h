// The content of a descriptor set, and where in its memory each descriptor is.
//
//   const DescriptorBinding bindings[] = {
//       {.binding = 0, .type = DescriptorType::kUniformBuffer},
//       {.binding = 1, .type = DescriptorType::kSampledImage, .count = 16},
//   };
//   auto layout = DescriptorSetLayout::Create(DescriptorModel::kDirect, bindings);
//   (*layout)->Find(1)->record_offset   // 64
//
// The bindings' arrays follow each other in the order of their numbers.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_LAYOUT_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_LAYOUT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/intel/binding/descriptor_types.h"

namespace packsmith::intel {

// A packed sampler.
struct DescriptorSampler {
  std::array<uint32_t, kSamplerStateBytes / 4> state = {};
  // Where the same state is in memory, from the base of samplers. For kIndirect.
  uint32_t offset = 0;

  friend bool operator==(const DescriptorSampler&, const DescriptorSampler&) = default;
};

// Properties of a binding, ORed.
enum DescriptorFlags : uint8_t {
  kUpdateAfterBind = 1,           // may be written after it was bound in a command buffer
  kUpdateUnusedWhilePending = 2,  // may be written while the GPU works, if it does not use it
  kPartiallyBound = 4,            // elements that no shader uses need not be written
  kVariableCount = 8,             // the last binding: each set has its own count
};

struct DescriptorBinding {
  uint32_t binding = 0;  // its number: in any order, with gaps
  DescriptorType type = DescriptorType::kSampler;
  // Elements, 0 for a number that is only reserved. kInlineUniformBlock: bytes, a multiple of 4.
  uint32_t count = 1;
  uint8_t planes = 1;  // kCombinedImageSampler: surfaces and samplers to an element
  uint8_t flags = 0;   // DescriptorFlags
  // The samplers of each element, plane by plane: part of the layout, and never written. Empty: not
  // immutable.
  absl::Span<const DescriptorSampler> immutable_samplers = {};
  absl::Span<const DescriptorType> mutable_types = {};  // kMutable: the types that it may be
};

// Memory and slots that sets of a layout need.
struct DescriptorSetSizes {
  uint64_t record_bytes = 0;
  uint64_t sampler_bytes = 0;
  uint64_t surface_bytes = 0;  // surface states of its own
  uint32_t slots = 0;          // elements times planes, without inline uniform blocks
  uint32_t sampler_slots = 0;  // slots that have samplers

  friend bool operator==(const DescriptorSetSizes&, const DescriptorSetSizes&) = default;
};

// Immutable; shared by its users.
class DescriptorSetLayout {
 public:
  // Offsets and strides in bytes. Element e's plane p is at offset + (e * planes + p) * stride.
  struct Binding {
    uint32_t binding = 0;
    DescriptorType type = DescriptorType::kSampler;
    uint8_t planes = 1;
    uint8_t flags = 0;
    uint16_t types = 0;  // the types that may be written: a bit for each DescriptorType
    uint32_t count = 0;
    uint64_t record_offset = 0;
    uint32_t record_stride = 0;
    uint32_t sampler_stride = 0;
    uint64_t sampler_offset = 0;
    uint64_t surface_offset = 0;  // of the set's own surface states
    uint32_t surface_stride = 0;
    uint32_t first_slot = 0;
    uint32_t first_sampler_slot = 0;
    uint32_t first_dynamic = 0;  // dynamic types: index of the layout's first
    uint32_t first_immutable = 0;
    bool immutable_samplers = false;
    // Of each element; for kMutable the largest of its types, in a table if one of them is,
    // bindless if all are.
    DescriptorRecord record;

    bool Takes(DescriptorType what) const {
      return (types >> static_cast<unsigned>(what) & 1) != 0;
    }
    friend bool operator==(const Binding&, const Binding&) = default;
  };

  // InvalidArgument, naming the binding, for invalid bindings: two with the same number, counts
  // beyond the limits, dynamic buffers or too many descriptors in a pushed set, a variable count
  // that is not the last binding's, flags that a binding table cannot support, and so on.
  static absl::StatusOr<std::shared_ptr<const DescriptorSetLayout>> Create(
      DescriptorModel model, absl::Span<const DescriptorBinding> bindings, bool push = false);

  // A layout of samplers that are part of pipelines, not of a set: immutable ones, one for each
  // binding (or none, for a number that is only reserved). Sets of such a layout are not allocated
  // or bound; pipelines get the samplers from BindMap::embedded. InvalidArgument, naming the
  // binding, for other bindings, and for models in which samplers are reached through tables only.
  static absl::StatusOr<std::shared_ptr<const DescriptorSetLayout>> CreateEmbedded(
      DescriptorModel model, absl::Span<const DescriptorBinding> bindings);

  DescriptorModel model() const { return model_; }
  bool embedded() const { return embedded_; }
  bool push() const { return push_; }  // for PushDescriptors, not for sets of a pool
  // In the order of their numbers.
  absl::Span<const Binding> bindings() const { return bindings_; }
  // Null if there is none.
  const Binding* Find(uint32_t binding) const {
    // Most layouts number their bindings from 0 up.
    if (binding < bindings_.size() && bindings_[binding].binding == binding) {
      return &bindings_[binding];
    }
    return Search(binding);
  }
  absl::Span<const DescriptorSampler> immutable_samplers() const { return samplers_; }
  uint32_t dynamic_buffers() const { return dynamic_; }
  bool has_variable_count() const {
    return !bindings_.empty() && (bindings_.back().flags & kVariableCount) != 0;
  }
  // The last binding's count in the layout: the argument of SizesOf() for a set without a variable
  // count.
  uint32_t last_count() const { return bindings_.empty() ? 0 : bindings_.back().count; }
  // Whether shaders read the set's memory as data: then the first of the set's own surface states
  // is for its memory.
  bool has_set_surface() const { return set_surface_; }

  // The sizes of a set with `variable_count` elements (or bytes) in the last binding, if its count
  // is variable.
  DescriptorSetSizes SizesOf(uint32_t variable_count) const;
  // The sizes of a set with as many as the layout allows.
  const DescriptorSetSizes& sizes() const { return sizes_; }

  // Whether sets of one can be used in place of the other's.
  friend bool operator==(const DescriptorSetLayout&, const DescriptorSetLayout&) = default;

 private:
  DescriptorSetLayout() = default;

  const Binding* Search(uint32_t binding) const;
  absl::Status Add(const DescriptorBinding& binding, bool last);

  DescriptorModel model_ = DescriptorModel::kBindingTable;
  bool push_ = false;
  bool embedded_ = false;
  bool set_surface_ = false;
  uint32_t dynamic_ = 0;
  uint32_t inline_blocks_ = 0;
  std::vector<Binding> bindings_;
  std::vector<DescriptorSampler> samplers_;
  DescriptorSetSizes sizes_;
};

using DescriptorSetLayoutPtr = std::shared_ptr<const DescriptorSetLayout>;

// The sets that a pipeline uses.
class PipelineLayout {
 public:
  PipelineLayout() = default;  // none

  // Set i has the layout sets[i]; null: no set i. InvalidArgument for more than kMostSets or
  // kMostDynamicBuffers, for more than one pushed set, and for layouts of different models.
  static absl::StatusOr<PipelineLayout> Create(absl::Span<const DescriptorSetLayoutPtr> sets);

  uint32_t sets() const { return count_; }
  // Null if there is none.
  const DescriptorSetLayout* set(uint32_t number) const {
    return number < count_ ? layouts_[number].get() : nullptr;
  }
  // The index of a set's first dynamic offset, counted through all sets.
  uint32_t first_dynamic(uint32_t set) const { return first_dynamic_[set]; }
  uint32_t dynamic_buffers() const { return first_dynamic_[count_]; }
  std::optional<uint32_t> push_set() const { return push_set_; }

 private:
  uint32_t count_ = 0;
  std::array<DescriptorSetLayoutPtr, kMostSets> layouts_ = {};
  std::array<uint32_t, kMostSets + 1> first_dynamic_ = {};
  std::optional<uint32_t> push_set_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_DESCRIPTOR_LAYOUT_H_
