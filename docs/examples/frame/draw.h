// A draw: its bindings, and the draw itself.

#ifndef PACKSMITH_DOCS_EXAMPLES_FRAME_DRAW_H_
#define PACKSMITH_DOCS_EXAMPLES_FRAME_DRAW_H_

#include <cstdint>
#include <iterator>

#include "docs/examples/frame/context.h"
#include "docs/examples/frame/pipeline.h"
#include "docs/examples/frame/scene.h"
#include "runtime/intel/state/urb.h"

namespace frame {

// Small states that packets point to.
template <class Gen>
void SetPointers(Context<Gen>& context) {
  using G = typename Gen::Packets;
  auto& state = context.state;
  constexpr float kHalfWidth = kTargetWidth / 2.0f, kHalfHeight = kTargetHeight / 2.0f;
  const typename G::SF_CLIP_VIEWPORT viewport{
      .viewport_matrix_element_m00 = kHalfWidth,
      .viewport_matrix_element_m11 = kHalfHeight,
      .viewport_matrix_element_m22 = 1,
      .viewport_matrix_element_m30 = kHalfWidth,
      .viewport_matrix_element_m31 = kHalfHeight,
      .x_min_clip_guardband = -1,
      .x_max_clip_guardband = 1,
      .y_min_clip_guardband = -1,
      .y_max_clip_guardband = 1,
      .x_max_viewport = kTargetWidth - 1,
      .y_max_viewport = kTargetHeight - 1,
  };
  state.Set(typename G::_3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP{
      .sf_clip_viewport_pointer = context.Dynamic(viewport, 64)});
  state.Set(typename G::_3DSTATE_VIEWPORT_STATE_POINTERS_CC{
      .cc_viewport_pointer =
          context.Dynamic(typename G::CC_VIEWPORT{.minimum_depth = 0, .maximum_depth = 1}, 32)});
  const typename G::SCISSOR_RECT scissor{.scissor_rectangle_x_max = kTargetWidth - 1,
                                         .scissor_rectangle_y_max = kTargetHeight - 1};
  state.Set(typename G::_3DSTATE_SCISSOR_STATE_POINTERS{.scissor_rect_pointer =
                                                            context.Dynamic(scissor, 64)});
  const typename G::BLEND_STATE_ENTRY targets[] = {
      {.post_blend_color_clamp_enable = true, .pre_blend_color_clamp_enable = true}};
  state.Set(typename G::_3DSTATE_BLEND_STATE_POINTERS{
      .blend_state_pointer_valid = true,
      .blend_state_pointer = context.Dynamic(typename G::BLEND_STATE{}, targets, 64)});
  state.Set(typename G::_3DSTATE_CC_STATE_POINTERS{
      .color_calc_state_pointer_valid = true,
      .color_calc_state_pointer = context.Dynamic(typename G::COLOR_CALC_STATE{}, 64)});
}

// From Gfx9 on such a packet has a caching policy.
template <class Constants>
Constants NoConstants(const Part& part) {
  Constants constants;
  if constexpr (requires { constants.mocs; }) constants.mocs = part.mocs();
  return constants;
}

// Page: bind
// What the shaders read and write: constants, surfaces, samplers.
template <class Gen>
void BindShaderResources(Context<Gen>& context, const Scene& scene) {
  using G = typename Gen::Packets;
  using intel::BindingStage;
  using intel::SurfacePurpose;
  auto& state = context.state;

  auto constants = NoConstants<typename G::_3DSTATE_CONSTANT_VS>(context.part);
  // Slots are filled from the last of the four.
  constants.constant_body.read_length[3] = sizeof(kTransform) / 32;
  constants.constant_body.buffer[3] = {scene.transform.address, scene.transform.handle};
  state.Set(constants);
  state.Set(NoConstants<typename G::_3DSTATE_CONSTANT_HS>(context.part));
  state.Set(NoConstants<typename G::_3DSTATE_CONSTANT_DS>(context.part));
  state.Set(NoConstants<typename G::_3DSTATE_CONSTANT_GS>(context.part));
  state.Set(NoConstants<typename G::_3DSTATE_CONSTANT_PS>(context.part));

  const uint32_t surfaces[] = {
      context.SurfaceState(SurfaceOf(scene.target, context.part, SurfacePurpose::kRenderTarget)),
      context.SurfaceState(SurfaceOf(scene.texture, context.part, SurfacePurpose::kTexture)),
  };
  Must(context.binder->Bind(context.batch, BindingStage::kPixel, surfaces));
  const intel::BindingEvents events = context.binder->TakeEvents();
  if ((events & intel::kSurfaceBaseMoved) != 0) {
    state.template Emitted<typename G::STATE_BASE_ADDRESS>();
  }
  if ((events & intel::kTablePoolMoved) != 0) {
    state.template Emitted<typename G::_3DSTATE_BINDING_TABLE_POOL_ALLOC>();
  }
  state.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_VS{});
  state.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_HS{});
  state.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_DS{});
  state.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_GS{});
  state.Set(typename G::_3DSTATE_BINDING_TABLE_POINTERS_PS{
      .pointer_to_ps_binding_table = context.binder->pointer(BindingStage::kPixel)});

  using intel::Filter;
  const auto linear =
      Must(context.samplers.Pack({.min_filter = Filter::kLinear, .mag_filter = Filter::kLinear}));
  const intel::PackedSampler* const samplers[] = {&linear};
  const gpu::State table = Must(context.samplers.Acquire(samplers));
  context.batch.Use(table.buffer, gpu::kReads);
  state.Set(
      typename G::_3DSTATE_SAMPLER_STATE_POINTERS_PS{.pointer_to_ps_sampler_state = table.offset});
}
// End

// All packets, whether there is such a buffer or not.
template <class Gen>
void BindDepth(Context<Gen>& context, const Image& depth) {
  using G = typename Gen::Packets;
  using Depth = typename G::_3DSTATE_DEPTH_BUFFER;
  using Stencil = typename G::_3DSTATE_STENCIL_BUFFER;
  const uint32_t mocs = context.part.mocs();
  Depth buffer{.surface_pitch = depth.pitch() - 1,
               .surface_format = Depth::SURFACE_FORMAT_D32_FLOAT,
               .depth_write_enable = true,
               .surface_type = Depth::SURFACE_TYPE_SURFTYPE_2D,
               .surface_base_address = {depth.memory.address, depth.memory.handle},
               .width = depth.width() - 1,
               .height = depth.height() - 1,
               .mocs = mocs,
               .surface_qpitch = depth.height() / 4};
  Stencil stencil{.mocs = mocs};
  if constexpr (requires { Depth::TILED_MODE_TILE4; }) {
    buffer.tiled_mode = Depth::TILED_MODE_TILE4;
    stencil.tiled_mode = Stencil::TILED_MODE_TILE4;
  }
  if constexpr (requires { stencil.surface_type; }) {
    stencil.surface_type = Stencil::SURFACE_TYPE_SURFTYPE_NULL;
  }
  context.state.Set(buffer);
  context.state.Set(stencil);
  context.state.Set(typename G::_3DSTATE_HIER_DEPTH_BUFFER{.mocs = mocs});
  if constexpr (requires { typename G::_3DSTATE_CLEAR_PARAMS; }) {
    context.state.Set(typename G::_3DSTATE_CLEAR_PARAMS{});
  }
}

template <class Gen>
void BindVertices(Context<Gen>& context, const Scene& scene) {
  using G = typename Gen::Packets;
  using Stream = typename G::VERTEX_BUFFER_STATE;
  const uint32_t mocs = context.part.mocs();
  Stream streams[] = {
      {.buffer_pitch = sizeof(Vertex),
       .address_modify_enable = true,
       .mocs = mocs,
       .buffer_starting_address = {scene.vertices.address, scene.vertices.handle},
       .buffer_size = sizeof(kVertices)},
      {.buffer_pitch = sizeof(Instance),
       .address_modify_enable = true,
       .mocs = mocs,
       .vertex_buffer_index = 1,
       .buffer_starting_address = {scene.instances.address, scene.instances.handle},
       .buffer_size = sizeof(kInstances)},
  };
  using Indices = typename G::_3DSTATE_INDEX_BUFFER;
  Indices indices{.mocs = mocs,
                  .index_format = Indices::INDEX_FORMAT_WORD,
                  .buffer_starting_address = {scene.indices.address, scene.indices.handle},
                  .buffer_size = sizeof(kIndices)};
  if constexpr (requires { indices.l3_bypass_disable; }) {
    for (Stream& stream : streams) stream.l3_bypass_disable = true;
    indices.l3_bypass_disable = true;
  }
  context.state.SetItems(typename G::_3DSTATE_VERTEX_BUFFERS{}, streams);
  context.state.Set(indices);
}

// Page: draw
template <class Gen>
void Draw(Context<Gen>& context, const DrawPipeline<Gen>& pipeline, const Scene& scene) {
  using G = typename Gen::Packets;
  using intel::CacheDomain;
  context.Use(scene.vertices, CacheDomain::kVertex);
  context.Use(scene.instances, CacheDomain::kVertex);
  context.Use(scene.indices, CacheDomain::kVertex);
  context.Use(scene.texture.memory, CacheDomain::kSampler);
  context.Use(scene.target.memory, CacheDomain::kRender);
  context.Use(scene.depth.memory, CacheDomain::kDepth);

  using Raster = typename G::_3DSTATE_RASTER;
  context.state.Bind(pipeline.state);
  SetUrb(context.state, pipeline.urb);
  SetPushConstants(context.state, pipeline.constants);
  context.state.template SetFields<&Raster::cull_mode>(Raster::CULL_MODE_NONE);
  SetPointers(context);
  BindShaderResources(context, scene);
  BindDepth(context, scene.depth);
  BindVertices(context, scene);

  using Primitive = typename G::_3DPRIMITIVE;
  if (context.state.Flush(context.batch)) {
    context.batch.Emit(Primitive{
        .vertex_access_type = Primitive::VERTEX_ACCESS_TYPE_RANDOM,
        .vertex_count_per_instance = std::size(kIndices),
        .instance_count = std::size(kInstances),
    });
  }
}
// End

}  // namespace frame

#endif  // PACKSMITH_DOCS_EXAMPLES_FRAME_DRAW_H_
