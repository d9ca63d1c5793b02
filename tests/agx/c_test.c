/* What sources of drivers for AGX write in C. Compiled as C++ too. */
#define _DEFAULT_SOURCE /* Anonymous memory. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "packsmith/c/agx_g13_pack.h"

static void expect(const void* bytes, const char* hex, unsigned size) {
  for (unsigned i = 0; i < size; ++i) {
    unsigned byte = 0;
    sscanf(hex + 2 * i, "%2x", &byte);
    assert(((const uint8_t*)bytes)[i] == byte);
  }
}

static void blocks_start_from_their_defaults(void) {
  uint8_t out[AGX_CULL_2_LENGTH];
  agx_pack(out, CULL_2, cfg) {
    cfg.needs_primitive_id = true;
    cfg.clamp_w = true;
  }
  expect(out, "20100000", 4);

  uint8_t region[AGX_REGION_CLIP_LENGTH];
  agx_pack(region, REGION_CLIP, cfg) { cfg.enable = true; }
  expect(region, "0000008000000000", 8); /* Max X and Max Y are 1, stored less 1. */
}

static void blocks_run_once_and_take_expressions(void) {
  struct agx_varying_counts_packed packed;
  int times = 0;
  agx_pack(&packed, VARYING_COUNTS, cfg) {
    cfg.smooth = 7;
    ++times;
  }
  assert(times == 1 && packed.opaque[0] == 7);
}

static void opcodes_are_written_and_no_members(void) {
  uint32_t link[2];
  agx_pack(link, VDM_STREAM_LINK, cfg) {
    cfg.target_hi = 0x11;
    cfg.target_lo = 0x22334000;
    cfg.with_return = true;
  }
  assert(link[0] == 0x90000011 && link[1] == 0x22334000);

  struct AGX_FRAGMENT_CONTROL control = {AGX_FRAGMENT_CONTROL_header};
  uint32_t word = 0;
  AGX_FRAGMENT_CONTROL_pack(&word, &control);
  assert(word == 1u << 9); /* Unk 1 is always set. */
}

static void small_records_write_no_more_than_their_bytes(void) {
  uint8_t out[16];
  memset(out, 0xcd, sizeof(out));
  agx_pack(out, USC_NO_PRESHADER, cfg) {}
  expect(out, "8800cdcdcdcdcdcd", 8);
  memset(out, 0xcd, sizeof(out));
  agx_pack(out, USC_SHADER, cfg) {
    cfg.loads_varyings = true;
    cfg.unk_2 = 3;
    cfg.code = 0x12345678;
  }
  expect(out, "0d0d78563412cdcd", 8);
  assert(AGX_USC_SHADER_LENGTH == 6 && AGX_USC_NO_PRESHADER_LENGTH == 2);
}

/* Memory of so many bytes, behind which there is none. */
static uint8_t* before_the_end(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void* const pages =
      mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert(pages != MAP_FAILED);
  uint8_t* const end = (uint8_t*)pages + page;
  assert(mprotect(end, page, PROT_NONE) == 0);
  return end - bytes;
}

static void nothing_behind_a_record_is_touched(void) {
  uint8_t* const two = before_the_end(AGX_USC_NO_PRESHADER_LENGTH);
  agx_pack(two, USC_NO_PRESHADER, cfg) {}
  struct AGX_USC_NO_PRESHADER none;
  assert(AGX_USC_NO_PRESHADER_unpack(stderr, two, &none));

  uint8_t* const six = before_the_end(AGX_USC_SHADER_LENGTH);
  agx_pack(six, USC_SHADER, cfg) { cfg.code = 0xfedcba98; }
  agx_unpack(stderr, six, USC_SHADER, shader);
  assert(shader.code == 0xfedcba98);

  uint8_t* const twelve = before_the_end(AGX_DEPTH_BIAS_LENGTH);
  agx_pack(twelve, DEPTH_BIAS, cfg) { cfg.clamp = 0.5f; }
  agx_unpack(stderr, twelve, DEPTH_BIAS, bias);
  assert(bias.clamp == 0.5f);
}

/* Macros of a driver's own, on top of what the header has. */
#define usc_pack(head, NAME, cfg)                                     \
  for (bool once = true; once; head += AGX_USC_##NAME##_LENGTH)       \
    for (struct AGX_USC_##NAME cfg = {AGX_USC_##NAME##_header}; once; \
         AGX_USC_##NAME##_pack(head, &cfg), once = false)
#define push(head, NAME, cfg) \
  for (unsigned once = 0; once < 1; ++once, head += AGX_##NAME##_LENGTH) agx_pack(head, NAME, cfg)

static void drivers_build_macros_of_these(void) {
  uint8_t bytes[64], *head = bytes;
  usc_pack(head, SHARED, cfg) { cfg.layout = AGX_SHARED_LAYOUT_VERTEX_COMPUTE; }
  usc_pack(head, SHADER, cfg) { cfg.code = 0x777; }
  usc_pack(head, REGISTERS, cfg) { cfg.register_count = 32; }
  usc_pack(head, NO_PRESHADER, cfg) {}
  assert(head == bytes + 16);
  expect(bytes, "4d9000000d00770700008d0400008800", 16);

  /* Records that begin with an enumeration and have no default but zero, and one with neither. */
  head = bytes;
  push(head, FRAGMENT_CONTROL, cfg) { cfg.pass_type = AGX_PASS_TYPE_TRANSLUCENT; }
  push(head, VDM_STATE_VERTEX_UNKNOWN, cfg) { cfg.flat_shading_control = AGX_VDM_VERTEX_2; }
  push(head, VIEWPORT_CONTROL, cfg) {}
  assert(head == bytes + 12);
  expect(bytes, "000200200200000000000000", 12);
}

static void levels_of_detail_are_clamped(void) {
  uint32_t out[2];
  agx_pack(out, SAMPLER, cfg) {
    cfg.minimum_lod = -3.0f;
    cfg.maximum_lod = 1000.0f;
    cfg.magnify = AGX_FILTER_LINEAR;
    cfg.wrap_s = AGX_WRAP_CLAMP_GL;
  }
  assert((out[0] & 0x3ff) == 0 && (out[0] >> 10 & 0x3ff) == 14 * 64);
  agx_unpack(stderr, out, SAMPLER, got);
  assert(got.maximum_lod == 14.0f && got.wrap_s == AGX_WRAP_CLAMP_GL);
}

static void counts_of_groups_have_all_of_them_as_default(void) {
  uint32_t word = ~0u;
  agx_pack(&word, COUNTS, cfg) {
    assert(cfg.preshader_register_count == 256 && cfg.uniform_register_count == 512);
  }
  assert(word == 0);
  agx_pack(&word, COUNTS, cfg) {
    cfg.preshader_register_count = 0; /* Still takes a group. */
    cfg.uniform_register_count = 65;
    cfg.texture_state_register_count = 8;
    cfg.sampler_state_register_count = AGX_SAMPLER_STATES_16_COMPACT;
  }
  assert(word == (2u << 1 | 1u << 4 | 4u << 9 | 1u << 12));
}

static void addresses_are_stored_without_their_low_bits(void) {
  uint32_t out[2];
  agx_pack(out, USC_UNIFORM, cfg) {
    cfg.start_halfs = 4;
    cfg.size_halfs = 64;
    cfg.buffer = 0xff12345678;
  }
  agx_unpack(NULL, out, USC_UNIFORM, got);
  assert(got.buffer == 0xff12345678 && got.size_halfs == 64 && got.start_halfs == 4);
  assert((out[0] & 0xff) == 0x1d);
}

static void unpacking_says_whether_all_is_as_described(void) {
  uint8_t bytes[AGX_TEXTURE_LENGTH];
  struct AGX_TEXTURE texture;
  agx_pack(bytes, TEXTURE, cfg) {
    cfg.dimension = AGX_TEXTURE_DIMENSION_2D;
    cfg.channels = AGX_CHANNELS_R8G8B8A8;
    cfg.width = 640;
    cfg.height = 480;
    cfg.address = 0x1234500;
  }
  assert(AGX_TEXTURE_unpack(NULL, bytes, &texture));
  assert(texture.width == 640 && texture.height == 480 && texture.address == 0x1234500);
  bytes[8] |= 2; /* Bit 65: nobody knows it. */
  assert(!AGX_TEXTURE_unpack(NULL, bytes, &texture));
  assert(texture.width == 640);

  uint32_t link[2] = {0x80000000, 0};
  struct AGX_VDM_STREAM_LINK got;
  assert(AGX_VDM_STREAM_LINK_unpack(NULL, (const uint8_t*)link, &got));
  link[0] = 0x60000000; /* An Index List. */
  assert(!AGX_VDM_STREAM_LINK_unpack(NULL, (const uint8_t*)link, &got));
}

static void packed_words_merge(void) {
  struct agx_fragment_face_packed first = {{0}}, second = {{0}};
  agx_pack(&first, FRAGMENT_FACE, cfg) { cfg.stencil_reference = 0x5a; }
  agx_pack(&second, FRAGMENT_FACE, cfg) {
    cfg.line_width = 0x0f;
    cfg.depth_function = AGX_ZS_FUNC_LEQUAL;
  }
  agx_merge(first, second, FRAGMENT_FACE);
  assert(first.opaque[0] == (0x5au | 0x0f00 | 3u << 24));
}

static void records_print_a_member_a_line(void) {
  struct AGX_INDEX_LIST list = {AGX_INDEX_LIST_header};
  char text[2000];
  FILE* file = tmpfile();
  size_t size = 0;
  assert(file != NULL);
  list.primitive = AGX_PRIMITIVE_TRIANGLE_STRIP;
  list.index_buffer_hi = 0x12;
  agx_print(file, INDEX_LIST, list, 2);
  rewind(file);
  size = fread(text, 1, sizeof(text) - 1, file);
  text[size] = 0;
  assert(strstr(text, "  Index buffer hi: 18\n") != NULL);
  assert(strstr(text, "  Primitive: Triangle strip (9)\n") != NULL);
  assert(strstr(text, "  Restart enable: false\n") != NULL);
  fclose(file);
  assert(strcmp(agx_primitive_as_str(AGX_PRIMITIVE_QUADS), "Quads") == 0);
  assert(agx_primitive_as_str((enum agx_primitive)7) == NULL);
}

int main(void) {
  blocks_start_from_their_defaults();
  blocks_run_once_and_take_expressions();
  opcodes_are_written_and_no_members();
  small_records_write_no_more_than_their_bytes();
  nothing_behind_a_record_is_touched();
  drivers_build_macros_of_these();
  levels_of_detail_are_clamped();
  counts_of_groups_have_all_of_them_as_default();
  addresses_are_stored_without_their_low_bits();
  unpacking_says_whether_all_is_as_described();
  packed_words_merge();
  records_print_a_member_a_line();
  return 0;
}
