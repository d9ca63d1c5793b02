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

// How vertices are fetched: three elements, of two buffers.
template <class Gen>
void AddVertexFetch(intel::PipelineState<Gen>& pipeline) {
  using G = typename Gen::Packets;
  using Element = typename G::VERTEX_ELEMENT_STATE;
  using Control = typename G::_3D_Vertex_Component_Control;
  using intel::SurfaceFormat;
  constexpr Control kRead = Control::STORE_SRC, kZero = Control::STORE_0,
                    kOne = Control::STORE_1_FP;
  const Element elements[] = {
      {.source_element_offset = offsetof(Vertex, position),
       .source_element_format = SurfaceFormat::R32G32B32_FLOAT,
       .valid = true,
       .component_3_control = kOne,
       .component_2_control = kRead,
       .component_1_control = kRead,
       .component_0_control = kRead},
      {.source_element_offset = offsetof(Vertex, texture),
       .source_element_format = SurfaceFormat::R32G32_FLOAT,
       .valid = true,
       .component_3_control = kOne,
       .component_2_control = kZero,
       .component_1_control = kRead,
       .component_0_control = kRead},
      {.source_element_offset = offsetof(Instance, offset),
       .source_element_format = SurfaceFormat::R32G32B32A32_FLOAT,
       .valid = true,
       .vertex_buffer_index = 1,
       .component_3_control = kRead,
       .component_2_control = kRead,
       .component_1_control = kRead,
       .component_0_control = kRead},
  };
  pipeline.AddItems(typename G::_3DSTATE_VERTEX_ELEMENTS{}, elements);
  const typename G::_3DSTATE_VF_INSTANCING instancing[] = {
      {.vertex_element_index = 0},
      {.vertex_element_index = 1},
      {.vertex_element_index = 2, .instancing_enable = true, .instance_data_step_rate = 1},
  };
  pipeline.AddEach(instancing);
  pipeline.Add(
      typename G::_3DSTATE_VF_TOPOLOGY{.primitive_topology_type = G::_3D_Prim_Topo_Type::TRILIST});
  pipeline.Add(typename G::_3DSTATE_VF_SGVS{});
  pipeline.Add(typename G::_3DSTATE_VF_STATISTICS{.statistics_enable = true});
  pipeline.Add(typename G::_3DSTATE_VF{});
  if constexpr (requires { typename G::_3DSTATE_VFG; }) {
    pipeline.Add(typename G::_3DSTATE_VFG{.granularity_threshold_disable = true});
  }
}

// The stages: two have programs, the others pass vertices through.
template <class Gen>
void AddStages(intel::PipelineState<Gen>& pipeline, const Part& part, const DrawKernels& kernels) {
  using G = typename Gen::Packets;
  typename G::_3DSTATE_VS vertex{
      .kernel_start_pointer = kernels.vertex,
      .vertex_urb_entry_read_length = 2,  // three elements, two in each 32 bytes
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

// From triangles to pixels.
template <class Gen>
void AddRasterization(intel::PipelineState<Gen>& pipeline, intel::UrbDereference dereference) {
  using G = typename Gen::Packets;
  // The last vertex of a triangle decides.
  constexpr uint32_t kLast = 2;
  using Clip = typename G::_3DSTATE_CLIP;
  pipeline.Add(Clip{.statistics_enable = true,
                    .triangle_fan_provoking_vertex_select = kLast,
                    .line_strip_list_provoking_vertex_select = 1,
                    .triangle_strip_list_provoking_vertex_select = kLast,
                    .guardband_clip_test_enable = true,
                    .viewport_xy_clip_test_enable = true,
                    .api_mode = Clip::API_MODE_APIMODE_OGL,
                    .clip_enable = true,
                    .force_zero_rta_index_enable = true});
  using Raster = typename G::_3DSTATE_RASTER;
  Raster raster{.scissor_rectangle_enable = true,
                .front_winding = Raster::FRONT_WINDING_COUNTER_CLOCKWISE};
  if constexpr (requires { raster.viewport_z_near_clip_test_enable; }) {
    raster.viewport_z_near_clip_test_enable = raster.viewport_z_far_clip_test_enable = true;
  } else {
    raster.viewport_z_clip_test_enable = true;
  }
  pipeline.template AddPartial<&Raster::cull_mode>(raster);
  using Sf = typename G::_3DSTATE_SF;
  Sf setup{.viewport_transform_enable = true,
           .statistics_enable = true,
           .line_width = 1,
           .point_width = 1,
           .triangle_fan_provoking_vertex_select = kLast,
           .line_strip_list_provoking_vertex_select = 1,
           .triangle_strip_list_provoking_vertex_select = kLast};
  if constexpr (requires { setup.deref_block_size; }) {
    setup.deref_block_size = static_cast<uint32_t>(dereference);
  }
  pipeline.Add(setup);
  using Wm = typename G::_3DSTATE_WM;
  pipeline.Add(
      Wm{.barycentric_interpolation_mode = Wm::BARYCENTRIC_INTERPOLATION_MODE_BIM_PERSPECTIVE_PIXEL,
         .statistics_enable = true});
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
  pipeline.Add(typename G::_3DSTATE_MULTISAMPLE{});
  pipeline.Add(typename G::_3DSTATE_SAMPLE_MASK{.sample_mask = 1});
}

// Depth test: the nearer pixel stays.
template <class Gen>
void AddOutput(intel::PipelineState<Gen>& pipeline) {
  using G = typename Gen::Packets;
  pipeline.Add(typename G::_3DSTATE_PS_BLEND{.has_writeable_rt = true});
  pipeline.Add(typename G::_3DSTATE_WM_DEPTH_STENCIL{
      .depth_buffer_write_enable = true,
      .depth_test_enable = true,
      .depth_test_function = G::_3D_Compare_Function::LESS,
  });
  if constexpr (requires { typename G::_3DSTATE_DEPTH_BOUNDS; }) {
    pipeline.Add(typename G::_3DSTATE_DEPTH_BOUNDS{});
  }
}

template <class Gen>
void MakePipeline(const Part& part, const intel::L3Partition& l3, const DrawKernels& kernels,
                  DrawPipeline<Gen>& pipeline) {
  const intel::RenderDevice& device = part.device;
  // A vertex of a header, a position and a texture coordinate takes less than 64 bytes.
  pipeline.urb = Must(PartitionUrb(device, UrbKbOf(device, l3), {.entry_units = {1}}));
  pipeline.constants = PartitionPushConstants(device, {.vertex = true});
  AddVertexFetch(pipeline.state);
  AddStages(pipeline.state, part, kernels);
  AddRasterization(pipeline.state, DereferenceOf(device, pipeline.urb));
  AddOutput(pipeline.state);
  Must(pipeline.state.status());
}

}  // namespace frame

#endif  // PACKSMITH_DOCS_EXAMPLES_FRAME_PIPELINE_H_
