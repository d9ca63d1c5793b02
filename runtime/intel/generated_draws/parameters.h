// What the kernel of generated draws is told. The numbers of draws lie in a buffer, a
// VkDrawIndirectCommand or VkDrawIndexedIndirectCommand each; the kernel makes commands of them,
// which the command streamer executes. One item of the kernel makes one draw.
//
//   struct packsmith_generate_draws draws = {
//       .indirect = buffer, .commands = room, .end = after_the_room, .stride = 20,
//       .flags = PACKSMITH_GENERATE_INDEXED, .max_draws = 50, .items = 50,
//       .instance_multiplier = 1};
//
// The same in C, C++ and OpenCL C. The kernel reads it from memory, at a multiple of 8. Addresses
// are the GPU's.

#ifndef PACKSMITH_RUNTIME_INTEL_GENERATED_DRAWS_PARAMETERS_H_
#define PACKSMITH_RUNTIME_INTEL_GENERATED_DRAWS_PARAMETERS_H_

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
// The generated header, which defines uint32_t and uint64_t, precedes this one.
#else
#include <stdint.h>
#endif

// The kernel's items in one thread group, along x: a dispatch for n items has n / this groups,
// rounded up. Superfluous items of the last group do nothing.
#define PACKSMITH_GENERATE_GROUP 32

// Bits of packsmith_generate_draws.flags.
// Draws have indices, and five numbers each; otherwise four.
#define PACKSMITH_GENERATE_INDEXED 1u
// Draws depend on MI_PREDICATE_RESULT.
#define PACKSMITH_GENERATE_PREDICATED 2u
// A vertex buffer with the draw's base vertex and base instance, 8 bytes, precedes each draw: for
// shaders that read these on generations without 3DPRIMITIVE_EXTENDED (Gfx8, Gfx9).
#define PACKSMITH_GENERATE_BASE 4u
// The same for the draw's number, 4 bytes, which the kernel writes to `draw_ids`.
#define PACKSMITH_GENERATE_DRAW_ID 8u
// Draws take part in tile-based immediate-mode rendering. Ignored by generations whose draws have
// no such field (before Gfx12.5).
#define PACKSMITH_GENERATE_TBIMR 16u
// The commands are a ring of `items` slots that several passes fill. Otherwise each draw has its
// own slot in the batch.
#define PACKSMITH_GENERATE_RING 32u

struct packsmith_generate_draws {
  // The numbers of draw 0: a multiple of 4.
  uint64_t indirect;
  // The slot of item 0: a multiple of 4. packsmith_draw_generator tells the size of slots. A ring's
  // slots are followed by room for a jump, 3 dwords.
  uint64_t commands;
  // Address of a 32-bit number of draws, a multiple of 4; 0: there are max_draws. It must not
  // change between passes.
  uint64_t count;
  // With PACKSMITH_GENERATE_DRAW_ID: memory for 4 bytes an item, a multiple of 4.
  uint64_t draw_ids;
  // Of a ring: where the streamer continues after a pass that leaves draws to do.
  uint64_t next_pass;
  // Where it continues after the last draw. Without PACKSMITH_GENERATE_RING it must be what follows
  // the last slot of the call, because draws that fill all slots have no jump.
  uint64_t end;
  // Bytes from the numbers of one draw to the next: a multiple of 4.
  uint32_t stride;
  uint32_t flags;
  // The number of item 0's draw: each pass of a ring adds `items` to it, and so does each further
  // dispatch of a call whose draws have their own slots.
  uint32_t draw_base;
  // The most draws of the call, in all dispatches.
  uint32_t max_draws;
  // Of this dispatch; of a ring, the number of its slots.
  uint32_t items;
  // Instance counts are multiplied by it: the number of views, or 1.
  uint32_t instance_multiplier;
  // Caching policy of the vertex buffers, as VERTEX_BUFFER_STATE has it: not 0.
  uint32_t mocs;
  // Their vertex buffer indices.
  uint32_t base_buffer;
  uint32_t draw_id_buffer;
  uint32_t unused;
};

#endif  // PACKSMITH_RUNTIME_INTEL_GENERATED_DRAWS_PARAMETERS_H_
