#include "docs/examples/frame/scene.h"

#include <cstring>
#include <vector>

#include "absl/types/span.h"
#include "docs/examples/must.h"
#include "runtime/layout/copy.h"
#include "runtime/layout/format.h"

namespace frame {

using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example

namespace {

template <class T, size_t N>
Buffer BufferOf(Memory& memory, absl::string_view name, const T (&values)[N]) {
  const Buffer buffer = memory.NewBuffer(sizeof(values), name);
  std::memcpy(buffer.cpu, values, sizeof(values));
  return buffer;
}

Image NewImage(Memory& memory, const Part& part, absl::string_view name, absl::string_view format,
               uint32_t width, uint32_t height) {
  const layout::Layout placement = Must(layout::Layout::Of({.scheme = part.scheme,
                                                            .format = layout::FindFormat(format),
                                                            .width_px = width,
                                                            .height_px = height}));
  // Tiles begin at pages.
  const Buffer buffer = Must(memory.buffers->Create({.size = placement.size_B(),
                                                     .zone = memory.Zone("other"),
                                                     .name = name,
                                                     .alignment = 4 * kKiB,
                                                     .zeroed = true}));
  return {buffer, placement};
}

// Writes rows of texels to their places in the layout.
void Upload(const Image& image, absl::Span<const uint32_t> texels) {
  const auto bytes = absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(texels.data()),
                                         texels.size() * sizeof(uint32_t));
  const auto plan =
      Must(layout::CopyPlan::Make(image.placement, layout::WholeLevel(image.placement, 0, 0)));
  Must(plan.CopyIn(bytes, plan.linear_row_B(),
                   absl::MakeSpan(image.memory.cpu, image.placement.size_B())));
}

// Squares of 8 texels, red and white.
std::vector<uint32_t> Checkers() {
  std::vector<uint32_t> texels(kTextureSize * kTextureSize);
  for (uint32_t i = 0; i < texels.size(); ++i) {
    const uint32_t x = i % kTextureSize, y = i / kTextureSize;
    texels[i] = (x / 8 + y / 8) % 2 == 0 ? 0xff0000ff : 0xffffffff;
  }
  return texels;
}

}  // namespace

Scene MakeScene(Memory& memory, const Part& part) {
  const Scene scene = {
      .vertices = BufferOf(memory, "vertices", kVertices),
      .indices = BufferOf(memory, "indices", kIndices),
      .instances = BufferOf(memory, "instances", kInstances),
      .transform = BufferOf(memory, "transform", kTransform),
      .texture = NewImage(memory, part, "texture", "R8G8B8A8_UNORM", kTextureSize, kTextureSize),
      .target = NewImage(memory, part, "target", "R8G8B8A8_UNORM", kTargetWidth, kTargetHeight),
      .depth = NewImage(memory, part, "depth", "Z32_FLOAT", kTargetWidth, kTargetHeight),
      .counts = memory.NewBuffer(4 * kKiB, "counts"),
      .queries = memory.NewBuffer(4096, "queries"),
  };
  Upload(scene.texture, Checkers());
  for (const Buffer& written :
       {scene.vertices, scene.indices, scene.instances, scene.transform, scene.texture.memory}) {
    Must(memory.buffers->FlushForGpu(written.handle, 0, written.size));
  }
  return scene;
}

ImageSurface SurfaceOf(const Image& image, const Part& part, SurfacePurpose purpose) {
  return {
      .purpose = purpose,
      .memory = {image.memory.address, image.memory.handle},
      .format = SurfaceFormat::R8G8B8A8_UNORM,
      .mocs = part.mocs(),
      .width = image.width(),
      .height = image.height(),
      .tiling = part.tiling,
      .pitch = image.pitch(),
      .qpitch = image.height(),
      .horizontal_alignment = part.verx10 >= 125 ? 128u : 16u,
  };
}

}  // namespace frame
