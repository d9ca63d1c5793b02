#include "runtime/sim/vertices/primitives.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace packsmith::sim {
namespace {

struct NamedTopology {
  absl::string_view name;
  Topology topology;
};

constexpr NamedTopology kTopologies[] = {
    {"POINTLIST", {.kind = PrimitiveKind::kPoint, .vertices = 1}},
    {"POINTLIST_BF", {.kind = PrimitiveKind::kPoint, .vertices = 1, .backfacing = true}},
    {"LINELIST", {.kind = PrimitiveKind::kLine, .vertices = 2}},
    {"LINESTRIP", {.kind = PrimitiveKind::kLine, .rule = AssemblyRule::kLineStrip, .vertices = 2}},
    {"LINESTRIP_BF",
     {.kind = PrimitiveKind::kLine,
      .rule = AssemblyRule::kLineStrip,
      .vertices = 2,
      .backfacing = true}},
    {"LINESTRIP_CONT",
     {.kind = PrimitiveKind::kLine,
      .rule = AssemblyRule::kLineStrip,
      .vertices = 2,
      .continues_stipple = true}},
    {"LINESTRIP_CONT_BF",
     {.kind = PrimitiveKind::kLine,
      .rule = AssemblyRule::kLineStrip,
      .vertices = 2,
      .backfacing = true,
      .continues_stipple = true}},
    {"LINELOOP", {.kind = PrimitiveKind::kLine, .rule = AssemblyRule::kLineLoop, .vertices = 2}},
    {"LINELIST_ADJ", {.kind = PrimitiveKind::kLine, .vertices = 4, .adjacent = true}},
    {"LINESTRIP_ADJ",
     {.kind = PrimitiveKind::kLine,
      .rule = AssemblyRule::kLineStripAdjacent,
      .vertices = 4,
      .adjacent = true}},
    {"TRILIST", {.kind = PrimitiveKind::kTriangle, .vertices = 3}},
    {"TRISTRIP",
     {.kind = PrimitiveKind::kTriangle, .rule = AssemblyRule::kTriangleStrip, .vertices = 3}},
    {"TRISTRIP_REVERSE",
     {.kind = PrimitiveKind::kTriangle,
      .rule = AssemblyRule::kTriangleStrip,
      .vertices = 3,
      .reversed = true}},
    {"TRIFAN",
     {.kind = PrimitiveKind::kTriangle, .rule = AssemblyRule::kTriangleFan, .vertices = 3}},
    {"TRIFAN_NOSTIPPLE",
     {.kind = PrimitiveKind::kTriangle,
      .rule = AssemblyRule::kTriangleFan,
      .vertices = 3,
      .stippled = false}},
    {"TRILIST_ADJ", {.kind = PrimitiveKind::kTriangle, .vertices = 6, .adjacent = true}},
    {"TRISTRIP_ADJ",
     {.kind = PrimitiveKind::kTriangle,
      .rule = AssemblyRule::kTriangleStripAdjacent,
      .vertices = 6,
      .adjacent = true}},
    {"POLYGON", {.kind = PrimitiveKind::kTriangle, .rule = AssemblyRule::kPolygon, .vertices = 3}},
    {"QUADLIST", {.kind = PrimitiveKind::kQuad, .vertices = 4}},
    {"QUADSTRIP", {.kind = PrimitiveKind::kQuad, .rule = AssemblyRule::kQuadStrip, .vertices = 4}},
    {"RECTLIST", {.kind = PrimitiveKind::kRectangle, .vertices = 3}},
};

bool SameName(absl::string_view given, absl::string_view name) {
  size_t at = 0;
  for (const char c : given) {
    if (c == ' ') continue;
    if (at == name.size() || name[at] != c) return false;
    ++at;
  }
  return at == name.size();
}

}  // namespace

std::optional<Topology> FindTopology(absl::string_view name) {
  for (const NamedTopology& one : kTopologies) {
    if (SameName(name, one.name)) return one.topology;
  }
  uint32_t points = 0;
  if (absl::ConsumePrefix(&name, "PATCHLIST_") && absl::SimpleAtoi(name, &points) && points >= 1 &&
      points <= kMostPrimitiveVertices) {
    return Topology{.kind = PrimitiveKind::kPatch, .vertices = static_cast<uint8_t>(points)};
  }
  return std::nullopt;
}

uint64_t CountPrimitives(const Topology& topology, uint64_t vertices) {
  switch (topology.rule) {
    case AssemblyRule::kList:
      return vertices / topology.vertices;
    case AssemblyRule::kLineStrip:
      return vertices < 2 ? 0 : vertices - 1;
    case AssemblyRule::kLineLoop:
      return vertices < 2 ? 0 : vertices;
    case AssemblyRule::kTriangleStrip:
    case AssemblyRule::kTriangleFan:
      return vertices < 3 ? 0 : vertices - 2;
    case AssemblyRule::kPolygon:
      return vertices < 3 ? 0 : 1;
    case AssemblyRule::kQuadStrip:
      return vertices < 4 ? 0 : vertices / 2 - 1;
    case AssemblyRule::kLineStripAdjacent:
      return vertices < 4 ? 0 : vertices - 3;
    case AssemblyRule::kTriangleStripAdjacent:
      return vertices < 6 ? 0 : (vertices - 4) / 2;
  }
  return 0;
}

uint64_t CountCompleted(const Topology& topology, uint64_t vertices) {
  switch (topology.rule) {
    case AssemblyRule::kLineLoop:
      return vertices < 2 ? 0 : vertices - 1;
    case AssemblyRule::kPolygon:
      return 0;
    default:
      return CountPrimitives(topology, vertices);
  }
}

PrimitiveAssembler::PrimitiveAssembler(const Topology& topology, const AssemblyOptions& options)
    : topology_(topology), options_(options), recent_{} {
  topology_.vertices =
      std::min<uint8_t>(std::max<uint8_t>(topology_.vertices, 1), kMostPrimitiveVertices);
  primitive_.kind = topology_.kind;
  primitive_.vertices = {};
}

const Primitive* PrimitiveAssembler::Emit(uint8_t size, uint8_t provoking) {
  primitive_.size = size;
  primitive_.provoking = provoking;
  primitive_.starts_strip = topology_.rule == AssemblyRule::kList || !strip_begun_;
  strip_begun_ = true;
  primitive_.id = next_id_++;
  return &primitive_;
}

const Primitive* PrimitiveAssembler::EmitList() {
  const uint8_t size = topology_.vertices;
  for (uint32_t i = 0; i < size; ++i) primitive_.vertices[i] = FromEnd(size - i);
  switch (topology_.kind) {
    case PrimitiveKind::kLine: {
      const uint8_t corner = std::min<uint8_t>(options_.provoking.lines, 1);
      primitive_.adjacent = topology_.adjacent ? 0b1001 : 0;
      return Emit(size, topology_.adjacent ? corner + 1 : corner);
    }
    case PrimitiveKind::kTriangle:
    case PrimitiveKind::kRectangle: {
      const uint8_t corner = std::min<uint8_t>(options_.provoking.triangles, 2);
      primitive_.adjacent = topology_.adjacent ? 0b101010 : 0;
      primitive_.outline = topology_.kind == PrimitiveKind::kTriangle ? 0b111 : 0;
      return Emit(size, topology_.adjacent ? corner * 2 : corner);
    }
    case PrimitiveKind::kQuad:
      primitive_.outline = 0b1111;
      return Emit(size, 3);
    default:
      return Emit(size, 0);
  }
}

// The latest three vertices.
const Primitive* PrimitiveAssembler::EmitTriangle(bool swapped) {
  const bool leading = options_.order == StripOrder::kLeading;
  const std::array<uint8_t, 3> order = !swapped  ? std::array<uint8_t, 3>{0, 1, 2}
                                       : leading ? std::array<uint8_t, 3>{0, 2, 1}
                                                 : std::array<uint8_t, 3>{1, 0, 2};
  const uint8_t corner = std::min<uint8_t>(options_.provoking.triangles, 2);
  uint8_t provoking = 0;
  for (uint8_t i = 0; i < 3; ++i) {
    primitive_.vertices[i] = FromEnd(3 - order[i]);
    if (order[i] == corner) provoking = i;
  }
  primitive_.outline = 0b111;
  return Emit(3, provoking);
}

const Primitive* PrimitiveAssembler::EmitFan() {
  primitive_.vertices[0] = first_;
  primitive_.vertices[1] = FromEnd(2);
  primitive_.vertices[2] = FromEnd(1);
  primitive_.outline = 0b111;
  return Emit(3, std::min<uint8_t>(options_.provoking.fans, 2));
}

// The triangle that ends `back` vertices before the latest.
const Primitive* PrimitiveAssembler::EmitPolygonTriangle(uint32_t back, bool is_last) {
  primitive_.vertices[0] = first_;
  primitive_.vertices[1] = FromEnd(back + 2);
  primitive_.vertices[2] = FromEnd(back + 1);
  primitive_.outline = static_cast<uint8_t>((strip_begun_ ? 0b010 : 0b011) | (is_last ? 0b100 : 0));
  const Primitive* made = Emit(3, 0);
  // All triangles of a polygon are one primitive.
  if (!is_last) --next_id_;
  return made;
}

const Primitive* PrimitiveAssembler::EmitQuad() {
  primitive_.vertices[0] = FromEnd(4);
  primitive_.vertices[1] = FromEnd(3);
  primitive_.vertices[2] = FromEnd(1);
  primitive_.vertices[3] = FromEnd(2);
  primitive_.outline = 0b1111;
  return Emit(4, 2);
}

// Corners are the even vertices of the strip: those of triangle n begin at vertex 2n. What is
// adjacent to an edge is the third corner of the triangle on its other side, or at the strip's ends
// and sides a vertex of its own.
const Primitive* PrimitiveAssembler::EmitAdjacentTriangle(uint64_t number, bool is_last) {
  const auto vertex = [&](uint64_t at) { return recent_[at % recent_.size()]; };
  const uint64_t at = 2 * number;
  const uint32_t corners[3] = {vertex(at), vertex(at + 2), vertex(at + 4)};
  const uint32_t before = vertex(number == 0 ? 1 : at - 2);  // the edge 0-1
  const uint32_t after = vertex(is_last ? at + 5 : at + 6);  // the edge 1-2
  const uint32_t beside = vertex(at + 3);                    // the edge 2-0
  const uint8_t corner = std::min<uint8_t>(options_.provoking.triangles, 2);
  std::array<uint32_t, kMostPrimitiveVertices>& out = primitive_.vertices;
  uint8_t provoking = corner;
  const auto set = [&out](std::array<uint32_t, 6> six) {
    std::copy(six.begin(), six.end(), out.begin());
  };
  if (number % 2 == 0) {
    set({corners[0], before, corners[1], after, corners[2], beside});
  } else if (options_.order == StripOrder::kLeading) {
    set({corners[0], beside, corners[2], after, corners[1], before});
    provoking = corner == 0 ? 0 : 3 - corner;
  } else {
    set({corners[1], before, corners[0], beside, corners[2], after});
    provoking = corner == 2 ? 2 : 1 - corner;
  }
  primitive_.adjacent = 0b101010;
  primitive_.outline = 0b111;
  return Emit(6, provoking * 2);
}

const Primitive* PrimitiveAssembler::Add(uint32_t vertex) {
  if (count_ == 0) first_ = vertex;
  recent_[count_ % recent_.size()] = vertex;
  ++count_;
  switch (topology_.rule) {
    case AssemblyRule::kList:
      if (count_ < topology_.vertices) return nullptr;
      EmitList();
      count_ = 0;
      return &primitive_;
    case AssemblyRule::kLineStrip:
    case AssemblyRule::kLineLoop:
      if (count_ < 2) return nullptr;
      primitive_.vertices[0] = FromEnd(2);
      primitive_.vertices[1] = FromEnd(1);
      return Emit(2, std::min<uint8_t>(options_.provoking.lines, 1));
    case AssemblyRule::kTriangleStrip:
      if (count_ < 3) return nullptr;
      return EmitTriangle((count_ % 2 == 0) != topology_.reversed);
    case AssemblyRule::kTriangleFan:
      return count_ < 3 ? nullptr : EmitFan();
    case AssemblyRule::kPolygon:
      // Only the next vertex tells that a triangle was not the last one.
      return count_ < 4 ? nullptr : EmitPolygonTriangle(1, false);
    case AssemblyRule::kQuadStrip:
      return count_ < 4 || count_ % 2 != 0 ? nullptr : EmitQuad();
    case AssemblyRule::kLineStripAdjacent:
      if (count_ < 4) return nullptr;
      for (uint32_t i = 0; i < 4; ++i) primitive_.vertices[i] = FromEnd(4 - i);
      primitive_.adjacent = 0b1001;
      return Emit(4, 1 + std::min<uint8_t>(options_.provoking.lines, 1));
    case AssemblyRule::kTriangleStripAdjacent:
      // Another triangle follows the one that this vertex and the one before it show to be whole.
      if (count_ < 8 || count_ % 2 != 0) return nullptr;
      return EmitAdjacentTriangle((count_ - 8) / 2, false);
  }
  return nullptr;
}

const Primitive* PrimitiveAssembler::EndStrip() {
  const Primitive* made = nullptr;
  switch (topology_.rule) {
    case AssemblyRule::kLineLoop:
      if (count_ < 2) break;
      primitive_.vertices[0] = FromEnd(1);
      primitive_.vertices[1] = first_;
      made = Emit(2, std::min<uint8_t>(options_.provoking.lines, 1));
      break;
    case AssemblyRule::kPolygon:
      if (count_ >= 3) made = EmitPolygonTriangle(0, true);
      break;
    case AssemblyRule::kTriangleStripAdjacent:
      if (count_ >= 6) made = EmitAdjacentTriangle((count_ - 6) / 2, true);
      break;
    default:
      break;
  }
  count_ = 0;
  strip_begun_ = false;
  return made;
}

}  // namespace packsmith::sim
