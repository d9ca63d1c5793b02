// What a driver makes when an application creates a graphics pipeline: all packets whose values are
// known then, packed once.

#ifndef PACKSMITH_DOCS_EXAMPLES_FRAME_PIPELINE_H_
#define PACKSMITH_DOCS_EXAMPLES_FRAME_PIPELINE_H_

#include <cstddef>
#include <cstdint>

#include "docs/examples/frame/part.h"
#include "docs/examples/frame/scene.h"
#include "docs/examples/must.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/pipeline/output_packets.h"
#include "runtime/intel/pipeline/raster_packets.h"
#include "runtime/intel/pipeline/vertex_packets.h"
#include "runtime/intel/state/l3.h"
#include "runtime/intel/state/pipeline_state.h"
#include "runtime/intel/state/urb.h"

namespace frame {

// Offsets from the instruction base.
struct DrawKernels {
  uint32_t vertex = 0, pixel = 0;
};

template <class Gen>
struct DrawPipeline {
  intel::PipelineState<Gen> state;
  // What the stages share: memory for vertices on their way, and for constants.
  intel::UrbPartition urb;
  intel::PushConstantPartition constants;
};

// What vertices and instances have, each in a buffer of its own.
inline constexpr intel::VertexAttribute kAttributes[] = {
    {.format = intel::SurfaceFormat::R32G32B32_FLOAT, .offset = offsetof(Vertex, position)},
    {.format = intel::SurfaceFormat::R32G32_FLOAT, .offset = offsetof(Vertex, texture)},
    {.format = intel::SurfaceFormat::R32G32B32A32_FLOAT,
     .buffer = 1,
     .offset = offsetof(Instance, offset),
     .step = intel::VertexStep::kInstance},
};
// The target takes the shader's colours as they are.
inline constexpr intel::BlendTarget kTargets[] = {{}};
// What the fixed functions must know of the pixel shader.
inline constexpr intel::PixelTraits kPixels = {.barycentric = intel::kPerspectivePixel};

// The stages: two have programs, the others pass vertices through.
template <class Gen>
void AddStages(intel::PipelineState<Gen>& pipeline, const Part& part, const DrawKernels& kernels,
               const intel::VertexPlan& inputs) {
  using G = typename Gen::Packets;
  typename G::_3DSTATE_VS vertex{
      .kernel_start_pointer = kernels.vertex,
      .vertex_urb_entry_read_length = inputs.read_length,
      .dispatch_grf_start_register_for_urb_data = 2,
      .enable = true,
      .statistics_enable = true,
      .maximum_number_of_threads = part.device.threads.vertex - 1,
  };
  // From Xe2 on kernels have 16 lanes or more.
  if constexpr (requires { vertex.simd8_dispatch_enable; }) vertex.simd8_dispatch_enable = true;
  pipeline.Add(vertex);
  pipeline.Add(typename G::_3DSTATE_HS{});
  pipeline.Add(typename G::_3DSTATE_TE{});
  pipeline.Add(typename G::_3DSTATE_DS{});
  pipeline.Add(typename G::_3DSTATE_GS{});
  pipeline.Add(typename G::_3DSTATE_STREAMOUT{});
  using Pixel = typename G::_3DSTATE_PS;
  Pixel pixel{
      .kernel_start_pointer_0 = kernels.pixel,
      .binding_table_entry_count = 2,
      // Wa_1606682166: samplers must not be prefetched.
      .sampler_count = Gen::kFacts.wa_1606682166 ? Pixel::SAMPLER_COUNT_NO_SAMPLERS
                                                 : Pixel::SAMPLER_COUNT_1_4_SAMPLERS,
      .vector_mask_enable = true,
      .maximum_number_of_threads_per_psd = part.device.threads.pixel - 1,
      .dispatch_grf_start_register_for_constant_setup_data_0 = 4,
  };
  typename G::_3DSTATE_PS_EXTRA more{.pixel_shader_valid = true};
  if constexpr (requires { pixel._8_pixel_dispatch_enable; }) {
    pixel._8_pixel_dispatch_enable = true;
    more.attribute_enable = true;
  } else {
    pixel.kernel_0_enable = true;
  }
  pipeline.Add(pixel);
  pipeline.Add(more);
}

// The varyings that pixels receive.
template <class Gen>
void AddVaryings(intel::PipelineState<Gen>& pipeline) {
  using G = typename Gen::Packets;
  using Sbe = typename G::_3DSTATE_SBE;
  Sbe attributes{.vertex_urb_entry_read_offset = 1,  // after the header and the position
                 .vertex_urb_entry_read_length = 1,
                 .number_of_sf_output_attributes = 1,
                 .force_vertex_urb_entry_read_offset = true,
                 .force_vertex_urb_entry_read_length = true};
  if constexpr (requires { attributes.attribute_active_component_format; }) {
    for (uint32_t& format : attributes.attribute_active_component_format) {
      format = Sbe::ATTRIBUTE_ACTIVE_COMPONENT_FORMAT_XYZW;
    }
  }
  pipeline.Add(attributes);
}

template <class Gen>
void MakePipeline(const Part& part, const intel::L3Partition& l3, const DrawKernels& kernels,
                  DrawPipeline<Gen>& pipeline) {
  const intel::RenderDevice& device = part.device;
  // A vertex of a header, a position and a texture coordinate takes less than 64 bytes.
  pipeline.urb = Must(PartitionUrb(device, UrbKbOf(device, l3), {.entry_units = {1}}));
  pipeline.constants = PartitionPushConstants(device, {.vertex = true});
  using Raster = typename Gen::Packets::_3DSTATE_RASTER;
  const intel::VertexPlan inputs =
      Must(intel::AddVertexInput({.attributes = kAttributes}, pipeline.state));
  AddStages(pipeline.state, part, kernels, inputs);
  AddVaryings(pipeline.state);
  // Culling is dynamic: each draw sets it.
  Must(intel::AddRasterization<&Raster::cull_mode>(
      {.dereference = static_cast<uint32_t>(DereferenceOf(device, pipeline.urb))}, kPixels,
      pipeline.state));
  // The nearer pixel stays.
  Must(intel::AddDepthStencil(
      {.depth_test = true, .depth_write = true, .depth_compare = intel::Compare::kLess},
      pipeline.state));
  Must(intel::AddColorBlend({.targets = kTargets}, kPixels, pipeline.state));
  Must(pipeline.state.status());
}

}  // namespace frame

#endif  // PACKSMITH_DOCS_EXAMPLES_FRAME_PIPELINE_H_
