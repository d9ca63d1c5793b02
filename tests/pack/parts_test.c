/* C headers of parts: one alone, another, then the whole, which declares nothing again. */
#include "packsmith/c/gfx125_video_pack.h"

enum { video_alone = GFX125_AVP_BSD_OBJECT_length };

#include <stdint.h>
#include <stdio.h>

#include "packsmith/c/gfx125_pack.h"
#include "packsmith/c/gfx125_render_pack.h"

int main(void) {
  uint32_t dw[GFX125_AVP_BSD_OBJECT_length];
  struct GFX125_AVP_BSD_OBJECT tile = {GFX125_AVP_BSD_OBJECT_header};
  tile.TileIndirectBSDDataLength = 0x1234;
  GFX125_AVP_BSD_OBJECT_pack(NULL, dw, &tile);
  uint32_t flush[GFX125_PIPE_CONTROL_length];
  struct GFX125_PIPE_CONTROL stall = {GFX125_PIPE_CONTROL_header};
  GFX125_PIPE_CONTROL_pack(NULL, flush, &stall);
  if (video_alone != 3 || dw[0] != 0x71a00001u || dw[1] != 0x1234u || flush[0] != 0x7a000004u) {
    printf("%x %x %x\n", (unsigned)dw[0], (unsigned)dw[1], (unsigned)flush[0]);
    return 1;
  }
  return 0;
}
