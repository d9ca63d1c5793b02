// Stream output of a pipeline: from the varyings to declarations of what vertices have.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_STREAM_OUTPUT_PLAN_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_STREAM_OUTPUT_PLAN_H_

#include "absl/status/statusor.h"
#include "packsmith/pack.h"
#include "runtime/intel/driver/graphics_pipeline.h"
#include "runtime/intel/pipeline/varyings.h"
#include "runtime/intel/state/stream_output.h"

namespace packsmith::intel {

// Empty without stream output. InvalidArgument, naming the varying or the buffer: one that the last
// stage does not write, strides that are not multiples of 4, above 2048 or shorter than a vertex,
// streams above 3; errors of PlanStreamOut().
absl::StatusOr<StreamOutPlan> PlanStreamOutput(const StreamOutput& output,
                                               const VertexLayout& written);

// 3DSTATE_STREAMOUT while vertices are written, and while they are not.
template <class Gen>
typename Gen::Packets::_3DSTATE_STREAMOUT StreamOutPacket(const StreamOutput& output,
                                                          const VertexLayout& written,
                                                          bool writes) {
  using Packet = typename Gen::Packets::_3DSTATE_STREAMOUT;
  Packet packet{.render_stream_select = output.rasterized_stream,
                .rendering_disable = !output.rasterize};
  if (output.varyings.empty() || !writes) return packet;
  // Of each stream all of the vertex is read.
  const uint32_t length = written.read_length() - 1;
  packet.so_statistics_enable = true;
  packet.reorder_mode =
      output.trailing_order ? Packet::REORDER_MODE_TRAILING : Packet::REORDER_MODE_LEADING;
  packet.so_function_enable = true;
  packet.stream_0_vertex_read_length = length;
  packet.stream_1_vertex_read_length = length;
  packet.stream_2_vertex_read_length = length;
  packet.stream_3_vertex_read_length = length;
  packet.buffer_0_surface_pitch = output.strides[0];
  packet.buffer_1_surface_pitch = output.strides[1];
  packet.buffer_2_surface_pitch = output.strides[2];
  packet.buffer_3_surface_pitch = output.strides[3];
  return packet;
}

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_STREAM_OUTPUT_PLAN_H_
