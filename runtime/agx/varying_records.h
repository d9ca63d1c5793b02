// The records that describe varyings to the hardware, made from a Linkage and read back.
//
//   Linkage linkage = …;
//   SetVaryings<G13>(linkage, ppp_header);            // parts of a PPP record
//   SetFlatShading<G13>(linkage, ppp_header);
//   state.vertex_outputs = VertexOutputWord<G13>(linkage.shape());
//   state.vertex_unknown = FlatShadingWord<G13>(linkage);
//   absl::StatusOr<uint32_t> bytes = PackBindings<G13>(linkage, memory.bytes);

#ifndef PACKSMITH_RUNTIME_AGX_VARYING_RECORDS_H_
#define PACKSMITH_RUNTIME_AGX_VARYING_RECORDS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/agx/gpu_memory.h"
#include "runtime/agx/varyings.h"

namespace packsmith::agx {

// Ours and the records' names of the same things.
template <class Gen>
struct VaryingNames {
  using ShadeModel = typename Gen::Shade_model;
  using CoefficientSource = typename Gen::Coefficient_source;

  struct OfShade {
    Shade ours;
    ShadeModel theirs;
  };
  static constexpr OfShade kShades[] = {
      {Shade::kFlatVertex0, ShadeModel::Flat_vertex_0},
      {Shade::kFlatVertex1, ShadeModel::Flat_vertex_1},
      {Shade::kFlatVertex2, ShadeModel::Flat_vertex_2},
      {Shade::kLinear, ShadeModel::Linear},
      {Shade::kPerspective, ShadeModel::Perspective},
  };
  struct OfSource {
    Source ours;
    CoefficientSource theirs;
  };
  static constexpr OfSource kSources[] = {
      {Source::kVarying, CoefficientSource::Varying},
      {Source::kFragmentZ, CoefficientSource::Fragcoord_Z},
      {Source::kPointCoord, CoefficientSource::Point_coord},
      {Source::kPrimitiveId, CoefficientSource::Primitive_ID},
      {Source::kBarycentric, CoefficientSource::Barycentric_coord},
  };
};

// The members of Output Select that are clip distances, in their order.
template <class Gen>
constexpr auto ClipPlanesOf() {
  using Select = typename Gen::Output_Select;
  return std::array{&Select::clip_distance_plane_0,  &Select::clip_distance_plane_1,
                    &Select::clip_distance_plane_2,  &Select::clip_distance_plane_3,
                    &Select::clip_distance_plane_4,  &Select::clip_distance_plane_5,
                    &Select::clip_distance_plane_6,  &Select::clip_distance_plane_7,
                    &Select::clip_distance_plane_8,  &Select::clip_distance_plane_9,
                    &Select::clip_distance_plane_10, &Select::clip_distance_plane_11,
                    &Select::clip_distance_plane_12, &Select::clip_distance_plane_13,
                    &Select::clip_distance_plane_14, &Select::clip_distance_plane_15};
}

template <class Gen>
typename Gen::Output_Select OutputSelectWord(const Linkage& linkage) {
  const OutputShape& shape = linkage.shape();
  typename Gen::Output_Select select{
      .varyings = !linkage.bindings().empty(),
      .point_size = shape.point_size,
      .viewport_target = shape.layer_viewport,
      .render_target = shape.layer_viewport,
      .frag_coord_z = shape.z,
      .barycentric_coordinates = linkage.barycentrics(),
  };
  constexpr auto kPlanes = ClipPlanesOf<Gen>();
  for (unsigned i = 0; i < shape.clip_distances; ++i) select.*kPlanes[i] = true;
  return select;
}

template <class Gen>
typename Gen::VDM_State_Vertex_Outputs VertexOutputWord(const OutputShape& shape) {
  return {.output_count_1 = shape.words(), .output_count_2 = shape.words()};
}

// Three places select the provoking vertex, each with its own numbers: the bindings, the state of
// the vertex stage, and Cull. The last two also enable primitive IDs, which the hardware makes only
// on request.
template <class Gen>
typename Gen::VDM_State_Vertex_Unknown FlatShadingWord(const Linkage& linkage) {
  using Vertex = typename Gen::VDM_Vertex;
  constexpr Vertex kVertices[] = {Vertex::_0, Vertex::_1, Vertex::_2};
  return {.flat_shading_control = kVertices[linkage.provoking_vertex()],
          .generate_primitive_id = linkage.primitive_id()};
}

// The same in Cull and Cull 2. Their other fields are not about varyings: set them in the same
// header, or merge the record with one that has them.
template <class Gen>
void SetFlatShading(const Linkage& linkage, typename Gen::PPP_Header& header) {
  using Vertex = typename Gen::PPP_Vertex;
  constexpr Vertex kVertices[] = {Vertex::_0, Vertex::_1, Vertex::_2};
  header.cull = header.cull_2 = true;
  header.cull_state.flat_shading_vertex = kVertices[linkage.provoking_vertex()];
  header.cull_2_state.needs_primitive_id = linkage.primitive_id();
}

// Sets a PPP record's fields about varyings: output select, both counts, and the size of the
// outputs.
template <class Gen>
void SetVaryings(const Linkage& linkage, typename Gen::PPP_Header& header) {
  const auto counts = [](const std::array<uint8_t, kInterpolations>& words) {
    return typename Gen::Varying_Counts{
        .smooth = words[size_t(Interpolation::kSmooth)],
        .flat = words[size_t(Interpolation::kFlat)],
        .linear = words[size_t(Interpolation::kLinear)],
    };
  };
  header.output_select = header.varying_counts_32 = header.varying_counts_16 = true;
  header.output_size = true;
  header.output_select_state = OutputSelectWord<Gen>(linkage);
  header.varying_counts_32_state = counts(linkage.shape().words32);
  header.varying_counts_16_state = counts(linkage.shape().words16);
  header.output_size_state.count = linkage.shape().words();
}

// Packs the coefficient bindings of a fragment shader, and returns their size in bytes.
// ResourceExhausted, with nothing written, if `to` is too small.
template <class Gen>
absl::StatusOr<uint32_t> PackBindings(const Linkage& linkage, absl::Span<uint8_t> to) {
  using Names = VaryingNames<Gen>;
  using Record = typename Gen::CF_binding_header;
  static_assert(!typename Gen::Fragment_Shader_Word_0{.cf_binding_count = kMostBindings}.check());
  typename Record::ps_item items[kMostBindings];
  unsigned count = 0;
  for (const Binding& binding : linkage.bindings()) {
    items[count++] = {
        .components = binding.components,
        .shade_model = Names::kShades[size_t(binding.shade)].theirs,
        .source = Names::kSources[size_t(binding.source)].theirs,
        .base_slot = binding.base_slot,
        .base_coefficient_register = binding.base_register,
    };
  }
  const uint32_t bytes = Record::bytes_needed(count);
  if (to.size() < bytes) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("%d coefficient bindings take %d bytes, but there is room for %d", count,
                        bytes, to.size()));
  }
  const Record header{.number_of_32_bit_slots = linkage.shape().slots32(),
                      .number_of_coefficient_registers = linkage.registers()};
  if (const error e = header.pack(to.data(), {items, count})) {
    return PackStatus(e, "coefficient bindings");
  }
  return bytes;
}

// The vertex outputs that a PPP record describes.
template <class Gen>
OutputShape ReadShape(const typename Gen::PPP_Header& header) {
  const auto counts = [](const typename Gen::Varying_Counts& words) {
    return std::array<uint8_t, kInterpolations>{static_cast<uint8_t>(words.smooth),
                                                static_cast<uint8_t>(words.flat),
                                                static_cast<uint8_t>(words.linear)};
  };
  const typename Gen::Output_Select& select = header.output_select_state;
  OutputShape shape{
      .words32 = counts(header.varying_counts_32_state),
      .words16 = counts(header.varying_counts_16_state),
      .point_size = select.point_size,
      .layer_viewport = select.viewport_target || select.render_target,
      .z = select.frag_coord_z,
  };
  for (const auto plane : ClipPlanesOf<Gen>()) shape.clip_distances += select.*plane;
  return shape;
}

// The bindings of a table of `table.size()` bytes. InvalidArgument if it is cut off, or holds an
// undefined shade model or source.
template <class Gen>
absl::StatusOr<std::vector<Binding>> ReadBindings(absl::Span<const uint8_t> table) {
  using Names = VaryingNames<Gen>;
  using Record = typename Gen::CF_binding_header;
  if (table.size() < Record::size || (table.size() - Record::size) % Record::ps_item::size != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%d bytes are not a header with whole coefficient bindings after it", table.size()));
  }
  std::vector<Binding> bindings;
  for (const auto& item : Record::items(table.data(), static_cast<unsigned>(table.size()))) {
    Binding binding{.components = static_cast<uint8_t>(item.components),
                    .base_slot = static_cast<uint8_t>(item.base_slot),
                    .base_register = static_cast<uint8_t>(item.base_coefficient_register)};
    bool shade = false, source = false;
    for (const auto& name : Names::kShades) {
      if (name.theirs == item.shade_model) binding.shade = name.ours, shade = true;
    }
    for (const auto& name : Names::kSources) {
      if (name.theirs == item.source) binding.source = name.ours, source = true;
    }
    if (!shade || !source) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "coefficient binding %d has shade model %d and source %d, one of which is not defined",
          bindings.size(), static_cast<uint32_t>(item.shade_model),
          static_cast<uint32_t>(item.source)));
    }
    bindings.push_back(binding);
  }
  return bindings;
}

}  // namespace packsmith::agx

#endif  // PACKSMITH_RUNTIME_AGX_VARYING_RECORDS_H_
