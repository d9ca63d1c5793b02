#include "runtime/intel/binding/descriptor_layout.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace packsmith::intel {
namespace {

constexpr uint64_t AlignUp(uint64_t value, uint64_t power_of_two) {
  return (value + power_of_two - 1) & ~(power_of_two - 1);
}

template <class... Args>
absl::Status Wrong(uint32_t binding, const absl::FormatSpec<Args...>& format, const Args&... args) {
  return absl::InvalidArgumentError(absl::StrFormat("binding %d: ", binding) +
                                    absl::StrFormat(format, args...));
}

// The record of all types that a binding may be.
struct Record {
  DescriptorRecord of;
  bool data = false;  // IsData() of one of them
};

absl::StatusOr<Record> RecordFor(DescriptorModel model, const DescriptorBinding& binding) {
  if (binding.type != DescriptorType::kMutable) {
    if (!binding.mutable_types.empty()) {
      return Wrong(binding.binding, "a list of types is for mutable descriptors, not for type %s",
                   NameOf(binding.type));
    }
    const DescriptorRecord record = RecordOf(model, binding.type);
    if (record == DescriptorRecord()) {
      return Wrong(binding.binding, "type %s does not exist in the %s model", NameOf(binding.type),
                   NameOf(model));
    }
    return Record{record, IsData(record.form)};
  }
  if (binding.mutable_types.empty()) {
    return Wrong(binding.binding, "a mutable descriptor needs a list of the types that it may be");
  }
  Record all;
  all.of.bindless = true;
  for (const DescriptorType type : binding.mutable_types) {
    if (type == DescriptorType::kMutable || type == DescriptorType::kInlineUniformBlock ||
        IsDynamic(type)) {
      return Wrong(binding.binding, "a mutable descriptor cannot be of type %s", NameOf(type));
    }
    const DescriptorRecord one = RecordOf(model, type);
    if (one == DescriptorRecord()) {
      return Wrong(binding.binding, "type %s does not exist in the %s model", NameOf(type),
                   NameOf(model));
    }
    all.of.bytes = std::max(all.of.bytes, one.bytes);
    all.of.alignment = std::max(all.of.alignment, one.alignment);
    all.of.sampler_bytes = std::max(all.of.sampler_bytes, one.sampler_bytes);
    all.of.surface_bytes = std::max(all.of.surface_bytes, one.surface_bytes);
    all.of.surface_table |= one.surface_table;
    all.of.sampler_table |= one.sampler_table;
    all.of.bindless &= one.bindless;
    all.data |= IsData(one.form);
  }
  // So that each element is aligned like the first one.
  all.of.bytes = AlignUp(all.of.bytes, all.of.alignment);
  return all;
}

absl::Status CheckCount(DescriptorModel model, const DescriptorBinding& binding) {
  const uint32_t number = binding.binding;
  if (binding.type == DescriptorType::kInlineUniformBlock) {
    if (binding.count % 4 != 0 || binding.count > kMostInlineBytes) {
      return Wrong(
          number,
          "an inline uniform block of %d bytes; the size must be a multiple of 4, at most %d",
          binding.count, kMostInlineBytes);
    }
    return absl::OkStatus();
  }
  uint32_t most = ~uint32_t{0};
  const auto look = [&](DescriptorType type) {
    most = std::min(most, MostDescriptors(model, type));
  };
  if (binding.type == DescriptorType::kMutable) {
    for (const DescriptorType type : binding.mutable_types) look(type);
  } else {
    look(binding.type);
  }
  if (binding.count > most) {
    return Wrong(number, "%d elements of type %s; the maximum in the %s model is %d", binding.count,
                 NameOf(binding.type), NameOf(model), most);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DescriptorSetLayoutPtr> DescriptorSetLayout::Create(
    DescriptorModel model, absl::Span<const DescriptorBinding> bindings, bool push) {
  std::shared_ptr<DescriptorSetLayout> layout(new DescriptorSetLayout());
  layout->model_ = model;
  layout->push_ = push;
  std::vector<DescriptorBinding> sorted(bindings.begin(), bindings.end());
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const DescriptorBinding& a, const DescriptorBinding& b) { return a.binding < b.binding; });
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].binding == sorted[i - 1].binding) {
      return Wrong(sorted[i].binding, "two bindings have this number");
    }
  }
  // Whether there is a set surface must be known before the others are placed.
  for (const DescriptorBinding& binding : sorted) {
    const absl::StatusOr<Record> record = RecordFor(model, binding);
    if (!record.ok()) return record.status();
    layout->set_surface_ |= record->data && binding.count != 0 && model != DescriptorModel::kBuffer;
  }
  if (layout->set_surface_) layout->sizes_.surface_bytes = kSurfaceStateBytes;
  for (const DescriptorBinding& binding : sorted) {
    const absl::Status status = layout->Add(binding, &binding == &sorted.back());
    if (!status.ok()) return status;
  }
  return layout;
}

absl::Status DescriptorSetLayout::Add(const DescriptorBinding& from, bool last) {
  const absl::StatusOr<Record> found = RecordFor(model_, from);
  if (!found.ok()) return found.status();
  const DescriptorRecord& record = found->of;
  if (absl::Status status = CheckCount(model_, from); !status.ok()) return status;

  const bool is_inline = from.type == DescriptorType::kInlineUniformBlock;
  if (from.planes < 1 || from.planes > kMostPlanes ||
      (from.planes != 1 && from.type != DescriptorType::kCombinedImageSampler)) {
    return Wrong(
        from.binding,
        "%d planes of type %s; there must be 1, or up to %d for a combined image and sampler",
        from.planes, NameOf(from.type), kMostPlanes);
  }
  constexpr uint8_t kAll =
      kUpdateAfterBind | kUpdateUnusedWhilePending | kPartiallyBound | kVariableCount;
  if ((from.flags & ~kAll) != 0) {
    return Wrong(from.binding, "flags 0x%x, of which 0x%x are not defined", from.flags,
                 from.flags & ~kAll);
  }
  constexpr uint8_t kLate = kUpdateAfterBind | kUpdateUnusedWhilePending;
  if ((from.flags & kLate) != 0 && !record.bindless) {
    return Wrong(from.binding,
                 "type %s cannot be written late: in the %s model it is in the binding table, "
                 "which is made when a draw is recorded",
                 NameOf(from.type), NameOf(model_));
  }
  if ((from.flags & kVariableCount) != 0 && (!last || push_ || IsDynamic(from.type))) {
    return Wrong(from.binding,
                 "only the last binding of a set from a pool can have a variable count, and not "
                 "dynamic buffers");
  }
  if (push_ && (IsDynamic(from.type) || is_inline || (from.flags & kLate) != 0)) {
    return Wrong(from.binding,
                 "a pushed set cannot have dynamic buffers, inline uniform blocks or late writes");
  }

  Binding to{.binding = from.binding,
             .type = from.type,
             .planes = from.planes,
             .flags = from.flags,
             .count = from.count,
             .record_offset = AlignUp(sizes_.record_bytes, record.alignment),
             .record_stride = record.bytes,
             .sampler_stride = record.sampler_bytes,
             .sampler_offset = sizes_.sampler_bytes,
             .surface_offset = sizes_.surface_bytes,
             .surface_stride = record.surface_bytes,
             .first_slot = sizes_.slots,
             .first_sampler_slot = sizes_.sampler_slots,
             .first_dynamic = dynamic_,
             .record = record};
  if (from.type == DescriptorType::kMutable) {
    for (const DescriptorType type : from.mutable_types) {
      to.types |= 1u << static_cast<unsigned>(type);
    }
  } else {
    to.types = 1u << static_cast<unsigned>(from.type);
  }

  if (!from.immutable_samplers.empty()) {
    if (!HasSampler(from.type) ||
        from.immutable_samplers.size() != uint64_t{from.count} * from.planes) {
      return Wrong(from.binding, "%d immutable samplers for %d elements of %d planes, type %s",
                   from.immutable_samplers.size(), from.count, from.planes, NameOf(from.type));
    }
    to.immutable_samplers = true;
    to.first_immutable = samplers_.size();
    samplers_.insert(samplers_.end(), from.immutable_samplers.begin(),
                     from.immutable_samplers.end());
  }

  bindings_.push_back(to);
  inline_blocks_ += is_inline;
  if (inline_blocks_ > kMostInlineBlocks) {
    return Wrong(from.binding, "more than %d inline uniform blocks in the set", kMostInlineBlocks);
  }
  if (IsDynamic(from.type)) {
    dynamic_ += from.count;
    if (dynamic_ > kMostDynamicBuffers) {
      return Wrong(from.binding, "%d dynamic buffers up to here; the maximum is %d", dynamic_,
                   kMostDynamicBuffers);
    }
  }
  // Sums of counts within the limits of a binding: these do not overflow.
  const uint64_t slots = is_inline ? 0 : uint64_t{from.count} * from.planes;
  if (sizes_.slots + slots > ~uint32_t{0}) {
    return Wrong(from.binding, "more than 2^32 descriptors in one set");
  }
  sizes_ = SizesOf(from.count);
  const bool direct = model_ == DescriptorModel::kDirect || model_ == DescriptorModel::kBuffer;
  const uint64_t heap = direct ? kDirectHeap : kIndirectHeap;
  if (sizes_.record_bytes > heap || sizes_.sampler_bytes > heap || sizes_.surface_bytes > heap) {
    return Wrong(from.binding,
                 "up to here the set takes 0x%x bytes, its samplers 0x%x, its surface states 0x%x; "
                 "each must be at most 0x%x, the size of a heap",
                 sizes_.record_bytes, sizes_.sampler_bytes, sizes_.surface_bytes, heap);
  }
  if (push_ && sizes_.slots > kMostPushDescriptors) {
    return Wrong(from.binding, "%d descriptors up to here; a pushed set has at most %d",
                 sizes_.slots, kMostPushDescriptors);
  }
  return absl::OkStatus();
}

absl::StatusOr<DescriptorSetLayoutPtr> DescriptorSetLayout::CreateEmbedded(
    DescriptorModel model, absl::Span<const DescriptorBinding> bindings) {
  const DescriptorRecord record = RecordOf(model, DescriptorType::kSampler);
  if (!record.bindless) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "embedded samplers: in the %s model shaders reach samplers through tables only",
        NameOf(model)));
  }
  for (const DescriptorBinding& binding : bindings) {
    if (binding.type == DescriptorType::kSampler && binding.count <= 1 && binding.flags == 0 &&
        binding.immutable_samplers.size() == binding.count) {
      continue;
    }
    return Wrong(binding.binding,
                 "%d elements of type %s, with %d immutable samplers; a binding of embedded "
                 "samplers must have one of each or none, type sampler, and no flags",
                 binding.count, NameOf(binding.type), binding.immutable_samplers.size());
  }
  const absl::StatusOr<DescriptorSetLayoutPtr> made = Create(model, bindings);
  if (!made.ok()) return made.status();
  std::shared_ptr<DescriptorSetLayout> layout(new DescriptorSetLayout(**made));
  layout->embedded_ = true;
  // Such sets have no memory.
  layout->set_surface_ = false;
  layout->sizes_ = {};
  for (Binding& binding : layout->bindings_) {
    binding = {.binding = binding.binding,
               .type = binding.type,
               .planes = binding.planes,
               .types = binding.types,
               .count = binding.count,
               .first_immutable = binding.first_immutable,
               .immutable_samplers = binding.immutable_samplers,
               .record = {.bindless = true}};
  }
  return layout;
}

const DescriptorSetLayout::Binding* DescriptorSetLayout::Search(uint32_t binding) const {
  const auto found =
      std::lower_bound(bindings_.begin(), bindings_.end(), binding,
                       [](const Binding& a, uint32_t number) { return a.binding < number; });
  return found != bindings_.end() && found->binding == binding ? &*found : nullptr;
}

DescriptorSetSizes DescriptorSetLayout::SizesOf(uint32_t variable_count) const {
  DescriptorSetSizes sizes;
  if (bindings_.empty()) return sizes;
  const Binding& last = bindings_.back();
  const uint64_t items = uint64_t{variable_count} * last.planes;
  const bool is_inline = last.type == DescriptorType::kInlineUniformBlock;
  sizes.record_bytes = last.record_offset + items * last.record_stride;
  sizes.sampler_bytes = last.sampler_offset + items * last.sampler_stride;
  sizes.surface_bytes = last.surface_offset + items * last.surface_stride;
  sizes.slots = last.first_slot + (is_inline ? 0 : static_cast<uint32_t>(items));
  sizes.sampler_slots = last.first_sampler_slot;
  constexpr uint16_t kSamplers = 1u << static_cast<unsigned>(DescriptorType::kSampler) |
                                 1u << static_cast<unsigned>(DescriptorType::kCombinedImageSampler);
  if ((last.types & kSamplers) != 0) sizes.sampler_slots += static_cast<uint32_t>(items);
  return sizes;
}

absl::StatusOr<PipelineLayout> PipelineLayout::Create(
    absl::Span<const DescriptorSetLayoutPtr> sets) {
  if (sets.size() > kMostSets) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d descriptor sets; a pipeline has at most %d", sets.size(), kMostSets));
  }
  PipelineLayout layout;
  const DescriptorSetLayout* first = nullptr;
  for (const DescriptorSetLayoutPtr& set : sets) {
    const uint32_t number = layout.count_++;
    layout.layouts_[number] = set;
    uint32_t& dynamic = layout.first_dynamic_[number + 1] = layout.first_dynamic_[number];
    if (set == nullptr) continue;
    dynamic += set->dynamic_buffers();
    if (dynamic > kMostDynamicBuffers) {
      return absl::InvalidArgumentError(
          absl::StrFormat("set %d: %d dynamic buffers up to here; a pipeline has at most %d",
                          number, dynamic, kMostDynamicBuffers));
    }
    if (first == nullptr) first = set.get();
    if (set->model() != first->model()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("set %d is of the %s model, but the sets before it are of the %s model",
                          number, NameOf(set->model()), NameOf(first->model())));
    }
    if (set->push()) {
      if (layout.push_set_.has_value()) {
        return absl::InvalidArgumentError(
            absl::StrFormat("sets %d and %d are both push sets; a pipeline has at most one",
                            *layout.push_set_, number));
      }
      layout.push_set_ = number;
    }
  }
  return layout;
}

}  // namespace packsmith::intel
