// A dispatch: a compute shader reads what was drawn, and counts.

#ifndef PACKSMITH_DOCS_EXAMPLES_FRAME_DISPATCH_H_
#define PACKSMITH_DOCS_EXAMPLES_FRAME_DISPATCH_H_

#include <cstdint>

#include "absl/types/span.h"
#include "docs/examples/frame/context.h"
#include "docs/examples/frame/scene.h"

namespace frame {

// A group is 8 by 8 pixels, in threads of 16.
inline constexpr uint32_t kGroupSide = 8, kThreadsOfGroup = kGroupSide * kGroupSide / 16;
inline constexpr uint32_t kGroupsX = kTargetWidth / kGroupSide,
                          kGroupsY = kTargetHeight / kGroupSide;
// What all threads are given: the target's size, in whole registers of 32 bytes, and of those two.
inline constexpr uint32_t kArguments[16] = {kTargetWidth, kTargetHeight};

template <class Gen>
typename Gen::Packets::INTERFACE_DESCRIPTOR_DATA DescribeKernel(const Context<Gen>& context,
                                                                uint32_t kernel) {
  typename Gen::Packets::INTERFACE_DESCRIPTOR_DATA descriptor{
      .kernel_start_pointer = kernel,
      .binding_table_entry_count = 2,
      .binding_table_pointer = context.binder->pointer(intel::BindingStage::kCompute),
      .number_of_threads_in_gpgpu_thread_group = kThreadsOfGroup,
  };
  if constexpr (requires { descriptor.cross_thread_constant_data_read_length; }) {
    descriptor.cross_thread_constant_data_read_length = sizeof(kArguments) / 32;
  }
  return descriptor;
}

// Up to Gfx12: the walker reads its descriptor and its arguments from memory, at the places that
// earlier packets give.
template <class Gen>
void Walk(Context<Gen>& context, uint32_t kernel, uint32_t arguments) {
  using G = typename Gen::Packets;
  using Walker = typename G::GPGPU_WALKER;
  using Descriptor = typename G::INTERFACE_DESCRIPTOR_DATA;
  const uint32_t descriptor = context.Dynamic(DescribeKernel(context, kernel), 64);
  context.batch.Emit(
      typename Gen::PipeControl{.stall_at_pixel_scoreboard = Gen::kFacts.stall_needs_company,
                                .command_streamer_stall_enable = true},
      typename G::MEDIA_VFE_STATE{
          .number_of_urb_entries = 2,
          .maximum_number_of_threads = context.part.compute_threads() - 1,
          .curbe_allocation_size = sizeof(kArguments) / 32,
          .urb_entry_allocation_size = 2,
      },
      typename G::MEDIA_CURBE_LOAD{.curbe_total_data_length = sizeof(kArguments),
                                   .curbe_data_start_address = arguments},
      typename G::MEDIA_INTERFACE_DESCRIPTOR_LOAD{
          .interface_descriptor_total_length = Descriptor::length * 4,
          .interface_descriptor_data_start_address = descriptor},
      Walker{.thread_width_counter_maximum = kThreadsOfGroup - 1,
             .simd_size = Walker::SIMD_SIZE_SIMD16,
             .thread_group_id_x_dimension = kGroupsX,
             .thread_group_id_y_dimension = kGroupsY,
             .thread_group_id_z_dimension = 1,
             .right_execution_mask = 0xffff,
             .bottom_execution_mask = 0xffffffff},
      typename G::MEDIA_STATE_FLUSH{});
}

// A group's lanes in each thread.
template <class Body>
constexpr uint32_t SixteenLanes() {
  if constexpr (requires { Body::SIMD_SIZE_SIMD16; })
    return Body::SIMD_SIZE_SIMD16;
  else
    return Body::SIMD_SIZE_SIMT16;
}

// From Gfx12.5 on the walker holds its descriptor.
template <class Gen>
requires requires { typename Gen::Packets::COMPUTE_WALKER; }
void Walk(Context<Gen>& context, uint32_t kernel, uint32_t arguments) {
  using G = typename Gen::Packets;
  using Body = typename G::COMPUTE_WALKER_BODY;
  context.batch.Emit(
      typename G::CFE_STATE{.maximum_number_of_threads = context.part.compute_threads()},
      typename G::COMPUTE_WALKER{.body = {.indirect_data_length = sizeof(kArguments),
                                          .indirect_data_start_address = arguments,
                                          .message_simd = SixteenLanes<Body>(),
                                          .simd_size = SixteenLanes<Body>(),
                                          .execution_mask = 0xffff,
                                          .local_x_maximum = kGroupSide - 1,
                                          .local_y_maximum = kGroupSide - 1,
                                          .thread_group_id_x_dimension = kGroupsX,
                                          .thread_group_id_y_dimension = kGroupsY,
                                          .thread_group_id_z_dimension = 1,
                                          .interface_descriptor = DescribeKernel(context, kernel),
                                          .post_sync = {.mocs = context.part.mocs()}}});
}

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
  const auto bytes = reinterpret_cast<const uint8_t*>(kArguments);
  Walk(context, kernel, context.DynamicBytes({bytes, sizeof(kArguments)}, 64));
}
// End

}  // namespace frame

#endif  // PACKSMITH_DOCS_EXAMPLES_FRAME_DISPATCH_H_
