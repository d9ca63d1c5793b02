// Vulkan with shaders: vulkan_shaders VERTEX.spv FRAGMENT.spv COMPUTE.spv. What shaders write is
// not looked at, but what the GPU counts is. Prints "NAME: good" for each part.
#include "vulkan_setup.h"

enum { kWidth = 64 };

static VkShaderModule load(const char* path) {
  static uint32_t words[16384];
  FILE* file = fopen(path, "rb");
  if (file == NULL) FAIL("%s cannot be opened", path);
  const VkShaderModuleCreateInfo create = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = 4 * fread(words, 4, 16384, file),
                                           .pCode = words};
  fclose(file);
  VkShaderModule made;
  GOOD(vkCreateShaderModule(device, &create, NULL, &made));
  return made;
}

static VkImage image;
static VkRenderPass pass;
static VkFramebuffer framebuffer;
static VkPipeline draws, dispatches;
static VkPipelineLayout draw_layout, dispatch_layout;
static VkDescriptorSet set;
static Buffer parameters, numbers;

static void make_target(void) {
  const VkImageCreateInfo create = {
      .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
      .imageType = VK_IMAGE_TYPE_2D,
      .format = VK_FORMAT_R8G8B8A8_UNORM,
      .extent = {kWidth, kWidth, 1},
      .mipLevels = 1,
      .arrayLayers = 1,
      .samples = VK_SAMPLE_COUNT_1_BIT,
      .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
  GOOD(vkCreateImage(device, &create, NULL, &image));
  VkMemoryRequirements needs;
  vkGetImageMemoryRequirements(device, image, &needs);
  const VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = memory_type(needs.memoryTypeBits, 0)};
  VkDeviceMemory memory;
  GOOD(vkAllocateMemory(device, &allocate, NULL, &memory));
  GOOD(vkBindImageMemory(device, image, memory, 0));
  const VkImageViewCreateInfo view_create = {
      .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
      .image = image,
      .viewType = VK_IMAGE_VIEW_TYPE_2D,
      .format = create.format,
      .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
  VkImageView view;
  GOOD(vkCreateImageView(device, &view_create, NULL, &view));

  const VkAttachmentDescription attachment = {.format = create.format,
                                              .samples = VK_SAMPLE_COUNT_1_BIT,
                                              .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                              .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                              .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
  const VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
  const VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                        .colorAttachmentCount = 1,
                                        .pColorAttachments = &reference};
  const VkRenderPassCreateInfo pass_create = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                              .attachmentCount = 1,
                                              .pAttachments = &attachment,
                                              .subpassCount = 1,
                                              .pSubpasses = &subpass};
  GOOD(vkCreateRenderPass(device, &pass_create, NULL, &pass));
  const VkFramebufferCreateInfo framebuffer_create = {
      .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
      .renderPass = pass,
      .attachmentCount = 1,
      .pAttachments = &view,
      .width = kWidth,
      .height = kWidth,
      .layers = 1};
  GOOD(vkCreateFramebuffer(device, &framebuffer_create, NULL, &framebuffer));
}

static void make_draw_pipeline(const char* vertex, const char* fragment) {
  const VkPipelineShaderStageCreateInfo stages[2] = {
      {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
       .stage = VK_SHADER_STAGE_VERTEX_BIT,
       .module = load(vertex),
       .pName = "main"},
      {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
       .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
       .module = load(fragment),
       .pName = "main"}};
  const VkPipelineVertexInputStateCreateInfo input = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
  const VkPipelineInputAssemblyStateCreateInfo assembly = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
      .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
  const VkViewport viewport = {0, 0, kWidth, kWidth, 0, 1};
  const VkRect2D scissor = {.extent = {kWidth, kWidth}};
  const VkPipelineViewportStateCreateInfo viewports = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
      .viewportCount = 1,
      .pViewports = &viewport,
      .scissorCount = 1,
      .pScissors = &scissor};
  const VkPipelineRasterizationStateCreateInfo raster = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
  const VkPipelineMultisampleStateCreateInfo samples = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
      .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
  const VkPipelineColorBlendAttachmentState written = {.colorWriteMask = 0xf};
  const VkPipelineColorBlendStateCreateInfo blend = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
      .attachmentCount = 1,
      .pAttachments = &written};
  const VkPipelineLayoutCreateInfo layout = {.sType =
                                                 VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  GOOD(vkCreatePipelineLayout(device, &layout, NULL, &draw_layout));
  const VkGraphicsPipelineCreateInfo create = {
      .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
      .stageCount = 2,
      .pStages = stages,
      .pVertexInputState = &input,
      .pInputAssemblyState = &assembly,
      .pViewportState = &viewports,
      .pRasterizationState = &raster,
      .pMultisampleState = &samples,
      .pColorBlendState = &blend,
      .layout = draw_layout,
      .renderPass = pass};
  GOOD(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &create, NULL, &draws));
}

static void make_dispatch_pipeline(const char* compute) {
  const VkDescriptorSetLayoutBinding binding = {.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                .descriptorCount = 1,
                                                .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  const VkDescriptorSetLayoutCreateInfo set_create = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = 1,
      .pBindings = &binding};
  VkDescriptorSetLayout set_layout;
  GOOD(vkCreateDescriptorSetLayout(device, &set_create, NULL, &set_layout));
  const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .setLayoutCount = 1,
                                             .pSetLayouts = &set_layout};
  GOOD(vkCreatePipelineLayout(device, &layout, NULL, &dispatch_layout));
  const VkComputePipelineCreateInfo create = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = load(compute),
                .pName = "main"},
      .layout = dispatch_layout};
  GOOD(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &create, NULL, &dispatches));
  const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
  const VkDescriptorPoolCreateInfo pool_create = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
      .maxSets = 1,
      .poolSizeCount = 1,
      .pPoolSizes = &size};
  VkDescriptorPool pool;
  GOOD(vkCreateDescriptorPool(device, &pool_create, NULL, &pool));
  const VkDescriptorSetAllocateInfo allocate = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
      .descriptorPool = pool,
      .descriptorSetCount = 1,
      .pSetLayouts = &set_layout};
  GOOD(vkAllocateDescriptorSets(device, &allocate, &set));
  const VkDescriptorBufferInfo whole = {numbers.buffer, 0, VK_WHOLE_SIZE};
  const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = set,
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                      .pBufferInfo = &whole};
  vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
}

// One thing to draw: 3 vertices, unless parameters in memory say otherwise.
typedef void (*Draw)(VkCommandBuffer);

static void direct(VkCommandBuffer buffer) { vkCmdDraw(buffer, 3, 1, 0, 0); }
// 6 vertices, 2 instances.
static void indirect(VkCommandBuffer buffer) {
  vkCmdDrawIndirect(buffer, parameters.buffer, 0, 1, 16);
}
// That, then 9 vertices.
static void indirect_twice(VkCommandBuffer buffer) {
  vkCmdDrawIndirect(buffer, parameters.buffer, 0, 2, 16);
}
// 12 indices, 3 instances.
static void indexed_indirect(VkCommandBuffer buffer) {
  vkCmdBindIndexBuffer(buffer, parameters.buffer, 1024, VK_INDEX_TYPE_UINT16);
  vkCmdDrawIndexedIndirect(buffer, parameters.buffer, 64, 1, 20);
}
// The number of draws is in memory too: 1 of 2.
static void counted(VkCommandBuffer buffer) {
  vkCmdDrawIndirectCount(buffer, parameters.buffer, 0, parameters.buffer, 128, 2, 16);
}

static void conditional(VkCommandBuffer buffer, VkDeviceSize offset, int inverted) {
  const PFN_vkCmdBeginConditionalRenderingEXT begin_conditional =
      (PFN_vkCmdBeginConditionalRenderingEXT)vkGetDeviceProcAddr(
          device, "vkCmdBeginConditionalRenderingEXT");
  const PFN_vkCmdEndConditionalRenderingEXT end_conditional =
      (PFN_vkCmdEndConditionalRenderingEXT)vkGetDeviceProcAddr(device,
                                                               "vkCmdEndConditionalRenderingEXT");
  const VkConditionalRenderingBeginInfoEXT info = {
      .sType = VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT,
      .buffer = parameters.buffer,
      .offset = offset,
      .flags = inverted ? VK_CONDITIONAL_RENDERING_INVERTED_BIT_EXT : 0};
  begin_conditional(buffer, &info);
  direct(buffer);
  end_conditional(buffer);
}
enum { kZero = 192, kOne = 196, kWritten = 200 };
static void if_zero(VkCommandBuffer buffer) { conditional(buffer, kZero, 0); }
static void if_one(VkCommandBuffer buffer) { conditional(buffer, kOne, 0); }
static void if_not_zero(VkCommandBuffer buffer) { conditional(buffer, kZero, 1); }
static void if_not_one(VkCommandBuffer buffer) { conditional(buffer, kOne, 1); }
static void if_written(VkCommandBuffer buffer) { conditional(buffer, kWritten, 0); }

// Draws, and expects the GPU to have counted these vertices and triangles.
static void draw(const char* name, Draw what, uint64_t vertices, uint64_t triangles) {
  const VkQueryPool statistics =
      make_queries(VK_QUERY_TYPE_PIPELINE_STATISTICS, 1,
                   VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_VERTICES_BIT |
                       VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_PRIMITIVES_BIT);
  const VkQueryPool time = make_queries(VK_QUERY_TYPE_TIMESTAMP, 1, 0);
  VkCommandBuffer buffer = begin();
  vkCmdResetQueryPool(buffer, statistics, 0, 1);
  vkCmdResetQueryPool(buffer, time, 0, 1);
  if (what == if_written) {
    // The GPU writes the condition itself: that a result is available.
    vkCmdWriteTimestamp(buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, time, 0);
    vkCmdCopyQueryPoolResults(buffer, time, 0, 1, parameters.buffer, kWritten - 4, 8,
                              VK_QUERY_RESULT_WAIT_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
    barrier(buffer);
  }
  vkCmdBeginQuery(buffer, statistics, 0, 0);
  const VkClearValue colour = {.color = {.float32 = {0, 0, 1, 1}}};
  const VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                      .renderPass = pass,
                                      .framebuffer = framebuffer,
                                      .renderArea = {.extent = {kWidth, kWidth}},
                                      .clearValueCount = 1,
                                      .pClearValues = &colour};
  vkCmdBeginRenderPass(buffer, &info, VK_SUBPASS_CONTENTS_INLINE);
  vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, draws);
  what(buffer);
  vkCmdEndRenderPass(buffer);
  vkCmdEndQuery(buffer, statistics, 0);
  const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {kWidth, kWidth, 1}};
  vkCmdCopyImageToBuffer(buffer, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, numbers.buffer, 1,
                         &region);
  finish(buffer);
  uint64_t counted_values[2];
  GOOD(vkGetQueryPoolResults(device, statistics, 0, 1, 16, counted_values, 16,
                             VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
  if (counted_values[0] != vertices || counted_values[1] != triangles)
    FAIL("%s: %llu vertices in %llu triangles, not %llu in %llu", name,
         (unsigned long long)counted_values[0], (unsigned long long)counted_values[1],
         (unsigned long long)vertices, (unsigned long long)triangles);
  vkDestroyQueryPool(device, statistics, NULL);
  vkDestroyQueryPool(device, time, NULL);
  printf("%s: good\n", name);
  fflush(stdout);
}

// Once with numbers in the packet, and once with numbers in memory.
static void dispatch(void) {
  VkCommandBuffer buffer = begin();
  vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, dispatches);
  vkCmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch_layout, 0, 1, &set, 0,
                          NULL);
  vkCmdDispatch(buffer, 4, 3, 2);
  barrier(buffer);
  vkCmdDispatchIndirect(buffer, parameters.buffer, 160);
  barrier(buffer);
  finish(buffer);
  printf("dispatch: good\n");
  fflush(stdout);
}

int main(int argc, char** argv) {
  if (argc != 4) FAIL("give three files of SPIR-V");
  set_up();
  parameters = make_buffer(4096, 0);
  numbers = make_buffer(4 * kWidth * kWidth, 0);
  static const VkDrawIndirectCommand draw_commands[2] = {{6, 2, 0, 0}, {9, 1, 0, 0}};
  static const VkDrawIndexedIndirectCommand indexed = {12, 3, 0, 0, 0};
  static const VkDispatchIndirectCommand groups = {5, 7, 11};
  memcpy(parameters.words, draw_commands, sizeof draw_commands);
  memcpy(parameters.words + 16, &indexed, sizeof indexed);
  parameters.words[32] = 1;
  memcpy(parameters.words + 40, &groups, sizeof groups);
  parameters.words[kOne / 4] = 1;
  make_target();
  make_draw_pipeline(argv[1], argv[2]);
  make_dispatch_pipeline(argv[3]);

  draw("draw", direct, 3, 1);
  draw("indirect", indirect, 12, 4);
  draw("indirect twice", indirect_twice, 21, 7);
  draw("indexed indirect", indexed_indirect, 36, 12);
  if (has_extension("VK_KHR_draw_indirect_count")) draw("counted", counted, 12, 4);
  if (has_conditional_rendering) {
    draw("if zero", if_zero, 0, 0);
    draw("if one", if_one, 3, 1);
    draw("if not zero", if_not_zero, 3, 1);
    draw("if not one", if_not_one, 0, 0);
    draw("if written", if_written, 3, 1);
  }
  dispatch();
  free_buffer(parameters);
  free_buffer(numbers);
  tear_down();
  return 0;
}
