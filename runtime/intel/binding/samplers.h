// Samplers: how textures are read, written as SAMPLER_STATE of one generation.
//
//   const Sampler sampler{.min_filter = Filter::kLinear, .mip_filter = MipFilter::kLinear};
//   absl::Status status = WriteSampler<Gfx9>(sampler, 0, dwords);
//
// Shaders use tables of samplers; sampler_tables.h shares equal ones. Sources: PRMs, volume
// "Command Reference: Structures", SAMPLER_STATE.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_SAMPLERS_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_SAMPLERS_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "packsmith/pack.h"
#include "runtime/command/pack_status.h"

namespace packsmith::intel {

enum class Filter : uint8_t { kNearest, kLinear };
enum class MipFilter : uint8_t { kNone, kNearest, kLinear };
// How coordinates outside a texture are handled.
enum class Wrap : uint8_t {
  kRepeat,
  kMirror,
  kClampToEdge,
  kCube,  // cubes: the neighbouring face
  kClampToBorder,
  kMirrorOnce,
  kHalfBorder,  // the edge and the border colour, half and half
};
// When a comparison of the reference with the texel passes.
enum class Compare : uint8_t {
  kNever,
  kLess,
  kEqual,
  kLessEqual,
  kGreater,
  kNotEqual,
  kGreaterEqual,
  kAlways,
};
// How a filter combines texels.
enum class Reduction : uint8_t { kAverage, kMinimum, kMaximum };

struct Sampler {
  Filter min_filter = Filter::kNearest, mag_filter = Filter::kNearest;
  MipFilter mip_filter = MipFilter::kNone;
  std::array<Wrap, 3> wrap = {};  // along u, v and w
  // Levels of detail, clamped to what hardware can store: the bias to -16 to just below 16, the
  // others to 0 to 14. With MipFilter::kNone a min_lod above 0 skips no level: min_filter is then
  // also used for images that are larger than the texture, as in OpenGL.
  float lod_bias = 0, min_lod = 0, max_lod = 14;
  uint32_t anisotropy = 1;  // 2 to 16, of linear filters; 1: none
  bool compares = false;
  Compare compare = Compare::kNever;
  Reduction reduction = Reduction::kAverage;  // other values from Gfx9 on
  bool unnormalized = false;                  // coordinates count texels
  // Cubes are filtered across their edges, regardless of `wrap`.
  bool seamless = true;
  // Red, green, blue, alpha: floats or integers, like the texture's format. Used if uses_border().
  std::array<uint32_t, 4> border_color = {};

  bool uses_border() const {
    return std::any_of(wrap.begin(), wrap.end(),
                       [](Wrap w) { return w == Wrap::kClampToBorder || w == Wrap::kHalfBorder; });
  }
};

template <class Gen>
using SamplerState = typename Gen::Packets::SAMPLER_STATE;

// Sets the values of a default state, for callers that set further members before they pack it.
// border_color: where the colour is, from the dynamic state base address; 0 if there is none.
// InvalidArgument for invalid values.
template <class Gen>
absl::Status DescribeSampler(const Sampler& sampler, uint32_t border_color,
                             SamplerState<Gen>& state);

// Writes SamplerState<Gen>::length dwords, or nothing on an error.
template <class Gen>
absl::Status WriteSampler(const Sampler& sampler, uint32_t border_color, uint32_t* dwords) {
  SamplerState<Gen> state;
  absl::Status status = DescribeSampler<Gen>(sampler, border_color, state);
  if (ABSL_PREDICT_FALSE(!status.ok())) return status;
  const error e = state.template pack<checks::on>(dwords);
  return ABSL_PREDICT_FALSE(static_cast<bool>(e)) ? PackStatus("SAMPLER_STATE", e) : status;
}

// -- Implementation -----------------------------------------------------------------------------

namespace sampler_errors {
absl::Status Anisotropy(uint32_t anisotropy);
absl::Status NoReduction(const char* generation);
absl::Status NotANumber();
}  // namespace sampler_errors

template <class Gen>
absl::Status DescribeSampler(const Sampler& sampler, uint32_t border_color,
                             SamplerState<Gen>& state) {
  using S = SamplerState<Gen>;
  using Mode = typename Gen::Packets::Texture_Coordinate_Mode;
  static constexpr Mode kModes[] = {Mode::WRAP,       Mode::MIRROR,       Mode::CLAMP,
                                    Mode::CUBE,       Mode::CLAMP_BORDER, Mode::MIRROR_ONCE,
                                    Mode::HALF_BORDER};
  static constexpr uint32_t kMipFilters[] = {S::MIP_MODE_FILTER_NONE, S::MIP_MODE_FILTER_NEAREST,
                                             S::MIP_MODE_FILTER_LINEAR};
  // The hardware's functions select the texels that fail: they are the inverse of Compare.
  static constexpr uint32_t kCompares[] = {S::SHADOW_FUNCTION_ALWAYS,   S::SHADOW_FUNCTION_LEQUAL,
                                           S::SHADOW_FUNCTION_NOTEQUAL, S::SHADOW_FUNCTION_LESS,
                                           S::SHADOW_FUNCTION_GEQUAL,   S::SHADOW_FUNCTION_EQUAL,
                                           S::SHADOW_FUNCTION_GREATER,  S::SHADOW_FUNCTION_NEVER};
  // The highest level that hardware has, and the bias limits, in steps of 1/256.
  constexpr float kMostLod = 14, kLeastBias = -16, kMostBias = 16 - 1.0f / 256;

  if (sampler.anisotropy < 1 || sampler.anisotropy > 16) {
    return sampler_errors::Anisotropy(sampler.anisotropy);
  }
  const float lods = sampler.lod_bias + sampler.min_lod + sampler.max_lod;
  if (lods != lods) return sampler_errors::NotANumber();

  const bool anisotropic = sampler.anisotropy >= 2;
  const bool linear_min = sampler.min_filter == Filter::kLinear;
  // Without mipmapping, a minimum level only means that images are always smaller than textures;
  // hardware would start at that level instead.
  const bool always_smaller = sampler.mip_filter == MipFilter::kNone && sampler.min_lod > 0;
  const bool linear_mag =
      (always_smaller ? sampler.min_filter : sampler.mag_filter) == Filter::kLinear;
  state.min_mode_filter = !linear_min   ? S::MIN_MODE_FILTER_NEAREST
                          : anisotropic ? S::MIN_MODE_FILTER_ANISOTROPIC
                                        : S::MIN_MODE_FILTER_LINEAR;
  state.mag_mode_filter = !linear_mag   ? S::MAG_MODE_FILTER_NEAREST
                          : anisotropic ? S::MAG_MODE_FILTER_ANISOTROPIC
                                        : S::MAG_MODE_FILTER_LINEAR;
  state.mip_mode_filter = kMipFilters[static_cast<unsigned>(sampler.mip_filter)];
  if (anisotropic) {
    state.anisotropic_algorithm = S::ANISOTROPIC_ALGORITHM_EWA_APPROXIMATION;
    state.maximum_anisotropy = (sampler.anisotropy - 2) / 2;
  }
  // Linear filters round coordinates; nearest ones truncate them.
  state.u_address_min_filter_rounding_enable = state.v_address_min_filter_rounding_enable =
      state.r_address_min_filter_rounding_enable = linear_min;
  state.u_address_mag_filter_rounding_enable = state.v_address_mag_filter_rounding_enable =
      state.r_address_mag_filter_rounding_enable = linear_mag;
  state.lod_preclamp_mode = S::LOD_PRECLAMP_MODE_OGL;
  state.texture_lod_bias = std::clamp(sampler.lod_bias, kLeastBias, kMostBias);
  state.min_lod = always_smaller ? 0 : std::clamp(sampler.min_lod, 0.0f, kMostLod);
  state.max_lod = std::clamp(sampler.max_lod, 0.0f, kMostLod);
  state.tcx_address_control_mode = kModes[static_cast<unsigned>(sampler.wrap[0])];
  state.tcy_address_control_mode = kModes[static_cast<unsigned>(sampler.wrap[1])];
  state.tcz_address_control_mode = kModes[static_cast<unsigned>(sampler.wrap[2])];
  if (sampler.seamless) {
    state.cube_surface_control_mode = S::CUBE_SURFACE_CONTROL_MODE_OVERRIDE;
  }
  if (sampler.compares) state.shadow_function = kCompares[static_cast<unsigned>(sampler.compare)];
  state.non_normalized_coordinate_enable = sampler.unnormalized;
  state.border_color_pointer = border_color;
  if constexpr (requires { state.reduction_type_enable; }) {
    state.reduction_type_enable = sampler.reduction != Reduction::kAverage;
    state.reduction_type = sampler.reduction == Reduction::kMinimum ? S::REDUCTION_TYPE_MINIMUM
                           : sampler.reduction == Reduction::kMaximum
                               ? S::REDUCTION_TYPE_MAXIMUM
                               : S::REDUCTION_TYPE_STD_FILTER;
  } else if (sampler.reduction != Reduction::kAverage) {
    return sampler_errors::NoReduction(Gen::kName);
  }
  return absl::OkStatus();
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_SAMPLERS_H_
