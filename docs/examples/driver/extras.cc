// What some drivers need besides docs/examples/driver/parts.cc: scratch memory of shaders, state
// that draws set instead of pipelines, several views by one draw, slices that are unequal, and
// performance counters. On Gfx12.5. The argument is that of device.h.
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "docs/examples/device.h"
#include "docs/examples/must.h"
#include "runtime/intel/driver/command_buffer.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/graphics_pipeline.h"
#include "runtime/intel/query/perf_passes.h"

using namespace packsmith::gpu;    // NOLINT: an example
using namespace packsmith::intel;  // NOLINT: an example
using example::Must;

namespace {

// Page: scratch
// Shaders that spill say how much a thread needs. The memory is the context's.
std::unique_ptr<GraphicsPipeline> SpillingPipeline(Context& context, uint32_t kernel) {
  const VertexShader vertex{.entry = {.offset = kernel, .start_register = 2}};
  FragmentShader fragment{.simd16 = ShaderEntry{.offset = kernel, .start_register = 4}};
  fragment.program.scratch = {.bytes_per_thread = 3000};
  const BlendTarget targets[] = {{}};
  return Must(context.NewGraphicsPipeline(
      {.shaders = {.vertex = &vertex, .fragment = &fragment}, .blend = {.targets = targets}}));
}
ComputeKernel SpillingKernel(uint32_t code) {
  ComputeKernel kernel;
  kernel.simd16() = {.present = true, .offset = code, .scratch = 1500};
  kernel.local_size = {8, 8, 1};
  return kernel;
}
// End

// Page: dynamic
// One pipeline for many materials: draws say how they are culled, tested and drawn.
std::unique_ptr<GraphicsPipeline> DynamicPipeline(Context& context, uint32_t kernel) {
  const VertexShader vertex{.entry = {.offset = kernel, .start_register = 2}};
  const FragmentShader fragment{.simd16 = ShaderEntry{.offset = kernel, .start_register = 4}};
  const BlendTarget targets[] = {BlendTarget::Over()};
  return Must(context.NewGraphicsPipeline(
      {.shaders = {.vertex = &vertex, .fragment = &fragment},
       .blend = {.targets = targets},
       .dynamic = kDynamicTopology | kDynamicCull | kDynamicLineWidth | kDynamicDepth}));
}
void DrawOutlined(CommandBuffer& commands, const GraphicsPipeline& pipeline) {
  commands.Bind(pipeline);
  commands.SetDynamic({.cull = CullMode::kBack,
                       .depth_test = true,
                       .depth_write = true,
                       .depth_compare = Compare::kLess});
  commands.Draw({.vertices = 36});
  commands.SetDynamic({.topology = Topology::kLineList,
                       .line_width = 2,
                       .depth_compare = Compare::kLessEqual});  // all else stays
  commands.Draw({.vertices = 24});
}
// End

// Page: views
// Both eyes of a headset by one draw. The compiler has the plan, which its shaders must follow.
std::unique_ptr<GraphicsPipeline> StereoPipeline(Context& context, uint32_t kernel) {
  const MultiviewOptions eyes{.view_mask = 0b11, .only_positions_differ = true};
  const MultiviewPlan plan = Must(context.PlanViews(eyes));
  example::Expect(plan.positions() == 2, "a vertex has a position for each eye");
  const VertexShader vertex{.entry = {.offset = kernel, .start_register = 2}};
  const FragmentShader fragment{.simd16 = ShaderEntry{.offset = kernel, .start_register = 4}};
  const BlendTarget targets[] = {{}};
  return Must(context.NewGraphicsPipeline({.shaders = {.vertex = &vertex, .fragment = &fragment},
                                           .blend = {.targets = targets},
                                           .multiview = eyes}));
}
// End

// Page: perf
// No metric set has both counters: the work is recorded and run once for each set.
std::vector<PerfDelta> CountDraw(Context& context, const GraphicsPipeline& pipeline) {
  const std::vector<PerfCounterSets> wanted = {{.name = "EuActive", .sets = {2, 3}},
                                               {.name = "L3Misses", .sets = {4}}};
  const PerfPasses passes = Must(PlanPerfPasses(wanted));
  const PerfQueries counters =
      Must(context.NewPerfQueries({.passes = static_cast<uint32_t>(passes.sets.size())}));
  std::vector<PerfDelta> counted;
  for (uint32_t pass = 0; pass < counters.passes(); ++pass) {
    // Here the kernel is told to count passes.sets[pass].
    const auto commands = Must(context.NewCommandBuffer({}));
    commands->Bind(pipeline);
    commands->SetTargets({.width = 64, .height = 64});
    commands->SetVertexBuffers({});
    commands->queries().Begin(counters, 0, pass);
    commands->Draw({.vertices = 3});
    commands->queries().End(counters, 0, pass);
    const Fence done = Must(context.Submit(*commands));
    example::Expect(Must(context.Wait(done, absl::Seconds(10))), "the draw is counted");
    // Without a GPU nothing has been counted: Unavailable.
    if (const auto delta = counters.Read(0, pass); delta.ok()) counted.push_back(*delta);
  }
  return counted;
}
// End

}  // namespace

int main(int argc, char** argv) {
  const example::DeviceOption option(argc, argv, "FRAME_CORE PASS_CORE PASS_CORE", 3);
  const auto device =
      option.Open({.device = {.family = "intel", .generation = "gfx125", .verx10 = 125}});
  // Page: slices
  // As a kernel reports it: of the second slice's four dual subslices the last one does not work.
  const uint32_t slices[] = {0b1111, 0b0111};
  const auto context = Must(Context::Create(*device, {.slices = slices}));
  // End
  const uint32_t code = Must(context->NewKernel(std::vector<uint8_t>(64)));
  const auto spilling = SpillingPipeline(*context, code);
  const auto dynamic = DynamicPipeline(*context, code);
  const auto stereo = StereoPipeline(*context, code);
  const Image eyes = Must(context->NewImage({.format = "R8G8B8A8_UNORM",
                                             .surface_format = SurfaceFormat::R8G8B8A8_UNORM,
                                             .width = 64,
                                             .height = 64,
                                             .layers = 2,
                                             .name = "eyes"}));

  const auto commands = Must(context->NewCommandBuffer({}));
  commands->SetTargets({.width = 64, .height = 64});
  commands->SetVertexBuffers({});
  commands->Bind(*spilling);
  commands->Draw({.vertices = 3});
  DrawOutlined(*commands, *dynamic);
  const ImageSurface colors[] = {context->SurfaceOf(eyes, SurfacePurpose::kRenderTarget)};
  commands->SetTargets({.colors = colors});
  commands->Bind(*stereo);
  commands->Draw({.vertices = 3});
  commands->Bind(SpillingKernel(code));
  commands->Dispatch({.x = 4, .y = 4});
  const Fence drawn = Must(context->Submit(*commands));
  example::Expect(Must(context->Wait(drawn, absl::Seconds(10))), "all is drawn");
  (void)CountDraw(*context, *spilling);
  option.KeepCores();
}
