// State that is derived from packets that the caller sets: a table of what workarounds and
// optimizations require when other state changes.
//
// Make() takes the packets of From, and returns the packet that the GPU must have. It is called
// after one of them has changed, if all are set; its result is emitted if it differs from the last
// one.

#ifndef PACKSMITH_RUNTIME_INTEL_STATE_DERIVED_H_
#define PACKSMITH_RUNTIME_INTEL_STATE_DERIVED_H_

#include <cstdint>

#include "packsmith/pack.h"
#include "packsmith/relations.h"
#include "runtime/intel/device/generation_facts.h"

namespace packsmith::intel {

// Wa_18019816803 (DG2, early ARL): when draws start or stop writing depth or stencil, the pixel
// shaders' dispatch must wait.
template <class Gen>
struct DepthWriteChange {
  using Depth = typename Gen::Packets::_3DSTATE_WM_DEPTH_STENCIL;
  using From = types<Depth>;
  using Packet = typename Gen::PipeControl;
  static constexpr bool kOnRequest = false;

  static constexpr Packet Make(const Depth& depth) {
    // No post-sync operation writes the number. It distinguishes the two packets.
    return {.pss_stall_sync_enable = true,
            .immediate_data = depth.depth_buffer_write_enable || depth.stencil_buffer_write_enable};
  }
};

// Wa_14018283232 (Xe2): when draws start or stop having depth bounds and a shader that discards
// pixels, a barrier must follow.
template <class Gen>
struct BoundedDiscardChange {
  using G = typename Gen::Packets;
  using Bounds = typename G::_3DSTATE_DEPTH_BOUNDS;
  using Shader = typename G::_3DSTATE_PS_EXTRA;
  using From = types<Bounds, Shader>;
  using Packet = typename Gen::Noop;
  static constexpr bool kOnRequest = false;

  static constexpr Packet Make(const Bounds& bounds, const Shader& shader) {
    // The number has no effect. It distinguishes the two packets.
    return {.identification_number =
                bounds.depth_bounds_test_enable != 0 && shader.pixel_shader_kills_pixel};
  }
};

// The bit that disables a stall: pixels that may be discarded wait for the depth or stencil of
// those before them (see PixelMaskStall), unless it is set. It may be set if the manual's equation
// holds. Sources: PRMs of Broadwell and Skylake, volume 2c, CACHE_MODE_1 "NP PMA Fix Enable" and
// CACHE_MODE_0 "STC PMA Optimization Enable".
template <class Gen>
struct PixelMaskStallFix {
  using G = typename Gen::Packets;
  using Rasterizer = typename G::_3DSTATE_WM;
  using Raster = typename G::_3DSTATE_RASTER;
  using Shader = typename G::_3DSTATE_PS_EXTRA;
  using Blend = typename G::_3DSTATE_PS_BLEND;
  using Test = typename G::_3DSTATE_WM_DEPTH_STENCIL;
  using Depth = typename G::_3DSTATE_DEPTH_BUFFER;
  using Stencil = typename G::_3DSTATE_STENCIL_BUFFER;
  using From = types<Rasterizer, Raster, Shader, Blend, Test, Depth, Stencil>;
  using Packet = typename Gen::LoadRegisterConstant;
  static constexpr bool kIsOfDepth = Gen::kFacts.pixel_mask_stall == PixelMaskStall::kDepth;
  // The equation also requires that no depth is cleared or resolved, which is not part of the
  // state.
  static constexpr bool kOnRequest = true;

  static constexpr bool IsGood(const Rasterizer& wm, const Raster& raster, const Shader& shader,
                               const Blend& blend, const Test& test, const Depth& depth,
                               const Stencil& stencil) {
    const bool hiz = depth.surface_type != Depth::SURFACE_TYPE_SURFTYPE_NULL &&
                     depth.hierarchical_depth_buffer_enable;
    const bool late =
        wm.force_thread_dispatch_enable != Rasterizer::FORCE_THREAD_DISPATCH_ENABLE_FORCEON &&
        wm.early_depth_stencil_control != Rasterizer::EARLY_DEPTH_STENCIL_CONTROL_EDSC_PREPS &&
        raster.forced_sample_count == Raster::FORCED_SAMPLE_COUNT_NUMRASTSAMPLES_0 &&
        shader.pixel_shader_valid;
    if (!hiz || !late) return false;
    const bool kills = shader.pixel_shader_kills_pixel || shader.omask_present_to_render_target ||
                       blend.alpha_to_coverage_enable || blend.alpha_test_enable;
    const bool computes_depth = shader.pixel_shader_computed_depth_mode !=
                                Shader::PIXEL_SHADER_COMPUTED_DEPTH_MODE_PSCDEPTH_OFF;
    const bool writes_depth = test.depth_buffer_write_enable && depth.depth_write_enable;
    const bool writes_stencil = stencil.stencil_buffer_enable && test.stencil_buffer_write_enable &&
                                depth.stencil_write_enable;
    if constexpr (kIsOfDepth) {
      const bool may_kill =
          kills && wm.force_kill_pixel_enable != Rasterizer::FORCE_KILL_PIXEL_ENABLE_FORCEOFF;
      return test.depth_test_enable &&
             ((may_kill && (writes_depth || writes_stencil)) || computes_depth);
    } else {
      const bool computes_stencil = stencil.stencil_buffer_enable && test.stencil_test_enable &&
                                    shader.pixel_shader_computes_stencil;
      return (computes_stencil || writes_stencil) &&
             (kills || wm.force_kill_pixel_enable == Rasterizer::FORCE_KILL_PIXEL_ENABLE_FORCEON ||
              computes_depth);
    }
  }

  static constexpr Packet Make(bool wanted, const auto&... from) {
    const bool on = wanted && IsGood(from...);
    if constexpr (kIsOfDepth) {
      return Set(typename G::CACHE_MODE_1{.np_pma_fix_enable = on,
                                          .np_early_z_fails_disable = on,
                                          .np_pma_fix_enable_mask = 1,
                                          .np_early_z_fails_disable_mask = 1});
    } else {
      return Set(typename G::CACHE_MODE_0{.stc_pma_optimization_enable = on,
                                          .stc_pma_optimization_enable_mask = true});
    }
  }

 private:
  template <class Register>
  static constexpr Packet Set(const Register& value) {
    uint32_t dword = 0;
    (void)value.template pack<checks::off>(&dword);
    return {.register_offset_ = Register::register_offset, .data_dword = dword};
  }
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_STATE_DERIVED_H_
