#include "runtime/intel/driver/stream_output_plan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace packsmith::intel {
namespace {

constexpr unsigned kMostStride = 2048;  // PRM, 3DSTATE_STREAMOUT, "Buffer 0 Surface Pitch"

}  // namespace

absl::StatusOr<StreamOutPlan> PlanStreamOutput(const StreamOutput& output,
                                               const VertexLayout& written) {
  if (output.rasterized_stream >= kVertexStreams) {
    return absl::InvalidArgumentError(absl::StrCat("stream ", output.rasterized_stream,
                                                   " is rasterized; the streams are 0 to 3"));
  }
  std::vector<StreamOutVarying> varyings;
  std::array<unsigned, kStreamOutBuffers> ends = {};
  for (const StreamedVarying& from : output.varyings) {
    const std::optional<unsigned> slot = written.SlotOf(from.what);
    if (!slot.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("stream output of ", NameOf(from.what),
                       ", which no shader writes: "
                       "GraphicsPipelineOptions::varyings has what is written"));
    }
    varyings.push_back({.stream = from.stream,
                        .register_index = *slot,
                        .components = from.components,
                        .buffer = from.buffer,
                        .offset = from.offset});
    if (from.buffer < ends.size()) {
      const auto components = static_cast<unsigned>(__builtin_popcount(from.components));
      ends[from.buffer] = std::max(ends[from.buffer], from.offset + 4 * components);
    }
  }
  absl::StatusOr<StreamOutPlan> plan = PlanStreamOut(varyings);
  if (!plan.ok()) return plan.status();
  for (unsigned i = 0; i < ends.size(); ++i) {
    const uint32_t stride = output.strides[i];
    if (stride % 4 == 0 && stride <= kMostStride && stride >= ends[i]) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("stream output buffer ", i, " has a stride of ", stride,
                     " bytes; it must be a multiple of 4 "
                     "up to ",
                     kMostStride, ", and vertices have ", ends[i], " bytes there"));
  }
  return plan;
}

}  // namespace packsmith::intel
