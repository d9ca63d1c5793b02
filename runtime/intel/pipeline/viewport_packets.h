// The states and packets of viewports and scissors: SF_CLIP_VIEWPORT, CC_VIEWPORT, SCISSOR_RECT,
// and the packets that point to them.
//
//   absl::Status status = SetViewports({viewports}, target, dynamic, batch, state);
//   status = SetScissors({scissors}, target, dynamic, batch, state);
//
// Sources: PRMs, SF_CLIP_VIEWPORT, CC_VIEWPORT, SCISSOR_RECT.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_VIEWPORT_PACKETS_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_VIEWPORT_PACKETS_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/command/pack_status.h"
#include "runtime/intel/pipeline/dynamic_states.h"
#include "runtime/intel/pipeline/put.h"
#include "runtime/intel/pipeline/viewport.h"

namespace packsmith::intel {

// InvalidArgument as TransformViewport().
template <class Gen>
absl::Status DescribeViewport(const Viewport& viewport, const ViewportTarget& target,
                              typename Gen::Packets::SF_CLIP_VIEWPORT& clip,
                              typename Gen::Packets::CC_VIEWPORT& depth);
template <class Gen>
typename Gen::Packets::SCISSOR_RECT ScissorOf(const Scissor& scissor, const ViewportTarget& target);

// Writes the states of 1 to 16 viewports, and sets both pointers. On an error the pointers are as
// before.
template <class Gen>
absl::Status SetViewports(absl::Span<const Viewport> viewports, const ViewportTarget& target,
                          gpu::StateStream& dynamic, Batch<Gen>& batch, DrawState<Gen>& state);
// The same for scissors: one for each viewport.
template <class Gen>
absl::Status SetScissors(absl::Span<const Scissor> scissors, const ViewportTarget& target,
                         gpu::StateStream& dynamic, Batch<Gen>& batch, DrawState<Gen>& state);

// -- Implementation -----------------------------------------------------------------------------

template <class Gen>
absl::Status DescribeViewport(const Viewport& viewport, const ViewportTarget& target,
                              typename Gen::Packets::SF_CLIP_VIEWPORT& clip,
                              typename Gen::Packets::CC_VIEWPORT& depth) {
  ViewportTransform from;
  if (absl::Status status = TransformViewport(viewport, target, from); !status.ok()) return status;
  clip = {.viewport_matrix_element_m00 = from.scale[0],
          .viewport_matrix_element_m11 = from.scale[1],
          .viewport_matrix_element_m22 = from.scale[2],
          .viewport_matrix_element_m30 = from.offset[0],
          .viewport_matrix_element_m31 = from.offset[1],
          .viewport_matrix_element_m32 = from.offset[2],
          .x_min_clip_guardband = from.guardband_x[0],
          .x_max_clip_guardband = from.guardband_x[1],
          .y_min_clip_guardband = from.guardband_y[0],
          .y_max_clip_guardband = from.guardband_y[1],
          .x_min_viewport = from.x[0],
          .x_max_viewport = from.x[1],
          .y_min_viewport = from.y[0],
          .y_max_viewport = from.y[1]};
  depth = {.minimum_depth = from.depth[0], .maximum_depth = from.depth[1]};
  return absl::OkStatus();
}

template <class Gen>
typename Gen::Packets::SCISSOR_RECT ScissorOf(const Scissor& scissor,
                                              const ViewportTarget& target) {
  const ScissorLimits limits = LimitScissor(scissor, target);
  return {.scissor_rectangle_x_min = limits.x_min,
          .scissor_rectangle_y_min = limits.y_min,
          .scissor_rectangle_x_max = limits.x_max,
          .scissor_rectangle_y_max = limits.y_max};
}

template <class Gen>
absl::Status SetViewports(absl::Span<const Viewport> viewports, const ViewportTarget& target,
                          gpu::StateStream& dynamic, Batch<Gen>& batch, DrawState<Gen>& state) {
  using G = typename Gen::Packets;
  using Clip = typename G::SF_CLIP_VIEWPORT;
  using Depth = typename G::CC_VIEWPORT;
  constexpr uint64_t kClipAlignment = 64, kDepthAlignment = 32;
  if (viewports.empty() || viewports.size() > kMostViewports) {
    return viewport_errors::Count("viewports", viewports.size());
  }
  std::array<uint32_t, kMostViewports * Clip::length> clips;
  std::array<uint32_t, kMostViewports * Depth::length> depths;
  for (size_t i = 0; i < viewports.size(); ++i) {
    Clip clip;
    Depth depth;
    absl::Status status = DescribeViewport<Gen>(viewports[i], target, clip, depth);
    if (!status.ok()) return status;
    if (const error e = clip.pack(&clips[i * Clip::length])) {
      return PackStatus("SF_CLIP_VIEWPORT", e);
    }
    if (const error e = depth.pack(&depths[i * Depth::length])) {
      return PackStatus("CC_VIEWPORT", e);
    }
  }
  const auto clip_at =
      WriteDynamic<Gen>(absl::MakeConstSpan(clips).first(viewports.size() * Clip::length),
                        kClipAlignment, dynamic, batch);
  if (!clip_at.ok()) return clip_at.status();
  const auto depth_at =
      WriteDynamic<Gen>(absl::MakeConstSpan(depths).first(viewports.size() * Depth::length),
                        kDepthAlignment, dynamic, batch);
  if (!depth_at.ok()) return depth_at.status();
  absl::Status status = PutPacket(state, typename G::_3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP{
                                             .sf_clip_viewport_pointer = *clip_at});
  if (!status.ok()) return status;
  return PutPacket(
      state, typename G::_3DSTATE_VIEWPORT_STATE_POINTERS_CC{.cc_viewport_pointer = *depth_at});
}

template <class Gen>
absl::Status SetScissors(absl::Span<const Scissor> scissors, const ViewportTarget& target,
                         gpu::StateStream& dynamic, Batch<Gen>& batch, DrawState<Gen>& state) {
  using G = typename Gen::Packets;
  using Rectangle = typename G::SCISSOR_RECT;
  constexpr uint64_t kAlignment = 64;  // Wa_1409725701
  if (scissors.empty() || scissors.size() > kMostViewports) {
    return viewport_errors::Count("scissors", scissors.size());
  }
  std::array<uint32_t, kMostViewports * Rectangle::length> rectangles;
  for (size_t i = 0; i < scissors.size(); ++i) {
    if (const error e =
            ScissorOf<Gen>(scissors[i], target).pack(&rectangles[i * Rectangle::length])) {
      return PackStatus("SCISSOR_RECT", e);
    }
  }
  const auto at =
      WriteDynamic<Gen>(absl::MakeConstSpan(rectangles).first(scissors.size() * Rectangle::length),
                        kAlignment, dynamic, batch);
  if (!at.ok()) return at.status();
  return PutPacket(state, typename G::_3DSTATE_SCISSOR_STATE_POINTERS{.scissor_rect_pointer = *at});
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_VIEWPORT_PACKETS_H_
