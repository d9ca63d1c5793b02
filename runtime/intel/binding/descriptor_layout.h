// What a descriptor set consists of, and where in its memory each descriptor lies.
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

// A sampler, as its maker packed it.
struct DescriptorSampler {
  std::array<uint32_t, kSamplerStateBytes / 4> state = {};
  // Where the same state lies in memory, from the base of samplers. For kIndirect.
  uint32_t offset = 0;

  friend bool operator==(const DescriptorSampler&, const DescriptorSampler&) = default;
};

// What is agreed about a binding, ORed.
enum DescriptorFlags : uint8_t {
  kUpdateAfterBind = 1,           // written although a command buffer has it
  kUpdateUnusedWhilePending = 2,  // written while the GPU works, if it does not use it
  kPartiallyBound = 4,            // elements that no shader looks at need not be written
  kVariableCount = 8,             // the last binding: how many there are is each set's affair
};

struct DescriptorBinding {
  uint32_t binding = 0;  // its number: in any order, with gaps
  DescriptorType type = DescriptorType::kSampler;
  // Elements, 0 for a number that is only reserved. kInlineUniformBlock: bytes, a multiple of 4.
  uint32_t count = 1;
  uint8_t planes = 1;  // kCombinedImageSampler: surfaces and samplers to an element
  uint8_t flags = 0;   // DescriptorFlags
  // Those of each element, plane by plane: they are part of the layout and are never written.
  // Empty: none are.
  absl::Span<const DescriptorSampler> immutable_samplers = {};
  absl::Span<const DescriptorType> mutable_types = {};  // kMutable: what it may be
};

// What sets of a layout need. Bytes and numbers.
struct DescriptorSetSizes {
  uint64_t record_bytes = 0;
  uint64_t sampler_bytes = 0;
  uint64_t surface_bytes = 0;  // surface states of its own
  uint32_t slots = 0;          // elements times planes, without inline uniform blocks
  uint32_t sampler_slots = 0;  // of these, that have samplers

  friend bool operator==(const DescriptorSetSizes&, const DescriptorSetSizes&) = default;
};

// Immutable; to be shared by all who use it.
class DescriptorSetLayout {
 public:
  // Offsets and strides in bytes. Element e's plane p is at offset + (e * planes + p) * stride.
  struct Binding {
    uint32_t binding = 0;
    DescriptorType type = DescriptorType::kSampler;
    uint8_t planes = 1;
    uint8_t flags = 0;
    uint16_t types = 0;  // what may be written to it: a bit for each DescriptorType
    uint32_t count = 0;
    uint64_t record_offset = 0;
    uint32_t record_stride = 0;
    uint32_t sampler_stride = 0;
    uint64_t sampler_offset = 0;
    uint64_t surface_offset = 0;  // of the set's own surface states
    uint32_t surface_stride = 0;
    uint32_t first_slot = 0;
    uint32_t first_sampler_slot = 0;
    uint32_t first_dynamic = 0;  // kinds with offsets: which of the layout's
    uint32_t first_immutable = 0;
    bool immutable_samplers = false;
    // Of each element; of kMutable, the largest that it may be, in a table if one of them is,
    // bindless if all are.
    DescriptorRecord record;

    bool Takes(DescriptorType what) const {
      return (types >> static_cast<unsigned>(what) & 1) != 0;
    }
    friend bool operator==(const Binding&, const Binding&) = default;
  };

  // InvalidArgument, naming the binding, for what no set can be: two of the same number, counts
  // beyond the limits, dynamic buffers or too many descriptors in what is pushed, a variable count
  // that is not the last binding's, flags that a binding table cannot keep, ...
  static absl::StatusOr<std::shared_ptr<const DescriptorSetLayout>> Create(
      DescriptorModel model, absl::Span<const DescriptorBinding> bindings, bool push = false);

  // Samplers that are part of pipelines, and of no set: immutable ones, each binding one (or none:
  // a number that is only reserved). No set of such a layout is allocated or bound; pipelines have
  // the samplers from BindMap::embedded. InvalidArgument, naming the binding, for anything else,
  // and for models in which samplers are reached by tables only.
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
  // Of the last binding, as the layout has it: what SizesOf() wants for a set that leaves nothing
  // open.
  uint32_t last_count() const { return bindings_.empty() ? 0 : bindings_.back().count; }
  // Whether the set's memory is data for shaders: then its surface state is the first of its own.
  bool has_set_surface() const { return set_surface_; }

  // Of a set with so many elements (or bytes) in the last binding, if their number varies.
  DescriptorSetSizes SizesOf(uint32_t variable_count) const;
  // Of one with as many as the layout allows.
  const DescriptorSetSizes& sizes() const { return sizes_; }

  // Whether sets of one can be used where the other's are expected.
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

  // Set i has the layout sets[i]; null: there is none of that number. InvalidArgument for more than
  // kMostSets or kMostDynamicBuffers, for more than one set that is pushed, and for layouts of
  // different models.
  static absl::StatusOr<PipelineLayout> Create(absl::Span<const DescriptorSetLayoutPtr> sets);

  uint32_t sets() const { return count_; }
  // Null if there is none.
  const DescriptorSetLayout* set(uint32_t number) const {
    return number < count_ ? layouts_[number].get() : nullptr;
  }
  // The offset that is the first of a set's, counted through all sets.
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
