// Vulkan without shaders: vulkan_client TEST. Prints what it found, and "good" at the end.
#include <time.h>

#include "vulkan_setup.h"

static uint64_t now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (uint64_t)at.tv_sec * SECOND + (uint64_t)at.tv_nsec;
}

static void sleep_ms(long ms) {
  const struct timespec time = {.tv_nsec = ms * 1000000};
  nanosleep(&time, NULL);
}

static uint64_t nanoseconds(uint64_t ticks) {
  return (uint64_t)((double)ticks * properties.limits.timestampPeriod);
}

// Two in one command buffer, and one that is submitted 20 ms later: the GPU's time passes as the
// CPU's does.
static void timestamps(void) {
  const VkQueryPool pool = make_queries(VK_QUERY_TYPE_TIMESTAMP, 3, 0);
  const uint64_t before = now();
  VkCommandBuffer buffer = begin();
  vkCmdResetQueryPool(buffer, pool, 0, 3);
  vkCmdWriteTimestamp(buffer, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool, 0);
  barrier(buffer);
  vkCmdWriteTimestamp(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 1);
  finish(buffer);
  const uint64_t between = now();
  uint64_t values[3];
  EXPECT_EQ(
      vkGetQueryPoolResults(device, pool, 0, 3, sizeof values, values, 8, VK_QUERY_RESULT_64_BIT),
      VK_NOT_READY);
  sleep_ms(20);
  const uint64_t later = now();
  buffer = begin();
  vkCmdWriteTimestamp(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 2);
  finish(buffer);
  const uint64_t after = now();
  GOOD(vkGetQueryPoolResults(device, pool, 0, 3, sizeof values, values, 8,
                             VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
  printf("%llu %llu %llu, period %g ns\n", (unsigned long long)values[0],
         (unsigned long long)values[1], (unsigned long long)values[2],
         (double)properties.limits.timestampPeriod);
  EXPECT(values[0] <= values[1] && values[1] < values[2]);
  // Within what the CPU saw, but for the rounding to ticks.
  const uint64_t slack = 2 * (uint64_t)properties.limits.timestampPeriod + 1;
  EXPECT(nanoseconds(values[1] - values[0]) <= between - before + slack);
  EXPECT(nanoseconds(values[2] - values[1]) + slack >= later - between);
  EXPECT(nanoseconds(values[2] - values[0]) <= after - before + slack);
  vkDestroyQueryPool(device, pool, NULL);
}

static VkEvent make_event(void) {
  const VkEventCreateInfo create = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
  VkEvent event;
  GOOD(vkCreateEvent(device, &create, NULL, &event));
  return event;
}

static void events(void) {
  const VkEvent event = make_event();
  EXPECT_EQ(vkGetEventStatus(device, event), VK_EVENT_RESET);
  VkCommandBuffer buffer = begin();
  vkCmdSetEvent(buffer, event, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
  finish(buffer);
  EXPECT_EQ(vkGetEventStatus(device, event), VK_EVENT_SET);
  buffer = begin();
  vkCmdResetEvent(buffer, event, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
  finish(buffer);
  EXPECT_EQ(vkGetEventStatus(device, event), VK_EVENT_RESET);
  buffer = begin();
  vkCmdResetEvent(buffer, event, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
  vkCmdSetEvent(buffer, event, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
  finish(buffer);
  EXPECT_EQ(vkGetEventStatus(device, event), VK_EVENT_SET);
  vkDestroyEvent(device, event, NULL);
}

// The GPU waits until the CPU sets the event, and a second submission after it too.
static void host_event(void) {
  const VkEvent event = make_event(), behind = make_event();
  const VkFence fence = make_fence();
  VkCommandBuffer buffer = begin();
  vkCmdWaitEvents(buffer, 1, &event, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                  0, NULL, 0, NULL, 0, NULL);
  submit(buffer, queues[0], VK_NULL_HANDLE);
  buffer = begin();
  vkCmdSetEvent(buffer, behind, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
  submit(buffer, queues[0], fence);
  EXPECT_EQ(vkWaitForFences(device, 1, &fence, VK_TRUE, SECOND / 50), VK_TIMEOUT);
  EXPECT_EQ(vkGetFenceStatus(device, fence), VK_NOT_READY);
  EXPECT_EQ(vkGetEventStatus(device, behind), VK_EVENT_RESET);
  GOOD(vkSetEvent(device, event));
  GOOD(vkWaitForFences(device, 1, &fence, VK_TRUE, 20 * SECOND));
  EXPECT_EQ(vkGetEventStatus(device, behind), VK_EVENT_SET);
  vkDestroyFence(device, fence, NULL);
  vkDestroyEvent(device, event, NULL);
  vkDestroyEvent(device, behind, NULL);
}

// Results that the GPU copies are those that the CPU reads; of those that are not available only
// that is written.
static void query_copy(void) {
  const VkQueryPool pool = make_queries(VK_QUERY_TYPE_TIMESTAMP, 3, 0);
  const Buffer to = make_buffer(4096, 0xaa);
  VkCommandBuffer buffer = begin();
  vkCmdResetQueryPool(buffer, pool, 0, 3);
  vkCmdWriteTimestamp(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 0);
  vkCmdWriteTimestamp(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 1);
  vkCmdCopyQueryPoolResults(
      buffer, pool, 0, 2, to.buffer, 64, 32,
      VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT | VK_QUERY_RESULT_WAIT_BIT);
  vkCmdCopyQueryPoolResults(buffer, pool, 0, 2, to.buffer, 256, 8,
                            VK_QUERY_RESULT_WAIT_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
  vkCmdCopyQueryPoolResults(buffer, pool, 2, 1, to.buffer, 512, 16,
                            VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
  barrier(buffer);
  finish(buffer);
  uint64_t values[2];
  GOOD(vkGetQueryPoolResults(device, pool, 0, 2, sizeof values, values, 8,
                             VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
  EXPECT(values[0] != 0 && values[1] >= values[0]);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(to.longs[8 + 4 * i], values[i]);
    EXPECT_EQ(to.longs[8 + 4 * i + 1], 1);
    EXPECT_EQ(to.words[64 + 2 * i], (uint32_t)values[i]);
    EXPECT_EQ(to.words[64 + 2 * i + 1], 1);
  }
  EXPECT_EQ(to.longs[65], 0);
  // Nothing else changed.
  EXPECT_EQ(to.longs[7], 0xaaaaaaaaaaaaaaaaull);
  EXPECT_EQ(to.longs[10], 0xaaaaaaaaaaaaaaaaull);
  EXPECT_EQ(to.longs[14], 0xaaaaaaaaaaaaaaaaull);
  EXPECT_EQ(to.words[68], 0xaaaaaaaau);
  EXPECT_EQ(to.longs[66], 0xaaaaaaaaaaaaaaaaull);
  free_buffer(to);
  vkDestroyQueryPool(device, pool, NULL);
}

static VkSemaphore make_timeline(void) {
  const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo create = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
  VkSemaphore semaphore;
  GOOD(vkCreateSemaphore(device, &create, NULL, &semaphore));
  return semaphore;
}

static void submit_between(VkCommandBuffer buffer, VkQueue queue, VkSemaphore semaphore,
                           uint64_t wait, uint64_t signal) {
  GOOD(vkEndCommandBuffer(buffer));
  const VkTimelineSemaphoreSubmitInfo values = {
      .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
      .waitSemaphoreValueCount = 1,
      .pWaitSemaphoreValues = &wait,
      .signalSemaphoreValueCount = 1,
      .pSignalSemaphoreValues = &signal};
  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                             .pNext = &values,
                             .waitSemaphoreCount = 1,
                             .pWaitSemaphores = &semaphore,
                             .pWaitDstStageMask = &stage,
                             .commandBufferCount = 1,
                             .pCommandBuffers = &buffer,
                             .signalSemaphoreCount = 1,
                             .pSignalSemaphores = &semaphore};
  GOOD(vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE));
}

// The later work is submitted first; both wait for the CPU.
static void timeline(void) {
  EXPECT_EQ(queue_count, 2);
  const VkQueryPool pool = make_queries(VK_QUERY_TYPE_TIMESTAMP, 2, 0);
  const VkSemaphore semaphore = make_timeline();
  VkCommandBuffer buffer = begin();
  vkCmdResetQueryPool(buffer, pool, 0, 2);
  finish(buffer);
  buffer = begin();
  vkCmdWriteTimestamp(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 1);
  submit_between(buffer, queues[1], semaphore, 2, 3);
  buffer = begin();
  vkCmdWriteTimestamp(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 0);
  submit_between(buffer, queues[0], semaphore, 1, 2);
  sleep_ms(10);
  uint64_t value = 99;
  GOOD(vkGetSemaphoreCounterValue(device, semaphore, &value));
  EXPECT_EQ(value, 0);
  const VkSemaphoreSignalInfo signal = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = semaphore, .value = 1};
  GOOD(vkSignalSemaphore(device, &signal));
  value = 3;
  const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                    .semaphoreCount = 1,
                                    .pSemaphores = &semaphore,
                                    .pValues = &value};
  GOOD(vkWaitSemaphores(device, &wait, 20 * SECOND));
  GOOD(vkGetSemaphoreCounterValue(device, semaphore, &value));
  EXPECT_EQ(value, 3);
  uint64_t times[2];
  GOOD(vkGetQueryPoolResults(device, pool, 0, 2, sizeof times, times, 8, VK_QUERY_RESULT_64_BIT));
  EXPECT(times[0] != 0 && times[0] <= times[1]);
  GOOD(vkDeviceWaitIdle(device));
  vkDestroySemaphore(device, semaphore, NULL);
  vkDestroyQueryPool(device, pool, NULL);
}

// Prints which of the three the GPU did: a driver may make draws of them, and need shaders.
static void transfers(void) {
  const Buffer from = make_buffer(8192, 0x11), to = make_buffer(8192, 0);
  static const uint32_t update[4] = {1, 2, 3, 4};
  VkCommandBuffer buffer = begin();
  vkCmdFillBuffer(buffer, to.buffer, 256, 1024, 0xfeedbeef);
  vkCmdUpdateBuffer(buffer, to.buffer, 2048, sizeof update, update);
  const VkBufferCopy region = {.srcOffset = 128, .dstOffset = 4096, .size = 512};
  vkCmdCopyBuffer(buffer, from.buffer, to.buffer, 1, &region);
  barrier(buffer);
  finish(buffer);
  // Whole or not at all, and nothing beside.
  for (uint32_t i = 0; i < 2048; ++i) {
    uint32_t wanted = 0;
    if (i >= 64 && i < 320 && to.words[64] != 0) wanted = 0xfeedbeef;
    if (i >= 512 && i < 516 && to.words[512] != 0) wanted = update[i - 512];
    if (i >= 1024 && i < 1152 && to.words[1024] != 0) wanted = 0x11111111;
    EXPECT_EQ(to.words[i], wanted);
  }
  printf("fill %s, update %s, copy %s\n", to.words[64] ? "done" : "not done",
         to.words[512] ? "done" : "not done", to.words[1024] ? "done" : "not done");
  free_buffer(from);
  free_buffer(to);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } tests[] = {{"timestamps", timestamps}, {"events", events},     {"host-event", host_event},
               {"query-copy", query_copy}, {"timeline", timeline}, {"transfers", transfers}};
  set_up();
  for (int i = 1; i < argc; ++i) {
    size_t at = 0;
    while (at < sizeof tests / sizeof *tests && strcmp(tests[at].name, argv[i]) != 0) ++at;
    if (at == sizeof tests / sizeof *tests) FAIL("there is no test %s", argv[i]);
    tests[at].run();
    printf("%s: good\n", argv[i]);
    fflush(stdout);
  }
  tear_down();
  return 0;
}
