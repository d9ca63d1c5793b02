// The packets of a vertex input (vertex_input.h), and of the buffers that it reads.
//
//   absl::Status status = AddVertexInput({.attributes = attributes}, pipeline);
//   …
//   status = SetVertexBuffers({buffers}, mocs, state);
//   status = SetIndexBuffer(indices, mocs, state);

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_VERTEX_PACKETS_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_VERTEX_PACKETS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/intel/pipeline/put.h"
#include "runtime/intel/pipeline/vertex_input.h"

namespace packsmith::intel {

// Adds all packets of the vertex fetch: 3DSTATE_VERTEX_ELEMENTS, 3DSTATE_VF_INSTANCING of each
// element, 3DSTATE_VF_SGVS and 3DSTATE_VF_SGVS_2, 3DSTATE_VF_COMPONENT_PACKING, 3DSTATE_VF,
// 3DSTATE_VF_STATISTICS, 3DSTATE_VF_TOPOLOGY and 3DSTATE_VFG, as far as the generation has them.
// The result says where the shader finds its inputs. Errors as of PlanVertexInput(), and those of
// the pipeline; some packets may have been added then.
template <auto... Dynamic, class Gen>
absl::StatusOr<VertexPlan> AddVertexInput(const VertexInput& input, PipelineState<Gen>& pipeline);
// The same for a draw state, at once: for inputs that no pipeline has.
template <class Gen>
absl::StatusOr<VertexPlan> SetVertexInput(const VertexInput& input, DrawState<Gen>& state);

// The value of 3DSTATE_VF_TOPOLOGY. InvalidArgument unless 1 to 32 points are given for patches.
template <class Gen>
absl::StatusOr<typename Gen::Packets::_3D_Prim_Topo_Type> TopologyOf(Topology topology,
                                                                     uint32_t patch_points = 0);

// Sets the buffers 0, 1, …; those of size 0 read as zeros. OutOfRange for more than 33.
template <class Gen>
absl::Status SetVertexBuffers(absl::Span<const VertexBuffer> buffers, uint32_t mocs,
                              DrawState<Gen>& state);
template <class Gen>
absl::Status SetIndexBuffer(const IndexBuffer& buffer, uint32_t mocs, DrawState<Gen>& state);

// -- Implementation -----------------------------------------------------------------------------

template <class Gen>
absl::StatusOr<typename Gen::Packets::_3D_Prim_Topo_Type> TopologyOf(Topology topology,
                                                                     uint32_t patch_points) {
  using T = typename Gen::Packets::_3D_Prim_Topo_Type;
  static constexpr T kTypes[] = {T::POINTLIST,   T::LINELIST,     T::LINESTRIP,    T::TRILIST,
                                 T::TRISTRIP,    T::TRIFAN,       T::LINELIST_ADJ, T::LINESTRIP_ADJ,
                                 T::TRILIST_ADJ, T::TRISTRIP_ADJ, T::PATCHLIST_1,  T::LINELOOP,
                                 T::QUADLIST,    T::QUADSTRIP,    T::POLYGON,      T::RECTLIST};
  if (topology != Topology::kPatchList) return kTypes[static_cast<unsigned>(topology)];
  if (patch_points < 1 || patch_points > 32) return vertex_errors::PatchPoints(patch_points);
  return static_cast<T>(static_cast<uint32_t>(T::PATCHLIST_1) + patch_points - 1);
}

// The bits of 3DSTATE_VF_COMPONENT_PACKING: four for each element.
template <class Packing>
Packing PackingOf(const VertexPlan& plan) {
  const auto bits = [&](unsigned i) -> uint32_t {
    return i < plan.count ? plan.elements[i].stored : 0;
  };
  return {
      .vertex_element_00_enables = bits(0),
      .vertex_element_01_enables = bits(1),
      .vertex_element_02_enables = bits(2),
      .vertex_element_03_enables = bits(3),
      .vertex_element_04_enables = bits(4),
      .vertex_element_05_enables = bits(5),
      .vertex_element_06_enables = bits(6),
      .vertex_element_07_enables = bits(7),
      .vertex_element_08_enables = bits(8),
      .vertex_element_09_enables = bits(9),
      .vertex_element_10_enables = bits(10),
      .vertex_element_11_enables = bits(11),
      .vertex_element_12_enables = bits(12),
      .vertex_element_13_enables = bits(13),
      .vertex_element_14_enables = bits(14),
      .vertex_element_15_enables = bits(15),
      .vertex_element_16_enables = bits(16),
      .vertex_element_17_enables = bits(17),
      .vertex_element_18_enables = bits(18),
      .vertex_element_19_enables = bits(19),
      .vertex_element_20_enables = bits(20),
      .vertex_element_21_enables = bits(21),
      .vertex_element_22_enables = bits(22),
      .vertex_element_23_enables = bits(23),
      .vertex_element_24_enables = bits(24),
      .vertex_element_25_enables = bits(25),
      .vertex_element_26_enables = bits(26),
      .vertex_element_27_enables = bits(27),
      .vertex_element_28_enables = bits(28),
      .vertex_element_29_enables = bits(29),
      .vertex_element_30_enables = bits(30),
      .vertex_element_31_enables = bits(31),
  };
}

template <class G>
typename G::VERTEX_ELEMENT_STATE ElementOf(const VertexElement& from) {
  using Control = typename G::_3D_Vertex_Component_Control;
  static constexpr Control kControls[] = {Control::NOSTORE, Control::STORE_SRC, Control::STORE_0,
                                          Control::STORE_1_FP, Control::STORE_1_INT};
  const auto control = [&](unsigned i) {
    return kControls[static_cast<unsigned>(from.components[i])];
  };
  return {.source_element_offset = from.offset,
          .edge_flag_enable = from.edge_flag,
          .source_element_format = from.format,
          .valid = true,
          .vertex_buffer_index = from.buffer,
          .component_3_control = control(3),
          .component_2_control = control(2),
          .component_1_control = control(1),
          .component_0_control = control(0)};
}

template <class G, auto... Dynamic, class To>
absl::Status PutGeneratedIds(const VertexIds& ids, const VertexPlan& plan, To& to) {
  // Components of the element of ids, see VertexIds.
  constexpr uint32_t kFirstVertex = 0, kFirstInstance = 1, kVertex = 2, kInstance = 3;
  typename G::_3DSTATE_VF_SGVS generated;
  if (ids.vertex) {
    generated.vertexid_enable = true;
    generated.vertexid_element_offset = plan.first_ids;
    generated.vertexid_component_number = kVertex;
  }
  if (ids.instance) {
    generated.instanceid_enable = true;
    generated.instanceid_element_offset = plan.first_ids;
    generated.instanceid_component_number = kInstance;
  }
  if (absl::Status s = PutPacket<Dynamic...>(to, generated); !s.ok()) return s;
  if constexpr (requires { typename G::_3DSTATE_VF_SGVS_2; }) {
    using Parameters = typename G::_3DSTATE_VF_SGVS_2;
    Parameters parameters;
    if (ids.first_vertex) {
      parameters.xp0_enable = true;
      parameters.xp0_source_select = Parameters::XP0_SOURCE_SELECT_VERTEX_LOCATION;
      parameters.xp0_element_offset = plan.first_ids;
      parameters.xp0_component_number = kFirstVertex;
    }
    if (ids.first_instance) {
      parameters.xp1_enable = true;
      parameters.xp1_source_select = Parameters::XP1_SOURCE_SELECT_STARTING_INSTANCE_LOCATION;
      parameters.xp1_element_offset = plan.first_ids;
      parameters.xp1_component_number = kFirstInstance;
    }
    if (ids.draw) {
      parameters.xp2_enable = true;
      parameters.xp2_element_offset = plan.draw_id;
    }
    return PutPacket<Dynamic...>(to, parameters);
  }
  return absl::OkStatus();
}

template <class G, class Gen, auto... Dynamic, class To>
absl::Status PutFetch(const VertexInput& input, To& to) {
  absl::StatusOr<typename G::_3D_Prim_Topo_Type> topology =
      TopologyOf<Gen>(input.topology, input.patch_points);
  if (!topology.ok()) return topology.status();
  typename G::_3DSTATE_VF fetch{
      .indexed_draw_cut_index_enable = input.primitive_restart,
      .cut_index = input.primitive_restart ? input.restart_index.value_or(~0u) : 0};
  if constexpr (requires { fetch.component_packing_enable; }) {
    fetch.component_packing_enable = input.pack_components;
  }
  if constexpr (requires { fetch.geometry_distribution_enable; }) {
    fetch.geometry_distribution_enable = true;
  }
  if (absl::Status s = PutPacket<Dynamic...>(
          to, typename G::_3DSTATE_VF_TOPOLOGY{.primitive_topology_type = *topology});
      !s.ok()) {
    return s;
  }
  if (absl::Status s = PutPacket<Dynamic...>(
          to, typename G::_3DSTATE_VF_STATISTICS{.statistics_enable = input.statistics});
      !s.ok()) {
    return s;
  }
  if (absl::Status s = PutPacket<Dynamic...>(to, fetch); !s.ok()) return s;
  if constexpr (requires { typename G::_3DSTATE_VFG; }) {
    // The sizes of batches that go to one slice, as Mesa's drivers have them: 128 vertices of
    // points and lines, 192 of lists with adjacency, 384 of triangles, 256 of strips, 192 points of
    // patches.
    using Distribution = typename G::_3DSTATE_VFG;
    return PutPacket<Dynamic...>(
        to, Distribution{.granularity_threshold_disable = Gen::kFacts.wa_14014851047,
                         .list_cut_index_enable = input.primitive_restart,
                         .distribution_mode = input.topology == Topology::kPatchList
                                                  ? Distribution::DISTRIBUTION_MODE_RR_STRICT
                                                  : Distribution::DISTRIBUTION_MODE_RR_FREE,
                         .list_1_batch_size_scale = 2,
                         .list_2_batch_size_scale = 1,
                         .list_3_batch_size_scale = 2,
                         .list_n_batch_size_scale = 0,
                         .strip_batch_size_scale = 3,
                         .patch_batch_size_scale = 1,
                         .patch_batch_size_multiplier = 31});
  }
  return absl::OkStatus();
}

template <class Gen, auto... Dynamic, class To>
absl::StatusOr<VertexPlan> PutVertexInput(const VertexInput& input, To& to) {
  using G = typename Gen::Packets;
  const absl::StatusOr<VertexPlan> plan = PlanVertexInput(
      input, {.generation = Gen::kName,
              .packs_components = requires { typename G::_3DSTATE_VF_COMPONENT_PACKING;
}
, .has_draw_parameters = requires { typename G::_3DSTATE_VF_SGVS_2; }
}  // namespace packsmith::intel
);
if (!plan.ok()) return plan;
std::array<typename G::VERTEX_ELEMENT_STATE, kMostVertexAttributes + 1> elements;
std::array<typename G::_3DSTATE_VF_INSTANCING, kMostVertexAttributes + 1> instancing;
for (unsigned i = 0; i < plan->count; ++i) {
  const VertexElement& from = plan->elements[i];
  elements[i] = ElementOf<G>(from);
  const bool instances = from.step == VertexStep::kInstance;
  instancing[i] = {.vertex_element_index = i,
                   .instancing_enable = instances,
                   .instance_data_step_rate = instances ? from.divisor : 0};
}
using Elements = span<const typename G::VERTEX_ELEMENT_STATE>;
absl::Status status =
    PutItems(to, typename G::_3DSTATE_VERTEX_ELEMENTS(), Elements(elements.data(), plan->count));
using Instancing = span<const typename G::_3DSTATE_VF_INSTANCING>;
if (status.ok()) status = PutEach(to, Instancing(instancing.data(), plan->count));
if (status.ok()) status = PutGeneratedIds<G, Dynamic...>(input.ids, *plan, to);
if constexpr (requires { typename G::_3DSTATE_VF_COMPONENT_PACKING; }) {
  if (status.ok()) {
    using Packing = typename G::_3DSTATE_VF_COMPONENT_PACKING;
    status =
        PutPacket<Dynamic...>(to, input.pack_components ? PackingOf<Packing>(*plan) : Packing());
  }
}
if (status.ok()) status = PutFetch<G, Gen, Dynamic...>(input, to);
if (!status.ok()) return status;
return plan;
}

// Whether the members are of packets that PutVertexInput() has, and that may be partial.
template <class G, auto... Dynamic>
constexpr bool VertexInputHasAll() {
  constexpr auto kHas = []<class... More>(PacketsAre<More...>) {
    return PacketsAre<typename G::_3DSTATE_VF_SGVS, typename G::_3DSTATE_VF_TOPOLOGY,
                      typename G::_3DSTATE_VF_STATISTICS, typename G::_3DSTATE_VF,
                      More...>::template kHaveAll<Dynamic...>;
  };
  if constexpr (requires { typename G::_3DSTATE_VFG; }) {
    return kHas(PacketsAre<typename G::_3DSTATE_VF_COMPONENT_PACKING,
                           typename G::_3DSTATE_VF_SGVS_2, typename G::_3DSTATE_VFG>());
  } else if constexpr (requires { typename G::_3DSTATE_VF_SGVS_2; }) {
    return kHas(
        PacketsAre<typename G::_3DSTATE_VF_COMPONENT_PACKING, typename G::_3DSTATE_VF_SGVS_2>());
  } else if constexpr (requires { typename G::_3DSTATE_VF_COMPONENT_PACKING; }) {
    return kHas(PacketsAre<typename G::_3DSTATE_VF_COMPONENT_PACKING>());
  } else {
    return kHas(PacketsAre<>());
  }
}

template <auto... Dynamic, class Gen>
absl::StatusOr<VertexPlan> AddVertexInput(const VertexInput& input, PipelineState<Gen>& pipeline) {
  static_assert(VertexInputHasAll<typename Gen::Packets, Dynamic...>(),
                "a dynamic member of a packet that vertex input does not have");
  return PutVertexInput<Gen, Dynamic...>(input, pipeline);
}
template <class Gen>
absl::StatusOr<VertexPlan> SetVertexInput(const VertexInput& input, DrawState<Gen>& state) {
  return PutVertexInput<Gen>(input, state);
}

template <class Gen>
absl::Status SetVertexBuffers(absl::Span<const VertexBuffer> buffers, uint32_t mocs,
                              DrawState<Gen>& state) {
  using G = typename Gen::Packets;
  using Buffer = typename G::VERTEX_BUFFER_STATE;
  std::array<Buffer, kMostVertexBuffers> packed;
  if (buffers.size() > packed.size()) {
    return vertex_errors::BufferCount(buffers.size(), packed.size());
  }
  for (unsigned i = 0; i < buffers.size(); ++i) {
    const VertexBuffer& from = buffers[i];
    if (from.size >> 32 != 0) return vertex_errors::BufferSize("vertex buffer", i, from.size);
    Buffer& to = packed[i];
    to.mocs = mocs;
    to.vertex_buffer_index = i;
    to.address_modify_enable = true;
    to.null_vertex_buffer = from.size == 0;
    if (from.size != 0) {
      to.buffer_pitch = from.stride;
      to.buffer_starting_address = from.memory;
      to.buffer_size = static_cast<uint32_t>(from.size);
    }
    // Drivers let the third-level cache hold vertices on all generations that have a choice.
    if constexpr (requires { to.l3_bypass_disable; }) to.l3_bypass_disable = true;
  }
  // The packet has at least one buffer.
  if (buffers.empty())
    packed[0] = {.null_vertex_buffer = true, .address_modify_enable = true, .mocs = mocs};
  const unsigned count = buffers.empty() ? 1 : static_cast<unsigned>(buffers.size());
  return PutItems(state, typename G::_3DSTATE_VERTEX_BUFFERS(),
                  span<const Buffer>(packed.data(), count));
}

template <class Gen>
absl::Status SetIndexBuffer(const IndexBuffer& buffer, uint32_t mocs, DrawState<Gen>& state) {
  using Packet = typename Gen::Packets::_3DSTATE_INDEX_BUFFER;
  static constexpr uint32_t kFormats[] = {Packet::INDEX_FORMAT_BYTE, Packet::INDEX_FORMAT_WORD,
                                          Packet::INDEX_FORMAT_DWORD};
  if (buffer.size >> 32 != 0) return vertex_errors::BufferSize("index buffer", 0, buffer.size);
  Packet packet{.mocs = mocs,
                .index_format = kFormats[static_cast<unsigned>(buffer.type)],
                .buffer_starting_address = buffer.memory,
                .buffer_size = static_cast<uint32_t>(buffer.size)};
  if constexpr (requires { packet.l3_bypass_disable; }) packet.l3_bypass_disable = true;
  return PutPacket(state, packet);
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_VERTEX_PACKETS_H_
