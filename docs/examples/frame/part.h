// What a driver knows of its GPU and no packet states: it asks the kernel, or a table of PCI ids.

#ifndef PACKSMITH_DOCS_EXAMPLES_FRAME_PART_H_
#define PACKSMITH_DOCS_EXAMPLES_FRAME_PART_H_

#include <cstdint>

#include "docs/examples/must.h"
#include "runtime/intel/binding/surface.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/layout/layout.h"

namespace frame {

namespace intel = packsmith::intel;
namespace layout = packsmith::layout;
using example::Must;

struct Part {
  const char* generation;  // as dumps and descriptions call it
  const char* platform;
  int verx10;
  intel::RenderDevice device;  // how L3 and the URB may be divided, threads of stages, caching
  uint32_t subslices;          // that work; from Gfx12 on dual ones
  // What images are tiled with, as the layout calls it and as surface states do.
  layout::Scheme scheme;
  intel::SurfaceTiling tiling;

  uint32_t mocs() const { return device.caching.cached; }
  uint32_t compute_threads() const { return device.threads.compute * subslices; }
};

inline Part BroadwellGt2() {
  return {
      .generation = "gfx8",
      .platform = "bdw",
      .verx10 = 80,
      .device = Must(intel::FindRenderDevice("bdw gt2")),
      .subslices = 3,
      .scheme = layout::Scheme::kIntelY,
      .tiling = intel::SurfaceTiling::kY,
  };
}
inline Part Cherryview() {
  return {
      .generation = "gfx8",
      .platform = "chv",
      .verx10 = 80,
      .device = Must(intel::FindRenderDevice("chv")),
      .subslices = 2,
      .scheme = layout::Scheme::kIntelY,
      .tiling = intel::SurfaceTiling::kY,
  };
}
inline Part SkylakeGt2() {
  return {
      .generation = "gfx9",
      .platform = "skl",
      .verx10 = 90,
      .device = Must(intel::FindRenderDevice("skl gt2")),
      .subslices = 3,
      .scheme = layout::Scheme::kIntelY,
      .tiling = intel::SurfaceTiling::kY,
  };
}
inline Part IceLakeGt2() {
  return {
      .generation = "gfx11",
      .platform = "icl",
      .verx10 = 110,
      .device = Must(intel::FindRenderDevice("icl 8 banks")),
      .subslices = 8,
      .scheme = layout::Scheme::kIntelY,
      .tiling = intel::SurfaceTiling::kY,
  };
}
inline Part TigerLakeGt2() {
  return {
      .generation = "gfx12",
      .platform = "tgl",
      .verx10 = 120,
      .device = Must(intel::FindRenderDevice("tgl 8 banks")),
      .subslices = 6,
      .scheme = layout::Scheme::kIntelY,
      .tiling = intel::SurfaceTiling::kY,
  };
}
inline Part Dg2G10() {
  return {
      .generation = "gfx125",
      .platform = "dg2",
      .verx10 = 125,
      .device = Must(intel::FindRenderDevice("dg2")),
      .subslices = 32,
      .scheme = layout::Scheme::kIntelTile4,
      .tiling = intel::SurfaceTiling::k4,
  };
}
inline Part LunarLake() {
  return {
      .generation = "xe2",
      .platform = "lnl",
      .verx10 = 200,
      .device = Must(intel::FindRenderDevice("xe2")),
      .subslices = 8,
      .scheme = layout::Scheme::kIntelTile4,
      .tiling = intel::SurfaceTiling::k4,
  };
}

inline Part PantherLake() {
  return {
      .generation = "xe3",
      .platform = "ptl",
      .verx10 = 300,
      .device = Must(intel::FindRenderDevice("xe3")),
      .subslices = 12,
      .scheme = layout::Scheme::kIntelTile4,
      .tiling = intel::SurfaceTiling::k4,
  };
}

}  // namespace frame

#endif  // PACKSMITH_DOCS_EXAMPLES_FRAME_PART_H_
