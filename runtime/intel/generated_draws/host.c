// kernel.cl as C, for PACKSMITH_GENERATION with the version GFX_VERx10. The build makes a source of
// it for each generation: host_gfx9.c.

// kernel.cl cuts what does not fit: there is nothing to assert, and no names are needed for that.
#ifndef NDEBUG
#define NDEBUG
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/intel/generated_draws/generator.h"
#include "runtime/intel/generated_draws/kernel.cl"

#define MOST_SLOT_DWORDS 32

static uint32_t slot_dwords(uint32_t flags) { return dwords_of_slot(flags); }

static void generate(const struct packsmith_generate_draws* p, uint32_t item) {
  generate_draw(p, item);
}

static bool generate_in(const struct packsmith_gpu_memory* memory, uint64_t parameters,
                        uint32_t item) {
  void* const context = memory->context;
  struct packsmith_generate_draws p;
  uint32_t count = 0, words[MOST_SLOT_DWORDS], numbers[5] = {0};
  if (!memory->read(context, parameters, &p, sizeof(p))) return false;
  if (p.count != 0 && !memory->read(context, p.count, &count, sizeof(count))) return false;
  const struct draw_item to = item_of(&p, item, count);
  if (to.draws) {
    const uint32_t bytes = p.flags & PACKSMITH_GENERATE_INDEXED ? 20 : 16;
    if (!memory->read(context, to.indirect, numbers, bytes)) return false;
    if (p.flags & PACKSMITH_GENERATE_DRAW_ID &&
        !memory->write(context, to.draw_id, &to.number, sizeof(to.number))) {
      return false;
    }
    write_slot(&p, &to, numbers, words);
    if (!memory->write(context, to.slot, words, 4 * dwords_of_slot(p.flags))) return false;
  }
  if (to.jumps) {
    write_jump(to.target, words);
    return memory->write(context, to.jump, words, 4 * GENX(MI_BATCH_BUFFER_START_length));
  }
  return true;
}

_Static_assert(sizeof(draws_parameters) == 88 && offsetof(draws_parameters, draw_base) == 56,
               "the same layout on every machine, as the GPU's");
_Static_assert(1 + 2 * GENX(VERTEX_BUFFER_STATE_length) + DRAW(_length) <= MOST_SLOT_DWORDS,
               "a slot fits");
_Static_assert(GENX(MI_BATCH_BUFFER_START_length) <= DRAW(_length), "a jump fits in a slot");

#define TEXT_OF(token) #token
#define TEXT(token) TEXT_OF(token)
#define JOINED_OF(a, b) a##b
#define JOINED(a, b) JOINED_OF(a, b)

const struct packsmith_draw_generator JOINED(packsmith_draw_generator_, PACKSMITH_GENERATION) = {
    TEXT(PACKSMITH_GENERATION), slot_dwords, generate, generate_in};
