// A dispatch: a compute shader reads what was drawn, and counts.

#ifndef PACKSMITH_DOCS_EXAMPLES_FRAME_DISPATCH_H_
#define PACKSMITH_DOCS_EXAMPLES_FRAME_DISPATCH_H_

#include <cstdint>

#include "absl/types/span.h"
#include "docs/examples/frame/context.h"
#include "docs/examples/frame/scene.h"
#include "runtime/intel/compute/compute_state.h"

namespace frame {

// A group is 8 by 8 pixels.
inline constexpr uint32_t kGroupSide = 8;
inline constexpr uint32_t kGroupsX = kTargetWidth / kGroupSide,
                          kGroupsY = kTargetHeight / kGroupSide;
// What all threads are given: the target's size, in whole registers of 32 bytes, and of those two.
inline constexpr uint32_t kArguments[16] = {kTargetWidth, kTargetHeight};

// Page: kernel
// What a compiler knows: here of a kernel for threads of 16 invocations.
inline intel::ComputeKernel DescribeKernel(uint32_t offset) {
  intel::ComputeKernel kernel;
  kernel.simd16() = {.present = true, .offset = offset};
  kernel.local_size = {kGroupSide, kGroupSide, 1};
  kernel.constant_bytes = sizeof(kArguments);
  kernel.binding_table_entries = 2;
  return kernel;
}
// End

// Page: dispatch
template <class Gen>
void Dispatch(Context<Gen>& context, uint32_t kernel, const Scene& scene) {
  using intel::BindingStage;
  using intel::CacheDomain;
  // Sampling must see what was drawn.
  context.Use(scene.target.memory, CacheDomain::kSampler);
  context.Use(scene.counts, CacheDomain::kData);
  context.Select(intel::Pipeline::kGpgpu);

  const intel::BufferSurface counts{
      .memory = {scene.counts.address, scene.counts.handle},
      .writable = true,
      .size = scene.counts.size,
      .mocs = context.part.mocs(),
  };
  const uint32_t surfaces[] = {
      context.SurfaceState(SurfaceOf(scene.target, context.part, intel::SurfacePurpose::kTexture)),
      context.SurfaceState(counts),
  };
  Must(context.binder->Bind(context.batch, BindingStage::kCompute, surfaces));

  intel::ComputeState<Gen> compute(
      {.device = context.part.device, .subslices = context.part.subslices}, context.memory.dynamic);
  compute.Bind(DescribeKernel(kernel));
  compute.SetTables({.bindings = context.binder->pointer(BindingStage::kCompute)});
  const auto bytes = reinterpret_cast<const uint8_t*>(kArguments);
  compute.SetConstants({bytes, sizeof(kArguments)});
  compute.Dispatch(context.batch, {.x = kGroupsX, .y = kGroupsY});
  Must(compute.status());
}
// End

}  // namespace frame

#endif  // PACKSMITH_DOCS_EXAMPLES_FRAME_DISPATCH_H_
