// A draw: its bindings, and the draw itself.

#ifndef PACKSMITH_DOCS_EXAMPLES_FRAME_DRAW_H_
#define PACKSMITH_DOCS_EXAMPLES_FRAME_DRAW_H_

#include <cstdint>
#include <iterator>

#include "docs/examples/frame/context.h"
#include "docs/examples/frame/pipeline.h"
#include "docs/examples/frame/scene.h"
#include "runtime/intel/pipeline/depth_packets.h"
#include "runtime/intel/pipeline/output_packets.h"
#include "runtime/intel/pipeline/vertex_packets.h"
#include "runtime/intel/pipeline/viewport_packets.h"
#include "runtime/intel/state/urb.h"

namespace frame {

// Small states that packets point to.
template <class Gen>
void SetPointers(Context<Gen>& context) {
  gpu::StateStream& dynamic = context.memory.dynamic;
  auto& batch = context.batch;
  auto& state = context.state;
  const intel::ViewportTarget target = {.width = kTargetWidth, .height = kTargetHeight};
  const intel::Viewport viewports[] = {{.width = kTargetWidth, .height = kTargetHeight}};
  const intel::Scissor scissors[] = {{.width = kTargetWidth, .height = kTargetHeight}};
  Must(intel::SetViewports<Gen>(viewports, target, dynamic, batch, state));
  Must(intel::SetScissors<Gen>(scissors, target, dynamic, batch, state));
  Must(intel::SetBlendStates<Gen>({.targets = kTargets}, kPixels, dynamic, batch, state));
  Must(intel::SetColorConstants<Gen>({}, dynamic, batch, state));
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

template <class Gen>
void BindDepth(Context<Gen>& context, const Image& image) {
  intel::ImageSurface depth = SurfaceOf(image, context.part, intel::SurfacePurpose::kRenderTarget);
  depth.format = intel::SurfaceFormat::R32_FLOAT;
  Must(intel::SetDepthTargets<Gen>({.depth = &depth, .mocs = context.part.mocs()}, context.state));
}

template <class Gen>
void BindVertices(Context<Gen>& context, const Scene& scene) {
  const auto at = [](const gpu::Buffer& buffer) {
    return packsmith::address(buffer.address, buffer.handle);
  };
  const uint32_t mocs = context.part.mocs();
  const intel::VertexBuffer buffers[] = {
      {.memory = at(scene.vertices), .size = sizeof(kVertices), .stride = sizeof(Vertex)},
      {.memory = at(scene.instances), .size = sizeof(kInstances), .stride = sizeof(Instance)},
  };
  Must(intel::SetVertexBuffers<Gen>(buffers, mocs, context.state));
  Must(intel::SetIndexBuffer<Gen>({.memory = at(scene.indices), .size = sizeof(kIndices)}, mocs,
                                  context.state));
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
