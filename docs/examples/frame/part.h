// What a driver knows of the GPU at hand, and no packet says: numbers that it asks the kernel for,
// or keeps in a table by PCI id.

#ifndef PACKSMITH_DOCS_EXAMPLES_FRAME_PART_H_
#define PACKSMITH_DOCS_EXAMPLES_FRAME_PART_H_

#include <cstdint>

#include "runtime/binding/surface.h"
#include "runtime/layout/layout.h"

namespace frame {

namespace gpu = packsmith::gpu;
namespace layout = packsmith::layout;

struct Part {
  const char* generation;  // as dumps and descriptions call it
  const char* platform;
  int verx10;
  uint32_t mocs;  // of memory that caches may keep: the kernel's table, times 2
  // Threads that the hardware has for a stage; of the pixel stage, in each of its dispatchers.
  uint32_t vertex_threads, pixel_threads, compute_threads;
  const char* device;  // how L3 and the URB may be divided: FindRenderDevice()
  // What images are tiled with, as the layout calls it and as surface states do.
  layout::Scheme scheme;
  gpu::SurfaceTiling tiling;
};

inline constexpr Part kSkylakeGt2 = {
    .generation = "gfx9",
    .platform = "skl",
    .verx10 = 90,
    .mocs = 4,
    .vertex_threads = 336,
    .pixel_threads = 64,
    .compute_threads = 168,
    .device = "skl gt2",
    .scheme = layout::Scheme::kIntelY,
    .tiling = gpu::SurfaceTiling::kY,
};
inline constexpr Part kIceLakeGt2 = {
    .generation = "gfx11",
    .platform = "icl",
    .verx10 = 110,
    .mocs = 4,
    .vertex_threads = 364,
    .pixel_threads = 64,
    .compute_threads = 448,
    .device = "icl 8 banks",
    .scheme = layout::Scheme::kIntelY,
    .tiling = gpu::SurfaceTiling::kY,
};
inline constexpr Part kTigerLakeGt2 = {
    .generation = "gfx12",
    .platform = "tgl",
    .verx10 = 120,
    .mocs = 4,
    .vertex_threads = 546,
    .pixel_threads = 64,
    .compute_threads = 672,
    .device = "tgl 8 banks",
    .scheme = layout::Scheme::kIntelY,
    .tiling = gpu::SurfaceTiling::kY,
};
inline constexpr Part kDg2G10 = {
    .generation = "gfx125",
    .platform = "dg2",
    .verx10 = 125,
    .mocs = 6,
    .vertex_threads = 546,
    .pixel_threads = 64,
    .compute_threads = 3584,
    .device = "dg2",
    .scheme = layout::Scheme::kIntelTile4,
    .tiling = gpu::SurfaceTiling::k4,
};

}  // namespace frame

#endif  // PACKSMITH_DOCS_EXAMPLES_FRAME_PART_H_
