// What draws and dispatches cost through command buffers (runtime/intel/driver), beside copying the
// bytes that they write to the batch and to states; and draws of two threads.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/intel/driver/command_buffer.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/graphics_pipeline.h"
#include "runtime/memory/host_device.h"

namespace packsmith::bench {
namespace {

using namespace packsmith::intel;  // NOLINT: the library that is measured

// Draws of one recording.
constexpr int kDraws = 1000;

template <class T>
T Must(absl::StatusOr<T> made) {
  if (!made.ok()) std::abort();
  return *std::move(made);
}

// A context, and what draws take. Shared by all threads.
struct Scene {
  std::unique_ptr<gpu::HostDevice> device = Must(
      gpu::HostDevice::Create({.device = {.family = "intel", .generation = "gfx9", .verx10 = 90}}));
  std::unique_ptr<Context> context = Must(Context::Create(*device, {}));
  gpu::Buffer vertices = Must(context->NewBuffer(4096, "vertices"));
  Image texture = NewImage("texture"), target = NewImage("target");
  uint32_t kernel = Must(context->NewKernel(std::array<uint8_t, 64>()));
  std::unique_ptr<GraphicsPipeline> pipeline = NewPipeline();
  std::unique_ptr<GraphicsPipeline> dynamic = NewPipeline(kDynamicCull | kDynamicDepth);

  Image NewImage(const char* name) {
    return Must(context->NewImage({.format = "R8G8B8A8_UNORM",
                                   .surface_format = SurfaceFormat::R8G8B8A8_UNORM,
                                   .width = 64,
                                   .height = 64,
                                   .name = name}));
  }
  std::unique_ptr<GraphicsPipeline> NewPipeline(DynamicStates dynamic = 0) {
    const VertexShader vertex{.entry = {.offset = kernel, .start_register = 2},
                              .urb_read_length = 1};
    const FragmentShader fragment{.simd16 = ShaderEntry{.offset = kernel, .start_register = 4}};
    const VertexAttribute attributes[] = {{.format = SurfaceFormat::R32G32_FLOAT}};
    const BlendTarget targets[] = {{}};
    return Must(context->NewGraphicsPipeline({.shaders = {.vertex = &vertex, .fragment = &fragment},
                                              .vertices = {.attributes = attributes},
                                              .blend = {.targets = targets},
                                              .constants = {true, false, false, false, true},
                                              .dynamic = dynamic}));
  }
};
Scene& SharedScene() {
  static Scene scene;
  return scene;
}

// A command buffer that has drawn once.
struct Recorded {
  explicit Recorded(Scene& scene) : commands(Must(scene.context->NewCommandBuffer({}))) {
    Begin(scene);
  }
  void Begin(Scene& scene) {
    const ImageSurface colors[] = {
        scene.context->SurfaceOf(scene.target, SurfacePurpose::kRenderTarget)};
    commands->Bind(*scene.pipeline);
    commands->SetTargets({.colors = colors});
    for (uint32_t i = 0; i < 2; ++i) {
      buffers[i] = {.memory = {scene.vertices.address + i * 64, scene.vertices.handle},
                    .size = 24,
                    .stride = 8};
      views[i] =
          commands->MakeView(scene.context->SurfaceOf(scene.texture, SurfacePurpose::kTexture));
    }
    commands->SetVertexBuffers({buffers.data(), 1});
    commands->SetViews(BindingStage::kPixel, {views.data(), 1});
    if (!commands->Draw({.vertices = 3})) std::abort();
  }
  void Again(Scene& scene) {
    if (!commands->Reset().ok()) std::abort();
    Begin(scene);
  }
  // Vertices, a texture and constants are others than before.
  void DrawOther(uint32_t number) {
    commands->SetVertexBuffers({&buffers[number % 2], 1});
    commands->SetViews(BindingStage::kPixel, {&views[number % 2], 1});
    const uint32_t constants[8] = {number};
    commands->SetConstants(BindingStage::kPixel,
                           {reinterpret_cast<const uint8_t*>(constants), sizeof(constants)});
    commands->Draw({.vertices = 3});
  }

  std::unique_ptr<CommandBuffer> commands;
  std::array<VertexBuffer, 2> buffers;
  std::array<View, 2> views;
};

// Bytes of packets that `draw` writes, and of its constants.
template <class F>
size_t BytesOf(F draw) {
  Recorded recorded(SharedScene());
  const size_t before = recorded.commands->batch().dwords();
  for (uint32_t i = 0; i < 100; ++i) draw(recorded, i);
  return (recorded.commands->batch().dwords() - before) * 4 / 100 + 32;
}

template <class F>
void Record(benchmark::State& state, F draw) {
  Recorded recorded(SharedScene());
  uint32_t number = 0;
  for (auto _ : state) {
    draw(recorded, number);
    if (++number % kDraws == 0) recorded.Again(SharedScene());
  }
  if (!recorded.commands->status().ok()) state.SkipWithError("a draw was refused");
  state.SetItemsProcessed(state.iterations());
}

void DrawSame(benchmark::State& state) {
  Record(state, [](Recorded& recorded, uint32_t) { recorded.commands->Draw({.vertices = 3}); });
}
BENCHMARK(DrawSame);

void DrawThreeChanged(benchmark::State& state) {
  Record(state, [](Recorded& recorded, uint32_t number) { recorded.DrawOther(number); });
}
BENCHMARK(DrawThreeChanged);

void DrawDynamic(benchmark::State& state) {
  Record(state, [](Recorded& recorded, uint32_t number) {
    recorded.commands->Bind(*SharedScene().dynamic);
    recorded.commands->SetDynamic({.cull = number % 2 == 0 ? CullMode::kBack : CullMode::kFront});
    recorded.commands->Draw({.vertices = 3});
  });
}
BENCHMARK(DrawDynamic);

void DispatchAgain(benchmark::State& state) {
  Recorded recorded(SharedScene());
  ComputeKernel kernel;
  kernel.simd16() = {.present = true, .offset = SharedScene().kernel};
  kernel.local_size = {8, 8, 1};
  kernel.constant_bytes = 32;
  uint32_t number = 0;
  for (auto _ : state) {
    if (number % kDraws == 0) {
      recorded.Again(SharedScene());
      recorded.commands->Bind(kernel);
    }
    const uint32_t constants[8] = {number++};
    recorded.commands->SetConstants(
        BindingStage::kCompute, {reinterpret_cast<const uint8_t*>(constants), sizeof(constants)});
    recorded.commands->Dispatch({.x = 4});
  }
  if (!recorded.commands->status().ok()) state.SkipWithError("a dispatch was refused");
}
BENCHMARK(DispatchAgain);

// The bytes of DrawThreeChanged, to the end of as much memory, and again.
void Copy(benchmark::State& state) {
  const size_t size =
      BytesOf([](Recorded& recorded, uint32_t number) { recorded.DrawOther(number); });
  std::vector<uint8_t> from(size, 1), to(size * kDraws);
  size_t at = 0;
  for (auto _ : state) {
    std::memcpy(to.data() + at, from.data(), size);
    benchmark::DoNotOptimize(to.data() + at);
    at = at + 2 * size <= to.size() ? at + size : 0;
  }
  state.SetLabel(std::to_string(size) + " bytes");
}
BENCHMARK(Copy);

// Each thread has a command buffer of its own. items_per_second: draws of all threads.
void DrawThreads(benchmark::State& state) {
  Record(state, [](Recorded& recorded, uint32_t number) { recorded.DrawOther(number); });
}
BENCHMARK(DrawThreads)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace packsmith::bench
