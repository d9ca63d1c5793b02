// What docs/generated-code.md shows of a C source that is compiled once for each generation. BUILD
// passes -DGFX_VERx10=90, and then 125.

// Page: c-generation
#include "packsmith/c/intel_pack.h"

unsigned genX(draw)(uint32_t* dw, unsigned vertices) {
  struct GENX(3DPRIMITIVE) draw = {GENX(3DPRIMITIVE_header)};
  draw.PrimitiveTopologyType = _3DPRIM_TRILIST;
  draw.VertexCountPerInstance = vertices;
  draw.InstanceCount = 1;
#if GFX_VERx10 >= 125
  draw.TBIMREnable = true;
#endif
  GENX(3DPRIMITIVE_pack)(NULL, dw, &draw);
  return GENX(3DPRIMITIVE_length);
}
// End
