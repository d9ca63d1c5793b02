// The kernel of generated draws as a function of this program, for one that simulates a GPU: what
// kernel.cl writes for an item, byte by byte.
//
//   const struct packsmith_draw_generator* gfx9 = packsmith_find_draw_generator("gfx9");
//   const uint32_t room = 4 * gfx9->slot_dwords(flags) * draws;   // bytes
//   for (uint32_t item = 0; item < parameters.items; ++item) gfx9->generate(&parameters, item);
//
// In C and C++. Any two items may run at the same time.

#ifndef PACKSMITH_RUNTIME_INTEL_GENERATED_DRAWS_GENERATOR_H_
#define PACKSMITH_RUNTIME_INTEL_GENERATED_DRAWS_GENERATOR_H_

#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stdint.h>

#include "runtime/intel/generated_draws/parameters.h"

#ifdef __cplusplus
extern "C" {
#endif

// Memory by the GPU's addresses. Both functions copy all bytes, or return false.
struct packsmith_gpu_memory {
  void* context;
  bool (*read)(void* context, uint64_t address, void* to, uint32_t bytes);
  bool (*write)(void* context, uint64_t address, const void* from, uint32_t bytes);
};

struct packsmith_draw_generator {
  const char* generation;  // as in dumps: "gfx9", "xe2"
  // Dwords of a slot: [3DSTATE_VERTEX_BUFFERS] and 3DPRIMITIVE, or 3DPRIMITIVE_EXTENDED.
  uint32_t (*slot_dwords)(uint32_t flags);
  // Runs one item. All addresses of the parameters, and in the memory that they point to, are of
  // this program's memory: commands are written to what they point to.
  void (*generate)(const struct packsmith_generate_draws* parameters, uint32_t item);
  // Runs one item with the parameters at an address. False if an access has failed; what was
  // written before remains.
  bool (*generate_in)(const struct packsmith_gpu_memory* memory, uint64_t parameters,
                      uint32_t item);
};

// That of a generation, Gfx8 to Xe3; NULL if there is none.
const struct packsmith_draw_generator* packsmith_find_draw_generator(const char* generation);

#ifdef __cplusplus
}
#endif

#endif  // PACKSMITH_RUNTIME_INTEL_GENERATED_DRAWS_GENERATOR_H_
