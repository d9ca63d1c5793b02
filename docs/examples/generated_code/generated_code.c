// What docs/generated-code.md shows of C, built and run. Each block of the page is here between
// "// Page: <name>" and "// End", and a test compares the two.
#include <stdint.h>
#include <stdio.h>

// Page: c-hooks
struct driver_address {
  uint64_t gpu;
  unsigned handle;
};
struct driver_batch {
  unsigned relocations;
};
#define __gen_address_type struct driver_address
#define __gen_user_data struct driver_batch
#define __gen_combine_address(batch, location, address, delta) \
  ((batch)->relocations++, (void)(location), (address).gpu + (delta))
#include "packsmith/c/gfx9_pack.h"
// End
#include "packsmith/c/gfx9_bits.h"

static int failures;

static void expect(bool holds, const char* what) {
  if (!holds) {
    printf("does not hold: %s\n", what);
    ++failures;
  }
}

int main(void) {
  struct driver_batch batch = {0};
  uint32_t dw[GFX9_PIPE_CONTROL_length];

  // Page: c-pack
  struct GFX9_PIPE_CONTROL flush = {GFX9_PIPE_CONTROL_header};
  flush.DCFlushEnable = true;
  flush.PostSyncOperation = WriteImmediateData;
  flush.Address.gpu = 0x10000;
  flush.ImmediateData = 1;
  GFX9_PIPE_CONTROL_pack(&batch, dw, &flush);
  // End
  expect(dw[0] == 0x7a000004 && batch.relocations == 1, "opcodes come with _header");
  expect(dw[1] == (1u << 5 | 1u << 14) && dw[2] == 0x10000, "values");

  // Page: c-bits
  const unsigned start = GFX9_PIPE_CONTROL_PostSyncOperation_start;  // 46
  const unsigned bits = GFX9_PIPE_CONTROL_PostSyncOperation_bits;    // 2
  const unsigned operation = dw[start / 32] >> start % 32 & ((1u << bits) - 1);
  // End
  expect(operation == 1, "positions");

  // Page: c-length
  struct GFX9_MI_STORE_DATA_IMM store = {GFX9_MI_STORE_DATA_IMM_header};
  store.DWordLength = 5 - GFX9_MI_STORE_DATA_IMM_length_bias;  // the default is 4 dwords
  store.ImmediateData = 0x100000007;
  GFX9_MI_STORE_DATA_IMM_pack(&batch, dw, &store);  // dw[3] is 7, dw[4] is 1
  // End
  expect(dw[0] == 0x10000003 && dw[3] == 7 && dw[4] == 1, "the caller's length");
  return failures == 0 ? 0 : 1;
}
