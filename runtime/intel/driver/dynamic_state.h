// State that draws set instead of pipelines.
//
//   auto pipeline = context.NewGraphicsPipeline({…, .dynamic = kDynamicCull | kDynamicDepth});
//   commands.Bind(*pipeline);
//   commands.SetDynamic({.cull = CullMode::kBack, .depth_compare = Compare::kLess});
//   commands.Draw({.vertices = 3});
//
// A pipeline says which state it leaves to draws. Values are kept from one pipeline to the next,
// and apply with each that leaves them; until a value is set, it is the pipeline's own. Names and
// values are those of runtime/intel/pipeline.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_DYNAMIC_STATE_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_DYNAMIC_STATE_H_

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "runtime/intel/binding/samplers.h"
#include "runtime/intel/pipeline/output.h"
#include "runtime/intel/pipeline/rasterization.h"
#include "runtime/intel/pipeline/vertex_input.h"

namespace packsmith::intel {

// What a pipeline leaves to draws: a bit each.
using DynamicStates = uint32_t;
inline constexpr DynamicStates kDynamicTopology = 1 << 0;  // and the points of patches
inline constexpr DynamicStates kDynamicDiscard = 1 << 1;
inline constexpr DynamicStates kDynamicCull = 1 << 2;
inline constexpr DynamicStates kDynamicFrontFace = 1 << 3;
inline constexpr DynamicStates kDynamicLineWidth = 1 << 4;
inline constexpr DynamicStates kDynamicDepthBias = 1 << 5;
inline constexpr DynamicStates kDynamicDepth = 1 << 6;  // the test, writes, and the comparison
inline constexpr DynamicStates kDynamicDepthBounds = 1 << 7;  // from Gfx12 on
inline constexpr DynamicStates kDynamicStencil = 1 << 8;      // the test, operations, comparisons
inline constexpr DynamicStates kDynamicStencilMasks = 1 << 9;
inline constexpr DynamicStates kDynamicStencilReferences = 1 << 10;
inline constexpr DynamicStates kAllDynamicStates = (1 << 11) - 1;

// Of the two sides of polygons.
struct StencilPair {
  uint8_t front = 0, back = 0;

  friend bool operator==(const StencilPair&, const StencilPair&) = default;
};

// What is to change; values that are empty stay as they are.
struct DynamicState {
  // Pipelines with a shader before the rasterizer other than the vertex shader determine by
  // Rasterization::primitive what becomes fragments, others by this.
  std::optional<Topology> topology = {};
  std::optional<uint32_t> patch_points = {};
  std::optional<bool> discard = {};  // nothing is rasterized
  std::optional<CullMode> cull = {};
  std::optional<FrontFace> front_face = {};
  std::optional<float> line_width = {};
  std::optional<DepthBias> depth_bias = {};
  std::optional<bool> depth_test = {}, depth_write = {};
  std::optional<Compare> depth_compare = {};
  std::optional<bool> bounds_test = {};
  std::optional<std::array<float, 2>> bounds = {};
  std::optional<bool> stencil_test = {};
  // Of these only the operations and the comparison.
  std::optional<StencilFace> stencil_front = {}, stencil_back = {};
  std::optional<StencilPair> stencil_compare_masks = {}, stencil_write_masks = {};
  std::optional<StencilPair> stencil_references = {};  // on all generations
  // Of no pipeline, and so always dynamic: ColorConstants::blend.
  std::optional<std::array<float, 4>> blend_constants = {};

  // Takes the values of `changes` that are not empty.
  void Update(const DynamicState& changes);
};

// What dynamic state replaces of a pipeline. Plain: caches keep it.
struct DynamicBase {
  DynamicStates states = 0;
  Topology topology = Topology::kTriangleList;
  uint32_t patch_points = 0;
  bool tessellates = false;
  bool rasterizes_topology = false;  // no stage between the vertex shader and the rasterizer
  DepthStencil tests = {};
};

// The values of a draw with such a pipeline. InvalidArgument for patches without tessellation, and
// the reverse.
absl::Status TakeTopology(const DynamicState& values, DynamicBase& base);
void TakeTests(const DynamicState& values, DynamicBase& base);
// `base`: after TakeTopology().
void TakeRasterization(const DynamicState& values, const DynamicBase& base, Rasterization& to);

// InvalidArgument for bits that are none of these.
absl::Status CheckDynamicStates(DynamicStates states);

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_DYNAMIC_STATE_H_
