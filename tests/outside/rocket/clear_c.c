// The same by the C header.
#include <inttypes.h>
#include <stdio.h>

#include "packsmith/c/rocket1_pack.h"

int main(void) {
  uint32_t dwords[ROCKET1_CLEAR_length + ROCKET1_END_length];
  struct ROCKET1_CLEAR clear = {ROCKET1_CLEAR_header};
  clear.Blend = BLEND_ADD;
  clear.Width = 640;
  clear.Height = 480;
  clear.Target = 0x123456700;
  clear.Color = 0xff8000;
  ROCKET1_CLEAR_pack(NULL, dwords, &clear);
  const struct ROCKET1_END end = {ROCKET1_END_header};
  ROCKET1_END_pack(NULL, dwords + ROCKET1_CLEAR_length, &end);
  for (unsigned i = 0; i < sizeof(dwords) / sizeof(dwords[0]); ++i) {
    printf("%08" PRIx32 "\n", dwords[i]);
  }
  return 0;
}
