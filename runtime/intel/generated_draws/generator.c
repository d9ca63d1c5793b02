#include "runtime/intel/generated_draws/generator.h"

#include <stddef.h>
#include <string.h>

// generations.inc: X(gfx8) X(gfx9) …, all that the build has.
#define X(name) extern const struct packsmith_draw_generator packsmith_draw_generator_##name;
#include "runtime/intel/generated_draws/generations.inc"
#undef X

const struct packsmith_draw_generator* packsmith_find_draw_generator(const char* generation) {
#define X(name) \
  if (strcmp(generation, #name) == 0) return &packsmith_draw_generator_##name;
#include "runtime/intel/generated_draws/generations.inc"
#undef X
  return NULL;
}
