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
#include "runtime/intel/pipeline/stage_packets.h"
#include "runtime/intel/pipeline/varying_packets.h"
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
  // What the fixed functions must know of the pixel shader.
  intel::PixelTraits pixels;
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

// What the vertex shader writes, and the pixel shader reads: a texture coordinate.
inline constexpr intel::Varying kWritten[] = {intel::Location(0)};
inline intel::FragmentInputs PixelInputs() {
  intel::FragmentInputs inputs;
  inputs.Add({.what = intel::Location(0)});
  return inputs;
}

// The stages: two have programs, the others pass vertices through. What a compiler would know of
// the programs is stated here. Returns what the fixed functions must know of the pixel shader.
template <class Gen>
intel::PixelTraits AddStages(intel::PipelineState<Gen>& pipeline, const Part& part,
                             const DrawKernels& kernels, const intel::VertexPlan& elements) {
  const intel::VertexShader vertex{
      .entry = {.offset = kernels.vertex, .start_register = 2},
      .urb_read_length = elements.read_length,
  };
  const intel::FragmentInputs inputs = PixelInputs();
  intel::FragmentShader pixel{
      .program = {.binding_table_entries = 2, .samplers = 1, .vector_mask = true},
      .inputs = inputs.count,
      .barycentrics = intel::BarycentricsOf(inputs, /*per_sample=*/false),
  };
  // From Xe2 on kernels have 16 lanes or more.
  const intel::ShaderEntry entry{.offset = kernels.pixel, .start_register = 4};
  (Gen::kFacts.pixel.has_simd8 ? pixel.simd8 : pixel.simd16) = entry;
  Must(intel::AddShaders({.vertex = &vertex, .fragment = &pixel}, part.device, pipeline));
  pipeline.Add(typename Gen::Packets::_3DSTATE_STREAMOUT{});

  const intel::VertexLayout layout = Must(intel::MakeVertexLayout(kWritten));
  Must(intel::AddAttributes(Must(intel::PlanAttributes(layout, inputs)), pipeline));
  return intel::TraitsOf(&pixel);
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
  pipeline.pixels = AddStages(pipeline.state, part, kernels, inputs);
  // Culling is dynamic: each draw sets it.
  Must(intel::AddRasterization<&Raster::cull_mode>(
      {.dereference = static_cast<uint32_t>(DereferenceOf(device, pipeline.urb))}, pipeline.pixels,
      pipeline.state));
  // The nearer pixel stays.
  Must(intel::AddDepthStencil(
      {.depth_test = true, .depth_write = true, .depth_compare = intel::Compare::kLess},
      pipeline.state));
  Must(intel::AddColorBlend({.targets = kTargets}, pipeline.pixels, pipeline.state));
  Must(pipeline.state.status());
}

}  // namespace frame

#endif  // PACKSMITH_DOCS_EXAMPLES_FRAME_PIPELINE_H_
