// What vertex fetch needs to know of a draw, in plain numbers: no packets, no generation. See
// draw_state.h for where it comes from, vertex_fetch.h for what is done with it.
#ifndef PACKSMITH_RUNTIME_SIM_VERTICES_VERTEX_DRAW_H_
#define PACKSMITH_RUNTIME_SIM_VERTICES_VERTEX_DRAW_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/sim/vertices/primitives.h"
#include "runtime/sim/vertices/vertex_format.h"

namespace packsmith::sim {

// What a component of a vertex can be.
enum class ComponentSource : uint8_t {
  kNothing,  // not stored: takes no room
  kData,     // the component of the element in its vertex buffer
  kZero,
  kOneFloat,
  kOneInteger,
  kVertexId,        // see VertexIndex::vertex_id
  kInstanceId,      // from 0, without the first instance
  kPrimitiveId,     // primitives of the instance that are complete before this vertex
  kVertexLocation,  // the base vertex of an indexed draw, the start vertex of another one
  kStartInstance,
  kParameter0,  // of an extended draw
  kParameter1,
  kParameter2,
};

// By the name that the tables give a component's control (STORE_SRC, …). Empty for other names.
std::optional<ComponentSource> FindComponentControl(absl::string_view name);

struct IndexBuffer {
  uint32_t space = 0;
  uint64_t address = 0;
  uint64_t size = 0;         // bytes; an index that does not fit whole reads as 0
  uint32_t index_bytes = 4;  // 1, 2 or 4
};

struct VertexBuffer {
  uint32_t space = 0;
  uint64_t address = 0;
  uint64_t size = 0;   // bytes; an element that does not fit whole reads as zeros
  uint32_t pitch = 0;  // bytes from row to row; 0: every row is the first one
  bool null = true;    // everything reads as zeros
  // Gfx4, in place of a size: rows above this read as zeros.
  std::optional<uint32_t> last_row = std::nullopt;
  // Gfx4-7: instances that share a row; 0: all do. Empty: a row for each vertex.
  std::optional<uint32_t> step = std::nullopt;
};

struct VertexElement {
  uint32_t buffer = 0;
  uint32_t offset = 0;  // bytes from the start of the row
  VertexFormat format = {};
  std::array<ComponentSource, 4> components = {};
  // Not stored: if its bits are all zero, the edge that begins at the vertex is inside a polygon.
  bool edge_flag = false;
  // Gfx8 and later; takes precedence over the buffer's.
  std::optional<uint32_t> step = std::nullopt;
  // Gfx4: the dword of the vertex at which the element begins. Empty: after the element before.
  std::optional<uint32_t> destination = std::nullopt;
  // Gfx9 and later, component packing: bit i: component i is stored.
  uint8_t enables = 0xf;
  // The format as the tables name it, for people; empty: it has none.
  absl::string_view format_name = {};
};

// A value that the hardware makes, in place of a component of an element.
struct Placement {
  ComponentSource source = ComponentSource::kNothing;
  uint32_t element = 0;
  uint32_t component = 0;  // 0 to 3
};

struct VertexDraw {
  bool indexed = false;
  uint32_t start_vertex = 0;  // the first vertex, or the position of the first index
  uint32_t vertex_count = 0;  // of each instance
  uint32_t instance_count = 1;
  uint32_t start_instance = 0;
  int32_t base_vertex = 0;  // added to each index
  std::array<uint32_t, 3> parameters = {};

  IndexBuffer indices;
  // An index, extended to 32 bits, that restarts the strip and is not a vertex.
  std::optional<uint32_t> cut;
  // The cut applies to the vertices of draws without indices.
  bool cut_sequential = false;
  // Vertex ids include the start vertex or base vertex (Gfx11 and later).
  bool vertex_id_offset = false;

  std::vector<VertexBuffer> buffers;
  std::vector<VertexElement> elements;  // the valid ones
  std::vector<Placement> placements;    // of two for one component the later one holds

  Topology topology;
  AssemblyOptions assembly;

  // The bits of an address.
  uint64_t address_mask = ~uint64_t{0};
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_VERTICES_VERTEX_DRAW_H_
