// Dynamic state of command buffers of one generation: packets that a pipeline leaves to draws, made
// of its own values and those that were set.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_DYNAMIC_STATE_OF_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_DYNAMIC_STATE_OF_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/intel/driver/dynamic_state.h"
#include "runtime/intel/driver/graphics_pipeline_of.h"
#include "runtime/intel/driver/recorder_parts.h"
#include "runtime/intel/pipeline/output_packets.h"
#include "runtime/intel/pipeline/raster_packets.h"
#include "runtime/intel/pipeline/vertex_packets.h"

namespace packsmith::intel {

template <class Gen>
class DynamicRecorder {
  using G = typename Gen::Packets;

 public:
  explicit DynamicRecorder(const RecorderParts<Gen>& parts) : parts_(parts) {}

  void Set(const DynamicState& changes) {
    values_.Update(changes);
    stale_ = true;
  }
  absl::Status SetConstants(const ColorConstants& constants) {
    if (!kReferencesInConstants<Gen> &&
        (constants.front_stencil_reference != 0 || constants.back_stencil_reference != 0)) {
      return output_errors::ConstantStencilReference(Gen::kName);
    }
    constants_ = constants;
    values_.blend_constants = std::nullopt;
    wants_constants_ = stale_ = true;
    return absl::OkStatus();
  }
  // A pipeline's packets have been set, whose dynamic ones must be set again.
  void SetStale() { stale_ = true; }

  // Before a draw: sets what differs from the pipeline. Errors of DescribeRasterization() and the
  // like: a value that was set does not fit.
  absl::Status Apply(const GraphicsPipelineOf<Gen>& pipeline) {
    if (!stale_) return absl::OkStatus();
    DynamicBase base = pipeline.dynamic();
    TakeTests(values_, base);
    absl::Status status = base.states == 0 ? absl::OkStatus() : ApplyPackets(pipeline, base);
    if (status.ok()) status = ApplyConstants(base);
    if (status.ok()) stale_ = false;
    return status;
  }

 private:
  absl::Status ApplyPackets(const GraphicsPipelineOf<Gen>& pipeline, DynamicBase& base) {
    constexpr DynamicStates kRaster = kDynamicTopology | kDynamicDiscard | kDynamicCull |
                                      kDynamicFrontFace | kDynamicLineWidth | kDynamicDepthBias;
    constexpr DynamicStates kTests = kDynamicDepth | kDynamicDepthBounds | kDynamicStencil |
                                     kDynamicStencilMasks | kDynamicStencilReferences;
    DrawState<Gen>& state = parts_.state;
    absl::Status status = TakeTopology(values_, base);
    if (status.ok() && (base.states & kDynamicTopology) != 0) {
      const auto topology = TopologyOf<Gen>(base.topology, base.patch_points);
      if (!topology.ok()) return topology.status();
      status =
          PutPacket(state, typename G::_3DSTATE_VF_TOPOLOGY{.primitive_topology_type = *topology});
    }
    if (status.ok() && (base.states & kRaster) != 0) {
      Rasterization rasterization = pipeline.rasterization();
      TakeRasterization(values_, base, rasterization);
      RasterPackets<Gen> packets;
      status = DescribeRasterization<Gen>(rasterization, pipeline.pixels(), packets);
      if (status.ok()) status = PutPacket(state, packets.clip);
      if (status.ok()) status = PutPacket(state, packets.sf);
      if (status.ok()) status = PutPacket(state, packets.raster);
    }
    if (status.ok() && (base.states & kTests) != 0) {
      status = SetDepthStencil(TestsOf<Gen>(base.tests), state);
    }
    return status;
  }

  // COLOR_CALC_STATE, if it is not what was written last. On Gfx8 it has the stencil references.
  absl::Status ApplyConstants(const DynamicBase& base) {
    ColorConstants wanted = constants_;
    if (values_.blend_constants.has_value()) wanted.blend = *values_.blend_constants;
    if constexpr (kReferencesInConstants<Gen>) {
      const StencilFace &front = base.tests.front, &back = base.tests.back;
      if (front.reference != 0 || back.reference != 0 ||
          ((base.states & kDynamicStencilReferences) != 0 &&
           values_.stencil_references.has_value())) {
        wanted.front_stencil_reference = front.reference;
        wanted.back_stencil_reference = back.reference;
      }
    }
    const bool written = written_.has_value();
    if (written ? *written_ == wanted : !wants_constants_ && wanted == ColorConstants()) {
      return absl::OkStatus();
    }
    absl::Status status =
        intel::SetColorConstants(wanted, parts_.recording.dynamic(), parts_.batch, parts_.state);
    if (status.ok()) written_ = wanted;
    return status;
  }

  const RecorderParts<Gen> parts_;
  DynamicState values_;
  ColorConstants constants_;
  bool wants_constants_ = false;
  std::optional<ColorConstants> written_;
  bool stale_ = true;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_DYNAMIC_STATE_OF_H_
