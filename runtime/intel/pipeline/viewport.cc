#include "runtime/intel/pipeline/viewport.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace packsmith::intel {
namespace {

constexpr float kMostSide = 16384, kLeastCorner = -32768, kMostCorner = 32767;

// One axis of the guardband: from where pixels can be counted, to normalized coordinates. Pixels
// are counted around the centre of what may be drawn: the viewport, and the target, which it may
// exceed.
void SetGuardband(float scale, float offset, uint32_t size, float (&guardband)[2]) {
  const float half = std::abs(scale);
  const float least = std::min(0.0f, offset - half);
  const float most = std::max(static_cast<float>(size), offset + half);
  const float centre = (least + most) / 2;
  const float a = (centre - kGuardband - offset) / scale;
  const float b = (centre + kGuardband - offset) / scale;
  guardband[0] = std::min(a, b);
  guardband[1] = std::max(a, b);
}

void SetExtent(float scale, float offset, uint32_t size, float (&extent)[2]) {
  const float half = std::abs(scale);
  extent[0] = std::max(0.0f, offset - half);
  extent[1] = std::min(static_cast<float>(size), offset + half) - 1;
}

}  // namespace

absl::Status TransformViewport(const Viewport& viewport, const ViewportTarget& target,
                               ViewportTransform& transform) {
  const auto& [x, y, width, height, min_depth, max_depth] = viewport;
  const float sum = x + y + width + height + min_depth + max_depth;
  if (!std::isfinite(sum)) {
    return absl::InvalidArgumentError("a value of a viewport is infinite or not a number");
  }
  if (width <= 0 || width > kMostSide || height == 0 || std::abs(height) > kMostSide) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a viewport of ", width, " x ", height,
        " pixels; the width must be greater than 0, the height not 0, both at most ", kMostSide));
  }
  if (std::min(x, y) < kLeastCorner || x + width > kMostCorner || y > kMostCorner ||
      y + height < kLeastCorner || y + height > kMostCorner) {
    return absl::InvalidArgumentError(
        absl::StrCat("a viewport from (", x, ", ", y, ") to (", x + width, ", ", y + height,
                     "); corners must be in ", kLeastCorner, " to ", kMostCorner));
  }
  if (target.width < 1 || target.height < 1 || static_cast<float>(target.width) > kMostSide ||
      static_cast<float>(target.height) > kMostSide) {
    return absl::InvalidArgumentError(absl::StrCat(
        "targets of ", target.width, " x ", target.height, " pixels; they must have 1 to 16384"));
  }
  auto& [scale, offset, guardband_x, guardband_y, extent_x, extent_y, depth] = transform;
  scale[0] = width / 2;
  scale[1] = height / 2;
  offset[0] = x + scale[0];
  offset[1] = y + scale[1];
  if (target.depth_range == DepthRange::kZeroToOne) {
    scale[2] = max_depth - min_depth;
    offset[2] = min_depth;
  } else {
    scale[2] = (max_depth - min_depth) / 2;
    offset[2] = (max_depth + min_depth) / 2;
  }
  SetGuardband(scale[0], offset[0], target.width, guardband_x);
  SetGuardband(scale[1], offset[1], target.height, guardband_y);
  SetExtent(scale[0], offset[0], target.width, extent_x);
  SetExtent(scale[1], offset[1], target.height, extent_y);
  for (const float edge : {guardband_x[0], guardband_x[1], guardband_y[0], guardband_y[1]}) {
    if (!std::isfinite(edge)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a viewport too small for its guardband: ", width, " x ", height,
                       " pixels; draw nothing instead"));
    }
  }
  depth[0] = target.clip_near ? 0 : std::min(min_depth, max_depth);
  depth[1] = target.clip_far ? 1 : std::max(min_depth, max_depth);
  return absl::OkStatus();
}

ScissorLimits LimitScissor(const Scissor& scissor, const ViewportTarget& target) {
  const uint64_t x_end = std::min(uint64_t{scissor.x} + scissor.width, uint64_t{target.width});
  const uint64_t y_end = std::min(uint64_t{scissor.y} + scissor.height, uint64_t{target.height});
  if (scissor.x >= x_end || scissor.y >= y_end) return {};
  return {scissor.x, scissor.y, static_cast<uint32_t>(x_end - 1), static_cast<uint32_t>(y_end - 1)};
}

namespace viewport_errors {

absl::Status Count(const char* what, size_t count) {
  return absl::InvalidArgumentError(
      absl::StrCat(count, " ", what, "; there must be 1 to ", kMostViewports));
}

}  // namespace viewport_errors
}  // namespace packsmith::intel
