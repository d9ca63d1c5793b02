/* A driver in C: a small command buffer, as it would be written into a buffer of the GPU. */
#include <stdint.h>
#include <stdio.h>

/* What an address is, is the driver's to say. This one has buffers, and notes which of them the
 * command buffer refers to. */
struct buffer {
   uint64_t gpu_address;
   int is_used;
};
struct driver_address {
   struct buffer *buffer;
   uint64_t offset;
};
struct command_buffer {
   uint32_t dwords[64];
   unsigned length;
};
#define __gen_address_type struct driver_address
#define __gen_user_data struct command_buffer

static uint64_t __gen_combine_address(struct command_buffer *commands, void *location,
                                      struct driver_address address, uint32_t delta)
{
   (void)commands;
   (void)location;
   /* The address of a packet that has been given none. */
   if (!address.buffer)
      return address.offset + delta;
   address.buffer->is_used = 1;
   return address.buffer->gpu_address + address.offset + delta;
}

#include "packsmith/c/gfx9_pack.h"

/* Room for a packet. A real driver would chain another buffer when this one is full. */
static uint32_t *room(struct command_buffer *commands, unsigned dwords)
{
   uint32_t *at = commands->dwords + commands->length;
   commands->length += dwords;
   return at;
}

/* Runs the block that follows once, with `packet` at its defaults, and then packs it. */
#define EMIT(commands, type, packet) \
   for (struct type packet = { type##_header }, *once_ = &packet; once_; \
        type##_pack(commands, room(commands, type##_length), &packet), once_ = NULL)

int main(void)
{
   struct buffer results = { .gpu_address = 0x200000 };
   struct command_buffer commands = { .length = 0 };

   EMIT(&commands, GFX9_PIPE_CONTROL, flush) {
      flush.DCFlushEnable = true;
      flush.CommandStreamerStallEnable = true;
   }
   EMIT(&commands, GFX9_MI_STORE_DATA_IMM, store) {
      store.Address = (struct driver_address){ &results, 8 };
      store.ImmediateData = 42;
   }
   EMIT(&commands, GFX9_MI_BATCH_BUFFER_END, end) {}

   for (unsigned i = 0; i < commands.length; i++)
      printf("%08x%s", commands.dwords[i], i + 1 < commands.length ? " " : "\n");
   return results.is_used ? 0 : 1;
}
