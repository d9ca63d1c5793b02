// What docs/generated-code.md shows of C for several generations, built and run.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// Page: c-device
#include "packsmith/c/intel_bits.h"

struct intel_device_info {
  int verx10;  // 90 on Gfx9, 125 on Gfx12.5
};

static unsigned width_of(const struct intel_device_info* devinfo, const uint32_t* surface) {
  const unsigned start = RENDER_SURFACE_STATE_Width_start(devinfo);
  const unsigned bits = RENDER_SURFACE_STATE_Width_bits(devinfo);
  return (surface[start / 32] >> start % 32 & ((1u << bits) - 1)) + 1;
}
// End

// Page: c-dispatch
unsigned gfx9_draw(uint32_t* dw, unsigned vertices);
unsigned gfx125_draw(uint32_t* dw, unsigned vertices);
// End

int main(void) {
  const uint32_t surface[16] = {[2] = 479u << 16 | 639};
  const struct intel_device_info skl = {90}, snb = {60};
  uint32_t dw[8];
  bool good = width_of(&skl, surface) == 640;
  good = good && RENDER_SURFACE_STATE_Width_start(&snb) == 70;
  good = good && gfx9_draw(dw, 3) == 7 && dw[0] == 0x7b000005;
  good = good && gfx125_draw(dw, 3) == 7 && dw[0] == 0x7b002005;
  if (!good) printf("not so\n");
  return good ? 0 : 1;
}
