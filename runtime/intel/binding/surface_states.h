// Surface states: RENDER_SURFACE_STATE of one generation, made from the descriptions of surface.h.
//
//   StateUses uses;
//   const BufferSurface buffer{.memory = {gpu, handle}, .size = 4096, .mocs = 4};
//   absl::Status status =
//       WriteSurface<Gfx9>(buffer, reinterpret_cast<uint32_t*>(state.cpu), &uses);
//
// Bits come from the generated headers. Other requirements of the hardware are here: how a buffer's
// size is split into three fields, what the levels of a target mean, which auxiliary modes there
// are; differences between generations are in runtime/intel/device/generation_facts.h. Sources:
// PRMs, volume "Command Reference: Structures", RENDER_SURFACE_STATE, and findings of Mesa's isl.

#ifndef PACKSMITH_RUNTIME_INTEL_BINDING_SURFACE_STATES_H_
#define PACKSMITH_RUNTIME_INTEL_BINDING_SURFACE_STATES_H_

#include <bit>
#include <cstdint>
#include <utility>

#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "packsmith/pack.h"
#include "runtime/command/pack_status.h"
#include "runtime/intel/binding/state_uses.h"
#include "runtime/intel/binding/surface.h"
#include "runtime/intel/device/generation_facts.h"

namespace packsmith::intel {

// Of a typed buffer.
inline constexpr uint64_t kMostEntries = uint64_t{1} << 27;
// The number of a buffer's entries, less one, is split in three: these low bits are the width, the
// next ones the height, and the rest the depth.
inline constexpr unsigned kEntryBitsInWidth = 7, kEntryBitsInHeight = 14;
// The maximum sum of the first layer and the number of layers.
inline constexpr uint32_t kMostLayers = 2048;

// Whether a format's texels have integers: UINT or SINT.
bool HasIntegers(uint32_t format);

template <class Gen>
using SurfaceState = typename Gen::Packets::RENDER_SURFACE_STATE;

// Sets the values of a default state, for callers that set further members before they pack it.
// InvalidArgument for an invalid surface; `state` is then undefined.
template <class Gen>
absl::Status DescribeSurface(const NullSurface& surface, SurfaceState<Gen>& state);
template <class Gen>
PACKSMITH_INLINE inline absl::Status DescribeSurface(const BufferSurface& surface,
                                                     SurfaceState<Gen>& state);
template <class Gen>
absl::Status DescribeSurface(const ScratchSurface& surface, SurfaceState<Gen>& state);
template <class Gen>
absl::Status DescribeSurface(const ImageSurface& surface, SurfaceState<Gen>& state);

// Writes SurfaceState<Gen>::length dwords, and sets `uses`, if given, to the buffers that the state
// points to. On an error nothing is written, and `uses` is empty.
template <class Gen, class Surface>
absl::Status WriteSurface(const Surface& surface, uint32_t* dwords, StateUses* uses = nullptr) {
  SurfaceState<Gen> state;
  if (uses != nullptr) uses->Clear();
  if (absl::Status status = DescribeSurface<Gen>(surface, state); ABSL_PREDICT_FALSE(!status.ok()))
    return status;
  if (const error e = state.template pack<checks::on>(dwords);
      ABSL_PREDICT_FALSE(static_cast<bool>(e)))
    return PackStatus("RENDER_SURFACE_STATE", e);
  if (uses != nullptr) uses->SetFrom(state, dwords);
  return absl::OkStatus();
}

// -- Implementation -----------------------------------------------------------------------------

// Errors, in functions of their own so that rare code is not part of each caller.
namespace surface_errors {
absl::Status Zero(const char* what);
absl::Status NotMultipleOf4(const char* what, uint32_t value);
absl::Status BufferSize(const BufferSurface& surface, uint64_t most);
absl::Status NoScratch(const char* generation);
absl::Status ScratchSize(uint32_t per_thread);
absl::Status Samples(uint32_t samples);
absl::Status SampledLevels();
absl::Status Layers(uint32_t first, uint32_t count);
absl::Status CubeLayers(uint32_t count);
absl::Status Alignment(uint32_t horizontal, uint32_t vertical, const char* generation);
absl::Status NoSuchTiling(SurfaceTiling tiling, const char* generation);
absl::Status NoSuchMode(AuxiliaryMode mode, const char* generation);
absl::Status NoAuxiliarySurface();
absl::Status ClearColor(uint32_t component);
}  // namespace surface_errors

// Surface types are constants of the structure …
template <class P>
struct SurfaceTypes {
  using S = typename P::RENDER_SURFACE_STATE;
  static constexpr auto k1D = S::SURFACE_TYPE_SURFTYPE_1D, k2D = S::SURFACE_TYPE_SURFTYPE_2D,
                        k3D = S::SURFACE_TYPE_SURFTYPE_3D, kCube = S::SURFACE_TYPE_SURFTYPE_CUBE,
                        kBuffer = S::SURFACE_TYPE_SURFTYPE_BUFFER,
                        kNull = S::SURFACE_TYPE_SURFTYPE_NULL;
};
// … or an enumeration of their own.
template <class P>
requires requires { typename P::STATE_SURFACE_TYPE; }
struct SurfaceTypes<P> {
  using T = typename P::STATE_SURFACE_TYPE;
  static constexpr T k1D = T::SURFTYPE_1D, k2D = T::SURFTYPE_2D, k3D = T::SURFTYPE_3D,
                     kCube = T::SURFTYPE_CUBE, kBuffer = T::SURFTYPE_BUFFER,
                     kNull = T::SURFTYPE_NULL;
};

template <class Gen>
PACKSMITH_INLINE inline void SetSwizzle(const Swizzle& swizzle, SurfaceState<Gen>& state) {
  using Select = typename Gen::Packets::Shader_Channel_Select;
  static constexpr Select kSelects[] = {Select::ZERO,  Select::ONE,  Select::RED,
                                        Select::GREEN, Select::BLUE, Select::ALPHA};
  const auto select = [](Channel channel) { return kSelects[static_cast<unsigned>(channel)]; };
  state.shader_channel_select_red = select(swizzle.red);
  state.shader_channel_select_green = select(swizzle.green);
  state.shader_channel_select_blue = select(swizzle.blue);
  state.shader_channel_select_alpha = select(swizzle.alpha);
}

// Members of all surfaces except null surfaces.
template <class Gen>
PACKSMITH_INLINE inline void SetMemory(const address& memory, access how,
                                       SurfaceState<Gen>& state) {
  state.surface_base_address = memory;
  if (memory.use == access::from_xml) state.surface_base_address.use = how;
  if constexpr (requires { state.l1_cache_control; }) {
    state.l1_cache_control = Gen::Packets::L1_CACHE_CONTROL::WB;
  }
}

template <class Gen>
bool SetTiling(SurfaceTiling tiling, SurfaceState<Gen>& state) {
  using S = SurfaceState<Gen>;
  switch (tiling) {
    case SurfaceTiling::kLinear:
      state.tile_mode = S::TILE_MODE_LINEAR;
      return true;
    case SurfaceTiling::kX:
      state.tile_mode = S::TILE_MODE_XMAJOR;
      return true;
    case SurfaceTiling::kY:
      if constexpr (requires { S::TILE_MODE_YMAJOR; }) {
        state.tile_mode = S::TILE_MODE_YMAJOR;
        return true;
      }
      return false;
    case SurfaceTiling::kW:
      if constexpr (requires { S::TILE_MODE_WMAJOR; }) {
        state.tile_mode = S::TILE_MODE_WMAJOR;
        return true;
      }
      return false;
    case SurfaceTiling::kYf:
    case SurfaceTiling::kYs:
      if constexpr (requires { S::TILED_RESOURCE_MODE_TILEYF; }) {
        state.tile_mode = S::TILE_MODE_YMAJOR;
        state.tiled_resource_mode = tiling == SurfaceTiling::kYf ? S::TILED_RESOURCE_MODE_TILEYF
                                                                 : S::TILED_RESOURCE_MODE_TILEYS;
        return true;
      }
      return false;
    case SurfaceTiling::k4:
      if constexpr (requires { S::TILE_MODE_TILE4; }) {
        state.tile_mode = S::TILE_MODE_TILE4;
        return true;
      }
      return false;
    case SurfaceTiling::k64:
      if constexpr (requires { S::TILE_MODE_TILE64; }) {
        state.tile_mode = S::TILE_MODE_TILE64;
        return true;
      }
      return false;
  }
  return false;
}

template <class Gen>
PACKSMITH_INLINE inline bool SetAlignment(uint32_t horizontal, uint32_t vertical,
                                          SurfaceState<Gen>& state) {
  using S = SurfaceState<Gen>;
  if (horizontal == 0) {
    horizontal = requires { S::SURFACE_HORIZONTAL_ALIGNMENT_HALIGN_4; }
    ? 4u : 16u;
  }
  switch (vertical) {
    case 0:
    case 4:
      state.surface_vertical_alignment = S::SURFACE_VERTICAL_ALIGNMENT_VALIGN_4;
      break;
    case 8:
      state.surface_vertical_alignment = S::SURFACE_VERTICAL_ALIGNMENT_VALIGN_8;
      break;
    case 16:
      state.surface_vertical_alignment = S::SURFACE_VERTICAL_ALIGNMENT_VALIGN_16;
      break;
    default:
      return false;
  }
  if (horizontal == 16) {
    state.surface_horizontal_alignment = S::SURFACE_HORIZONTAL_ALIGNMENT_HALIGN_16;
    return true;
  }
  if constexpr (requires { S::SURFACE_HORIZONTAL_ALIGNMENT_HALIGN_4; }) {
    if (horizontal != 4 && horizontal != 8) return false;
    state.surface_horizontal_alignment = horizontal == 4 ? S::SURFACE_HORIZONTAL_ALIGNMENT_HALIGN_4
                                                         : S::SURFACE_HORIZONTAL_ALIGNMENT_HALIGN_8;
  } else {
    if (horizontal != 32 && horizontal != 64 && horizontal != 128) return false;
    state.surface_horizontal_alignment =
        horizontal == 32   ? S::SURFACE_HORIZONTAL_ALIGNMENT_HALIGN_32
        : horizontal == 64 ? S::SURFACE_HORIZONTAL_ALIGNMENT_HALIGN_64
                           : S::SURFACE_HORIZONTAL_ALIGNMENT_HALIGN_128;
  }
  return true;
}

template <class Gen>
bool SetAuxiliaryMode(AuxiliaryMode mode, SurfaceState<Gen>& state) {
  using S = SurfaceState<Gen>;
  switch (mode) {
    case AuxiliaryMode::kNone:
      state.auxiliary_surface_mode = S::AUXILIARY_SURFACE_MODE_AUX_NONE;
      return true;
    case AuxiliaryMode::kMcs:
      if constexpr (requires { S::AUXILIARY_SURFACE_MODE_AUX_MCS; }) {
        state.auxiliary_surface_mode = S::AUXILIARY_SURFACE_MODE_AUX_MCS;
      } else {
        state.auxiliary_surface_mode = Gen::kFacts.mcs_is_ccs_e
                                           ? S::AUXILIARY_SURFACE_MODE_AUX_CCS_E
                                           : S::AUXILIARY_SURFACE_MODE_AUX_CCS_D;
      }
      return true;
    case AuxiliaryMode::kMcsCcs:
      if constexpr (requires { S::AUXILIARY_SURFACE_MODE_AUX_MCS_LCE; }) {
        state.auxiliary_surface_mode = S::AUXILIARY_SURFACE_MODE_AUX_MCS_LCE;
        return true;
      }
      return false;
    case AuxiliaryMode::kCcsD:
      if constexpr (Gen::kFacts.ccs_found_by_tables) {
        return false;
      } else if constexpr (requires { S::AUXILIARY_SURFACE_MODE_AUX_CCS_D; }) {
        state.auxiliary_surface_mode = S::AUXILIARY_SURFACE_MODE_AUX_CCS_D;
      } else {  // one mode for both
        state.auxiliary_surface_mode = S::AUXILIARY_SURFACE_MODE_AUX_MCS;
      }
      return true;
    case AuxiliaryMode::kCcsE:
      if constexpr (requires { S::AUXILIARY_SURFACE_MODE_AUX_CCS_E; }) {
        state.auxiliary_surface_mode = S::AUXILIARY_SURFACE_MODE_AUX_CCS_E;
        return true;
      }
      return false;
    case AuxiliaryMode::kHiz:
      if constexpr (requires { S::AUXILIARY_SURFACE_MODE_AUX_HIZ; }) {
        state.auxiliary_surface_mode = S::AUXILIARY_SURFACE_MODE_AUX_HIZ;
        return true;
      }
      return false;
  }
  return false;
}

template <class Gen>
absl::Status SetClearColor(const AuxiliarySurface& auxiliary, SurfaceState<Gen>& state) {
  const auto& color = auxiliary.clear_color;
  if constexpr (requires { typename Gen::Packets::Clear_Color; }) {
    using Clear = typename Gen::Packets::Clear_Color;
    for (const uint32_t component : color) {
      if (component > 1) return surface_errors::ClearColor(component);
    }
    const auto one = [&](unsigned i) { return color[i] != 0 ? Clear::CC_ONE : Clear::CC_ZERO; };
    state.red_clear_color = one(0);
    state.green_clear_color = one(1);
    state.blue_clear_color = one(2);
    state.alpha_clear_color = one(3);
  } else {
    // In memory, or in the state: both use the same dwords.
    if constexpr (requires { state.clear_value_address; }) {
      if (auxiliary.clear_color_at.gpu != 0) {
        state.clear_value_address_enable = true;
        state.clear_value_address = auxiliary.clear_color_at;
        if constexpr (requires { state.clear_color_conversion_enable; }) {
          state.clear_color_conversion_enable = 1;
        }
        return absl::OkStatus();
      }
    }
    if constexpr (requires { state.red_clear_color; }) {
      state.red_clear_color = static_cast<int32_t>(color[0]);
      state.green_clear_color = static_cast<int32_t>(color[1]);
      state.blue_clear_color = static_cast<int32_t>(color[2]);
      state.alpha_clear_color = static_cast<int32_t>(color[3]);
    }
  }
  return absl::OkStatus();
}

template <class Gen>
absl::Status SetAuxiliary(const AuxiliarySurface& auxiliary, access how, SurfaceState<Gen>& state) {
  if (!SetAuxiliaryMode<Gen>(auxiliary.mode, state)) {
    return surface_errors::NoSuchMode(auxiliary.mode, Gen::kName);
  }
  const bool multisampled =
      auxiliary.mode == AuxiliaryMode::kMcs || auxiliary.mode == AuxiliaryMode::kMcsCcs;
  if (!Gen::kFacts.ccs_found_by_tables || multisampled) {
    if (auxiliary.memory.gpu == 0 || auxiliary.pitch_tiles == 0) {
      return surface_errors::NoAuxiliarySurface();
    }
    if (auxiliary.qpitch % 4 != 0) {
      return surface_errors::NotMultipleOf4("the auxiliary qpitch", auxiliary.qpitch);
    }
    state.auxiliary_surface_base_address = auxiliary.memory;
    if (auxiliary.memory.use == access::from_xml) state.auxiliary_surface_base_address.use = how;
    state.auxiliary_surface_pitch = auxiliary.pitch_tiles - 1;
    state.auxiliary_surface_qpitch = auxiliary.qpitch / 4;
  }
  if constexpr (requires { state.compression_format; }) {
    state.compression_format =
        static_cast<decltype(state.compression_format)>(auxiliary.compression_format);
  }
  return SetClearColor<Gen>(auxiliary, state);
}

template <class Gen>
absl::Status DescribeSurface(const NullSurface& surface, SurfaceState<Gen>& state) {
  if (surface.width == 0) return surface_errors::Zero("width");
  if (surface.height == 0) return surface_errors::Zero("height");
  if (surface.layers == 0) return surface_errors::Zero("layers");
  using S = SurfaceState<Gen>;
  state.surface_type = SurfaceTypes<typename Gen::Packets>::kNull;
  state.surface_format = SurfaceFormat::R32_UINT;  // any valid format
  state.surface_array = surface.layers > 1;
  // The hardware requires tiling.
  if constexpr (requires { S::TILE_MODE_TILE4; }) {
    state.tile_mode = S::TILE_MODE_TILE4;
  } else {
    state.tile_mode = S::TILE_MODE_YMAJOR;
  }
  state.mocs = surface.mocs;
  state.width = surface.width - 1;
  state.height = surface.height - 1;
  state.depth = state.render_target_view_extent = surface.layers - 1;
  return absl::OkStatus();
}

template <class Gen>
PACKSMITH_INLINE inline absl::Status DescribeSurface(const BufferSurface& surface,
                                                     SurfaceState<Gen>& state) {
  using S = SurfaceState<Gen>;
  if (surface.stride == 0) return surface_errors::Zero("stride");
  const uint64_t entries = surface.stride == 1 ? surface.size : surface.size / surface.stride;
  const uint64_t most = surface.stride == 1 ? Gen::kFacts.most_buffer_bytes : kMostEntries;
  if (entries == 0 || entries > most) return surface_errors::BufferSize(surface, most);
  state.surface_type = SurfaceTypes<typename Gen::Packets>::kBuffer;
  state.surface_format = surface.format;
  state.mocs = surface.mocs;
  state.surface_pitch = surface.stride - 1;
  const uint64_t last = entries - 1;
  state.width = bits::cut(last, 0, kEntryBitsInWidth);
  state.height = bits::cut(last, kEntryBitsInWidth, kEntryBitsInHeight);
  state.depth = static_cast<uint32_t>(last >> (kEntryBitsInWidth + kEntryBitsInHeight));
  if constexpr (requires { S::SURFACE_HORIZONTAL_ALIGNMENT_HALIGN_4; }) {
    (void)SetAlignment<Gen>(4, 4, state);
  } else {
    (void)SetAlignment<Gen>(128, 4, state);
  }
  SetSwizzle<Gen>(surface.swizzle, state);
  SetMemory<Gen>(surface.memory, surface.writable ? access::read_write : access::read, state);
  return absl::OkStatus();
}

template <class Gen>
absl::Status DescribeSurface(const ScratchSurface& surface, SurfaceState<Gen>& state) {
  if constexpr (Gen::kFacts.has_scratch_surfaces) {
    if (surface.per_thread == 0 || surface.per_thread % kScratchSurfaceUnit != 0 ||
        surface.per_thread > kMostSurfaceScratch) {
      return surface_errors::ScratchSize(surface.per_thread);
    }
    // A buffer with an entry for each thread.
    absl::Status status = DescribeSurface<Gen>(BufferSurface{.memory = surface.memory,
                                                             .writable = true,
                                                             .size = surface.size,
                                                             .stride = surface.per_thread,
                                                             .mocs = surface.mocs},
                                               state);
    state.surface_type = Gen::Packets::STATE_SURFACE_TYPE::SURFTYPE_SCRATCH;
    return status;
  } else {
    return surface_errors::NoScratch(Gen::kName);
  }
}

template <class Gen>
absl::Status DescribeSurface(const ImageSurface& surface, SurfaceState<Gen>& state) {
  using Types = SurfaceTypes<typename Gen::Packets>;
  using S = SurfaceState<Gen>;
  const bool is_texture = surface.purpose == SurfacePurpose::kTexture;
  const bool is_target = surface.purpose == SurfacePurpose::kRenderTarget;
  const bool is_3d = surface.shape == SurfaceShape::k3D;
  const bool is_cube = surface.shape == SurfaceShape::kCube && is_texture;
  const access how = is_texture ? access::read : access::read_write;

  if (surface.width == 0) return surface_errors::Zero("width");
  if (surface.height == 0) return surface_errors::Zero("height");
  if (surface.depth == 0) return surface_errors::Zero("depth");
  if (surface.levels == 0) return surface_errors::Zero("levels");
  if (surface.layers == 0) return surface_errors::Zero("layers");
  if (surface.pitch == 0 && surface.shape != SurfaceShape::k1D)
    return surface_errors::Zero("pitch");
  if (surface.layers > kMostLayers || surface.first_layer > kMostLayers - surface.layers) {
    return surface_errors::Layers(surface.first_layer, surface.layers);
  }
  if (is_cube && surface.layers % 6 != 0) return surface_errors::CubeLayers(surface.layers);
  if (!std::has_single_bit(surface.samples)) return surface_errors::Samples(surface.samples);
  if (surface.samples > 1 &&
      (surface.first_level != 0 || surface.levels != 1 || surface.least_level != 0)) {
    return surface_errors::SampledLevels();
  }
  for (const auto& [what, value] : {std::pair<const char*, uint32_t>{"qpitch", surface.qpitch},
                                    {"x_offset", surface.x_offset},
                                    {"y_offset", surface.y_offset}}) {
    if (value % 4 != 0) return surface_errors::NotMultipleOf4(what, value);
  }

  state.surface_type = is_3d                                ? Types::k3D
                       : is_cube                            ? Types::kCube
                       : surface.shape == SurfaceShape::k1D ? Types::k1D
                                                            : Types::k2D;
  state.surface_format = surface.format;
  state.mocs = surface.mocs;
  state.width = surface.width - 1;
  state.height = surface.height - 1;
  state.depth = (is_3d ? surface.depth : is_cube ? surface.layers / 6 : surface.layers) - 1;
  state.minimum_array_element = surface.first_layer;
  if (is_3d) {
    state.render_target_view_extent = surface.layers - 1;
  } else if (!is_texture) {
    state.render_target_view_extent = state.depth;
  }
  // A surface with offsets is a single image.
  state.surface_array = !is_3d && surface.x_offset == 0 && surface.y_offset == 0 &&
                        (!Gen::kFacts.wa_1806565034 || surface.layers > 1);
  // For a target this is the level, otherwise the number of levels.
  if (is_target) {
    state.mip_count_lod = surface.first_level;
  } else {
    state.surface_min_lod = surface.first_level;
    state.mip_count_lod = surface.levels - 1;
  }
  if constexpr (requires { state.mip_tail_start_lod; }) {
    state.mip_tail_start_lod = surface.mip_tail_level;
  }
  state.resource_min_lod = surface.least_level;
  if (!SetAlignment<Gen>(surface.horizontal_alignment, surface.vertical_alignment, state)) {
    return surface_errors::Alignment(surface.horizontal_alignment, surface.vertical_alignment,
                                     Gen::kName);
  }
  if (!SetTiling<Gen>(surface.tiling, state)) {
    return surface_errors::NoSuchTiling(surface.tiling, Gen::kName);
  }
  state.surface_pitch = surface.pitch == 0 ? 0 : surface.pitch - 1;
  state.surface_qpitch = surface.qpitch / 4;
  state.x_offset = surface.x_offset / 4;
  state.y_offset = surface.y_offset / 4;
  state.number_of_multisamples = bits::log2(surface.samples);
  state.multisampled_surface_storage_format =
      surface.interleaved_samples ? S::MULTISAMPLED_SURFACE_STORAGE_FORMAT_MSFMT_DEPTH_STENCIL
                                  : S::MULTISAMPLED_SURFACE_STORAGE_FORMAT_MSFMT_MSS;
  state.cube_face_enable_positive_x = state.cube_face_enable_negative_x = true;
  state.cube_face_enable_positive_y = state.cube_face_enable_negative_y = true;
  state.cube_face_enable_positive_z = state.cube_face_enable_negative_z = true;
  if constexpr (requires { state.depth_stencil_resource; }) {
    state.depth_stencil_resource = surface.depth_stencil;
  }
  // PRM of Ice Lake and Tiger Lake, RENDER_SURFACE_STATE: set; with integers, drawing to them was
  // found to be wrong (Mesa's isl).
  if constexpr (requires { state.enable_unorm_path_in_color_pipe; }) {
    state.enable_unorm_path_in_color_pipe = !HasIntegers(surface.format);
  }
  SetSwizzle<Gen>(surface.swizzle, state);
  SetMemory<Gen>(surface.memory, how, state);
  if (surface.auxiliary.mode == AuxiliaryMode::kNone) return absl::OkStatus();
  return SetAuxiliary<Gen>(surface.auxiliary, how, state);
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_BINDING_SURFACE_STATES_H_
