// Primitive assembly: from a sequence of vertices, with restarts, to points, lines, triangles,
// quads, rectangles and patches.
//
//   const std::optional<Topology> topology = FindTopology("TRISTRIP");
//   PrimitiveAssembler assembler(*topology, {});
//   for (uint32_t vertex = 0; vertex < count; ++vertex) {
//     if (const Primitive* primitive = assembler.Add(vertex)) Use(*primitive);
//   }
//   if (const Primitive* last = assembler.EndStrip()) Use(*last);
//
// Source: PRM volume 2 (3D pipeline), "3D Primitives Overview" and 3D_Prim_Topo_Type; the orders of
// vertices in alternating triangles are those of 3DSTATE_GS, Reorder Mode.
#ifndef PACKSMITH_RUNTIME_SIM_VERTICES_PRIMITIVES_H_
#define PACKSMITH_RUNTIME_SIM_VERTICES_PRIMITIVES_H_

#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace packsmith::sim {

enum class PrimitiveKind : uint8_t {
  kPoint,
  kLine,
  kTriangle,
  kQuad,
  kRectangle,  // three corners; the fourth follows from them
  kPatch,
};

// How a sequence of vertices is divided into primitives.
enum class AssemblyRule : uint8_t {
  kList,                   // each primitive has vertices of its own
  kLineStrip,              // each vertex continues the line
  kLineLoop,               // and the last one is joined to the first one
  kTriangleStrip,          // each vertex and the two before it
  kTriangleFan,            // each vertex, the one before it, and the first one
  kPolygon,                // a fan whose inner edges are not part of the outline
  kQuadStrip,              // each two vertices and the two before them
  kLineStripAdjacent,      // a line strip; its first and its last vertex are only adjacent
  kTriangleStripAdjacent,  // a triangle strip of every other vertex; the rest are adjacent
};

// What one value of 3D_Prim_Topo_Type means.
struct Topology {
  PrimitiveKind kind = PrimitiveKind::kPoint;
  AssemblyRule rule = AssemblyRule::kList;
  uint8_t vertices = 1;            // of one primitive, 1 to 32, adjacent ones included
  bool adjacent = false;           // some of them are only adjacent
  bool reversed = false;           // a strip whose first triangle has the other winding
  bool backfacing = false;         // points and lines that were made of back-facing triangles
  bool continues_stipple = false;  // a strip that does not restart the line stipple
  bool stippled = true;            // the polygon stipple applies
};

// By the name that the tables give a topology, without their prefix; spaces do not count. Empty for
// other names.
std::optional<Topology> FindTopology(absl::string_view name);

// The number of primitives that a whole strip (or list) of `vertices` makes. A polygon is one.
uint64_t CountPrimitives(const Topology& topology, uint64_t vertices);

// The number of them that are complete once `vertices` have come and the strip is still open.
uint64_t CountCompleted(const Topology& topology, uint64_t vertices);

// The order of a triangle's vertices where a strip swaps two of them to keep the winding. Both have
// the same winding.
enum class StripOrder : uint8_t {
  kLeading,   // the first vertices of successive triangles are successive vertices of the strip
  kTrailing,  // the last ones are
};

// Which vertex's attributes hold for a whole primitive, counted in the order in which its vertices
// arrived, without adjacent ones: the fields of 3DSTATE_SF and 3DSTATE_CLIP. Values that a
// primitive does not have mean its last vertex. Quads take their last vertex, polygons their first,
// whatever these say.
struct ProvokingVertices {
  uint8_t lines = 0;      // lists, strips, loops
  uint8_t triangles = 0;  // lists, strips; rectangles
  uint8_t fans = 0;
};

struct AssemblyOptions {
  ProvokingVertices provoking;
  StripOrder order = StripOrder::kLeading;
};

inline constexpr uint32_t kMostPrimitiveVertices = 32;

struct Primitive {
  PrimitiveKind kind = PrimitiveKind::kPoint;
  uint8_t size = 0;       // vertices
  uint8_t provoking = 0;  // an index of `vertices`
  uint8_t outline = 0;  // of triangles and quads: bit i: the edge from corner i to the next one is
                        // an edge of what was drawn, not inside a polygon
  bool starts_strip = false;
  uint32_t id = 0;        // PrimitiveID: counts from 0 in an instance, restarts do not matter
  uint32_t adjacent = 0;  // bit i: vertices[i] is only adjacent
  // Of lines with adjacency: adjacent, first, second, adjacent. Of triangles with adjacency: a
  // corner, the vertex adjacent to the edge that begins there, and so on. Quads: around.
  std::array<uint32_t, kMostPrimitiveVertices> vertices;
};

// Assembles the primitives of one instance after the other. Needs the same memory for any number of
// vertices, and does not allocate.
class PrimitiveAssembler {
 public:
  PrimitiveAssembler(const Topology& topology, const AssemblyOptions& options);

  // The next vertex, under any number that the caller likes. The primitive that is complete now, or
  // null; it is valid until the next call.
  const Primitive* Add(uint32_t vertex);
  // Between vertices: a restart; after the last one: the end. Returns the primitive that the end
  // completes (loops, polygons, triangle strips with adjacency), or null. Vertices that do not
  // make a whole primitive are dropped.
  const Primitive* EndStrip();
  // Numbers primitives from 0 again. Call EndStrip() before.
  void StartInstance() { next_id_ = 0; }

  // The number that the next primitive gets.
  uint32_t next_id() const { return next_id_; }

 private:
  uint32_t FromEnd(uint32_t back) const { return recent_[(count_ - back) % recent_.size()]; }
  const Primitive* Emit(uint8_t size, uint8_t provoking);
  const Primitive* EmitList();
  const Primitive* EmitTriangle(bool swapped);
  const Primitive* EmitFan();
  const Primitive* EmitPolygonTriangle(uint32_t back, bool is_last);
  const Primitive* EmitQuad();
  const Primitive* EmitAdjacentTriangle(uint64_t number, bool is_last);

  Topology topology_;
  AssemblyOptions options_;
  uint32_t next_id_ = 0;
  bool strip_begun_ = false;                             // a primitive of this strip was made
  uint64_t count_ = 0;                                   // vertices of this strip
  uint32_t first_ = 0;                                   // the first of them
  std::array<uint32_t, kMostPrimitiveVertices> recent_;  // the latest of them, at count % size
  Primitive primitive_;
};

}  // namespace packsmith::sim

#endif  // PACKSMITH_RUNTIME_SIM_VERTICES_PRIMITIVES_H_
