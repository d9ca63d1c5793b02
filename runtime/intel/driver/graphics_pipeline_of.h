// Graphics pipelines of one generation.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_GRAPHICS_PIPELINE_OF_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_GRAPHICS_PIPELINE_OF_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/command/pack_status.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/graphics_pipeline.h"
#include "runtime/intel/driver/stream_output_plan.h"
#include "runtime/intel/pipeline/mesh_packets.h"
#include "runtime/intel/pipeline/output_packets.h"
#include "runtime/intel/pipeline/raster_packets.h"
#include "runtime/intel/pipeline/stage_packets.h"
#include "runtime/intel/pipeline/varying_packets.h"
#include "runtime/intel/pipeline/vertex_packets.h"
#include "runtime/intel/state/l3.h"
#include "runtime/intel/state/multiview.h"
#include "runtime/intel/state/pipeline_state.h"
#include "runtime/intel/state/saved_pipeline.h"
#include "runtime/intel/state/urb.h"

namespace packsmith::intel {

// The tests as their packet has them: command buffers put references into COLOR_CALC_STATE.
template <class Gen>
DepthStencil TestsOf(DepthStencil tests) {
  if constexpr (kReferencesInConstants<Gen>) tests.front.reference = tests.back.reference = 0;
  return tests;
}

template <class Gen>
class GraphicsPipelineOf final : public GraphicsPipeline {
  using StreamOut = typename Gen::Packets::_3DSTATE_STREAMOUT;
  using Fetch = typename Gen::Packets::_3DSTATE_VF;

 public:
  static absl::StatusOr<std::unique_ptr<GraphicsPipeline>> New(
      const Context& context, const GraphicsPipelineOptions& options);
  // One that Save() wrote: in saved_pipeline_of.h. DataLoss: it did not; errors of NewKernel()
  // and ScratchFor().
  static absl::StatusOr<std::unique_ptr<GraphicsPipeline>> Load(Context& context,
                                                                SavedReader& from);
  bool Save(const Context& context, const ScratchBytes& scratch, SavedBytes& to) const override;

  const PipelineState<Gen>& state() const { return state_; }
  const UrbPartition& urb() const { return urb_; }
  const PushConstantPartition& constants() const { return constants_; }
  // 3DSTATE_VF, of a pipeline whose restart index is the greatest of the index buffer's type.
  bool restarts_at_greatest() const { return restarts_at_greatest_; }
  const Fetch& fetch() const { return fetch_; }
  // Of pipelines of meshes, instead of urb().
  const MeshUrbPartition& mesh_urb() const { return mesh_urb_; }
  const Rasterization& rasterization() const { return rasterization_; }
  const PixelTraits& pixels() const { return pixels_; }
  // What draws may set, and the pipeline's own values of it.
  const DynamicBase& dynamic() const { return dynamic_; }
  // BLEND_STATE with an entry for each target that there can be: hardware fetches all of them.
  absl::Span<const uint32_t> blend() const { return blend_; }
  // The declarations of stream output, if it has one.
  bool streams_out() const { return streams_out_; }
  const StreamOutPlan& streamed() const { return streamed_; }
  // While vertices are written, and while they are not.
  const StreamOut& stream_out(bool writes) const { return writes ? writing_ : not_writing_; }

 private:
  explicit GraphicsPipelineOf(const GraphicsPipelineOptions& options)
      : GraphicsPipeline(Gen::kName, options), rasterization_(options.rasterization) {}
  explicit GraphicsPipelineOf(const Kind& kind) : GraphicsPipeline(Gen::kName, kind) {}
  // Calls f for all that is kept as it is, until it returns false.
  template <class F>
  bool EachPlainPart(F f);
  absl::Status Make(const Context& context, const GraphicsPipelineOptions& options);
  absl::Status PartitionUrbFor(const RenderDevice& device, const GraphicsPipelineOptions& options,
                               const VertexLayout& written);
  // The stages before the rasterizer, and the fragment shader: of vertices, or of meshes.
  absl::Status AddVertexStages(const RenderDevice& device, const GraphicsPipelineOptions& options,
                               const VertexLayout& written);
  absl::Status AddMeshStages(const RenderDevice& device, const GraphicsPipelineOptions& options);
  // Plans views, and gives the vertex a position for each that is replicated.
  absl::Status AddViews(const Context& context, const GraphicsPipelineOptions& options,
                        VertexLayout& written);
  absl::Status AddStreamOutput(const StreamOutput& output, const VertexLayout& written);

  PipelineState<Gen> state_;
  UrbPartition urb_;
  MeshUrbPartition mesh_urb_;
  PushConstantPartition constants_;
  Rasterization rasterization_;
  PixelTraits pixels_;
  DynamicBase dynamic_;
  std::vector<uint32_t> blend_;
  bool restarts_at_greatest_ = false;
  Fetch fetch_;
  bool streams_out_ = false;
  StreamOutPlan streamed_;
  StreamOut writing_, not_writing_;
};

// The size of the URB with the division of the third-level cache that command buffers choose.
inline absl::StatusOr<unsigned> UrbKbFor(const RenderDevice& device) {
  if (L3Partitions(device).empty()) return UrbKbOf(device, L3Partition());
  const absl::StatusOr<L3Partition> l3 = ChooseL3(device, {.slm = 1, .urb = 1, .all = 1});
  if (!l3.ok()) return l3.status();
  return UrbKbOf(device, *l3);
}

template <class Gen>
absl::StatusOr<std::unique_ptr<GraphicsPipeline>> GraphicsPipelineOf<Gen>::New(
    const Context& context, const GraphicsPipelineOptions& options) {
  std::unique_ptr<GraphicsPipelineOf> made(new GraphicsPipelineOf(options));
  if (absl::Status status = made->Make(context, options); !status.ok()) return status;
  return std::unique_ptr<GraphicsPipeline>(std::move(made));
}

template <class Gen>
absl::Status GraphicsPipelineOf<Gen>::PartitionUrbFor(const RenderDevice& device,
                                                      const GraphicsPipelineOptions& options,
                                                      const VertexLayout& written) {
  const ShaderStages& shaders = options.shaders;
  const bool used[kUrbStages] = {shaders.vertex != nullptr, shaders.tess_control != nullptr,
                                 shaders.tess_eval != nullptr, shaders.geometry != nullptr};
  UrbDemand demand;
  for (unsigned i = 0; i < kUrbStages; ++i) {
    if (!used[i]) continue;
    demand.entry_units[i] = options.urb_units[i];
    if (demand.entry_units[i] != 0) continue;
    // A vertex's inputs are in its entry before its outputs are.
    const unsigned inputs = i == 0 ? (vertex_plan_.read_length + 1) / 2 : 0;
    demand.entry_units[i] = std::max({1u, written.entry_units(), inputs});
  }
  const absl::StatusOr<unsigned> kb = UrbKbFor(device);
  if (!kb.ok()) return kb.status();
  const absl::StatusOr<UrbPartition> urb = PartitionUrb(device, *kb, demand);
  if (!urb.ok()) return urb.status();
  urb_ = *urb;
  constants_ = PartitionPushConstants(device, {.vertex = options.constants[0],
                                               .hull = options.constants[1],
                                               .domain = options.constants[2],
                                               .geometry = options.constants[3],
                                               .pixel = options.constants[4]});
  return absl::OkStatus();
}

template <class Gen>
absl::Status GraphicsPipelineOf<Gen>::AddVertexStages(const RenderDevice& device,
                                                      const GraphicsPipelineOptions& options,
                                                      const VertexLayout& written) {
  if constexpr (!requires { typename Gen::Packets::_3DPRIMITIVE_EXTENDED; }) {
    const VertexIds& ids = options.vertices.ids;
    constexpr VertexIds kFilled = {};
    if ((reads_first() && ids.first_buffer != kFilled.first_buffer) ||
        (reads_draw_id() && ids.draw_buffer != kFilled.draw_buffer)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the values of draws in the vertex buffers ", ids.first_buffer, " and ",
                       ids.draw_buffer, "; command buffers put them into ", kFilled.first_buffer,
                       " and ", kFilled.draw_buffer, ", the defaults of VertexIds"));
    }
  }
  // Attributes of an instance stay for all of its views.
  VertexInput input = options.vertices;
  std::vector<VertexAttribute> attributes(input.attributes.begin(), input.attributes.end());
  for (VertexAttribute& attribute : attributes) {
    if (attribute.step != VertexStep::kInstance) continue;
    const absl::StatusOr<uint32_t> divisor = DivisorOf(views_, attribute.divisor);
    if (!divisor.ok()) return divisor.status();
    attribute.divisor = *divisor;
  }
  input.attributes = attributes;
  const absl::StatusOr<VertexPlan> vertices = AddVertexInput(input, state_);
  if (!vertices.ok()) return vertices.status();
  vertex_plan_ = *vertices;
  restarts_at_greatest_ =
      options.vertices.primitive_restart && !options.vertices.restart_index.has_value();
  const PipelinePacket* const fetch =
      FindPacket(state_.core(), StateLayoutOf<Gen>::template IndexOf<Fetch>());
  if (fetch != nullptr) fetch_ = Fetch::unpack(state_.core().dwords.data() + fetch->dword);
  absl::Status status = AddShaders(options.shaders, device, state_);
  if (status.ok()) status = PartitionUrbFor(device, options, written);
  if (!status.ok()) return status;
  rasterization_.dereference = static_cast<uint32_t>(DereferenceOf(device, urb_));
  return AddStreamOutput(options.stream_output, written);
}

template <class Gen>
absl::Status GraphicsPipelineOf<Gen>::AddMeshStages(const RenderDevice& device,
                                                    const GraphicsPipelineOptions& options) {
  if constexpr (requires { typename Gen::Packets::_3DSTATE_MESH_SHADER; }) {
    const ShaderStages& others = options.shaders;
    if (others.vertex != nullptr || others.tess_control != nullptr || others.tess_eval != nullptr ||
        others.geometry != nullptr || !options.stream_output.varyings.empty()) {
      return absl::InvalidArgumentError(
          "a pipeline of meshes with a shader of vertices or with stream output; meshes have none");
    }
    absl::Status status = AddMeshShaders(
        {options.task, options.mesh, others.fragment, others.target}, device, state_);
    if (!status.ok()) return status;
    // Slots are counted from where the setup back end begins to read.
    const uint32_t header = attributes_.first_slot * 16;
    if (attributes_.count != 0 && options.mesh->vertex_header_bytes != header) {
      return absl::InvalidArgumentError(absl::StrCat(
          "mesh shader: vertex_header_bytes is ", options.mesh->vertex_header_bytes,
          "; the fragment shader's inputs begin after ", header, " bytes of a vertex"));
    }
    if (options.mesh_urb_units == 0 || (options.task != nullptr && options.task_urb_units == 0)) {
      return absl::InvalidArgumentError(
          "a pipeline of meshes without the size of their URB entries: set mesh_urb_units, and "
          "task_urb_units for tasks");
    }
    const absl::StatusOr<unsigned> kb = UrbKbFor(device);
    if (!kb.ok()) return kb.status();
    const absl::StatusOr<MeshUrbPartition> urb =
        PartitionMeshUrb(device, *kb,
                         {.task_units = options.task == nullptr ? 0 : options.task_urb_units,
                          .mesh_units = options.mesh_urb_units});
    if (!urb.ok()) return urb.status();
    mesh_urb_ = *urb;
    constants_ = MeshPushConstants(device);
    rasterization_.dereference = static_cast<uint32_t>(DereferenceOf(mesh_urb_));
    return AddStreamOutput({}, {});
  } else {
    return absl::UnimplementedError(
        absl::StrCat(Gen::kName, " has no mesh shaders; Gfx12.5 and later generations have"));
  }
}

template <class Gen>
absl::Status GraphicsPipelineOf<Gen>::AddViews(const Context& context,
                                               const GraphicsPipelineOptions& options,
                                               VertexLayout& written) {
  const absl::StatusOr<MultiviewPlan> views = context.PlanViews(options.multiview);
  if (!views.ok()) return views.status();
  views_ = *views;
  if constexpr (CanReplicate<Gen>()) {
    // Also of pipelines without views, since another one may have had some.
    if (!state_.Add(ViewsPacket<Gen>(views_))) return state_.status();
  }
  if (views_.method == MultiviewMethod::kNone) return absl::OkStatus();
  const ShaderStages& shaders = options.shaders;
  if (draws_meshes() || !options.stream_output.varyings.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("several views of a pipeline ",
                     draws_meshes() ? "of meshes; draw each view by itself, or let the mesh shader "
                                      "write layers"
                                    : "with stream output; write vertices by another pipeline"));
  }
  if (options.multiview.only_positions_differ &&
      (shaders.tess_eval != nullptr || shaders.geometry != nullptr)) {
    return absl::InvalidArgumentError(
        "MultiviewOptions::only_positions_differ of a pipeline with tessellation or a geometry "
        "shader; it must be false, since these stages work once for each view");
  }
  // The last geometry stage, or what is replicated, selects a layer.
  rasterization_.layered = true;
  if (views_.method != MultiviewMethod::kReplication) return absl::OkStatus();
  if (written.SlotOf(Varying::kClipDistances0to3).has_value()) {
    return absl::InvalidArgumentError(
        "clip distances of primitives that hardware draws for each view: it is not known where it "
        "looks for them; set MultiviewOptions::most_replicated to 0, which draws instances");
  }
  return RepeatPosition(views_.positions(), written);
}

template <class Gen>
absl::Status GraphicsPipelineOf<Gen>::AddStreamOutput(const StreamOutput& output,
                                                      const VertexLayout& written) {
  const absl::StatusOr<StreamOutPlan> plan = PlanStreamOutput(output, written);
  if (!plan.ok()) return plan.status();
  streams_out_ = !output.varyings.empty();
  streamed_ = *plan;
  writing_ = StreamOutPacket<Gen>(output, written, true);
  not_writing_ = StreamOutPacket<Gen>(output, written, false);
  return absl::OkStatus();
}

template <class Gen>
absl::Status GraphicsPipelineOf<Gen>::Make(const Context& context,
                                           const GraphicsPipelineOptions& options) {
  const RenderDevice& device = context.device();
  if (device.other_line_width) rasterization_.cherryview = true;
  if (absl::Status status = CheckDynamicStates(options.dynamic); !status.ok()) return status;
  const ShaderStages& shaders = options.shaders;
  dynamic_ = {.states = options.dynamic,
              .topology = options.vertices.topology,
              .patch_points = options.vertices.patch_points,
              .tessellates = shaders.tess_eval != nullptr,
              .rasterizes_topology =
                  !draws_meshes() && shaders.tess_eval == nullptr && shaders.geometry == nullptr,
              .tests = options.depth_stencil};
  if (draws_meshes()) dynamic_.states &= ~kDynamicTopology;
  absl::StatusOr<VertexLayout> written = MakeVertexLayout(options.varyings);
  if (!written.ok()) return written.status();
  if (absl::Status status = AddViews(context, options, *written); !status.ok()) return status;
  const absl::StatusOr<AttributePlan> attributes = PlanAttributes(*written, options.inputs);
  if (!attributes.ok()) return attributes.status();
  attributes_ = *attributes;
  if (absl::Status status = AddAttributes(attributes_, state_); !status.ok()) return status;
  const uint32_t samples = options.rasterization.multisample.samples;
  if (options.shaders.fragment != nullptr && options.shaders.target.samples != samples) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a fragment shader for pixels of ", options.shaders.target.samples,
        " samples with a rasterizer of ", samples,
        ": PixelTarget::samples and Multisample::samples must be the same, because they decide "
        "which widths of the shader may run"));
  }
  if (absl::Status status = draws_meshes() ? AddMeshStages(device, options)
                                           : AddVertexStages(device, options, *written);
      !status.ok()) {
    return status;
  }

  pixels_ = TraitsOf(options.shaders.fragment);
  if (absl::Status status = AddRasterization(rasterization_, pixels_, state_); !status.ok())
    return status;
  if (absl::Status status = AddDepthStencil(TestsOf<Gen>(options.depth_stencil), state_);
      !status.ok())
    return status;
  if (absl::Status status = AddColorBlend(options.blend, pixels_, state_); !status.ok())
    return status;
  BlendPackets<Gen> blend;
  if (absl::Status status = DescribeColorBlend<Gen>(options.blend, pixels_, blend); !status.ok())
    return status;
  using State = typename Gen::Packets::BLEND_STATE;
  blend_.resize(State::dwords_needed(kMostBlendTargets));
  if (const error e = blend.blend.pack(
          blend_.data(),
          span<const typename State::ps_item>(blend.entries.data(), kMostBlendTargets))) {
    return PackStatus("BLEND_STATE", e);
  }
  return state_.status();
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_GRAPHICS_PIPELINE_OF_H_
