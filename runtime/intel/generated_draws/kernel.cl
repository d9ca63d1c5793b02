// The kernel of generated draws: each item turns the numbers of one indirect draw, in memory, into
// commands. In OpenCL C for GPUs; as C in the library, for programs that simulate one
// (generator.h). Compiled once for each generation:
//
//   ocloc compile -file kernel.cl -device skl -options "-I INCLUDE -D GFX_VERx10=90"
//
// Which packets and fields a generation has, it asks its description.
//
// One item of a dispatch at most writes a jump, and no two items write the same dword:
//   - if no draw is left for the dispatch, item 0 has a jump to the end in its slot;
//   - if draws do not fill all slots, the last one is followed by a jump to the end;
//   - if they do, the last slot of a ring is followed by a jump, to the end or to the next pass.
//     Slots in a batch are followed by those of the next dispatch, or by the end.

#define PACKSMITH_PREFIXED_VALUES  // short names are this file's
#define PACKSMITH_WANT_BITS
#include "packsmith/c/intel_pack.h"
#include "runtime/intel/generated_draws/parameters.h"

#if GENX(3DPRIMITIVE_EXTENDED_length)
#define DRAW(suffix) GENX(3DPRIMITIVE_EXTENDED##suffix)
#else
#define DRAW(suffix) GENX(3DPRIMITIVE##suffix)
#endif

// Parameters may be anything: what does not fit a field must not change its neighbours.
#define CUT(value, field) ((value) & ((1u << GENX(field##_bits)) - 1))

// In C the generated functions also take the driver's data.
#ifdef PS_OPENCL
#define WRITE(pack, to, from) pack(to, from)
#else
#define WRITE(pack, to, from) pack(0, to, from)
#endif

typedef struct packsmith_generate_draws draws_parameters;

// The numbers of one draw.
struct draw_numbers {
  uint32_t vertices, instances, start, start_instance;
  uint32_t base_vertex;   // added to indices
  uint32_t first_vertex;  // what shaders read as the base vertex
};

// What an item writes, and where.
struct draw_item {
  bool draws, jumps;
  uint32_t number;    // of the draw
  uint64_t slot;      // its commands
  uint64_t indirect;  // its numbers
  uint64_t draw_id;   // where its number is written
  uint64_t jump;      // where the jump is
  uint64_t target;    // where it goes to
};

PS_INLINE uint32_t buffers_of(uint32_t flags) {
  return ((flags & PACKSMITH_GENERATE_BASE) != 0) + ((flags & PACKSMITH_GENERATE_DRAW_ID) != 0);
}

// Dwords of a 3DSTATE_VERTEX_BUFFERS.
#define FIRST_BUFFER (GENX(3DSTATE_VERTEX_BUFFERS_VertexBufferState_start) / 32)
PS_INLINE uint32_t dwords_with_buffers(uint32_t buffers) {
  return FIRST_BUFFER + buffers * GENX(VERTEX_BUFFER_STATE_length);
}

PS_INLINE uint32_t dwords_of_slot(uint32_t flags) {
  const uint32_t buffers = buffers_of(flags);
  return (buffers == 0 ? 0 : dwords_with_buffers(buffers)) + DRAW(_length);
}

// count: the dword at p->count, if there is one.
PS_INLINE struct draw_item item_of(const draws_parameters* p, uint32_t item, uint32_t count) {
  const uint32_t slot_bytes = 4 * dwords_of_slot(p->flags);
  const uint32_t draws = p->count == 0 || count > p->max_draws ? p->max_draws : count;
  const uint32_t left = draws > p->draw_base ? draws - p->draw_base : 0;
  const uint32_t filled = left < p->items ? left : p->items;
  const bool ring = (p->flags & PACKSMITH_GENERATE_RING) != 0;
  struct draw_item to;
  to.number = p->draw_base + item;
  to.slot = p->commands + (uint64_t)item * slot_bytes;
  to.indirect = p->indirect + (uint64_t)to.number * p->stride;
  to.draw_id = p->draw_ids + (uint64_t)item * 4;
  to.draws = item < filled;
  to.jumps = item == (filled == 0 ? 0 : filled - 1) && (ring || filled < p->items);
  to.jump = filled == 0 ? to.slot : to.slot + slot_bytes;
  to.target = left > p->items ? p->next_pass : p->end;
  return to;
}

// words: the four or five dwords at the draw's indirect address.
PS_INLINE struct draw_numbers numbers_of(const draws_parameters* p, const uint32_t* words) {
  const bool indexed = (p->flags & PACKSMITH_GENERATE_INDEXED) != 0;
  struct draw_numbers numbers;
  numbers.vertices = words[0];
  numbers.instances = words[1] * p->instance_multiplier;
  numbers.start = words[2];
  numbers.first_vertex = words[indexed ? 3 : 2];
  numbers.base_vertex = indexed ? numbers.first_vertex : 0;
  numbers.start_instance = words[indexed ? 4 : 3];
  return numbers;
}

PS_INLINE ps_dwords write_buffer(const draws_parameters* p, uint32_t index, uint64_t at,
                                 uint32_t bytes, ps_dwords to) {
  struct GENX(VERTEX_BUFFER_STATE) buffer = {0};
  buffer.AddressModifyEnable = true;
  buffer.NullVertexBuffer = at == 0;
  buffer.VertexBufferIndex = CUT(index, VERTEX_BUFFER_STATE_VertexBufferIndex);
  buffer.MOCS = CUT(p->mocs, VERTEX_BUFFER_STATE_MOCS);
  buffer.BufferStartingAddress = at;
  buffer.BufferSize = bytes;
#if GENX(VERTEX_BUFFER_STATE_L3BypassDisable_bits)
  buffer.L3BypassDisable = true;
#endif
  WRITE(GENX(VERTEX_BUFFER_STATE_pack), to, &buffer);
  return to + GENX(VERTEX_BUFFER_STATE_length);
}

// What shaders read that the draw's packet does not have.
PS_INLINE ps_dwords write_buffers(const draws_parameters* p, const struct draw_item* item,
                                  ps_dwords to) {
  struct GENX(3DSTATE_VERTEX_BUFFERS) packet = {GENX(3DSTATE_VERTEX_BUFFERS_header)};
  packet.DWordLength =
      dwords_with_buffers(buffers_of(p->flags)) - GENX(3DSTATE_VERTEX_BUFFERS_length_bias);
  WRITE(GENX(3DSTATE_VERTEX_BUFFERS_pack), to, &packet);
  to += FIRST_BUFFER;
  if (p->flags & PACKSMITH_GENERATE_BASE) {
    // Base vertex and base instance are the last two numbers.
    const uint32_t base = p->flags & PACKSMITH_GENERATE_INDEXED ? 12 : 8;
    to = write_buffer(p, p->base_buffer, item->indirect + base, 8, to);
  }
  if (p->flags & PACKSMITH_GENERATE_DRAW_ID) {
    to = write_buffer(p, p->draw_id_buffer, item->draw_id, 4, to);
  }
  return to;
}

PS_INLINE void write_slot(const draws_parameters* p, const struct draw_item* item,
                          const uint32_t* words, ps_dwords to) {
  const struct draw_numbers numbers = numbers_of(p, words);
  struct DRAW() draw = {DRAW(_header)};
  if (buffers_of(p->flags) != 0) to = write_buffers(p, item, to);
  draw.PredicateEnable = (p->flags & PACKSMITH_GENERATE_PREDICATED) != 0;
  draw.VertexAccessType = p->flags & PACKSMITH_GENERATE_INDEXED ? GENX(RANDOM) : GENX(SEQUENTIAL);
#if GENX(3DPRIMITIVE_TBIMREnable_bits)
  draw.TBIMREnable = (p->flags & PACKSMITH_GENERATE_TBIMR) != 0;
#endif
  draw.VertexCountPerInstance = numbers.vertices;
  draw.InstanceCount = numbers.instances;
  draw.StartVertexLocation = numbers.start;
  draw.BaseVertexLocation = (int32_t)numbers.base_vertex;
  draw.StartInstanceLocation = numbers.start_instance;
#if GENX(3DPRIMITIVE_EXTENDED_length)
  // What 3DSTATE_VF_SGVS_2 lets shaders read, in the order of Mesa's anv (24.3, genX_cmd_draw.c).
  draw.ExtendedParameter0 = numbers.first_vertex;
  draw.ExtendedParameter1 = numbers.start_instance;
  draw.ExtendedParameter2 = item->number;
#endif
  WRITE(DRAW(_pack), to, &draw);
}

PS_INLINE void write_jump(uint64_t target, ps_dwords to) {
  struct GENX(MI_BATCH_BUFFER_START) jump = {GENX(MI_BATCH_BUFFER_START_header)};
  jump.AddressSpaceIndicator = GENX(ASI_PPGTT);
  jump.SecondLevelBatchBuffer = GENX(Firstlevelbatch);
  jump.BatchBufferStartAddress = target;
  WRITE(GENX(MI_BATCH_BUFFER_START_pack), to, &jump);
}

// One item, with all addresses in the memory of the program that runs it.
#define WORDS(address) ((ps_dwords)(uintptr_t)(address))
PS_INLINE void generate_draw(const draws_parameters* p, uint32_t item) {
  const struct draw_item to = item_of(p, item, p->count == 0 ? 0 : *WORDS(p->count));
  if (to.draws) {
    const ps_dwords numbers = WORDS(to.indirect);
    const uint32_t words[5] = {numbers[0], numbers[1], numbers[2], numbers[3],
                               p->flags & PACKSMITH_GENERATE_INDEXED ? numbers[4] : 0};
    if (p->flags & PACKSMITH_GENERATE_DRAW_ID) *WORDS(to.draw_id) = to.number;
    write_slot(p, &to, words, WORDS(to.slot));
  }
  if (to.jumps) write_jump(to.target, WORDS(to.jump));
}

#ifdef PS_OPENCL
// address: of a packsmith_generate_draws. A number, so that no compiler makes a surface of it. The
// parameters are copied, since compilers cannot know that commands do not overwrite them.
__attribute__((reqd_work_group_size(PACKSMITH_GENERATE_GROUP, 1, 1)))
kernel void generate_draws(ulong address) {
  const draws_parameters parameters = *(const global draws_parameters*)address;
  generate_draw(&parameters, get_global_id(0));
}
#endif
