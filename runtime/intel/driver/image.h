// Images of a driver: memory, the place of every pixel in it, and how packets call the two.
//
//   absl::StatusOr<Image> target = context.NewImage({.format = "R8G8B8A8_UNORM",
//                                                    .surface_format =
//                                                    SurfaceFormat::R8G8B8A8_UNORM, .width = 256,
//                                                    .height = 128});
//   ImageSurface view = SurfaceOf(*target, SurfacePurpose::kRenderTarget, mocs);

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_IMAGE_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_IMAGE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/intel/binding/surface.h"
#include "runtime/layout/layout.h"
#include "runtime/memory/buffers.h"

namespace packsmith::intel {

// A 2D image of one sample. Sizes in pixels of level 0.
struct ImageOptions {
  // Of runtime/layout: "R8G8B8A8_UNORM", "Z32_FLOAT".
  absl::string_view format = {};
  // The same as surface states call it: a code of SurfaceFormat.
  uint32_t surface_format = 0;
  uint32_t width = 1, height = 1;
  uint32_t layers = 1, levels = 1;
  bool linear = false;  // else in the generation's tiles: Y, from Gfx12.5 on Tile4
  absl::string_view name = "image";
};

struct Image {
  gpu::Buffer memory;
  layout::Layout placement;
  SurfaceTiling tiling = SurfaceTiling::kLinear;
  uint32_t surface_format = 0;

  // Bytes from row to row.
  uint32_t pitch() const { return placement.levels()[0].pitch_el * placement.element_B(); }
  uint32_t width() const { return placement.description().width_px; }
  uint32_t height() const { return placement.description().height_px; }
};

// The layout of an image in the generation's tiles, Y or 4, unless it is linear. InvalidArgument
// for formats that runtime/layout does not have; errors of Layout::Of().
absl::StatusOr<layout::Layout> LayOutImage(const ImageOptions& options, SurfaceTiling tile);

// All levels and layers of it, for a surface state. Targets use one level: set `first_level`.
ImageSurface SurfaceOf(const Image& image, SurfacePurpose purpose, uint32_t mocs);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_IMAGE_H_
