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

  void BindKernel(Scene& scene) {
    ComputeKernel kernel;
    kernel.simd16() = {.present = true, .offset = scene.kernel};
    kernel.local_size = {8, 8, 1};
    kernel.constant_bytes = 32;
    commands->Bind(kernel);
  }
  // Constants are others than before.
  void DispatchOther(uint32_t number) {
    const uint32_t constants[8] = {number};
    commands->SetConstants(BindingStage::kCompute,
                           {reinterpret_cast<const uint8_t*>(constants), sizeof(constants)});
    commands->Dispatch({.x = 4});
  }

  std::unique_ptr<CommandBuffer> commands;
  std::array<VertexBuffer, 2> buffers;
  std::array<View, 2> views;
};

// Bytes of packets that `work` writes, a draw or a dispatch, and of its constants.
template <class F>
size_t BytesOf(F work) {
  Recorded recorded(SharedScene());
  recorded.BindKernel(SharedScene());
  work(recorded, 0);  // with what only the first one writes
  const size_t before = recorded.commands->batch().dwords();
  for (uint32_t i = 1; i <= 100; ++i) work(recorded, i);
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
  uint32_t number = 0;
  recorded.BindKernel(SharedScene());
  for (auto _ : state) {
    recorded.DispatchOther(number);
    if (++number % kDraws != 0) continue;
    recorded.Again(SharedScene());
    recorded.BindKernel(SharedScene());
  }
  if (!recorded.commands->status().ok()) state.SkipWithError("a dispatch was refused");
}
BENCHMARK(DispatchAgain);

// That many bytes are copied to the end of as much memory, and again.
void CopyBytes(benchmark::State& state, size_t size) {
  std::vector<uint8_t> from(size, 1), to(size * kDraws);
  size_t at = 0;
  for (auto _ : state) {
    std::memcpy(to.data() + at, from.data(), size);
    benchmark::DoNotOptimize(to.data() + at);
    at = at + 2 * size <= to.size() ? at + size : 0;
  }
  state.SetLabel(std::to_string(size) + " bytes");
}
// Of DrawThreeChanged, and of DispatchAgain.
void Copy(benchmark::State& state) {
  CopyBytes(state,
            BytesOf([](Recorded& recorded, uint32_t number) { recorded.DrawOther(number); }));
}
BENCHMARK(Copy);
void CopyDispatch(benchmark::State& state) {
  CopyBytes(state,
            BytesOf([](Recorded& recorded, uint32_t number) { recorded.DispatchOther(number); }));
}
BENCHMARK(CopyDispatch);

// Each thread has a command buffer of its own. items_per_second: draws of all threads.
void DrawThreads(benchmark::State& state) {
  Record(state, [](Recorded& recorded, uint32_t number) { recorded.DrawOther(number); });
}
BENCHMARK(DrawThreads)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace packsmith::bench
