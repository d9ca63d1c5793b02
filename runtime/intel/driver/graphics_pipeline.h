// A graphics pipeline: everything that is known when a driver's client creates one, packed once.
//
//   VertexShader vertex{.entry = {.offset = *kernel, .start_register = 2}, .urb_read_length = 1};
//   FragmentShader fragment{.simd16 = ShaderEntry{.offset = *pixels, .start_register = 4}};
//   const VertexAttribute attributes[] = {{.format = SurfaceFormat::R32G32_FLOAT}};
//   const BlendTarget targets[] = {{}};
//   auto pipeline = context.NewGraphicsPipeline({.shaders = {.vertex = &vertex, .fragment =
//   &fragment},
//                                                .vertices = {.attributes = attributes},
//                                                .blend = {.targets = targets}});
//
// The structs are those of runtime/intel/pipeline.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_GRAPHICS_PIPELINE_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_GRAPHICS_PIPELINE_H_

#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/pipeline/output.h"
#include "runtime/intel/pipeline/rasterization.h"
#include "runtime/intel/pipeline/stages.h"
#include "runtime/intel/pipeline/varyings.h"
#include "runtime/intel/pipeline/vertex_input.h"

namespace packsmith::intel {

struct GraphicsPipelineOptions {
  ShaderStages shaders = {};
  // What the last stage before the rasterizer writes besides its position, and what the fragment
  // shader reads of that.
  absl::Span<const Varying> varyings = {};
  FragmentInputs inputs = {};
  VertexInput vertices = {};
  Rasterization rasterization = {};
  DepthStencil depth_stencil = {};
  ColorBlend blend = {};
  // The stages that have push constants, by UrbStage, then the fragment shader.
  std::array<bool, 5> constants = {};
  // The size of an URB entry of each stage in 64 bytes, by UrbStage; 0 for a stage that is used:
  // the vertex shader's inputs or the varyings, whichever are more.
  std::array<unsigned, kUrbStages> urb_units = {};
};

// Any number of command buffers of its context's generation may bind it, in any thread.
class GraphicsPipeline {
 public:
  virtual ~GraphicsPipeline() = default;
  GraphicsPipeline(const GraphicsPipeline&) = delete;
  GraphicsPipeline& operator=(const GraphicsPipeline&) = delete;

  // Where the vertex shader finds its inputs.
  const VertexPlan& vertex_plan() const { return vertex_plan_; }
  // Where the fragment shader's attributes come from.
  const AttributePlan& attributes() const { return attributes_; }
  const char* generation() const { return generation_; }

 protected:
  explicit GraphicsPipeline(const char* generation) : generation_(generation) {}

  VertexPlan vertex_plan_;
  AttributePlan attributes_;

 private:
  const char* const generation_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_GRAPHICS_PIPELINE_H_
