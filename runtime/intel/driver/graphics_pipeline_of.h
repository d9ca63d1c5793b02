// Graphics pipelines of one generation.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_GRAPHICS_PIPELINE_OF_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_GRAPHICS_PIPELINE_OF_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/command/pack_status.h"
#include "runtime/intel/driver/context.h"
#include "runtime/intel/driver/graphics_pipeline.h"
#include "runtime/intel/pipeline/output_packets.h"
#include "runtime/intel/pipeline/raster_packets.h"
#include "runtime/intel/pipeline/stage_packets.h"
#include "runtime/intel/pipeline/varying_packets.h"
#include "runtime/intel/pipeline/vertex_packets.h"
#include "runtime/intel/state/l3.h"
#include "runtime/intel/state/pipeline_state.h"
#include "runtime/intel/state/urb.h"

namespace packsmith::intel {

template <class Gen>
class GraphicsPipelineOf final : public GraphicsPipeline {
 public:
  static absl::StatusOr<std::unique_ptr<GraphicsPipeline>> New(
      const Context& context, const GraphicsPipelineOptions& options);

  const PipelineState<Gen>& state() const { return state_; }
  const UrbPartition& urb() const { return urb_; }
  const PushConstantPartition& constants() const { return constants_; }
  const Rasterization& rasterization() const { return rasterization_; }
  const PixelTraits& pixels() const { return pixels_; }
  // BLEND_STATE with an entry for each target that there can be: hardware fetches all of them.
  absl::Span<const uint32_t> blend() const { return blend_; }

 private:
  explicit GraphicsPipelineOf(const GraphicsPipelineOptions& options)
      : GraphicsPipeline(Gen::kName), rasterization_(options.rasterization) {}
  absl::Status Make(const Context& context, const GraphicsPipelineOptions& options);
  absl::Status PartitionUrbFor(const RenderDevice& device, const GraphicsPipelineOptions& options,
                               const VertexLayout& written);

  PipelineState<Gen> state_;
  UrbPartition urb_;
  PushConstantPartition constants_;
  Rasterization rasterization_;
  PixelTraits pixels_;
  std::vector<uint32_t> blend_;
};

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
  unsigned kb = UrbKbOf(device, L3Partition());
  if (!L3Partitions(device).empty()) {
    const absl::StatusOr<L3Partition> l3 = ChooseL3(device, {.slm = 1, .urb = 1, .all = 1});
    if (!l3.ok()) return l3.status();
    kb = UrbKbOf(device, *l3);
  }
  const absl::StatusOr<UrbPartition> urb = PartitionUrb(device, kb, demand);
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
absl::Status GraphicsPipelineOf<Gen>::Make(const Context& context,
                                           const GraphicsPipelineOptions& options) {
  const RenderDevice& device = context.device();
  const absl::StatusOr<VertexPlan> vertices = AddVertexInput(options.vertices, state_);
  if (!vertices.ok()) return vertices.status();
  vertex_plan_ = *vertices;
  if (absl::Status status = AddShaders(options.shaders, device, state_); !status.ok())
    return status;
  const absl::StatusOr<VertexLayout> written = MakeVertexLayout(options.varyings);
  if (!written.ok()) return written.status();
  const absl::StatusOr<AttributePlan> attributes = PlanAttributes(*written, options.inputs);
  if (!attributes.ok()) return attributes.status();
  attributes_ = *attributes;
  if (absl::Status status = AddAttributes(attributes_, state_); !status.ok()) return status;
  if (absl::Status status = PartitionUrbFor(device, options, *written); !status.ok()) return status;

  pixels_ = TraitsOf(options.shaders.fragment);
  rasterization_.dereference = static_cast<uint32_t>(DereferenceOf(device, urb_));
  if (absl::Status status = AddRasterization(rasterization_, pixels_, state_); !status.ok())
    return status;
  if (absl::Status status = AddDepthStencil(options.depth_stencil, state_); !status.ok())
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
