/* A driver's source as it is compiled for every generation, with GFX_VERx10 on the command line. */
#include "tests/family/one_source.h"

#include "packsmith/c/intel_pack.h"

unsigned genX(draw)(uint32_t* dw, unsigned vertices) {
  struct GENX(3DPRIMITIVE) draw = {GENX(3DPRIMITIVE_header)};
  draw.PrimitiveTopologyType = _3DPRIM_TRILIST;
  draw.VertexCountPerInstance = vertices;
  draw.InstanceCount = 1;
  GENX(3DPRIMITIVE_pack)(NULL, dw, &draw);
  return GENX(3DPRIMITIVE_length);
}

unsigned genX(surface)(uint32_t* dw, unsigned width, unsigned height, uint64_t address) {
  struct GENX(RENDER_SURFACE_STATE) surface = {0};
  surface.SurfaceType = SURFTYPE_2D;
  surface.Width = width - 1;
  surface.Height = height - 1;
  surface.SurfaceBaseAddress = address;
#if GFX_VERx10 >= 75
  surface.ShaderChannelSelectRed = SCS_RED;
#endif
#if GFX_VER >= 7
  surface.MOCS = 2;
#endif
  GENX(RENDER_SURFACE_STATE_pack)(NULL, dw, &surface);
  return GENX(RENDER_SURFACE_STATE_length);
}
