// Images of a driver: memory, the place of every pixel in it, and how packets call the two.
//
//   absl::StatusOr<Image> target = context.NewImage({.format = "R8G8B8A8_UNORM",
//                                                    .surface_format =
//                                                    SurfaceFormat::R8G8B8A8_UNORM, .width = 256,
//                                                    .height = 128});
//   ImageSurface view = SurfaceOf(*target, SurfacePurpose::kRenderTarget, mocs);
//
//   context.NewImage({…, .shape = SurfaceShape::k3D, .width = 64, .height = 64, .depth = 16,
//                     .levels = 7});
//   context.NewImage({…, .shape = SurfaceShape::kCube, .width = 64, .height = 64, .layers = 6});
//   context.NewImage({…, .width = 256, .height = 128, .samples = 4});

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_IMAGE_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_IMAGE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/intel/binding/surface.h"
#include "runtime/intel/device/generation_facts.h"
#include "runtime/layout/layout.h"
#include "runtime/memory/buffers.h"

namespace packsmith::intel {

// Sizes in pixels of level 0.
struct ImageOptions {
  // Of runtime/layout: "R8G8B8A8_UNORM", "Z32_FLOAT", "BC1_RGBA_UNORM".
  absl::string_view format = {};
  // The same as surface states call it: a code of SurfaceFormat.
  uint32_t surface_format = 0;
  SurfaceShape shape = SurfaceShape::k2D;  // not k1D: such images are 2D ones of height 1
  uint32_t width = 1, height = 1;
  uint32_t depth = 1;               // slices of a 3D image
  uint32_t layers = 1, levels = 1;  // six layers for each cube
  uint32_t samples = 1;             // a power of two, up to 16 (Gfx8: 8)
  bool linear = false;              // else in the generation's tiles: see LayOutImage()
  absl::string_view name = "image";
};

struct Image {
  gpu::Buffer memory = {};
  layout::Layout placement;
  SurfaceTiling tiling = SurfaceTiling::kLinear;
  uint32_t surface_format = 0;
  // As surface states have them.
  uint32_t qpitch = 0, horizontal_alignment = 0, vertical_alignment = 0;

  // Bytes from row to row, as packets have it: of W tiles twice the distance.
  uint32_t pitch() const;
  uint32_t width() const { return placement.description().width_px; }
  uint32_t height() const { return placement.description().height_px; }
  uint32_t samples() const { return placement.description().samples; }
  // Samples are interleaved, as those of depth and stencil are, and not slices.
  bool interleaves_samples() const;
  // Layers, or slices of a level of a 3D image.
  uint32_t LayersOf(uint32_t level) const;
};

// An image without memory. Up to Gfx12 it is in Y tiles, stencil up to Gfx11 in W tiles; from
// Gfx12.5 on in Tile4, or with several samples in Tile64.
//
// InvalidArgument, with the image's name: a format that runtime/layout does not have, sizes that
// are beyond the hardware's, and what Layout::Of() refuses: samples of linear or block-compressed
// images, more levels than there are, cubes that are not square. Unimplemented, on Gfx8: most 3D
// images of several slices, which runtime/layout cannot place, and blocks that are not 4 by 4
// pixels.
absl::StatusOr<Image> LayOutImage(const ImageOptions& options, const GenerationFacts& facts);

// What an image's memory is aligned to.
uint64_t AlignmentOf(const Image& image);

// All levels and layers of it, for a surface state. Targets use one level: set `first_level`.
ImageSurface SurfaceOf(const Image& image, SurfacePurpose purpose, uint32_t mocs);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_IMAGE_H_
