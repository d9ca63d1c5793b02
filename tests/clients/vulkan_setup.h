// What all programs that use Vulkan need: a device of Intel's, queues, memory that the CPU sees.
#ifndef PACKSMITH_TESTS_CLIENTS_VULKAN_SETUP_H_
#define PACKSMITH_TESTS_CLIENTS_VULKAN_SETUP_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

// Ends the program with the place and the reason.
#define FAIL(...)                                   \
  do {                                              \
    fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
    fprintf(stderr, __VA_ARGS__);                   \
    fprintf(stderr, "\n");                          \
    exit(1);                                        \
  } while (0)
#define EXPECT(condition)                             \
  do {                                                \
    if (!(condition)) FAIL("not so: %s", #condition); \
  } while (0)
// Both as numbers without sign.
#define EXPECT_EQ(a, b)                                                             \
  do {                                                                              \
    const uint64_t a_ = (uint64_t)(a), b_ = (uint64_t)(b);                          \
    if (a_ != b_)                                                                   \
      FAIL("%s is %llu (0x%llx), not %llu (0x%llx)", #a, (unsigned long long)a_,    \
           (unsigned long long)a_, (unsigned long long)b_, (unsigned long long)b_); \
  } while (0)
#define GOOD(call)                                                      \
  do {                                                                  \
    const VkResult result_ = (call);                                    \
    if (result_ != VK_SUCCESS) FAIL("%s: VkResult %d", #call, result_); \
  } while (0)

static VkInstance instance;
static VkPhysicalDevice physical;
static VkPhysicalDeviceProperties properties;
static VkDevice device;
// Of the first family, which does everything. queues[1] is queues[0] if there is no other.
static VkQueue queues[2];
static uint32_t queue_count;
static VkCommandPool commands;
static VkBool32 has_conditional_rendering, has_transform_feedback;

static int has_extension(const char* name) {
  uint32_t count = 0;
  GOOD(vkEnumerateDeviceExtensionProperties(physical, NULL, &count, NULL));
  VkExtensionProperties* all = calloc(count, sizeof *all);
  GOOD(vkEnumerateDeviceExtensionProperties(physical, NULL, &count, all));
  int found = 0;
  for (uint32_t i = 0; i < count; ++i) found |= strcmp(all[i].extensionName, name) == 0;
  free(all);
  return found;
}

static void set_up(void) {
  const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                         .apiVersion = VK_API_VERSION_1_2};
  const VkInstanceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
  GOOD(vkCreateInstance(&create, NULL, &instance));
  VkPhysicalDevice all[8];
  uint32_t count = 8;
  vkEnumeratePhysicalDevices(instance, &count, all);
  for (uint32_t i = 0; i < count && physical == NULL; ++i) {
    vkGetPhysicalDeviceProperties(all[i], &properties);
    if (properties.vendorID == 0x8086) physical = all[i];
  }
  if (physical == NULL) FAIL("there is no GPU of Intel's");

  uint32_t families = 1;
  VkQueueFamilyProperties family;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &families, &family);
  queue_count = family.queueCount < 2 ? 1 : 2;
  const float priorities[2] = {1, 1};
  const VkDeviceQueueCreateInfo queue_create = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                                .queueCount = queue_count,
                                                .pQueuePriorities = priorities};
  VkPhysicalDeviceTransformFeedbackFeaturesEXT feedback = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_FEATURES_EXT};
  VkPhysicalDeviceConditionalRenderingFeaturesEXT conditional = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT,
      .pNext = &feedback};
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
      .pNext = &conditional};
  VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                        .pNext = &timeline};
  vkGetPhysicalDeviceFeatures2(physical, &features);
  const char* extensions[2];
  uint32_t extension_count = 0;
  if (has_extension("VK_EXT_conditional_rendering")) {
    has_conditional_rendering = conditional.conditionalRendering;
    extensions[extension_count++] = "VK_EXT_conditional_rendering";
  }
  if (has_extension("VK_EXT_transform_feedback")) {
    has_transform_feedback = feedback.transformFeedback;
    extensions[extension_count++] = "VK_EXT_transform_feedback";
  }
  const VkDeviceCreateInfo device_create = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                            .pNext = &features,
                                            .queueCreateInfoCount = 1,
                                            .pQueueCreateInfos = &queue_create,
                                            .enabledExtensionCount = extension_count,
                                            .ppEnabledExtensionNames = extensions};
  GOOD(vkCreateDevice(physical, &device_create, NULL, &device));
  for (uint32_t i = 0; i < 2; ++i) vkGetDeviceQueue(device, 0, i < queue_count ? i : 0, &queues[i]);
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  GOOD(vkCreateCommandPool(device, &pool, NULL, &commands));
}

static void tear_down(void) {
  GOOD(vkDeviceWaitIdle(device));
  vkDestroyCommandPool(device, commands, NULL);
  vkDestroyDevice(device, NULL);
  vkDestroyInstance(instance, NULL);
}

// A buffer for all uses, with memory that the CPU sees at once.
typedef struct {
  VkBuffer buffer;
  VkDeviceMemory memory;
  uint32_t* words;
  uint64_t* longs;  // the same memory
} Buffer;

static uint32_t memory_type(uint32_t bits, VkMemoryPropertyFlags wanted) {
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical, &memory);
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i)
    if ((bits >> i & 1) && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
  FAIL("there is no memory with properties 0x%x", wanted);
}

static Buffer make_buffer(VkDeviceSize size, int fill) {
  Buffer made;
  const VkBufferCreateInfo create = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = size,
      .usage =
          VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
          VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
          VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
          (has_conditional_rendering ? VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT : 0) |
          (has_transform_feedback ? VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_BUFFER_BIT_EXT |
                                        VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_COUNTER_BUFFER_BIT_EXT
                                  : 0)};
  GOOD(vkCreateBuffer(device, &create, NULL, &made.buffer));
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device, made.buffer, &needs);
  const VkMemoryAllocateInfo allocate = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
      .allocationSize = needs.size,
      .memoryTypeIndex =
          memory_type(needs.memoryTypeBits,
                      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)};
  GOOD(vkAllocateMemory(device, &allocate, NULL, &made.memory));
  GOOD(vkBindBufferMemory(device, made.buffer, made.memory, 0));
  void* at;
  GOOD(vkMapMemory(device, made.memory, 0, VK_WHOLE_SIZE, 0, &at));
  memset(at, fill, needs.size);
  made.words = at;
  made.longs = at;
  return made;
}

static void free_buffer(Buffer buffer) {
  vkDestroyBuffer(device, buffer.buffer, NULL);
  vkFreeMemory(device, buffer.memory, NULL);
}

static VkCommandBuffer begin(void) {
  const VkCommandBufferAllocateInfo allocate = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .commandPool = commands,
      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
      .commandBufferCount = 1};
  VkCommandBuffer made;
  GOOD(vkAllocateCommandBuffers(device, &allocate, &made));
  const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  GOOD(vkBeginCommandBuffer(made, &info));
  return made;
}

static VkFence make_fence(void) {
  const VkFenceCreateInfo create = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  VkFence fence;
  GOOD(vkCreateFence(device, &create, NULL, &fence));
  return fence;
}

#define SECOND 1000000000ull

// Ends the command buffer and submits it. `next`: more for the submission, or NULL.
static void submit(VkCommandBuffer buffer, VkQueue queue, VkFence fence) {
  GOOD(vkEndCommandBuffer(buffer));
  const VkSubmitInfo info = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &buffer};
  GOOD(vkQueueSubmit(queue, 1, &info, fence));
}

// Submits, and waits until it is done.
static void finish(VkCommandBuffer buffer) {
  const VkFence fence = make_fence();
  submit(buffer, queues[0], fence);
  GOOD(vkWaitForFences(device, 1, &fence, VK_TRUE, 20 * SECOND));
  vkDestroyFence(device, fence, NULL);
}

static VkQueryPool make_queries(VkQueryType type, uint32_t count, uint32_t statistics) {
  const VkQueryPoolCreateInfo create = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = type,
                                        .queryCount = count,
                                        .pipelineStatistics = statistics};
  VkQueryPool pool;
  GOOD(vkCreateQueryPool(device, &create, NULL, &pool));
  return pool;
}

// For what the CPU reads, and for what the GPU reads that the GPU has written.
static void barrier(VkCommandBuffer buffer) {
  const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT |
                                                VK_ACCESS_MEMORY_WRITE_BIT |
                                                VK_ACCESS_HOST_READ_BIT};
  vkCmdPipelineBarrier(buffer, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &all,
                       0, NULL, 0, NULL);
}

#endif  // PACKSMITH_TESTS_CLIENTS_VULKAN_SETUP_H_
