// The packets and states of output.h: 3DSTATE_WM_DEPTH_STENCIL, 3DSTATE_DEPTH_BOUNDS,
// 3DSTATE_PS_BLEND, BLEND_STATE and COLOR_CALC_STATE.
//
//   absl::Status status = AddDepthStencil(depth_stencil, pipeline);
//   status = AddColorBlend(blend, pixels, pipeline);              // what is in packets
//   …
//   status = SetBlendStates(blend, pixels, dynamic, batch, state);  // what is in memory
//   status = SetColorConstants({.blend = {1, 1, 1, 1}}, dynamic, batch, state);
//
// Sources: PRMs, BLEND_STATE, BLEND_STATE_ENTRY, 3DSTATE_PS_BLEND, 3DSTATE_WM_DEPTH_STENCIL, and
// volume "3D Pipeline: Color/Output Merger"; what Mesa's drivers set.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_OUTPUT_PACKETS_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_OUTPUT_PACKETS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "packsmith/pack.h"
#include "runtime/command/pack_status.h"
#include "runtime/intel/pipeline/dynamic_states.h"
#include "runtime/intel/pipeline/output.h"
#include "runtime/intel/pipeline/put.h"
#include "runtime/intel/pipeline/rasterization.h"

namespace packsmith::intel {

// Whether COLOR_CALC_STATE has the stencil references, not 3DSTATE_WM_DEPTH_STENCIL.
template <class Gen>
inline constexpr bool kReferencesInConstants =
    requires(typename Gen::Packets::COLOR_CALC_STATE constants) {
  constants.stencil_reference_value;
};

// InvalidArgument for bounds that the generation lacks or that are not in order, and on Gfx8 for
// stencil references (see ColorConstants).
template <class Gen>
absl::Status DescribeDepthStencil(const DepthStencil& from,
                                  typename Gen::Packets::_3DSTATE_WM_DEPTH_STENCIL& packet);
// Adds 3DSTATE_WM_DEPTH_STENCIL, and from Gfx12 on 3DSTATE_DEPTH_BOUNDS. Dynamic: members of these
// that the pipeline leaves open.
template <auto... Dynamic, class Gen>
absl::Status AddDepthStencil(const DepthStencil& from, PipelineState<Gen>& pipeline);
template <class Gen>
absl::Status SetDepthStencil(const DepthStencil& from, DrawState<Gen>& state);

template <class Gen>
struct BlendPackets {
  using G = typename Gen::Packets;
  typename G::BLEND_STATE blend;
  std::array<typename G::BLEND_STATE_ENTRY, kMostBlendTargets> entries;
  unsigned count = 0;  // of entries: at least 1
  typename G::_3DSTATE_PS_BLEND ps_blend;
};

// Of `pixels`: writes_color and dual_source. A target that blends with the shader's second colour
// while the shader writes none is not blended, since hardware would hang. InvalidArgument for more
// than 8 targets, masks of more than 4 bits, and a second colour for other targets than the first.
template <class Gen>
absl::Status DescribeColorBlend(const ColorBlend& from, const PixelTraits& pixels,
                                BlendPackets<Gen>& packets);
// Adds 3DSTATE_PS_BLEND.
template <auto... Dynamic, class Gen>
absl::Status AddColorBlend(const ColorBlend& from, const PixelTraits& pixels,
                           PipelineState<Gen>& pipeline);
template <class Gen>
absl::Status SetColorBlend(const ColorBlend& from, const PixelTraits& pixels,
                           DrawState<Gen>& state);
// Writes BLEND_STATE with all entries that hardware may fetch, and points to it.
template <class Gen>
absl::Status SetBlendStates(const ColorBlend& from, const PixelTraits& pixels,
                            gpu::StateStream& dynamic, Batch<Gen>& batch, DrawState<Gen>& state);
// Writes COLOR_CALC_STATE, and points to it. InvalidArgument for stencil references from Gfx9 on
// (see ColorConstants).
template <class Gen>
absl::Status SetColorConstants(const ColorConstants& from, gpu::StateStream& dynamic,
                               Batch<Gen>& batch, DrawState<Gen>& state);

// A comparison as packets have it.
template <class Gen>
constexpr auto CompareFunctionOf(Compare compare) {
  using F = typename Gen::Packets::_3D_Compare_Function;
  constexpr F kFunctions[] = {F::NEVER,   F::LESS,     F::EQUAL,  F::LEQUAL,
                              F::GREATER, F::NOTEQUAL, F::GEQUAL, F::ALWAYS};
  return kFunctions[static_cast<unsigned>(compare)];
}

// -- Implementation -----------------------------------------------------------------------------

template <class Gen>
constexpr auto StencilOperationOf(StencilOp op) {
  using O = typename Gen::Packets::_3D_Stencil_Operation;
  constexpr O kOperations[] = {O::KEEP,    O::ZERO,   O::REPLACE, O::INCRSAT,
                               O::DECRSAT, O::INVERT, O::INCR,    O::DECR};
  return kOperations[static_cast<unsigned>(op)];
}

template <class Gen>
constexpr auto BlendFactorOf(BlendFactor factor) {
  using F = typename Gen::Packets::_3D_Color_Buffer_Blend_Factor;
  constexpr F kFactors[] = {F::ZERO,
                            F::ONE,
                            F::SRC_COLOR,
                            F::INV_SRC_COLOR,
                            F::DST_COLOR,
                            F::INV_DST_COLOR,
                            F::SRC_ALPHA,
                            F::INV_SRC_ALPHA,
                            F::DST_ALPHA,
                            F::INV_DST_ALPHA,
                            F::CONST_COLOR,
                            F::INV_CONST_COLOR,
                            F::CONST_ALPHA,
                            F::INV_CONST_ALPHA,
                            F::SRC_ALPHA_SATURATE,
                            F::SRC1_COLOR,
                            F::INV_SRC1_COLOR,
                            F::SRC1_ALPHA,
                            F::INV_SRC1_ALPHA};
  return kFactors[static_cast<unsigned>(factor)];
}

template <class Gen>
constexpr auto BlendFunctionOf(BlendOp op) {
  using F = typename Gen::Packets::_3D_Color_Buffer_Blend_Function;
  constexpr F kFunctions[] = {F::ADD, F::SUBTRACT, F::REVERSE_SUBTRACT, F::MIN, F::MAX};
  return kFunctions[static_cast<unsigned>(op)];
}

template <class Gen>
constexpr auto LogicFunctionOf(LogicOp op) {
  using F = typename Gen::Packets::_3D_Logic_Op_Function;
  constexpr F kFunctions[] = {F::CLEAR,         F::AND,         F::AND_REVERSE, F::COPY,
                              F::AND_INVERTED,  F::NOOP,        F::XOR,         F::OR,
                              F::NOR,           F::EQUIV,       F::INVERT,      F::OR_REVERSE,
                              F::COPY_INVERTED, F::OR_INVERTED, F::NAND,        F::SET};
  return kFunctions[static_cast<unsigned>(op)];
}

template <class Gen>
absl::Status DescribeDepthStencil(const DepthStencil& from,
                                  typename Gen::Packets::_3DSTATE_WM_DEPTH_STENCIL& packet) {
  const StencilFace &front = from.front, &back = from.back;
  const auto writes = [](const StencilFace& face) {
    return face.write_mask != 0 &&
           (face.fail != StencilOp::kKeep || face.depth_fail != StencilOp::kKeep ||
            face.pass != StencilOp::kKeep);
  };
  packet.depth_test_enable = from.depth_test;
  packet.depth_buffer_write_enable = from.depth_test && from.depth_write;
  packet.depth_test_function = CompareFunctionOf<Gen>(from.depth_compare);
  packet.stencil_test_enable = from.stencil_test;
  packet.stencil_buffer_write_enable = from.stencil_test && (writes(front) || writes(back));
  // Also for equal faces: references and masks that change later may differ.
  packet.double_sided_stencil_enable = from.stencil_test;
  packet.stencil_test_function = CompareFunctionOf<Gen>(front.compare);
  packet.stencil_fail_op = StencilOperationOf<Gen>(front.fail);
  packet.stencil_pass_depth_fail_op = StencilOperationOf<Gen>(front.depth_fail);
  packet.stencil_pass_depth_pass_op = StencilOperationOf<Gen>(front.pass);
  packet.stencil_test_mask = front.compare_mask;
  packet.stencil_write_mask = front.write_mask;
  packet.backface_stencil_test_function = CompareFunctionOf<Gen>(back.compare);
  packet.backface_stencil_fail_op = StencilOperationOf<Gen>(back.fail);
  packet.backface_stencil_pass_depth_fail_op = StencilOperationOf<Gen>(back.depth_fail);
  packet.backface_stencil_pass_depth_pass_op = StencilOperationOf<Gen>(back.pass);
  packet.backface_stencil_test_mask = back.compare_mask;
  packet.backface_stencil_write_mask = back.write_mask;
  if constexpr (requires { packet.stencil_reference_value; }) {
    packet.stencil_reference_value = front.reference;
    packet.backface_stencil_reference_value = back.reference;
  } else if (front.reference != 0 || back.reference != 0) {
    return output_errors::StencilReference(Gen::kName);
  }
  if (!from.bounds_test) return absl::OkStatus();
  if constexpr (!requires { typename Gen::Packets::_3DSTATE_DEPTH_BOUNDS; }) {
    return output_errors::NoBounds(Gen::kName);
  } else {
    return from.min_bound <= from.max_bound ? absl::OkStatus()
                                            : output_errors::Bounds(from.min_bound, from.max_bound);
  }
}

template <class Gen, auto... Dynamic, class To>
absl::Status PutDepthStencil(const DepthStencil& from, To& to) {
  using G = typename Gen::Packets;
  constexpr bool kHaveAll = [] {
    using Tests = typename G::_3DSTATE_WM_DEPTH_STENCIL;
    if constexpr (requires { typename G::_3DSTATE_DEPTH_BOUNDS; }) {
      using Bounds = typename G::_3DSTATE_DEPTH_BOUNDS;
      return PacketsAre<Tests, Bounds>::template kHaveAll<Dynamic...>;
    } else {
      return PacketsAre<Tests>::template kHaveAll<Dynamic...>;
    }
  }();
  static_assert(kHaveAll, "a dynamic member of a packet that depth and stencil tests do not have");
  typename G::_3DSTATE_WM_DEPTH_STENCIL packet;
  absl::Status status = DescribeDepthStencil<Gen>(from, packet);
  if (status.ok()) status = PutPacket<Dynamic...>(to, packet);
  if constexpr (requires { typename G::_3DSTATE_DEPTH_BOUNDS; }) {
    if (status.ok()) {
      status = PutPacket<Dynamic...>(
          to, typename G::_3DSTATE_DEPTH_BOUNDS{.depth_bounds_test_enable = from.bounds_test,
                                                .depth_bounds_test_min_value = from.min_bound,
                                                .depth_bounds_test_max_value = from.max_bound});
    }
  }
  return status;
}

template <auto... Dynamic, class Gen>
absl::Status AddDepthStencil(const DepthStencil& from, PipelineState<Gen>& pipeline) {
  return PutDepthStencil<Gen, Dynamic...>(from, pipeline);
}
template <class Gen>
absl::Status SetDepthStencil(const DepthStencil& from, DrawState<Gen>& state) {
  return PutDepthStencil<Gen>(from, state);
}

template <class Gen>
absl::Status DescribeColorBlend(const ColorBlend& from, const PixelTraits& pixels,
                                BlendPackets<Gen>& packets) {
  using Entry = typename Gen::Packets::BLEND_STATE_ENTRY;
  if (from.targets.size() > kMostBlendTargets) return output_errors::Targets(from.targets.size());
  auto& [blend, entries, count, ps] = packets;
  count = static_cast<unsigned>(std::max<size_t>(from.targets.size(), 1));
  bool writes = false, independent = false;
  for (unsigned i = 0; i < count; ++i) {
    Entry& to = entries[i];
    to = {.post_blend_color_clamp_enable = true,
          .pre_blend_color_clamp_enable = true,
          .color_clamp_range = Entry::COLOR_CLAMP_RANGE_COLORCLAMP_RTFORMAT};
    const BlendTarget& target =
        from.targets.empty() ? BlendTarget{.write_mask = 0} : from.targets[i];
    if (target.write_mask > 0xf) return output_errors::WriteMask(i, target.write_mask);
    to.write_disable_red = (target.write_mask & kRed) == 0;
    to.write_disable_green = (target.write_mask & kGreen) == 0;
    to.write_disable_blue = (target.write_mask & kBlue) == 0;
    to.write_disable_alpha = (target.write_mask & kAlpha) == 0;
    writes |= target.write_mask != 0;
    // Both at the same time are undefined.
    if (from.logic_op_enable) {
      to.logic_op_enable = true;
      to.logic_op_function = LogicFunctionOf<Gen>(from.logic_op);
      continue;
    }
    if (!target.enable) continue;
    const HardwareFactors factors = HardwareFactorsOf(target, from.alpha_to_one);
    if (factors.second_color) {
      if (from.targets.size() > 1) return output_errors::SecondColor(i);
      if (!pixels.dual_source) continue;
    }
    to.color_buffer_blend_enable = true;
    to.source_blend_factor = BlendFactorOf<Gen>(factors.src_color);
    to.destination_blend_factor = BlendFactorOf<Gen>(factors.dst_color);
    to.color_blend_function = BlendFunctionOf<Gen>(target.color_op);
    to.source_alpha_blend_factor = BlendFactorOf<Gen>(factors.src_alpha);
    to.destination_alpha_blend_factor = BlendFactorOf<Gen>(factors.dst_alpha);
    to.alpha_blend_function = BlendFunctionOf<Gen>(target.alpha_op);
    independent |= factors.src_color != factors.src_alpha ||
                   factors.dst_color != factors.dst_alpha || target.color_op != target.alpha_op;
  }
  blend.alpha_to_coverage_enable = from.alpha_to_coverage;
  blend.alpha_to_coverage_dither_enable = from.alpha_to_coverage && from.alpha_to_coverage_dither;
  blend.alpha_to_one_enable = from.alpha_to_one;
  blend.independent_alpha_blend_enable = independent;
  blend.color_dither_enable = from.dither;
  blend.alpha_test_enable = from.alpha_test;
  blend.alpha_test_function = CompareFunctionOf<Gen>(from.alpha_compare);

  // What the pixel dispatch must know: of the first target.
  ps.has_writeable_rt = pixels.writes_color && writes;
  ps.alpha_to_coverage_enable = from.alpha_to_coverage;
  ps.alpha_test_enable = from.alpha_test;
  ps.independent_alpha_blend_enable = independent;
  if (entries[0].color_buffer_blend_enable) {
    // Gfx8 has no enumeration for these members.
    const auto set = [](auto& member, auto factor) {
      member = static_cast<std::remove_reference_t<decltype(member)>>(factor);
    };
    ps.color_buffer_blend_enable = true;
    set(ps.source_blend_factor, entries[0].source_blend_factor);
    set(ps.destination_blend_factor, entries[0].destination_blend_factor);
    set(ps.source_alpha_blend_factor, entries[0].source_alpha_blend_factor);
    set(ps.destination_alpha_blend_factor, entries[0].destination_alpha_blend_factor);
  }
  return absl::OkStatus();
}

template <auto... Dynamic, class Gen>
absl::Status AddColorBlend(const ColorBlend& from, const PixelTraits& pixels,
                           PipelineState<Gen>& pipeline) {
  static_assert(PacketsAre<typename Gen::Packets::_3DSTATE_PS_BLEND>::template kHaveAll<Dynamic...>,
                "a dynamic member of a packet that blending does not have");
  BlendPackets<Gen> packets;
  absl::Status status = DescribeColorBlend<Gen>(from, pixels, packets);
  return status.ok() ? PutPacket<Dynamic...>(pipeline, packets.ps_blend) : status;
}
template <class Gen>
absl::Status SetColorBlend(const ColorBlend& from, const PixelTraits& pixels,
                           DrawState<Gen>& state) {
  BlendPackets<Gen> packets;
  absl::Status status = DescribeColorBlend<Gen>(from, pixels, packets);
  return status.ok() ? PutPacket(state, packets.ps_blend) : status;
}

// Of BLEND_STATE and COLOR_CALC_STATE, in bytes.
inline constexpr uint64_t kOutputStateAlignment = 64;

template <class Gen>
absl::Status SetBlendStates(const ColorBlend& from, const PixelTraits& pixels,
                            gpu::StateStream& dynamic, Batch<Gen>& batch, DrawState<Gen>& state) {
  using G = typename Gen::Packets;
  BlendPackets<Gen> packets;
  absl::Status status = DescribeColorBlend<Gen>(from, pixels, packets);
  if (!status.ok()) return status;
  std::array<uint32_t, G::BLEND_STATE::dwords_needed(kMostBlendTargets)> dwords = {};
  using Entries = span<const typename G::BLEND_STATE_ENTRY>;
  if (const error e =
          packets.blend.pack(dwords.data(), Entries(packets.entries.data(), packets.count))) {
    return PackStatus("BLEND_STATE", e);
  }
  const auto at =
      WriteDynamic<Gen>(absl::MakeConstSpan(dwords), kOutputStateAlignment, dynamic, batch);
  if (!at.ok()) return at.status();
  return PutPacket(state, typename G::_3DSTATE_BLEND_STATE_POINTERS{
                              .blend_state_pointer_valid = true, .blend_state_pointer = *at});
}

template <class Gen>
absl::Status SetColorConstants(const ColorConstants& from, gpu::StateStream& dynamic,
                               Batch<Gen>& batch, DrawState<Gen>& state) {
  using G = typename Gen::Packets;
  using Constants = typename G::COLOR_CALC_STATE;
  Constants constants{.alpha_test_format = Constants::ALPHA_TEST_FORMAT_ALPHATEST_FLOAT32,
                      .alpha_reference_value_as_float32 = from.alpha_reference,
                      .blend_constant_color_red = from.blend[0],
                      .blend_constant_color_green = from.blend[1],
                      .blend_constant_color_blue = from.blend[2],
                      .blend_constant_color_alpha = from.blend[3]};
  if constexpr (kReferencesInConstants<Gen>) {
    constants.stencil_reference_value = from.front_stencil_reference;
    constants.backface_stencil_reference_value = from.back_stencil_reference;
  } else if (from.front_stencil_reference != 0 || from.back_stencil_reference != 0) {
    return output_errors::ConstantStencilReference(Gen::kName);
  }
  std::array<uint32_t, Constants::length> dwords;
  if (const error e = constants.pack(dwords.data())) return PackStatus("COLOR_CALC_STATE", e);
  const auto at = WriteDynamic<Gen>(dwords, kOutputStateAlignment, dynamic, batch);
  if (!at.ok()) return at.status();
  return PutPacket(state,
                   typename G::_3DSTATE_CC_STATE_POINTERS{.color_calc_state_pointer_valid = true,
                                                          .color_calc_state_pointer = *at});
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_OUTPUT_PACKETS_H_
