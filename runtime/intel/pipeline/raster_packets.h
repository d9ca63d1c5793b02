// The packets of rasterization.h: 3DSTATE_CLIP, 3DSTATE_SF, 3DSTATE_RASTER, 3DSTATE_WM,
// 3DSTATE_MULTISAMPLE, 3DSTATE_SAMPLE_MASK, and stipples.
//
//   const Rasterization rasterization{.cull = CullMode::kBack};
//   absl::Status status = AddRasterization(rasterization, {.barycentric = kPerspectivePixel},
//                                          pipeline);
//   status = AddRasterization<&gfx9::_3DSTATE_RASTER::cull_mode>(rasterization, {}, pipeline);
//   state.SetFields<&gfx9::_3DSTATE_RASTER::cull_mode>(CullModeOf<Gfx9>(CullMode::kNone));
//
// Sources: PRMs, volumes "3D Pipeline: Clip", "Strips and Fans" and "Windower", and these packets;
// what Mesa's drivers set.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_RASTER_PACKETS_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_RASTER_PACKETS_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include "absl/status/status.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/batch.h"
#include "runtime/intel/pipeline/put.h"
#include "runtime/intel/pipeline/rasterization.h"
#include "runtime/intel/pipeline/samples.h"

namespace packsmith::intel {

// The packets of a rasterization, for callers that set further members.
template <class Gen>
struct RasterPackets {
  using G = typename Gen::Packets;
  typename G::_3DSTATE_CLIP clip;
  typename G::_3DSTATE_SF sf;
  typename G::_3DSTATE_RASTER raster;
  typename G::_3DSTATE_WM wm;
  typename G::_3DSTATE_MULTISAMPLE multisample;
  typename G::_3DSTATE_SAMPLE_MASK sample_mask;
};

// InvalidArgument for numbers of samples or viewports, widths and sizes that hardware does not
// have, and for what the generation lacks: conservative rasterization, and on Gfx8 separate
// clipping of the near and far planes. `packets` is then undefined.
template <class Gen>
absl::Status DescribeRasterization(const Rasterization& rasterization, const PixelTraits& pixels,
                                   RasterPackets<Gen>& packets);

// Adds all of them. Dynamic: members that the pipeline leaves open, of any of these packets.
template <auto... Dynamic, class Gen>
absl::Status AddRasterization(const Rasterization& rasterization, const PixelTraits& pixels,
                              PipelineState<Gen>& pipeline);
template <class Gen>
absl::Status SetRasterization(const Rasterization& rasterization, const PixelTraits& pixels,
                              DrawState<Gen>& state);

// Values of dynamic members.
template <class Gen>
constexpr uint32_t CullModeOf(CullMode cull);
template <class Gen>
constexpr uint32_t FrontWindingOf(FrontFace face);

// Sets the pattern of stippled lines. InvalidArgument for a factor that is not 1 to 256.
template <class Gen>
absl::Status SetLineStipple(const LineStipple& stipple, DrawState<Gen>& state);
// 32 rows of 32 pixels, from the upper left; the highest bit is the leftmost pixel.
template <class Gen>
absl::Status SetPolygonStipple(const std::array<uint32_t, 32>& rows, DrawState<Gen>& state);

// InvalidArgument for locations outside pixels.
template <class Gen>
absl::Status DescribeSamplePattern(const SamplePattern& pattern,
                                   typename Gen::Packets::_3DSTATE_SAMPLE_PATTERN& packet);

// Emits what a context needs once: a drawing rectangle that limits nothing, the sample pattern, and
// defaults of 3DSTATE_AA_LINE_PARAMETERS, 3DSTATE_WM_CHROMAKEY, 3DSTATE_WM_HZ_OP and
// 3DSTATE_POLY_STIPPLE_OFFSET. Errors of DescribeSamplePattern() and of the batch.
template <class Gen>
absl::Status EmitFixedState(Batch<Gen>& batch,
                            const SamplePattern& pattern = StandardSamplePattern());

// -- Implementation -----------------------------------------------------------------------------

// Sizes of points that hardware draws.
inline constexpr float kLeastPointSize = 0.125f, kMostPointSize = 255.875f;
// The first width of a packet after 1 pixel.
inline constexpr float kLeastWideLine = 1 + 1.0f / 128;

template <class Gen>
constexpr uint32_t CullModeOf(CullMode cull) {
  using Raster = typename Gen::Packets::_3DSTATE_RASTER;
  constexpr uint32_t kModes[] = {Raster::CULL_MODE_NONE, Raster::CULL_MODE_FRONT,
                                 Raster::CULL_MODE_BACK, Raster::CULL_MODE_BOTH};
  return kModes[static_cast<unsigned>(cull)];
}

template <class Gen>
constexpr uint32_t FrontWindingOf(FrontFace face) {
  using Raster = typename Gen::Packets::_3DSTATE_RASTER;
  return face == FrontFace::kClockwise ? Raster::FRONT_WINDING_CLOCKWISE
                                       : Raster::FRONT_WINDING_COUNTER_CLOCKWISE;
}

// Whether what is rasterized are triangles, after the polygon mode.
inline RasterPrimitive RasterizedAs(const Rasterization& from) {
  if (from.primitive != RasterPrimitive::kTriangles) return from.primitive;
  if (from.front_mode == PolygonMode::kPoint || from.back_mode == PolygonMode::kPoint) {
    return RasterPrimitive::kPoints;
  }
  return from.front_mode == PolygonMode::kLine || from.back_mode == PolygonMode::kLine
             ? RasterPrimitive::kLines
             : RasterPrimitive::kTriangles;
}

// The vertices that flat inputs come from, of the two packets that ask for them.
template <class Packet>
void SetProvokingVertex(ProvokingVertex which, Packet& packet) {
  const bool last = which == ProvokingVertex::kLast;
  packet.triangle_strip_list_provoking_vertex_select = last ? 2 : 0;
  packet.line_strip_list_provoking_vertex_select = last ? 1 : 0;
  // The first vertex of a fan is that of all its triangles, so it does not count.
  packet.triangle_fan_provoking_vertex_select = last ? 2 : 1;
}

template <class Gen>
void DescribeClip(const Rasterization& from, const PixelTraits& pixels,
                  typename Gen::Packets::_3DSTATE_CLIP& clip) {
  using Clip = typename Gen::Packets::_3DSTATE_CLIP;
  constexpr uint32_t kLinear = kLinearPixel | kLinearCentroid | kLinearSample;
  clip.statistics_enable = from.statistics;
  clip.early_cull_enable = true;
  clip.clip_enable = true;
  clip.clip_mode =
      from.discard ? Clip::CLIP_MODE_CLIPMODE_REJECT_ALL : Clip::CLIP_MODE_CLIPMODE_NORMAL;
  clip.api_mode = from.depth_range == DepthRange::kZeroToOne ? Clip::API_MODE_APIMODE_D3D
                                                             : Clip::API_MODE_APIMODE_OGL;
  clip.guardband_clip_test_enable = true;
  // Wide points and lines whose centres are outside the viewport may reach into it.
  clip.viewport_xy_clip_test_enable = RasterizedAs(from) == RasterPrimitive::kTriangles;
  clip.user_clip_distance_clip_test_enable_bitmask = from.clip_distances.clip;
  clip.user_clip_distance_cull_test_enable_bitmask = from.clip_distances.cull;
  clip.force_user_clip_distance_clip_test_enable_bitmask = from.clip_distances.clip_forced;
  clip.force_user_clip_distance_cull_test_enable_bitmask = from.clip_distances.cull_forced;
  clip.non_perspective_barycentric_enable = (pixels.barycentric & kLinear) != 0;
  clip.maximum_vp_index = from.viewports - 1;
  clip.force_zero_rta_index_enable = !from.layered;
  clip.minimum_point_width = kLeastPointSize;
  clip.maximum_point_width = kMostPointSize;
  SetProvokingVertex(from.provoking_vertex, clip);
}

template <class Gen>
absl::Status DescribeSf(const Rasterization& from, typename Gen::Packets::_3DSTATE_SF& sf) {
  using Sf = typename Gen::Packets::_3DSTATE_SF;
  const bool smooth = from.line_mode == LineMode::kSmooth;
  // Widths of the formats u3.7 and u11.7.
  const bool narrow = requires(Sf s) { s.chv_line_width; }
  &&!from.cherryview;
  const float most = narrow ? 8 - 1.0f / 128 : 2048 - 1.0f / 128;
  if (!(from.line_width >= 0 && from.line_width <= most)) {
    return raster_errors::LineWidth(from.line_width, most);
  }
  if (from.point_size != 0 &&
      !(from.point_size >= kLeastPointSize && from.point_size <= kMostPointSize)) {
    return raster_errors::PointSize(from.point_size);
  }
  // The width of a line of one sample without smoothing is an integer. Thin smooth lines are drawn
  // wrongly; width 0 is the thinnest line that can be drawn.
  float width = from.line_width;
  if (from.multisample.samples == 1) {
    if (!smooth && from.line_mode != LineMode::kRectangular) width = std::round(width);
    if (smooth && width < 1.5f) width = 0;
  }
  width = std::min(width, most);
  sf.viewport_transform_enable = true;
  sf.statistics_enable = from.statistics;
  sf.line_width = width;
  if constexpr (requires { sf.chv_line_width; }) {
    if (from.cherryview) {
      sf.chv_line_width = width;
      sf.line_width = 0;
    }
  }
  sf.line_end_cap_antialiasing_region_width =
      smooth ? Sf::LINE_END_CAP_ANTIALIASING_REGION_WIDTH_1_0_PIXELS
             : Sf::LINE_END_CAP_ANTIALIASING_REGION_WIDTH_0_5_PIXELS;
  sf.aa_line_distance_mode = Sf::AA_LINE_DISTANCE_MODE_AALINEDISTANCE_TRUE;
  sf.last_pixel_enable = from.last_line_pixel;
  sf.point_width_source =
      from.point_size == 0 ? Sf::POINT_WIDTH_SOURCE_VERTEX : Sf::POINT_WIDTH_SOURCE_STATE;
  sf.point_width = from.point_size == 0 ? 1 : from.point_size;
  sf.smooth_point_enable = from.smooth_points;
  if constexpr (requires { sf.deref_block_size; }) sf.deref_block_size = from.dereference;
  SetProvokingVertex(from.provoking_vertex, sf);
  return absl::OkStatus();
}

template <class Gen>
absl::Status DescribeRaster(const Rasterization& from,
                            typename Gen::Packets::_3DSTATE_RASTER& raster) {
  using Raster = typename Gen::Packets::_3DSTATE_RASTER;
  static constexpr uint32_t kBack[] = {Raster::BACK_FACE_FILL_MODE_SOLID,
                                       Raster::BACK_FACE_FILL_MODE_WIREFRAME,
                                       Raster::BACK_FACE_FILL_MODE_POINT};
  static constexpr uint32_t kFront[] = {Raster::FRONT_FACE_FILL_MODE_SOLID,
                                        Raster::FRONT_FACE_FILL_MODE_WIREFRAME,
                                        Raster::FRONT_FACE_FILL_MODE_POINT};
  raster.front_face_fill_mode = kFront[static_cast<unsigned>(from.front_mode)];
  raster.back_face_fill_mode = kBack[static_cast<unsigned>(from.back_mode)];
  raster.cull_mode = CullModeOf<Gen>(from.cull);
  raster.front_winding = FrontWindingOf<Gen>(from.front_face);
  raster.scissor_rectangle_enable = from.scissor;
  raster.smooth_point_enable = from.smooth_points;
  raster.antialiasing_enable = from.line_mode == LineMode::kSmooth;
  // Hardware selects the kind of lines by an API and whether that has several samples (PRM Skylake,
  // volume 7, "Multisample Rasterization Modes"). It makes no difference for anything else.
  const bool several = from.multisample.samples > 1;
  const bool lines = RasterizedAs(from) == RasterPrimitive::kLines;
  raster.api_mode = Raster::API_MODE_DX9_OGL;
  raster.dx_multisample_rasterization_enable = several;
  if (lines && from.line_mode == LineMode::kRectangular) {
    raster.api_mode = Raster::API_MODE_DX10_1;
    raster.dx_multisample_rasterization_enable =
        !Gen::kFacts.wide_lines_are_parallelograms || from.line_width < kLeastWideLine;
  } else if (lines && from.line_mode != LineMode::kDefault) {
    raster.dx_multisample_rasterization_enable = false;
  }
  const DepthBias& bias = from.depth_bias;
  for (float value : {bias.constant, bias.slope, bias.clamp}) {
    if (std::isnan(value)) return raster_errors::NotANumber("a value of the depth bias");
  }
  raster.global_depth_offset_enable_solid = bias.fill;
  raster.global_depth_offset_enable_wireframe = bias.line;
  raster.global_depth_offset_enable_point = bias.point;
  raster.global_depth_offset_constant = bias.constant;
  raster.global_depth_offset_scale = bias.slope;
  raster.global_depth_offset_clamp = bias.clamp;
  if constexpr (requires { raster.viewport_z_near_clip_test_enable; }) {
    raster.viewport_z_near_clip_test_enable = from.clip_near;
    raster.viewport_z_far_clip_test_enable = from.clip_far;
  } else {
    if (from.clip_near != from.clip_far) return raster_errors::ClipPlanes(Gen::kName);
    raster.viewport_z_clip_test_enable = from.clip_near;
  }
  if constexpr (requires { raster.conservative_rasterization_enable; }) {
    raster.conservative_rasterization_enable = from.conservative;
  } else if (from.conservative) {
    return raster_errors::NoConservative(Gen::kName);
  }
  return absl::OkStatus();
}

template <class Gen>
void DescribeWm(const Rasterization& from, const PixelTraits& pixels,
                typename Gen::Packets::_3DSTATE_WM& wm) {
  using Wm = typename Gen::Packets::_3DSTATE_WM;
  static constexpr uint32_t kOrders[] = {Wm::EARLY_DEPTH_STENCIL_CONTROL_EDSC_NORMAL,
                                         Wm::EARLY_DEPTH_STENCIL_CONTROL_EDSC_PREPS,
                                         Wm::EARLY_DEPTH_STENCIL_CONTROL_EDSC_PSEXEC};
  static constexpr uint32_t kPositions[] = {Wm::POSITION_ZW_INTERPOLATION_MODE_INTERP_PIXEL,
                                            Wm::POSITION_ZW_INTERPOLATION_MODE_INTERP_CENTROID,
                                            Wm::POSITION_ZW_INTERPOLATION_MODE_INTERP_SAMPLE};
  wm.statistics_enable = from.statistics;
  wm.line_antialiasing_region_width = Wm::LINE_ANTIALIASING_REGION_WIDTH_1_0_PIXELS;
  wm.line_end_cap_antialiasing_region_width = Wm::LINE_END_CAP_ANTIALIASING_REGION_WIDTH_0_5_PIXELS;
  wm.point_rasterization_rule = from.point_origin_upper_right
                                    ? Wm::POINT_RASTERIZATION_RULE_RASTRULE_UPPER_RIGHT
                                    : Wm::POINT_RASTERIZATION_RULE_RASTRULE_UPPER_LEFT;
  wm.line_stipple_enable = from.line_stipple;
  wm.polygon_stipple_enable = from.polygon_stipple;
  wm.barycentric_interpolation_mode = pixels.barycentric;
  wm.early_depth_stencil_control = kOrders[static_cast<unsigned>(pixels.tests)];
  wm.position_zw_interpolation_mode = kPositions[static_cast<unsigned>(pixels.position)];
  if (pixels.force_dispatch) {
    wm.force_thread_dispatch_enable = Wm::FORCE_THREAD_DISPATCH_ENABLE_FORCEON;
  }
}

template <class Gen>
absl::Status DescribeRasterization(const Rasterization& from, const PixelTraits& pixels,
                                   RasterPackets<Gen>& packets) {
  using G = typename Gen::Packets;
  const Multisample& multisample = from.multisample;
  if (!std::has_single_bit(multisample.samples) || multisample.samples > kMostSamples<Gen>) {
    return raster_errors::Samples(multisample.samples, kMostSamples<Gen>);
  }
  if (from.viewports < 1 || from.viewports > 16) return raster_errors::Viewports(from.viewports);
  DescribeClip<Gen>(from, pixels, packets.clip);
  if (absl::Status s = DescribeSf<Gen>(from, packets.sf); !s.ok()) return s;
  if (absl::Status s = DescribeRaster<Gen>(from, packets.raster); !s.ok()) return s;
  DescribeWm<Gen>(from, pixels, packets.wm);
  using Samples = typename G::_3DSTATE_MULTISAMPLE;
  packets.multisample.number_of_multisamples = bits::log2(multisample.samples);
  packets.multisample.pixel_location = multisample.pixel_center_at_corner
                                           ? Samples::PIXEL_LOCATION_UL_CORNER
                                           : Samples::PIXEL_LOCATION_CENTER;
  packets.sample_mask.sample_mask =
      multisample.sample_mask & ((uint32_t{1} << multisample.samples) - 1);
  return absl::OkStatus();
}

template <class Gen, auto... Dynamic, class To>
absl::Status PutRasterization(const Rasterization& from, const PixelTraits& pixels, To& to) {
  using G = typename Gen::Packets;
  static_assert(
      PacketsAre<typename G::_3DSTATE_CLIP, typename G::_3DSTATE_SF, typename G::_3DSTATE_RASTER,
                 typename G::_3DSTATE_WM, typename G::_3DSTATE_MULTISAMPLE,
                 typename G::_3DSTATE_SAMPLE_MASK>::template kHaveAll<Dynamic...>,
      "a dynamic member of a packet that rasterization does not have");
  RasterPackets<Gen> packets;
  absl::Status status = DescribeRasterization<Gen>(from, pixels, packets);
  if (status.ok()) status = PutPacket<Dynamic...>(to, packets.clip);
  if (status.ok()) status = PutPacket<Dynamic...>(to, packets.sf);
  if (status.ok()) status = PutPacket<Dynamic...>(to, packets.raster);
  if (status.ok()) status = PutPacket<Dynamic...>(to, packets.wm);
  if (status.ok()) status = PutPacket<Dynamic...>(to, packets.multisample);
  if (status.ok()) status = PutPacket<Dynamic...>(to, packets.sample_mask);
  return status;
}

template <auto... Dynamic, class Gen>
absl::Status AddRasterization(const Rasterization& rasterization, const PixelTraits& pixels,
                              PipelineState<Gen>& pipeline) {
  return PutRasterization<Gen, Dynamic...>(rasterization, pixels, pipeline);
}
template <class Gen>
absl::Status SetRasterization(const Rasterization& rasterization, const PixelTraits& pixels,
                              DrawState<Gen>& state) {
  return PutRasterization<Gen>(rasterization, pixels, state);
}

template <class Gen>
absl::Status SetLineStipple(const LineStipple& stipple, DrawState<Gen>& state) {
  if (stipple.factor < 1 || stipple.factor > 256) {
    return raster_errors::StippleFactor(stipple.factor);
  }
  return PutPacket(
      state, typename Gen::Packets::_3DSTATE_LINE_STIPPLE{
                 .line_stipple_pattern = stipple.pattern,
                 .line_stipple_repeat_count = stipple.factor,
                 .line_stipple_inverse_repeat_count = 1.0f / static_cast<float>(stipple.factor)});
}

template <class Gen>
absl::Status SetPolygonStipple(const std::array<uint32_t, 32>& rows, DrawState<Gen>& state) {
  typename Gen::Packets::_3DSTATE_POLY_STIPPLE_PATTERN packet;
  std::copy(rows.begin(), rows.end(), std::begin(packet.pattern_row));
  return PutPacket(state, packet);
}

template <class Gen>
absl::Status DescribeSamplePattern(const SamplePattern& pattern,
                                   typename Gen::Packets::_3DSTATE_SAMPLE_PATTERN& packet) {
  absl::Status status;
  const auto check = [&](const auto& locations) {
    for (size_t i = 0; i < locations.size(); ++i) {
      if (status.ok() && (locations[i].x > 15 || locations[i].y > 15)) {
        status = raster_errors::Location(static_cast<uint32_t>(locations.size()), i, locations[i]);
      }
    }
  };
  check(pattern.one);
  check(pattern.two);
  check(pattern.four);
  check(pattern.eight);
  check(pattern.sixteen);
  if (!status.ok()) return status;
  const auto set = [](const SampleLocation& from, float& x, float& y) {
    x = static_cast<float>(from.x) / 16;
    y = static_cast<float>(from.y) / 16;
  };
  auto& p = packet;
  set(pattern.one[0], p._1x_sample0_x_offset, p._1x_sample0_y_offset);
  set(pattern.two[0], p._2x_sample0_x_offset, p._2x_sample0_y_offset);
  set(pattern.two[1], p._2x_sample1_x_offset, p._2x_sample1_y_offset);
  set(pattern.four[0], p._4x_sample0_x_offset, p._4x_sample0_y_offset);
  set(pattern.four[1], p._4x_sample1_x_offset, p._4x_sample1_y_offset);
  set(pattern.four[2], p._4x_sample2_x_offset, p._4x_sample2_y_offset);
  set(pattern.four[3], p._4x_sample3_x_offset, p._4x_sample3_y_offset);
  set(pattern.eight[0], p._8x_sample0_x_offset, p._8x_sample0_y_offset);
  set(pattern.eight[1], p._8x_sample1_x_offset, p._8x_sample1_y_offset);
  set(pattern.eight[2], p._8x_sample2_x_offset, p._8x_sample2_y_offset);
  set(pattern.eight[3], p._8x_sample3_x_offset, p._8x_sample3_y_offset);
  set(pattern.eight[4], p._8x_sample4_x_offset, p._8x_sample4_y_offset);
  set(pattern.eight[5], p._8x_sample5_x_offset, p._8x_sample5_y_offset);
  set(pattern.eight[6], p._8x_sample6_x_offset, p._8x_sample6_y_offset);
  set(pattern.eight[7], p._8x_sample7_x_offset, p._8x_sample7_y_offset);
  if constexpr (requires { p._16x_sample0_x_offset; }) {
    set(pattern.sixteen[0], p._16x_sample0_x_offset, p._16x_sample0_y_offset);
    set(pattern.sixteen[1], p._16x_sample1_x_offset, p._16x_sample1_y_offset);
    set(pattern.sixteen[2], p._16x_sample2_x_offset, p._16x_sample2_y_offset);
    set(pattern.sixteen[3], p._16x_sample3_x_offset, p._16x_sample3_y_offset);
    set(pattern.sixteen[4], p._16x_sample4_x_offset, p._16x_sample4_y_offset);
    set(pattern.sixteen[5], p._16x_sample5_x_offset, p._16x_sample5_y_offset);
    set(pattern.sixteen[6], p._16x_sample6_x_offset, p._16x_sample6_y_offset);
    set(pattern.sixteen[7], p._16x_sample7_x_offset, p._16x_sample7_y_offset);
    set(pattern.sixteen[8], p._16x_sample8_x_offset, p._16x_sample8_y_offset);
    set(pattern.sixteen[9], p._16x_sample9_x_offset, p._16x_sample9_y_offset);
    set(pattern.sixteen[10], p._16x_sample10_x_offset, p._16x_sample10_y_offset);
    set(pattern.sixteen[11], p._16x_sample11_x_offset, p._16x_sample11_y_offset);
    set(pattern.sixteen[12], p._16x_sample12_x_offset, p._16x_sample12_y_offset);
    set(pattern.sixteen[13], p._16x_sample13_x_offset, p._16x_sample13_y_offset);
    set(pattern.sixteen[14], p._16x_sample14_x_offset, p._16x_sample14_y_offset);
    set(pattern.sixteen[15], p._16x_sample15_x_offset, p._16x_sample15_y_offset);
  }
  return absl::OkStatus();
}

template <class Gen>
absl::Status EmitFixedState(Batch<Gen>& batch, const SamplePattern& pattern) {
  using G = typename Gen::Packets;
  typename G::_3DSTATE_SAMPLE_PATTERN samples;
  if (absl::Status status = DescribeSamplePattern<Gen>(pattern, samples); !status.ok()) {
    return status;
  }
  batch.Emit(typename G::_3DSTATE_DRAWING_RECTANGLE{.clipped_drawing_rectangle_x_max = 0xffff,
                                                    .clipped_drawing_rectangle_y_max = 0xffff},
             samples, typename G::_3DSTATE_AA_LINE_PARAMETERS(),
             typename G::_3DSTATE_WM_CHROMAKEY(), typename G::_3DSTATE_WM_HZ_OP(),
             typename G::_3DSTATE_POLY_STIPPLE_OFFSET());
  return batch.status();
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_RASTER_PACKETS_H_
