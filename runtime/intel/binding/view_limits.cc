#include "runtime/intel/binding/view_limits.h"

#include "absl/strings/str_format.h"

namespace packsmith::intel {
namespace {

absl::Status TooLarge(const char* what, uint64_t value, uint64_t most) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s is %d; it may be at most %d", what, value, most));
}

}  // namespace

absl::Status CheckView(const ImageSurface& image, const ViewLimits& limits) {
  const bool is_3d = image.shape == SurfaceShape::k3D;
  const uint32_t most = is_3d                              ? limits.size_3d
                        : image.shape == SurfaceShape::k1D ? limits.size_1d
                                                           : limits.size_2d;
  if (image.width > most) return TooLarge("an image's width", image.width, most);
  if (image.height > most) return TooLarge("an image's height", image.height, most);
  if (is_3d && image.depth > most) return TooLarge("an image's depth", image.depth, most);
  const uint64_t layers = uint64_t{image.first_layer} + image.layers;
  if (!is_3d && layers > limits.layers) {
    return TooLarge("the end of a view's layers", layers, limits.layers);
  }
  const uint64_t levels = uint64_t{image.first_level} + image.levels;
  if (levels > limits.levels) return TooLarge("the end of a view's levels", levels, limits.levels);
  if (image.samples > limits.samples) {
    return TooLarge("an image's number of samples", image.samples, limits.samples);
  }
  if (image.pitch > limits.pitch) return TooLarge("an image's pitch", image.pitch, limits.pitch);
  return absl::OkStatus();
}

absl::Status CheckView(const BufferSurface& buffer, const ViewLimits& limits) {
  if (buffer.stride <= 1) {
    if (buffer.size <= limits.buffer_bytes) return absl::OkStatus();
    return TooLarge("a buffer's size in bytes", buffer.size, limits.buffer_bytes);
  }
  const uint64_t entries = buffer.size / buffer.stride;
  if (entries <= limits.entries) return absl::OkStatus();
  return TooLarge("a buffer's number of entries", entries, limits.entries);
}

}  // namespace packsmith::intel
