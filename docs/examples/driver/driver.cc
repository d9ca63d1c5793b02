// A small driver in ten steps: docs/driver.md. It uploads a texture with the copy engine, draws
// with it, computes from what was drawn, and reads the result.
//
//   driver GENERATION [--device=host] UPLOAD_CORE FRAME_CORE
//   driver GENERATION --device=/dev/dri/renderD128

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "runtime/intel/driver/command_buffer.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/generation_driver.h"
#include "runtime/intel/driver/graphics_pipeline.h"

using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example
using example::Must;

namespace {

constexpr uint32_t kTextureSize = 64, kWidth = 256, kHeight = 128;

struct Vertex {
  float position[2], texture[2];
};
constexpr Vertex kCorners[] = {{{-0.5f, -0.5f}, {0, 0}},
                               {{0.5f, -0.5f}, {1, 0}},
                               {{-0.5f, 0.5f}, {0, 1}},
                               {{0.5f, 0.5f}, {1, 1}}};
constexpr uint16_t kIndices[] = {0, 1, 2, 2, 1, 3};
constexpr float kColor[4] = {1, 0.5f, 0.25f, 1};

template <class T, size_t N>
Buffer BufferOf(Context& context, const char* name, const T (&values)[N]) {
  const Buffer buffer = Must(context.NewBuffer(sizeof(values), name));
  std::memcpy(buffer.cpu, values, sizeof(values));
  return buffer;
}

template <class T, size_t N>
absl::Span<const uint8_t> BytesOf(const T (&values)[N]) {
  return {reinterpret_cast<const uint8_t*>(values), sizeof(values)};
}

// Page: upload
// Texels go to their places in tiles by the copy engine.
Fence Upload(Context& context, const Image& texture) {
  const std::vector<uint32_t> texels(kTextureSize * kTextureSize, 0xff0000ff);
  const Buffer staging = Must(context.NewBuffer(texels.size() * 4, "staging"));
  std::memcpy(staging.cpu, texels.data(), texels.size() * 4);

  const auto copies = Must(context.NewCommandBuffer({.engine = Engine::kCopy}));
  copies->Copy(BufferImageCopy{.buffer = staging,
                               .image = {.image = &texture},
                               .width = kTextureSize,
                               .height = kTextureSize});
  copies->Keep(staging);  // released when the copy is done
  return Must(context.Submit(*copies));
}
// End

// Page: pipeline
// What is known when a pipeline is created. The offsets are those of a compiler's kernels.
std::unique_ptr<GraphicsPipeline> MakePipeline(Context& context, uint32_t kernel) {
  VertexShader vertex{.entry = {.offset = kernel, .start_register = 2}, .urb_read_length = 1};
  FragmentShader fragment{.simd16 = ShaderEntry{.offset = kernel, .start_register = 4}};
  fragment.program = {.binding_table_entries = 2, .samplers = 1};
  fragment.constants = true;
  // The vertex shader writes one location, which the fragment shader interpolates.
  const Varying written[] = {Location(0)};
  FragmentInputs inputs;
  inputs.Add({.what = Location(0)});
  fragment.inputs = inputs.count;
  fragment.barycentrics = BarycentricsOf(inputs, /*per_sample=*/false);

  const VertexAttribute attributes[] = {
      {.format = SurfaceFormat::R32G32_FLOAT, .offset = offsetof(Vertex, position)},
      {.format = SurfaceFormat::R32G32_FLOAT, .offset = offsetof(Vertex, texture)},
  };
  const BlendTarget targets[] = {BlendTarget::Over()};
  return Must(context.NewGraphicsPipeline({
      .shaders = {.vertex = &vertex, .fragment = &fragment},
      .varyings = written,
      .inputs = inputs,
      .vertices = {.attributes = attributes},
      .rasterization = {.cull = CullMode::kBack},
      .depth_stencil = {.depth_test = true, .depth_write = true, .depth_compare = Compare::kLess},
      .blend = {.targets = targets},
      .constants = {false, false, false, false, true},
  }));
}
// End

struct Scene {
  Image texture, target, depth;
  Buffer vertices, indices, counts;
};

// Page: draw
void RecordDraw(CommandBuffer& commands, const GraphicsPipeline& pipeline, const Scene& scene) {
  const Context& context = commands.context();
  commands.Bind(pipeline);
  const ImageSurface colors[] = {context.SurfaceOf(scene.target, SurfacePurpose::kRenderTarget)};
  const ImageSurface depth = context.SurfaceOf(scene.depth, SurfacePurpose::kRenderTarget);
  commands.SetTargets({.colors = colors, .depth = &depth});
  const VertexBuffer buffers[] = {{.memory = {scene.vertices.address, scene.vertices.handle},
                                   .size = sizeof(kCorners),
                                   .stride = sizeof(Vertex)}};
  commands.SetVertexBuffers(buffers);
  commands.SetIndexBuffer({.memory = {scene.indices.address, scene.indices.handle},
                           .size = sizeof(kIndices),
                           .type = IndexType::kUint16});
  // What the fragment shader reaches: entry 1 of its binding table, after the target.
  const View texture =
      commands.MakeView(context.SurfaceOf(scene.texture, SurfacePurpose::kTexture));
  commands.SetViews(BindingStage::kPixel, {texture});
  const Sampler samplers[] = {{.min_filter = Filter::kLinear, .mag_filter = Filter::kLinear}};
  commands.SetSamplers(BindingStage::kPixel, samplers);
  commands.SetConstants(BindingStage::kPixel, BytesOf(kColor));
  commands.Draw({.vertices = 6, .indexed = true});
}
// End

// Page: dispatch
// A compute shader reads what was drawn, and counts. The barrier between the two is emitted, since
// the target was a target before.
void RecordDispatch(CommandBuffer& commands, uint32_t code, const Scene& scene) {
  const Context& context = commands.context();
  ComputeKernel kernel;
  kernel.simd16() = {.present = true, .offset = code};
  kernel.local_size = {8, 8, 1};
  kernel.constant_bytes = 32;
  commands.Bind(kernel);
  const View drawn = commands.MakeView(context.SurfaceOf(scene.target, SurfacePurpose::kTexture));
  const View counts =
      commands.MakeView(BufferSurface{.memory = {scene.counts.address, scene.counts.handle},
                                      .writable = true,
                                      .size = scene.counts.size,
                                      .mocs = context.mocs()});
  commands.SetViews(BindingStage::kCompute, {drawn, counts});
  const uint32_t size[8] = {kWidth, kHeight};
  commands.SetConstants(BindingStage::kCompute, BytesOf(size));
  commands.Dispatch({.x = kWidth / 8, .y = kHeight / 8});
}
// End

// Page: image
Image NewImage(Context& context, const char* name, const char* format, uint32_t surface_format,
               uint32_t width, uint32_t height) {
  return Must(context.NewImage({.format = format,
                                .surface_format = surface_format,
                                .width = width,
                                .height = height,
                                .name = name}));
}
// End

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const auto generation = FindGenerationDriver(name);
  if (!generation.ok()) {
    std::fprintf(stderr, "%s\n", generation.status().ToString().c_str());
    return 2;
  }
  const example::DeviceOption option(argc - 1, argv + 1, "UPLOAD_CORE FRAME_CORE", 2);
  const auto device = option.Open({.device = {.family = "intel",
                                              .generation = name,
                                              .verx10 = static_cast<int>((*generation)->version)}});
  // Page: context
  const auto context = Must(Context::Create(*device, {}));
  // End

  const uint32_t rgba = SurfaceFormat::R8G8B8A8_UNORM;
  const Scene scene = {
      .texture = NewImage(*context, "texture", "R8G8B8A8_UNORM", rgba, kTextureSize, kTextureSize),
      .target = NewImage(*context, "target", "R8G8B8A8_UNORM", rgba, kWidth, kHeight),
      .depth = NewImage(*context, "depth", "Z32_FLOAT", SurfaceFormat::R32_FLOAT, kWidth, kHeight),
      .vertices = BufferOf(*context, "vertices", kCorners),
      .indices = BufferOf(*context, "indices", kIndices),
      .counts = Must(context->NewBuffer(4096, "counts")),
  };
  // Page: kernel
  const std::vector<uint8_t> code(256);  // zeros, an illegal instruction: a compiler has better
  const uint32_t kernel = Must(context->NewKernel(code));
  // End
  const Fence uploaded = Upload(*context, scene.texture);
  const auto pipeline = MakePipeline(*context, kernel);

  // Page: secondary
  // Recorded once, perhaps in another thread, and run any number of times.
  const auto part = Must(context->NewCommandBuffer({.secondary = true}));
  RecordDraw(*part, *pipeline, scene);
  Must(part->End());

  const auto frame = Must(context->NewCommandBuffer({}));
  frame->Execute(*part);
  // End
  RecordDispatch(*frame, kernel, scene);
  // Page: submit
  const BufferCopy copy{
      .source = scene.counts, .destination = scene.counts, .destination_offset = 64, .size = 4};
  frame->Barrier();  // what the compute shader has written is visible to what follows
  frame->Copy(copy);
  const Fence drawn = Must(context->Submit(*frame, {uploaded}));
  example::Expect(Must(context->Wait(drawn, absl::Seconds(10))), "the frame is drawn");
  // End
  // Page: reset
  Must(frame->Reset());  // for the next frame; its job is done
  // End
  uint32_t first_texel = 0;
  std::memcpy(&first_texel, scene.texture.memory.cpu, 4);
  std::printf("texel %08x\n", first_texel);
  option.KeepCores();
}
