// Tables of samplers for shaders. Equal tables share a place, as do equal border colours.
//
//   SamplerTables<Gfx9> samplers(dynamic, *colors, 0);
//   absl::StatusOr<PackedSampler> linear = samplers.Pack({.min_filter = Filter::kLinear});
//   const PackedSampler* const table[] = {&*linear, &*linear};
//   absl::StatusOr<State> state = samplers.Acquire(table);

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_SAMPLER_TABLES_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_SAMPLER_TABLES_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <tuple>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "runtime/base/lifetime.h"
#include "runtime/command/pack_status.h"
#include "runtime/intel/binding/samplers.h"
#include "runtime/intel/binding/shared_states.h"
#include "runtime/intel/binding/table_limits.h"
#include "runtime/intel/memory/border_colors.h"
#include "runtime/memory/state_pool.h"

namespace packsmith::intel {

// Of a table's address, in bytes.
inline constexpr uint64_t kSamplerTableAlignment = 32;

// A sampler, ready to be copied into tables.
struct PackedSampler {
  std::array<uint32_t, 4> dwords = {};
  uint32_t border_color = 0;            // offset in BorderColors; 0: none
  gpu::BufferHandle border_buffer = 0;  // of the colour; jobs must declare it
};

// Thread-safe.
template <class Gen>
class SamplerTables {
 public:
  // Tables are in `dynamic`, colours in `colors`; both must outlive this. colors_offset: where the
  // colours begin, from the dynamic state base address.
  SamplerTables(gpu::StatePool& dynamic, BorderColors& colors, uint32_t colors_offset)
      : tables_(dynamic, kSamplerTableAlignment),
        colors_(colors, lifetime_),
        colors_offset_(colors_offset) {}

  // Packs a sampler, and acquires a place for its border colour if it uses one, which Drop()
  // releases. InvalidArgument for invalid values; ResourceExhausted if there is no place for the
  // colour. On an error nothing has changed.
  absl::StatusOr<PackedSampler> Pack(const Sampler& sampler);
  // The GPU must be done with it.
  absl::Status Drop(const PackedSampler& sampler) {
    if (sampler.border_color == 0) return absl::OkStatus();
    return lifetime_.lost() ? lifetime_.status() : colors_->Release(sampler.border_color);
  }

  // A table of these samplers; packets take its offset. Each must be released as often as it was
  // acquired. InvalidArgument for none or too many samplers; errors of StatePool::Allocate().
  absl::StatusOr<gpu::State> Acquire(absl::Span<const PackedSampler* const> samplers);
  absl::Status Release(uint32_t offset) { return tables_.Release(offset); }

  size_t size() const { return tables_.size(); }  // different tables

 private:
  static constexpr size_t kLength = SamplerState<Gen>::length;
  static_assert(kLength == std::tuple_size_v<decltype(PackedSampler::dwords)>);

  SharedStates tables_;
  Lifetime lifetime_{"sampler tables"};
  const Reference<BorderColors> colors_;
  const uint32_t colors_offset_;
};

template <class Gen>
absl::StatusOr<PackedSampler> SamplerTables<Gen>::Pack(const Sampler& sampler) {
  PackedSampler packed;
  if (sampler.uses_border()) {
    if (lifetime_.lost()) return lifetime_.status();
    using Color = typename Gen::Packets::SAMPLER_BORDER_COLOR_STATE;
    BorderColors::Entry entry = {};
    static_assert(Color::length <= std::tuple_size_v<BorderColors::Entry>);
    const auto& [red, green, blue, alpha] = sampler.border_color;
    const error e = Color{.border_color_32bit_red = red,
                          .border_color_32bit_green = green,
                          .border_color_32bit_blue = blue,
                          .border_color_32bit_alpha = alpha}
                        .pack(entry.data());
    if (e) return PackStatus("SAMPLER_BORDER_COLOR_STATE", e);
    const absl::StatusOr<BorderColor> color = colors_->Acquire(entry);
    if (!color.ok()) return color.status();
    packed.border_color = color->offset;
    packed.border_buffer = color->buffer;
  }
  const uint32_t pointer = packed.border_color == 0 ? 0 : colors_offset_ + packed.border_color;
  absl::Status status = WriteSampler<Gen>(sampler, pointer, packed.dwords.data());
  if (status.ok()) return packed;
  (void)Drop(packed);
  return status;
}

template <class Gen>
absl::StatusOr<gpu::State> SamplerTables<Gen>::Acquire(
    absl::Span<const PackedSampler* const> samplers) {
  if (samplers.empty() || samplers.size() > kMostTableSamplers) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a table of %d samplers; it is to have 1 to %d", samplers.size(), kMostTableSamplers));
  }
  uint32_t dwords[kMostTableSamplers * kLength];
  uint32_t* to = dwords;
  for (const PackedSampler* sampler : samplers) {
    std::memcpy(to, sampler->dwords.data(), kLength * 4);
    to += kLength;
  }
  return tables_.Acquire(absl::MakeConstSpan(dwords, samplers.size() * kLength));
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_SAMPLER_TABLES_H_
