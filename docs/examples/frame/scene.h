// What the frame draws: a quad with a texture, several times, into a target with a depth buffer.

#ifndef PACKSMITH_DOCS_EXAMPLES_FRAME_SCENE_H_
#define PACKSMITH_DOCS_EXAMPLES_FRAME_SCENE_H_

#include <cstdint>

#include "docs/examples/frame/memory.h"
#include "docs/examples/frame/part.h"
#include "runtime/intel/binding/surface.h"
#include "runtime/layout/layout.h"

namespace frame {

struct Vertex {
  float position[3];
  float texture[2];
};
struct Instance {
  float offset[3];
  float scale;
};

inline constexpr Vertex kVertices[] = {
    {{-0.5f, -0.5f, 0.25f}, {0, 0}},
    {{0.5f, -0.5f, 0.25f}, {1, 0}},
    {{-0.5f, 0.5f, 0.25f}, {0, 1}},
    {{0.5f, 0.5f, 0.25f}, {1, 1}},
};
inline constexpr uint16_t kIndices[] = {0, 1, 2, 2, 1, 3};
inline constexpr Instance kInstances[] = {
    {{-0.25f, 0, 0}, 1},
    {{0, 0, 0.125f}, 0.75f},
    {{0.25f, 0, 0.25f}, 0.5f},
};
// From positions to the clip volume: columns of a matrix.
inline constexpr float kTransform[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
inline constexpr uint32_t kTargetWidth = 256, kTargetHeight = 128, kTextureSize = 64;

struct Image {
  gpu::Buffer memory;
  layout::Layout placement;

  const layout::Level& level() const { return placement.levels()[0]; }
  uint32_t width() const { return placement.description().width_px; }
  uint32_t height() const { return placement.description().height_px; }
  // Bytes from row to row.
  uint32_t pitch() const { return level().pitch_el * placement.element_B(); }
};

struct Scene {
  gpu::Buffer vertices, indices, instances, transform;
  Image texture, target, depth;
  gpu::Buffer counts;   // what the dispatch writes
  gpu::Buffer queries;  // what the command streamer writes
};

// Memory for all of it, filled with what the CPU must write.
Scene MakeScene(Memory& memory, const Part& part);

// The image as shaders or the colour pipeline see it.
intel::ImageSurface SurfaceOf(const Image& image, const Part& part, intel::SurfacePurpose purpose);

}  // namespace frame

#endif  // PACKSMITH_DOCS_EXAMPLES_FRAME_SCENE_H_
