// Submissions to i915 from Gfx8 on, each of which stores its number: `session_client COUNT [ADDRESS
// [die]]`. Prints a line for each, with the number that is in memory afterwards or the call that
// failed, and then what the kernel says of hangs. With an address, the last submission stores
// there; with a third argument, the program then kills itself.
#define _GNU_SOURCE
#include <signal.h>

#include "tests/tools/mock/gpu_calls.h"

enum {
  kPage = 4096,
  kStore = 0x10000002,  // MI_STORE_DATA_IMM of a dword
  kBatchEnd = 0x05000000,
};
static const uint64_t kData = 0x400000, kBatch = 0x800000;

int main(int argc, char** argv) {
  CHECK(argc > 1);
  const uint32_t count = (uint32_t)atoi(argv[1]);
  const int fd = OpenNode("/dev/dri/renderD128");
  struct i915_context_create context = {0, 0, 0};
  CHECK(ioctl(fd, I915_CONTEXT_CREATE, &context) == 0);
  const uint32_t data = I915Create(fd, kPage), batch = I915Create(fd, kPage);
  uint32_t* const results = I915Map(fd, data, kPage);
  uint32_t* const commands = I915Map(fd, batch, kPage);
  struct i915_exec_object objects[] = {I915Pinned(data, kData), I915Pinned(batch, kBatch)};
  for (uint32_t i = 1; i <= count; ++i) {
    const uint64_t to = argc > 2 && i == count ? strtoull(argv[2], NULL, 0) : kData;
    const uint32_t words[] = {kStore, (uint32_t)to, (uint32_t)(to >> 32), i, kBatchEnd};
    memcpy(commands, words, sizeof(words));
    struct i915_gem_wait wait = {batch, 0, -1};
    if (I915Submit(fd, objects, 2, I915_NO_RELOC, context.ctx_id) != 0) {
      printf("submit: %s\n", strerrorname_np(errno));
    } else if (ioctl(fd, I915_GEM_WAIT, &wait) != 0) {
      printf("wait: %s\n", strerrorname_np(errno));
    } else {
      printf("%u\n", results[0]);
    }
  }
  if (argc > 3) CHECK(raise(SIGKILL) == 0);
  struct i915_reset_stats stats = {context.ctx_id, 0, 0, 0, 0, 0};
  CHECK(ioctl(fd, I915_GET_RESET_STATS, &stats) == 0);
  printf("active %u, pending %u\n", stats.batch_active, stats.batch_pending);
  return 0;
}
