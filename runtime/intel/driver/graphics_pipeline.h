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
#include <vector>

#include "absl/types/span.h"
#include "runtime/command/buffer_uses.h"
#include "runtime/intel/device/render_devices.h"
#include "runtime/intel/driver/dynamic_state.h"
#include "runtime/intel/pipeline/output.h"
#include "runtime/intel/pipeline/rasterization.h"
#include "runtime/intel/pipeline/stages.h"
#include "runtime/intel/pipeline/varyings.h"
#include "runtime/intel/pipeline/vertex_input.h"
#include "runtime/intel/state/multiview.h"

namespace packsmith::intel {

struct CacheKey;
class Context;
class SavedBytes;
class SavedReader;
struct ScratchBytes;

// A varying that is written to a buffer: of the last stage before the rasterizer.
struct StreamedVarying {
  Varying what = Varying::kPosition;
  unsigned components = 0xf;  // a bit each that is written: 1 is x, 8 is w
  unsigned buffer = 0;        // 0 to 3
  unsigned offset = 0;        // bytes from the vertex's beginning in the buffer: a multiple of 4
  unsigned stream = 0;        // of geometry shaders: 0 to 3
};
struct StreamOutput {
  absl::Span<const StreamedVarying> varyings = {};  // none: there is no stream output
  // Bytes from vertex to vertex in each buffer: multiples of 4, up to 2048.
  std::array<uint32_t, 4> strides = {};
  unsigned rasterized_stream = 0;  // 0 to 3
  bool rasterize = true;           // else nothing is drawn, whether vertices are written or not
  bool trailing_order = false;     // of triangle strips: the last vertex stays the last (GL)
};

struct GraphicsPipelineOptions {
  // Of a shader that spills only ShaderScratch::bytes_per_thread must be set: the context has the
  // memory. One with `place` or `surface` has its own, which the program lists.
  ShaderStages shaders = {};
  // From Gfx12.5 on, instead of the shaders before the fragment shader: a mesh shader, and perhaps
  // a task shader. Of the vertex input nothing is used; `varyings` are those of a mesh's vertices.
  const TaskShader* task = nullptr;
  const MeshShader* mesh = nullptr;
  // What the last stage before the rasterizer writes besides its position, and what the fragment
  // shader reads of that.
  absl::Span<const Varying> varyings = {};
  FragmentInputs inputs = {};
  // Up to Gfx9 command buffers put what `ids` has of draws into the buffers 31 and 32, which are
  // those of VertexIds; others are an error.
  VertexInput vertices = {};
  Rasterization rasterization = {};
  DepthStencil depth_stencil = {};
  ColorBlend blend = {};
  // The stages that have push constants, by UrbStage, then the fragment shader.
  std::array<bool, 5> constants = {};
  // The size of an URB entry of each stage in 64 bytes, by UrbStage; 0 for a stage that is used:
  // the vertex shader's inputs or the varyings, whichever are more.
  std::array<unsigned, kUrbStages> urb_units = {};
  // The same of task and mesh shaders, which a compiler lays out: 1 to 1024; not 0 for a shader
  // that there is.
  unsigned task_urb_units = 0, mesh_urb_units = 0;
  StreamOutput stream_output = {};
  // Several views by one draw: GraphicsPipeline::views() is the plan, that of Context::PlanViews(),
  // which the shaders must follow. Not with meshes or stream output.
  MultiviewOptions multiview = {};
  // What draws set, by CommandBuffer::SetDynamic(); until then it is as said here.
  DynamicStates dynamic = 0;
  // Under which the context's cache keeps the pipeline: a hash of all that it is made of, such as
  // the source of its shaders and these options, but not of where its kernels are. Null: it is not
  // kept.
  const CacheKey* key = nullptr;
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
  // Draws take groups of tasks or meshes; those of tasks.
  bool draws_meshes() const { return draws_meshes_; }
  bool has_tasks() const { return has_tasks_; }
  // Shaders read the draw's number; vertices read the first vertex or instance.
  bool reads_draw_id() const { return reads_draw_id_; }
  bool reads_first() const { return reads_first_; }
  // Views that a draw is for, and how. Instances of draws are the application's.
  const MultiviewPlan& views() const { return views_; }
  // The context's scratch memory, which jobs list that draw with the pipeline.
  absl::Span<const gpu::BufferUse> scratch_uses() const { return scratch_uses_; }

  // Appends what another run needs to have this pipeline. `scratch`: what its shaders need of the
  // context's scratch memory; none may have memory of the program's own. False, and what was
  // appended is of no use, if it has other addresses, or kernels that are not the context's.
  virtual bool Save(const Context& context, const ScratchBytes& scratch, SavedBytes& to) const = 0;

 protected:
  GraphicsPipeline(const char* generation, const GraphicsPipelineOptions& options)
      : generation_(generation),
        draws_meshes_(options.mesh != nullptr || options.task != nullptr),
        has_tasks_(options.task != nullptr),
        reads_draw_id_(draws_meshes_ ? (options.task != nullptr && options.task->group.draw_id) ||
                                           (options.mesh != nullptr && options.mesh->group.draw_id)
                                     : options.vertices.ids.draw),
        reads_first_(!draws_meshes_ &&
                     (options.vertices.ids.first_vertex || options.vertices.ids.first_instance)) {}
  // Of one that was saved.
  struct Kind {
    bool draws_meshes = false, has_tasks = false, reads_draw_id = false, reads_first = false;
  };
  GraphicsPipeline(const char* generation, const Kind& kind)
      : generation_(generation),
        draws_meshes_(kind.draws_meshes),
        has_tasks_(kind.has_tasks),
        reads_draw_id_(kind.reads_draw_id),
        reads_first_(kind.reads_first) {}

  VertexPlan vertex_plan_;
  AttributePlan attributes_;
  MultiviewPlan views_;
  std::vector<gpu::BufferUse> scratch_uses_;

 private:
  friend class Context;

  const char* const generation_;
  const bool draws_meshes_, has_tasks_, reads_draw_id_, reads_first_;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_GRAPHICS_PIPELINE_H_
