// What a driver may need besides the ten steps of docs/driver.md: a cache of pipelines, fills,
// clears, queries, conditions, stream output, the values of draws, and meshes. On Xe2, which has
// all of them. The argument is that of device.h.
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "runtime/intel/driver/command_buffer.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/graphics_pipeline.h"
#include "runtime/intel/shader/pipeline_cache.h"

using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example
using example::Must;

namespace {

constexpr uint32_t kWidth = 256, kHeight = 128;

// Page: cached
// A hit needs no compiler: the cache has the packets and the code of the kernels.
std::unique_ptr<GraphicsPipeline> PipelineOf(Context& context, absl::Span<const uint8_t> source) {
  const CacheKey key = CacheKeyOf(source);
  if (auto found = context.FindGraphicsPipeline(key); found.ok()) return *std::move(found);
  const std::vector<uint8_t> code(64);  // compiled from the source
  const uint32_t kernel = Must(context.NewKernel(code));
  const VertexShader vertex{.entry = {.offset = kernel, .start_register = 2}};
  const FragmentShader fragment{.simd16 = ShaderEntry{.offset = kernel, .start_register = 4}};
  const StreamedVarying written[] = {{.what = Varying::kPosition}};
  const BlendTarget targets[] = {{}};
  return Must(context.NewGraphicsPipeline({.shaders = {.vertex = &vertex, .fragment = &fragment},
                                           .blend = {.targets = targets},
                                           .stream_output = {.varyings = written, .strides = {16}},
                                           .key = &key}));
}
// End

// Page: fill
// Without a shader: texels by the copy engine, and dwords of buffers.
Fence FillImage(Context& context, const Image& image) {
  const auto copies = Must(context.NewCommandBuffer({.engine = Engine::kCopy}));
  copies->Fill(ImageFill{.destination = {.image = &image},
                         .width = image.width(),
                         .height = image.height(),
                         .texel = {0x20, 0x40, 0x80, 0xff}});
  return Must(context.Submit(*copies));
}
// End

// Page: clear
// Depth that has hierarchical depth is cleared, and resolved for shaders, between draws.
void ClearDepth(CommandBuffer& commands, const RenderTargets& targets) {
  commands.SetTargets(targets);
  commands.Operate({.clear_depth = true, .depth_value = 1});
  // ... draws ...
  commands.Operate({.operation = DepthOperation::kResolveDepth});
}
// End

// Page: queries
// The second draw is executed if the first one drew a sample.
void DrawIfVisible(CommandBuffer& commands, const QueryPool& pool, const DrawCall& box,
                   const DrawCall& object) {
  QueryRecorder& queries = commands.queries();
  queries.Reset(pool, 0, 1);
  queries.Begin(pool, 0);
  commands.Draw(box);
  queries.End(pool, 0);
  queries.SetCondition(pool, 0);
  commands.Draw(object);
  queries.EndCondition();
}
// End

// Page: stream
// Vertices go to a buffer, and are drawn from there.
void DrawTwice(CommandBuffer& commands, const Buffer& vertices, const Buffer& sizes) {
  const packsmith::address written = {sizes.address, sizes.handle};
  const packsmith::address memory = {vertices.address, vertices.handle};
  commands.BeginStreamOutput({{.memory = memory, .size = vertices.size, .written = written}});
  commands.Draw({.vertices = 3});
  commands.EndStreamOutput();
  const VertexBuffer buffers[] = {{.memory = memory, .size = vertices.size, .stride = 16}};
  commands.SetVertexBuffers(buffers);
  commands.Draw(StreamOutputDraw{.written = written, .stride = 16});
}
// End

// Page: values
// One pipeline for many objects: each draw's vertices read its number.
std::unique_ptr<GraphicsPipeline> NumberedPipeline(Context& context, uint32_t kernel) {
  const VertexShader vertex{.entry = {.offset = kernel, .start_register = 2}, .urb_read_length = 1};
  const FragmentShader fragment{.simd16 = ShaderEntry{.offset = kernel, .start_register = 4}};
  const BlendTarget targets[] = {{}};
  return Must(
      context.NewGraphicsPipeline({.shaders = {.vertex = &vertex, .fragment = &fragment},
                                   .vertices = {.ids = {.first_vertex = true, .draw = true}},
                                   .blend = {.targets = targets}}));
}
void DrawObjects(CommandBuffer& commands, const GraphicsPipeline& pipeline, uint32_t objects) {
  commands.Bind(pipeline);
  for (uint32_t i = 0; i < objects; ++i) {
    commands.Draw({.vertices = 36, .first = 36 * i, .number = i});
  }
}
// End

// Page: mesh
// From Gfx12.5 on. What sizes the URB's entries have is the compiler's decision.
std::unique_ptr<GraphicsPipeline> MeshPipeline(Context& context, uint32_t kernel) {
  const MeshShader mesh{.group = {.entry = kernel, .invocations = 32},
                        .most_primitives = 16,
                        .vertex_pitch_bytes = 64};
  const FragmentShader fragment{.simd16 = ShaderEntry{.offset = kernel, .start_register = 4}};
  const BlendTarget targets[] = {{}};
  return Must(context.NewGraphicsPipeline({.shaders = {.fragment = &fragment},
                                           .mesh = &mesh,
                                           .blend = {.targets = targets},
                                           .mesh_urb_units = 20}));
}
void DrawMeshes(CommandBuffer& commands, const GraphicsPipeline& pipeline) {
  const uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  commands.Bind(pipeline);
  commands.SetMeshData(MeshStage::kMesh, data);  // in the payload of each thread
  commands.Draw(MeshDrawCall{.x = 8, .y = 4});
}
// End

}  // namespace

int main(int argc, char** argv) {
  const example::DeviceOption option(argc, argv, "FILL_CORE FRAME_CORE", 2);
  const auto device =
      option.Open({.device = {.family = "intel", .generation = "xe2", .verx10 = 200}});
  // Page: cache
  PipelineCache pipelines({.identity = "lunarlake 0x64a0, my driver 1.0"});
  const auto context = Must(Context::Create(*device, {.pipelines = &pipelines}));
  // pipelines.Load(path) at the beginning, and Save(path) at the end: the next run maps the file.
  // End
  const Image target = Must(context->NewImage({.format = "R8G8B8A8_UNORM",
                                               .surface_format = SurfaceFormat::R8G8B8A8_UNORM,
                                               .width = kWidth,
                                               .height = kHeight,
                                               .name = "target"}));
  const Image depth = Must(context->NewImage({.format = "Z32_FLOAT",
                                              .surface_format = SurfaceFormat::R32_FLOAT,
                                              .width = kWidth,
                                              .height = kHeight,
                                              .name = "depth"}));
  const Buffer blocks = Must(context->NewBuffer(64 << 10, "hierarchical"));
  const Buffer vertices = Must(context->NewBuffer(4096, "vertices"));
  const Buffer sizes = Must(context->NewBuffer(64, "sizes"));
  const Fence filled = FillImage(*context, target);
  example::Expect(Must(context->Wait(filled, absl::Seconds(10))), "the target is filled");

  const uint8_t source[] = {'m', 'y', ' ', 's', 'h', 'a', 'd', 'e', 'r'};
  const auto first = PipelineOf(*context, source);
  const auto pipeline = PipelineOf(*context, source);  // a hit
  const auto meshes = MeshPipeline(*context, Must(context->NewKernel(std::vector<uint8_t>(64))));
  const auto numbered =
      NumberedPipeline(*context, Must(context->NewKernel(std::vector<uint8_t>(64))));
  const Queries samples = Must(context->NewQueries({.kind = QueryKind::kOcclusion}));

  const auto commands = Must(context->NewCommandBuffer({}));
  const ImageSurface colors[] = {context->SurfaceOf(target, SurfacePurpose::kRenderTarget)};
  const ImageSurface surface = context->SurfaceOf(depth, SurfacePurpose::kRenderTarget);
  ClearDepth(
      *commands,
      {.colors = colors,
       .depth = &surface,
       .hierarchical = {.memory = {blocks.address, blocks.handle}, .pitch = 512, .qpitch = 128}});
  commands->Bind(*pipeline);
  commands->SetVertexBuffers({});
  DrawIfVisible(*commands, samples.pool, {.vertices = 36}, {.vertices = 3});
  DrawTwice(*commands, vertices, sizes);
  DrawObjects(*commands, *numbered, 3);
  DrawMeshes(*commands, *meshes);
  const Fence drawn = Must(context->Submit(*commands));
  example::Expect(Must(context->Wait(drawn, absl::Seconds(10))), "all is drawn");
  example::Expect(pipelines.statistics().hits == 1, "the second pipeline is a hit");
  option.KeepCores();
}
