// The state of draws: groups of packets, in the order in which they are emitted.
//
// A group is emitted as a whole, or not at all; the dirty set has a bit for each group.
// Dependencies between groups are not here: the XML states relations between packets, and
// state_layout.h makes sets of groups of them. It also checks that the XML allows this order.
//
// Packets that act instead of setting state (3DSTATE_WM_HZ_OP clears), and those that are sent once
// when a context begins, are not included.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_GROUPS_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_GROUPS_H_

#include <cstdint>
#include <type_traits>

#include "packsmith/pack.h"
#include "packsmith/relations.h"
#include "runtime/intel/device/generation_facts.h"
#include "runtime/intel/state/derived.h"

namespace packsmith::intel {

// Packets that are emitted together. Most are alone.
template <class... P>
struct Group {};
// One packet with up to Most items, and the companions that follow it.
template <class P, unsigned Most, class... Behind>
struct Tail {};
// Up to Most packets of one kind, and the companions that follow them.
template <class P, unsigned Most, class... Behind>
struct Several {};
// A Tail, and the companion before it.
template <class Ahead, class Tail>
struct LedBy {};

template <class... G>
struct GroupList {};
template <class... A, class... B>
constexpr GroupList<A..., B...> operator+(GroupList<A...>, GroupList<B...>) {
  return {};
}
// Packets that are emitted together, followed by a companion if Wanted.
template <bool Wanted, class Companion, class... P>
using GroupAnd = std::conditional_t<Wanted, Group<P..., Companion>, Group<P...>>;
// Each packet a group of its own.
template <class... P>
using Singles = GroupList<Group<P>...>;

// -- Companions: constant packets that accompany others ------------------------------------------

// Waits until everything before is done.
template <class Gen>
struct Stall {
  using Packet = typename Gen::PipeControl;
  static constexpr bool kNeedsScratch = false;
  static constexpr Packet Make(const address&) { return {.command_streamer_stall_enable = true}; }
};
// A post-sync write to scratch memory, which is ordered after everything before.
template <class Gen>
struct Write {
  using Packet = typename Gen::PipeControl;
  static constexpr bool kNeedsScratch = true;
  static constexpr Packet Make(const address& scratch) {
    return {.post_sync_operation = Packet::POST_SYNC_OPERATION_WRITE_IMMEDIATE_DATA,
            .address = {scratch.gpu, scratch.buffer, access::write}};
  }
};
// No stage has constants.
template <class Gen>
struct NoConstants {
  using Packet = typename Gen::Packets::_3DSTATE_CONSTANT_ALL;
  static constexpr bool kNeedsScratch = false;
  static constexpr Packet Make(const address&) {
    // Nothing is read, so any caching policy is correct; but 0 is refused.
    return {.shader_update_enable = 0x1f, .mocs = 2};
  }
};
// Nothing is written to buffers of stream output.
template <class Gen>
struct NoStreamOut {
  using Packet = typename Gen::Packets::_3DSTATE_STREAMOUT;
  static constexpr bool kNeedsScratch = false;
  static constexpr Packet Make(const address&) { return {}; }
};

// Pixel shaders wait until colours are written.
template <class Gen>
struct PixelBarrier {
  using Packet = typename Gen::Packets::RESOURCE_BARRIER;
  static constexpr bool kNeedsScratch = false;
  static constexpr Packet Make(const address&) {
    using Body = typename Gen::Packets::RESOURCE_BARRIER_BODY;
    using Stage = decltype(Body::wait_stage);
    return {.resource_barrier_body = {.wait_stage = Stage::Pixel,
                                      .signal_stage = Stage::Color,
                                      .barrier_type = decltype(Body::barrier_type)::Immediate}};
  }
};
// The packets before and after a write of the register that controls depth and stencil tests.
template <class Gen>
struct TestsDone {
  using Packet = typename Gen::PipeControl;
  static constexpr bool kNeedsScratch = false;
  static constexpr Packet Make(const address&) {
    return {.depth_cache_flush_enable = true,
            .render_target_cache_flush_enable = true,
            .command_streamer_stall_enable = true};
  }
};
template <class Gen>
struct TestsBegin {
  using Packet = typename Gen::PipeControl;
  static constexpr bool kNeedsScratch = false;
  static constexpr Packet Make(const address&) {
    return {.depth_cache_flush_enable = true,
            .render_target_cache_flush_enable = true,
            .depth_stall_enable = true};
  }
};

// -- The groups ----------------------------------------------------------------------------------

// 34 elements, the last of which may be the edge flag; 33 buffers.
inline constexpr unsigned kMostVertexBuffers = 33, kMostVertexElements = 34;
// 128 declarations for each of four streams.
inline constexpr unsigned kMostStreamOutDeclarations = 128;
inline constexpr unsigned kStreamOutBuffers = 4;

template <class Gen>
constexpr auto DrawGroups() {
  using G = typename Gen::Packets;
  // Five parts of one space.
  constexpr GroupList<GroupAnd<
      Gen::kFacts.wa_22011440098, NoConstants<Gen>, typename G::_3DSTATE_PUSH_CONSTANT_ALLOC_VS,
      typename G::_3DSTATE_PUSH_CONSTANT_ALLOC_HS, typename G::_3DSTATE_PUSH_CONSTANT_ALLOC_DS,
      typename G::_3DSTATE_PUSH_CONSTANT_ALLOC_GS, typename G::_3DSTATE_PUSH_CONSTANT_ALLOC_PS>>
      kPushConstants;
  // If the XML requires both together, they are one group: a set has room for 64 groups.
  constexpr auto kViewports = [] {
    using Color = typename G::_3DSTATE_VIEWPORT_STATE_POINTERS_CC;
    using Clip = typename G::_3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP;
    if constexpr (std::is_same_v<typename relations<Color>::needs, types<Clip>>) {
      return GroupList<Group<Color, Clip>>{};
    } else {
      return Singles<Color, Clip>{};
    }
  }();
  constexpr auto kPointers =
      kViewports +
      // All four, even without entries.
      GroupList<Group<typename G::_3DSTATE_URB_VS, typename G::_3DSTATE_URB_HS,
                      typename G::_3DSTATE_URB_DS, typename G::_3DSTATE_URB_GS>>{} +
      Singles<typename G::_3DSTATE_BLEND_STATE_POINTERS, typename G::_3DSTATE_CC_STATE_POINTERS>{} +
      kPushConstants +
      Singles<typename G::_3DSTATE_CONSTANT_VS, typename G::_3DSTATE_CONSTANT_HS,
              typename G::_3DSTATE_CONSTANT_DS, typename G::_3DSTATE_CONSTANT_GS,
              typename G::_3DSTATE_CONSTANT_PS, typename G::_3DSTATE_BINDING_TABLE_POINTERS_VS,
              typename G::_3DSTATE_BINDING_TABLE_POINTERS_HS,
              typename G::_3DSTATE_BINDING_TABLE_POINTERS_DS,
              typename G::_3DSTATE_BINDING_TABLE_POINTERS_GS,
              typename G::_3DSTATE_BINDING_TABLE_POINTERS_PS,
              typename G::_3DSTATE_SAMPLER_STATE_POINTERS_VS,
              typename G::_3DSTATE_SAMPLER_STATE_POINTERS_HS,
              typename G::_3DSTATE_SAMPLER_STATE_POINTERS_DS,
              typename G::_3DSTATE_SAMPLER_STATE_POINTERS_GS,
              typename G::_3DSTATE_SAMPLER_STATE_POINTERS_PS>{};
  constexpr auto kStages =
      Singles<typename G::_3DSTATE_MULTISAMPLE, typename G::_3DSTATE_SAMPLE_MASK,
              typename G::_3DSTATE_VS, typename G::_3DSTATE_HS, typename G::_3DSTATE_TE,
              typename G::_3DSTATE_DS, typename G::_3DSTATE_GS>{};
  constexpr auto kStreamOut = [] {
    using List = typename G::_3DSTATE_SO_DECL_LIST;
    if constexpr (Gen::kFacts.wa_16011773973) {
      static_assert(Gen::kFacts.wa_1509820217);
      return GroupList<
          LedBy<NoStreamOut<Gen>, Tail<List, kMostStreamOutDeclarations, Stall<Gen>>>>{};
    } else if constexpr (Gen::kFacts.wa_1509820217) {
      return GroupList<Tail<List, kMostStreamOutDeclarations, Stall<Gen>>>{};
    } else {
      return GroupList<Tail<List, kMostStreamOutDeclarations>>{};
    }
  }();
  // All four buffers, even if nothing is written to them.
  constexpr auto kWrittenBuffers = [] {
    if constexpr (requires { typename G::_3DSTATE_SO_BUFFER_INDEX_0; }) {
      static_assert(Gen::kFacts.stream_output_buffers_need_stall);
      return []<class... P>(types<P...>) {
        using After = Group<P..., Stall<Gen>>;
        using Around = Group<Stall<Gen>, P..., Stall<Gen>>;
        return GroupList<std::conditional_t<Gen::kFacts.wa_16011411144, Around, After>>{};
      }(types<typename G::_3DSTATE_SO_BUFFER_INDEX_0, typename G::_3DSTATE_SO_BUFFER_INDEX_1,
              typename G::_3DSTATE_SO_BUFFER_INDEX_2, typename G::_3DSTATE_SO_BUFFER_INDEX_3>{});
    } else if constexpr (Gen::kFacts.stream_output_buffers_need_stall) {
      return GroupList<Several<typename G::_3DSTATE_SO_BUFFER, kStreamOutBuffers, Stall<Gen>>>{};
    } else {
      return GroupList<Several<typename G::_3DSTATE_SO_BUFFER, kStreamOutBuffers>>{};
    }
  }();
  constexpr auto kPixels =
      Singles<typename G::_3DSTATE_STREAMOUT, typename G::_3DSTATE_CLIP,
              typename G::_3DSTATE_RASTER, typename G::_3DSTATE_SF, typename G::_3DSTATE_WM,
              typename G::_3DSTATE_SBE, typename G::_3DSTATE_SBE_SWIZ, typename G::_3DSTATE_PS,
              typename G::_3DSTATE_PS_EXTRA, typename G::_3DSTATE_PS_BLEND,
              typename G::_3DSTATE_WM_DEPTH_STENCIL, typename G::_3DSTATE_SCISSOR_STATE_POINTERS>{};
  constexpr auto kDepthBounds = [] {
    if constexpr (requires { typename G::_3DSTATE_DEPTH_BOUNDS; }) {
      return Singles<typename G::_3DSTATE_DEPTH_BOUNDS>{};
    } else {
      return GroupList<>{};
    }
  }();
  // All of them, even without such targets.
  constexpr auto kDepth = [] {
    using Depth = typename G::_3DSTATE_DEPTH_BUFFER;
    using Stencil = typename G::_3DSTATE_STENCIL_BUFFER;
    using Hierarchical = typename G::_3DSTATE_HIER_DEPTH_BUFFER;
    constexpr bool kWrites = Gen::kFacts.depth_needs_write;
    if constexpr (requires { typename G::_3DSTATE_CLEAR_PARAMS; }) {
      return GroupList<GroupAnd<kWrites, Write<Gen>, Depth, Stencil, Hierarchical,
                                typename G::_3DSTATE_CLEAR_PARAMS>>{};
    } else {
      return GroupList<GroupAnd<kWrites, Write<Gen>, Depth, Stencil, Hierarchical>>{};
    }
  }();
  constexpr auto kStipple = [] {
    if constexpr (Gen::kFacts.line_stipple_needs_stall) {
      return GroupList<Group<typename G::_3DSTATE_POLY_STIPPLE_PATTERN>,
                       Group<typename G::_3DSTATE_LINE_STIPPLE, Stall<Gen>>>{};
    } else {
      return Singles<typename G::_3DSTATE_POLY_STIPPLE_PATTERN,
                     typename G::_3DSTATE_LINE_STIPPLE>{};
    }
  }();
  constexpr auto kVertices =
      Singles<typename G::_3DSTATE_VF_TOPOLOGY>{} +
      GroupList<Tail<typename G::_3DSTATE_VERTEX_BUFFERS, kMostVertexBuffers>,
                Tail<typename G::_3DSTATE_VERTEX_ELEMENTS, kMostVertexElements>,
                Several<typename G::_3DSTATE_VF_INSTANCING, kMostVertexElements>>{} +
      Singles<typename G::_3DSTATE_VF_SGVS>{};
  constexpr auto kMoreVertices = [] {
    if constexpr (requires { typename G::_3DSTATE_VF_SGVS_2; }) {
      return Singles<typename G::_3DSTATE_VF_SGVS_2, typename G::_3DSTATE_VF_COMPONENT_PACKING>{};
    } else if constexpr (requires { typename G::_3DSTATE_VF_COMPONENT_PACKING; }) {
      return Singles<typename G::_3DSTATE_VF_COMPONENT_PACKING>{};
    } else {
      return GroupList<>{};
    }
  }();
  constexpr auto kFetch = [] {
    using Statistics = typename G::_3DSTATE_VF_STATISTICS;
    if constexpr (requires { typename G::_3DSTATE_VFG; }) {
      return GroupList<Group<Statistics, typename G::_3DSTATE_VF>>{} +
             Singles<typename G::_3DSTATE_VFG>{};
    } else {
      return Singles<Statistics, typename G::_3DSTATE_VF>{};
    }
  }();
  // Views and coarse pixels, if there are such packets.
  constexpr auto kViews = [] {
    if constexpr (requires { typename G::_3DSTATE_CPS_POINTERS; }) {
      return Singles<typename G::_3DSTATE_PRIMITIVE_REPLICATION,
                     typename G::_3DSTATE_CPS_POINTERS>{};
    } else if constexpr (requires { typename G::_3DSTATE_COARSE_PIXEL; }) {
      return Singles<typename G::_3DSTATE_PRIMITIVE_REPLICATION,
                     typename G::_3DSTATE_COARSE_PIXEL>{};
    } else if constexpr (requires { typename G::_3DSTATE_CPS; }) {
      return Singles<typename G::_3DSTATE_CPS>{};
    } else {
      return GroupList<>{};
    }
  }();
  // The pipeline with tasks and meshes instead of vertices. The enabling packets are a group of
  // their own: the vertex pipeline needs them, to disable these stages.
  constexpr auto kMeshes = [] {
    if constexpr (requires { typename G::_3DSTATE_MESH_SHADER; }) {
      return GroupList<
                 Group<typename G::_3DSTATE_URB_ALLOC_MESH, typename G::_3DSTATE_URB_ALLOC_TASK>,
                 Group<typename G::_3DSTATE_TASK_CONTROL, typename G::_3DSTATE_MESH_CONTROL>,
                 Group<typename G::_3DSTATE_TASK_SHADER, typename G::_3DSTATE_TASK_REDISTRIB,
                       typename G::_3DSTATE_MESH_SHADER, typename G::_3DSTATE_MESH_DISTRIB,
                       typename G::_3DSTATE_CLIP_MESH, typename G::_3DSTATE_SBE_MESH>>{} +
             Singles<typename G::_3DSTATE_TASK_SHADER_DATA,
                     typename G::_3DSTATE_MESH_SHADER_DATA>{};
    } else {
      return GroupList<>{};
    }
  }();
  // Derived packets, after all others.
  constexpr auto kDerived = [] {
    if constexpr (Gen::kFacts.pixel_mask_stall != PixelMaskStall::kNone) {
      return GroupList<Group<TestsDone<Gen>, PixelMaskStallFix<Gen>, TestsBegin<Gen>>>{};
    } else if constexpr (Gen::kFacts.wa_18019816803) {
      return GroupList<Group<DepthWriteChange<Gen>>>{};
    } else if constexpr (Gen::kFacts.wa_14018283232) {
      return GroupList<Group<BoundedDiscardChange<Gen>, PixelBarrier<Gen>>>{};
    } else {
      return GroupList<>{};
    }
  }();
  return kPointers + kStages + kStreamOut + kWrittenBuffers + kPixels + kDepthBounds + kViews +
         kMeshes + kDepth + kStipple + kVertices + kMoreVertices + kFetch +
         Singles<typename G::_3DSTATE_INDEX_BUFFER>{} + kDerived;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_GROUPS_H_
