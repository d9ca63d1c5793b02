#include "runtime/intel/binding/descriptor_tables.h"

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace packsmith::intel {
namespace {

std::string At(const BindMap::Entry& entry) {
  return absl::StrFormat("set %d, binding %d, element %d: ", entry.set, entry.binding,
                         entry.element);
}

absl::Status NotWritten(const BindMap::Entry& entry) {
  return absl::FailedPreconditionError(
      absl::StrCat(At(entry),
                   "the shader uses it, but it was never written. Write it, or make the binding "
                   "partially bound"));
}

using Storages = std::array<const DescriptorSetStorage*, kMostSets>;

// The sets that the map refers to. A bound set may be for another pipeline's layout, with other
// slots and offsets.
absl::Status StoragesOf(const BindMap& map, const BoundDescriptors& bound, Storages& storages) {
  for (uint32_t set = 0; set < kMostSets; ++set) {
    if ((map.sets >> set & 1) == 0) continue;
    storages[set] = bound.set(set).storage();
    if (bits::rarely(storages[set] == nullptr)) {
      return absl::FailedPreconditionError(
          absl::StrFormat("set %d: the shader uses it, but it is not bound, or was freed", set));
    }
    const DescriptorSetLayout* const expected = map.layout.set(set);
    const DescriptorSetLayout* const has = storages[set]->layout().get();
    if (bits::rarely(has != expected && (expected == nullptr || !(*has == *expected)))) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "set %d: the bound set's layout differs from the one that the shader was compiled for",
          set));
    }
  }
  return absl::OkStatus();
}

// The surface states of dynamic buffers, made here before they are placed in memory.
class DynamicStates {
 public:
  absl::Status Add(const BindMap::Entry& entry, const DescriptorSetStorage& set, uint32_t offset) {
    const DescriptorSetStorage::Dynamic& buffer = set.dynamics()[entry.dynamic];
    SurfaceDwords& state = states_[count_++];
    if (buffer.address == 0) {
      state = set.setup().null_state;
      return absl::OkStatus();
    }
    const uint64_t least = buffer.whole ? 1 : buffer.size;
    if (offset > buffer.room || least > buffer.room - offset) {
      return absl::OutOfRangeError(absl::StrCat(
          At(entry),
          absl::StrFormat(
              "a dynamic offset of 0x%x and 0x%x bytes from there exceed the buffer's 0x%x bytes",
              offset, least, buffer.room)));
    }
    const absl::Status status =
        set.setup().WriteBuffer(set.slots()[entry.slot].type, buffer.address + offset,
                                buffer.whole ? buffer.room - offset : buffer.size, state);
    if (status.ok()) return status;
    return absl::Status(status.code(), absl::StrCat(At(entry), status.message()));
  }

  // Puts them into memory. `first` is the first one's offset from the base.
  absl::StatusOr<gpu::BufferHandle> Place(gpu::StateStream* stream, uint64_t base,
                                          uint32_t& first) const {
    if (stream == nullptr) {
      return absl::InvalidArgumentError("dynamic buffers need a stream for their surface states");
    }
    const uint64_t bytes = count_ * sizeof(SurfaceDwords);
    const absl::StatusOr<gpu::State> state = stream->Allocate(bytes, kSurfaceStateBytes);
    if (!state.ok()) return state.status();
    const uint64_t offset = state->address - base;
    if (offset > (uint64_t{1} << 32) - bytes) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "surface states of dynamic buffers at 0x%x are out of reach of their base, 0x%x",
          state->address, base));
    }
    std::memcpy(state->cpu, states_.data(), bytes);
    first = static_cast<uint32_t>(offset);
    return state->buffer;
  }

  uint32_t count() const { return count_; }

 private:
  std::array<SurfaceDwords, kMostDynamicBuffers> states_;
  uint32_t count_ = 0;
};

}  // namespace

absl::Status BoundDescriptors::Bind(const PipelineLayout& layout, uint32_t first,
                                    absl::Span<const DescriptorSet> sets,
                                    absl::Span<const uint32_t> dynamic_offsets) {
  size_t wanted = 0;
  for (size_t i = 0; i < sets.size(); ++i) {
    const size_t number = first + i;
    const DescriptorSetLayout* const expected = number < kMostSets ? layout.set(number) : nullptr;
    if (expected == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrFormat("set %d cannot be bound: the pipeline layout has no such set", number));
    }
    const DescriptorSetStorage* const storage = sets[i].storage();
    if (storage == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrFormat("set %d cannot be bound: it was freed, or its pool reset", number));
    }
    if (storage->layout().get() != expected && !(*storage->layout() == *expected)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "set %d has another layout than the pipeline layout's set of that number", number));
    }
    wanted += expected->dynamic_buffers();
  }
  if (wanted != dynamic_offsets.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%d dynamic offsets for sets %d to %d, which have %d dynamic buffers",
                        dynamic_offsets.size(), first, first + sets.size() - 1, wanted));
  }
  const uint32_t* offset = dynamic_offsets.data();
  for (size_t i = 0; i < sets.size(); ++i) {
    sets_[first + i] = sets[i];
    for (uint32_t n = 0; n < layout.set(first + i)->dynamic_buffers(); ++n) {
      offsets_[first + i][n] = *offset++;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<gpu::BufferHandle> FillSurfaceTable(const BindMap& map,
                                                   const BoundDescriptors& bound,
                                                   const SurfaceTableInputs& inputs,
                                                   absl::Span<uint32_t> to) {
  const size_t size = map.surfaces.size();
  if (to.size() < size || size > kMostTableSurfaces) {
    return absl::OutOfRangeError(absl::StrFormat(
        "a binding table of %d entries does not fit in room for %d", size, to.size()));
  }
  if (inputs.render_targets.size() != map.render_targets) {
    return absl::InvalidArgumentError(absl::StrFormat("%d render targets for a stage that has %d",
                                                      inputs.render_targets.size(),
                                                      map.render_targets));
  }
  Storages storages = {};
  if (absl::Status status = StoragesOf(map, bound, storages); !status.ok()) return status;

  // Made separately, so that nothing is written on an error.
  uint32_t entries[kMostTableSurfaces];
  uint32_t dynamic_entries[kMostDynamicBuffers];
  DynamicStates dynamics;
  const DescriptorSetStorage* with_dynamics = nullptr;
  for (size_t i = 0; i < size; ++i) {
    const BindMap::Entry& entry = map.surfaces[i];
    if (entry.kind == BindMap::Kind::kRenderTarget) {
      entries[i] = inputs.render_targets[entry.slot];
      continue;
    }
    const DescriptorSetStorage& set = *storages[entry.set];
    if (entry.kind == BindMap::Kind::kSet) {
      entries[i] = set.set_surface();
      continue;
    }
    const absl::Span<const DescriptorSetStorage::Slot> slots = set.slots();
    if (bits::rarely(entry.slot >= slots.size() || !slots[entry.slot].written)) {
      if (!entry.may_be_unbound) return NotWritten(entry);
      entries[i] = set.setup().null_surface;
      continue;
    }
    if (entry.kind == BindMap::Kind::kDescriptor) {
      entries[i] = slots[entry.slot].surface;
      continue;
    }
    with_dynamics = &set;
    dynamic_entries[dynamics.count()] = i;
    const absl::Status status = dynamics.Add(entry, set, bound.offsets(entry.set)[entry.dynamic]);
    if (!status.ok()) return status;
  }
  gpu::BufferHandle buffer = 0;
  if (with_dynamics != nullptr) {
    uint32_t first = 0;
    const absl::StatusOr<gpu::BufferHandle> placed =
        dynamics.Place(inputs.states, with_dynamics->setup().surface_base, first);
    if (!placed.ok()) return placed;
    buffer = *placed;
    for (uint32_t n = 0; n < dynamics.count(); ++n) {
      entries[dynamic_entries[n]] = first + n * kSurfaceStateBytes;
    }
  }
  if (size != 0) std::memcpy(to.data(), entries, size * sizeof(uint32_t));
  return buffer;
}

absl::Status FillSamplerTable(const BindMap& map, const BoundDescriptors& bound,
                              absl::Span<std::array<uint32_t, kSamplerStateBytes / 4>> to) {
  if (to.size() < map.samplers.size()) {
    return absl::OutOfRangeError(absl::StrFormat(
        "a table of %d samplers does not fit in room for %d", map.samplers.size(), to.size()));
  }
  Storages storages = {};
  if (absl::Status status = StoragesOf(map, bound, storages); !status.ok()) return status;
  // Immutable ones always exist, if the set has as many elements.
  const auto has_sampler = [&](const BindMap::Entry& entry) {
    const absl::Span<const DescriptorSetStorage::Slot> slots = storages[entry.set]->slots();
    return entry.slot < slots.size() &&
           (entry.immutable || (slots[entry.slot].written && HasSampler(slots[entry.slot].type)));
  };
  for (const BindMap::Entry& entry : map.samplers) {
    if (!entry.may_be_unbound && !has_sampler(entry)) return NotWritten(entry);
  }
  for (size_t i = 0; i < map.samplers.size(); ++i) {
    const BindMap::Entry& entry = map.samplers[i];
    to[i] = {};
    if (has_sampler(entry)) to[i] = storages[entry.set]->samplers()[entry.sampler_slot].state;
  }
  return absl::OkStatus();
}

}  // namespace packsmith::intel
