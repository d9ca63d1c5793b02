// What draws and dispatches of a command buffer take, besides pipelines.

#ifndef PACKSMITH_RUNTIME_INTEL_DRIVER_DRAWS_H_
#define PACKSMITH_RUNTIME_INTEL_DRIVER_DRAWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/intel/batch/cache_tracker.h"
#include "runtime/intel/binding/state_uses.h"
#include "runtime/intel/binding/surface.h"
#include "runtime/intel/pipeline/depth_targets.h"

namespace packsmith::intel {

// What draws write to: at most 8 colours, at the beginning of the fragment shader's binding table.
// All have the size of the first one that there is.
struct RenderTargets {
  absl::Span<const ImageSurface> colors = {};  // of SurfacePurpose::kRenderTarget
  const ImageSurface* depth = nullptr;
  const ImageSurface* stencil = nullptr;
  HierarchicalDepth hierarchical = {};
  float clear_depth = 0;  // DepthTargets::clear_depth
  // Pixels, where there are no images.
  uint32_t width = 1, height = 1;
};

// A surface as shaders reach it: a surface state in the memory of the recording, or of the context.
struct View {
  uint32_t offset = 0;  // from the base of surface states
  CacheDomain domain = CacheDomain::kSampler;
  uint32_t state_buffer = 0;  // that holds the state
  StateUses uses;             // what the state points to
};

struct DrawCall {
  uint32_t vertices = 0;  // or indices
  uint32_t instances = 1;
  uint32_t first = 0;  // vertex, or index
  uint32_t first_instance = 0;
  int32_t vertex_offset = 0;  // added to each index
  bool indexed = false;
  uint32_t number = 0;  // that vertices read, if the pipeline has VertexIds::draw
};

// Draws whose parameters are in memory: DrawArguments or IndexedDrawArguments of
// runtime/intel/batch/indirect.h. Vertices read the values of their own draw, whose number counts
// from 0.
struct IndirectDrawCall {
  address arguments = {};  // a multiple of 4
  uint32_t draws = 1;
  uint32_t stride = 0;  // bytes from one draw's parameters to the next; 0: without gaps
  bool indexed = false;
  // Address of a 32-bit count that limits the draws.
  std::optional<address> count = std::nullopt;
};

// The most draws of one call, of a pipeline that draws its views as instances
// (runtime/intel/state/multiview.h): the command streamer copies their numbers, with instances for
// all views.
inline constexpr uint32_t kMostIndirectViewDraws = 256;

// Groups of tasks, or of meshes in a pipeline without tasks. `arguments` with an address: their
// numbers are `draws` times DispatchArguments in memory, a multiple of 4.
struct MeshDrawCall {
  uint32_t x = 1, y = 1, z = 1;
  address arguments = {};
  uint32_t draws = 1;
  uint32_t stride = 0;  // bytes from one draw's parameters to the next; 0: without gaps
};
enum class MeshStage : uint8_t { kTask, kMesh };
inline constexpr size_t kMostMeshDataBytes = 4096;

// Where stream output goes.
struct StreamOutputBuffer {
  address memory = {};  // a multiple of 4; without an address: nothing
  uint64_t size = 0;    // bytes: a multiple of 4, up to 4 GiB
  // 4 bytes at a multiple of 4: the bytes that have been written. Stored at the end; `append`: read
  // at the beginning, and writing continues there.
  address written = {};
  bool append = false;
};
// Vertices are (the 4 bytes at `written` - offset) / stride. The draw's number is 0.
struct StreamOutputDraw {
  address written = {};
  uint32_t offset = 0;  // bytes: a multiple of 4
  uint32_t stride = 4;  // bytes: a multiple of 4
  uint32_t instances = 1;
  uint32_t first_instance = 0;
};

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_DRIVER_DRAWS_H_
