// The vertex input of a pipeline, as an API states it: attributes in buffers, ids, topology.
//
//   const VertexAttribute attributes[] = {
//       {.format = SurfaceFormat::R32G32B32_FLOAT, .offset = 0},
//       {.format = SurfaceFormat::R8G8B8A8_UNORM, .offset = 12},
//       {.format = SurfaceFormat::R32G32B32A32_FLOAT, .buffer = 1, .step = VertexStep::kInstance},
//   };
//   absl::Status status = AddVertexInput(
//       {.attributes = attributes, .ids = {.instance = true}}, pipeline);  // vertex_packets.h
//
// The vertex fetch makes an element of each attribute, and the shader receives elements in their
// order: four components of 32 bits each, unless they are packed. Components that the format lacks
// are 0, and w is 1. After the attributes come up to two elements of ids (see VertexIds), then the
// edge flag, which the shader does not receive.
//
// Sources: PRMs, volume "3D Pipeline: Vertex Fetch", and VERTEX_ELEMENT_STATE, 3DSTATE_VF_SGVS,
// 3DSTATE_VF_SGVS_2, 3DSTATE_VF_COMPONENT_PACKING.

#ifndef PACKSMITH_RUNTIME_INTEL_PIPELINE_VERTEX_INPUT_H_
#define PACKSMITH_RUNTIME_INTEL_PIPELINE_VERTEX_INPUT_H_

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "packsmith/pack.h"
#include "runtime/intel/binding/surface.h"

namespace packsmith::intel {

// How vertices form primitives. Those after kPatchList are not Vulkan's.
enum class Topology : uint8_t {
  kPointList,
  kLineList,
  kLineStrip,
  kTriangleList,
  kTriangleStrip,
  kTriangleFan,
  kLineListAdjacency,
  kLineStripAdjacency,
  kTriangleListAdjacency,
  kTriangleStripAdjacency,
  kPatchList,
  kLineLoop,
  kQuadList,
  kQuadStrip,
  kPolygon,
  kRectangleList,  // three corners of a rectangle along the axes: clears and copies
};

// When an attribute advances to the next item of its buffer.
enum class VertexStep : uint8_t { kVertex, kInstance };

struct VertexAttribute {
  uint32_t format = SurfaceFormat::R32G32B32A32_FLOAT;  // a code of SurfaceFormat
  uint32_t buffer = 0;                                  // its index, 0 to 32
  uint32_t offset = 0;                                  // bytes from the item's beginning, to 2047
  VertexStep step = VertexStep::kVertex;
  // kInstance: how many instances share an item. 0: all have the first one.
  uint32_t divisor = 1;
  // Components that the shader reads, a bit each: 1 is x, 8 is w. Counts with pack_components.
  uint8_t read = 0xf;
  // It is not an input of the shader: it tells for each vertex whether the edge after it is drawn.
  // At most one attribute, whose format is R8_UINT, R16_UINT or R32_UINT.
  bool edge_flag = false;
};

// Ids that the hardware generates. Those of the first row are one element, in this order, whichever
// of them are used; the draw's number is x of another one.
struct VertexIds {
  bool first_vertex = false, first_instance = false, vertex = false, instance = false;
  bool draw = false;
  // Gfx8 and 9 have no parameters of draws: these buffers, of 32-bit integers, hold the first
  // vertex and the first instance, and the draw's number. Later generations ignore this; the draw's
  // number is the extended parameter 2 of 3DPRIMITIVE_EXTENDED.
  uint32_t first_buffer = 31, draw_buffer = 32;
};

struct VertexInput {
  absl::Span<const VertexAttribute> attributes = {};
  VertexIds ids = {};
  Topology topology = Topology::kTriangleList;
  uint32_t patch_points = 0;  // kPatchList: 1 to 32
  // Indices that end a strip and begin another. Hardware compares whole indices: without a number
  // it is 0xffffffff here, which fits indices of 32 bits, and command buffers take the greatest
  // index of the index buffer's type, as Vulkan requires.
  bool primitive_restart = false;
  std::optional<uint32_t> restart_index = {};
  // Attributes of 64-bit components (…_PASSTHRU) become elements of 32-bit integers, two each for
  // three and four components, as Mesa's OpenGL does it. Otherwise they are one element, of 32
  // bytes for three and four components.
  bool split_64_bit = false;
  // From Gfx9 on: the shader receives only the components that it reads, one after the other.
  bool pack_components = false;
  bool statistics = true;  // counts vertices and primitives
};

// What becomes of a component of an element.
enum class VertexComponent : uint8_t { kNone, kSource, kZero, kOneFloat, kOneInteger };

struct VertexElement {
  uint32_t format = 0, buffer = 0, offset = 0;
  std::array<VertexComponent, 4> components = {};
  bool edge_flag = false;
  VertexStep step = VertexStep::kVertex;
  uint32_t divisor = 0;
  uint8_t stored = 0xf;  // components that the shader receives, a bit each
  // Its place in what the shader receives, in components of 32 bits.
  uint16_t first_component = 0;
  uint16_t components_32 = 4;
};

inline constexpr unsigned kMostVertexAttributes = 33;  // and the edge flag

struct VertexPlan {
  std::array<VertexElement, kMostVertexAttributes + 1> elements = {};
  unsigned count = 0;
  // The elements of ids, if there are any: 0 to 33.
  unsigned first_ids = 0, draw_id = 0;
  bool has_ids = false, has_draw_id = false;
  // What 3DSTATE_VS reads of each vertex: units of 32 bytes.
  unsigned read_length = 0;
};

// What a generation's vertex fetch can do.
struct VertexFetch {
  const char* generation = "";
  bool packs_components = false;
  bool has_draw_parameters = false;
};

// The elements of an input. InvalidArgument, naming the attribute, for a format that vertices
// cannot have, buffers or offsets out of range, 64-bit components that are not at multiples of 8
// bytes, a second edge flag or one that is not an integer, and what the generation lacks;
// OutOfRange for more than 33 elements.
absl::StatusOr<VertexPlan> PlanVertexInput(const VertexInput& input, const VertexFetch& fetch);

// A buffer of vertices.
struct VertexBuffer {
  address memory = {};
  uint64_t size = 0;    // bytes; 0: reads return zeros
  uint32_t stride = 0;  // bytes from item to item, to 2048
};

enum class IndexType : uint8_t { kUint8, kUint16, kUint32 };

struct IndexBuffer {
  address memory = {};
  uint64_t size = 0;  // bytes
  IndexType type = IndexType::kUint16;
};

namespace vertex_errors {
absl::Status PatchPoints(uint32_t points);
absl::Status BufferCount(size_t count, size_t most);
absl::Status BufferSize(const char* what, size_t index, uint64_t size);
}  // namespace vertex_errors

}  // namespace packsmith::intel

#endif  // PACKSMITH_RUNTIME_INTEL_PIPELINE_VERTEX_INPUT_H_
