#include "runtime/intel/driver/dynamic_state.h"

#include "absl/strings/str_format.h"

namespace packsmith::intel {
namespace {

template <class T>
void Take(const std::optional<T>& from, T& to) {
  if (from.has_value()) to = *from;
}
template <class T>
void Take(const std::optional<T>& from, std::optional<T>& to) {
  if (from.has_value()) to = from;
}
void Take(const std::optional<StencilPair>& from, uint8_t& front, uint8_t& back) {
  if (!from.has_value()) return;
  front = from->front;
  back = from->back;
}
void TakeOperations(const std::optional<StencilFace>& from, StencilFace& to) {
  if (!from.has_value()) return;
  to.fail = from->fail;
  to.depth_fail = from->depth_fail;
  to.pass = from->pass;
  to.compare = from->compare;
}

RasterPrimitive PrimitiveOf(Topology topology) {
  switch (topology) {
    case Topology::kPointList:
      return RasterPrimitive::kPoints;
    case Topology::kLineList:
    case Topology::kLineStrip:
    case Topology::kLineListAdjacency:
    case Topology::kLineStripAdjacency:
    case Topology::kLineLoop:
      return RasterPrimitive::kLines;
    default:
      return RasterPrimitive::kTriangles;
  }
}

}  // namespace

void DynamicState::Update(const DynamicState& changes) {
  Take(changes.topology, topology);
  Take(changes.patch_points, patch_points);
  Take(changes.discard, discard);
  Take(changes.cull, cull);
  Take(changes.front_face, front_face);
  Take(changes.line_width, line_width);
  Take(changes.depth_bias, depth_bias);
  Take(changes.depth_test, depth_test);
  Take(changes.depth_write, depth_write);
  Take(changes.depth_compare, depth_compare);
  Take(changes.bounds_test, bounds_test);
  Take(changes.bounds, bounds);
  Take(changes.stencil_test, stencil_test);
  Take(changes.stencil_front, stencil_front);
  Take(changes.stencil_back, stencil_back);
  Take(changes.stencil_compare_masks, stencil_compare_masks);
  Take(changes.stencil_write_masks, stencil_write_masks);
  Take(changes.stencil_references, stencil_references);
  Take(changes.blend_constants, blend_constants);
}

absl::Status TakeTopology(const DynamicState& values, DynamicBase& base) {
  if ((base.states & kDynamicTopology) == 0) return absl::OkStatus();
  Take(values.topology, base.topology);
  Take(values.patch_points, base.patch_points);
  if ((base.topology == Topology::kPatchList) == base.tessellates) return absl::OkStatus();
  return absl::InvalidArgumentError(
      base.tessellates
          ? "a dynamic topology other than patches for a pipeline that tessellates; it takes "
            "Topology::kPatchList"
          : "patches as the dynamic topology of a pipeline that does not tessellate; Bind() one "
            "with tessellation shaders, or set another topology");
}

void TakeTests(const DynamicState& values, DynamicBase& base) {
  DepthStencil& to = base.tests;
  if ((base.states & kDynamicDepth) != 0) {
    Take(values.depth_test, to.depth_test);
    Take(values.depth_write, to.depth_write);
    Take(values.depth_compare, to.depth_compare);
  }
  if ((base.states & kDynamicDepthBounds) != 0) {
    Take(values.bounds_test, to.bounds_test);
    if (values.bounds.has_value()) {
      to.min_bound = (*values.bounds)[0];
      to.max_bound = (*values.bounds)[1];
    }
  }
  if ((base.states & kDynamicStencil) != 0) {
    Take(values.stencil_test, to.stencil_test);
    TakeOperations(values.stencil_front, to.front);
    TakeOperations(values.stencil_back, to.back);
  }
  if ((base.states & kDynamicStencilMasks) != 0) {
    Take(values.stencil_compare_masks, to.front.compare_mask, to.back.compare_mask);
    Take(values.stencil_write_masks, to.front.write_mask, to.back.write_mask);
  }
  if ((base.states & kDynamicStencilReferences) != 0) {
    Take(values.stencil_references, to.front.reference, to.back.reference);
  }
}

void TakeRasterization(const DynamicState& values, const DynamicBase& base, Rasterization& to) {
  if ((base.states & kDynamicTopology) != 0 && base.rasterizes_topology) {
    to.primitive = PrimitiveOf(base.topology);
  }
  if ((base.states & kDynamicDiscard) != 0) Take(values.discard, to.discard);
  if ((base.states & kDynamicCull) != 0) Take(values.cull, to.cull);
  if ((base.states & kDynamicFrontFace) != 0) Take(values.front_face, to.front_face);
  if ((base.states & kDynamicLineWidth) != 0) Take(values.line_width, to.line_width);
  if ((base.states & kDynamicDepthBias) != 0) Take(values.depth_bias, to.depth_bias);
}

absl::Status CheckDynamicStates(DynamicStates states) {
  if ((states & ~kAllDynamicStates) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("dynamic states 0x%x: they must be some of 0x%x", states, kAllDynamicStates));
}

}  // namespace packsmith::intel
