// A triangle from nothing, on any generation from Gfx8 to Xe3, which is chosen when the program
// runs. Shaders are not included, since a compiler makes them.
//
//   triangle GENERATION [--device=host] CORE            writes the job to a file
//   triangle GENERATION --device=/dev/dri/renderD128    runs it on that GPU, or its mock

#include <cstdio>
#include <cstring>
#include <string>

#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "runtime/intel/driver/command_buffer.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/generation_driver.h"
#include "runtime/intel/driver/graphics_pipeline.h"

using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example
using example::Must;

constexpr float kCorners[][2] = {{0, -0.5f}, {0.5f, 0.5f}, {-0.5f, 0.5f}};

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const auto generation = FindGenerationDriver(name);
  if (!generation.ok()) {
    std::fprintf(stderr, "%s\n", generation.status().ToString().c_str());
    return 2;
  }
  const example::DeviceOption option(argc - 1, argv + 1, "CORE");

  // Page: triangle
  const auto device = option.Open({.device = {.family = "intel",
                                              .generation = name,
                                              .verx10 = static_cast<int>((*generation)->version)}});
  const auto context = Must(Context::Create(*device, {}));

  const Buffer vertices = Must(context->NewBuffer(sizeof(kCorners), "vertices"));
  std::memcpy(vertices.cpu, kCorners, sizeof(kCorners));
  const Image target = Must(context->NewImage({.format = "R8G8B8A8_UNORM",
                                               .surface_format = SurfaceFormat::R8G8B8A8_UNORM,
                                               .width = 256,
                                               .height = 128,
                                               .name = "target"}));

  const uint8_t code[64] = {};  // a compiler's work
  const uint32_t kernel = Must(context->NewKernel(code));
  const VertexShader vertex{.entry = {.offset = kernel, .start_register = 2}, .urb_read_length = 1};
  const FragmentShader fragment{.simd16 = ShaderEntry{.offset = kernel, .start_register = 4}};
  const VertexAttribute attributes[] = {{.format = SurfaceFormat::R32G32_FLOAT}};
  const BlendTarget blend[] = {{}};
  const auto pipeline = Must(context->NewGraphicsPipeline({
      .shaders = {.vertex = &vertex, .fragment = &fragment},
      .vertices = {.attributes = attributes},
      .blend = {.targets = blend},
  }));

  const auto commands = Must(context->NewCommandBuffer({}));
  const ImageSurface colors[] = {context->SurfaceOf(target, SurfacePurpose::kRenderTarget)};
  const VertexBuffer buffers[] = {{.memory = {vertices.address, vertices.handle},
                                   .size = sizeof(kCorners),
                                   .stride = sizeof(kCorners[0])}};
  commands->Bind(*pipeline);
  commands->SetTargets({.colors = colors});
  commands->SetVertexBuffers(buffers);
  commands->Draw({.vertices = 3});

  const Fence fence = Must(context->Submit(*commands));  // returns the first error, if any
  example::Expect(Must(context->Wait(fence, absl::Seconds(10))), "the triangle is drawn");
  // End
  option.KeepCores();
}
