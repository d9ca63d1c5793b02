/* Values without a generation in their names would clash here: HALIGN_16 is 3 on Gfx9, 0 on
 * Gfx12.5. */
#define PACKSMITH_PREFIXED_VALUES
#include "tests/family/two_generations.h"

#include "packsmith/c/gfx125_pack.h"
#include "packsmith/c/gfx9_pack.h"

#ifdef HALIGN_16
#error The values of generations have names of their own only.
#endif

void pack_aligned_surface(int verx10, uint32_t dw[16]) {
  if (verx10 < 125) {
    const struct GFX9_RENDER_SURFACE_STATE surface = {
        .SurfaceHorizontalAlignment = GFX9_HALIGN_16,
        .MOCS = 2,
    };
    GFX9_RENDER_SURFACE_STATE_pack(NULL, dw, &surface);
  } else {
    const struct GFX125_RENDER_SURFACE_STATE surface = {
        .SurfaceHorizontalAlignment = GFX125_HALIGN_16,
        .MOCS = 2,
    };
    GFX125_RENDER_SURFACE_STATE_pack(NULL, dw, &surface);
  }
}
